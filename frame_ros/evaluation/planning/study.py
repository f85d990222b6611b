# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Plans: from numbers alone, and from the outcomes of policies that were recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.evaluation.binary.paired import PairCounts, pair_counts
from frame_ros.evaluation.binary.pairing import pair_episodes
from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome
from frame_ros.evaluation.planning.bridge import BridgeModel, drifts_of
from frame_ros.evaluation.planning.design_effect import (
    TRIED,
    DesignEffect,
    correlation_effect,
    fitted_effect,
)
from frame_ros.evaluation.planning.detection import DetectionCurve, detection_curves
from frame_ros.evaluation.planning.options import PlanOptions
from frame_ros.evaluation.planning.pooled_tests import KS
from frame_ros.evaluation.planning.rollouts_needed import (
    RolloutsNeeded,
    episodes_needed,
    pairs_needed,
)
from frame_ros.evaluation.planning.sample_sizes import (
    mcnemar_exact_sample_size,
    mcnemar_power,
    mcnemar_sample_size,
    wilson_half_width,
    wilson_sample_size,
)
from frame_ros.evaluation.survival.cell import Cell, cells_of

# Rollouts for which a table shows what they give.
ROLLOUTS = (10, 20, 50, 100, 200, 500, 1000, 2000)


class PowerRow(NamedTuple):
    """Worth of a number of rollouts.

    Attributes:
        rollouts: of each policy.
        half_width: of the Wilson interval of one success rate.
        power: of McNemar's exact test, with as many pairs.
    """

    rollouts: int
    half_width: float
    power: float


@dataclass(frozen=True)
class NumbersPlan:
    """A plan from numbers alone.

    Attributes:
        discordance: that was given, or of independent policies.
        is_independent: True if it was not given.
        wilson: rollouts for the half-width, of one policy.
        mcnemar: pairs for the difference, by Connor's formula.
        mcnemar_exact: the same for the exact test.
        rows: of ROLLOUTS.
    """

    options: PlanOptions
    discordance: float
    is_independent: bool
    wilson: int
    mcnemar: int
    mcnemar_exact: int
    rows: tuple[PowerRow, ...]


def numbers_plan(options: PlanOptions | None = None) -> NumbersPlan:
    """Returns the sample sizes by formula. PhAIL, section 4.3 and appendix H.

    Raises:
        ValueRangeError: no pairs can give what the options ask for.
    """
    options = options or PlanOptions()
    discordance = options.discordance or independent_discordance(
        options.success_rate, options.difference
    )
    rows = [
        PowerRow(
            n,
            wilson_half_width(n, options.success_rate),
            mcnemar_power(n, options.difference, discordance, options.alpha),
        )
        for n in ROLLOUTS
        if options.difference <= discordance
    ]
    return NumbersPlan(
        options,
        discordance,
        not options.discordance,
        wilson_sample_size(options.half_width, options.success_rate),
        mcnemar_sample_size(options.difference, discordance, options.power, options.alpha),
        mcnemar_exact_sample_size(options.difference, discordance, options.power, options.alpha),
        tuple(rows),
    )


def independent_discordance(success_rate: float, difference: float) -> float:
    """Returns the discordance of two policies that succeed independently of each other: one at the
    rate, the other above it by the difference, or below where there is no room above.

    Raises:
        ValueRangeError: there is no room below either.
    """
    other = success_rate + difference
    if other > 1.0:
        other = success_rate - difference
    if other < -1e-12:
        raise ValueRangeError(
            f'difference is {difference}; no success rate is so far from {success_rate}'
        )
    return max(success_rate * (1.0 - other) + other * (1.0 - success_rate), difference)


@dataclass(frozen=True)
class PairPlan:
    """Two policies.

    Attributes:
        curves: name of the test -> its detection rates; empty without times.
        predicted: detection rates of macro-KS by bridges, at the numbers of its curve.
        times: rollouts that macro-KS needs; None without times.
        pairs: rollouts that McNemar's test needs; None without pairs.
        lacking: why one is missing, and what is left out, in words.
    """

    first: str
    second: str
    curves: dict[str, DetectionCurve]
    predicted: tuple[float, ...]
    times: RolloutsNeeded | None
    pairs: RolloutsNeeded | None
    lacking: str


@dataclass(frozen=True)
class OutcomesPlan:
    """A plan from recorded outcomes.

    Attributes:
        effect: fitted to the detection rates of macro-KS of all pairs, or by correlation where they
            fit none; None without times.
        correlation: design effect by the correlation within episodes; None without times.
        plans: of each two policies but the human reference.
    """

    options: PlanOptions
    effect: DesignEffect | None
    correlation: DesignEffect | None
    plans: tuple[PairPlan, ...]


