# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""franka-sim's arm at a loopback address, which notes what it measures; runs in franka-sim's own
environment, so without frame_ros.

    .venv-franka-sim/bin/python benchmarks/parts/franka_sim/server.py 127.0.0.2

Its command line binds every address; its server takes one. It enforces the arm's limits, and ends a
motion that has lost 20 cycles in a row. A line on its standard input is an order. `watch FILE`:
FILE is the schedstat in /proc of the thread that answers the arm. `report FILE`: it writes its
states into FILE, as .npy with rows of s of time.monotonic(), the seven joints in rad and their
velocities in rad/s, and prints the counts as JSON. It ends with its standard input.
"""

from __future__ import annotations

import array
import contextlib
import json
import os
import socket
import struct
import sys
import threading
import time
from types import SimpleNamespace
from typing import Any

# Below that of libfranka's thread, 47, so that the arm keeps no core from it.
PRIORITY = 46
SCM_TIMESTAMPNS = 35  # <asm-generic/socket.h>: Python names it from 3.14 on
CYCLE = 0.001  # s
COLUMNS = 15  # of a state
KEPT = 4096  # last states whose sending and answer are known


class Notes:
    """What has happened since the start. Written by the server's threads.

    Attributes:
        states: rows of s of time.monotonic(), seven joints in rad and their rad/s, one after the
            other.
        cycles: in which a motion ran and an answer was due.
        lost: for each cycle without one [s that the client had for it, s after the state at which
            the kernel had the answer after all, or None, and s that the client's thread was ready
            to run meanwhile and had no core, or None of one that is not watched].
        stops: of motions by the arm: [s of time.monotonic(), name of the error, reason].
    """

    def __init__(self) -> None:
        self.states, self.cycles = array.array('d'), 0
        self.lost: list[list[float | None]] = []
        self.stops: list[list[Any]] = []
        self._sent = [(0, 0.0)] * KEPT  # number, s of time.time()
        self._answered = [(0, 0.0)] * KEPT
        self._open: dict[int, list[float | None]] = {}
        self._schedule: int | None = None
        self._waited = [0.0] * KEPT  # s at each state

    def watch(self, path: str) -> None:
        """Watches the thread of this /proc/PID/task/TID/schedstat from now on."""
        self._schedule = os.open(path, os.O_RDONLY)

    def _wait(self) -> float:
        """s that the watched thread has been ready to run and had no core."""
        try:
            return int(os.pread(self._schedule, 100, 0).split()[1]) * 1e-9  # type: ignore[arg-type]
        except (OSError, TypeError, IndexError):  # it has ended, or none is watched
            self._schedule = None
            return 0.0

    def send(self, number: int, joints: Any, velocities: Any) -> None:
        """Notes that a state leaves."""
        self._waited[number % KEPT] = self._wait()
        self._sent[number % KEPT] = number, time.time()
        self.states.append(time.monotonic())
        self.states.extend(joints)
        self.states.extend(velocities)

    def receive(self, number: int, came: float) -> None:
        """Notes an answer. came: s of time.time(), when the kernel had it."""
        self._answered[number % KEPT] = number, came
        for other in [each for each in self._open if each <= number]:
            missed = self._open.pop(other)
            if self._schedule is not None:
                missed[2] = self._wait() - self._waited[other % KEPT]
            if other == number:
                missed[1] = came - self._sent[number % KEPT][1]

    def close(self, outcome: Any) -> None:
        """Notes the end of a cycle. outcome: franka-sim's."""
        self.cycles += outcome.active
        if not (outcome.active and outcome.lost):
            return
        number = outcome.closed_id
        known, sent = self._sent[number % KEPT]
        answered, came = self._answered[number % KEPT]
        missed: list[float | None] = [time.time() - sent if known == number else 0.0, None, None]
        self.lost.append(missed)
        if answered == number:
            missed[1] = came - sent
        else:
            self._open[number] = missed


def noting_socket(notes: Notes, host: str, state: Any) -> type[socket.socket]:
    """A class of sockets that note what they send and receive. state: returns the robot's."""

    class NotingSocket(socket.socket):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            self.setsockopt(socket.SOL_SOCKET, SCM_TIMESTAMPNS, 1)
            self.bind((host, 0))

        def sendto(self, data: bytes, *address: Any) -> int:
            sent = super().sendto(data, *address)
            values = state()
            notes.send(values['message_id'], values['q'], values['dq'])
            return sent

        def recvfrom(self, size: int, flags: int = 0) -> tuple[bytes, Any]:
            data, control, _, address = self.recvmsg(size, 128, flags)
            came = time.time()
            for level, kind, value in control:
                if (level, kind) == (socket.SOL_SOCKET, SCM_TIMESTAMPNS):
                    seconds, nanoseconds = struct.unpack('qq', value[:16])
                    came = seconds + nanoseconds * 1e-9
            if len(data) >= 8:
                notes.receive(struct.unpack('<Q', data[:8])[0], came)
            return data, address

    return NotingSocket


def watched_server(host: str, notes: Notes) -> Any:
    """franka-sim's server at an address, without a hand."""
    from franka_sim.comm_constraints import CommConstraintTracker
    from franka_sim.franka_sim_server import FrankaSimServer
    from franka_sim.motion_limits import ERROR_NAMES
    from franka_sim.server import state_stream

    server = FrankaSimServer(
        host=host, enable_gripper=False, enforce_comm_constraints=True, enforce_motion_limits=True
    )
    kind = noting_socket(notes, host, lambda: server.robot_state.state)
    names = {name: getattr(socket, name) for name in ('AF_INET', 'SOCK_DGRAM')}
    state_stream.socket = SimpleNamespace(socket=kind, **names)
    tick, abort = CommConstraintTracker.tick, FrankaSimServer._abort_with_error

    def noted_tick(tracker: Any, published: int) -> Any:
        outcome = tick(tracker, published)
        notes.close(outcome)
        return outcome

    def noted_abort(self: Any, index: Any, reason: str, motion_id: int = 0) -> None:
        indices = (index,) if isinstance(index, int) else tuple(index)
        errors = self.robot_state.state['errors']
        is_new = not any(errors[each] for each in indices)
        abort(self, index, reason, motion_id)
        if is_new and any(self.robot_state.state['errors'][each] for each in indices):
            name = '+'.join(ERROR_NAMES.get(each, f'error {each}') for each in indices)
            notes.stops.append([time.monotonic(), name, reason])

    CommConstraintTracker.tick = noted_tick
    FrankaSimServer._abort_with_error = noted_abort
    return server


def obey(server: Any, notes: Notes) -> None:
    """Carries out orders until the standard input ends, then ends the process."""
    import numpy as np

    while server.physics_sim.data is None or not server.physics_sim.running:
        time.sleep(0.05)
    print('ready', flush=True)
    for order in sys.stdin:
        if order.startswith('watch '):
            notes.watch(order.split()[1])
            print('watched', flush=True)
            continue
        count = len(notes.states) // COLUMNS * COLUMNS
        np.save(order.split()[1], np.array(notes.states[:count]).reshape(-1, COLUMNS))
        report = {
            'now': time.monotonic(),
            'simulated': server.physics_sim.data.time,
            'cycles': notes.cycles,
            'lost': list(notes.lost),
            'stops': list(notes.stops),
        }
        print(json.dumps(report), flush=True)
    os._exit(0)


def main() -> None:
    """Serves an arm. Argument: its address."""
    notes = Notes()
    server = watched_server(sys.argv[1], notes)
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    threading.Thread(target=obey, args=(server, notes), daemon=True).start()
    server.start()


if __name__ == '__main__':
    main()
