# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""LeRobot's robots, teleoperators and cameras behind our interface: names, units, errors."""

import json
import os
import time
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frame_ros.core.errors import SetupError
from frame_ros.gate.command_check import CommandCheck, holding_goals, limited_step
from frame_ros.hardware.lerobot.joint_mapping import JointMapping
from frame_ros.robots import load_robot

ROBOT = load_robot('so101')
LIMITS, GRIPPERS = ROBOT.joint_limits, ROBOT.grippers
NAMES = tuple(LIMITS)
KEYS = tuple(f'{name}.pos' for name in NAMES)


# Without LeRobot.


def test_degrees_and_the_gripper_s_range():
    mapping = JointMapping(KEYS, LIMITS, GRIPPERS)
    values = dict.fromkeys(KEYS, 90.0) | {'gripper.pos': 100.0}
    positions = mapping.positions(values)
    np.testing.assert_allclose(positions[:5], np.pi / 2)
    assert positions[5] == pytest.approx(LIMITS['gripper'][1])
    assert mapping.positions(values | {'gripper.pos': 0.0})[5] == pytest.approx(-0.174533)
    assert mapping.is_gripper.tolist() == [False] * 5 + [True]
    np.testing.assert_allclose(mapping.rates(np.full(6, 180.0))[:5], np.pi)


@given(st.lists(st.floats(-1.5, 1.5), min_size=6, max_size=6))
def test_there_and_back_with_signs_and_offsets(positions):
    mapping = JointMapping(
        [f'motor_{key}' for key in KEYS],
        LIMITS,
        GRIPPERS,
        names={f'motor_{name}': name for name in NAMES},
        signs={'wrist_roll': -1.0},
        offsets={'wrist_roll': 0.3, 'gripper': -0.1},
    )
    given_values = mapping.values(np.array(positions))
    np.testing.assert_allclose(mapping.positions(given_values), positions, atol=1e-12)
    degrees = -np.rad2deg(positions[4] - 0.3)
    assert given_values['motor_wrist_roll.pos'] == pytest.approx(degrees)


@pytest.mark.parametrize(
    ('options', 'text'),
    [
        ({'features': ['image', 'delta_x']}, 'image, delta_x, which are no joint'),
        ({'features': ['left_elbow.pos']}, "'left_elbow' is not one of the robot's"),
        ({'names': {'elbow': 'elbow_flex'}}, "joint_names names 'elbow'"),
        ({'signs': {'gripper': 2.0}}, 'joint_signs are 1 or -1'),
        ({'offsets': {'elbow': 1.0}}, "joint_offsets names 'elbow'"),
    ],
)
def test_mappings_that_do_not_fit(options, text):
    with pytest.raises(SetupError, match=text):
        JointMapping(**{'features': KEYS, 'limits': LIMITS, 'grippers': GRIPPERS, **options})


def test_commands_are_checked_and_merged():
    limits = np.array([LIMITS[name] for name in NAMES])
    check = CommandCheck(NAMES, limits, tolerance=0.02)
    assert check.read(['gripper'], [1.0]).positions.tolist() == [1.0]
    assert check.read([], []).text == 'it names no joint'
    assert 'gripper at 1.800 rad' in check.read(['gripper'], [1.8]).text
    assert check.read(['gripper'], [np.inf]).text == 'gripper is inf'
    command = check.read(['gripper', 'shoulder_pan'], [1.76, 0.5])
    assert check.merge(np.zeros(6), command).tolist() == [0.5, 0, 0, 0, 0, limits[5, 1]]
    resting = limits[:, 1] + 0.1  # an arm may rest beyond the limits of its description
    command = check.read(['gripper'], [0.0])
    assert check.merge(resting, command).tolist() == [*resting[:5], 0.0]


