# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The outcome of an episode of a bag, from its events and facts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from typing import TypeVar

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.events import EventType, Outcome
from frame_ros.core.options import evolved
from frame_ros.core.time import SECOND
from frame_ros.episodes.bounds import bounds_of
from frame_ros.episodes.episode import Episode
from frame_ros.evaluation.operations.episode_operations import EpisodeOperations
from frame_ros.evaluation.operations.from_events import operations_of_events
from frame_ros.evaluation.operations.operator_counts import episode_facts
from frame_ros.evaluation.operations.options import CENSORED, COUNTED, OperationOptions
from frame_ros.evaluation.outcomes import facts
from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome
from frame_ros.evaluation.outcomes.label_choice import LabelChoice
from frame_ros.evaluation.outcomes.options import EpisodeOutcomeOptions
from frame_ros.evaluation.outcomes.stream_stages import stages_of_streams
from frame_ros.evaluation.policy_labels import labels_of

Value = TypeVar('Value')
# Stamps before it are of a simulated clock, ns: 2000-01-01.
FIRST_DATE = 946_684_800 * SECOND
ENDS_OF_OPERATIONS = (
    EventType.OPERATION_SUCCESS,
    EventType.OPERATION_FAILURE,
    EventType.STOP,
)


def episode_outcome(
    episode: Episode,
    policy: str = '',
    options: EpisodeOutcomeOptions | None = None,
    labels: LabelChoice | None = None,
) -> EpisodeOutcome:
    """Returns the outcome of an episode: its operations, and its facts.

    `is_success` is the outcome of END, else that of SUCCESS or FAILURE; a success with help of an
    operator is none (`options.interventions`), or not known where the operation is censored. Of
    a human all driving counts. Where nothing says how it ended, `is_success` is None and the
    operations are empty. Facts that cannot be read are left out, and noted.

    Args:
        policy: label of its policy; '': `policy_labels` of this episode alone.
        options: None: the usual ones.
        labels: those of the operations that take precedence over the events; None: none do.
    """
    options = options or EpisodeOutcomeOptions()
    attributes = facts.with_plain_names(episode_facts(episode))
    notes: list[str] = []
    is_human = bool(_readable(facts.is_human, attributes, notes))
    if is_human:
        options = evolved(options, interventions=COUNTED)
    by_events = operations_of_events(episode, options)
    is_success = _is_success(episode, by_events, options, notes)
    chosen, reason = (labels or LabelChoice()).operations(episode, options)
    found = chosen or by_events
    notes += filter(None, [reason])
    stages = _readable(facts.stages_of, attributes, notes) or {}
    if not stages and options.stages_from_streams:
        stages, reason = stages_of_streams(episode, is_success, options.lift_height)
        notes += filter(None, [reason])
    notes += found.notes
    if episode.is_truncated:
        notes.append('the recording was cut')
    return EpisodeOutcome(
        name=episode.episode_id,
        policy=policy or labels_of([attributes])[0],
        object=attributes.get('object', ''),
        task=attributes.get('instruction', ''),
        duration=found.duration,
        operations=found.operations if chosen or says_how_it_ended(episode) else (),
        is_success=is_success,
        stages=stages,
        pair=facts.pair_of(attributes),
        is_human=is_human,
        label_source=found.label_source,
        operator_count=found.operator_count,
        interventions=found.interventions,
        conditions=facts.conditions_of(attributes),
        date=_date(bounds_of(episode)[0]),
        source=episode.path,
        notes=tuple(dict.fromkeys(notes)),
    )


def recorded_outcome(episode: Episode) -> Outcome:
    """Returns the outcome of END; else that of the last SUCCESS or FAILURE; else UNKNOWN."""
    ends = [event.outcome for event in episode.events if event.type is EventType.END]
    if ends and ends[-1] is not Outcome.UNKNOWN:
        return ends[-1]
    for event in reversed(episode.events):
        if event.type in (EventType.SUCCESS, EventType.FAILURE):
            return Outcome[event.type.name]
    return Outcome.UNKNOWN


def says_how_it_ended(episode: Episode) -> bool:
    """Returns whether an event says how the episode, or an operation of it, ended."""
    if recorded_outcome(episode) is not Outcome.UNKNOWN:
        return True
    return any(event.type in ENDS_OF_OPERATIONS for event in episode.events)


def _is_success(
    episode: Episode, found: EpisodeOperations, options: OperationOptions, notes: list[str]
) -> bool | None:
    outcome = recorded_outcome(episode)
    if outcome is Outcome.UNKNOWN:
        return None
    if outcome is not Outcome.SUCCESS or not found.interventions:
        return outcome is Outcome.SUCCESS
    with_help = operations_of_events(episode, evolved(options, interventions=COUNTED))
    if found.successes == with_help.successes:
        return True  # the operator drove before or after all that succeeded
    if options.interventions == CENSORED:
        notes.append('an operator helped to its success: it is neither a success nor a failure')
        return None
    notes.append('an operator helped to its success: it does not count as one')
    return False


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
