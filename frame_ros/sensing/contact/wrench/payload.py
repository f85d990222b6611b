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
from frame_ros.sensing.contact.wrench.tool_model import length
from frame_ros.sensing.contact.wrench.weight_place import TARED, WeightPlace, place_of

Array = NDArray[np.float64]
_STEADY = 0.1  # share of the weight by which block means may differ
_LEAST_SPREAD = 0.1  # N by which they always may
_ASIDE = 0.35  # share of the weight that the force across may be
PUSHED = 0.5  # share of the threshold of force from which something else may pull
MOVED = 0.01  # N m by which the moment of a weight must change for another place


@dataclass(frozen=True)
class Payload:
    """A point mass in the gripper: mass in kg, position (3,) m in the sensor's axes."""

    mass: float = 0.0
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)


class PayloadEstimator:
    """Mass and place of the held object: `payload`, of mass 0 until it is known.

    While something is held, the force beyond tool and bias is its weight if it points down within
    about 20 degrees and is steady over `payload_window`; the torque then shows where it acts, more
    exactly from posture to posture (`WeightPlace`), as long as nothing touches the hand. The weight
    is found once per grasp; if more comes within
    `payload_settling` (an object that was partly lifted first), once more. Blind time: from the
    lift until the window has passed in quiet motion the weight reads as a force down, which
    expectations explain by the grasp; a push straight down of less than `largest_payload` that
    begins in that time, and lasts, is taken for weight. Release ends it at once.

    Attributes:
        payload: what is held.
        unknown: N m, deviation of its torque, as its place is not known yet.
    """

    def __init__(self, settings: WrenchOptions, gravity: float) -> None:
        """gravity: m/s^2."""
        self._settings = settings
        self._gravity = gravity
        self._window = int(settings.payload_window * SECOND)
        self._place = WeightPlace(settings.point_of_weights)
        self.unknown = 0.0
        self.payload = Payload()
        self._settling = int(settings.payload_settling * SECOND)
        # Start and end, ns, wrench and down; the torque is with that of the payload.
        self._means: list[tuple[int, int, Array, Array]] = []
        self._weighed: int | None = None

    def change(self, settings: WrenchOptions) -> None:
        """Takes other thresholds."""
        self._settings = settings

    def reset(self) -> None:
        """Forgets the held object."""
        if self.payload.mass:
            self.payload = Payload()
        self._weighed = None
        self.unknown = 0.0
        self._means.clear()

    def look(self, gravity: Array) -> None:
        """Samples were missed; gravity (3,) is as this now, in the sensor's axes."""
        if self.payload.mass:
            self.unknown = self._place.unknown(gravity / self._gravity)

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
        down = block.down.mean(axis=0)
        external = block.mean - bias
        moment = self.payload.mass * self._gravity * np.array(self.payload.position)
        external[3:] += np.cross(moment, down)
        if self.payload.mass:
            self._refine(block, external, bias, moment)
        if self._weighed is not None and block.end - self._weighed > self._settling:
            return self.payload
        self._means.append((block.start, block.end, external, down))
        while len(self._means) > 1 and block.end - self._means[1][0] >= self._window:
            self._means.pop(0)
        if block.end - self._means[0][0] >= self._window:
            self._weigh(bias)
        return self.payload

    def _refine(self, block: WrenchBlock, external: Array, bias: Array, moment: Array) -> None:
        """Finds the place more exactly, by the wrench (6,) with the payload's own torque."""
        time, down = (block.end - block.start) / SECOND, block.down.mean(axis=0)
        self._place.wander(block.speed * time, time)
        is_free = length(external[:3]) < PUSHED * self._settings.force_on
        if is_free and not block.is_contact:
            self._place.update(external[3:] + bias[3:], down)
        self.unknown = self._place.unknown(down)
        if length(self._place.moment - moment) > MOVED:
            self._put(self.payload.mass)

    def _put(self, mass: float) -> None:
        self.payload = Payload(mass, place_of(self._place.moment, mass * self._gravity))

    def _weigh(self, bias: Array) -> None:
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
        self._place.begin(bias[3:], TARED)
        self._place.hang(total * self._gravity)
        for wrench, direction in zip(wrenches, down, strict=True):
            self._place.update(wrench[3:] + bias[3:], direction)
        self._put(total)
        self.unknown = self._place.unknown(down[-1])
        if self._weighed is None:
            self._weighed = self._means[-1][1]
        self._means.clear()
