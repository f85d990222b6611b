# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The links of the hand."""

import pytest

from frame_ros.robots import load_robot
from frame_ros.robots.hand_links import hand_links


@pytest.mark.parametrize(
    ('robot', 'inside', 'outside'),
    [
        ('so101', {'gripper_link', 'moving_jaw_so101_v1_link'}, {'wrist_link', 'base_link'}),
        ('fr3', {'fr3_hand', 'fr3_leftfinger', 'fr3_rightfinger'}, {'fr3_link6', 'fr3_link0'}),
    ],
)
def test_the_hand_is_what_the_last_joint_carries(robot, inside, outside):
    found = hand_links(load_robot(robot))
    assert inside <= found and not outside & found
