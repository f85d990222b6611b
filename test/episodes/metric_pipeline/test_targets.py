# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""OT and the grasp in the pipeline, against the batch formula."""

import math
from dataclasses import replace

import numpy as np
import pytest
from attrs import evolve
from pipeline_runs import NAMES, make_events
from target_runs import (
    BEGIN,
    MS,
    NAN,
    PUT,
    REASON,
    STEPS,
    Run,
    column,
    episode,
    process,
    reasons_of,
)

from frame_ros.core.events import Event, EventType
from frame_ros.core.time import SECOND
from frame_ros.episodes.metric_pipeline.pipeline import MetricPipeline
from frame_ros.metrics import (
    optimal_trajectory_difference,
    window_mean,
)


@pytest.mark.parametrize('task', ['pick', 'move', 'put_on', 'put_in'])
@pytest.mark.parametrize('second', ['object_to_goal', 'tcp_to_goal'])
def test_ot_equals_the_batch_form(task, second):
    run = Run()
    out, _ = process(episode(run.samples()), evolve(PUT, ot_task=task, ot_second_term=second))
    more = {} if task == 'pick' else {'goal': run.goal, 'grasped': run.grasped}
    expected = optimal_trajectory_difference(
        run.tcp, run.object, **more, **({'second_term': second} if more else {})
    )
    np.testing.assert_allclose(column(out, 'ot_step'), expected, rtol=1e-12)
    np.testing.assert_allclose(column(out, 'ot'), window_mean(expected, 1), rtol=1e-12)
    assert column(out, 'ot_mean')[-1] == pytest.approx(np.nanmean(expected), rel=1e-12)
    np.testing.assert_array_equal(column(out, 'is_grasped'), run.grasped)
    assert 'ot' not in reasons_of(out)


def test_ot_starts_anew_with_every_episode():
    first, second = Run(1).samples(), Run(2).samples()
    rest = 20 * SECOND
    later = [(name, stamp + rest, value) for name, stamp, value in second]
    events = [
        ('event', e.stamp + rest, replace(e, stamp=e.stamp + rest, episode_id='e2'))
        for _, _, e in make_events(0.0, 2.5)
    ]
    both, _ = process(episode(first) + later + events, PUT)
    alone, _ = process(episode(second), PUT)
    kept = [s.values['ot_step'] for s in both if s.kind == 'quality' and s.episode_id == 'e2']
    np.testing.assert_allclose(kept, column(alone, 'ot_step'), rtol=1e-12)


@pytest.mark.parametrize('missing', ['object', 'goal', 'grasp'])
def test_what_is_missing_makes_ot_unavailable_with_a_reason(missing):
    out, pipeline = process(episode(Run().samples(without=(missing,))), PUT)
    assert np.isnan(column(out, 'ot_mean')).all() and np.isnan(column(out, 'ot')).all()
    assert column(out, 'is_grasped').any() == (missing != 'grasp')
    assert reasons_of(out)['ot'] == reasons_of(out)['ot_mean'] == REASON[missing]
    assert pipeline.data_quality()['ot.unavailable'] == STEPS
    assert pipeline.problems == [f'ot: {REASON[missing]}']


def test_picking_needs_neither_goal_nor_grasp():
    out, _ = process(episode(Run().samples(without=('goal', 'grasp'))), evolve(PUT, ot_task='pick'))
    assert np.isfinite(column(out, 'ot_step')[1:]).all() and not column(out, 'is_grasped').any()


def test_without_a_task_nothing_is_taken_and_the_reason_says_so():
    out, pipeline = process(episode(Run().samples()), evolve(PUT, ot_task=''))
    assert reasons_of(out)['ot'] == 'no task is set (ot_task)'
    assert not pipeline.data_quality()
    quality = [s.values for s in out if s.kind == 'quality']
    assert {v['ate_reference'] for v in quality} == {-1} and 'low_pass_cutoff' not in reasons_of(
        out
    )


def test_a_pose_in_another_frame_is_not_used_and_the_frame_is_said():
    out, pipeline = process(episode(Run().samples(frame='camera')), PUT)
    text = "the object pose is in the frame 'camera'; expected is 'base'"
    assert reasons_of(out)['ot'] == text and np.isnan(column(out, 'ot')).all()
    assert pipeline.data_quality()['object.wrong_frame'] == STEPS
    assert pipeline.problems == [f'ot: {text}']


def test_the_frame_of_the_poses_goes_before_the_configured_one():
    pipeline = MetricPipeline(PUT)
    pipeline.pose_frame = 'camera'
    for stream, stamp, value in episode(Run().samples(frame='camera')):
        pipeline.feed(stream, stamp, value)
    assert np.isfinite(column(pipeline.finish(), 'ot_step')[1:]).all()


