# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The time by which a force-torque sensor's stamps are later than those of the joints, from a push
that both show.

What pushes the hand pushes the joints: the force changes, and at the same moment the joints begin
to accelerate otherwise. How much the mean force behind a moment differs from that before, and how
much the velocities bend there, are correlated, each axis with each joint: begin and end of a push
count with their signs, so that one is not taken for the other. Neither the mass of the tool nor
that of the arm is needed. Where another shift fits nearly as well, nothing is known.

Joints that give way softly bend a little before the moment at which the force changes: by 0.7 ms in
simulation, which all pushes have in common. So a push counts where the offset is not known better.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import hypot, isfinite

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import MILLISECOND, SECOND
from frame_ros.sensing.stream_health.offset_fusion import TimeOffset

Array = NDArray[np.float64]
Stamps = NDArray[np.int64]
LARGEST = 150  # ms, of offsets that are looked for
AROUND = 250  # ms before and behind a change of the force that are looked at
SIDE = 4  # ms before and behind a moment whose force and velocity are compared
LONGEST_STEP = 4 * MILLISECOND  # ns from sample to sample
PEAK = 4.0  # times the median over all shifts, at least, of how well the best one fits
APART, RUNNER_UP = 10, 0.7  # ms from the best shift, from which another must fit less, by a share
DEVIATION = 0.002  # s, of an offset, most of it common to all pushes
TIMES_USUAL = 8.0  # usual changes of the force that make a push look likely
USUAL_SHARE = 1 / 512  # of a change in their running mean
KEPT = 2 * SECOND  # ns of samples


class Recent:
    """The newest samples of a signal."""

    def __init__(self) -> None:
        self._samples: deque[tuple[int, Sequence[float] | Array]] = deque()
        self.newest = 0  # ns

    def clear(self) -> None:
        """Forgets all."""
        self._samples.clear()
        self.newest = 0

    def add(self, stamp: int, values: Sequence[float] | Array) -> None:
        """Takes a sample at `stamp`, ns; one of another size, or not after the last, is the first
        again.
        """
        samples = self._samples
        if samples and (stamp <= self.newest or len(samples[-1][1]) != len(values)):
            samples.clear()
        samples.append((stamp, values))
        self.newest = stamp
        if stamp - samples[0][0] > KEPT:
            samples.popleft()

    def on(self, grid: Stamps) -> Array | None:
        """Returns (K, n) on a grid of stamps, ns; None where it does not reach so far, or samples
        come too seldom.
        """
        chosen = [each for each in self._samples if each[0] >= grid[0] - LONGEST_STEP]
        if len(chosen) < 2 or chosen[0][0] > grid[0] or chosen[-1][0] < grid[-1]:
            return None
        stamps = np.array([stamp for stamp, _ in chosen], np.int64)
        if np.median(np.diff(stamps)) > LONGEST_STEP:
            return None
        values = np.array([values for _, values in chosen], np.float64)
        if not np.isfinite(values).all():
            return None
        known, wanted = (stamps - grid[0]) / MILLISECOND, (grid - grid[0]) / MILLISECOND
        return np.array([np.interp(wanted, known, column) for column in values.T])


class TouchOffset:
    """Takes the forces of one sensor in the order of their stamps."""

    def __init__(self, velocities: Recent) -> None:
        """velocities: of the joints, as they come."""
        self._velocities, self._forces = velocities, Recent()
        self._usual = 0.0  # N, change of the mean force from one block to the next
        self.restart()

    def restart(self) -> None:
        """The stamps are others from now on."""
        self._forces.clear()
        self._before: Sequence[float] | None = None
        self._event = self._done = 0  # ns

    def add(self, stamp: int, force: Sequence[float]) -> None:
        """Takes a force (3,), N."""
        self._forces.add(stamp, force)

    def end_block(self, stamp: int, force: Sequence[float], jitter: float) -> TimeOffset | None:
        """Takes the mean force (3,) of a few milliseconds; returns an offset that a push shows.

        Args:
            stamp: ns, of its last sample.
            jitter: s by which stamps scatter; NaN if that is not known.
        """
        before, self._before = self._before, force
        if before is not None:
            change = hypot(*(a - b for a, b in zip(force, before, strict=True)))
            most = TIMES_USUAL * self._usual
            if self._usual and change > most and not self._event and stamp > self._done:
                self._event = stamp
            # Of a push a part, or pushes would be usual.
            change = min(change, 0.5 * most) if self._usual else change
            self._usual += USUAL_SHARE * (change - self._usual) if self._usual else change
        end = self._event + AROUND * MILLISECOND
        if not self._event or min(stamp, self._velocities.newest) < end + SIDE * MILLISECOND:
            return None
        self._event, self._done = 0, end
        begin = end - (2 * AROUND + SIDE) * MILLISECOND
        grid = begin + np.arange(2 * (AROUND + SIDE) + 1, dtype=np.int64) * MILLISECOND
        grid -= SIDE * MILLISECOND
        forces, velocities = self._forces.on(grid), self._velocities.on(grid)
        if forces is None or velocities is None:
            return None
        later = shift_of(forces, velocities)
        if later is None:
            return None
        deviation = hypot(DEVIATION, jitter) if isfinite(jitter) else DEVIATION
        return TimeOffset(later / 1e3, deviation, 1.0, stamp, '')


def shift_of(forces: Array, velocities: Array) -> float | None:
    """Returns ms by which forces (3, n) change later than velocities (K, n) bend, both each
    millisecond; None if that is not clear.
    """
    changes, bends = _changes(forces), _bends(velocities)
    size = 1 << (changes.shape[1] + LARGEST).bit_length()
    waves = np.fft.rfft(changes, size)[:, None] * np.fft.rfft(bends, size).conj()
    products = np.fft.irfft(waves, size)
    fits = np.sqrt((np.roll(products, LARGEST, axis=2)[:, :, : 2 * LARGEST + 1] ** 2).sum((0, 1)))
    best = int(np.argmax(fits))
    others = np.concatenate((fits[: max(best - APART, 0)], fits[best + APART + 1 :]))
    if not 0 < best < len(fits) - 1 or fits[best] < PEAK * np.median(fits):
        return None
    if others.max() > RUNNER_UP * fits[best]:
        return None
    before, peak, after = fits[best - 1 : best + 2].tolist()
    curve = before - 2.0 * peak + after
    return best - LARGEST + (0.5 * (before - after) / curve if curve < 0.0 else 0.0)


def _changes(forces: Array) -> Array:
    """Returns (3, n - 2 SIDE): by how much the mean behind a moment differs from that before, more
    than usually.
    """
    kernel = np.concatenate((-np.ones(SIDE), [0.0], np.ones(SIDE))) / SIDE
    found = np.array([np.correlate(row, kernel, 'valid') for row in forces])
    return found - np.median(found, axis=1, keepdims=True)


def _bends(velocities: Array) -> Array:
    """Returns (K, n - 2 SIDE): by how much velocities bend at a moment, more than usually: a
    triangle where they begin to rise.
    """
    kernel = np.zeros(2 * SIDE + 1)
    for place, weight in ((0, 1.0), (SIDE - 1, -2.0), (2 * SIDE - 2, 1.0)):
        kernel[place : place + 3] += weight / 3.0
    found = np.array([np.correlate(row, kernel, 'valid') for row in velocities])
    return found - np.median(found, axis=1, keepdims=True)
