# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of contact by the motor currents of a real arm that was recorded: trials, tables, bars.

Of a real SO-101 there are SAGE's recordings. Its motors are identified from a few of them, and the
others are judged. In the order of their names every second one, from the first on, is UNSEEN:
identification and detector were changed after looking at the others. Of the two recordings with
evident blockages `single_joint_wrist_roll` is unseen, `workspace_sweep` was looked at.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from parts.bars import Bars

from frame_ros.core.errors import BagError
from frame_ros.core.version import source_version
from frame_ros.evaluation.detection_scores import poisson_rate_interval
from frame_ros.evaluation.recorded_motion.sage import digest_of, sage_files
from frame_ros.evaluation.recorded_motion.table import NEAR, RISE
from frame_ros.evaluation.trials import kinds, recorded_effort
from frame_ros.evaluation.trials.campaign import Outcome, Trial
from frame_ros.sensing.contact.identification_options import ExcitationOptions
from frame_ros.sensing.contact.joints.motor_choices import GENERIC
from frame_ros.sensing.contact.joints.motor_model import load_motors, save_motors

KIND, ROBOT = 'effort_recorded', recorded_effort.ROBOT
FUNCTIONS = {KIND: 'frame_ros.evaluation.trials.recorded_effort:run'}
OWN = 'identified'
# The motion of `frame-ros identify joints` keeps that far above the table: of the same recordings,
# without what is lower.
CLEAR, CLEARANCE = 'identified clear of the table', ExcitationOptions().clearance
MOTORS = (OWN, CLEAR, GENERIC)
# Those that are most like the motion of `frame-ros identify joints`: wide, fast, from pose to pose.
IDENTIFIED_BY = ('boundary_exploration', 'inertia_coupling', 'large_amplitude', 'random_waypoints')
PER_HOUR = 1.0  # bar
LEAST_HOURS = 1e-9  # so that there is a rate
# Motion -> why a row is printed without it, too.
EXCLUDED = {
    'single_joint_wrist_roll': 'four times its wrist roll stands at -1.03 rad, up to 0.57 rad from '
    'its goal and at the stall current of 2.87 A: something holds it',
    'workspace_sweep': 'five times its elbow stands, up to 0.25 rad from its goal and at 1.23 A, '
    'while shoulder and wrist give way: it presses on something',
}


@dataclass(frozen=True)
class Recorded:
    """Recordings of one arm.

    Attributes:
        files: of the recordings that are judged.
        motors: OWN and CLEAR -> file.
        unseen: motions on which nothing was changed.
        remarks: on them.
    """

    files: tuple[Path, ...]
    motors: dict[str, Path]
    unseen: frozenset[str]
    remarks: tuple[str, ...] = ()


def versions() -> dict[str, str]:
    """Kind -> version of what its trials judge."""
    return {KIND: source_version((*kinds.CONTACTS, 'frame_ros/evaluation/recorded_motion'))}


def recorded(path: Path, folder: Path) -> Recorded:
    """Reads which recordings there are, and identifies the motors of their arm, into a folder.

    Raises:
        FrameRosError: they are not SAGE's, those that identify are not among them, or the motors
            cannot be identified.
    """
    found = sage_files(path)
    files = {file.parent.name: file for file in found}
    if len(files) < len(found):
        raise BagError(f'{path} has recordings of one name: give the folder of one arm')
    if missing := [name for name in IDENTIFIED_BY if name not in files]:
        raise BagError(
            f"{path} has no recording {missing[0]!r}: the motors of SAGE's SO-101 are identified "
            f'from {", ".join(IDENTIFIED_BY)}'
        )
    chosen = [files[name] for name in IDENTIFIED_BY]
    motors = {OWN: _motors(chosen, folder, None), CLEAR: _motors(chosen, folder, CLEARANCE)}
    return Recorded(
        tuple(file for name, file in files.items() if name not in IDENTIFIED_BY), motors,
        frozenset(sorted(files)[::2]), tuple(_identified(*each) for each in motors.items()),
    )  # fmt: skip


