# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The metrics node: a thin shell around `episodes.MetricPipeline`. Topics in, metric topics out,
live.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from std_msgs.msg import String

from frame_ros.bags.findings import Finding, Level, findings_of_counts, of_level
from frame_ros.bags.streams.events import event_of
from frame_ros.bags.streams.table import STREAMS
from frame_ros.core.errors import FrameRosError
from frame_ros.core.events import Event, EventType
from frame_ros.core.health import Status
from frame_ros.core.repeated_warnings import RepeatedWarnings
from frame_ros.core.time import SECOND, stamp_ns
from frame_ros.episodes.metric_pipeline.metric_sample import MetricSample
from frame_ros.episodes.metric_pipeline.options import PipelineOptions, sporadic_streams
from frame_ros.msg import EpisodeEvent
from frame_ros.nodes.metrics.messages import (
    fill,
    path_message,
    summary_message,
)
from frame_ros.nodes.metrics.options import MetricsOptions
from frame_ros.nodes.metrics.target_inputs import TargetInputs
from frame_ros.nodes.metrics.topics import (
    INPUTS,
    METRICS,
    OPTIONS,
    REFERENCE_PATH,
    REFERENCE_PATHS,
)
from frame_ros.nodes.runtime.endpoints import interface, published
from frame_ros.nodes.runtime.fitting_subscription import FittingSubscription
from frame_ros.nodes.runtime.node_readiness import Readiness
from frame_ros.nodes.runtime.parameters import declare_options
from frame_ros.nodes.runtime.spinning import poll_with_services, run_node
from frame_ros.robots.profiles import public_name

POLL_PERIOD = 0.005
WARNING_PERIOD = 5.0


