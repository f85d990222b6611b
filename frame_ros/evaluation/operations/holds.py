# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Holds in a closed stretch of the gripper: their begin, and how they end."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from frame_ros.evaluation.operations.closed_phases import ClosedPhase
from frame_ros.evaluation.operations.detector_options import DetectorOptions
from frame_ros.evaluation.operations.gripper_trace import GripperTrace

# Time before its end over which the level of a hold is taken, s.
LEVEL_TIME = 0.2
# Share of an edge by which the target moves, at least, when it closes further.
MOVED = 0.25


@dataclass(frozen=True)
class Hold:
    """Something between the fingers.

    Attributes:
        begin: sample from which it was held.
        end: sample at which it came free: of the opening or the slump.
        level: opening while it was held, as a share.
        squeeze: opening beyond the target, as a share.
        is_drop: True if it slipped out of closed fingers.
        is_firm: False if nothing shows that the fingers pressed on it.
    """

    begin: int
    end: int
    level: float
    squeeze: float
    is_drop: bool
    is_firm: bool


def hold_of(trace: GripperTrace, phase: ClosedPhase, options: DetectorOptions) -> Hold | None:
    """Returns what was held in a closed stretch of the gripper and then came free; None if nothing
    did, or it was held until the end.

    Held is an opening that is still, above the closed band, and beyond the target by `squeeze`; it
    lasts `hold_time`. A fall from there into the closed band, or onto the target, within
    `slump_time`, for `drop_time`, while the target stays, is a drop. Fingers that follow a target
    which closes further had held nothing.
    """
    part = slice(phase.begin, phase.end + 1)
    opening, target, floor = trace.opening[part], trace.target[part], _floor(trace, options)[part]
    is_still = _speeds(opening, options.period) <= options.still
    length = max(1, round(options.hold_time / options.period))
    since, slump = 0, None
    while (begin := _first_run(is_still & (opening > floor), length, since)) is not None:
        slump = _slump(opening, floor, begin + length, options)
        window = round(options.slump_time / options.period)
        if slump is None or not _has_closed(target, slump, window, options.edge):
            break
        since = slump
    if begin is None:
        return _loose(trace, phase, is_still & (opening > trace.closed_band), length, options)
    if slump is None and not phase.is_released:
        return None
    return _hold(trace, phase, begin, slump, options)


def _loose(
    trace: GripperTrace,
    phase: ClosedPhase,
    is_apart: NDArray[np.bool_],
    length: int,
    options: DetectorOptions,
) -> Hold | None:
    """Returns what may have been held without the fingers pressing on it, until they opened."""
    needs_squeeze = trace.is_commanded and options.squeeze > 0
    if not needs_squeeze or not phase.is_released or phase.begin == 0:
        return None
    begin = _first_run(is_apart, length)
    found = None if begin is None else _hold(trace, phase, begin, None, options)
    return found and replace(found, is_firm=False)


def _hold(
    trace: GripperTrace,
    phase: ClosedPhase,
    begin: int,
    slump: int | None,
    options: DetectorOptions,
) -> Hold:
    """Returns a hold from a sample of the stretch to its slump, or else to the release."""
    end = phase.end if slump is None else phase.begin + slump
    first = phase.begin + begin
    before = slice(max(first, end - round(LEVEL_TIME / options.period)), max(end, first + 1))
    level = _median(trace.opening[before])
    squeeze = level - _median(trace.target[before])
    moment = _moment_of_release(trace, end, level, options) if slump is None else end
    return Hold(first, moment, level, squeeze, slump is not None, True)


def _median(values: NDArray[np.float64]) -> float:
    """Returns the median of the known values; NaN without any."""
    known = values[np.isfinite(values)]
    return float(np.median(known)) if len(known) else np.nan


def _floor(trace: GripperTrace, options: DetectorOptions) -> NDArray[np.float64]:
    """Returns the opening (T,) up to which nothing is between the fingers."""
    if not trace.is_commanded or options.squeeze == 0:
        return np.full(len(trace.times), trace.closed_band)
    return np.fmax(trace.closed_band, trace.target + options.squeeze)


def _speeds(opening: NDArray[np.float64], period: float) -> NDArray[np.float64]:
    """Returns the magnitude of the change of the opening (T,) over five samples, shares per s."""
    ahead = np.roll(opening, -2)
    behind = np.roll(opening, 2)
    ahead[-2:], behind[:2] = opening[-1:], opening[:1]
    return np.abs(ahead - behind) / (4 * period)


def _first_run(is_true: NDArray[np.bool_], length: int, since: int = 0) -> int | None:
    """Returns the begin of the first run of at least `length` samples from `since`; None without
    any.
    """
    edges = np.diff(np.concatenate(([0], is_true[since:].astype(np.int8), [0])))
    begins, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    long = begins[ends - begins >= length]
    return since + int(long[0]) if len(long) else None


def _slump(
    opening: NDArray[np.float64],
    floor: NDArray[np.float64],
    since: int,
    options: DetectorOptions,
) -> int | None:
    """Returns the sample at which the opening has fallen below the floor, and stays there; None
    without a fast fall.
    """
    stay = max(1, round(options.drop_time / options.period))
    window = max(1, round(options.slump_time / options.period))
    is_free = opening <= floor
    place = _first_run(is_free, stay, min(since, len(opening)))
    if place is None:
        return None
    before = opening[max(0, place - window) : place]
    margin = options.closed_band or options.squeeze
    has_fallen = _known_range(before, opening[place:]) > 0.5 * margin
    return place if has_fallen else None


def _has_closed(target: NDArray[np.float64], place: int, window: int, edge: float) -> bool:
    """Returns whether the target closed further in the samples before one."""
    return bool(target[max(0, place - window)] - target[place] > MOVED * edge)


def _known_range(before: NDArray[np.float64], after: NDArray[np.float64]) -> float:
    """Returns how far the openings after lie below those before; 0 where none is known."""
    before, after = before[np.isfinite(before)], after[np.isfinite(after)]
    return float(before.max() - after.min()) if len(before) and len(after) else 0.0


def _moment_of_release(
    trace: GripperTrace, end: int, level: float, options: DetectorOptions
) -> int:
    """Returns the sample after `end` at which the fingers have opened beyond what they held."""
    later = trace.opening[end:]
    is_open = np.flatnonzero(later > level + 0.5 * options.edge)
    risen = np.flatnonzero(trace.target[end:] > trace.target[end] + 0.5 * options.edge)
    found = is_open if len(is_open) else risen
    return end + int(found[0]) if len(found) else end
