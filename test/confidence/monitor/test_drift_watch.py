# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Drift as the monitor watches it: over the episodes that it saw end."""

import math

import numpy as np

from frame_ros.confidence.calibration_file import CalibrationFile
from frame_ros.confidence.monitor import HaltMonitor, MonitorOptions, MonitorSample

SECOND = 10**9
OPTIONS = MonitorOptions(threshold_from='fixed', thresholds=(0.1,), context='anywhere')


def run(monitor, number, values, ends=True):
    """An episode with these confidences, one each second, the last two given twice."""
    start = 1000 * number * SECOND + 1
    monitor.start(start)
    for second, value in enumerate(values, 1):
        stamp = start + second * SECOND
        monitor.update(MonitorSample(stamp, {'confidence': value}))
        monitor.update(MonitorSample(stamp + 1, {'confidence': value}, scores_stamp=stamp))
    if ends:
        monitor.end()


def test_the_risks_of_ended_episodes_are_those_of_the_calibration():
    rng = np.random.default_rng(0)
    # Risk is confidence with the other sign.
    reference = rng.uniform(-1.0, -0.5, size=40).tolist()
    monitor = HaltMonitor(OPTIONS, CalibrationFile(drift={'confidence': reference}))
    expected = HaltMonitor(OPTIONS, CalibrationFile(drift={'confidence': reference}))
    assert not monitor.drift.problem and monitor.drift.verdict.evidence > 0.0
    for number in range(20):
        values = rng.random(4) * 0.2
        run(monitor, number, [*values, math.nan])
        expected.drift._detector.update({'confidence': float(-values.mean())})
        assert monitor.drift.verdict == expected.drift.verdict
    assert monitor.drift.verdict.causes == (
        'the risk of confidence is higher than in the calibration episodes',
    )


def test_an_episode_that_did_not_end_is_not_tested():
    monitor = HaltMonitor(OPTIONS, CalibrationFile(drift={'confidence': list(range(20))}))
    before = monitor.drift.verdict
    run(monitor, 1, [0.5, 0.4], ends=False)
    run(monitor, 2, [], ends=True)
    monitor.end()
    assert monitor.drift.verdict == before


def test_drift_that_cannot_be_watched_says_why():
    for calibration in (None, CalibrationFile(), CalibrationFile(drift={'confidence': [0.1]})):
        monitor = HaltMonitor(OPTIONS, calibration)
        run(monitor, 1, [0.5])
        assert monitor.drift.verdict is None
        assert 'needs 10 calibration episodes' in monitor.drift.problem
