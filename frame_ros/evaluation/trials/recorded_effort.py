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
from frame_ros.evaluation.trials.watched_efforts import WatchedEfforts
from frame_ros.robots import load_robot
from frame_ros.robots.dynamics import RobotDynamics
from frame_ros.sensing.contact.identification_options import (
    ExcitationOptions,
    IdentificationOptions,
)
from frame_ros.sensing.contact.joints.fitting.identification import (
    JointIdentification,
    identify_joints,
)
from frame_ros.sensing.contact.joints.fitting.recording import recording_of

ROBOT = 'so101'
FREE = ExcitationOptions().clearance  # m above the table, where it cannot hold the arm up
BETWEEN = 10 * SECOND  # ns from one recording to the next, where several are identified together


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
    with its default settings, and the goals as commands. Result: seconds; blockages, of each
    evident one joint, begin and end, s, largest distance from the goal, rad, and current, A, and
    whether a contact was reported meanwhile; and of `WatchedEfforts.result` and `_table`.
    """
    recording = read_recording(Path(trial.settings['file']))
    motors = str(trial.settings['motors_file'])
    watched = WatchedEfforts(load_robot(ROBOT), motors, recording.joint_names)
    for row, stamp in enumerate(recording.stamps.tolist()):
        watched.take(
            stamp, recording.positions[row], recording.velocities[row], recording.efforts[row],
            recording.goals[row],
        )  # fmt: skip
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
