# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Selection of the recorded topics, and one polled raw subscription to each."""

from __future__ import annotations

import importlib
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

from frame_ros.bags.definitions import find_definition
from frame_ros.bags.recording.session import ReceivedMessage, RecordedTopic
from frame_ros.bags.writer import TopicQos
from frame_ros.core.errors import BagError, SetupError
from frame_ros.core.repeated_warnings import RepeatedWarnings
from frame_ros.nodes.runtime.polled import PolledSubscription
from frame_ros.nodes.runtime.topics import CLOCK, DIAGNOSTICS, TF, TF_STATIC
from frame_ros.sensing.stream_health.input_tally import InputTally
from frame_ros.sensing.stream_health.readiness import InputState

# Topics shared by all robots of a system, in addition to those of the recorder's own namespace.
SHARED_TOPICS = tuple(topic.name for topic in (TF, TF_STATIC, CLOCK, DIAGNOSTICS))
# Depth of the subscriptions: what may wait between two polls, and while the interpreter is busy
# elsewhere.
LARGE_TYPES = (
    'sensor_msgs/msg/Image',
    'sensor_msgs/msg/CompressedImage',
    'sensor_msgs/msg/PointCloud2',
)
Accept = Callable[[ReceivedMessage], None]
Now = Callable[[], int] | None
# Latched for who watches; what was sent before a bag is of another episode.
OF_ONE_EPISODE = ('frame_ros/msg/EpisodeSummary',)
LARGE_DEPTH, DEPTH, LATCHED_DEPTH = 30, 1000, 50


class TopicFilter:
    """Names of topics by regular expressions, each matched against the whole absolute or relative
    name.

    Args:
        namespace: the recorder's. include: empty: everything in the namespace, and what all robots
        share. also: absolute names, no expressions, of topics wanted besides; exclude outdoes them
        too.

    Raises:
        SetupError: a pattern is no regular expression.
    """

    def __init__(
        self,
        namespace: str,
        include: Sequence[str],
        exclude: Sequence[str],
        also: Sequence[str] = (),
    ) -> None:
        self._prefix = namespace.rstrip('/') + '/'
        self._include = [_compiled(pattern) for pattern in include if pattern]
        self._exclude = [_compiled(pattern) for pattern in exclude if pattern]
        self._also = frozenset(also)

    def is_wanted(self, topic: str) -> bool:
        """Returns whether a topic, given by its absolute name, is to be recorded."""
        if self._matches(self._exclude, topic):
            return False
        if topic in self._also:
            return True
        if self._include:
            return self._matches(self._include, topic)
        return topic.startswith(self._prefix) or topic in SHARED_TOPICS

    def _matches(self, patterns: Iterable[re.Pattern[str]], topic: str) -> bool:
        names = [topic]
        if topic.startswith(self._prefix):
            names.append(topic[len(self._prefix) :])
        return any(pattern.fullmatch(name) for pattern in patterns for name in names)


def absolute_names(node: Node, topics: Sequence[str]) -> list[str]:
    """The absolute names of topics given relative to a node, or absolute; empty ones are left out.

    Raises:
        SetupError: a text is no name of a topic.
    """
    names = []
    for topic in filter(None, topics):
        try:
            names.append(node.resolve_topic_name(topic))
        except (ValueError, RuntimeError) as error:
            raise SetupError(f'{topic!r} is no name of a topic: {error}') from error
    return names


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise SetupError(f'{pattern!r} is not a regular expression: {error}') from error


