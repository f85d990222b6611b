# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Scenes run again with something changed: how many that passed still pass, and the pairs.

Scenes that passed once were partly lucky: run again with nothing changed, some fail. So where only
passed scenes are run again, a rate below 1 is no effect of the change yet; it is compared with that
of repeats of the same scenes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from frame_ros.evaluation.binary.paired import mcnemar_exact, tango_interval
from frame_ros.evaluation.scene_trials.result import TrialResult
from frame_ros.evaluation.scene_trials.robustness.campaign_data import CampaignData
from frame_ros.evaluation.scene_trials.robustness.scene_steps import scene_step_rates
from frame_ros.metrics import wilson_interval
from frame_ros.scenes.tasks.instructions import INSTRUCTION, wording_of
from frame_ros.scenes.tasks.rates import TransferRates

NAN = float('nan')
Interval = tuple[float, float]
_NOTHING = (NAN, NAN)
_COUNT = re.compile(r'[ _#:-]?\d+$')


@dataclass(frozen=True)
class WordingRow:
    """One wording of an instruction, in scenes that passed with the standard one.

    Attributes:
        wording: as of `wording_of`.
        passed: scenes that passed by default.
        kept: of these, the sum of the shares of runs with this wording that passed.
        interval: Wilson's, of kept / passed.
    """

    wording: str
    passed: int
    kept: float
    interval: Interval


@dataclass(frozen=True)
class MutationRow:
    """One mutation of one policy and task.

    Attributes:
        mutation: its kind.
        scenes: base scenes that were run again.
        passed: of these, passed by default (Def.).
        kept: of the passed ones, the sum of the shares that passed of the mutated runs whose
            default run did (Mut.; the paper takes the mean of three).
        kept_interval: Wilson's, of kept / passed.
        repeated: passed scenes that were also run again unchanged, in which case
        again: the share of their other runs that passed.
        against_repeats_p: McNemar's exact test of one mutated and one unchanged other run of the
            passed scenes; NaN without.
        default_rate, mutated_rate: of all scenes that were run again.
        has_failed: whether scenes that failed by default were run again too.
        difference: mutated minus default rate of the pairs; difference_interval: Tango's.
        p: McNemar's exact test of the pairs of a default and the first mutated run; NaN where only
            passed scenes were run again, as these can become no better.
        steps: rule's steps of default and of mutated runs, the mean of each scene.
        wordings: of instructions, the one with the smallest share first.
    """

    mutation: str
    policy: str
    task: str
    scenes: int
    passed: int
    kept: float
    kept_interval: Interval
    repeated: int
    again: float
    again_interval: Interval
    against_repeats_p: float
    default_rate: float
    mutated_rate: float
    has_failed: bool
    difference: float
    difference_interval: Interval
    p: float
    steps: tuple[TransferRates, TransferRates] | None
    wordings: tuple[WordingRow, ...] = ()

    @property
    def ratio(self) -> float:
        """Mut. / Def.; NaN if none passed."""
        return self.kept / self.passed if self.passed else NAN

    @property
    def relative(self) -> float:
        """(Mut. - Def.) / Def. of the rates, as the paper's table 7; NaN without success."""
        if not self.default_rate > 0:
            return NAN
        return (self.mutated_rate - self.default_rate) / self.default_rate


def mutation_kind(name: str) -> str:
    """Returns the name of a mutation without a number at its end: several draws are one kind."""
    return _COUNT.sub('', name) or name


def mutation_rows(data: CampaignData, rule: str = 'paper') -> list[MutationRow]:
    """Returns a row per kind of mutation, policy and task, in this order.

    The default run of each mutated one is that of the same scene, policy and repeat, or else the
    first run of the scene. Whether a scene passed, and the tests, are of the first pair: the one of
    the lowest repeat, then name. Mutated trials whose scene has no default run that counts are left
    out.
    """
    base = _default_runs(data)
    groups: dict[tuple[str, str, str], dict[str, list[TrialResult]]] = {}
    for trial in data.trials:
        if not (name := data.mutation(trial)):
            continue
        origin = trial.base or trial.scene
        if (trial.policy, origin) in base:
            kind = mutation_kind(name)
            key = kind, trial.policy, data.scenes[trial.scene].task.kind
            groups.setdefault(key, {}).setdefault(origin, []).append(trial)
    return [_row(key, groups[key], base, rule) for key in sorted(groups)]


