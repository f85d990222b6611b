# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Instability and motion of the TCP: differences of its position (VLA-UQ eq. 17, 19, 21)."""

from __future__ import annotations

from functools import partial
from typing import Any

from frame_ros.metrics import record
from frame_ros.metrics.arrays import Array, as_points, check_variant, mean_magnitude, norm, pad_nan
from frame_ros.metrics.constants import WINDOW
from frame_ros.metrics.contiguous_samples import runs_of
from frame_ros.metrics.motion import GAPS, RATES, STATIC, motion_metric, take_position
from frame_ros.metrics.record import RATE
from frame_ros.metrics.step_differences import (
    VARIANTS,
    StreamingPositionInstability,
    authors_window,
    check_order,
    divided_differences,
)

__all__ = ['TCPInstability', 'tcp_instability']


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


class TCPInstability(StreamingPositionInstability):
    """TCP-PI, -VI or -AI (order 1, 2, 3), m: `step`, `value` (window), `mean`, `gaps`.

    Batch form: `tcp_instability`, whose newest value is `step`.
    """

    def __init__(self, order: int, window: int = WINDOW, variant: str = 'paper') -> None:
        """`variant`: as of the batch form; with 'authors' `window` does not count.

        Raises:
            ValueRangeError: an unknown order or variant, or a window that order does not fit in.
        """
        super().__init__(order, window, variant)


_CHART = record.Chart('TCP instability (window of 8)', is_logarithmic=True)

_AUTHORS = (
    "`authors`: mean over axes of absolute differences, averaged over the newest 5, as the paper's "
    'code does'
)

_derivative = partial(
    motion_metric, batch=tcp_instability, of_moments=record.MEAN, sampled_at='',
)  # fmt: skip
_instability = partial(
    motion_metric, unit='m', batch=tcp_instability, streaming=TCPInstability,
    torch='TCPInstability', has_three_forms=True,
)  # fmt: skip

TCP_SPEED = _derivative(
    id='tcp_speed', name='TCP speed', unit='m/s', higher_is_better=None, minimum_samples=2,
    line=record.Line(record.Chart('TCP speed'), 'speed'),
    formula='v = ‖pₜ − pₜ₋₁‖ / (tₜ − tₜ₋₁)',
    shows='How fast the end effector moves at this step. Neither high nor low is better.',
    misleads=f'{RATES}up to 6 mm/s of speed. The mean over an episode includes pauses.',
)  # fmt: skip

TCP_ACCELERATION = _derivative(
    id='tcp_acceleration', name='TCP acceleration', unit='m/s^2', minimum_samples=3,
    formula='a = ‖vₜ − vₜ₋₁‖ / ½(tₜ − tₜ₋₂)     v: velocity vectors',
    shows='How hard the end effector speeds up, slows down or turns at this step.',
    misleads=f'{RATES}up to 0.4 m/s² of acceleration. {RATE}',
)  # fmt: skip

TCP_JERK = _derivative(
    id='tcp_jerk', name='TCP jerk', unit='m/s^3', minimum_samples=4, source='VLA-UQ eq. 24',
    line=record.Line(record.Chart('TCP jerk'), 'jerk'),
    formula='j = ‖aₜ − aₜ₋₁‖ / ⅓(tₜ − tₜ₋₃)     a: acceleration vectors',
    shows='How abruptly the acceleration changes at this step: the spikes that TI averages. The '
        '3D path of the report is coloured by it.',
    misleads=f'{RATES}up to about 20 m/s³ of jerk. {RATE}{GAPS}',
)  # fmt: skip

TCP_POSITION_INSTABILITY = _instability(
    id='tcp_pi', name='TCP position instability', minimum_samples=2, source='VLA-UQ eq. 17',
    live=record.Live('pose', take_position, lambda options: TCPInstability(1)),
    line=record.Line(_CHART, 'position'),
    formula='qₜ = ‖pₜ − pₜ₋₁‖',
    shows='How far the end effector moves per step. The paper takes large values for unsteady '
        'motion.',
    misleads='It is speed times the period: a fast, perfectly smooth motion scores badly. '
        f'{RATE}{STATIC}',
    variants=_AUTHORS + '.',
)  # fmt: skip

TCP_VELOCITY_INSTABILITY = _instability(
    id='tcp_vi', name='TCP velocity instability', minimum_samples=3, source='VLA-UQ eq. 19',
    live=record.Live('pose', take_position, lambda options: TCPInstability(2)),
    line=record.Line(_CHART, 'velocity'),
    formula='qₜ = ‖pₜ − 2 pₜ₋₁ + pₜ₋₂‖',
    shows='How much the velocity changes from step to step.',
    misleads=f'Starting and stopping on purpose counts. {RATE}Twice the rate makes it a quarter '
        f'of a smooth motion, and hardly less of noise. {STATIC}',
    variants=_AUTHORS + ' and halved.',
)  # fmt: skip

TCP_ACCELERATION_INSTABILITY = _instability(
    id='tcp_ai', name='TCP acceleration instability', minimum_samples=4, source='VLA-UQ eq. 21',
    live=record.Live('pose', take_position, lambda options: TCPInstability(3)),
    line=record.Line(_CHART, 'acceleration'),
    formula='qₜ = ‖pₜ − 3 pₜ₋₁ + 3 pₜ₋₂ − pₜ₋₃‖',
    shows='How much the acceleration changes from step to step: trembling and jolts.',
    misleads=f'{RATE}Noise of the pose enters with a factor of up to 8: at high rates it is all '
        f'that is seen. {STATIC}',
    variants=_AUTHORS + ' and quartered.',
)  # fmt: skip
