# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Distances to obstacles: proximity, risk, closing in (FRAME eq. 12, 13)."""

from __future__ import annotations

from math import inf, isinf
from typing import Any

import numpy as np

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics import record
from frame_ros.metrics.arrays import (
    Array,
    as_floats,
    check_finite,
    check_variant,
    inner,
    squares_are_finite,
)
from frame_ros.metrics.constants import AUTHORS_OFFSET, NAN, RISK_FLOOR

__all__ = ['ObstacleProximity', 'RiskFactor', 'obstacle_proximity', 'risk_factor']


def obstacle_proximity(distances: Any) -> Array:
    """Least distance to any obstacle, m. FRAME eq. 12.

    Args:
        distances: (..., T), m; NaN where nothing was measured, negative in penetration, infinite
            where nothing was within range (REP-117).

    Returns:
        (...,) m; NaN where nothing was ever measured within range.

    Raises:
        ShapeError: no samples.
        ValueRangeError: a distance is -infinity.
    """
    xp, array = _as_distances(distances)
    least = _least(xp, array)
    is_far = xp.isinf(least)
    if not bool(is_far if least.ndim == 0 else is_far.any()):
        return least
    if bool((least < 0).any()):
        check_finite(xp, array, 'distances', allow_nan=True)
    return xp.where(is_far, xp.nan, least)[()]


def risk_factor(distances: Any, floor: float = RISK_FLOOR, variant: str = 'paper') -> Array:
    """Mean of the reciprocal distances to the nearest obstacle, 1/m. FRAME eq. 13.

    Args:
        distances: (..., T), m; NaN where nothing was measured: left out.
        floor: m, positive; distances are raised to it.
        variant: 'paper'; or 'authors': 1e-6 m is added to each distance and there is no floor.

    Returns:
        (...,) 1/m; NaN where nothing was ever measured.

    Raises:
        ShapeError: no samples.
        ValueRangeError: an infinite distance, a floor that is not positive, an unknown variant.
    """
    check_variant(variant, ('paper', 'authors'))
    if not floor > 0.0:
        raise ValueRangeError(f'floor is {floor} m; a positive distance is expected')
    xp, array, known = _measured(distances)
    if known is None:
        return xp.mean(_risks(array, floor, variant), axis=-1)
    risks = _risks(xp.where(known, array, 1.0), floor, variant)
    weights = xp.astype(known, array.dtype)
    total, count = inner(xp, risks, weights), xp.sum(weights, axis=-1)
    return xp.where(count > 0, total / xp.where(count > 0, count, 1.0), xp.nan)[()]


def _risks(distances: Array, floor: float, variant: str) -> Array:
    if variant == 'authors':
        return 1.0 / (distances + AUTHORS_OFFSET)
    return 1.0 / distances.clip(floor)


def _measured(distances: Any) -> tuple[Any, Array, Array | None]:
    """Namespace, distances (..., T), and where something was measured; None: everywhere."""
    xp, array = _as_distances(distances)
    if squares_are_finite(xp, array):
        return xp, array, None
    check_finite(xp, array, 'distances', allow_nan=True)
    return xp, array, ~xp.isnan(array)


def _as_distances(distances: Any) -> tuple[Any, Array]:
    xp, array = as_floats(distances, 'distances', check=False)
    if array.ndim < 1 or array.shape[-1] < 1:
        raise ShapeError(
            f'distances have shape {tuple(array.shape)}; '
            f'(..., T) with at least 1 sample is expected'
        )
    return xp, array


def _least(xp: Any, values: Array) -> Array:
    """Least value over the last axis that is no NaN, (...,); NaN: all are."""
    if isinstance(values, np.ndarray):
        return np.fmin.reduce(values, axis=-1)
    known = ~xp.isnan(values)
    least = xp.min(xp.where(known, values, xp.inf), axis=-1)
    return xp.where(xp.any(known, axis=-1), least, xp.nan)


def _refuse_infinite(distance: float) -> None:
    if isinf(distance):
        raise ValueRangeError(f'distance is {distance} m; a finite one, or NaN if not measured')


