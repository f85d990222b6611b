# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The slow change of a force-torque sensor's bias, followed in free space only: its own drift, and
the cables and hoses that pull differently wherever the hand goes.
"""

from __future__ import annotations

from math import exp, sqrt

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.sensing.contact.wrench.block import WrenchBlock
from frame_ros.sensing.contact.wrench.free_space import FOLLOW_AT_REST, SETTLE
from frame_ros.sensing.contact.wrench.options import AMBIGUOUS, WrenchOptions
from frame_ros.sensing.contact.wrench.push_end import PushEnd
from frame_ros.sensing.contact.wrench.state_before import StateBefore
from frame_ros.sensing.contact.wrench.tool_model import length
from frame_ros.sensing.contact.wrench.vibration import PARTS, Pair

Array = NDArray[np.float64]
IN_MOTION, SETTLING = 0.25, 0.1  # s, time constants with which a cable's pull is followed
CREDIT_TIME = 0.5  # s for which motion explains a change behind it
LEVER = 0.1  # m at which a cable pulls, for its torque
DRIFTS = 4.0  # deviations of a drift that are followed


class BiasDrift:
    """Moves the bias towards the reading in free space.

    At rest with a time constant and a largest rate: the declared one, or what the drift measured at
    rest allows. In motion by as much as a cable may pull more or less along the way
    (`cable_rate` N per m, also `cable_force` in all, away from where the bias was without it).
    Nothing moves in contact, near it at rest, while something is held, and for a guard time after
    these. Hence what is absorbed of a real contact: at rest one that grows more slowly than the
    drift; in motion one that grows more slowly than a cable would pull, up to `cable_force`, with a
    warning from AMBIGUOUS of a threshold on.

    A contact ends by its force alone: below the threshold, or as most of it goes at once
    (`PushEnd`) and what is left is no more than a cable may pull otherwise after the way since it
    began. The bias then takes what is left, with the same warning.

    Attributes:
        unknown: N and N m by which cables may have changed the reading since a contact began: it is
            not followed meanwhile, and what motion explains once the force has gone.
        is_as_before: whether a push has ended on what acted before it (`StateBefore`): the bias
            stays, and so does what is left, which is no contact.
        warning: what was absorbed that may be a push; '' otherwise.
    """

    def __init__(self, settings: WrenchOptions) -> None:
        self._time = settings.drift_time
        self._below = settings.drift_below
        self._guard = int(settings.drift_guard * SECOND)
        self._declared = np.array(
            [settings.drift_force_rate] * 3 + [settings.drift_torque_rate] * 3
        )
        self._cable = (settings.cable_rate, LEVER * settings.cable_rate)
        self._most = (settings.cable_force, LEVER * settings.cable_force)
        self.change(settings)
        self._is_watched = False
        self._free_from: int | None
        self._last_end: int | None
        self._anchor: Array | None = None  # the bias without cables
        self.reset()

    def change(self, settings: WrenchOptions) -> None:
        """Takes other thresholds; how a contact that is on began is forgotten."""
        self._on = (settings.force_on, settings.torque_on)
        self._push = PushEnd(*self._on, settings.cable_rate)
        self._before, self.is_as_before = StateBefore(*self._on), False

    def reset(self) -> None:
        """Forgets all samples, and the time from which to track."""
        self._free_from = self._last_end = None
        self._credit: Array = np.zeros(2)  # N and N m that motion explains still
        self.unknown = (0.0, 0.0)
        self._push.reset()
        self._before.reset()
        self._is_watched = False
        self._still_since: int | None = None
        self._reference: Array | None = None  # the reading as the arm came to rest
        self.warning = ''

    def hold(self, stamp: int) -> None:
        """Pauses until the guard time after `stamp`, ns."""
        self._free_from = stamp + self._guard
        self._last_end = None

    def anchor(self, bias: Array) -> None:
        """A tare gave this bias (6,)."""
        self._credit = np.zeros(2)
        self.follow_from(bias)

    def follow_from(self, bias: Array, shift: Array | None = None) -> None:
        """The bias became this one (6,), as a weight was found or is gone; what motion explains it
        does still. shift: (6,) by which it did so, as only the place of one was found: what was
        followed so far was followed.
        """
        self._reference = None
        self._before.reset()
        if shift is not None and self._anchor is not None:
            self._anchor = self._anchor + shift
            return
        self._anchor = bias
        self.warning = ''

    def update(self, block: WrenchBlock, bias: Array, intensity: Pair = (0.0, 0.0)) -> Array:
        """Returns the bias (6,) after a block, from that before. intensity: of the drift, N and N m
        per square root of a second.
        """
        if self._anchor is None:
            self._anchor = bias
        time = (block.end - (self._last_end or block.start)) / SECOND
        self._move(block, (block.end - block.start) / SECOND)
        is_still = block.is_moving is False
        # A drift that is as large as that, itself, must be followed nonetheless.
        lag = DRIFTS * intensity[0] * sqrt(FOLLOW_AT_REST / 2.0)
        near = block.worst > self._below and (is_still or not self._cable[0])
        near = near and lag < self._below * self._on[0]
        self.is_as_before = self._before.update(block, bias)
        left = self._released(block, bias)
        bias = bias + left if left.any() else bias
        if block.is_contact or near or block.is_holding:
            self.hold(block.end)
            self._say(block, bias, intensity)
            return bias
        self._last_end = block.end
        if self._free_from is not None and block.start < self._free_from:
            self._say(block, bias, intensity)
            return bias
        step = self._drifted(block, bias, time, intensity) + self._pulled(block, bias, time)
        found: Array = bias + step
        self._weigh_anchor(found, time, intensity)
        self._say(block, found, intensity)
        return found

    def _move(self, block: WrenchBlock, time: float) -> None:
        """Notes how much of a change the motion explains, and since when the arm stands."""
        way = block.speed * time if block.is_moving is not False else 0.0
        fade = exp(-time / CREDIT_TIME)
        self._credit = self._credit * fade + way * np.array(self._cable)
        if block.is_moving is not False:
            self._still_since, self._reference = None, None
        elif self._still_since is None:
            self._still_since = block.start

    def _released(self, block: WrenchBlock, bias: Array) -> Array:
        """Adds up what motion explains while a contact lasts, with what it did before and was not
        followed yet. Returns by how much the bias moves (6,) as a push ends: by all that is left
        of it, where motion explains that; otherwise by nothing.
        """
        nothing = np.zeros(6)
        if not block.is_contact and not self._is_watched:
            return nothing
        if block.is_contact:
            known = np.array(self.unknown) + self._credit
            force, torque = np.minimum(known, self._most).tolist()
            self.unknown = (force, torque)
            self._credit = np.zeros(2)
            self._is_watched = True
        has_ended = self._push.update(block)
        rest = block.readings[len(block.readings) // 2 :].mean(axis=0) - bias
        left = length(rest[:3]), length(rest[3:])
        pairs = zip(left, self.unknown, self._on, strict=True)
        is_explained = all(size <= most + AMBIGUOUS * on for size, most, on in pairs)
        is_taken = has_ended and is_explained
        if not is_taken and (block.is_contact or self._push.may_end(block.end)):
            return nothing
        unknown, self.unknown = self.unknown, (0.0, 0.0)
        self._push.reset()
        self._is_watched = False
        if is_taken:
            return self._up_to(rest, unknown, bias)
        is_gone = all(size < AMBIGUOUS * on for size, on in zip(left, self._on, strict=True))
        self._credit = self._credit + is_gone * np.array(unknown)
        return nothing

    def _drifted(self, block: WrenchBlock, bias: Array, time: float, intensity: Pair) -> Array:
        """Returns by how much the drift moves it. A random walk that is followed with the time
        constant T is behind by its intensity times sqrt(T / 2), and that over T is its rate.
        """
        rest = block.mean - bias
        is_settled = self._still_since is not None and block.start - self._still_since >= SETTLE
        walk = np.repeat(intensity, 3) * sqrt(FOLLOW_AT_REST / 2.0) * DRIFTS / FOLLOW_AT_REST
        is_faster = is_settled and (walk > self._declared) & (self._declared > 0.0)
        most = np.where(is_faster, walk, self._declared) * time
        share = np.where(is_faster, min(time / FOLLOW_AT_REST, 1.0), min(time / self._time, 1.0))
        found: Array = np.clip(rest * share, -most, most)
        return found

    def _pulled(self, block: WrenchBlock, bias: Array, time: float) -> Array:
        """Returns by how much cables move it, and takes that off the credit."""
        if not self._credit.any() or self._anchor is None:
            return np.zeros(6)
        constant = SETTLING if block.is_moving is False else IN_MOTION
        rest = (block.mean - bias) * min(time / constant, 1.0)
        found = self._up_to(rest, self._credit, bias)
        for i, part in enumerate(PARTS):
            self._credit[i] -= min(length(found[part]), float(self._credit[i]))
        return found

    def _up_to(self, rest: Array, most: Array | Pair, bias: Array) -> Array:
        """Returns (6,) as much of a change of the bias as `most` N and N m allow, and as cables
        may pull in all.
        """
        assert self._anchor is not None
        found = np.zeros(6)
        for i, part in enumerate(PARTS):
            size = length(rest[part])
            if not size > 0.0:
                continue
            step = rest[part] * min(float(most[i]) / size, 1.0)
            away = bias[part] + step - self._anchor[part]
            far = length(away)
            if far > self._most[i] > 0.0:
                step = self._anchor[part] + away * (self._most[i] / far) - bias[part]
            found[part] = step
        return found

    def _weigh_anchor(self, bias: Array, time: float, intensity: Pair) -> None:
        """The bias without cables drifts, too."""
        assert self._anchor is not None
        most = np.maximum(self._declared, np.repeat(intensity, 3)) * time
        self._anchor = self._anchor + np.clip(bias - self._anchor, -most, most)

    def _say(self, block: WrenchBlock, bias: Array, intensity: Pair) -> None:
        """Warns of what may be a slow push, or the rest of one."""
        if block.is_moving is False:
            self._warn(block, bias, intensity)
        else:
            self.warning = self._absorbed(bias)

    def _absorbed(self, bias: Array) -> str:
        """Returns what counts as bias since motion changed it, in words; '' if that is little."""
        assert self._anchor is not None
        away = bias - self._anchor
        sizes = length(away[:3]), length(away[3:])
        for size, on, unit in zip(sizes, self._on, ('N', 'N m'), strict=True):
            if size > AMBIGUOUS * on:
                return (
                    f'drift, a cable or a slow push: in motion the reading changed by {size:.1g} '
                    f'{unit}, which counts as bias'
                )
        return ''

    def _warn(self, block: WrenchBlock, bias: Array, intensity: Pair) -> None:
        """Warns of a change at rest that is larger than a drift, and slower than a contact."""
        if self._still_since is None or block.end - self._still_since < 2 * SETTLE:
            return
        mean = block.mean
        if self._reference is None:
            self._reference = mean
        time = (block.end - self._still_since) / SECOND
        change = mean - self._reference
        for part, walk, rate, on in zip(
            (slice(0, 3), slice(3, 6)), intensity, self._declared[[0, 3]], self._on, strict=True
        ):
            size = length(change[part])
            explained = DRIFTS * walk * sqrt(3.0 * time) + rate * time + AMBIGUOUS * on
            if size > explained and not block.is_contact:
                unit = 'N' if part.start == 0 else 'N m'
                self.warning = (
                    f'drift or a slow push: while the arm stood the reading changed by {size:.2g} '
                    f'{unit} in {time:.0f} s'
                )
                return
        if not block.is_contact:
            self.warning = self._absorbed(bias)
