# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A pull on the hand that points down as the hand turns, and is too heavy to be taken off."""

from __future__ import annotations

from math import exp, sqrt

import numpy as np
from numpy.typing import NDArray

from frame_ros.sensing.contact.wrench.tool_model import length

Array = NDArray[np.float64]
TURNED, LASTED = 0.35, 2.0  # rad and s over which a weight must hold
ASIDE = 0.35  # share of a weight that may pull aside: 20 degrees
BEGINNING = 0.3  # s of a contact in which a weight is still being hung on
MEMORY = 5.0  # s, time constant of the means
MISSED = 0.2  # share of the weight that it may leave unexplained, root mean square
FIXED = 2.0  # times as much that a pull fixed to the hand must leave
SAME = 0.1  # share by which it must have changed for another number


class HeavyPull:
    """Finds whether what touches the hand is a weight of more than `most`.

    A weight is a force p = W d along gravity's direction d in the sensor's axes, whatever the hand
    does; of a push that turns with the hand, p is constant; one that is fixed in the world points
    aside. Means over the newest seconds of a contact distinguish them: W = E[p d] leaves
    E[p p] - W^2, a force fixed to the hand E[p p] - E[p]^2. The inertia of the weight is part of
    what is left; it averages out over a motion, and grows with the weight.

    Attributes:
        weight: N; 0 while there is none. It stays until the contact ends, or for 2 s something
            else pulls.
    """

    def __init__(self, most: float) -> None:
        """most: N."""
        self._most = most
        self.reset()

    def reset(self) -> None:
        """The contact has ended, or another one may have begun."""
        self.weight = 0.0
        self._begin(0.0)

    def _begin(self, lasted: float) -> None:
        self._lasted = lasted
        self._other = 0.0  # s for which another force than the weight pulls
        self._first: Array | None = None
        self._turned = 0.0
        self._count = self._down = self._square = 0.0
        self._pull: Array = np.zeros(3)

    def update(self, pull: Array, down: Array, time: float) -> None:
        """Takes the mean force (3,) N of a block of a contact, beyond tool and bias, in the
        sensor's axes, where gravity points along `down` (3,); time: s that it lasted.
        """
        self._lasted += time
        if self._lasted < BEGINNING:
            return
        if self.weight and length(pull - self.weight * down) > ASIDE * self.weight:
            self._other += time
            if self._other >= LASTED:
                self.weight = 0.0
                self._begin(BEGINNING)
            return
        self._other = 0.0
        if self._first is None:
            self._first = down
        self._turned = max(self._turned, length(down - self._first))
        kept = exp(-time / MEMORY)
        self._count = kept * self._count + 1.0
        self._down = kept * self._down + float(pull @ down)
        self._square = kept * self._square + float(pull @ pull)
        self._pull = kept * self._pull + pull
        found = self._down / self._count
        if self._turned < TURNED or self._lasted < LASTED or found <= self._most:
            return
        is_other = abs(found - self.weight) > SAME * self.weight
        if is_other and (self.weight or self._is_weight(found)):
            self.weight = found

    def _is_weight(self, found: float) -> bool:
        square = self._square / self._count
        left = sqrt(max(square - found**2, 0.0))
        mean = self._pull / self._count
        left_fixed = sqrt(max(square - float(mean @ mean), 0.0))
        return left <= MISSED * found and left_fixed >= FIXED * left
