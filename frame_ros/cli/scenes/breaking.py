# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros scenes breaking`: the smallest changes of scenes that break a policy."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from frame_ros.cli.metrics import format_table
from frame_ros.cli.scenes.action import SCENE_FILES, Action, names_of
from frame_ros.cli.scenes.runs import evaluating, run_names
from frame_ros.cli.scenes.worlds import of_another, own_scene, robot_of
from frame_ros.core.errors import SetupError
from frame_ros.core.option_texts import add_options, from_arguments
from frame_ros.core.options import evolved
from frame_ros.evaluation.scene_trials.policy_options import TrialPolicyOptions
from frame_ros.evaluation.scene_trials.search.breaking_study import (
    BreakingOptions,
    SceneBreaking,
    break_scenes,
)
from frame_ros.scenes.generation.limits import SceneLimits
from frame_ros.scenes.run_options import SceneRunOptions

if TYPE_CHECKING:
    from frame_ros.evaluation.scene_trials.search.breaking import Breaking
    from frame_ros.scenes.description.scene import Scene
    from frame_ros.scenes.generation.setting import Setting

# Options that other actions have too.
SHARED = ('operators', 'repeats', 'success_rule')
HEADING = ('scene', 'operator', 'changed', 'breaks at', 'passes at')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments that no other action has."""
    add_options(parser.add_argument_group('breaking'), BreakingOptions, SHARED)


def run(args: argparse.Namespace, scenes: Sequence[Scene]) -> int:
    """Looks for them, and prints a table; 1 if the policy passes in none of the scenes.

    Raises:
        FrameRosError: as of `break_scenes`, or the policy could not be made.
    """
    from frame_ros.evaluation.scene_trials.campaign import settings_of
    from frame_ros.scenes.description.mesh_digests import libraries_digests

    if args.output is None:
        raise SetupError('breaking needs --output, the folder of the campaign')
    chosen = from_arguments(BreakingOptions, args)
    # Its seeds are those of the scenes.
    policy = evolved(from_arguments(TrialPolicyOptions, args), seed=0)
    # Each scene is checked before it runs, by limits that may be others.
    runs = evolved(from_arguments(SceneRunOptions, args), is_checked=False)
    for scene in scenes:
        if problem := of_another(scene, runs.world):
            raise SetupError(f'the scene {scene.name} is {problem}')
    for robot in dict.fromkeys(scene.robot for scene in scenes):
        policy.check(robot)
    place_of = _Settings(runs.world, from_arguments(SceneLimits, args))
    with evaluating(args, policy, runs) as (bar, evaluate):
        done: list[SceneBreaking] = []

        def show(each: SceneBreaking) -> None:
            done.append(each)
            bar(len(done), len(scenes) - bool(chosen.towards))

        break_scenes(
            scenes, chosen, evaluate, args.output,
            settings_of(policy, runs, libraries_digests(scenes)), place_of,
            own_scene(runs.world), show,
        )  # fmt: skip
    print(report(done))
    print(f'in {Path(args.output)}')
    return 0 if any(not each.problem for each in done) else 1


def _names() -> frozenset[str]:
    own = names_of(BreakingOptions, SceneLimits, without=('attempts',))
    return own | (run_names() - {'is_checked'})  # it checks the scenes itself, by its own limits


ACTIONS = {
    'breaking': Action(
        'look for the smallest changes of scenes that break a policy',
        run,
        _names,
        SCENE_FILES,
        is_resumed=True,
    )
}


def report(done: Sequence[SceneBreaking]) -> str:
    """Returns a table of the changes that break the policy, and what is not known."""
    rows: list[tuple[str, ...]] = [HEADING]
    notes = []
    for each in done:
        name = each.scene.name
        if each.problem:
            notes.append(f'{name} was not changed: {each.problem}')
        rows += [_row(name, found) for found in each.found if found.has_failed]
        passed = sum(not found.has_failed and not found.problem for found in each.found)
        if passed:
            notes.append(f'{name}: {passed} changes do not break the policy')
        for found in each.found:
            if found.problem and not found.has_failed:
                text = f'{found.change.operator}, {_changed(found)}: {found.problem}'
                notes.append(f'{name}: not known: {text}')
    trials = sum(found.trials for each in done for found in each.found)
    table = [format_table(rows)] if len(rows) > 1 else ['no change was found to break the policy']
    return '\n'.join([*table, *notes, f'{trials} changed scenes were tried'])


def _row(name: str, found: Breaking) -> tuple[str, ...]:
    scales = f'{found.scale:.3f}', f'{found.passed:.3f}'
    return name, found.change.operator, _changed(found), *scales


def _changed(found: Breaking) -> str:
    """The values of the whole change, and where it breaks the policy, if it does."""
    start, end = found.change.start, found.change.end
    at = None
    if found.scene is not None and found.scene.origin is not None:
        at = found.scene.origin.values[found.change.operator]
    texts = []
    for name, value in end.items():
        if value != start[name]:
            text = f'{name} from {_text(start[name])} to {_text(value)}'
            is_between = at is not None and at[name] != value
            texts.append(f'{text}, broken by {_text(at[name])}' if at and is_between else text)
    return '; '.join(texts)


def _text(value: object) -> str:
    return f'{value:.3g}' if isinstance(value, float) else str(value)


class _Settings:
    """The settings of scenes, each made once."""

    def __init__(self, world: str, limits: SceneLimits) -> None:
        self._world, self._limits = world, limits
        self._made: dict[tuple[str, str, str], Setting] = {}

    def __call__(self, scene: Scene) -> Setting:
        from frame_ros.scenes.generation.setting import mesh_library, setting

        key = robot, task, meshes = scene.robot, scene.task.kind, mesh_library([scene])
        if key not in self._made:
            place = robot_of(self._world, robot)
            self._made[key] = setting(place, task, self._limits, meshes)
        return self._made[key]
