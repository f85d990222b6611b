# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Detection and conversion of recorded joint values in other units than rad and m."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.findings import Note
from frame_ros.bags.recording_options import RecordedUnits
from frame_ros.bags.streams.form import Stream
from frame_ros.bags.streams.joint_table import named_positions
from frame_ros.bags.streams.nameless import is_nameless
from frame_ros.bags.streams.poses import POSE_TYPE
from frame_ros.core.errors import ValueRangeError
from frame_ros.core.time import SECOND
from frame_ros.core.turns import nearest_turn
from frame_ros.robots.grippers import gripper_joints
from frame_ros.robots.joint_units import approximate_ranges, calibrated_ranges, joint_units
from frame_ros.robots.likely_units import (
    DEGREES,
    MOST_ODD,
    PERCENT,
    RAD,
    RESOLUTION,
    TICKS,
    is_outside,
    likely_units,
)

if TYPE_CHECKING:
    from frame_ros.robots import Robot

STREAMS = ('joint_states', 'action', 'gripper')
LEROBOT_UNITS = {DEGREES: 'degrees', PERCENT: 'range_m100_100'}
TOO_FAST = 1.5  # times the limit, since stamps jitter


def in_radians(
    streams: Mapping[str, Stream], recorded: RecordedUnits, robot: Robot | None
) -> tuple[dict[str, Stream], list[Note]]:
    """Returns the streams with joint values in rad and rad/s, and the assumptions made.

    Raises:
        ValueRangeError: percent, or grippers in degrees, without a robot; a calibration without a
            joint.
    """
    if recorded.units == RAD:
        return dict(streams), []
    converted = dict(streams)
    for role in STREAMS:
        stream = streams.get(role)
        # Those of a data set have no type.
        if stream is not None and 'positions' in stream.values and stream.message_type != POSE_TYPE:
            converted[role] = _converted(stream, recorded, robot)
    return converted, [Note(_assumption(recorded))]


def _assumption(recorded: RecordedUnits) -> str:
    text = f'joint values were converted from {recorded.units}'
    if recorded.calibration is not None or recorded.units == DEGREES:
        return text
    if recorded.units == TICKS:
        return f'{text} without a calibration: tick 2048 was taken as 0 rad'
    return f'{text} without a calibration: by the limits of the robot, to some degrees'


def _converted(stream: Stream, recorded: RecordedUnits, robot: Robot | None) -> Stream:
    values = dict(stream.values)
    maps: dict[str, tuple[float, float]] = {}
    names, counts = stream.values['names'], stream.values['names_count']
    is_there = np.arange(names.shape[1]) < counts[:, None]
    for name in map(str, np.unique(names[is_there])):
        scale, offset = maps[name] = _map_of(name, recorded, robot)
        where = (names == name) & is_there
        for column, shift in (('positions', offset), ('velocities', 0.0)):
            if column in values:
                # A single message with more or fewer values than names makes the widths differ.
                width = min(names.shape[1], values[column].shape[1])
                numbers = values[column] = np.array(values[column], np.float64)
                shared = numbers[:, :width]
                shared[:] = np.where(where[:, :width], (shared - shift) / scale, shared)
    return replace(stream, values=values)


def _map_of(name: str, recorded: RecordedUnits, robot: Robot | None) -> tuple[float, float]:
    """Returns scale and offset: recorded = rad * scale + offset."""
    calibration = recorded.calibration
    limits = robot.joint_limits if robot is not None else {}
    grippers = robot.grippers if robot is not None else {}
    if calibration is not None and name not in calibration and recorded.units != DEGREES:
        raise ValueRangeError(f'the calibration has no {name}; it has {", ".join(calibration)}')
    if recorded.units == TICKS:
        entry = (calibration or {}).get(name, {})
        if name in grippers and {'range_min', 'range_max'} <= set(entry):
            return _gripper_ticks(entry, *grippers[name])
        middle = (entry.get('range_min', 0) + entry.get('range_max', RESOLUTION)) / 2
        sign = -1 if entry.get('drive_mode') else 1
        return sign * RESOLUTION / (2 * math.pi), middle
    if recorded.units == DEGREES and robot is not None and name in sliding_joints(robot):
        return 1.0, 0.0
    is_unknown = bool(gripper_joints([name]))
    if name not in limits and (is_unknown or (recorded.units == PERCENT and calibration is None)):
        raise ValueRangeError(
            f'{recorded.units} of {name} need its limits: name the robot that has it (--robot)'
        )
    ranges = calibrated_ranges(calibration) if calibration else approximate_ranges(limits)
    ends = {name: grippers[name]} if name in grippers else {}
    found = joint_units(LEROBOT_UNITS[recorded.units], [name], ends, ranges)
    return float(found.scale[0]), float(found.offset[0])


def sliding_joints(robot: Robot) -> set[str]:
    """Returns the joints of an arm that slide, which have no degrees; without its grippers."""
    slides = {joint.name for joint in robot.description.joints if joint.kind == 'prismatic'}
    return slides - set(robot.grippers)


