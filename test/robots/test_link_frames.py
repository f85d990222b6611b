# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Poses of all links at once."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import RobotError
from frame_ros.robots import load_robot
from frame_ros.robots.link_frames import LinkFrames


def by_links(robot, positions):
    """Link -> 4 x 4 in the base, by multiplying the poses of the links in their parents."""
    steps = robot.link_poses(positions)

    def pose(link):
        if robot.parent_of(link) is None:
            return np.eye(4)
        translation, quaternion = steps[link]
        step = np.eye(4)
        step[:3, :3], step[:3, 3] = Rotation.from_quat(quaternion).as_matrix(), translation
        return pose(robot.parent_of(link)) @ step

    return {link: pose(link) for link in robot.links}


@pytest.mark.parametrize('name', ['so101', 'fr3'])
def test_all_links_are_where_their_chain_puts_them(name):
    robot = load_robot(name)
    frames = LinkFrames(robot)
    assert frames.links == robot.links and frames.joint_names == tuple(robot.joint_limits)
    kept = []
    for q in np.random.default_rng(0).uniform(-1.5, 1.5, (5, len(frames.joint_names))):
        rotations, translations = frames.compute(q)
        kept.append((rotations, rotations.copy()))
        for link, expected in by_links(robot, dict(zip(frames.joint_names, q))).items():
            row = frames.index(link)
            np.testing.assert_allclose(rotations[row], expected[:3, :3], atol=1e-12)
            np.testing.assert_allclose(translations[row], expected[:3, 3], atol=1e-12)
    assert all((then == now).all() for now, then in kept)  # later calls change no earlier result


def test_the_fingers_mimic_and_unnamed_joints_stay_at_zero():
    robot = load_robot('fr3')
    frames = LinkFrames(robot, ['fr3_finger_joint1', 'fr3_joint2'])
    rotations, translations = frames.compute([0.03, 0.4])
    expected = by_links(robot, {'fr3_finger_joint1': 0.03, 'fr3_joint2': 0.4})
    for link in ('fr3_leftfinger', 'fr3_rightfinger', 'fr3_link7'):
        place = expected[link][:3, 3]
        np.testing.assert_allclose(translations[frames.index(link)], place, atol=1e-12)
    left, right = (translations[frames.index(f'fr3_{s}finger')] for s in ('left', 'right'))
    assert np.linalg.norm(left - right) == pytest.approx(0.06)


def test_what_cannot_be_computed_is_refused():
    robot = load_robot('so101')
    for names in (['nonsense'], ['gripper', 'gripper']):
        with pytest.raises(RobotError, match='shoulder_pan'):
            LinkFrames(robot, names)
    with pytest.raises(RobotError, match='finger_joint2'):
        LinkFrames(load_robot('fr3'), ['fr3_finger_joint2'])
    frames = LinkFrames(robot)
    with pytest.raises(RobotError, match=r'\(6,\)'):
        frames.compute(np.zeros(5))
    with pytest.raises(RobotError, match='gripper = nan'):
        frames.compute([0, 0, 0, 0, 0, np.nan])
    with pytest.raises(RobotError, match='nonsense'):
        frames.index('nonsense')
