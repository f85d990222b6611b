# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pipeline_runs import INFERENCE, NAMES, make_events, make_run

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.events import Event, EventType, Outcome
from frame_ros.core.time import SECOND
from frame_ros.episodes.metric_pipeline.options import PipelineOptions
from frame_ros.episodes.metric_pipeline.pipeline import MOST_EVENTS, MetricPipeline

MS = SECOND // 1000
KINDS = ('quality', 'safety', 'confidence', 'efficiency')
CONFIG = PipelineOptions(action_names=NAMES, action_lower=(-1.0,) * 3, action_upper=(1.0, 2.0, 3.0))


def process(samples, config=CONFIG, lagging=None):
    pipeline = MetricPipeline(config, lagging)
    out = []
    for stream, stamp, value in samples:
        pipeline.feed(stream, stamp, value)
        out += pipeline.advance()
    return out + pipeline.finish(), pipeline


def rows(samples, kind):
    return [(s.stamp, s.episode_id, s.row) for s in samples if s.kind == kind]


def column(samples, kind, name):
    return np.array([s.values[name] for s in samples if s.kind == kind], dtype=float)


def equal(a, b):
    return len(a) == len(b) and all(
        x[:2] == y[:2]
        and all(p == q or (p != p and q != q) for p, q in zip(x[2], y[2], strict=True))
        for x, y in zip(a, b)
    )


def newest_at(samples, stream, stamp):
    known = [(s, v) for name, s, v in samples if name == stream and s <= stamp]
    return known[-1] if known else None


def test_quality_equals_numpy_over_the_joined_samples():
    run = make_run(seed=1)
    out, _ = process(run)
    # The first step may come before the first pose: it has none.
    steps = [(s, v) for name, s, v in run if name == 'action']
    joined = [(s, v[1], newest_at(run, 'pose', s)) for s, v in steps]
    joined = [(pose[0], a, pose[1]) for s, a, pose in joined if pose is not None]
    p = np.array([pose[:3] for _, _, pose in joined])
    t = np.array([s for s, _, _ in joined]) / SECOND
    segments = np.linalg.norm(np.diff(p, axis=0), axis=1)
    quality = [s for s in out if s.kind == 'quality'][-1].values
    assert quality['pl'] == pytest.approx(segments.sum(), rel=1e-12)
    second = np.linalg.norm(np.diff(p, 2, axis=0), axis=1)
    assert quality['ps'] == pytest.approx(second.sum() / segments.sum(), rel=1e-12)
    third = np.linalg.norm(np.diff(p, 3, axis=0), axis=1)
    assert quality['tcp_ai_mean'] == pytest.approx(third.mean(), rel=1e-12)
    assert quality['tcp_vi'] == pytest.approx(second[-6:].mean(), rel=1e-12)
    dt = np.diff(t)
    v = np.diff(p, axis=0) / dt[:, None]
    a = np.diff(v, axis=0) / ((dt[1:] + dt[:-1]) / 2)[:, None]
    j = np.diff(a, axis=0) / ((dt[2:] + dt[1:-1] + dt[:-2]) / 3)[:, None]
    assert quality['ti'] == pytest.approx(np.sqrt((j**2).sum(axis=1).mean()), rel=1e-6)
    actions = np.array([a for _, a, _ in joined])
    if len(joined) == len(steps):
        scaled = np.diff(actions, axis=0) / np.array([2.0, 3.0, 4.0])
        assert quality['a_pi_mean'] == pytest.approx(np.abs(scaled).mean(), rel=1e-12)


def test_safety_equals_a_count_over_the_samples():
    run = make_run(seed=2)
    out, _ = process(run)
    last = [s for s in out if s.kind == 'safety'][-1]
    contacts = [v for name, s, v in run if name == 'contact' and s <= last.stamp]
    edges = sum(b[1] and not a[1] for a, b in zip([(False, False, 0), *contacts], contacts))
    distances = np.array([v[0] for name, s, v in run if name == 'proximity' and s <= last.stamp])
    values = last.values
    assert values['collisions'] == edges > 0
    assert values['cr'] == pytest.approx(edges / (values['step'] + 1))
    assert values['op'] == distances.min()
    assert values['rf'] == pytest.approx((1 / np.maximum(distances, 1e-3)).mean(), rel=1e-12)
    assert values['distance'] == distances[-1]


