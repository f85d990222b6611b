# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Declarations of the topics and services of a node, without ROS."""

from __future__ import annotations

import re
from typing import TypeVar

import attrs

# Qualities of service (nodes/runtime/qos.py) under which a late subscriber gets what was published.
LATCHED = ('STATE', 'EVENTS')
BEST_EFFORT = ('ESTIMATES',)

Endpoint = TypeVar('Endpoint', bound='Service')


@attrs.frozen
class Service:
    """A service, or what a topic has in common with it.

    Attributes:
        name: relative to the namespace or absolute; `{camera}` stands for any name, `~` for the
            node's.
        type: 'package/msg/Name' or 'package/srv/Name'.
        text: what it carries or does.
        condition: when the node has it; empty: whenever it is at work.
    """

    name: str
    type: str
    text: str = ''
    condition: str = attrs.field(default='', kw_only=True)

    def at(self: Endpoint, name: str) -> Endpoint:
        """It under the name that an option gives."""
        return attrs.evolve(self, name=name)

    def of(self: Endpoint, **names: str) -> Endpoint:
        """It with names for the words in braces."""
        return self.at(self.name.format(**names))

    def when(self: Endpoint, condition: str) -> Endpoint:
        """It, of a node that has it only then."""
        return attrs.evolve(self, condition=condition)

    def matches(self, name: str, node: str = '') -> bool:
        """Returns whether `name`, relative or absolute, can be this one's."""
        own = self.name.replace('~', node)
        return re.fullmatch(re.sub(r'\\{\w+\\}', '.+', re.escape(own)), name) is not None


@attrs.frozen
class Topic(Service):
    """A topic.

    Attributes:
        qos: quality of service of its publishers, a name in nodes/runtime/qos.py.
        depth: messages that its publishers keep; 0: as many as `qos` says.
    """

    qos: str = 'STREAM'
    depth: int = 0

    @property
    def is_latched(self) -> bool:
        """True if late subscribers get what was published before."""
        return self.qos in LATCHED

    @property
    def is_reliable(self) -> bool:
        """True if its publishers are reliable."""
        return self.qos not in BEST_EFFORT


@attrs.frozen
class NodeTopics:
    """Everything by which a node is connected to others.

    Attributes:
        publishes: topics.
        subscribes: topics.
        serves: services.
        calls: services of others.
        expects: of the topics those without which no episode of the node's is complete.
    """

    publishes: tuple[Topic, ...] = ()
    subscribes: tuple[Topic, ...] = ()
    serves: tuple[Service, ...] = ()
    calls: tuple[Service, ...] = ()
    expects: tuple[Topic, ...] = ()
