# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Operations of episodes by their events: PhAIL's rules, and bad recordings."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frame_ros.bags.streams.form import Stream
from frame_ros.core.events import Event, EventType, Outcome
from frame_ros.core.time import SECOND
from frame_ros.episodes.episode import Episode
from frame_ros.evaluation.operations.from_events import operations_of_events
from frame_ros.evaluation.operations.options import OperationOptions
from frame_ros.evaluation.outcomes.episode_outcome import LabelSource
from frame_ros.evaluation.outcomes.operation import Ending

BEGIN = 10_000 * SECOND
NAMES = {
    'begin': EventType.OPERATION_START,
    'placed': EventType.OPERATION_SUCCESS,
    'failed': EventType.OPERATION_FAILURE,
    'success': EventType.SUCCESS,
    'failure': EventType.FAILURE,
    'stop': EventType.STOP,
    'takeover': EventType.INTERVENTION_START,
    'back': EventType.INTERVENTION_END,
}


def event(kind, time, outcome=Outcome.UNKNOWN, lag=0.0, **facts):
    stamp = BEGIN + round(time * SECOND)
    received = stamp + round(lag * SECOND)
    return Event(stamp, kind, 'e', outcome, attributes=facts, received=received)


def episode(*marks, outcome=Outcome.TIMEOUT, length=60.0, facts=None, **end):
    """Marks are pairs of a name and a time, s, or events."""
    events = [event(NAMES[m[0]], m[1]) if isinstance(m, tuple) else m for m in marks]
    ends = [event(EventType.END, length, outcome, **end)] if outcome is not None else []
    return Episode(Path('bag'), 'e', facts or {}, [event(EventType.START, 0.0), *events, *ends],
                   {}, {})  # fmt: skip


def found(*marks, options=None, **facts):
    made = operations_of_events(episode(*marks, **facts), options)
    return [(each.begin, each.end, each.ending.value) for each in made.operations]


def test_a_success_takes_the_time_since_the_success_before():
    marks = [('placed', 10.0), ('placed', 25.0)]
    assert found(*marks) == [(0, 10, 'success'), (10, 25, 'success'), (25, 60, 'timeout')]
    made = operations_of_events(episode(*marks))
    assert [each.time for each in made.operations] == [10.0, 15.0, 35.0]
    assert [each.event for each in made.operations] == [True, True, False]
    assert made.successes == 2 and made.duration == 60.0 and not made.notes
    assert made.label_source is LabelSource.EVENTS


@pytest.mark.parametrize(
    ('begins', 'begin_of_second', 'begin_of_last'),
    [('success', 0.0, 30.0), ('ending', 12.0, 30.0), ('start', 20.0, 30.0)],
)
def test_the_begin_of_an_operation_is_chosen(begins, begin_of_second, begin_of_last):
    marks = [('begin', 2.0), ('failed', 12.0), ('begin', 20.0), ('placed', 30.0)]
    first = 2.0 if begins == 'start' else 0.0
    assert found(*marks, options=OperationOptions(begins=begins)) == [
        (first, 12.0, 'failure'),
        (begin_of_second, 30.0, 'success'),
        (begin_of_last, 60.0, 'timeout'),
    ]


