# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A serial bus with simulated Feetech servos behind a pseudo-terminal."""

from __future__ import annotations

import contextlib
import os
import pty
import random
import select
import termios
import threading
import time
import tty
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from frame_ros.core.errors import SetupError
from frame_ros.hardware.feetech.emulator.packets import (
    BROADCAST,
    Instruction,
    Packet,
    PacketReader,
    make_packet,
)
from frame_ros.hardware.feetech.emulator.servo import SimulatedServo

STEP = 0.004  # s, of the dynamics
MOST_STEPS = 10  # that are made at once; more is given up
POLL = 0.005  # s
BITS_PER_BYTE = 10
RETURN_DELAY_UNIT = 2e-6  # s
SPEEDS = {
    getattr(termios, f'B{rate}'): rate
    for rate in (19_200, 38_400, 57_600, 115_200, 500_000, 1_000_000)
    if hasattr(termios, f'B{rate}')
}


@dataclass
class BusFaults:
    """Faults of the bus, which may be changed at any time."""

    silent: set[int] = field(default_factory=set)  # ids that do not answer (a cable that came off)
    corrupt_next: int = 0  # numbers of the next status packets that have a wrong byte, or are lost
    drop_next: int = 0  # numbers of the next status packets that have a wrong byte, or are lost
    corrupt_share: float = 0.0  # share of all status packets, drawn with `seed`
    seed: int = 0

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def apply(self, packet: bytes) -> bytes:
        """Returns what arrives of a status packet."""
        if self.drop_next > 0:
            self.drop_next -= 1
            return b''
        if self.corrupt_next > 0 or self._random.random() < self.corrupt_share:
            self.corrupt_next = max(0, self.corrupt_next - 1)
            return packet[:-1] + bytes((packet[-1] ^ 0x55,))
        return packet


