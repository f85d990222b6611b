# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The noise of the simulated robot's sensors, by its options."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from frame_ros.scenes.simulation.gear_friction import GearFriction
from frame_ros.scenes.simulation.noise.depth_noise import DEPTH_SENSORS, DepthNoise
from frame_ros.scenes.simulation.noise.options import NoiseOptions
from frame_ros.scenes.simulation.noise.sensor_noise import (
    JointNoise,
    JointTorqueNoise,
    WrenchNoise,
)
from frame_ros.scenes.simulation.noise.servo_noise import CurrentNoise, options_of
from frame_ros.scenes.simulation.rendering import Intrinsics
from frame_ros.scenes.simulation.scene_robot import SceneRobot

Array = NDArray[np.float64]


class JointSensors:
    """Encoders, and torque sensors or motor currents, of all joints at one rate."""

    def __init__(
        self,
        robot: SceneRobot,
        rate: float,
        options: NoiseOptions,
        gear: GearFriction | None = None,
    ) -> None:
        """rate: Hz; of a rate of 0 there are no samples, and no noise. gear: of the arm's servos
        in the physics, whose friction then is in the torques.
        """
        count = len(robot.joint_names)
        self._robot, self._rate, self._options = robot, rate, options
        self._torques = self._currents = None
        self.reset()
        if options.effort and rate:
            if robot.has_torque_sensors:
                arm = len(robot.arm_joints)
                self._torques = JointTorqueNoise(rate, joints=arm, seed=options.seed)
            else:
                self._currents = CurrentNoise(options_of(gear), count, options.seed)

    def reset(self) -> None:
        """The arm was put elsewhere: no velocity is a difference of positions across that."""
        self._encoders = None
        if self._options.joint and self._rate:
            robot = self._robot
            count, seed = len(robot.joint_names), self._options.seed
            self._encoders = JointNoise(self._rate, robot.encoder, count, seed)

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


def wrench_noise(rate: float, options: NoiseOptions) -> WrenchNoise | None:
    """Noise of the force-torque sensor at a rate, Hz; None: it has none."""
    return WrenchNoise(rate, seed=options.seed) if options.wrench and rate else None


def depth_noise(
    robot: SceneRobot, camera: str, intrinsics: Intrinsics, options: NoiseOptions
) -> DepthNoise | None:
    """Noise of the depth sensor of a camera; None: it has none. Its delay is left to what drawing
    takes.
    """
    if not options.depth:
        return None
    sensor = DEPTH_SENSORS[robot.cameras[camera].depth_sensor]
    return DepthNoise(intrinsics, replace(sensor, delay=0.0), options.seed)
