# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulator's bytes, samplings and picture parts, without a node."""

import numpy as np
import pytest

pytest.importorskip('rclpy')
pytest.importorskip('mujoco')

from geometry_msgs.msg import PoseStamped, WrenchStamped
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from frame_ros.core.time import MILLISECOND, SECOND
from frame_ros.nodes.runtime.message_bytes import joint_state_writer, pose_writer, wrench_writer
from frame_ros.nodes.simulator.messages import contact_message
from frame_ros.nodes.simulator.options import RateOptions, SimulatorOptions
from frame_ros.scenes import SO101, PickPlaceSimulation, scene_robot
from frame_ros.scenes.simulation.command_hold import Interpolator
from frame_ros.scenes.simulation.contact_interval import ContactInterval
from frame_ros.scenes.simulation.noise.options import NoiseOptions
from frame_ros.scenes.simulation.noise.robot_sensors import JointSensors
from frame_ros.scenes.simulation.timing import FAST_TICK, TICK, PictureParts, Sampling


@pytest.mark.parametrize('names', [['a'], ['a', 'bcd', 'ef'], [f'joint_{i}' for i in range(8)]])
@pytest.mark.parametrize('frame', ['', 'abc', 'base_link'])
def test_bytes_are_those_of_a_message(names, frame):
    """Names and frames of every length: numbers stay where they belong."""
    values = np.random.default_rng(0).random((3, len(names)))
    stamp = 5 * SECOND + 7
    joints = deserialize_message(joint_state_writer(names, frame).data(stamp, *values), JointState)
    assert (list(joints.name), joints.header.frame_id) == (names, frame)
    assert (joints.header.stamp.sec, joints.header.stamp.nanosec) == (5, 7)
    found = np.array((joints.position, joints.velocity, joints.effort))
    assert np.array_equal(found, values)
    row = np.arange(6.0)
    message = deserialize_message(wrench_writer(frame).data(stamp, row), WrenchStamped)
    assert message.header.frame_id == frame
    force, torque = message.wrench.force, message.wrench.torque
    assert (force.x, force.y, force.z, torque.x, torque.y, torque.z) == tuple(row)
    pose = deserialize_message(pose_writer(frame).data(stamp, row[:3], row[2:]), PoseStamped)
    assert (pose.header.frame_id, pose.header.stamp.nanosec) == (frame, 7)
    place, turn = pose.pose.position, pose.pose.orientation
    assert [place.x, place.y, place.z] == [0.0, 1.0, 2.0]
    assert [turn.x, turn.y, turn.z, turn.w] == [2.0, 3.0, 4.0, 5.0]


@pytest.mark.parametrize(
    ('rate', 'tick', 'gap'),
    [(1000, FAST_TICK, 1), (500, FAST_TICK, 2), (250, TICK, 4), (100, TICK, 10), (50, TICK, 20)],
)
def test_timesteps_are_sampled_evenly_across_ticks(rate, tick, gap):
    sampling = Sampling(float(rate), MILLISECOND, tick)
    steps = tick // MILLISECOND
    found = [k * steps + row for k in range(40) for row in sampling.due(SECOND + k * tick)]
    assert len(found) == pytest.approx(40 * steps / gap, abs=1)
    assert set(np.diff(found)) == {gap}


def test_nothing_is_sampled_at_a_rate_of_nought():
    sampling = Sampling(0.0, MILLISECOND, TICK)
    assert not any(sampling.due(SECOND + k * TICK) for k in range(50))


@pytest.mark.parametrize(
    ('image', 'depth', 'wanted'),
    [
        (20.0, 10.0, [(True, True), (True, False)]),
        (5.0, 10.0, [(True, True), (False, True)]),
        (10.0, 0.0, [(True, False)] * 2),
        (0.0, 10.0, [(False, True)] * 2),
        (10.0, 10.0, [(True, True)] * 2),
    ],
)
def test_depth_and_image_are_of_one_instant_where_both_are_due(image, depth, wanted):
    parts = PictureParts(image, depth, TICK)
    period = round(SECOND / parts.rate)
    assert [parts.due(SECOND + k * period) for k in range(4)] == wanted * 2