def test_steps_and_holding():
    goals, positions = np.array([1.0, 0.05, -0.1]), np.array([0.0, 0.0, 0.4])
    is_gripper = np.array([False, False, True])
    limited = limited_step(goals, positions, np.zeros(3, dtype=bool), 0.2)
    np.testing.assert_allclose(limited, [0.2, 0.05, 0.2])
    np.testing.assert_allclose(limited_step(goals, positions, is_gripper, 0.2), [0.2, 0.05, -0.1])
    assert limited_step(goals, positions, is_gripper, 0.0) is goals
    held = holding_goals(goals, positions, is_gripper, 0.1)
    np.testing.assert_allclose(held, [0.0, 0.05, -0.1])  # stops; keeps its goal; keeps its grip


# With LeRobot.


def test_reading_and_sending(bench):
    arm, bus, make = bench
    robot = make(signs={'shoulder_pan': -1.0})
    robot.connect()
    reading = robot.read()
    assert robot.names == NAMES and reading.began <= reading.ended
    expected = arm.positions * (-1, 1, 1, 1, 1, 1)
    np.testing.assert_allclose(reading.positions, expected, atol=0.01)
    assert reading.motors.faults == ((),) * 6
    np.testing.assert_allclose(reading.motors.voltages, 7.4, atol=0.11)
    robot.send(reading.positions + (0.5, 0, 0, 0, 0, 0.5))
    fastest = np.zeros(6)
    for _ in range(30):
        reading = robot.read()
        fastest = np.maximum(fastest, np.abs(reading.velocities))
        if reading.positions[0] > 0.45:
            break
        time.sleep(0.02)
    assert arm.positions[0] < -0.4 and fastest[0] > 0.3 and fastest[5] > 0.3
    robot.close()
    assert all(servo.has_torque for servo in arm.servos)
    del robot  # LeRobot's own destructor must not let the arm fall
    assert all(servo.has_torque for servo in arm.servos)


def test_connecting_does_not_move_the_arm(bench):
    arm, bus, make = bench
    for servo in arm.servos:
        servo.write(42, b'\x00\x06')  # goals from before, far away
    before = arm.positions
    robot = make()
    robot.connect()
    time.sleep(0.3)
    np.testing.assert_allclose(arm.positions, before, atol=0.1)
    robot.close()


def status(identity, content=b''):
    from frame_ros.hardware.feetech.emulator.packets import make_packet

    return make_packet(identity, 0, content)


def test_an_answer_to_the_look_after_power_that_comes_late_is_no_position(bench):
    # Torque and acceleration, 1 and 254, read as a position: -52 rad, towards which a goal would be
    # moved. The late answers are in the port when the position is asked for.
    arm, bus, make = bench
    robot = make()
    robot.connect()
    sent = []
    answers = bus._answers
    bus._answers = lambda packet: sent.append(list(answers(packet))) or sent[-1]
    robot.look_after_power()
    with bus.lock:
        os.write(bus._master, b''.join(sent[-1]))
    time.sleep(0.02)
    np.testing.assert_allclose(robot.read().positions, arm.positions, atol=0.01)
    robot.close()


def test_positions_that_no_joint_has_are_no_reading(bench):
    from frame_ros.hardware.device_error import DeviceError

    arm, bus, make = bench
    robot = make()
    robot.connect()
    late = b''.join(status(servo.identity, b'\x01\xfe') for servo in arm.servos)
    with bus.lock:
        os.write(bus._master, late)
    time.sleep(0.02)
    with pytest.raises(DeviceError, match='reads -3016 degrees, which is impossible'):
        robot.read()
    np.testing.assert_allclose(robot.read().positions, arm.positions, atol=0.01)
    robot.close()


@pytest.mark.parametrize('content', [b'', b'\x00' * 13])
def test_late_answers_to_other_questions_are_no_positions(bench, content):
    arm, bus, make = bench
    robot = make()
    robot.connect()
    robot.read()
    late = b''.join(status(servo.identity, content) for servo in arm.servos)
    with bus.lock:
        os.write(bus._master, late)
    time.sleep(0.02)
    reading = robot.read()
    np.testing.assert_allclose(reading.positions, arm.positions, atol=0.01)
    np.testing.assert_allclose(reading.motors.voltages, 7.4, atol=0.11)
    robot.close()