def test_bad_poses_of_targets_are_counted_and_not_used():
    samples = Run().samples()
    stamp = samples[-1][1] - 1000 * MS
    bad = [
        ('object', stamp + 1, (NAN, 0.0, 0.0, 'base')),
        ('goal', stamp + 1, (math.inf, 0.0, 0.0, 'base')),
    ]
    out, pipeline = process(episode(samples + bad), PUT)
    clean, _ = process(episode(samples), PUT)
    np.testing.assert_array_equal(column(out, 'ot_step'), column(clean, 'ot_step'))
    counts = pipeline.data_quality()
    assert [counts[f'{s}.invalid'] for s in ('object', 'goal')] == [1, 1]
    assert not pipeline.problems


def test_unsorted_and_unset_stamps_of_targets_are_dropped_and_counted():
    samples = Run().samples()
    wrong = [
        ('object', samples[50][1] - 500 * MS, (9.0, 9.0, 9.0, 'base')),
        ('object', 0, (9.0, 9.0, 9.0, 'base')),
    ]
    out, pipeline = process(episode(samples[:100] + wrong + samples[100:]), PUT)
    clean, _ = process(episode(samples), PUT)
    np.testing.assert_array_equal(column(out, 'ot_step'), column(clean, 'ot_step'))
    assert pipeline.data_quality()['object.backward'] == 1
    assert pipeline.data_quality()['object.zero'] == 1


def test_a_decision_without_a_stamp_is_counted():
    samples = Run().samples(without=('grasp',))
    samples += [('grasp', 0, (True, ''))] * 7
    _, pipeline = process(episode(samples), PUT)
    assert pipeline.data_quality()['grasp.zero'] == 7


def test_a_pose_taken_twice_keeps_the_reason_of_its_step():
    """The object comes between two steps that take the same pose."""
    samples = Run().samples(without=('object',))
    end = int(Run().stamps[-1])
    samples += [('object', end + MS, (0.3, 0.1, 0.0, 'base')),
                ('action', end + 2 * MS, (NAMES, [0.0] * 3))]  # fmt: skip
    out, pipeline = process(episode(samples), PUT)
    assert pipeline.data_quality()['pose.repeated'] == 1
    assert reasons_of(out)['ot'] == REASON['object']


def test_a_grasp_that_is_not_known_says_why():
    samples = [
        (name, stamp, (None, 'the finger is silent') if name == 'grasp' else value)
        for name, stamp, value in Run().samples()
    ]
    out, pipeline = process(episode(samples), PUT)
    assert reasons_of(out)['ot'] == 'the grasp is not known: the finger is silent'
    assert not column(out, 'is_grasped').any() and np.isnan(column(out, 'ot')).all()
    assert pipeline.problems == ['ot: the grasp is not known: the finger is silent']
    picking, _ = process(episode(samples), evolve(PUT, ot_task='pick'))
    assert np.isfinite(column(picking, 'ot_step')[1:]).all()


@pytest.mark.parametrize('stream', ['object', 'goal', 'grasp'])
def test_what_is_too_old_is_not_used(stream):
    cut = BEGIN + SECOND
    samples = [s for s in Run().samples() if s[0] != stream or s[1] < cut]
    out, _ = process(episode(samples), PUT)
    known = np.isfinite(column(out, 'ot_step'))[1:]
    assert known[:28].all() and not known[-5:].any()
    assert 'is older than 0.5 s' in reasons_of(out)['ot']


@pytest.mark.parametrize('at', [-3.0, 0.0])
def test_a_goal_may_be_published_once(at):
    """Before the episode or at its start; live it delays nothing, and lags at no step."""
    run, config = Run(), evolve(PUT, max_goal_age=0.0)
    once = [('goal', BEGIN + int(at * SECOND), (*run.goal[0].tolist(), 'base'))]
    samples = once + run.samples(without=('goal',))
    offline, _ = process(episode(samples), config)
    expected = optimal_trajectory_difference(run.tcp, run.object, run.goal, run.grasped)
    np.testing.assert_allclose(column(offline, 'ot_step'), expected, rtol=1e-12)
    live, delays = live_run(episode(samples), config)
    np.testing.assert_array_equal(column(live, 'ot_step'), column(offline, 'ot_step'))
    assert not column(live, 'lagging').any()
    # The first second, in which nobody knows what will come, is bounded by the hold.
    _, usual = live_run(episode(samples), evolve(config, ot_task=''))
    assert max(delays) <= 100 * MS and max(delays[35:]) <= max(usual)


@pytest.mark.parametrize('age', [0.0, 5.0])
def test_a_goal_that_was_published_once_outlasts_a_clock_that_was_set_back(age):
    """Latched, it does not come again; in a bag it is in the settings, before the START."""
    run, config = Run(), evolve(PUT, max_goal_age=age)
    goal = (*run.goal[0].tolist(), 'base')
    pipeline, begin = MetricPipeline(config), BEGIN - SECOND
    pipeline.look(begin + 50 * SECOND)
    pipeline.feed('goal', begin + 50 * SECOND, goal, begin + 50 * SECOND)
    pipeline.look(begin)
    assert pipeline.newest == ({} if age else {'goal': (1, goal)})
    for sample in sorted(episode(run.samples(without=('goal',))), key=lambda each: each[1]):
        pipeline.feed(*sample)
    steps = column(pipeline.finish(), 'ot_step')
    expected = optimal_trajectory_difference(run.tcp, run.object, run.goal, run.grasped)
    np.testing.assert_allclose(steps, np.nan if age else expected, rtol=1e-12)
    other = MetricPipeline(config)
    for name, stamp, value in [('goal', 1, goal)] * (not age) + episode(
        run.samples(without=('goal',))
    ):
        other.feed(name, stamp, value)
    np.testing.assert_array_equal(column(other.finish(), 'ot_step'), steps)


