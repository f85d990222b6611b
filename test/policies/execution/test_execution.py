# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Execution modes: what is executed, against independent computations, for any schedule."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.policies.execution.action_queue import ActionQueue
from frame_ros.policies.execution.chunk import Chunk, compare_chunks
from frame_ros.policies.execution.chunk_blending import Ensemble, Replacement, ensemble_weights
from frame_ros.policies.execution.options import ExecutionOptions

PERIOD = 1 / 50


class Executed:
    """A control loop with inferences of given lengths in ticks, and all that went in and out.

    chunks: (time of the first step in executed ticks, tick of arrival in executed ticks, actions).
    actions: executed, in order. requested: executed ticks at which inferences began. sources: of
    the actions.
    """

    def __init__(self, queue, chunk_of, latencies, ticks=150):
        self.chunks, self.actions, self.requested, self.sources = [], [], [], []
        self.ticks_requested = []
        queue.open()
        pending, calls = None, 0
        for tick in range(ticks):
            if pending is None and queue.wait_for_demand(0):
                self.requested.append(len(self.actions))
                self.ticks_requested.append(tick)
                due = tick + latencies[calls % len(latencies)]
                chunk = chunk_of(len(self.actions), calls)
                pending, calls = (due, queue.request(), chunk), calls + 1
            if pending is not None and tick >= pending[0]:
                arrival = queue.push(pending[1], pending[2], PERIOD, source=len(self.chunks))
                self.chunks.append((self.requested[-1], len(self.actions), pending[2], arrival))
                pending = None
            action, is_stalled = queue.take()
            if not is_stalled:
                self.actions.append(action)
                self.sources.append(queue.source)


def random_chunks(seed, horizon):
    def chunk_of(executed, call):
        return np.random.default_rng((seed, call)).normal(0, 1, (horizon, 2))

    return chunk_of


schedules = st.tuples(
    st.integers(0, 99), st.integers(2, 30), st.lists(st.integers(0, 40), min_size=1, max_size=4)
)


@settings(max_examples=35)
@given(schedules, st.sampled_from([-0.3, 0.0, 0.01, 0.5]), st.integers(0, 6))
def test_ensembling_is_the_weighted_mean_of_all_chunks_that_predict_the_tick(
    schedule, coefficient, steps
):
    seed, horizon, latencies = schedule
    queue = ActionQueue(
        PERIOD,
        ExecutionOptions(
            n_action_steps=steps, execution='ensembling', ensemble_coefficient=coefficient
        ),
    )
    run = Executed(queue, random_chunks(seed, horizon), latencies)
    assert len(run.actions) > 10 or max(latencies) >= horizon
    for k, action in enumerate(run.actions):
        newest = {}  # of the chunks known at this tick, by their start
        for start, arrival, chunk, _ in run.chunks:
            if arrival <= k and start <= k < start + horizon:
                newest[start] = chunk[k - start]
        rows = [newest[start] for start in sorted(newest)]
        weights = [np.exp(-coefficient * i) for i in range(len(rows))]
        expected = sum(w * row for w, row in zip(weights, rows, strict=True)) / sum(weights)
        np.testing.assert_allclose(action, expected, rtol=1e-12, atol=1e-12)


@settings(max_examples=40)
@given(schedules, st.sampled_from(['synchronous', 'asynchronous', 'ensembling']))
def test_a_single_chunk_is_executed_as_it_is(schedule, execution):
    seed, horizon, _ = schedule
    queue = ActionQueue(PERIOD, ExecutionOptions(execution=execution))
    queue.open()
    chunk = random_chunks(seed, horizon)(0, 0)
    queue.push(queue.request(), chunk, PERIOD)
    np.testing.assert_array_equal([queue.take()[0] for _ in range(horizon)], chunk)
    assert queue.take()[1]


