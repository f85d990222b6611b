# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Alarms of predictors of failure, each at the same false-alarm rate over successes.

A predictor gives a risk at every inference, and alarms where it is above the conformal threshold of
successes that it was not fitted on. It is judged on further episodes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from frame_ros.confidence.combination import METHODS, ScoreCombination, looks_at, usable_inputs
from frame_ros.confidence.conformal import conformal_threshold
from frame_ros.confidence.feature_reference import held_out_distances
from frame_ros.confidence.samples import Array
from frame_ros.confidence.score_channels import (
    CONTACT,
    DISTANCE,
    ScoreChannels,
    input_rows,
    sign_of,
)
from frame_ros.confidence.score_episode import ScoreEpisode
from frame_ros.core.errors import CalibrationError
from frame_ros.evaluation.failure_prediction.splits import Split, splits

PROXIMITY = (DISTANCE, CONTACT)
NEAR = 0.08  # m, as the monitor's default
CHOSEN = 'chosen'
WITH = ' + proximity'
UNUSUAL = ', unusual'  # a single input by its channels
Risks = Callable[[int], Array]  # number of an episode -> (n,) at its inferences


@dataclass(frozen=True)
class Case:
    """One predictor on one episode that it knew nothing of.

    Attributes:
        predictor: name.
        episode: number.
        without: kind of failure that was left out when it was fitted and chosen, '' if none.
        alarm: s of the first alarm, infinite without one.
    """

    predictor: str
    episode: int
    without: str
    alarm: float


def all_cases(
    episodes: Sequence[ScoreEpisode],
    kinds: Sequence[str],
    alpha: float,
    folds: int = 5,
    repeats: int = 2,
) -> Iterator[Case]:
    """Yields the cases of all predictors on the episodes of one policy.

    Args:
        episodes: with outcomes.
        kinds: of failure; '' of a success.
        alpha: false alarms per successful episode.
        folds, repeats: as of `splits`.

    Raises:
        CalibrationError: there are too few episodes for these folds.
    """
    for split in splits([not kind for kind in kinds], folds, repeats):
        yield from SplitPredictors(episodes, kinds, alpha, split).cases()


def is_single(predictor: str) -> bool:
    """Returns whether a predictor is one input alone, in whatever form."""
    return predictor.removesuffix(WITH) not in (*METHODS, CHOSEN)


