# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Display of a run in a terminal: one line that is updated, and one per finished episode."""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO

from frame_ros.confidence.monitor import Level
from frame_ros.core.plain_text import counted

if TYPE_CHECKING:
    from frame_ros.nodes.console.node import EpisodeResult, Snapshot

COLOURS = {'SUCCESS': '32', 'FAILURE': '31', 'TIMEOUT': '33', 'STOPPED': '33', 'UNKNOWN': '33'}
HEADER = (
    'episode    outcome  quality     time     path    RMS jerk  nearest  collisions  '
    'mean latency  mean rate'
)


def number(value: float, unit: str, scale: float = 1.0, digits: int = 1) -> str:
    """Returns a value with its unit, or a dash for one that is not available."""
    return f'{value * scale:.{digits}f} {unit}' if math.isfinite(value) else '-'


def snapshot_line(snapshot: Snapshot, episodes: int) -> str:
    """Returns the current headline metrics on one line."""
    if not snapshot.episode_id:
        text = f'waiting for episode {min(snapshot.number + 1, episodes)} of {episodes}'
        more = len(snapshot.waits_for) - 1
        first = f': {snapshot.waits_for[0]}' if more >= 0 else ''
        return text + first + (f'; and {more} more' if more > 0 else '')
    parts = [
        f'episode {snapshot.number} of {episodes}, {number(snapshot.time, "s")}',
        f'speed {number(snapshot.speed, "mm/s", 1e3, 0)}',
        f'RMS jerk {number(snapshot.jerk, "m/s^3")}',
        f'distance {number(snapshot.distance, "mm", 1e3, 0)}',
        f'collisions {snapshot.collisions}',
        f'newest latency {number(snapshot.latency, "ms", 1e3)}',
        f'rate, last second {number(snapshot.control_rate, "Hz")}',
    ]
    if snapshot.monitor >= 0:
        parts.append(f'monitor {Level(snapshot.monitor).title}')
    return ' | '.join(parts)


def result_line(result: EpisodeResult) -> str:
    """Returns the line of a finished episode, in the columns of HEADER."""
    done = result.time_to_success if math.isfinite(result.time_to_success) else result.duration
    return (
        f'{result.number:>7}    {result.outcome.name.lower():<7}  '
        f'{result.attributes.get("quality", "-"):>7}  {number(done, "s"):>7}  '
        f'{number(result.path, "m", 1, 2):>7}  {number(result.jerk, "m/s^3"):>10}  '
        f'{number(result.distance, "mm", 1e3, 0):>7}  {result.collisions:>10}  '
        f'{number(result.latency, "ms", 1e3):>12}  {number(result.control_rate, "Hz"):>9}'
    )


def closing_lines(
    episodes: int, results: Iterable[EpisodeResult], seconds: float, is_recorded: bool
) -> list[str]:
    """Returns the number of episodes that there were, and which of them have no line of their own.

    is_recorded: whether they left bags.
    """
    shown = {each.number for each in results}
    lacking = [str(number) for number in range(1, episodes + 1) if number not in shown]
    lines = [f'{counted(episodes, "episode")} in {seconds:.0f} s']
    if lacking:
        noun, verb = ('episode', 'is') if len(lacking) == 1 else ('episodes', 'are')
        where = '; see the bags' if is_recorded else ''
        lines.append(
            f'{noun} {", ".join(lacking)} {verb} not in the table: no episode_summary came{where}'
        )
    return lines


class LiveView:
    """Writes to `stream`.

    episodes: their number in the run. On a terminal the live line is updated in place; otherwise a
    new line is written every `period` s.
    """

    def __init__(self, stream: TextIO, episodes: int, period: float = 5.0) -> None:
        self._stream = stream
        self._of = episodes
        self._is_terminal = stream.isatty()
        self._period = 0.5 if self._is_terminal else period
        self._next = 0.0
        self._live = ''
        self._has_header = False

    def line(self, text: str) -> None:
        """Writes a line that stays."""
        self._erase()
        self._stream.write(text + '\n')
        self._stream.flush()

    def snapshot(self, snapshot: Snapshot) -> None:
        """Updates the live line, if it is due."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + self._period
        text = snapshot_line(snapshot, self._of)
        if not self._is_terminal:
            self.line(f'  {text}')
            return
        self._erase()
        self._live = text[: shutil.get_terminal_size().columns - 1]
        self._stream.write(self._live)
        self._stream.flush()

    def result(self, result: EpisodeResult) -> None:
        """Writes a finished episode, below the header if it is the first."""
        if not self._has_header:
            self.line(HEADER)
        self._has_header = True
        text = result_line(result)
        if self._is_terminal:
            text = f'\x1b[{COLOURS[result.outcome.name]}m{text}\x1b[0m'
        self.line(text)

    def _erase(self) -> None:
        if self._live:
            self._stream.write('\r\x1b[2K')
            self._live = ''