@settings(max_examples=70)
@given(
    schedules,
    st.sampled_from(['synchronous', 'asynchronous', 'ensembling']),
    st.sampled_from(['now', 'first']),
    st.integers(0, 8),
    st.integers(0, 12),
)
def test_no_step_is_executed_twice_or_out_of_its_time(schedule, execution, alignment, steps, blend):
    """Each chunk tells its number and its step: what is executed tells where it comes from."""
    _, horizon, latencies = schedule
    is_ensemble = execution == 'ensembling'
    queue = ActionQueue(
        PERIOD,
        ExecutionOptions(
            alignment='now' if is_ensemble else alignment,
            n_action_steps=steps,
            execution=execution,
            blend=0 if is_ensemble else blend,
            ensemble_coefficient=-50.0,  # the newest alone
        ),
    )
    run = Executed(
        queue, lambda _, call: np.array([[call, i] for i in range(horizon)], float), latencies
    )
    is_whole = not blend or is_ensemble
    seen = [tuple(np.round(action, 6)) for action in run.actions] if is_whole else []
    assert len(set(seen)) == len(seen)
    for k, (action, source) in enumerate(zip(run.actions, run.sources, strict=True)):
        start = run.chunks[source][0]
        if is_whole:
            assert round(action[0]) == source
        if is_whole and (alignment == 'now' or is_ensemble):
            assert round(action[1]) == k - start
    counts = np.bincount(run.sources) if run.sources else np.zeros(1)
    assert counts.max() <= horizon
    if steps and not is_ensemble:
        assert counts.max() <= steps


@settings(max_examples=40)
@given(schedules, st.integers(1, 15))
def test_a_blend_bounds_the_jump_at_a_chunk_switch(schedule, blend):
    """Chunks that are constant: all that moves is the switch from one to the next."""
    seed, horizon, latencies = schedule
    queue = ActionQueue(PERIOD, ExecutionOptions(blend=blend))
    levels = np.random.default_rng(seed).uniform(-1, 1, 400)
    run = Executed(queue, lambda _, call: np.full((horizon, 1), levels[call]), latencies)
    jumps = np.abs(np.diff(np.concatenate(run.actions)))
    arrivals = [chunk[1] for chunk in run.chunks]
    # Several switches may fade in at one tick, each by its share.
    fading = [sum(0 <= k - a <= blend for a in arrivals) for k in range(1, len(run.actions))]
    assert np.all(jumps <= 2.0 * np.array(fading) / (blend + 1) + 1e-12)


def test_a_blend_by_hand():
    execution = Replacement(blend=3)
    execution.add(Chunk(np.array([[0.0], [1.0], [2.0], [3.0], [4.0]]), 10, 0), 0, 'a')
    taken = [execution.next_action(time)[0][0] for time in (0, 10)]
    execution.add(Chunk(np.full((9, 1), 8.0), 10, 20), 20, 'b')
    for time in range(20, 70, 10):
        action, source = execution.next_action(time)
        taken.append(action[0])
        assert source == 'b'
    # 2, 3, 4, and its last action on, with weights 3/4, 2/4 and 1/4.
    np.testing.assert_allclose(taken, [0, 1, 0.75 * 2 + 2, 0.5 * 3 + 4, 0.25 * 4 + 6, 8, 8])


def test_a_robot_that_held_is_blended_from_where_it_held():
    queue = ActionQueue(PERIOD, ExecutionOptions(execution='synchronous', blend=1))
    queue.open()
    queue.push(queue.request(), np.array([[0.0], [1.0]]), PERIOD)
    assert [queue.take()[0][0] for _ in range(4)] == [0, 1, 1, 1]
    queue.push(queue.request(), np.array([[3.0], [3.0]]), PERIOD)
    assert [queue.take()[0][0] for _ in range(2)] == [2, 3]


@settings(max_examples=40)
@given(schedules, st.integers(1, 10))
def test_ensembling_plans_anew_after_so_many_steps_as_often_as_it_can(schedule, steps):
    seed, _, latencies = schedule
    horizon = max(latencies) + steps + 2
    queue = ActionQueue(PERIOD, ExecutionOptions(n_action_steps=steps, execution='ensembling'))
    run = Executed(queue, random_chunks(seed, horizon), latencies, 200)
    assert len(set(run.ticks_requested)) == len(run.ticks_requested)
    gaps = np.diff(run.requested[1:])
    assert np.all(gaps >= steps)
    assert np.all(gaps <= max(steps, max(latencies) + 1))


