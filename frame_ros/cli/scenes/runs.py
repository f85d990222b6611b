# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros scenes run`: a policy in the scenes of files, in a folder that can be resumed."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from frame_ros.cli.metrics import format_table
from frame_ros.cli.progress import Progress
from frame_ros.core.errors import SetupError
from frame_ros.core.option_texts import add_options, flag_of, from_arguments
from frame_ros.core.options import option, options, walk
from frame_ros.evaluation.scene_trials.policy_options import TrialPolicyOptions
from frame_ros.scenes.run_options import SceneRunOptions

if TYPE_CHECKING:
    from frame_ros.evaluation.scene_trials.result import TrialResult
    from frame_ros.scenes.description.scene import Scene

# What `scenes generate` has too, or what no run needs.
NOT_USED = ('robot', 'seed', 'temperatures', 'samples', 'with_depth')
NAMES = {'policy_options': '--option', 'is_checked': '--check'}
INTERRUPTED = 130
HEADING = (
    'task',
    'rule',
    'step',
    'reached',
    'of',
    'rate',
    '95 % interval',
    'after the step before',
)


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
    add_options(group, SceneRunOptions, NOT_USED, NAMES)
    add_options(group, TrialPolicyOptions, NOT_USED, NAMES)
    group.add_argument('-q', '--quiet', action='store_true', help='no progress bar')


def refuse_options(args: argparse.Namespace, allowed: Sequence[str] = ()) -> None:
    """Checks that another action than `run` got none of its options but those allowed.

    Raises:
        SetupError: it did.
    """
    for kind in (CampaignOptions, SceneRunOptions, TrialPolicyOptions):
        for each in walk(kind):
            if each.name not in (*NOT_USED, *allowed) and hasattr(args, each.name):
                flag = NAMES.get(each.name) or flag_of(each.name)
                raise SetupError(f'{flag} is an option of run, not of {args.what}')


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
    policy = from_arguments(TrialPolicyOptions, args)
    begun = time.monotonic()
    try:
        with Progress('trials', args.quiet) as bar:
            results = run_campaign(
                args.output, scenes, policy, from_arguments(SceneRunOptions, args),
                chosen.repeats, processes=chosen.processes,
                on_result=lambda _, done, total: bar(done, total),
                on_message=lambda text: print(text, file=sys.stderr),
                most_wall_time=chosen.trial_time_limit,
            )  # fmt: skip
    except KeyboardInterrupt:
        print(f'interrupted; the same command continues in {args.output}', file=sys.stderr)
        return INTERRUPTED
    print(summary(scenes, results, time.monotonic() - begun))
    return 0 if any(result.is_valid for result in results) else 1


def summary(scenes: Sequence[Scene], results: Sequence[TrialResult], passed: float) -> str:
    """Returns the table of steps by task and rule, what was invalid, and times.

    Args:
        scenes: of the results.
        passed: s.
    """
    tasks = {scene.name: scene.task.kind for scene in scenes}
    rows: list[tuple[str, ...]] = [HEADING]
    for task in dict.fromkeys(tasks.values()):
        rows += _rows(task, [each for each in results if tasks[each.scene] == task])
    problems = Counter(each.problem for each in results if not each.is_valid)
    valid = len(results) - problems.total()
    lines = [format_table(rows), f'{valid} of {len(results)} trials are valid']
    lines += [f'invalid: {count} x {text}' for text, count in problems.most_common()]
    simulated = sum(each.duration for each in results if each.is_valid)
    worked = sum(each.wall_time for each in results if each.is_valid)
    speed = f', {simulated / worked:.1f} times real time per process' if worked > 0 else ''
    lines.append(
        f'{simulated:.0f} s simulated in {worked:.0f} s of work{speed}; took {passed:.0f} s'
    )
    return '\n'.join(lines)


def _rows(task: str, results: Sequence[TrialResult]) -> Iterator[tuple[str, ...]]:
    from frame_ros.evaluation.scene_trials.rates import step_rates

    for rule, rates in step_rates(task, results).items():
        for step in rates.steps:
            low, high = step.interval
            first, last = step.transfer_interval
            transfer = f'{step.transfer:.2f} ({first:.2f} to {last:.2f})' if step.before else '-'
            shown = f'{low:.2f} to {high:.2f}' if step.episodes else '-'
            rate = f'{step.rate:.2f}' if step.episodes else '-'
            yield (
                task, rule, step.step, str(step.reached), str(step.episodes), rate, shown,
                transfer,
            )  # fmt: skip
