# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options by which a role that a bag lacks is taken from what it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from frame_ros.bags.findings import Note
from frame_ros.bags.reader import Bag
from frame_ros.bags.recording_options import ACTION_JOINTS
from frame_ros.bags.streams.controller_states import CONTROLLER_TYPE
from frame_ros.bags.streams.form import Stream
from frame_ros.bags.streams.joint_table import named_positions
from frame_ros.bags.streams.joints import COMMAND_TYPES, STATE_TYPES
from frame_ros.bags.streams.nameless import NAMELESS_TYPE
from frame_ros.bags.streams.poses import POSE_TYPE
from frame_ros.bags.streams.topic_map import TopicMap
from frame_ros.episodes.recorded.nameless_actions import interface_of
from frame_ros.robots.known_joints import robot_of_joints

MOST_NAMED = 3
WRENCH_TYPE = 'geometry_msgs/msg/WrenchStamped'
OF_WRENCH = (
    'forces (peak_force, rms_force) and contacts are of the ContactState that the contact node '
    'makes of it while the robot acts, and `frame-ros sense BAG --output DIR` afterwards'
)


def ways_to_pose(
    bag: Bag, topic_map: TopicMap, streams: Mapping[str, Stream], robot: str | None
) -> list[str]:
    """Returns the options that give poses of the tip, the one for joint states first."""
    ways = []
    if 'joint_states' in streams and not robot:
        known = robot_of_joints(joint_names(streams['joint_states'])) or 'NAME'
        ways.append(f'--robot {known} computes it from the joint states')
    elif 'joint_states' not in streams:
        given = '' if robot else ' with --robot NAME'
        of_actions = {'action'} & streams.keys()
        ways += [
            f'--topic joint_states={topic}{given} computes it'
            for topic in unused_topics(bag, topic_map, streams, STATE_TYPES, of_actions)
        ]
    poses = unused_topics(bag, topic_map, streams, (POSE_TYPE,))
    return ways + [f'--topic pose={topic} takes those poses' for topic in poses]


def ways_to_action(bag: Bag, topic_map: TopicMap, streams: Mapping[str, Stream]) -> list[str]:
    """Returns the options that give steps: of other topics of commands, of what was measured."""
    commands = unused_topics(bag, topic_map, streams, COMMAND_TYPES, {'joint_states'})
    measured_topics = {
        stream.topic for stream in streams.values() if stream.message_type != CONTROLLER_TYPE
    }
    ways = [
        f'{" ".join(options_of_action(bag, topic))} takes those commands'
        for topic in commands
        if topic not in measured_topics and not interface_of(topic)
    ]
    if 'joint_states' in streams:
        measured = streams['joint_states'].topic
        ways.append(f'--topic action={measured} takes the measured joints as the steps')
    elif 'pose' in streams:
        measured = streams['pose'].topic
        ways.append(f'--topic action={measured} takes the measured poses as the steps')
    return ways


def note_on_forces(bag: Bag, topic_map: TopicMap, streams: Mapping[str, Stream]) -> Note | None:
    """Returns that a recorded wrench alone gives no forces; None if there are contact states, or no
    wrench.
    """
    topics = unused_topics(bag, topic_map, streams, (WRENCH_TYPE,))
    if 'contact' in streams or not topics:
        return None
    return Note(f'{", ".join(topics)}: {OF_WRENCH}')


def options_of_action(bag: Bag, topic: str, joints: Sequence[str] = ()) -> list[str]:
    """Returns the options that take a topic as the actions. joints: those of a topic without names;
    (): not known.
    """
    options = ['--topic', f'action={topic}']
    if bag.topics[topic].message_type != NAMELESS_TYPE:
        return options
    return [*options, ACTION_JOINTS, ','.join(joints) or 'A,B,...']


def joint_names(stream: Stream) -> set[str]:
    """Returns the names of the joints in a stream of joint messages."""
    return {name for names, _ in named_positions(stream) for name in names}


def unused_topics(
    bag: Bag,
    topic_map: TopicMap,
    streams: Mapping[str, Stream],
    message_types: Sequence[str],
    roles: set[str] | None = None,
) -> list[str]:
    """Returns the first topics of each of some types, in the order of these, that no stream, but
    those of `roles`, was read from, that can be read, and that are of no other robot.
    """
    used = {stream.topic for role, stream in streams.items() if role not in (roles or ())}
    robots = (None, topic_map.namespace)
    found: dict[str, list[str]] = {kind: [] for kind in message_types}
    for name, topic in sorted(bag.topics.items()):
        is_free = name not in used and topic_map.robot_of(name) in robots
        if topic.message_type in found and len(topic) and topic.types and is_free:
            found[topic.message_type].append(name)
    return [name for names in found.values() for name in names[:MOST_NAMED]]
