# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Detection of releases and drops in the streams of a recorded episode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.episodes.episode import Episode
from frame_ros.evaluation.operations.candidates import (
    Candidate,
    CandidateKind,
    Verdict,
    judged,
)
from frame_ros.evaluation.operations.closed_phases import closed_phases
from frame_ros.evaluation.operations.detector_options import DetectorOptions
from frame_ros.evaluation.operations.event_times import EventTimes
from frame_ros.evaluation.operations.gripper_trace import GripperTrace, gripper_trace
from frame_ros.evaluation.operations.holds import Hold, hold_of
from frame_ros.evaluation.operations.options import OperationOptions
from frame_ros.evaluation.operations.zones import Zone, ZoneKind


@dataclass(frozen=True)
class Detection:
    """Releases and drops found in one episode.

    Attributes:
        candidates: in time.
        problem: why nothing could be looked for, in words; '': it could.
        notes: in words.
    """

    candidates: tuple[Candidate, ...] = ()
    problem: str = ''
    notes: tuple[str, ...] = ()

    def count(self, verdict: Verdict) -> int:
        """Number of candidates with a verdict."""
        return sum(each.verdict is verdict for each in self.candidates)


def detect(
    episode: Episode,
    zones: Sequence[Zone] = (),
    options: DetectorOptions | None = None,
    event_options: OperationOptions | None = None,
) -> Detection:
    """Returns the releases and drops in the telemetry of an episode's gripper, with verdicts
    (PhAIL, appendix E).

    An edge of the gripper's target opens the fingers; what they had held until then is released.
    Where they close on nothing though the target stays, it was dropped.

    Args:
        zones: in the base frame; without a target zone it is a circle around goal_pose as it was
            then, if the episode has one.
    """
    options = options or DetectorOptions()
    times = EventTimes(episode, (event_options or OperationOptions()).clock_jump)
    trace = gripper_trace(episode, options, times)
    if isinstance(trace, str):
        return Detection(problem=trace)
    notes = list(trace.notes)
    plateau = max(1, round(options.plateau_time / options.period))
    phases = closed_phases(trace.target, options.edge, plateau)
    holds = [(phase, hold_of(trace, phase, options)) for phase in phases]
    found = [_candidate(episode, times, trace, hold, options) for _, hold in holds if hold]
    if found and all(np.isnan(each.position).any() for each in found):
        notes.append('no pose of the TCP at any release')
    moments = [each.time for each in found]
    zones_at, note = _zones_at(episode, times, moments, zones, options)
    notes += [note] if note else []
    return Detection(tuple(judged(found, zones_at, options)), notes=tuple(notes))


def _zones_at(
    episode: Episode,
    times: EventTimes,
    moments: Sequence[float],
    zones: Sequence[Zone],
    options: DetectorOptions,
) -> tuple[list[tuple[Zone, ...]], str]:
    """Returns the zones at moments (s): those given, with a circle around the goal pose of that
    moment if none of them is a target; and a note if there is no target zone.
    """
    given = [tuple(zones)] * len(moments)
    if any(zone.kind is ZoneKind.TARGET for zone in zones):
        return given, ''
    goal, pose = episode.streams.get('goal'), episode.streams.get('pose')
    if goal is None or not len(goal):
        return given, 'no target zone: none was given, and goal_pose was not recorded'
    frame = str(np.asarray(goal.values.get('frame', ['']))[-1])
    if pose is not None and frame and pose.frame_id and frame != pose.frame_id:
        return given, f'goal_pose is in {frame}, the TCP in {pose.frame_id}: not compared'
    order = np.argsort(goal.stamps, kind='stable')
    centres = np.asarray(goal.values['position'], np.float64)[order, :2]
    is_known = np.isfinite(centres).all(axis=1)
    if not is_known.any():
        return given, 'no target zone: goal_pose is not finite'
    seconds, centres = times.of_stream(goal)[order][is_known], centres[is_known]
    # One that was sent later only stood there before.
    places = np.maximum(np.searchsorted(seconds, moments, side='right') - 1, 0)
    circles = [Zone('goal', ZoneKind.TARGET, centres[[p]], options.goal_radius) for p in places]
    return [(*zones, circle) for circle in circles], ''


def _candidate(
    episode: Episode, times: EventTimes, trace: GripperTrace, hold: Hold, options: DetectorOptions
) -> Candidate:
    begin, end = (float(trace.times[min(i, len(trace.times) - 1)]) for i in (hold.begin, hold.end))
    return Candidate(
        time=end,
        kind=CandidateKind.DROP if hold.is_drop else CandidateKind.RELEASE,
        held=end - begin,
        position=_position(episode, times, end, options.gap),
        grasped_at=_position(episode, times, begin, options.gap),
        opening=hold.level,
        squeeze=hold.squeeze,
        is_firm=hold.is_firm,
    )


def _position(episode: Episode, times: EventTimes, time: float, gap: float) -> NDArray[np.float64]:
    """Returns the newest position (3,), m, of the TCP at a time, s; NaN if older than `gap`."""
    pose = episode.streams.get('pose')
    if pose is None or not len(pose):
        return np.full(3, np.nan)
    seconds = times.of_stream(pose)
    place = np.flatnonzero((seconds <= time + 1e-9) & (seconds >= time - gap))
    if not len(place):
        return np.full(3, np.nan)
    newest = place[np.argmax(seconds[place])]
    return np.asarray(pose.values['position'], np.float64)[newest]
