# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulator node over real rclpy: what it publishes, and what it does with what it is sent."""

import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from patience import PATIENCE

pytest.importorskip('rclpy')
pytest.importorskip('mujoco')

from geometry_msgs.msg import PoseStamped, WrenchStamped
from sensor_msgs.msg import CameraInfo, Image, JointState
from simulator_probe import Probe, SimulatorInThread

from frame_ros.core.errors import SetupError
from frame_ros.core.time import SECOND
from frame_ros.msg import ContactState, EpisodeEvent, Proximity
from frame_ros.scenes import JOINT_NAMES, PickPlaceSimulation
from frame_ros.scenes.simulation.timing import (
    FAR_BEHIND,
    LARGEST_LAG,
    LATE,
    LONGEST_GAP,
    TICK,
    Pace,
    PictureSchedule,
    Schedule,
)
from frame_ros.scenes.simulation.viewer import display_problem, wants_viewer

ROOT = Path(__file__).resolve().parents[3]
TOPICS = {
    'joint_states': JointState,
    'wrench': WrenchStamped,
    'front/image_raw': Image,
    'front/camera_info': CameraInfo,
    'front/depth/image_raw': Image,
    'front/depth/camera_info': CameraInfo,
    'wrist/image_raw': Image,
    'wrist/camera_info': CameraInfo,
    'ground_truth/contact': ContactState,
    'ground_truth/proximity': Proximity,
    'ground_truth/object_pose': PoseStamped,
    'ground_truth/goal_pose': PoseStamped,
}
TARGET = (0.5, -1.0, 1.0, 0.6, 0.3, 0.8)


@pytest.fixture(scope='module')
def probe(ros_in_module):
    probe = Probe(TOPICS)
    yield probe
    probe.close()


@pytest.fixture(scope='module')
def log():
    return []


@pytest.fixture(scope='module')
def simulator(probe, log):
    command = [sys.executable, '-m', 'frame_ros.nodes.simulator', '--ros-args']
    command += ['-p', 'seed:=4', '-p', 'images.rate:=5.0', '-p', 'depth.rate:=5.0']
    command += ['-p', 'viewer:=false', '-p', 'noise.wrench:=false']
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    reader = threading.Thread(target=lambda: log.extend(process.stderr))
    reader.start()
    probe.until(lambda: all(probe.received.values()))
    yield process
    process.send_signal(signal.SIGTERM)
    code = process.wait(timeout=PATIENCE)
    reader.join()
    assert code == 0, ''.join(log)
    assert 'Traceback' not in ''.join(log)
    assert 'simulated' in log[-1]


def stamp_of(message):
    return message.header.stamp.sec * 10**9 + message.header.stamp.nanosec


def test_joint_states_and_wrench_are_those_of_an_arm_at_rest(simulator, probe):
    joints = probe.newest('joint_states')
    assert tuple(joints.name) == JOINT_NAMES
    assert len(joints.position) == len(joints.velocity) == len(joints.effort) == 6
    assert joints.position == pytest.approx((0.0, -1.35, 1.25, 0.85, 0.0, 0.3), abs=0.05)
    wrench = probe.newest('wrench')
    assert wrench.header.frame_id == 'gripper_link'
    force = wrench.wrench.force
    assert np.linalg.norm((force.x, force.y, force.z)) == pytest.approx(0.097 * 10, rel=0.05)


def test_stamps_are_whole_ticks_apart(simulator, probe):
    count = len(probe.received['joint_states'])
    probe.until(lambda: len(probe.received['joint_states']) > count + 20)
    stamps = [stamp_of(message) for message in probe.received['joint_states']]
    gaps = np.diff(stamps)
    assert (gaps > 0).all()
    assert (
        gaps % TICK == 0
    ).mean() > 0.5  # but where the machine was too slow and time was given up


def test_images_and_their_geometry(simulator, probe):
    for topic, encoding, width in (
        ('front', 'rgb8', 3),
        ('wrist', 'rgb8', 3),
        ('front/depth', '16UC1', 2),
    ):
        image, info = probe.newest(f'{topic}/image_raw'), probe.newest(f'{topic}/camera_info')
        assert (image.width, image.height, image.encoding) == (320, 240, encoding)
        assert image.step == 320 * width
        assert len(image.data) == 240 * image.step
        assert image.header.frame_id == info.header.frame_id
        assert image.header.frame_id == f'{topic.split("/")[0]}_camera_optical_frame'
        assert (info.width, info.height) == (320, 240)
        assert info.k[0] == info.k[4] == info.p[0]
        assert (info.k[2], info.k[5]) == (159.5, 119.5)
    depth = np.frombuffer(probe.newest('front/depth/image_raw').data, np.uint16)
    assert 300 < np.median(depth) < 2000  # mm


