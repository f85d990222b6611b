# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A subscription that is asked for its messages instead of calling back.

An executor spends most of a kilohertz stream's time on waking up and on rebuilding its wait set.
Taking the messages straight from the subscription's handle, several at a time, costs a fraction of
it. That handle is not public API of rclpy, so all use of it is in this module.

    subscription = PolledSubscription(node, JointState, 'joint_states', 50)
    while rclpy.ok():
        for message, info in subscription.take(100):
            ...
        time.sleep(0.002)          # or subscription.wait(0.1)

The node may be in an executor for its timers and services: the executor does not wait for a polled
subscription.
"""

from __future__ import annotations

from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message

from frame_ros.core.time import SECOND
from frame_ros.nodes.runtime.publisher_identity import CAN_IDENTIFY, IdentifyingTake
from frame_ros.sensing.stream_health.newest import Taken


class _NotForExecutors(CallbackGroup):
    """A group of which no entity is ever ready, so that executors leave it out of their wait
    sets.
    """

    def can_execute(self, entity: Any) -> bool:
        return False

    def beginning_execution(self, entity: Any) -> bool:
        return False

    def ending_execution(self, entity: Any) -> None:
        return


class PolledSubscription:
    """A subscription whose messages are taken by `take`, in the caller's thread.

    Not thread-safe: one thread takes from one subscription. Messages beyond the QoS depth are lost
    between two takes, as with any subscription: a keep_last depth must hold what arrives while
    nobody polls.

    Args:
        node: any node of an initialised context, in an executor or not.
        msg_type: message class.
        topic: topic name, resolved as usual (relative, remapped).
        qos: a depth, or a QoS profile.
        raw: True hands over each message's serialised bytes, without deserialising.
        is_identified: the info of each message also has `publisher`, the GID of who published it
            (publisher_identity), where it can be known.
    """

    def __init__(
        self,
        node: Node,
        msg_type: Any,
        topic: str,
        qos: QoSProfile | int,
        raw: bool = False,
        is_identified: bool = False,
    ) -> None:
        self._node = node
        self._msg_type = msg_type
        self._raw = raw
        self._qos = qos if isinstance(qos, QoSProfile) else QoSProfile(depth=qos)
        self._wait_set: Any = None
        # An event that nobody takes, such as of a publisher that does not match, ends each wait.
        self._subscription = node.create_subscription(
            msg_type, topic, lambda message: None, self._qos, callback_group=_NotForExecutors(),
            raw=raw, event_callbacks=SubscriptionEventCallbacks(use_default_callbacks=False),
        )  # fmt: skip
        self._handle: Any = self._subscription.handle
        self._identifying = IdentifyingTake() if is_identified and CAN_IDENTIFY else None

    @property
    def topic_name(self) -> str:
        """The fully resolved name of the topic."""
        return self._subscription.topic_name

    @property
    def wait_handle(self) -> Any:
        """The handle for a wait set (`WakeSet`)."""
        return self._handle

    def take(self, max_count: int = 100) -> list[Taken]:
        """Returns what has arrived, oldest first, at most `max_count`; an empty list if nothing
        has. Never blocks.

        Returns:
            (message, info) pairs; message is bytes if raw, and info has `source_timestamp` (when it
            was published) and `received_timestamp`, both in ns of the system clock.
        """
        taken: list[Taken] = []
        handle, msg_type, raw = self._handle, self._msg_type, self._raw
        with handle:
            take_next = self._identified if self._identifying else handle.take_message
            while len(taken) < max_count:
                pair = take_next(msg_type, raw)
                if pair is None:
                    break
                taken.append(pair)
        return taken

    def _identified(self, msg_type: Any, raw: bool) -> Taken | None:
        assert self._identifying is not None
        pair = self._identifying.take(self._handle.pointer)
        if pair is None or raw:
            return pair
        return deserialize_message(pair[0], msg_type), pair[1]

    def wait(self, timeout: float) -> bool:
        """Block until a message can be taken or `timeout` seconds have passed; True if one can.

        Keep the timeout short (0.1 s): a shutdown of the context does not wake it.
        """
        context: Any = self._node.context.handle
        with self._handle, context:
            if self._wait_set is None:
                self._wait_set = rclpy_implementation.WaitSet(1, 0, 0, 0, 0, 0, context)
            wait_set = self._wait_set
            wait_set.clear_entities()
            index = wait_set.add_subscription(self._handle)
            wait_set.wait(int(timeout * SECOND))
            return bool(wait_set.is_ready('subscription', index))

    def publisher_count(self) -> int:
        """Publishers whose messages reach it."""
        return self._subscription.get_publisher_count()

    def destroy(self) -> None:
        """Take the subscription off its node; taking afterwards is an error."""
        if self._wait_set is not None:
            self._wait_set.destroy_when_not_in_use()
            self._wait_set = None
        if self._identifying is not None:
            self._identifying.close()
        self._node.destroy_subscription(self._subscription)
