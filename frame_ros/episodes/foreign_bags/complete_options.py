# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The options with which a bag that lacks poses or steps has both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from frame_ros.bags.header_stamps import header_stamps
from frame_ros.bags.reader import Bag
from frame_ros.bags.recording_options import RECEIVE
from frame_ros.bags.streams.form import Stream
from frame_ros.bags.streams.joints import JOINT_TYPE
from frame_ros.bags.streams.poses import POSE_TYPE
from frame_ros.bags.streams.table import read_stream
from frame_ros.bags.streams.topic_map import TopicMap
from frame_ros.core.errors import BagError
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.foreign_bags.clock_checks import stamp_problems
from frame_ros.episodes.foreign_bags.topic_hints import joint_names, unused_topics
from frame_ros.episodes.recorded.robot import known_robot
from frame_ros.robots.known_joints import robot_of_joints

MEASURED = 'joint_states'  # how topics of measured joints are named


def complete_options(
    episode: Episode,
    bag: Bag,
    namespace: str | None = None,
    topics: Mapping[str, str] | None = None,
) -> list[str]:
    """Returns options and values, such as '--robot', 'panda', '--topic', 'action=/joint_states',
    by which an episode has poses and steps; none if it has both, no way is known, or it has events,
    as our recorder's have.

    bag: the episode's. namespace, topics: as given to `read_episodes`; those of `topics` stay.
    """
    if not is_incomplete(episode) or not bag.topics:
        return []
    topic_map = TopicMap(bag, namespace, topics)
    options: list[str] = []
    measured = {
        role: stream.topic
        for role, stream in episode.streams.items()
        if role in ('pose', 'joint_states')
    }
    if 'pose' not in measured:
        options, found = _of_poses(episode, bag, topic_map)
        if not found:
            return []
        measured |= found
    if 'action' not in episode.streams:
        commands = _commands(episode, bag, topic_map, measured)
        steps = commands or measured.get('joint_states') or measured['pose']
        options += ['--topic', f'action={steps}']
        measured['action'] = steps
    if not all(_has_stamps(bag, topic) for topic in measured.values()):
        options += ['--stamps', RECEIVE]
    return options


def is_incomplete(episode: Episode) -> bool:
    """Returns whether an episode without events lacks poses, steps or usable stamps."""
    has_both = {'pose', 'action'} <= episode.streams.keys()
    return not episode.events and (not has_both or bool(stamp_problems(episode.streams)))


def _has_stamps(bag: Bag, topic: str) -> bool:
    """Returns whether the messages of a topic have stamps by which they are in order."""
    stamps = header_stamps(bag, topic)
    return stamps is None or len(stamps) < 2 or bool((stamps > 0).any() and np.ptp(stamps) > 0)


def _of_poses(episode: Episode, bag: Bag, topic_map: TopicMap) -> tuple[list[str], dict[str, str]]:
    """Returns the options that give poses, and role -> topic that they are of."""
    joints = episode.streams.get('joint_states')
    streams = [joints] if joints is not None else _joint_streams(episode, bag, topic_map)
    own = known_robot(episode)
    for stream in streams:
        names = joint_names(stream)
        is_own = own is not None and names.issuperset(own.joint_names)
        robot = '' if is_own else robot_of_joints(names)
        if is_own or robot:
            options = ['--robot', robot] if robot else []
            if joints is None:
                options += ['--topic', f'joint_states={stream.topic}']
            return options, {'joint_states': stream.topic}
    for topic in unused_topics(bag, topic_map, episode.streams, POSE_TYPE):
        return ['--topic', f'pose={topic}'], {'pose': topic}
    return [], {}


def _joint_streams(episode: Episode, bag: Bag, topic_map: TopicMap) -> Iterable[Stream]:
    """Yields the joint messages on topics that could hold measured joints, those of such a name
    first.
    """
    used = {'action'} & episode.streams.keys()
    topics = unused_topics(bag, topic_map, episode.streams, JOINT_TYPE, used)
    for topic in sorted(topics, key=lambda name: not name.endswith(MEASURED)):
        try:
            yield read_stream(bag, 'joint_states', topic)
        except BagError:
            continue  # reported where the bag was read


def _commands(episode: Episode, bag: Bag, topic_map: TopicMap, measured: dict[str, str]) -> str:
    """Returns the topic of commands to the joints that are measured; '' if there is none."""
    if 'joint_states' not in measured:
        return ''
    wanted = _names(bag, measured['joint_states'])
    for topic in unused_topics(bag, topic_map, episode.streams, JOINT_TYPE):
        if topic in measured.values() or topic.endswith(MEASURED):
            continue
        names = _names(bag, topic)
        if names and names <= wanted:
            return topic
    return ''


def _names(bag: Bag, topic: str) -> set[str]:
    try:
        return joint_names(read_stream(bag, 'joint_states', topic))
    except BagError:
        return set()
