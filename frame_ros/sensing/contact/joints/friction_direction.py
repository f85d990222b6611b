# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Direction of dry friction at each joint, even at rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class FrictionDirection:
    """The direction of dry friction.

    It reverses over a small way, the presliding, when the joint does, and stays as it was at rest
    (Dahl, "A solid friction model", 1968, in its linear form): gears that have come to rest still
    hold part of the load.

    Attributes:
        direction: (N,) -1 to 1.
        uncertainty: (N,) 0 to 1, its possible error: 1 before any motion, 0 once the joint has gone
            through its presliding.
    """

    __slots__ = ('direction', 'uncertainty', '_bounds', '_per_way', '_position')

    def __init__(self, count: int, presliding: float) -> None:
        """Takes the number of joints, and rad from no friction to all of it, more than 0."""
        self._per_way = 1.0 / presliding
        self._bounds = np.empty((2, count))
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self._bounds[0], self._bounds[1] = -1.0, 1.0
        self._position: Array | None = None
        self._halve()

    def _halve(self) -> None:
        low, high = self._bounds
        self.direction: Array = 0.5 * (low + high)
        self.uncertainty: Array = 0.5 * (high - low)

    def update(self, q: Array) -> Array:
        """Takes the positions (N,) rad of the next sample; returns `direction`."""
        if self._position is not None:
            moved = q - self._position
            moved *= self._per_way
            # Wherever it began, it is now between these two.
            self._bounds += moved
            np.maximum(self._bounds, -1.0, out=self._bounds)
            np.minimum(self._bounds, 1.0, out=self._bounds)
            self._halve()
        self._position = q
        return self.direction
