# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Thresholds of the monitor from a calibration: over the horizon, conformal, bands."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_monitor import levels
from test_halt_monitor import OPTIONS, START, causes, episodes, monitor_of, sample

from frame_ros.confidence import (
    AlarmThreshold,
    FalseAlarmRate,
    Guarantee,
    RiskEpisode,
    conformal_threshold,
    fit_guarantee,
    horizon_thresholds,
)
from frame_ros.confidence.calibration_file import CalibrationFile
from frame_ros.confidence.calibration_parts import HorizonThresholds
from frame_ros.confidence.monitor import Cause, HaltMonitor, Level, MonitorOptions, MonitorSample
from frame_ros.core.errors import CalibrationError

# 0.5 in the first half of the task, 0.25 in the second.
CURVE = np.array([0.5, 0.25])


def with_horizon(curves, duration=10.0):
    thresholds = {
        score: HorizonThresholds(quantile=0.1, thresholds=np.array(curve), episodes=20)
        for score, curve in curves.items()
    }
    return CalibrationFile(horizon_thresholds=thresholds, expected_duration=duration)


def guarantee(upper, rate, form='constant', sharing='bonferroni', share=1.0, refused=None):
    """A guarantee of thresholds, each over 10 s."""
    thresholds = {
        score: AlarmThreshold(risks, 10.0, share, 0, 50) for score, risks in upper.items()
    }
    return Guarantee(rate, form, sharing, thresholds, refused or {})


def with_conformal(*rows):
    return CalibrationFile(
        guarantees=[
            guarantee({score: (threshold,)}, FalseAlarmRate(alpha))
            for score, alpha, threshold in rows
        ]
    )


def test_the_threshold_follows_the_completion_of_the_task():
    monitor = monitor_of(MonitorOptions(), with_horizon({'confidence': CURVE}))
    expected = [(0, 0.0, 0.5), (5, 0.5, 0.5), (5.1, 0.51, 0.25), (9, 0.9, 0.25), (30, 1.0, 0.25)]
    for second, completion, threshold in expected:
        verdict = monitor.update(sample(second, 0.3, 0.05))
        assert verdict.completion == pytest.approx(completion)
        assert verdict.threshold == threshold
        assert verdict.level == (Level.HALT if threshold > 0.3 else Level.OK)


def test_an_inference_is_judged_at_its_own_point_of_the_task():
    monitor = monitor_of(MonitorOptions(), with_horizon({'confidence': CURVE}))
    verdict = monitor.update(sample(6, 0.3, 0.05, scores_stamp=START + 4_000_000_000))
    assert (verdict.threshold, verdict.completion) == (0.5, 0.6)


def test_the_expected_duration_may_come_from_the_options_or_a_topic():
    calibration = with_horizon({'confidence': CURVE})
    monitor = monitor_of(MonitorOptions(expected_duration=4.0), calibration)
    assert monitor.update(sample(3, 0.3)).threshold == 0.25
    monitor = monitor_of(MonitorOptions(completion_from='duration_topic'), calibration)
    unknown = monitor.update(sample(3, 0.3))
    assert (unknown.level, causes(unknown)) == (Level.STALE, [Cause.NO_COMPLETION])
    assert 'no expected duration has come' in unknown.reasons[0].text
    assert monitor.update(sample(3.5, 0.3, expected_duration=4.0)).threshold == 0.25


def test_the_progress_of_a_topic_takes_the_place_of_time():
    options = MonitorOptions(completion_from='progress')
    monitor = monitor_of(options, with_horizon({'confidence': CURVE}, None))
    assert causes(monitor.update(sample(1, 0.3))) == [Cause.NO_COMPLETION]
    assert monitor.update(sample(2, 0.3, progress=0.2)).threshold == 0.5
    lost = monitor.update(sample(3, 0.3))
    assert (lost.level, causes(lost)) == (Level.STALE, [Cause.NO_COMPLETION])
    assert monitor.update(sample(4, 0.3, progress=0.7)).threshold == 0.25


def test_without_an_episode_a_threshold_over_the_horizon_judges_nothing():
    monitor = HaltMonitor(MonitorOptions(), with_horizon({'confidence': CURVE}))
    verdict = monitor.update(sample(1, 0.3))
    assert causes(verdict) == [Cause.NO_COMPLETION]
    assert 'no episode is under way' in verdict.reasons[0].text


