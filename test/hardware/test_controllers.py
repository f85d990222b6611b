# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Controller presets of each robot, and the ways to write a gripper's opening."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frame_ros.core.errors import ValueRangeError
from frame_ros.hardware.controller_presets import controller_presets
from frame_ros.hardware.controllers import controller_layout
from frame_ros.robots import load_robot
from frame_ros.robots.grippers import GRIPPER_CONVENTIONS, GripperRange, gripper_joints, latched

ARM = ('shoulder_pan', 'shoulder_lift', 'elbow_flex', 'wrist_flex', 'wrist_roll')
FRANKA = tuple(f'fr3_joint{i}' for i in range(1, 8))


@pytest.fixture(scope='module')
def so101():
    return load_robot('so101')


@pytest.fixture(scope='module')
def fr3():
    return load_robot('fr3')


def test_every_preset_makes_a_layout_and_names_its_source(so101, fr3):
    for name, preset in controller_presets().items():
        assert preset.source
        for robot in (so101, fr3):
            layout = controller_layout(name, robot, 0.02)
            assert layout.preset == name and layout.horizon == pytest.approx(0.04)
            assert '{' not in layout.topic + layout.gripper_topic
            assert not set(layout.joints) & set(layout.gripper_joints)


def test_a_franka_under_franka_ros2(fr3):
    layout = controller_layout('franka_ros2', fr3, 0.02)
    assert (layout.kind, layout.topic) == ('trajectory', 'fr3_arm_controller/joint_trajectory')
    assert layout.joints == FRANKA
    assert layout.gripper == 'gripper_command'
    assert layout.gripper_topic == 'franka_gripper/gripper_action'
    assert layout.gripper_joints == ('fr3_finger_joint1',)
    panda = controller_layout('franka_ros2', load_robot('panda'), 0.02)
    assert panda.topic == 'panda_arm_controller/joint_trajectory'


def test_a_pose_is_that_of_the_tcp_in_the_base(so101, fr3):
    layout = controller_layout('crisp_pose', fr3, 0.02)
    assert (layout.tip, layout.frame_id) == ('fr3_hand_tcp', 'base')
    layout = controller_layout('crisp_pose', so101, 0.02, tip='gripper_link', frame_id='world')
    assert (layout.tip, layout.frame_id) == ('gripper_link', 'world')
    assert controller_layout('crisp_pose', so101, 0.02).frame_id == 'base_link'


def test_the_gripper_goes_with_the_joints_or_apart(so101):
    together = controller_layout('lerobot_so101', so101, 0.02)
    assert together.joints == (*ARM, 'gripper') and together.gripper_joints == ()
    apart = controller_layout('ros2_control_position', so101, 0.02)
    assert apart.joints == ARM and apart.gripper_joints == ('gripper',)
    # Joints that are declared for the main message go there, in that order.
    declared = ('gripper', 'elbow_flex')
    own = controller_layout('ros2_control_position', so101, 0.02, joints=declared)
    assert own.joints == declared and own.gripper_joints == () and own.gripper == 'none'
    without = controller_layout('ros2_control_position', so101, 0.02, gripper='none')
    assert without.joints == ARM and without.gripper_joints == ()


def test_overrides(so101):
    layout = controller_layout(
        'ros2_control_trajectory',
        so101,
        0.02,
        topic='/left/arm/joint_trajectory',
        gripper='opening',
        gripper_topic='grip',
        horizon=0.1,
        effort=5.0,
    )
    assert layout.topic == '/left/arm/joint_trajectory'
    assert (layout.gripper, layout.gripper_topic) == ('opening', 'grip')
    assert (layout.horizon, layout.effort) == (0.1, 5.0)


@pytest.mark.parametrize(
    ('preset', 'overrides', 'message'),
    [
        ('moveit', {}, "output is 'moveit'; known: none, ros2_control_trajectory"),
        ('none', {'gripper': 'suction'}, "gripper output is 'suction'"),
        ('lerobot_so101', {'gripper': 'opening'}, 'needs a topic'),
        ('lerobot_so101', {'joints': ['elbow']}, r"no joint \['elbow'\]"),
        ('lerobot_so101', {'joints': ['gripper', 'gripper']}, 'contain one twice'),
        ('crisp_pose', {'tip': 'hand'}, "no link 'hand'"),
        ('crisp_pose', {'horizon': -1.0}, 'horizon -1.0'),
    ],
)
def test_layouts_that_cannot_be(so101, preset, overrides, message):
    with pytest.raises(ValueRangeError, match=message):
        controller_layout(preset, so101, 0.02, **overrides)
    with pytest.raises(ValueRangeError, match='period is 0'):
        controller_layout('none', so101, 0)


def test_gripper_joints():
    names = ('fr3_joint1', 'fr3_finger_joint1', 'gripper', 'left_gripper')
    assert gripper_joints(names) == ('fr3_finger_joint1', 'gripper', 'left_gripper')


@pytest.mark.parametrize(
    ('convention', 'closed', 'opened'),
    [
        ('position', 0.0, 0.04),
        ('width', 0.0, 0.08),
        ('open', 0, 1),
        ('closed', 1, 0),
        ('signed_open', -1, 1),
        ('signed_closed', 1, -1),
        ('percent_open', 0, 100),
    ],
)
def test_the_ends_of_every_gripper_convention(convention, closed, opened):
    finger = GripperRange(0.0, 0.04)
    np.testing.assert_allclose(finger.opening([closed, opened], convention), [0, 1])
    np.testing.assert_allclose(finger.from_opening([0, 1], convention), [closed, opened])


@given(st.floats(0, 1), st.sampled_from(GRIPPER_CONVENTIONS), st.floats(-2, 2), st.floats(0.01, 3))
def test_gripper_conventions_are_undone(opening, convention, closed, size):
    for span in (GripperRange(closed, closed + size), GripperRange(closed + size, closed)):
        there = span.from_opening(opening, convention)
        assert span.opening(there, convention) == pytest.approx(opening, abs=1e-9)


def test_grippers_that_mean_nothing():
    with pytest.raises(ValueRangeError, match="convention is 'half'; known: position, width"):
        GripperRange(0.0, 1.0).opening(0.5, 'half')
    for ends in ((1.0, 1.0), (0.0, math.inf)):
        with pytest.raises(ValueRangeError, match='two positions'):
            GripperRange(*ends)


def test_latching():
    values = np.array((0.6, 0.54, 0.46, 0.44, 0.5, 0.56))
    assert latched(values, False, 0.5, 0.1).tolist() == [1, 1, 1, 0, 0, 1]
    assert latched(values[1:3], False, 0.5, 0.1).tolist() == [0, 0]
    assert latched(values, True, 0.5, 0.0).tolist() == [1, 1, 0, 0, 0, 1]
