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
import math
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from parts import (
    act_policy,
    camera_offset_rows,
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

from frame_ros.bags.recording_options import load_recorded_units
from frame_ros.cli.progress import progress_bar
from frame_ros.core.errors import FrameRosError
from frame_ros.evaluation.detection_scores import (
    DetectionScore,
    DistanceScore,
    detection_score,
    distance_score,
    match_detections,
    poisson_rate_interval,
)
from frame_ros.evaluation.trials.campaign import Campaign, Outcome, Trial
from frame_ros.evaluation.trials.kinds import FUNCTIONS, sensing_versions
from frame_ros.robots.likely_units import RAD, UNITS
from frame_ros.scenes.simulation.gear_friction import FRICTION_SETS
from frame_ros.scenes.simulation.noise.joint_friction import DAHL, GAZ

PAGE = Path(__file__).resolve().parent.parent / 'docs' / 'sensing-evaluation.md'
BEGIN, END = '<!-- results -->\n', '<!-- end of results -->'
FREE_SECONDS, PUSHED_SECONDS, FRAMES = 600.0, 120.0, 10
NO_RESULTS = 'no results'
# All but those that take minutes however short they are.
SHORT_KINDS = ','.join(
    (
        'wrench', 'wrench_hard', 'streams', 'repeated_states', 'depth', 'depth_camera',
        'depth_camera_faults',
        'friction_effort', 'goal_phase', *depth_world_rows.KINDS, depth_world_rows.ROBOT_KIND,
    )
)  # fmt: skip
AFTER = 0.1  # s after a push in which a detection still belongs to it: the arm swings back
RECORDED_KINDS = (
    given_motion_rows.RECORDED_KIND, recorded_effort_rows.KIND, recorded_torque_rows.KIND,
)  # fmt: skip
FREE_SEEDS, SCENE_SEEDS = 1000, 3000  # other arms than those that are pushed


@dataclass(frozen=True)
class Row:
    """One sensor on one robot."""

    kind: str
    robot: str
    sensor: str
    pushed: int  # trials with pushes
    recall: float | None = None  # bars, or None
    per_hour: float | None = None  # bars, or None
    share: float = 1.0  # of --hours, where no bar stands on them
    friction: str = ''  # in the readings of torque sensors

    def settings(self, seconds: float, has_pushes: bool) -> dict[str, Any]:
        """Returns those of a trial."""
        friction = {'friction': self.friction} if self.friction else {}
        return {'seconds': seconds, 'has_pushes': has_pushes, **friction}

    def of(self, outcomes: Sequence[Outcome]) -> list[Outcome]:
        """Returns those of this row."""
        return [
            o
            for o in outcomes
            if (o.trial.kind, o.trial.robot) == (self.kind, self.robot)
            and o.trial.settings.get('friction', '') == self.friction
        ]


WRENCH = 'wrist force-torque, 2 to 12 N for 20 to 300 ms on the hand'
ROBOT = "Franka's estimate and flags, 5 to 25 N for 0.2 to 0.6 s on the hand"
TORQUE = 'joint torque, 5 to 12 N for 0.2 to 1 s on any link behind the first'
PUBLISHED = f"{TORQUE}; a Panda's published friction in the readings"
DRY = f'{TORQUE}; dry friction of twice that size in the readings'
CURRENT = 'motor current, 5 to 12 N for 0.2 to 1 s on any link behind the first'
ROWS = (
    Row('wrench', 'fr3', WRENCH, 20, 0.99, 1.0),
    Row('robot', 'fr3', ROBOT, 4, share=0.06),
    Row('joint_effort', 'fr3', TORQUE, 4, share=0.06),
    Row('joint_effort', 'fr3', PUBLISHED, 4, share=0.06, friction=GAZ),
    Row('joint_effort', 'fr3', DRY, 4, share=0.06, friction=DAHL),
    Row('joint_effort', 'so101', CURRENT, 40, 0.9, 2.0),
)
SCENES = {'so101': 100, 'fr3': 100}
# The demo's policy on the robot whose contacts come from joint efforts: seeds of each combination.
POLICY_ROBOT, POLICY_SEEDS, POLICY_SECONDS = 'so101', 40, 20.0
QUALITIES, POLICY_TIMINGS = (1.0, 0.9, 0.5, 0.2), ('idle', 'busy', 'overloaded')
POLICY_PER_HOUR = {'idle': 2.0, 'busy': 2.0}  # bars; a machine that loses joint states has none


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
    narrowed = args.friction, chosen_faults(parser, args.faults)
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
    chosen = [
        *(short_trials() if args.short else all_trials(args.hours, args.share, *narrowed)),
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
    lines = table(outcomes, kinds, bars, args.friction)
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
    for row in ROWS:
        yield Trial(row.kind, row.robot, 0, row.settings(10.0, True))
        yield Trial(row.kind, row.robot, FREE_SEEDS, row.settings(10.0, False))
    for robot in SCENES:
        yield Trial('depth', robot, SCENE_SEEDS, {'frames': 2})
    yield from depth_world_rows.short_trials()
    yield from friction_rows.short_trials()
    yield from goal_phase_rows.short_trials()
    yield from camera_offset_rows.short_trials()
    yield from wrench_rows.short_trials()


def all_trials(
    hours: float,
    share: float = 1.0,
    friction: str = '',
    faults: Sequence[str] = wrench_rows.ALL_FAULTS,
) -> Iterator[Trial]:
    """Trials of every row and scene; share: of each, the first ones, at least one. friction: the
    only set, '': all. faults: of the wrist sensor's hard set.
    """
    yield from depth_world_rows.trials(share)
    yield from friction_rows.trials(hours, share, friction)
    yield from goal_phase_rows.trials(share, friction)
    yield from camera_offset_rows.trials(share)
    yield from wrench_rows.trials(share, faults)
    for row in ROWS:
        free = math.ceil(share * row.share * hours * 3600.0 / FREE_SECONDS)
        for seed in range(math.ceil(share * row.pushed)):
            yield Trial(row.kind, row.robot, seed, row.settings(PUSHED_SECONDS, True))
        for seed in range(FREE_SEEDS, FREE_SEEDS + free):
            yield Trial(row.kind, row.robot, seed, row.settings(FREE_SECONDS, False))
    for timing in POLICY_TIMINGS:
        for quality in QUALITIES:
            settings = {'quality': quality, 'timing': timing, 'seconds': POLICY_SECONDS}
            for seed in range(math.ceil(share * POLICY_SEEDS)):
                yield Trial('policy_effort', POLICY_ROBOT, seed, settings)
    for robot, scenes in SCENES.items():
        for seed in range(SCENE_SEEDS, SCENE_SEEDS + math.ceil(share * scenes)):
            yield Trial('depth', robot, seed, {'frames': FRAMES})


def table(
    outcomes: Sequence[Outcome], kinds: Sequence[str], bars: Bars, friction: str = ''
) -> list[str]:  # fmt: skip
    """The results as Markdown; each bar is judged. friction: as of `all_trials`."""
    lines: list[str] = []
    if {*depth_world_rows.KINDS, depth_world_rows.ROBOT_KIND} & set(kinds):
        lines += [*depth_world_rows.lines(outcomes, bars), '']
    if partial_mark_rows.KIND in kinds:
        lines += [*partial_mark_rows.lines(outcomes), '']
    if camera_offset_rows.KIND in kinds:
        lines += [*camera_offset_rows.lines(outcomes, bars), '']
    if camera_offset_rows.FAULT_KIND in kinds:
        lines += [*camera_offset_rows.fault_lines(outcomes, bars), '']
    bars.at_most('trials that failed', sum(bool(o.problem) for o in outcomes), 0)
    contact = [row for row in ROWS if row.kind in kinds]
    if contact:
        lines += [
            '| robot | sensor | pushes | recall | precision | latency, median (95 %) | filter '
            '| free motion | false alarms per hour |',
            '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
        ]
    for row in contact:
        lines.append(_contact_line(row, [o for o in row.of(outcomes) if not o.problem], bars))
    for row in contact:
        results = [o.result for o in row.of(outcomes)]
        lines += friction_rows.ceiling_lines(row.robot, results, bars)
    for kind in wrench_rows.KINDS:
        if kind in kinds:
            lines += wrench_rows.lines(kind, outcomes, bars)
    if 'policy_effort' in kinds:
        lines += _policy_lines([o for o in outcomes if o.trial.kind == 'policy_effort'], bars)
    lines += friction_rows.lines(outcomes, kinds, bars, friction)
    if goal_phase_rows.KIND in kinds:
        lines += goal_phase_rows.lines(outcomes, bars, friction)
    if 'depth' in kinds:
        lines += [
            '',
            '| robot | distance | frames | median error | 99th percentile | further than the '
            'truth by more than 10 mm | worst | not measured |',
            '| --- | --- | --- | --- | --- | --- | --- | --- |',
        ]
        for robot in SCENES:
            own = [o for o in outcomes if (o.trial.kind, o.trial.robot) == ('depth', robot)]
            lines += _depth_lines(robot, [o for o in own if not o.problem], bars)
    return lines + _remarks(outcomes)


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


def _contact_line(row: Row, outcomes: Sequence[Outcome], bars: Bars) -> str:
    pushed = [o.result for o in outcomes if o.trial.settings['has_pushes']]
    free = [o.result for o in outcomes if not o.trial.settings['has_pushes']]
    bars.at_least(f'{row.robot}, {row.kind}, trials of both kinds', min(len(pushed), len(free)), 1)
    if not pushed or not free:
        return f'| {row.robot} | {row.sensor} | {NO_RESULTS} | | | | | | |'
    matches = [
        match_detections([t[:2] for t in r['truth']], r['begins'], late=AFTER) for r in pushed
    ]
    contact = detection_score(matches, sum(r['seconds'] for r in pushed))
    quiet = [match_detections([], r['begins']) for r in free]
    known = sum(r['seconds'] - r['unavailable'] for r in free)
    alarms = detection_score(quiet, known)
    late = sum(
        int((m.latencies > np.diff([t[:2] for t in r['truth']], axis=1).ravel()).sum())
        for m, r in zip(matches, pushed, strict=True)
        if r['truth']
    )
    delay, period = pushed[0]['delay'], pushed[0]['period']
    _judge_contact(bars, row, contact, alarms, delay + 2 * period)
    return (
        f'| {row.robot} | {row.sensor} | {contact.trials} | '
        f'{_share(contact.recall, contact.recall_interval)} | '
        f'{_share(contact.precision, contact.precision_interval)} | '
        f'{1e3 * contact.latency:.1f} ({1e3 * contact.latency_95:.1f}) ms; {late} after its end | '
        f'{1e3 * delay:.1f} ms + {1e3 * period:.0f} ms per sample | {alarms.free_hours:.2f} h | '
        f'{alarms.false_alarms}: {alarms.per_hour:.2f} ({alarms.per_hour_interval[0]:.2f} to '
        f'{alarms.per_hour_interval[1]:.2f}){_duration(free, known)} |'
    )


def _duration(free: Sequence[dict], known: float) -> str:
    """Returns how much of free motion was reported as contact: one alarm may last."""
    if not all('in_contact' in r for r in free):
        return ''
    return f', {100 * sum(r["in_contact"] for r in free) / known:.3f} % of the time'


def _policy_lines(outcomes: Sequence[Outcome], bars: Bars) -> list[str]:
    """Per timing, all qualities together."""
    lines = [
        '',
        "| robot | joint effort while the demo's policy acts, machine | episodes | time | contacts "
        'reported | false contacts per hour |',
        '| --- | --- | --- | --- | --- | --- |',
    ]
    for timing in POLICY_TIMINGS:
        own = [o.result for o in outcomes if o.trial.settings['timing'] == timing and not o.problem]
        if not own:
            lines.append(f'| {POLICY_ROBOT} | {timing} | {NO_RESULTS} | | | |')
            bars.at_least(f'{timing}, trials', 0, 1)
            continue
        hours = sum(r['seconds'] for r in own) / 3600.0
        false = sum(len(r['false']) for r in own)
        low, high = poisson_rate_interval(false, hours)
        lines.append(
            f'| {POLICY_ROBOT} | {timing} | {len(own)} | {hours:.2f} h | '
            f'{sum(r["sensed"] for r in own)} | '
            f'{false}: {false / hours:.2f} ({low:.2f} to {high:.2f}) |'
        )
        if timing in POLICY_PER_HOUR:
            bars.at_most(
                f'{timing}, false contacts per hour', false / hours, POLICY_PER_HOUR[timing]
            )
    return lines


def _judge_contact(
    bars: Bars, row: Row, contact: DetectionScore, alarms: DetectionScore, soon: float
) -> None:
    name = f'{row.robot}, {row.kind}'
    if row.recall is not None:
        bars.at_least(f'{name}, recall', contact.recall, row.recall)
    if row.per_hour is not None:
        bars.at_most(f'{name}, false alarms per hour', alarms.per_hour, row.per_hour)
    if row.kind == 'wrench':
        bars.at_most(f'{name}, median latency, s', contact.latency, soon)


def _depth_lines(robot: str, outcomes: Sequence[Outcome], bars: Bars) -> list[str]:
    bars.at_least(f'{robot}, distance, trials', len(outcomes), 1)
    if not outcomes:
        return [f'| {robot} | {NO_RESULTS} | | | | | | |']

    def column(name: str) -> np.ndarray:
        rows = [value for o in outcomes for value in o.result[name]]
        return np.array(
            [[np.nan if v is None else v for v in np.ravel(row)] for row in rows], float
        )

    truth, measured = column('truth')[:, 0], column('measured')[:, 0]
    seen = column('is_visible')[:, 0] > 0
    links, link_measured = column('link_truth'), column('link_measured')
    link_seen = column('link_visible') > 0
    least = distance_score(measured[seen], truth[seen])
    hidden = distance_score(measured[~seen], truth[~seen])
    each = distance_score(link_measured[link_seen], links[link_seen])
    rows = (
        ('least of all links, nearest point visible', least),
        ('least of all links, nearest point hidden', hidden),
        ('each link, its nearest point visible', each),
    )
    bars.at_most(f'{robot}, distance, median error, m', least.median, 0.005)
    bars.at_most(f'{robot}, distance, 99th percentile, m', least.percentile_99, 0.02)
    bars.at_most(f'{robot}, share of frames too far by 10 mm', least.too_far, 0.001)
    return [_depth_line(robot, name, score) for name, score in rows]


def _depth_line(robot: str, name: str, score: DistanceScore) -> str:
    return (
        f'| {robot} | {name} | {score.frames} | {1e3 * score.median:.1f} mm | '
        f'{1e3 * score.percentile_99:.1f} mm | '
        f'{_share(score.too_far, score.too_far_interval, 2)} | '
        f'{1e3 * score.worst_too_far:+.1f} mm | {score.unavailable} |'
    )


def _share(value: float, interval: tuple[float, float], digits: int = 1) -> str:
    low, high = interval
    return f'{100 * value:.{digits}f} % ({100 * low:.{digits}f} to {100 * high:.{digits}f})'


if __name__ == '__main__':
    sys.exit(main())
