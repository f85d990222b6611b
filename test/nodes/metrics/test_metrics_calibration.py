# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A calibration file in the metrics node, over real topics, and in the bag of it."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from patience import PATIENCE

rclpy = pytest.importorskip('rclpy')

from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from std_msgs.msg import String  # noqa: E402

from frame_ros.bags.writer import BagWriter  # noqa: E402
from frame_ros.confidence import ActionWisePlattScaling  # noqa: E402
from frame_ros.confidence.calibration_file import CalibrationFile  # noqa: E402
from frame_ros.confidence.calibration_parts import (  # noqa: E402
    CalibrationEpisode,
    Provenance,
    ScoreStatistics,
)
from frame_ros.confidence.feature_reference import fit_features  # noqa: E402
from frame_ros.confidence.fingerprint import Fingerprint  # noqa: E402
from frame_ros.episodes.reading import read_episodes  # noqa: E402
from frame_ros.msg import ConfidenceMetrics, EpisodeEvent, PolicyInference  # noqa: E402
from frame_ros.nodes.runtime.message_parts import time_message  # noqa: E402

COUNT, STEPS, DIMENSIONS, FEATURES = 12, 4, 3, 64
OTHER = 7  # the inference that comes of other weights
LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
TOPICS = {
    'policy_inference': PolicyInference,
    'confidence_metrics': ConfidenceMetrics,
    'episode_events': EpisodeEvent,
    'metrics_config': String,
}
FIELDS = ('confidence', 'confidence_calibrated', 'chunk_consistency_z', 'feature_mahalanobis',
          'feature_knn')  # fmt: skip


def calibration(**fingerprint):
    """A calibration as of some hundred episodes: its part for the metrics has 0.6 MB."""
    rng = np.random.default_rng(0)
    confidences = rng.random((300, DIMENSIONS))
    recalibrator = ActionWisePlattScaling().fit(confidences, rng.random(300) < confidences[:, 0])
    return CalibrationFile(
        recalibrator=recalibrator,
        statistics={'chunk_consistency': ScoreStatistics(mean=0.1, standard_deviation=0.3)},
        features=fit_features([rng.normal(size=(1000, FEATURES))], 'encoder'),
        drift={'reversals': rng.random(500)},
        provenance=Provenance(
            episodes=(CalibrationEpisode(name='e', sha256='00'),), policy='act', successes=20,
            failures=4,
        ),
        fingerprint=Fingerprint(
            **{'weights': 'ab' * 32, 'robot': 'so101', 'confidence_aggregate': 'mean'}
            | fingerprint
        ),
    )  # fmt: skip


