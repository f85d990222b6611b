# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Features of calibration episodes: how they are fitted, and the distances of new ones from them.

Of an episode that the reference was fitted on the distances are too small: its own features are
among the neighbours. `held_out_distances` leaves it out; thresholds are to be fitted on those.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np

from frame_ros.confidence.calibration_parts import FeatureReference
from frame_ros.confidence.samples import Array
from frame_ros.core.errors import CalibrationError
from frame_ros.metrics.arrays import squares_are_finite
from frame_ros.metrics.shrunk_covariance import ledoit_wolf

NAN = float('nan')
NO_FEATURES = 'the policy exposes no features of its observation'
FEATURE_SCORES = ('feature_mahalanobis', 'feature_knn')
NEIGHBOURS = 10
# Rows that a reference keeps for the nearest neighbours: 0.6 MB of a file.
MOST_ROWS = 1000
# Groups of rows per neighbour, of which half have a candidate for the nearest.
_GROUPS = 4
# Features up to this length have products with rows in single precision.
_LONGEST = 1e15
# Least ratio of the smallest to the largest variance in any direction.
_LEAST_RATIO = 1e-12


def fit_features(
    episodes: Sequence[Any], source: str = '', neighbours: int = NEIGHBOURS, rows: int = MOST_ROWS
) -> FeatureReference:
    """Fits mean, shrunk covariance and neighbours to the features of calibration episodes.

    Mean and covariance are of all inferences; of more than `rows` inferences every so many are
    kept as neighbours.

    Args:
        episodes: (n_i, F) each, F the same; successful ones, so that what they hold is what the
            policy masters. Rows that are not finite are left out.
        source: PolicyInference.feature_source of all of them.
        neighbours: k, or all rows if there are fewer.
        rows: to keep at most.

    Raises:
        CalibrationError: widths differ, there are too few inferences, or they do not vary.
    """
    every = _stacked(episodes)
    count, width = every.shape
    if count < 2:
        raise CalibrationError(
            f'features of {count} inferences have no covariance; 2 or more are needed, and many '
            f'more than their {width} dimensions for a good one'
        )
    with np.errstate(over='ignore', invalid='ignore'):
        found = ledoit_wolf(every)
    if not np.isfinite(found.covariance).all():
        raise CalibrationError(f'the features of {count} inferences are too large for a covariance')
    variances = np.linalg.eigvalsh(found.covariance)
    if not variances[0] > _LEAST_RATIO * variances[-1]:
        raise CalibrationError(
            f'the {width} features of {count} inferences do not vary in every direction; episodes '
            'with other observations are needed'
        )
    inverse = np.linalg.inv(found.covariance)
    kept = np.unique(np.linspace(0, count - 1, min(rows, count)).round().astype(int))
    return FeatureReference(
        source=source,
        rows=every[kept],
        mean=found.mean,
        inverse_covariance=0.5 * (inverse + inverse.T),
        neighbours=min(neighbours, len(kept)),
    )


def _stacked(episodes: Sequence[Any]) -> Array:
    """The features of all inferences, (n, F), that are finite."""
    arrays = [np.asarray(episode, np.float64) for episode in episodes]
    widths = {array.shape[1:] for array in arrays}
    if len(widths) != 1 or any(array.ndim != 2 for array in arrays):
        raise CalibrationError(
            f'features of episodes have shapes {[array.shape for array in arrays][:5]}; (n, F) '
            'with one F is expected: are they of one policy?'
        )
    every = np.concatenate(arrays)
    return every[np.isfinite(every).all(axis=1)]


