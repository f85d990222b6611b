# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robot driver over real rclpy, with LeRobot's SO-101 code, on a simulated bus behind a
pseudo-terminal.
"""

import time
from dataclasses import dataclass

import numpy as np
import pytest

pytest.importorskip('rclpy')
pytest.importorskip('lerobot')
pytest.importorskip('scservo_sdk')

from diagnostic_msgs.msg import DiagnosticStatus
from patience import PATIENCE
from robot_driver_bench import GRIPPER, LIFT, PAN, call, running_bench

from frame_ros.bringup.arm_options import ArmOptions
from frame_ros.bringup.process_table import arm_processes
from frame_ros.core.errors import FrameRosError, SetupError
from frame_ros.gate.command_check import limited_step
from frame_ros.hardware.device_error import DeviceError
from frame_ros.hardware.driver_state import Activity
from frame_ros.hardware.feetech.emulator.registers import TORQUE_ENABLE, get, put
from frame_ros.hardware.lerobot.devices import import_devices
from frame_ros.nodes.robot_driver.options import RobotDriverOptions
from frame_ros.scenes import JOINT_NAMES
from frame_ros.scenes.simulation.so101_servos import RADIANS_PER_STEP, SimulatedSo101

IS_GRIPPER = np.arange(6) == GRIPPER
# As LeRobot's SOFollower.configure writes them.
LEROBOT_REGISTERS = {'P_Coefficient': 16, 'I_Coefficient': 0, 'D_Coefficient': 32}
LEROBOT_REGISTERS |= {'Acceleration': 254, 'Maximum_Acceleration': 254}
RESOLUTION = 0.01  # rad: the steps of encoder and goal, and where the position control stands still


@pytest.fixture()
def bench(ros_domain, tmp_path, monkeypatch):
    yield from running_bench(tmp_path, monkeypatch)


def test_states_and_commands(bench):
    bench.start(effort_per_ampere=2.0)
    state = bench.newest()
    assert tuple(state.name) == JOINT_NAMES
    # Once the arm has sunk to where its position control holds it.
    bench.until(lambda: np.abs(bench.newest().position - bench.arm.positions).max() < RESOLUTION)
    assert len(state.velocity) == len(state.effort) == 6
    target = [0.4, -1.0, 1.0, 0.6, 0.3, 0.8]
    bench.go(target)
    assert max(state.velocity[PAN] for state in bench.states) > 0.05
    bench.command([0.0], ['shoulder_pan'])  # the others keep their goals
    bench.until(
        lambda: abs(bench.arm.positions[PAN]) < 0.05,
        lambda: bench.command([0.0], ['shoulder_pan']),
    )
    assert abs(bench.arm.positions[LIFT] - target[LIFT]) < 0.1

    def differences():
        """Of the efforts, of what the motors have now."""
        currents = np.array([servo.supply_current for servo in bench.arm.servos])
        return np.abs(bench.states[-1].effort - 2.0 * currents)

    bench.until(lambda: all(abs(servo.velocity) < 0.01 for servo in bench.arm.servos))
    bench.until(lambda: differences().max() < 0.06)
    currents = [servo.current for servo in bench.arm.servos]
    assert max(map(abs, currents)) > 0.1  # it carries its weight


def test_what_is_refused(bench):
    bench.start()
    bench.newest()
    before = bench.arm.positions
    wrong = (
        ([float('nan')], ['shoulder_pan']),
        ([3.0], ['shoulder_pan']),
        ([0.1], ['elbow']),
        ([0.1, 0.1], ['shoulder_pan']),
        ([0.1, 0.1], ['shoulder_pan', 'shoulder_pan']),
    )
    for positions, names in wrong:
        bench.command(positions, names)
    bench.until(lambda: bench.counts.refused == len(wrong))
    bench.command([0.5], ['shoulder_pan'], age=2.0)
    bench.until(lambda: bench.counts.stale == 1)
    assert bench.counts.sent == 0
    np.testing.assert_allclose(bench.arm.positions, before, atol=0.1)
    bench.command([1.93], ['shoulder_pan'])  # hardly beyond: clipped
    bench.until(lambda: bench.counts.sent == 1)


def test_a_goal_far_away_is_limited_by_default_but_not_the_gripper(bench):
    bench.start()
    bench.newest()
    start = bench.arm.positions
    assert bench.driver.get_parameter('max_relative_target').value == 0.5
    bench.command([start[PAN] + 1.5, 1.7], ['shoulder_pan', 'gripper'])
    bench.until(lambda: bench.counts.sent == 1)
    assert bench.counts.limited == 1
    bench.until(lambda: bench.arm.positions[GRIPPER] > 1.6)
    bench.until(lambda: abs(bench.arm.servos[PAN].velocity) < 0.01)
    assert bench.arm.positions[PAN] == pytest.approx(start[PAN] + 0.5, abs=0.05)


def test_a_fast_motion_is_not_limited():
    """The lag of servos that are led at 3 rad/s, as they are read a cycle of 20 ms before."""
    arm, limit = SimulatedSo101(), RobotDriverOptions().max_relative_target
    for servo in arm.servos:
        servo.memory[TORQUE_ENABLE] = 1
        for register, value in LEROBOT_REGISTERS.items():
            put(servo.memory, register, value)
    start, goals = arm.positions, arm.positions.copy()
    read, lag = start, 0.0
    while goals[PAN] < start[PAN] + 1.5:
        goals[:5] += np.array([1.0, 0.5, -0.5, -0.5, 1.0]) * 3.0 * 0.02
        np.testing.assert_array_equal(limited_step(goals, read, IS_GRIPPER, limit), goals)
        lag, read = max(lag, np.abs(goals - read)[PAN]), arm.positions
        for i, servo in enumerate(arm.servos):
            steps = round(arm._middle(i) + goals[i] / RADIANS_PER_STEP)
            put(servo.memory, 'Goal_Position', steps)
        for _ in range(20):
            arm.advance(0.001)
    assert lag > 0.2


def test_silence_is_information_at_the_goals_and_a_warning_on_the_way(bench, capfd):
    bench.start(command_timeout=0.5)
    bench.newest()
    goals = [0.4, -1.0, 1.0, 0.6, 0.3, 0.8]
    bench.go(goals)
    bench.until(  # it has come to rest, where it sags
        lambda: np.abs(bench.newest().velocity).max() < 0.01, lambda: bench.command(goals)
    )
    text = ''

    def logged(what):
        nonlocal text
        text += capfd.readouterr().err
        return [line for line in text.splitlines() if what in line]

    bench.until(lambda: logged('the arm stays at its goals'))  # it is logged after it has held
    assert '[INFO]' in logged('the arm stays at its goals')[-1]
    bench.arm.block('shoulder_pan', lower=0.2)
    text = ''
    bench.until(lambda: bench.arm.positions[PAN] < 0.25, lambda: bench.command([-1.0, *goals[1:]]))
    bench.until(lambda: logged('the arm holds where it is'))
    assert '[WARN]' in logged('the arm holds where it is')[-1]


def test_a_stale_command_holds_where_the_arm_is_and_keeps_the_grip(bench):
    bench.start(command_timeout=0.15, max_relative_target=0.3)
    bench.newest()
    bench.arm.block('gripper', lower=0.2)  # something between the jaws
    start = bench.arm.positions[PAN]
    bench.until(
        lambda: abs(bench.arm.positions[GRIPPER] - 0.2) < 0.01 and bench.counts.sent > 3,
        lambda: bench.command([1.5, 0.0], ['shoulder_pan', 'gripper']),
    )
    bench.until(lambda: bench.counts.holds == 1)
    assert bench.counts.limited > 0
    bench.until(lambda: abs(bench.arm.servos[PAN].velocity) < 0.01)
    held = bench.arm.positions[PAN]
    assert start < held < 1.45
    bench.spin(0.2)
    assert abs(bench.arm.positions[PAN] - held) < RESOLUTION
    assert bench.arm.servos[GRIPPER].current < -0.1  # still squeezing
    assert bench.counts.holds == 1  # it is said once


def test_single_corrupt_packets_are_read_again(bench):
    bench.start()
    bench.newest()
    bench.bus.faults.corrupt_next = 1
    bench.until(lambda: bench.counts.retries == 1)
    bench.newest()
    assert bench.counts.losses == 0


def test_an_error_of_its_own_is_logged_and_the_arm_read_again(bench, capfd):
    bench.start()
    bench.newest()
    publish, failures = bench.driver._bus._publish, [ZeroDivisionError('planted')]

    def fail_once(*of_reading):
        if failures:
            raise failures.pop()
        publish(*of_reading)

    bench.driver._bus._publish = fail_once
    bench.until(lambda: bench.counts.reconnections == 1)
    bench.newest()
    bench.go([0.4, -1.0, 1.0, 0.6, 0.3, 0.8])  # it follows again
    text = capfd.readouterr().err
    assert 'the driver failed: ZeroDivisionError: planted' in text and 'Traceback' in text


def test_after_an_error_of_its_own_the_arm_is_connected_again_a_period_later(bench):
    """One that stays would otherwise connect it, and fill the log, in every second cycle."""
    bench.start(reconnect_period=1000.0)
    bench.newest()

    def fail(*of_reading):
        raise ZeroDivisionError('planted')

    bench.driver._bus._publish = fail
    bench.until(lambda: bench.counts.losses == 1)
    bench.diagnostics.clear()
    bench.until(lambda: len(bench.diagnostics) > 2)
    assert (bench.counts.losses, bench.counts.reconnections) == (1, 0)


@pytest.mark.parametrize('is_lost', [True, False], ids=['reconnecting', 'request'])
def test_an_error_of_its_own_anywhere_in_its_thread_does_not_end_it(bench, is_lost):
    bench.start()
    bench.newest()
    loop, failures = bench.driver._bus, [ZeroDivisionError('planted')]

    def fail_once(*_):
        if failures:
            raise failures.pop()

    if is_lost:
        reconnect = loop._robot.reconnect
        loop._robot.reconnect = lambda is_released: fail_once() or reconnect(is_released)
        bench.bus.unplug()
        bench.until(lambda: bench.counts.losses)
        bench.bus.plug()
    else:
        with pytest.raises(ZeroDivisionError):
            loop._requests.ask(fail_once, PATIENCE)
    bench.until(lambda: bench.counts.reconnections == 1)
    assert not failures
    bench.newest()


def test_unplugged_and_plugged_in_again(bench):
    bench.start()
    bench.newest()
    target = bench.arm.positions + np.array([0.4, 0.2, -0.2, 0.0, 0.0, 0.0])
    bench.go(target)
    bench.bus.unplug()
    bench.until(lambda: bench.counts.losses == 1)
    bench.spin(0.1)
    bench.states.clear()
    bench.command(target)
    bench.until(lambda: bench.status() and bench.status().level == DiagnosticStatus.ERROR)
    assert 'not connected' in bench.status().message
    assert not bench.states  # what was measured before is not repeated
    before = bench.arm.positions
    bench.bus.plug()
    bench.until(lambda: bench.counts.reconnections == 1)
    state = bench.newest()
    assert all(servo.has_torque for servo in bench.arm.servos)
    np.testing.assert_allclose(state.position, before, atol=0.02)
    assert bench.counts.refused == 1
    bench.until(lambda: bench.status().level == DiagnosticStatus.OK)


def test_a_motor_whose_cable_came_off_and_one_that_is_overloaded(bench):
    bench.start(retries=1)
    bench.newest()
    with bench.bus.lock:
        bench.bus.servo(5).forced_status |= 32
    bench.until(lambda: bench.status() and 'wrist_roll: overload' in bench.status().message)
    assert bench.status().level == DiagnosticStatus.ERROR
    bench.bus.faults.silent.add(3)
    bench.until(lambda: bench.counts.losses == 1)
    with bench.bus.lock:
        bench.bus.servo(5).forced_status = type(bench.bus.servo(5).status)(0)
    bench.bus.faults.silent.clear()
    bench.until(lambda: bench.counts.reconnections == 1)


def test_torque_by_service_and_at_the_end(bench):
    bench.start()
    bench.newest()
    assert call(bench, False).success
    bench.until(lambda: not any(servo.has_torque for servo in bench.arm.servos))
    bench.command([0.1], ['shoulder_pan'])
    bench.until(lambda: bench.counts.refused == 1)
    bench.bus.unplug()
    bench.until(lambda: bench.counts.losses == 1)
    bench.bus.plug()
    bench.until(lambda: bench.counts.reconnections == 1)
    assert not any(servo.has_torque for servo in bench.arm.servos)
    assert bench.driver._bus.state.activity is Activity.RELEASED
    with bench.bus.lock:  # somebody moves it by hand
        bench.arm.set_positions([0.6, -1.35, 1.25, 0.85, 0.0, 0.3])
    assert call(bench, True).success
    bench.spin(0.3)
    assert abs(bench.arm.positions[PAN] - 0.6) < RESOLUTION  # it does not jump back
    bench.stop_driver()
    assert all(servo.has_torque for servo in bench.arm.servos)
    bench.start(torque_on_exit='release')
    bench.newest()
    bench.stop_driver()
    assert not any(servo.has_torque for servo in bench.arm.servos)


def test_the_torque_is_not_switched_later_than_was_waited_for(bench):
    bench.start(answer_timeout=0.2, retries=10)
    bench.newest()
    bench.bus.faults.silent.add(3)
    bench.until(lambda: bench.counts.retries > 0)
    with pytest.raises(DeviceError, match='did not come to it'):
        bench.driver._bus.set_torque(False, 0.01)
    bench.bus.faults.silent.clear()
    bench.newest()
    bench.newest()
    assert all(servo.has_torque for servo in bench.arm.servos)


def test_after_the_power_was_off_the_gripper_does_not_close_by_itself(bench):
    bench.start()
    bench.newest()
    bench.go([0.0, -1.35, 1.25, 0.85, 0.0, 0.0])
    bench.bus.unplug()
    bench.until(lambda: bench.counts.losses == 1)
    bench.bus.power_cycle()
    with bench.bus.lock:
        bench.arm.set_positions([0.0, -1.35, 1.25, 0.85, 0.0, 1.0])
    bench.bus.plug()
    bench.until(lambda: bench.counts.reconnections == 1)
    assert bench.counts.restarts == 6
    bench.spin(0.3)
    assert bench.arm.positions[GRIPPER] == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize(
    ('parameters', 'text'),
    [
        ({'robot_id': 'other'}, 'lerobot-calibrate --robot.type=so101_follower --robot.id=other'),
        ({'robot_options': ['colour=red']}, 'colour'),
        ({'port': '/dev/no-such-port'}, '/dev/no-such-port'),
        ({'units': 'rad'}, 'give degrees'),
        ({'rate': -1.0}, 'rate is -1.0'),
        ({'cameras': 'front'}, 'index_or_path'),
    ],
)
def test_what_cannot_start_says_why(bench, parameters, text):
    with pytest.raises(FrameRosError) as caught:
        bench.start(**parameters)
    assert text in str(caught.value)


def test_the_launch_table_starts_the_driver_and_the_teleoperator_where_a_port_is_given():
    settings = ArmOptions(
        port='/dev/arm',
        robot_id='1',
        leader_port='/dev/leader',
        leader_id='2',
        teleoperator_mode='always',
    )
    processes = {process.name: process for process in arm_processes(settings)}
    assert processes['robot_driver'].parameters['port'] == '/dev/arm'
    assert processes['robot_driver'].is_lifecycle
    assert processes['teleoperator'].parameters['mode'] == 'always'
    assert not {'robot_driver', 'teleoperator'} & {p.name for p in arm_processes(ArmOptions())}
    with pytest.raises(SetupError, match='given together'):
        ArmOptions(port='/dev/arm')


def test_a_missing_motor_and_the_calibration_of_another_arm(bench):
    bench.bus.faults.silent.add(4)
    with pytest.raises(FrameRosError, match='Missing motor IDs: - 4'):
        bench.start()
    bench.bus.faults.silent.clear()
    bench.arm.servos[1].memory[31] += 5  # its homing offset
    with pytest.raises(SetupError, match=r'shoulder_lift.*write_calibration'):
        bench.start()
    assert not any(servo.has_torque for servo in bench.arm.servos)
    bench.start(write_calibration=True)
    bench.newest()
    offset = get(bench.arm.servos[1].memory, 'Homing_Offset')
    assert offset == bench.arm.calibration['shoulder_lift'].homing_offset


def register_camera():
    """A camera of a third party, as LeRobot's registry takes it: it shows red.

    Returns its class, whose attribute is_gone takes it away.
    """
    import_devices('cameras')
    from lerobot.cameras.camera import Camera
    from lerobot.cameras.configs import CameraConfig

    @CameraConfig.register_subclass('red')
    @dataclass
    class RedCameraConfig(CameraConfig):
        pass

    class RedCamera(Camera):
        is_gone = is_connected = False

        @staticmethod
        def find_cameras():
            return []

        def connect(self, warmup=True):
            if self.is_gone:
                raise ConnectionError('no such camera')

        def read(self):
            return self.async_read()

        def async_read(self, timeout_ms=200.0):
            time.sleep(0.02)
            if self.is_gone:
                raise TimeoutError('no frame')
            return np.full((self.height, self.width, 3), (250, 0, 0), dtype=np.uint8)

        def disconnect(self):
            pass

    globals().update(RedCameraConfig=RedCameraConfig, RedCamera=RedCamera)
    return RedCamera


def test_images_come_again_after_the_camera_was_gone(bench, monkeypatch):
    monkeypatch.setattr('frame_ros.nodes.robot_driver.cameras.RECONNECT_PERIOD', 0.1)
    camera = register_camera()
    bench.start(cameras='{front: {type: red, width: 64, height: 48}}')
    bench.until(lambda: bench.images)
    image = bench.images[0]
    assert (image.encoding, image.width, image.height) == ('rgb8', 64, 48)
    assert image.header.frame_id == 'front_camera_optical_frame'
    assert np.frombuffer(image.data, np.uint8).reshape(48, 64, 3)[24, 32].tolist() == [250, 0, 0]
    monkeypatch.setattr(camera, 'is_gone', True)
    bench.until(lambda: bench.status('camera front') and 'no ' in bench.status('front').message)
    monkeypatch.setattr(camera, 'is_gone', False)
    count = len(bench.images)
    bench.until(lambda: len(bench.images) > count)
    assert bench.counts.losses == 0
