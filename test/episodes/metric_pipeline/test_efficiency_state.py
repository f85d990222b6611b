# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Every field of EfficiencyMetrics by its definition, worked out in numpy."""

import math

import numpy as np
import pytest
from pipeline_runs import INFERENCE, NAMES

from frame_ros.core.events import Event, EventType
from frame_ros.core.time import SECOND
from frame_ros.episodes.metric_pipeline.efficiency_state import EfficiencyState
from frame_ros.episodes.metric_pipeline.options import PipelineOptions
from frame_ros.episodes.metric_pipeline.pipeline import MetricPipeline
from frame_ros.metrics.message_fields import FIELDS

PARTS = ('preprocess', 'forward', 'postprocess', 'transport')
BEGIN = 100 * SECOND


def random_inferences(count, seed=0):
    rng = np.random.default_rng(seed)
    names = ('latency', *PARTS, 'cpu_time', 'memory_rss', 'memory_device', 'observation_age')
    for sequence in range(count):
        drawn = {name: float(rng.gamma(2.0, 0.05)) for name in names}
        counts = {'stalls': float(rng.integers(4)), 'queue_depth': float(rng.integers(9))}
        yield INFERENCE | drawn | counts | {'sequence': sequence, 'chunk_overlap': rng.random()}


def values_of(state):
    return dict(zip(FIELDS['efficiency'][2:], state.values()))


def test_every_field_is_by_its_definition():
    state, calls = EfficiencyState(), []
    for values in random_inferences(60):
        state.update_inference(values)
        calls.append(values)
        found = values_of(state)
        column = {name: np.array([call[name] for call in calls]) for name in values}
        latency = column['latency']
        expected = {
            'il': latency.mean(),
            'il_last': latency[-1],
            'il_p50': np.percentile(latency, 50),
            'il_p95': np.percentile(latency, 95),
            'il_p99': np.percentile(latency, 99),
            'il_jitter': latency.std(),
            **{f'il_{part}': column[part].mean() for part in PARTS},
            'inferences': len(calls),
            'ct': column['cpu_time'].mean(),
            'mu': (column['memory_rss'] + column['memory_device']).max(),
            'stalls': column['stalls'].sum(),
            **{n: column[n][-1] for n in ('observation_age', 'queue_depth', 'chunk_overlap')},
        }
        for name, value in expected.items():
            assert found[name] == pytest.approx(value, rel=1e-12, abs=1e-15), name


def test_rates_are_over_the_episode_the_last_second_and_the_worst_second():
    state = EfficiencyState()
    # 30 Hz for a second, 10 Hz for a second, nothing for a second, 20 Hz for a second.
    times = [*np.arange(30) / 30, *(1 + np.arange(10) / 10), *(3 + np.arange(21) / 20)]
    for time in times:
        state.update_step(BEGIN + round(time * SECOND))
    found = values_of(state)
    assert found['control_rate'] == pytest.approx((len(times) - 1) / 4.0)
    assert found['control_rate_now'] == pytest.approx(20.0)
    assert found['control_rate_worst'] == pytest.approx(1 / 1.1)  # from 1.9 to 3.0 s


def test_what_a_policy_does_not_tell_is_left_out_and_never_zero():
    state = EfficiencyState()
    unknown = dict.fromkeys(
        ('latency', *PARTS, 'cpu_time', 'memory_device', 'chunk_overlap'), math.nan
    )
    state.update_inference(INFERENCE | unknown)
    found = values_of(state)
    assert found['inferences'] == 1
    told = {'inferences', 'stalls', 'observation_age', 'queue_depth'}
    assert all(math.isnan(value) for name, value in found.items() if name not in told)
    state.update_inference(INFERENCE | {'preprocess': -1.0})
    found = values_of(state)
    assert (found['inferences'], found['il'], found['ct']) == (2, 0.05, 0.04)
    assert math.isnan(found['il_preprocess'])
    assert found['mu'] == INFERENCE['memory_rss']


