# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The operations of an episode by its events, as PhAIL defines them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from frame_ros.core.events import Event, EventType, Outcome
from frame_ros.episodes.episode import Episode
from frame_ros.evaluation.operations.episode_operations import EpisodeOperations
from frame_ros.evaluation.operations.event_times import EventTimes, finish_of
from frame_ros.evaluation.operations.marks import ENDING as ENDING_FACT
from frame_ros.evaluation.operations.marks import OPERATION_KINDS, Marked, Marks, each_once
from frame_ros.evaluation.operations.operator_counts import OperatorCounts, operator_counts
from frame_ros.evaluation.operations.options import (
    CENSORED,
    COUNTED,
    ENDING,
    START,
    OperationOptions,
)
from frame_ros.evaluation.outcomes.episode_outcome import LabelSource
from frame_ros.evaluation.outcomes.operation import GHOSTS, Ending, Operation

# A label this much after the end of its episode is one of rounding, s.
SLACK = 0.05


def operations_of_events(
    episode: Episode, options: OperationOptions | None = None
) -> EpisodeOperations:
    """Returns the operations of an episode by its events (PhAIL, section 3.1 and appendix F).

    A success takes the time since the success before it, or since the start. OPERATION_FAILURE,
    FAILURE, STOP, and items that the operator counted as lost or left, are hard failures. What was
    open at the end is censored: TIMEOUT, or STOPPED, also where nothing says how it ended; an
    episode with neither success nor hard failure is one censored operation of its length. SUCCESS
    and FAILURE are those of the task, the one operation of an episode without OPERATION_SUCCESS;
    nothing remains after them. The outcome of END takes precedence over them.

    Args:
        options: None: PhAIL's rules. For the recording of a human at a leader arm
            `interventions` must be 'counted'.
    """
    options = options or OperationOptions()
    times = EventTimes(episode, options.clock_jump)
    inside = times.inside([e for e in episode.events if e.type in OPERATION_KINDS])
    events, repeated = each_once(inside, options.repeat_time)
    if repeated:
        times.notes.append(f'{repeated} of its events repeat the one before: counted once')
    marks = Marks(events, options.every_success)
    source = LabelSource.EVENTS if marks.endings else LabelSource.OUTCOME
    _take_outcome(marks, times, finish_of(episode))
    return _finished(episode, marks, times, source, options)


def operations_of_labels(
    episode: Episode,
    labels: Iterable[tuple[float, Ending]],
    source: LabelSource,
    options: OperationOptions | None = None,
) -> EpisodeOperations:
    """Returns the operations of an episode whose endings come from elsewhere than its events. Those
    only bound it, and say of STOP, interventions and the outcome of END how what was open ended.

    labels: times (s since the episode's start) and endings.
    """
    options = options or OperationOptions()
    times = EventTimes(episode, options.clock_jump)
    kept = (EventType.STOP, EventType.OPERATION_START)
    events = times.inside([event for event in episode.events if event.type in kept])
    late = 0
    for time, ending in labels:
        late += time > times.duration + SLACK
        is_success = ending is Ending.SUCCESS
        kind = EventType.OPERATION_SUCCESS if is_success else EventType.OPERATION_FAILURE
        facts = {} if is_success else {ENDING_FACT: ending.value}
        moment = min(max(time, 0.0), times.duration)
        events.append((moment, Event(0, kind, attributes=facts)))
    if late:
        times.notes.append(f'{late} of its labels lie after its END: they are taken at END')
    marks = Marks(sorted(events, key=lambda pair: pair[0]), every_success=False)
    finish = finish_of(episode)
    if finish is not None and finish.outcome is Outcome.SUCCESS:
        if any(each.ending is Ending.SUCCESS for each in marks.endings):
            marks.is_done = True
        else:
            marks.notes.append('END says success, but none was found: it is censored at its end')
        finish = replace(finish, outcome=Outcome.STOPPED)
    _take_outcome(marks, times, finish)
    return _finished(episode, marks, times, source, options)


