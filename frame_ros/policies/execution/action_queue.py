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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.core.time import SECOND
from frame_ros.policies.execution.chunk import Chunk, ChunkComparison, compare_chunks
from frame_ros.policies.execution.chunk_blending import Ensemble, Execution, Replacement
from frame_ros.policies.execution.options import (
    AUTOMATIC,
    ENSEMBLING,
    FIRST,
    SYNCHRONOUS,
    ExecutionOptions,
)

# Automatic prefetch looks at this many of the last inferences and adds this many ticks to the
# slowest.
LATENCY_WINDOW = 8
PREFETCH_MARGIN = 1


@dataclass(frozen=True)
class Request:
    """An inference that has begun.

    Attributes:
        tag: the argument of `open`: the episode it is for.
        executed: ns of actions executed before it.
        tick: ticks before it.
        last: (D,), the action sent last before it, whichever chunks it came from; None: none yet in
            this episode.
    """

    tag: Hashable
    generation: int
    executed: int
    tick: int
    last: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Arrival:
    """The result of a chunk's arrival.

    Attributes:
        is_used: whether its actions will be executed (not when the episode is over, or all its
            steps have passed).
        queue_depth: ticks that the former chunk would still have served.
        stalls: ticks without an action since the last arrival.
        compared: with the chunk before it.
        skipped: steps left out at its start.
        latency: ticks since the request.
    """

    is_used: bool
    queue_depth: int
    stalls: int
    compared: ChunkComparison
    skipped: int
    latency: int