class SimulatedBus:
    """Servos on a bus. `with SimulatedBus(servos) as bus:` and open `bus.port`.

    Hold `lock` to touch the servos while it runs.

    Attributes:
        answered: status packets sent.
        faults: the bus's faults.
    """

    def __init__(
        self,
        servos: Sequence[SimulatedServo],
        advance: Callable[[float], None] | None = None,
        link: str | os.PathLike[str] | None = None,
    ) -> None:
        """Makes the bus, not yet started.

        Args:
            advance: lets seconds pass for all servos together.
            link: a symbolic link to the port, which stays the same when it is unplugged and plugged
                in again.

        Raises:
            SetupError: two servos have the same id, or `link` is a file of another kind.
        """
        identities = [servo.identity for servo in servos]
        if len(set(identities)) != len(identities):
            raise SetupError(f'the servos have ids {identities}; each id may occur once')
        self.servos = tuple(servos)
        self.faults = BusFaults()
        self.lock = threading.RLock()
        self.answered = 0
        self._link = Path(link) if link is not None else None
        if self._link is not None and self._link.exists() and not self._link.is_symlink():
            raise SetupError(f'{self._link} exists and is not a symbolic link; name another')
        self._advance = advance or self._advance_each
        self._reader = PacketReader()
        self._master = self._slave = -1
        self._port = ''
        self._time = time.monotonic()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name='feetech bus', daemon=True)

    def __enter__(self) -> SimulatedBus:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def port(self) -> str:
        """The path to open: the link, if there is one; empty while it is unplugged."""
        return str(self._link) if self._link is not None and self._port else self._port

    def start(self) -> None:
        """Opens the port and begins to answer."""
        self.plug()
        self._time = time.monotonic()
        self._thread.start()

    def close(self) -> None:
        """Ends the thread and closes the port."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        self.unplug()

    def plug(self) -> None:
        """Opens a new port, as when the USB cable is plugged in; the servos kept their power."""
        with self.lock:
            if self._master >= 0:
                return
            self._master, self._slave = pty.openpty()
            tty.setraw(self._slave)
            os.set_blocking(self._master, False)
            self._port = os.ttyname(self._slave)
            self._reader.clear()
            if self._link is not None:
                self._link.unlink(missing_ok=True)
                self._link.symlink_to(self._port)

    def unplug(self) -> None:
        """Closes the port for whoever has it open."""
        with self.lock:
            if self._master < 0:
                return
            os.close(self._slave)
            os.close(self._master)
            self._master = self._slave = -1
            self._port = ''
            if self._link is not None:
                self._link.unlink(missing_ok=True)

    def power_cycle(self) -> None:
        """Switches all servos off and on again."""
        with self.lock:
            for servo in self.servos:
                servo.power_cycle()

    def servo(self, identity: int) -> SimulatedServo:
        """The servo with this id.

        Raises:
            KeyError: there is none.
        """
        return {servo.identity: servo for servo in self.servos}[identity]

    # The bus thread.

    def _run(self) -> None:
        while not self._stop.is_set():
            self._wait_for_data()
            with self.lock:
                for packet in self._reader.feed(self._receive()):
                    self._send(packet, b''.join(self._answers(packet)))
                self._catch_up()

    def _wait_for_data(self) -> None:
        master = self._master
        if master < 0:
            self._stop.wait(POLL)
            return
        with contextlib.suppress(OSError, ValueError):  # it was unplugged in between
            select.select([master], [], [], POLL)

    def _receive(self) -> bytes:
        """Returns the pending bytes; under the lock, so that the file is still the port's."""
        if self._master < 0:
            return b''
        try:
            return os.read(self._master, 4096)
        except OSError:  # nothing
            return b''

    def _catch_up(self) -> None:
        """Simulates a few steps at most: answers take precedence over lost time."""
        now = time.monotonic()
        self._time = max(self._time, now - MOST_STEPS * STEP)
        while now - self._time >= STEP:
            self._advance(STEP)
            self._time += STEP

    def _advance_each(self, dt: float) -> None:
        for servo in self.servos:
            servo.advance(dt)

    def _send(self, request: Packet, answer: bytes) -> None:
        """Sends the answer, after the time that the packets need on the wire."""
        if not answer or self._master < 0:
            return
        delay = max(servo.memory[7] for servo in self.servos) * RETURN_DELAY_UNIT
        size = len(request.parameters) + 6 + len(answer)
        time.sleep(delay + size * BITS_PER_BYTE / self.servos[0].baud_rate)
        with contextlib.suppress(OSError):  # nobody reads: it is lost, as on a wire
            os.write(self._master, answer)

    def _answers(self, packet: Packet) -> Iterator[bytes]:
        for identity, content in self._results(packet):
            status = make_packet(identity, int(self.servo(identity).status), content)
            self.answered += 1
            yield self.faults.apply(status)

    def _addressed(self, identity: int) -> list[SimulatedServo]:
        """Returns the servos that hear a packet: powered, at the port's speed and addressed."""
        speed = SPEEDS.get(termios.tcgetattr(self._slave)[5]) if self._slave >= 0 else None
        return [
            servo
            for servo in self.servos
            if servo.identity not in self.faults.silent
            and servo.baud_rate == speed
            and identity in (servo.identity, BROADCAST)
        ]

    def _results(self, packet: Packet) -> Iterator[tuple[int, bytes]]:
        """Yields (id, content) of every status packet that answers `packet`."""
        heard = self._addressed(packet.identity)
        content, instruction = packet.parameters, packet.instruction
        if instruction == Instruction.PING:
            yield from ((servo.identity, b'') for servo in heard)
        elif instruction == Instruction.READ and len(content) == 2:
            yield from _read(heard, content[0], content[1])
        elif instruction == Instruction.SYNC_READ and len(content) > 2:
            by_identity = {servo.identity: servo for servo in heard}
            asked = [by_identity[i] for i in content[2:] if i in by_identity]
            yield from _read(asked, content[0], content[1])
        elif instruction == Instruction.SYNC_WRITE and len(content) > 2:
            _sync_write(heard, content)
        elif instruction == Instruction.ACTION:
            for servo in heard:
                servo.action()
        elif instruction in (Instruction.WRITE, Instruction.REG_WRITE) and len(content) > 1:
            yield from _write(heard, packet)


def _read(servos: list[SimulatedServo], address: int, size: int) -> Iterator[tuple[int, bytes]]:
    for servo in servos:
        data = servo.read(address, size)
        if data is not None:
            yield servo.identity, data


def _write(servos: list[SimulatedServo], packet: Packet) -> Iterator[tuple[int, bytes]]:
    address, data = packet.parameters[0], packet.parameters[1:]
    for servo in servos:
        is_now = packet.instruction == Instruction.WRITE
        identity = servo.identity  # the answer to a change of the id comes from the new one
        done = servo.write(address, data) if is_now else servo.register_write(address, data)
        answers = packet.identity == identity and servo.memory[8] == 1
        if done and answers:
            yield servo.identity, b''


def _sync_write(servos: list[SimulatedServo], content: bytes) -> None:
    address, size = content[0], content[1]
    by_identity = {servo.identity: servo for servo in servos}
    for start in range(2, len(content) - size, size + 1):
        servo = by_identity.get(content[start])
        if servo is not None:
            servo.write(address, content[start + 1 : start + 1 + size])
