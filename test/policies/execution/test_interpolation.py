# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of a chunk that are further apart than the control ticks: what goes out between them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frame_ros.policies.execution.action_queue import ActionQueue
from frame_ros.policies.execution.chunk import Chunk
from frame_ros.policies.execution.chunk_blending import Ensemble, Replacement
from frame_ros.policies.execution.interpolation import Motion
from frame_ros.policies.execution.options import ExecutionOptions

MODES = ('synchronous', 'asynchronous', 'ensembling')


def executed(queue, ticks):
    return np.array([queue.take()[0] for _ in range(ticks)])


def opened(rate, execution='asynchronous', **options):
    queue = ActionQueue(1 / rate, ExecutionOptions(execution=execution, **options))
    queue.open()
    return queue


rows = st.integers(0, 99).map(lambda seed: np.random.default_rng(seed).normal(0, 1, (7, 2)))


@settings(max_examples=40)
@given(rows, st.integers(1, 12), st.sampled_from(MODES), st.sampled_from([5, 15, 20, 29.97]))
def test_each_row_is_reached_exactly_and_the_way_there_is_straight(rows, count, execution, rate):
    """As many ticks to a row as `count`, from where the robot stands."""
    queue = opened(rate * count, execution)
    origin = np.array([5.0, -5.0])
    queue.push(queue.request(), rows, 1 / rate, origin=origin)
    assert queue.depth == 7 * count
    actions = executed(queue, 7 * count)
    np.testing.assert_array_equal(actions[count - 1 :: count], rows)
    knots = np.vstack([origin, rows])
    steps = np.diff(np.vstack([origin, actions]), axis=0).reshape(7, count, 2)
    expected = np.repeat(np.diff(knots, axis=0)[:, None] / count, count, axis=1)
    np.testing.assert_allclose(steps, expected, atol=1e-5)


@settings(max_examples=40)
@given(rows, st.floats(10.5, 400.0), st.sampled_from(MODES), st.integers(0, 7))
def test_any_ratio_stays_on_the_line_through_the_rows(rows, rate, execution, n_action_steps):
    """Against NumPy's interpolation of the rows over the time at the end of each tick."""
    dt, period = round(1e9 / 10), round(1e9 / rate)
    queue = opened(rate, execution, n_action_steps=n_action_steps)
    origin = np.zeros(2)
    queue.push(queue.request(), rows, 0.1, origin=origin)
    count = 7 if execution == 'ensembling' else n_action_steps or 7
    actions = executed(queue, queue.depth)
    times = period * np.arange(1, len(actions) + 1)
    knots = np.vstack([origin, rows])[: count + 1]
    for d in range(2):
        expected = np.interp(times, dt * np.arange(count + 1), knots[:, d])
        np.testing.assert_allclose(actions[:, d], expected, atol=0.01)


class Schedule:
    """Returns the actions that a queue executes with inferences of given latencies, in ticks."""

    def __init__(self, queue, chunks, latencies, dt, ticks=80):
        self.actions, pending, calls = [], None, 0
        for tick in range(ticks):
            if pending is None and queue.wait_for_demand(0):
                due = tick + latencies[calls % len(latencies)]
                pending, calls = (due, queue.request(), chunks[calls % len(chunks)]), calls + 1
            if pending is not None and tick >= pending[0]:
                queue.push(pending[1], pending[2], dt)
                pending = None
            self.actions.append(queue.take()[0])


@settings(max_examples=60)
@given(
    st.integers(0, 99),
    st.lists(st.integers(0, 9), min_size=1, max_size=3),
    st.sampled_from(MODES),
    st.sampled_from(['now', 'first']),
    st.sampled_from([0, 4]),
    st.sampled_from([1.0, 0.4]),
)
def test_where_rows_are_no_further_apart_than_ticks_nothing_changes(
    seed, latencies, execution, alignment, blend, ratio
):
    is_ensemble = execution == 'ensembling'
    chunks = np.random.default_rng(seed).normal(0, 1, (9, 12, 2))
    options = {} if is_ensemble else {'alignment': alignment, 'blend': blend}
    found, expected = (
        Schedule(opened(30, execution, interpolate=on, **options), chunks, latencies, ratio / 30)
        for on in (True, False)
    )
    for action, other in zip(found.actions, expected.actions, strict=True):
        np.testing.assert_array_equal(action, other)


