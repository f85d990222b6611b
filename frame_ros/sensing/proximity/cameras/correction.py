# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The offset that is taken out of a camera's extrinsics, as long as its checks support it."""

from __future__ import annotations

import math
from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.sensing.proximity.cameras.alignment import Alignment, AlignmentOptions

Array = NDArray[np.float64]
# Largest contradiction of postures that support one offset, see `PostureAgreement`: 1 is expected
# of covariances that are right, and these are cautious.
AGREED = 0.75


class Offset(NamedTuple):
    """Of a camera in its mount: its true pose is the assumed one times this, so it maps points
    (N, 3) of the optical frame by turn (3, 3) and shift (3,) m.
    """

    turn: Array
    shift: Array

    def pose(self, rotation: Array, translation: Array) -> tuple[Array, Array]:
        """Returns the true pose, (3, 3) and (3,) m, for the assumed one."""
        return rotation @ self.turn, translation + rotation @ self.shift

    def apart(self, other: Offset, points: Array) -> float:
        """Returns m, the largest distance between the places that the two offsets give what is seen
        at points (N, 3) m of the assumed optical frame.
        """
        seen = (points - self.shift) @ self.turn
        other_places = seen @ other.turn.T + other.shift
        return float(np.linalg.norm(other_places - points, axis=1).max())


class Correction:
    """Begins once several postures of the arm agree on an offset that is larger than its own error,
    and follows it while they do. A check that shows less confirms the last offset, and asks for the
    padding that covers what may have changed; one that no padding would cover ends it. Not
    thread-safe.

    Attributes:
        offset: that is taken out; None: none is.
        source: check that it is of.
        needs: m, by which the padding must grow under it, of the last checks.
    """

    def __init__(self, settings: AlignmentOptions) -> None:
        self._settings = settings
        self.offset: Offset | None = None
        self.source: Alignment | None = None
        self.needs: deque[float] = deque(maxlen=settings.confirmations)

    def take(self, found: Alignment, offset: Offset | None, points: Array) -> None:
        """Takes a conclusive check. offset: that it found; None: the robot is not seen nearby.
        points: (N, 3) m about the robot, in the assumed optical frame.
        """
        error = found.uncertainty + found.apart
        if offset is not None and self._is_supported(found, error):
            # An offset within its own error is none that is known.
            if self.offset is not None or _largest(found) > error:
                self.offset, self.source = offset, found
                self.needs.append(error)
            return
        if self.offset is None:
            return
        need = math.inf if offset is None else self.offset.apart(offset, points) + error
        if need <= self._settings.growth:
            self.needs.append(need)
        else:
            self.end()

    def end(self) -> None:
        """Takes nothing out from now on, until postures agree again."""
        self.offset = self.source = None
        self.needs.clear()

    def _is_supported(self, found: Alignment, left: float) -> bool:
        settings = self._settings
        return (
            settings.is_corrected
            and found.frames >= settings.postures
            and found.contradiction <= AGREED
            and _largest(found) <= settings.correctable
            and left <= settings.growth
        )


def _largest(found: Alignment) -> float:
    """Returns m, the largest displacement of the surface seen."""
    return found.bound - found.uncertainty
