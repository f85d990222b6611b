# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A node's input: a subscription whose quality of service follows its publishers', and which knows
whether they reach it and what has come.

Publishers are other people's nodes: latched or not, reliable or not. A subscription that asks for
more than is offered hears nothing; one that asks for less misses what was latched.
"""

from __future__ import annotations

import contextlib
import struct
import time
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from frame_ros.core.errors import BagError
from frame_ros.core.repeated_warnings import RepeatedWarnings
from frame_ros.core.topics import Topic
from frame_ros.nodes.runtime.endpoints import endpoint
from frame_ros.nodes.runtime.node_inputs import inputs_of
from frame_ros.nodes.runtime.options import FITTING, RELIABLE
from frame_ros.nodes.runtime.polled import PolledSubscription
from frame_ros.sensing.stream_health.input_tally import InputTally
from frame_ros.sensing.stream_health.newest import Taken
from frame_ros.sensing.stream_health.readiness import InputState

DEPTH = 2000  # 2 s of a kilohertz stream, which a loaded machine may delay for so long
LOOK_PERIOD = 0.5  # s
OVERLAP = 0.5  # s for which a replaced subscription is taken from once the new one is connected
# Errors of reading damaged bytes: by hand, or by the middleware.
DAMAGED = (BagError, struct.error, ValueError, IndexError, rclpy_implementation.RMWError)


class Service(NamedTuple):
    """The part of the quality of service that decides whether messages come."""

    is_reliable: bool
    is_latched: bool

    def profile(self, depth: int) -> QoSProfile:
        """It as ROS has it."""
        reliability, durability = ReliabilityPolicy, DurabilityPolicy
        return QoSProfile(
            depth=depth,
            reliability=reliability.RELIABLE if self.is_reliable else reliability.BEST_EFFORT,
            durability=durability.TRANSIENT_LOCAL if self.is_latched else durability.VOLATILE,
        )


class CalledSubscription:
    """A subscription that calls back in the node's executor, with what PolledSubscription takes."""

    def __init__(
        self,
        node: Node,
        message_type: Any,
        topic: str,
        qos: QoSProfile,
        raw: bool,
        on_taken: Callable[[list[Taken]], None],
    ) -> None:
        def call(message: Any, info: Any) -> None:
            on_taken([(message, info)])

        self._node = node
        callback: Any = call  # rclpy's types know of none that takes the info, too
        self._subscription = node.create_subscription(message_type, topic, callback, qos, raw=raw)

    @property
    def topic_name(self) -> str:
        """The fully resolved name of the topic."""
        return self._subscription.topic_name

    def publisher_count(self) -> int:
        """Publishers whose messages reach it."""
        return self._subscription.get_publisher_count()

    def destroy(self) -> None:
        """Take the subscription off its node."""
        self._node.destroy_subscription(self._subscription)


