# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Trials of contact from the motor currents of a real arm, as they were recorded.

Nobody says that nothing touched the arm: what is reported is an upper bound of what is false.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import BagError
from frame_ros.core.options import evolved
from frame_ros.core.time import SECOND
from frame_ros.evaluation.recorded_motion.blockages import evident_blockages
from frame_ros.evaluation.recorded_motion.sage import EffortRecording, sage_efforts
from frame_ros.evaluation.recorded_motion.table import (
    HOLD,
    NEAR,
    heights,
    is_held_up,
    presses,
    rises,
)
from frame_ros.evaluation.trials.campaign import Trial
from frame_ros.robots import load_robot
from frame_ros.robots.dynamics import RobotDynamics
from frame_ros.robots.joint_state_merge import FullJointState
from frame_ros.sensing.contact.detection import Detection
from frame_ros.sensing.contact.identification_options import (
    ExcitationOptions,
    IdentificationOptions,
)
from frame_ros.sensing.contact.joint_arrays import JointArrays
from frame_ros.sensing.contact.joint_effort_sensor import EffortSensor
from frame_ros.sensing.contact.joints.fitting.identification import (
    JointIdentification,
    identify_joints,
)
from frame_ros.sensing.contact.joints.fitting.recording import recording_of
from frame_ros.sensing.contact.options import SensingOptions
from frame_ros.sensing.contact.trusted_inputs import TrustedInputs

ROBOT = 'so101'
FREE = ExcitationOptions().clearance  # m above the table, where it cannot hold the arm up
BETWEEN = 10 * SECOND  # ns from one recording to the next, where several are identified together
MOVES = 0.02  # rad/s of a joint above which the arm moves
NONE: NDArray[np.float64] = np.zeros(0)


def read_recording(file: Path) -> EffortRecording:
    """Reads a recording of SAGE's; raises as `sage_efforts`."""
    return sage_efforts(file, load_robot(ROBOT).grippers['gripper'])


def identified(
    recordings: Sequence[EffortRecording], settings: IdentificationOptions | None = None,
    source: str = '', clearance: float | None = None,
) -> JointIdentification:  # fmt: skip
    """Identifies the motors of the arm as `frame-ros identify joints` does of bags.

    Args:
        clearance: m above the table, below which samples are left out; None: all are taken.

    Raises:
        FrameRosError: as `identify_joints`.
    """
    if clearance is not None:
        kept = [_above(each, clearance) for each in recordings]
        recordings = [each for each in kept if len(each.stamps)]
        if not recordings:
            raise BagError(f'the arm is nowhere {clearance} m above the table in the recordings')
    dynamics = RobotDynamics(load_robot(ROBOT))
    names = dynamics.joint_names
    stamps, begin = [], 0
    for each in recordings:
        stamps.append(each.stamps - each.stamps[0] + begin + SECOND)
        begin = int(stamps[-1][-1]) + BETWEEN
    columns = [
        np.concatenate([_of(each, names, getattr(each, name)) for each in recordings])
        for name in ('positions', 'velocities', 'efforts', 'goals')
    ]
    recording = recording_of(names, np.concatenate(stamps), *columns)
    return identify_joints(dynamics, recording, settings, source)


def _above(recording: EffortRecording, clearance: float) -> EffortRecording:
    kept = heights(recording, load_robot(ROBOT)) >= clearance
    columns = ('stamps', 'positions', 'velocities', 'efforts', 'goals')
    return replace(recording, **{name: getattr(recording, name)[kept] for name in columns})


def _of(
    recording: EffortRecording, names: Sequence[str], values: NDArray[np.float64]
) -> NDArray[np.float64]:
    if missing := [name for name in names if name not in recording.joint_names]:
        raise BagError(f'{recording.name} has no {missing[0]}')
    return values[:, [recording.joint_names.index(name) for name in names]]


def run(trial: Trial) -> dict[str, Any]:
    """settings: file, of SAGE's motor states; digest, of its contents; motors_file, as of the
    contact node, and its digest.

    Each joint state goes through the stream check and the joint-effort sensor of the contact node,
    with its default settings, and the goals as commands. Result: seconds; begins and ends, s of
    each contact; causes, of each the joint with the largest share, its residual and threshold, N m,
    whether the arm stood by its commands, and whether the joint did not follow its own; blockages,
    of each evident one joint, begin and end, s, largest distance from the goal, rad, and current,
    A, and whether a contact was reported meanwhile; in_contact, unavailable: s; reasons: why not
    available -> s; moves: s in which a joint moves; thresholds: joint -> [standing, moving], N m in
    the median; forces: [standing, moving], N at the tip, in the median; and of `_table`.
    """
    recording = read_recording(Path(trial.settings['file']))
    watched = _Watched(str(trial.settings['motors_file']), recording.joint_names)
    for row in range(len(recording.stamps)):
        watched.take(recording, row)
    found = watched.result(recording.seconds)
    contacts = list(zip(found['begins'], found['ends'], strict=True))
    blockages = [
        [*each, any(a <= each.end and b >= each.begin for a, b in contacts)]
        for each in evident_blockages(recording)
    ]
    return {
        'seconds': recording.seconds, **found, 'blockages': blockages,
        **_table(recording, contacts),
    }  # fmt: skip


