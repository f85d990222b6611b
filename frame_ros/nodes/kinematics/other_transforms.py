# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Detects another publisher of some frames' transforms, by messages on /tf and /tf_static."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from rclpy.node import Node
from rclpy.serialization import deserialize_message

from frame_ros.nodes.runtime.fitting_subscription import DAMAGED
from frame_ros.nodes.runtime.polled import PolledSubscription
from frame_ros.nodes.runtime.publisher_identity import node_of
from frame_ros.nodes.runtime.qos import best_effort, latched
from frame_ros.nodes.runtime.topics import TF, TF_STATIC

QUALITIES = {TF.name: best_effort(1000), TF_STATIC.name: latched(100)}


class OtherTransforms:
    """Listens to both topics while others publish there.

    A message does not say who sent it: with publishers of its own a node counts how many messages
    it has sent that begin with a frame, and another one publishes that frame if more are heard. Of
    one's own messages some may be missed, which needs as many more of the other's.

    found: the frame that another node publishes, and the topic; '' if none.
    """

    def __init__(self, node: Node, message_type: Any, frames: Iterable[str]) -> None:
        """frames: as they are published, with any prefix."""
        self._node, self._type, self._frames = node, message_type, frozenset(frames)
        # The end of each frame's name in a serialised message, and perhaps of a longer name.
        self._marks = [frame.encode() + b'\0' for frame in self._frames]
        self._inputs: dict[str, PolledSubscription] = {}
        self._surplus: Counter[tuple[str, str]] = Counter()  # topic and first frame
        self.found = ''

    def publishers(self) -> dict[bytes, str]:
        """Everybody who publishes on either topic: endpoint -> absolute name of the node."""
        return {
            bytes(info.endpoint_gid): node_of(info)
            for topic in QUALITIES
            for info in self._node.get_publishers_info_by_topic(topic)
        }

    def count(self) -> int:
        """Publishers of both topics, one's own among them."""
        return sum(self._node.count_publishers(topic) for topic in QUALITIES)

    def listen(self, latched: str = '') -> None:
        """Begins to listen, if it does not yet. latched: the first frame of one's own message on
        /tf_static, which comes once more; '' if there is none.
        """
        if self._inputs:
            return
        self._surplus.clear()
        if latched:
            self._surplus[TF_STATIC.name, latched] = -1
        for topic, qos in QUALITIES.items():
            self._inputs[topic] = PolledSubscription(self._node, self._type, topic, qos, raw=True)

    def ignore(self) -> None:
        """Ends listening, and forgets what was heard."""
        for each in self._inputs.values():
            each.destroy()
        self._inputs.clear()
        self.found = ''

    def note_sent(self, topic: str, frame: str) -> None:
        """One message that begins with this frame was sent by the node itself."""
        if self._inputs:
            self._surplus[topic, frame] -= 1

    def look(self) -> None:
        """Takes what has come, and sets `found`."""
        for topic, subscription in self._inputs.items():
            for data, _ in subscription.take(1000):
                frame = self._frame_in(data)
                if frame:
                    self._surplus[topic, frame] += 1
                if frame and self._surplus[topic, frame] > 0:
                    self.found = f'{frame} on {topic}'

    def _frame_in(self, data: bytes) -> str:
        """The first of the frames that a message has as a child; '' if none."""
        if not any(mark in data for mark in self._marks):
            return ''
        try:
            return next(self._children(data), '')
        except DAMAGED:
            return ''

    def _children(self, data: bytes) -> Iterator[str]:
        for transform in deserialize_message(data, self._type).transforms:
            if transform.child_frame_id in self._frames:
                yield transform.child_frame_id
