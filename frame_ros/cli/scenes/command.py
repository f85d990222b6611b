# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros scenes`: scenes drawn by operators, and files of them. See docs/scenes.md."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frame_ros.cli.arguments import any_path, given
from frame_ros.cli.metrics import format_table
from frame_ros.cli.scenes import breaking, cards, runs, search, worlds
from frame_ros.cli.scenes import report as reports
from frame_ros.cli.scenes.action import FILES, SCENE_FILES, Action, check, names_of, note_arguments
from frame_ros.cli.scenes.verdicts import GOOD, NOT_CHECKED, WRONG, SceneChecks
from frame_ros.core.errors import FrameRosError, SetupError
from frame_ros.core.option_texts import add_options, from_arguments
from frame_ros.core.options import option, options
from frame_ros.core.plain_text import counted
from frame_ros.robots.profiles import DEFAULT_ROBOT
from frame_ros.scenes.generation.limits import SceneLimits
from frame_ros.scenes.run_options import SceneRunOptions
from frame_ros.scenes.tasks.kinds import TASKS
from frame_ros.scenes.world_names import OURS

if TYPE_CHECKING:
    from frame_ros.scenes.description.scene import Scene
    from frame_ros.scenes.generation.generator import Generated

# Each declares its actions, and the arguments that no one before it has.
MODULES = (cards, runs, search, breaking, reports)
SHOWN = ('scene', 'task', 'robot', 'instruction', 'objects', 'light', 'policy seed')


@options
class GenerateOptions:
    """Scenes to draw."""

    robot: str = option(DEFAULT_ROBOT, 'simulated robot, or the YAML file of its profile')
    task: str = option(
        'pick_up', 'task; of convert: where the name says none', choices=tuple(TASKS)
    )
    count: int = option(10, 'number of scenes', at_least=1)
    seed: int = option(0, 'seed of the scenes', at_least=0)
    operators: tuple[str, ...] = option(
        ('paper',), "names of what varies; paper: VLATest's ten, all: every one"
    )
    fixed: Mapping[str, Any] = option(
        {}, 'a dimension of an operator that is the same in every scene: confounder_count.count=2'
    )
    meshes: str = option('', 'folder with a folder of meshes for each unseen object')