def _finished(
    episode: Episode,
    marks: Marks,
    times: EventTimes,
    source: LabelSource,
    options: OperationOptions,
) -> EpisodeOperations:
    """Returns the operations of all endings, with the operator's counts and interventions."""
    counts, unread = operator_counts(episode)
    _take_counts(marks, times.duration, counts)
    takeovers = times.takeovers(episode.events)
    operations = _operations(marks.endings, options.begins)
    return EpisodeOperations(
        _without_help(operations, takeovers, options.interventions),
        times.duration,
        source,
        counts,
        len(takeovers),
        (*times.notes, *marks.notes, *unread),
    )


def _take_outcome(marks: Marks, times: EventTimes, finish: Event | None) -> None:
    """Ends what is open at the end of the episode by the outcome of END."""
    outcome = finish.outcome if finish is not None else Outcome.UNKNOWN
    given = marks.ending_of(finish) if finish is not None else None
    if outcome is Outcome.SUCCESS:
        _take_success(marks, times.duration)
    elif outcome is Outcome.FAILURE:
        _take_failure(marks, times.duration, given or Ending.FAILURE)
    elif not marks.is_done:
        ending = Ending.TIMEOUT if outcome is Outcome.TIMEOUT else Ending.STOPPED
        if outcome is Outcome.UNKNOWN and given is None:
            marks.notes.append('nothing says how it ended: what was open then is censored')
        if not marks.endings or times.duration > marks.endings[-1].time:
            marks.add(times.duration, given or ending)


def _take_success(marks: Marks, duration: float) -> None:
    if any(each.ending is Ending.SUCCESS for each in marks.endings):
        return
    if any(each.is_of_task for each in marks.endings):
        marks.endings = [each for each in marks.endings if not each.is_of_task]
        marks.notes.append('END says success after FAILURE: END takes precedence')
    else:
        marks.notes.append('no event marks the success that END states: it is taken at END')
    marks.add(duration, Ending.SUCCESS)


def _take_failure(marks: Marks, duration: float, ending: Ending) -> None:
    task = [each for each in marks.endings if each.is_of_task and each.ending is Ending.SUCCESS]
    if task:
        marks.replace_of_task(ending)
        marks.notes.append('END says failure after SUCCESS: END takes precedence')
    elif not marks.is_done and marks.last not in GHOSTS:
        marks.add(duration, ending)


def _take_counts(marks: Marks, duration: float, counts: OperatorCounts) -> None:
    """Adds a drop for each item lost or left that no event marks; failures of operations without a
    reason are drops as far as the operator's count goes.
    """
    left = (counts.drops or 0) - sum(each.ending is Ending.DROP for each in marks.endings)
    for place, each in enumerate(marks.endings):
        if left > 0 and each.is_unexplained:
            marks.endings[place] = replace(each, ending=Ending.DROP)
            left -= 1
    marks.endings += [Marked(duration, Ending.DROP)] * max(left, 0)


def _operations(endings: Sequence[Marked], begins: str) -> tuple[Operation, ...]:
    """Returns an operation for each ending, which begins as `begins` says."""
    operations, success, ending = [], 0.0, 0.0
    for each in endings:
        begin = success if begins not in (ENDING, START) else ending
        if begins == START and each.begun is not None:
            begin = each.begun
        operations.append(Operation(begin, each.time, each.ending))
        ending = each.time
        if each.ending is Ending.SUCCESS:
            success = each.time
    return tuple(operations)


def _without_help(
    operations: Sequence[Operation], segments: Sequence[tuple[float, float]], rule: str
) -> tuple[Operation, ...]:
    """Ends operations in which an operator drove (segments, s) at the takeover, by the rule."""
    if rule == COUNTED:
        return tuple(operations)
    ending = Ending.STOPPED if rule == CENSORED else Ending.SAFETY_STOP
    found = []
    for each in operations:
        helped = [begin for begin, end in segments if begin < each.end and end > each.begin]
        if helped and not each.is_ghost:
            each = Operation(each.begin, max(each.begin, min(helped)), ending)
        found.append(each)
    return tuple(found)
