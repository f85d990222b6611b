# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Quality of contact and proximity sensing, in simulation, where the truth is known.

    python benchmarks/sensing.py [--hours 5.1] [--workers 2] [--directory runs/sensing] [--write]
    python benchmarks/sensing.py --only depth_world     # worlds that others made
    python benchmarks/sensing.py --only depth_meshes,depth_room,depth_motion,depth_robots
    python benchmarks/sensing.py --only depth_policy    # moved by a LeRobot policy trained for it
    python benchmarks/sensing.py --only depth_recorded --recording PATH    # by a bag or data set
    python benchmarks/sensing.py --only effort_recorded --recording PATH   # a real arm's currents
    python benchmarks/sensing.py --only torque_recorded --recording PATH   # real arms' torques
    python benchmarks/sensing.py --only partial_mark    # what rules for the mark would do
    python benchmarks/sensing.py --only friction_effort,friction_policy   # gears that stick
    python benchmarks/sensing.py --only goal_phase      # goals at another moment of the period
    python benchmarks/sensing.py --only depth_camera    # offsets of cameras, as they are estimated
    python benchmarks/sensing.py --only depth_postures,depth_camera_faults  # as they are corrected
    python benchmarks/sensing.py --only wrench_hard,streams,repeated_states    # what goes wrong
    python benchmarks/sensing.py --share 0.2 [--only wrench,depth]    # of the trials of each row
    python benchmarks/sensing.py --kept [--write]       # of those that are there; runs none

Every trial is drawn from a seed: arms in varied motion, pushed on random links in random
directions, or in front of clutter; sensors with noise of depth, wrench, current, torque and
encoders. Tools and motors are identified from the noisy sensors first, as on a real robot. False
alarms are counted over --hours of free motion where a bar stands on them, a part of it elsewhere.
Each trial is kept in the directory with the version that it ran on (of the package, and a digest of
the code that is judged), so an interrupted run goes on where it was, and a whole one takes what a
part has done; results of another version are not taken. --write puts the rows that were measured
into docs/sensing-evaluation.md, and leaves the others as they are. Bars are judged in every run but
a short one, where a trial that failed is an error all the same.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from parts import (
    act_policy,
    camera_offset_rows,
    contact_rows,
    depth_rows,
    depth_world_rows,
    friction_rows,
    given_motion_rows,
    goal_phase_rows,
    partial_mark_rows,
    recorded_effort_rows,
    recorded_torque_rows,
    wrench_rows,
)
from parts.bars import Bars, parse
from parts.result_rows import renewed
from parts.row_groups import NO_RESULTS, Asked, lines_of

from frame_ros.bags.recording_options import load_recorded_units
from frame_ros.cli.progress import progress_bar
from frame_ros.core.errors import FrameRosError
from frame_ros.evaluation.trials.campaign import Campaign, Outcome, Trial
from frame_ros.evaluation.trials.kinds import FUNCTIONS, sensing_versions
from frame_ros.robots.likely_units import RAD, UNITS
from frame_ros.scenes.simulation.gear_friction import FRICTION_SETS

PAGE = Path(__file__).resolve().parent.parent / 'docs' / 'sensing-evaluation.md'
BEGIN, END = '<!-- results -->\n', '<!-- end of results -->'
RECORDED_KINDS = (
    given_motion_rows.RECORDED_KIND, recorded_effort_rows.KIND, recorded_torque_rows.KIND,
)  # fmt: skip
# Rows by kinds of trials, in the order of their tables.
GROUPS = (
    depth_world_rows.GROUP,
    partial_mark_rows.GROUP,
    camera_offset_rows.GROUP,
    camera_offset_rows.FAULT_GROUP,
    contact_rows.GROUP,
    wrench_rows.GROUP,
    contact_rows.POLICY_GROUP,
    friction_rows.GROUP,
    goal_phase_rows.GROUP,
    depth_rows.GROUP,
)
SHORT_KINDS = ','.join(k for group in GROUPS for k in group.kinds if k not in group.long_kinds)


