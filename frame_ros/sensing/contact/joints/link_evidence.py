# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Identifies the touched body of an arm by how well a force on each would explain the residuals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.robots.description import Primitive
from frame_ros.robots.dynamics import RobotDynamics
from frame_ros.robots.shapes.solid_shapes import solid_shapes
from frame_ros.sensing.contact.joints.force_estimate import USUAL_FORCE, USUAL_TORQUE

Array = NDArray[np.float64]
Place = tuple[str, Array]
PERIOD = 20_000_000  # ns between two looks; each costs more than all the rest of a detection
# Of the evidence, in units of its logarithm: how much of each evaluation favours the hand
# regardless of the residuals, as a force hardly ever acts exactly at the assumed place; and how
# much in sum rules out the hand. Both chosen on recorded episodes: see
# docs/evaluation-motor-current.md.
DOUBT, SETTLED = 0.5, 5.0
FADING = 0.25  # share of the observer's own decay from which a residual fades


class LinkEvidence:
    """Identifies the touched body while a contact lasts: the last one, the hand, until there is
    enough evidence for another, and from then on that one.

    A force on a body gives torque only to the joints before it, in the ratio of their levers. Its
    evidence is the likelihood of the residuals, where forces on the body have a zero mean and
    USUAL_FORCE as deviation per axis (the hand: a wrench, also USUAL_TORQUE), averaged over the
    ends of the body's shapes. That weighs what an outer joint does not feel by the force that the
    others do feel. Evidence adds up over time, in units of the time in which the residual changes;
    one that fades lags behind a force that is gone or changes, and is not evidence.
    """

    def __init__(self, dynamics: RobotDynamics, gain: float) -> None:
        """Takes the dynamics and the observer's gain, 1/s."""
        self._dynamics, self._gain = dynamics, gain
        shapes = solid_shapes(dynamics.robot)
        self._places = [_places(dynamics, body, shapes) for body in dynamics.bodies]
        self.reset()

    def reset(self) -> None:
        """Forgets the contact."""
        self.body = len(self._places) - 1
        self._sum = 0.0
        self._sums = np.zeros(len(self._places))
        self._last: tuple[int, float] | None = None

    def update(self, stamp: int, q: Array, residuals: Array, thresholds: Array) -> int:
        """Takes one sample of a contact; returns the body.

        Args:
            stamp: ns.
            q: (N,) rad.
            residuals: (N,) N m.
            thresholds: (N,) N m, three deviations each; infinite for a joint that is not judged.
        """
        hand = len(self._places) - 1
        if self._last is not None and stamp - self._last[0] < PERIOD:
            return self.body
        shares = residuals / thresholds
        size = math.sqrt(shares @ shares)
        before, self._last = self._last, (stamp, size)
        seconds = PERIOD / SECOND if before is None else (stamp - before[0]) / SECOND
        decay = math.exp(-FADING * self._gain * seconds)
        if self.body != hand or (before is not None and size < decay * before[1]):
            return self.body
        found = self._evidence(q, residuals, np.minimum(thresholds, 1e3) / 3.0)
        weight = 0.5 * self._gain * seconds
        self._sums += weight * found
        self._sum = max(0.0, self._sum + weight * (found[:hand].max() - found[hand] - DOUBT))
        if self._sum >= SETTLED:
            self.body = int(self._sums[:hand].argmax())
        return self.body

    def _evidence(self, q: Array, residuals: Array, deviations: Array) -> Array:
        """Returns (N,) log likelihoods of the residuals for a force on each body."""
        hand = len(self._places) - 1
        usual = np.array((USUAL_FORCE,) * 3 + (USUAL_TORQUE,) * 3)
        found = np.empty(len(self._places))
        for body, places in enumerate(self._places):
            each = []
            for link, place in places:
                jacobian = self._dynamics.link_jacobian(link, q, place)[:3].copy()
                jacobian[:, body + 1 :] = 0.0
                each.append(_log_likelihood(jacobian, usual[:3], residuals, deviations))
            if body == hand:
                jacobian = self._dynamics.link_jacobian(self._dynamics.robot.tip_link, q)
                each.append(_log_likelihood(jacobian, usual, residuals, deviations))
            largest = max(each)
            mean = sum(math.exp(value - largest) for value in each) / len(each)
            found[body] = largest + math.log(mean)
        return found


def _log_likelihood(jacobian: Array, usual: Array, residuals: Array, deviations: Array) -> float:
    """Returns that of (N,) residuals, up to a constant; jacobian: (K, N), usual: (K,)."""
    felt = jacobian.T * usual
    root = np.linalg.cholesky(felt @ felt.T + np.diag(deviations**2))
    white = np.linalg.solve(root, residuals)
    return -0.5 * float(white @ white) - float(np.log(root.diagonal()).sum())


def _places(
    dynamics: RobotDynamics, body: str, geometry: Mapping[str, Sequence[Primitive]]
) -> list[Place]:
    """Returns ends of a body's shapes, (3,) m in their links' frames, or else its origin."""
    found: list[Place] = []
    for link in dynamics.links_of_bodies[body]:
        for shape in geometry.get(link, ()):
            capsule = shape.capsule()
            found += [(link, np.array(capsule.start)), (link, np.array(capsule.end))]
    return found or [(body, np.zeros(3))]
