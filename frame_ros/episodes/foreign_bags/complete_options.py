# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The options with which a bag that lacks poses or steps has both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from frame_ros.bags.findings import MOST_LOST, Note
from frame_ros.bags.reader import Bag
from frame_ros.bags.recording_options import RECEIVE
from frame_ros.bags.streams.form import Stream
from frame_ros.bags.streams.joints import COMMAND_TYPES, JOINT_TYPE, STATE_TYPES
from frame_ros.bags.streams.nameless import NAMELESS_TYPE, named
from frame_ros.bags.streams.poses import POSE_TYPE
from frame_ros.bags.streams.table import read_stream
from frame_ros.bags.streams.topic_map import TopicMap
from frame_ros.core.errors import BagError
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.foreign_bags.clock_checks import (
    clock_problems,
    set_back_problems,
    stamp_problems,
)
from frame_ros.episodes.foreign_bags.topic_hints import (
    joint_names,
    options_of_action,
    unused_topics,
)
from frame_ros.episodes.recorded.nameless_actions import interface_of, interface_problems
from frame_ros.episodes.recorded.robot import known_robot
from frame_ros.episodes.released import outlasting
from frame_ros.robots.catalogue import load_robot
from frame_ros.robots.grippers import gripper_joints
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
        steps, joints = _commands(episode, bag, topic_map, measured)
        steps = steps or measured.get('joint_states') or measured['pose']
        options += options_of_action(bag, steps, joints)
        measured['action'] = steps
    else:
        measured['action'] = episode.streams['action'].topic
    if _needs_receipt(bag, measured):
        options += ['--stamps', RECEIVE]
    return options


@outlasting
def is_incomplete(episode: Episode) -> bool:
    """Returns whether an episode without events lacks poses, steps or usable stamps."""
    has_both = {'pose', 'action'} <= episode.streams.keys()
    streams = episode.streams
    return not episode.events and not (has_both and not _stamps_fail(streams))


def _needs_receipt(bag: Bag, topics: Mapping[str, str]) -> bool:
    """Returns whether the streams of some roles have stamps by which they are not in order, or that
    do not belong together.
    """
    streams = {}
    for role, topic in topics.items():
        try:
            streams[role] = read_stream(bag, role, topic)
        except BagError:
            continue  # reported where the bag was read
    return _stamps_fail(streams)


def _stamps_fail(streams: Mapping[str, Stream]) -> bool:
    return any(
        problems_of(streams) for problems_of in (stamp_problems, clock_problems, set_back_problems)
    )


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
    for topic in unused_topics(bag, topic_map, episode.streams, (POSE_TYPE,)):
        return ['--topic', f'pose={topic}'], {'pose': topic}
    return [], {}


def _joint_streams(episode: Episode, bag: Bag, topic_map: TopicMap) -> Iterable[Stream]:
    """Yields the joint messages on topics that could hold measured joints, those of such a name
    first.
    """
    used = {'action'} & episode.streams.keys()
    topics = unused_topics(bag, topic_map, episode.streams, STATE_TYPES, used)
    for topic in sorted(topics, key=lambda name: not name.endswith(MEASURED)):
        try:
            yield read_stream(bag, 'joint_states', topic)
        except BagError:
            continue  # reported where the bag was read


def _commands(
    episode: Episode, bag: Bag, topic_map: TopicMap, measured: dict[str, str]
) -> tuple[str, tuple[str, ...]]:
    """Returns the topic of commands to the joints that are measured, of its kind that to most of
    them, and its names; '' and () if there is none, or of a gripper alone.
    """
    if 'joint_states' not in measured:
        return '', ()
    wanted = _names(bag, 'joint_states', measured['joint_states'])
    topics = unused_topics(bag, topic_map, episode.streams, COMMAND_TYPES, {'joint_states'})
    given = topic_map.find('action')
    if given is not None and bag.topics[given].message_type == NAMELESS_TYPE:
        topics = [given]  # it lacks the names
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for topic in topics:
        kind = bag.topics[topic].message_type
        if kind == NAMELESS_TYPE:
            names = _arm_joints(episode, bag, topic, measured['joint_states'])
        elif kind == JOINT_TYPE and (topic in measured.values() or topic.endswith(MEASURED)):
            continue
        else:
            names = tuple(_names(bag, 'action', topic))
        is_of_arm = len(gripper_joints(names)) < len(names)
        if is_of_arm and wanted.issuperset(names):
            found.setdefault(kind, {})[topic] = names
    if not found:
        return '', ()
    best = next(iter(found.values()))
    topic = max(best, key=lambda each: len(best[each]))
    return topic, best[topic]


def _arm_joints(episode: Episode, bag: Bag, topic: str, measured: str) -> tuple[str, ...]:
    """Returns the joints of the robot's arm, in order, if messages without names have as many
    values, and such as can be their positions; () if not.
    """
    try:
        action, joints = (
            read_stream(bag, role, name)
            for role, name in (('action', topic), ('joint_states', measured))
        )
    except BagError:
        return ()
    robot, wanted = known_robot(episode), joint_names(joints)
    if robot is None or not wanted.issuperset(robot.joint_names):
        known = robot_of_joints(wanted)
        robot = load_robot(known) if known else None
    if robot is None or interface_of(topic):
        return ()
    whole = named(action, robot.joint_names)
    found = interface_problems({'action': whole, 'joint_states': joints})
    is_doubtful = any(not isinstance(problem, Note) for problem in found)
    is_alike = len(whole) > (1.0 - MOST_LOST) * len(action)
    return robot.joint_names if is_alike and not is_doubtful else ()


def _names(bag: Bag, role: str, topic: str) -> set[str]:
    try:
        return joint_names(read_stream(bag, role, topic))
    except BagError:
        return set()
