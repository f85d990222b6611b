# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""LeRobot's robot of two SO-101, whose arms have options of their own, each on a simulated bus."""

import contextlib
import time

import numpy as np
import pytest

from frame_ros.hardware.device_error import DeviceError
from frame_ros.robots import load_robot

SIDES = ('left', 'right')
ROBOT = load_robot('so101')


@pytest.fixture()
def bench(lerobot, tmp_path):
    """Two arms, and what makes a robot of them."""
    from frame_ros.hardware.feetech.emulator.bus import SimulatedBus
    from frame_ros.scenes.simulation.so101_servos import SimulatedSo101

    arms = {side: SimulatedSo101() for side in SIDES}
    with contextlib.ExitStack() as stack:
        ports, buses = {}, {}
        for side, arm in arms.items():
            arm.write_calibration(tmp_path, f'both_{side}')
            buses[side] = SimulatedBus(arm.servos, arm.advance, link=tmp_path / side)
            ports[side] = stack.enter_context(buses[side]).port

        def make(**of_each):
            return lerobot.LeRobotRobot(
                lerobot.DeviceOptions(
                    kind='bi_so_follower',
                    limits=both(ROBOT.joint_limits),
                    grippers=both(ROBOT.grippers),
                    identity='both',
                    calibration_dir=str(tmp_path),
                    answer_timeout=0.4,  # the machine that runs this may be busy
                    options={f'{s}_arm_config': {'port': ports[s], **of_each} for s in SIDES},
                )
            )

        yield arms, buses, make


def both(values):
    return {f'{side}_{name}': value for side in SIDES for name, value in values.items()}


def have_torque(arms):
    return [all(servo.has_torque for servo in arm.servos) for arm in arms.values()]


def test_neither_arm_falls_when_they_are_disconnected(bench):
    arms, buses, make = bench
    robot = make()
    robot.connect()
    assert len(robot.read().positions) == 12 and have_torque(arms) == [True, True]
    robot.close()
    assert not robot.is_connected and have_torque(arms) == [True, True]


def test_whoever_wants_them_to_fall_says_so(bench):
    arms, buses, make = bench
    robot = make(disable_torque_on_disconnect=True)
    robot.connect()
    robot.close()
    assert have_torque(arms) == [False, False]


def test_they_are_connected_again_after_one_was_gone_for_longer(bench):
    """LeRobot leaves the other connected, and refuses to connect it once more."""
    arms, buses, make = bench
    robot = make()
    robot.connect()
    buses['right'].unplug()
    with pytest.raises(DeviceError):
        robot.read()
    for _ in range(2):
        with pytest.raises(DeviceError):
            robot.reconnect()
    buses['right'].plug()
    robot.reconnect()
    assert len(robot.read().positions) == 12
    robot.close()


def test_the_torque_of_both_is_switched_and_neither_jumps(bench):
    arms, _, make = bench
    robot = make()
    robot.connect()
    assert robot.can_switch_torque
    robot.set_torque(False)
    assert not any(servo.has_torque for arm in arms.values() for servo in arm.servos)
    for arm in arms.values():
        arm.set_positions([0.6, -1.35, 1.25, 0.85, 0.0, 0.3])
    robot.set_torque(True)
    assert have_torque(arms) == [True, True]
    before = robot.read().positions
    assert robot.read().positions == pytest.approx(before, abs=0.05)
    assert before == pytest.approx(np.tile([0.6, -1.35, 1.25, 0.85, 0.0, 0.3], 2), abs=0.1)
    robot.close()


def test_neither_arm_jumps_to_goals_of_before_as_they_are_connected(bench):
    arms, _, make = bench
    place = np.array([0.6, -1.35, 1.25, 0.85, 0.0, 0.3])
    robot = make()
    robot.connect()
    robot.set_torque(False)
    robot.close()
    for arm in arms.values():
        arm.set_positions(place)
    robot.connect()
    time.sleep(1.0)  # in which they would have been at their goals
    assert robot.read().positions == pytest.approx(np.tile(place, 2), abs=0.1)
    robot.close()


def test_limp_arms_stay_limp_as_they_are_connected_again(bench):
    arms, _, make = bench
    robot = make()
    robot.connect()
    robot.set_torque(False)
    robot.reconnect(is_released=True)
    assert not any(servo.has_torque for arm in arms.values() for servo in arm.servos)
    robot.close()
