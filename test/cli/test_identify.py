# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros identify` on bags, and on a robot that answers over ROS."""

from __future__ import annotations

import os
import re
import threading
import time

import numpy as np
import pytest
from patience import PATIENCE
from rosbags.rosbag2 import Writer
from rosbags.typesys import Stores, get_typestore
from scipy.spatial.transform import Rotation

from frame_ros.cli import main
from frame_ros.cli.identify.command import fit_poses, why_not
from frame_ros.core.errors import SetupError
from frame_ros.robots import load_robot
from frame_ros.robots.dynamics import RobotDynamics
from frame_ros.sensing.contact.joints.motor_model import load_motors
from frame_ros.sensing.contact.wrench.still_poses import StillPose
from frame_ros.sensing.contact.wrench.tool_file import ToolMount, read_tool, read_tool_file

STORE = get_typestore(Stores.ROS2_HUMBLE)
TYPES = STORE.types
ROBOT = load_robot('so101')
KINDS = {
    'joint_states': 'sensor_msgs/msg/JointState',
    'joint_commands': 'sensor_msgs/msg/JointState',
    'wrench': 'geometry_msgs/msg/WrenchStamped',
}


def header(stamp: int):
    time_type, header_type = TYPES['builtin_interfaces/msg/Time'], TYPES['std_msgs/msg/Header']
    return header_type(time_type(stamp // 10**9, stamp % 10**9), '')


def joint_state(stamp: int, q, dq, effort):
    empty = np.zeros(0)
    return TYPES[KINDS['joint_states']](
        header(stamp), list(ROBOT.joint_names), np.asarray(q, float),
        empty if dq is None else np.asarray(dq, float),
        empty if effort is None else np.asarray(effort, float),
    )  # fmt: skip


def wrench(stamp: int, values):
    vector = TYPES['geometry_msgs/msg/Vector3']
    body = TYPES['geometry_msgs/msg/Wrench'](vector(*values[:3]), vector(*values[3:]))
    return TYPES[KINDS['wrench']](header(stamp), body)


def write_bag(path, messages) -> str:
    with Writer(path, version=9) as writer:
        topics = {name: writer.add_connection(f'/{name}', k, typestore=STORE)
                  for name, k in KINDS.items()}  # fmt: skip
        for stamp, name, message in messages:
            writer.write(topics[name], stamp, STORE.serialize_cdr(message, KINDS[name]))
    return str(path)


def motion_messages(has_effort: bool = True, seconds: float = 24.0):
    """The joints swing; efforts are torques of the masses, and 0.1 N m of friction."""
    dynamics = RobotDynamics(ROBOT)
    rates = np.array([0.9, 1.1, 1.3, 1.7, 2.1])
    for row in range(round(seconds * 50)):
        phase = rates * row / 50
        q = [0.0, -1.0, 1.0, 0.6, 0.3] + 0.5 * np.sin(phase)
        dq = 0.5 * rates * np.cos(phase)
        ddq = -0.5 * rates**2 * np.sin(phase)
        effort = dynamics.inverse_dynamics(q, dq, ddq) + 0.1 * np.tanh(dq / 0.02)
        stamp = 10**9 + row * 20_000_000
        yield stamp, 'joint_states', joint_state(stamp, q, dq, effort if has_effort else None)


def test_joints_of_a_bag_are_identified_and_written(tmp_path, capsys):
    bag = write_bag(tmp_path / 'motion', motion_messages())
    path = tmp_path / 'motors.yaml'
    assert main(['identify', 'joints', '--bag', bag, '--output', str(path)]) == 0
    said = capsys.readouterr().out
    assert 'shoulder_lift' in said and 'residual rms' in said and 'written to' in said
    assert 'not identifiable: wrist_roll effort scale' in said
    motors = load_motors(path)
    np.testing.assert_allclose(motors.coulomb, 0.1, atol=0.03)
    np.testing.assert_allclose(motors.effort_scale[1:3], 1.0, rtol=0.05)
    assert motors.source == 'frame-ros identify joints, bag motion'


def test_a_fit_that_explains_little_is_said(tmp_path, capsys):
    from dataclasses import replace

    from frame_ros.bags.joint_recordings import read_joints
    from frame_ros.cli.identify.command import print_joints
    from frame_ros.sensing.contact.joints.fitting.identification import identify_joints

    bag = write_bag(tmp_path / 'motion', motion_messages())
    found = identify_joints(RobotDynamics(ROBOT), read_joints([bag], ROBOT.joint_names, ''))
    print_joints(found)
    assert 'hardly explained' not in capsys.readouterr().out
    deaf = replace(found.joints[1], rms_before=0.89, rms_after=0.934)
    half = replace(found.joints[2], rms_before=0.8, rms_after=0.6)
    print_joints(replace(found, joints=(found.joints[0], deaf, half, *found.joints[3:])))
    said = [line for line in capsys.readouterr().out.splitlines() if 'hardly explained' in line]
    assert len(said) == 2
    assert 'hardly explained: shoulder_lift: the fit explains 0 % of 0.89 N m' in said[0]
    assert '25 % of 0.8 N m' in said[1] and '--payload' in said[1]
    assert "efforts have the arm's weight in them" in said[1]


def test_bags_of_one_time_are_taken_one_after_the_other(tmp_path):
    from frame_ros.bags.joint_recordings import read_joints

    bags = [write_bag(tmp_path / name, motion_messages(seconds=6.0)) for name in 'ab']
    recording = read_joints(bags, ROBOT.joint_names, '')
    assert len(recording.stamps) == 600
    assert recording.stamps[300] - recording.stamps[299] > 10**9
    np.testing.assert_array_equal(recording.positions[:300], recording.positions[300:])


def test_commands_of_a_bag_are_the_newest_at_each_sample(tmp_path):
    from frame_ros.bags.joint_recordings import read_joints

    states = list(motion_messages(seconds=6.0))
    sent = [
        (
            stamp + 1_000_000,
            'joint_commands',
            joint_state(stamp + 1_000_000, m.position, None, None),
        )
        for stamp, _, m in states[::2]
    ]
    with_commands = write_bag(tmp_path / 'sent', sorted(states + sent, key=lambda row: row[0]))
    found = read_joints([with_commands, write_bag(tmp_path / 'not', states)], ROBOT.joint_names, '')
    assert np.isnan(found.commands[0]).all() and np.isnan(found.commands[300:]).all()
    np.testing.assert_array_equal(found.commands[1:299:2], found.positions[0:298:2])
    np.testing.assert_array_equal(found.commands[2:300:2], found.positions[0:298:2])
    assert read_joints([str(tmp_path / 'not')], ROBOT.joint_names, '').commands is None


def test_an_arm_in_two_halves_is_put_together(tmp_path):
    """Of two publishers, the second a third of a period later."""
    from frame_ros.bags.joint_recordings import read_joints

    whole, halves, names = [], [], list(ROBOT.joint_names)
    for stamp, topic, message in motion_messages(seconds=6.0):
        whole.append((stamp, topic, message))
    late = 20_000_000 // 3
    for row, (stamp, topic, message) in enumerate(whole):
        phase = np.array([0.9, 1.1, 1.3, 1.7, 2.1]) * (row / 50 + late / 1e9)
        q = [0.0, -1.0, 1.0, 0.6, 0.3] + 0.5 * np.sin(phase)
        for joints, at, positions in (
            (names[:2], stamp, message.position[:2]),
            (names[2:], stamp + late, q[2:]),
        ):
            part = joint_state(at, q, None, np.full(5, 0.25))
            part.name, part.position = joints, np.array(positions)
            part.velocity, part.effort = np.zeros(0), part.effort[: len(joints)]
            halves.append((at, topic, part))
    found = read_joints([write_bag(tmp_path / 'halves', halves)], ROBOT.joint_names, '')
    right = read_joints([write_bag(tmp_path / 'whole', whole)], ROBOT.joint_names, '')
    np.testing.assert_array_equal(found.stamps, right.stamps[1:])
    np.testing.assert_allclose(found.positions, right.positions[1:], atol=3e-4)
    assert found.velocities is None and (found.efforts == 0.25).all()


def tool_bag(path, sign=1.0, mount=(0.0, 0.0, 0.0)):
    """Eight poses with a tool of 0.18 kg, on a sensor turned by `mount` (rpy) in gripper_link."""
    sensor, turned = load_robot('so101', 'gripper_link'), Rotation.from_euler('xyz', mount)
    mass, centre, bias = 0.18, np.array([0.01, -0.02, -0.06]), np.array([1, -2, 0.5, 0.01, 0, 0.02])
    rng = np.random.default_rng(0)
    messages = []
    for pose in range(8):
        q = rng.uniform(-1.2, 1.2, 5)
        rotation = (Rotation.from_quat(sensor.forward(q)[1]) * turned).as_matrix()
        force = rotation.T @ np.array([0.0, 0.0, -9.80665 * mass])
        reading = np.concatenate((force, np.cross(centre, force))) + bias
        for row in range(40):
            stamp = 10**9 + (pose * 40 + row) * 50_000_000
            messages.append((stamp, 'joint_states', joint_state(stamp, q, None, None)))
            noisy = sign * reading + 0.01 * rng.standard_normal(6)
            messages.append((stamp + 1_000_000, 'wrench', wrench(stamp + 1_000_000, noisy)))
    return write_bag(path, messages), mass, centre


@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_the_tool_of_a_bag_is_identified_and_written(tmp_path, capsys, sign):
    bag, mass, centre = tool_bag(tmp_path / 'poses', sign)
    path = tmp_path / 'tool.yaml'
    assert main(['identify', 'tool', '--bag', bag, '--output', str(path)]) == 0
    said = capsys.readouterr().out
    assert 'from 8 poses' in said and said.count('1.00') >= 4
    assert ('wrench.is_force_on_tool' in said) == (sign < 0)
    tool = read_tool(path)
    assert tool.mass == pytest.approx(mass, abs=0.003)
    np.testing.assert_allclose(tool.centre_of_mass, centre, atol=0.003)
    # The axes are known; where the sensor is its frame says.
    assert read_tool_file(path).mount == ToolMount('gripper_link')


@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_a_sensor_with_other_axes_is_refused_and_identified_with_its_mount(tmp_path, capsys, sign):
    bag, mass, centre = tool_bag(tmp_path / 'poses', sign, (0.0, 0.0, 0.7854))
    path = tmp_path / 'tool.yaml'
    arguments = ['identify', 'tool', '--bag', bag, '--output', str(path)]
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert 'does not explain the readings: residuals of 0.' in error
    assert re.search(r'turned by 4[45]\.\d degrees about z', error)
    assert not path.exists()
    (angles,) = re.findall(r'--mount-rpy=(\S+)', error)
    np.testing.assert_allclose([float(a) for a in angles.split(',')], [0, 0, 0.7854], atol=0.02)
    assert main([*arguments, f'--mount-rpy={angles}']) == 0
    file = read_tool_file(path)
    assert file.tool.mass == pytest.approx(mass, abs=0.003)
    np.testing.assert_allclose(file.tool.centre_of_mass, centre, atol=0.003)
    assert file.mount.xyz == (0.0, 0.0, 0.0)
    assert file.mount.rpy == tuple(map(float, angles.split(',')))
    # The user knows better.
    assert main([*arguments, '--most-residual', '5']) == 0


def test_links_with_the_axes_of_the_readings_are_named(tmp_path, capsys):
    """A Franka hand's sensor with the axes of the flange: 45 degrees about z."""
    robot = load_robot('fr3', 'fr3_hand')
    mount = ToolMount('fr3_hand')
    rotations = Rotation.random(8, random_state=1).as_matrix()
    turned = rotations @ Rotation.from_euler('z', np.pi / 4).as_matrix()
    forces = turned[:, 2] * -9.80665 * 1.1
    wrenches = np.concatenate((forces, np.cross([0.0, 0.01, 0.06], forces)), axis=1)
    poses = [StillPose(0, np.zeros(7), row, np.full(6, 0.001), 100) for row in wrenches]
    fit = fit_poses(rotations, poses, True)
    why = why_not(robot, rotations, poses, fit, mount, False, None)
    assert 'turned by 45.0 degrees about z' in why
    assert (
        'the axes of fr3_link7, fr3_link8 (--sensor-link), else give --sensor-link fr3_hand' in why
    )
    assert '--mount-rpy=0.0000,0.0000,0.7854' in why


@pytest.fixture(scope='module')
def silent_bag(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp('bags') / 'silent'
    return write_bag(path, motion_messages(has_effort=False, seconds=4.5))


@pytest.mark.parametrize(
    ('arguments', 'text'),
    [
        (['joints', '--bag', 'BAG', '--joints', 'wheel'], "no joint 'wheel'"),
        (['joints', '--bag', 'BAG', '--joint-topic', '/states'], "no topic '/states'"),
        (['joints', '--bag', 'BAG'], 'no efforts'),
        (['joints', '--bag', 'BAG', '--payload', 'gripper_link'], 'LINK,KG,X,Y,Z'),
        (
            ['joints', '--bag', 'BAG', '--speed', '0'],
            '--speed is 0.0; it must be above 0',
        ),
        (['joints', '--bag', 'BAG', '--robot', 'fr3'], 'has all of fr3_joint1'),
        (['tool', '--bag', 'BAG', '--poses', '2'], '--poses is 2'),
        (['tool', '--bag', 'BAG', '--sensor-link', 'tail'], "no link 'tail'"),
        (['tool', '--bag', 'BAG', '--mount-rpy', '0,0,45'], '45 degrees are 0.7854 rad'),
        (['joints', '--bag', 'nowhere'], 'nowhere'),
        (['joints', '--bag', 'BAG', '--output', '/proc/none/motors.yaml'], "--output '/proc"),
        (['joints', '--bag', 'BAG', '--effort-scale', '0'], 'effort_scale is 0'),
    ],
)
def test_what_is_wrong_is_told(silent_bag, capsys, arguments, text):
    # Where the file is to go is looked at first, whatever the bag holds.
    bag = silent_bag
    chosen = [bag if argument == 'BAG' else argument for argument in arguments]
    assert main(['identify', *chosen]) == 2
    assert text in capsys.readouterr().err


def test_too_few_poses_write_nothing(silent_bag, tmp_path, capsys):
    path = tmp_path / 'tool.yaml'
    assert main(['identify', 'tool', '--bag', silent_bag, '--output', str(path)]) == 1
    assert '0 still poses' in capsys.readouterr().err and not path.exists()


# Over ROS.


class Arm:
    """An arm that is where it was told to be, as long as it is not blocked."""

    def __init__(self, context) -> None:
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.node import Node
        from sensor_msgs.msg import JointState

        self.node = Node('arm', context=context)
        self.names = tuple(ROBOT.joint_limits)
        self.positions = np.array([0.0, -1.35, 1.25, 0.85, 0.0, 0.3])
        self.commands: list[np.ndarray] = []
        self.is_blocked = self.is_silent = False
        self._kind = JointState
        self._publisher = self.node.create_publisher(JointState, 'joint_states', 50)
        self.node.create_subscription(JointState, 'joint_commands', self._on_command, 50)
        self.node.create_timer(0.02, self._tick)
        self._executor = SingleThreadedExecutor(context=context)
        self._executor.add_node(self.node)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        while not self._stop.is_set():
            self._executor.spin_once(timeout_sec=0.05)

    def _on_command(self, message) -> None:
        assert tuple(message.name) == self.names
        self.commands.append(np.array(message.position))
        if not self.is_blocked:
            self.positions = np.array(message.position)

    def _tick(self) -> None:
        if self.is_silent:
            return
        message = self._kind(name=list(self.names), position=self.positions.tolist())
        message.effort = [0.1] * len(self.names)
        message.header.stamp = self.node.get_clock().now().to_msg()
        self._publisher.publish(message)

    def close(self) -> None:
        self._stop.set()
        self._thread.join()
        self._executor.shutdown()
        self.node.destroy_node()


@pytest.fixture()
def arm(ros_domain):
    import rclpy
    from rclpy.signals import SignalHandlerOptions

    context = rclpy.Context()
    rclpy.init(args=[], context=context, signal_handler_options=SignalHandlerOptions.NO)
    arm = Arm(context)
    yield arm
    arm.close()
    rclpy.try_shutdown(context=context)


@pytest.fixture()
def node(arm, monkeypatch):
    from frame_ros.nodes.identification.node import identification_node

    monkeypatch.setattr('frame_ros.nodes.identification.node.OLDEST_STATE', 3.0)
    with identification_node(arm.names) as node:
        node.wait_for_joints(PATIENCE, threading.Event())
        until(lambda: arm.node.count_publishers('joint_commands') > 0)
        yield node


def until(condition, timeout: float = PATIENCE) -> None:
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def way(arm: Arm, count: int, step: float = 0.002) -> np.ndarray:
    targets = np.repeat(arm.positions[None], count, axis=0)
    targets[:, 0] += step * np.arange(1, count + 1)
    return targets


def test_a_motion_is_played_and_recorded(arm, node):
    from frame_ros.nodes.identification.node import play

    targets = way(arm, 60)
    assert play(node, targets, 100.0, threading.Event()) == ('', 60, False)
    until(lambda: np.array_equal(arm.positions, targets[-1]))
    assert node.command_topic == 'joint_commands'
    newest = node.newest()
    assert newest is not None and newest.efforts[0] == 0.1
    assert np.isnan(newest.velocities).all()


def test_it_stops_and_holds_when_told_to(arm, node):
    from frame_ros.nodes.identification.node import play

    stop = threading.Event()
    targets = way(arm, 100_000, 1e-5)
    threading.Timer(0.5, stop.set).start()
    assert play(node, targets, 50.0, stop).why == 'stopped'
    until(lambda: len(arm.commands) > 20 and np.ptp(arm.commands[-10:], axis=0).max() == 0.0)
    assert np.abs(arm.commands[-1] - arm.positions).max() < 0.01


def test_a_blocked_arm_ends_the_motion_where_it_is(arm, node):
    from frame_ros.nodes.identification.node import play

    arm.is_blocked = True
    where = arm.positions.copy()
    played = play(node, way(arm, 5000, 0.02), 50.0, threading.Event())
    assert 'rad from its command' in played.why and not played.is_silent
    until(lambda: np.array_equal(arm.commands[-1], where))


def test_without_joint_states_nothing_goes_on(arm, node):
    from frame_ros.nodes.identification.node import play

    arm.is_silent = True
    played = play(node, way(arm, 5000), 50.0, threading.Event())
    assert 'no joint_states' in played.why and played.is_silent and played.sent > 0
    # Where it is now nobody knows: it stays where it was told to be, and does not jump back.
    until(lambda: len(arm.commands) > 20 and np.ptp(arm.commands[-10:], axis=0).max() == 0.0)
    assert arm.commands[-1][0] == max(command[0] for command in arm.commands)


def test_an_arm_that_was_moved_meanwhile_is_not_commanded(arm, node):
    from frame_ros.nodes.identification.node import play

    targets = way(arm, 50)
    targets[:, 1] += 0.2
    assert 'was moved meanwhile' in play(node, targets, 50.0, threading.Event()).why
    assert not arm.commands


@pytest.mark.parametrize('is_asked', [False, True])
def test_a_motion_goes_on_where_joint_states_were_missing(arm, node, monkeypatch, capsys, is_asked):
    from frame_ros.cli.identify import motion

    monkeypatch.setattr(motion, 'BRIEF', -1.0 if is_asked else PATIENCE)
    asked = []
    monkeypatch.setattr(motion, '_is_agreed', lambda *given: bool(asked.append(given)) or True)
    targets = way(arm, 400, 0.001)
    stop, is_paused = threading.Event(), threading.Event()

    def interrupt() -> None:
        until(lambda: len(arm.commands) > 50)
        arm.is_silent = True
        is_paused.wait(PATIENCE)
        arm.is_silent = False

    def note(*given, **_) -> None:
        if 'paused: no joint_states' in str(given[0]):
            is_paused.set()

    monkeypatch.setattr(motion, 'print', note, raising=False)
    thread = threading.Thread(target=interrupt)
    thread.start()
    assert motion._play(node, targets, 50.0, stop, is_agreed=True) == ''
    thread.join()
    assert is_paused.is_set() and bool(asked) == is_asked
    until(lambda: np.array_equal(arm.commands[-1], targets[-1]))
    # Nothing is left out, no step is longer than one of the motion, and speed grows evenly.
    commands = np.unique(np.array(arm.commands)[:, 0])
    steps = np.diff(commands)
    assert commands[0] == targets[0, 0] and commands[-1] == targets[-1, 0]
    assert steps.max() <= 0.001 + 1e-9
    assert np.diff(steps).max() <= 0.001 / 50 + 1e-9 and steps.min() < 5e-5


@pytest.mark.parametrize('row', [0.0, 12.3, 350.0, 397.5, 398.0])
def test_a_motion_comes_back_to_its_speed_and_to_its_end(row):
    from frame_ros.cli.identify.motion import STARTING, started

    rows = started(row, 400, 50.0)
    steps = np.diff(rows, prepend=row)
    assert rows[-1] == 399.0 and (steps > 0.0).all() and steps.max() <= 1.0 + 1e-9
    assert np.diff(steps[:-1], prepend=0.0).max(initial=0.0) <= 1.0 / (STARTING * 50.0) + 1e-9


def test_what_was_recorded_stays_where_a_motion_ends_early(arm, tmp_path, monkeypatch, capsys):
    from frame_ros.bags.joint_recordings import read_joints
    from frame_ros.bags.reader import Bag

    monkeypatch.setattr('frame_ros.nodes.identification.node.OLDEST_STATE', 2.0)
    monkeypatch.setattr('frame_ros.cli.identify.motion.PATIENCE', 5.0)
    monkeypatch.setattr('frame_ros.cli.identify.motion._is_agreed', wait_for_ears(arm))

    def end() -> None:
        until(lambda: len(arm.commands) > 400)
        arm.is_silent = True

    thread = threading.Thread(target=end)
    thread.start()
    path = tmp_path / 'motors.yaml'
    arguments = ['--candidates', '8', '--speed', '0.05', '--yes', '--output', str(path)]
    assert main(['identify', 'joints', *arguments]) == 1
    thread.join()
    said = capsys.readouterr().err
    folder = tmp_path / 'motors-recording'
    assert 'paused: no joint_states' in said and 'ended early: no joint_states' in said
    assert f'is kept: {folder}' in said and f'--bag {folder}`' in said and not path.exists()
    assert Bag(folder).topics.keys() == {'/joint_states', '/joint_commands'}
    recording = read_joints([folder], ROBOT.joint_names, '')
    assert len(recording.stamps) > 200 and recording.velocities is None
    assert np.isfinite(recording.commands[-1]).all() and (recording.efforts == 0.1).all()
    assert any(np.array_equal(recording.positions[-1], each[:5]) for each in arm.commands)


def wait_for_ears(arm: Arm):
    """Returns an answer that comes once the commands are listened to, so that none is lost."""

    def agreed(*_) -> bool:
        until(lambda: arm.node.count_publishers('joint_commands') > 0)
        return True

    return agreed


def test_a_recording_stays_unless_a_file_came_of_it(tmp_path, capsys):
    from frame_ros.cli.identify.kept_recording import kept_recording

    def record(is_used: bool, count: int = 3) -> None:
        with kept_recording('joints', 'so101', tmp_path / 'motors.yaml') as kept:
            for row in range(count):
                kept.bag.add_joints('joint_states', 10**9 * (row + 1), ['a'], np.ones(1))
            kept.is_used = is_used

    record(is_used=True)
    record(is_used=False, count=0)
    assert not list(tmp_path.iterdir()) and not capsys.readouterr().err
    with (
        pytest.raises(SetupError, match='no joint shows'),
        kept_recording('joints', 'so101', tmp_path / 'motors.yaml') as kept,
    ):
        kept.bag.add_joints('joint_states', 10**9, ['a'], np.ones(1))
        raise SetupError('no joint shows what a unit of effort is')
    record(is_used=False)
    assert 'recorded, 2 s, is kept' in capsys.readouterr().err
    assert sorted(p.name for p in tmp_path.iterdir()) == ['motors-recording', 'motors-recording-2']


def test_a_full_disk_does_not_end_a_motion(tmp_path, monkeypatch, capsys):
    from frame_ros.bags.storage.mcap_writer import McapWriter
    from frame_ros.cli.identify.kept_recording import kept_recording

    def full(*_) -> None:
        raise OSError(28, 'No space left on device')

    with kept_recording('tool', 'fr3', tmp_path / 'tool.yaml') as kept:
        kept.bag.add_joints('joint_states', 10**9, ['a'], np.ones(1))
        assert kept.bag.counts == {'/joint_states': 1}
        monkeypatch.setattr(McapWriter, 'write', full)
        kept.bag.add_wrench('wrench', 10**9, np.ones(6))
        kept.bag.add_wrench('wrench', 10**9, np.ones(6))
    said = capsys.readouterr().err
    assert said.count('No space left') == 1 and 'not whole' in said


def test_a_recording_that_cannot_be_finished_is_named_as_it_is_left(tmp_path, monkeypatch, capsys):
    from frame_ros.bags.reader import Bag
    from frame_ros.bags.writer import BagWriter
    from frame_ros.cli.identify.kept_recording import kept_recording

    def full(*_) -> None:
        raise OSError(28, 'No space left on device')

    with kept_recording('joints', 'so101', tmp_path / 'motors.yaml') as kept:
        kept.bag.add_joints('joint_states', 10**9, ['a'], np.ones(1))
        monkeypatch.setattr(BagWriter, '_take_final_name', full)
    (said,) = re.findall('--bag (.*)`', capsys.readouterr().err)
    assert Bag(said).topics.keys() == {'/joint_states'}


def test_still_poses_that_do_not_suffice_stay_too(arm, tmp_path, monkeypatch, capsys):
    from geometry_msgs.msg import WrenchStamped

    from frame_ros.bags.reader import Bag
    from frame_ros.cli.identify import motion

    publisher = arm.node.create_publisher(WrenchStamped, 'wrench', 10)

    def publish() -> None:
        message = WrenchStamped()
        message.header.stamp = arm.node.get_clock().now().to_msg()
        message.wrench.force.z = -2.0
        publisher.publish(message)

    arm.node.create_timer(0.05, publish)

    def stop_soon(count, watch, done, stop) -> None:
        watch.start()
        folder = tmp_path / 'tool-recording.partial'
        until(lambda: any(f.stat().st_size > 4000 for f in folder.glob('*.mcap')))

    monkeypatch.setattr(motion, '_wait_for_user', stop_soon)
    arguments = ['--sensor-link', 'gripper_link', '--output', str(tmp_path / 'tool.yaml')]
    assert main(['identify', 'tool', *arguments]) == 1
    said = capsys.readouterr().err
    folder = tmp_path / 'tool-recording'
    assert 'still poses' in said and f'is kept: {folder}' in said
    assert Bag(folder).topics.keys() == {'/joint_states', '/wrench'}
    assert main(['identify', 'tool', '--bag', str(folder), *arguments]) == 1


def test_a_namespace_is_one_with_or_without_its_slash(ros_domain):
    from frame_ros.nodes.identification.node import identification_node

    for namespace in ('arm', '/arm/'):
        with identification_node(('a',), namespace=namespace) as node:
            assert node.get_namespace() == '/arm'
    with (
        pytest.raises(SetupError, match="'an arm' cannot be one"),
        identification_node(('a',), namespace='an arm'),
    ):
        pass


def test_the_topics_of_the_profile_are_those_of_its_driver(ros_domain):
    import rclpy
    from geometry_msgs.msg import WrenchStamped
    from rclpy.signals import SignalHandlerOptions
    from sensor_msgs.msg import JointState

    from frame_ros.nodes.identification.node import identification_node
    from frame_ros.robots.profile import Topics

    topics = Topics(
        joint_states='driver/states',
        joint_commands='driver/commands',
        wrench='ft/wrench',
        gripper='gripper/states',
    )
    context = rclpy.Context()
    rclpy.init(args=[], context=context, signal_handler_options=SignalHandlerOptions.NO)
    driver = rclpy.create_node('driver', context=context)
    states = {
        name: driver.create_publisher(JointState, topic, 10)
        for name, topic in (('a', topics.joint_states), ('jaw', topics.gripper))
    }
    wrenches = driver.create_publisher(WrenchStamped, topics.wrench, 10)

    def publish() -> None:
        stamp = driver.get_clock().now().to_msg()
        for name, publisher in states.items():
            message = JointState(name=[name], position=[0.25])
            message.header.stamp = stamp
            publisher.publish(message)
        wrench = WrenchStamped()
        wrench.header.stamp = stamp
        wrenches.publish(wrench)

    try:
        with identification_node(('a', 'jaw'), 'wrench', topics=topics) as node:
            node.record()
            found: list[np.ndarray] = []

            def has_both() -> bool:
                publish()
                found.extend(values for _, values in node.take()[1])
                return bool(found) and node.newest() is not None

            until(has_both)
            np.testing.assert_array_equal(node.newest().positions, 0.25)
            assert node.command_topic == 'driver/commands'
    finally:
        driver.destroy_node()
        rclpy.try_shutdown(context=context)


def test_where_nobody_publishes_the_topics_are_named(ros_domain, monkeypatch):
    from frame_ros.nodes.identification.node import identification_node
    from frame_ros.robots.profile import Topics

    monkeypatch.setattr('frame_ros.nodes.identification.node.DISCOVERY', 0.1)
    with (
        identification_node(('a',), topics=Topics(joint_states='driver/states')) as node,
        pytest.raises(SetupError, match='on /joint_states .*`topics` of the robot'),
    ):
        node.wait_for_joints(0.1, threading.Event())


def test_states_without_positions_are_no_states(arm, node):
    arm.positions = np.full(len(arm.names), np.nan)
    until(lambda: node.counts['incomplete'] > 3)
    assert np.isfinite(node.newest().positions).all()


@pytest.mark.parametrize(('answer', 'is_agreed'), [(b'y\n', True), (b'\n', False), (b'', False)])
def test_a_stop_is_an_answer_too(monkeypatch, answer, is_agreed):
    from frame_ros.cli.identify.motion import _is_agreed

    person, terminal = os.openpty()
    with os.fdopen(terminal) as stdin, os.fdopen(person, 'wb', buffering=0) as keyboard:
        monkeypatch.setattr('sys.stdin', stdin)
        keyboard.write(answer)
        stop = threading.Event()
        if not answer:
            threading.Timer(0.1, stop.set).start()
        assert _is_agreed(False, stop) == is_agreed


def test_nobody_asked_nothing_moved(arm, monkeypatch, capsys):
    monkeypatch.setattr('sys.stdin', open('/dev/null'))  # noqa: SIM115
    assert main(['identify', 'joints', '--candidates', '2']) == 2
    assert '--yes says that the arm may move' in capsys.readouterr().err
    assert not arm.commands
