# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Combines chunks into the action of a tick.

The newest replaces the others, with or without a blend, or all that predict the tick are averaged.
Each goes from the action sent before it through its rows, see `Motion`. Joints that turn without
end go the short way, in the turns of the newest chunk. Time is that of executed
actions, ns, as in `action_queue`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from frame_ros.policies.execution.chunk import Chunk
from frame_ros.policies.execution.interpolation import Array, Motion


class Execution(Protocol):
    """Holds the chunks of one episode."""

    def add(self, chunk: Chunk, time: int, source: Any, origin: Array | None = None) -> bool:
        """Takes a chunk at `time`; False if all its steps have passed, so that it is left out.

        Args:
            source: where it comes from.
            origin: (D,), the action before it; None: there was none.
        """

    def clear(self) -> None:
        """Forgets all chunks."""

    def depth(self, time: int, period: int) -> int:
        """Returns how many ticks, `period` apart from `time` on, can be served."""

    def next_action(self, time: int) -> tuple[NDArray[np.float64], Any]:
        """Returns the action (D,) at `time`, once for each tick, and the source of its newest
        chunk. There must be one: `depth` is more than 0.
        """


@dataclass
class _Layer:
    """A chunk in execution."""

    motion: Motion
    end: int  # the step before which it stops
    source: Any
    ticks: int = 0  # how many were executed since

    @property
    def chunk(self) -> Chunk:
        """The chunk that is executed."""
        return self.motion.chunk


class Replacement:
    """The newest chunk replaces the former.

    Args:
        n_action_steps: largest number of steps executed of each chunk; 0 is all.
        blend: number of ticks over which the newest chunk comes in linearly, with weights 1 /
            (blend + 1) to blend / (blend + 1), over what would have been executed without it: the
            former chunk's prediction, or its last action; 0 changes over at once. A change of d
            between the chunks then never moves an action by more than d / (blend + 1), twice that
            where the newest is interpolated from what was sent before it.
        period: ns between two ticks; the rows of chunks that are further apart are interpolated; 0:
            every row is sent whole.
    """

    def __init__(self, n_action_steps: int = 0, blend: int = 0, period: int = 0) -> None:
        self._n_action_steps, self._blend, self._period = n_action_steps, blend, period
        self._layers: list[_Layer] = []  # the newest last; the first in full, or fading

    def add(self, chunk: Chunk, time: int, source: Any, origin: Array | None = None) -> bool:
        """See `Execution`."""
        first, length = chunk.step_at(time), len(chunk.actions)
        if first >= length:
            return False
        end = min(length, first + (self._n_action_steps or length))
        if not self._blend:
            self._layers.clear()
        self._layers.append(_Layer(Motion(chunk, time, origin, self._period), end, source))
        return True

    def clear(self) -> None:
        """See `Execution`."""
        self._layers.clear()

    def depth(self, time: int, period: int) -> int:
        """See `Execution`."""
        if not self._layers:
            return 0
        newest = self._layers[-1]
        return newest.chunk.ticks_until(newest.end, time, period)

    def next_action(self, time: int) -> tuple[NDArray[np.float64], Any]:
        """See `Execution`."""
        action: NDArray[np.float64] | None = None
        for number, layer in enumerate(self._layers):
            layer.ticks += 1
            is_newest = layer is self._layers[-1]
            end = layer.end if is_newest else len(layer.chunk.actions)
            own = layer.motion.action_at(time, end)
            if action is None or layer.ticks > self._blend:
                action, full = own, number
            else:
                share = layer.ticks / (self._blend + 1)
                action = (1.0 - share) * layer.chunk.near(action, own) + share * own
        assert action is not None
        del self._layers[:full]
        return action, self._layers[-1].source


class Ensemble:
    """The weighted mean over all chunks that predict the tick: temporal ensembling (Zhao et al.
    2023, section IV-B).

    Args:
        coefficient: m of the weights exp(-m i), i = 0 for the oldest chunk that predicts the tick:
            the smaller it is, the sooner new observations count; 0 is the plain mean, below 0 the
            newest weighs most. Of chunks that begin at the same time only the newest counts.
        period: as of `Replacement`.
    """

    def __init__(self, coefficient: float, period: int = 0) -> None:
        self._coefficient, self._period = coefficient, period
        self._layers: list[_Layer] = []

    def add(self, chunk: Chunk, time: int, source: Any, origin: Array | None = None) -> bool:
        """See `Execution`."""
        if chunk.step_at(time) >= len(chunk.actions):
            return False
        self._layers = [layer for layer in self._layers if layer.chunk.start != chunk.start]
        motion = Motion(chunk, time, origin, self._period)
        self._layers.append(_Layer(motion, len(chunk.actions), source))
        return True

    def clear(self) -> None:
        """See `Execution`."""
        self._layers.clear()

    def depth(self, time: int, period: int) -> int:
        """See `Execution`."""
        return max(
            (layer.chunk.ticks_until(layer.end, time, period) for layer in self._layers), default=0
        )

    def next_action(self, time: int) -> tuple[NDArray[np.float64], Any]:
        """See `Execution`."""
        self._layers = [layer for layer in self._layers if layer.chunk.step_at(time) < layer.end]
        rows = [layer.motion.action_at(time, layer.end) for layer in self._layers]
        rows = [self._layers[-1].chunk.near(row, rows[-1]) for row in rows]
        weights = ensemble_weights(len(rows), self._coefficient)
        return weights @ np.array(rows), self._layers[-1].source


def ensemble_weights(count: int, coefficient: float) -> NDArray[np.float64]:
    """(count,) weights exp(-coefficient * i), i = 0 first; they add up to 1."""
    exponents = -coefficient * np.arange(count)
    weights = np.exp(exponents - exponents.max())
    return weights / weights.sum()
