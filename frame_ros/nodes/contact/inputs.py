# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The contact node's streams, subscribed as bytes and polled."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, cast

from rclpy.node import Node

from frame_ros.core.topics import Topic
from frame_ros.nodes.runtime.fitting_subscription import FittingSubscription
from frame_ros.nodes.runtime.options import InputOptions
from frame_ros.nodes.runtime.publisher_identity import Publishers
from frame_ros.sensing.contact.composition.inputs import SensorStream
from frame_ros.sensing.contact.trusted_inputs import TrustedInputs

IDLE_AFTER = 0.2  # s without a message, after which the node waits instead of polling


def subscribed(
    node: Node,
    name: str,
    topic: Topic,
    read: Callable[[bytes], Any],
    settings: InputOptions,
    is_measured: bool,
    trusted: TrustedInputs | None,
) -> SensorStream:
    """Returns the stream of one topic.

    Args:
        read: as `Messages.take` hands on.
        is_measured: a sensor sends it, all the time.
        trusted: is given each message as it arrives; None: nothing is.
    """
    subscription = FittingSubscription(
        node, topic, depth=settings.queue_depth, read=read, reliability=settings.reliability,
        is_required=is_measured, is_steady=is_measured, is_identified=trusted is not None,
    )  # fmt: skip
    return SensorStream(name, subscription, trusted, Publishers(node).named)


class Pause:
    """The time between two looks at the streams. Kilohertz streams are polled, which costs less
    than to be woken by each message; a leader that all else waits for is waited for.
    """

    def __init__(
        self, streams: Mapping[str, SensorStream], leader: str, period: float, is_led: bool
    ) -> None:
        """leader: name of the stream that is waited for while none sends. period: s between two
        looks, at least. is_led: nothing is judged without a message of the leader.
        """
        self._streams, self._leader = streams.values(), streams[leader]
        self._period, self._is_led = period, is_led
        self._woken = 0.0  # time.monotonic()

    def wait(self, longest: float) -> None:
        """Blocks until the next look is due; waiting for the leader, for `longest` s at most."""
        now = time.monotonic()
        if not self._is_led and any(stream.age(now) <= IDLE_AFTER for stream in self._streams):
            time.sleep(self._period)
            return
        if (rest := self._woken + self._period - now) > 0.0:
            time.sleep(rest)
        cast(FittingSubscription, self._leader.subscription).wait(longest)
        self._woken = time.monotonic()