def test_two_drivers_on_one_port(bench):
    from frame_ros.hardware.device_error import DeviceError

    arm, bus, make = bench
    robot = make()
    robot.connect()
    with pytest.raises(DeviceError, match='is in use'):
        make().connect()
    assert all(servo.has_torque for servo in arm.servos)
    robot.close()


def test_a_motor_with_a_fault_keeps_no_other_from_letting_go(bench):
    from frame_ros.hardware.device_error import DeviceError
    from frame_ros.hardware.feetech.emulator.packets import Status

    arm, bus, make = bench
    robot = make()
    with bus.lock:
        arm.servos[5]._status |= Status.OVERLOAD  # of the run before; torque off and on clears it
    robot.connect()
    with bus.lock:
        arm.servos[2].forced_status |= Status.TEMPERATURE
    robot.set_torque(False)
    assert not any(servo.has_torque for servo in arm.servos)
    robot.set_torque(True)
    assert all(servo.has_torque for servo in arm.servos)
    robot.close()
    with pytest.raises(DeviceError, match='motor fault: elbow_flex: temperature'):
        make().connect()


@pytest.mark.parametrize('stiff', [(), (0, 1)], ids=['all limp', 'two stiff'])
def test_an_arm_of_which_one_motor_does_not_come_on_is_as_before(bench, stiff):
    from frame_ros.hardware.device_error import DeviceError

    arm, _, make = bench
    robot = make()
    robot.connect()
    robot.set_torque(False)
    bus = robot.device.bus
    enable, disable = bus.enable_torque, bus.disable_torque
    for motor in stiff:
        enable(list(bus.motors)[motor])
    before = [servo.has_torque for servo in arm.servos]
    assert sum(before) == len(stiff)

    def failing(name, **options):
        if name == 'elbow_flex':
            raise ConnectionError('no answer')
        enable(name, **options)

    bus.enable_torque = failing
    limp = 'as before, .*elbow_flex.* limp' + (', the other 2 have theirs' if stiff else '$')
    with pytest.raises(DeviceError, match=f'elbow_flex still without torque: {limp}'):
        robot.set_torque(True)
    assert [servo.has_torque for servo in arm.servos] == before

    def stuck(name, **options):
        if name != 'gripper':
            disable(name, **options)

    bus.disable_torque = stuck
    with pytest.raises(DeviceError, match='limp again: gripper still with torque: hold the arm'):
        robot.set_torque(True)
    bus.enable_torque, bus.disable_torque = enable, disable
    robot.set_torque(True)
    assert all(servo.has_torque for servo in arm.servos)
    robot.close()


def test_a_motor_that_falls_silent_as_torque_comes_on_is_not_called_stiff(bench):
    """As of one that a falling voltage resets: the others are limp again, which nobody can read."""
    from frame_ros.hardware.device_error import DeviceError

    arm, _, make = bench
    robot = make()
    robot.connect()
    robot.set_torque(False)
    bus = robot.device.bus
    enable, read, silent = bus.enable_torque, bus.sync_read, []

    def failing(name, **options):
        if name == 'gripper':
            silent.append(name)
            raise ConnectionError('no answer')
        enable(name, **options)

    def unanswered(*arguments, **options):
        if silent:
            raise ConnectionError('gripper does not answer')
        return read(*arguments, **options)

    bus.enable_torque, bus.sync_read = failing, unanswered
    with pytest.raises(DeviceError, match='made limp again, which cannot be read back: gripper'):
        robot.set_torque(True)
    assert not any(servo.has_torque for servo in arm.servos)
    bus.enable_torque, bus.sync_read = enable, read
    robot.close()


def test_a_leader_s_driver_on_the_robot_s_port_does_not_let_it_fall(lerobot, bench, tmp_path):
    from frame_ros.hardware.lerobot.teleoperator import LeRobotTeleoperator

    arm, bus, make = bench
    make().connect()
    content = json.loads((tmp_path / 'arm.json').read_text())
    content['gripper']['homing_offset'] += 100
    (tmp_path / 'leader.json').write_text(json.dumps(content))
    options = {'port': bus.port, 'identity': 'leader', 'calibration_dir': str(tmp_path)}
    options |= {'limits': LIMITS, 'grippers': GRIPPERS, 'answer_timeout': 0.4}
    leader = LeRobotTeleoperator(lerobot.DeviceOptions('so101_leader', **options))
    with pytest.raises(SetupError, match=r'differs from the one in the motors \(gripper\)'):
        leader.connect()
    assert all(servo.has_torque for servo in arm.servos)