@dataclass
class _Source:
    """A topic and its subscription.

    last: publication number seen last, where there is one publisher; 0: none. missing: numbers left
    out since it was last looked how many publishers there are. before: the subscription that this
    one replaces, as long as messages may wait in it. recent: times of publication of the newest
    messages. seen: those of the replaced one, which this one may have too.
    """

    topic: RecordedTopic
    subscription: PolledSubscription
    is_reliable: bool
    is_latched: bool
    publishers: int
    tally: InputTally
    last: int = 0
    missing: int = 0
    before: _Source | None = None
    recent: deque[int] = field(default_factory=lambda: deque(maxlen=DEPTH))
    seen: frozenset[int] = frozenset()

    def state(self) -> InputState:
        """Returns what it is connected to, and what has come."""
        tally, matched = self.tally, self.subscription.publisher_count()
        return InputState(
            topic=self.topic.name,
            offered=self.publishers,
            matched=min(matched, self.publishers),
            is_reliable=self.is_reliable,
            is_latched=self.is_latched,
            received=tally.received,
            lost=tally.lost,
            first_stamp=tally.first_stamp,
            last_stamp=tally.last_stamp,
            first_received=tally.first_received,
            last_received=tally.last_received,
        )


class TopicSubscriptions:
    """Subscriptions to all wanted topics. `discover` runs in the executor's thread, `poll` in
    another one.

    skipped: topic -> why it is not recorded. lost: topic -> messages that the middleware lost on
    the way.
    """

    def __init__(
        self, node: Node, topic_filter: TopicFilter, always: Sequence[RecordedTopic] = ()
    ) -> None:
        self._node, self._filter = node, topic_filter
        self._always = {topic.name: topic for topic in always}
        self._sources: dict[str, _Source] = {}
        self._lost: Counter[str] = Counter()
        self._warnings = RepeatedWarnings(node.get_logger())
        self.skipped: dict[str, str] = {}

    @property
    def topics(self) -> list[RecordedTopic]:
        """The topics that are recorded now."""
        return [source.topic for source in self._sources.values()]

    def lost(self) -> dict[str, int]:
        """Returns topic -> messages lost so far, by gaps in the publication numbers."""
        for name, source in tuple(self._sources.items()):
            self._settle_lost(source, self._node.count_publishers(name))
        return {name: count for name, count in self._lost.items() if count}

    def why_silent(self, name: str) -> str:
        """Returns why a topic, given by its absolute name, sent nothing."""
        if name in self.skipped:
            return f'it is not recorded: {self.skipped[name]}'
        if not (name in self._always or self._filter.is_wanted(name)):
            return 'it is not recorded: see include, exclude and also'
        count = self._node.count_publishers(name)
        if not count:
            return 'nobody publishes it'
        return f'it has {count} publisher{"s" * (count > 1)}, and no message came'

    def states(self) -> list[InputState]:
        """Returns what each subscription is connected to, and what has come."""
        return [source.state() for source in self._sources.values()]

    def retry(self) -> None:
        """Looks again at topics that could not be recorded so far."""
        importlib.invalidate_caches()
        self.skipped.clear()
        self.discover()

    def discover(self) -> None:
        """Subscribes to new topics, and again to those whose publishers' quality of service has
        changed.
        """
        for name, types in self._node.get_topic_names_and_types():
            if name in self.skipped or not (name in self._always or self._filter.is_wanted(name)):
                continue
            publishers = self._node.get_publishers_info_by_topic(name)
            if not publishers:
                if name in self._sources:
                    self._sources[name].publishers = 0
                continue
            if len(types) > 1:
                self._skip(name, f'it is published with several types: {", ".join(types)}')
                continue
            self._subscribe_if_needed(name, types[0], [info.qos_profile for info in publishers])

    def poll(self, accept: Accept, now: Now) -> bool:
        """Takes what has arrived, topic by topic; returns whether there was anything.

        now: the clock that stamps the messages, ns; None: the time at which the middleware received
        them.
        """
        has_taken = False
        for source in tuple(self._sources.values()):
            self._drain_before(source, accept, now)
            has_taken |= self._take(source, accept, now)
        return has_taken

    def _take(self, source: _Source, accept: Accept, now: Now) -> bool:
        """Passes on what has arrived, at most 100 messages; returns whether there was anything."""
        taken = source.subscription.take(100)
        if taken:
            source.tally.add(taken)
        for data, info in taken:
            published = info['source_timestamp']
            if published in source.seen:
                continue
            if published > 0:
                source.recent.append(published)
            self._count_lost(source, info.get('publication_sequence_number') or 0)
            received = now() if now else info['received_timestamp']
            message = ReceivedMessage(source.topic, received, published, data)
            if source.is_latched and source.topic.latched is not None:
                source.topic.latched.append(message)
            accept(message)
        return bool(taken)

    def _drain_before(self, source: _Source, accept: Accept, now: Now) -> None:
        """Empties and ends the subscription that a new one has replaced."""
        before = source.before
        if before is None:
            return
        self._drain_before(before, accept, now)
        while self._take(before, accept, now):
            pass
        before.subscription.destroy()
        source.before, source.seen = None, before.seen.union(before.recent)

    def destroy(self) -> None:
        """Ends all subscriptions. Nobody may be in `poll`."""
        for source in self._sources.values():
            replaced: _Source | None = source
            while replaced is not None:
                replaced.subscription.destroy()
                replaced = replaced.before
        self._sources = {}

    def _subscribe_if_needed(self, name: str, message_type: str, offered: list[QoSProfile]) -> None:
        is_reliable = all(qos.reliability == ReliabilityPolicy.RELIABLE for qos in offered)
        is_latched = message_type not in OF_ONE_EPISODE and all(
            qos.durability == DurabilityPolicy.TRANSIENT_LOCAL for qos in offered
        )
        known = self._sources.get(name)
        if known is not None:
            self._settle_lost(known, len(offered))
            if known.publishers != len(offered):
                known.publishers, known.last = len(offered), 0
            known.tally.set_publishers(len(offered))
            if known.is_reliable <= is_reliable and known.is_latched <= is_latched:
                return
        try:
            message_class = _message_class(message_type)
            definition = find_definition(message_type)
        except BagError as error:
            self._skip(name, str(error))
            return
        topic = known.topic if known else self._always.get(name) or RecordedTopic(name, definition)
        topic.qos = [_bag_qos(qos) for qos in offered]
        if is_latched and name not in self._always:
            topic.latched = deque(maxlen=LATCHED_DEPTH)
        qos = QoSProfile(
            history=HistoryPolicy.KEEP_LAST,
            depth=LARGE_DEPTH if message_type in LARGE_TYPES else DEPTH,
            reliability=ReliabilityPolicy.RELIABLE
            if is_reliable
            else ReliabilityPolicy.BEST_EFFORT,
            durability=DurabilityPolicy.TRANSIENT_LOCAL
            if is_latched
            else DurabilityPolicy.VOLATILE,
        )
        subscription = PolledSubscription(self._node, message_class, name, qos, raw=True)
        tally = known.tally if known else InputTally(message_class)
        tally.set_publishers(len(offered))
        self._sources[name] = _Source(
            topic, subscription, is_reliable, is_latched, len(offered), tally, before=known
        )

    def _skip(self, name: str, reason: str) -> None:
        self.skipped[name] = reason
        self._warnings.warn_once(name, f'{name} is not recorded: {reason}')

    def _count_lost(self, source: _Source, number: int) -> None:
        if source.publishers == 1 and source.last and number > source.last + 1:
            source.missing += number - source.last - 1
        source.last = number

    def _settle_lost(self, source: _Source, publishers: int) -> None:
        """Counts the missing numbers, unless another publisher had begun, which has its own."""
        missing, source.missing = source.missing, 0
        if publishers == source.publishers:
            self._lost[source.topic.name] += missing


def _message_class(message_type: str) -> Any:
    package, kind, name = message_type.split('/')
    try:
        return getattr(importlib.import_module(f'{package}.{kind}'), name)
    except (ImportError, AttributeError) as error:
        raise BagError(
            f'{message_type} is not installed here; source the workspace that has it'
        ) from error


def _bag_qos(qos: QoSProfile) -> TopicQos:
    is_reliable = qos.reliability == ReliabilityPolicy.RELIABLE
    is_latched = qos.durability == DurabilityPolicy.TRANSIENT_LOCAL
    return TopicQos(
        reliability='reliable' if is_reliable else 'best_effort',
        durability='transient_local' if is_latched else 'volatile',
        depth=qos.depth or 10,
    )
