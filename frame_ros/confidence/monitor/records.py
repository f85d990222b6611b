# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Samples that the halt monitor takes, and verdicts that it gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from frame_ros.core.meanings import MeaningEnum
from frame_ros.core.time import SECOND

NAN = float('nan')
# As far as the clocks of machines may differ, ns.
CLOCK_DIFFERENCE = SECOND


def is_of_future(stamp: int, now: int) -> bool:
    """Returns whether a stamp (ns) is of a clock that is wrong. Were it taken, nothing that comes
    after it would count as newer, and nothing be seen to be missing.
    """
    return stamp > now + CLOCK_DIFFERENCE


class Level(IntEnum):
    """Verdict of the monitor, numbered as the LEVEL_* of MonitorState."""

    OK = 0
    CAUTION = 1  # a score is beyond its threshold, and there is no halt yet
    HALT = 2  # a halt is recommended
    STALE = 3  # what the rule needs is missing or too old: no judgement

    @property
    def title(self) -> str:
        """Name for people."""
        names = {Level.HALT: 'HALT', Level.STALE: 'no judgement'}
        return names.get(self, self.name.lower())


class Cause(MeaningEnum):
    """Cause of a level other than OK; the value is what messages carry."""

    SCORE = 'score', 'a score is beyond its threshold'
    NEAR = 'near', 'the robot is near an obstacle'
    IN_CONTACT = 'in_contact', 'the robot is in contact'
    WARM_UP = 'warm_up', 'the episode has just begun: no halt yet'
    MINIMUM_DURATION = 'minimum_duration', 'the rule has not held for long enough: no halt yet'
    COOL_DOWN = 'cool_down', 'a halt has just ended: no other yet'
    NO_SCORE = 'no_score', 'a score is missing or too old'
    NO_COMPLETION = 'no_completion', 'the point of the task, and so the threshold, is not known'
    NO_DISTANCE = 'no_distance', 'the distance is missing or too old'
    NO_CONTACT_STATE = 'no_contact_state', 'the contact state is missing or too old'


@dataclass(frozen=True, slots=True)
class Reason:
    """A cause, and in words what was found."""

    cause: Cause
    text: str


class MonitorSample(NamedTuple):
    """Inputs since the last sample; those that have not come are left out, and stay as they were.

    Attributes:
        stamp: ns, the moment to judge: the newest stamp of any input, or the time of a timer.
        scores: score -> value of one inference, as it stands in ConfidenceMetrics; NaN or left out:
            not available. None: there was no inference.
        scores_stamp: ns, of the inference; 0: `stamp`.
        distance: m, from the nearest obstacle; NaN: not measured.
        distance_stamp: ns; 0: no distance has come.
        contact: any contact; None: not known.
        contact_stamp: ns; 0: no contact state has come.
        progress: completion of the task as a topic gives it now, [0, 1]; NaN: not known.
        expected_duration: s, of the episode, as a topic gives it; NaN: none has come.
    """

    stamp: int
    scores: Mapping[str, float] | None = None
    scores_stamp: int = 0
    distance: float = NAN
    distance_stamp: int = 0
    contact: bool | None = None
    contact_stamp: int = 0
    progress: float = NAN
    expected_duration: float = NAN


class MonitorVerdict(NamedTuple):
    """The monitor's judgement of a moment.

    Attributes:
        stamp: ns, of the sample.
        level: OK, CAUTION, HALT or STALE.
        reasons: why it is not OK, one each.
        score: name of the first score that is beyond its threshold, or else of the first.
        value: of this score, aggregated as the options have it; NaN: none yet.
        threshold: of this score at this point of the task, aggregated likewise; NaN: none yet.
        completion: of the task, [0, 1]; NaN: not known.
        distance: m, newest; NaN: not measured.
        in_contact: newest; None: not known.
    """

    stamp: int
    level: Level
    reasons: tuple[Reason, ...]
    score: str
    value: float
    threshold: float
    completion: float
    distance: float
    in_contact: bool | None

    @property
    def is_halt_recommended(self) -> bool:
        """True if the level is HALT."""
        return self.level == Level.HALT
