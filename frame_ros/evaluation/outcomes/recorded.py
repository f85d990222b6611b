# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The outcome of an episode of a bag, from its events and facts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from typing import TypeVar

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.events import Event, EventType, Outcome
from frame_ros.core.time import SECOND
from frame_ros.episodes.bounds import bounds_of
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.interventions import interventions_of
from frame_ros.evaluation.outcomes import facts
from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome, LabelSource
from frame_ros.evaluation.outcomes.operation import Ending, Operation
from frame_ros.evaluation.policy_labels import labels_of

Value = TypeVar('Value')
# Stamps before it are of a simulated clock, ns: 2000-01-01.
FIRST_DATE = 946_684_800 * SECOND
ENDINGS = {
    Outcome.SUCCESS: Ending.SUCCESS,
    Outcome.FAILURE: Ending.FAILURE,
    Outcome.TIMEOUT: Ending.TIMEOUT,
    Outcome.STOPPED: Ending.STOPPED,
}


def episode_outcome(episode: Episode, policy: str = '') -> EpisodeOutcome:
    """Returns the outcome of an episode.

    `is_success` and the operations are None and empty if nothing recorded says how it ended. Facts
    that cannot be read are left out, and noted.

    Args:
        policy: label of its policy; '': `policy_labels` of this episode alone.
    """
    attributes = known_facts(episode)
    begin, end = bounds_of(episode)
    notes: list[str] = []
    outcome = recorded_outcome(episode)
    operations = _whole_episode(episode, outcome, begin, end)
    return EpisodeOutcome(
        name=episode.episode_id,
        policy=policy or labels_of([attributes])[0],
        object=attributes.get('object', ''),
        task=attributes.get('instruction', ''),
        duration=(end - begin) / SECOND,
        operations=operations,
        is_success=None if outcome is Outcome.UNKNOWN else outcome is Outcome.SUCCESS,
        stages=_readable(facts.stages_of, attributes, notes) or {},
        pair=facts.pair_of(attributes),
        is_human=bool(_readable(facts.is_human, attributes, notes)),
        label_source=LabelSource.OUTCOME,
        operator_count=_readable(facts.operator_count, attributes, notes),
        interventions=interventions_of(episode).count,
        conditions=facts.conditions_of(attributes),
        date=_date(begin),
        source=episode.path,
        notes=tuple(notes),
    )


def known_facts(episode: Episode) -> dict[str, str]:
    """Returns the facts of an episode: those of its bag and its START, and those that are known at
    the end, of the attributes of any later event; the last of a name holds.
    """
    found = dict(episode.attributes)
    for event in episode.events:
        found.update(event.attributes)
    return found


def recorded_outcome(episode: Episode) -> Outcome:
    """Returns the outcome of END; else that of the last SUCCESS or FAILURE; else UNKNOWN."""
    ends = [event.outcome for event in episode.events if event.type is EventType.END]
    if ends and ends[-1] is not Outcome.UNKNOWN:
        return ends[-1]
    for event in reversed(episode.events):
        if event.type in (EventType.SUCCESS, EventType.FAILURE):
            return Outcome[event.type.name]
    return Outcome.UNKNOWN


def _whole_episode(
    episode: Episode, outcome: Outcome, begin: int, end: int
) -> tuple[Operation, ...]:
    """Returns the one operation of an episode of which only the outcome is known."""
    if outcome is Outcome.UNKNOWN:
        return ()
    ending, seen = ENDINGS[outcome], EventType.__members__.get(outcome.name)
    if outcome is Outcome.STOPPED:
        seen = EventType.STOP
        ending = Ending.SAFETY_STOP if _first(episode.events, seen) else ending
    moment = _first(episode.events, seen) if seen else None
    until = end if moment is None else min(max(moment, begin), max(end, begin))
    return (Operation(0.0, (until - begin) / SECOND, ending),)


def _first(events: list[Event], kind: EventType) -> int | None:
    """Returns the stamp of the first such event, ns; None without any."""
    return min((event.stamp for event in events if event.type is kind), default=None)


def _readable(
    read: Callable[[dict[str, str]], Value], attributes: dict[str, str], notes: list[str]
) -> Value | None:
    try:
        return read(attributes)
    except ValueRangeError as error:
        notes.append(f'not read: {error}')
        return None


def _date(stamp: int) -> str:
    if stamp < FIRST_DATE:
        return ''
    return datetime.fromtimestamp(stamp // SECOND, timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')
