# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robustness of policies over scenes: all that campaigns say about factors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from frame_ros.core.errors import SetupError
from frame_ros.core.options import option, options
from frame_ros.core.plain_text import counted
from frame_ros.evaluation.scene_trials.robustness.breaking_points import (
    BreakingPoint,
    breaking_points,
)
from frame_ros.evaluation.scene_trials.robustness.campaign_data import CampaignData
from frame_ros.evaluation.scene_trials.robustness.confounders import (
    ConfounderStudy,
    confounder_study,
)
from frame_ros.evaluation.scene_trials.robustness.factors import BINS, FactorEffect, factor_effects
from frame_ros.evaluation.scene_trials.robustness.heat_map import HeatMap, heat_map
from frame_ros.evaluation.scene_trials.robustness.mutations import MutationRow, mutation_rows
from frame_ros.evaluation.scene_trials.robustness.noise_floor import NoiseFloor, noise_floor
from frame_ros.evaluation.scene_trials.robustness.regions import LEVEL, Regions, failure_regions
from frame_ros.evaluation.scene_trials.robustness.scene_steps import scene_step_rates
from frame_ros.evaluation.scene_trials.robustness.scene_table import (
    SUCCESS,
    SceneTable,
    scene_tables,
    success_bounds,
)
from frame_ros.evaluation.scene_trials.robustness.sobol import SobolIndex, first_order_shares
from frame_ros.evaluation.scene_trials.robustness.sobol_design import design_indices
from frame_ros.metrics import wilson_interval
from frame_ros.metrics.registry import metric
from frame_ros.scenes.tasks.rates import TransferRates
from frame_ros.scenes.tasks.rules import OWN_RULE, RULES


@options
class RobustnessOptions:
    """The choice of what is analysed."""

    success_rule: str = option(
        'paper', 'rule by which success is judged', choices=(*RULES, OWN_RULE)
    )
    metrics: tuple[str, ...] = option((), 'ids of metrics against factors (default: all that vary)')
    bins: int = option(BINS, 'parts of a factor that is a number', at_least=2, at_most=20)
    level: float = option(
        LEVEL, 'probability of a region of failure where there is none', above=0.0, below=0.5
    )
    seed: int = option(0, 'seed of resamples and permutations', at_least=0)


@dataclass(frozen=True)
class SobolShares:
    """Shares of the factors in the variance of the outcomes.

    Attributes:
        of_design: whether they are from a design, with total indices.
        outcomes: SUCCESS or id of a metric -> indices.
    """

    of_design: bool
    outcomes: Mapping[str, list[SobolIndex]]


@dataclass(frozen=True)
class GroupStudy:
    """One policy, task and robot.

    Attributes:
        table: of its unchanged scenes.
        rate, interval: of success, with Wilson's 95 % interval over scenes.
        bounds: of success, with the trials that do not count as failures and as successes.
        invalid: number of these.
        steps: rates of the steps, over scenes; None: not known.
        effects: of all factors on all outcomes.
        chosen: number of the scenes that a search or `breaking` chose by the outcomes of others, so
            that effects of factors may be those of the choice.
    """

    table: SceneTable
    rate: float
    interval: tuple[float, float]
    bounds: tuple[float, float]
    invalid: int
    steps: TransferRates | None
    effects: list[FactorEffect]
    confounders: ConfounderStudy
    heat: HeatMap
    regions: Regions
    sobol: SobolShares
    noise: NoiseFloor
    chosen: int = 0


@dataclass(frozen=True)
class RobustnessStudy:
    """The study.

    Attributes:
        data: that was read.
        groups: per policy, task and robot.
        mutations: per kind, policy and task.
        breaking: smallest breaking perturbations, if scenes were perturbed step by step.
    """

    data: CampaignData
    options: RobustnessOptions
    groups: list[GroupStudy]
    mutations: list[MutationRow]
    breaking: list[BreakingPoint]


def robustness_study(
    data: CampaignData, options: RobustnessOptions | None = None
) -> RobustnessStudy:
    """Analyses campaigns.

    Raises:
        SetupError: a trial is not judged by the rule, no trial counts, or those that
            do all lack their unchanged scene.
        ValueRangeError: a metric is not known.
    """
    chosen = options or RobustnessOptions()
    for name in chosen.metrics:
        metric(name)
    lacking = [each for each in data.trials if chosen.success_rule not in each.steps]
    if lacking:
        raise SetupError(
            f'success_rule is {chosen.success_rule!r}, and {len(lacking)} of {len(data.trials)} '
            f'trials, such as of the scene {lacking[0].scene!r}, are not judged by it; only some '
            f'simulated worlds have the rule {OWN_RULE!r}, take {" or ".join(RULES)}'
        )
    tables = scene_tables(data, chosen.success_rule, chosen.metrics)
    if not tables:
        reasons = '; '.join(data.reasons)
        raise SetupError(
            f'none of {counted(len(data.trials) + len(data.invalid), "trial")} counts'
            + (f': {reasons}' if reasons else ' that is of an unchanged scene')
        )
    groups = [_group(data, table, chosen) for table in tables]
    rule = chosen.success_rule
    return RobustnessStudy(
        data, chosen, groups, mutation_rows(data, rule), breaking_points(data, rule)
    )


def _group(data: CampaignData, table: SceneTable, options: RobustnessOptions) -> GroupStudy:
    low, high, invalid = success_bounds(data, table)
    effects = factor_effects(table, options.bins)
    n = len(table.scenes)
    return GroupStudy(
        table,
        float(table.success.mean()),
        wilson_interval(float(table.success.sum()), n),
        (low, high),
        invalid,
        scene_step_rates(table.task, table.trials, options.success_rule),
        effects,
        confounder_study(table),
        heat_map(table),
        failure_regions(table, options.level, seed=options.seed),
        _shares(table, options),
        noise_floor(table, effects, options.seed),
        sum(scene.name in data.chosen for scene in table.scenes),
    )


def _shares(table: SceneTable, options: RobustnessOptions) -> SobolShares:
    of_design = {
        name: design_indices(table, values, options.seed) for name, values in table.outcomes.items()
    }
    if of_design[SUCCESS]:
        return SobolShares(True, of_design)
    found = {
        name: first_order_shares(table, values, options.bins, options.seed)
        for name, values in table.outcomes.items()
    }
    return SobolShares(False, {name: each for name, each in found.items() if each})
