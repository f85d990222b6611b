# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Common parts of all benchmarks: the option --short, a ROS domain of their own, bars with a
verdict, busy loops.

A full run exits with 1 if a bar is missed or could not be shown. A short run shows that the
benchmark works; its figures are of too few samples to be judged.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from frame_ros.bringup.supervisor import free_domain

TO_STOP = 20.0  # s from SIGTERM until a process is killed
BUSY = """
import os
parent = os.getppid()
while os.getppid() == parent:  # it ends with who started it, however that ends
    for _ in range(100_000):
        pass
"""


def parse(
    parser: argparse.ArgumentParser, argv: Sequence[str] | None = None, **short: Any
) -> argparse.Namespace:
    """Parses the command line. short: the defaults of options in a run with --short. Where no
    ROS_DOMAIN_ID is set the benchmark gets a free one, so that it does not hear the nodes of
    another.
    """
    if not os.environ.get('ROS_DOMAIN_ID'):
        os.environ['ROS_DOMAIN_ID'] = str(free_domain())
    parser.add_argument(
        '--short', action='store_true', help='few seconds; bars are shown, not judged'
    )
    if '--short' in (sys.argv[1:] if argv is None else argv):
        parser.set_defaults(**short)
    return parser.parse_args(argv)


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """So many processes that do nothing, as hard as they can."""
    loops = [subprocess.Popen([sys.executable, '-c', BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


@contextmanager
def started(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen]:
    """A process with Popen's options; at the end of the block it is asked to stop."""
    process = subprocess.Popen(command, **options)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(TO_STOP)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Bars:
    """Collects figures with their bars; prints each with its verdict."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._is_short = options.short
        # JSON has stdout for itself.
        self._stream = sys.stderr if getattr(options, 'json', False) else sys.stdout
        self._missed = 0

    def at_most(self, name: str, value: float, bar: float) -> None:
        """A figure that must not be greater than a bar of the same unit, which its name gives."""
        self._judge(name, value, f'at most {bar:g}', value <= bar)

    def at_least(self, name: str, value: float, bar: float) -> None:
        """A figure that must not be less than a bar of the same unit, which its name gives."""
        self._judge(name, value, f'at least {bar:g}', value >= bar)

    def not_shown(self, name: str, why: str) -> None:
        """A figure that could not be measured: its bar is not met."""
        self._missed += 1
        verdict = 'not judged in a short run' if self._is_short else 'NOT SHOWN'
        print(f'bar: {name}: {why}: {verdict}', file=self._stream, flush=True)

    def _judge(self, name: str, value: float, bar: str, is_met: bool) -> None:
        self._missed += not is_met
        verdict = 'not judged in a short run' if self._is_short else 'met' if is_met else 'MISSED'
        print(f'bar: {name}: {value:.4g}, {bar}: {verdict}', file=self._stream, flush=True)

    def exit_status(self) -> int:
        """1 if this was a full run in which a bar was missed or not shown, else 0."""
        return int(self._missed > 0 and not self._is_short)
