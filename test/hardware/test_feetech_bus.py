# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated Feetech bus: packets, memory, dynamics, protections and faults, through a serial
port.
"""

import json
import os
import subprocess
import sys
import termios
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frame_ros.core.errors import SetupError, ValueRangeError
from frame_ros.hardware.feetech.emulator.bus import SimulatedBus
from frame_ros.hardware.feetech.emulator.packets import (
    Instruction,
    PacketReader,
    Status,
    make_packet,
)
from frame_ros.hardware.feetech.emulator.registers import (
    CURRENT_UNIT,
    LOCK,
    REGISTERS,
    SIGN_BITS,
    TORQUE_ENABLE,
    decode,
    encode,
    get,
    put,
)
from frame_ros.hardware.feetech.emulator.servo import (
    FREE_SPEED,
    STALL_CURRENT,
    STALL_TORQUE,
    STEP,
    Mechanics,
    SimulatedServo,
)
from frame_ros.scenes.simulation.simulation import HOME
from frame_ros.scenes.simulation.so101_servos import SimulatedSo101

GOAL = REGISTERS['Goal_Position'][0]
ON = (TORQUE_ENABLE, b'\x01')


def run(servo, seconds, dt=0.004):
    for _ in range(round(seconds / dt)):
        servo.advance(dt)


def goal(steps):
    return GOAL, encode('Goal_Position', steps).to_bytes(2, 'little')


# Packets.


def test_a_packet_of_the_vendors_manual():
    # "Ping id 1": FF FF 01 02 01 FB.
    assert make_packet(1, Instruction.PING) == bytes.fromhex('ffff010201fb')
    # "Read the position of servo 1, two bytes from 0x38": FF FF 01 04 02 38 02 BE.
    assert make_packet(1, Instruction.READ, b'\x38\x02') == bytes.fromhex('ffff0104023802be')


@given(
    st.lists(st.tuples(st.integers(0, 0xFD), st.binary(max_size=20)), min_size=1, max_size=5),
    st.binary(max_size=6).filter(lambda b: 0xFF not in b),
    st.integers(1, 7),
)
def test_packets_are_found_in_any_pieces_and_after_rubbish(packets, rubbish, size):
    stream = rubbish + b''.join(make_packet(i, Instruction.WRITE, c) for i, c in packets)
    reader = PacketReader()
    pieces = [stream[k : k + size] for k in range(0, len(stream), size)]
    found = [packet for piece in pieces for packet in reader.feed(piece)]
    assert [(packet.identity, packet.parameters) for packet in found] == packets


def test_a_corrupt_packet_is_dropped_and_the_next_one_found():
    good = make_packet(2, Instruction.READ, b'\x38\x02')
    reader = PacketReader()
    assert [p.identity for p in reader.feed(good[:-1] + b'\x00' + good)] == [2]
    assert reader.corrupt == 1


# Memory.


def test_the_table_is_that_of_lerobot():
    tables = pytest.importorskip('lerobot.motors.feetech.tables')
    theirs = tables.MODEL_CONTROL_TABLE['sts3215']
    assert {name: theirs[name] for name in REGISTERS} == REGISTERS
    signs = tables.MODEL_ENCODING_TABLE['sts3215']
    known = {name: bit for name, bit in SIGN_BITS.items() if name in signs}
    assert known == {name: signs[name] for name in known} and len(known) >= 5
    assert tables.MODEL_NUMBER_TABLE['sts3215'] == get(SimulatedServo(1).memory, 'Model_Number')


@given(st.sampled_from(sorted(SIGN_BITS)), st.integers(-1023, 1023))
def test_signed_values_come_back(name, value):
    assert decode(name, encode(name, value)) == value


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueRangeError, match='from -2047 to 2047'):
        encode('Homing_Offset', 3000)
    with pytest.raises(ValueRangeError, match='from 0 to 255'):
        encode('ID', -1)


def test_the_lock_decides_what_is_kept_without_power():
    servo = SimulatedServo(1)
    address = REGISTERS['P_Coefficient'][0]
    servo.write(address, b'\x10')
    servo.power_cycle()
    assert get(servo.memory, 'P_Coefficient') == 32
    servo.write(LOCK, b'\x00')
    servo.write(address, b'\x10')
    servo.power_cycle()
    assert get(servo.memory, 'P_Coefficient') == 16 and servo.memory[LOCK] == 1


def test_measurements_cannot_be_written_and_offset_shifts_the_position():
    servo = SimulatedServo(1)
    servo.write(REGISTERS['Present_Position'][0], b'\x00\x00')
    assert servo.present_position == 2048
    put(servo.memory, 'Homing_Offset', -100)
    assert servo.present_position == 2148
    servo.write(TORQUE_ENABLE, b'\x80')  # here is the middle
    assert servo.present_position == 2048 and not servo.has_torque


# Motion.


def test_it_goes_to_the_goal_only_with_torque_and_within_the_limits():
    servo = SimulatedServo(1)
    servo.write(*goal(3000))
    run(servo, 0.5)
    assert servo.present_position == 2048
    put(servo.memory, 'Max_Position_Limit', 2500)
    servo.write(*ON)
    run(servo, 1.5)
    assert abs(servo.present_position - 2500) < 5
    assert abs(servo.current) < 0.1 and abs(servo.velocity) < 1e-6


def test_velocity_and_acceleration_are_limited():
    servo = SimulatedServo(1)
    put(servo.memory, 'Goal_Velocity', 500)
    put(servo.memory, 'Acceleration', 10)  # 1000 steps/s2
    servo.write(*ON)
    servo.write(*goal(3500))
    speeds = []
    for _ in range(250):
        servo.advance(0.004)
        speeds.append(servo.velocity / STEP)
    assert 480 < max(speeds) < 530
    first = next(i for i, speed in enumerate(speeds) if speed > 250) * 0.004
    assert 0.2 < first < 0.45  # 250 steps/s take 0.25 s


def test_the_current_is_that_of_the_load():
    loads = (0.0, 0.4, -0.8)
    currents = []
    for load in loads:
        servo = SimulatedServo(1, Mechanics(load=lambda angle, load=load: load))
        servo.write(*ON)
        servo.write(*goal(2048))
        run(servo, 2.0)
        currents.append(servo.current)
        # The register has what the bridge draws of the supply, the drive's share of the time.
        servo.read(0, 1)
        drawn = servo.current**2 / STALL_CURRENT
        register = get(servo.memory, 'Present_Current') * CURRENT_UNIT
        assert register == pytest.approx(np.copysign(drawn, servo.current), abs=CURRENT_UNIT)
    assert abs(register) > 0.3  # and not the 1 A of the winding
    assert currents[0] == pytest.approx(0.0, abs=0.01)
    # Standing, the current bears the load, but for friction: 0.764 N m/A.
    assert currents[1] == pytest.approx(0.4 / 0.764, abs=0.1)
    assert currents[2] == pytest.approx(-0.8 / 0.764, abs=0.1)


@pytest.mark.parametrize('sign', [1, -1])
def test_a_moving_motor_draws_more_for_the_same_torque_and_none_as_it_brakes(sign):
    servo = SimulatedServo(1)
    servo.write(*ON)
    servo.set_motion(0.0, sign * 0.5 * FREE_SPEED, sign * 0.25 * STALL_TORQUE)
    assert servo.current == pytest.approx(sign * 0.25 * STALL_CURRENT)
    assert servo.supply_current == pytest.approx(sign * 0.75 * 0.25 * STALL_CURRENT)
    servo.set_motion(0.0, sign * 0.5 * FREE_SPEED, -sign * 0.25 * STALL_TORQUE)
    assert servo.supply_current == 0.0
    servo.set_motion(0.0, sign * 2.0 * FREE_SPEED, sign * 0.25 * STALL_TORQUE)  # at most all of it
    assert servo.supply_current == pytest.approx(sign * 0.25 * STALL_CURRENT)
    servo.write(TORQUE_ENABLE, b'\x00')
    servo.set_motion(0.0, sign * 0.5 * FREE_SPEED, sign * 0.25 * STALL_TORQUE)
    assert servo.supply_current == 0.0


@pytest.mark.parametrize('sign', [1, -1])
def test_a_hand_that_is_faster_than_the_register_can_say_reads_as_its_end(sign):
    servo = SimulatedServo(1)
    servo.set_motion(sign * 1.0, sign * 200.0, 0.0)
    servo.read(0, 1)
    assert get(servo.memory, 'Present_Velocity') == sign * 32767


def test_an_obstacle_stalls_it_until_the_protection_takes_the_torque_back():
    servo = SimulatedServo(1, Mechanics(upper=100 * STEP))
    servo.write(*ON)
    servo.write(*goal(3000))
    run(servo, 1.5)
    assert abs(servo.present_position - 2148) <= 1
    assert servo.current > 0.9 * STALL_CURRENT
    assert servo.status == Status.NONE
    run(servo, 2.0)
    assert servo.status == Status.OVERLOAD
    assert servo.current == pytest.approx(0.2 * STALL_CURRENT, rel=0.05)
    servo.write(*goal(2000))  # the other way
    run(servo, 1.0)
    assert servo.status == Status.NONE and abs(servo.present_position - 2000) < 10


def test_a_motor_that_is_overheated_says_so():
    servo = SimulatedServo(1)
    servo.temperature = 80.0
    servo.advance(0.004)
    assert servo.status == Status.TEMPERATURE
    assert servo.read(REGISTERS['Present_Temperature'][0], 1) == b'\x50'


def test_the_arm_bears_its_weight_and_falls_without_torque():
    arm = SimulatedSo101()
    assert np.allclose(arm.positions, HOME)
    stretched = (0.0, 0.8, -0.8, 0.0, 0.0, 0.3)
    arm.set_positions(stretched)
    for servo in arm.servos:
        put(servo.memory, 'Goal_Position', servo.present_position)
        servo.write(*ON)
    for _ in range(250):
        arm.advance(0.004)
    np.testing.assert_allclose(arm.positions, stretched, atol=0.12)
    assert abs(arm.servos[1].current) > 0.5 > abs(arm.servos[0].current)
    for servo in arm.servos:
        servo.write(TORQUE_ENABLE, b'\x00')
    for _ in range(250):
        arm.advance(0.004)
    assert abs(arm.positions[1] - stretched[1]) > 0.3


def test_it_moves_the_arm_of_a_scene():
    pytest.importorskip('mujoco')
    from frame_ros.scenes import PickPlaceSimulation

    scene = PickPlaceSimulation(0)
    arm = SimulatedSo101(scene=scene)
    before = scene.joint_state().positions.copy()
    for servo in arm.servos:
        servo.write(*ON)
    steps = arm.servos[0].present_position + 200
    arm.servos[0].write(*goal(steps))
    for _ in range(250):
        arm.advance(0.004)
    moved = scene.joint_state().positions - before
    assert moved[0] == pytest.approx(200 * STEP, abs=0.03)
    np.testing.assert_allclose(arm.positions, scene.joint_state().positions, atol=0.002)
    assert abs(arm.servos[1].current) > 0.05


# The bus, by the vendor's own driver.


def open_port(scs, path):
    """The vendor's port, with patience: the machine that runs this may be busy."""
    port = scs.PortHandler(path)
    port.setPacketTimeout = lambda length: port.setPacketTimeoutMillis(300.0)
    assert port.openPort()
    return port


