# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Figures of predictors of failure over episodes, with intervals of the bootstrap over episodes."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from frame_ros.confidence.samples import Array, episode_resamples
from frame_ros.confidence.score_episode import ScoreEpisode
from frame_ros.evaluation.failure_prediction.alarms import Case, is_single, lead
from frame_ros.metrics import wilson_interval

RESAMPLES = 1000
MEASURES = ('detected', 'early', 'lead')


@dataclass(frozen=True)
class Group:
    """Episodes of one policy, the kinds of their failures ('' of a success), and the cases.

    recovered: further episodes, with a fault, that succeeded.
    """

    name: str
    episodes: Sequence[ScoreEpisode]
    kinds: Sequence[str]
    cases: Sequence[Case]
    recovered: int = 0


@dataclass(frozen=True)
class Share:
    """A mean over episodes, with its 95 % interval."""

    value: float
    lower: float
    upper: float


@dataclass(frozen=True)
class PredictorRows:
    """One predictor's results, a row for each episode; means over splits, and over the kinds that
    were left out of what judged a success.

    Attributes:
        false_alarms: (S,) of the successes, from 0 to 1.
        measures: of MEASURES -> (F,) of the failures. detected: alarm before the episode's end.
            early: before the median duration of that policy's successes. lead: share of the
            episode that was left, 0 without an alarm.
        times: s of all alarms in failures.
        kinds: (F,) of the failures.
        groups: (F,) policies of the failures.
        success_groups: (S,) policies of the successes.
    """

    false_alarms: Array
    measures: Mapping[str, Array]
    times: Array
    kinds: Sequence[str] = field(repr=False)
    groups: Sequence[str] = field(repr=False)
    success_groups: Sequence[str] = field(repr=False)


def predictor_rows(groups: Iterable[Group], is_held_out: bool) -> dict[str, PredictorRows]:
    """Returns predictor -> its rows over the episodes of all groups.

    Args:
        is_held_out: take the combinations that were fitted and chosen without the kind of the
            failure; else with failures of all kinds.
    """
    parts: dict[str, _Parts] = defaultdict(_Parts)
    for group in groups:
        durations = [e.duration for e, kind in zip(group.episodes, group.kinds) if not kind]
        usual = float(np.median(durations))
        by_episode: dict[tuple[str, int], list[float]] = defaultdict(list)
        for case in group.cases:
            if is_single(case.predictor) or bool(case.without) == is_held_out:
                by_episode[case.predictor, case.episode].append(case.alarm)
        # In one order for all, so that predictors are compared on the same episode.
        for (name, number), alarms in sorted(by_episode.items()):
            parts[name].add(group, number, alarms, usual)
    return {name: part.rows() for name, part in parts.items()}


class _Parts:
    def __init__(self) -> None:
        self._false: list[float] = []
        self._measures: dict[str, list[float]] = {name: [] for name in MEASURES}
        self._times: list[float] = []
        self._kinds: list[str] = []
        self._groups: list[str] = []
        self._success_groups: list[str] = []

    def add(self, group: Group, number: int, alarms: Sequence[float], usual: float) -> None:
        """Takes the alarms (s) of one episode; usual: median duration of a success, s."""
        episode, kind = group.episodes[number], group.kinds[number]
        are_alarms = [math.isfinite(alarm) for alarm in alarms]
        if not kind:
            self._false.append(float(np.mean(are_alarms)))
            self._success_groups.append(group.name)
            return
        each: dict[str, Sequence[float]] = {
            'detected': are_alarms,
            'early': [alarm <= usual for alarm in alarms],
            'lead': [lead(episode, alarm) for alarm in alarms],
        }
        for name, values in each.items():
            self._measures[name].append(float(np.mean(values)))
        self._times += [alarm for alarm in alarms if math.isfinite(alarm)]
        self._kinds.append(kind)
        self._groups.append(group.name)

    def rows(self) -> PredictorRows:
        measures = {name: np.array(values) for name, values in self._measures.items()}
        return PredictorRows(
            np.array(self._false), measures, np.array(self._times), self._kinds, self._groups,
            self._success_groups,
        )  # fmt: skip


def share(values: Array, seed: int = 0) -> Share:
    """Returns the mean of values (N,) in [0, 1] and its percentile bootstrap interval; where all
    are 0 or 1 that of Wilson, which is then not of width 0. NaN without values.
    """
    if not len(values):
        return Share(math.nan, math.nan, math.nan)
    mean = float(values.mean())
    if mean in (0.0, 1.0):
        lower, upper = wilson_interval(round(mean * len(values)), len(values))
    else:
        lower, upper = np.percentile(_resampled(values, seed), (2.5, 97.5))
    return Share(mean, float(lower), float(upper))


def difference(first: Array, second: Array, seed: int = 0) -> Share:
    """Returns the mean of first - second over the same episodes (N,), and its interval."""
    apart = first - second
    lower, upper = np.percentile(_resampled(apart, seed), (2.5, 97.5))
    return Share(float(apart.mean()), float(lower), float(upper))


def _resampled(values: Array, seed: int) -> Array:
    """Means (RESAMPLES,) of episodes drawn with replacement."""
    return np.asarray(episode_resamples(len(values), RESAMPLES, seed) @ values / len(values))
