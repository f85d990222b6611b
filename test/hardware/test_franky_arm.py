# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The Franka arm and its hand over TCP and UDP on loopback, against franky-sim."""

import contextlib
import json
import os
import socket
import struct
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from fci_server import FciServer
from patience import PATIENCE

pytest.importorskip('franky')
pytest.importorskip('franky_sim')

from frame_ros.core.errors import SetupError
from frame_ros.core.options import evolved
from frame_ros.core.thread_priority import inherited_priority
from frame_ros.hardware.device_error import DeviceError
from frame_ros.hardware.franky.arm import CONTROL_PRIORITY, FrankyArm
from frame_ros.hardware.franky.hand import FrankyHand
from frame_ros.hardware.franky.library import MotionAborted, import_franky
from frame_ros.hardware.franky.options import FciOptions
from frame_ros.robots import load_robot

OPTIONS = evolved(FciOptions(), realtime='ignore', answer_timeout=2.0, connect_timeout=1.0)
FR3 = load_robot('fr3')
ACCELERATIONS = np.full(7, 10.0)


@pytest.fixture(scope='module')
def server():
    server = FciServer()
    yield server
    server.kill()


def arm_at(host, options=OPTIONS):
    return FrankyArm(host, options, FR3.velocity_limits, ACCELERATIONS)


@pytest.fixture()
def arm(server):
    arm = arm_at(server.host)
    arm.connect()
    yield arm
    arm.close()


def read_until(arm, condition):
    """The readings up to where the condition holds of all so far; the motion's end is looked
    after.
    """
    end, readings = time.monotonic() + PATIENCE, []
    while not readings or not condition(readings):
        assert time.monotonic() < end, 'it did not happen'
        readings.append(arm.read())
        arm.check_motion()
    return readings


def rests(readings):
    """By the positions: in franky-sim the velocities chatter by 0.1 rad/s in an arm at rest."""
    last = [reading.positions for reading in readings[-100:]]
    return len(last) == 100 and np.ptp(last, axis=0).max() < 5e-4


def test_libfranka_s_thread_comes_first_and_ours_keeps_its_priority(arm):
    threads, own = set(os.listdir('/proc/self/task')), os.sched_getscheduler(0)
    arm.follow_velocities(np.zeros(7), 1.0)
    started = {*os.listdir('/proc/self/task')} - threads
    assert started and os.sched_getscheduler(0) == own
    with inherited_priority(CONTROL_PRIORITY):
        if os.sched_getscheduler(0) == own:
            pytest.skip('this user may not have a real-time priority')
    assert CONTROL_PRIORITY in {os.sched_getparam(int(each)).sched_priority for each in started}


def test_no_state_is_read_twice(arm):
    counts = [arm.read().count for _ in range(100)]
    assert (np.diff(counts) > 0).all()


def test_the_pose_is_that_of_our_kinematics(arm):
    reading = arm.read()
    position, quaternion = load_robot('fr3', 'tcp').forward(reading.positions)
    assert np.linalg.norm(reading.pose[:3] - position) < 1e-3
    assert abs(reading.pose[3:] @ quaternion) > 0.999999


def swing(joint, rate):
    """Velocities (7,) of one joint."""
    return rate * np.eye(7)[joint]


def test_velocities_replace_one_another_and_a_stop_ends_them(arm):
    start = arm.read().positions[0]
    arm.follow_velocities(swing(0, 0.2), 5.0)
    read_until(arm, lambda found: found[-1].positions[0] > start + 0.05)
    arm.follow_velocities(swing(0, -0.2), 5.0)
    readings = read_until(arm, lambda found: found[-1].positions[0] < start)
    assert max(r.positions[0] for r in readings) < start + 0.15
    assert arm.is_moving
    arm.begin_stop()
    arm.wait_for_rest()
    assert not arm.is_moving


def test_velocities_end_by_themselves(arm):
    start = arm.read().positions[6]
    arm.follow_velocities(0.2 * np.eye(7)[6], 0.2)
    readings = read_until(arm, lambda found: not arm.is_moving)
    moved = readings[-1].positions[6] - start
    assert 0.03 < moved < 0.1
    assert rests(read_until(arm, rests))


def test_a_reflex_ends_the_motion_with_its_reason(arm, server):
    start = arm.read().positions
    arm.follow_velocities(swing(0, 0.1), 5.0)
    # Before the motion has begun there is none to end.
    read_until(arm, lambda found: np.abs(found[-1].positions - start).max() > 0.01)
    server.order('reflex')
    with pytest.raises(MotionAborted, match='[Rr]eflex'):
        read_until(arm, lambda found: False)
    arm.recover()
    arm.follow_velocities(np.zeros(7), 0.1)


@pytest.mark.parametrize(
    ('mode', 'now', 'named'),
    [
        ('Reflex', [], 'joint_reflex'),
        ('UserStopped', [], ''),
        ('Guiding', [], ''),
        ('UserStopped', ['power_limit_violation'], 'power_limit_violation'),
    ],
)
def test_errors_of_the_last_motion_are_named_of_a_reflex_alone(mode, now, named):
    arm, modes = arm_at('127.68.0.9'), import_franky().RobotMode
    arm._robot = SimpleNamespace(
        state=SimpleNamespace(
            current_errors=json.dumps(now),
            last_motion_errors='["joint_reflex"]',
            robot_mode=getattr(modes, mode),
        )
    )
    assert arm.errors() == named


