# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A recording's messages as they were received, for a copy of it with other topics besides."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.definitions import MessageDefinition, typestore_of
from frame_ros.bags.metadata import bag_information
from frame_ros.bags.reader import Bag, Topic
from frame_ros.bags.writer import BagWriter, TopicQos
from frame_ros.core.errors import BagError

# Fact of a bag whose contacts were sensed after the fact: the name of the recording.
SENSED_FROM = 'sensed_from'
# Of the sidecar, what the writer says of its own bag.
OWN_ENTRIES = ('state', 'metadata', 'topics', 'problem', 'self')
OFFERED, HASH = 'offered_qos_profiles', 'topic_type_hash'


class Received(NamedTuple):
    """A message as it was recorded. received, published: ns."""

    topic: str
    received: int
    published: int
    data: NDArray[np.uint8]


def in_received_order(bag: Bag) -> Iterator[Received]:
    """Yields all messages of a bag by their receive times; of equal ones, in the order of the
    topics.
    """
    tables = [(name, table) for name, topic in bag.topics.items() for table in topic.tables]
    if not tables:
        return
    received = np.concatenate([table.received for _, table in tables])
    owner = np.repeat(np.arange(len(tables)), [len(table) for _, table in tables])
    row = np.concatenate([np.arange(len(table)) for _, table in tables])
    for place in np.argsort(received, kind='stable').tolist():
        name, table = tables[owner[place]]
        index = int(row[place])
        published = int(table.published[index])
        yield Received(name, int(received[place]), published, table.data(index))


def copy_topics(bag: Bag, writer: BagWriter, without: Collection[str] = ()) -> dict[str, int]:
    """Adds the topics of a bag to a writer, each with its definition and the quality of service
    that was offered; returns topic -> channel.

    Raises:
        BagError, OSError: as `BagWriter.add_topic`.
    """
    offered = _offered(bag)
    channels = {}
    for name, topic in bag.topics.items():
        if name not in without:
            qos = offered.get(name) or _qos(topic.facts.get(OFFERED, '')) or [TopicQos()]
            channels[name] = writer.add_topic(name, topic.message_type, _definition(topic), qos)
    return channels


def facts_of_sidecar(bag: Bag) -> dict[str, Any]:
    """Returns the entries of a bag's sidecar, such as counts of what the recorder dropped, without
    those that every bag has for itself.
    """
    return {name: value for name, value in bag.sidecar.items() if name not in OWN_ENTRIES}


def _definition(topic: Topic) -> MessageDefinition:
    text, encoding = topic.definition, topic.encoding or 'ros2msg'
    found = topic.facts.get(HASH, '')
    if not found and topic.types:
        try:
            store = typestore_of(topic.message_type, text, encoding)
            found = store.hash_rihs01(topic.message_type)
        except BagError:
            found = ''
    return MessageDefinition(topic.message_type, text, found, encoding)


def _offered(bag: Bag) -> dict[str, list[TopicQos]]:
    """Returns topic -> the quality of service of its publishers, of metadata.yaml."""
    try:
        information = (bag_information(bag.path) if bag.path.is_dir() else None) or {}
        rows = [each['topic_metadata'] for each in information['topics_with_message_count']]
        return {row['name']: _qos(row.get(OFFERED, '')) for row in rows}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}  # said where the bag was read


def _qos(given: Any) -> list[TopicQos]:
    """Returns qualities of service of rosbag2's YAML, of any of its versions; none of any other
    text.
    """
    from rosbags.rosbag2.metadata import parse_qos

    try:
        found = parse_qos(given) if given else []
    except Exception:  # of whatever the text is
        return []
    return [
        TopicQos(
            each.reliability.name.lower(), each.durability.name.lower(),
            each.history.name.lower(), each.depth, each.liveliness.name.lower(),
        )
        for each in found
    ]  # fmt: skip
