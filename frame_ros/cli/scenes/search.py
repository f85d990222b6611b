# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros scenes search`, `coverage` and `mutate`: scenes that break a policy, what scenes have
tried, and scenes with other instructions. See docs/scene-search.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from frame_ros.cli.arguments import input_file
from frame_ros.cli.metrics import format_table
from frame_ros.cli.scenes.action import SCENE_FILES, Action, names_of
from frame_ros.cli.scenes.runs import evaluating, run_names
from frame_ros.cli.scenes.worlds import robot_of, start_of
from frame_ros.core.errors import FrameRosError, SetupError
from frame_ros.core.option_texts import add_options, from_arguments
from frame_ros.core.options import evolved, option, options
from frame_ros.evaluation.scene_trials.policy_options import TrialPolicyOptions
from frame_ros.evaluation.scene_trials.search.search_options import SearchOptions
from frame_ros.scenes.generation.limits import SceneLimits
from frame_ros.scenes.run_options import SceneRunOptions
from frame_ros.scenes.world_names import OURS

if TYPE_CHECKING:
    from frame_ros.scenes.description.scene import Scene
    from frame_ros.scenes.search.coverage import OperatorCoverage

# Options that `generate` and `run` have too.
SHARED = ('robot', 'task', 'seed', 'operators', 'fixed', 'meshes', 'repeats')


@options
class MutateOptions:
    """Mutated instructions."""

    mutations: int = option(
        1, 'other instructions for each scene, drawn by --seed; 0: all that there are', at_least=0
    )
    seed: int = option(0, 'of the draws', at_least=0)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments that `generate` and `run` do not have."""
    add_options(parser.add_argument_group('search'), SearchOptions, SHARED)
    group = parser.add_argument_group('mutate')
    add_options(group, MutateOptions, ('seed',))
    group.add_argument(
        '--instructions', type=input_file, metavar='FILE',
        help='what frame-ros rephrase wrote, instead of the reviewed list of this package',
    )  # fmt: skip


def _search(args: argparse.Namespace, _: Sequence[Scene]) -> int:
    from frame_ros.evaluation.scene_trials.campaign import settings_of
    from frame_ros.evaluation.scene_trials.search.study import search
    from frame_ros.scenes.description.mesh_digests import library_digests

    if args.output is None:
        raise SetupError('search needs --output, the folder of the campaign')
    world, chosen = from_arguments(SceneRunOptions, args).world, from_arguments(SearchOptions, args)
    start, robot = None, None
    if world != OURS:
        start, robot, operators = start_of(world, chosen.task, chosen.operators)
        chosen = evolved(chosen, operators=operators, robot=start.robot)
    # Its seeds are those of the scenes; --seed is that of the search.
    policy = evolved(from_arguments(TrialPolicyOptions, args), seed=0)
    # The search has checked each scene by its own limits.
    runs = evolved(from_arguments(SceneRunOptions, args), is_checked=False)
    policy.check(chosen.robot)
    with evaluating(args, policy, runs) as (bar, evaluate):
        found = search(
            chosen, evaluate, args.output,
            settings_of(policy, runs, library_digests(chosen.meshes)),
            from_arguments(SceneLimits, args), robot, start,
            on_batch=lambda tried: bar(len(tried), chosen.budget),
        )  # fmt: skip
    print(found.text)
    names = [each.scene.name for each in found.failures]
    print(f'failed: {", ".join(names) or "none"}\nin {Path(args.output)}')
    return 0 if found.invalid < len(found.tried) else 1


def _coverage(args: argparse.Namespace, scenes: Sequence[Scene]) -> int:
    from frame_ros.core.plain_text import counted

    groups: dict[tuple[str, str, tuple[str, ...]], list[Scene]] = {}
    for each in scenes:
        values = tuple(each.origin.values) if each.origin else ()
        groups.setdefault((each.robot, each.task.kind, values), []).append(each)
    for (robot, kind, values), found in groups.items():
        print(f'{counted(len(found), "scene")}: {kind}, {robot}')
        _print_coverage(found, bool(values), from_arguments(SceneRunOptions, args).world)
    return 0 if groups else 1


def _print_coverage(scenes: Sequence[Scene], has_values: bool, world: str) -> None:
    from frame_ros.scenes.generation.setting import mesh_library, setting
    from frame_ros.scenes.search.coverage import operator_coverage, target_coverage
    from frame_ros.scenes.search.space import space_of

    first = scenes[0]
    try:
        robot, meshes = robot_of(world, first.robot), mesh_library(scenes)
        place = setting(robot, first.task.kind, meshes=meshes)
    except FrameRosError as error:
        print(f'{error}; so the grid lies around the targets of these scenes')
        place = None
    try:
        print(f'targets: {target_coverage(scenes, place):.2f} of a 10 x 10 grid')
    except FrameRosError as error:
        print(f'targets: {error}')
    if place is not None and has_values:
        print(coverage_text(operator_coverage(scenes, space_of(first, place))))
    else:
        print('operators: these scenes say no values of them')


def coverage_text(found: OperatorCoverage) -> str:
    """Returns a table of the coverage of operators."""
    rows: list[tuple[str, ...]] = [('dimension', 'cells covered', 'of')]
    rows += [(name, str(have), str(every)) for name, (have, every) in found.cells.items()]
    shares = f'cells: {found.single_share:.2f}, the mean of the dimensions\n'
    if found.pairs[1]:
        shares += f'pairs of cells: {found.pair_share:.2f}, {found.pairs[0]} of {found.pairs[1]}\n'
    return f'{format_table(rows)}\n{shares}cells of the whole grid: {found.distinct}'


def _mutate(args: argparse.Namespace, scenes: Sequence[Scene]) -> int:
    from frame_ros.core.output_files import check_file, refuse_inputs
    from frame_ros.core.plain_text import counted
    from frame_ros.policies.rephrasing.rephrasings import load_rephrasings
    from frame_ros.scenes.description.files import check_ending, write_scenes
    from frame_ros.scenes.tasks.instructions import mutated_scenes

    if args.output is None:
        raise SetupError('mutate needs --output, the file to write')
    output = check_file(args.output, '--output')
    check_ending(output)
    refuse_inputs(output, [Path(file).expanduser() for file in args.files], '--output')
    chosen = from_arguments(MutateOptions, args)
    source = load_rephrasings(args.instructions) if args.instructions else None
    found = mutated_scenes(scenes, source, chosen.mutations, chosen.seed)
    write_scenes(output, [each.scene for each in found])
    print(f'{counted(len(found), "scene")} with other instructions, of {len(scenes)}')
    return 0


def _search_names() -> frozenset[str]:
    own = names_of(SearchOptions, SceneLimits)
    return own | (run_names() - {'is_checked'})  # it checks the scenes itself, by its own limits


ACTIONS = {
    'search': Action(
        'look for scenes in which a policy fails', _search, _search_names, is_resumed=True
    ),
    'coverage': Action(
        'count how much of what can vary the scenes of files have tried',
        _coverage, lambda: {'world'}, SCENE_FILES,
    ),
    'mutate': Action(
        'write scenes with other words for their instructions',
        _mutate, lambda: names_of(MutateOptions) | {'output', 'instructions'}, SCENE_FILES,
    ),
}  # fmt: skip