def test_efficiency_equals_numpy_over_the_inferences():
    run = make_run(seed=3, seconds=4.0)
    out, _ = process(run)
    last = [s for s in out if s.kind == 'efficiency'][-1]
    latencies = [v['latency'] for name, s, v in run if name == 'inference' and s <= last.stamp]
    values = last.values
    assert values['inferences'] == len(latencies)
    assert values['il'] == pytest.approx(np.mean(latencies))
    assert values['il_p95'] == pytest.approx(np.percentile(latencies, 95))
    assert values['il_jitter'] == pytest.approx(np.std(latencies))
    assert values['stalls'] == len(latencies)
    stamps = np.array([s for name, s, _ in run if name == 'action' and s <= last.stamp])
    assert values['control_rate'] == pytest.approx(
        (len(stamps) - 1) / (stamps[-1] - stamps[0]) * 1e9
    )
    assert 25 < values['control_rate_worst'] <= 31


def test_episode_bounds_reset_what_accumulates():
    run = make_run(seed=4, seconds=3.0)
    out, _ = process(make_events(1.0, 2.0, success=1.5) + run)
    inside = [s for s in out if s.kind == 'quality' and s.episode_id == 'e1']
    assert all(11 * SECOND <= s.stamp < 12 * SECOND for s in inside)
    assert [s.values['step'] for s in inside] == list(range(len(inside)))
    assert math.isnan(inside[0].values['pl'])
    (summary,) = [s for s in out if s.kind == 'summary']
    values = summary.values
    assert (values['duration'], values['time_to_success'], values['steps']) == (
        1.0,
        0.5,
        len(inside),
    )
    assert values['quality']['pl'] == inside[-1].values['pl']
    assert values['efficiency']['inferences'] in (3, 4)
    reasons = dict(line.split(': ', 1) for line in values['unavailable'])
    assert reasons['ate'] == 'no reference trajectory is given'
    assert 'pl' not in reasons and 'cr' not in reasons


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000), st.randoms(use_true_random=False))
def test_arrival_order_changes_nothing(seed, order):
    run = make_run(seed=seed, seconds=0.8)
    events = make_events(0.2, 0.6)
    waiting: dict[str, list] = {}
    for sample in events + run:
        waiting.setdefault(sample[0], []).append(sample)
    shuffled = waiting.pop('event')
    while waiting:
        # Streams run ahead of one another by at most a few samples' worth, as on a busy machine.
        stream = order.choice(sorted(waiting))
        shuffled.append(waiting[stream].pop(0))
        if not waiting[stream]:
            del waiting[stream]
    straight, _ = process(events + run)
    mixed, _ = process(shuffled)
    for kind in ('quality', 'safety', 'efficiency'):
        assert equal(rows(straight, kind), rows(mixed, kind))


def test_live_with_a_clock_equals_offline():
    run, events = make_run(seed=6), make_events(0.3, 1.5)
    pipeline = MetricPipeline(CONFIG)
    live = []
    for _, _, event in events:
        pipeline.feed('event', event.stamp, event, event.stamp - 100 * MS)
    for stream, stamp, value in run:
        now = stamp + (20 * MS if stream == 'pose' else 2 * MS)
        pipeline.feed(stream, stamp, value, now)
        live += pipeline.advance(now)
    live += pipeline.finish()
    offline, _ = process(events + run)
    for kind in ('quality', 'safety', 'efficiency', 'confidence'):
        assert equal(rows(live, kind), rows(offline, kind))


def test_what_lags_beyond_the_hold_is_unavailable_and_can_be_repeated():
    run = make_run(seed=7)
    pipeline = MetricPipeline(CONFIG)
    stall, burst = int(10.5 * SECOND), int(10.8 * SECOND)
    arrivals = sorted(
        (burst if name == 'pose' and stall < s < burst else s, i, name, s, v)
        for i, (name, s, v) in enumerate(run)
        if name != 'inference'
    )
    live = []
    for now, _, stream, stamp, value in arrivals:
        pipeline.feed(stream, stamp, value, now)
        live += pipeline.advance(now)
    live += pipeline.finish()
    lagging = {
        s.stamp: s.values['lagging'] for s in live if s.kind == 'quality' and s.values['lagging']
    }
    assert lagging and set(lagging.values()) == {1}
    hit = [s for s in live if s.kind == 'quality' and s.stamp in lagging]
    assert all(math.isnan(s.values['tcp_pi']) and math.isnan(s.values['pose_age']) for s in hit)
    assert len({s.values['pl'] for s in hit}) == 1
    whole, _ = process([sample for sample in run if sample[0] != 'inference'])
    assert column(live, 'quality', 'pl')[-1] > 0.8 * column(whole, 'quality', 'pl')[-1]
    assert hit[-1].values['hold_expired'] == len(lagging)
    assert not math.isnan(hit[-1].values['a_pi'])
    repeated, _ = process([sample for sample in run if sample[0] != 'inference'], lagging=lagging)
    assert equal(rows(live, 'quality'), rows(repeated, 'quality'))
    assert equal(rows(live, 'safety'), rows(repeated, 'safety'))