@pytest.fixture()
def wire(tmp_path):
    scs = pytest.importorskip('scservo_sdk')
    servos = [SimulatedServo(i) for i in (1, 2, 3)]
    with SimulatedBus(servos, link=tmp_path / 'port') as bus:
        port = open_port(scs, bus.port)
        yield scs, bus, port, scs.PacketHandler(0)
        if bus.port:
            port.closePort()


def test_ping_read_and_write(wire):
    scs, bus, port, packets = wire
    assert packets.ping(port, 2) == (777, scs.COMM_SUCCESS, 0)
    assert packets.ping(port, 9)[1] == scs.COMM_RX_TIMEOUT
    assert packets.write2ByteTxRx(port, 1, GOAL, 2100) == (scs.COMM_SUCCESS, 0)
    assert packets.read2ByteTxRx(port, 1, GOAL) == (2100, scs.COMM_SUCCESS, 0)
    assert packets.read2ByteTxRx(port, 1, 250)[1] == scs.COMM_RX_TIMEOUT  # no such memory


def test_writing_all_at_once_and_later(wire):
    scs, bus, port, packets = wire
    group = scs.GroupSyncWrite(port, packets, GOAL, 2)
    for identity, value in ((1, 2000), (3, 2200)):
        group.addParam(identity, [value & 0xFF, value >> 8])
    assert group.txPacket() == scs.COMM_SUCCESS
    packets.regWriteTxRx(port, 2, GOAL, 2, [0x34, 0x08])
    read = scs.GroupSyncRead(port, packets, GOAL, 2)
    for identity in (1, 2, 3):
        read.addParam(identity)
    assert read.txRxPacket() == scs.COMM_SUCCESS
    values = [read.getData(i, GOAL, 2) for i in (1, 2, 3)]
    assert values == [2000, 2048, 2200]
    packets.action(port, scs.BROADCAST_ID)
    assert packets.read2ByteTxRx(port, 2, GOAL)[0] == 0x0834


