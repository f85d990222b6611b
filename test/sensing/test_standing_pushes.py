# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A simulated SO-101 that stands by its commands, and is pushed: what a gap, or a command of the
gripper alone, makes of that.
"""

import numpy as np
import pytest

from frame_ros.core.options import from_values
from frame_ros.core.time import SECOND
from frame_ros.robots import load_robot
from frame_ros.robots.joint_state_merge import FullJointState
from frame_ros.sensing.contact.joint_arrays import JointArrays
from frame_ros.sensing.contact.joint_effort_sensor import EffortSensor
from frame_ros.sensing.contact.joints.detector import JointContact, dynamics_for
from frame_ros.sensing.contact.joints.motor_model import simulated_motors
from frame_ros.sensing.contact.options import SensingOptions

POSTURE = np.array([0.0, -0.6, 0.8, 0.4, 0.0])
PUSHED = 1  # shoulder_lift
GAP = 0.2  # s, longer than the longest between two samples that are judged as one motion


def efforts_of(dynamics, motors, thresholds):
    """Of a joint that holds its weight and a push, by so many thresholds beyond its friction."""
    weight = dynamics.gravity(POSTURE)
    held = motors.of(dynamics.joint_names)
    margin = JointContact(dynamics, motors=motors).settings.margin
    push = thresholds * margin * held.threshold_base[PUSHED]
    motor, sign = weight.copy(), np.sign(weight[PUSHED]) or 1.0
    for _ in range(100):  # friction grows with the motor's own torque
        limit = margin * held.dry_friction(0.0 * motor, np.abs(motor), np.abs(weight))[PUSHED]
        motor[PUSHED] = weight[PUSHED] + sign * (limit + push)
    return (motor + held.offset) / held.effort_scale


@pytest.mark.parametrize('rate', [30, 50, 100])
def test_a_push_on_a_standing_arm_outlasts_a_gap_in_the_joint_states(rate):
    motors = simulated_motors('so101')
    dynamics = dynamics_for(load_robot('so101'), motors)
    detector = JointContact(dynamics, motors=motors)
    efforts, still = efforts_of(dynamics, motors, 2.0), np.zeros(len(POSTURE))
    free = efforts_of(dynamics, motors, 0.0)
    stamp, found = SECOND, []
    for sample in range(4 * rate):
        stamp += round(SECOND / rate) + (round(GAP * SECOND) if sample == 2 * rate else 0)
        now = free if sample < rate else efforts
        detection = detector.update(stamp, POSTURE, still, now, POSTURE + 0.05)
        found.append(detection.is_contact)
    assert found[2 * rate - 1] is True
    assert found[3 * rate :] == [True] * rate  # whatever was not judged at once behind the gap


def test_a_command_of_the_gripper_alone_keeps_no_old_command_of_the_arm():
    settings = from_values(
        SensingOptions,
        {'robot': 'so101', 'sources': ('joint_effort',), 'joints.motors_file': 'simulated'},
    )
    robot, empty = load_robot('so101'), np.zeros(0)
    names = tuple(robot.joint_limits)
    joints, commands = JointArrays(names), JointArrays(names)
    sensor = EffortSensor(settings, robot, joints, commands)
    taken = []
    sensor.detector.update = lambda *sample: taken.append(sample[4])
    zeros = np.zeros(len(names))
    commands.take(FullJointState(SECOND, names, zeros, empty, empty))
    for second in (1, 60):
        stamp = second * SECOND
        commands.take(FullJointState(stamp, ('gripper',), np.array([0.1]), empty, empty))
        joints.take(FullJointState(stamp, names, zeros, zeros, np.ones(len(names))))
        sensor.on_joints(stamp, frozenset(names), None)
    assert taken[0].tolist() == [0.0] * len(POSTURE)
    assert taken[1] is None