@pytest.mark.parametrize('stream', ['pose', 'contact', 'proximity'])
def test_any_stream_that_stalls_gives_the_same_numbers_again(stream):
    run, events = make_run(seed=13), make_events(0.2, 1.8)
    stall, burst = int(10.6 * SECOND), int(10.9 * SECOND)
    arrivals = sorted(
        (burst if name == stream and stall < s < burst else s, i, name, s, v)
        for i, (name, s, v) in enumerate(run)
    )
    pipeline = MetricPipeline(CONFIG)
    for _, stamp, event in events:
        pipeline.feed('event', stamp, event, stamp - SECOND // 10)
    live = []
    for now, _, name, stamp, value in arrivals:
        pipeline.feed(name, stamp, value, now)
        live += pipeline.advance(now)
    live += pipeline.finish()
    lagging = {s.stamp: s.values['lagging'] for s in live if s.kind == 'quality'}
    assert any(lagging.values())
    repeated, _ = process(events + run, lagging={k: v for k, v in lagging.items() if v})
    for kind in ('quality', 'safety', 'efficiency'):
        assert equal(rows(live, kind), rows(repeated, kind))


def test_what_comes_late_from_before_the_start_is_not_in_the_episode():
    run, events = make_run(seed=14), make_events(0.5, 1.8)
    start = events[0][1]
    late = [s for s in run if s[0] in ('contact', 'proximity') and start - 40 * MS < s[1] < start]
    assert late
    arrivals = sorted((s[1] + 100 * MS if s in late else s[1], i, s) for i, s in enumerate(run))
    # Within a stream order is kept: what follows a late sample waits for it.
    newest: dict[str, int] = {}
    pipeline, live = MetricPipeline(CONFIG), []
    for _, stamp, event in events:
        pipeline.feed('event', stamp, event, stamp - SECOND // 10)
    queue = []
    for now, i, (name, stamp, value) in sorted(arrivals, key=lambda a: a[2][1]):
        newest[name] = max(now, newest.get(name, 0))
        queue.append((newest[name], i, name, stamp, value))
    for now, _, name, stamp, value in sorted(queue):
        pipeline.feed(name, stamp, value, now)
        live += pipeline.advance(now)
    live += pipeline.finish()
    lagging = {s.stamp: s.values['lagging'] for s in live if s.kind == 'quality'}
    repeated, _ = process(events + run, lagging={k: v for k, v in lagging.items() if v})
    inside = [row for row in rows(live, 'safety') if row[1]]
    assert equal(inside, [row for row in rows(repeated, 'safety') if row[1]])


def test_distances_and_contacts_before_a_start_that_comes_late_count():
    events = make_events(0.5, 1.8)
    start = events[0][1]
    heard = start + 700 * MS  # nothing acts before
    run = [s for s in make_run(seed=15) if s[0] != 'action' or s[1] > heard + 100 * MS]
    assert sum(s[0] in ('contact', 'proximity') and start < s[1] < heard for s in run) > 10
    arrivals = sorted(
        [(s[1], i, s) for i, s in enumerate(run)]
        + [(max(s[1], heard), len(run) + i, s) for i, s in enumerate(events)],
        key=lambda each: each[:2],
    )
    pipeline, live = MetricPipeline(CONFIG), []
    for now, _, (name, stamp, value) in arrivals:
        pipeline.feed(name, stamp, value, now)
        live += pipeline.advance(now)
    live += pipeline.finish()
    repeated, _ = process(events + run)
    for kind in ('quality', 'safety'):
        assert equal(rows(live, kind), rows(repeated, kind))
    assert rows(live, 'safety')


def test_bad_values_are_counted_and_change_nothing():
    run = make_run(seed=8)
    nan = math.nan
    after = run[39][1]
    bad = [
        ('pose', after + 5, (nan,) * 7),
        ('pose', after + 6, (0.0,) * 7),
        ('pose', after + 7, (1.0, 2.0)),
        ('action', after + 8, (NAMES, [nan, 0.0, 0.0])),
        ('action', after + 9, (NAMES, [0.0])),
        ('action', after + 9, (('other',), [0.0])),
        ('contact', after + 9, (True, True, math.inf)),
        ('proximity', after + 9, (math.inf,)),
        ('pose', after + 9, (1e200, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)),
        ('pose', after + 9, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1e-200)),
        ('action', after + 9, (NAMES, [1e308, -1e308, 0.0])),
        ('inference', after + 9, INFERENCE | {'latency': -1.0}),
    ]
    out, pipeline = process(run[:40] + bad + run[40:])
    clean, _ = process(run)
    assert equal(rows(out, 'quality'), rows(clean, 'quality'))
    counts = pipeline.data_quality()
    assert counts['pose.invalid'] == 5 and counts['action.invalid'] == 4
    assert (
        counts['contact.invalid'] == counts['proximity.invalid'] == counts['inference.invalid'] == 1
    )
    assert 'other' in pipeline.problems[0]


def test_actions_are_taken_by_name_in_any_order():
    run = make_run(seed=9)
    turned = [
        (
            name,
            s,
            (('x', 'c', 'a', 'b'), [9.0, v[1][2], v[1][0], v[1][1]]) if name == 'action' else v,
        )
        for name, s, v in run
    ]
    assert equal(rows(process(run)[0], 'quality'), rows(process(turned)[0], 'quality'))


def test_a_gap_between_steps_starts_differences_anew_and_is_counted():
    run = [s for s in make_run(seed=10, seconds=4.0) if not 11 * SECOND < s[1] < 12 * SECOND]
    out, pipeline = process(run)
    quality = [s for s in out if s.kind == 'quality']
    after = next(i for i, s in enumerate(quality) if s.stamp >= 12 * SECOND)
    assert math.isnan(quality[after].values['a_pi_step'])
    assert math.isnan(quality[after].values['tcp_pi_step'])
    assert quality[after].values['gaps'] == 1
    assert pipeline.data_quality()['action.gap'] == 1


def test_a_pose_is_taken_once_and_differenced_over_its_own_stamps():
    # A straight line at 1 m/s, its pose at 20 Hz, steps at 50 Hz: no step may see another speed.
    q = (0.0, 0.0, 0.0, 1.0)
    poses = [('pose', 10 * SECOND + i * 50 * MS, (0.05 * i, 0.0, 0.0, *q)) for i in range(60)]
    steps = [('action', 10 * SECOND + i * 20 * MS, (NAMES, [0.0] * 3)) for i in range(150)]
    out, pipeline = process(sorted(poses + steps, key=lambda sample: sample[1]))
    speeds = column(out, 'quality', 'tcp_speed')[5:]
    assert speeds == pytest.approx(np.ones(len(speeds)))
    assert column(out, 'quality', 'ti')[-1] < 1e-6
    assert pipeline.data_quality()['pose.repeated'] == 150 - 60


def test_a_clock_set_back_does_not_stop_the_metrics():
    run = make_run(seed=11)
    again = [(name, stamp - 5 * SECOND, value) for name, stamp, value in run]
    out, pipeline = process(run + again)
    stamps = [s.stamp for s in out if s.kind == 'quality']
    assert sum(stamp < 8 * SECOND for stamp in stamps) > 50
    assert pipeline.data_quality()['pose.reset'] == 1


def sampled(begin, seconds=2.0, step=0.0):
    """Returns an episode on a clock that begins at `begin`, ns, as (stream, stamp, value, arrival):
    poses at 100 Hz, actions and inferences of a policy that is silent for its first 0.2 s.
    """
    start, end = begin + SECOND // 10, begin + int(seconds * SECOND)
    rows = [
        ('event', stamp, Event(stamp, kind, f'e{begin}', outcome=Outcome.SUCCESS), stamp - 80 * MS)
        for kind, stamp in ((EventType.START, start), (EventType.END, end))
    ]
    for index in range(int(seconds * 100) + 30):
        stamp = begin + 10 * MS * index + MS
        pose = (0.001 * index + step, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
        rows.append(('pose', stamp, pose, stamp + 3 * MS))
        if begin + 200 * MS < stamp < end and index % 4 == 0:
            rows.append(('action', stamp, (NAMES, [0.01 * index] * 3), stamp + 2 * MS))
        if begin + 200 * MS < stamp < end and index % 50 == 25:
            rows.append(('inference', stamp, INFERENCE | {'sequence': index}, stamp + 2 * MS))
    return sorted(rows, key=lambda row: row[3])


def run_live(pipeline, rows):
    out = []
    for stream, stamp, value, now in rows:
        pipeline.look(now)
        pipeline.feed(stream, stamp, value, now)
        out += pipeline.advance(now)
    return out


@pytest.mark.parametrize('back', [1.3, 20.0])
def test_an_episode_on_a_clock_that_was_set_back_before_it_lacks_nothing(back):
    """Of streams that were silent meanwhile too, and with a sample that was still on its way."""
    first = sampled(30 * SECOND)
    begin = 30 * SECOND + 2 * SECOND + 300 * MS - int(back * SECOND)
    stray = ('pose', first[-1][1] + 10 * MS, first[-1][2], begin + MS)
    second = sampled(begin, step=5.0)
    out = run_live(pipeline := MetricPipeline(), [*first, stray, *second])
    out += pipeline.finish()
    alone = run_live(MetricPipeline(), second)
    of_second = [s for s in out if s.episode_id == f'e{begin}']
    assert len(rows(of_second, 'quality')) > 40 and len(rows(of_second, 'confidence')) == 4
    for kind in KINDS:
        assert equal(rows(of_second, kind), rows(alone, kind)), kind
    quality = [s for s in out if s.kind == 'summary'][-1].values['data_quality']
    assert not any('reset' in name or 'late' in name for name in quality)


def test_a_clock_that_is_set_back_in_an_episode_makes_it_doubtful():
    first = [row for row in sampled(30 * SECOND) if row[0] != 'event' or row[1] < 31 * SECOND]
    pipeline = MetricPipeline()
    run_live(pipeline, [*first, *(row for row in sampled(20 * SECOND) if row[0] != 'event')])
    assert pipeline.is_in_episode
    counts = pipeline.data_quality()
    assert (counts['pose.reset'], counts['action.reset']) == (1, 1)
    assert 'pose.late' not in counts


def test_a_stray_sample_of_another_clock_leaves_the_efficiency_of_an_episode():
    """As in a bag, where the events are known from the beginning."""
    rows = [row[:3] for row in sampled(30 * SECOND)]
    events = [row for row in rows if row[0] == 'event']
    stray = ('pose', 99 * SECOND, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0))
    out, pipeline = process([*events, stray, *(row for row in rows if row[0] != 'event')])
    assert pipeline.data_quality()['pose.reset'] == 1
    (summary,) = [s for s in out if s.kind == 'summary']
    assert summary.values['efficiency']['inferences'] == 4
    assert summary.values['efficiency']['control_rate'] == pytest.approx(25.0)


def test_without_contacts_distances_and_poses_they_are_unavailable_not_zero():
    run = [s for s in make_run(seed=12) if s[0] == 'action']
    out, _ = process(make_events(0.1, 1.8) + run)
    safety = column(out, 'safety', 'cr'), column(out, 'safety', 'op'), column(out, 'quality', 'pl')
    assert all(np.isnan(values).all() for values in safety)
    (summary,) = [s for s in out if s.kind == 'summary']
    reasons = dict(line.split(': ', 1) for line in summary.values['unavailable'])
    assert reasons['cr'] == 'no contact sensing at the last step'
    assert reasons['op'] == 'no distance was measured'
    assert reasons['pl'] == 'no end-effector pose at the last step'
    assert reasons['il'] == 'no inference in this episode'


def test_without_poses_what_is_of_the_path_names_them():
    run = [s for s in make_run(seed=12) if s[0] != 'pose']
    out, _ = process(make_events(0.1, 1.8) + run)
    (summary,) = [s for s in out if s.kind == 'summary']
    reasons = dict(line.split(': ', 1) for line in summary.values['unavailable'])
    assert not {'cr', 'op'} & set(reasons)
    for name in ('cr_per_metre', 'moving_distance'):
        assert reasons[name] == 'no end-effector pose in this episode'


def test_settings_survive_json_and_are_checked():
    assert PipelineOptions.from_json(CONFIG.to_json()) == CONFIG
    assert PipelineOptions.from_json('{"hold": 0.1, "of_a_later_version": 1}').hold == 0.1
    for text in ('[]', 'no json', '{"hold": -1}'):
        with pytest.raises(ValueRangeError):
            PipelineOptions.from_json(text)
    with pytest.raises(ValueRangeError, match='action_lower is'):
        PipelineOptions(action_names=('a',), action_lower=(1.0,), action_upper=(0.0,))


def delayed(run, events, delay, stalls=()):
    """Live: each stream arrives `delay[stream]` ms late, in order; events 100 ms ahead."""
    pipeline, live, newest, queue = MetricPipeline(CONFIG), [], {}, []
    for _, stamp, event in events:
        pipeline.feed('event', stamp, event, stamp - SECOND // 10)
    for i, (name, stamp, value) in enumerate(run):
        now = stamp + delay.get(name, 0) * MS
        for stream, begin, end in stalls:
            if name == stream and begin <= stamp < end:
                now = max(now, end)
        newest[name] = max(now, newest.get(name, 0))
        queue.append((newest[name], i, name, stamp, value))
    for now, _, name, stamp, value in sorted(queue):
        pipeline.feed(name, stamp, value, now)
        live += pipeline.advance(now)
    return live + pipeline.finish()


def assert_same_again(live, run, events):
    lagging = {s.stamp: s.values['lagging'] for s in live if s.kind == 'quality'}
    again, _ = process(events + run, lagging={k: v for k, v in lagging.items() if v})
    for kind in ('quality', 'safety', 'efficiency'):
        inside = [[row for row in rows(out, kind) if row[1]] for out in (live, again)]
        if kind == 'efficiency':  # late ticks have none live
            known = {row[0] for row in inside[0]}
            inside[1] = [row for row in inside[1] if row[0] in known]
        assert len(inside[0]) > 5 and equal(*inside), kind
    return sum(s.kind == 'quality' and bool(s.episode_id and s.values['lagging']) for s in live)


def thinned(run, stream, every):
    kept = {id(s) for i, s in enumerate([s for s in run if s[0] == stream]) if i % every == 0}
    return [s for s in run if s[0] != stream or id(s) in kept]


@pytest.mark.parametrize(('every', 'delay'), [(4, 30), (3, 45), (8, 20)])
def test_a_slow_sensor_is_waited_for_by_its_own_period(every, delay):
    run, events = thinned(make_run(seed=20, seconds=4.0), 'proximity', every), make_events(1.0, 3.5)
    live = delayed(run, events, {'proximity': delay})
    assert assert_same_again(live, run, events) == 0
    assert not np.isnan(
        [v for s in live if s.episode_id for v in column([s], 'safety', 'op')][10:]
    ).any()


@pytest.mark.parametrize('stream', ['pose', 'contact', 'proximity', 'action'])
@pytest.mark.parametrize('seconds', [0.3, 1.5, 2.5])
def test_a_backlog_of_any_length_gives_the_same_numbers_again(stream, seconds):
    run, events = make_run(seed=21, seconds=5.0), make_events(0.5, 4.6)
    stall = (stream, 11 * SECOND, 11 * SECOND + int(seconds * SECOND))
    live = delayed(run, events, {}, [stall])
    assert assert_same_again(live, run, events) > 0


def test_a_long_rest_between_episodes_is_no_new_clock():
    first, events = make_run(seed=22), make_events(0.2, 1.8)
    rest = 100 * SECOND
    later = [(name, stamp + rest, value) for name, stamp, value in first]
    again = [('event', e.stamp + rest, replace(e, stamp=e.stamp + rest)) for _, _, e in events]
    live = delayed(first + later, events + again, {})
    quality = [s for s in live if s.kind == 'quality' and s.episode_id]
    half = len(quality) // 2
    assert [s.row[:3] for s in quality[1:half]] == pytest.approx(
        [s.row[:3] for s in quality[half + 1 :]], nan_ok=True
    )
    assert len([s for s in live if s.kind == 'summary']) == 2


def test_a_pause_within_an_episode_does_not_end_it():
    run, events = make_run(seed=23), make_events(0.2, 71.8)
    later = [(name, stamp + 70 * SECOND, value) for name, stamp, value in run]
    out, pipeline = process(events + run + later)
    (summary,) = [s for s in out if s.kind == 'summary']
    assert summary.values['steps'] == sum(s.kind == 'quality' and s.episode_id == 'e1' for s in out)
    assert summary.values['steps'] > 1.8 * sum(s[0] == 'action' for s in run[: len(run)]) - 15
    assert 'action.reset' not in pipeline.data_quality()


def test_a_late_action_takes_nothing_from_its_future():
    run, events = make_run(seed=24, seconds=3.0), make_events(0.5, 2.5)
    live = delayed(run, events, {'action': 120})
    assert np.nanmin(column(live, 'quality', 'pose_age')) >= 0
    assert assert_same_again(live, run, events) > 40


def test_the_summary_has_totals_whatever_the_last_step_lacks():
    run = [s for s in make_run(seed=25, seconds=4.0) if s[0] != 'contact' or s[1] < 11 * SECOND]
    out, _ = process(make_events(0.2, 3.5) + run)
    (summary,) = [s for s in out if s.kind == 'summary']
    safety = summary.values['safety']
    assert safety['cr'] == safety['collisions'] / summary.values['steps'] > 0


def test_success_of_another_episode_or_of_before_the_start_does_not_count():
    run, events = make_run(seed=26), make_events(0.5, 1.8)
    begin = 10 * SECOND
    strangers = [
        Event(begin + SECOND, EventType.SUCCESS, 'other'),
        Event(begin + SECOND // 4, EventType.SUCCESS, 'e1'),
    ]
    out, _ = process([('event', e.stamp, e) for e in strangers] + events + run)
    (summary,) = [s for s in out if s.kind == 'summary']
    assert math.isnan(summary.values['time_to_success'])


def test_each_episode_finds_out_anew_which_joints_are_commanded():
    part = [
        ('action', 10 * SECOND + i * 20 * MS, (('c',), [0.1 * i])) for i in range(20)
    ]  # before the episode: the gripper alone
    run = [(n, s + SECOND, v) for n, s, v in make_run(seed=27)]
    out, _ = process(make_events(1.0, 2.5) + part + run)
    whole, _ = process(make_events(1.0, 2.5) + run)
    kept = [[row for row in rows(o, 'quality') if row[1]] for o in (out, whole)]
    assert equal(*kept) and len(kept[0]) > 30


@pytest.mark.parametrize(
    'text',
    [
        '{"gap": [1]}',
        '{"hold": null}',
        '{"action_names": ["a"], "action_lower": ["x"], "action_upper": [1]}',
        '{"action_names": ["a"], "action_lower": [-Infinity], "action_upper": [1]}',
        '{"risk_floor": 0}',
        '{"gap": true}',
    ],
)
def test_settings_of_the_wrong_kind_are_refused(text):
    with pytest.raises(ValueRangeError):
        PipelineOptions.from_json(text)


def test_of_events_that_are_announced_far_ahead_a_bounded_number_is_kept():
    pipeline = MetricPipeline()
    now = 1_700_000_000 * SECOND
    for number in range(5000):
        event = Event(now + 3600 * SECOND + number, EventType.NOTE, 'e')
        pipeline.feed('event', event.stamp, event, now)
        pipeline.advance(now)
    assert pipeline.data_quality()['event.too_many'] == 5000 - MOST_EVENTS
    # Events of now are taken as soon as those have passed.
    later = now + 7200 * SECOND
    pipeline.advance(later)
    event = Event(later, EventType.START, 'e1')
    pipeline.feed('event', event.stamp, event, later)
    assert pipeline.data_quality()['event.too_many'] == 5000 - MOST_EVENTS


@pytest.mark.parametrize(
    'name', ['action_names', 'action_lower', 'continuous', 'pose_frame', 'references']
)
@pytest.mark.parametrize('value', [5, None, {}, 'abc', ['a', 5], [None]])
def test_recorded_settings_of_another_type_are_named(name, value):
    given = {'action_names': ['a'], 'action_lower': [0.0], 'action_upper': [1.0], name: value}
    if name == 'pose_frame' and value == 'abc':
        assert PipelineOptions.from_json(json.dumps(given)).pose_frame == 'abc'
        return
    with pytest.raises(ValueRangeError, match=name):
        PipelineOptions.from_json(json.dumps(given))
