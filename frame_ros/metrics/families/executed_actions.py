# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Instability of the executed actions (VLA-UQ eq. 2, 4, 6)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import truediv
from typing import Any

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics import record
from frame_ros.metrics.arrays import (
    Array,
    array_api_compat,
    as_sequences,
    check_variant,
    difference,
    like,
    mean_magnitude,
    pad_nan,
    pair_of,
)
from frame_ros.metrics.constants import WINDOW
from frame_ros.metrics.contiguous_samples import runs_of
from frame_ros.metrics.engine.samples import finite, normalisation_ranges
from frame_ros.metrics.engine.trajectory_step import ActionStep
from frame_ros.metrics.record import RATE
from frame_ros.metrics.step_differences import (
    VARIANTS,
    StreamingInstability,
    authors_window,
    check_order,
)

__all__ = ['ActionInstability', 'action_instability']


def action_instability(
    actions: Any, order: int, bounds: Any = None, variant: str = 'paper', breaks: Any = None
) -> Array:
    """Mean over dimensions of the absolute n-th difference of the actions. VLA-UQ eq. 2, 4, 6.

    Args:
        actions: (..., T, D), T > order.
        order: 1 (A-PI), 2 (A-VI) or 3 (A-AI).
        bounds: (lower, upper), each (D,) or a scalar: actions are normalised to [0, 1] by them.
            None: raw.
        variant: 'paper'; or 'authors': mean over the newest 5 differences, halved for order 2 and
            quartered for order 3, and 0 in the first 7 steps.
        breaks: (T,) or (..., T) booleans, True where a sample begins a new run (`find_breaks`): no
            difference spans two runs, and each run has first steps of its own.

    Returns:
        (..., T), NaN in the first `order` steps; dimensionless with bounds, else the action's unit.

    Raises:
        ShapeError: another shape, too few samples, bounds of another dimension.
        ValueRangeError: a value is not finite, lower not below upper, unknown order or variant.
    """
    check_order(order)
    check_variant(variant, VARIANTS)
    xp, values = as_sequences(actions, order + 1, 'actions')
    runs = runs_of(breaks, values)
    # Normalising is dividing differences by the range: the offset drops out, and costs no digits.
    scale = None if bounds is None else _ranges(values, bounds)
    steps = mean_magnitude(xp, difference(values, order), scale, overwrite=True)
    if variant == 'authors':
        return authors_window(xp, steps, order, runs)
    return pad_nan(xp, runs.masked(xp, steps), order)


def _ranges(actions: Array, bounds: Any) -> Array:
    """upper - lower, (D,) or a scalar, in the library of `actions`."""
    xp = array_api_compat.array_namespace(actions)
    sides = pair_of(bounds, 'bounds', 'scalars or (D,) arrays, (lower, upper),')
    lower, upper = (like(actions, side, 'bounds') for side in sides)
    for side in (lower, upper):
        if tuple(side.shape) not in ((), (actions.shape[-1],)):
            raise ShapeError(
                f'bounds have shape {tuple(side.shape)}; '
                f'a scalar or ({actions.shape[-1]},) is expected'
            )
    if not bool(xp.all(upper > lower)):
        raise ValueRangeError(
            f'bounds are {lower}, {upper}; each lower below its upper is expected'
        )
    return upper - lower


class ActionInstability(StreamingInstability):
    """A-PI, A-VI or A-AI (order 1, 2, 3): `step`, `value` (window), `mean`, `gaps`.

    Batch form: `action_instability`, whose newest value is `step`.
    """

    def __init__(
        self,
        order: int,
        bounds: tuple[Sequence[float], Sequence[float]] | None = None,
        window: int = WINDOW,
        variant: str = 'paper',
    ) -> None:
        """`variant`: as of the batch form; with 'authors' `window` does not count.

        Raises:
            ValueRangeError: an unknown order or variant, or a window that order does not fit in.
        """
        super().__init__(order, window, variant)
        self._bounds = bounds
        self._ranges: list[float] = []

    def update(self, action: Sequence[float]) -> None:
        """Takes one executed action, D values.

        Raises:
            ShapeError: not as many values as before, or as the bounds have.
            ValueRangeError: a value is not finite. Nothing has changed in either case.
        """
        values = finite(action, (), 'action')
        if self._bounds is not None and not self._ranges:
            self._ranges = normalisation_ranges(self._bounds, len(values))
        if not values or (self._ranges and len(values) != len(self._ranges)):
            wanted = len(self._ranges) or 'at least 1'
            raise ShapeError(f'action has {len(values)} values; {wanted} are expected')
        self._take(self._differences.update(values), self._size)

    def _size(self, change: list[float]) -> float:
        if self._ranges:
            change = list(map(truediv, change, self._ranges))
        return sum(map(abs, change)) / len(change)


