# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Readings of a force-torque sensor in free space, and thresholds from them."""

from __future__ import annotations

from math import exp, sqrt

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.sensing.contact.wrench.block import BLOCK, WrenchBlock
from frame_ros.sensing.contact.wrench.options import WrenchOptions

Array = NDArray[np.float64]
Pair = tuple[float, float]  # of force and torque, N and N m
PARTS = (slice(0, 3), slice(3, 6))
STEP = 0.04  # share by which a deviation changes with each block
NORMAL_MEDIAN = 0.6745  # of the absolute value, in deviations
LAG = 20  # blocks, 1 s, over which a drift is looked at
SETTLE = round(0.3 * SECOND)  # ns of rest until the thresholds of rest hold
FOLLOW_AT_REST = 2.0  # s, time constant with which the bias follows a drift at rest
SURE = 5.0  # deviations of what is left in free space, to a threshold
SPEEDS = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8)  # m/s, from which on a class of speeds is
SHAKE_TIME = 2.0  # s with which a vibration that was seen is forgotten
SHAKE_KEPT = 30.0  # s, of motion at that speed, with which that of a speed is
SHAKE_MARGIN = 1.3  # the next peak may be higher than that of the last two blocks


class RunningDeviation:
    """The standard deviation of samples, by the running median of their absolute values (Robbins
    and Monro, "A stochastic approximation method", 1951), which few outliers hardly move.
    """

    def __init__(self, start: float, least: float) -> None:
        self.value, self._least = start, least

    def learn(self, samples: Array) -> None:
        """Takes samples of mean 0."""
        above = float(np.mean(np.abs(samples) > NORMAL_MEDIAN * self.value))
        self.value = max(self.value * (1.0 + STEP * (2.0 * above - 1.0)), self._least)