class MetricsNode(Node):
    """Subscribes ee_pose, joint_commands, contact, proximity, policy_inference and episode_events.

    Publishes quality_metrics and safety_metrics at every control step, efficiency_metrics at most
    ten times a second, confidence_metrics at every inference, episode_summary at the end of an
    episode, and its settings on metrics_config. With a task of OT it also takes the poses of object
    and goal and what the gripper holds; references are published on reference_path.
    """

    def __init__(self) -> None:
        # Imported here: without array-api-compat this is one clear line, not a traceback.
        from frame_ros.episodes.metric_pipeline.pipeline import MetricPipeline

        super().__init__('metrics')
        self._warnings = RepeatedWarnings(self.get_logger())
        self._now = self.get_clock().now().nanoseconds
        options = declare_options(self, MetricsOptions)
        self._config = options.pipeline()
        self._frame_id = self._config.pose_frame
        for index, reference in enumerate(self._config.references):
            self.get_logger().info(
                f'reference {index}: {reference.origin}, {len(reference.stamps)} poses, '
                f'{reference.stamps[-1]:.1f} s'
            )
        if self._config.calibration is not None:
            self.get_logger().info(calibration_text(options.calibration_file, self._config))
        self._config_text = self._config.to_json()
        self._pipeline = MetricPipeline(self._config)
        self._pose_frame = ''
        self._inputs = self._subscribe()
        self._targets = TargetInputs(
            self, options, self._config, self._feed, lambda: self._pipeline.pose_frame
        )
        self._metric_publishers = {
            kind: self.create_publisher(*published(topic)) for kind, topic in METRICS.items()
        }
        self._messages = {
            kind: interface(topic.type)() for kind, topic in METRICS.items() if kind != 'summary'
        }
        self._config_publisher = self.create_publisher(*published(OPTIONS))
        self._path_publishers = self._publish_references()
        self._began = self._now
        self._old_starts: dict[str, Event] | None = {}
        self._publish_settings()
        self._counted: dict[str, int] = {}
        self._sampled: dict[str, int] = {}
        self._next_warning = 0.0
        self._readiness = Readiness(self, public_name(options.robot), parts=self._statuses)

    def _statuses(self) -> list[Status]:
        calibration = self._pipeline.calibration
        return [calibration.status] if calibration is not None else []

    def _subscribe(self) -> list[FittingSubscription]:
        handlers: dict[str, Callable[[Any], None]] = {
            'event': self._on_event, 'pose': self._on_pose,
        }  # fmt: skip

        return [
            FittingSubscription(
                self,
                topic,
                handlers.get(role) or self._feeder(role),
                is_steady=STREAMS[role].is_steady,
                is_required=role == 'pose',
            )
            for role, topic in INPUTS.items()
        ]

    def _feed(self, stream: str, stamp: int, value: Any) -> None:
        self._pipeline.feed(stream, stamp, value, self._now)

    def _feeder(self, stream: str) -> Callable[[Any], None]:
        values = STREAMS[stream].from_message

        def feed(message: Any) -> None:
            self._feed(stream, stamp_ns(message.header.stamp), values(message))

        return feed

    def _on_pose(self, message: PoseStamped) -> None:
        if message.header.frame_id != self._pose_frame:
            self._pipeline.pose_frame = self._pose_frame = message.header.frame_id
        stamp = stamp_ns(message.header.stamp)
        self._feed('pose', stamp, STREAMS['pose'].from_message(message))

    def _on_event(self, message: EpisodeEvent) -> None:
        try:
            event = event_of(message)
        except FrameRosError as error:
            self.get_logger().warning(str(error))
            return
        if event.type is EventType.START:
            # Again at every start, so that each episode's bag holds the settings it was computed
            # with.
            self._publish_settings()
        if event.type in (EventType.START, EventType.END):
            self._readiness.publish()  # with what was received until then
        if self._old_starts is not None and event.stamp < self._began:
            self._note_old(event, self._old_starts)
            return
        self._pipeline.feed('event', event.stamp, event, self._now)

    def _note_old(self, event: Event, starts: dict[str, Event]) -> None:
        """Of the episodes of before this node was there, the latched events keep those that ended
        apart from one that still runs.
        """
        if event.type is EventType.START:
            starts[event.episode_id] = event
        elif event.type is EventType.END:
            starts.pop(event.episode_id, None)

    def _resume(self) -> None:
        """A moment after the start, when the latched events have come: goes on with an episode that
        runs already.
        """
        if self._old_starts is None or self._now - self._began < SECOND:
            return
        for event in self._old_starts.values():
            self.get_logger().warning(
                f'episode {event.episode_id} was running when this node started: its metrics miss '
                'what was before'
            )
            self._pipeline.feed('event', event.stamp, event, self._now)
        self._old_starts = None

    def _publish_settings(self) -> None:
        """Publishes the options, the topic of each stream, and the static poses, for readers of the
        bag.
        """
        topics = {
            role: subscription.topic_name
            for role, subscription in zip(INPUTS, self._inputs, strict=True)
        }
        newest = self._pipeline.newest
        lasting = [stream for stream in sporadic_streams(self._config) if stream in newest]
        known = {stream: [newest[stream][0], *newest[stream][1]] for stream in lasting}
        facts = json.dumps({'topics': topics | self._targets.topics, 'known': known})
        self._config_publisher.publish(String(data=f'{self._config_text[:-1]}, {facts[1:]}'))

    def _publish_references(self) -> list[Any]:
        """One latched path a reference, for RViz."""
        publishers = []
        for index, reference in enumerate(self._config.references):
            topic = REFERENCE_PATHS.of(number=str(index)) if index else REFERENCE_PATH
            publishers.append(self.create_publisher(*published(topic)))
            publishers[-1].publish(path_message(reference, self._frame_id, self._now))
        return publishers

    def poll(self) -> None:
        """Takes all that has arrived and publishes what came of it."""
        self._now = self.get_clock().now().nanoseconds
        self._pipeline.look(self._now)
        for subscription in self._inputs:
            subscription.poll()
        self._targets.poll()
        self._resume()
        for sample in self._pipeline.advance(self._now):
            self._publish(sample)

    def _publish(self, sample: MetricSample) -> None:
        if sample.kind == 'summary':
            self._metric_publishers['summary'].publish(summary_message(sample, self._frame_id))
            self._readiness.publish()  # with all that the episode was computed from
            return
        message = fill(self._messages[sample.kind], sample, self._frame_id)
        self._metric_publishers[sample.kind].publish(message)

    def warn_of_bad_input(self) -> None:
        """Says, at most every few seconds, what input was dropped since the last time, and why: a
        warning where it makes a number of the running episode doubtful.
        """
        now = time.monotonic()
        if now < self._next_warning:
            return
        self._next_warning = now + WARNING_PERIOD
        counts, samples = self._pipeline.data_quality(), self._pipeline.samples
        found = findings_of_counts(since(counts, self._counted), since(samples, self._sampled))
        self._counted, self._sampled = counts, samples
        doubtful = of_level(found, Level.DOUBTFUL) if self._pipeline.is_in_episode else []
        known = [f for f in found if f.level is not Level.COUNTING and f not in doubtful]
        if doubtful:
            self._warnings.warn('doubtful', self._input_text(doubtful))
        if known:
            self._warnings.inform('known', self._input_text(known))

    def _input_text(self, findings: list[Finding]) -> str:
        details = '; '.join(self._pipeline.problems + self._targets.problems)
        text = '; '.join(finding.text for finding in findings)
        return f'input, last {WARNING_PERIOD:.0f} s: {text}' + (f' ({details})' if details else '')

    def spin(self, stop: threading.Event) -> None:
        """Polls until `stop`; an executor serves the parameters now and then."""
        poll_with_services(
            self, stop, self.poll, lambda: stop.wait(POLL_PERIOD), self.warn_of_bad_input
        )


def calibration_text(path: str, config: PipelineOptions) -> str:
    """Returns the calibration of the options in one line."""
    assert config.calibration is not None
    origin = config.calibration.provenance
    unknown = config.calibration.fingerprint.unknown
    blind = f'; it does not say for which {" and ".join(unknown)} it holds' if unknown else ''
    return (
        f'calibration {path}, of {origin.policy or "an unnamed policy"}: {origin.successes} '
        f'episodes that succeeded, {origin.failures} that failed{blind}'
    )


def since(counts: Mapping[str, int], before: Mapping[str, int]) -> dict[str, int]:
    """Returns how much each counter has grown."""
    return {name: count - before.get(name, 0) for name, count in counts.items()}


def main() -> None:
    """Entry point of the node."""
    sys.exit(run_node(MetricsNode, spin=lambda node, stop: node.spin(stop)))
