# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The noise of the simulated robot's sensors, by the simulator's parameters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from frame_ros.nodes.simulator.options import SimulatorOptions
from frame_ros.scenes import Intrinsics
from frame_ros.scenes.simulation.noise.depth_noise import DEPTH_SENSORS, DepthNoise
from frame_ros.scenes.simulation.noise.sensor_noise import (
    JointNoise,
    JointTorqueNoise,
    WrenchNoise,
)
from frame_ros.scenes.simulation.noise.servo_noise import CurrentNoise

Array = NDArray[np.float64]


class JointSensors:
    """Encoders, and torque sensors or motor currents, of all joints at one rate."""

    def __init__(self, settings: SimulatorOptions) -> None:
        """Of a rate of 0 there are no samples, and no noise."""
        robot, seed, rate = settings.scene_robot, settings.noise_seed, settings.rate
        count = len(robot.joint_names)
        self._settings = settings
        self._torques = self._currents = None
        self.reset()
        if settings.effort_noise and rate:
            if robot.has_torque_sensors:
                arm = len(robot.arm_joints)
                self._torques = JointTorqueNoise(rate, joints=arm, seed=seed)
            else:
                self._currents = CurrentNoise(joints=count, seed=seed)

    def reset(self) -> None:
        """The arm was put elsewhere: no velocity is a difference of positions across that."""
        settings, robot = self._settings, self._settings.scene_robot
        self._encoders = None
        if settings.joint_noise and settings.rate:
            count = len(robot.joint_names)
            self._encoders = JointNoise(settings.rate, robot.encoder, count, settings.noise_seed)

    def __call__(
        self, positions: Array, velocities: Array, efforts: Array
    ) -> tuple[Array, Array, Array]:
        """Returns what the sensors give for true values (N, D), one after the other; efforts of
        currents are A, else N m (N).
        """
        if self._currents is not None:
            efforts = self._currents(efforts, positions, velocities)
        elif self._torques is not None:
            efforts = efforts.copy()
            efforts[:, :-1] = self._torques(efforts[:, :-1], positions[:, :-1])
        if self._encoders is not None:
            positions, velocities = self._encoders(positions, velocities)
        return positions, velocities, efforts


def wrench_noise(settings: SimulatorOptions) -> WrenchNoise | None:
    """Of the force-torque sensor; None: it has none."""
    if not (settings.wrench_noise and settings.wrench_rate):
        return None
    return WrenchNoise(settings.wrench_rate, seed=settings.noise_seed)


def depth_noise(
    camera: str, intrinsics: Intrinsics, settings: SimulatorOptions
) -> DepthNoise | None:
    """Of a camera, by what the robot's scene says hangs there; None: it has none. Its delay is left
    to what drawing takes.
    """
    if not settings.depth_noise:
        return None
    sensor = DEPTH_SENSORS[settings.scene_robot.cameras[camera].depth_sensor]
    return DepthNoise(intrinsics, replace(sensor, delay=0.0), settings.noise_seed)
