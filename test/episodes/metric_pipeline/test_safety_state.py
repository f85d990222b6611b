# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contacts that are not known for a while, peaks between samples, and limits, in the pipeline."""

import math

import pytest

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.time import SECOND
from frame_ros.episodes.metric_pipeline.options import PipelineOptions
from frame_ros.episodes.metric_pipeline.pipeline import MetricPipeline
from frame_ros.metrics.message_fields import FIELDS

UNKNOWN = (None, False, math.nan, math.nan)
FREE = (False, False, 0.2, math.nan)
BEGIN = 10 * SECOND


def safety(contacts, config=None, rate=10):
    """The rows of SafetyMetrics, one per contact sample, each a moment after it."""
    pipeline = MetricPipeline(config or PipelineOptions())
    for index, contact in enumerate(contacts):
        stamp = BEGIN + index * SECOND // rate
        pipeline.feed('contact', stamp, contact)
        pipeline.feed('action', stamp + 1000, (('a',), [0.0]))
    samples = pipeline.finish()
    return [s.values for s in samples if s.kind == 'safety']


def test_what_is_not_known_is_unavailable_and_comes_back():
    rows = safety([FREE, UNKNOWN, FREE])
    assert [row['is_contact_sensed'] for row in rows] == [True, False, True]
    assert [math.isnan(row['cr']) for row in rows] == [False, True, False]
    assert not any(row['in_contact'] for row in rows)


def test_a_collision_that_goes_on_behind_a_gap_is_the_same_one():
    hit = (True, True, 5.0, 8.0)
    rows = safety([FREE, hit, UNKNOWN, hit, FREE, hit])
    assert [row['collisions'] for row in rows] == [0, 1, 1, 1, 1, 2]


def test_a_peak_between_two_messages_is_the_peak_force():
    rows = safety([FREE, (True, False, 5.0, 8.0), FREE])
    assert [row['peak_force'] for row in rows] == [0.0, 8.0, 8.0]
    assert rows[-1]['rms_force'] == pytest.approx(5.0)


def test_what_is_estimated_in_free_motion_is_no_contact_force():
    rows = safety([(False, False, 5.0, math.nan)] * 3)
    assert [row['peak_force'] for row in rows] == [0.0] * 3
    assert math.isnan(rows[-1]['rms_force'])


def test_a_sensor_that_tells_no_force_leaves_forces_unavailable():
    rows = safety([(True, True, math.nan)] * 2)
    assert math.isnan(rows[-1]['peak_force'])
    assert rows[-1]['collisions'] == 1


def test_limits_are_for_unexpected_contacts_unless_all_are_wanted():
    contacts = [FREE, (True, False, 30.0, 30.0), FREE, (True, True, 12.0, 12.0), FREE]
    unexpected = safety(contacts, PipelineOptions(force_limit=10.0))[-1]
    assert unexpected['force_limit_ratio'] == pytest.approx(12.0 / 20.0)
    assert unexpected['limit_exceedances'] == 0
    every = safety(contacts, PipelineOptions(force_limit=10.0, limited_contacts='all'))[-1]
    assert every['force_limit_ratio'] == pytest.approx(30.0 / 20.0)
    assert every['limit_exceedances'] == 1


def test_rows_have_the_fields_in_order():
    assert tuple(safety([FREE])[0]) == FIELDS['safety']


@pytest.mark.parametrize(
    'settings', [{'pressure_limit': 1e5}, {'limited_contacts': 'some'}, {'force_limit': -1.0}]
)
def test_settings_that_cannot_be_are_refused(settings):
    with pytest.raises(ValueRangeError):
        PipelineOptions(**settings)


def test_a_grasp_is_no_part_of_what_a_collision_does():
    # 40 N of grip, expected, and a touch of 3 N that is not.
    grip = (True, False, 0.2, 40.0, math.nan, math.nan)
    touch = (True, True, 3.0, 40.0, 3.0, 4.0)
    contacts = [FREE, grip, touch, grip, FREE]
    unexpected = safety(contacts, PipelineOptions(force_limit=10.0))[-1]
    assert unexpected['force_limit_ratio'] == pytest.approx(4.0 / 20.0)
    assert unexpected['limit_exceedances'] == 0
    every = safety(contacts, PipelineOptions(force_limit=10.0, limited_contacts='all'))[-1]
    assert every['force_limit_ratio'] == pytest.approx(40.0 / 20.0)


def test_the_peak_of_before_the_episode_is_not_its_own():
    lasting = (True, True, 5.0, 60.0)
    rows = safety([lasting, lasting, (True, True, 5.0, 70.0), FREE, (True, True, 5.0, 20.0)])
    assert [row['peak_force'] for row in rows] == [5.0, 5.0, 70.0, 70.0, 70.0]
    limited = safety([lasting, lasting, FREE], PipelineOptions(force_limit=10.0))[-1]
    assert limited['force_limit_ratio'] == pytest.approx(5.0 / 20.0)
