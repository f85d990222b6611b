# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated FR3 over real rclpy: kilohertz streams, Franka's topics and flags, both depth
cameras, and the noise of its sensors.
"""

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from patience import PATIENCE

pytest.importorskip('rclpy')
pytest.importorskip('mujoco')

from geometry_msgs.msg import PoseStamped, WrenchStamped
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import CameraInfo, Image, JointState
from simulator_probe import Probe, SimulatorInThread

from frame_ros.core.time import MILLISECOND
from frame_ros.msg import ContactState, EpisodeEvent, Proximity
from frame_ros.scenes.simulation.scene_robot import scene_robot
from frame_ros.srv import ResetScene

FR3 = scene_robot('fr3')
ROOT = Path(__file__).resolve().parents[3]
FRANKA = 'franka_robot_state_broadcaster'
TOPICS = {
    'joint_states': JointState,
    'wrench': WrenchStamped,
    f'{FRANKA}/external_wrench_in_base_frame': WrenchStamped,
    f'{FRANKA}/external_wrench_in_stiffness_frame': WrenchStamped,
    f'{FRANKA}/external_joint_torques': JointState,
    f'{FRANKA}/measured_joint_states': JointState,
    f'{FRANKA}/current_pose': PoseStamped,
    f'{FRANKA}/contact': ContactState,
    'front/depth/image_raw': Image,
    'front/depth/camera_info': CameraInfo,
    'wrist/depth/image_raw': Image,
    'wrist/depth/camera_info': CameraInfo,
    'ground_truth/contact': ContactState,
    'ground_truth/proximity': Proximity,
}
QOS = QoSProfile(depth=500, reliability=ReliabilityPolicy.BEST_EFFORT)


@pytest.fixture(scope='module')
def probe(ros_in_module):
    probe = Probe(TOPICS, QOS)
    yield probe
    probe.close()


@pytest.fixture(scope='module')
def simulator(probe):
    given = {'robot': 'fr3', 'viewer': 'false', 'images.rate': 0.0, 'depth.rate': 5.0}
    command = [sys.executable, '-m', 'frame_ros.nodes.simulator', '--ros-args']
    for name, value in {**given, 'depth.wrist_rate': 5.0}.items():
        command += ['-p', f'{name}:={value}']
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    probe.until(lambda: all(probe.received.values()))
    count = len(probe.received['joint_states'])
    probe.until(lambda: len(probe.received['joint_states']) > count + 300)
    yield process
    process.send_signal(signal.SIGTERM)
    _, log = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, log
    assert 'Traceback' not in log


def stamp_of(message):
    return message.header.stamp.sec * 10**9 + message.header.stamp.nanosec


def wrench_of(message):
    force, torque = message.wrench.force, message.wrench.torque
    return np.array((force.x, force.y, force.z, torque.x, torque.y, torque.z))


@pytest.mark.parametrize(('topic', 'step'), [('joint_states', 1), ('wrench', 1), (FRANKA, 10)])
def test_streams_come_at_their_rate_by_their_stamps(simulator, probe, topic, step):
    """But for where the machine was too slow and time was given up, or this node lost some: then
    later, never sooner.
    """
    name = f'{topic}/external_joint_torques' if topic == FRANKA else topic
    gaps = np.diff([stamp_of(message) for message in probe.received[name]])
    assert gaps.min() == step * MILLISECOND
    if step == 1:  # all of a tick
        assert np.convolve(gaps == MILLISECOND, np.ones(4), 'valid').max() == 4


def test_joint_states_are_those_of_torque_sensors_with_noise(simulator, probe):
    messages = probe.received['joint_states'][-200:]
    assert tuple(messages[0].name) == FR3.joint_names
    positions, efforts = (
        np.array([getattr(message, name) for message in messages])
        for name in ('position', 'effort')
    )
    assert positions.mean(axis=0) == pytest.approx(FR3.home, abs=0.02)
    assert efforts[:, 3].mean() == pytest.approx(22.3, abs=2.0)  # the arm's weight is in them
    assert 0.005 < efforts[:, 3].std() < 0.2


def test_the_wrench_is_the_hands_weight_with_bias_and_noise(simulator, probe):
    messages = probe.received['wrench'][-200:]
    assert {message.header.frame_id for message in messages} == {'fr3_hand'}
    forces = np.array([wrench_of(message)[:3] for message in messages])
    # The sensor tells what carries the hand, whose z axis points down.
    weight = np.array((0.0, 0.0, -0.7126 * 9.81))
    assert 0.3 < np.linalg.norm(forces.mean(axis=0) - weight) < 10.0
    assert forces.std(axis=0).min() > 0.02 and forces.std(axis=0).max() < 0.5


def test_estimates_have_frankas_frames_and_an_offset_in_free_space(simulator, probe):
    base = probe.newest(f'{FRANKA}/external_wrench_in_base_frame')
    tip = probe.newest(f'{FRANKA}/external_wrench_in_stiffness_frame')
    assert (base.header.frame_id, tip.header.frame_id) == ('fr3_link0', 'fr3_hand_tcp')
    assert 0.1 < np.linalg.norm(wrench_of(base)[:3]) < 15.0
    torques = probe.newest(f'{FRANKA}/external_joint_torques')
    assert tuple(torques.name) == FR3.arm_joints
    assert 0.0 < np.abs(torques.effort).max() < 10.0
    pose = probe.newest(f'{FRANKA}/current_pose').pose.position
    assert (pose.x, pose.y, pose.z) == pytest.approx((0.307, 0.0, 0.487), abs=0.02)
    measured = probe.newest(f'{FRANKA}/measured_joint_states')
    assert measured.position == pytest.approx(FR3.home[:-1], abs=0.02)


def test_estimates_are_best_effort_as_frankas(simulator, probe):
    for topic, wanted in (
        ('external_wrench_in_base_frame', ReliabilityPolicy.BEST_EFFORT),
        ('contact', ReliabilityPolicy.RELIABLE),
    ):
        (publisher,) = probe.node.get_publishers_info_by_topic(f'/{FRANKA}/{topic}')
        assert publisher.qos_profile.reliability == wanted


def test_both_cameras_give_depth_with_holes(simulator, probe):
    for camera, median in (('front', (600, 3500)), ('wrist', (200, 1200))):
        image = probe.newest(f'{camera}/depth/image_raw')
        info = probe.newest(f'{camera}/depth/camera_info')
        assert (image.encoding, image.width, image.height) == ('16UC1', 320, 240)
        assert image.header.frame_id == info.header.frame_id == f'{camera}_camera_optical_frame'
        depth = np.frombuffer(image.data, np.uint16)
        assert 0.001 < (depth == 0).mean() < 0.6
        assert median[0] < np.median(depth[depth > 0]) < median[1]  # mm


def test_the_truth_is_of_the_fr3(simulator, probe):
    near = probe.newest('ground_truth/proximity')
    assert near.header.frame_id == 'fr3_link0'
    assert set(near.link_names) == set(FR3.watched_links)
    row = near.link_names.index(near.link)
    assert near.link_distances[row] == near.distance == min(near.link_distances)
    assert near.link_points_on_robot[row] == near.point_on_robot
    assert not probe.newest('ground_truth/contact').in_contact


def push(node, force):
    """Pushes the hand sideways; None: no more."""
    simulation = node.simulation
    with node.lock:
        if force is None:
            simulation.clear_forces()
        else:
            simulation.apply_force('fr3_hand', simulation.tip_position(), (0.0, force, 0.0))


def test_a_contact_flag_clears_itself_and_a_collision_flag_stays_until_an_episode(
    probe,
):
    topic = f'{FRANKA}/contact'
    simulator = SimulatorInThread(
        'robot:=fr3', 'rates.joints:=100.0', 'rates.wrench:=0.0', 'estimates.offset:=0.0',
        'estimates.contact_force:=10.0', 'estimates.collision_force:=30.0',
    )  # fmt: skip

    def flags():
        newest = probe.newest(topic)
        return newest.in_contact, newest.in_collision

    try:
        for force, wanted in (
            (15.0, (True, False)), (None, (False, False)), (60.0, (True, True)),
            (None, (False, True)),
        ):  # fmt: skip
            push(simulator.node, force)
            probe.received[topic].clear()
            probe.until(lambda wanted=wanted: probe.received[topic] and flags() == wanted)
            assert probe.newest(topic).source == ContactState.SOURCE_ROBOT
        event = EpisodeEvent(type=EpisodeEvent.START, episode_id='next', source='recorder')
        event.header.stamp = probe.node.get_clock().now().to_msg()
        probe.announcements.publish(event)
        probe.until(lambda: flags() == (False, False))
    finally:
        simulator.close()


def test_the_wrench_of_the_flags_acts_on_the_robot_and_frankas_estimate_the_other_way(
    probe,
):
    simulator = SimulatorInThread(
        'robot:=fr3', 'rates.joints:=100.0', 'rates.wrench:=0.0', 'estimates.offset:=0.0'
    )
    topics = (f'{FRANKA}/contact', f'{FRANKA}/external_wrench_in_base_frame')
    try:
        push(simulator.node, 20.0)
        for topic in topics:
            probe.received[topic].clear()
        probe.until(
            lambda: all(
                probe.received[topic] and abs(wrench_of(probe.newest(topic))[1]) > 18.5
                for topic in topics
            )
        )
        on_robot, of_franka = (wrench_of(probe.newest(topic))[1] for topic in topics)
        assert on_robot == pytest.approx(20.0, abs=2.0)
        assert of_franka == pytest.approx(-20.0, abs=2.0)
    finally:
        simulator.close()


def test_a_collision_of_before_is_not_told_of_the_scene_after_a_reset(probe):
    topic = f'{FRANKA}/contact'
    simulator = SimulatorInThread(
        'robot:=fr3', 'rates.joints:=100.0', 'rates.wrench:=0.0', 'estimates.offset:=0.0',
        'estimates.cutoff:=0.5', 'estimates.contact_force:=10.0', 'estimates.collision_force:=20.0',
    )  # fmt: skip
    try:
        push(simulator.node, 60.0)
        probe.received[topic].clear()
        probe.until(lambda: probe.received[topic] and probe.newest(topic).in_collision)
        # Not by the service: the other simulator of this module would answer it too.
        simulator.node._on_reset(ResetScene.Request(seed=1), ResetScene.Response())
        reset = probe.node.get_clock().now().nanoseconds + 50 * MILLISECOND

        def later():
            return [message for message in probe.received[topic] if stamp_of(message) > reset]

        probe.until(lambda: len(later()) > 30)
        assert not any(message.in_contact or message.in_collision for message in later())
    finally:
        simulator.close()


def test_a_reset_is_answered_once_its_arm_is_measured(ros_in_module, monkeypatch):
    """On a machine on which a tick takes long: the episode begins with the arm where it is."""
    simulator = SimulatorInThread('robot:=fr3', 'viewer:=false', 'images.rate:=0.0')
    node, is_reset, sent = simulator.node, threading.Event(), []
    tick, reset = node._tick, node.simulation.reset

    def slow(stamp):
        is_after = is_reset.is_set()
        tick(stamp)
        time.sleep(0.1)
        sent.append(is_after)

    monkeypatch.setattr(node, '_tick', slow)
    monkeypatch.setattr(node.simulation, 'reset', lambda seed: (reset(seed), is_reset.set()))
    try:
        deadline = time.monotonic() + PATIENCE
        while not sent:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert node._on_reset(ResetScene.Request(seed=1), ResetScene.Response()).success
        assert any(sent)
    finally:
        simulator.close()