def test_conformal_thresholds_are_of_the_risk():
    options = MonitorOptions(
        threshold_from='conformal', scores=('confidence', 'tb_e_step'), alpha=0.1,
        context='anywhere',
    )  # fmt: skip
    rows = [('confidence', 0.05, -0.3), ('tb_e_step', 0.05, 2.0), ('tb_e_step', 0.01, 3.0)]
    monitor = monitor_of(options, with_conformal(*rows))
    stamps = iter(range(START + 1, START + 10))

    def level(confidence, entropy):
        scores = {'confidence': confidence, 'tb_e_step': entropy}
        return monitor.update(MonitorSample(next(stamps), scores)).level

    assert level(0.3, 2.0) == Level.OK
    assert level(0.29, 1.0) == Level.HALT
    assert level(0.9, 2.01) == Level.HALT


def test_several_scores_share_the_false_alarm_rate():
    rows = [('confidence', alpha, -alpha) for alpha in (0.2, 0.1, 0.05, 0.02)]
    rows += [('tb_e_step', 0.05, 2.0)]

    def threshold(*scores, alpha):
        options = MonitorOptions(threshold_from='conformal', scores=scores, alpha=alpha)
        verdict = monitor_of(options, with_conformal(*rows)).update(sample(1, 0.9))
        return verdict.threshold

    assert threshold('confidence', alpha=0.1) == 0.1
    assert threshold('confidence', alpha=0.15) == 0.1
    assert threshold('confidence', 'tb_e_step', alpha=0.1) == 0.05
    with pytest.raises(
        CalibrationError,
        match=r'no constant threshold of confidence, tb_e_step together for a .* of 0.08 .* has: .*'
        'tb_e_step for a false-alarm rate of 0.05 per episode',
    ):
        threshold('confidence', 'tb_e_step', alpha=0.08)


def test_a_band_is_of_the_risk_over_the_time_since_start():
    band = guarantee({'confidence': (-0.5, -0.25)}, FalseAlarmRate(0.1), 'band')
    calibration = CalibrationFile(guarantees=[band], expected_duration=2.0)
    monitor = monitor_of(MonitorOptions(threshold_from='band'), calibration)
    assert monitor.update(sample(1, 0.4)).threshold == 0.5
    assert monitor.update(sample(5, 0.4)).threshold == 0.5
    assert monitor.update(sample(6, 0.4)).threshold == 0.25
    monitor.end()
    unknown = monitor.update(sample(7, 0.4))
    assert (unknown.level, causes(unknown)) == (Level.STALE, [Cause.NO_COMPLETION])
    assert 'follows the time since START, and no episode is under way' in unknown.reasons[0].text
    with pytest.raises(CalibrationError, match=r'no band threshold .* 0.05 .* has: .* rate of 0.1'):
        HaltMonitor(MonitorOptions(threshold_from='band', alpha=0.05), calibration)
    with pytest.raises(CalibrationError, match='no band .* none of them, and of no other score'):
        HaltMonitor(MonitorOptions(threshold_from='band'), CalibrationFile())
    other = CalibrationFile(guarantees=[guarantee({'tb_e_step': (0.3,)}, FalseAlarmRate(0.1))])
    with pytest.raises(CalibrationError, match='none of them, but those of tb_e_step'):
        HaltMonitor(MonitorOptions(threshold_from='conformal'), other)


def test_a_rate_per_hour_is_one_of_the_options():
    calibration = CalibrationFile(
        guarantees=[
            guarantee({'confidence': (-0.3,)}, FalseAlarmRate(0.1)),
            guarantee({'confidence': (-0.2,)}, FalseAlarmRate(0.5, 'hour')),
            guarantee({'confidence': (-0.1,)}, FalseAlarmRate(0.1, 'hour')),
        ]
    )
    options = MonitorOptions(threshold_from='conformal', alarms_per_hour=1.0)
    assert monitor_of(options, calibration).update(sample(1, 0.4)).threshold == 0.2


def test_a_score_without_a_threshold_refuses_with_the_reason_of_the_calibration():
    why = '12 episodes allow no false-alarm rate of 0.05 per episode; it needs 19'
    made = guarantee(
        {'confidence': (-0.3,)}, FalseAlarmRate(0.1), share=0.5, refused={'tb_e_step': why}
    )
    options = MonitorOptions(threshold_from='conformal', scores=('confidence', 'tb_e_step'))
    with pytest.raises(CalibrationError, match='tb_e_step has none, because 12 .* needs 19'):
        HaltMonitor(options, CalibrationFile(guarantees=[made]))


def test_a_calibration_without_what_the_options_want_is_refused():
    with pytest.raises(CalibrationError, match='no horizon thresholds of confidence; it has none'):
        HaltMonitor(MonitorOptions(), CalibrationFile())
    with pytest.raises(CalibrationError, match='it has those of tb_e_step'):
        HaltMonitor(MonitorOptions(), with_horizon({'tb_e_step': [1.0, 2.0]}))
    with pytest.raises(CalibrationError, match='no expected duration'):
        HaltMonitor(MonitorOptions(), with_horizon({'confidence': CURVE}, None))
    HaltMonitor(MonitorOptions(expected_duration=3.0), with_horizon({'confidence': CURVE}, None))