@pytest.mark.parametrize(
    ('marks', 'outcome', 'expected'),
    [
        ([('success', 12)], Outcome.SUCCESS, [(0, 12, 'success')]),
        ([('failure', 12)], Outcome.FAILURE, [(0, 12, 'failure')]),
        ([], Outcome.SUCCESS, [(0, 60, 'success')]),
        ([], Outcome.FAILURE, [(0, 60, 'failure')]),
        ([], Outcome.TIMEOUT, [(0, 60, 'timeout')]),
        ([], Outcome.STOPPED, [(0, 60, 'stopped')]),
        ([], Outcome.UNKNOWN, [(0, 60, 'stopped')]),
        ([('stop', 12)], Outcome.STOPPED, [(0, 12, 'safety_stop')]),
        ([('stop', 12), ('stop', 12.9)], Outcome.STOPPED, [(0, 12, 'safety_stop')]),
        # Seen done before time ran out; and seen done although it was stopped then.
        ([('success', 12)], Outcome.TIMEOUT, [(0, 12, 'success')]),
        ([('success', 12), ('stop', 13)], Outcome.STOPPED, [(0, 12, 'success')]),
        # END has the last word.
        ([('success', 12)], Outcome.FAILURE, [(0, 12, 'failure')]),
        ([('failure', 12)], Outcome.SUCCESS, [(0, 60, 'success')]),
        # The task's own events count no operation twice.
        ([('placed', 10), ('success', 10.1)], Outcome.SUCCESS, [(0, 10, 'success')]),
        ([('failed', 10), ('failure', 10.1)], Outcome.FAILURE, [(0, 10, 'failure')]),
        ([('placed', 10), ('failure', 15)], Outcome.FAILURE,
         [(0, 10, 'success'), (10, 15, 'failure')]),
        ([('placed', 10)], Outcome.FAILURE, [(0, 10, 'success'), (10, 60, 'failure')]),
        ([('placed', 10)], Outcome.STOPPED, [(0, 10, 'success'), (10, 60, 'stopped')]),
        ([('placed', 10), ('stop', 20)], Outcome.STOPPED,
         [(0, 10, 'success'), (10, 20, 'safety_stop')]),
        ([('placed', 60)], Outcome.TIMEOUT, [(0, 60, 'success')]),
        ([('failed', 10)], Outcome.SUCCESS, [(0, 10, 'failure'), (0, 60, 'success')]),
        # It went on after a stop.
        ([('stop', 10), ('placed', 30)], Outcome.TIMEOUT,
         [(0, 10, 'safety_stop'), (0, 30, 'success'), (30, 60, 'timeout')]),
    ],
)  # fmt: skip
def test_the_end_of_an_episode_decides_on_what_is_open(marks, outcome, expected):
    assert found(*marks, outcome=outcome) == expected


def test_an_ending_can_be_named():
    marked = event(EventType.OPERATION_FAILURE, 5.0, ending='drop')
    stop = event(EventType.STOP, 9.0, ending='stopped')
    assert [each[2] for each in found(marked, stop)] == ['drop', 'stopped']
    assert found(outcome=Outcome.STOPPED, ending='safety_stop') == [(0, 60, 'safety_stop')]
    made = operations_of_events(episode(event(EventType.OPERATION_FAILURE, 5.0, ending='oops')))
    assert [each.ending for each in made.operations] == [Ending.FAILURE, Ending.TIMEOUT]
    assert "'oops'; expected: success, drop" in made.notes[0]


def test_every_success_can_be_an_operation():
    marks = [('success', 10.0), ('success', 20.0)]
    assert found(*marks) == [(0, 10, 'success')]
    assert 'OPERATION_SUCCESS' in operations_of_events(episode(*marks)).notes[0]
    each = OperationOptions(every_success=True)
    assert found(*marks, options=each) == [
        (0, 10, 'success'),
        (10, 20, 'success'),
        (20, 60, 'timeout'),
    ]


@pytest.mark.parametrize(
    'facts',
    [
        {'successful_items': '2', 'lost_items': '1', 'left_items': '2'},
        {'end_notes': 'towel torn; successful_items=2 lost_items=1 left_items=2'},
        {'eval.successful_items': '2', 'eval.lost_items': '3'},
    ],
)
def test_items_lost_or_left_are_drops(facts):
    made = operations_of_events(episode(('placed', 10.0), ('failed', 20.0), facts=facts))
    endings = [each.ending.value for each in made.operations]
    assert endings == ['success', 'drop', 'timeout', 'drop', 'drop']
    assert made.operations[-1].time == math.inf
    assert made.operator_count == 2 and made.successes == 1 and made.agrees is False


def test_counts_at_the_end_take_precedence_and_bad_ones_are_noted():
    facts = {'successful_items': '5', 'lost_items': '-1'}
    made = operations_of_events(episode(('placed', 1.0), facts=facts, successful_items='1'))
    assert made.agrees is True
    assert made.counts.drops is None
    assert "lost_items is '-1'; expected: a whole number" in made.notes[0]
    assert operations_of_events(episode()).agrees is None


@pytest.mark.parametrize(
    ('rule', 'expected'),
    [
        ('safety_stop', [(0, 10, 'success'), (10, 14, 'safety_stop'), (30, 60, 'timeout')]),
        ('censored', [(0, 10, 'success'), (10, 14, 'stopped'), (30, 60, 'timeout')]),
        ('counted', [(0, 10, 'success'), (10, 30, 'success'), (30, 60, 'timeout')]),
    ],
)
def test_an_operation_in_which_an_operator_drove(rule, expected):
    marks = [('placed', 10), ('takeover', 14), ('back', 20), ('placed', 30)]
    assert found(*marks, options=OperationOptions(interventions=rule)) == expected
    assert operations_of_events(episode(*marks)).interventions == 1


