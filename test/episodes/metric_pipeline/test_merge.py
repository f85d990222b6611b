# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
import random

from hypothesis import given
from hypothesis import strategies as st

from frame_ros.core.time import SECOND
from frame_ros.episodes.metric_pipeline.merge import StampMerge

MS = SECOND // 1000


def recording_merge(**settings):
    out = []
    handlers = {
        name: (lambda stamp, value, name=name: out.append((stamp, name, value)))
        for name in ('event', 'pose', 'action')
    }
    return StampMerge(handlers, waits_for=('pose', 'action'), **settings), out


def test_a_sample_waits_until_the_other_stream_has_passed_it():
    merge, out = recording_merge()
    merge.push('pose', 10 * MS, 'p10')
    merge.push('action', 20 * MS, 'a20')
    merge.drain()
    assert out == [(10 * MS, 'pose', 'p10')]
    merge.push('pose', 20 * MS, 'p20')
    merge.drain()
    assert [entry[2] for entry in out] == ['p10', 'p20', 'a20']


def test_the_hold_ends_the_wait():
    merge, out = recording_merge(hold=0.05)
    merge.push('pose', 10 * MS, 'p', now=11 * MS)
    merge.push('action', 20 * MS, 'a', now=21 * MS)
    merge.drain(now=70 * MS)
    assert [entry[2] for entry in out] == ['p']
    assert merge.lagging(20 * MS) == ['pose']
    merge.drain(now=71 * MS)
    assert [entry[2] for entry in out] == ['p', 'a']


def test_a_silent_stream_is_not_waited_for():
    merge, out = recording_merge(silence=1.0)
    merge.push('pose', 10 * MS, 'p')
    merge.push('action', 2 * SECOND, 'a')
    merge.drain()
    assert [entry[2] for entry in out] == ['p', 'a']
    assert merge.lagging(2 * SECOND) == ['pose']


def test_an_event_announced_ahead_waits_for_its_stamp():
    merge, out = recording_merge(hold=0.05)
    merge.push('event', 100 * MS, 'start', now=0, ahead=True)
    merge.drain(now=140 * MS)
    assert out == []
    merge.drain(now=150 * MS)
    assert [entry[2] for entry in out] == ['start']


def test_late_samples_are_handed_on_and_counted():
    merge, out = recording_merge()
    for stamp in (10, 30):
        merge.push('pose', stamp, f'p{stamp}')
        merge.push('action', stamp, f'a{stamp}')
    merge.drain()
    merge.push('event', 20, 'late')
    merge.flush()
    assert merge.late == {'event': 1, 'pose': 0, 'action': 0}
    assert out[-1] == (20, 'event', 'late')


@given(
    st.lists(st.integers(1, 500), unique=True, min_size=1, max_size=40),
    st.lists(st.integers(1, 500), unique=True, min_size=1, max_size=40),
    st.randoms(use_true_random=False),
)
def test_order_does_not_depend_on_arrival(poses, actions, order: random.Random):
    merge, out = recording_merge()
    waiting = {'pose': sorted(poses), 'action': sorted(actions)}
    while any(waiting.values()):
        stream = order.choice([name for name, stamps in waiting.items() if stamps])
        stamp = waiting[stream].pop(0)
        merge.push(stream, stamp, stamp)
        merge.drain()
    merge.flush()
    expected = sorted([(s, 0, s) for s in poses] + [(s, 1, s) for s in actions])
    assert [(s, ('pose', 'action').index(name), v) for s, name, v in out] == expected
    assert sum(merge.late.values()) == 0