def _gripper_ticks(entry: Mapping[str, int], closed: float, opened: float) -> tuple[float, float]:
    """Returns a gripper's scale and offset: its calibrated range goes from closed to open (rad),
    and has no zero in the middle.
    """
    first, last = entry['range_min'], entry['range_max']
    if entry.get('drive_mode'):
        first, last = last, first
    scale = (last - first) / (opened - closed)
    return scale, first - closed * scale


def joint_problems(streams: Mapping[str, Stream], robot: Robot) -> list[str]:
    """Returns the misfits of joint values with the robot, each a sentence. Values outside its
    limits, with their likely units, and speeds beyond its limits.
    """
    problems = []
    for role, stream in _judged(streams):
        columns = _columns(stream)
        if outside := _outside_text(stream.topic, columns, robot):
            text, is_other_unit = outside
            # A policy may request what the arm cannot do; the arm itself cannot be there.
            is_doubtful = is_other_unit or role == 'joint_states' or is_nameless(stream)
            text += '; or no positions' * is_nameless(stream)
            problems.append(text if is_doubtful else Note(text))
            continue  # speeds in other units say no more
        fast = _too_fast(columns, robot)
        if fast:
            problems.append(
                Note(
                    f'{stream.topic}: faster than the limits of {robot.name}: {", ".join(fast)}; '
                    'stamps that jitter, other units, or another robot'
                )
            )
    return problems


def unit_conflict(streams: Mapping[str, Stream], robot: Robot) -> str:
    """Returns the sentence of `joint_problems` by which joint values are in another unit than rad;
    '' if none is.
    """
    found = (_outside_text(stream.topic, _columns(stream), robot) for _, stream in _judged(streams))
    return next((text for text, is_other_unit in filter(None, found) if is_other_unit), '')


def _judged(streams: Mapping[str, Stream]) -> Iterator[tuple[str, Stream]]:
    """Yields role and stream of those with joint positions."""
    for role in ('joint_states', 'action'):
        stream = streams.get(role)
        if stream is not None and 'positions' in stream.values and len(stream):
            yield role, stream


def _columns(stream: Stream) -> dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Returns joint -> stamps (n,), ns, and finite positions (n,)."""
    names, counts = stream.values['names'], stream.values['names_count']
    positions = np.asarray(stream.values['positions'], np.float64)
    if (names == names[0]).all() and (stream.values['positions_count'] == counts[0]).all():
        columns = zip(names[0][: counts[0]].tolist(), positions.T[: counts[0]])
        finite = ((name, values, np.isfinite(values)) for name, values in columns)
        return {name: (stream.stamps[kept], values[kept]) for name, values, kept in finite}
    found: dict[str, tuple[list[int], list[float]]] = {}
    for stamp, (joints, row) in zip(stream.stamps.tolist(), named_positions(stream)):
        for name, position in zip(joints, row.tolist()):
            if math.isfinite(position):
                stamps, values = found.setdefault(name, ([], []))
                stamps.append(stamp)
                values.append(position)
    return {name: (np.array(s, np.int64), np.array(v)) for name, (s, v) in found.items()}


def _outside_text(
    topic: str, columns: Mapping[str, tuple[Any, Any]], robot: Robot
) -> tuple[str, bool] | None:
    """Returns the sentence on values outside of the limits, and whether they are in another unit
    than rad; None if there are none.
    """
    limits = robot.joint_limits
    outside = [n for n, (_, values) in columns.items() if is_outside(values, limits.get(n))]
    if not outside:
        return None
    named = ', '.join(
        f'{n} {columns[n][1].min():.3g} to {columns[n][1].max():.3g} '
        f'({limits[n][0]:.3g} to {limits[n][1]:.3g})'
        for n in outside[:3]
    )
    more = f' and {len(outside) - 3} more' if len(outside) > 3 else ''
    known = {name: values for name, (_, values) in columns.items() if name in limits}
    units = likely_units(known, robot)
    text = f'{topic}: joint values outside the limits of {robot.name}: {named}{more}; '
    return text + units.words('--joint-units'), not units.is_rad


def _too_fast(columns: Mapping[str, tuple[Any, Any]], robot: Robot) -> list[str]:
    """Returns 'shoulder_pan 9.3 rad/s (limit 3)' for joints that move faster than they can."""
    found = []
    slides = sliding_joints(robot)
    for name, limit in zip(robot.joint_names, robot.velocity_limits.tolist()):
        if name not in columns or not 0 < limit < math.inf:
            continue
        stamps, values = columns[name]
        stamps, at = np.unique(stamps, return_index=True)
        if len(stamps) < 3:
            continue
        steps = nearest_turn(np.diff(values[at]), 0.0, np.array([name in robot.continuous]))
        speeds = np.abs(steps) / (np.diff(stamps) / SECOND)
        if (speeds > TOO_FAST * limit).mean() > MOST_ODD:
            typical = float(np.quantile(speeds, 1 - MOST_ODD))
            unit = 'm/s' if name in slides else 'rad/s'
            found.append(f'{name} {typical:.3g} {unit} (limit {limit:.3g})')
    return found
