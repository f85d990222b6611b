# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The least force on each body of an arm that its joints feel."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from frame_ros.robots.dynamics import RobotDynamics
from frame_ros.sensing.contact.joints.force_estimate import middles_of

Array = NDArray[np.float64]
USUAL = 15.0  # N: a contact that takes more than this is not counted on


class LeastForces:
    """Of forces at the middle of each body's shapes, in the direction that is felt best."""

    def __init__(self, dynamics: RobotDynamics) -> None:
        self._dynamics = dynamics
        self._places = middles_of(dynamics)

    def at(self, q: Array, needed: Array) -> dict[str, float]:
        """Returns body -> N; infinite where no joint feels it.

        Args:
            q: (N,) rad.
            needed: (N,) N m, the external torque that each joint must have to be felt.
        """
        found = {}
        for index, (body, (link, place)) in enumerate(
            zip(self._dynamics.bodies, self._places, strict=True)
        ):
            lever = self._dynamics.link_jacobian(link, q, place)[:3, : index + 1]
            felt = float((np.linalg.norm(lever, axis=0) / needed[: index + 1]).max())
            found[body] = 1.0 / felt if felt > 0.0 else math.inf
        return found
