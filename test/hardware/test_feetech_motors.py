# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Motors that restart or report faults, and what is said of a bus that cannot be connected."""

import os

import pytest

from frame_ros.core.errors import SetupError
from frame_ros.hardware.device_error import DeviceError
from frame_ros.hardware.feetech.emulator.registers import TORQUE_ENABLE, get, put


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