def test_truth_in_the_base_frame(simulator, probe):
    expected = PickPlaceSimulation(seed=4)
    pose = probe.newest('ground_truth/object_pose')
    assert pose.header.frame_id == 'base_link'
    position = pose.pose.position
    assert (position.x, position.y) == pytest.approx(expected.object_pose()[:2], abs=1e-3)
    goal = probe.newest('ground_truth/goal_pose').pose.position
    assert (goal.x, goal.y, goal.z) == pytest.approx(expected.goal_pose()[:3], abs=1e-9)
    contact, near = probe.newest('ground_truth/contact'), probe.newest('ground_truth/proximity')
    assert contact.source == ContactState.SOURCE_SIMULATOR
    assert not contact.in_contact
    assert contact.force == 0.0
    assert near.source == Proximity.SOURCE_SIMULATOR
    assert near.distance == min(near.link_distances)
    assert near.link in near.link_names
    assert np.isnan(near.valid_fraction)


def test_commands_move_the_arm_in_any_order_and_partly(simulator, probe):
    order = [3, 0, 5, 1, 4]
    names, positions = [JOINT_NAMES[i] for i in order], [TARGET[i] for i in order]

    def are_there():
        found = dict(zip(JOINT_NAMES, probe.newest('joint_states').position, strict=True))
        return all(abs(found[n] - p) < 0.05 for n, p in zip(names, positions, strict=True))

    probe.until(are_there, lambda: probe.command(names, positions))
    assert probe.newest('joint_states').position[2] == pytest.approx(1.25, abs=0.05)


def test_bad_commands_are_counted_and_said_and_the_arm_stays(simulator, probe, log):
    probe.until(lambda: np.abs(probe.newest('joint_states').velocity).max() < 0.005)
    before = probe.newest('joint_states').position

    def is_said():
        return any('joint command rejected (' in line and 'no_such_joint' in line for line in log)

    probe.until(is_said, lambda: probe.command(('no_such_joint',), (1.0,)))
    count = len(probe.received['joint_states'])
    probe.until(lambda: len(probe.received['joint_states']) > count + 10)
    assert list(probe.newest('joint_states').position) == pytest.approx(list(before), abs=0.02)


def test_the_scene_is_put_back_as_drawn_from_a_seed(simulator, probe):
    answer = probe.reset(12)
    assert (answer.success, answer.seed) == (True, 12)
    assert probe.reset(-1).seed == 13
    expected = PickPlaceSimulation(seed=13)
    x, y = expected.object_pose()[:2]

    def is_new():
        position = probe.newest('ground_truth/object_pose').pose.position
        return abs(position.x - x) < 1e-3 and abs(position.y - y) < 1e-3

    probe.until(is_new)
    home = (0.0, -1.35, 1.25, 0.85, 0.0, 0.3)
    assert probe.newest('joint_states').position == pytest.approx(home, abs=0.05)


def test_success_and_failure_are_said_once_in_an_episode(probe):
    """The cube is put in the bin, and off the table, by hand; the probe is the recorder."""
    process = SimulatorInThread()
    try:
        outcomes = []
        for number, place in enumerate(('bin', 'floor')):
            name = f'episode-{number}'
            announce(probe, EpisodeEvent.START, name)
            process.put_cube(place)
            probe.until(lambda name=name: said_by_simulator(probe, name))
            count = process.node.counts['ticks']
            probe.until(lambda count=count: process.node.counts['ticks'] > count + 60)
            outcomes.append([event.type for event in said_by_simulator(probe, name)])
            announce(probe, EpisodeEvent.END, name)
        assert outcomes == [[EpisodeEvent.SUCCESS], [EpisodeEvent.FAILURE]]
    finally:
        process.close()


def announce(probe, kind, name):
    event = EpisodeEvent(type=kind, episode_id=name, source='recorder')
    event.header.stamp = probe.node.get_clock().now().to_msg()
    probe.announcements.publish(event)


def said_by_simulator(probe, name):
    return [e for e in probe.events if e.episode_id == name and e.source == 'simulator']


def test_schedules_keep_their_average_rate():
    schedule = Schedule(30.0)
    due = [i for i in range(1000) if schedule.is_due(5_000_000_000 + i * TICK)]
    assert len(due) == pytest.approx(300, abs=1)
    assert set(np.diff(due)) == {3, 4}
    assert not any(Schedule(0.0).is_due(i * TICK) for i in range(100))


def test_a_schedule_does_not_catch_up_after_a_gap():
    schedule = Schedule(50.0)
    assert schedule.is_due(0)
    late = [schedule.is_due(10**9 + i * TICK) for i in range(4)]
    assert sum(late) == 2