def test_faults_on_the_wire(wire):
    scs, bus, port, packets = wire
    bus.faults.corrupt_next = 1
    assert packets.read2ByteTxRx(port, 1, GOAL)[1] == scs.COMM_RX_CORRUPT
    bus.faults.drop_next = 1
    assert packets.read2ByteTxRx(port, 1, GOAL)[1] == scs.COMM_RX_TIMEOUT
    bus.faults.silent.add(1)
    assert packets.ping(port, 1)[1] == scs.COMM_RX_TIMEOUT
    bus.servo(2).forced_status = Status.OVERLOAD
    assert packets.read2ByteTxRx(port, 2, GOAL)[1:] == (scs.COMM_SUCCESS, int(Status.OVERLOAD))


def test_a_servo_hears_only_its_own_speed(wire):
    scs, bus, port, packets = wire
    port.setBaudRate(115_200)
    assert packets.ping(port, 1)[1] == scs.COMM_RX_TIMEOUT
    put(bus.servo(1).memory, 'Baud_Rate', 4)
    assert packets.ping(port, 1)[1] == scs.COMM_SUCCESS


def test_unplugging_takes_the_port_away_and_the_link_comes_back(wire):
    scs, bus, port, packets = wire
    path, device = bus.port, os.path.realpath(bus.port)
    put(bus.servo(1).memory, 'Goal_Position', 2345)
    bus.unplug()
    assert not os.path.lexists(path) and bus.port == ''
    with pytest.raises((OSError, termios.error)):
        for _ in range(100):
            packets.ping(port, 1)
            time.sleep(0.01)
    bus.plug()
    assert bus.port == path and os.path.realpath(path).startswith('/dev/') and device
    again = open_port(scs, bus.port)
    assert packets.read2ByteTxRx(again, 1, GOAL)[0] == 2345
    again.closePort()


