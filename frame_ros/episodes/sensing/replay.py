# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contact sensing of a recording: its messages arrive as they were received, and ContactSensing
looks at them as often as the contact node does.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Callable
from typing import Any

from frame_ros.bags.bag_copy import Received
from frame_ros.bags.reader import Bag
from frame_ros.bags.streams.grasp import IS_HELD
from frame_ros.core.errors import BagError
from frame_ros.core.repeated_warnings import RepeatedWarnings
from frame_ros.core.time import SECOND, stamp_ns, stamp_of_serialised
from frame_ros.episodes.sensing.inputs import (
    ROLE_OF,
    TF_STATIC,
    TF_TYPE,
    RecordedMessages,
    RecordedTopics,
)
from frame_ros.episodes.sensing.outputs import BagOutputs
from frame_ros.sensing.contact.composition.contact_sensing import ContactSensing
from frame_ros.sensing.contact.composition.inputs import SensorStream
from frame_ros.sensing.contact.grasp import CONTACT, GraspHistory
from frame_ros.sensing.contact.options import ContactSensingOptions

# As of the node, ns: between two looks while nothing has come for IDLE_AFTER.
IDLE, IDLE_AFTER = SECOND // 50, SECOND // 5
# ns without a message of any topic, after which the recording itself has a hole: nothing is given
# until it goes on.
LONGEST_PAUSE = 2 * SECOND
LOOK_PERIOD = SECOND  # ns between two looks for warnings


class Log:
    """Keeps what the contact node would log.

    Attributes:
        lines: what it said, each once.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []

    def info(self, message: str) -> None:
        """Keeps a line."""
        if message not in self.lines:
            self.lines.append(message)

    warning = error = info


def stamps_ahead(bag: Bag, topics: RecordedTopics) -> int:
    """Returns ns by which the stamp of the first message of a sensor is ahead of its receipt: its
    clock may be another one. 0 where that is not known.
    """
    wanted = [topics.found[role] for role in ROLE_OF.values() if role in topics.found]
    firsts = [next(bag.raw(name)) for name in wanted]
    for received, data in sorted(firsts, key=lambda first: first[0]):
        with contextlib.suppress(ValueError, struct.error, IndexError):
            if stamp := stamp_of_serialised(data.tobytes()):
                return stamp - received
    return 0


class SensedRecording:
    """Feeds ContactSensing; what it finds goes to `outputs`.

    Attributes:
        sensing: what detects.
        log: what the contact node would have said.
    """

    def __init__(
        self,
        bag: Bag,
        topics: RecordedTopics,
        settings: ContactSensingOptions,
        poll_period: float,
        outputs: BagOutputs,
        is_by_receipt: bool = False,
    ) -> None:
        """poll_period: s between two looks at what has arrived. is_by_receipt: the receive time of
        a message takes the place of its stamp.

        Raises:
            FrameRosError: as of ContactSensing.
        """
        self._bag, self._outputs, self.log = bag, outputs, Log()
        self._period = max(round(poll_period * SECOND), 1)
        # ns, of receipt: now, at first, of the newest message, and of that of a sensor.
        self._time = self._first = self._last = self._heard = self._next_look = 0
        self._is_by_receipt = is_by_receipt
        ahead = 0 if is_by_receipt else stamps_ahead(bag, topics)
        self.sensing = ContactSensing(
            settings, outputs, RepeatedWarnings(self.log, self._clock), GraspHistory(),
            now=lambda: self._time + ahead, clock=self._clock,
        )  # fmt: skip
        outputs.frame = self.sensing.base_frame
        self._streams: dict[str, SensorStream] = {}
        self._inputs: dict[str, list[RecordedMessages]] = {}
        for name in self.sensing.stream_names:
            self._add_stream(name, topics)
        self.sensing.connect(self._streams)
        self._others = self._readers_of_others(topics)
        self._place(bag)

    def _clock(self) -> float:
        return (self._time - self._first) / SECOND

    def _add_stream(self, name: str, topics: RecordedTopics) -> None:
        topic = topics.found.get(ROLE_OF[name], '')
        read = topics.reader(name) if topic else bytes
        messages = RecordedMessages(topic, read, self._is_by_receipt)
        trusted = self.sensing.trusted_of(name)
        self._streams[name] = SensorStream(name, messages, trusted, clock=self._clock)
        if topic:
            self._inputs.setdefault(topic, []).append(messages)

    def _readers_of_others(self, topics: RecordedTopics) -> dict[str, Callable[[Any], None]]:
        readers = {'grasp': self._on_grasp}
        if self.sensing.is_phased:
            readers['event'] = self._on_event
        return {topics.found[role]: read for role, read in readers.items() if role in topics.found}

    def _on_grasp(self, message: Any) -> None:
        is_held = None if message.source == CONTACT else IS_HELD.get(message.state)
        stamp = self._last if self._is_by_receipt else stamp_ns(message.header.stamp)
        self.sensing.grasp.add(stamp, is_held)

    def _on_event(self, message: Any) -> None:
        self.sensing.keeper.on_event(int(message.type), str(message.text))

    def _place(self, bag: Bag) -> None:
        """Takes the fixed transforms, which hold at any time, wherever they lie in the bag."""
        wrench, found = self.sensing.wrench, bag.topics.get(TF_STATIC)
        if wrench is None or found is None or found.message_type != TF_TYPE:
            return
        for _, message in bag.messages(TF_STATIC):
            for each in message.transforms:
                place, turn = each.transform.translation, each.transform.rotation
                wrench.frames.add(
                    each.header.frame_id, each.child_frame_id, (place.x, place.y, place.z),
                    (turn.x, turn.y, turn.z, turn.w),
                )  # fmt: skip

    def arrive(self, message: Received) -> None:
        """Takes a message of any topic, in the order of receipt, once all looks before it are
        done.
        """
        if not self._first:
            self._first = self._time = self._last = self._heard = message.received
        self._look_until(message.received)
        self._last = message.received
        if message.topic in self._inputs:
            self._heard = message.received
            data = message.data.tobytes()
            for each in self._inputs[message.topic]:
                each.arrive(message.received, data)
        elif message.topic in self._others:
            try:
                topic = self._bag.topics[message.topic]
                self._others[message.topic](self._bag.deserialize(topic, message.data))
            except BagError as error:
                self.log.warning(f'{message.topic}: a message cannot be read: {error}')

    def _look_until(self, received: int) -> None:
        """Looks as often as the node would have before `received`, ns."""
        while True:
            is_idle = self._time - self._heard > IDLE_AFTER
            due = self._time + (IDLE if is_idle else self._period)
            if due >= received:
                return
            if due - self._last > LONGEST_PAUSE:
                self._time = received - 1
                return
            self._look(due)

    def _look(self, time: int) -> None:
        self._time = self._outputs.received = time
        self.sensing.take()
        if time >= self._next_look:
            self._next_look = time + LOOK_PERIOD
            self.log.info(self.sensing.look())

    def end(self) -> None:
        """Looks at the rest, and ends the contacts that last."""
        if self._first:
            self._look(max(self._last, self._time))
            self.log.info(self.sensing.look())
            self.sensing.end('the recording has ended')
