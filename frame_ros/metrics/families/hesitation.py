# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Hesitation in the executed actions: direction reversals, and commands that move nothing."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import islice
from math import dist
from operator import ne
from typing import Any

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics import record
from frame_ros.metrics.arrays import (
    Array,
    as_sequences,
    checked_count,
    difference,
    like,
    norm,
    pad_nan,
)
from frame_ros.metrics.constants import NAN, STATIC_THRESHOLD, WINDOW
from frame_ros.metrics.engine.samples import finite

__all__ = ['ReversalShare', 'Stagnation', 'reversal_share', 'stagnation']


def reversal_share(actions: Any, window: int = WINDOW) -> Array:
    """Share of sign changes of the action's differences within a window, over all dimensions.

    A difference of 0 has no sign: next to it nothing reverses.

    Args:
        actions: (..., T, D), T >= 1.
        window: actions in the window, 3 or more: it has `window` - 2 possible reversals.

    Returns:
        (..., T) in [0, 1] of the window that ends at each step; NaN in the first `window` - 1.

    Raises:
        ShapeError: another shape.
        ValueRangeError: a value is not finite, or the window is below 3.

    Source: arXiv 2605.28726.
    """
    _check_window(window, 3)
    xp, values = as_sequences(actions, 1, 'actions')
    dimension = values.shape[-1]
    if values.shape[-2] < window:
        return pad_nan(xp, values[..., :0, 0], values.shape[-2])
    is_up, is_down = (xp.astype(side, xp.int64) for side in _signs(difference(values, 1)))
    turns = is_up[..., 1:, :] * is_down[..., :-1, :] + is_down[..., 1:, :] * is_up[..., :-1, :]
    counts = _window_sums(xp.sum(turns, axis=-1), window - 2)
    shares = xp.astype(counts, values.dtype) / (dimension * (window - 2))
    return pad_nan(xp, shares, window - 1)


def stagnation(
    actions: Any, positions: Any, threshold: float = STATIC_THRESHOLD, window: int = WINDOW
) -> Array:
    """Share of the steps of a window that changed the action, while the TCP stayed where it is.

    Args:
        actions: (..., T, D), T >= 1.
        positions: (..., T, 2 or 3) of the TCP at the same steps, m.
        threshold: m; a TCP that was further than this from its newest position, at any step of the
            window, has moved, and the share is 0.
        window: steps in the window, 2 or more: it has `window` - 1 changes of the action.

    Returns:
        (..., T) in [0, 1] of the window that ends at each step; NaN in the first `window` - 1.

    Raises:
        ShapeError: another shape, or not as many positions as actions.
        ValueRangeError: a value is not finite, the window is below 2, or a threshold that is not
            positive.
    """
    _check_window(window, 2)
    _check_threshold(threshold)
    xp, values = as_sequences(actions, 1, 'actions')
    points = like(values, as_sequences(positions, 1, 'positions')[1], 'positions')
    if points.shape[:-1] != values.shape[:-1]:
        raise ShapeError(
            f'positions have shape {tuple(points.shape)} for actions of shape '
            f'{tuple(values.shape)}; one position for each action is expected'
        )
    if values.shape[-2] < window:
        return pad_nan(xp, values[..., :0, 0], values.shape[-2])
    is_changed = xp.any(values[..., 1:, :] != values[..., :-1, :], axis=-1)
    counts = _window_sums(xp.astype(is_changed, xp.int64), window - 1)
    newest = points[..., window - 1 :, :]
    steps = newest.shape[-2]
    has_stayed = counts == counts
    for first in range(window - 1):
        has_stayed = has_stayed & (
            norm(xp, newest - points[..., first : first + steps, :]) < threshold
        )
    shares = xp.astype(counts, values.dtype) / (window - 1)
    return pad_nan(xp, xp.where(has_stayed, shares, 0.0), window - 1)


def _signs(changes: Array) -> tuple[Array, Array]:
    return changes > 0, changes < 0


def _window_sums(counts: Array, width: int) -> Array:
    """Sums of `width` successive counts, (..., T) -> (..., T - width + 1)."""
    steps = counts.shape[-1] - width + 1
    total = counts[..., :steps]
    for first in range(1, width):
        total = total + counts[..., first : first + steps]
    return total


def _check_window(window: int, least: int) -> None:
    checked_count(window, 'window', least)


def _check_threshold(threshold: float) -> None:
    if not threshold > 0.0:
        raise ValueRangeError(f'threshold is {threshold} m; a positive distance is expected')


