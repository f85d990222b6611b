# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One risk from several scores, at every inference.

The risk is a weighted sum of channels (see `score_channels`), each of which says how unusual one
score has been so far. It never falls within an episode. Compare it with a conformal threshold of
successful episodes that were not fitted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.confidence.samples import Array
from frame_ros.confidence.score_channels import (
    ELAPSED,
    LEAST_EPISODES,
    OTHER_INPUTS,
    ScoreChannels,
)
from frame_ros.confidence.score_episode import ScoreEpisode
from frame_ros.confidence.scores import SCORES
from frame_ros.core.errors import CalibrationError, ValueRangeError
from frame_ros.core.plain_text import counted

# mean: of all channels alike. highest: mean of the highest fifth of them. Both need no failure.
# fitted: weights of a logistic regression of failure, none below 0.
METHODS = ('mean', 'highest', 'fitted')
HIGHEST = 0.2  # share of the channels
# Where failed episodes are looked at for the weights, in median durations of successes: early, so
# that what warns early gets the weight, which time itself does not.
LOOKS = (0.75, 1.0, 1.25)
# Scores that are made with a calibration file, this combination's own risk among them.
OF_CALIBRATION = ('chunk_consistency_z', 'confidence_calibrated', 'combined_risk')
PENALTY = 0.1  # on half the sum of squared weights, added to the mean loss


