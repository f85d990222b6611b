# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Agreement of several postures of the arm on one offset of a camera.

An offset of the camera in its mount is the same in all postures. Whatever else makes the robot
appear elsewhere (shapes that are wrong, joint states that are late, a thing that is taken for the
arm) moves with the arm, and makes each posture show another one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from frame_ros.sensing.proximity.cameras.offset import Displacement

Array = NDArray[np.float64]
UNKNOWNS = 6  # of a displacement


@dataclass(frozen=True)
class OfPosture:
    """The displacement that the image of one posture shows, and the (N, 3) m surface points that
    show it, in the assumed optical frame.
    """

    displacement: Displacement
    points: Array


@dataclass(frozen=True)
class PostureAgreement:
    """Agreement of postures with the displacement that all of them show together.

    Attributes:
        contradiction: mean over the postures of the squared Mahalanobis distance of their own
            displacement from the common one, by their own covariance, per unknown: at most about 1
            if their covariances say how uncertain they are.
        apart: m, mean over the postures of by how much their own displacement puts the surface
            elsewhere than the common one does, root mean square over its points.
    """

    contradiction: float
    apart: float

    @property
    def spread(self) -> float:
        """Factor of the deviations with which the postures would not contradict each other, at
        least 1 (Birge 1932, Phys. Rev. 40, 207).
        """
        return math.sqrt(max(1.0, self.contradiction))


def posture_agreement(common: Displacement, postures: Sequence[OfPosture]) -> PostureAgreement:
    """Compares the displacement of each posture, at least one, with the common one."""
    squares, lengths = [], []
    for each in postures:
        own = each.displacement
        other = common.about(own.centre)
        turn = Rotation.from_rotvec(own.turn) * Rotation.from_rotvec(other.turn).inv()
        step = np.concatenate((own.shift - other.shift, turn.as_rotvec()))
        squares.append(float(step @ np.linalg.solve(own.covariance, step)))
        moved = own.apply(each.points) - other.apply(each.points)
        lengths.append(float(np.sqrt(np.einsum('nk,nk->n', moved, moved).mean())))
    return PostureAgreement(float(np.mean(squares)) / UNKNOWNS, float(np.mean(lengths)))