@pytest.mark.parametrize('execution', ['synchronous', 'asynchronous'])
def test_n_action_steps_is_when_the_next_is_planned(execution):
    queue = ActionQueue(PERIOD, ExecutionOptions(n_action_steps=4, execution=execution))
    run = Executed(queue, random_chunks(0, 10), [0])
    expected = {'synchronous': 4, 'asynchronous': 3}[execution]  # a tick of margin
    assert set(np.diff(run.requested[2:])) == {expected}


def test_synchronous_execution_never_plans_before_the_queue_is_empty():
    queue = ActionQueue(PERIOD, ExecutionOptions(execution='synchronous'))
    run = Executed(queue, random_chunks(0, 7), [5])
    assert set(np.diff(run.requested)) == {7}
    assert queue.mode == ActionQueue(PERIOD, ExecutionOptions(prefetch=0)).mode == 'synchronous'
    assert ActionQueue(PERIOD, ExecutionOptions(prefetch=3)).mode == 'asynchronous'


def test_sources_are_of_the_newest_chunk_and_forgotten_with_the_episode():
    queue = ActionQueue(PERIOD, ExecutionOptions(execution='ensembling'))
    queue.open()
    assert queue.source is None
    queue.push(queue.request(), np.zeros((5, 1)), PERIOD, source='first')
    queue.take()
    assert queue.source == 'first'
    queue.push(queue.request(), np.ones((5, 1)), PERIOD, source='second')
    assert queue.source == 'first'
    queue.take()
    assert queue.source == 'second'
    queue.open()
    assert queue.source is None


def test_weights_do_not_overflow():
    for coefficient in (-100.0, 100.0):
        weights = ensemble_weights(500, coefficient)
        assert weights.sum() == pytest.approx(1.0)
        assert weights[0 if coefficient > 0 else -1] == pytest.approx(1.0)
    np.testing.assert_allclose(ensemble_weights(2, np.log(3.0)), [0.75, 0.25])


@pytest.mark.parametrize(
    ('setting', 'message'),
    [
        (
            {'execution': 'lazy'},
            "execution is 'lazy'; it must be synchronous, asynchronous",
        ),
        (
            {'execution': 'synchronous', 'prefetch': 3},
            'prefetch is 3; it must be -1 or 0',
        ),
        (
            {'execution': 'ensembling', 'alignment': 'first'},
            'alignment is .* aligned by time',
        ),
        ({'execution': 'ensembling', 'prefetch': 0}, 'prefetch is 0; .* as often as it can'),
        ({'execution': 'ensembling', 'blend': 2}, 'blend is 2; it must be 0'),
        (
            {'execution': 'ensembling', 'ensemble_coefficient': np.nan},
            'coefficient is nan',
        ),
        ({'blend': -1}, 'blend is -1'),
    ],
)
def test_settings_that_contradict_each_other_are_refused(setting, message):
    with pytest.raises(ValueRangeError, match=message):
        ExecutionOptions(**setting)


@pytest.mark.parametrize('execution', ['asynchronous', 'ensembling'])
def test_chunks_of_an_episode_have_one_width(execution):
    queue = ActionQueue(PERIOD, ExecutionOptions(execution=execution))
    queue.open()
    queue.push(queue.request(), np.zeros((5, 2)), PERIOD)
    with pytest.raises(ShapeError, match='3 action dimensions; those before it have 2'):
        queue.push(queue.request(), np.zeros((5, 3)), PERIOD)
    queue.open()
    assert queue.push(queue.request(), np.zeros((5, 3)), PERIOD).is_used


def test_an_ensemble_keeps_time_of_chunks_of_another_rate():
    execution = Ensemble(0.0)
    execution.add(Chunk(np.array([[0.0], [2.0]]), 20, 0), 0, 'slow')
    execution.add(Chunk(np.array([[4.0], [4.0]]), 10, 10), 10, 'fast')
    assert [execution.next_action(t)[0][0] for t in (10, 20, 30)] == [2.0, 3.0, 2.0]
    assert execution.depth(30, 10) == 1