def test_time_is_caught_up_a_little_and_given_up_beyond():
    pace = Pace()
    assert pace.next(0, TICK // 2) == TICK
    assert pace.next(0, TICK + LARGEST_LAG) == TICK
    assert (pace.delays, pace.given_up) == (0, 0)
    assert pace.next(0, 2 * SECOND) == 2 * SECOND
    assert (pace.delays, pace.given_up) == (1, 2 * SECOND - TICK)
    assert pace.next(5 * SECOND, SECOND) == SECOND  # the clock was set back
    assert (pace.delays, pace.given_up) == (2, 2 * SECOND - TICK)


def test_images_are_left_out_before_time_is_given_up():
    assert TICK < LATE < FAR_BEHIND < LARGEST_LAG < LONGEST_GAP


def test_no_time_is_lost_to_a_stall_that_others_wait_out():
    pace, stamp = Pace(), SECOND
    for now in (SECOND + 15 * TICK, *[SECOND + 15 * TICK + TICK // 2] * 13):
        following = pace.next(stamp, now)
        assert following == stamp + TICK
        stamp = following
    assert (pace.delays, pace.given_up) == (0, 0)


def test_late_images_are_left_out_and_counted_but_for_one_now_and_then():
    pictures = PictureSchedule({'front': Schedule(20.0), 'wrist': Schedule(0.0)})
    ticks = [SECOND + i * TICK for i in range(100)]
    assert [pictures.due(stamp, stamp + LATE) for stamp in ticks[:6]].count(['front']) == 2
    assert pictures.left_out == 0
    drawn = [stamp for stamp in ticks[6:] if pictures.due(stamp, stamp + LATE + 1)]
    assert np.diff(drawn).min() > LONGEST_GAP
    assert len(drawn) == 3
    assert pictures.left_out == 18 - 3


def test_a_viewer_needs_a_display(monkeypatch):
    monkeypatch.delenv('DISPLAY', raising=False)
    monkeypatch.delenv('WAYLAND_DISPLAY', raising=False)
    assert not wants_viewer('auto')
    with pytest.raises(SetupError, match='display'):
        wants_viewer('true')
    monkeypatch.setenv('DISPLAY', ':0')
    assert wants_viewer('auto')
    assert not wants_viewer('false')


def test_a_display_that_does_not_work_costs_the_viewer_and_nothing_else(
    probe, tmp_path, monkeypatch
):
    """GLFW ends the process that asks it for a window there."""
    monkeypatch.setenv('DISPLAY', ':77')
    monkeypatch.delenv('WAYLAND_DISPLAY', raising=False)
    assert ':77' in display_problem()
    command = [sys.executable, '-m', 'frame_ros.nodes.simulator', '--ros-args']
    command += ['-p', 'depth.rate:=0.0', '-r', 'joint_states:=blind_states']
    command += ['-r', 'front/image_raw:=blind_images']
    arrived = {'blind_states': [], 'blind_images': []}
    for topic, kind in (('blind_states', JointState), ('blind_images', Image)):
        probe.node.create_subscription(kind, topic, arrived[topic].append, 10)
    log = tmp_path / 'log'
    process = subprocess.Popen(command, cwd=ROOT, stderr=log.open('w'))
    try:
        probe.until(lambda: min(map(len, arrived.values())) > 20)
    finally:
        process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=PATIENCE) == 0, log.read_text()
    assert log.read_text().count('there will be no viewer: ') == 1
    assert 'Traceback' not in log.read_text()


def test_a_simulator_whose_physics_fails_ends(probe, capfd):
    simulator = SimulatorInThread()
    try:
        assert simulator.node.exit_code is None
        with simulator.node.lock:
            simulator.node._targets = np.zeros(2)  # of no arm here
        probe.until(lambda: simulator.node.exit_code == 1)
    finally:
        simulator.close()
    assert 'the physics stopped' in capfd.readouterr().err


def test_targets_beyond_the_joints_limits_are_taken_as_the_limits(ros_domain):
    simulator = SimulatorInThread()
    node = simulator.node
    # Of its own: a participant may get the GUID of one before it in the same process; who has not
    # heard of that one's end takes both for the same.
    probe = Probe({})
    try:
        lower, upper = node.simulation.lower, node.simulation.upper
        probe.until(
            lambda: (node._targets[-1], node._targets[0]) == (upper[-1], lower[0]),
            lambda: probe.command(['gripper', 'shoulder_pan'], [1e308, -1e308]),
        )
        assert node.counts['rejected'] == 0
    finally:
        probe.close()
        simulator.close()


def test_a_bad_parameter_ends_the_node_with_a_message(ros_domain):
    command = [sys.executable, '-m', 'frame_ros.nodes.simulator', '--ros-args', '-p', 'seed:=-3']
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 1
    assert 'seed is -3' in done.stderr
    assert 'Traceback' not in done.stderr