def test_ids_that_are_there_twice_and_a_link_that_is_a_file(tmp_path):
    with pytest.raises(SetupError, match=r'\[1, 1\]'):
        SimulatedBus([SimulatedServo(1), SimulatedServo(1)])
    (tmp_path / 'port').write_text('mine')
    with pytest.raises(SetupError, match='not a symbolic link'):
        SimulatedBus([SimulatedServo(1)], link=tmp_path / 'port')


def test_the_command_simulates_an_arm_and_its_faults(tmp_path):
    scs = pytest.importorskip('scservo_sdk')
    link, folder = tmp_path / 'runs' / 'arm', tmp_path / 'calibration'
    arguments = ['simulate-so101', '--link', str(link)]
    arguments += ['--calibration-dir', str(folder), '--id', 'me']
    code = f'import sys; from frame_ros.cli import main; sys.exit(main({arguments}))'
    command = [sys.executable, '-c', code]
    streams = {'stdin': subprocess.PIPE, 'stdout': subprocess.PIPE, 'stderr': subprocess.STDOUT}
    process = subprocess.Popen(command, text=True, bufsize=1, **streams)
    try:
        lines = [process.stdout.readline() for _ in range(4)]
        assert str(link) in lines[0] and f'robot_id:=me -p calibration_dir:={folder}' in lines[2]
        calibration = json.loads((folder / 'me.json').read_text())
        assert calibration['gripper']['id'] == 6
        port = open_port(scs, str(link))
        assert scs.PacketHandler(0).ping(port, 6)[1] == scs.COMM_SUCCESS
        port.closePort()
        process.stdin.write('silence six\nshow\nunplug\nquit\n')
        rest, _ = process.communicate(timeout=20)
        assert "'silence six' is not understood" in rest and 'shoulder_pan   +0.00' in rest
        assert process.returncode == 0 and not os.path.lexists(link)
    finally:
        process.kill()
        process.wait()