class FeatureDistances:
    """Distances of features from a reference, prepared for one inference after the other.

    The same as `mahalanobis_distance` and, in units of the standard deviation of each feature,
    `nearest_neighbour_distance` of frame_ros.metrics, but for rounding.
    """

    def __init__(self, reference: FeatureReference) -> None:
        """Raises CalibrationError: its inverse covariance is not that of a covariance."""
        try:
            self._root = np.linalg.cholesky(reference.inverse_covariance).T
            self._scale = feature_scale(reference)
        except np.linalg.LinAlgError as error:
            raise CalibrationError('inverse_covariance of the features is not positive') from error
        if not (np.isfinite(self._scale).all() and self._scale.min() > 0.0):
            raise CalibrationError('inverse_covariance of the features has no finite inverse')
        self._source, self._neighbours = reference.source, reference.neighbours
        self._mean = reference.mean
        self._rows = (reference.rows - self._mean) / self._scale
        # In single precision, which finds the candidates, and is half as much to read.
        # Rows that are infinitely far away fill the last group.
        self._groups = _GROUPS * self._neighbours
        padding = -len(self._rows) % self._groups
        rough = np.pad(self._rows, ((0, padding), (0, 0))).astype(np.float32)
        self._rough_rows, self._half_squares = rough, 0.5 * np.einsum('ij,ij->i', rough, rough)
        self._half_squares[len(self._rows) :] = np.inf
        self._reach = float(np.linalg.norm(self._rows, axis=1).max())
        # Twice the largest error of a product of two such rows, over their length, and of its sum.
        self._rounding = 4.0 * len(self._mean) * float(np.finfo(np.float32).eps) * self._reach

    def of(self, features: Any, source: str) -> tuple[dict[str, float], str]:
        """Returns FEATURE_SCORES -> distance of one inference, and why they are NaN if they are.

        Args:
            features: (F,), of PolicyInference; empty: none.
            source: its feature_source.
        """
        array = np.asarray(features, np.float64)
        problem = self._problem(array, source)
        if problem:
            return dict.fromkeys(FEATURE_SCORES, NAN), problem
        centred = array - self._mean
        apart = self._root @ centred
        values = sqrt(apart @ apart), self._nearest(centred / self._scale)
        return dict(zip(FEATURE_SCORES, values)), ''

    def _problem(self, features: Array, source: str) -> str:
        width = len(self._mean)
        if not features.size:
            return NO_FEATURES
        if source != self._source:
            return f'features are of {source!r}, those of the calibration of {self._source!r}'
        if features.shape != (width,):
            return f'features have shape {features.shape}, those of the calibration ({width},)'
        return '' if squares_are_finite(np, features) else 'features are not finite, or too large'

    def _nearest(self, scaled: Array) -> float:
        apart = self._candidates(scaled) - scaled
        distances = np.sqrt(np.einsum('ij,ij->i', apart, apart))
        distances.sort()
        return float(distances[: self._neighbours].sum() / self._neighbours)

    def _candidates(self, scaled: Array) -> Array:
        """Rows among which the nearest are, found by halves of squared distances from a product in
        single precision, less half the square of `scaled`; what rounding may hide is among them.

        The n-th smallest minimum of the groups is not below the n-th smallest of all, and quicker
        to find.
        """
        if len(self._rows) <= self._groups or not (length := sqrt(scaled @ scaled)) < _LONGEST:
            return self._rows
        rough = self._half_squares - self._rough_rows @ scaled.astype(np.float32)
        minima = np.minimum.reduce(rough.reshape(-1, self._groups), axis=0)
        minima.sort()
        margin = self._rounding * (length + self._reach)
        limit = float(minima[self._neighbours - 1]) + margin
        # What is not a number stays: without any row a distance would be 0.
        return self._rows.take((~(rough > limit)).nonzero()[0], axis=0)


def feature_scale(reference: FeatureReference) -> Array:
    """Returns the standard deviation of each feature, (F,), of the shrunk covariance."""
    return np.sqrt(np.diag(np.linalg.inv(reference.inverse_covariance)))


def held_out_distances(
    episodes: Sequence[Any],
    neighbours: int = NEIGHBOURS,
    folds: int = 5,
    fitted: Sequence[bool] | None = None,
) -> list[dict[str, Array]]:
    """Distances of calibration episodes, each from a reference that was fitted without it.

    Args:
        episodes: (n_i, F) each, as of `fit_features`.
        neighbours: as of `fit_features`.
        folds: groups of episodes that are left out together, by their order; at least 2.
        fitted: whether an episode may be in a reference; None: all are.

    Returns:
        For each episode FEATURE_SCORES -> (n_i,), NaN where its features are not finite.

    Raises:
        CalibrationError: as of `fit_features`, also of the episodes that are left in a fold.
    """
    arrays = [np.asarray(episode, np.float64) for episode in episodes]
    usable = [True] * len(arrays) if fitted is None else list(fitted)
    if len(usable) != len(arrays) or folds < 2:
        raise CalibrationError(
            f'{len(usable)} flags for {len(arrays)} episodes in {folds} folds; one flag for each, '
            'and 2 folds or more are expected'
        )
    groups = [list(range(first, len(arrays), folds)) for first in range(folds)]
    found: dict[int, dict[str, Array]] = {}
    for group in filter(None, groups):
        others = [arrays[i] for i in range(len(arrays)) if usable[i] and i not in group]
        if not others:
            raise CalibrationError(
                f'none of {len(arrays)} episodes is left to compare the others with; 2 or more '
                'successful ones are needed'
            )
        distances = FeatureDistances(fit_features(others, neighbours=neighbours))
        found |= {i: _of_all(distances, arrays[i]) for i in group}
    return [found[i] for i in range(len(arrays))]


def _of_all(distances: FeatureDistances, episode: Array) -> dict[str, Array]:
    rows = [distances.of(features, '')[0] for features in episode]
    return {name: np.array([row[name] for row in rows]) for name in FEATURE_SCORES}
