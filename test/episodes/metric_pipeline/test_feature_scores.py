# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Distances of features in the metric pipeline: the same live and of a bag, or a reason."""

import numpy as np
import pytest
from bag_making import T0, event, message, stamp, write_bag

from frame_ros.bags.streams.table import STREAMS
from frame_ros.confidence.calibration_file import CalibrationFile
from frame_ros.confidence.feature_reference import FEATURE_SCORES, FeatureDistances, fit_features
from frame_ros.core.events import Event, EventType
from frame_ros.core.time import SECOND
from frame_ros.episodes.metric_pipeline.options import PipelineOptions
from frame_ros.episodes.metric_pipeline.pipeline import MetricPipeline
from frame_ros.episodes.reading import read_episodes

SOURCE, WIDTH = 'an encoder', 4
PERIOD = SECOND // 5


def fitted():
    random = np.random.default_rng(99)
    return fit_features([random.normal(size=(30, WIDTH)) for _ in range(5)], SOURCE)


def inference(sequence, features, source=SOURCE):
    return message(
        'frame_ros/msg/PolicyInference', header__stamp=stamp(T0 + (1 + sequence) * PERIOD),
        sequence=sequence, features=features, feature_source=source,
    )  # fmt: skip


def live_rows(messages, calibration):
    pipeline = MetricPipeline(PipelineOptions(calibration=calibration))
    pipeline.feed('event', T0, Event(T0, EventType.START, 'e'))
    for number, each in enumerate(messages):
        values = STREAMS['inference'].from_message(each)
        pipeline.feed('inference', T0 + (1 + number) * PERIOD, values)
    return [sample.values for sample in pipeline.finish() if sample.kind == 'confidence']


def of_bag(folder, messages, calibration):
    config = PipelineOptions(calibration=calibration).to_json()
    end = T0 + 10 * SECOND
    sent = [
        ('/metrics_config', T0 - 1, message('std_msgs/msg/String', data=config)),
        ('/episode_events', T0, event(T0, EventType.START, 'e')),
        *(
            ('/policy_inference', T0 + (1 + n) * PERIOD + 1000, each)
            for n, each in enumerate(messages)
        ),
        ('/episode_events', end, event(end, EventType.END, 'e', outcome=1)),
    ]
    (episode,) = read_episodes(write_bag(folder, sent))
    return episode.metrics['confidence']


def test_distances_are_the_same_live_and_of_a_bag(tmp_path):
    random = np.random.default_rng(0)
    cases = [
        (random.normal(size=WIDTH), SOURCE),
        (np.zeros(0), ''),
        (random.normal(size=WIDTH), 'another'),
        (random.normal(size=3), SOURCE),
        (random.normal(size=WIDTH), SOURCE),
        (np.full(WIDTH, np.inf), SOURCE),
        (np.full(WIDTH, 20.0), SOURCE),
    ]
    sent = [inference(n, *case) for n, case in enumerate(cases)]
    calibration, distances = CalibrationFile(features=fitted()), FeatureDistances(fitted())
    live, columns = live_rows(sent, calibration), of_bag(tmp_path / 'bag', sent, calibration)
    for n, case in enumerate(cases):
        expected, problem = distances.of(*case)
        assert bool(problem) is (n in (1, 2, 3, 5))
        for name in FEATURE_SCORES:
            np.testing.assert_equal(live[n][name], expected[name])
            np.testing.assert_equal(columns[name][n], expected[name])
            assert (f'{name}: {problem}' in live[n]['unavailable']) is bool(problem)
        assert columns['unavailable'][n] == live[n]['unavailable']
    assert live[6]['feature_knn'] > 5 * live[0]['feature_knn']


@pytest.mark.parametrize(
    ('calibration', 'features', 'reason'),
    [
        (None, np.ones(WIDTH), 'no calibration file is loaded'),
        (None, np.zeros(0), 'the policy exposes no features of its observation'),
        (CalibrationFile(), np.ones(WIDTH), 'the calibration file holds no features'),
        (CalibrationFile(), np.zeros(0), 'the policy exposes no features of its observation'),
    ],
)
def test_the_reason_for_no_distance_names_what_is_lacking(calibration, features, reason):
    (row,) = live_rows([inference(0, features)], calibration)
    assert {f'{name}: {reason}' for name in FEATURE_SCORES} <= set(row['unavailable'])