@given(
    OPTIONS,
    st.sampled_from(['duration', 'duration_topic', 'progress']),
    st.sampled_from([(0.5, 0.25, 0.75), (0.5,), (0.25, 0.5)]),
    episodes(),
)
def test_it_equals_a_plain_model_over_the_horizon(values, completion_from, curve, samples):
    options = MonitorOptions(completion_from=completion_from, **values)
    curves = dict.fromkeys(options.scores, curve)
    monitor = monitor_of(options, with_horizon(curves))
    found = [monitor.update(each).level.name.lower() for each in samples]
    assert found == levels(options, curves, 10.0, START, samples)


@given(st.integers(0, 2**32 - 1))
def test_at_the_paper_s_thresholds_it_alarms_where_confidence_is_below_the_quantile(seed):
    # Figure 5 of the paper: an alarm at each percent of the task where confidence is below.
    rng = np.random.default_rng(seed)
    thresholds = horizon_thresholds([rng.uniform(size=100) for _ in range(20)])
    monitor = monitor_of(
        MonitorOptions(context='anywhere'), with_horizon({'confidence': thresholds}, 100.0)
    )
    confidences = rng.uniform(0.0, 0.3, size=100)
    found = [monitor.update(sample(k + 1, c)).level for k, c in enumerate(confidences)]
    expected = np.where(confidences < thresholds, Level.HALT, Level.OK)
    assert found == expected.tolist()


@given(st.integers(0, 2**32 - 1), st.sampled_from(['current', 'window', 'all', 'share']))
def test_no_aggregation_and_no_delay_alarms_where_no_score_passed_its_threshold(seed, aggregation):
    # So the false-alarm rate of a conformal threshold bounds that of the monitor.
    rng = np.random.default_rng(seed)
    worst = rng.uniform(size=40)
    threshold = conformal_threshold(-worst, 0.1)
    options = MonitorOptions(
        threshold_from='conformal', aggregation=aggregation, window=3, share=0.3,
        context='anywhere', score_hysteresis=(0.2,),
    )  # fmt: skip
    monitor = monitor_of(options, with_conformal(('confidence', 0.1, threshold)))
    values = rng.uniform(0.0, 1.0, size=30)
    has_passed = False
    for k, value in enumerate(values):
        has_passed |= value < -threshold
        is_alarm = monitor.update(sample(k, value)).level != Level.OK
        assert has_passed or not is_alarm
    if aggregation == 'current':
        assert has_passed == (values < -threshold).any()
    assert not math.isnan(threshold)


@pytest.mark.parametrize('source', ['conformal', 'band'])
@pytest.mark.parametrize('sharing', ['bonferroni', 'worst'])
def test_the_monitor_alarms_where_the_guarantee_of_the_calibration_is_exceeded(source, sharing):
    rng = np.random.default_rng(3)
    names = ('confidence', 'tb_e_step')

    def drawn():
        count = int(rng.integers(5, 20))
        risks = rng.normal(size=(2, count)).cumsum(axis=1) + 0.1 * np.arange(count)
        risks[rng.random(risks.shape) < 0.1] = np.nan
        return RiskEpisode(0.3 * np.arange(count), 0.3 * count, dict(zip(names, risks)))

    episodes = [drawn() for _ in range(60)]
    form = 'band' if source == 'band' else 'constant'
    made = fit_guarantee(episodes, names, FalseAlarmRate(0.2), form, sharing)
    options = MonitorOptions(threshold_from=source, scores=names, alpha=0.2, context='anywhere')
    alarms = 0
    for each in [*episodes, *(drawn() for _ in range(20))]:
        monitor = monitor_of(options, CalibrationFile(guarantees=[made]))
        for number, time in enumerate(each.times.tolist()):
            risks = {name: float(each.risks[name][number]) for name in names}
            scores = {'confidence': -risks['confidence'], 'tb_e_step': risks['tb_e_step']}
            stamp = START + round(time * 1e9)
            # A score that is missing keeps its last verdict, for which the guarantee counted it.
            if any(map(math.isnan, risks.values())):
                continue
            level = monitor.update(MonitorSample(stamp + 1, scores, scores_stamp=stamp)).level
            expected = made.exceeded(risks, time)
            assert level == (Level.HALT if expected else Level.OK)
            alarms += bool(expected)
    assert alarms