def _take_action(metric: ActionInstability, action: Sequence[float]) -> None:
    metric.update(action)


_CHART = record.Chart('Action instability (window of 8)', is_logarithmic=True)

_action_instability = partial(
    record.Metric, unit='1', higher_is_better=False, category='uncertainty',
    reasons=(record.TOO_FEW_STEPS,), batch=action_instability, streaming=ActionInstability,
    fused=ActionStep, torch='ActionInstability', messages=('quality', 'confidence'),
    has_three_forms=True,
    # Without the limits of a robot nothing is known to scale them by.
    raw_unit='rad or m, raw', counts_when_static=False, sampled_at=record.CONTROL_STEPS,
    options=('action_lower', 'action_upper', 'continuous', 'gap'),
)  # fmt: skip

ACTION_POSITION_INSTABILITY = _action_instability(
    id='a_pi', name='action position instability', minimum_samples=2, source='VLA-UQ eq. 2',
    live=record.Live('action', _take_action, lambda options: ActionInstability(1)),
    line=record.Line(_CHART, 'position'),
    formula='uₜ = 1/D Σ_d |aₜ,d − aₜ₋₁,d|',
    shows='How much the commanded action changes per step, mean over dimensions. The paper takes '
        'it as uncertainty of the policy.',
    misleads=f'Fast motion scores badly, however smooth. {RATE}The bounds set the scale: other '
        'limits, other values. Joint targets and end-effector deltas are not comparable: a delta '
        'is a velocity already. In a mean over dimensions, a gripper that closes once shows '
        'little.',
    variants="`bounds`: actions are normalised to [0, 1] by the robot's limits; without, raw. "
        'Live and from bags, joints that turn without end count by the turn nearest the action '
        'before. '
        '`authors`: mean over the newest 5 differences, 0 in the first 7 steps.',
)  # fmt: skip

ACTION_VELOCITY_INSTABILITY = _action_instability(
    id='a_vi', name='action velocity instability', minimum_samples=3, source='VLA-UQ eq. 4',
    live=record.Live('action', _take_action, lambda options: ActionInstability(2)),
    line=record.Line(_CHART, 'velocity'),
    formula='uₜ = 1/D Σ_d |aₜ,d − 2 aₜ₋₁,d + aₜ₋₂,d|',
    shows='How much the change of the action changes: hesitation, and jumps where chunks meet.',
    misleads=f'{RATE}Policies that act in chunks are smooth inside and jump between: the mean '
        'hides the few jumps, look at the step values. Bounds set the scale.',
    variants='As A-PI; `authors` also halves it.',
)  # fmt: skip

ACTION_ACCELERATION_INSTABILITY = _action_instability(
    id='a_ai', name='action acceleration instability', minimum_samples=4, source='VLA-UQ eq. 6',
    live=record.Live('action', _take_action, lambda options: ActionInstability(3)),
    line=record.Line(_CHART, 'acceleration'),
    formula='uₜ = 1/D Σ_d |aₜ,d − 3 aₜ₋₁,d + 3 aₜ₋₂,d − aₜ₋₃,d|',
    shows='How abruptly the actions accelerate: tremor in what the policy commands, before the '
        'controller smooths it.',
    misleads=f'{RATE}Actions that are quantised (tokens) tremble by one bin whatever the policy '
        'means. A jump between two chunks shows in three steps. Bounds set the scale.',
    variants='As A-PI; `authors` also quarters it.',
)  # fmt: skip