def outcomes_plan(
    outcomes: Sequence[EpisodeOutcome],
    options: PlanOptions | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> OutcomesPlan:
    """Returns the rollouts that each two policies still need. PhAIL, section 5.2 and appendix H.

    Args:
        outcomes: of all policies; the human reference is left out.
        progress: called with the number of pairs of policies done, and of all.

    Raises:
        ShapeError: there are not two policies.
    """
    options = options or PlanOptions()
    policies = [each for each in outcomes if not each.is_human]
    names = list(dict.fromkeys(each.policy for each in policies))
    if len(names) < 2:
        raise ShapeError(
            f'policies: {", ".join(names) or "none"}; two or more are expected, '
            'besides the human reference'
        )
    cells = cells_of(policies)
    two = list(combinations(names, 2))
    curves = []
    for number, (a, b) in enumerate(two):
        curves.append(_curves(cells.get(a, {}), cells.get(b, {}), options))
        if progress:
            progress(number + 1, len(two))
    models = [
        BridgeModel(
            drifts_of(cells[a], cells[b], options.tau),
            options.alpha,
            options.simulations,
            options.seed,
        )
        if each
        else None
        for (a, b), each in zip(two, curves)
    ]
    every = [cell for own in cells.values() for cell in own.values()]
    correlation = correlation_effect(every, options.tau) if every else None
    effect = _effect(models, curves, correlation)
    plans = [
        _pair_plan(policies, cells, pair, each, model, effect, options)
        for pair, each, model in zip(two, curves, models)
    ]
    return OutcomesPlan(options, effect, correlation, tuple(plans))


def _curves(
    a: dict[str, Cell], b: dict[str, Cell], options: PlanOptions
) -> dict[str, DetectionCurve]:
    if not set(a) & set(b):
        return {}
    return detection_curves(
        a, b, options.episodes, options.tau, options.thresholds, options.alpha, options.trials,
        options.resamples, options.seed,
    )  # fmt: skip


def _effect(
    models: Sequence[BridgeModel | None],
    curves: Sequence[dict[str, DetectionCurve]],
    correlation: DesignEffect | None,
) -> DesignEffect | None:
    """The design effect of all pairs, whose numbers of episodes may differ; that by correlation
    where the rates, all near 0 or all near 1, fit none.
    """
    known = [(model, each[KS]) for model, each in zip(models, curves) if model is not None]
    if not known:
        return None
    fitted = fitted_effect(
        [model for model, _ in known],
        [curve.episodes for _, curve in known],
        [curve.rates for _, curve in known],
    )
    return fitted if TRIED[0] < fitted.value < TRIED[-1] else correlation


def _pair_plan(
    outcomes: Sequence[EpisodeOutcome],
    cells: dict[str, dict[str, Cell]],
    names: tuple[str, str],
    curves: dict[str, DetectionCurve],
    model: BridgeModel | None,
    effect: DesignEffect | None,
    options: PlanOptions,
) -> PairPlan:
    a, b = names
    times: RolloutsNeeded | None = None
    predicted: tuple[float, ...] = ()
    lacking = []
    if model is None or effect is None:
        lacking.append('no times of operations on an object that both have')
    else:
        times = episodes_needed(
            cells[a], cells[b], effect, options.tau, options.power, options.alpha,
            simulations=options.simulations, seed=options.seed,
        )  # fmt: skip
        predicted = tuple(model.power(n / effect.value) for n in curves[KS].episodes)
        if others := sorted(set(cells[a]) ^ set(cells[b])):
            lacking.append(f'objects of one of them are left out: {", ".join(others)}')
    counted = paired_counts(outcomes, a, b)
    if counted is None:
        lacking.append('no paired episodes whose success is known')
    pairs = counted and pairs_needed(counted[0], counted[1], options.power, options.alpha)
    return PairPlan(a, b, curves, predicted, times, pairs, '; '.join(lacking))


def paired_counts(
    outcomes: Sequence[EpisodeOutcome], first: str, second: str
) -> tuple[PairCounts, int] | None:
    """Returns the paired successes of two policies and the number of objects; None: no pairs."""
    a, b = ([each for each in outcomes if each.policy == name] for name in (first, second))
    known = [
        (a[i], b[j])
        for i, j in pair_episodes(a, b).pairs
        if a[i].is_success is not None and b[j].is_success is not None
    ]
    if not known:
        return None
    counts = pair_counts([x.is_success for x, _ in known], [y.is_success for _, y in known])
    return counts, len({x.object for x, _ in known})