class ReversalShare:
    """Share of direction reversals of the last `window` actions, `value`; NaN while they are fewer.

    Batch form: `reversal_share`.
    """

    def __init__(self, window: int = WINDOW) -> None:
        _check_window(window, 3)
        self._window = window
        self._actions: deque[list[float]] = deque(maxlen=window)
        self.gaps = 0

    def reset(self) -> None:
        """Forgets everything."""
        self._actions.clear()
        self.gaps = 0

    def reset_differences(self) -> None:
        """After a gap: no reversal spans it, and a new window begins."""
        self.gaps += bool(self._actions)
        self._actions.clear()

    def update(self, action: Sequence[float]) -> None:
        """Takes one executed action, D values.

        Raises:
            ShapeError: not as many values as before.
            ValueRangeError: a value is not finite. Nothing has changed in either case.
        """
        actions = self._actions
        actions.append(finite(action, (len(actions[-1]),) if actions else (), 'action'))

    @property
    def value(self) -> float:
        """Share of the window, in [0, 1]."""
        actions = self._actions
        if len(actions) < self._window:
            return NAN
        turns = 0
        for positions in zip(*actions):
            before = positions[0]
            last = 0.0
            for position in positions:
                # Signs, not the product: that of two tiny numbers is 0.
                change = position - before
                turns += (last > 0.0 > change) or (last < 0.0 < change)
                before, last = position, change
        return turns / (len(actions[0]) * (self._window - 2))


class Stagnation:
    """Share of the last `window` steps that changed the action while the TCP stayed, `value`.

    NaN while there are fewer steps, or one of them has no position. Batch form: `stagnation`.
    """

    def __init__(self, threshold: float = STATIC_THRESHOLD, window: int = WINDOW) -> None:
        """threshold: m, as of the batch form."""
        _check_window(window, 2)
        _check_threshold(threshold)
        self._threshold = threshold
        self._window = window
        self._actions: deque[Sequence[float]] = deque(maxlen=window)
        self._positions: deque[Sequence[float] | None] = deque(maxlen=window)
        self.gaps = 0

    def reset(self) -> None:
        """Forgets everything."""
        self.reset_differences()
        self.gaps = 0

    def reset_differences(self) -> None:
        """After a gap: a new window begins."""
        self.gaps += bool(self._actions)
        self._actions.clear()
        self._positions.clear()

    def update(self, action: Sequence[float], position: Sequence[float] | None) -> None:
        """Takes one step: the executed action, D plain floats, kept, so they must not change, and
        the TCP's position, m; None: it is not known.
        """
        self._actions.append(action)
        self._positions.append(position)

    @property
    def value(self) -> float:
        """Share of the window, in [0, 1]."""
        actions, newest = self._actions, self._positions[-1] if self._positions else None
        if len(actions) < self._window or newest is None:
            return NAN
        has_moved = False
        for position in self._positions:
            if position is None:
                return NAN
            has_moved = has_moved or dist(newest, position) >= self._threshold
        if has_moved:
            return 0.0
        changes = sum(map(ne, actions, islice(actions, 1, None)))
        return changes / (self._window - 1)


def _take_action(metric: ReversalShare, action: Sequence[float]) -> None:
    metric.update(action)


_CHART = record.Chart('Direction reversals and stagnation (window of 8)')

REVERSALS = record.Metric(
    id='reversals', name='direction reversals', unit='1', higher_is_better=False,
    minimum_samples=WINDOW, source='arXiv 2605.28726', category='uncertainty',
    reasons=(record.TOO_FEW_ACTIONS,), batch=reversal_share, streaming=ReversalShare,
    live=record.Live('action', _take_action), messages=('confidence',), of_moments=record.MEAN,
    sampled_at=record.CONTROL_STEPS, options=('continuous', 'gap'),
    line=record.Line(_CHART, 'reversals'),
    formula='share of sign(aᵢ − aᵢ₋₁) = −sign(aᵢ₋₁ − aᵢ₋₂)  over the last 8 executed actions',
    shows='How often the executed actions turn back: a policy that dithers between two ways.',
    misleads=f'{record.RATE}A joint that should stand still and trembles by rounding counts as '
        'much as one that swings. Quantised actions, and held ones, have differences of 0, which '
        'reverse nothing. A task that shakes or wipes reverses on purpose.',
)  # fmt: skip

STAGNATION = record.Metric(
    id='stagnation', name='stagnation', unit='1', higher_is_better=False, minimum_samples=WINDOW,
    category='uncertainty', batch=stagnation,
    reasons=(
        record.TOO_FEW_ACTIONS,
        record.Reason(f'no end-effector pose at one of the last {WINDOW} steps', record.Lack.POSE),
    ),
    streaming=Stagnation, messages=('confidence',), of_moments=record.MEAN,
    sampled_at=record.CONTROL_STEPS, options=('static_threshold', 'gap'),
    line=record.Line(_CHART, 'stagnation'),
    formula='share of the last 8 steps with aᵢ ≠ aᵢ₋₁, if the TCP stayed within the static '
        'threshold of its position; else 0',
    shows='Commands that move nothing: the policy goes on acting, and the arm is blocked, or '
        'shakes on the spot.',
    misleads='Slow careful motion stays within the threshold too: at 30 Hz all below 2 cm/s. A '
        'policy that waits for something with the gripper in place trembles likewise. It says '
        'nothing of an arm that follows a hopeless plan.',
)  # fmt: skip