def _motors(chosen: Sequence[Path], folder: Path, clearance: float | None) -> Path:
    """Returns the file of the motors identified from recordings."""
    origin = f'{KIND} {versions()[KIND]} {clearance} {" ".join(map(digest_of, chosen))}'
    file = folder / f'motors-{hashlib.sha256(origin.encode()).hexdigest()[:12]}.yaml'
    if not file.is_file():
        recordings = [recorded_effort.read_recording(each) for each in chosen]
        found = recorded_effort.identified(recordings, source=origin, clearance=clearance)
        save_motors(found.motors, file)
    return file


def _identified(kind: str, file: Path) -> str:
    motors = load_motors(file)
    form = (
        f'currents of the supply (back EMF {motors.back_emf:g} sqrt(A) s/rad)'
        if motors.is_supply_current
        else 'currents of the motors'
    )
    left = ', '.join(f'{n} {r:.3f}' for n, r in zip(motors.joint_names, motors.residual_rms))
    return (
        f'{kind[0].upper()}{kind[1:]}, from {", ".join(IDENTIFIED_BY)}: efforts are {form}; '
        f'unexplained (N m, rms): {left}.'
    )


def trials(given: Recorded, share: float) -> Iterator[Trial]:
    """Each recording with each kind of motors; share: of recordings, the first, at least one."""
    count = max(1, round(share * len(given.files)))
    of_motors = [
        (kind, str(file), hashlib.sha256(file.read_bytes()).hexdigest()[:16])
        for kind, file in given.motors.items()
    ]
    digests = {file: digest_of(file) for file in given.files[:count]}
    for motors, path, of in (*of_motors, (GENERIC, GENERIC, '')):
        for file, digest in digests.items():
            settings = {
                'name': file.parent.name, 'file': str(file), 'digest': digest, 'motors': motors,
                'motors_file': path, 'motors_digest': of,
            }  # fmt: skip
            yield Trial(KIND, ROBOT, 0, settings)


def lines(outcomes: Sequence[Outcome], given: Recorded, bars: Bars) -> list[str]:
    """The tables as Markdown, with what they are of; the bar is judged on all recordings."""
    own = [o for o in outcomes if o.trial.kind == KIND and not o.problem]
    by_motors = {
        motors: {o.trial.settings['name']: o.result for o in own
                 if o.trial.settings['motors'] == motors}
        for motors in MOTORS
    }  # fmt: skip
    bars.at_least('recorded arm, recordings', len(by_motors[OWN]), 1)
    if not by_motors[OWN]:
        return []
    rows = [
        '| motors | recordings of a real arm | time | contacts reported: false ones per hour at '
        'most | of the time in contact | not available |',
        '| --- | --- | --- | --- | --- | --- |',
    ]
    for motors, results in by_motors.items():
        everything = list(results.values())
        count, hours = _count(everything)
        # Where contact was never available, nothing is met.
        rate = count / hours if hours > LEAST_HOURS else math.nan
        bars.at_most(f'recorded arm, {motors} motors, contacts per hour', rate, PER_HOUR)
        rows.append(_row(motors, 'all but those of the identification', everything))
        unseen = [r for name, r in results.items() if name in given.unseen]
        if unseen:
            rows.append(_row(motors, 'of these, not looked at for the motor model', unseen))
        without = [r for name, r in results.items() if name not in EXCLUDED]
        if without and len(without) < len(everything):
            rows.append(_row(motors, f'without {", ".join(EXCLUDED)}', without))
    reasons = [f'{name} is left out of a row: {why}.' for name, why in EXCLUDED.items()]
    return [*rows, '', *_blocked(by_motors, given.unseen), '', *_pressed(by_motors), '',
            *_motions(by_motors), '',
            *_thresholds(by_motors), '', *given.remarks, *reasons]  # fmt: skip


