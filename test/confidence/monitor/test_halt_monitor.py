# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The halt monitor: the paper's rule by hand, and every option against a slow plain model."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_monitor import levels

from frame_ros.confidence.monitor import (
    Cause,
    HaltMonitor,
    Level,
    MonitorOptions,
    MonitorSample,
)
from frame_ros.core.errors import CalibrationError, ValueRangeError
from frame_ros.core.options import OptionError
from frame_ros.core.time import SECOND

START = 5 * SECOND


def fixed(**values):
    return MonitorOptions(**{'threshold_from': 'fixed', 'thresholds': (0.5,)} | values)


def monitor_of(options, calibration=None):
    monitor = HaltMonitor(options, calibration)
    monitor.start(START)
    return monitor


def sample(second, confidence=None, distance=0.5, contact=False, **values):
    """A sample with all inputs, measured just now."""
    stamp = START + round(second * SECOND)
    scores = None if confidence is None else {'confidence': confidence}
    return MonitorSample(
        stamp, scores, distance=distance, distance_stamp=stamp, contact=contact,
        contact_stamp=stamp, **values,
    )  # fmt: skip


def causes(verdict):
    return [reason.cause for reason in verdict.reasons]


@pytest.mark.parametrize(
    ('confidence', 'distance', 'contact', 'level', 'expected'),
    [
        (0.6, 0.05, True, Level.OK, []),
        (0.5, 0.05, True, Level.OK, []),  # at the threshold is not below it
        (0.4, 0.5, False, Level.CAUTION, [Cause.SCORE]),
        (0.4, 0.081, False, Level.CAUTION, [Cause.SCORE]),
        (0.4, 0.08, False, Level.HALT, [Cause.SCORE, Cause.NEAR]),
        (0.4, 0.5, True, Level.HALT, [Cause.SCORE, Cause.IN_CONTACT]),
        (0.4, 0.01, True, Level.HALT, [Cause.SCORE, Cause.NEAR, Cause.IN_CONTACT]),
    ],
)
def test_a_halt_needs_low_confidence_and_something_near(
    confidence, distance, contact, level, expected
):
    verdict = monitor_of(fixed()).update(sample(1, confidence, distance, contact))
    assert (verdict.level, causes(verdict)) == (level, expected)
    assert verdict.is_halt_recommended == (level == Level.HALT)
    assert (verdict.score, verdict.value, verdict.threshold) == ('confidence', confidence, 0.5)
    assert (verdict.distance, verdict.in_contact) == (distance, contact)


def test_what_comes_near_between_two_inferences_is_judged_by_the_last_confidence():
    monitor = monitor_of(fixed())
    assert monitor.update(sample(1, 0.4)).level == Level.CAUTION
    assert monitor.update(sample(1.1)).level == Level.CAUTION
    assert monitor.update(sample(1.2, distance=0.07)).level == Level.HALT


def test_reasons_are_in_words():
    verdict = monitor_of(fixed()).update(sample(1, 0.41, 0.052))
    assert [reason.text for reason in verdict.reasons] == [
        'confidence 0.41 is below its threshold 0.5',
        '0.052 m from an obstacle, within 0.08 m',
    ]


