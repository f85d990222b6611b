# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Candidates of the detector, and verdicts on them with the reason."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.meanings import MeaningEnum
from frame_ros.evaluation.operations.detector_options import DetectorOptions
from frame_ros.evaluation.operations.zones import Zone, ZoneKind, is_lost, zone_at


class Verdict(MeaningEnum):
    """Verdicts on a candidate."""

    SUCCESS = 'success', 'an item was placed where it belongs'
    FAILURE = 'failure', 'an item was lost, or dropped and not collected'
    NEUTRAL = 'neutral', 'nothing was placed, and nothing lost'
    UNKNOWN = 'unknown', 'the telemetry does not decide it'


class CandidateKind(MeaningEnum):
    """Kinds of candidate."""

    RELEASE = 'release', 'the fingers were opened'
    DROP = 'drop', 'the fingers closed on nothing where they had held something'


@dataclass(frozen=True)
class Candidate:
    """A moment at which something may have been placed or lost.

    Attributes:
        time: s since the episode's start.
        held: s, for which it had been held.
        position: (3,) of the TCP, m, base frame; NaN if not known.
        grasped_at: (3,) of the TCP when the hold began, likewise.
        opening: of the gripper while it was held, as a share.
        squeeze: opening beyond the target, as a share.
        is_firm: whether the fingers pressed on something.
        zone: name of the zone at `position`; '': none.
        grasp_zone: likewise at `grasped_at`.
        ledger: items in the target zones before it.
        reason: of the verdict, in words.
    """

    time: float
    kind: CandidateKind
    held: float
    position: NDArray[np.float64]
    grasped_at: NDArray[np.float64]
    opening: float
    squeeze: float
    is_firm: bool
    zone: str = ''
    grasp_zone: str = ''
    ledger: int = 0
    verdict: Verdict = Verdict.UNKNOWN
    reason: str = ''

    @property
    def displacement(self) -> float:
        """Straight way from the grasp, m; NaN if not known."""
        return float(np.linalg.norm(self.position - self.grasped_at))


def judged(
    candidates: Sequence[Candidate],
    zones: Sequence[Sequence[Zone]],
    options: DetectorOptions,
) -> list[Candidate]:
    """Returns the candidates (in time) of one episode with zones, ledger, verdict and reason.

    Without a target zone, or without the pose of the TCP, each is unknown. The ledger counts what
    lies in the target zones: an item that is taken out of one leaves it, and the next one placed
    there makes up for it, so that the successes are those that the end shows.

    zones: those at each candidate.
    """
    found: list[Candidate] = []
    ledger = taken = 0
    for place, (each, here) in enumerate(zip(candidates, zones, strict=True)):
        there, origin = zone_at(here, each.position), zone_at(here, each.grasped_at)
        each = replace(
            each,
            zone=there.name if there else '',
            grasp_zone=origin.name if origin else '',
            ledger=ledger,
        )
        later = candidates[place + 1 :]
        verdict, reason = _verdict(each, there, origin, here, later, options)
        if verdict is Verdict.SUCCESS:
            ledger += 1
            if taken:
                taken -= 1
                verdict, reason = Verdict.NEUTRAL, 'replaces what was taken from the target'
        found.append(replace(each, verdict=verdict, reason=reason))
        is_from_target = origin is not None and origin.kind is ZoneKind.TARGET
        if is_from_target and each.is_firm and there is not origin and ledger:
            ledger, taken = ledger - 1, taken + 1
    return found


def _verdict(
    each: Candidate,
    there: Zone | None,
    origin: Zone | None,
    zones: Sequence[Zone],
    later: Sequence[Candidate],
    options: DetectorOptions,
) -> tuple[Verdict, str]:
    """Returns the verdict on one candidate, and its reason."""
    if not any(zone.kind is ZoneKind.TARGET for zone in zones):
        return Verdict.UNKNOWN, 'no target zone is known'
    if math.isnan(each.displacement):
        return Verdict.UNKNOWN, 'the pose of the TCP is not known'
    is_target = there is not None and there.kind is ZoneKind.TARGET
    is_drop = each.kind is CandidateKind.DROP
    if not each.is_firm:
        if is_target:
            return Verdict.UNKNOWN, 'released at the target, but nothing shows that it was held'
        return Verdict.NEUTRAL, 'nothing shows that something was held'
    if is_target and is_drop:
        return Verdict.UNKNOWN, 'slipped out of closed fingers over the target'
    if is_target and origin is there:
        return Verdict.NEUTRAL, 'taken from this zone and put back'
    if is_target and each.displacement < options.displacement:
        return Verdict.UNKNOWN, f'moved by {each.displacement * 1e3:.0f} mm only'
    if is_target:
        return Verdict.SUCCESS, 'released at the target'
    return _elsewhere(each, there, is_drop, zones, later, options)


def _elsewhere(
    each: Candidate,
    there: Zone | None,
    is_drop: bool,
    zones: Sequence[Zone],
    later: Sequence[Candidate],
    options: DetectorOptions,
) -> tuple[Verdict, str]:
    """Returns the verdict on what came free outside of the target zones, and its reason."""
    what = 'dropped' if is_drop else 'released'
    if is_lost(zones, each.position):
        return Verdict.FAILURE, f'{what} outside of the workspace'
    if there is not None:
        return Verdict.NEUTRAL, f'{what} in {there.name}, where things are taken from'
    if each.displacement < options.displacement:
        return Verdict.NEUTRAL, f'{what} where it was grasped'
    radius = options.collect_radius
    if any(
        other.is_firm and np.linalg.norm((other.grasped_at - each.position)[:2]) <= radius
        for other in later
    ):
        return Verdict.NEUTRAL, f'{what} off the target, and collected later'
    return Verdict.FAILURE, f'{what} off the target, and not collected'
