# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Inputs of the metrics node for the object, the goal and the grasp: topics, or tf."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from geometry_msgs.msg import PoseStamped
from rclpy.node import Node

from frame_ros.bags.streams.table import STREAMS
from frame_ros.core.errors import MissingExtraError
from frame_ros.core.time import stamp_ns
from frame_ros.core.topics import Topic
from frame_ros.episodes.metric_pipeline.options import PipelineOptions, target_streams
from frame_ros.nodes.metrics.options import MetricsOptions
from frame_ros.nodes.metrics.topics import (
    FOUND,
    GOAL_POSE,
    GRASP,
    OBJECT_POSE,
    TF,
    TF_STATIC,
)
from frame_ros.nodes.runtime.endpoints import published
from frame_ros.nodes.runtime.fitting_subscription import FittingSubscription
from frame_ros.nodes.runtime.message_parts import time_message
from frame_ros.robots.transforms import Transform, TransformTree

Feed = Callable[[str, int, Any], None]
TOPICS = {'object': OBJECT_POSE, 'goal': GOAL_POSE, 'grasp': GRASP}
TF_DEPTH = 500


class TargetInputs:
    """Feeds the streams 'object', 'goal' and 'grasp' of a task of OT; without a task nothing is
    subscribed.

    topics: stream -> absolute topic. problems: what is wrong, in words.
    """

    def __init__(
        self,
        node: Node,
        options: MetricsOptions,
        config: PipelineOptions,
        feed: Feed,
        frame: Callable[[], str],
    ) -> None:
        """`feed` takes stream, stamp (ns) and value; `frame` is that of the poses.

        Raises:
            MissingExtraError: a pose is wanted from tf, and tf2_msgs is not installed.
        """
        names = {'object': options.object_topic, 'goal': options.goal_topic, 'grasp': GRASP.name}
        frames = {'object': options.object_frame, 'goal': options.goal_frame}
        self._feed = feed
        self._subscriptions: list[FittingSubscription] = []
        self.topics: dict[str, str] = {}
        streams = target_streams(config)
        framed = {s: frame for s, frame in frames.items() if s in streams and frame}
        for stream in streams:
            if stream not in framed:
                self._subscribe(node, TOPICS[stream].at(names[stream]), stream)
        self._tf = TransformInputs(node, framed, names, feed, frame) if framed else None
        if self._tf is not None:
            self.topics |= self._tf.topics

    def _subscribe(self, node: Node, topic: Topic, stream: str) -> None:
        row = STREAMS[stream]

        def handle(message: Any) -> None:
            self._feed(stream, stamp_ns(message.header.stamp), row.from_message(message))

        subscription = FittingSubscription(node, topic, handle, is_steady=row.is_steady)
        self._subscriptions.append(subscription)
        self.topics[stream] = subscription.topic_name

    @property
    def problems(self) -> list[str]:
        """Returns what is wrong, in words."""
        return self._tf.problems if self._tf is not None else []

    def poll(self) -> None:
        """Takes all that has arrived."""
        for subscription in self._subscriptions:
            subscription.poll()
        if self._tf is not None:
            self._tf.poll()


class TransformInputs:
    """Poses of frames by tf, published as PoseStamped so that a bag holds what was used."""

    def __init__(
        self,
        node: Node,
        frames: dict[str, str],
        topics: dict[str, str],
        feed: Feed,
        wanted: Callable[[], str],
    ) -> None:
        """`frames`: stream -> its frame; `topics`: stream -> where its pose is published."""
        try:
            self._moving = FittingSubscription(node, TF, depth=TF_DEPTH)
            self._fixed = FittingSubscription(node, TF_STATIC, depth=TF_DEPTH)
        except ImportError as error:
            raise MissingExtraError(
                f'the poses of {", ".join(frames.values())} are wanted from tf, which needs the '
                'ROS package tf2_msgs (apt install ros-$ROS_DISTRO-tf2-msgs); or publish them as '
                f'PoseStamped on {", ".join(topics[s] for s in frames)}'
            ) from error
        self._node, self._frames, self._feed, self._wanted = node, frames, feed, wanted
        self._tree = TransformTree()
        self._refused = 0
        self._publishers = {
            s: node.create_publisher(*published(FOUND[s].at(topics[s]))) for s in frames
        }
        self.topics = {s: publisher.topic_name for s, publisher in self._publishers.items()}
        self._published: dict[str, tuple[str, Transform]] = {}  # with the frame it was wanted in
        self._base = ''

    @property
    def problems(self) -> list[str]:
        """Frames that tf does not connect, and how many transforms could not be used."""
        found = [self._tree.problem(frame, self._wanted()) for frame in self._frames.values()]
        if self._refused:
            found.append(f'{self._refused} transforms could not be used: not finite, or not newer')
        return [problem for problem in found if problem]

    def poll(self) -> None:
        """Takes the transforms that have arrived, and publishes the poses that are new."""
        arrived = [
            (transform, is_static)
            for subscription, is_static in ((self._fixed, True), (self._moving, False))
            for message, _ in subscription.take(1000)
            for transform in message.transforms
        ]
        for transform, is_static in arrived:
            self._refused += not self._add(transform, is_static)
        base = self._wanted()
        if arrived or base != self._base:
            self._base = base
            for stream, frame in self._frames.items():
                self._publish(stream, frame, base)

    def _add(self, message: Any, is_static: bool) -> bool:
        place, turn = message.transform.translation, message.transform.rotation
        return self._tree.add(
            message.header.frame_id,
            message.child_frame_id,
            stamp_ns(message.header.stamp),
            (place.x, place.y, place.z),
            (turn.x, turn.y, turn.z, turn.w),
            is_static,
        )

    def _publish(self, stream: str, frame: str, base: str) -> None:
        pose, before = self._tree.pose_of(frame, base), self._published.get(stream)
        if pose is None or before == (base, pose):
            return
        self._published[stream] = base, pose
        # A fixed pose that changed, or is wanted in another frame, is news at a stamp of its own.
        is_new = pose.stamp > 0 and (before is None or before[1].stamp != pose.stamp)
        stamp = pose.stamp if is_new else self._node.get_clock().now().nanoseconds
        message = PoseStamped()
        message.header.stamp, message.header.frame_id = time_message(stamp), base
        place, turn = message.pose.position, message.pose.orientation
        place.x, place.y, place.z = pose.translation
        turn.x, turn.y, turn.z, turn.w = pose.rotation
        self._publishers[stream].publish(message)
        self._feed(stream, stamp, STREAMS[stream].from_message(message))
