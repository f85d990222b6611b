# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Obstacles of a world: primitives, some of which a depth camera sees badly or not at all."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SPHERE, BOX, CYLINDER, CAPSULE = 'sphere', 'box', 'cylinder', 'capsule'


@dataclass(frozen=True)
class Obstacle:
    """An obstacle in the robot's base frame.

    Attributes:
        kind: SPHERE, BOX, CYLINDER or CAPSULE; the latter two along their own z.
        size: (3,) m: the radius; half edges; radius and half length; radius and half of the
            segment between the ends' centres.
        position: (3,) m, of its centre.
        rotation: (3, 3).
        holes: share of its pixels that give no depth.
        is_transparent: a camera measures what is behind it, or nothing.
    """

    kind: str
    size: tuple[float, float, float]
    position: Array
    rotation: Array = field(default_factory=lambda: np.eye(3))
    holes: float = 0.0
    is_transparent: bool = False

    @property
    def reach(self) -> float:
        """m, radius of a ball about the centre that contains it."""
        first, second, _ = self.size
        if self.kind == SPHERE:
            return first
        if self.kind == CAPSULE:
            return first + second
        return float(np.linalg.norm(self.size if self.kind == BOX else self.size[:2]))

    @property
    def is_plain(self) -> bool:
        """True if a camera sees all of it."""
        return not self.holes and not self.is_transparent

    def moved(self, offset: Array) -> Obstacle:
        """Returns it elsewhere, by offset (3,) m."""
        return replace(self, position=self.position + offset)
