# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Any LeRobot teleoperator that gives joint positions, in our joint names and rad."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.hardware.feetech.motors import open_bus
from frame_ros.hardware.feetech.trouble import explained
from frame_ros.hardware.lerobot.devices import TELEOPERATORS, disconnect
from frame_ros.hardware.lerobot.plausibility import check_finite
from frame_ros.hardware.lerobot.robot import LeRobotDevice

Array = NDArray[np.float64]


class LeRobotTeleoperator(LeRobotDevice):
    """A LeRobot teleoperator that gives joint positions, such as a leader arm."""

    group = TELEOPERATORS

    def _features(self) -> Mapping[str, Any]:
        features: Mapping[str, Any] = self.device.action_features
        return features

    def connect(self) -> None:
        """Connects it, after which a leader arm has no torque; raises as `LeRobotRobot.connect`.

        Raises:
            DeviceError: it does not answer, or other motors do.
            SetupError: it is not calibrated, or by another file.
        """
        self.close()
        self._connect_device(self._check_motors)

    def read(self) -> Array:
        """Returns the present positions (D,), rad.

        Raises:
            DeviceError: it does not answer.
        """
        with self._reading('teleoperator'):
            positions = self._mapping.positions(self.device.get_action())
            check_finite(self.names, positions)
            return positions

    def close(self) -> None:
        """Disconnects; no error if the device is gone."""
        disconnect(self.device)

    def _check_motors(self) -> None:
        """Checks the motors before LeRobot takes their torque away: they may be a robot's."""
        if self._bus is None:
            return
        open_bus(self._bus)
        try:
            with explained(self._bus):
                self._bus._handshake()
                self._check_calibration()
        finally:
            self._bus.disconnect(disable_torque=False)