def test_nobody_at_the_address(server):
    arm = arm_at('127.68.0.9')
    with pytest.raises(DeviceError, match='no connection to the arm at 127.68.0.9'):
        arm.connect()
    assert not arm.is_connected


def test_the_hand_follows_its_newest_goal(server):
    hand = FrankyHand(server.host, OPTIONS)
    hand.start()
    try:
        for width in (0.03, 0.07):
            hand.set_goal(width)
            end = time.monotonic() + PATIENCE
            while hand.reading is None or abs(hand.reading.width - width) > 0.004:
                assert time.monotonic() < end, (hand.reading, hand.problem)
                time.sleep(0.02)
    finally:
        hand.stop()
    assert hand.commands == 2


def test_the_simulator_calls_the_whole_torque_external(arm, server):
    """Its estimate is no evidence of contact: it holds the weight of the arm, which we pass on."""
    found = arm.read().estimates
    steady = slice(6)  # the last joint's torque chatters between its limits in an arm that stands
    assert np.abs((found.torques - server.report()['torques'])[steady]).max() < 0.5
    assert np.abs(found.torques).max() > 15.0
    assert not found.wrench.any() and not found.is_contact


def test_motions_keep_to_what_both_the_arm_and_the_library_allow(server):
    """franky's limits are a Panda's; an FR3 may go faster in joint 6, and accelerates less."""
    arm = arm_at(server.host, evolved(OPTIONS, dynamics=1.0))
    arm.connect()
    try:
        assert (FR3.velocity_limits > arm.largest_rates).any()
        # Also of a connection that another attempt had begun with other dynamics.
        robot = arm._robot
        robot.relative_dynamics_factor = 1.0
        arm._set_limits(robot)
        assert robot.relative_dynamics_factor.velocity == pytest.approx(arm.share)
        limits = arm._robot.joint_acceleration_limit
        assert (limits.max > 10.0).any() and (limits.get() <= 10.0).all()
        arm.follow_velocities(-arm.largest_rates * np.eye(7)[5], 0.02)
        read_until(arm, lambda found: not arm.is_moving)
    finally:
        arm.close()


@pytest.mark.parametrize('dynamics', [0.3, 1.0])
def test_an_arm_that_sees_more_jerk_after_lost_cycles_does_not_stop(server, dynamics):
    arm = arm_at(server.host, evolved(OPTIONS, dynamics=dynamics))
    arm.connect()
    try:
        largest = arm.share * np.array(arm._robot.joint_jerk_limit.get())
        assert (largest * 2.0 <= 5000.0).all() and largest.min() > 500.0
        assert arm.accelerations == pytest.approx(
            arm.share * np.array(arm._robot.joint_acceleration_limit.get())
        )
    finally:
        arm.close()


def test_a_motion_that_the_library_refuses_is_no_lost_arm(arm):
    arm.follow_velocities(9.0 * np.eye(7)[6], 0.1)
    with pytest.raises(MotionAborted, match='exceeds maximum velocity'):
        read_until(arm, lambda found: False)
    arm.read()


def test_a_second_client_is_told_that_the_arm_is_taken_and_has_it_later(server):
    first, second = arm_at(server.host), arm_at(server.host)
    first.connect()
    with pytest.raises(DeviceError, match='is another client connected'):
        second.connect()
    assert first.read().count > 0  # it has not been disturbed
    first.close()
    end = time.monotonic() + PATIENCE
    while not second.is_connected:
        assert time.monotonic() < end
        with contextlib.suppress(DeviceError):
            second.connect()
    assert second.read().count > 0
    second.close()


def test_an_attempt_that_was_given_up_leaves_the_arm_to_others(server):
    first, second = arm_at(server.host), arm_at(server.host)
    first.connect()
    with pytest.raises(DeviceError, match='is another client connected'):
        second.connect()
    second.close()
    first.close()
    end = time.monotonic() + PATIENCE
    while not first.is_connected:
        assert time.monotonic() < end
        with contextlib.suppress(DeviceError):
            first.connect()
    assert first.read().count > 0
    first.close()


def test_a_server_of_another_version_is_named_with_both_versions():
    with socket.create_server(('127.67.251.9', 1337)) as server:

        def refuse():
            client, _ = server.accept()
            command, number, _ = struct.unpack('<III', client.recv(100)[:12])
            # kIncompatibleLibraryVersion, of a server of version 7.
            client.sendall(struct.pack('<IIIHHI', command, number, 20, 1, 7, 0))
            client.close()

        threading.Thread(target=refuse, daemon=True).start()
        with pytest.raises(SetupError, match='Incompatible library version.*real-arms.md'):
            arm_at('127.67.251.9').connect()


def test_the_hand_is_absent():
    """Nobody answers for it: that is said, and the thread ends when it is to."""
    hand = FrankyHand('127.68.0.9', OPTIONS)
    hand.start()
    end = time.monotonic() + PATIENCE
    while 'no connection to the hand' not in hand.problem:
        assert time.monotonic() < end
        time.sleep(0.02)
    assert hand.reading is None
    hand.stop()
    assert not hand.is_alive()
