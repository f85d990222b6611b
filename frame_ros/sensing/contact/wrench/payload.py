# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The weight of a held object, from the wrench once it hangs still."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.sensing.contact.wrench.block import WrenchBlock
from frame_ros.sensing.contact.wrench.options import WrenchOptions

Array = NDArray[np.float64]
_STEADY = 0.1  # share of the weight by which block means may differ
_LEAST_SPREAD = 0.1  # N by which they always may
_ASIDE = 0.35  # share of the weight that the force across may be


@dataclass(frozen=True)
class Payload:
    """A point mass in the gripper: mass in kg, position (3,) m in the sensor's axes."""

    mass: float = 0.0
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)


class PayloadEstimator:
    """Mass and place of the held object: `payload`, of mass 0 until it is known.

    While something is held, the force beyond tool and bias is its weight if it points down within
    about 20 degrees and is steady over `payload_window`; the torque then shows how far from the
    sensor the weight acts. It is found once per grasp; if more weight comes within
    `payload_settling` (an object that was partly lifted first), once more. Blind time: from the
    lift until the window has passed in quiet motion the weight reads as a force down, which
    expectations explain by the grasp; a push straight down of less than `largest_payload` that
    begins in that time, and lasts, is taken for weight. Release ends it at once.
    """

    def __init__(self, settings: WrenchOptions, gravity: float) -> None:
        """gravity: m/s^2."""
        self._settings = settings
        self._gravity = gravity
        self._window = int(settings.payload_window * SECOND)
        self._tip = np.array(settings.tip)
        self.payload = Payload()
        self._settling = int(settings.payload_settling * SECOND)
        self._means: list[tuple[int, int, Array, Array]] = []
        self._weighed: int | None = None

    def reset(self) -> None:
        """Forgets the held object."""
        if self.payload.mass:
            self.payload = Payload()
        self._weighed = None
        self._means.clear()

    def interrupt(self, stamp: int) -> None:
        """Begins a new window at `stamp`, ns."""
        self._means.clear()
        if self._weighed is not None:
            self._weighed = min(self._weighed, stamp)

    def update(self, block: WrenchBlock, bias: Array) -> Payload:
        """Returns the payload after a block; bias: (6,)."""
        if not block.is_holding or self._settings.largest_payload == 0 or self._gravity == 0:
            self.reset()
            return self.payload
        if self._weighed is not None and block.end - self._weighed > self._settling:
            return self.payload
        external = block.mean - bias
        self._means.append((block.start, block.end, external, block.down.mean(axis=0)))
        while len(self._means) > 1 and block.end - self._means[1][0] >= self._window:
            self._means.pop(0)
        if block.end - self._means[0][0] >= self._window:
            self._weigh()
        return self.payload

    def _weigh(self) -> None:
        """Sets the payload if the window shows a weight that hangs still."""
        wrenches = np.array([mean[2] for mean in self._means])
        down = np.array([mean[3] for mean in self._means])
        pulls = np.einsum('ij,ij->i', wrenches[:, :3], down)
        across = np.linalg.norm(wrenches[:, :3] - pulls[:, None] * down, axis=1)
        pull = float(pulls.mean())
        mass = pull / self._gravity
        allowed = max(_LEAST_SPREAD, _STEADY * pull)
        is_weight = np.ptp(pulls) <= allowed and across.max() <= max(_LEAST_SPREAD, _ASIDE * pull)
        total = self.payload.mass + mass
        if (
            mass < self._settings.least_payload
            or total > self._settings.largest_payload
            or not is_weight
        ):
            return
        self.payload = Payload(total, self._place(wrenches.mean(axis=0), mass))
        if self._weighed is None:
            self._weighed = self._means[-1][1]
        self._means.clear()

    def _place(self, external: Array, mass: float) -> tuple[float, float, float]:
        """Returns where the weight acts: on the force's line of action, nearest to the tip."""
        force, torque = external[:3], external[3:]
        square = float(force @ force)
        point = np.cross(force, torque) / square
        point = point + force * float((self._tip - point) @ force) / square
        before = self.payload
        share = before.mass / (before.mass + mass)
        x, y, z = (share * np.array(before.position) + (1.0 - share) * point).tolist()
        return x, y, z