@options
class DesignOptions:
    """A design of scenes."""

    robot: str = option(DEFAULT_ROBOT, 'simulated robot, or the YAML file of its profile')
    task: str = option('pick_up', 'task', choices=tuple(TASKS))
    seed: int = option(0, 'seed of the design', at_least=0)
    operators: tuple[str, ...] = option(
        ('paper',), "names of what varies; paper: VLATest's ten, all: every one"
    )
    rows: int = option(16, 'of the design; it has rows x (factors + 2) scenes at most', at_least=1)
    factors: str = option(
        'placement',
        'placement: what decides what stands where is one factor; operators: each is one, and more '
        'mixtures break a constraint',
        choices=('placement', 'operators'),
    )
    meshes: str = option('', 'folder with a folder of meshes for each unseen object')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        'what',
        choices=tuple(ACTIONS),
        help='; '.join(f'{name}: {action.text}' for name, action in ACTIONS.items()),
    )
    parser.add_argument(
        'files',
        nargs='*',
        metavar='FILE',
        type=given,
        help='files of scenes, JSON or YAML; of report: folders of campaigns',
    )
    parser.add_argument(
        '--output',
        type=any_path,
        metavar='FILE',
        help='the file to write, .json or .yaml, of cards .html (default: JSON to the standard '
        'output); of run, search and breaking: the folder of the campaign, which may be there',
    )
    parser.add_argument(
        '--models',
        type=given,
        metavar='FILE',
        help="ManiSkill2's file of models, from which converted scenes have bounding boxes",
    )
    add_options(parser, GenerateOptions)
    add_options(parser.add_argument_group('limits'), SceneLimits)
    shared = ('robot', 'task', 'seed', 'operators', 'meshes')
    add_options(parser.add_argument_group('design'), DesignOptions, shared)
    for module in MODULES:
        module.add_arguments(parser)
    note_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Does what is asked for; returns 1 if a scene that was checked breaks a constraint, or is not
    to be had; of run, if no trial is valid.

    Raises:
        RobotError: there is no such robot, or its profile does not say where it picks.
        SetupError: a file cannot be read or written, or has a mistake, or an option is of another
            action.
        ValueRangeError: there is no such operator.
    """
    check(args, ACTIONS)
    chosen = ACTIONS[args.what]
    has_scenes = chosen.files == SCENE_FILES
    scenes = [scene for file in args.files for scene in _read(file)] if has_scenes else []
    try:
        return chosen.run(args, scenes)
    except KeyboardInterrupt:
        if chosen.is_resumed:
            text = f'interrupted; the same command continues in {args.output}'
            print(text, file=sys.stderr)
        raise


def _operators(args: argparse.Namespace, _: object) -> int:
    world = from_arguments(SceneRunOptions, args).world
    print(format_table(operator_rows() if world == OURS else worlds.rows(world)))
    return 0


def operator_rows() -> list[tuple[str, ...]]:
    """The operators as rows of texts, their heading first."""
    from frame_ros.scenes.generation.operators import REGISTRY

    return [('operator', 'what varies', 'from'), *((o.name, o.text, o.source) for o in REGISTRY)]


def _generate(args: argparse.Namespace, _: object) -> int:
    from frame_ros.scenes.generation.generator import generate

    chosen = from_arguments(GenerateOptions, args)
    limits = from_arguments(SceneLimits, args)
    output = _output(args, ())
    world = from_arguments(SceneRunOptions, args).world
    start, robot, operators = None, chosen.robot, chosen.operators
    if world != OURS:
        start, robot, operators = worlds.start_of(world, chosen.task, operators)
    found = generate(
        chosen.task, robot, chosen.count, chosen.seed, operators, limits, chosen.fixed, start,
        chosen.meshes,
    )  # fmt: skip
    _write(output, found.scenes)
    print(report(found), file=sys.stdout if output else sys.stderr)
    return 1 if found.left_out else 0


def _design(args: argparse.Namespace, _: object) -> int:
    from frame_ros.evaluation.scene_trials.robustness.sobol_design import sobol_design
    from frame_ros.scenes.generation.operators import UNSEEN, chosen_operators
    from frame_ros.scenes.generation.setting import setting

    chosen, limits = from_arguments(DesignOptions, args), from_arguments(SceneLimits, args)
    output, world = _output(args, ()), from_arguments(SceneRunOptions, args).world
    start, operators = None, chosen.operators
    if chosen.meshes:
        operators = (*operators, UNSEEN)
    robot = worlds.robot_of(world, chosen.robot)
    if world != OURS:
        start, robot, operators = worlds.start_of(world, chosen.task, operators)
    groups = None
    if chosen.factors == 'operators':
        groups = {each.name: (each.name,) for each in chosen_operators(operators)}
    place = setting(robot, chosen.task, limits, chosen.meshes)
    found = sobol_design(
        place, operators, chosen.rows, chosen.seed, groups, limits.attempts, start
    )  # fmt: skip
    _write(output, found.scenes)
    lines = [
        f'{counted(len(found.scenes), "scene")} of {counted(found.rows, "row")}, in '
        f'{counted(found.draws, "draw")}'
    ]
    lines += [f'factor {name}: {", ".join(each)}' for name, each in found.groups.items()]
    for name, count in found.left_out.items():
        if count:
            lines.append(f'left out, as a constraint is broken: {count} mixtures of {name}')
    print('\n'.join(lines), file=sys.stdout if output else sys.stderr)
    return 0


def report(found: Generated) -> str:
    """Describes what was drawn, and what was rejected why."""
    lines = [f'{len(found.scenes)} of {found.asked} scenes, in {found.draws} draws']
    for name, count in sorted(found.rejected.items(), key=lambda item: -item[1]):
        lines.append(f'rejected by {name}: {count}')
    for index, reason in found.left_out.items():
        lines.append(f'scene {index} is left out: {reason}')
    return '\n'.join(lines)


def _convert(args: argparse.Namespace, _: object) -> int:
    from frame_ros.scenes.description.vlatest import read_vlatest

    output = _output(args, args.files)
    task = getattr(args, 'task', None)
    scenes = [s for file in args.files for s in read_vlatest(file, task, args.models)]
    _write(output, scenes)
    lines = [f'{counted(len(scenes), "scene")} of {counted(len(args.files), "file")}']
    unknown = {f'not known: {name}: {why}' for each in scenes for name, why in each.unknown.items()}
    print('\n'.join([*lines, *sorted(unknown)]), file=sys.stdout if output else sys.stderr)
    return 0


def _check(args: argparse.Namespace, _: object) -> int:
    world = from_arguments(SceneRunOptions, args).world
    checks = SceneChecks(from_arguments(SceneLimits, args), world)
    counts = Counter[str]()
    for file in args.files:
        try:
            scenes = _read(file)
        except FrameRosError as error:
            print(error)
            counts['cannot be read'] += 1
            continue
        unchecked, names = Counter[str](), set[str]()
        for each in scenes:
            verdict, text = checks.verdict(each)
            if each.name in names and verdict != WRONG:
                verdict = WRONG
                text = 'its name is that of another scene of the file; they must differ'
            names.add(each.name)
            counts[verdict] += 1
            if verdict == NOT_CHECKED:
                unchecked[text] += 1
            elif text:
                print(f'{file}: {each.name}: {text}')
        for text, count in unchecked.items():
            print(f'{file}: {counted(count, "scene")} {text}')
    print(', '.join(f'{counts[name]} {name}' for name in (GOOD, WRONG, NOT_CHECKED)))
    return 1 if counts[WRONG] or counts['cannot be read'] else 0


def _show(_: argparse.Namespace, scenes: Sequence[Scene]) -> int:
    print(format_table([SHOWN, *_rows(scenes)]))
    return 0


def _rows(scenes: Sequence[Scene]) -> Iterator[tuple[str, ...]]:
    for each in scenes:
        others = len(each.confounders)
        asked = [each.target.type, *([each.receptacle.type] if each.receptacle else [])]
        yield (
            each.name, each.task.kind, each.robot, each.instruction or '-',
            f'{", ".join(asked)} and {others} others', f'{each.light_factor:.3g}',
            '-' if each.policy_seed is None else str(each.policy_seed),
        )  # fmt: skip


def _read(file: str) -> tuple[Scene, ...]:
    """The scenes of a file of ours, or of VLATest's; raises SetupError if there are none."""
    from frame_ros.scenes.description.files import read_content, scenes_of
    from frame_ros.scenes.description.vlatest import is_vlatest, read_vlatest

    content = read_content(file)
    found = read_vlatest(file) if is_vlatest(content) else scenes_of(content, file)
    if not found:
        raise SetupError(f'{file}: there is no scene in it')
    return found