def test_connecting_again_after_the_power_was_off(bench):
    from frame_ros.hardware.device_error import DeviceError

    arm, bus, make = bench
    robot = make()
    robot.connect()
    bus.unplug()
    with pytest.raises(DeviceError) as caught:
        robot.read()
    assert caught.value.is_gone
    with pytest.raises(DeviceError):
        robot.reconnect()
    bus.power_cycle()
    bus.plug()
    assert robot.reconnect().all()
    assert all(servo.has_torque for servo in arm.servos)
    np.testing.assert_allclose(robot.read().positions, arm.positions, atol=0.02)
    assert not robot.reconnect().any()
    bus.power_cycle()
    assert robot.reconnect(is_released=True).all()
    assert not any(servo.has_torque for servo in arm.servos)
    robot.close()


def test_connecting_again_after_an_attempt_that_failed_half_way(bench, monkeypatch):
    from frame_ros.hardware.device_error import DeviceError

    arm, bus, make = bench
    robot = make()
    robot.connect()
    bus.power_cycle()

    def fail(*_, **__):
        for servo in arm.servos:  # as LeRobot sets them up, without torque
            servo.write(41, b'\xfe')
        raise ConnectionError('no status packet')

    with monkeypatch.context() as patch:
        patch.setattr(robot.device, 'connect', fail)
        with pytest.raises(DeviceError):
            robot.reconnect()
    assert robot.reconnect().all()
    assert all(servo.has_torque for servo in arm.servos)
    assert not robot.look_after_power().is_limp.any()
    robot.close()


def test_connecting_again_names_the_motors_that_do_not_answer(bench):
    from frame_ros.hardware.device_error import DeviceError

    _, bus, make = bench
    robot = make()
    robot.connect()
    bus.faults.silent = {3, 6}
    with pytest.raises(DeviceError, match=r'no answer from elbow_flex \(id 3\), gripper \(id 6\)'):
        robot.reconnect()
    handler = robot.device.bus.packet_handler
    answer = handler.txRxPacket

    def too_short(port, packet):
        return ([255, 255, 4, 2, 0], 0, 0) if packet[2] == 4 else answer(port, packet)

    handler.txRxPacket = too_short
    wanted = r'elbow_flex \(id 3\), wrist_flex \(id 4\), gripper \(id 6\)'
    with pytest.raises(DeviceError, match=wanted):
        robot.reconnect()
    handler.txRxPacket = answer
    bus.faults.silent = set(range(1, 7))
    with pytest.raises(DeviceError, match='no motor answers: is the power of the arm on'):
        robot.reconnect()
    bus.faults.silent = set()
    assert not robot.reconnect().any()
    robot.close()


def test_a_damaged_answer_is_called_so():
    pytest.importorskip('scservo_sdk', reason='LeRobot is needed')
    from scservo_sdk import COMM_SUCCESS, PacketHandler

    from frame_ros.hardware.device_error import DeviceError
    from frame_ros.hardware.lerobot.devices import device_errors

    packets = PacketHandler(0)
    packets.txRxPacket = lambda *_: ([255, 255, 1, 2, 0], COMM_SUCCESS, 0)
    text = 'a damaged answer: .*two motors have one id'
    with pytest.raises(DeviceError, match=text), device_errors('the robot cannot be read'):
        packets.read2ByteTxRx(None, 1, 56)
    # A fault elsewhere is not one of the bus.
    text = 'the robot cannot be read: pop from empty list'
    with pytest.raises(DeviceError, match=text), device_errors('the robot cannot be read'):
        [].pop()


