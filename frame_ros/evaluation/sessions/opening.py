# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The end of a session: outcomes by marks and bags, and only then the labels."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone

from frame_ros.core.errors import SetupError
from frame_ros.core.plain_text import counted
from frame_ros.evaluation.outcomes.assembly import TWICE
from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome, LabelSource
from frame_ros.evaluation.outcomes.outcome_set import OutcomeSet
from frame_ros.evaluation.sessions.folder import SessionFolder
from frame_ros.evaluation.sessions.journal import (
    INVALID,
    OPENED,
    RECORDED,
    SUCCESS,
    Trial,
    trials_of,
)
from frame_ros.evaluation.sessions.opening_options import MARKS, OpeningOptions
from frame_ros.evaluation.sessions.plan import SessionKey, is_trial_id
from frame_ros.evaluation.sessions.running import AGAIN, open_trial
from frame_ros.evaluation.sessions.schedule import Attempt, Schedule

# s that START, which is in whole seconds, may be away from the first action, and clocks from each
# other.
TOLERANCE = 5.0


@dataclass(frozen=True)
class OpenedSession:
    """A session with its labels.

    Attributes:
        outcomes: of the trials that count, in the order in which they were run.
        notes: for the reader: what was early, decided, or left out.
        is_early: whether trials are missing.
        marks: policy -> successes and trials that count.
        invalid: policy -> trials that were marked as invalid, by the operator or the server.
    """

    outcomes: tuple[EpisodeOutcome, ...]
    notes: tuple[str, ...]
    is_early: bool
    marks: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    invalid: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class _Judged:
    """A trial with what its bag says, still without its policy.

    is_against_bag: its outcome is the mark's, and its bag, with its operations, has the other.
    """

    trial: Trial
    bag: EpisodeOutcome | None
    is_success: bool
    notes: tuple[str, ...] = ()
    is_against_bag: bool = False

    @property
    def without_times(self) -> _Judged:
        """The same without the operations in its bag."""
        return replace(self, bag=self.bag and replace(self.bag, operations=()))


def open_session(
    folder: SessionFolder, bags: OutcomeSet | None = None, options: OpeningOptions | None = None
) -> OpenedSession:
    """Opens the labels and returns the outcomes with them. The journal says that it was done, with
    the SHA-256 of what stood in it until then.

    bags: outcomes of the bags; None: marks alone.

    Raises:
        SetupError: trials are missing, marks and bags contradict each other, an outcome is nowhere,
            or the key does not fit its commitment. The labels then stay closed.
    """
    with folder.journal.held() as add:
        return _open(folder, bags, options or OpeningOptions(), add)


def _open(
    folder: SessionFolder,
    bags: OutcomeSet | None,
    options: OpeningOptions,
    add: Callable[..., None],
) -> OpenedSession:
    events = folder.journal.events()
    trials = trials_of(events)
    key = folder.key()
    schedule = Schedule.after(key, events)
    missing = _missing(trials, schedule)
    if missing and not options.early:
        raise SetupError(f'{missing}; --early opens the labels all the same, and says so')
    valid = [each for each in trials.values() if each.is_valid]
    matched, notes = _matched(trials, bags, bool(options.decided_by))
    judged = [_judged(each, matched.get(each.id), options.decided_by) for each in valid]
    _refuse(judged, valid)
    if missing:
        notes.append(f'opened early: {missing}')
    counted, repeats = _once([each for each in judged if isinstance(each, _Judged)], schedule.begun)
    notes += repeats
    counted, left_out = _without_selected_times(counted)
    notes += left_out
    doubts = [f'the session was opened early: {missing}'] if missing else []
    before = [event['time'] for event in events if event['event'] == OPENED]
    if before:
        doubts.append(f'the labels were open since {before[0][:19]}Z')
        notes.append(doubts[-1])
    outcomes = tuple(_outcome(folder, each, schedule.begun, tuple(doubts)) for each in counted)
    digest = folder.journal.digest()
    add(
        OPENED, early=bool(missing), missing=missing, decided_by=options.decided_by,
        journal_sha256=digest,
    )  # fmt: skip
    notes += [note for each in counted for note in each.notes]
    invalid = Counter(
        schedule.begun[id].what.policy for id, each in trials.items() if each.outcome == INVALID
    )
    return OpenedSession(
        outcomes, tuple(notes), bool(missing), _rates(outcomes, key),
        {name: invalid[name] for name in key.policies},
    )  # fmt: skip


