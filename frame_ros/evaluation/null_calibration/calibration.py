# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Empirical type I errors of the tests of two policies. PhAIL, appendix J."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError
from frame_ros.core.options import option, options
from frame_ros.evaluation.binary.paired import mcnemar_exact
from frame_ros.evaluation.binary.unpaired import boschloo
from frame_ros.evaluation.null_calibration.generated import (
    Arm,
    GeneratedOptions,
    generated_arm,
    object_name,
    scenes,
)
from frame_ros.evaluation.null_calibration.scenarios import NullKind, Scenario, scenarios_of
from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome
from frame_ros.evaluation.planning.pooled_tests import KS, trial_p_values
from frame_ros.evaluation.survival.cell import Cell
from frame_ros.evaluation.survival.logrank import POOLED, STRATIFIED, logrank
from frame_ros.evaluation.survival.pool import WORKERS, Draws, Pool, pool_of
from frame_ros.evaluation.survival.samples import TAU, as_cell
from frame_ros.metrics import wilson_interval

Array = NDArray[np.float64]
LEVELS = (0.01, 0.05, 0.10)
LOGRANK = {STRATIFIED: 'logrank, stratified', POOLED: 'logrank, pooled'}
BOSCHLOO, MCNEMAR = 'Boschloo', 'McNemar'
# The test of times by which `frame-ros compare` decides; the paper draws with replacement.
PERMUTED = 'macro-KS, permutations'
GENERATED, SHARED_SCENES = 'generated', 'generated, shared scenes'


@options
class NullOptions:
    """Trials without a difference."""

    trials: int = option(500, 'of each scenario', at_least=10, at_most=1_000_000)
    resamples: int = option(500, 'of each trial', at_least=100, at_most=1_000_000)
    tau: float = option(TAU, 'time up to which CDFs are compared', unit='s', above=0.0)
    seed: int = option(0, 'of everything that is drawn', at_least=0)


@dataclass(frozen=True)
class NullRow:
    """One test in one scenario.

    Attributes:
        scenario: its name.
        kind: of the scenario.
        test: its name.
        trials: in which the test could be made.
        mean_p: mean of the p-values; 0.5 if they are uniform.
        rejections: number of trials with p < level, of each of LEVELS.
    """

    scenario: str
    kind: NullKind
    test: str
    trials: int
    mean_p: float
    rejections: tuple[int, ...]

    @property
    def rates(self) -> tuple[float, ...]:
        """Type I error at each of LEVELS."""
        return tuple(count / self.trials for count in self.rejections)

    @property
    def intervals(self) -> tuple[tuple[float, float], ...]:
        """Wilson intervals, 95 %, of the rates."""
        return tuple(wilson_interval(count, self.trials) for count in self.rejections)


@dataclass(frozen=True)
class NullCalibration:
    """Type I errors of all tests.

    Attributes:
        rows: of each scenario and test.
        remarks: on what could not be made, in words.
        options: with which it was made.
    """

    rows: tuple[NullRow, ...]
    remarks: tuple[str, ...]
    options: NullOptions


def null_calibration(
    outcomes: Sequence[EpisodeOutcome],
    options: NullOptions | None = None,
    strata: Sequence[str] = (),
    progress: Callable[[int, int], object] | None = None,
) -> NullCalibration:
    """Type I errors on episodes that were recorded: halves of each policy and of the human
    reference, labels of each two policies shuffled within strata. PhAIL, appendix J.

    The episodes are the same in all trials of a scenario: the errors are those for such episodes,
    and halves have half of them.

    Args:
        outcomes: of all policies.
        strata: conditions within which labels are shuffled, besides the object.
        progress: called with the number of scenarios done, and of all.

    Raises:
        ShapeError: nothing can be split or shuffled.
    """
    options = options or NullOptions()
    scenarios, remarks = scenarios_of(outcomes, options.trials, options.seed, strata)
    if not scenarios:
        raise ShapeError(
            f'{len(outcomes)} episodes cannot be split or shuffled; 4 or more of one policy and '
            'object are expected, with the times of their operations'
        )
    rows: list[NullRow] = []
    for number, scenario in enumerate(scenarios):
        random = np.random.default_rng([options.seed, 1, number])
        found = _p_values(scenario, options, random)
        rows += [_row(scenario.name, scenario.kind, test, p) for test, p in found.items()]
        if BOSCHLOO not in found:
            remarks.append(f'{scenario.name}: no {BOSCHLOO}: not all successes are known')
        if scenario.kind is NullKind.PERMUTATION and MCNEMAR not in found:
            remarks.append(f'{scenario.name}: no {MCNEMAR}: no paired episodes of known success')
        if progress:
            progress(number + 1, len(scenarios))
    return NullCalibration(tuple(rows), tuple(remarks), options)


def _row(scenario: str, kind: NullKind, test: str, p: Array) -> NullRow:
    counts = tuple(int((p < level).sum()) for level in LEVELS)
    return NullRow(scenario, kind, test, len(p), float(p.mean()), counts)


def _p_values(
    scenario: Scenario, options: NullOptions, random: np.random.Generator
) -> dict[str, Array]:
    cells = {name: as_cell(cell, name) for name, cell in scenario.cells.items()}
    pools = {name: pool_of(cell) for name, cell in cells.items()}
    found = _of_times(pools, scenario.first, scenario.second, options, random)
    trials = len(next(iter(scenario.first.values())))
    for variant, name in LOGRANK.items():
        found[name] = np.array(
            [
                logrank(
                    _arms(cells, scenario.first, trial),
                    _arms(cells, scenario.second, trial),
                    variant,
                ).p
                for trial in range(trials)
            ]
        )
    if not any(np.isnan(each).any() for each in scenario.successes.values()):
        found[BOSCHLOO] = _boschloo(
            _counts(scenario, scenario.first), _counts(scenario, scenario.second)
        )
    if sum(map(len, scenario.pairs.values())):
        found[MCNEMAR] = _mcnemar(scenario, trials, random)
    return found


