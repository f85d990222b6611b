# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The topics of a recording by which contact is sensed, and their messages."""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from frame_ros.bags.findings import Note
from frame_ros.bags.franka_flags import ROBOT_STATE, IndicatorReader, StateFlagReader
from frame_ros.bags.message_readers import JointStateReader, WrenchReader
from frame_ros.bags.reader import Bag
from frame_ros.bags.streams.contacts import CONTACT_TYPE
from frame_ros.bags.streams.events import EVENT_TYPE
from frame_ros.bags.streams.grasp import GRASP_TYPE
from frame_ros.bags.streams.joints import JOINT_TYPE
from frame_ros.bags.streams.topic_map import TopicMap
from frame_ros.core.errors import BagError, SetupError
from frame_ros.core.options import check_names
from frame_ros.episodes.foreign_bags.topic_hints import WRENCH_TYPE
from frame_ros.sensing.contact.composition.contact_sensing import (
    COMMANDS,
    FLAGS,
    JOINTS,
    ROBOT_WRENCH,
    WRENCH,
)

DAMAGED = (BagError, struct.error, ValueError, IndexError)
# Role, as `--topic` names it -> types of its messages. Those that `frame-ros report` knows have the
# same names there.
ROLES = {
    'joint_states': (JOINT_TYPE,),
    'action': (JOINT_TYPE,),
    'wrench': (WRENCH_TYPE,),
    'robot_wrench': (WRENCH_TYPE,),
    'robot_flags': (ROBOT_STATE, CONTACT_TYPE),
    'grasp': (GRASP_TYPE,),
    'event': (EVENT_TYPE,),
}
ROLE_OF = {
    JOINTS: 'joint_states', COMMANDS: 'action', WRENCH: 'wrench', ROBOT_WRENCH: 'robot_wrench',
    FLAGS: 'robot_flags',
}  # fmt: skip
OF_REPORT = ('joint_states', 'action', 'grasp', 'event')
TF_STATIC, TF_TYPE = '/tf_static', 'tf2_msgs/msg/TFMessage'


class RecordedMessages:
    """The messages of one topic, which arrive as they were received; see `Messages`."""

    def __init__(
        self, topic: str, read: Callable[[bytes], Any], is_by_receipt: bool = False
    ) -> None:
        """read: makes a value with a `stamp` of the bytes, or None. is_by_receipt: the receive time
        takes the place of that stamp.
        """
        self.topic_name, self._read, self._is_by_receipt = topic, read, is_by_receipt
        self.received = self.unreadable = 0
        self._arrived: deque[tuple[int, bytes]] = deque()

    def arrive(self, received: int, data: bytes) -> None:
        """Takes a message; received: ns."""
        self._arrived.append((received, data))
        self.received += 1

    def take(self, max_count: int) -> list[tuple[Any, Mapping[str, Any]]]:
        """Returns what has arrived since, oldest first."""
        found: list[tuple[Any, Mapping[str, Any]]] = []
        for _ in range(min(max_count, len(self._arrived))):
            received, data = self._arrived.popleft()
            try:
                value = self._read(data)
            except DAMAGED:
                self.unreadable += 1
                continue
            if value is not None and self._is_by_receipt:
                value = value._replace(stamp=received)
            found.append((value, {'received_timestamp': received}))
        return found

    def silence(self) -> str:
        """Returns why nothing comes."""
        return '' if self.topic_name else 'the recording has no such topic'


def robot_of_bag(bag: Bag, namespace: str | None, topics: Mapping[str, str]) -> str:
    """Returns the namespace of the robot, '' for none, and reports what it leaves doubtful.

    namespace: what the user named; None: that with most topics, of equal ones that of the given
    topics. topics: role -> absolute topic, as the user named them.
    """
    found = TopicMap(bag, namespace, topics)
    if namespace is None:
        doubts = [found.misplaced(role, topic) for role, topic in topics.items()]
        for text in filter(None, [Note(found.other_robots()), *doubts]):
            bag.report(text)
    return found.namespace


