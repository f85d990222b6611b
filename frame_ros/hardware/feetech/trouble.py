# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Reasons why Feetech motors cannot be connected, and their faults in words."""

from __future__ import annotations

import contextlib
import termios
from collections.abc import Iterator
from typing import Any

from frame_ros.hardware.device_error import DeviceError
from frame_ros.hardware.feetech.motors import ATTEMPTS, TORQUE_ENABLE, drain, set_goals_here
from frame_ros.hardware.feetech.telemetry import FAULTS, VOLTAGE_UNIT

# A ping of id 253, which no motor of an arm has: only an echo answers with the same bytes.
ECHOED = bytes((255, 255, 253, 2, 1, 255))
ECHO_WAITS = 10  # of the port, for an echo
BLOCK, BLOCK_SIZE = 56, 10  # address and bytes of measurements, which no two motors share
LOOKS = 5  # at one motor, more than half of them damaged: its id is there twice
VOLTAGE, HIGHEST_VOLTAGE, LOWEST_VOLTAGE = 62, 14, 15  # addresses
TEMPERATURE, HIGHEST_TEMPERATURE = 63, 13  # addresses
VOLTAGE_FAULT, TEMPERATURE_FAULT = 1, 4  # bits


@contextlib.contextmanager
def explained(bus: Any) -> Iterator[None]:
    """Adds the reason to an error of LeRobot inside a `with` block, where motors show it.

    Raises:
        ConnectionError: the reason, caused by LeRobot's error.
    """
    try:
        yield
    except (RuntimeError, ConnectionError, IndexError) as error:
        if why := explanation(bus):
            raise ConnectionError(why) from error
        raise


def explanation(bus: Any) -> str:
    """Returns why the motors cannot be read, in words; '' if they can, or the port is gone."""
    # What is wrong is known, this adds to it; pyserial has the last two of a port that is closed.
    with contextlib.suppress(OSError, termios.error, TypeError, AttributeError):
        drain(bus)
        return _echo(bus) or _unanswered(bus) or _damaged(bus)
    return ''


def _echo(bus: Any) -> str:
    port = bus.port_handler.ser
    port.write(ECHOED)
    found = b''.join(port.read(len(ECHOED)) for _ in range(ECHO_WAITS))
    if ECHOED not in found:
        return ''
    return 'the adapter sends back what it is sent: switch its echo off, or take another'


def _unanswered(bus: Any) -> str:
    silent = [name for name, motor in bus.motors.items() if not _answers(bus, motor.id)]
    if len(silent) == len(bus.motors):
        return (
            'no motor answers: is the power of the arm on, and is it the port of the arm? A new '
            'motor first gets its id and speed, by lerobot-setup-motors'
        )
    named = ', '.join(f'{name} (id {bus.motors[name].id})' for name in silent)
    return f'no answer from {named}: are its cables in, and is its id set?' if silent else ''


def _damaged(bus: Any) -> str:
    named = ', '.join(
        f'{name} (id {motor.id})'
        for name, motor in bus.motors.items()
        if sum(_is_damaged(bus, motor.id) for _ in range(LOOKS)) > LOOKS / 2
    )
    return f'damaged answers from {named}: do two motors have one id?' if named else ''


def _is_damaged(bus: Any, identity: int) -> bool:
    from scservo_sdk import COMM_RX_CORRUPT

    try:
        found = bus.packet_handler.readTxRx(bus.port_handler, identity, BLOCK, BLOCK_SIZE)
    except IndexError:  # the library's, of an answer that is too short
        return True
    return bool(found[1] == COMM_RX_CORRUPT)


def _answers(bus: Any, identity: int) -> bool:
    from scservo_sdk import COMM_SUCCESS

    try:
        return bool(bus.packet_handler.ping(bus.port_handler, identity)[1] == COMM_SUCCESS)
    except IndexError:  # the library's, of an answer that is too short
        return False


def clear_faults(bus: Any) -> None:
    """Switches the torque of faulty motors off and on, in place: LeRobot ignores answers with an
    error bit. Afterwards the torque is as it was.

    Raises:
        DeviceError: a fault persists, or a motor does not answer.
    """
    faults = _faults(bus)
    if not faults:
        return
    set_goals_here(bus)
    had_torque = {name: _torque(bus, name) for name in faults}
    for name in faults:
        _switch(bus, name, 0)
        _switch(bus, name, 1)
    faults = _faults(bus)
    for name, value in had_torque.items():
        if value != 1:
            _switch(bus, name, value)
    if faults:
        text = ', '.join(f'{name}: {_in_words(bus, name, bits)}' for name, bits in faults.items())
        is_supply = all(bits == VOLTAGE_FAULT for bits in faults.values())
        advice = (
            'is it the supply of these motors?'
            if is_supply
            else 'relieve it, let it cool, then switch the power of the arm off and on'
        )
        raise DeviceError(f'motor fault: {text}; {advice}')


def _faults(bus: Any) -> dict[str, int]:
    """Returns motor -> its error bits, for those that answer and have some."""
    found = {
        name: bus.packet_handler.ping(bus.port_handler, motor.id)[2]
        for name, motor in bus.motors.items()
    }
    return {name: bits for name, bits in found.items() if bits}


def _in_words(bus: Any, name: str, bits: int) -> str:
    """Returns a motor's faults in words, those of voltage and temperature with what it measures."""
    identity = bus.motors[name].id
    words = {bit: word for bit, word in FAULTS.items() if bits & bit}
    if VOLTAGE_FAULT in words:
        measured, highest, lowest = (
            VOLTAGE_UNIT * _read_byte(bus, identity, address)
            for address in (VOLTAGE, HIGHEST_VOLTAGE, LOWEST_VOLTAGE)
        )
        words[VOLTAGE_FAULT] += f' of {measured:.1f} V, not {lowest:.1f} to {highest:.1f}'
    if TEMPERATURE_FAULT in words:
        measured, highest = (
            _read_byte(bus, identity, address) for address in (TEMPERATURE, HIGHEST_TEMPERATURE)
        )
        words[TEMPERATURE_FAULT] += f' of {measured} C, above {highest}'
    return ' and '.join(words.values()) or f'error {bits}'


def _read_byte(bus: Any, identity: int, address: int) -> int:
    return int(bus.packet_handler.read1ByteTxRx(bus.port_handler, identity, address)[0])


def _torque(bus: Any, name: str) -> int:
    """Returns the torque register of a motor; an answer that is lost must not read as no torque."""
    from scservo_sdk import COMM_SUCCESS

    identity = bus.motors[name].id
    for _ in range(ATTEMPTS):
        value, result, _ = bus.packet_handler.read1ByteTxRx(
            bus.port_handler, identity, TORQUE_ENABLE
        )
        if result == COMM_SUCCESS:
            return int(value)
    raise DeviceError(f'{name} does not say whether it has torque')


def _switch(bus: Any, name: str, value: int) -> None:
    identity = bus.motors[name].id
    bus.packet_handler.write1ByteTxRx(bus.port_handler, identity, TORQUE_ENABLE, value)
