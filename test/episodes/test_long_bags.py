# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags with many steps: what they take in memory, and values that do not depend on it."""

import tracemalloc

import numpy as np
import pytest
from bag_making import STORE, T0, joints, message, stamp
from robot_bags import inference, step_stamp

from frame_ros.bags.reader import Bag
from frame_ros.bags.streams.table import pipeline_values
from frame_ros.bags.writer import BagWriter
from frame_ros.core.events import Event, EventType
from frame_ros.core.time import SECOND
from frame_ros.episodes import read_episodes
from frame_ros.episodes.metric_pipeline.options import PipelineOptions
from frame_ros.episodes.metric_pipeline.pipeline import MetricPipeline
from frame_ros.episodes.metric_pipeline.sample_columns import SampleColumns
from frame_ros.episodes.processing import run_pipeline
from frame_ros.episodes.reading import read_bag
from frame_ros.reports import write_report

TYPE = 'sensor_msgs/msg/JointState'
NAMES = ['shoulder_pan', 'shoulder_lift', 'elbow_flex', 'wrist_flex', 'wrist_roll', 'gripper']
# Bytes for each step: the metrics take 500 of them, the streams 200. With an object for each
# sample it was 3,700.
MOST_PER_STEP = 1500


def fast_bag(folder, steps):
    """Joint states at 1 kHz."""
    writer = BagWriter(folder)
    channel = writer.add_topic('/joint_states', TYPE)
    state = message(TYPE, name=NAMES, velocity=np.zeros(6), effort=np.zeros(6))
    for step in range(steps):
        at = T0 + step * SECOND // 1000
        object.__setattr__(state.header, 'stamp', stamp(at))
        object.__setattr__(state, 'position', 0.3 * np.sin(step / 1000 * np.arange(1, 7)))
        writer.write(channel, at, bytes(STORE.serialize_cdr(state, TYPE)))
        if step % 1000 == 0:
            writer.flush()
    return writer.finish()


def most_memory(bag, page):
    """Bytes at most at once while a bag is read and its metrics computed, and while the page is
    written; and the episode.
    """
    tracemalloc.start(1)
    try:
        (episode,) = read_episodes(bag, robot='so101', topics={'action': '/joint_states'})
        reading = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        write_report([episode], page)
        return np.array([reading, tracemalloc.get_traced_memory()[1]]), episode
    finally:
        tracemalloc.stop()


def test_a_step_takes_little_more_memory_than_its_values(tmp_path):
    short, long = 3_000, 7_000
    most_memory(fast_bag(tmp_path / 'bag', 100), tmp_path / 'page.html')  # imports
    bags = [fast_bag(tmp_path / str(steps), steps) for steps in (short, long)]
    (first, _), (last, episode) = (most_memory(bag, tmp_path / 'page.html') for bag in bags)
    assert episode.steps == long and 'pose' in episode.streams
    reading, page = (last - first) / (long - short)
    assert reading < MOST_PER_STEP and page < MOST_PER_STEP


def test_names_that_all_messages_have_are_in_memory_once(tmp_path):
    (episode,) = read_bag(Bag(fast_bag(tmp_path / 'bag', 3000)))
    stream = episode.streams['joint_states']
    chosen = stream.select(stream.stamps > T0 + SECOND)
    for each in (stream, chosen):
        names, counts = each.values['names'], each.values['names_count']
        assert names.tolist() == [NAMES] * len(each) and counts.tolist() == [6] * len(each)
        assert names.strides[0] == counts.strides[0] == 0
    assert len(chosen) == 1999


@pytest.mark.parametrize('change', ['none', 'swapped', 'late', 'set back', 'early end', 'paused'])
def test_control_ticks_handed_on_early_have_the_same_values(change, tmp_path):
    """Ticks and inferences are held: to be ordered, as a bag of any kind needs it, all of them."""
    episode = ticking_episode(tmp_path / 'bag', change)
    columns, pipeline = run_pipeline(episode, PipelineOptions())
    whole, counts = fed_at_once(episode)
    found, expected = columns.metrics()['efficiency'], whole.metrics()['efficiency']
    assert len(found['stamp']) > 500 and found['inferences'][-1] > 40
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)
    assert columns.summary.keys() == whole.summary.keys()
    for kind in ('efficiency', 'confidence'):
        np.testing.assert_equal(columns.summary[kind], whole.summary[kind])
    assert pipeline.data_quality() == counts


def ticking_episode(folder, change):
    """6,500 actions at 50 Hz, as the one change of their stamps leaves them, and inferences."""
    stamps = np.array([step_stamp(step) for step in range(6500)])
    if change == 'swapped':
        stamps[1000:5000:10], stamps[1001:5000:10] = (
            stamps[1001:5000:10],
            stamps[1000:5000:10].copy(),
        )
    elif change == 'late':
        stamps[4000] = stamps[10]
    elif change == 'set back':
        stamps[4000:] -= 30 * SECOND
    elif change == 'paused':
        stamps[4000:] += 90 * SECOND
    end = stamps[5000] if change == 'early end' else stamps.max() + 1
    receptions = np.maximum.accumulate(stamps) + 1_000_000
    if change == 'set back':
        receptions = np.arange(len(stamps)) * (SECOND // 50) + T0
    writer = BagWriter(folder)
    actions = writer.add_topic('/joint_commands', TYPE)
    calls = writer.add_topic('/policy_inference', 'frame_ros/msg/PolicyInference')
    for step, (at, received) in enumerate(zip(stamps.tolist(), receptions.tolist())):
        content = joints(at, 0.1 * np.sin(0.1 * step), 0.2)
        writer.write(actions, received, bytes(STORE.serialize_cdr(content, TYPE)))
        if step % 50 == 25:
            _, _, call = inference(step, np.zeros((2, 6)), latency=0.01 + 0.001 * (step % 7))
            object.__setattr__(call.header, 'stamp', stamp(at - 3_000_000))
            data = bytes(STORE.serialize_cdr(call, call.__msgtype__))
            writer.write(calls, received + 2_000_000, data)
        if step % 1000 == 0:
            writer.flush()
    (episode,) = read_bag(Bag(writer.finish()))
    episode.episode_id = 'e1'
    episode.events = [
        Event(int(stamps.min()), EventType.START, 'e1'), Event(int(end), EventType.END, 'e1')
    ]  # fmt: skip
    return episode


def fed_at_once(episode):
    """The metrics, and counts, of a pipeline that hands on nothing before all is there."""
    pipeline, columns = MetricPipeline(PipelineOptions()), SampleColumns('e1')
    for event in episode.events:
        pipeline.feed('event', event.stamp, event)
    rows = [
        (now, role, at, value)
        for role, stream in episode.streams.items()
        if role in ('action', 'inference')
        for now, at, value in zip(
            stream.received.tolist(), stream.stamps.tolist(), pipeline_values(role, stream)
        )
    ]
    for now, role, at, value in sorted(rows, key=lambda row: row[0]):
        pipeline.feed(role, at, value, now)
    columns.add(pipeline.finish())
    return columns, pipeline.data_quality()