class RecordedTopics:
    """The topic of each role in a bag.

    Attributes:
        namespace: of the robot, '' for none.
        found: role -> absolute topic, of those that the bag has messages of.
    """

    def __init__(
        self,
        bag: Bag,
        usual: Mapping[str, Sequence[str]],
        outputs: Sequence[str],
        namespace: str,
        given: Mapping[str, str] | None = None,
    ) -> None:
        """Looks for the topics.

        Args:
            usual: role -> names, relative to the namespace or absolute, under which the contact
                node subscribes it.
            outputs: names of the wrenches that the contact node publishes, likewise.
            namespace: of the robot, '' for none.
            given: role -> absolute topic, which takes precedence.

        Raises:
            SetupError: there is no such role; several topics could be the wrench.
            BagError: a given topic is not in the bag, or of another type.
        """
        given = dict(given or {})
        check_names(given, ROLES, 'role')
        self._bag, self._usual = bag, usual
        known = {role: topic for role, topic in given.items() if role in OF_REPORT}
        self._map = TopicMap(bag, namespace, known)
        self.namespace = self._map.namespace
        self.found: dict[str, str] = {}
        for role in ROLES:
            topic = self._given(role, given[role]) if role in given else self._find(role)
            if topic:
                self.found[role] = topic
        if 'wrench' not in self.found and (topic := self._only_wrench(outputs)):
            self.found['wrench'] = topic

    def absolute(self, name: str) -> str:
        """A name as the contact node has it, with the namespace."""
        return name if name.startswith('/') else f'{self.namespace}/{name}'

    def _of_type(self, types: Sequence[str]) -> list[str]:
        topics = sorted(self._bag.topics.items())
        return [name for name, topic in topics if len(topic) and topic.message_type in types]

    def _given(self, role: str, topic: str) -> str:
        found = self._bag.topics.get(topic)
        if found is None or not len(found):
            others = ', '.join(self._of_type(ROLES[role])) or 'none'
            raise BagError(
                f'{self._bag.path} has no messages on {topic}, given as {role}; of '
                f'{" or ".join(ROLES[role])} it has {others}'
            )
        if found.message_type not in ROLES[role]:
            wanted = ' or '.join(ROLES[role])
            raise BagError(
                f'{topic} has type {found.message_type}; as {role} it should be {wanted}'
            )
        self._bag.types_of(found)
        return topic

    def _find(self, role: str) -> str:
        readable = self._of_type(ROLES[role])
        names = [self.absolute(name) for name in self._usual.get(role, ())]
        usual = next((name for name in names if name in readable), '')
        if usual or role not in OF_REPORT:
            return usual
        found = self._map.find(role) or ''
        return found if found in readable else ''

    def _only_wrench(self, outputs: Sequence[str]) -> str:
        """The only wrench that is none of the robot's own estimates, nor of the contact node."""
        others = {*map(self.absolute, outputs), self.found.get('robot_wrench')}
        robots = (None, self.namespace)
        found = [
            name
            for name in self._of_type((WRENCH_TYPE,))
            if name not in others and self._map.robot_of(name) in robots
        ]
        if len(found) > 1:
            raise SetupError(
                f'{self._bag.path} has several wrenches, {", ".join(found)}: --topic wrench=TOPIC '
                'chooses that of the force-torque sensor'
            )
        return found[0] if found else ''

    def reader(self, stream: str) -> Callable[[bytes], Any]:
        """Returns the reader of the messages of a stream of ContactSensing."""
        if stream in (JOINTS, COMMANDS):
            return JointStateReader().full
        if stream in (WRENCH, ROBOT_WRENCH):
            return WrenchReader().wrench
        topic = self._bag.topics[self.found[ROLE_OF[stream]]]
        if topic.message_type == ROBOT_STATE:
            return IndicatorReader(self._bag.types_of(topic)).read
        return StateFlagReader(
            lambda data: self._bag.deserialize(topic, np.frombuffer(data, np.uint8))
        ).read
