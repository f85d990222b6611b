# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The end of a push, seen by how suddenly most of its force goes, whatever is left of it."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.sensing.contact.wrench.block import WrenchBlock
from frame_ros.sensing.contact.wrench.tool_model import length

Array = NDArray[np.float64]
HIGH, LOW = 0.75, 0.5  # shares of a contact's largest wrench, along it
LATELY = 10  # blocks, of which the largest is meant: a hand that turns turns the force's direction
FALL = round(0.25 * SECOND)  # ns, from above HIGH to what is left: slower is no end
# Share of the largest by which what is left may change from block to block, in addition to what a
# cable may: less than that of a force that takes FALL from HIGH to LOW.
CALM = 0.04


class PushEnd:
    """Watches a contact: `update` is true once its wrench has fallen, within FALL, from HIGH of its
    largest of LATELY to less than LOW of it, and changes no more. A cable, which pulls by more or
    less along the way, is slower than that.
    """

    def __init__(self, force_on: float, torque_on: float, cable_rate: float) -> None:
        """force_on, torque_on: N and N m, thresholds of contact. cable_rate: N per m."""
        self._scale = np.array([force_on] * 3 + [torque_on] * 3)
        self._rate = cable_rate / force_on
        self.reset()

    def reset(self) -> None:
        """Forgets the contact."""
        self._largest: deque[Array] = deque(maxlen=LATELY)  # of each block, in thresholds
        self._high_until: int | None = None
        self._before: Array | None = None  # what was left in the last block

    def may_end(self, stamp: int) -> bool:
        """Returns whether its force was high so lately that it may still be falling."""
        return self._high_until is not None and stamp - self._high_until <= FALL

    def update(self, block: WrenchBlock) -> bool:
        """Takes a block of a contact, or the one behind it; returns whether the push has ended."""
        samples = block.external / self._scale
        if not np.isfinite(samples).all():
            return False
        sizes = np.linalg.norm(samples, axis=1)
        self._largest.append(samples[int(sizes.argmax())])
        largest = max(self._largest, key=lambda each: float(each @ each))
        most = float(largest @ largest)
        along = samples @ largest
        high = np.flatnonzero(along >= HIGH * most)
        if len(high):
            share = (int(high[-1]) + 1) / len(samples)
            self._high_until = block.start + round(share * (block.end - block.start))
        left = samples[len(samples) // 2 :].mean(axis=0)
        way = block.speed * (block.end - block.start) / SECOND
        before, self._before = self._before, left
        change = np.inf if before is None else length(left - before)
        is_calm = change <= CALM * np.sqrt(most) + self._rate * way
        is_low = float(left @ largest) <= LOW * most
        return is_calm and is_low and self.may_end(block.end)
