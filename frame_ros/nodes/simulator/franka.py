# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The publications of franka_ros2's franka_robot_state_broadcaster for the simulated FR3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from rclpy.publisher import Publisher

from frame_ros.hardware.franka_estimates import CONTACT_TORQUES, FrankaEstimates
from frame_ros.nodes.runtime.franka_publishers import FrankaPublishers
from frame_ros.nodes.simulator.options import SimulatorOptions
from frame_ros.scenes import PickPlaceSimulation
from frame_ros.scenes.simulation.noise.franka_estimates import FrankaEstimator
from frame_ros.scenes.simulation.timing import Schedule

Array = NDArray[np.float64]
MODE_MOVE, MODE_REFLEX = 2, 4  # of FrankaRobotState.robot_mode


class FrankaBroadcaster:
    """Publishes the estimates of a simulated Franka arm, at `rates.franka`."""

    def __init__(
        self, node: Node, simulation: PickPlaceSimulation, options: SimulatorOptions
    ) -> None:
        self._simulation, robot = simulation, simulation.robot
        self._schedule = Schedule(options.rates.franka, tick=options.tick)
        self._options = options
        self._estimator = self._make_estimator()
        self._tip = robot.tip_link
        if options.rates.franka:
            base, tip = options.frames.of(robot.base_link), options.frames.of(self._tip)
            self._publishers = FrankaPublishers(node, robot.arm_joints, base, tip, CONTACT_TORQUES)

    def _make_estimator(self) -> FrankaEstimator:
        options = self._options
        period = 1.0 / (options.rates.franka or 1.0)
        return FrankaEstimator(options.estimates, period, options.noise.seed)

    def clear_collision(self) -> None:
        """Clears the collision flags, as recovering from an error does."""
        self._estimator.reset()

    def reset(self) -> None:
        """The scene was put back: what the low-pass still holds of before must not raise a flag."""
        self._estimator = self._make_estimator()

    def messages(self, stamp: int) -> list[tuple[Publisher, Any]]:
        """Returns what is due at a stamp (ns)."""
        if not self._schedule.is_due(stamp):
            return []
        simulation = self._simulation
        joints, external = simulation.joint_state(), simulation.external()
        body = simulation.data.body(self._tip)
        positions = joints.positions[:-1]
        # As on the arm, the wrench is what explains the joint torques best.
        is_touched = external.torques.any()
        wrench = simulation.tip_wrench(external.torques) if is_touched else np.zeros(6)
        rotation = body.xmat.reshape(3, 3)
        found = self._estimator.update(positions, external.torques, wrench, rotation)
        pose = np.concatenate((body.xpos, np.roll(body.xquat, -1)))
        mode = MODE_REFLEX if found.is_collision else MODE_MOVE
        sample = _Sample(positions, joints.velocities[:-1], joints.efforts[:-1], found, pose)
        return self._publishers.messages(stamp, sample, mode)


@dataclass(frozen=True)
class _Sample:
    """A FrankaSample."""

    positions: Array
    velocities: Array
    torques: Array
    estimates: FrankaEstimates
    pose: Array
