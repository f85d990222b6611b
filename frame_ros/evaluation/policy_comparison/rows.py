# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Scores of every policy on every object, and their means over objects."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome
from frame_ros.evaluation.policy_comparison.estimates import (
    EpisodeSets,
    Estimate,
    estimate,
)
from frame_ros.evaluation.policy_comparison.groups import Group, Grouped
from frame_ros.evaluation.policy_comparison.options import ComparisonOptions
from frame_ros.evaluation.policy_comparison.resampled import (
    ResampledCell,
    ResampledCells,
    against_human,
)
from frame_ros.evaluation.policy_comparison.scores import (
    CREDIT,
    HUMAN_SCORES,
    NO_HUMAN,
    NO_HUMAN_HERE,
    NO_TIMES,
    SUCCESS,
    Score,
    macro_interval,
    time_scores,
)
from frame_ros.evaluation.policy_comparison.study import CellRow, Curve
from frame_ros.evaluation.survival.macro_ks import stream
from frame_ros.evaluation.survival.pool import draw_episodes

Array = NDArray[np.float64]
# Score id -> (R,), of one cell, and why others have no value.
Columns = dict[str, Array]
ONE_EPISODE = 'no interval: one episode cannot be resampled'
ONE_OF_AN_OBJECT = 'no interval: of an object there is one episode, which cannot be resampled'
IS_REFERENCE = 'it is the reference'
NOT_JUDGED = 'no episode says whether it succeeded'
NO_STAGES = 'no episode has stages'