class FreeSpace:
    """Noise, drift and vibration of the sensor in free space, learnt as it goes, block by block.

    At rest: the deviation of the filtered reading within a block, and the intensity of the drift
    (as of a random walk), by changes of the mean over 1 s. In motion: vibration, how far the
    reading swings to *both* sides of its mean in two blocks one after the other, which a push of
    one direction does not; of each class of speeds, up to `vibration_most` of the thresholds.
    Nothing of contact counts.

    `limits` are thresholds by it: at rest lower than `force_on` and `torque_on` where noise and
    drift allow it, in motion higher by the vibration.
    """

    def __init__(self, settings: WrenchOptions) -> None:
        self.change(settings)
        on = (settings.force_on, settings.torque_on)
        self._noise = [RunningDeviation(0.05 * each, 1e-4 * each) for each in on]
        # Of each axis, per square root of a second.
        self._drift = [RunningDeviation(0.02 * each, 1e-4 * each) for each in on]
        self._kept = np.zeros((len(SPEEDS), 2))
        self.reset()

    def change(self, settings: WrenchOptions) -> None:
        """Takes other values of the options that are live."""
        self._settings = settings

    def reset(self) -> None:
        """Forgets the samples, not what was learnt."""
        self._means: list[Array] = []
        self._shaken: Array = np.zeros(2)  # N and N m, of now
        self._before: Array = np.zeros(2)
        self._mean: Array | None = None
        self._still_since: int | None = None
        self.is_settled = False
        self._class = 0

    @property
    def intensity(self) -> Pair:
        """Of the drift, N and N m of one axis per square root of a second."""
        return self._drift[0].value, self._drift[1].value

    @property
    def vibration(self) -> Pair:
        """N and N m by which the thresholds are higher in motion, as it was seen lately or at this
        speed.
        """
        settings = self._settings
        most = settings.vibration_most * np.array([settings.force_on, settings.torque_on])
        seen = np.maximum(self._shaken, self._kept[self._class])
        force, torque = np.minimum(seen, most).tolist()
        return force, torque

    @property
    def warning(self) -> str:
        """Says what vibration hides, where that is much; '' otherwise."""
        (force, torque), settings = self.vibration, self._settings
        if self.is_settled or (force <= settings.force_on and torque <= settings.torque_on):
            return ''
        return (
            f'vibration hides pushes below {settings.force_on + force:.1f} N, or '
            f'{settings.torque_on + torque:.2f} N m'
        )

    def limits(self, is_at_rest: bool) -> Pair:
        """Returns the thresholds of force and torque, N and N m, without those of the inertia."""
        settings = self._settings
        on = (settings.force_on, settings.torque_on)
        if is_at_rest and self.is_settled:
            found = [self._at_rest(i, each) for i, each in enumerate(on)]
        else:
            found = [each + more for each, more in zip(on, self.vibration, strict=True)]
        return found[0], found[1]

    def _at_rest(self, part: int, most: float) -> float:
        drift = self._drift[part].value ** 2 * FOLLOW_AT_REST / 2.0
        noise = self._noise[part].value ** 2
        return min(max(SURE * sqrt(3.0 * (drift + noise)), self._settings.still_share * most), most)

    def update(self, block: WrenchBlock) -> None:
        """Takes a block."""
        self._class = int(np.searchsorted(SPEEDS, block.speed, side='right')) - 1
        self._rest(block)
        if block.is_moving:
            self._shake(block)
        else:
            self._calm(block)
            self._mean = None
        if block.is_contact or block.is_moving is not False:
            self._means.clear()
        else:
            self._learn(block)

    def _rest(self, block: WrenchBlock) -> None:
        # What is held may weigh, and swing.
        if block.is_moving is not False or block.is_holding:
            self._still_since = None
            self.is_settled = False
            return
        if self._still_since is None:
            self._still_since = block.start
        # A contact that began before stays one by the thresholds of motion.
        if not self.is_settled and block.end - self._still_since >= SETTLE:
            self.is_settled = not block.is_contact

    def _learn(self, block: WrenchBlock) -> None:
        mean = block.external.mean(axis=0)
        if not self.is_settled or not np.isfinite(mean).all():
            return
        raw = block.readings.mean(axis=0)
        for part, noise in zip(PARTS, self._noise, strict=True):
            noise.learn(block.external[:, part] - mean[part])
        self._means.append(raw)
        if len(self._means) <= LAG:
            return
        change = raw - self._means.pop(0)
        for part, drift in zip(PARTS, self._drift, strict=True):
            drift.learn(change[part] / sqrt(LAG * BLOCK / SECOND))

    def _shake(self, block: WrenchBlock) -> None:
        """Measures how far the reading swings to both sides."""
        external = block.external
        mean = external.mean(axis=0) if self._mean is None else self._mean
        if not block.is_contact or self._mean is None:
            self._mean = mean + 0.2 * (external.mean(axis=0) - mean)
        swing = external - mean
        both = np.minimum(swing.max(axis=0), -swing.min(axis=0)).clip(0.0)
        now = np.array([float(np.linalg.norm(both[part])) for part in PARTS])
        seen = SHAKE_MARGIN * np.minimum(now, self._before)
        self._before = now
        self._calm(block)
        if not np.isfinite(seen).all():
            return
        if block.is_contact:
            return
        self._shaken = np.maximum(self._shaken, seen)
        row = self._kept[self._class]
        fade = exp(-BLOCK / SECOND / SHAKE_KEPT)
        self._kept[self._class] = np.maximum(row * fade, seen)

    def _calm(self, block: WrenchBlock) -> None:
        self._shaken = self._shaken * exp(-(block.end - block.start) / SECOND / SHAKE_TIME)
        if not block.is_moving:
            self._before = np.zeros(2)

    def facts(self) -> dict[str, str]:
        """For diagnostics."""
        (noise, twist), (drift, turn) = (each.value for each in self._noise), self.intensity
        force, torque = self.vibration
        return {
            'noise at rest [N, N m]': f'{noise:.3f}, {twist:.4f}',
            'drift [N, N m per square root of s]': f'{drift:.3f}, {turn:.4f}',
            'vibration [N, N m]': f'{force:.2f}, {torque:.3f}',
        }
