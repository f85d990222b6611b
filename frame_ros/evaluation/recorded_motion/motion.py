# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A motion as sampled positions of joints, and stretches drawn from several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ValueRangeError

Array = NDArray[np.float64]
PERIOD = 0.1  # s between two pictures
MOST_GAP = (
    0.25  # s between two samples; a longer one ends a piece, as nobody knows the motion in it
)
_STREAM = 0x3B  # of random numbers, apart from those of the scene


@dataclass(frozen=True)
class Motion:
    """A piece without gaps.

    Attributes:
        name: of the episode that it is of.
        times: (T,) s, increasing.
        positions: (T, J) rad or m.
    """

    name: str
    times: Array
    positions: Array

    @property
    def duration(self) -> float:
        """s."""
        return float(self.times[-1] - self.times[0]) if len(self.times) else 0.0


@dataclass(frozen=True)
class Stretch:
    """Some pictures' worth of a motion.

    Attributes:
        name: of the episode.
        start: s since the begin of its piece.
        positions: (F, J) rad or m, PERIOD apart.
    """

    name: str
    start: float
    positions: Array


def pieces(motion: Motion, is_usable: NDArray[np.bool_]) -> list[Motion]:
    """Returns a motion divided at samples that are not usable, (T,), and at gaps over MOST_GAP."""
    rows = np.flatnonzero(is_usable)
    is_cut = (np.diff(rows) > 1) | (np.diff(motion.times[rows]) > MOST_GAP)
    parts = np.split(rows, np.flatnonzero(is_cut) + 1)
    return [Motion(motion.name, motion.times[p], motion.positions[p]) for p in parts if len(p)]


def draw_stretch(motions: Sequence[Motion], frames: int, seed: int) -> Stretch:
    """Draws a stretch, each instant of all motions as likely a start as another, with linear
    interpolation between samples.

    Args:
        motions: pieces; those that are too short are never drawn.
        frames: pictures in it.
        seed: 0 or more.

    Raises:
        ValueRangeError: no motion is long enough.
    """
    span = (frames - 1) * PERIOD
    spare = np.array([motion.duration - span for motion in motions])
    # Of a motion that is just long enough there is one start: as likely as those within a period.
    weights = np.where(spare >= -1e-9, np.maximum(spare, PERIOD), 0.0)
    if not weights.any():
        longest = max((motion.duration for motion in motions), default=0.0)
        raise ValueRangeError(
            f'{frames} frames need {span:g} s of motion without a gap; there are {longest:g} s'
        )
    rng = np.random.default_rng((seed, _STREAM))
    chosen = int(rng.choice(len(motions), p=weights / weights.sum()))
    motion = motions[chosen]
    start = float(rng.uniform(0.0, max(spare[chosen], 0.0)))
    at = motion.times[0] + start + PERIOD * np.arange(frames)
    columns = [np.interp(at, motion.times, column) for column in motion.positions.T]
    return Stretch(motion.name, start, np.stack(columns, axis=1))