def _missing(trials: Mapping[str, Trial], schedule: Schedule) -> str:
    """Returns in words what is missing; '' if nothing is."""
    parts = []
    if unmarked := open_trial(dict(trials)):
        parts.append(f'trial {unmarked.id} is not marked')
    if schedule.remaining:
        parts.append(f'{counted(len(schedule.remaining), "trial")} not run')
    return ' and '.join(parts)


def _matched(
    trials: Mapping[str, Trial], bags: OutcomeSet | None, is_decided: bool
) -> tuple[dict[str, EpisodeOutcome], list[str]]:
    """Returns id of a valid trial -> the outcome in its bag, by the name of the policy that the bag
    has, which is the trial's, or else by time; and remarks.

    Raises:
        SetupError: two episodes are of one trial; or, unless it is decided what then holds, one has
            the name of a trial and was recorded during another.
    """
    if bags is None:
        return {}, []
    known = {id: each for id, each in trials.items() if each.is_valid}
    found: dict[str, EpisodeOutcome] = {}
    notes = [f'{each.name} was not read: {each.reason}' for each in bags.unread]
    copies = [each for each in bags.excluded if each.reason.startswith(TWICE)]
    notes += [f'{each.name} in {each.source} is left out: {each.reason}' for each in copies]
    left = [e.outcome for e in bags.excluded if e.outcome is not None and e not in copies]
    for outcome in (*bags.outcomes, *left):
        id, is_by_time, doubt = _trial_of(outcome, trials)
        if doubt and not is_decided:
            raise SetupError(
                f'{doubt}. The labels stay closed: leave that bag out, or choose with --decided-by'
            )
        if doubt:
            notes.append(doubt)
        if id not in known:
            notes.append(f'{outcome.name} is of no valid trial of the session')
            continue
        if id in found:
            raise SetupError(
                f'the episodes {found[id].name} in {found[id].source} and {outcome.name} in '
                f'{outcome.source} are both of trial {id}; name the bag of one'
            )
        if is_by_time:
            notes.append(f'{outcome.name} was taken for trial {id} by its time')
        found[id] = outcome
    if without := [id for id in known if id not in found]:
        notes.append(f'without a bag: {", ".join(without)}')
    return found, notes


def _trial_of(outcome: EpisodeOutcome, trials: Mapping[str, Trial]) -> tuple[str, bool, str]:
    """Returns the trial of an episode, '' if there is none; whether it was found by time; and what
    is doubtful about it.
    """
    label = outcome.policy.partition(',')[0].strip()
    within = _during(outcome, trials)
    if label in trials:
        doubt = (
            f'{outcome.name} has the name of trial {label}, and the time of trial {within[0]}'
            if within and label not in within
            else ''
        )
        return label, False, doubt
    if is_trial_id(label):  # of another session, perhaps at the same time on another robot
        return '', False, ''
    return (within[0], True, '') if len(within) == 1 else ('', False, '')


def _during(outcome: EpisodeOutcome, trials: Mapping[str, Trial]) -> list[str]:
    """Returns the trials that began during an episode, as far as it has a time of day."""
    start = _moment(outcome.date)
    if start is None:
        return []
    duration = outcome.duration if math.isfinite(outcome.duration) else 0.0
    first = start - timedelta(seconds=TOLERANCE)
    last = start + timedelta(seconds=duration + TOLERANCE)
    begun = {id: _moment(each.begun) for id, each in trials.items()}
    return [id for id, moment in begun.items() if moment and first <= moment <= last]


def _moment(text: str) -> datetime | None:
    """Returns a time, UTC where it does not say; None: it is none, or only a day."""
    try:
        moment = datetime.fromisoformat(text.replace('Z', '+00:00'))
    except ValueError:
        return None
    if len(text) <= len('2026-01-01'):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)


