# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulator's true contacts of an episode, from its bag."""

import numpy as np
import pytest
from bag_making import T0, message, stamp
from robot_bags import robot_bag

from frame_ros.core.time import SECOND
from frame_ros.episodes.reading import read_episodes
from frame_ros.episodes.true_contacts import true_contacts

GRASP, BUMP = ('gripper', 'cube', True), ('upper_arm', 'table', False)


def truth(at, contacts, force=0.0):
    """contacts: (link, other, is_expected), peak force N, duration s."""
    when = T0 + round(at * SECOND)
    point = message('geometry_msgs/msg/Point', x=0.1, y=0.0, z=0.2)
    content = message(
        'frame_ros/msg/ContactState',
        header__stamp=stamp(when),
        force=force,
        in_contact=bool(contacts),
        links=[pair[0] for pair, _, _ in contacts],
        others=[pair[1] for pair, _, _ in contacts],
        is_expected=np.array([pair[2] for pair, _, _ in contacts], bool),
        reasons=['' for _ in contacts],
        peak_forces=np.array([peak for _, peak, _ in contacts], float),
        durations=np.array([duration for _, _, duration in contacts], float),
        positions=[point for _ in contacts],
    )
    return '/ground_truth/contact', when, content


@pytest.fixture(scope='module')
def found(tmp_path_factory):
    extra = [
        truth(0.2, []),
        truth(0.3, [(GRASP, 4.0, 0.05)], force=0.3),
        truth(0.4, [(GRASP, 9.0, 0.15), (BUMP, 12.0, 0.01)], force=11.0),
        truth(0.5, [(GRASP, 9.0, 0.25), (BUMP, 3.0, 0.02)], force=3.0),
        truth(0.6, []),
    ]
    path = robot_bag(tmp_path_factory.mktemp('bags') / 'bag', extra)
    episode = next(read_episodes(path))
    return true_contacts(episode, episode.open_bag())


def test_a_contact_lasts_as_long_as_link_and_thing_are_the_same(found):
    grasp = found.contacts[0]
    assert (grasp.link, grasp.other, grasp.is_expected) == GRASP
    assert (grasp.begin - T0) / SECOND == pytest.approx(0.25)
    assert grasp.duration == pytest.approx(0.25)
    assert grasp.peak_force == 9.0


def test_one_that_bounced_between_two_samples_is_two_contacts(found):
    bumps = [contact for contact in found.contacts if contact.link == 'upper_arm']
    begins = [(contact.begin - T0) / SECOND for contact in bumps]
    assert begins == pytest.approx([0.39, 0.48])
    assert [contact.peak_force for contact in bumps] == [12.0, 3.0]


def test_the_largest_net_force_of_a_time(found):
    assert found.largest_force(T0, T0 + round(0.35 * SECOND)) == 0.3
    assert found.largest_force(T0, T0 + SECOND) == 11.0
    assert found.largest_force(T0 + round(0.61 * SECOND), T0 + SECOND) == 0.0


def test_without_truth_there_is_none(tmp_path):
    episode = next(read_episodes(robot_bag(tmp_path / 'bag', [])))
    assert true_contacts(episode, episode.open_bag()) is None
    assert true_contacts(episode, None) is None
