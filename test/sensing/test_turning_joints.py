# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Sensing with joints that turn without end: the same, whether a driver publishes their positions
from -pi to pi or counts on.
"""

import math

import numpy as np
import pytest
from turning_arm import NAMES, TURNING, counted, urdf, wrapped

from frame_ros.bags.streams.form import Stream
from frame_ros.core.options import evolved
from frame_ros.core.time import SECOND
from frame_ros.core.turns import continuous_among
from frame_ros.episodes.recorded.units import joint_problems
from frame_ros.robots import find_urdf, load_robot
from frame_ros.robots.dynamics import RobotDynamics
from frame_ros.robots.joint_state_merge import FullJointState
from frame_ros.sensing.contact.joint_arrays import JointArrays
from frame_ros.sensing.contact.joint_effort_sensor import EffortSensor
from frame_ros.sensing.contact.joints.fitting.recording import recording_of
from frame_ros.sensing.contact.options import SensingOptions
from frame_ros.sensing.contact.wrench.still_poses import StillPoses
from frame_ros.sensing.contact.wrench.tool_motion import ToolMotionEstimator
from frame_ros.sensing.proximity.joint_history import JointHistory
from frame_ros.sensing.stream_health.streams import StreamHealth

STEP = SECOND // 100
START = 1_700_000_000 * SECOND
NONE = np.zeros(0)


@pytest.fixture(scope='module')
def franka():
    """An FR3 as if its first and last joint turned without end."""
    text = find_urdf('fr3').read_text()
    for joint in ('fr3_joint1', 'fr3_joint7'):
        assert f'name="{joint}" type="revolute"' in text
        text = text.replace(f'name="{joint}" type="revolute"', f'name="{joint}" type="continuous"')
    robot = load_robot(text, 'fr3_link8')
    assert robot.continuous == ('fr3_joint1', 'fr3_joint7')
    return robot


def way(tick):
    """(7,) rad of the FR3 in motion, which passes pi."""
    home = np.array([3.0, -0.6, 0.0, -2.0, 0.0, 1.6, -3.1])
    return home + 0.25 * np.sin(np.arange(1, 8) * tick / 100.0)


def of_driver(robot, q):
    return wrapped(q, continuous_among(robot.joint_names, robot.continuous))


def test_an_arm_that_trembles_at_the_seam_stands_and_its_positions_count_on():
    health, raw = StreamHealth(robot=load_robot(urdf())), StreamHealth()
    still = np.array([math.pi - 1e-4, 0.2, -math.pi + 1e-4])
    for tick in range(100):
        q = wrapped(still + 3e-4 * np.array([1, 0, -1]) * (tick % 3))
        for each in (health, raw):
            each.on_joints(START + tick * STEP, NAMES, q, NONE, NONE)
    now = START + 98 * STEP
    assert raw.motion.is_moving(now) is True and health.motion.is_moving(now) is False
    health.reset()
    motion = counted()
    for tick, q in enumerate(wrapped(motion)):
        health.on_joints(now + tick * STEP, NAMES, q, NONE, NONE)
    np.testing.assert_allclose(
        health.motion.positions(NAMES) - motion[-1], wrapped(motion[0]) - motion[0], atol=1e-9
    )


@pytest.mark.parametrize('fault', ['a position that is not finite', 'a clock that was set back'])
def test_a_resting_arm_beyond_the_seam_stands_after(fault):
    health = StreamHealth(robot=load_robot(urdf()))
    there, now = np.array([3.0, 0.2, 0.1]), START
    for tick in range(60):
        now += STEP
        q = wrapped(there + np.array([0.01, 0.0, 0.0]) * min(tick, 50))
        health.on_joints(now, NAMES, q, NONE, NONE)
    for _ in range(100):
        now += STEP
        health.on_joints(now, NAMES, q, NONE, NONE)
    assert health.motion.is_moving(now) is False
    if fault.endswith('back'):
        now -= 5 * SECOND
    else:
        now += STEP
        health.on_joints(now, NAMES, np.array([math.nan, 0.2, 0.1]), NONE, NONE)
    moving = []
    for _ in range(100):
        now += STEP
        health.on_joints(now, NAMES, q, NONE, NONE)
        moving.append(health.motion.is_moving(now))
    assert True not in moving and moving[-1] is False


def test_efforts_leave_the_same_residual_across_the_seam(franka):
    plain = SensingOptions(robot='fr3')
    settings = evolved(plain, joints=evolved(plain.joints, motors_file='generic'))
    names, dynamics, residuals = franka.joint_names, RobotDynamics(franka), []
    for publish in (lambda q: q, lambda q: of_driver(franka, q)):
        joints, commands = JointArrays(names), JointArrays(names)
        sensor = EffortSensor(settings, franka, joints, commands)
        found = []
        for tick in range(300):
            q, stamp = way(tick), START + tick * STEP
            commands.take(FullJointState(stamp, names, publish(way(tick + 2)), NONE, NONE))
            taken = joints.take(FullJointState(stamp, names, publish(q), NONE, dynamics.gravity(q)))
            sensor.on_joints(stamp, taken, False)
            found.append(sensor.detector.residual)
        residuals.append(np.array(found))
    jumps = np.abs(np.diff([of_driver(franka, way(tick)) for tick in range(300)], axis=0)).max()
    assert jumps > 6.0 and np.nanmax(np.abs(residuals[0])) < 30.0
    np.testing.assert_allclose(residuals[1], residuals[0], atol=1e-6)


def test_a_tool_moves_as_it_does_across_the_seam(franka):
    first, second = (ToolMotionEstimator(franka, 'fr3_link8') for _ in range(2))
    for tick in range(300):
        stamp = START + tick * STEP
        one = first.update(stamp, way(tick))
        other = second.update(stamp, of_driver(franka, way(tick)))
        assert other.is_moving == one.is_moving
        if one.linear_acceleration is not None:
            np.testing.assert_allclose(
                other.linear_acceleration, one.linear_acceleration, atol=1e-6
            )


def test_a_pose_at_the_seam_is_still_and_one_a_turn_away_is_the_same():
    still = StillPoses(joint_names=NAMES, continuous=TURNING)
    for turn, at in ((0.0, 0), (2 * math.pi, 20 * SECOND)):
        for tick in range(400):
            stamp = START + at + tick * STEP
            sign = -1.0 if tick % 2 else 1.0
            still.add_joints(stamp, np.array([sign * math.pi + turn, 0.1, 0.3 + turn]))
            still.add_wrench(stamp, np.ones(6))
    assert len(still.poses) == 1


def test_a_recording_for_identification_counts_on():
    motion = counted(300)
    sent = wrapped(motion + 0.05)
    found = recording_of(
        NAMES, START + np.arange(300) * STEP, wrapped(motion), np.zeros((300, 3)),
        np.ones((300, 3)), sent, TURNING,
    )  # fmt: skip
    np.testing.assert_allclose(found.positions, motion, atol=1e-9)
    np.testing.assert_allclose(found.commands, motion + 0.05, atol=1e-9)
    plain = recording_of(
        NAMES, START + np.arange(300) * STEP, sent, np.zeros((300, 3)), np.ones((300, 3)), sent
    )
    assert plain.positions is sent or np.array_equal(plain.positions, sent)


def test_the_arm_of_an_image_is_on_its_way_at_the_seam():
    motion = counted(60)
    joints = JointHistory(NAMES, {}, 9.0, 0.02, 0.1, continuous=TURNING)
    for tick, q in enumerate(wrapped(motion)):
        joints.add(START + tick * STEP, NAMES, q)
    for tick in range(59):
        found = joints.at(START + tick * STEP + STEP // 4).positions
        true = 0.75 * motion[tick] + 0.25 * motion[tick + 1]
        np.testing.assert_allclose(np.exp(1j * found), np.exp(1j * true), atol=1e-9)


def test_a_joint_that_trembles_at_the_seam_is_not_too_fast():
    still = (
        np.array([math.pi, 0.2, 0.0]) + 1e-3 * np.array([1, 1, 0]) * (np.arange(200) % 2)[:, None]
    )
    names = np.array([NAMES] * 200)
    stamps = START + np.arange(200) * STEP
    values = {'names': names, 'names_count': np.full(200, 3), 'positions': wrapped(still),
              'positions_count': np.full(200, 3)}  # fmt: skip
    stream = Stream('/joint_states', 'sensor_msgs/msg/JointState', stamps, stamps, values)
    assert joint_problems({'joint_states': stream}, load_robot(urdf())) == []
    fast = joint_problems({'joint_states': stream}, load_robot(urdf('revolute')))
    assert any('rad/s (limit 2)' in str(text) for text in fast)