def is_instruction(row: MutationRow) -> bool:
    """Returns whether only the words were changed."""
    return row.mutation.startswith(INSTRUCTION)


def _default_runs(data: CampaignData) -> dict[tuple[str, str], list[TrialResult]]:
    found: dict[tuple[str, str], list[TrialResult]] = {}
    for trial in data.trials:
        if not data.mutation(trial):
            found.setdefault((trial.policy, trial.scene), []).append(trial)
    return {key: sorted(each, key=_order) for key, each in found.items()}


def _order(trial: TrialResult) -> tuple[int, str, str, int]:
    return trial.repeat, trial.mutation, trial.scene, trial.policy_seed


def _row(
    key: tuple[str, str, str],
    groups: Mapping[str, list[TrialResult]],
    base: Mapping[tuple[str, str], list[TrialResult]],
    rule: str,
) -> MutationRow:
    kind, policy, task = key
    pairs, others = [], []
    for origin, trials in groups.items():
        runs = base[policy, origin]
        by_repeat = {each.repeat: each for each in reversed(runs)}
        ordered = sorted(trials, key=_order)
        pairs.append([(by_repeat.get(each.repeat, runs[0]), each) for each in ordered])
        others.append([each for each in runs if each is not pairs[-1][0][0]])
    passes = [own[0][0].is_success(rule) for own in pairs]
    shares = [_share([changed for _, changed in own], rule) for own in pairs]
    kept = [
        _share([changed for before, changed in own if before.is_success(rule)], rule)
        for own, passed in zip(pairs, passes)
        if passed
    ]
    again = [_share(each, rule) for each, passed in zip(others, passes) if passed and each]
    first = [own[0][1].is_success(rule) for own in pairs]
    has_failed = not all(passes)
    mutated = [[changed for _, changed in own] for own in pairs]
    defaults = [[before for before, _ in own] for own in pairs]
    fresh = [
        (each[0].is_success(rule), changed)
        for each, passed, changed in zip(others, passes, first)
        if passed and each
    ]
    return MutationRow(
        kind, policy, task, len(pairs), sum(passes), float(sum(kept)),
        _wilson(kept), len(again), float(np.mean(again)) if again else NAN, _wilson(again),
        mcnemar_exact(*map(list, zip(*fresh))) if fresh else NAN,
        float(np.mean([_share([before for before, _ in own], rule) for own in pairs])),
        float(np.mean(shares)), has_failed,
        float(np.mean(first)) - float(np.mean(passes)),
        tango_interval(first, passes) if has_failed else _NOTHING,
        mcnemar_exact(first, passes) if has_failed else NAN,
        _steps(task, defaults, mutated, rule),
        _wordings(task, pairs, rule) if kind.startswith(INSTRUCTION) else (),
    )  # fmt: skip


def _wordings(
    task: str, scenes: Sequence[Sequence[tuple[TrialResult, TrialResult]]], rule: str
) -> tuple[WordingRow, ...]:
    """Returns a row per wording, of the pairs of a default and a mutated run of each scene."""
    shares: dict[str, list[float]] = {}
    for pairs in scenes:
        own: dict[str, list[TrialResult]] = {}
        for before, changed in pairs:
            if before.is_success(rule):
                wording = wording_of(changed.instruction, before.instruction, task)
                own.setdefault(wording, []).append(changed)
        for wording, trials in own.items():
            shares.setdefault(wording, []).append(_share(trials, rule))
    rows = [
        WordingRow(wording, len(each), float(sum(each)), _wilson(each))
        for wording, each in shares.items()
    ]
    return tuple(sorted(rows, key=lambda row: (row.kept / row.passed, row.wording)))


def _share(trials: Sequence[TrialResult], rule: str) -> float:
    return float(np.mean([each.is_success(rule) for each in trials]))


def _wilson(values: Sequence[float]) -> Interval:
    return wilson_interval(float(sum(values)), len(values)) if values else _NOTHING


def _steps(
    task: str,
    default: Sequence[Sequence[TrialResult]],
    mutated: Sequence[Sequence[TrialResult]],
    rule: str,
) -> tuple[TransferRates, TransferRates] | None:
    rates = [scene_step_rates(task, each, rule) for each in (default, mutated)]
    return None if rates[0] is None or rates[1] is None else (rates[0], rates[1])
