# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A subscription that is asked for its messages instead of calling back.

An executor spends most of a kilohertz stream's time on waking up and on rebuilding its wait set.
Taking the messages straight from the subscription's handle, several at a time, costs a fraction of
it. That handle is not public API of rclpy, so all use of it is in this module. Where it is missing,
or differs, an executor takes the messages and the interface stays the same.

    subscription = PolledSubscription(node, JointState, 'joint_states', 50)
    while rclpy.ok():
        for message, info in subscription.take(100):
            ...
        time.sleep(0.002)          # or subscription.wait(0.1)

The node may be in an executor for its timers and services: the executor does not wait for a polled
subscription.
"""

import time
from collections import deque
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from rclpy.callback_groups import CallbackGroup, MutuallyExclusiveCallbackGroup
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile, QoSReliabilityPolicy
from rclpy.serialization import deserialize_message

from frame_ros.core.time import SECOND
from frame_ros.nodes.runtime.publisher_identity import CAN_IDENTIFY, IdentifyingTake
from frame_ros.sensing.stream_health.newest import Taken

try:
    from rclpy.impl.implementation_singleton import rclpy_implementation

    _WaitSet: Any = rclpy_implementation.WaitSet
except (ImportError, AttributeError):
    _WaitSet = None


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


class _OwnExecutor:
    """The executor of one node that is in nobody else's, shared by that node's subscriptions."""

    of_node: ClassVar['WeakKeyDictionary[Node, _OwnExecutor]'] = WeakKeyDictionary()

    def __init__(self, node: Node) -> None:
        self.arrivals = 0
        self._executor = SingleThreadedExecutor(context=node.context)
        self._executor.add_node(node)

    @classmethod
    def find(cls, node: Node) -> '_OwnExecutor | None':
        """The node's own executor, made if no executor has the node yet; None if the caller's has
        it.
        """
        if node not in cls.of_node and node.executor is None:
            cls.of_node[node] = cls(node)
        own = cls.of_node.get(node)
        return own if own is not None and node.executor is own._executor else None

    def drain(self) -> None:
        """Run callbacks until two turns in a row bring no message."""
        idle = 0
        while idle < 2:
            before = self.arrivals
            self._executor.spin_once(timeout_sec=0.0)
            idle = idle + 1 if self.arrivals == before else 0

    def turn(self, timeout: float) -> None:
        """Run one callback, waiting for it at most `timeout` seconds."""
        self._executor.spin_once(timeout_sec=timeout)


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
        use_executor: None takes from the handle where this rclpy allows it; True always uses an
            executor.
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
        use_executor: bool | None = None,
        is_identified: bool = False,
    ) -> None:
        self._node = node
        self._msg_type = msg_type
        self._raw = raw
        self._qos = qos if isinstance(qos, QoSProfile) else QoSProfile(depth=qos)
        self._arrived: deque[Taken] = deque()
        self._wait_set: Any = None
        group = MutuallyExclusiveCallbackGroup() if use_executor else _NotForExecutors()
        self._subscription = self._subscribe(topic, group)
        self._handle: Any = getattr(self._subscription, 'handle', None)
        self.is_polled = not use_executor and callable(getattr(self._handle, 'take_message', None))
        is_identified = is_identified and self.is_polled and CAN_IDENTIFY
        self._identifying = IdentifyingTake() if is_identified else None
        if not self.is_polled and not use_executor:
            node.destroy_subscription(self._subscription)
            self._subscription = self._subscribe(topic, MutuallyExclusiveCallbackGroup())

    def _subscribe(self, topic: str, group: CallbackGroup) -> Any:
        call: Any = self._on_message  # rclpy's types know of none that takes the info, too
        return self._node.create_subscription(
            self._msg_type, topic, call, self._qos, callback_group=group, raw=self._raw
        )

    def _on_message(self, message: Any, info: Any) -> None:
        self._arrived.append((message, info))
        own = _OwnExecutor.of_node.get(self._node)
        if own is not None:
            own.arrivals += 1

    @property
    def topic_name(self) -> str:
        """The fully resolved name of the topic."""
        return self._subscription.topic_name

    @property
    def wait_handle(self) -> Any:
        """The handle for a wait set (`WakeSet`); None where messages are not taken from it."""
        return self._handle if self.is_polled else None

    def take(self, max_count: int = 100) -> list[Taken]:
        """Returns what has arrived, oldest first, at most `max_count`; an empty list if nothing
        has. Never blocks.

        Returns:
            (message, info) pairs; message is bytes if raw, and info has `source_timestamp` (when it
            was published) and `received_timestamp`, both in ns of the system clock.
        """
        if not self.is_polled:
            return self._take_from_executor(max_count)
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

    def _take_from_executor(self, max_count: int) -> list[Taken]:
        own = _OwnExecutor.find(self._node)
        if own is not None:
            own.drain()
        return [self._arrived.popleft() for _ in range(min(max_count, len(self._arrived)))]

    def wait(self, timeout: float) -> bool:
        """Block until a message can be taken or `timeout` seconds have passed; True if one can.

        Keep the timeout short (0.1 s): a shutdown of the context does not wake it.
        """
        if not self.is_polled:
            return self._wait_for_executor(timeout)
        if _WaitSet is None:
            time.sleep(min(timeout, 0.002))
            return True
        context: Any = self._node.context.handle
        with self._handle, context:
            if self._wait_set is None:
                self._wait_set = _WaitSet(1, 0, 0, 0, 0, 0, context)
            wait_set = self._wait_set
            wait_set.clear_entities()
            index = wait_set.add_subscription(self._handle)
            wait_set.wait(int(timeout * SECOND))
            return bool(wait_set.is_ready('subscription', index))

    def _wait_for_executor(self, timeout: float) -> bool:
        own = _OwnExecutor.find(self._node)
        end = time.monotonic() + timeout
        while not self._arrived and time.monotonic() < end and self._node.context.ok():
            if own is None:
                time.sleep(0.001)
            else:
                own.turn(max(0.0, end - time.monotonic()))
        return bool(self._arrived)

    def publisher_count(self) -> int:
        """Publishers whose messages reach it."""
        return self._subscription.get_publisher_count()

    def silence(self) -> str:
        """Returns why nothing may be arriving, in words: no publisher, or publishers whose QoS does
        not match.

        Returns:
            An empty string if a publisher is there that matches.
        """
        publishers = self._node.get_publishers_info_by_topic(self.topic_name)
        if not publishers:
            return f'nobody publishes {self.topic_name}'
        wanted = self._qos.reliability == QoSReliabilityPolicy.RELIABLE
        offered = [p.qos_profile.reliability == QoSReliabilityPolicy.RELIABLE for p in publishers]
        if wanted and not any(offered):
            return (
                f'every publisher of {self.topic_name} is best effort, and reliable was asked for'
            )
        return ''

    def destroy(self) -> None:
        """Take the subscription off its node; taking afterwards is an error."""
        if self._wait_set is not None:
            self._wait_set.destroy_when_not_in_use()
            self._wait_set = None
        if self._identifying is not None:
            self._identifying.close()
        self._node.destroy_subscription(self._subscription)
