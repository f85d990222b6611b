# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The teleoperator's parameters, checked."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

from rclpy.node import Node

from frame_ros.core.errors import SetupError
from frame_ros.hardware.lerobot.device_parameters import DeviceSelection
from frame_ros.nodes.runtime.parameters import declare

MODES = ('takeover', 'always', 'record')
SETTABLE = ('port', 'teleoperator_id', 'calibration_dir')  # while the node is unconfigured


@dataclass(frozen=True)
class TeleoperatorOptions:
    """The parameters of the node; config/teleoperator.yaml says what each means."""

    teleoperator_type: str = 'so101_leader'
    port: str = ''
    teleoperator_id: str = ''
    calibration_dir: str = ''
    robot: str = 'so101'
    teleoperator_options: tuple[str, ...] = ('',)
    units: str = 'degrees'
    joint_names: tuple[str, ...] = ('',)
    joint_signs: tuple[str, ...] = ('',)
    joint_offsets: tuple[str, ...] = ('',)
    answer_timeout: float = 0.05
    rate: float = 50.0
    mode: str = 'takeover'
    max_start_difference: float = 0.35

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
    def read(cls, node: Node) -> TeleoperatorOptions:
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
        difference = self.max_start_difference
        rules = {
            'rate': (0.0 < self.rate <= 500.0, 'more than 0 and at most 500 Hz'),
            'answer_timeout': (self.answer_timeout > 0.0, 'a positive time in s'),
            'mode': (self.mode in MODES, f'one of {", ".join(MODES)}'),
            'max_start_difference': (
                math.isfinite(difference) and difference >= 0.0,
                'an angle in rad, or 0',
            ),
        }
        for name, (is_met, text) in rules.items():
            if not is_met:
                raise SetupError(f'parameter {name} is {getattr(self, name)!r}; it must be {text}')

    @property
    def device(self) -> DeviceSelection:
        """Which teleoperator it is."""
        return DeviceSelection(
            kind=self.teleoperator_type,
            port=self.port,
            identity=self.teleoperator_id,
            calibration_dir=self.calibration_dir,
            options=self.teleoperator_options,
            units=self.units,
            joint_names=self.joint_names,
            joint_signs=self.joint_signs,
            joint_offsets=self.joint_offsets,
            answer_timeout=self.answer_timeout,
        )