def _output(args: argparse.Namespace, inputs: Sequence[str]) -> Path | None:
    """The file to write, checked before the work begins; None: the standard output."""
    from frame_ros.core.output_files import check_file, refuse_inputs
    from frame_ros.scenes.description.files import check_ending

    if args.output is None:
        return None
    output = check_file(args.output, '--output')
    check_ending(output)
    refuse_inputs(output, [Path(file).expanduser() for file in inputs], '--output')
    return output


def _write(output: Path | None, scenes: Sequence[Scene]) -> None:
    from frame_ros.scenes.description.files import scenes_text, write_scenes

    if output is None:
        print(scenes_text(scenes), end='')
    else:
        write_scenes(output, scenes)


def _drawing_names(kind: Any) -> frozenset[str]:
    return names_of(kind, SceneLimits) | {'output', 'world'}


ACTIONS = {
    'generate': Action('draw scenes', _generate, lambda: _drawing_names(GenerateOptions)),
    'design': Action(
        "draw scenes from which factors' shares of the variance follow (Sobol' indices)",
        _design, lambda: _drawing_names(DesignOptions),
    ),
    'check': Action(
        'check files of scenes',
        _check, lambda: names_of(SceneLimits, without=('attempts',)) | {'world'}, FILES,
    ),
    'show': Action('list the scenes of files', _show, files=SCENE_FILES),
    'convert': Action(
        "write VLATest's scene files in this package's form",
        _convert, lambda: {'task', 'models', 'output'}, FILES,
    ),
    'operators': Action('list what scenes vary by', _operators, lambda: {'world'}),
    **{name: action for module in MODULES for name, action in module.ACTIONS.items()},
}  # fmt: skip
