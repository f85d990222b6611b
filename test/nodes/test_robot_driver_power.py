# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Motors that restart or lose their torque while the robot driver drives them."""

from dataclasses import replace

import numpy as np
import pytest
from robot_driver_bench import GRIPPER, LIFT, PAN, call, running_bench

from frame_ros.hardware.device_error import DeviceError
from frame_ros.hardware.feetech.emulator.registers import TORQUE_ENABLE, get

GOAL_POSITION = 42  # address
START = [0.0, -1.35, 1.25, 0.85, 0.0, 0.5]


@pytest.fixture()
def bench(ros_domain, tmp_path, monkeypatch):
    yield from running_bench(tmp_path, monkeypatch)


@pytest.mark.parametrize('starts_with_torque', [False, True])
def test_a_motor_that_restarts_is_held_where_it_is_found(bench, starts_with_torque):
    bench.start()
    bench.newest()
    bench.go(START)
    with bench.bus.lock:  # sooner than an answer is missed
        bench.arm.set_positions([0.0, -1.0, 1.25, 0.85, 0.0, 1.0])
        for servo in (bench.arm.servos[GRIPPER], bench.arm.servos[LIFT]):
            servo.power_cycle()
            servo.memory[TORQUE_ENABLE] = int(starts_with_torque)
    bench.until(lambda: bench.counts.restarts == 2)
    bench.until(lambda: all(servo.has_torque for servo in bench.arm.servos))
    bench.spin(0.3)
    assert bench.arm.positions[GRIPPER] == pytest.approx(1.0, abs=0.02)
    assert bench.arm.positions[LIFT] == pytest.approx(-1.0, abs=0.1)
    assert bench.counts.losses == 0
    # The lift is 0.35 rad off: a policy's next commands would drive it back from where it fell.
    bench.until(lambda: 'not where it was sent: shoulder_lift;' in bench.status().message)
    before, refused = bench.arm.positions[LIFT], bench.counts.refused
    bench.until(lambda: bench.counts.refused > refused, lambda: bench.command(START))
    assert bench.arm.positions[LIFT] == pytest.approx(before, abs=0.02)
    assert call(bench, True).success
    bench.until(lambda: 'not where it was sent' not in bench.status().message)
    bench.go([0.2, *START[1:]])  # it takes commands again


def test_a_motor_that_restarts_where_it_was_goes_on_taking_commands(bench):
    bench.start()
    bench.newest()
    bench.go(START)
    with bench.bus.lock:
        bench.arm.servos[LIFT].power_cycle()
    bench.until(lambda: bench.counts.restarts == 1)
    refused = bench.counts.refused
    bench.go([0.2, *START[1:]])
    assert bench.counts.refused == refused


def test_a_link_without_torque_holds_the_arm_until_it_is_switched_on(bench):
    bench.start()
    bench.newest()
    bench.go(START)
    with bench.bus.lock:  # as an overheated motor's protection does
        bench.arm.servos[LIFT].memory[TORQUE_ENABLE] = 0
    bench.until(lambda: bench.status() and 'no torque: shoulder_lift' in bench.status().message)
    before, refused = bench.arm.positions[PAN], bench.counts.refused
    bench.until(
        lambda: bench.counts.refused > refused,
        lambda: bench.command([before + 0.3], ['shoulder_pan']),
    )
    assert not bench.arm.servos[LIFT].has_torque
    assert bench.arm.positions[PAN] == pytest.approx(before, abs=0.02)
    assert call(bench, True).success
    bench.until(lambda: 'no torque' not in bench.status().message)
    bench.go([0.3, *bench.arm.positions[1:]])


def test_a_gripper_without_torque_keeps_no_other_joint_from_moving(bench, capfd):
    bench.start()
    bench.newest()
    bench.go(START)
    capfd.readouterr()
    with bench.bus.lock:
        bench.arm.servos[GRIPPER].memory[TORQUE_ENABLE] = 0
    bench.until(lambda: bench.status() and 'no torque: gripper' in bench.status().message)
    refused = bench.counts.refused
    bench.go([0.3, *START[1:5], bench.arm.positions[GRIPPER]])
    assert bench.counts.refused == refused
    assert np.array([s.has_torque for s in bench.arm.servos]).sum() == 5
    text = capfd.readouterr().err
    assert 'no torque: gripper' in text and '; the arm holds' not in text


def test_a_gripper_that_restarted_does_not_close_when_the_first_reading_fails(bench):
    bench.start()
    bench.newest()
    bench.go(START)
    robot = bench.driver._robot
    read, cycled, failed = robot.read, [], []

    def failing():
        gripper = bench.arm.servos[GRIPPER]
        if cycled and get(gripper.memory, 'Acceleration') and not failed:  # it was set up again
            failed.append(True)
            raise DeviceError('a damaged answer')
        return read()

    robot.read = failing
    bench.bus.unplug()
    bench.until(lambda: bench.counts.losses == 1)
    with bench.bus.lock:
        bench.arm.servos[GRIPPER].power_cycle()
        bench.arm.set_positions([*START[:5], 1.0])
        cycled.append(True)
    bench.bus.plug()
    bench.until(lambda: bench.counts.reconnections == 1)
    bench.spin(0.3)
    assert failed and bench.counts.restarts == 1
    assert bench.arm.positions[GRIPPER] == pytest.approx(1.0, abs=0.02)


