# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The terminal's view of a run: values of the episode that runs, and of no other."""

import math
import time

import pytest
from patience import PATIENCE

rclpy = pytest.importorskip('rclpy')
pytest.importorskip('frame_ros.msg')

from rclpy.qos import QoSDurabilityPolicy, QoSProfile  # noqa: E402

from frame_ros.cli.live_view import (  # noqa: E402
    HEADER,
    closing_lines,
    result_line,
    snapshot_line,
)
from frame_ros.msg import (  # noqa: E402
    EfficiencyMetrics,
    EpisodeEvent,
    EpisodeSummary,
    MonitorState,
    NodeReadiness,
    QualityMetrics,
)
from frame_ros.nodes.console.node import Snapshot, close_console, open_console  # noqa: E402
from frame_ros.nodes.metrics.topics import METRICS  # noqa: E402
from frame_ros.nodes.runtime.endpoints import published  # noqa: E402
from frame_ros.nodes.runtime.topics import EPISODE_EVENTS  # noqa: E402


@pytest.fixture
def console(ros_domain):
    node = open_console(ros_domain)
    yield node
    close_console(node)


@pytest.fixture
def publish(console):
    """Publishes, beside the console, and waits until the console's inputs are matched."""
    latched = QoSProfile(depth=50, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
    topics = {
        EpisodeEvent: ('episode_events', latched),
        QualityMetrics: ('quality_metrics', 10),
        EfficiencyMetrics: ('efficiency_metrics', 10),
        EpisodeSummary: ('episode_summary', latched),
        MonitorState: ('monitor_state', 10),
        NodeReadiness: ('node_readiness', latched),
    }
    node = rclpy.create_node('teller')
    made = {kind: node.create_publisher(kind, *where) for kind, where in topics.items()}
    deadline = time.monotonic() + PATIENCE
    while not all(publisher.get_subscription_count() for publisher in made.values()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    yield lambda message: made[type(message)].publish(message)
    node.destroy_node()


def look_until(console, condition):
    found, deadline = [], time.monotonic() + PATIENCE
    while not condition(console.snapshot, found):
        assert time.monotonic() < deadline, console.snapshot
        found += console.look()
        time.sleep(0.01)
    return found


def test_values_are_of_the_episode_that_runs(console, publish):
    publish(EpisodeEvent(type=EpisodeEvent.START, episode_id='a'))
    publish(QualityMetrics(episode_id='a', time=7.5, tcp_speed=0.2))
    publish(EfficiencyMetrics(episode_id='a', il_last=0.05, control_rate_now=30.0))
    look_until(console, lambda seen, _: seen.time == 7.5 and seen.latency == 0.05)
    assert snapshot_line(console.snapshot, 5).startswith('episode 1 of 5, 7.5 s | speed 200 mm')

    publish(EpisodeEvent(type=EpisodeEvent.START, episode_id='b'))
    look_until(console, lambda seen, _: seen.episode_id == 'b')
    assert math.isnan(console.snapshot.latency) and math.isnan(console.snapshot.time)
    publish(QualityMetrics(episode_id='a', time=9.9))
    publish(QualityMetrics(episode_id='b', time=0.1))
    look_until(console, lambda seen, _: seen.time == 0.1)
    assert snapshot_line(console.snapshot, 5).startswith('episode 2 of 5, 0.1 s')
    assert 'monitor' not in snapshot_line(console.snapshot, 5)
    publish(MonitorState(episode_id='b', level=MonitorState.LEVEL_HALT))
    look_until(console, lambda seen, _: seen.monitor == MonitorState.LEVEL_HALT)
    assert snapshot_line(console.snapshot, 5).endswith(' | monitor HALT')


def test_between_episodes_the_next_one_is_waited_for(console, publish):
    publish(EpisodeEvent(type=EpisodeEvent.START, episode_id='a'))
    publish(QualityMetrics(episode_id='a', time=7.5))
    look_until(console, lambda seen, _: seen.time == 7.5)
    publish(EpisodeEvent(type=EpisodeEvent.END, episode_id='a'))
    look_until(console, lambda seen, _: not seen.episode_id)
    summary = EpisodeSummary(episode_id='a', outcome=EpisodeSummary().outcome)
    summary.efficiency.il, summary.efficiency.control_rate = 0.0125, 29.9
    publish(QualityMetrics(episode_id='a', time=7.6))
    publish(summary)
    (result,) = look_until(console, lambda _, found: found)
    assert math.isnan(console.snapshot.time)
    assert snapshot_line(console.snapshot, 5) == 'waiting for episode 2 of 5'
    # One name, one number: the mean latency of the summary, under that name.
    at = HEADER.index('mean latency')
    assert result_line(result)[at : at + len('mean latency')].strip() == '12.5 ms'


def test_before_the_first_episode_the_line_says_what_is_not_ready(console, publish):
    publish(NodeReadiness(node='/teller', reason='it is not configured'))
    wanted = ('/teller: it is not configured',)
    look_until(console, lambda seen, _: seen.waits_for == wanted)
    assert snapshot_line(console.snapshot, 5) == f'waiting for episode 1 of 5: {wanted[0]}'
    publish(EpisodeEvent(type=EpisodeEvent.START, episode_id='a'))
    look_until(console, lambda seen, _: seen.episode_id)
    assert console.snapshot.waits_for == ()
    many = Snapshot(waits_for=('/a: it is not running', '/b: x', '/c: y'))
    assert snapshot_line(many, 5).endswith('1 of 5: /a: it is not running; and 2 more')


@pytest.fixture
def after_an_episode(ros_domain):
    """A console that is opened when an episode is over, as on a busy machine, with another running
    and the summary of a third, of which no START came.
    """
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=ros_domain)
    node = rclpy.create_node('others', context=context)
    events = node.create_publisher(*published(EPISODE_EVENTS))
    summaries = node.create_publisher(*published(METRICS['summary']))
    summaries.publish(EpisodeSummary(episode_id='x'))
    for episode in ('a', 'b'):
        events.publish(EpisodeEvent(type=EpisodeEvent.START, episode_id=episode))
        if episode == 'a':
            summaries.publish(EpisodeSummary(episode_id=episode))
            events.publish(EpisodeEvent(type=EpisodeEvent.END, episode_id=episode))
    console = open_console(ros_domain)
    yield console, summaries
    close_console(console)
    node.destroy_node()
    context.shutdown()


def test_episodes_from_before_it_was_there_are_shown_by_their_numbers(after_an_episode):
    console, summaries = after_an_episode
    results = look_until(console, lambda seen, found: found and seen.episode_id == 'b')
    summaries.publish(EpisodeSummary(episode_id='b'))
    results += look_until(console, lambda _, found: found)
    assert [(each.episode_id, each.number) for each in results] == [('a', 1), ('b', 2)]
    assert [result_line(each).split()[0] for each in results] == ['1', '2']
    assert closing_lines(2, results, 7.0, True) == ['2 episodes in 7 s']


def test_the_end_counts_all_episodes_and_names_those_without_a_line(after_an_episode):
    console, _ = after_an_episode
    (first,) = look_until(console, lambda _, found: found)
    assert closing_lines(3, [first], 61.2, True) == [
        '3 episodes in 61 s',
        'episodes 2, 3 are not in the table: no episode_summary came; see the bags',
    ]
    assert closing_lines(1, [], 9.0, False) == [
        '1 episode in 9 s',
        'episode 1 is not in the table: no episode_summary came',
    ]
