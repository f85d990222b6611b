# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The place at which an unknown weight acts on a force-torque sensor, from posture to posture."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.sensing.contact.wrench.options import ROOM

Array = NDArray[np.float64]
SPREAD = 0.1  # m, deviation of the place before anything is measured
ANY_MOMENT, ANY_OFFSET = 30.0, 0.5  # N m, deviations of what is not known at all
TARED = 0.02  # N m, of an offset that was tared
READING = 0.03  # N m, deviation of a block's mean from the model
DRIFT = 0.001  # N m per square root of s: how the offset wanders
CABLES = 0.03  # N m per square root of m of way: how cables change it
UNSURE = 2.0  # deviations of a weight's torque by which the threshold is wider
HIDDEN = 0.5  # share of the threshold from which that is said
UNLIKELY = 9.0  # chi-squared of a block from which it counts for less
MOMENT, OFFSET = slice(0, 3), slice(3, 6)
EYE = np.eye(3)


class WeightPlace:
    """Splits the torque on the sensor, in its axes, into that of a weight and an offset:

        torque = moment x down + offset,

    where the moment is weight times place, N m. One posture shows the line along which the weight
    acts, others the point on it: a Kalman filter with moment and offset as its state. Before, a
    weight is expected at `point`, SPREAD around it.
    """

    def __init__(self, point: ArrayLike) -> None:
        """point: (3,) m, where weights are expected, in the sensor's axes."""
        self._point = np.array(point, dtype=np.float64)
        self.begin(np.zeros(3))

    def begin(self, offset: Array, spread: float = ANY_OFFSET) -> None:
        """Forgets the moment; the offset (3,) N m is known within `spread`."""
        self._state = np.concatenate((np.zeros(3), offset))
        self._covariance = np.diag([ANY_MOMENT**2] * 3 + [spread**2] * 3)

    def tare(self, offset: Array) -> None:
        """The offset (3,) N m is known; the moment is as before."""
        self._state[OFFSET] = offset
        self._covariance[OFFSET, :] = 0.0
        self._covariance[:, OFFSET] = 0.0
        self._covariance[OFFSET, OFFSET] = TARED**2 * EYE

    def copy(self) -> WeightPlace:
        """Returns another one that knows the same."""
        found = WeightPlace(self._point)
        found._state, found._covariance = self._state.copy(), self._covariance.copy()
        return found

    def doubt(self) -> None:
        """The moment may be another one from now on."""
        known = np.diagonal(self._covariance)[MOMENT]
        more = np.maximum(ANY_MOMENT**2 - known, 0.0)
        self._covariance[MOMENT, MOMENT] += np.diag(more)

    def wander(self, way: float, time: float) -> None:
        """The hand went `way` m in `time` s: the offset has changed."""
        self._covariance[OFFSET, OFFSET] += (DRIFT**2 * time + CABLES**2 * way) * EYE

    def hang(self, weight: float) -> None:
        """It is a weight of so many N, so the moment is about that at the point."""
        model = np.hstack((EYE, np.zeros((3, 3))))
        self._learn(model, weight * self._point, (weight * SPREAD) ** 2 + 1e-8)

    def update(self, torque: Array, down: Array) -> None:
        """Takes the mean torque (3,) N m of a block; down: (3,) unit vector of gravity."""
        self._learn(_model(down), torque, READING**2)

    def _learn(self, model: Array, value: Array, variance: float) -> None:
        innovation = value - model @ self._state
        crossed = model @ self._covariance
        expected = crossed @ model.T
        inverse = np.linalg.inv(expected + variance * EYE)
        unlikely = float(innovation @ inverse @ innovation)
        if unlikely > UNLIKELY:
            inverse = np.linalg.inv(expected + variance * (unlikely / UNLIKELY) * EYE)
        gain = crossed.T @ inverse
        self._state = self._state + gain @ innovation
        found = self._covariance - gain @ crossed
        self._covariance = 0.5 * (found + found.T)

    @property
    def moment(self) -> Array:
        """(3,) N m, of the weight."""
        found: Array = self._state[MOMENT]
        return found

    @property
    def offset(self) -> Array:
        """(3,) N m, of the sensor and of cables."""
        found: Array = self._state[OFFSET]
        return found

    @property
    def unknown_offset(self) -> float:
        """N m, deviation of the offset."""
        return sqrt(max(float(np.trace(self._covariance[OFFSET, OFFSET])), 0.0))

    def unknown(self, down: Array) -> float:
        """N m, deviation of the torque of weight and offset together while gravity points along
        `down` (3,), beyond that of the offset alone.
        """
        model = _model(down)
        total = np.trace(model @ self._covariance @ model.T)
        offset = np.trace(self._covariance[OFFSET, OFFSET])
        return sqrt(max(float(total - offset), 0.0))


def place_of(moment: Array, weight: float) -> tuple[float, float, float]:
    """Returns m, where a weight (N) has this moment (3,) N m."""
    x, y, z = (moment / weight).tolist()
    return x, y, z


def widening(held: float, hung: float, torque_on: float) -> float:
    """Returns N m by which the threshold `torque_on` is wider, of the deviations of the torques of
    what is held and of what hangs on the hand; the threshold's own allowance is not counted.
    """
    return max(UNSURE * sqrt(held * held + hung * hung) - ROOM * torque_on, 0.0)


def hidden(more: float, torque_on: float) -> str:
    """Says what a threshold that is wider by `more` N m hides, where that is much; '' otherwise."""
    if more <= HIDDEN * torque_on:
        return ''
    return (
        'where a weight on the hand acts is not known until the hand has turned: a torque is felt '
        f'from {torque_on + more:.1f} N m on'
    )


def _model(down: Array) -> Array:
    """Returns (3, 6): the torque of moment and offset."""
    x, y, z = down.tolist()
    return np.array(
        [
            [0.0, z, -y, 1.0, 0.0, 0.0],
            [-z, 0.0, x, 0.0, 1.0, 0.0],
            [y, -x, 0.0, 0.0, 0.0, 1.0],
        ]
    )