class Rows:
    """Makes the rows of a study, from cells that are resampled once."""

    def __init__(
        self,
        data: Grouped,
        cells: ResampledCells,
        options: ComparisonOptions,
        sets: EpisodeSets,
    ) -> None:
        """Takes what the rows are made from; sets: receives the episodes of each number."""
        self.data, self.cells, self.options, self.sets = data, cells, options, sets
        self.scores: tuple[Score, ...] = self._used_scores()
        self._columns = {
            (policy, name): self._columns_of(policy, name)
            for policy, groups in data.groups.items()
            for name in groups
        }

    def _used_scores(self) -> tuple[Score, ...]:
        """Returns the scores that some episode can have, and those for which there is no human."""
        has_times = any(self.cells.values())
        has_stages = any(each.stages for each in self.data.episodes)
        times = time_scores(self.options.tau, sorted(set(self.options.success_times)))
        return (
            *(times if has_times else ()),
            *(HUMAN_SCORES if has_times else ()),
            SUCCESS,
            *((CREDIT,) if has_stages else ()),
        )

    def _columns_of(self, policy: str, name: str) -> Columns:
        own = self.cells[policy].get(name)
        columns = dict(own.columns) if own else {}
        human = self.cells.get(self.data.human, {}).get(name)
        if own and human and policy != self.data.human:
            columns |= against_human(own, human, self.options)
        if credit := self._credits(policy, name):
            columns[CREDIT.id] = self._resampled_mean(np.array(credit), f'{policy}\0{name}\0stages')
        return columns

    def _credits(self, policy: str, name: str) -> list[float]:
        rows = (self.data.episodes[place] for place in self.data.groups[policy][name].places)
        return [(each.furthest_stage or 0) / len(each.stages) for each in rows if each.stages]

    def _resampled_mean(self, values: Array, name: str) -> Array:
        random = stream(self.options.seed, name)
        draws = draw_episodes(random, len(values), len(values), self.options.resamples)
        return np.concatenate([[values.mean()], values[draws].mean(axis=1)])

    def cell_row(self, policy: str, name: str) -> CellRow:
        """Returns the scores of a policy on an object."""
        group, own = self.data.groups[policy][name], self.cells[policy].get(name)
        number = self.sets.number(f'{policy}, {name}', group.places)
        return CellRow(
            policy,
            name,
            len(own.cell.times) if own else 0,
            {score.id: self._cell_score(score, group, number) for score in self.scores},
            endings_of(self.data.episodes[place] for place in group.places),
            number,
            cell=own.cell if own else None,
            curve=self._curve([own]) if own else None,
        )

    def _cell_score(self, score: Score, group: Group, number: int) -> Estimate:
        if score is SUCCESS:
            return self._success([group], number)
        columns = self._columns[group.policy, group.object].get(score.id)
        if columns is None:
            return Estimate(
                math.nan, reason=self._missing(score, group.policy, group), episodes=number
            )
        reason = score.missing if not math.isfinite(columns[0]) else ONE_EPISODE
        resamples = None if self._fewest(score, group) < 2 else columns[1:]
        return estimate(float(columns[0]), resamples, self.options.alpha, number, reason)

    def _missing(self, score: Score, policy: str, group: Group | None) -> str:
        """Returns why a score has no value."""
        if score is CREDIT:
            return NO_STAGES
        if not self.cells[policy] or (group is not None and group.cell is None):
            return NO_TIMES
        if score in HUMAN_SCORES:
            if policy == self.data.human:
                return IS_REFERENCE
            return NO_HUMAN_HERE if self.data.human else NO_HUMAN
        return score.missing

    def mean_row(self, policy: str) -> CellRow:
        """Returns the means of a policy over its objects with equal weights."""
        groups = self.data.groups[policy]
        places = [place for group in groups.values() for place in group.places]
        number = self.sets.number(policy, places)
        cells = list(self.cells[policy].values())
        return CellRow(
            policy,
            '',
            sum(len(each.cell.times) for each in cells),
            {score.id: self._mean_score(score, policy, number) for score in self.scores},
            endings_of(self.data.episodes[place] for place in places),
            number,
            tuple(name for name in self.data.objects if name not in groups),
            curve=self._curve(cells) if cells else None,
        )

    def _mean_score(self, score: Score, policy: str, number: int) -> Estimate:
        groups = list(self.data.groups[policy].values())
        if score is SUCCESS:
            return self._success(groups, number)
        having = [each for each in groups if score.id in self._columns[policy, each.object]]
        if not having:
            return Estimate(math.nan, reason=self._missing(score, policy, None), episodes=number)
        columns = self.mean_column(policy, score.id)
        without = [
            each.object
            for each in having
            if not math.isfinite(self._columns[policy, each.object][score.id][0])
        ]
        counts = [self._fewest(score, each) for each in having]
        alone = ONE_EPISODE if len(counts) == 1 else ONE_OF_AN_OBJECT
        reason = f'{score.missing}: {", ".join(without)}' if without else alone
        resamples = None if min(counts) < 2 else columns[1:]
        return estimate(float(columns[0]), resamples, self.options.alpha, number, reason)

    def _fewest(self, score: Score, group: Group) -> int:
        """Returns the number of episodes that are resampled; against the human the fewer."""
        if score in HUMAN_SCORES:
            return min(len(group.timed), self.cells[self.data.human][group.object].episodes)
        if score is CREDIT:
            return len(self._credits(group.policy, group.object))
        return len(group.timed)

    def mean_column(self, policy: str, id: str) -> Array:
        """Returns (R,) means of a score over the objects of a policy that have it."""
        own = [self._columns[policy, name] for name in self.data.groups[policy]]
        return np.asarray(np.mean([each[id] for each in own if id in each], axis=0))

    def _success(self, groups: Sequence[Group], number: int) -> Estimate:
        """Returns the success rate, mean over objects, with its interval."""
        judged = [each for each in groups if each.judged]
        if not judged:
            return Estimate(math.nan, reason=NOT_JUDGED, episodes=number)
        shares = [float(each.successes.mean()) for each in judged]
        lower, upper = macro_interval(
            [int(each.successes.sum()) for each in judged],
            [len(each.judged) for each in judged],
            1.0 - self.options.alpha,
        )
        return Estimate(sum(shares) / len(shares), lower, upper, '', number)

    def _curve(self, cells: Sequence[ResampledCell]) -> Curve:
        found = np.mean([each.curves for each in cells], axis=0)
        tail = self.options.alpha / 2.0
        if all(each.episodes < 2 for each in cells):
            lower = upper = np.full(found.shape[1], math.nan)
        else:
            lower, upper = np.quantile(found[1:], (tail, 1.0 - tail), axis=0)
        return Curve(cells[0].times, found[0], lower, upper)


def endings_of(episodes: Iterable[EpisodeOutcome]) -> Mapping[str, int]:
    """Returns ending -> number of operations that ended so."""
    return dict(Counter(op.ending.value for each in episodes for op in each.operations))


def mean_estimate(
    cells: Sequence[ResampledCell], columns: Sequence[Array], alpha: float, episodes: int
) -> Estimate:
    """Returns the mean of the (R,) columns of cells with its interval."""
    mean = np.mean(columns, axis=0)
    alone = ONE_EPISODE if len(cells) == 1 else ONE_OF_AN_OBJECT
    resamples = None if min(each.episodes for each in cells) < 2 else mean[1:]
    return estimate(float(mean[0]), resamples, alpha, episodes, alone)