def _count(results: Sequence[dict[str, Any]]) -> tuple[int, float]:
    """Returns contacts, and hours in which they could be reported."""
    hours = sum(r['seconds'] - r['unavailable'] for r in results) / 3600.0
    return sum(len(r['begins']) for r in results), max(hours, LEAST_HOURS)


def _row(motors: str, name: str, results: Sequence[dict[str, Any]]) -> str:
    count, hours = _count(results)
    touching = sum(r['in_contact'] for r in results) / 3600.0 / hours
    missing = sum(r['unavailable'] for r in results)
    return (
        f'| {motors} | {name} ({len(results)}) | {hours:.2f} h | {count}: {_rate(count, hours)} '
        f'| {100 * touching:.2f} % | {missing:.0f} s |'
    )


def _blocked(by_motors: dict[str, dict[str, dict[str, Any]]], unseen: frozenset[str]) -> list[str]:
    """Evident blockages that are felt, and contacts outside of them."""
    table = [
        '| motors | recordings | evident blockages felt | by joint | contacts outside of them | '
        'per hour | of these with the arm at the table | held up by it: by current, by position | '
        'elsewhere | not explained, per hour |',
        '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ]
    for motors, results in by_motors.items():
        not_looked_at = {n: r for n, r in results.items() if n in unseen}
        halves = (
            ('all', results),
            ('not looked at for the motor model', not_looked_at),
            ('looked at', {n: r for n, r in results.items() if n not in unseen}),
        )
        for title, half in halves:
            if not half:
                continue
            found = [each for result in half.values() for each in result['blockages']]
            joints = {each[0] for each in found}
            felt = ', '.join(
                f'{joint} {sum(each[-1] for each in found if each[0] == joint)} of '
                f'{sum(each[0] == joint for each in found)}'
                for joint in sorted(joints)
            )
            outside = [each for result in half.values() for each in _outside(result)]
            near = [each for each in outside if each.height <= NEAR]
            held = [each for each in near if each.is_held_up]
            hours = _count(list(half.values()))[1]
            table.append(
                f'| {motors} | {title} ({len(half)}) | {sum(each[-1] for each in found)} of '
                f'{len(found)} | {felt} | {len(outside)} | {_rate(len(outside), hours)} | '
                f'{len(near)} | {_by_cause(held, near)} | {len(outside) - len(near)} | '
                f'{len(outside) - len(held)}: {_rate(len(outside) - len(held), hours)} |'
            )
    return [*table, '', *_each_blockage(by_motors[OWN])]


def _rate(count: int, hours: float) -> str:
    low, high = poisson_rate_interval(count, hours)
    return f'{count / hours:.1f} ({low:.1f} to {high:.1f})'


class _Contact(NamedTuple):
    """height: m above the table as it begins; is_held_up: by the table, see `table.is_held_up`;
    is_by_position: of a joint that does not follow.
    """

    height: float
    is_held_up: bool
    is_by_position: bool


def _outside(result: dict[str, Any]) -> list[_Contact]:
    """Returns contacts at no time of which a joint is evidently held."""
    columns = ('begins', 'ends', 'heights', 'held_up', 'causes')
    contacts = zip(*(result[name] for name in columns), strict=True)
    return [
        _Contact(height, is_held_up, bool(cause[-1]))
        for begin, end, height, is_held_up, cause in contacts
        if not any(begin <= each[2] and end >= each[1] for each in result['blockages'])
    ]


def _by_cause(held: Sequence[_Contact], near: Sequence[_Contact]) -> str:
    counts = [
        f'{sum(each.is_by_position is is_by for each in held)} of '
        f'{sum(each.is_by_position is is_by for each in near)}'
        for is_by in (False, True)
    ]
    return ', '.join(counts)


def _pressed(by_motors: dict[str, dict[str, dict[str, Any]]]) -> list[str]:
    """Returns what holds the arm up by positions and goals, and what of it is felt."""
    table = ['| motors | presses on the table | felt | of the longer half |', '| --- ' * 4 + '|']
    for motors, results in by_motors.items():
        found = [each for result in results.values() for each in result['presses']]
        half = np.median([each[1] - each[0] for each in found]) if found else 0.0
        longer = [each for each in found if each[1] - each[0] > half]
        table.append(
            f'| {motors} | {len(found)} | {sum(each[-1] for each in found)} | '
            f'{sum(each[-1] for each in longer)} of {len(longer)} |'
        )
    return [*table, '', _witness(list(by_motors[OWN].values()))]


def _witness(results: Sequence[dict[str, Any]]) -> str:
    """How well what holds the arm up is distinguished: near the table, and in free air."""
    free = [result['slow_free'] for result in results]
    most = max((rise for _, rise in free if rise is not None), default=math.nan)
    near, held = (sum(result[name] for result in results) for name in ('slow_near', 'held'))
    seconds = sum(result['seconds'] for result in results)
    levels = [1e3 * each[3] for result in results for each in result['presses']]
    spread = (
        f'{np.mean(levels):.0f} mm on the mean, deviation {np.std(levels):.1f}, {min(levels):.0f} '
        f'to {max(levels):.0f}'
        if levels
        else 'none'
    )
    return (
        f'Held up: the lowest link stands more than {1e3 * RISE:.0f} mm above its place by the '
        f'goals, which are slow. In free air, {sum(s for s, _ in free):.0f} s of slow goals, it '
        f'does so by {1e3 * most:.1f} mm at most; near the table for {held:.0f} of {near:.0f} s, '
        f'{100 * held / seconds:.1f} % of all time. Its height then, from that taken for the '
        f'table: {spread}.'
    )


def _each_blockage(results: dict[str, dict[str, Any]]) -> list[str]:
    return [
        f'{name}: {joint} from {begin:.1f} to {end:.1f} s, up to {distance:.2f} rad and '
        f'{effort:.2f} A, {"felt" if is_felt else "not felt"} ({OWN} motors).'
        for name, result in results.items()
        for joint, begin, end, distance, effort, is_felt in result['blockages']
    ]


def _motions(by_motors: dict[str, dict[str, dict[str, Any]]]) -> list[str]:
    titles = ' | '.join(f'contacts, {motors} | in contact | felt by' for motors in MOTORS)
    table = [f'| motion | time | moves | {titles} |', '| --- ' * (3 + 3 * len(MOTORS)) + '|']
    for name, result in by_motors[OWN].items():
        cells = [_felt(by_motors[motors].get(name)) for motors in MOTORS]
        times = f'{result["seconds"]:.0f} s | {result["moves"]:.0f} s'
        table.append(f'| {name} | {times} | {" | ".join(cells)} |')
    return table


def _felt(result: dict[str, Any] | None) -> str:
    if result is None:
        return '| |'
    felt = sorted({str(cause[0]) for cause in result['causes']})
    return f'{len(result["begins"])} | {result["in_contact"]:.1f} s | {", ".join(felt)}'


def _thresholds(by_motors: dict[str, dict[str, dict[str, Any]]]) -> list[str]:
    """Medians over recordings of the medians in each."""
    titles = ' | '.join(f'{motors}, standing | moving' for motors in MOTORS)
    table = [f'| joint | {titles} |', '| --- ' * (1 + 2 * len(MOTORS)) + '|']
    kinds_of = [list(by_motors[motors].values()) for motors in MOTORS]
    for joint in kinds_of[0][0]['thresholds']:
        cells = [
            _median([r['thresholds'][joint][i] for r in results], 'N m', 2)
            for results in kinds_of
            for i in (0, 1)
        ]
        table.append(f'| {joint} | {" | ".join(cells)} |')
    forces = [
        _median([r['forces'][i] for r in results], 'N', 1) for results in kinds_of for i in (0, 1)
    ]
    return [*table, f'| least force at the tip | {" | ".join(forces)} |']


def _median(values: Sequence[float | None], unit: str, digits: int) -> str:
    known = [value for value in values if value is not None]
    return f'{np.median(known):.{digits}f} {unit}' if known else 'none'