def _table(recording: EffortRecording, contacts: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """Returns what the table did, by positions and goals alone. heights: m of the arm above it as
    each contact begins; held_up: whether it holds the arm up during each; presses: begin and end,
    s, rise and height, m, of each, and whether a contact was reported meanwhile; slow_free: s in
    which goals are slow and the arm higher than FREE, and the largest rise there, m (None: there
    are none); slow_near: s of slow goals near the table; held: s of these in which it holds the arm
    up.
    """
    robot = load_robot(ROBOT)
    times = (recording.stamps - recording.stamps[0]) / SECOND
    above, risen = heights(recording, robot), rises(recording, robot)
    is_held, is_slow = is_held_up(above, risen), np.isfinite(risen)
    periods = np.diff(times, prepend=0.0)
    is_free = is_slow & (above > FREE)
    most = float(risen[is_free].max()) if is_free.any() else None
    return {
        'heights': above[np.searchsorted(times, [a for a, _ in contacts])].tolist(),
        'held_up': [bool(is_held[(times >= a) & (times <= b + HOLD)].any()) for a, b in contacts],
        'presses': [
            [*each, any(a <= each.end and b >= each.begin for a, b in contacts)]
            for each in presses(recording, above, risen)
        ],
        'slow_free': [float(periods[is_free].sum()), most],
        'slow_near': float(periods[is_slow & (above <= NEAR)].sum()),
        'held': float(periods[is_held].sum()),
    }  # fmt: skip


class _Watched:
    """The contact node's way of joint states and commands, and what comes of them."""

    def __init__(self, motors_file: str, names: tuple[str, ...]) -> None:
        robot = load_robot(ROBOT)
        plain = SensingOptions(robot=ROBOT)
        settings = evolved(plain, joints=evolved(plain.joints, motors_file=motors_file))
        self._names = names
        self._joints, self._commands = JointArrays(names), JointArrays(names)
        self._sensor = EffortSensor(settings, robot, self._joints, self._commands)
        self._trusted = TrustedInputs(robot, settings.streams)
        self._begins: list[float] = []
        self._ends: list[float] = []
        self._causes: list[list[Any]] = []
        self._reasons: dict[str, float] = {}
        self._in_contact = self._moves = 0.0
        self._was_contact = False
        self._before: int | None = None
        self._rows: list[tuple[bool, float, NDArray[np.float64]]] = []

    def take(self, recording: EffortRecording, row: int) -> None:
        """Takes a sample."""
        stamp = int(recording.stamps[row])
        goals, speeds = recording.goals[row], recording.velocities[row]
        self._commands.take(FullJointState(stamp, self._names, goals, NONE, NONE))
        state = FullJointState(
            stamp, self._names, recording.positions[row], speeds, recording.efforts[row]
        )
        taken = self._joints.take(state)
        trust = self._trusted.joints(state)
        found: Detection | None = None
        if why := trust.unavailable or self._trusted.efforts:
            found = Detection(stamp, self._sensor.source, None, unavailable=why)
        elif trust.is_used:
            found = self._sensor.on_joints(stamp, taken, None)
        period = 0.0 if self._before is None else (stamp - self._before) / SECOND
        self._before = stamp
        moves = bool((np.abs(speeds) > MOVES).any())
        self._moves += period * moves
        if found is not None:
            self._add(found, period, moves, (stamp - int(recording.stamps[0])) / SECOND)

    def _add(self, found: Detection, period: float, moves: bool, time: float) -> None:
        is_contact = bool(found.is_contact)
        if found.is_contact is None:
            why = found.unavailable
            self._reasons[why] = self._reasons.get(why, 0.0) + period
        else:
            self._rows.append((moves, self._sensor.sensitivity.force, found.thresholds.copy()))
        self._in_contact += period * is_contact
        if is_contact and not self._was_contact:
            blocked = self._sensor.detector.blocked
            shares = np.maximum(np.abs(found.residuals) / found.thresholds, blocked)
            joint = int(np.argmax(shares))
            self._begins.append(time)
            self._causes.append([
                found.joint_names[joint], float(found.residuals[joint]),
                float(found.thresholds[joint]), self._sensor.detector.stands,
                bool(blocked[joint] >= 1.0),
            ])  # fmt: skip
        elif self._was_contact and not is_contact:
            self._ends.append(time)
        self._was_contact = is_contact

    def result(self, seconds: float) -> dict[str, Any]:
        """As of `run`, without its seconds and blockages."""
        if len(self._ends) < len(self._begins):
            self._ends.append(seconds)
        both = [[row for row in self._rows if row[0] is moves] for moves in (False, True)]
        thresholds = [_medians(np.array([row[2] for row in rows])) for rows in both]
        names = self._sensor.detector.joint_names
        return {
            'begins': self._begins,
            'ends': self._ends,
            'causes': self._causes,
            'in_contact': self._in_contact,
            'unavailable': sum(self._reasons.values()),
            'reasons': self._reasons,
            'moves': self._moves,
            'thresholds': {
                name: [None if each is None else each[i] for each in thresholds]
                for i, name in enumerate(names)
            },
            'forces': [float(np.median([row[1] for row in rows])) if rows else None
                       for rows in both],
        }  # fmt: skip


def _medians(values: NDArray[np.float64]) -> list[float] | None:
    """Returns the medians of columns, None of none; infinite ones stay (joints at a limit)."""
    return np.median(values, axis=0).tolist() if len(values) else None