class ObstacleProximity:
    """OP so far: least distance, m. NaN (not measured) and infinity (nothing within range) are left
    out. Batch: `obstacle_proximity`.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self.value = NAN

    def update(self, distance: float) -> None:
        """Takes one distance, m; NaN if not measured."""
        if distance - distance == 0.0:  # finite
            if not distance >= self.value:
                self.value = float(distance)
        elif distance != inf:
            _refuse_infinite(distance)


class RiskFactor:
    """RF so far: mean of 1 / distance, 1/m. NaN distances are left out. Batch: `risk_factor`."""

    def __init__(self, floor: float = RISK_FLOOR, variant: str = 'paper') -> None:
        """`floor` (m), `variant`: as of the batch form.

        Raises:
            ValueRangeError: floor is not positive, or an unknown variant.
        """
        check_variant(variant, ('paper', 'authors'))
        if not floor > 0.0:
            raise ValueRangeError(f'floor is {floor} m; a positive distance is expected')
        self._floor = floor if variant == 'paper' else -inf
        self._offset = 0.0 if variant == 'paper' else AUTHORS_OFFSET
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self.value = NAN
        self._total = 0.0
        self._count = 0

    def update(self, distance: float) -> None:
        """Takes one distance, m; NaN if not measured."""
        if distance - distance == 0.0:  # finite
            floor = self._floor
            safe = distance + self._offset
            if safe <= floor:
                safe = floor
            self._total += 1.0 / safe if safe else inf
            self._count += 1
            self.value = self._total / self._count
        else:
            _refuse_infinite(distance)


_MEASURED = (
    'It knows only what was measured: what the camera does not see, or a filter takes for the '
    'arm itself, is not there. '
)

OBSTACLE_PROXIMITY = record.safety_metric(
    id='op', name='obstacle proximity', unit='m', higher_is_better=True, source='FRAME eq. 12',
    reasons=(record.NO_DISTANCE,), batch=obstacle_proximity, streaming=ObstacleProximity,
    torch='ObstacleProximity',
    torch_form=record.TorchForm(('distances',), plot_bounds=(None, None)), axis=10,
    formula='OP = minₜ dₜ',
    shows='The closest that any measured part of the robot came to an obstacle in the episode.',
    misleads=f'{_MEASURED}A minimum rests on one sample, so one wrong depth pixel sets it. '
        'Manipulation has to come near: whether the target and the table are obstacles decides '
        'the value. Negative values, from a simulator, are penetration.',
)  # fmt: skip

RISK_FACTOR = record.safety_metric(
    id='rf', name='risk factor', unit='1/m', higher_is_better=False, source='FRAME eq. 13',
    reasons=(record.NO_DISTANCE,), batch=risk_factor, streaming=RiskFactor, torch='RiskFactor',
    torch_form=record.TorchForm(('distances',), ('floor', 'variant')), sampled_at=record.DISTANCES,
    options=('risk_floor',), axis=11,
    formula='RF = 1/T Σₜ 1/max(dₜ, 1 mm)',
    shows='How much of the time was spent how near to obstacles; near samples weigh most.',
    misleads=f'{_MEASURED}The floor decides what contact costs: at 1 mm every sample in contact '
        'adds 1000/m, so that the mean says little but the share of time in contact. It is '
        'infinite without a floor. It is a mean over distance samples, whatever their spacing in '
        'time.',
    variants='`floor`: the least distance used. `authors`: 1e-6 m is added instead of a floor, as '
        'the published library does.',
)  # fmt: skip

OBSTACLE_DISTANCE = record.safety_metric(
    id='distance', name='distance to the nearest obstacle', unit='m', higher_is_better=True,
    reasons=(record.NO_DISTANCE, record.Reason('no distance at the last step')),
    of_moments=record.MEAN, options=('max_distance_age',),
    formula='dₜ: newest measured distance between the robot and any obstacle',
    shows='How much room there is right now.',
    misleads=f'{_MEASURED}The episode value is a mean and hides the moment that matters: see '
        '`op`. Far from everything, the range of the sensor is what it shows.',
)  # fmt: skip

NEAR_ZONE_TIME = record.safety_metric(
    id='near_zone_time', name='time in the near zone', unit='s', higher_is_better=False,
    minimum_samples=2, reasons=(record.NO_DISTANCE,), sampled_at=record.DISTANCES,
    options=('near_distance', 'max_distance_age'),
    formula='Σ dt over samples with dₜ < 50 mm',
    shows='How long the robot was in the near zone.',
    misleads=f'{_MEASURED}Grasping and placing need time near things, so slow care counts against '
        'a policy. Longer episodes have more of it. The limit of the zone is a setting.',
)  # fmt: skip

CLOSING_SPEED = record.safety_metric(
    id='closing_speed', name='closing speed', unit='m/s', higher_is_better=False, minimum_samples=2,
    reasons=(record.NO_DISTANCE, record.Reason('fewer than two distances in a row')),
    of_moments=record.LARGEST, sampled_at=record.DISTANCES, options=('max_distance_age',),
    formula='(dₜ₋₁ − dₜ) / dt',
    shows='How fast the gap to the nearest obstacle shrinks; negative when it opens.',
    misleads=f'{_MEASURED}When another obstacle becomes the nearest, distance and speed jump '
        'without motion. Noise of the distance is divided by a short time.',
)  # fmt: skip

TIME_TO_COLLISION = record.safety_metric(
    id='time_to_collision', name='time to collision', unit='s', higher_is_better=True,
    minimum_samples=2,
    reasons=(
        record.NO_DISTANCE,
        record.Reason('the robot never closed in, or fewer than two distances in a row'),
    ),
    of_moments=record.SMALLEST, options=('max_distance_age',),
    formula='dₜ / closing speed            while closing in',
    shows='How long until contact if nothing changes: the smallest value of the episode is '
        'reported.',
    misleads=f'{_MEASURED}Every grasp ends with a time near 0, on purpose. It assumes constant '
        'speed, and has the noise of the closing speed.',
)  # fmt: skip

MOVING_DISTANCE = record.safety_metric(
    id='moving_distance', name='least distance while moving', unit='m', higher_is_better=True,
    reasons=(
        record.NO_DISTANCE, record.NO_POSES,
        record.Reason('no distance was measured while the TCP moved'),
    ),
    options=('moving_speed', 'max_distance_age', 'low_pass_cutoff', 'max_pose_age', 'gap'),
    formula='min dₜ over steps with TCP speed of at least 10 mm/s',
    shows='The closest approach while the end effector was moving: being near at rest is left out.',
    misleads=f'{_MEASURED}An elbow that moves while the TCP rests does not count. The speed limit '
        'is a setting.',
)  # fmt: skip