class ActionQueue:
    """Chunks in, one action per control tick out; safe to use from a control and an inference
    thread.

    Time in the queue is the time of executed actions: it stands still while the queue is empty, as
    the robot does. A chunk belongs to the moment of its observation (`request`). With alignment
    'now' it is executed from the step that matches the tick at which it arrives, so the steps
    executed while it was computed are left out; with 'first' from its first step.

    'synchronous' execution requests the next chunk when the queue is empty, as `prefetch` 0 does;
    'asynchronous' when at most `prefetch` ticks are left, automatically by the slowest of the last
    inferences: with alignment 'now' no tick stalls if a chunk is longer than two inferences take.
    In both it replaces the rest of the former chunk, see `Replacement`. 'ensembling' requests one
    at every tick, see `Ensemble`. Rows further apart than the ticks: see `Motion`.

    Attributes:
        mode: 'synchronous', 'asynchronous' or 'ensembling', as it is executed.
    """

    def __init__(self, period: float, options: ExecutionOptions | None = None) -> None:
        """period: s between two control ticks.

        Raises:
            ValueRangeError: it is not positive.
        """
        if not (np.isfinite(period) and period > 0):
            raise ValueRangeError(f'period is {period} s; it must be positive')
        options = options or ExecutionOptions()
        is_synchronous = options.execution == SYNCHRONOUS or options.prefetch == 0
        self.mode = SYNCHRONOUS if is_synchronous else options.execution
        self._period = round(period * SECOND)
        self._alignment, self._n_action_steps = options.alignment, options.n_action_steps
        self._prefetch = 0 if is_synchronous else options.prefetch
        spacing = self._period if options.interpolate else 0
        self._execution: Execution = (
            Ensemble(options.ensemble_coefficient, spacing)
            if options.execution == ENSEMBLING
            else Replacement(options.n_action_steps, options.blend, spacing)
        )
        self._demand = threading.Condition()
        self._generation = 0
        self._latencies: deque[int] = deque(maxlen=LATENCY_WINDOW)
        self._tag: Hashable = None
        self._is_open = False
        self._requested: Request | None = None
        # The newest chunk at the time of its observation, wherever it is executed from.
        self._predicted: Chunk | None = None
        self._last: NDArray[np.float64] | None = None
        self._source: Any = None
        self._executed = self._tick = self._stalls = 0

    def open(self, tag: Hashable = None) -> None:
        """Begins an episode: forgets all actions, and requests the first inference with `tag`."""
        with self._demand:
            self._clear()
            self._tag, self._is_open = tag, True
            self._demand.notify_all()

    def close(self) -> None:
        """Ends an episode: drops all actions and requests nothing more; pending results will not be
        used. Drops all actions and asks for nothing more; what is still computed will not be used.
        """
        with self._demand:
            self._clear()
            self._is_open = False

    @property
    def is_open(self) -> bool:
        """True while an episode runs."""
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

    @property
    def source(self) -> Any:
        """The source of the last `take`: the argument of `push` of its newest chunk."""
        return self._source

    def take(self) -> tuple[NDArray[np.float64] | None, bool]:
        """Returns the action of this tick, and whether the tick stalled. A tick stalls when the
        queue is empty: the last action is held; None if there was none yet.
        """
        with self._demand:
            if not self._is_open:
                return None, False
            self._tick += 1
            is_stalled = self._depth() == 0
            if is_stalled:
                self._stalls += 1
            else:
                self._last, self._source = self._execution.next_action(self._executed)
                self._executed += self._period
            if self._is_wanted():
                self._demand.notify_all()
            return self._last, is_stalled

    def wait_for_demand(self, timeout: float) -> bool:
        """Waits, in the inference thread, until a chunk is wanted, once a tick at most; False after
        `timeout` seconds. False after `timeout` seconds without.
        """
        with self._demand:
            return self._is_wanted() or (
                timeout > 0 and self._demand.wait_for(self._is_wanted, timeout)
            )

    def request(self) -> Request | None:
        """Notes that an inference begins now, on a present observation; None without an episode."""
        with self._demand:
            if not self._is_open:
                return None
            self._requested = Request(
                self._tag, self._generation, self._executed, self._tick, self._last
            )
            return self._requested

    def is_current(self, request: Request) -> bool:
        """Returns whether the episode of the request still runs."""
        with self._demand:
            return self._is_open and request.generation == self._generation

    def push(
        self,
        request: Request,
        actions: NDArray[np.float64],
        dt: float,
        source: Any = None,
        origin: NDArray[np.float64] | None = None,
        is_continuous: NDArray[np.bool_] | None = None,
    ) -> Arrival:
        """Takes a chunk.

        Args:
            actions: (H, D), H at least 1, D the same throughout an episode.
            dt: s between its steps.
            source: value of the property `source` while the chunk is executed.
            origin: (D,), the robot's position, where interpolation begins while no action has been
                sent.
            is_continuous: (D,), whether each joint turns without end; None: none does.

        Raises:
            ShapeError: `actions` is not (H, D).
            ValueRangeError: `dt` is not positive.
        """
        if actions.ndim != 2 or 0 in actions.shape:
            raise ShapeError(
                f'a chunk has shape {actions.shape}; it must be (steps, action dimensions)'
            )
        if not (np.isfinite(dt) and dt > 0):
            raise ValueRangeError(f'dt of a chunk is {dt} s; it must be positive')
        with self._demand:
            if not self._is_open or request.generation != self._generation:
                return Arrival(False, self._depth(), 0, ChunkComparison(), 0, 0)
            former = self._predicted
            if former is not None and former.actions.shape[1] != actions.shape[1]:
                raise ShapeError(
                    f'a chunk has {actions.shape[1]} action dimensions; those before it have '
                    f'{former.actions.shape[1]}'
                )
            turning = is_continuous if is_continuous is not None and is_continuous.any() else None
            chunk = Chunk(actions, round(dt * SECOND), request.executed, self._period, turning)
            return self._accept(request, chunk, source, origin)

    def _accept(
        self, request: Request, chunk: Chunk, source: Any, origin: NDArray[np.float64] | None
    ) -> Arrival:
        depth, latency = self._depth(), self._tick - request.tick
        self._latencies.append(latency)
        former, self._predicted = self._predicted, chunk
        compared = compare_chunks(former, chunk)
        if self._alignment == FIRST:
            chunk = chunk.moved_to(self._executed)
        first = chunk.step_at(self._executed)
        stalls, self._stalls = self._stalls, 0
        before = origin if self._last is None else self._last
        is_used = self._execution.add(chunk, self._executed, source, before)
        return Arrival(is_used, depth, stalls, compared, first, latency)

    def _clear(self) -> None:
        self._generation += 1
        self._execution.clear()
        self._predicted = self._last = self._source = self._requested = None
        self._executed = self._tick = self._stalls = 0

    def _depth(self) -> int:
        return self._execution.depth(self._executed, self._period)

    def _threshold(self) -> int:
        if self._prefetch != AUTOMATIC:
            return self._prefetch
        return max(self._latencies, default=0) + PREFETCH_MARGIN

    def _is_wanted(self) -> bool:
        if not self._is_open:
            return False
        if self._requested is not None and self._tick <= self._requested.tick:
            return False  # what is done already, or failed, is not done again in the same tick
        if self.mode != ENSEMBLING:
            return self._depth() <= self._threshold()
        if self._predicted is None or not self._depth():
            return True
        steps = max(1, self._n_action_steps)
        return self._executed >= self._predicted.start + steps * self._period