TURNING = np.array([True, False])


def turning_chunk(begin, count=8):
    """(count, 2) rad: a joint that goes on over pi, and one with limits."""
    return np.stack((3.0 + 0.03 * (begin + np.arange(count)), np.full(count, 0.5)), axis=1)


def wrapped_rows(actions):
    return np.where(TURNING, np.angle(np.exp(1j * actions)), actions)


@pytest.mark.parametrize('has_turns', [(True, True), (True, False), (False, True), (False, False)])
def test_chunks_of_a_joint_without_end_differ_by_the_short_way(has_turns):
    publish, other = (np.array if each else wrapped_rows for each in has_turns)
    first = Chunk(publish(turning_chunk(0)), 20_000_000, 0)
    second = Chunk(other(turning_chunk(3) + [0.02, 0.0]), 20_000_000, 60_000_000)
    turning = Chunk(second.actions, second.dt, second.start, 0, TURNING)
    found = compare_chunks(first, turning)
    assert found.shift == 3.0
    assert found.overlap == pytest.approx(0.01) and found.consistency == pytest.approx(0.02)
    if publish is not other:
        assert compare_chunks(first, second).overlap > 1.0


@pytest.mark.parametrize(
    'options',
    [
        {'execution': 'asynchronous', 'blend': 4},
        {'execution': 'ensembling', 'ensemble_coefficient': 0.1},
        {'execution': 'asynchronous', 'blend': 4, 'spread': 3},
    ],
    ids=['blend', 'ensembling', 'interpolated'],
)
def test_what_is_sent_of_a_joint_without_end_never_goes_the_long_way(options):
    """Rows from -pi to pi, and the same counted on: the same places, one after the other."""
    spread = options.get('spread', 1)
    given = {name: value for name, value in options.items() if name != 'spread'}
    ways = []
    for publish in (lambda chunk: chunk, wrapped_rows):
        queue = ActionQueue(PERIOD / spread, ExecutionOptions(alignment='now', **given))
        queue.open()
        sent = []
        for call in range(5):
            rows = turning_chunk(3 * call) + 0.01 * np.random.default_rng(call).normal(size=2)
            queue.push(queue.request(), publish(rows), PERIOD, is_continuous=TURNING)
            sent += [queue.take()[0] for _ in range(3 * spread)]
        ways.append(np.array(sent))
    np.testing.assert_allclose(np.exp(1j * ways[1]), np.exp(1j * ways[0]), atol=1e-9)
    counted = np.unwrap(ways[1][:, 0])
    assert np.abs(np.diff(counted)).max() < 0.1 and counted[-1] > 3.3
    assert np.abs(ways[1][:, 0]).max() < np.pi + 0.1


def test_joints_with_limits_are_executed_as_before_to_the_bit():
    random = np.random.default_rng(5)
    chunks = 4.0 * random.normal(size=(6, 8, 2))
    for mode, blend in (('asynchronous', 3), ('ensembling', 0)):
        sent = []
        for turning in (None, np.array([False, False]), TURNING):
            queue = ActionQueue(PERIOD / 2, ExecutionOptions(execution=mode, blend=blend))
            queue.open()
            actions, compared = [], []
            for rows in chunks:
                arrival = queue.push(queue.request(), rows, PERIOD, is_continuous=turning)
                compared.append(arrival.compared)
                actions += [queue.take()[0] for _ in range(5)]
            sent.append((np.array(actions), compared))
        np.testing.assert_array_equal(sent[1][0], sent[0][0])
        np.testing.assert_array_equal(sent[2][0][:, 1], sent[0][0][:, 1])
        np.testing.assert_equal(
            [(c.overlap, c.consistency, c.shift) for c in sent[1][1]],
            [(c.overlap, c.consistency, c.shift) for c in sent[0][1]],
        )
