# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Possible uses of a bag's topics, by type, and the options for them."""

from __future__ import annotations

from dataclasses import dataclass

from frame_ros.bags.images.decoding import COMPRESSED_TYPE, IMAGE_TYPE
from frame_ros.bags.reader import Bag
from frame_ros.bags.streams.nameless import NAMELESS_TYPE
from frame_ros.bags.streams.table import STREAMS
from frame_ros.bags.streams.topic_map import TopicMap
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.foreign_bags.topic_hints import (
    OF_WRENCH,
    WRENCH_TYPE,
    joint_names,
    options_of_action,
)
from frame_ros.episodes.recorded.nameless_actions import interface_of
from frame_ros.episodes.released import outlasting
from frame_ros.robots.known_joints import robot_of_joints


@dataclass(frozen=True)
class TopicUse:
    """Uses of one topic."""

    topic: str
    message_type: str
    count: int
    roles: tuple[str, ...]  # possible by the topic's type
    taken: tuple[str, ...]  # the actual roles
    option: str  # command option that would use it; '' if there is none
    reason: str = ''  # why not, if its type is unreadable

    def __str__(self) -> str:
        use = 'nothing here uses it'
        if self.reason:
            use = f'cannot be read: {self.reason}'
        elif self.taken:
            use = f'taken as {", ".join(self.taken)}'
        elif self.roles:
            use = f'could be {", ".join(self.roles)}: {self.option}'
        elif self.option:
            use = self.option
        return f'{self.topic} ({self.message_type}, {self.count:,}): {use}'


def topic_uses(bag: Bag, namespace: str | None = None) -> list[TopicUse]:
    """Returns the uses of every topic of a bag, by name. namespace: as of `read_episodes`."""
    topic_map = TopicMap(bag, namespace)
    found = {role: topic_map.find(role) for role in STREAMS}
    uses = []
    for name, topic in sorted(bag.topics.items()):
        roles = tuple(
            role for role, row in STREAMS.items() if row.form(topic.message_type) is not None
        )
        taken = tuple(role for role in roles if found[role] == name)
        option = ' or '.join(
            ' '.join(options_of_action(bag, name)) if role == 'action' else f'--topic {role}={name}'
            for role in roles
        )
        if interface := interface_of(name) * (topic.message_type == NAMELESS_TYPE):
            roles, option = (), f'of the interface {interface} by its name, which nothing here uses'
        if topic.message_type in (IMAGE_TYPE, COMPRESSED_TYPE):
            option = f'frame-ros video BAG --topic {name}'
        if topic.message_type == WRENCH_TYPE and found['contact'] is None:
            option = OF_WRENCH
        uses.append(
            TopicUse(name, topic.message_type, len(topic), roles, taken, option, topic.reason)
        )
    return uses


@outlasting
def is_usable(episode: Episode) -> bool:
    """Returns whether an episode has poses, live metrics, or samples of metrics."""
    has_samples = any(len(columns['stamp']) for columns in episode.metrics.values())
    return has_samples or bool(episode.live) or 'pose' in episode.streams


def use_lines(episode: Episode, bag: Bag, namespace: str | None = None) -> list[str]:
    """Returns why nothing was computed of an episode, and possible uses of its topics."""
    lines = ['nothing that metrics are computed from was found; its topics:']
    lines += [f'  {use}' for use in topic_uses(bag, namespace)]
    joints = episode.streams.get('joint_states')
    is_known = bool(episode.attributes.get('robot'))
    if joints is not None and 'pose' not in episode.streams and not is_known:
        known = robot_of_joints(joint_names(joints)) or 'NAME, or --robot FILE.urdf'
        lines.append(f'  poses can be computed from {joints.topic}: --robot {known}')
    return lines
