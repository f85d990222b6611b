# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Additions to LeRobot's Feetech bus: late answers, goals before torque."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import SetupError
from frame_ros.hardware.device_error import DeviceError

# s that the serial port waits for the bytes of an answer, for which LeRobot polls in a busy loop.
ANSWER_WAIT = 0.005
MOST_LEFTOVERS = 20  # waits with bytes in them, until the port is quiet
ATTEMPTS = 3  # to write what is not acknowledged
IDENTITY, LENGTH, ERROR, CONTENT = 2, 3, 4, 5  # bytes of a status packet
TORQUE_ENABLE = 40  # address


def feetech_bus(device: Any) -> Any:
    """Returns the device's FeetechMotorsBus; None if it has another, or none."""
    bus = getattr(device, 'bus', None)
    if bus is None:
        return None
    from lerobot.motors.feetech import FeetechMotorsBus

    return bus if isinstance(bus, FeetechMotorsBus) else None


def adapt_bus(bus: Any, timeout: float) -> None:
    """Adapts a bus that is not open yet.

    An answer is taken only if it has the requested length: a late one to an earlier request would
    otherwise be decoded as a position. timeout: s that motors have to answer, in addition to the
    time on the wire; LeRobot's own is 0.05.
    """
    from scservo_sdk import COMM_SUCCESS

    port, handler = bus.port_handler, bus.packet_handler

    def set_packet_timeout(length: int) -> None:
        port.setPacketTimeoutMillis(port.tx_time_per_byte * (length + 3.0) + timeout * 1000.0)

    def read_answer(port: Any, identity: int, length: int) -> tuple[list[int], int, int]:
        """Returns the answer of motor `identity` with `length` values; skips others."""
        while True:
            packet, result = handler.rxPacket(port)
            if result != COMM_SUCCESS:
                return [], result, 0
            if packet[IDENTITY] == identity and packet[LENGTH] == length + 2:
                return list(packet[CONTENT : CONTENT + length]), result, packet[ERROR]

    port.setPacketTimeout = set_packet_timeout
    handler.readRx = read_answer


def open_bus(bus: Any) -> None:
    """Opens the port exclusively, without looking for motors.

    Raises:
        ConnectionError: there is no such port.
        DeviceError: another driver has it.
    """
    bus.port_handler.is_using = False
    bus.connect(handshake=False)
    settle_port(bus)


def settle_port(bus: Any) -> None:
    """Lets the open port wait for bytes, which costs no processor time, and locks it.

    Raises:
        DeviceError: another driver has it.
    """
    serial = bus.port_handler.ser
    serial.timeout = ANSWER_WAIT
    try:
        serial.exclusive = True
    except OSError as error:
        text = f'{bus.port} is in use, by another driver or calibration'
        raise DeviceError(text, is_gone=True) from error


def drain(bus: Any) -> None:
    """Discards the remains of earlier answers, until nothing more arrives."""
    bus.port_handler.is_using = False
    for _ in range(MOST_LEFTOVERS):
        if not bus.port_handler.ser.read(1024):
            return


def set_goals_here(bus: Any, names: Sequence[str] | None = None) -> None:
    """Sets the goal of motors to their position, so that they stay there when torque comes on.
    Goals are not acknowledged, so they are read back.

    names: of the motors; None: all.
    """
    chosen = None if names is None else list(names)
    positions = bus.sync_read('Present_Position', chosen, normalize=False, num_retry=2)
    for _ in range(ATTEMPTS):
        bus.sync_write('Goal_Position', positions, normalize=False)
        if bus.sync_read('Goal_Position', chosen, normalize=False, num_retry=2) == positions:
            return


def switch_torque(bus: Any, is_on: bool, names: Sequence[str] | None = None) -> None:
    """Switches the torque of motors, even faulty ones. names: None: of all.

    Raises:
        DeviceError: some did not switch; all have been asked.
    """
    switch = bus.enable_torque if is_on else bus.disable_torque
    chosen = list(bus.motors) if names is None else list(names)
    for name in chosen:
        try:
            switch(name, num_retry=5)
        except (ConnectionError, RuntimeError):  # no answer, or one with an error bit
            continue
    values = bus.sync_read('Torque_Enable', chosen, num_retry=2)
    wrong = [name for name, value in values.items() if value != int(is_on)]
    if wrong:
        text = 'without' if is_on else 'with'
        raise DeviceError(f'{", ".join(wrong)} still {text} torque')


def switch_on_or_undo(bus: Any, limp: Sequence[str]) -> None:
    """Switches the torque of all motors on; where that fails, those that had none are limp again,
    so that the arm is as it was: nobody who holds it expects it to be half stiff.

    limp: the motors that have none.

    Raises:
        DeviceError: it failed; its text says how the motors were left.
    """
    try:
        switch_torque(bus, True)
    except (ConnectionError, RuntimeError, DeviceError) as error:
        if not limp:
            raise
        try:
            switch_torque(bus, False, limp)
        except DeviceError as second:
            text = f'{error}; the others cannot be made limp again: {second}: hold the arm'
            raise DeviceError(text) from error
        except (ConnectionError, RuntimeError) as second:  # one is silent: the rest was asked
            text = f'{error}; the others were made limp again, which cannot be read back: {second}'
            raise DeviceError(f'{text}: hold the arm') from error
        count = len(bus.motors) - len(limp)
        others = f', the other {count} have theirs' if count else ''
        raise DeviceError(f'{error}: as before, {", ".join(limp)} limp{others}') from error


def check_units(bus: Any, units: str, grippers: Sequence[str]) -> None:
    """Raises SetupError unless the motors give degrees, and those of `grippers` 0 to 100."""
    if units == 'rad':
        raise SetupError("units is 'rad'; the motors of this device give degrees")
    for name, motor in bus.motors.items():
        mode = motor.norm_mode.value
        wanted = 'range_0_100' if name in grippers else 'degrees'
        if mode != wanted:
            raise SetupError(
                f'{name} is in {mode}, not {wanted}; set the option use_degrees to true'
            )


def rates_per_step(bus: Any) -> NDArray[np.float64]:
    """Returns (D,) LeRobot's units per encoder step, signed."""
    rates = []
    for name, motor in bus.motors.items():
        if motor.norm_mode.value == 'degrees':
            rates.append(360.0 / (bus.model_resolution_table[motor.model] - 1))
            continue
        calibration = bus.calibration[name]
        sign = -1.0 if calibration.drive_mode else 1.0
        rates.append(sign * 100.0 / (calibration.range_max - calibration.range_min))
    return np.array(rates)
