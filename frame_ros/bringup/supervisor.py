# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Starts the processes of the table without `ros2 launch`, watches them, keeps their logs, and
stops them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from frame_ros.bringup.process_table import Process, demo_environment, watching_environment
from frame_ros.core.errors import FrameRosError, SetupError

TAIL = 12  # lines of a log that a failure shows
LOUD = ('[WARN]', '[ERROR]', '[FATAL]', 'Traceback (most recent call last)')
_LIBC = ctypes.CDLL(None) if sys.platform == 'linux' else None
DOMAINS = range(1, 101)  # their ports lie below Linux's ephemeral ports
PARTICIPANTS = 32  # of a domain that are looked for


class ProcessError(FrameRosError):
    """A process ended that should not have."""


@dataclass
class _Running:
    process: Process
    popen: subprocess.Popen
    log: Path
    tail: deque[str] = field(default_factory=lambda: deque(maxlen=TAIL))
    reader: threading.Thread | None = None


class Supervisor:
    """The processes of one run. Use it in a `with` block: leaving it stops whatever still runs.

    processes: from `frame_ros.bringup.process_table`. log_directory: gets one <name>.log per
    process, and is made.
    namespace: of all nodes. grace: s between SIGTERM and SIGKILL. console: gets the lines
    for the user (warnings, errors, ends), prefixed by the process's name. environment:
    os.environ by default.
    """

    def __init__(
        self,
        processes: Sequence[Process],
        log_directory: Path,
        namespace: str = '',
        grace: float = 8.0,
        console: Callable[[str], None] = print,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.environment = ros_environment(os.environ if environment is None else environment)
        self.log_directory = Path(log_directory)
        self._processes = list(processes)
        self._namespace = namespace
        self._grace = grace
        self._console = console
        self._running: list[_Running] = []
        self._is_stopping = False

    def __enter__(self) -> Supervisor:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def domain_id(self) -> int:
        """The ROS domain that the processes share."""
        return int(self.environment['ROS_DOMAIN_ID'])

    def start(self) -> Supervisor:
        """Starts every process; what was started is stopped again if one cannot be.

        Raises:
            SetupError: what a process would run is not installed; none was started.
        """
        commands = [process.command(self._namespace) for process in self._processes]
        self.log_directory.mkdir(parents=True, exist_ok=True)
        try:
            for process, command in zip(self._processes, commands, strict=True):
                self._running.append(self._start(process, command))
        except BaseException:
            self.stop()
            raise
        for running in self._running:  # threads only after the last fork
            running.reader = threading.Thread(
                target=self._read, args=(running,), name=running.process.name
            )
            running.reader.start()
        return self

    def _start(self, process: Process, command: list[str]) -> _Running:
        popen = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors='replace',
            env={**self.environment, **watching_environment(process, self.environment)},
            start_new_session=True,  # Ctrl-C reaches only this process, which stops them in order
            preexec_fn=_die_with_parent,
        )
        return _Running(process, popen, self.log_directory / f'{process.name}.log')

    def _read(self, running: _Running) -> None:
        running.log.unlink(missing_ok=True)  # what an earlier run left, or a link to elsewhere
        with running.log.open('x') as log:
            assert running.popen.stdout is not None  # piped in _start
            for line in running.popen.stdout:
                log.write(line)
                log.flush()
                running.tail.append(line.rstrip())
                if any(word in line for word in LOUD) and not self._is_stopping:
                    self._console(f'[{running.process.name}] {without_prefix(line.rstrip())}')

    def finished(self) -> str | None:
        """The name of an essential process that ended well, and with it the run; None while all
        run.

        Raises:
            ProcessError: a process ended unexpectedly; names it, and gives its exit code and last
            log lines.
        """
        for running in self._running:
            code = running.popen.poll()
            if code is None or (code == 0 and running.process.may_end):
                continue
            if code == 0 and running.process.is_essential:
                return running.process.name
            raise ProcessError(self._obituary(running, code))
        return None

    def _obituary(self, running: _Running, code: int) -> str:
        if running.reader is not None:
            running.reader.join(timeout=2.0)
        name = running.process.name
        how = (
            f'was killed by {signal.Signals(-code).name}'
            if code < 0
            else f'ended with exit code {code}'
        )
        lines = ''.join(f'\n    {line}' for line in running.tail) or '\n    (it wrote nothing)'
        return f'the process {name} {how}. The end of its log, {running.log}:{lines}'

    def wait(self, period: float = 0.2, each: Callable[[], None] = lambda: None) -> str:
        """Waits until an essential process ends well and returns its name; calls `each` once per
        `period` (s).

        Raises:
            ProcessError: a process ended unexpectedly.
        """
        while (name := self.finished()) is None:
            each()
            time.sleep(period)
        return name

    def stop(self) -> dict[str, int]:
        """SIGTERM to all, after the grace SIGKILL to those left; the exit codes by name."""
        self._is_stopping = True
        for running in self._running:
            _signal(running.popen, signal.SIGTERM)
        deadline = time.monotonic() + self._grace
        for running in self._running:
            self._wait_or_kill(running, max(0.0, deadline - time.monotonic()))
        return {running.process.name: running.popen.returncode for running in self._running}

    def _wait_or_kill(self, running: _Running, timeout: float) -> None:
        try:
            running.popen.wait(timeout)
        except subprocess.TimeoutExpired:
            self._console(
                f'[{running.process.name}] did not stop within {self._grace:.0f} s and was killed'
            )
            _signal(running.popen, signal.SIGKILL)
            running.popen.wait()
        if running.reader is not None:
            running.reader.join(timeout=2.0)


