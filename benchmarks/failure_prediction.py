# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Prediction of a policy's failures by scores and their combination, on simulated episodes.

    python benchmarks/failure_prediction.py [--workers 2] [--directory runs/failures] [--write]
    python benchmarks/failure_prediction.py --kept [--write]      # of what is there; runs nothing
    python benchmarks/failure_prediction.py --share 0.2 --only scripted,degraded

Trains a small ACT and a policy that looks with a camera, if they are not in the directory, and runs
four policies in undisturbed episodes and in those with planted faults. Each trial is kept in the
directory as the scores of its inferences, so an interrupted run goes on where it was, and the
analysis can be repeated. --write puts the tables into docs/failure-prediction.md.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from parts.bars import Bars, parse
from parts.failure_tables import judge, tables

from frame_ros.cli.progress import progress_bar
from frame_ros.evaluation.failure_prediction.alarms import all_cases
from frame_ros.evaluation.failure_prediction.campaigns import (
    PolicyEpisodes,
    PolicyTrials,
    episodes_of,
)
from frame_ros.evaluation.failure_prediction.faults import FAULTS, NONE, OF_IMAGES
from frame_ros.evaluation.failure_prediction.figures import Group
from frame_ros.evaluation.failure_prediction.trial import FUNCTIONS
from frame_ros.evaluation.trials.campaign import Campaign, Outcome

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / 'docs' / 'failure-prediction.md'
BEGIN, END = '<!-- results -->\n', '<!-- end of results -->'
ALPHA = 0.1  # false alarms per success
FOLDS, REPEATS = 5, 2
OF_POSES = tuple(kind for kind in FAULTS if kind not in (NONE, *OF_IMAGES))
# What the looking policy is given of the cube does not matter to it.
OF_LOOKING = tuple(kind for kind in FAULTS if kind not in (NONE, 'missed grasp', 'wrong object'))


def policies(directory: Path) -> tuple[PolicyTrials, ...]:
    """The policies, with the trained ones in `directory`."""
    scripted = {'samples': 6, 'n_action_steps': 8}
    return (
        PolicyTrials(
            'scripted', 'scripted', 130, 12, 1_100_000, OF_POSES, {'quality': 0.9, **scripted}
        ),
        PolicyTrials(
            'degraded', 'scripted', 180, 12, 1_200_000, OF_POSES, {'quality': 0.5, **scripted}
        ),
        PolicyTrials(
            'ACT', str(directory / 'act' / 'policy'), 140, 12, 1_300_000, OF_POSES,
            {'samples': 6, 'n_action_steps': 10},
        ),
        PolicyTrials(
            'looking', 'parts.looking_policy:LookingPickPlace', 130, 12, 1_400_000, OF_LOOKING,
            {'folder': str(directory / 'looking'), 'n_action_steps': 8},
        ),
    )  # fmt: skip


def main() -> int:
    """Runs the campaign and prints its tables; 1 if a bar is not met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--share', type=float, default=1.0, help='of the trials of each kind')
    parser.add_argument('--kept', action='store_true', help='take what is there, run no trial')
    parser.add_argument('--workers', type=int, default=2)
    parser.add_argument('--directory', type=Path, default=Path('runs/failures'))
    parser.add_argument('--only', default='', help='policies, separated by commas')
    parser.add_argument('--write', action='store_true', help=f'write the tables into {PAGE.name}')
    args = parse(parser, only='scripted')
    if not 0.0 < args.share <= 1.0:
        parser.error(f'--share is {args.share:g}; more than 0 and at most 1 is expected')
    with tempfile.TemporaryDirectory() as folder:
        if args.short:
            return run_short(Path(folder))
        known = {each.name: each for each in policies(args.directory)}
        names = args.only.split(',') if args.only else list(known)
        if unknown := [name for name in names if name not in known]:
            parser.error(f'--only names {unknown}; there are {", ".join(known)}')
        chosen = [known[name] for name in names]
        groups = [judged(each) for each in collected(chosen, args)]
    bars = Bars(argparse.Namespace(short=args.kept or bool(args.only) or args.share < 1.0))
    lines = tables(groups)
    print('\n'.join(lines))
    judge(groups, bars)
    if args.write:
        before, rest = PAGE.read_text(encoding='utf-8').split(BEGIN)
        after = rest.split(END)[1]
        PAGE.write_text(before + BEGIN + '\n'.join(lines) + '\n' + END + after, encoding='utf-8')
    return bars.exit_status()


def run_short(folder: Path) -> int:
    """A handful of episodes, which are too few for tables: that they run and are kept."""
    trials = [t for p in policies(folder)[:1] for t in p.trials(0.01)]
    campaign = Campaign(FUNCTIONS, folder)
    outcomes = campaign.run(trials)
    problems = [outcome.problem for outcome in outcomes if outcome.problem]
    found = episodes_of('scripted', campaign.kept())
    print(f'{len(outcomes)} episodes, {len(found.episodes)} to judge, {found.recovered} recovered')
    print('\n'.join(problems), file=sys.stderr)
    return int(bool(problems))


def collected(chosen: Sequence[PolicyTrials], args: argparse.Namespace) -> list[PolicyEpisodes]:
    """Runs what is missing; returns the episodes of each policy."""
    campaign = Campaign(FUNCTIONS, args.directory)
    trials = [trial for each in chosen for trial in each.trials(args.share)]

    def shown(outcomes: Iterable[Outcome]) -> Iterable[Outcome]:
        return progress_bar(outcomes, 'trial', False, len(trials))

    if args.kept:
        wanted = {trial.key for trial in trials}
        outcomes = [outcome for outcome in campaign.kept() if outcome.trial.key in wanted]
    else:
        train_missing(args.directory, {each.name for each in chosen})
        outcomes = campaign.run(trials, args.workers, shown)
    for outcome in outcomes:
        if outcome.problem:
            print(f'{outcome.trial.key}: {outcome.problem}', file=sys.stderr)
    return [episodes_of(each.name, outcomes) for each in chosen]


def judged(found: PolicyEpisodes) -> Group:
    """All predictors on the episodes of one policy."""
    cases = tuple(all_cases(found.episodes, found.kinds, ALPHA, FOLDS, REPEATS))
    return Group(found.name, found.episodes, found.kinds, cases, found.recovered)


def train_missing(directory: Path, names: set[str]) -> None:
    """Trains what is not there yet: ACT by the example, its checkpoint of most successes."""
    act = directory / 'act'
    if 'ACT' in names and not (act / 'policy').is_dir():
        script = ROOT / 'examples' / 'training' / 'train_act.py'
        options = ['--output', act.resolve(), '--demonstrations', 120, '--steps', 2500,
                   '--action-steps', 10, '--eval-freq', 500, '--eval-episodes', 20]  # fmt: skip
        subprocess.run([sys.executable, script, *map(str, options)], check=True, cwd=script.parent)
        step = best_step(act / 'progress.json')
        found = act / 'training' / 'checkpoints' / f'{step:06d}' / 'pretrained_model'
        shutil.copytree(found, act / 'policy')
    if 'looking' in names and not (directory / 'looking').is_dir():
        from parts.looking_policy import train

        train(directory / 'looking')


def best_step(progress: Path) -> int:
    """Returns the step of the checkpoint with the most successes; the last of equals."""
    rows = json.loads(progress.read_text(encoding='utf-8'))['evaluations']
    return max((row['success_rate']['value'], row['step']) for row in rows)[1]


if __name__ == '__main__':
    sys.exit(main())