class ScoreCombination:
    """A fitted combination, and its state in the running episode.

    Attributes:
        method: one of METHODS.
        channels: what is combined.
        weights: (C,) of them, 0 or more; without a fit those of channels that count are alike.
    """

    def __init__(self, method: str, channels: ScoreChannels, weights: Array) -> None:
        """See `fit`. Raises ValueRangeError for another method."""
        if method not in METHODS:
            raise ValueRangeError(f'no method {method!r}; there are {", ".join(METHODS)}')
        self.method, self.channels, self.weights = method, channels, weights
        self._terms = _terms(method, int(np.count_nonzero(weights)))

    @classmethod
    def fit(
        cls,
        episodes: Sequence[ScoreEpisode],
        inputs: Sequence[str] | None = None,
        method: str = 'fitted',
    ) -> ScoreCombination:
        """Fits on episodes with outcomes.

        Args:
            episodes: those without an outcome are left out.
            inputs: scores, and of 'elapsed', 'distance', 'contact'; None: `usable_inputs`.
            method: one of METHODS.

        Raises:
            CalibrationError: too few successes, or, of 'fitted', too few failures.
            ValueRangeError: an input or the method is unknown.
        """
        names = usable_inputs(episodes) if inputs is None else tuple(inputs)
        channels = ScoreChannels.fit(episodes, names)
        looks = looks_at(episodes)
        known = [each for each in episodes if each.outcome is not None and len(each)]
        units = list(zip(channels.of_episodes(known), known))
        return cls.weigh(method, channels, units, looks)

    @classmethod
    def weigh(
        cls,
        method: str,
        channels: ScoreChannels,
        units: Sequence[tuple[Array, ScoreEpisode]],
        looks: Sequence[float],
        inputs: Sequence[str] | None = None,
    ) -> ScoreCombination:
        """Fits the weights alone.

        Args:
            method: one of METHODS.
            channels: fitted ones.
            units: of each episode `channels.of_episode`, and itself.
            looks: s, see `looks_at`.
            inputs: those that count; None: all.

        Raises:
            CalibrationError, ValueRangeError: as of `fit`.
        """
        counts = np.isfinite(channels.median)
        if inputs is not None:
            counts &= np.isin(channels.inputs, list(inputs))[channels.of_input]
        weights = np.zeros(len(counts))
        if method == 'fitted':
            weights[counts] = _fitted_weights(units, looks, counts)
        else:
            weights[counts] = 1.0 / _terms(method, int(counts.sum()))
        return cls(method, channels, weights)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of what `update` takes."""
        return self.channels.inputs

    def start(self) -> None:
        """Starts an episode."""
        self.channels.reset()

    def update(self, values: Mapping[str, float]) -> float:
        """Takes one inference; returns the risk so far. Its scale is its own.

        Args:
            values: input -> value as it stands; NaN, or none, where unavailable. 'elapsed', s since
                the episode's start, must be there.

        Raises:
            ValueRangeError: 'elapsed' is missing or not finite.
        """
        elapsed = float(values.get(ELAPSED, math.nan))
        if not math.isfinite(elapsed):
            raise ValueRangeError(
                f"elapsed is {elapsed}; a combination needs the s since the episode's start"
            )
        get = values.get
        row = np.array([get(name, math.nan) for name in self.inputs], dtype=np.float64)
        return float(self.risk_of(self.channels.update(elapsed, row)))

    def risks(self, episode: ScoreEpisode) -> Array:
        """Returns (n,), `update` of every inference of an episode, from its start."""
        return self.risks_of([episode])[0]

    def risks_of(self, episodes: Sequence[ScoreEpisode]) -> list[Array]:
        """Returns `risks` of each episode; many at once take far less time."""
        return [self.risk_of(units) for units in self.channels.of_episodes(episodes)]

    def risk_of(self, units: Array) -> Array:
        """Returns the risk (...,) of channels (..., C)."""
        parts = units * self.weights
        terms = self._terms
        if terms < parts.shape[-1]:
            parts = np.partition(parts, parts.shape[-1] - terms, axis=-1)[..., -terms:]
        return np.asarray(np.add.reduce(parts, axis=-1))

    def to_dict(self) -> dict[str, Any]:
        """Returns plain JSON values."""
        return {
            'method': self.method,
            'weights': self.weights.tolist(),
            'channels': self.channels.to_dict(),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> ScoreCombination:
        """Returns what `to_dict` described.

        Raises:
            CalibrationError: a part is missing, or not as it must be.
        """
        try:
            channels = ScoreChannels.from_dict(content['channels'])
            weights = np.array(content['weights'], dtype=np.float64)
            is_right = np.isfinite(weights).all() and (weights >= 0.0).all()
            if weights.shape != (len(channels.names),) or not is_right:
                raise ValueError(f'{len(channels.names)} finite weights from 0 on are expected')
            return cls(str(content['method']), channels, weights)
        except (KeyError, TypeError, ValueError) as error:
            raise CalibrationError(f'the combination is damaged: {error!r}') from error


def _terms(method: str, channels: int) -> int:
    """Number of channels, of those that count, that are summed."""
    return max(1, round(HIGHEST * channels) if method == 'highest' else channels)


def usable_inputs(
    episodes: Sequence[ScoreEpisode], others: Sequence[str] = tuple(OTHER_INPUTS)
) -> tuple[str, ...]:
    """Returns the scores that LEAST_EPISODES successes have, which need no calibration themselves,
    and those of `others` likewise.
    """
    good = [e for e in episodes if e.outcome is True]

    def is_there(name: str) -> bool:
        values = (e.scores.get(name) for e in good)
        return sum(v is not None and bool(np.isfinite(v).any()) for v in values) >= LEAST_EPISODES

    scores = [name for name in SCORES if name not in OF_CALIBRATION and is_there(name)]
    has_distance = any(np.isfinite(e.distance).any() for e in good)
    return (*scores, *(n for n in others if n != 'distance' or has_distance))


def looks_at(episodes: Sequence[ScoreEpisode]) -> tuple[float, ...]:
    """Returns the times, s, at which a failed episode is looked at for the weights.

    Raises:
        CalibrationError: no episode succeeded.
    """
    durations = [e.duration for e in episodes if e.outcome is True]
    if not durations:
        raise CalibrationError('no episode succeeded; a combination needs successes')
    median = float(np.median(durations))
    return tuple(look * median for look in LOOKS)


def _fitted_weights(
    units: Sequence[tuple[Array, ScoreEpisode]],
    looks: Sequence[float],
    counts: NDArray[np.bool_],
) -> Array:
    """Weights of the channels (C,) that count, by the logistic regression; successes and failures
    count alike in sum.
    """
    # Loaded where it is needed: applying a combination needs none of it.
    from scipy.optimize import minimize
    from scipy.special import expit

    good = [rows[-1] for rows, e in units if e.outcome is True]
    bad = [
        rows[max(int(np.searchsorted(e.times, look, 'right')) - 1, 0)]
        for rows, e in units
        if e.outcome is False
        for look in looks
    ]
    failures = len(bad) // len(looks)
    if len(good) < LEAST_EPISODES or failures < LEAST_EPISODES:
        raise CalibrationError(
            f'{counted(len(good), "success")} and {counted(failures, "failure")} do not fit '
            f'weights; {LEAST_EPISODES} of each are needed. '
            "The methods 'mean' and 'highest' need no failures"
        )
    rows = np.array([*good, *bad])[:, counts]
    signs = np.r_[-np.ones(len(good)), np.ones(len(bad))]
    shares = np.where(signs < 0, 0.5 / len(good), 0.5 / len(bad))

    def loss(point: Array) -> tuple[float, Array]:
        margin = signs * (rows @ point[1:] + point[0])
        pull = -shares * signs * expit(-margin)
        penalty = 0.5 * PENALTY * float(point[1:] @ point[1:])
        value = float(shares @ np.logaddexp(0.0, -margin)) + penalty
        return value, np.r_[pull.sum(), pull @ rows + PENALTY * point[1:]]

    size = rows.shape[1]
    found = minimize(
        loss, np.zeros(size + 1), jac=True, method='L-BFGS-B',
        bounds=[(None, None), *[(0.0, None)] * size],
    )  # fmt: skip
    return np.asarray(found.x[1:])