def test_an_arm_whose_hold_fails_as_it_is_connected_again_is_lost_still(bench):
    bench.start()
    bench.newest()
    bench.go(START)
    robot = bench.driver._robot
    send, failed = robot.send, []

    def failing(goals):
        if bench.counts.losses and not failed:
            failed.append(True)
            raise DeviceError('the goals cannot be sent')
        send(goals)

    robot.send = failing
    bench.bus.unplug()
    bench.until(lambda: bench.counts.losses == 1)
    bench.bus.plug()
    bench.until(lambda: bench.counts.reconnections == 1)
    assert failed and bench.counts.losses == 1


def test_an_arm_that_was_let_go_gets_no_goals(bench, monkeypatch):
    monkeypatch.setattr('frame_ros.nodes.robot_driver.bus.HOLD_REPEATS', 200)
    bench.start(torque_on_exit='release')
    bench.newest()
    bench.go(START)
    bench.until(lambda: bench.counts.holds == 1)
    servo, written = bench.arm.servos[PAN], []
    write = servo.write

    def noted(address, data):
        written.append((address, data[0]))
        return write(address, data)

    with bench.bus.lock:
        servo.write = noted
    bench.stop_driver()
    at = written.index((TORQUE_ENABLE, 0))
    assert GOAL_POSITION not in [address for address, _ in written[at:]]


def test_the_gripper_keeps_its_grip_when_another_joint_gets_its_torque_again(bench):
    bench.start()
    bench.newest()
    bench.go(START)
    gripper, lift = bench.arm.servos[GRIPPER], bench.arm.servos[LIFT]
    with bench.bus.lock:
        gripper.mechanics.lower = gripper.angle  # of an object

    def grip():  # in encoder steps
        return gripper.present_position - get(gripper.memory, 'Goal_Position')

    bench.until(lambda: grip() > 100, lambda: bench.command([*START[:5], 0.1]))
    with bench.bus.lock:
        lift.memory[TORQUE_ENABLE] = 0
    bench.until(lambda: bench.status() and 'no torque: shoulder_lift' in bench.status().message)
    assert call(bench, True).success
    assert lift.has_torque
    bench.until(lambda: bench.driver._bus._repeats == 0)
    assert grip() > 100
    assert abs(lift.present_position - get(lift.memory, 'Goal_Position')) < 20


def test_single_corrupt_packets_are_read_again(bench, monkeypatch):
    monkeypatch.setattr('frame_ros.nodes.robot_driver.bus.POWER_PERIOD', 0.0)
    bench.start()
    for packet in range(1, 4):  # of the positions, the telemetry or the power
        bench.newest()
        bench.bus.faults.corrupt_next = 1
        bench.until(lambda packet=packet: bench.counts.retries == packet)
    bench.newest()
    assert bench.counts.losses == 0


def test_goals_of_a_hold_that_got_lost_are_sent_again(bench):
    bench.start(max_relative_target=0.0)
    bench.newest()
    bench.go(START)
    servo, written = bench.arm.servos[PAN], []
    write = servo.write

    def losing(address, data):  # all after the last command's, up to the first of the hold
        if address == GOAL_POSITION:
            written.append(data)
            if len(written) == 2:
                return True
        return write(address, data)

    with bench.bus.lock:
        servo.mechanics.upper = bench.arm.servos[PAN].angle  # it is kept from following
        servo.write = losing
    bench.command([1.0], ['shoulder_pan'])
    # On a busy machine the hold of what went before may come first: the last one counts.
    bench.until(
        lambda: (
            len(written) >= 3
            and abs(get(servo.memory, 'Goal_Position') - servo.present_position) < 20
        )
    )


def test_faults_are_logged_once(bench, capfd):
    bench.start()
    bench.newest()
    with bench.bus.lock:
        bench.bus.servo(5).forced_status |= 32
    bench.until(lambda: bench.status() and 'overload' in bench.status().message)
    for _ in range(5):
        bench.newest()
    with bench.bus.lock:
        bench.bus.servo(5).forced_status = type(bench.bus.servo(5).status)(0)
    bench.until(lambda: 'overload' not in bench.status().message)
    text = capfd.readouterr().err
    assert text.count('motor fault: wrist_roll: overload') == 1
    assert text.count('no motor reports a fault any more') == 1


def test_a_fault_that_flickers_does_not_flood_the_log(bench, capfd):
    bench.start()
    bench.newest()
    robot, readings = bench.driver._robot, []
    read = robot.read

    def flickering():
        reading = read()
        readings.append(reading)
        words = ('voltage',) if len(readings) % 2 else ()  # as a supply at its limit
        faults = (words, *reading.motors.faults[1:])
        return replace(reading, motors=replace(reading.motors, faults=faults))

    robot.read = flickering
    bench.until(lambda: len(readings) >= 40)
    text = capfd.readouterr().err
    found = text.count('motor fault: shoulder_pan: voltage') + text.count('no motor reports')
    assert 2 <= found < 20
