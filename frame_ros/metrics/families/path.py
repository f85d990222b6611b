# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Path length and path smoothness (FRAME eq. 6, 7), and whether the TCP moved at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from frame_ros.metrics import record
from frame_ros.metrics.arrays import Array, as_points, check_result, check_variant, difference, norm
from frame_ros.metrics.constants import NAN, STATIC_THRESHOLD
from frame_ros.metrics.contiguous_samples import runs_of
from frame_ros.metrics.motion import motion_metric, take_position
from frame_ros.metrics.record import RATE
from frame_ros.metrics.step_differences import StreamingPositionInstability

__all__ = ['PathLength', 'PathSmoothness', 'is_static', 'path_length', 'path_smoothness']


def path_length(positions: Any, breaks: Any = None) -> Array:
    """Sum of the distances between consecutive positions, m. FRAME eq. 6.

    Args:
        positions: (..., T, 2 or 3), m, T >= 2.
        breaks: (T,) or (..., T) booleans, True where a sample begins a new run (`find_breaks`): the
            way across does not count.

    Returns:
        (...,) m; 0 where nothing moves, NaN where no two samples are in one run.

    Raises:
        ShapeError: another shape, or fewer than 2 samples.
        ValueRangeError: a value is not finite.
    """
    xp, points = as_points(positions, 2, check=breaks is not None)
    lengths = norm(xp, difference(points), overwrite=True)
    length = runs_of(breaks, points).sum(xp, lengths)
    return check_result(xp, length, positions=points)


def path_smoothness(positions: Any, variant: str = 'paper', breaks: Any = None) -> Array:
    """Sum of the norms of the second differences over the path length. FRAME eq. 7.

    Args:
        positions: (..., T, 2 or 3), m, T >= 3.
        variant: 'paper'; or 'mean_second_difference' (also 'authors'), as the published library has
            it: the mean of the norms, in m.
        breaks: (T,) or (..., T) booleans, True where a sample begins a new run (`find_breaks`): no
            difference spans two runs.

    Returns:
        (...,) dimensionless ('paper') or m; NaN for 'paper' where the path length is 0, and where
        no run has 3 samples.

    Raises:
        ShapeError: another shape, or fewer than 3 samples.
        ValueRangeError: a value is not finite, or an unknown variant.
    """
    check_variant(variant, ('paper', 'authors', 'mean_second_difference'))
    xp, points = as_points(positions, 3, check=breaks is not None)
    runs = runs_of(breaks, points)
    first = difference(points)
    second = norm(xp, difference(first), overwrite=True)
    if variant != 'paper':
        return check_result(xp, runs.mean(xp, second), positions=points)
    length = runs.sum(xp, norm(xp, first, overwrite=True))
    moved = length > 0
    ratio = runs.sum(xp, second) / xp.where(moved, length, 1.0)
    return check_result(xp, xp.where(moved, ratio, xp.nan)[()], positions=points)


def is_static(positions: Any, threshold: float = STATIC_THRESHOLD) -> Array:
    """Returns whether the path stays within `threshold` (m) of its start. VLA-UQ, finding 9.

    The distance from the beginning, not the path length, so that sensor noise adds up to no motion.

    Args:
        positions: (..., T, 2 or 3), m, T >= 1.

    Returns:
        (...,) booleans.
    """
    xp, points = as_points(positions, 1)
    return xp.all(norm(xp, points - points[..., :1, :], overwrite=True) < threshold, axis=-1)


class PathLength(StreamingPositionInstability):
    """PL so far, m; from 2 samples on: the sum of the first differences.

    `gaps`: how often a way across one was left out. Batch form: `path_length`.
    """

    def __init__(self) -> None:
        super().__init__(1)

    @property
    def value(self) -> float:
        """The length so far."""
        return self.total


class PathSmoothness:
    """PS so far; from 3 samples on, NaN while the path length is 0. Batch: `path_smoothness`.

    `gaps`: how often differences began again.
    """

    def __init__(self, variant: str = 'paper') -> None:
        """`variant`: 'paper'; 'mean_second_difference' or 'authors', m, as of the batch form.

        Raises:
            ValueRangeError: an unknown variant.
        """
        check_variant(variant, ('paper', 'authors', 'mean_second_difference'))
        self._is_paper = variant == 'paper'
        self._length, self._bends = PathLength(), StreamingPositionInstability(2)

    def reset(self) -> None:
        """Forgets everything."""
        self._length.reset()
        self._bends.reset()

    def reset_differences(self) -> None:
        """After a gap: no difference spans it."""
        self._length.reset_differences()
        self._bends.reset_differences()

    def update(self, position: Sequence[float]) -> None:
        """Takes one position, 2 or 3 values, m; errors as of `PathLength`."""
        self._length.update(position)
        self._bends.update(position)

    @property
    def gaps(self) -> int:
        """Number of times that differences began again."""
        return self._length.gaps

    @property
    def value(self) -> float:
        """Smoothness so far."""
        if not self._is_paper:
            return self._bends.mean
        return self._bends.total / self._length.value if self._length.value > 0.0 else NAN


PATH_LENGTH = motion_metric(
    id='pl', name='path length', unit='m', minimum_samples=2, source='FRAME eq. 6',
    batch=path_length, streaming=PathLength,
    live=record.Live('pose', take_position), torch='PathLength',
    torch_form=record.TorchForm(('positions',)), axis=2, counts_when_static=True,
    formula='PL = Σᵢ ‖pᵢ₊₁ − pᵢ‖',
    shows='How far the end effector travelled. Of two episodes that succeed at one task, the '
        'shorter path wasted less motion.',
    misleads='An episode that fails early, or never moves, has a short path: compare among '
        'successes. Noise of the pose adds to every segment, so the length grows with the '
        'sampling rate; slow sampling cuts corners and shortens it. Scenes with farther objects '
        'need longer paths.',
)  # fmt: skip

PATH_SMOOTHNESS = motion_metric(
    id='ps', name='path smoothness', unit='1', minimum_samples=3, source='FRAME eq. 7',
    reasons=(record.NO_POSE, record.TOO_FEW_STEPS, record.NO_PATH), batch=path_smoothness,
    streaming=PathSmoothness,
    live=record.Live('pose', take_position),
    torch='PathSmoothness',
    torch_form=record.TorchForm(
        ('positions',), ('variant',), unit=lambda o: '1' if o['variant'] == 'paper' else 'm',
    ),
    axis=3,
    formula='PS = 1/PL Σᵢ ‖(pᵢ₊₂ − pᵢ₊₁) − (pᵢ₊₁ − pᵢ)‖',
    shows='How much the motion changes from step to step, relative to how far it went. Lower is '
        'smoother; hesitation and oscillation raise it.',
    misleads=f'{RATE}For one smooth motion, sampling twice as often halves the sum; with noise in '
        'the pose it grows with the rate instead. Pauses cost little path, so many short moves '
        'look rough. A low-pass filter lowers it: reports state the cut-off. Comparing values of '
        'PS between publications needs rate and variant.',
    variants='`paper`: as above. `mean_second_difference` (also `authors`), as the published '
        'library robometric-frame 0.3.0 has it: the mean norm of the second differences, in m.',
)  # fmt: skip
