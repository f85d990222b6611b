# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros scenes run`: a policy in the scenes of files, in a folder that can be resumed."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from frame_ros.cli.metrics import format_table
from frame_ros.cli.progress import Progress
from frame_ros.cli.scenes.action import SCENE_FILES, Action, names_of
from frame_ros.core.errors import SetupError
from frame_ros.core.option_texts import add_options, from_arguments
from frame_ros.core.options import evolved, option, options
from frame_ros.evaluation.scene_trials.policy_options import TrialPolicyOptions
from frame_ros.evaluation.scene_trials.recording import RecordOptions, TrialRecording
from frame_ros.scenes.run_options import SceneRunOptions

if TYPE_CHECKING:
    from frame_ros.evaluation.scene_trials.result import TrialResult
    from frame_ros.scenes.description.scene import Scene

# What `scenes generate` has too, or what no run needs.
NOT_USED = ('robot', 'seed', 'temperatures', 'samples', 'with_depth')
NAMES = {'policy_options': '--option', 'is_checked': '--check'}
HEADING = (
    'task',
    'changed',
    'rule',
    'step',
    'reached',
    'of',
    'rate',
    '95 % interval',
    'after the step before',
)

REPEATED = 'no interval where a scene ran several times: its runs are not independent'


@options
class CampaignOptions:
    """The trials."""

    repeats: int = option(
        1, 'runs of each scene; all but the first with another policy seed', at_least=1
    )
    processes: int = option(2, 'that run trials side by side; 0: none but this', at_least=0)
    trial_time_limit: float = option(
        600.0, 'on the clock, after which a trial is ended, with processes', unit='s', above=0.0
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments of `run`."""
    group = parser.add_argument_group('run')
    add_options(group, CampaignOptions)
    add_options(group, RecordOptions)
    add_options(group, SceneRunOptions, NOT_USED, NAMES)
    add_options(group, TrialPolicyOptions, NOT_USED, NAMES)
    group.add_argument('-q', '--quiet', action='store_true', help='no progress bar')


def run(args: argparse.Namespace, scenes: Sequence[Scene]) -> int:
    """Runs a campaign and prints its table; 1 if no trial is valid.

    Raises:
        SetupError: --output is missing, or of another campaign.
        FrameRosError: the policy could not be made.
    """
    from frame_ros.evaluation.scene_trials.campaign import run_campaign

    if args.output is None:
        raise SetupError('run needs --output, the folder of the campaign')
    chosen = from_arguments(CampaignOptions, args)
    # Its seeds are those of the scenes.
    policy = evolved(from_arguments(TrialPolicyOptions, args), seed=0)
    begun = time.monotonic()
    with Progress('trials', args.quiet) as bar:
        results = run_campaign(
            args.output, scenes, policy, from_arguments(SceneRunOptions, args),
            chosen.repeats, processes=chosen.processes,
            on_result=lambda _, done, total: bar(done, total),
            on_message=lambda text: print(text, file=sys.stderr),
            most_wall_time=chosen.trial_time_limit, record=from_arguments(RecordOptions, args),
        )  # fmt: skip
    print(summary(scenes, results, time.monotonic() - begun))
    return 0 if any(result.is_valid for result in results) else 1


def run_names() -> frozenset[str]:
    """Returns the options of runs of a policy, as `run`, `search` and `breaking` take them."""
    kinds = (CampaignOptions, RecordOptions, SceneRunOptions, TrialPolicyOptions)
    return names_of(*kinds, without=NOT_USED) | {'output', 'quiet'}


ACTIONS = {
    'run': Action(
        'run a policy in the scenes of files', run, run_names, SCENE_FILES, is_resumed=True
    )
}


@contextmanager
def evaluating(
    args: argparse.Namespace, policy: TrialPolicyOptions, run: SceneRunOptions
) -> Iterator[tuple[Progress, Callable[[Sequence[Scene]], Iterator[TrialResult]]]]:
    """Yields a progress bar, and what runs scenes `--repeats` times in the processes of a search.

    Raises:
        FrameRosError: the policy could not be made.
    """
    from frame_ros.evaluation.scene_trials.campaign import plan
    from frame_ros.evaluation.scene_trials.pool import TrialPool

    chosen = from_arguments(CampaignOptions, args)
    folder = Path(args.output).expanduser()
    recording = TrialRecording.of(folder, from_arguments(RecordOptions, args), policy)
    with (
        Progress('scenes', args.quiet) as bar,
        recording.marked() if recording else nullcontext(),
        TrialPool(policy, run, chosen.processes, chosen.trial_time_limit, recording) as pool,
    ):

        def evaluate(scenes: Sequence[Scene]) -> Iterator[TrialResult]:
            return (result for _, result in pool.run(plan(scenes, chosen.repeats)))

        yield bar, evaluate


def summary(scenes: Sequence[Scene], results: Sequence[TrialResult], passed: float) -> str:
    """Returns the table of steps by task and rule, what was invalid, and times.

    Args:
        scenes: of the results.
        passed: s.
    """
    from frame_ros.evaluation.scene_trials.rates import are_repeated

    tasks = {scene.name: scene.task.kind for scene in scenes}
    rows: list[tuple[str, ...]] = [HEADING]
    is_repeated = False
    for task in dict.fromkeys(tasks.values()):
        of_task = [each for each in results if tasks[each.scene] == task]
        for changed in sorted({each.mutation for each in of_task}):
            group = [each for each in of_task if each.mutation == changed]
            rows += _rows(task, group, changed)
            is_repeated = is_repeated or are_repeated(group)
    problems = Counter(each.problem for each in results if not each.is_valid)
    valid = len(results) - problems.total()
    lines = [format_table(rows), *([REPEATED] if is_repeated else [])]
    lines += [f'{valid} of {len(results)} trials are valid']
    lines += [f'invalid: {count} x {text}' for text, count in problems.most_common()]
    simulated = sum(each.duration for each in results if each.is_valid)
    worked = sum(each.wall_time for each in results if each.is_valid)
    speed = f', {simulated / worked:.1f} times real time per process' if worked > 0 else ''
    lines.append(
        f'{simulated:.0f} s simulated in {worked:.0f} s of work{speed}; took {passed:.0f} s'
    )
    return '\n'.join(lines)


def _rows(task: str, results: Sequence[TrialResult], changed: str) -> Iterator[tuple[str, ...]]:
    from frame_ros.evaluation.scene_trials.rates import are_repeated, step_rates

    is_repeated = are_repeated(results)
    for rule, rates in step_rates(task, results).items():
        for step in rates.steps:
            low, high = step.interval
            first, last = step.transfer_interval
            transfer = f'{step.transfer:.2f}' if step.before else '-'
            if step.before and not is_repeated:
                transfer += f' ({first:.2f} to {last:.2f})'
            shown = f'{low:.2f} to {high:.2f}' if step.episodes and not is_repeated else '-'
            rate = f'{step.rate:.2f}' if step.episodes else '-'
            yield (
                task, changed or '-', rule, step.step, str(step.reached), str(step.episodes), rate,
                shown, transfer,
            )  # fmt: skip
