# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""An episode as calibration takes it: the scores of its inferences, and how it ended."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.confidence.fingerprint import Fingerprint
from frame_ros.confidence.samples import Array
from frame_ros.confidence.scores import OF_CALIBRATION
from frame_ros.core.errors import ShapeError, ValueRangeError


@dataclass(frozen=True)
class ScoreEpisode:
    """The n inferences of an episode, by time.

    Attributes:
        name: unique among the episodes of a calibration.
        outcome: True for success, False for failure; None: not known, or not the policy's alone.
        duration: s.
        times: (n,) s since the episode's start, not decreasing.
        scores: name of a score -> (n,) values as they stand; NaN where unavailable.
        distance: (n,) m, newest at the inference; NaN where not measured.
        contact: (n,) whether the robot touched something; False also where not known.
        dimensions: (n, D) confidence per action dimension, NaN where unavailable; None without.
        temperatures: (K,) the grid of temperature scaling; None without.
        at_temperature: (n, K) confidence at each of them; None without.
        dimensions_at_temperature: (n, D, K) the same per action dimension; None without.
        features: (n, F) of the observation; None without.
        feature_source: of them, as PolicyInference has it.
        feature_note: why there are none although the policy yields some, in words.
        confidence_note: likewise of the confidence, of a policy that yields tokens.
        begin: stamp of the episode's start, ns; 0 if not known.
        note: why there is no outcome, in words.
        attributes: facts of the episode: policy, checkpoint, instruction, robot, ...
        fingerprint: the setup that it was recorded with, as far as it is known.
        options: those of the metrics that scores depend on, by which they were computed; empty: not
            known.

    Raises:
        ShapeError: an array is not of n inferences.
        ValueRangeError: the duration or a time is not finite, or times decrease.
    """

    name: str
    outcome: bool | None
    duration: float
    times: Array
    scores: Mapping[str, Array]
    distance: Array
    contact: NDArray[np.bool_]
    dimensions: Array | None = None
    temperatures: Array | None = None
    at_temperature: Array | None = None
    dimensions_at_temperature: Array | None = None
    features: Array | None = None
    feature_source: str = ''
    feature_note: str = ''
    confidence_note: str = ''
    begin: int = 0
    note: str = ''
    attributes: Mapping[str, str] = field(default_factory=dict)
    fingerprint: Fingerprint = Fingerprint()
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.times.ndim != 1:
            raise ShapeError(f'times have shape {self.times.shape}; (n,) is expected')
        for name, array in self._arrays().items():
            if array.shape[:1] != self.times.shape:
                raise ShapeError(
                    f'{name} of {self.name!r} has shape {array.shape}; {len(self)} inferences '
                    'were expected along its first axis'
                )
        is_finite = np.isfinite(self.duration) and np.isfinite(self.times).all()
        if not is_finite or (np.diff(self.times) < 0.0).any():
            raise ValueRangeError(f'times of {self.name!r} are not finite, or decrease')

    def __len__(self) -> int:
        return len(self.times)

    def _arrays(self) -> dict[str, NDArray]:
        """Returns the arrays of n inferences that there are, by name."""
        optional = {
            'dimensions': self.dimensions,
            'at_temperature': self.at_temperature,
            'dimensions_at_temperature': self.dimensions_at_temperature,
            'features': self.features,
        }
        there = {name: array for name, array in optional.items() if array is not None}
        scores = {f'score {name}': values for name, values in sorted(self.scores.items())}
        return {
            'times': self.times,
            **scores,
            'distance': self.distance,
            'contact': self.contact,
            **there,
        }

    @property
    def completion(self) -> Array:
        """(n,) share of the episode's duration that had passed at each inference, in [0, 1]."""
        if self.duration <= 0.0:
            return np.zeros(len(self))
        return np.clip(self.times / self.duration, 0.0, 1.0)

    @cached_property
    def data_hash(self) -> str:
        """SHA-256 of all that calibration takes of it: values, duration and outcome, without what a
        calibration file that was in use made of them.
        """
        digest = hashlib.sha256(f'{self.outcome} {self.duration!r}'.encode())
        for name, array in self._arrays().items():
            if name.removeprefix('score ') in OF_CALIBRATION:
                continue
            digest.update(f'\n{name} {array.dtype.str} {array.shape}\n'.encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()