def without_prefix(line: str) -> str:
    """A log line without its clock and its node, which the console says itself."""
    return re.sub(r'^\[(\w+)\] \[[0-9.]+\] \[[^]]*\]: ', r'\1: ', line)


def _signal(popen: subprocess.Popen, number: signal.Signals) -> None:
    """To the whole group of a process that still runs: what it started itself must end too."""
    if popen.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(popen.pid, number)


def _die_with_parent() -> None:
    """On Linux: SIGTERM when the supervisor itself is killed, so that no node is left behind."""
    if _LIBC is not None:
        _LIBC.prctl(1, int(signal.SIGTERM))  # PR_SET_PDEATHSIG


def ros_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """`environ` with what our nodes need where the user has not set it.

    That is `demo_environment`, as under `ros2 launch`, and a ROS domain of this run's own. A
    ROS_DOMAIN_ID that is set is kept, and so is the rest.
    """
    environment = {
        'RCUTILS_COLORIZED_OUTPUT': '0',
        **environ,
        **demo_environment(environ),
    }
    if not environment.get('ROS_DOMAIN_ID'):
        environment['ROS_DOMAIN_ID'] = str(free_domain())
    return environment


def discovery_port(domain: int, participant: int = 0) -> int:
    """The UDP port of a participant of the domain, counted from 0: RTPS 2.5, section 9.6.1.1."""
    return 7400 + 250 * domain + 10 + 2 * participant


def free_domain(among: Sequence[int] | None = None) -> int:
    """A ROS domain that no participant on this machine's loopback uses; among: DOMAINS by default.

    Raises:
        SetupError: every domain is taken.
    """
    domains = DOMAINS if among is None else among
    for domain in random.SystemRandom().sample(domains, len(domains)):
        # The first may have ended while others, started after it, still run.
        if not any(_is_bound(discovery_port(domain, number)) for number in range(PARTICIPANTS)):
            return domain
    raise SetupError(
        f'every ROS domain from {domains[0]} to {domains[-1]} is in use; set ROS_DOMAIN_ID yourself'
    )


def _is_bound(port: int) -> bool:
    """Is a UDP port of the loopback interface in use?"""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(('127.0.0.1', port))
        except OSError:
            return True
    return False
