# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Counts of the live metrics node in a bag, also where its clock was set back between reports."""

import numpy as np
import pytest
from bag_making import STORE, message, serialised, stamp, write_bag
from rosbags.rosbag2 import StoragePlugin, Writer

from frame_ros.bags.reader import Bag
from frame_ros.bags.received_counts import has_restart, received_counts
from frame_ros.core.time import SECOND, stamp_ns
from frame_ros.episodes.live_inputs import NEVER, read_first_stamps


def said(at, **topics):
    """A report at `at`, s. topics: name -> messages received, stamps of the first and newest, s."""
    inputs = [
        message(
            'frame_ros/msg/NodeInput',
            topic=f'/{name}',
            received=received,
            first_stamp=stamp(int(first * SECOND)),
            last_stamp=stamp(int(last * SECOND)),
        )
        for name, (received, first, last) in topics.items()
    ]
    return message(
        'frame_ros/msg/NodeReadiness',
        header__stamp=stamp(int(at * SECOND)),
        node='/metrics',
        inputs=inputs,
    )


def write_sqlite(folder, sent):
    """Writes a bag in sqlite3 of one topic: (topic, receive time, message) of each."""
    with Writer(folder, version=9, storage_plugin=StoragePlugin.SQLITE3) as writer:
        topic, _, first = sent[0]
        connection = writer.add_connection(topic, first.__msgtype__, typestore=STORE)
        for _, received, content in sent:
            writer.write(connection, received, serialised(content))
    return folder


@pytest.fixture(params=['received later', 'received as stamped', 'in sqlite3'])
def make_bag(request, tmp_path):
    """Writes a bag of reports, one after the other: with receive times that rise, or that are set
    back with the stamps, as a recorder's are with `use_sim_time`."""
    write = write_sqlite if request.param == 'in sqlite3' else write_bag

    def make(*reports):
        times = [stamp_ns(report.header.stamp) for report in reports]
        if request.param == 'received later':
            times = [10 * SECOND + i for i in range(len(reports))]
        sent = [('/node_readiness', *each) for each in zip(times, reports, strict=True)]
        return Bag(write(tmp_path / f'bag_{len(reports)}', sent))

    return make


SET_BACK = (
    said(40.0, pose=(90, 5.0, 39.9), action=(30, 6.0, 38.0), contact=(0, 0, 0)),
    said(41.0, pose=(100, 5.0, 40.9), action=(30, 6.0, 38.0), contact=(0, 0, 0)),
    # In between the clock began again, and the actions paused.
    said(2.0, pose=(120, 5.0, 1.9), action=(30, 6.0, 38.0), contact=(7, 1.5, 1.8)),
    said(3.0, pose=(130, 5.0, 2.9), action=(40, 6.0, 2.8), contact=(9, 1.5, 2.7)),
    said(9.0, pose=(190, 5.0, 8.9), action=(90, 6.0, 8.8), contact=(20, 1.5, 8.7)),
)


def test_counts_of_a_clock_that_was_set_back_are_those_on_it(make_bag):
    counts = received_counts(make_bag(*SET_BACK))
    pose, action = counts['/pose'], counts['/action']
    assert pose.received.tolist() == [120, 130, 190]
    assert pose.last.tolist() == [int(s * SECOND) for s in (1.9, 2.9, 8.9)]
    assert action.received.tolist() == [30, 40, 90]
    # Until the first action on the new clock nothing is known but when that was said.
    assert action.last.tolist() == [2 * SECOND, int(2.8 * SECOND), int(8.8 * SECOND)]


def test_counts_without_a_set_back_are_all_there(make_bag):
    counts = received_counts(make_bag(*SET_BACK[:2]))
    assert counts['/pose'].received.tolist() == [90, 100]
    assert '/action' not in counts  # the same count twice says nothing


def test_a_node_that_has_taken_fewer_messages_than_before_was_started_again(make_bag):
    """A clock that was set back is none; what began after the clock did is none either."""
    whole = 0, 50 * SECOND
    assert not has_restart(make_bag(*SET_BACK), '', *whole)
    bag = make_bag(*SET_BACK, said(12.0, pose=(3, 11.5, 11.9), action=(0, 0, 0)))
    for bounds in (whole, (4 * SECOND, 11 * SECOND)):
        assert has_restart(bag, '', *bounds)
    for bounds in ((0, 9 * SECOND), (13 * SECOND, 50 * SECOND)):  # between episodes
        assert not has_restart(bag, '', *bounds)


def test_messages_of_a_publisher_that_the_node_was_not_connected_to(make_bag):
    """Those of a policy that was started again: recorded, not taken, and not counted as lost."""
    reports = [said(1.0, inference=(1, 0.5, 0.9)), said(3.0, inference=(3, 0.5, 2.9))]
    stamps = np.array([0.5, 0.9, 1.5, 2.0, 2.9, 4.0, 5.5]) * SECOND
    stamps = stamps.astype(np.int64)
    counts = received_counts(make_bag(*reports, said(6.0, inference=(3, 0.5, 2.9))))['/inference']
    middle, last = counts.unheard(stamps, stamps)
    assert middle == (int(0.9 * SECOND) + 1, int(2.9 * SECOND), 1)
    assert last == (4 * SECOND, 6 * SECOND, 1)  # what came at 5.5 s may have been on its way
    assert counts.unheard(stamps[[0, 1, 2, 4]], stamps[[0, 1, 2, 4]]) == []
    assert counts.unheard(stamps[::-1], stamps) == []


def test_what_waited_while_the_node_started_is_of_before_it_said_so(make_bag):
    """Else it would count as lacking, where it is stamped before the recording began."""
    reports = said(10.0, pose=(0, 0, 0)), said(10.5, pose=(1140, 7.7, 10.4))
    counts = received_counts(make_bag(*reports))['/pose']
    assert counts.received.tolist() == [0, 1140]
    assert counts.last.tolist() == [int(7.7 * SECOND) - 1, int(10.4 * SECOND)]
    later = said(10.0, pose=(0, 0, 0)), said(10.5, pose=(9, 10.2, 10.4)), said(11.0, pose=(9, 0, 0))
    assert received_counts(make_bag(*later))['/pose'].last[0] == 10 * SECOND


@pytest.mark.parametrize('known', [SET_BACK, SET_BACK[2:]])
def test_a_stream_of_before_a_set_back_was_received_from_the_beginning(make_bag, known):
    """Also where the reports of the time before are not in the bag, and the clock has passed the
    stamp of the first message by now."""
    first, at = read_first_stamps(make_bag(*known), '')
    assert first == {'/pose': 0, '/action': 0, '/contact': int(1.5 * SECOND)}
    assert at == 9 * SECOND


def test_a_stream_of_a_node_that_began_again_is_received_from_its_first_message_on(make_bag):
    again = said(10.0, pose=(0, 0, 0)), said(12.0, pose=(5, 11.0, 11.9))
    assert read_first_stamps(make_bag(*SET_BACK, *again), '')[0] == {'/pose': 11 * SECOND}
    assert read_first_stamps(make_bag(*SET_BACK, again[0]), '')[0] == {'/pose': NEVER}