def _judged(trial: Trial, bag: EpisodeOutcome | None, decided_by: str) -> _Judged | str:
    """Returns the trial with its outcome; or why it has none."""
    recorded = None if bag is None else bag.is_success
    marked = None if trial.outcome == RECORDED else trial.outcome == SUCCESS
    if marked is None and recorded is None:
        where = 'no bag of it was given' if bag is None else 'its bag has no outcome'
        return f'trial {trial.id} was marked {RECORDED!r}, and {where}'
    if marked is None or recorded is None or marked is recorded:
        return _Judged(trial, bag, bool(recorded if marked is None else marked))
    words = {True: 'a success', False: 'a failure'}
    contradiction = (
        f'trial {trial.id} is {words[marked]} by its mark and {words[recorded]} in its bag'
    )
    if not decided_by:
        return contradiction
    note = f'{contradiction}: the {decided_by} decide'
    is_marked = decided_by == MARKS
    return _Judged(trial, bag, marked if is_marked else recorded, (note,), is_marked)


def _refuse(judged: Iterable[_Judged | str], valid: Sequence[Trial]) -> None:
    problems = [each for each in judged if isinstance(each, str)]
    if problems:
        raise SetupError(
            f'{"; ".join(problems)}. The labels stay closed: correct the mark with frame-ros '
            'session mark --trial, or choose with --decided-by'
        )
    if not valid:
        raise SetupError('no trial counts yet')


def _once(
    judged: Sequence[_Judged], begun: Mapping[str, Attempt]
) -> tuple[list[_Judged], list[str]]:
    """Returns the first valid trial of each slot, and remarks on repeats that were not needed."""
    kept: dict[int, _Judged] = {}
    notes = []
    for each in judged:
        first = kept.setdefault(begun[each.trial.id].slot, each)
        if first is not each:
            notes.append(
                f'trial {each.trial.id} is left out: it repeats {first.trial.id}, which was '
                'marked as invalid and is valid after all'
            )
    return list(kept.values()), notes


def _without_selected_times(judged: list[_Judged]) -> tuple[list[_Judged], list[str]]:
    """Returns the trials without any times, and a remark on it, if those of some do not fit their
    outcome: without these alone, equal policies differ in the times of the rest as soon as the
    bags of one have another outcome than the mark more often.
    """
    against = sum(each.is_against_bag for each in judged)
    if not against:
        return judged, []
    note = (
        f'the times of all trials are left out, and not only those of the {against} whose mark is '
        'not what their bag has: those of the rest would be a selection by outcome; corrected '
        'marks, or --decided-by bags, keep them'
    )
    return [each.without_times for each in judged], [note]


def _outcome(
    folder: SessionFolder, judged: _Judged, begun: Mapping[str, Attempt], notes: tuple[str, ...]
) -> EpisodeOutcome:
    """Returns the outcome of a trial with its policy."""
    trial, what = judged.trial, begun[judged.trial.id].what
    corrected = len([each for each in trial.marks if each.by == 'operator']) > 1
    remarks = [*notes, *judged.notes]
    if corrected:
        remarks.append(f'its mark was corrected: {", ".join(m.outcome for m in trial.marks)}')
    if trial.is_interrupted:
        remarks.append('the session server ended before it was marked')
    if trial.reconnections:
        remarks.append(AGAIN)
    task = folder.plan.instructions.get(what.cell, '')
    own = EpisodeOutcome(
        name=trial.id,
        policy=what.policy,
        object=what.cell,
        task=task,
        duration=math.nan,
        operations=(),
        is_success=judged.is_success,
        pair=f'block {what.block}',
        label_source=LabelSource.FILE,
        conditions={'session': folder.path.resolve().name},
        date=f'{trial.begun[:19]}Z',
        notes=tuple(remarks),
    )
    if (bag := judged.bag) is None:
        return own
    return replace(
        bag,
        name=own.name,
        policy=own.policy,
        object=own.object,
        task=task,  # the same in all of a cell, or its pairs would not be found
        is_success=own.is_success,
        pair=own.pair,
        conditions={**bag.conditions, **own.conditions},
        notes=(*bag.notes, *own.notes),
    )


def _rates(outcomes: Sequence[EpisodeOutcome], key: SessionKey) -> dict[str, tuple[int, int]]:
    trials = Counter(each.policy for each in outcomes)
    successes = Counter(each.policy for each in outcomes if each.is_success)
    return {name: (successes[name], trials[name]) for name in key.policies}
