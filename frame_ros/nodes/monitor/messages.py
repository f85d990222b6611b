# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Verdicts of the monitor as messages."""

from __future__ import annotations

import math
from collections.abc import Sequence

from diagnostic_msgs.msg import KeyValue

from frame_ros.confidence.guarantees.drift import DriftVerdict
from frame_ros.confidence.monitor import Level as VerdictLevel
from frame_ros.confidence.monitor import MonitorVerdict
from frame_ros.confidence.monitor.drift_watch import DriftWatch
from frame_ros.core.health import Level, Status
from frame_ros.msg import EpisodeEvent, MonitorState
from frame_ros.nodes.monitor.inputs import NewestInputs
from frame_ros.nodes.runtime.message_parts import time_message

SOURCE = 'monitor'


def state_message(
    verdict: MonitorVerdict,
    drift: DriftVerdict | None,
    episode_id: str,
    inputs: NewestInputs,
    halt_distance: float,
    unavailable: str = '',
) -> MonitorState:
    """A verdict, and which inputs it was made of. drift: of the scores; None: not watched.
    unavailable: why nothing can be judged.
    """
    level, reasons = verdict.level, [reason.text for reason in verdict.reasons]
    causes = [str(reason.cause.value) for reason in verdict.reasons]
    if unavailable:
        level, reasons, causes = VerdictLevel.STALE, [unavailable], ['unavailable']
    message = MonitorState(
        episode_id=episode_id,
        level=int(level),
        is_halt_recommended=level == VerdictLevel.HALT,
        reasons=reasons,
        confidence=verdict.value,
        threshold=verdict.threshold,
        completion=verdict.completion,
        distance=verdict.distance,
        halt_distance=halt_distance,
        in_contact=bool(verdict.in_contact),
        causes=causes,
        score=verdict.score,
        score_stamp=time_message(inputs.scores_stamp),
        distance_stamp=time_message(inputs.distance_stamp),
        contact_stamp=time_message(inputs.contact_stamp),
        progress=inputs.progress,
        expected_duration=inputs.expected_duration,
        unavailable=unavailable,
        drift=math.nan if drift is None else drift.evidence,
        has_drifted=drift is not None and drift.is_drifting,
    )
    message.header.stamp = time_message(verdict.stamp)
    return message


def drift_status(drift: DriftWatch) -> Status:
    """Drift of the scores, for diagnostics."""
    verdict = drift.verdict
    if verdict is None:
        return Status('drift', Level.OK, f'not watched: {drift.problem}')
    text = '; '.join(verdict.causes) or 'none'
    level = Level.WARN if verdict.is_drifting else Level.OK
    return Status('drift', level, text, {'evidence': f'{verdict.evidence:.3g}'})


def event_message(
    kind: int, episode_id: str, stamp: int, text: str, causes: Sequence[str]
) -> EpisodeEvent:
    """An event of the monitor, at a stamp (ns)."""
    event = EpisodeEvent(type=kind, episode_id=episode_id, source=SOURCE, text=text)
    event.header.stamp = time_message(stamp)
    event.attributes = [KeyValue(key='cause', value=cause) for cause in causes]
    return event