def main() -> int:
    """Runs the campaign and prints its table; 1 if a bar is not met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--hours', type=float, default=5.1, help='of free motion per row')
    parser.add_argument('--share', type=float, default=1.0, help='of the trials of each row')
    parser.add_argument('--kept', action='store_true', help='take what is there, run no trial')
    parser.add_argument('--workers', type=int, default=2)
    parser.add_argument('--directory', type=Path, default=Path('runs/sensing'))
    parser.add_argument('--only', default='', help='kinds of trials, separated by commas')
    parser.add_argument('--friction', choices=FRICTION_SETS, default='', help='only this set')
    parser.add_argument('--write', action='store_true', help=f'write the table into {PAGE.name}')
    parser.add_argument('--faults', default='', help='of wrench_hard, separated by commas')
    add_recording(parser)
    args = parse(parser, only=SHORT_KINDS)
    faults = chosen_faults(parser, args.faults)
    kinds = args.only.split(',') if args.only else list(FUNCTIONS)
    if not args.only and args.recording:
        kinds.append(given_motion_rows.RECORDED_KIND)
    if not 0.0 < args.share <= 1.0:
        parser.error(f'--share is {args.share:g}; more than 0 and at most 1 is expected')
    if any(kind in kinds for kind in RECORDED_KINDS) != bool(args.recording):
        parser.error(f'{" or ".join(RECORDED_KINDS)} and --recording PATH need each other')
    try:
        sources = given_sources(args, kinds)
        arm = recorded_arm(args, kinds)
        share = 0.01 if args.short else args.share
        of_arm = [*recorded_effort_rows.trials(arm, share)] if arm else []
        has_torques = recorded_torque_rows.KIND in kinds
        files = recorded_torque_rows.recorded(args.recording) if has_torques else []
        of_arm += recorded_torque_rows.trials(files, share)
    except FrameRosError as error:
        print(error, file=sys.stderr)
        return 2
    asked = Asked(kinds, args.hours, args.share, args.friction, faults)
    chosen = [
        *(short_trials() if args.short else all_trials(asked)),
        *(trial for source in sources for trial in given_motion_rows.trials(source, share)),
        *of_arm,
    ]
    # The rules of the mark are judged on trials of depth worlds.
    is_for_mark = partial_mark_rows.KIND in kinds
    trials = [t for t in chosen if t.kind in kinds or (is_for_mark and partial_mark_rows.is_of(t))]
    count = len(trials)

    def shown(outcomes: Iterable[Outcome]) -> Iterable[Outcome]:
        return progress_bar(outcomes, 'trial', False, count)

    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) if args.short else args.directory
        versions = {**sensing_versions(), **given_motion_rows.versions()}
        versions |= recorded_effort_rows.versions() | recorded_torque_rows.versions()
        functions = {**given_motion_rows.FUNCTIONS, **recorded_effort_rows.FUNCTIONS}
        functions |= recorded_torque_rows.FUNCTIONS
        campaign = Campaign({**FUNCTIONS, **functions}, directory, versions)
        others = campaign.of_other_versions()
        if others:
            print(f'{others} results in {directory} are of other versions, and not taken')
        if args.kept:
            wanted = {trial.key for trial in trials}
            outcomes = [outcome for outcome in campaign.kept() if outcome.trial.key in wanted]
        else:
            outcomes = campaign.run(trials, args.workers, shown)
    for outcome in outcomes:
        if outcome.problem:
            print(f'{outcome.trial.key}: {outcome.problem}', file=sys.stderr)
    bars = Bars(args)
    known = [kind for kind in kinds if kind in versions] or [depth_world_rows.KIND]
    for version in sorted({versions[kind] for kind in known}):
        of = ', '.join(kind for kind in known if versions[kind] == version)
        print(f'version {version}: {of}')
    lines = table(outcomes, asked, bars)
    if sources:
        lines += ['', *given_motion_rows.lines(outcomes, sources, bars)]
    if arm:
        lines += ['', *recorded_effort_rows.lines(outcomes, arm, bars)]
    if files:
        lines += ['', *recorded_torque_rows.lines(outcomes, bars)]
    print('\n'.join(lines))
    if args.write and not args.short:
        text = PAGE.read_text(encoding='utf-8')
        before, rest = text.split(BEGIN)
        old, after = rest.split(END)
        rows = renewed(old.splitlines(), [line for line in lines if NO_RESULTS not in line])
        PAGE.write_text(before + BEGIN + '\n'.join(rows) + '\n' + END + after, encoding='utf-8')
    return bars.exit_status() or int(any(outcome.problem for outcome in outcomes))


def chosen_faults(parser: argparse.ArgumentParser, text: str) -> Sequence[str]:
    """Returns the faults of the wrist sensor that are named, or all; ends the program otherwise."""
    faults = text.split(',') if text else wrench_rows.ALL_FAULTS
    if not set(faults) <= set(wrench_rows.ALL_FAULTS):
        parser.error(f'--faults is {text}; of {", ".join(wrench_rows.ALL_FAULTS)} expected')
    return faults


def add_recording(parser: argparse.ArgumentParser) -> None:
    """Declares the options of recorded motion."""
    parser.add_argument('--recording', type=Path, help='bag, folder of bags, LeRobot data set')
    parser.add_argument('--joint-units', default=RAD, choices=UNITS, help='of the recording')
    parser.add_argument('--joint-calibration', default='', help="LeRobot's, for percent and ticks")


def given_sources(args: argparse.Namespace, kinds: Sequence[str]) -> list[given_motion_rows.Given]:
    """Returns the motions of a policy and of a recording, of those that the kinds need.

    Raises:
        FrameRosError: the recording does not fit, or what a policy needs is not installed.
    """
    sources = []
    if given_motion_rows.POLICY_KIND in kinds:
        directory, recipe = (None, act_policy.SHORT) if args.short else (args.directory, None)
        sources.append(act_policy.policy_motion(directory, recipe, args.kept))
    if args.recording and given_motion_rows.RECORDED_KIND in kinds:
        units = load_recorded_units(args.joint_units, args.joint_calibration)
        sources.append(given_motion_rows.recorded(args.recording, units))
    return [source for source in sources if source.motions]


def recorded_arm(
    args: argparse.Namespace, kinds: Sequence[str]
) -> recorded_effort_rows.Recorded | None:
    """Returns the recordings whose currents are judged; None if they are not.

    Raises:
        FrameRosError: they do not fit.
    """
    if recorded_effort_rows.KIND not in kinds:
        return None
    return recorded_effort_rows.recorded(args.recording, args.directory / 'effort_recorded')


def short_trials() -> Iterator[Trial]:
    """One trial of each kind and robot, of a few seconds."""
    for group in GROUPS:
        yield from group.short_trials()


def all_trials(asked: Asked) -> Iterator[Trial]:
    """Trials of every row and scene."""
    for group in GROUPS:
        yield from group.trials(asked)


def table(outcomes: Sequence[Outcome], asked: Asked, bars: Bars) -> list[str]:
    """The results as Markdown; each bar is judged."""
    bars.at_most('trials that failed', sum(bool(o.problem) for o in outcomes), 0)
    return lines_of(GROUPS, outcomes, asked, bars) + _remarks(outcomes)


def _remarks(outcomes: Sequence[Outcome]) -> list[str]:
    """Returns what the figures above leave out, if anything."""
    remarks = []
    failed = sum(bool(o.problem) for o in outcomes)
    if failed:
        remarks.append(f'{failed} of {len(outcomes)} trials could not be run and are not in it.')
    touches = sum(o.result.get('touches', 0.0) for o in outcomes)
    if touches:
        remarks.append(
            f'For {touches:.2f} s the arm touched something unpushed; what was felt of it counts '
            'as false.'
        )
    return ['', *remarks] if remarks else []


if __name__ == '__main__':
    sys.exit(main())
