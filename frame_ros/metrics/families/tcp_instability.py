# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Instability and motion of the TCP: differences of its position (VLA-UQ eq. 17, 19, 21)."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot
from typing import Any

from frame_ros.metrics import record
from frame_ros.metrics.arrays import Array, as_points, check_variant, mean_magnitude, norm, pad_nan
from frame_ros.metrics.constants import WINDOW
from frame_ros.metrics.contiguous_samples import runs_of
from frame_ros.metrics.engine.samples import finite
from frame_ros.metrics.engine.trajectory_step import TrajectoryStep
from frame_ros.metrics.record import RATE
from frame_ros.metrics.step_differences import (
    VARIANTS,
    StreamingInstability,
    authors_window,
    check_order,
    divided_differences,
)

__all__ = [
    'TCPInstability', 'tcp_instability', 'TCP_SPEED', 'TCP_ACCELERATION', 'TCP_JERK',
    'TCP_POSITION_INSTABILITY', 'TCP_VELOCITY_INSTABILITY', 'TCP_ACCELERATION_INSTABILITY',
]  # fmt: skip


def tcp_instability(
    positions: Any, order: int, dt: Any = None, variant: str = 'paper', breaks: Any = None
) -> Array:
    """Norm of the n-th difference of the TCP position. VLA-UQ eq. 17, 19, 21.

    Args:
        positions: (..., T, 2 or 3), m, T > order.
        order: 1 (TCP-PI), 2 (TCP-VI) or 3 (TCP-AI).
        dt: None, or the s between samples, a scalar or (..., T - 1): then rates in m/s^order.
        variant: 'paper'; or 'authors': mean over axes of the absolute differences instead of the
            norm, then as for `action_instability`.
        breaks: (T,) or (..., T) booleans, as for `action_instability`; the dt across a break does
            not count, and may be anything.

    Returns:
        (..., T), m or m/s^order, NaN in the first `order` steps.

    Raises:
        ShapeError: another shape, or too few samples.
        ValueRangeError: a value is not finite, dt is not positive, unknown order or variant.
    """
    check_order(order)
    check_variant(variant, VARIANTS)
    xp, points = as_points(positions, order + 1)
    runs = runs_of(breaks, points)
    changes, unit = divided_differences(points, dt, order, runs)
    size = mean_magnitude if variant == 'authors' else norm
    steps = size(xp, changes, overwrite=True)
    if unit is not None:
        steps = steps / unit
    if variant == 'authors':
        return authors_window(xp, steps, order, runs)
    return pad_nan(xp, runs.masked(xp, steps), order)


class TCPInstability(StreamingInstability):
    """TCP-PI, -VI or -AI (order 1, 2, 3), m: `step`, `value` (window), `mean`, `gaps`.

    Batch form: `tcp_instability`, whose newest value is `step`.
    """

    def __init__(self, order: int, window: int = WINDOW, variant: str = 'paper') -> None:
        """`variant`: as of the batch form; with 'authors' `window` does not count.

        Raises:
            ValueRangeError: an unknown order or variant, or a window that order does not fit in.
        """
        super().__init__(order, window, variant)

    def update(self, position: Sequence[float]) -> None:
        """Takes one TCP position, 2 or 3 values, m.

        Raises:
            ShapeError: another number of values than 2 or 3, or than before.
            ValueRangeError: a value is not finite. Nothing has changed in either case.
        """
        point = finite(position, (2, 3), 'position')
        self._take(self._differences.update(point), self._size)

    def _size(self, change: list[float]) -> float:
        return sum(map(abs, change)) / len(change) if self._is_authors else hypot(*change)


def _take_position(metric: TCPInstability, pose: record.PoseSample) -> None:
    metric.update(pose.position)


_CHART = record.Chart('TCP instability (window of 8)', is_logarithmic=True)

_RATES = (
    'Raw differences are divided by the time between stamps, so noise of the pose is amplified '
    'more the higher the rate: 0.1 mm of noise at 30 Hz is '
)
_GAPS = 'A gap in the stamps resets the differences and is counted.'
_AUTHORS = (
    "`authors`: mean over axes of absolute differences, averaged over the newest 5, as the paper's "
    'code does'
)
_STATIC = 'A robot that does not move scores best: static episodes are marked and left out.'

TCP_SPEED = record.Metric(
    id='tcp_speed', name='TCP speed', unit='m/s', higher_is_better=None, minimum_samples=2,
    source=record.OURS, category='trajectory', reasons=(record.NO_POSE, record.TOO_FEW_STEPS),
    batch=tcp_instability, fused=TrajectoryStep, messages=('quality',), of_moments=record.MEAN,
    counts_when_static=False, options=('low_pass_cutoff', 'max_pose_age', 'gap'),
    line=record.Line(record.Chart('TCP speed'), 'speed'),
    explanation=record.Explanation(
        'v = ‖pₜ − pₜ₋₁‖ / (tₜ − tₜ₋₁)',
        'How fast the end effector moves at this step. Neither high nor low is better.',
        f'{_RATES}up to 6 mm/s of speed. The mean over an episode includes pauses.',
    ),
)  # fmt: skip

