# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Motors that restart or report faults, and what is said of a bus that cannot be connected."""

import os

import pytest

from frame_ros.core.errors import SetupError
from frame_ros.hardware.device_error import DeviceError
from frame_ros.hardware.feetech.emulator.registers import TORQUE_ENABLE, get, put
from frame_ros.hardware.feetech.emulator.servo import Status
from frame_ros.hardware.feetech.trouble import clear_faults


@pytest.mark.parametrize('starts_with_torque', [False, True])
def test_a_motor_that_restarts_is_set_up_again_and_no_other_lets_go(bench, starts_with_torque):
    arm, bus, make = bench
    robot = make()
    robot.connect()
    assert robot.look_after_power().is_as_before
    elbow, others = arm.servos[2], [s for s in arm.servos if s.identity != 3]
    expected = [False, False, True, False, False, False]
    with bus.lock:
        for servo in others:
            watch_torque(servo)
        restart(elbow, starts_with_torque)
    assert robot.look_after_power().is_restarted.tolist() == expected
    assert robot.look_after_power().is_as_before
    with bus.lock:
        restart(elbow, starts_with_torque)
    assert robot.reconnect().tolist() == expected
    assert elbow.has_torque and get(elbow.memory, 'Acceleration') == 254
    with bus.lock:
        arm.servos[5].memory[TORQUE_ENABLE] = 0  # its protection did it
        assert not any(servo.has_let_go for servo in others)
    state = robot.look_after_power()
    assert state.is_limp.tolist() == [False] * 5 + [True] and not state.is_restarted.any()
    assert not arm.servos[5].has_torque  # whoever knows why it is off switches it on
    robot.set_torque(True)
    assert robot.look_after_power().is_as_before
    with bus.lock:
        restart(elbow, starts_with_torque)
    assert robot.reconnect(is_released=True).tolist() == expected
    assert not elbow.has_torque
    robot.close()


def test_connecting_again_gives_no_torque_to_a_motor_whose_protection_took_it_away(bench):
    arm, _, make = bench
    robot = make()
    robot.connect()
    lift = arm.servos[1]
    with bench[1].lock:
        lift.memory[TORQUE_ENABLE] = 0
        lift._status |= Status.OVERLOAD  # ends as its torque is switched on
    assert not robot.reconnect().any()
    assert not lift.has_torque
    assert robot.look_after_power().is_limp.tolist() == [False, True] + [False] * 4
    robot.close()


def test_a_lost_answer_about_its_torque_is_not_taken_for_none(bench):
    arm, bus, make = bench
    robot = make()
    robot.connect()
    with bus.lock:
        arm.servos[1].forced_status |= Status.OVERLOAD  # it stays
    handler = robot._bus.packet_handler
    read, lost = handler.read1ByteTxRx, []

    def losing(port, identity, address):
        if address == TORQUE_ENABLE and not lost:
            lost.append(identity)
            return 0, -6, 0  # as scservo_sdk: no answer
        return read(port, identity, address)

    handler.read1ByteTxRx = losing
    with pytest.raises(DeviceError, match='motor fault: shoulder_lift'):
        clear_faults(robot._bus)
    assert lost and arm.servos[1].has_torque
    robot.close()


@pytest.mark.parametrize('does_reconnect', [False, True])
def test_a_restart_is_reported_also_when_its_motor_was_set_up_by_an_attempt_that_failed(
    bench, does_reconnect
):
    arm, bus, make = bench
    robot = make()
    robot.connect()
    look, looks = robot._power.look, []

    def failing():
        looks.append(True)
        if len(looks) == 2:  # the last thing that setting up does
            raise DeviceError('a damaged answer')
        return look()

    robot._power.look = failing
    with bus.lock:
        arm.servos[5].power_cycle()
    act = robot.reconnect if does_reconnect else lambda: robot.look_after_power().is_restarted
    with pytest.raises(DeviceError, match='damaged'):
        act()
    assert act().tolist() == [False] * 5 + [True]
    assert not act().any()
    robot.close()


def restart(servo, starts_with_torque):
    servo.power_cycle()
    servo.memory[TORQUE_ENABLE] = int(starts_with_torque)


def watch_torque(servo):
    """Notes in `has_let_go` whether the torque is ever switched off by the bus."""
    write = servo.write
    servo.has_let_go = False

    def watched(address, data):
        servo.has_let_go |= address == TORQUE_ENABLE and data[:1] == b'\0'
        return write(address, data)

    servo.write = watched


def test_another_arm_on_the_port_is_not_driven_by_this_one_s_calibration(bench):
    arm, bus, make = bench
    robot = make()
    robot.connect()
    with bus.lock:
        for servo in arm.servos:
            servo.memory[TORQUE_ENABLE] = 0  # such as a leader
        arm.servos[1].memory[31] += 5  # its homing offset
    with pytest.raises(SetupError, match='shoulder_lift'):
        robot.reconnect()
    assert not any(servo.has_torque for servo in arm.servos)
    robot.close()


def connecting_says(bench, text):
    arm, bus, make = bench
    robot = make(answer_timeout=0.2)
    with pytest.raises(DeviceError, match=text):
        robot.connect()
    assert not any(servo.has_torque for servo in arm.servos)


def test_no_motor_answers(bench):
    _, bus, _ = bench
    bus.faults.silent = set(range(1, 7))
    connecting_says(bench, 'no motor answers: is the power of the arm on, and is it the port')
    bus.faults.silent = {3}
    connecting_says(bench, r'no answer from elbow_flex \(id 3\).*Missing motor IDs: - 3')


def test_an_adapter_that_echoes(bench):
    _, bus, _ = bench
    receive = bus._receive

    def echoed():
        found = receive()
        if found:
            os.write(bus._master, found)
        return found

    bus._receive = echoed
    connecting_says(bench, 'the adapter sends back what it is sent')


def test_two_motors_of_one_id(bench):
    _, bus, _ = bench
    apply = bus.faults.apply

    def collide(packet):  # what both say alike arrives whole: a ping, the model and the firmware
        packet = apply(packet)
        is_alike = len(packet) < 8 or packet[5:7] == (777).to_bytes(2, 'little')
        return packet if packet[2] != 4 or is_alike else packet[:-1] + bytes((packet[-1] ^ 1,))

    bus.faults.apply = collide
    connecting_says(bench, r'damaged answers from wrist_flex \(id 4\): do two motors have one id')


def test_a_fault_is_named_with_what_was_measured_and_leaves_the_torque_as_it_was(bench):
    arm, bus, _ = bench
    with bus.lock:
        put(arm.servos[1].memory, 'Max_Voltage_Limit', 60)
        arm.servos[1].forced_status |= 1
    connecting_says(bench, r'shoulder_lift: voltage of 7\.4 V, not .* to 6\.0; is it the supply')
    with bus.lock:
        arm.servos[2].forced_status |= 4
    connecting_says(bench, r'elbow_flex: temperature of \d+ C, above 70; relieve it')
