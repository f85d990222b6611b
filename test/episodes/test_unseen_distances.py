# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Unseen places, from messages to metrics: the chosen bound, and the share that is partial."""

from math import inf, nan
from types import SimpleNamespace

import numpy as np
import pytest

from frame_ros.bags.streams.contacts import PROXIMITY, proximity_samples
from frame_ros.bags.streams.form import Stream
from frame_ros.episodes.metric_pipeline.options import PipelineOptions
from frame_ros.episodes.metric_pipeline.pipeline import MetricPipeline
from frame_ros.episodes.unseen_shares import partial_distances

SEEN, UNSEEN = 0.2, 0.05


def distances(bound, value):
    """Distance to obstacles at the steps of a run."""
    pipeline = MetricPipeline(PipelineOptions(distance_bound=bound))
    for step in range(1, 6):
        stamp = step * 10**8
        pipeline.feed('pose', stamp, (0.0, 0.0, 0.1 * step, 0.0, 0.0, 0.0, 1.0))
        pipeline.feed('proximity', stamp, value)
        pipeline.feed('action', stamp, (('a',), [0.0]))
    return [s.values['distance'] for s in pipeline.finish() if s.kind == 'safety']


@pytest.mark.parametrize(
    ('bound', 'value', 'expected'),
    [
        ('nearest_seen', (SEEN, UNSEEN), SEEN),
        ('cautious', (SEEN, UNSEEN), UNSEEN),
        ('cautious', (SEEN, nan), SEEN),
        ('cautious', (SEEN,), SEEN),  # of older recordings
    ],
)
def test_the_metrics_take_the_bound_that_is_chosen(bound, value, expected):
    found = distances(bound, value)
    assert len(found) == 5 and found[-1] == pytest.approx(expected)


def test_messages_and_columns_give_the_same_samples():
    rows = [(0.2, 0.05), (nan, inf), (0.1, nan)]
    messages = [SimpleNamespace(distance=d, unobserved_distance=u) for d, u in rows]
    columns = {
        'distance': np.array([d for d, _ in rows]),
        'unobserved_distance': np.array([u for _, u in rows]),
    }
    live = [PROXIMITY.from_message(message) for message in messages]
    np.testing.assert_equal(live, proximity_samples(columns))
    del columns['unobserved_distance']  # a message of an older version
    old = proximity_samples(columns)
    np.testing.assert_equal(old, [(d, nan) for d, _ in rows])
    assert PROXIMITY.usable((inf, 0.1)) is None
    assert PROXIMITY.usable((0.1, inf)) == (0.1, inf)


def test_the_share_of_partial_distances_of_an_episode():
    values = {
        'distance': np.full(5, 0.2),
        'is_partial': np.array([True, True, False, True, False]),
        'unobserved_distance': np.array([0.01, 0.02, 0.3, 0.04, nan]),
    }
    stamps = np.arange(5, dtype=np.int64)
    stream = Stream('/proximity', 'frame_ros/msg/Proximity', stamps, stamps, values)
    found = partial_distances(stream, 1, 4)
    assert (found.distances, found.share, found.unobserved) == (4, 0.5, 0.04)
    assert partial_distances(stream, 4, 4) is None  # nothing is known of it
    assert partial_distances(None, 0, 4) is None
    del values['is_partial']
    assert partial_distances(stream, 0, 4) is None