def start(path, *parameters):
    """Starts the metrics node with a calibration file."""
    given = (f'calibration_file:={path}', *parameters)
    return subprocess.Popen(
        [sys.executable, '-m', 'frame_ros.nodes.metrics', '--ros-args',
         *(word for each in given for word in ('-p', each))],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.fixture()
def bench(ros_context, tmp_path):
    """The node, and a tester that hears TOPICS and the node's diagnostics of the calibration."""
    calibration().save(tmp_path / 'calibration.json')
    process = start(tmp_path / 'calibration.json', 'hold:=0.5')
    node = ros_context.create_node('tester')
    node.heard = {topic: [] for topic in TOPICS}
    node.statuses = []
    node.senders = {
        'policy_inference': node.create_publisher(PolicyInference, 'policy_inference', 50),
        'episode_events': node.create_publisher(EpisodeEvent, 'episode_events', LATCHED),
    }
    for topic, kind in TOPICS.items():
        qos = LATCHED if topic in ('episode_events', 'metrics_config') else 50
        node.create_subscription(kind, topic, node.heard[topic].append, qos)

    def on_diagnostics(message):
        node.statuses += [s for s in message.status if s.name == 'metrics: calibration']

    node.create_subscription(DiagnosticArray, '/diagnostics', on_diagnostics, 50)
    spin_until(node, lambda: all(s.get_subscription_count() > 1 for s in node.senders.values()))
    yield node
    process.send_signal(signal.SIGTERM)
    errors = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 0 and 'Traceback' not in errors, errors
    assert 'of act: 20 episodes that succeeded, 4 that failed' in errors
    node.destroy_node()


def spin_until(node, condition, timeout=PATIENCE):
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, {topic: len(heard) for topic, heard in node.heard.items()}
        rclpy.spin_once(node, timeout_sec=0.05)


def inference(sequence, now):
    """An inference with tokens and features."""
    rng = np.random.default_rng(sequence)
    count = STEPS * DIMENSIONS
    message = PolicyInference(
        sequence=sequence,
        vocabulary_size=40,
        token_max_probability=rng.uniform(0.5, 0.9, count),
        token_second_probability=rng.uniform(0.0, 0.1, count),
        token_sum_of_squares=rng.uniform(0.5, 0.9, count),
        token_entropy=rng.uniform(0.0, 1.0, count),
        token_chosen_probability=rng.uniform(0.05, 1.0, count),
        token_step=np.repeat(np.arange(STEPS), DIMENSIONS).astype(np.int32),
        token_dimension=np.tile(np.arange(DIMENSIONS), STEPS).astype(np.int32),
        chunk_shift=5.0,
        chunk_consistency=float(rng.uniform(0.0, 0.5)),
        features=rng.normal(size=FEATURES),
        feature_source='encoder',
        policy_fingerprint=json.dumps({'weights': ('cd' if sequence == OTHER else 'ab') * 32}),
    )
    message.header.stamp = time_message(now)
    return message


def run_episode(node):
    """Publishes an episode, and waits for the metrics of it."""

    def say(kind):
        event = EpisodeEvent(type=kind, episode_id='e')
        event.header.stamp = time_message(node.get_clock().now().nanoseconds)
        node.senders['episode_events'].publish(event)

    say(EpisodeEvent.START)
    for sequence in range(COUNT):
        message = inference(sequence, node.get_clock().now().nanoseconds)
        node.senders['policy_inference'].publish(message)
        heard = node.heard['confidence_metrics']
        spin_until(node, lambda heard=heard, count=sequence: len(heard) > count)
        if sequence == OTHER:
            spin_until(node, lambda: any(status.level == b'\2' for status in node.statuses))
    say(EpisodeEvent.END)


def test_a_bag_has_the_calibrated_numbers_of_the_node_to_the_bit(bench, tmp_path):
    run_episode(bench)
    live = bench.heard['confidence_metrics']
    writer = BagWriter(tmp_path / 'bag')
    for topic, heard in bench.heard.items():
        package = 'std_msgs' if topic == 'metrics_config' else 'frame_ros'
        channel = writer.add_topic(f'/{topic}', f'{package}/msg/{TOPICS[topic].__name__}')
        for message in heard:
            at = getattr(message, 'header', live[0].header).stamp
            writer.write(channel, at.sec * 10**9 + at.nanosec, serialize_message(message))
    (episode,) = read_episodes(writer.finish())
    is_refused = np.arange(COUNT) == OTHER
    for field in FIELDS:
        told = np.array([getattr(message, field) for message in live])
        assert np.array_equal(episode.metrics['confidence'][field], told, equal_nan=True), field
        if field != 'confidence':
            assert np.array_equal(np.isnan(told), is_refused), field
    rows = episode.metrics['confidence']['unavailable']
    assert [list(message.unavailable) for message in live] == [list(row) for row in rows]
    expected = calibration().recalibrator.predict(
        [
            np.array(message.token_chosen_probability).reshape(STEPS, DIMENSIONS).mean(axis=0)
            for message in bench.heard['policy_inference']
        ]
    )
    told = np.array([message.confidence_calibrated for message in live])
    np.testing.assert_allclose(told[~is_refused], expected[~is_refused], rtol=1e-12)
    text = 'does not fit: weights: the calibration holds for abababababab..., here it is cdcd'
    assert any(text in line for line in live[OTHER].unavailable)
    (refused, *_) = [status for status in bench.statuses if status.level == b'\2']
    assert text in refused.message
    assert episode.data_quality['inference.calibration_refused'] == 1
    part = json.loads(bench.heard['metrics_config'][-1].data)['calibration']
    assert 'drift' not in part and part['provenance']['episodes'] == []


@pytest.mark.parametrize(
    'fingerprint, parameters, expected',
    [
        ({'robot': 'fr3'}, (), "robot: the calibration holds for 'fr3', here it is 'so101'"),
        ({}, ('confidence_aggregate:=min',), "aggregate: the calibration holds for 'mean', here"),
        (None, (), 'No such file'),
    ],
)
def test_a_calibration_that_cannot_be_applied_ends_the_node(
    tmp_path, fingerprint, parameters, expected
):
    path = tmp_path / 'calibration.json'
    if fingerprint is not None:
        calibration(**fingerprint).save(path)
    process = start(path, *parameters)
    errors = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode not in (0, None) and 'Traceback' not in errors
    assert expected in errors and 'calibration.json' in errors
