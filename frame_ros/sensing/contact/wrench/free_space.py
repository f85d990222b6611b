# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Readings of a force-torque sensor in free space, and thresholds from them."""

from __future__ import annotations

from collections import deque
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.sensing.contact.wrench.block import BLOCK, WrenchBlock
from frame_ros.sensing.contact.wrench.options import AMBIGUOUS, WrenchOptions
from frame_ros.sensing.contact.wrench.tool_model import length
from frame_ros.sensing.contact.wrench.vibration import PARTS, SPEEDS, Pair, Vibration

Array = NDArray[np.float64]
STEP = 0.04  # share by which a deviation changes with each block
NORMAL_MEDIAN = 0.6745  # of the absolute value, in deviations
LAG = 20  # blocks, 1 s, over which a drift is looked at
SETTLE = round(0.3 * SECOND)  # ns of rest until the thresholds of rest hold
BEFORE = 16  # blocks, SETTLE and 0.5 s, for which a force acts on the hand that rest does not show
FOLLOW_AT_REST = 2.0  # s, time constant with which the bias follows a drift at rest
SURE = 5.0  # deviations of what is left in free space, to a threshold
# Share of a threshold by which vibration widens it, from which slow pushes count apart.
SHAKEN = 0.2


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
    one direction does not; of each class of speeds, up to `vibration_most` of the thresholds; of
    the reading through the slow low-pass apart, which lets little of it pass. Nothing of contact
    counts.

    `limits` are thresholds by it: at rest lower than `force_on` and `torque_on` where noise and
    drift allow it, in motion higher by the vibration. What was on the hand in motion, for 0.5 s and
    more before it came to rest, and was no contact there, is none because the thresholds fall: at
    rest they are higher by that, as long as it is there.

    Attributes:
        vibration: N and N m by which the thresholds are higher in motion, as it was seen lately or
            at this speed.
        slow_limits: thresholds in motion, N and N m, of the reading through the slow low-pass; None
            while vibration is too small for that to matter.
    """

    def __init__(self, settings: WrenchOptions) -> None:
        self._settings = settings
        on = (settings.force_on, settings.torque_on)
        self._noise = [RunningDeviation(0.05 * each, 1e-4 * each) for each in on]
        # Of each axis, per square root of a second.
        self._drift = [RunningDeviation(0.02 * each, 1e-4 * each) for each in on]
        self._fast, self._slow = Vibration(), Vibration()
        self.reset()

    def change(self, settings: WrenchOptions) -> None:
        """Takes other values of the options that are live."""
        self._settings = settings
        self._renew()

    def reset(self) -> None:
        """Forgets the samples, not what was learnt."""
        self._means: list[Array] = []
        self._sizes: deque[Array] = deque(maxlen=BEFORE)  # N and N m, of blocks without contact
        self._already: Array = np.zeros(2)  # of them, on the hand before it came to rest
        self._fast.reset()
        self._slow.reset()
        self._still_since: int | None = None
        self.is_settled = False
        self._class = 0
        self._renew()

    @property
    def intensity(self) -> Pair:
        """Of the drift, N and N m of one axis per square root of a second."""
        return self._drift[0].value, self._drift[1].value

    def _renew(self) -> None:
        """Works out what changes with a block, not with each sample."""
        on = self._on
        most = self._settings.vibration_most * np.array(on)
        self.vibration: Pair = self._fast.most(self._class, most)
        self.slow_limits: Pair | None = None
        pairs = zip(self.vibration, on, strict=True)
        if not self.is_settled and any(more > SHAKEN * each for more, each in pairs):
            force, torque = self._slow.most(self._class, most)
            self.slow_limits = on[0] + force, on[1] + torque

    @property
    def _on(self) -> Pair:
        return self._settings.force_on, self._settings.torque_on

    def slow_shares(self, slow: Array, more: Array) -> Array:
        """Returns (n,) shares of the thresholds by the slow low-pass (n, 6), widened by `more`
        (n, 2), N and N m; 0 unless the arm shakes.
        """
        limits = self.slow_limits
        if limits is None:
            return np.zeros(len(slow))
        force = np.sqrt(np.add.reduce(slow[:, :3] ** 2, axis=1)) / (limits[0] + more[:, 0])
        torque = np.sqrt(np.add.reduce(slow[:, 3:] ** 2, axis=1)) / (limits[1] + more[:, 1])
        found: Array = np.maximum(force, torque)
        return found

    @property
    def warning(self) -> str:
        """Says what vibration hides, or what was there as the hand came to rest, if much."""
        (force, torque), (force_on, torque_on) = self.vibration, self._on
        slow = self.slow_limits
        if slow is None or (force <= force_on and torque <= torque_on):
            return self._said_at_rest()
        found = (
            f'vibration hides pushes below {force_on + force:.1f} N, or '
            f'{torque_on + torque:.2f} N m, that are shorter than 0.1 s'
        )
        # What shakes slowly passes the slow low-pass.
        if slow[0] <= (1.0 + SHAKEN) * force_on and slow[1] <= (1.0 + SHAKEN) * torque_on:
            return found
        return f'{found}, and longer ones below {slow[0]:.1f} N, or {slow[1]:.2f} N m'

    def _said_at_rest(self) -> str:
        on = AMBIGUOUS * np.array(self._on)
        if not self.is_settled or not (self._already > on).any():
            return ''
        (force, torque), (least, twist) = self._already.tolist(), self.limits(True)
        return (
            f'the hand came to rest with {force:.1f} N and {torque:.2f} N m on it that were no '
            'contact in motion: a weight, a cable or a slow push; a push is felt from '
            f'{least:.1f} N or {twist:.2f} N m on'
        )

    def limits(self, is_at_rest: bool) -> Pair:
        """Returns the thresholds of force and torque, N and N m, without those of the inertia."""
        on = self._on
        if is_at_rest and self.is_settled:
            found = [self._at_rest(i, each) for i, each in enumerate(on)]
        else:
            found = [each + more for each, more in zip(on, self.vibration, strict=True)]
        return found[0], found[1]

    def _at_rest(self, part: int, most: float) -> float:
        drift = self._drift[part].value ** 2 * FOLLOW_AT_REST / 2.0
        noise = self._noise[part].value ** 2
        least = max(SURE * sqrt(3.0 * (drift + noise)), self._settings.still_share * most)
        return min(least + float(self._already[part]), most)

    def update(self, block: WrenchBlock) -> None:
        """Takes a block."""
        self._class = int(np.searchsorted(SPEEDS, block.speed, side='right')) - 1
        if not block.is_contact:
            mean = block.external.mean(axis=0)
            self._sizes.append(np.array([length(mean[part]) for part in PARTS]))
        self._rest(block)
        for vibration, values in ((self._fast, block.external), (self._slow, block.slow)):
            vibration.update(block, values, self._class)
        self._renew()
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
        if block.is_contact:
            return
        if not self.is_settled and block.end - self._still_since >= SETTLE:
            self.is_settled = True
            self._already = np.min(self._sizes, axis=0) * (len(self._sizes) == BEFORE)
        self._already = np.minimum(self._already, self._sizes[-1])

    def _learn(self, block: WrenchBlock) -> None:
        mean = block.external.mean(axis=0)
        if not self.is_settled or not np.isfinite(mean).all():
            return
        raw = block.mean
        for part, noise in zip(PARTS, self._noise, strict=True):
            noise.learn(block.external[:, part] - mean[part])
        self._means.append(raw)
        if len(self._means) <= LAG:
            return
        change = raw - self._means.pop(0)
        for part, drift in zip(PARTS, self._drift, strict=True):
            drift.learn(change[part] / sqrt(LAG * BLOCK / SECOND))

    def facts(self) -> dict[str, str]:
        """For diagnostics."""
        (noise, twist), (drift, turn) = (each.value for each in self._noise), self.intensity
        force, torque = self.vibration
        return {
            'noise at rest [N, N m]': f'{noise:.3f}, {twist:.4f}',
            'drift [N, N m per square root of s]': f'{drift:.3f}, {turn:.4f}',
            'vibration [N, N m]': f'{force:.2f}, {torque:.3f}',
        }