TCP_ACCELERATION = record.Metric(
    id='tcp_acceleration', name='TCP acceleration', unit='m/s^2', higher_is_better=False,
    minimum_samples=3, source=record.OURS, category='trajectory',
    reasons=(record.NO_POSE, record.TOO_FEW_STEPS), batch=tcp_instability, fused=TrajectoryStep,
    messages=('quality',), of_moments=record.MEAN, counts_when_static=False,
    options=('low_pass_cutoff', 'max_pose_age', 'gap'),
    explanation=record.Explanation(
        'a = ‖vₜ − vₜ₋₁‖ / ½(tₜ − tₜ₋₂)     v: velocity vectors',
        'How hard the end effector speeds up, slows down or turns at this step.',
        f'{_RATES}up to 0.4 m/s² of acceleration. {RATE}',
    ),
)  # fmt: skip

TCP_JERK = record.Metric(
    id='tcp_jerk', name='TCP jerk', unit='m/s^3', higher_is_better=False, minimum_samples=4,
    source='VLA-UQ eq. 24', category='trajectory', reasons=(record.NO_POSE, record.TOO_FEW_STEPS),
    batch=tcp_instability, fused=TrajectoryStep, messages=('quality',), of_moments=record.MEAN,
    counts_when_static=False, options=('low_pass_cutoff', 'max_pose_age', 'gap'),
    line=record.Line(record.Chart('TCP jerk'), 'jerk'),
    explanation=record.Explanation(
        'j = ‖aₜ − aₜ₋₁‖ / ⅓(tₜ − tₜ₋₃)     a: acceleration vectors',
        'How abruptly the acceleration changes at this step: the spikes that TI averages. The 3D '
        'path of the report is coloured by it.',
        f'{_RATES}up to about 20 m/s³ of jerk. {RATE}{_GAPS}',
    ),
)  # fmt: skip

TCP_POSITION_INSTABILITY = record.Metric(
    id='tcp_pi', name='TCP position instability', unit='m', higher_is_better=False,
    minimum_samples=2, source='VLA-UQ eq. 17', category='trajectory',
    reasons=(record.NO_POSE, record.TOO_FEW_STEPS), batch=tcp_instability, streaming=TCPInstability,
    live=record.Live('pose', _take_position, lambda options: TCPInstability(1)),
    fused=TrajectoryStep, torch='TCPInstability', messages=('quality',), has_three_forms=True,
    counts_when_static=False, sampled_at=record.CONTROL_STEPS,
    options=('low_pass_cutoff', 'max_pose_age', 'gap'), line=record.Line(_CHART, 'position'),
    explanation=record.Explanation(
        'qₜ = ‖pₜ − pₜ₋₁‖',
        'How far the end effector moves per step. The paper takes large values for unsteady '
        'motion.',
        f'It is speed times the period: a fast, perfectly smooth motion scores badly. {RATE}'
        f'{_STATIC}',
        _AUTHORS + '.',
    ),
)  # fmt: skip

TCP_VELOCITY_INSTABILITY = record.Metric(
    id='tcp_vi', name='TCP velocity instability', unit='m', higher_is_better=False,
    minimum_samples=3, source='VLA-UQ eq. 19', category='trajectory',
    reasons=(record.NO_POSE, record.TOO_FEW_STEPS), batch=tcp_instability, streaming=TCPInstability,
    live=record.Live('pose', _take_position, lambda options: TCPInstability(2)),
    fused=TrajectoryStep, torch='TCPInstability', messages=('quality',), has_three_forms=True,
    counts_when_static=False, sampled_at=record.CONTROL_STEPS,
    options=('low_pass_cutoff', 'max_pose_age', 'gap'), line=record.Line(_CHART, 'velocity'),
    explanation=record.Explanation(
        'qₜ = ‖pₜ − 2 pₜ₋₁ + pₜ₋₂‖',
        'How much the velocity changes from step to step.',
        f'Starting and stopping on purpose counts. {RATE}Twice the rate makes it a quarter of a '
        f'smooth motion, and hardly less of noise. {_STATIC}',
        _AUTHORS + ' and halved.',
    ),
)  # fmt: skip

TCP_ACCELERATION_INSTABILITY = record.Metric(
    id='tcp_ai', name='TCP acceleration instability', unit='m', higher_is_better=False,
    minimum_samples=4, source='VLA-UQ eq. 21', category='trajectory',
    reasons=(record.NO_POSE, record.TOO_FEW_STEPS), batch=tcp_instability, streaming=TCPInstability,
    live=record.Live('pose', _take_position, lambda options: TCPInstability(3)),
    fused=TrajectoryStep, torch='TCPInstability', messages=('quality',), has_three_forms=True,
    counts_when_static=False, sampled_at=record.CONTROL_STEPS,
    options=('low_pass_cutoff', 'max_pose_age', 'gap'), line=record.Line(_CHART, 'acceleration'),
    explanation=record.Explanation(
        'qₜ = ‖pₜ − 3 pₜ₋₁ + 3 pₜ₋₂ − pₜ₋₃‖',
        'How much the acceleration changes from step to step: trembling and jolts.',
        f'{RATE}Noise of the pose enters with a factor of up to 8: at high rates it is all that '
        f'is seen. {_STATIC}',
        _AUTHORS + ' and quartered.',
    ),
)  # fmt: skip
