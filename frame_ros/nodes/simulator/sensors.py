# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated robot's joint states and wrench: sampled within a tick, published at its end, with
the noise of their sensors.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from rclpy.publisher import Publisher

from frame_ros.core.time import SECOND
from frame_ros.nodes.runtime.endpoints import published
from frame_ros.nodes.runtime.message_bytes import joint_state_writer, wrench_writer
from frame_ros.nodes.simulator.options import SimulatorOptions
from frame_ros.nodes.simulator.topics import JOINT_STATES, WRENCH
from frame_ros.scenes import PickPlaceSimulation
from frame_ros.scenes.simulation.command_hold import Interpolator
from frame_ros.scenes.simulation.noise.robot_sensors import JointSensors, wrench_noise
from frame_ros.scenes.simulation.sampled_steps import SensorSamples, StepSampler
from frame_ros.scenes.simulation.timing import Sampling

DEPTH, FAST_DEPTH = 50, 500


class Sensors:
    """Publishes `joint_states` and `wrench`, and steps the physics to sample them."""

    def __init__(
        self, node: Node, simulation: PickPlaceSimulation, options: SimulatorOptions
    ) -> None:
        self._simulation, robot = simulation, simulation.robot
        self._timestep = round(simulation.timestep * SECOND)
        self._steps = options.tick // self._timestep
        self._sampler = StepSampler(simulation, self._steps)
        self._is_interpolated = options.interpolation > 0.0
        self._commands = Interpolator(simulation.targets, options.interpolation)
        self._joints = Sampling(options.rates.joints, self._timestep, options.tick)
        self._wrench = Sampling(options.rates.wrench, self._timestep, options.tick)
        depths = [FAST_DEPTH if s.every else DEPTH for s in (self._joints, self._wrench)]
        self._joint_publisher = node.create_publisher(*published(JOINT_STATES, depths[0]))
        self._wrench_publisher = node.create_publisher(*published(WRENCH, depths[1]))
        self._joint_noise = JointSensors(
            robot,
            options.rates.joints,
            options.noise,
            None if simulation.gears is None else simulation.gears.gear,
        )
        self._wrench_noise = wrench_noise(options.rates.wrench, options.noise)
        self._joint_bytes = joint_state_writer(robot.joint_names)
        self._wrench_bytes = wrench_writer(options.frames.of(robot.wrench_link))

    def reset(self) -> None:
        """The scene was put back: the arm goes nowhere."""
        self._sampler = StepSampler(self._simulation, self._steps)  # the model may be another
        self._commands.restart(self._simulation.targets)
        self._joint_noise.reset()

    def step(self, stamp: int, targets: NDArray[np.float64]) -> list[tuple[Publisher, bytes]]:
        """Steps the physics to the tick that ends at `stamp` (ns); the messages sampled on the
        way, each kind in the order of time.
        """
        joints, wrenches = self._joints.due(stamp), self._wrench.due(stamp)
        last = self._steps - 1
        if {*joints, *wrenches} <= {last} and not self._is_interpolated:
            self._simulation.step(targets, self._steps)
            if not joints and not wrenches:
                return []
            samples = self._sample_last()
            joints, wrenches = [0] * len(joints), [0] * len(wrenches)
            first = stamp
        else:
            rows = self._commands.rows(targets, self._steps, self._simulation.timestep)
            samples = self._sampler.step(rows)
            first = stamp - last * self._timestep
        return self._messages(samples, first, joints, wrenches)

    def joint_messages(
        self, messages: list[tuple[Publisher, bytes]]
    ) -> list[tuple[Publisher, bytes]]:
        """Returns those of `step` that are joint states."""
        return [each for each in messages if each[0] is self._joint_publisher]

    def other_messages(
        self, messages: list[tuple[Publisher, bytes]]
    ) -> list[tuple[Publisher, bytes]]:
        """Returns those of `step` that are none."""
        return [each for each in messages if each[0] is not self._joint_publisher]

    def _sample_last(self) -> SensorSamples:
        """The present state as the only sample."""
        found = self._simulation.joint_state()
        wrench = np.concatenate(self._simulation.wrench())
        return SensorSamples(
            found.positions[None], found.velocities[None], found.efforts[None], wrench[None]
        )

    def _messages(
        self, samples: SensorSamples, first: int, joints: list[int], wrenches: list[int]
    ) -> list[tuple[Publisher, bytes]]:
        """first: ns, stamp of the first sample. joints, wrenches: rows to publish."""
        messages = []
        if joints:
            rows = self._joint_noise(*(values[joints] for values in samples[:3]))
            for at, *row in zip(joints, *rows, strict=True):
                data = self._joint_bytes.data(first + at * self._timestep, *row)
                messages.append((self._joint_publisher, data))
        if wrenches:
            measured = samples.wrenches[wrenches]
            if self._wrench_noise is not None:
                measured = self._wrench_noise(measured)
            for at, row in zip(wrenches, measured, strict=True):
                data = self._wrench_bytes.data(first + at * self._timestep, row)
                messages.append((self._wrench_publisher, data))
        return messages
