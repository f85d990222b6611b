# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Measurements of Feetech servos other than position, in one transaction on LeRobot's bus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.hardware.device_error import DeviceError

Array = NDArray[np.float64]

FIRST, LAST = 'Present_Velocity', 'Present_Current'  # of the registers read, one block
CURRENT_UNIT = 0.0065  # A, Feetech's memory table
VOLTAGE_UNIT = 0.1  # V
LOAD_UNIT = 0.001  # of the supply
# Bits of the register Status.
FAULTS = {1: 'voltage', 2: 'sensor', 4: 'temperature', 8: 'current', 32: 'overload'}


@dataclass(frozen=True)
class MotorReadings:
    """Measurements of D motors."""

    velocities: Array  # (D,) steps/s
    currents: Array  # (D,) A, signed by the drive's direction
    loads: Array  # (D,) share of the supply, -1 to 1
    voltages: Array  # (D,) V
    temperatures: Array  # (D,) degrees Celsius
    faults: tuple[tuple[str, ...], ...]  # of each motor, in words


def read_block(bus: Any, start: int, size: int, what: str) -> Any:
    """Returns Feetech's GroupSyncRead with `size` bytes from address `start` of all motors.

    Raises:
        DeviceError: a motor did not answer, or sent a damaged answer.
    """
    from scservo_sdk import COMM_SUCCESS, GroupSyncRead

    group = GroupSyncRead(bus.port_handler, bus.packet_handler, start, size)
    for motor in bus.motors.values():
        group.addParam(motor.id)
    result = group.txRxPacket()
    if result != COMM_SUCCESS:
        text = bus.packet_handler.getTxRxResult(result)
        raise DeviceError(f'cannot read {what}: {text}')
    return group


class FeetechTelemetry:
    """Reads the block of registers from Present_Velocity to Present_Current of all motors.

    bus: LeRobot's FeetechMotorsBus, all of whose motors share one table of registers.
    """

    def __init__(self, bus: Any) -> None:
        self._bus = bus
        model = next(iter(bus.motors.values())).model
        self._table = bus.model_ctrl_table[model]
        self._start = self._table[FIRST][0]
        self._size = sum(self._table[LAST]) - self._start
        self._ids = [motor.id for motor in bus.motors.values()]

    def read(self) -> MotorReadings:
        """Returns one reading, in the order of the bus's motors.

        Raises:
            DeviceError: a motor did not answer, or sent a damaged answer.
        """
        what = 'velocity and current of the motors'
        return self._decode(read_block(self._bus, self._start, self._size, what))

    def _decode(self, group: Any) -> MotorReadings:
        loads = self._column(group, 'Present_Load', 10) * LOAD_UNIT
        currents = self._column(group, 'Present_Current', 15) * CURRENT_UNIT
        # Firmware that reports the current without a sign has the drive's direction in the load.
        currents = np.where(loads < 0, -np.abs(currents), currents)
        status = self._column(group, 'Status', None).astype(int)
        return MotorReadings(
            velocities=self._column(group, 'Present_Velocity', 15),
            currents=currents,
            loads=loads,
            voltages=self._column(group, 'Present_Voltage', None) * VOLTAGE_UNIT,
            temperatures=self._column(group, 'Present_Temperature', None),
            faults=tuple(
                tuple(name for bit, name in FAULTS.items() if value & bit) for value in status
            ),
        )

    def _column(self, group: Any, name: str, sign_bit: int | None) -> Array:
        """Returns a register of all motors; the bits below `sign_bit` are its magnitude."""
        address, size = self._table[name]
        raw = np.array([group.getData(identity, address, size) for identity in self._ids])
        if sign_bit is None:
            return raw.astype(np.float64)
        magnitude = raw & ((1 << sign_bit) - 1)
        return np.where(raw >> sign_bit & 1, -magnitude, magnitude).astype(np.float64)