class SplitPredictors:
    """All predictors, fitted and judged in one split. Arguments: as of `all_cases`."""

    def __init__(
        self, episodes: Sequence[ScoreEpisode], kinds: Sequence[str], alpha: float, split: Split
    ) -> None:
        self._kinds, self._alpha, self._split = kinds, alpha, split
        self._episodes = _with_feature_distances(episodes, split)
        good = [self._episodes[number] for number in split.fit]
        self._inputs = usable_inputs(good)
        self._channels, self._looks = ScoreChannels.fit(good, self._inputs), looks_at(good)
        self._units: dict[int, Array] = {}
        self._failure_kinds = sorted({kind for kind in kinds if kind})

    def cases(self) -> Iterator[Case]:
        """Yields the cases of every input alone and of the combinations."""
        yield from self._single()
        for suffix, left_out in (('', PROXIMITY), (WITH, ())):
            inputs = tuple(name for name in self._inputs if name not in left_out)
            yield from self._combined(inputs, suffix)

    def _single(self) -> Iterator[Case]:
        """Every input as it stands; the same while near something or in contact, as the monitor's
        rule has it; and the largest of its own channels.
        """
        for name in self._inputs:
            yield from self._judged(name, self._raw(name, False))
            if name not in PROXIMITY:
                yield from self._judged(name + WITH, self._raw(name, True))
            yield from self._judged(name + UNUSUAL, self._fitted('highest', (name,), ()))

    def _combined(self, inputs: tuple[str, ...], suffix: str) -> Iterator[Case]:
        """Each method, fitted with all kinds and without each; and the one chosen on the rest."""
        for without in ('', *self._failure_kinds):
            left_out = (without,) if without else ()
            made = {method: self._fitted(method, inputs, left_out) for method in METHODS}
            best = self._choice(inputs, left_out)
            for name, method in (*zip(METHODS, METHODS), (CHOSEN, best)):
                yield from self._judged(name + suffix, made[method], without)

    def _judged(self, name: str, risks: Risks, without: str = '') -> Iterator[Case]:
        """Yields a predictor's cases: all that is judged; or the successes and the kind that was
        left out.
        """
        threshold = self._threshold(risks, self._split.calibrate)
        for number in self._split.test:
            if not without or self._kinds[number] in ('', without):
                yield Case(name, number, without, self._alarm(number, risks, threshold))

    def _threshold(self, risks: Risks, successes: Sequence[int]) -> float:
        # An episode in which an input was never available makes no alarm.
        worst = [max(risks(n).max(initial=-np.inf), -1e300) for n in successes]
        return conformal_threshold(worst, self._alpha)

    def _alarm(self, number: int, risks: Risks, threshold: float) -> float:
        above = np.flatnonzero(risks(number) > threshold)
        return float(self._episodes[number].times[above[0]]) if len(above) else math.inf

    def _raw(self, name: str, only_near: bool) -> Risks:
        def risks(number: int) -> Array:
            episode = self._episodes[number]
            values = sign_of(name) * input_rows(episode, (name,))[:, 0]
            counts = np.isfinite(values)
            if only_near:
                counts &= (episode.distance <= NEAR) | episode.contact
            return np.where(counts, values, -np.inf)

        return risks

    def _fitted(self, method: str, inputs: tuple[str, ...], left_out: tuple[str, ...]) -> Risks:
        """Returns the risks of a combination that knows no failure of the kinds left out."""
        others = [n for n in self._split.failures if self._kinds[n] not in left_out]
        train = [(self._of(n), self._episodes[n]) for n in (*self._split.fit, *others)]
        made = ScoreCombination.weigh(method, self._channels, train, self._looks, inputs)
        return lambda number: made.risk_of(self._of(number))

    def _of(self, number: int) -> Array:
        if number not in self._units:
            self._units[number] = self._channels.of_episode(self._episodes[number])
        return self._units[number]

    def _choice(self, inputs: tuple[str, ...], left_out: tuple[str, ...]) -> str:
        """Returns the method with the best mean lead over kinds that are left out in turn, of the
        failures to fit on; the first of equals. It sees no success that calibrates: a method
        chosen for its threshold would have one that is too low.
        """
        leads: dict[str, list[float]] = {method: [0.0] for method in METHODS}
        for kind in self._failure_kinds:
            members = [n for n in self._split.failures if self._kinds[n] == kind]
            for method in METHODS if members and kind not in left_out else ():
                leads[method].append(self._mean_lead(method, inputs, (*left_out, kind), members))
        return max(METHODS, key=lambda method: np.mean(leads[method]))

    def _mean_lead(
        self, method: str, inputs: tuple[str, ...], left_out: tuple[str, ...], members: list[int]
    ) -> float:
        """Over failures of a kind that is left out; 0 if too few others are left to fit."""
        try:
            risks = self._fitted(method, inputs, left_out)
        except CalibrationError:
            return 0.0
        threshold = self._threshold(risks, self._split.fit)
        each = [lead(self._episodes[n], self._alarm(n, risks, threshold)) for n in members]
        return float(np.mean(each))


def lead(episode: ScoreEpisode, alarm: float) -> float:
    """Returns the share of an episode that is left at an alarm; 0 without one."""
    return max(0.0, 1.0 - alarm / episode.duration)


def _with_feature_distances(episodes: Sequence[ScoreEpisode], split: Split) -> list[ScoreEpisode]:
    """Returns the episodes with the distances of their features from those of the successes to fit
    on; of these themselves from the others.
    """
    if any(episode.features is None for episode in episodes):
        return list(episodes)
    fit = set(split.fit)
    found = held_out_distances(
        [episode.features for episode in episodes],
        fitted=[number in fit for number in range(len(episodes))],
    )
    return [
        replace(episode, scores={**episode.scores, **distances})
        for episode, distances in zip(episodes, found, strict=True)
    ]