def live_run(samples, config, late=None):
    """Samples and, per step, ns from its stamp to its row. late: stream -> ms."""
    late = late or {}
    arrivals = sorted(
        (stamp + late.get(name, 1) * MS if name != 'event' else 0, i, name, stamp, value)
        for i, (name, stamp, value) in enumerate(samples)
    )
    pipeline, out, delays = MetricPipeline(config), [], []
    clock = arrivals[0][0]
    for now, _, name, stamp, value in arrivals:
        while clock and clock < now:
            clock = min(now, clock + 5 * MS)
            got = pipeline.advance(clock)
            delays += [clock - s.stamp for s in got if s.kind == 'quality']
            out += got
        pipeline.feed(name, stamp, value, now or stamp - SECOND // 10)
        clock = now
    return out + pipeline.finish(), delays


def test_targets_that_were_never_seen_delay_no_step():
    samples = Run().samples(without=('object', 'goal', 'grasp'))
    _, delays = live_run(episode(samples), PUT)
    _, usual = live_run(episode(samples), evolve(PUT, ot_task=''))
    assert max(delays[35:]) <= max(usual)


@pytest.mark.parametrize('stream', ['object', 'goal', 'grasp'])
@pytest.mark.parametrize('age', [0.5, 0.0])
def test_a_target_that_lags_is_unavailable_and_the_same_numbers_come_again(stream, age):
    config = evolve(PUT, max_goal_age=age, max_object_age=age)
    samples = Run().samples()
    stall, burst = BEGIN + 700 * MS, BEGIN + 1400 * MS
    pipeline, live = MetricPipeline(config), []
    for _, stamp, event in make_events(0.0, 2.5):
        pipeline.feed('event', stamp, event, stamp - SECOND // 10)
    arrivals = sorted(
        (burst if name == stream and stall < stamp < burst else stamp, i, name, stamp, value)
        for i, (name, stamp, value) in enumerate(samples)
    )
    for now, _, name, stamp, value in arrivals:
        pipeline.feed(name, stamp, value, now)
        live += pipeline.advance(now)
    live += pipeline.finish()
    bits = {'object': 8, 'goal': 16, 'grasp': 32}
    lagging = {s.stamp: s.values['lagging'] for s in live if s.kind == 'quality'}
    assert set(lagging.values()) == {0, bits[stream]}
    hit = [s.values for s in live if s.kind == 'quality' and s.values['lagging']]
    assert np.isnan([values['ot'] for values in hit]).all()
    again, _ = process(episode(samples), config, {k: v for k, v in lagging.items() if v})
    rows = [
        [(s.stamp, *map(str, s.row)) for s in out if s.kind == 'quality' and s.episode_id]
        for out in (live, again)
    ]
    assert rows[0] == rows[1] and len(rows[0]) == STEPS


@pytest.mark.parametrize('stream', ['object', 'goal', 'grasp', 'pose'])
def test_any_order_of_arrival_gives_the_same(stream):
    samples = episode(Run().samples())
    live, _ = live_run(samples, PUT, {stream: 25})
    offline, _ = process(samples, PUT)
    np.testing.assert_array_equal(column(live, 'ot'), column(offline, 'ot'))
    np.testing.assert_array_equal(column(live, 'is_grasped'), column(offline, 'is_grasped'))


def test_a_grasp_needs_the_object_near_if_that_is_asked():
    run = Run()
    distances = np.linalg.norm(run.tcp - run.object, axis=1)
    reach = float(np.median(distances[run.grasped]))
    near = distances <= reach
    out, _ = process(episode(run.samples()), evolve(PUT, grasp_distance=reach))
    assert 0 < (near & run.grasped).sum() < run.grasped.sum()
    np.testing.assert_array_equal(column(out, 'is_grasped'), near & run.grasped)


def test_an_initial_distance_of_zero_is_said():
    run = Run()
    run.object = run.tcp.copy()
    out, _ = process(episode(run.samples()), evolve(PUT, ot_task='pick'))
    assert 'initial distance of 0' in reasons_of(out)['ot']


def test_an_event_of_another_kind_leaves_the_targets_alone():
    run = Run()
    note = ('event', BEGIN + SECOND, Event(BEGIN + SECOND, EventType.NOTE, 'e1', text='x'))
    out, _ = process([*episode(run.samples()), note], PUT)
    clean, _ = process(episode(run.samples()), PUT)
    np.testing.assert_array_equal(column(out, 'ot'), column(clean, 'ot'))
