# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Feetech motors that restarted, or whose torque was taken away, while they were being driven.

A motor starts again after a dip of its supply, which takes less time than the driver waits for an
answer. It then has forgotten what its working memory had: the torque, and the acceleration that
LeRobot set (0 after a start, by Feetech's memory table). Firmware that starts with the torque on
shows it by the acceleration alone. A motor without torque that remembers its acceleration was
switched off by its own protection.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.hardware.device_error import DeviceError
from frame_ros.hardware.feetech.telemetry import read_block

Flags = NDArray[np.bool_]

TORQUE, ACCELERATION = 'Torque_Enable', 'Acceleration'  # registers, one after the other
# Bytes that are read. A position has two: an answer as long that comes late would be taken for one.
BLOCK_SIZE = 3
RETRIES = 5  # of a write


@dataclass(frozen=True)
class PowerState:
    """Changes of D motors since they were connected."""

    is_restarted: Flags  # (D,)
    is_limp: Flags  # (D,) without torque, and not restarted

    @property
    def is_as_before(self) -> bool:
        """True if all motors have torque, and none restarted."""
        return not (self.is_restarted.any() or self.is_limp.any())


class PowerWatch:
    """Compares the working memory of all motors with what it was when they were connected.

    bus: LeRobot's FeetechMotorsBus, all of whose motors share one table of registers.
    """

    def __init__(self, bus: Any) -> None:
        self._bus = bus
        table = bus.model_ctrl_table[next(iter(bus.motors.values())).model]
        self._torque, self._acceleration = table[TORQUE], table[ACCELERATION]
        self._accelerations: NDArray[np.int64] = np.zeros(len(bus.motors), dtype=np.int64)

    def note(self) -> None:
        """Notes the motors' memory as they are connected.

        Raises:
            DeviceError: a motor does not answer.
        """
        self._accelerations = self._read()[1]

    def look(self) -> PowerState:
        """Returns how the motors changed since they were connected.

        Raises:
            DeviceError: a motor does not answer.
        """
        torque, accelerations = self._read()
        is_restarted = accelerations != self._accelerations
        return PowerState(is_restarted, (torque != 1) & ~is_restarted)

    def restore(self, is_restarted: Flags, has_torque: bool) -> None:
        """Sets the goal of motors to where they are, then their memory as it was.

        has_torque: whether they get their torque.

        Raises:
            DeviceError: a motor does not answer, or has not what was written.
        """
        chosen = [
            (name, int(acceleration))
            for name, acceleration, is_chosen in zip(
                self._bus.motors, self._accelerations, is_restarted, strict=True
            )
            if is_chosen
        ]
        for name, acceleration in chosen:
            if not has_torque:
                self._write(TORQUE, name, 0)
            else:
                position = self._bus.sync_read(
                    'Present_Position', name, normalize=False, num_retry=RETRIES
                )
                self._write('Goal_Position', name, position[name])
                self._write(TORQUE, name, 1)
                self._write('Lock', name, 1)
            self._write(ACCELERATION, name, acceleration)  # last: it marks what is done
        state = self.look()
        failed = (state.is_restarted | (state.is_limp & has_torque)) & is_restarted
        if failed.any():
            names = [name for name, has in zip(self._bus.motors, failed, strict=True) if has]
            raise DeviceError(f'{", ".join(names)} restarted and cannot be set up again')

    def _write(self, register: str, name: str, value: int) -> None:
        # A motor with a fault does it, too, but LeRobot takes its error bits for a failure.
        with contextlib.suppress(RuntimeError):
            self._bus.write(register, name, value, normalize=False, num_retry=RETRIES)

    def _read(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Returns the torque and the acceleration registers of all motors."""
        what = 'whether the motors have torque'
        group = read_block(self._bus, self._torque[0], BLOCK_SIZE, what)
        torque, accelerations = (
            np.array([group.getData(motor.id, *register) for motor in self._bus.motors.values()])
            for register in (self._torque, self._acceleration)
        )
        return torque, accelerations
