# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulator's parameters: their defaults, which of them depend on the robot, and what they may
be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rclpy.node import Node

from frame_ros.core.errors import SetupError
from frame_ros.core.time import SECOND
from frame_ros.nodes.runtime.parameters import declare
from frame_ros.robots.frame_names import FrameNames
from frame_ros.scenes.simulation.noise.franka_estimates import EstimateOptions
from frame_ros.scenes.simulation.scene_robot import SceneRobot, scene_robot
from frame_ros.scenes.simulation.timing import FAST_TICK, TICK

FAST_RATE = 300.0  # Hz


@dataclass(frozen=True)
class SimulatorOptions:
    """config/simulator.yaml says what each means. -1: the robot's own."""

    robot: str = 'so101'
    frame_prefix: str = ''
    seed: int = 0
    interpolation: float = -1.0
    rate: float = -1.0
    wrench_rate: float = -1.0
    franka_rate: float = -1.0
    truth_rate: float = 50.0
    cameras: tuple[str, ...] = ('front', 'wrist')
    image_rate: float = 20.0
    wrist_image_rate: float = -1.0
    depth_rate: float = 10.0
    wrist_depth_rate: float = -1.0
    image_width: int = 320
    image_height: int = 240
    viewer: str = 'auto'
    realtime_priority: int = 48
    depth_noise: bool = True
    wrench_noise: bool = True
    effort_noise: bool = True
    joint_noise: bool = True
    noise_seed: int = 0
    estimate_cutoff: float = EstimateOptions.cutoff
    estimate_noise: float = EstimateOptions.noise
    estimate_offset: float = EstimateOptions.offset
    contact_force: float = EstimateOptions.contact_force
    collision_force: float = EstimateOptions.collision_force

    @property
    def frames(self) -> FrameNames:
        """Names of the links and cameras in tf."""
        return FrameNames(self.frame_prefix)

    @classmethod
    def declare(cls, node: Node) -> SimulatorOptions:
        """Declares the parameters on `node` and reads them; those of the robot are put in.

        Raises:
            SetupError: a value cannot be used.
        """
        values: dict[str, Any] = {}
        for name, setting in cls.__dataclass_fields__.items():
            default: Any = setting.default
            is_list = isinstance(default, tuple)
            value = declare(
                node, name, list(default) if is_list else default, is_word=name == 'viewer'
            )
            values[name] = tuple(filter(None, value)) if is_list else value
        for name, own in scene_robot(values['robot']).streams.items():
            if values[name] == -1.0:
                values[name] = own
        if values['wrist_image_rate'] == -1.0:
            values['wrist_image_rate'] = values['image_rate']
        found = cls(**values)
        found._check()
        return found

    @cached_property
    def scene_robot(self) -> SceneRobot:
        """The robot as the scene has it."""
        return scene_robot(self.robot)

    @property
    def tick(self) -> int:
        """ns between two looks at the commands; shorter where streams are fast, so that what is
        sampled in a tick waits less for its end. It is a whole number of the physics' timesteps.
        """
        is_fast = max(self.rate, self.wrench_rate) > FAST_RATE
        is_whole = FAST_TICK % round(self.scene_robot.timestep * SECOND) == 0
        return FAST_TICK if is_fast and is_whole else TICK

    @property
    def estimates(self) -> EstimateOptions:
        """Of the Franka arm's own estimates."""
        return EstimateOptions(
            cutoff=self.estimate_cutoff,
            noise=self.estimate_noise,
            offset=self.estimate_offset,
            contact_force=self.contact_force,
            collision_force=self.collision_force,
        )

    def image_rate_of(self, camera: str) -> float:
        """Hz of a camera's images."""
        return self.wrist_image_rate if camera == 'wrist' else self.image_rate

    def depth_rate_of(self, camera: str) -> float:
        """Hz of a camera's depth."""
        return self.wrist_depth_rate if camera == 'wrist' else self.depth_rate

    def _check(self) -> None:
        for name in ('seed', 'noise_seed'):
            if getattr(self, name) < 0:
                raise SetupError(f'{name} is {getattr(self, name)}; it is 0 or more')
        if not 0.0 <= self.interpolation <= 1.0:
            raise SetupError(f'interpolation is {self.interpolation} s; it lies within 0 and 1 s')
        self._check_rates()
        known = self.scene_robot.cameras
        if unknown := sorted(set(self.cameras) - set(known)):
            raise SetupError(f'there is no camera {unknown[0]!r}; there are {", ".join(known)}')
        for name, least, most in (('image_width', 16, 1280), ('image_height', 16, 960)):
            value = getattr(self, name)
            if not least <= value <= most:
                raise SetupError(f'{name} is {value}; it lies within {least} and {most} pixels')

    def _check_rates(self) -> None:
        a_tick, a_step = SECOND / self.tick, 1.0 / self.scene_robot.timestep
        pictures = ('image_rate', 'wrist_image_rate', 'depth_rate', 'wrist_depth_rate')
        for name in ('truth_rate', 'franka_rate', *pictures):
            _check_rate(name, getattr(self, name), a_tick)
        for name in ('rate', 'wrench_rate'):
            rate = getattr(self, name)
            _check_rate(name, rate, a_step)
            steps = a_step / rate if rate > a_tick else 1.0
            if abs(steps - round(steps)) > 1e-6:
                raise SetupError(
                    f'{name} is {rate} Hz; above {a_tick:.0f} Hz it is {a_step:.0f} divided by a '
                    'whole number'
                )
        if self.franka_rate and not self.scene_robot.streams['franka_rate']:
            raise SetupError(
                f'franka_rate is {self.franka_rate} Hz, but the robot {self.robot} is none of '
                'Franka: 0'
            )


def _check_rate(name: str, rate: float, most: float) -> None:
    if not (math.isfinite(rate) and 0 <= rate <= most):
        raise SetupError(f'{name} is {rate} Hz; it lies within 0 (off) and {most:.0f}')