def test_what_is_sent_twice_or_stamped_outside_is_not_counted():
    marks = [('placed', 10.0), ('placed', 10.2), ('placed', -3.0), ('placed', 61.0)]
    made = operations_of_events(episode(*marks))
    assert made.successes == 1
    assert 'before its START' in made.notes[0] and 'after its END' in made.notes[1]
    assert 'repeat' in made.notes[2]
    other = event(EventType.OPERATION_SUCCESS, 10.2)
    other = Event(other.stamp, other.type, 'e', operation=1)
    assert operations_of_events(episode(('placed', 10.0), other)).successes == 2


def test_without_start_or_end_the_data_bounds_it():
    stamps = BEGIN + np.arange(0, 31) * SECOND
    stream = Stream('a', 'b', stamps, stamps, {})
    bare = Episode(Path('bag'), 'e', {}, [event(NAMES['placed'], 10.0)], {'action': stream}, {})
    made = operations_of_events(bare)
    assert [(each.begin, round(each.end, 6)) for each in made.operations] == [(0, 10), (10, 30)]
    assert made.operations[-1].ending is Ending.STOPPED
    assert [note[:8] for note in made.notes] == ['no START', 'no END: ', 'nothing ']


def jumped(jump, at=20.0, rate=1.0, received=True):
    """An episode of 60 s whose clock jumps at a time."""
    arrived = np.arange(0.0, 60.0, 0.05)
    stamps = arrived * rate + np.where(arrived >= at, jump, 0.0)
    to_ns = [(BEGIN + values * SECOND).astype(np.int64) for values in (stamps, arrived)]

    def moved(kind, time, outcome=Outcome.UNKNOWN):
        stamp = time * rate + (jump if time >= at else 0.0)
        made = event(kind, stamp, outcome, lag=time - stamp)
        return made if received else Event(made.stamp, kind, 'e', outcome)

    events = [moved(EventType.START, 0), moved(NAMES['placed'], 10), moved(NAMES['placed'], 30),
              moved(EventType.END, 60, Outcome.TIMEOUT)]  # fmt: skip
    streams = {'action': Stream('a', 'b', *to_ns, {})}
    return Episode(Path('bag'), 'e', {}, events, streams, {})


@pytest.mark.parametrize('jump', [3600.0, -15.0, -3600.0])
def test_where_the_clock_jumps_the_receive_times_count(jump):
    made = operations_of_events(jumped(jump))
    assert [round(each.end - each.begin, 6) for each in made.operations] == [10, 20, 30]
    (note,) = made.notes
    assert f'jumps ({jump:+.0f} s)' in note
    doubtful = operations_of_events(jumped(jump, received=False))
    assert any('doubtful' in note for note in doubtful.notes)


@pytest.mark.parametrize('rate', [0.2, 1.0, 5.0])
def test_a_simulated_clock_is_no_jump(rate):
    made = operations_of_events(jumped(0.0, rate=rate))
    times = [round(each.end - each.begin, 6) for each in made.operations]
    assert times == [10 * rate, 20 * rate, 30 * rate]
    assert not made.notes


kinds = st.sampled_from(sorted(NAMES))
marks = st.lists(st.tuples(kinds, st.floats(-5.0, 70.0)), max_size=12)
endings = st.one_of(st.none(), st.sampled_from(Outcome))


@given(marks, endings, st.sampled_from(['success', 'ending', 'start']), st.booleans())
def test_any_events_give_operations_that_fit_the_episode(listed, outcome, begins, every):
    options = OperationOptions(begins=begins, every_success=every)
    made = operations_of_events(episode(*listed, outcome=outcome), options)
    assert made.operations
    ends = [each.end for each in made.operations if each.ending is not Ending.SAFETY_STOP]
    assert all(0.0 <= each.begin <= each.end <= made.duration for each in made.operations)
    assert ends == sorted(ends)
    censored = [each for each in made.operations if not each.event]
    assert len(censored) <= 1 + sum(name == 'takeover' for name, _ in listed)
    assert made.successes <= sum(name in ('placed', 'success') for name, _ in listed) + 1


@given(st.lists(st.floats(0.6, 30.0), min_size=1, max_size=10))
def test_times_of_successes_sum_up_to_the_episode(gaps):
    times = np.cumsum(gaps)
    made = operations_of_events(
        episode(*(('placed', t) for t in times), length=float(times[-1]) + 5.0)
    )
    assert made.successes == len(gaps)
    assert sum(each.time for each in made.operations) == pytest.approx(made.duration)