def test_an_episode_begins_anew():
    state = EfficiencyState()
    fresh = state.values()
    for values in random_inferences(3):
        state.update_inference(values)
    state.update_step(BEGIN)
    state.update_step(BEGIN + SECOND)
    state.reset()
    assert state.values() == pytest.approx(fresh, nan_ok=True)


def test_a_clock_that_is_set_back_begins_the_rates_anew_and_raises_nothing():
    """Steps of the old clock are still held then, and must not come between the new ones."""
    pipeline = MetricPipeline(PipelineOptions(efficiency_hold=0.5))
    now, samples = BEGIN, []
    for index in range(200):
        back = 0 if index < 100 else 50 * SECOND
        now += 2 * SECOND if index == 150 else SECOND // 30
        if index == 150:
            samples += pipeline.advance(now - SECOND // 30)
        pipeline.feed('action', now - back, (NAMES, [0.0, 0.1, 0.2]), now)
        samples += pipeline.advance(now)
    samples += pipeline.finish()
    rows = [s for s in samples if s.kind == 'efficiency' and s.stamp < BEGIN]
    assert pipeline.data_quality()['action.reset'] == 1
    assert rows[-1].stamp > now - 51 * SECOND
    assert rows[-1].values['control_rate_now'] == pytest.approx(30.0, rel=0.01)
    assert rows[-1].values['control_rate_worst'] == pytest.approx(0.5)


def test_the_live_rows_and_the_summary_hold_what_was_before_them():
    """Steps at 50 Hz; a row at the first of each tenth of a second, with the inferences so far."""
    pipeline = MetricPipeline()
    pipeline.feed('event', BEGIN, Event(BEGIN, EventType.START, 'e'))
    calls = list(random_inferences(8))
    for index in range(100):
        stamp = BEGIN + index * SECOND // 50
        pipeline.feed('action', stamp, (NAMES, [0.0, 0.1, 0.2]))
        if index % 13 == 6:
            pipeline.feed('inference', stamp + 1, calls[index // 13])
    pipeline.feed('event', stamp + 2, Event(stamp + 2, EventType.END, 'e'))
    samples = pipeline.finish()
    rows = [s for s in samples if s.kind == 'efficiency']
    assert [s.values['step'] for s in rows] == list(range(0, 100, 5))
    for sample in rows:
        values, step = sample.values, sample.values['step']
        before = [call for n, call in enumerate(calls) if n * 13 + 6 < step]
        assert values['inferences'] == len(before)
        if before:
            assert values['il'] == pytest.approx(np.mean([c['latency'] for c in before]))
            assert values['observation_age'] == before[-1]['observation_age']
        assert step == 0 or values['control_rate'] == pytest.approx(50.0)
    summary = next(s for s in samples if s.kind == 'summary').values['efficiency']
    assert (summary['inferences'], summary['step']) == (8, 99)
    assert summary['stalls'] == sum(call['stalls'] for call in calls)


def test_the_summary_says_what_the_policy_does_not_tell():
    pipeline = MetricPipeline()
    pipeline.feed('event', BEGIN, Event(BEGIN, EventType.START, 'e'))
    pipeline.feed('action', BEGIN + 2, (NAMES, [0.0, 0.1, 0.2]))
    unknown = dict.fromkeys(('latency', 'forward', 'cpu_time', 'memory_device'), math.nan)
    pipeline.feed('inference', BEGIN + 1, INFERENCE | unknown)
    pipeline.feed('event', BEGIN + 3, Event(BEGIN + 3, EventType.END, 'e'))
    summary = next(s for s in pipeline.finish() if s.kind == 'summary').values
    reasons = dict(line.split(': ', 1) for line in summary['unavailable'])
    assert reasons['il'] == 'the policy does not time its calls'
    assert reasons['il_forward'] == 'the policy does not time this part'
    assert 'not known' in reasons['ct'] and 'memory' in reasons['mu']
    assert 'il_preprocess' not in reasons
