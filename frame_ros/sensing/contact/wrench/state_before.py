# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The end of a push on a hand on which something acted before that was no contact."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from frame_ros.sensing.contact.wrench.block import BLOCK, WrenchBlock
from frame_ros.sensing.contact.wrench.options import AMBIGUOUS
from frame_ros.sensing.contact.wrench.vibration import PARTS

Array = NDArray[np.float64]
LATELY = 10  # blocks, 0.5 s, for which it must have been there before the push began


class StateBefore:
    """Watches a contact: `update` is true once the reading is what it was for half a second before
    it began.

    A weight that was hung on the hand, or a cable, may pull by less than the threshold of contact
    and by more than the share of it below which a contact ends. A push on top of that would go on
    as a contact when it has ended, and the next one would begin none. What is left was no contact
    before, so it is none now. Only what changed the reading by a whole threshold is a push.
    """

    def __init__(self, force_on: float, torque_on: float) -> None:
        """force_on, torque_on: N and N m, thresholds of contact."""
        self._scale = np.array([force_on] * 3 + [torque_on] * 3)
        self.reset()

    def reset(self) -> None:
        """Forgets the readings."""
        self._lately: deque[Array] = deque(maxlen=LATELY + 1)  # of blocks without contact
        self._is_push = False
        self._end: int | None = None

    def update(self, block: WrenchBlock, bias: Array) -> bool:
        """Takes a block and the bias (6,) in it; returns whether a push has ended."""
        if block.is_holding or (self._end is not None and abs(block.start - self._end) > 2 * BLOCK):
            self.reset()
        self._end = block.end
        if not block.is_contact:
            self._is_push = False
            self._lately.append(block.mean)
            return False
        if len(self._lately) <= LATELY:
            return False
        # The newest may be of the push already.
        first, last = self._lately[0], self._lately[-2]
        if self._most((last - bias)[None]) <= AMBIGUOUS:
            return False  # nothing acted: the hysteresis ends it
        self._is_push = self._is_push or self._most(block.external + bias - last) >= 1.0
        if not self._is_push or block.worst >= 1.0:
            return False
        return all(self._most((block.mean - each)[None]) <= AMBIGUOUS for each in (first, last))

    def _most(self, values: Array) -> float:
        """Returns the largest of the norms of force and torque of (n, 6), in thresholds."""
        shares = values / self._scale
        return float(max(np.linalg.norm(shares[:, part], axis=1).max() for part in PARTS))
