# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Logits and sampled chunks of a policy, over real topics, to ConfidenceMetrics and to a bag."""

import signal
import subprocess
import sys
import time
from array import array
from dataclasses import replace

import numpy as np
import pytest
from patience import PATIENCE

rclpy = pytest.importorskip('rclpy')

from rclpy.qos import DurabilityPolicy, QoSProfile  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from scipy.special import softmax  # noqa: E402

from frame_ros import metrics  # noqa: E402
from frame_ros.bags.writer import BagWriter  # noqa: E402
from frame_ros.episodes.reading import read_episodes  # noqa: E402
from frame_ros.metrics.token_statistics import token_statistics  # noqa: E402
from frame_ros.msg import ConfidenceMetrics, EpisodeEvent, PolicyInference  # noqa: E402
from frame_ros.nodes.policy.inference import Call, inference_message  # noqa: E402
from frame_ros.nodes.runtime.message_parts import time_message  # noqa: E402
from frame_ros.policies.episode_gate import PolicyEpisode  # noqa: E402
from frame_ros.policies.execution.action_queue import Arrival  # noqa: E402
from frame_ros.policies.execution.chunk import ChunkComparison  # noqa: E402
from frame_ros.policies.protocol import Observation, TokenStatistics  # noqa: E402
from frame_ros.policies.scripted.pick_place import ScriptedOptions, ScriptedPickPlace  # noqa: E402
from frame_ros.robots.profiles import find_profile  # noqa: E402

COUNT, TOKENS, CLASSES, SAMPLES = 12, 60, 900, 5
JOINT_NAMES, HOME = zip(*find_profile('so101').postures['home'].items())
METRICS = ('tb_tp', 'tb_pcs', 'tb_d', 'tb_e', 'ev')
LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
TOPICS = {
    'policy_inference': PolicyInference,
    'confidence_metrics': ConfidenceMetrics,
    'episode_events': EpisodeEvent,
}


class Calls:
    """Returns the message that the policy node would publish, and its metrics by batch formulas."""

    def __init__(self):
        self._rng = np.random.default_rng(5)
        self._policy = ScriptedPickPlace(ScriptedOptions(quality=0.5, samples=SAMPLES))

    def message(self, sequence, stamp):
        """One PolicyInference, and METRICS of the full probabilities and samples."""
        poses = {'object': (0.24, -0.06, 0.015, 0, 0, 0, 1), 'goal': (0.2, 0.17, 0.004, 0, 0, 0, 1)}
        observation = Observation(
            stamp, stamp, JOINT_NAMES, np.array(HOME), poses=poses, executed=0.5 * sequence
        )
        logits = self._rng.normal(0, 3, (TOKENS, CLASSES))
        statistics = token_statistics(logits, logits.argmax(axis=1), (0.5, 2.0))
        places = np.full(TOKENS, -1, np.int32)
        tokens = TokenStatistics(**vars(statistics), step=places, dimension=places)
        inference = replace(self._policy.infer(observation), tokens=tokens)
        arrival = Arrival(True, 0, 0, ChunkComparison(0.1), 0, 1)
        call = Call(PolicyEpisode('e'), observation, inference, arrival, stamp, 0.1, 0.1)
        p = softmax(logits, axis=1)
        expected = [
            metrics.token_probability_uncertainty(p),
            metrics.prediction_confidence_uncertainty(p),
            metrics.deepgini(p),
            metrics.token_entropy(p),
            inference.samples.std(axis=0).mean(),
        ]
        return inference_message(self._policy, '', call, sequence), expected


@pytest.fixture()
def recorded(ros_context):
    """The metrics node's process, and a node that publishes, and collects what is on TOPICS."""
    process = subprocess.Popen(
        [sys.executable, '-m', 'frame_ros.nodes.metrics', '--ros-args', '-p', 'hold:=0.5'],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    node = ros_context.create_node('tester')
    node.heard = {topic: [] for topic in TOPICS}
    node.senders = {
        'policy_inference': node.create_publisher(PolicyInference, 'policy_inference', 50),
        'episode_events': node.create_publisher(EpisodeEvent, 'episode_events', LATCHED),
    }
    for topic, kind in TOPICS.items():
        qos = LATCHED if topic == 'episode_events' else 50
        node.create_subscription(kind, topic, node.heard[topic].append, qos)
    spin_until(node, lambda: all(s.get_subscription_count() > 1 for s in node.senders.values()))
    yield node
    process.send_signal(signal.SIGTERM)
    node.errors = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 0 and 'Traceback' not in node.errors, node.errors
    node.destroy_node()


def spin_until(node, condition, timeout=PATIENCE):
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, {topic: len(heard) for topic, heard in node.heard.items()}
        rclpy.spin_once(node, timeout_sec=0.05)


def run_episode(node):
    """Publishes an episode of COUNT inferences; returns their expected values (COUNT, 5)."""
    calls, expected = Calls(), []

    def say(kind):
        now = node.get_clock().now().nanoseconds
        event = EpisodeEvent(type=kind, episode_id='e')
        event.header.stamp = time_message(now)
        node.senders['episode_events'].publish(event)

    say(EpisodeEvent.START)
    for sequence in range(COUNT):
        message, values = calls.message(sequence, node.get_clock().now().nanoseconds)
        expected.append(values)
        if sequence == COUNT - 1:  # the last one is damaged on its way
            message.token_entropy = array('d', [0.5])
            expected[-1][:4] = [np.nan] * 4
        node.senders['policy_inference'].publish(message)
        spin_until(node, lambda sequence=sequence: len(inferences(node)) > sequence)
    say(EpisodeEvent.END)
    spin_until(node, lambda: len(node.heard['confidence_metrics']) == COUNT)
    return np.array(expected)


def inferences(node):
    return node.heard['policy_inference']


def forms(expected):
    """field -> (COUNT,) values of the three forms."""
    values = {}
    for name, steps in zip(METRICS, expected.T):
        ends = range(1, COUNT + 1)
        window = np.array([np.nanmean(steps[max(0, end - 8) : end]) for end in ends])
        values[name] = np.where(np.isnan(steps), np.nan, window)
        values[f'{name}_step'] = steps
        values[f'{name}_mean'] = np.array([np.nanmean(steps[:end]) for end in ends])
    return values


def test_live_and_recorded_uncertainty_is_that_of_all_probabilities_and_samples(recorded, tmp_path):
    expected = run_episode(recorded)
    live = recorded.heard['confidence_metrics']
    assert {m.vocabulary_size for m in live} == {CLASSES}
    assert {(m.token_count, m.sample_count) for m in live} == {(TOKENS, SAMPLES)}
    writer = BagWriter(tmp_path / 'bag')
    for topic, heard in recorded.heard.items():
        channel = writer.add_topic(f'/{topic}', f'frame_ros/msg/{TOPICS[topic].__name__}')
        for message in heard:
            stamp = message.header.stamp
            writer.write(channel, stamp.sec * 10**9 + stamp.nanosec, serialize_message(message))
    (episode,) = read_episodes(writer.finish())
    for name, values in forms(expected).items():
        told = np.array([getattr(message, name) for message in live])
        np.testing.assert_allclose(told, values, rtol=1e-9, err_msg=name)
        assert np.array_equal(episode.metrics['confidence'][name], told, equal_nan=True), name
        assert np.array_equal(episode.live['confidence'].values[name], told, equal_nan=True), name
    assert episode.data_quality['inference.tokens_invalid'] == 1
    assert np.nanmin(expected[:, 4]) > 0.01  # rad: the scripted policy's flaws are seen
