# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The queue between a slow policy and a steady control loop.

Chunks of actions in, one action per tick out.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.errors import ShapeError, ValueRangeError
from frame_ros.policies.chunk import Chunk, chunk_overlap

ALIGNMENTS = ('now', 'first')
NANOSECONDS = 1_000_000_000
# Automatic prefetch looks at this many of the last inferences and adds this many ticks to the
# slowest.
LATENCY_WINDOW = 8
PREFETCH_MARGIN = 1


@dataclass(frozen=True)
class Request:
    """An inference that has begun.

    tag: what `open` was given: which episode it is for. executed: ns of actions executed before it.
    tick: ticks before it.
    """

    tag: Hashable
    generation: int
    executed: int
    tick: int


@dataclass(frozen=True)
class Arrival:
    """What happened when a chunk came in.

    is_used: whether its actions will be executed (not when the episode is over, or all its steps
    have passed). queue_depth: ticks that the former chunk would still have served. stalls: ticks
    without an action since the last arrival. overlap: see `chunk_overlap`; NaN if the chunks share
    no step. skipped: steps left out at its start. latency: ticks since the request.
    """

    is_used: bool
    queue_depth: int
    stalls: int
    overlap: float
    skipped: int
    latency: int


class ActionQueue:
    """Chunks in, one action per control tick out; safe to use from a control and an inference
    thread.

    Time in the queue is the time of executed actions: it stands still while the queue is empty, as
    the robot does. A chunk belongs to the moment its observation was taken (`request`). With
    alignment 'now' it is taken over from the step that matches the tick at which it arrives, so the
    steps executed while it was computed are left out; with 'first' it is executed from its first
    step. It replaces what is left of the former chunk.

    period: s between two control ticks. n_action_steps: of each chunk at most so many steps are
    executed after it is taken over; 0 is all. prefetch: the next inference begins when at most so
    many ticks are left; 0 waits for the empty queue (synchronous execution); None follows the
    slowest of the last inferences. With alignment 'now' no tick stalls if a chunk is longer than
    two inferences take.
    """

    def __init__(
        self,
        period: float,
        alignment: str = 'now',
        n_action_steps: int = 0,
        prefetch: int | None = None,
    ) -> None:
        if not (np.isfinite(period) and period > 0):
            raise ValueRangeError(f'period is {period} s; it must be positive')
        if alignment not in ALIGNMENTS:
            raise ValueRangeError(f'alignment is {alignment!r}; known: {", ".join(ALIGNMENTS)}')
        if n_action_steps < 0 or (prefetch is not None and prefetch < 0):
            raise ValueRangeError(
                f'n_action_steps is {n_action_steps} and prefetch is {prefetch}; neither may be '
                'negative'
            )
        self._period = round(period * NANOSECONDS)
        self._alignment = alignment
        self._n_action_steps = n_action_steps
        self._prefetch = prefetch
        self._demand = threading.Condition()
        self._generation = 0
        self._latencies: deque[int] = deque(maxlen=LATENCY_WINDOW)
        self._tag: Hashable = None
        self._is_open = False
        self._chunk: Chunk | None = None
        # The newest chunk at the time of its observation, wherever it is executed from.
        self._predicted: Chunk | None = None
        self._last: NDArray[np.float64] | None = None
        self._end = self._executed = self._tick = self._stalls = 0

    def open(self, tag: Hashable = None) -> None:
        """Begins an episode: forgets all actions, and asks for the first inference.

        Requests carry `tag`.
        """
        with self._demand:
            self._clear()
            self._tag, self._is_open = tag, True
            self._demand.notify_all()

    def close(self) -> None:
        """Ends an episode.

        Drops all actions and asks for nothing more; what is still computed will not be used.
        """
        with self._demand:
            self._clear()
            self._is_open = False

    @property
    def is_open(self) -> bool:
        """Whether an episode runs."""
        return self._is_open

    @property
    def depth(self) -> int:
        """Ticks that can be served without another chunk."""
        with self._demand:
            return self._depth()

    @property
    def threshold(self) -> int:
        """The next inference begins when at most so many ticks are left."""
        with self._demand:
            return self._threshold()

    def take(self) -> tuple[NDArray[np.float64] | None, bool]:
        """Returns the action of this tick, and whether the tick stalled.

        A tick stalls when the queue is empty: the last action is held, or None is returned if there
        was none yet.
        """
        with self._demand:
            if not self._is_open:
                return None, False
            self._tick += 1
            is_stalled = self._depth() == 0
            if is_stalled:
                self._stalls += 1
            else:
                assert self._chunk is not None
                self._last = self._chunk.actions[self._chunk.step_at(self._executed)]
                self._executed += self._period
            if self._is_wanted():
                self._demand.notify_all()
            return self._last, is_stalled

    def wait_for_demand(self, timeout: float) -> bool:
        """Waits, in the inference thread, until a chunk is wanted.

        False after `timeout` seconds without.
        """
        with self._demand:
            return self._demand.wait_for(self._is_wanted, timeout)

    def request(self) -> Request | None:
        """Notes that an inference begins now, on an observation of now; None without an episode."""
        with self._demand:
            if not self._is_open:
                return None
            return Request(self._tag, self._generation, self._executed, self._tick)

    def push(self, request: Request, actions: NDArray[np.float64], dt: float) -> Arrival:
        """Takes over a chunk.

        actions: (H, D), H at least 1. dt: s between its steps.

        Raises:
            ShapeError: `actions` is not (H, D). ValueRangeError: `dt` is not positive.
        """
        if actions.ndim != 2 or 0 in actions.shape:
            raise ShapeError(
                f'a chunk has shape {actions.shape}; it must be (steps, action dimensions)'
            )
        if not (np.isfinite(dt) and dt > 0):
            raise ValueRangeError(f'dt of a chunk is {dt} s; it must be positive')
        with self._demand:
            if not self._is_open or request.generation != self._generation:
                return Arrival(False, self._depth(), 0, float('nan'), 0, 0)
            return self._accept(request, Chunk(actions, round(dt * NANOSECONDS), request.executed))

    def _accept(self, request: Request, chunk: Chunk) -> Arrival:
        depth, latency = self._depth(), self._tick - request.tick
        self._latencies.append(latency)
        former, self._predicted = self._predicted, chunk
        overlap = float('nan') if former is None else chunk_overlap(former, chunk)
        if self._alignment == 'first':
            chunk = chunk.moved_to(self._executed)
        first = chunk.step_at(self._executed)
        stalls, self._stalls = self._stalls, 0
        is_used = first < len(chunk.actions)
        if is_used:
            self._chunk = chunk
            steps = self._n_action_steps or len(chunk.actions)
            self._end = min(len(chunk.actions), first + steps)
        return Arrival(is_used, depth, stalls, overlap, first, latency)

    def _clear(self) -> None:
        self._generation += 1
        self._chunk = self._predicted = self._last = None
        self._end = self._executed = self._tick = self._stalls = 0

    def _depth(self) -> int:
        if self._chunk is None:
            return 0
        return self._chunk.ticks_until(self._end, self._executed, self._period)

    def _threshold(self) -> int:
        if self._prefetch is not None:
            return self._prefetch
        return max(self._latencies, default=0) + PREFETCH_MARGIN

    def _is_wanted(self) -> bool:
        return self._is_open and self._depth() <= self._threshold()