@settings(max_examples=60)
@given(
    st.integers(0, 99),
    st.lists(st.integers(0, 9), min_size=1, max_size=3),
    st.sampled_from(MODES),
    st.sampled_from([0, 1, 6]),
    st.floats(1.1, 8.0),
)
def test_what_goes_out_never_leaves_what_was_planned(seed, latencies, execution, blend, ratio):
    """It lies between the rows, however chunks switch, blend, or are averaged."""
    chunks = np.random.default_rng(seed).uniform(-1, 1, (9, 12, 2))
    options = {} if execution == 'ensembling' else {'blend': blend}
    schedule = Schedule(opened(50, execution, **options), chunks, latencies, ratio / 50)
    actions = np.array([action for action in schedule.actions if action is not None])
    assert actions.min() >= chunks.min() and actions.max() <= chunks.max()


@pytest.mark.parametrize('execution', MODES)
def test_a_constant_speed_stays_constant_over_chunks_that_agree(execution):
    """Chunks of 15 Hz of a motion at constant speed, under control at 60 Hz, never go faster."""
    queue, actions = opened(60, execution, n_action_steps=5), []
    for _ in range(100):
        if queue.wait_for_demand(0):
            request = queue.request()
            begun = request.executed / 1e9 * 15
            chunk = begun + np.arange(1.0, 9.0)[:, None]
            queue.push(request, chunk, 1 / 15, origin=np.array([begun]))
        action, is_stalled = queue.take()
        assert not is_stalled
        actions.append(action[0])
    np.testing.assert_allclose(np.diff(actions), 0.25, atol=1e-5)


def test_a_switch_goes_from_the_last_action_to_the_row_that_is_due():
    """By hand: 3 ticks to a row; the second chunk comes in after one tick of row 1."""
    execution = Replacement(period=10)
    execution.add(Chunk(np.array([[3.0], [6.0], [9.0]]), 30, 0), 0, 'a', np.zeros(1))
    taken = [execution.next_action(time)[0] for time in (0, 10, 20, 30)]
    assert np.concatenate(taken).tolist() == [1.0, 2.0, 3.0, 4.0]
    execution.add(Chunk(np.array([[0.0], [8.0], [11.0]]), 30, 0), 40, 'b', taken[-1])
    taken = [execution.next_action(time)[0][0] for time in (40, 50, 60, 70, 80)]
    assert taken == [6.0, 8.0, 9.0, 10.0, 11.0]


def test_an_ensemble_averages_the_ways_of_its_chunks():
    execution = Ensemble(0.0, period=10)
    execution.add(Chunk(np.array([[0.0], [2.0]]), 20, 0), 0, 'slow', np.zeros(1))
    execution.add(Chunk(np.array([[4.0], [8.0]]), 20, 20), 20, 'next', np.zeros(1))
    # Ways 1, 2 of the first (row 1), 2, 4 of the second (row 0), which then goes on alone.
    assert [execution.next_action(t)[0][0] for t in (20, 30, 40, 50)] == [1.5, 3.0, 6.0, 8.0]


def test_the_first_row_goes_out_at_once_where_nothing_is_known_of_the_robot():
    chunk = Chunk(np.array([[1.0], [3.0]]), 20, 0)
    motion = Motion(chunk, 0, None, 10)
    assert motion.is_interpolated
    assert [motion.action_at(t, 2)[0] for t in (0, 10, 20, 30, 40)] == [1, 1, 2, 3, 3]


def test_a_blend_with_interpolation_moves_at_most_twice_its_share():
    """A jump of 1 between two constant chunks."""
    for count in (2, 3, 5):
        for blend in (1, 3, 9):
            queue = opened(30 * count, n_action_steps=2, blend=blend)
            actions = []
            for level in (0.0, 1.0):
                queue.push(queue.request(), np.full((20, 1), level), 1 / 30)
                actions += list(executed(queue, 2 * count)[:, 0])
            queue.push(queue.request(), np.full((20, 1), 1.0), 1 / 30)
            actions += list(executed(queue, 2 * count)[:, 0])
            assert np.diff(actions).max() <= 2.0 / (blend + 1) + 1e-9
