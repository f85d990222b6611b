# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The packets of Feetech's serial protocol (STS, SMS series): 0xFF 0xFF, id, length, instruction or
error, parameters, checksum.

The length counts what follows it. The checksum is the inverted sum of all from the id on.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, IntFlag

HEADER = b'\xff\xff'
BROADCAST = 0xFE
LONGEST = 250  # of the length byte


class Instruction(IntEnum):
    """Kinds of instruction packets."""

    PING = 0x01
    READ = 0x02
    WRITE = 0x03
    REG_WRITE = 0x04
    ACTION = 0x05
    SYNC_READ = 0x82
    SYNC_WRITE = 0x83


class Status(IntFlag):
    """The error byte of a status packet, and the register Status."""

    NONE = 0
    VOLTAGE = 1
    SENSOR = 2
    TEMPERATURE = 4
    CURRENT = 8
    OVERLOAD = 32


@dataclass(frozen=True)
class Packet:
    """An instruction packet. identity: of the servo, or BROADCAST."""

    identity: int
    instruction: int
    parameters: bytes


def checksum(content: bytes) -> int:
    """Returns the checksum of a packet's content, from the id to the last parameter."""
    return ~sum(content) & 0xFF


def make_packet(identity: int, code: int, parameters: bytes = b'') -> bytes:
    """Returns a packet. code: the instruction, or the error of a status packet."""
    content = bytes((identity, len(parameters) + 2, code)) + parameters
    return HEADER + content + bytes((checksum(content),))


class PacketReader:
    """Finds packets in a stream of bytes that may start anywhere and contain garbage.

    corrupt: packets with a wrong checksum.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self.corrupt = 0

    def clear(self) -> None:
        """Discards incomplete packets."""
        self._buffer.clear()

    def feed(self, data: bytes) -> list[Packet]:
        """Takes bytes; returns the packets that they complete."""
        self._buffer += data
        packets = []
        while (packet := self._next()) is not None:
            packets.append(packet)
        return packets

    def _next(self) -> Packet | None:
        buffer = self._buffer
        while True:
            start = buffer.find(HEADER)
            if start < 0:
                del buffer[: max(0, len(buffer) - 1)]  # the last byte may be half a header
                return None
            del buffer[:start]
            if len(buffer) < 4:
                return None
            length = buffer[3]
            if buffer[2] == 0xFF or not 2 <= length <= LONGEST:
                del buffer[:1]
                continue
            if len(buffer) < length + 4:
                return None
            content, given = bytes(buffer[2 : length + 3]), buffer[length + 3]
            if checksum(content) != given:
                self.corrupt += 1
                del buffer[:2]
                continue
            del buffer[: length + 4]
            return Packet(content[0], content[2], content[3:])
