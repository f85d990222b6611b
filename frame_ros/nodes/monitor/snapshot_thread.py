# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Snapshots of halts: what is published is kept in memory, in a thread of its own."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Mapping
from pathlib import Path

from rclpy.node import Node
from rclpy.serialization import deserialize_message

from frame_ros.bags.definitions import find_definition
from frame_ros.bags.recording.session import RecordedTopic
from frame_ros.bags.recording.snapshots import SnapshotOptions, Snapshots
from frame_ros.bags.writer import TopicQos
from frame_ros.core.repeated_warnings import RepeatedWarnings
from frame_ros.msg import EpisodeEvent
from frame_ros.nodes.runtime.recorded_topics import TopicFilter, TopicSubscriptions
from frame_ros.nodes.runtime.topics import EPISODE_EVENTS

# What is left out of every bag of the recorder by default, too; then what is large.
NOT_WANTED = ('/rosout', '/parameter_events', '.*/_.*', '.*/metric_markers', '.*/transition_event')
LARGE = ('.*/image_raw.*', '.*/compressed.*', '.*/points')
POLL_PERIOD = 0.05  # s; the subscriptions are deep enough for what comes meanwhile
DISCOVERY_PERIOD = 1.0  # s between two looks for new topics


class SnapshotThread:
    """Listens to the topics of the node's namespace, and writes bags of halts.

    Raises:
        BagError: the definition of EpisodeEvent is not found.
    """

    def __init__(self, node: Node, folder: Path, options: SnapshotOptions) -> None:
        """folder: of the run."""
        self._node = node
        self._warnings = RepeatedWarnings(node.get_logger())
        events = RecordedTopic(
            node.resolve_topic_name(EPISODE_EVENTS.name),
            find_definition(EPISODE_EVENTS.type),
            [TopicQos(durability='transient_local', depth=50)],
        )
        excluded = NOT_WANTED if options.images else (*NOT_WANTED, *LARGE)
        self._topics = TopicSubscriptions(
            node, TopicFilter(node.get_namespace(), (), excluded), [events]
        )
        self.snapshots = Snapshots(
            folder, self._topics, options, events, _episode_of, node.get_logger().warning
        )
        self._is_simulated = bool(node.get_parameter('use_sim_time').value)
        self._stop = threading.Event()
        self._topics.discover()
        self._discovery = node.create_timer(DISCOVERY_PERIOD, self._topics.discover)
        self._thread = threading.Thread(target=self._run, name='snapshots', daemon=True)
        self._thread.start()

    def ask(self, stamp: int, episode_id: str, facts: Mapping[str, str]) -> None:
        """Asks for a bag of a moment, ns."""
        self.snapshots.ask(stamp, episode_id, facts)

    def _now(self) -> int:
        return self._node.get_clock().now().nanoseconds

    def _run(self) -> None:
        clock = self._now if self._is_simulated else None
        while not self._stop.is_set():
            try:
                self._topics.poll(self.snapshots.accept, clock)
                self.snapshots.look(self._now())
            except Exception:  # this thread must live
                self._warnings.fail('snapshots', traceback.format_exc())
            self._stop.wait(POLL_PERIOD)

    def close(self) -> None:
        """Completes a bag that is being written, and listens no longer."""
        self._stop.set()
        self._thread.join()
        self._node.destroy_timer(self._discovery)
        self.snapshots.close()
        self._topics.destroy()


def _episode_of(data: bytes) -> str:
    return str(deserialize_message(data, EpisodeEvent).episode_id)