def test_a_broken_calibration_file(bench, tmp_path):
    _, _, make = bench
    (tmp_path / 'broken.json').write_text('{"shoulder_pan": ')
    with pytest.raises(SetupError, match='cannot be made'):
        make(identity='broken')
    content = json.loads((tmp_path / 'arm.json').read_text())
    del content['gripper']
    (tmp_path / 'five.json').write_text(json.dumps(content))
    with pytest.raises(SetupError, match=r'differs from the one in the motors \(gripper\)'):
        make(identity='five').connect()


def test_units_that_do_not_fit_the_motors(bench):
    _, _, make = bench
    with pytest.raises(SetupError, match='use_degrees'):
        make(options={'use_degrees': False})
    with pytest.raises(SetupError, match='its options are .*max_relative_target'):
        make(options={'speed': 3})


def test_another_robot_by_its_registered_name(lerobot):
    from frame_ros.hardware.device_error import DeviceError
    from frame_ros.hardware.lerobot.devices import import_devices

    import_devices('robots')
    _register_linear_robot()
    options = lerobot.DeviceOptions('linear_robot', {'a': (-1, 1), 'b': (-1, 1)}, {}, units='rad')
    robot = lerobot.LeRobotRobot(options)
    robot.connect()
    robot.send(np.array([0.1, 0.2]))
    reading = robot.read()
    assert reading.positions.tolist() == [0.1, 0.2] and reading.velocities.tolist() == [0.5, 0.5]
    assert reading.currents is None and not robot.can_switch_torque
    robot.device.send_action({'a.pos': 0.1, 'b.pos': float('nan')})
    with pytest.raises(DeviceError, match='b reads nan'):  # a hold would go by it
        robot.read()
    robot.close()
    assert not robot.is_connected


def _register_linear_robot():
    """A third party's robot, as LeRobot's registry takes it."""
    from lerobot.robots.config import RobotConfig
    from lerobot.robots.robot import Robot

    @RobotConfig.register_subclass('linear_robot')
    @dataclass
    class LinearRobotConfig(RobotConfig):
        pass

    class LinearRobot(Robot):
        config_class, name = LinearRobotConfig, 'linear_robot'
        observation_features = dict.fromkeys(('a.pos', 'a.vel', 'b.pos', 'b.vel'), float)
        action_features = dict.fromkeys(('a.pos', 'b.pos'), float)
        is_connected, is_calibrated = False, True

        def connect(self, calibrate=True):
            self.is_connected, self._goals = True, {}

        def calibrate(self):
            pass

        def configure(self):
            pass

        def get_observation(self):
            return {**self._goals, 'a.vel': 0.5, 'b.vel': 0.5}

        def send_action(self, action):
            self._goals = dict(action)
            return action

        def disconnect(self):
            self.is_connected = False

    globals().update(LinearRobotConfig=LinearRobotConfig, LinearRobot=LinearRobot)


def test_a_camera_of_lerobot_s_own(lerobot, tmp_path):
    import cv2

    from frame_ros.hardware.device_error import DeviceError
    from frame_ros.hardware.lerobot.cameras import make_cameras

    path = tmp_path / 'front.avi'
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*'MJPG'), 30.0, (640, 480))
    red = np.full((480, 640, 3), (0, 0, 250), dtype=np.uint8)  # BGR
    for _ in range(1500):  # LeRobot's thread reads as fast as it can, and ends with the file
        writer.write(red)
    writer.release()
    camera = make_cameras(f'{{front: {{type: opencv, index_or_path: {path}, warmup_s: 0}}}}')[0]
    camera.connect()
    frame = camera.read(1.0)
    assert frame.pixels.shape == (480, 640, 3) and camera.encoding == 'rgb8'
    assert frame.pixels[0, 0, 0] > 200 and frame.pixels[0, 0, 2] < 50
    assert 0 <= time.monotonic_ns() - frame.captured < 5e9
    camera.close()
    path.unlink()
    with pytest.raises(DeviceError, match='camera front cannot be opened'):
        camera.connect()
    assert make_cameras('') == []
    with pytest.raises(SetupError, match='index_or_path'):
        make_cameras('{front: 0}')
