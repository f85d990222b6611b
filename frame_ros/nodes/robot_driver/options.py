# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robot driver's parameters, checked."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

from rclpy.node import Node

from frame_ros.core.errors import SetupError
from frame_ros.hardware.lerobot.device_parameters import DeviceSelection
from frame_ros.nodes.runtime.parameters import declare

SETTABLE = ('port', 'robot_id', 'calibration_dir')  # while the node is unconfigured
TORQUE_ON_EXIT = ('hold', 'release')


@dataclass(frozen=True)
class DriverOptions:
    """The parameters of the node; config/robot_driver.yaml says what each means."""

    robot_type: str = 'so101_follower'
    port: str = ''
    robot_id: str = ''
    calibration_dir: str = ''
    write_calibration: bool = False
    robot: str = 'so101'
    robot_options: tuple[str, ...] = ('',)
    units: str = 'degrees'
    joint_names: tuple[str, ...] = ('',)
    joint_signs: tuple[str, ...] = ('',)
    joint_offsets: tuple[str, ...] = ('',)
    answer_timeout: float = 0.05
    rate: float = 50.0
    command_timeout: float = 0.5
    hold_tolerance: float = 0.1
    limit_tolerance: float = 0.02
    max_relative_target: float = 0.5
    retries: int = 2
    reconnect_period: float = 1.0
    effort_per_ampere: float = 1.0
    torque_on_exit: str = 'hold'
    cameras: str = ''
    frame_prefix: str = ''
    camera_timeout: float = 1.0

    @classmethod
    def declare(cls, node: Node) -> None:
        """Declares the parameters on `node`; those in SETTABLE can be set while it is unconfigured.

        Raises:
            SetupError: a value is of the wrong type.
        """
        for setting in fields(cls):
            default: Any = setting.default
            value = list(default) if isinstance(default, tuple) else default
            declare(node, setting.name, value, read_only=setting.name not in SETTABLE)

    @classmethod
    def read(cls, node: Node) -> DriverOptions:
        """Reads the parameters.

        Raises:
            SetupError: a value is out of its range.
        """
        values: dict[str, Any] = {}
        for setting in fields(cls):
            value = node.get_parameter(setting.name).value
            values[setting.name] = tuple(value) if isinstance(value, list) else value
        settings = cls(**values)
        settings.check()
        return settings

    def check(self) -> None:
        """Raises SetupError if a value is out of its range."""
        finite = math.isfinite(self.effort_per_ampere)
        rules = {
            'rate': (0.0 < self.rate <= 500.0, 'more than 0 and at most 500 Hz'),
            'answer_timeout': (self.answer_timeout > 0.0, 'a positive time in s'),
            'command_timeout': (self.command_timeout > 0.0, 'a positive time in s'),
            'hold_tolerance': (self.hold_tolerance >= 0.0, 'an angle in rad, or 0'),
            'limit_tolerance': (self.limit_tolerance >= 0.0, 'an angle in rad, or 0'),
            'max_relative_target': (self.max_relative_target >= 0.0, 'an angle in rad, or 0'),
            'retries': (0 <= self.retries <= 10, 'between 0 and 10'),
            'reconnect_period': (self.reconnect_period > 0.0, 'a positive time in s'),
            'effort_per_ampere': (finite, 'a number'),
            'torque_on_exit': (
                self.torque_on_exit in TORQUE_ON_EXIT,
                f'one of {", ".join(TORQUE_ON_EXIT)}',
            ),
            'camera_timeout': (self.camera_timeout > 0.0, 'a positive time in s'),
        }
        for name, (is_met, text) in rules.items():
            if not is_met:
                raise SetupError(f'parameter {name} is {getattr(self, name)!r}; it must be {text}')

    @property
    def device(self) -> DeviceSelection:
        """Which robot it is."""
        return DeviceSelection(
            kind=self.robot_type,
            port=self.port,
            identity=self.robot_id,
            calibration_dir=self.calibration_dir,
            options=self.robot_options,
            units=self.units,
            joint_names=self.joint_names,
            joint_signs=self.joint_signs,
            joint_offsets=self.joint_offsets,
            answer_timeout=self.answer_timeout,
        )
