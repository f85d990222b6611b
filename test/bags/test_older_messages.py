# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags whose messages were recorded before frame_ros's own had all their fields."""

import math

import numpy as np
import pytest
from bag_making import T0, message, serialised, stamp
from robot_bags import robot_messages
from rosbags.typesys import Stores, get_typestore

from frame_ros.bags.definitions import MessageDefinition, find_definition, parse_fields
from frame_ros.bags.findings import Note
from frame_ros.bags.reader import Bag
from frame_ros.bags.writer import BagWriter
from frame_ros.cli import main
from frame_ros.core.time import SECOND
from frame_ros.episodes.reading import read_episodes
from frame_ros.episodes.true_contacts import true_contacts

STATE = 'frame_ros/msg/ContactState'
TOPIC = '/ground_truth/contact'


def without(message_type, *fields):
    """The definition of a type as it was before it had some fields."""
    lines = find_definition(message_type).text.splitlines()
    kept = [line for line in lines if not set(line.split()[1:2]) & set(fields)]
    assert len(kept) == len(lines) - len(fields)
    return MessageDefinition(message_type, '\n'.join(kept), '')


def older_bag(folder, definition, contents, others=()):
    """A bag of messages of one type of a definition of its own, and of others as they are now."""
    store = get_typestore(Stores.EMPTY)
    store.register(parse_fields(definition.message_type, definition.text))
    own = store.types[definition.message_type]
    sent = [(topic, at, serialised(content), content.__msgtype__) for topic, at, content in others]
    for at, content in contents:
        names = [name for name, _ in store.fielddefs[definition.message_type][1]]
        old = own(**{name: getattr(content, name) for name in names})
        data = bytes(store.serialize_cdr(old, definition.message_type))
        sent.append((TOPIC, at, data, definition.message_type))
    with BagWriter(folder) as writer:
        for topic, at, data, kind in sorted(sent, key=lambda item: item[1]):
            channel = writer.add_topic(topic, kind, definition if topic == TOPIC else None)
            writer.write(channel, at, data)
    return folder


def state(at, force):
    content = message(
        STATE, header__stamp=stamp(at), force=force, in_contact=True,
        links=['gripper'], others=['cube'], is_expected=np.array([True]), reasons=['grasp'],
        peak_forces=np.array([force]), durations=np.array([0.1]),
        positions=[message('geometry_msgs/msg/Point')],
    )  # fmt: skip
    return at, content


def test_states_that_lack_newer_fields_are_read_and_these_are_not_known(tmp_path):
    definition = without(STATE, 'force_threshold', 'response_time')
    contents = [state(T0 + n * SECOND // 10, 4.0 + n) for n in range(2, 5)]
    path = older_bag(tmp_path / 'bag', definition, contents, robot_messages())
    bag = Bag(path)
    found = [content for _, content in bag.messages(TOPIC)]
    assert [content.force for content in found] == [6.0, 7.0, 8.0]
    assert all(math.isnan(c.force_threshold) and math.isnan(c.response_time) for c in found)
    assert len(list(bag.messages(TOPIC))) == 3
    said = [problem for problem in bag.problems if 'force_threshold' in problem]
    assert said == [
        f'recorded before there were {STATE}.force_threshold, {STATE}.response_time: '
        'their values are not known'
    ]
    assert isinstance(said[0], Note)
    (contact,) = true_contacts(next(read_episodes(path)), bag).contacts
    assert contact.link == 'gripper' and contact.peak_force == 8.0
    assert main(['report', str(path), '-o', str(tmp_path / 'page.html')]) == 0


@pytest.mark.parametrize(
    'field, value',
    [
        ('source', 0),
        ('unavailable', ''),
        ('in_contact', False),
        ('links', []),
        ('positions', []),
        ('header', None),
        ('wrench', None),
    ],
)
def test_a_field_of_any_kind_may_lack(tmp_path, field, value):
    path = older_bag(tmp_path / 'bag', without(STATE, field), [state(T0, 1.0)])
    ((_, found),) = Bag(path).messages(TOPIC)
    assert found.force == 1.0 and found.peak_forces.tolist() == [1.0]
    if field == 'wrench':
        assert math.isnan(found.wrench.force.x) and math.isnan(found.wrench.torque.z)
    elif field == 'header':
        assert (found.header.stamp.sec, found.header.frame_id) == (0, '')
    else:
        assert getattr(found, field) == value


def test_an_array_of_numbers_that_lacks_is_empty(tmp_path):
    path = older_bag(tmp_path / 'bag', without(STATE, 'joint_residuals'), [state(T0, 1.0)])
    ((_, found),) = Bag(path).messages(TOPIC)
    assert found.joint_residuals.dtype == np.float64 and not len(found.joint_residuals)
