# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joint states where the robot cannot be, which are in another unit or of another robot."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from frame_ros.core.time import SECOND
from frame_ros.robots import load_robot
from frame_ros.sensing.contact.trusted_inputs import TrustedInputs
from frame_ros.sensing.stream_health.joint_limits import JointLimits
from frame_ros.sensing.stream_health.options import StreamHealthOptions
from frame_ros.sensing.stream_health.streams import StreamHealth

FR3, SO101 = load_robot('fr3'), load_robot('so101')
READY = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
NOTHING = np.zeros(0)
MARGIN = StreamHealthOptions().beyond_limits


def problem(robot, positions, names=None, margin=MARGIN):
    names = robot.joint_names if names is None else names
    return JointLimits(robot, margin).problem(SECOND, names, np.asarray(positions, float))


def test_positions_of_the_robot_are_no_problem():
    assert problem(FR3, READY) == ''
    assert problem(FR3, FR3.upper) == problem(FR3, FR3.lower) == ''
    # LeRobot calibrates a wrist over a full turn, wherever its mechanical limits are.
    for end in (-math.pi, math.pi):
        assert problem(SO101, [0.0, 0.0, 0.0, 0.0, end]) == ''


def test_degrees_are_named_with_joint_value_and_limits():
    text = problem(FR3, np.degrees(READY))
    assert 'fr3_joint4 at -135 rad (limits -3.042 to -0.1518) and 3 more' in text
    assert text.endswith('they look like degrees')


def test_lerobots_units_and_ticks_are_named():
    names = (*SO101.joint_names, 'gripper')
    assert "LeRobot's -100 to 100" in problem(SO101, [0.0, -69.0, 57.0, 34.0, 0.0, 50.0], names)
    text = problem(SO101, [2047.0, 1000.0, 3000.0, 2100.0, 2047.0, 1500.0], names)
    assert 'elbow_flex at 3000' in text and 'they look like ticks of an encoder' in text


def test_another_zero_is_named():
    text = problem(SO101, [0.0, 1.7 + math.pi / 2, 0.0, 0.0, 0.0])
    assert 'shoulder_lift at 3.271 rad' in text and 'another zero' in text


def test_a_finger_has_a_margin_in_metres():
    names = ('fr3_finger_joint1',)
    assert problem(FR3, [0.08], names) == ''  # both fingers' width in the place of one's way
    assert 'fr3_finger_joint1 at 20 m (limits 0 to 0.04)' in problem(FR3, [20.0], names)


def test_joints_of_others_and_values_that_are_missing_are_not_judged():
    assert problem(FR3, [900.0, 1.0], ('table_lift', 'fr3_joint1')) == ''
    assert problem(FR3, [math.nan, *READY[1:]]) == ''
    assert problem(FR3, [], ()) == ''


@pytest.mark.parametrize('value', [np.inf, -np.inf])
def test_a_position_that_is_infinite_is_named(value):
    found = problem(SO101, [value], ('gripper',))
    assert 'gripper at ' in found and 'inf' in found and 'their units are unknown' in found


def fed(health, positions, stamp):
    return health.on_joints(stamp, FR3.joint_names, positions, NOTHING, NOTHING)[0]


def test_one_odd_sample_is_not_used_and_the_next_is():
    health = StreamHealth(robot=FR3)
    assert fed(health, READY, SECOND).unavailable == ''
    found = fed(health, READY + [0, 0, 0, 0, 0, 0, 9.0], 2 * SECOND)
    assert 'fr3_joint7' in found.unavailable
    (status,) = health.statuses()
    assert 'fr3_joint7' in status.message
    assert fed(health, READY, 3 * SECOND).unavailable == ''
    (status,) = health.statuses()
    assert status.message == 'healthy'
    (fault,) = health.streams['joint_states'].check.faults
    assert (fault.kind, fault.begin, fault.end) == ('limits', 2 * SECOND, 2 * SECOND)


def test_the_values_named_are_not_renewed_with_each_sample():
    health = StreamHealth(robot=FR3)
    said = {
        fed(health, np.degrees(READY) + 0.1 * i, SECOND + i * SECOND // 100).unavailable
        for i in range(100)
    }
    assert len(said) == 1


def test_the_margin_can_be_chosen_and_switched_off():
    positions = READY + [0, 0, 0, 0, 0, 0, 9.0]
    for margin, is_used in ((0.0, True), (20.0, True), (0.5, False)):
        health = StreamHealth(StreamHealthOptions(beyond_limits=margin), FR3)
        assert (fed(health, positions, SECOND).unavailable == '') is is_used
    assert fed(StreamHealth(), positions, SECOND).unavailable == ''  # of no known robot


def test_a_wrench_and_efforts_are_not_used_with_joints_in_degrees():
    inputs = TrustedInputs(FR3, StreamHealthOptions())
    for i, q in enumerate((np.degrees(READY), READY)):
        state = SimpleNamespace(
            stamp=SECOND + i * SECOND // 100, names=FR3.joint_names, positions=q,
            velocities=NOTHING, efforts=np.ones(7),
        )  # fmt: skip
        trust = inputs.joints(state)
        wrench = inputs.wrench(state.stamp, np.arange(6.0) + i)
        assert trust.is_used
        if i == 0:
            assert trust.unavailable.startswith('joint_states has positions outside of the limits')
            assert wrench.unavailable == trust.unavailable
    assert trust.unavailable == wrench.unavailable == ''


def test_a_gripper_in_other_units_beside_an_arm_makes_all_unavailable_until_it_is_gone():
    inputs = TrustedInputs(SO101, StreamHealthOptions())

    def send(names, q, at):
        return inputs.joints(
            SimpleNamespace(
                stamp=at, names=names, positions=np.asarray(q, float), velocities=NOTHING,
                efforts=NOTHING,
            )
        ).unavailable  # fmt: skip

    assert send(SO101.joint_names, np.zeros(5), SECOND) == ''
    assert 'gripper at 50' in send(('gripper',), [50.0], SECOND)
    assert 'gripper at 50' in send(SO101.joint_names, np.full(5, 0.01), 2 * SECOND)
    assert send(SO101.joint_names, np.full(5, 0.02), 4 * SECOND) == ''
