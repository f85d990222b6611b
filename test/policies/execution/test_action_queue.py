# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The action queue.

Hand-worked schedules, and properties that hold for any latency, chunk length and rate.
"""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.policies.execution.action_queue import ActionQueue
from frame_ros.policies.execution.chunk import Chunk, compare_chunks
from frame_ros.policies.execution.options import ExecutionOptions

PERIOD = 1 / 30


def ramp(first: int, steps: int) -> np.ndarray:
    """A chunk of one dimension whose values are the numbers of their steps."""
    return np.arange(first, first + steps, dtype=float)[:, None]


def take(queue: ActionQueue, ticks: int) -> list:
    """The values of so many ticks.

    None where there was no action, negative where the last one was held.
    """
    values = []
    for _ in range(ticks):
        action, is_stalled = queue.take()
        values.append(None if action is None else -action[0] if is_stalled else action[0])
    return values


def test_first_chunk_is_executed_from_its_first_step_because_the_robot_stood_still():
    queue = ActionQueue(PERIOD)
    queue.open()
    request = queue.request()
    assert take(queue, 5) == [None] * 5
    arrival = queue.push(request, ramp(1, 4), PERIOD)
    assert (arrival.is_used, arrival.stalls, arrival.skipped, arrival.latency) == (True, 5, 0, 5)
    assert np.isnan(arrival.compared.overlap)
    assert take(queue, 6) == [1, 2, 3, 4, -4, -4]


@pytest.mark.parametrize(
    ('alignment', 'expected', 'skipped'),
    [('now', [103, 104, 105], 3), ('first', [100, 101, 102], 0)],
)
def test_a_chunk_is_taken_over_from_the_step_of_this_tick_or_from_its_first(
    alignment, expected, skipped
):
    queue = ActionQueue(PERIOD, ExecutionOptions(alignment=alignment))
    queue.open()
    queue.push(queue.request(), ramp(0, 10), PERIOD)
    take(queue, 2)
    request = queue.request()
    assert take(queue, 3) == [2, 3, 4]
    arrival = queue.push(request, ramp(100, 10), PERIOD)
    assert (arrival.skipped, arrival.queue_depth, arrival.stalls) == (skipped, 5, 0)
    assert take(queue, 3) == expected


def test_overlap_is_the_mean_absolute_difference_over_the_steps_both_predict():
    queue = ActionQueue(PERIOD)
    queue.open()
    queue.push(queue.request(), np.array([[0.0], [1.0], [2.0], [3.0]]), PERIOD)
    take(queue, 2)
    # Steps 2 and 3 of the former chunk (2, 3) meet steps 0 and 1 of this one (2.5, 2).
    arrival = queue.push(queue.request(), np.array([[2.5], [2.0], [9.0], [9.0]]), PERIOD)
    assert arrival.compared.overlap == pytest.approx((0.5 + 1.0) / 2)


def test_consistency_is_the_mean_distance_and_the_shift_is_in_steps_of_executed_actions():
    queue = ActionQueue(PERIOD)
    queue.open()
    first = queue.push(queue.request(), np.array([[0.0, 0], [1, 0], [2, 0], [3, 0]]), PERIOD)
    assert np.isnan(first.compared.consistency) and first.compared.shift == 0.0
    take(queue, 2)
    # Steps 2 and 3 of the former chunk meet steps 0 and 1 of this one, 5 and 1 away.
    newer = np.array([[5.0, 4.0], [3.0, 1.0], [9.0, 9.0], [9.0, 9.0]])
    arrival = queue.push(queue.request(), newer, PERIOD)
    assert arrival.compared.consistency == pytest.approx((5.0 + 1.0) / 2)
    assert arrival.compared.shift == pytest.approx(2.0)
    take(queue, 9)  # five of them stall: the time of executed actions stands still
    late = queue.push(queue.request(), newer, PERIOD)
    assert late.stalls == 5 and late.compared.shift == pytest.approx(4.0)
    assert np.isnan(late.compared.consistency)


def test_overlap_is_by_when_a_step_was_predicted_for_wherever_it_is_executed():
    """Chunks that predict the same do not disagree, although each is executed with a delay."""
    queue = ActionQueue(PERIOD, ExecutionOptions(alignment='first', prefetch=5))
    queue.open()
    queue.push(queue.request(), ramp(0, 10), PERIOD)
    overlaps = []
    for executed in (2, 7, 12):
        take(queue, 2)
        request = queue.request()
        take(queue, 3)  # of the former chunk, while this one is computed
        overlaps.append(queue.push(request, ramp(executed, 10), PERIOD).compared.overlap)
    assert overlaps == [0.0, 0.0, 0.0]


def test_overlap_of_chunks_without_a_common_step_is_not_available():
    a = Chunk(ramp(0, 3), 100, 0)
    assert np.isnan(compare_chunks(a, Chunk(ramp(0, 3), 100, 300)).overlap)
    assert np.isnan(compare_chunks(a, Chunk(ramp(0, 3), 50, 0)).overlap)
    assert np.isnan(compare_chunks(a, Chunk(np.zeros((3, 2)), 100, 0)).overlap)
    assert compare_chunks(a, Chunk(ramp(2, 3), 100, 200)).overlap == 0.0


def test_only_n_action_steps_of_a_chunk_are_executed():
    queue = ActionQueue(PERIOD, ExecutionOptions(n_action_steps=3, prefetch=0))
    queue.open()
    queue.push(queue.request(), ramp(0, 10), PERIOD)
    assert queue.depth == 3
    assert take(queue, 4) == [0, 1, 2, -2]


def test_synchronous_execution_asks_only_when_the_queue_is_empty():
    queue = ActionQueue(PERIOD, ExecutionOptions(prefetch=0))
    queue.open()
    queue.push(queue.request(), ramp(0, 2), PERIOD)
    take(queue, 1)
    assert not queue.wait_for_demand(0)
    take(queue, 1)
    assert queue.wait_for_demand(0)


def test_a_chunk_of_the_last_episode_is_not_used():
    queue = ActionQueue(PERIOD)
    queue.open('a')
    request = queue.request()
    queue.open('b')
    assert queue.request().tag == 'b'
    assert not queue.push(request, ramp(0, 5), PERIOD).is_used
    assert take(queue, 1) == [None]
    request = queue.request()
    queue.close()
    assert not queue.push(request, ramp(0, 5), PERIOD).is_used
    assert not queue.wait_for_demand(0)


def test_an_action_of_the_last_episode_is_not_held_in_the_next():
    queue = ActionQueue(PERIOD)
    queue.open()
    queue.push(queue.request(), ramp(0, 5), PERIOD)
    take(queue, 2)
    queue.open()
    assert take(queue, 1) == [None]


def test_a_chunk_all_of_whose_steps_have_passed_is_dropped_and_the_former_goes_on():
    queue = ActionQueue(PERIOD)
    queue.open()
    queue.push(queue.request(), ramp(0, 10), PERIOD)
    request = queue.request()
    take(queue, 6)
    arrival = queue.push(request, ramp(100, 6), PERIOD)
    assert (arrival.is_used, arrival.skipped) == (False, 6)
    assert take(queue, 2) == [6, 7]


@pytest.mark.parametrize(('rate', 'expected'), [(60, [0, 0, 1, 1, 2]), (15, [0, 2, 4, 6, 8])])
def test_a_chunk_of_another_rate_keeps_its_own_time(rate, expected):
    queue = ActionQueue(1 / rate, ExecutionOptions(prefetch=0, interpolate=False))
    queue.open()
    queue.push(queue.request(), ramp(0, 10), 1 / 30)
    assert queue.depth == 10 * rate // 30
    assert take(queue, 5) == expected


@pytest.mark.parametrize('interpolate', [True, False])
@pytest.mark.parametrize('execution', ['asynchronous', 'ensembling'])
def test_many_ticks_to_a_step_are_all_served(execution, interpolate):
    queue = ActionQueue(0.001, ExecutionOptions(execution=execution, interpolate=interpolate))
    queue.open()
    queue.push(queue.request(), ramp(0, 3), 0.1)
    assert queue.depth == 300
    values = take(queue, 301)
    assert values[99::100] == [0, 1, 2] and values[300] == -2


@pytest.mark.parametrize('horizon', [1, 2, 9])
@pytest.mark.parametrize('execution', ['synchronous', 'asynchronous', 'ensembling'])
def test_one_tick_asks_for_one_inference_however_short_the_chunks(execution, horizon):
    """A policy that is fast, or fails fast, must not take the whole processor."""
    queue = ActionQueue(PERIOD, ExecutionOptions(execution=execution))
    queue.open()
    for tick in range(20):
        calls = 0
        while queue.wait_for_demand(0):
            calls, request = calls + 1, queue.request()
            if tick % 3:  # the others fail
                queue.push(request, ramp(tick, horizon), PERIOD)
        assert calls <= 1
        queue.take()


@pytest.mark.parametrize(
    ('execution', 'alignment', 'blend'),
    [
        ('synchronous', 'now', 0),
        ('asynchronous', 'first', 0),
        ('asynchronous', 'now', 3),
        ('ensembling', 'now', 0),
    ],
)
def test_a_request_knows_the_last_action_that_went_out(execution, alignment, blend):
    queue = ActionQueue(
        PERIOD, ExecutionOptions(alignment=alignment, execution=execution, blend=blend)
    )
    queue.open()
    assert queue.request().last is None
    values = np.random.default_rng(0).normal(size=(30, 6, 1))
    last = None
    for chunk in values:
        request = queue.request()
        assert request.last is last
        queue.push(request, chunk, PERIOD)
        for _ in range(3):
            last, _ = queue.take()
    queue.open()
    assert queue.request().last is None


def test_whether_a_request_is_of_the_episode_that_runs():
    queue = ActionQueue(PERIOD)
    queue.open()
    request = queue.request()
    assert queue.is_current(request)
    queue.open()
    assert not queue.is_current(request)
    request = queue.request()
    queue.close()
    assert not queue.is_current(request)


def test_demand_wakes_the_inference_thread():
    queue = ActionQueue(PERIOD, ExecutionOptions(prefetch=2))
    queue.open()
    queue.push(queue.request(), ramp(0, 5), PERIOD)
    woken = []
    thread = threading.Thread(target=lambda: woken.append(queue.wait_for_demand(10)))
    thread.start()
    take(queue, 3)
    thread.join(10)
    assert woken == [True]


@pytest.mark.parametrize(
    'actions', [np.zeros(3), np.zeros((0, 3)), np.zeros((3, 0)), np.zeros((1, 2, 3))]
)
def test_a_chunk_of_the_wrong_shape_is_refused(actions):
    queue = ActionQueue(PERIOD)
    queue.open()
    with pytest.raises(ShapeError, match='shape'):
        queue.push(queue.request(), actions, PERIOD)


def test_wrong_settings_are_refused():
    for period in (0.0, np.nan):
        with pytest.raises(ValueRangeError, match='period'):
            ActionQueue(period)
    for setting in ({'alignment': 'later'}, {'n_action_steps': -1}, {'prefetch': -2}):
        with pytest.raises(ValueRangeError, match=next(iter(setting))):
            ExecutionOptions(**setting)
    queue = ActionQueue(PERIOD)
    with pytest.raises(ValueRangeError, match='dt'):
        queue.push(queue.request(), ramp(0, 3), 0.0)


class Run:
    """A control loop with inferences of given lengths in ticks, on a world whose right action is
    its step number.

    `taken` are the values executed and `stalled` whether each tick stalled; `overlaps` those of all
    arrivals.
    """

    def __init__(self, queue: ActionQueue, horizon: int, latencies: list[int], ticks: int) -> None:
        queue.open()
        self.taken, self.stalled, self.overlaps, self.depths = [], [], [], []
        self.reported_stalls = 0
        self.executed, pending, calls = 0, None, 0
        for tick in range(ticks):
            if pending is None and queue.wait_for_demand(0):
                due = tick + latencies[calls % len(latencies)]
                pending, calls = (due, queue.request(), ramp(self.executed, horizon)), calls + 1
            if pending is not None and tick >= pending[0]:
                arrival = queue.push(pending[1], pending[2], PERIOD)
                self.reported_stalls += arrival.stalls
                self.overlaps.append(arrival.compared.overlap)
                self.depths.append(arrival.queue_depth)
                pending = None
            action, is_stalled = queue.take()
            self.stalled.append(is_stalled)
            if not is_stalled:
                self.taken.append(action[0])
                self.executed += 1


schedules = st.tuples(
    st.integers(2, 40), st.lists(st.integers(0, 50), min_size=1, max_size=5), st.integers(0, 45)
)


@settings(deadline=None, max_examples=80)
@given(schedules, st.integers(0, 20))
def test_aligned_chunks_never_repeat_or_leave_out_a_step(schedule, n_action_steps):
    horizon, latencies, prefetch = schedule
    queue = ActionQueue(PERIOD, ExecutionOptions(n_action_steps=n_action_steps, prefetch=prefetch))
    run = Run(queue, horizon, latencies, 120)
    assert run.taken == list(range(len(run.taken)))
    assert all(np.isnan(o) or o == 0.0 for o in run.overlaps)


@settings(deadline=None, max_examples=80)
@given(schedules)
def test_every_tick_is_served_or_counted_as_a_stall(schedule):
    horizon, latencies, prefetch = schedule
    queue = ActionQueue(PERIOD, ExecutionOptions(prefetch=prefetch))
    run = Run(queue, horizon, latencies, 120)
    assert len(run.taken) + sum(run.stalled) == 120
    last = queue.push(queue.request(), ramp(0, horizon), PERIOD)
    assert run.reported_stalls + last.stalls == sum(run.stalled)
    assert all(0 <= depth <= horizon for depth in run.depths)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 20), st.integers(0, 30))
def test_automatic_prefetch_keeps_the_rate_once_it_knows_the_latency(latency, extra):
    queue = ActionQueue(PERIOD)
    run = Run(queue, 2 * latency + 2 + extra, [latency], 160)
    assert not any(run.stalled[latency:])


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 15), st.integers(0, 10))
def test_a_prefetch_at_least_as_long_as_the_inference_keeps_the_rate(latency, extra):
    run = Run(
        ActionQueue(PERIOD, ExecutionOptions(prefetch=latency)),
        2 * latency + 1 + extra,
        [latency],
        120,
    )
    assert not any(run.stalled[latency:])
