# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A node's health report: rates and lateness of its inputs, and its readiness."""

from __future__ import annotations

from frame_ros.core.health import Level, Status
from frame_ros.core.time import SECOND
from frame_ros.sensing.stream_health.readiness import InputState, NodeState

SILENT_AFTER = 2.0  # s without a message of a steady input
LATE = 1.0  # s from header.stamp to arrival, above which the clocks are doubted


class InputHealth:
    """Rates of a node's inputs between two calls."""

    def __init__(self) -> None:
        self._before: dict[str, tuple[int, float]] = {}

    def status(self, state: NodeState, wall: int, elapsed: float) -> Status:
        """Returns the status of the node itself.

        Args:
            wall: ns of the system's clock.
            elapsed: s of a monotonic clock.
        """
        values: dict[str, str] = {}
        problems = []
        for each in state.inputs:
            silence = _silence(each, wall)
            problems += [silence] if silence else []
            values[each.topic] = self._in_words(each, state.stamp, wall, elapsed)
        self._before = {each.topic: (each.received, elapsed) for each in state.inputs}
        if not state.is_ready:
            return Status('', Level.WARN, f'not ready: {state.reason}', values)
        if problems:
            return Status('', Level.WARN, '; '.join(problems), values)
        return Status('', Level.OK, 'ready', values)

    def _in_words(self, each: InputState, now: int, wall: int, elapsed: float) -> str:
        count, since = self._before.get(each.topic, (0, elapsed))
        rate = f'{(each.received - count) / (elapsed - since):.1f} Hz' if elapsed > since else ''
        lateness = lateness_of(each, now, wall)
        parts = (
            rate,
            f'{1e3 * lateness:.0f} ms late' if lateness is not None else '',
            f'{each.received} received',
            f'{each.lost} lost' if each.lost else '',
            f'{each.matched} of {each.offered} publishers',
            each.service,
        )
        return ', '.join(filter(None, parts))


def lateness_of(each: InputState, now: int, wall: int) -> float | None:
    """Returns s from the newest message's header.stamp to its arrival; None: nothing came, or no
    stamps.

    Args:
        now: ns of the node's clock.
        wall: ns of the system's clock, at the same moment.
    """
    if not each.last_received or not each.last_stamp:
        return None
    return (now - each.last_stamp - (wall - each.last_received)) / SECOND


def _silence(each: InputState, wall: int) -> str:
    if not (each.is_steady and each.last_received):
        return ''
    age = (wall - each.last_received) / SECOND
    return f'{each.topic}: nothing for {age:.1f} s' if age > SILENT_AFTER else ''
