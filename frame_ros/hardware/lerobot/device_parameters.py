# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters that select a node's LeRobot device, and map it to our robot."""

from __future__ import annotations

from pathlib import Path

from frame_ros.core.errors import SetupError
from frame_ros.core.name_values import parse_pairs
from frame_ros.core.options import UNCONFIGURED, option, options
from frame_ros.hardware.lerobot.devices import parse_options
from frame_ros.hardware.lerobot.robot import DeviceOptions
from frame_ros.robots import Robot


@options
class DeviceParameters:
    """A LeRobot device."""

    port: str = option(
        '', 'serial port, such as /dev/ttyACM0 or a udev link; as --robot.port', live=UNCONFIGURED
    )
    calibration_dir: str = option(
        '',
        'folder of the calibration file; empty: where lerobot-calibrate writes it',
        live=UNCONFIGURED,
    )
    units: str = option(
        'degrees', 'unit of the device; degrees: a gripper 0 to 100', choices=('degrees', 'rad')
    )
    joint_names: tuple[str, ...] = option((), "LeRobot's joint=ours, where the names differ")
    joint_signs: tuple[str, ...] = option((), 'our joint=-1, where it turns the other way')
    joint_offsets: tuple[str, ...] = option(
        (), 'our joint=rad, added to what LeRobot gives where zeros differ'
    )
    answer_timeout: float = option(
        0.05,
        'time that Feetech motors have to answer; more for slow USB hubs or busy computers',
        unit='s',
        above=0.0,
    )

    def device_of(
        self, robot: Robot, kind: str, identity: str, options: tuple[str, ...]
    ) -> DeviceOptions:
        """Returns the options that make the device.

        Args:
            kind: LeRobot's registered name of it.
            identity: its id, which names the calibration file.
            options: more of LeRobot's, texts name=value.

        Raises:
            SetupError: a text has another form.
        """
        folder = self.calibration_dir
        return DeviceOptions(
            kind=kind,
            limits=robot.joint_limits,
            grippers=robot.grippers,
            port=self.port,
            identity=identity,
            calibration_dir=str(Path(folder).expanduser()) if folder else '',
            options=parse_options(parse_pairs('options', options)),
            units=self.units,
            names=parse_pairs('joint_names', self.joint_names),
            signs=_numbers('joint_signs', self.joint_signs),
            offsets=_numbers('joint_offsets', self.joint_offsets),
            answer_timeout=self.answer_timeout,
        )


def _numbers(parameter: str, texts: tuple[str, ...]) -> dict[str, float]:
    pairs = parse_pairs(parameter, texts)
    try:
        return {name: float(value) for name, value in pairs.items()}
    except ValueError:
        raise SetupError(
            f'parameter {parameter} holds {list(texts)}; its values must be numbers'
        ) from None
