# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The offset of an arm's own estimate of the external wrench, learnt posture by posture."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ValueRangeError

Array = NDArray[np.float64]
_WAVES = 32  # random features
_REACH = 1.5  # rad over which the rest of the offset changes
# Standard deviations that are expected, as shares of the offset's: a constant, sines and cosines of
# all joints together, and the rest together.
_CONSTANT, _HARMONICS, _REST = 0.7, 0.7, 0.2


class PostureOffset:
    """A smooth function of the joint positions, (N,) rad -> (D,), from samples with noise, and how
    well it is known.

    Bayesian linear regression by recursive least squares without forgetting (Bishop, "Pattern
    Recognition and Machine Learning", 2006, 3.3) on features of the posture: a constant, sines and
    cosines of the joints, and random Fourier features (Rahimi and Recht, "Random features for
    large-scale kernel machines", 2007) for the rest. `spread` says how far the prediction may be
    off, 1 standard deviation: large where no posture near was seen, small where many were.
    """

    def __init__(self, joints: int, scales: Array, noise: float, seed: int = 0) -> None:
        """Makes a function of `joints` positions.

        Args:
            scales: (D,) standard deviations of the offsets over all postures.
            noise: of a sample, as a share of the scale.
            seed: of the random features.

        Raises:
            ValueRangeError: a scale or the noise is not positive.
        """
        self._scales = np.asarray(scales, dtype=np.float64)
        if not ((self._scales > 0).all() and np.isfinite(self._scales).all() and noise > 0):
            raise ValueRangeError(
                f'offset scales {self._scales.tolist()} and noise {noise}; they must be positive'
            )
        random = np.random.default_rng(seed)
        self._directions = random.standard_normal((_WAVES, joints)) / _REACH
        self._phases = random.uniform(0.0, 2.0 * np.pi, _WAVES)
        self._harmonics = _HARMONICS / np.sqrt(joints)
        self._noise = noise
        size = 1 + 2 * joints + _WAVES
        # In units of the scales: covariance of the weights over the noise's variance.
        self._covariance = np.eye(size) / noise**2
        self._weights = np.zeros((size, len(self._scales)))
        self.samples = 0

    def predict(self, q: Array) -> tuple[Array, Array]:
        """Returns the offset (D,) and its spread (D,) at q (N,)."""
        features = self._features(q)
        leverage = float(features @ self._covariance @ features)
        spread = self._noise * np.sqrt(max(leverage, 0.0))
        return (features @ self._weights) * self._scales, spread * self._scales

    def learn(self, q: Array, values: Array) -> None:
        """Takes a measurement (D,) at q (N,)."""
        features = self._features(q)
        along = self._covariance @ features
        gain = along / (1.0 + float(features @ along))
        self._weights += np.outer(gain, values / self._scales - features @ self._weights)
        self._covariance -= np.outer(gain, along)
        self.samples += 1

    def _features(self, q: Array) -> Array:
        waves = np.cos(self._directions @ q + self._phases) * (_REST * np.sqrt(2.0 / _WAVES))
        sines, cosines = self._harmonics * np.sin(q), self._harmonics * np.cos(q)
        return np.concatenate(([_CONSTANT], sines, cosines, waves))