def _of_times(
    pools: Mapping[str, Pool],
    first: Mapping[str, Draws],
    second: Mapping[str, Draws],
    options: NullOptions,
    random: np.random.Generator,
    workers: int = WORKERS,
) -> dict[str, Array]:
    """P-values of the tests of times, macro-KS also by permutations, which draw from a stream of
    their own.
    """
    (of_permutations,) = random.spawn(1)
    settings = options.tau, (), options.resamples
    found = trial_p_values(pools, first, second, *settings, random, workers)
    exact = trial_p_values(
        pools, first, second, *settings, of_permutations, workers, has_replacement=False
    )
    return {PERMUTED: exact[KS], **found}


def _arms(
    cells: dict[str, Cell], arms: dict[str, Draws], trial: int
) -> dict[str, tuple[Array, NDArray[np.bool_]]]:
    """The operations of the episodes of an arm, each as a sample of its own."""
    found = {}
    for name, rows in arms.items():
        cell = cells[name]
        is_in = np.zeros(int(cell.episodes[-1]) + 1, bool)
        is_in[rows[trial]] = True
        chosen = is_in[cell.episodes]
        found[name] = cell.times[chosen], cell.events[chosen]
    return found


def _counts(scenario: Scenario, arms: dict[str, Draws]) -> tuple[Array, int]:
    """Successes of each trial over all objects, and the number of episodes."""
    sums = np.sum([scenario.successes[name][rows].sum(axis=1) for name, rows in arms.items()], 0)
    return sums, sum(rows.shape[1] for rows in arms.values())


def _boschloo(first: tuple[Array, int], second: tuple[Array, int]) -> Array:
    known: dict[tuple[int, int], float] = {}
    for pair in zip(first[0].astype(int).tolist(), second[0].astype(int).tolist()):
        if pair not in known:
            known[pair] = boschloo(pair[0], first[1], pair[1], second[1])
    return np.array([known[pair] for pair in zip(first[0].astype(int), second[0].astype(int))])


def _mcnemar(scenario: Scenario, trials: int, random: np.random.Generator) -> Array:
    """Labels of each pair are swapped, or not."""
    outcomes = np.concatenate(
        [scenario.successes[name][pairs] for name, pairs in scenario.pairs.items()]
    )
    found = np.empty(trials)
    for trial in range(trials):
        swapped = random.random(len(outcomes)) < 0.5
        a, b = np.where(swapped, outcomes.T[::-1], outcomes.T)
        found[trial] = mcnemar_exact(a, b)
    return found


def generated_calibration(
    options: NullOptions | None = None,
    episodes: GeneratedOptions | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> NullCalibration:
    """Type I errors on generated episodes, new ones in each trial, of two policies that do not
    differ: in scenes of their own, and in the same scenes, where McNemar's test pairs them.

    Args:
        progress: called with the number of trials done, and of all.

    Raises:
        ShapeError, ValueRangeError: as the tests.
    """
    options, episodes = options or NullOptions(), episodes or GeneratedOptions()
    found: dict[tuple[str, str], list[float]] = {}
    for trial in range(options.trials):
        random = np.random.default_rng([options.seed, trial])
        difficulties = scenes(episodes, random), scenes(episodes, random)
        first, paired = (_policy(episodes, difficulties[0], random) for _ in range(2))
        other = _policy(episodes, difficulties[1], random)
        for scenario, second in ((GENERATED, other), (SHARED_SCENES, paired)):
            for test, p in _of_arms(first, second, options, random).items():
                found.setdefault((scenario, test), []).append(p)
        successes = [np.concatenate([arm.successes for arm in each]) for each in (first, paired)]
        found.setdefault((SHARED_SCENES, MCNEMAR), []).append(mcnemar_exact(*successes))
        if progress:
            progress(trial + 1, options.trials)
    rows = [
        _row(scenario, NullKind.GENERATED, test, np.array(p))
        for (scenario, test), p in found.items()
    ]
    rows.sort(key=lambda row: row.scenario != GENERATED)
    return NullCalibration(tuple(rows), (), options)


def _policy(
    options: GeneratedOptions, difficulties: Array, random: np.random.Generator
) -> list[Arm]:
    return [
        generated_arm(options, place, scene, random) for place, scene in enumerate(difficulties)
    ]


def _of_arms(
    first: list[Arm], second: list[Arm], options: NullOptions, random: np.random.Generator
) -> dict[str, float]:
    """P-values of all tests of generated arms but the paired one."""
    a, b = ({object_name(k): arm.cell for k, arm in enumerate(arms)} for arms in (first, second))
    pools = {name: pool_of(a[name], b[name]) for name in a}
    first_draws, second_draws = (_whole(pools, arm) for arm in (0, 1))
    p = _of_times(pools, first_draws, second_draws, options, random, 1)
    found = {test: float(each[0]) for test, each in p.items()}
    found |= {name: logrank(a, b, variant).p for variant, name in LOGRANK.items()}
    counts = [np.concatenate([arm.successes for arm in arms]) for arms in (first, second)]
    found[BOSCHLOO] = boschloo(
        int(counts[0].sum()), len(counts[0]), int(counts[1].sum()), len(counts[1])
    )
    return found


def _whole(pools: Mapping[str, Pool], arm: int) -> dict[str, Draws]:
    """All episodes of an arm, as the only trial."""
    return {
        name: sum(pool.counts[:arm]) + np.arange(pool.counts[arm], dtype=np.int32)[None]
        for name, pool in pools.items()
    }