def test_nothing_that_is_missing_or_old_passes_as_ok():
    monitor = monitor_of(fixed())
    stamp = START + SECOND
    nothing = monitor.update(MonitorSample(stamp))
    assert nothing.level == Level.STALE
    assert causes(nothing) == [Cause.NO_SCORE, Cause.NO_DISTANCE, Cause.NO_CONTACT_STATE]
    assert math.isnan(nothing.value) and math.isnan(nothing.threshold)
    assert monitor.update(sample(2, 0.9)).level == Level.OK
    assert monitor.update(MonitorSample(START + 2 * SECOND + SECOND // 2)).level == Level.OK
    old = monitor.update(MonitorSample(START + 2 * SECOND + SECOND // 2 + 10_000_000))
    assert causes(old) == [Cause.NO_DISTANCE, Cause.NO_CONTACT_STATE]
    assert old.reasons[0].text == 'the last distance is 0.51 s old'
    unknown = monitor.update(sample(3, math.nan, math.nan, None))
    assert causes(unknown) == [Cause.NO_DISTANCE, Cause.NO_CONTACT_STATE]
    assert causes(monitor.update(sample(7.5))) == [Cause.NO_SCORE]


def test_a_halt_is_found_from_what_is_known_and_does_not_end_when_an_input_is_lost():
    monitor = monitor_of(fixed())
    verdict = monitor.update(sample(1, 0.4, math.nan, True))
    assert causes(verdict) == [Cause.SCORE, Cause.IN_CONTACT, Cause.NO_DISTANCE]
    assert verdict.level == Level.HALT
    lost = monitor.update(MonitorSample(START + 60 * SECOND))
    assert lost.level == Level.HALT
    assert causes(lost) == [Cause.NO_SCORE, Cause.NO_DISTANCE, Cause.NO_CONTACT_STATE]
    assert monitor.update(sample(61, 0.9)).level == Level.OK


@pytest.mark.parametrize('lost', ['scores', 'distance', 'contact'])
def test_one_stamp_of_a_wrong_clock_blinds_nothing(lost):
    """Else nothing that comes after it would count as newer, nor be missed."""
    monitor = monitor_of(fixed())
    hour = START + 3600 * SECOND
    wrong = sample(1, 0.9, 0.5, False)._replace(**{f'{lost}_stamp': hour})
    assert monitor.update(wrong).level == Level.STALE
    assert monitor.update(sample(2, 0.4, 0.05)).level == Level.HALT
    monitor = monitor_of(fixed())
    assert monitor.update(sample(1, 0.9)).level == Level.OK
    assert monitor.update(sample(7, 0.9)._replace(**{f'{lost}_stamp': hour})).level == Level.STALE


def test_a_start_forgets_the_episode_before():
    monitor = monitor_of(fixed(cool_down=100.0))
    assert monitor.update(sample(1, 0.4, 0.05)).level == Level.HALT
    assert monitor.update(sample(2, 0.9)).level == Level.OK
    monitor.start(START + 3 * SECOND)
    assert monitor.update(MonitorSample(START + 3 * SECOND)).level == Level.STALE
    late = sample(3.5, 0.9, scores_stamp=START + 2 * SECOND)
    assert causes(monitor.update(late)) == [Cause.NO_SCORE]
    assert monitor.update(sample(4, 0.4, 0.05)).level == Level.HALT


def test_without_an_episode_thresholds_that_do_not_follow_the_task_hold():
    monitor = HaltMonitor(fixed(warm_up=10.0))
    verdict = monitor.update(sample(1, 0.4, 0.05))
    assert verdict.level == Level.HALT
    assert math.isnan(verdict.completion)


def test_warm_up_minimum_duration_and_cool_down_delay_a_halt_and_say_so():
    monitor = monitor_of(fixed(warm_up=2.0, minimum_duration=1.0, cool_down=5.0))
    steps = [
        (0.5, 0.4, Level.CAUTION, [Cause.WARM_UP, Cause.MINIMUM_DURATION]),
        (1.5, 0.4, Level.CAUTION, [Cause.WARM_UP]),
        (2.0, 0.4, Level.HALT, []),
        (2.5, 0.9, Level.OK, []),
        (3.0, 0.4, Level.CAUTION, [Cause.MINIMUM_DURATION, Cause.COOL_DOWN]),
        (4.0, 0.4, Level.CAUTION, [Cause.COOL_DOWN]),
        (7.5, 0.4, Level.HALT, []),
        (7.6, 0.4, Level.HALT, []),
    ]
    for second, confidence, level, delays in steps:
        verdict = monitor.update(sample(second, confidence, 0.05))
        assert verdict.level == level, second
        beyond = [Cause.SCORE, Cause.NEAR] if level != Level.OK else []
        assert causes(verdict) == beyond + delays, second


def test_hysteresis_holds_an_alarm_until_the_score_and_the_distance_are_back_by_enough():
    monitor = monitor_of(fixed(score_hysteresis=(0.1,), distance_hysteresis=0.02))
    assert monitor.update(sample(1, 0.4, 0.08)).level == Level.HALT
    held = monitor.update(sample(2, 0.55, 0.1))
    assert held.level == Level.HALT
    assert [reason.text for reason in held.reasons] == [
        'confidence 0.55 is back at its threshold 0.5, not yet by enough',
        '0.100 m from an obstacle, not yet beyond 0.08 m by enough',
    ]
    assert monitor.update(sample(3, 0.55, 0.11)).level == Level.CAUTION
    assert monitor.update(sample(4, 0.61, 0.05)).level == Level.OK
    assert monitor.update(sample(5, 0.55, 0.05)).level == Level.OK


@pytest.mark.parametrize(
    ('aggregation', 'confidences', 'beyond'),
    [
        ('current', (0.9, 0.4, 0.9), (False, True, False)),
        ('window', (0.9, 0.4, 0.3, 0.3, 0.9, 0.2), (False, False, False, True, False, True)),
        ('all', (0.9, 0.4, 0.1, 0.3, 0.9), (False, False, True, True, False)),
        ('share', (0.4, 0.4, 0.9, 0.9, 0.4, 0.4), (False, True, True, False, False, True)),
    ],
)
def test_aggregations_by_hand(aggregation, confidences, beyond):
    monitor = monitor_of(fixed(aggregation=aggregation, window=3, share=0.6, context='anywhere'))
    found = [monitor.update(sample(k, value)) for k, value in enumerate(confidences)]
    assert tuple(verdict.level == Level.HALT for verdict in found) == beyond


@pytest.mark.parametrize('aggregation', ['current', 'window', 'all', 'share'])
def test_infinite_scores_are_beyond_and_break_no_mean(aggregation):
    options = fixed(
        scores=('tb_e_step',), aggregation=aggregation, window=2, share=0.5, context='anywhere'
    )
    monitor, levels = monitor_of(options), []
    for k, value in enumerate((1e308, 1e308, math.inf, -math.inf, -math.inf, 0.0, 0.0)):
        levels.append(monitor.update(MonitorSample(START + k, {'tb_e_step': value})).level)
    assert levels[:3] == [Level.HALT] * 3
    assert levels[-1] == (Level.HALT if aggregation == 'all' else Level.OK)


def test_of_several_scores_one_is_enough_and_is_shown():
    options = fixed(scores=('confidence', 'tb_e_step'), thresholds=(0.5, 2.0), context='anywhere')
    monitor = monitor_of(options)
    stamp = START + SECOND
    ok = monitor.update(MonitorSample(stamp, {'confidence': 0.6, 'tb_e_step': 2.0}))
    assert (ok.level, ok.score) == (Level.OK, 'confidence')
    halt = monitor.update(MonitorSample(stamp + 1, {'confidence': 0.6, 'tb_e_step': 2.1}))
    assert (halt.level, halt.score, halt.value, halt.threshold) == (
        Level.HALT, 'tb_e_step', 2.1, 2.0,
    )  # fmt: skip
    assert halt.reasons[0].text == 'tb_e_step 2.1 is above its threshold 2'


def test_options_that_do_not_fit_each_other_are_refused():
    for values in (
        {'thresholds': ()},
        {'thresholds': (0.5, 0.6)},
        {'scores': ()},
        {'scores': ('confidence', 'confidence'), 'thresholds': (0.5, 0.5)},
        {'score_hysteresis': (0.1, 0.2)},
    ):
        with pytest.raises(OptionError):
            fixed(**values)
    with pytest.raises(ValueRangeError, match="no score is called 'confidnce'"):
        HaltMonitor(fixed(scores=('confidnce',)))


def test_a_monitor_without_thresholds_is_not_made():
    with pytest.raises(CalibrationError, match='needs a calibration file'):
        HaltMonitor(MonitorOptions())


# Few values, to meet thresholds often, of powers of two, so that their sums are exact; and
# stamps that come twice or late.
SCORE = st.sampled_from([0.25, 0.375, 0.4375, 0.5, 0.5625, 0.625, 0.875, math.nan])
STEP = st.sampled_from([0, 1, 100_000_000, 300_000_000, SECOND, 4 * SECOND, -50_000_000])


def ahead_of(stamp):
    return stamp + SECOND // 2, stamp + 3600 * SECOND


@st.composite
def episodes(draw):
    samples, stamp = [], START
    for _ in range(draw(st.integers(1, 14))):
        stamp += draw(STEP)
        values = {}
        if draw(st.booleans()):
            names = draw(st.sampled_from([('confidence',), ('confidence', 'tb_e_step'), ()]))
            values['scores'] = {name: draw(SCORE) for name in names}
            values['scores_stamp'] = draw(
                st.sampled_from([0, stamp, stamp - 40_000_000, *ahead_of(stamp)])
            )
        if draw(st.booleans()):
            values['distance'] = draw(st.sampled_from([0.01, 0.08, 0.09, 0.1, 0.5, math.nan]))
            values['distance_stamp'] = draw(
                st.sampled_from([stamp, stamp - 60_000_000, *ahead_of(stamp)])
            )
        if draw(st.booleans()):
            values['contact'] = draw(st.sampled_from([True, False, None]))
            values['contact_stamp'] = draw(
                st.sampled_from([stamp, stamp - 60_000_000, *ahead_of(stamp)])
            )
        if draw(st.booleans()):
            values['progress'] = draw(st.sampled_from([-0.1, 0.0, 0.4, 0.9, 2.0]))
        if draw(st.booleans()):
            values['expected_duration'] = draw(st.sampled_from([2.0, 10.0]))
        samples.append(MonitorSample(stamp, **values))
    return samples


OPTIONS = st.fixed_dictionaries(
    {
        'scores': st.sampled_from([('confidence',), ('confidence', 'tb_e_step')]),
        'context': st.sampled_from(['near_or_contact', 'near', 'contact', 'anywhere']),
        'aggregation': st.sampled_from(['current', 'window', 'all', 'share']),
        'window': st.integers(1, 4),
        'share': st.sampled_from([0.2, 0.5, 0.6, 1.0]),
        'score_hysteresis': st.sampled_from([(0.0,), (0.0625,), (0.125,)]),
        'distance_hysteresis': st.sampled_from([0.0, 0.015]),
        'warm_up': st.sampled_from([0.0, 1.0]),
        'minimum_duration': st.sampled_from([0.0, 0.4]),
        'cool_down': st.sampled_from([0.0, 1.0]),
    }
)


@given(OPTIONS, episodes())
def test_it_equals_a_plain_model_with_fixed_thresholds(values, samples):
    options = MonitorOptions(
        threshold_from='fixed', thresholds=(0.5,) * len(values['scores']), **values
    )
    curves = dict.fromkeys(options.scores, (0.5,))
    monitor = monitor_of(options)
    found = [monitor.update(each).level.name.lower() for each in samples]
    assert found == levels(options, curves, math.nan, START, samples)


@given(episodes())
def test_the_same_samples_give_the_same_verdicts(samples):
    monitor = monitor_of(fixed(minimum_duration=0.4, cool_down=1.0))
    first = [repr(monitor.update(each)) for each in samples]
    monitor.start(START)
    assert [repr(monitor.update(each)) for each in samples] == first
