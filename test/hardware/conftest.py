# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""LeRobot's SO-101 on a simulated bus."""

import pytest

from frame_ros.robots import load_robot


@pytest.fixture(scope='session')
def lerobot():
    pytest.importorskip('lerobot')
    pytest.importorskip('scservo_sdk')
    from frame_ros.hardware.lerobot import robot as lerobot_robot

    return lerobot_robot


@pytest.fixture()
def bench(lerobot, tmp_path):
    """An arm on a bus, and what makes a robot on it."""
    from frame_ros.hardware.feetech.emulator.bus import SimulatedBus
    from frame_ros.scenes.simulation.so101_servos import SimulatedSo101

    robot = load_robot('so101')
    arm = SimulatedSo101()
    arm.write_calibration(tmp_path, 'arm')

    def make(**options):
        values = {
            'kind': 'so101_follower',
            'limits': robot.joint_limits,
            'grippers': robot.grippers,
        }
        # The machine that runs this may be busy: more time for an answer.
        values |= {
            'port': bus.port,
            'identity': 'arm',
            'calibration_dir': str(tmp_path),
            'answer_timeout': 0.4,
        }
        return lerobot.LeRobotRobot(lerobot.DeviceOptions(**{**values, **options}))

    with SimulatedBus(arm.servos, arm.advance, link=tmp_path / 'port') as bus:
        yield arm, bus, make