class FittingSubscription:
    """Takes messages as PolledSubscription does, or hands them on in the node's executor, and
    subscribes again when the publishers offer another quality of service: reliable, and with what
    was latched, if all of them are.

    One thread takes; the node's readiness (`NodeReadiness`) calls `look` in any thread. A
    subscription that is replaced is taken from until the new one is connected, and no message comes
    twice.

    Args:
        node: any node.
        topic: as declared; its publishers' quality of service is the first guess only.
        handle: gets each message, by `poll`, or with `is_called` in the executor's thread.
        depth: messages kept until they are taken.
        raw: hands over each message's serialised bytes.
        read: makes what is handed over of each message's bytes. One that it cannot read is left
            out, as rclpy leaves out those that it cannot deserialise; it is counted in
            `unreadable`, and warned of.
        reliability: 'fitting', or never more than 'best_effort', which matches every publisher and
            never keeps one waiting; 'reliable' where a best-effort publisher must not be heard.
        is_live: whether only what is published from now on is heard: a command that somebody
            latched long ago must not move an arm.
        is_required: whether the node cannot work without it.
        is_steady: whether its publishers send all the time.
        is_called: whether the node's executor hands messages to `handle`.
        is_identified: whether infos say who published, as of PolledSubscription.
    """

    def __init__(
        self,
        node: Node,
        topic: Topic,
        handle: Callable[[Any], object] = lambda message: None,
        *,
        depth: int = DEPTH,
        raw: bool = False,
        read: Callable[[bytes], Any] | None = None,
        reliability: str = FITTING,
        is_live: bool = False,
        is_required: bool = False,
        is_steady: bool = False,
        is_called: bool = False,
        is_identified: bool = False,
    ) -> None:
        self._node, self._handle = node, handle
        self._type, self._topic = endpoint(topic)
        self._depth, self._reliability = depth, reliability
        self._raw, self._read = raw or read is not None, read
        self._is_required, self._is_steady, self._is_called = is_required, is_steady, is_called
        self._is_live, self._is_identified, self._is_destroyed = is_live, is_identified, False
        self._type_name = topic.type
        self._tally = InputTally(self._type)
        self._warnings = RepeatedWarnings(node.get_logger())
        self.unreadable = 0
        is_reliable = topic.is_reliable if reliability == FITTING else reliability == RELIABLE
        self._service = self._wanted = Service(is_reliable, topic.is_latched and not is_live)
        self._recent: deque[int] = deque(maxlen=DEPTH)  # when they were published
        self._before: Any = None
        self._offered = self._served = self._unheard = 0
        self._next_look = self._overlap_end = 0.0
        self._subscription = self._subscribe()
        self._name = self._subscription.topic_name
        self.look()
        self._fit()
        inputs_of(node).append(self)

    def _subscribe(self) -> Any:
        qos = self._service.profile(self._depth)
        if self._is_called:
            return CalledSubscription(
                self._node, self._type, self._topic, qos, self._raw, self._hand_on
            )
        return PolledSubscription(
            self._node, self._type, self._topic, qos, self._raw, is_identified=self._is_identified
        )

    @property
    def topic_name(self) -> str:
        """The fully resolved name of the topic."""
        return self._name

    @property
    def wait_handle(self) -> Any:
        """The handle that a wait set waits for, of one that is polled (`WakeSet`)."""
        return self._subscription.wait_handle

    @property
    def is_latched(self) -> bool:
        """True if it hears what was published before it was made."""
        return self._service.is_latched

    @property
    def received(self) -> int:
        """Messages taken so far."""
        return self._tally.received

    def take(self, max_count: int = 100) -> list[Taken]:
        """Returns what has arrived, oldest first, as `PolledSubscription.take` gives it."""
        taken = self.take_unread(max_count)
        return self.readable(taken) if self._read is not None else taken

    def take_unread(self, max_count: int = 100) -> list[Taken]:
        """The same as it came; for who passes but a part of it on to `readable`."""
        if self._wanted != self._service:
            self._fit()
        taken = self._subscription.take(max_count)
        if self._before is not None:
            taken = self._new_of([*self._before.take(self._depth), *taken])
            self._end_overlap()
        elif self._service.is_latched:  # it may come again at any time after the subscription did
            taken = self._new_of(taken)
        if taken:
            self._note(taken)
        return taken

    def poll(self) -> None:
        """Hands on what has arrived."""
        for message, _ in self.take(1000):
            self._handle(message)

    def wait(self, timeout: float) -> bool:
        """Block until a message can be taken or `timeout` seconds have passed; True if one can."""
        return self._subscription.wait(timeout)

    def _hand_on(self, taken: list[Taken]) -> None:
        if self._before is not None or self._service.is_latched:
            taken = self._new_of(taken)
        if taken:
            self._note(taken)
        for message, _ in self.readable(taken) if self._read is not None else taken:
            self._handle(message)

    def readable(self, taken: list[Taken]) -> list[Taken]:
        """Returns what the reader makes of those that it can read."""
        assert self._read is not None
        found = []
        for data, info in taken:
            try:
                found.append((self._read(data), info))
            except DAMAGED as error:
                self.unreadable += 1
                self._warnings.warn(
                    'unreadable',
                    f'dropped: a message on {self._name} of {len(data)} bytes cannot be read as '
                    f'{self._type_name}: {error}',
                )
        return found

    def _note(self, taken: list[Taken]) -> None:
        self._tally.add(taken)
        self._recent.extend([info['source_timestamp'] for _, info in taken])

    def _new_of(self, taken: list[Taken]) -> list[Taken]:
        """Without what the other of two subscriptions has brought."""
        seen, new = set(self._recent), []
        for message, info in taken:
            published = info['source_timestamp']
            if not published or published not in seen:
                seen.add(published)
                new.append((message, info))
        return new

    def look(self) -> None:
        """Looks, at most every LOOK_PERIOD, at what the publishers offer."""
        now = time.monotonic()
        if now < self._next_look:
            return
        self._next_look = now + LOOK_PERIOD
        found = [
            info.qos_profile
            for info in self._node.get_publishers_info_by_topic(self._name)
            if info.topic_type == self._type_name
        ]
        served = [qos for qos in found if self._is_served_by(qos)]
        self._warn_of_unheard(len(found) - len(served))
        # With none that serves it counts as not connected.
        self._offered, self._served = len(served) or len(found), len(served)
        self._tally.set_publishers(len(served))
        if served:
            self._wanted = self._fitting(served)
        if self._is_called:
            self._fit()
            self._end_overlap()

    def _is_served_by(self, offered: QoSProfile) -> bool:
        """Returns whether a publisher can be heard at all: a best-effort one not by who asks for
        more.
        """
        return self._reliability != RELIABLE or offered.reliability == ReliabilityPolicy.RELIABLE

    def _warn_of_unheard(self, count: int) -> None:
        """Logs how many publishers are not heard, when that changes."""
        if count == self._unheard:
            return
        self._unheard = count
        if count:
            self._node.get_logger().warning(
                f'{count} best-effort publisher(s) of {self._name} are not heard: reliable was '
                "asked for; reliability 'fitting' hears all"
            )

    def _fitting(self, offered: list[QoSProfile]) -> Service:
        is_reliable = all(qos.reliability == ReliabilityPolicy.RELIABLE for qos in offered)
        if self._reliability != FITTING:
            is_reliable = self._reliability == RELIABLE
        latched = DurabilityPolicy.TRANSIENT_LOCAL
        is_latched = not self._is_live and all(qos.durability == latched for qos in offered)
        return Service(is_reliable, is_latched)

    def _fit(self) -> None:
        """Subscribes again where something else is offered; in the thread that takes."""
        wanted = self._wanted
        if wanted == self._service or self._is_destroyed:
            return
        if self._before is not None:
            self._before.destroy()
        self._before, self._service = self._subscription, wanted
        self._overlap_end = time.monotonic() + OVERLAP
        self._tally.restart_numbers()
        self._subscription = self._subscribe()

    def _end_overlap(self) -> None:
        """Ends the replaced subscription OVERLAP after the new one was connected."""
        if self._before is None:
            return
        now = time.monotonic()
        if self._matched() < self._served:
            self._overlap_end = now + OVERLAP  # what was latched comes a little after the match
        if now < self._overlap_end:
            return
        before, self._before = self._before, None
        before.destroy()
        self._tally.restart_numbers()

    def _matched(self) -> int:
        with contextlib.suppress(rclpy_implementation.InvalidHandle):
            return self._subscription.publisher_count()
        return 0  # it is being replaced in this moment

    def state(self) -> InputState:
        """Returns what it is connected to, and what has come."""
        tally = self._tally
        return InputState(
            topic=self._name,
            is_required=self._is_required,
            is_steady=self._is_steady,
            offered=self._offered,
            matched=min(self._matched(), self._offered),
            is_reliable=self._service.is_reliable,
            is_latched=self._service.is_latched,
            received=tally.received,
            lost=tally.lost,
            first_stamp=tally.first_stamp,
            last_stamp=tally.last_stamp,
            first_received=tally.first_received,
            last_received=tally.last_received,
        )

    def silence(self) -> str:
        """Returns why nothing may be arriving, in words; '' if a publisher is there that
        matches.
        """
        if not self._node.count_publishers(self._name):
            return f'nobody publishes {self._name}'
        if self._subscription.publisher_count():
            return ''
        infos = self._node.get_publishers_info_by_topic(self._name)
        types = sorted({info.topic_type for info in infos})
        if self._type_name not in types:
            return f'{self._name} is published as {", ".join(types)}, not {self._type_name}'
        if self._reliability == RELIABLE:
            return f'no publisher of {self._name} is reliable, and reliable was asked for'
        return f'not connected to the publisher of {self._name} yet'

    def destroy(self) -> None:
        """Take the subscription off its node; taking afterwards is an error."""
        self._is_destroyed = True
        inputs = inputs_of(self._node)
        if self in inputs:
            inputs.remove(self)
        for subscription in (self._before, self._subscription):
            if subscription is not None:
                subscription.destroy()
        self._before = None
