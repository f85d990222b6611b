# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Forces on the hand that stay as they are in the world, apart from those of a cable and from the
sensor's offset.
"""

from __future__ import annotations

from math import exp

import numpy as np
from numpy.typing import NDArray

from frame_ros.sensing.contact.wrench.tool_model import length

Array = NDArray[np.float64]
READING = 0.1  # N, deviation of a block's mean from the model
DRIFT = 0.02  # N per square root of s: how the offset wanders
ANY_FORCE, ANY_OFFSET = 1.0, 2.0  # N, deviations of what is not known yet
STRENGTHS = np.array([0.05, 0.15, 0.4, 1.0])  # N of one axis, that cables may have
WAY = 0.3  # m of way after which a cable's pull is another one
FORGET = 60.0  # s, time constant with which it is forgotten how strong cables were
OUTLIER = 30.0  # chi-squared of a block at most: one must not decide alone
# Largest differences of log likelihoods: a cable may have come, which is seen within seconds; that
# one has gone is believed later, as slow motion shows little of it.
MAY_COME, MAY_GO = 20.0, 80.0
TOO_FAR = 0.35  # N from the model: this is a push
FADE = 0.02  # with which the fit of the newest blocks is weighed
CONSTANT, CHANGING, OFFSET = slice(0, 3), slice(3, 6), slice(6, 9)
NOISE = READING**2 * np.eye(3)


class WorldForces:
    """Splits the mean forces of blocks, in the sensor's axes, into three parts:

        force = R^T (constant + changing) + offset,

    where R turns the sensor's axes into those of the world. A weight is constant. What cables add
    changes with the way, about 0, as an Ornstein-Uhlenbeck process whose strength is not known: a
    Kalman filter for each of STRENGTHS has the nine components as its state, and each counts by its
    likelihood (Magill, "Optimal adaptive estimation of sampled stochastic processes", 1965).
    """

    def __init__(self, gravity: Array) -> None:
        """gravity: (3,) in the world."""
        down = np.asarray(gravity, dtype=np.float64)
        down = down / max(length(down), 1e-12)
        across = np.cross(down, np.eye(3)[int(np.abs(down).argmin())])
        across = across / max(length(across), 1e-12)
        self._axes = np.column_stack((down, across, np.cross(down, across)))
        self.tare(np.zeros(3))

    def tare(self, offset: Array) -> None:
        """Forgets the forces: all that is known is this reading (3,) N, which may hide some."""
        count = len(STRENGTHS)
        self._states: Array = np.zeros((count, 9))
        self._states[:, OFFSET] = offset
        spread = np.zeros((count, 9))
        spread[:, CONSTANT], spread[:, OFFSET] = ANY_FORCE**2, ANY_OFFSET**2
        spread[:, CHANGING] = STRENGTHS[:, None] ** 2
        self._covariances = spread[:, :, None] * np.eye(9)
        self._model: Array = np.hstack((np.eye(3), np.eye(3), np.eye(3)))
        self._log_likelihoods = np.zeros(count)
        self._misfit = 1.0
        self._weigh()
        self._rest = np.array(offset, dtype=np.float64)

    def doubt(self) -> None:
        """The constant force may be another one from now on."""
        for i in range(3):
            known = self._covariances[:, i, i]
            self._covariances[:, i, i] = np.minimum(known + ANY_FORCE**2, ANY_OFFSET**2)

    def update(self, force: Array, rotation: Array, way: float, time: float, is_free: bool) -> bool:
        """Takes the mean force (3,) N of a block in which the hand went `way` m in `time` s.

        Args:
            rotation: (3, 3) of the sensor in the world.
            is_free: nothing touches the hand: how strong cables are is learnt.

        Returns:
            Whether the model explains it; otherwise nothing is taken.
        """
        self.wander(way, time)
        turned = rotation.T @ self._axes
        model = self._model
        model[:, CONSTANT] = model[:, CHANGING] = turned
        crossed = model @ self._covariances
        inverse = np.linalg.inv(crossed @ model.T + NOISE)
        gains = crossed.transpose(0, 2, 1) @ inverse
        innovations = force - self._states @ model.T
        states = self._states + (gains @ innovations[:, :, None])[:, :, 0]
        missed = force - states @ model.T
        left = self._shares @ np.sqrt((missed * missed).sum(axis=1))
        if float(left) > TOO_FAR:
            return False
        unlikely = (innovations[:, None, :] @ inverse @ innovations[:, :, None])[:, 0, 0]
        self._misfit += FADE * (float(self._shares @ unlikely) / 3.0 - self._misfit)
        if is_free:
            gained = 0.5 * (np.log(np.linalg.det(inverse)) - np.minimum(unlikely, OUTLIER))
            known = self._log_likelihoods * exp(-time / FORGET) + gained
            is_stronger = np.arange(len(known)) > int(known.argmax())
            least = np.where(is_stronger, -MAY_COME, -MAY_GO)
            self._log_likelihoods = np.maximum(known - known.max(), least)
        self._states = states
        found = self._covariances - gains @ crossed
        self._covariances = 0.5 * (found + found.transpose(0, 2, 1))
        self._weigh()
        self._rest = model[:, 1:] @ self._state[1:]
        return True

    def wander(self, way: float, time: float) -> None:
        """The hand went `way` m in `time` s: cables pull otherwise now, and the offset drifted."""
        kept = exp(-way / WAY)
        self._states[:, CHANGING] *= kept
        self._covariances[:, CHANGING, :] *= kept
        self._covariances[:, :, CHANGING] *= kept
        diagonals = np.einsum('kii->ki', self._covariances)  # a view
        diagonals[:, CHANGING] += ((1.0 - kept**2) * STRENGTHS**2)[:, None]
        diagonals[:, OFFSET] += DRIFT**2 * time

    def _weigh(self) -> None:
        likelihoods = np.exp(self._log_likelihoods)
        self._shares = likelihoods / likelihoods.sum()
        self._state: Array = self._shares @ self._states

    @property
    def weight(self) -> float:
        """N of the constant force that point down."""
        return float(self._state[0])

    @property
    def aside(self) -> float:
        """N of the constant force that are horizontal."""
        return length(self._state[1:3])

    @property
    def deviation(self) -> float:
        """N by which `weight` may be wrong, as the fit turns out to be and with what cables pull on
        average: about as much as their pull was seen to change.
        """
        apart = (self._states[:, 0] - self.weight) ** 2
        known = float(self._shares @ (self._covariances[:, 0, 0] + apart))
        cables = float(self._shares @ STRENGTHS**2)
        return float(np.sqrt(known * max(self._misfit, 1.0) + cables))

    @property
    def rest(self) -> Array:
        """(3,) N in the sensor's axes, of all but `weight`, at the newest block."""
        return self._rest