def test_efforts_are_currents_of_one_arm_and_torques_of_the_other():
    so101 = JointSensors(SO101, 50.0, NoiseOptions())
    positions = np.zeros((1, 6))
    *_, currents = so101(positions, positions, np.full((1, 6), 1.0))
    steps = currents / 0.0065
    assert steps == pytest.approx(np.rint(steps), abs=1e-6)
    assert (currents < 1.2).all() and (currents > 0.5).all()
    fr3 = JointSensors(scene_robot('fr3'), 1000.0, NoiseOptions())
    zeros = np.zeros((200, 8))
    *_, torques = fr3(zeros, zeros, np.full((200, 8), 5.0))
    assert torques[:, :7].mean() == pytest.approx(5.0, abs=0.3)
    assert (torques[:, 7] == 5.0).all()
    plain = JointSensors(SO101, 50.0, NoiseOptions(joint=False, effort=False))
    assert all(value is positions for value in plain(positions, positions, positions))


def test_commands_are_followed_evenly_and_a_standing_one_is_reached():
    """30 Hz of targets that move at 1 rad/s: a step of 1 mrad in each millisecond."""
    commands, rows = Interpolator(np.zeros(2), 0.04), []
    for tick in range(100):
        target = np.full(2, np.floor(tick * 0.01 * 30.0) / 30.0)
        rows.append(commands.rows(target, 10, 0.001))
    steps = np.diff(np.concatenate(rows)[500:, 0])
    assert steps.max() < 0.0014
    assert steps.min() > 0.0006
    assert commands.rows(target, 50, 0.001)[-1] == pytest.approx(target)
    commands.restart(np.ones(2))
    assert commands.rows(np.ones(2), 3, 0.001) == pytest.approx(np.ones((3, 2)))
    at_once = Interpolator(np.zeros(2), 0.0).rows(np.ones(2), 3, 0.001)
    assert at_once == pytest.approx(np.ones((3, 2)))


def test_the_tick_is_shorter_where_streams_are_fast():
    assert SimulatorOptions().complete.tick == TICK
    assert SimulatorOptions(robot='fr3').complete.tick == FAST_TICK
    slow = RateOptions(joints=100.0, wrench=250.0)
    assert SimulatorOptions(robot='fr3', rates=slow).complete.tick == TICK


@pytest.mark.parametrize('robot', ['so101', 'fr3'])
@pytest.mark.parametrize('rate', [50.0, 250.0, 500.0])
def test_a_tick_is_a_whole_number_of_timesteps(robot, rate):
    """Otherwise time in the simulation would pass more slowly than the stamps say."""
    options = SimulatorOptions(robot=robot, rates=RateOptions(rate, wrench=50.0)).complete
    assert options.tick % round(options.scene_robot.timestep * SECOND) == 0


def test_velocities_are_no_differences_across_a_reset():
    sensors = JointSensors(SO101, 50.0, NoiseOptions())
    zeros, elsewhere = np.zeros((1, 6)), np.full((1, 6), 1.5)
    sensors(zeros, zeros, zeros)
    sensors.reset()
    assert (sensors(elsewhere, zeros, zeros)[1] == 0.0).all()


def test_true_contacts_have_all_their_columns_and_the_largest_force_so_far():
    simulation, interval = PickPlaceSimulation(3), ContactInterval()
    pushed = []
    for force in (4.0, 1.0):
        simulation.clear_forces()
        place = simulation.data.body('lower_arm_link').xpos.copy()
        simulation.apply_force('lower_arm_link', place, np.array((0.0, 0.0, force)))
        simulation.step(steps=1)
        interval.add(simulation.contacts())
        pushed.append(contact_message(1, 'base_link', interval.take(), np.zeros(3)))
    columns = ('links', 'others', 'is_expected', 'reasons', 'forces', 'peak_forces', 'durations')
    assert {len(getattr(pushed[1], name)) for name in columns} == {1}
    assert [message.forces[0] for message in pushed] == pytest.approx([4.0, 1.0])
    assert pushed[1].peak_forces[0] == pytest.approx(4.0)
