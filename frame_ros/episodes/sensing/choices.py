# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robot and the sources of contact of a recording, where the user names none."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice
from pathlib import Path

from frame_ros.bags.message_readers import JointStateReader
from frame_ros.bags.reader import Bag
from frame_ros.core.errors import SetupError
from frame_ros.core.options import evolved
from frame_ros.episodes.recorded.robot import NOT_OPENED, not_opened_text, with_robot
from frame_ros.episodes.sensing.inputs import DAMAGED, RecordedTopics
from frame_ros.robots.catalogue import load_robot
from frame_ros.robots.known_joints import robot_of_joints
from frame_ros.sensing.contact.joint_arrays import shortened
from frame_ros.sensing.contact.options import ContactSensingOptions

LOOKED_AT = 1000  # joint states, at most, by which joints and efforts are known
OF_SOURCE = {
    'wrench': 'a wrench (geometry_msgs/msg/WrenchStamped)',
    'joint_effort': 'joint states with efforts',
    'robot': "the arm's own flags or external wrench",
}


class RecordedJoints:
    """names: of the joints in the first joint states. has_efforts: whether these have efforts."""

    def __init__(self, bag: Bag, topics: RecordedTopics) -> None:
        self.names: dict[str, None] = {}
        self.has_efforts = False
        topic = topics.found.get('joint_states')
        read = JointStateReader().full
        for _, data in islice(bag.raw(topic), LOOKED_AT) if topic else ():
            try:
                state = read(data.tobytes())
            except DAMAGED:
                continue
            self.names |= dict.fromkeys(state.names)
            self.has_efforts |= len(state.efforts) > 0


def chosen_settings(
    bag: Bag, topics: RecordedTopics, settings: ContactSensingOptions, given: Collection[str]
) -> ContactSensingOptions:
    """Returns the settings with the robot, and the sources, that the recording has.

    given: names of the options that the user gave.

    Raises:
        SetupError: the robot is not known or has other joints; a source that was given, or any,
            is not in the bag.
        RobotError: the robot cannot be read.
    """
    joints = RecordedJoints(bag, topics)
    if 'robot' not in given:
        settings = evolved(settings, robot=_robot(bag, joints))
    _check_joints(bag, topics, joints, settings)
    return evolved(settings, sources=_sources(bag, topics, joints, settings))


def named_robot(bag: Bag, folder: Path) -> str:
    """Returns the robot that a bag in a folder names, as `load_robot` takes it; '' for none."""
    return with_robot(dict(bag.metadata), folder, None).get('robot', '')


def _robot(bag: Bag, joints: RecordedJoints) -> str:
    folder = bag.path if bag.path.is_dir() else bag.path.parent
    if found := named_robot(bag, folder) or robot_of_joints(joints.names):
        return found
    came = f'its joints are {", ".join(joints.names)}' if joints.names else 'it has no joint states'
    if unopened := with_robot(dict(bag.metadata), folder, None).get(NOT_OPENED):
        raise SetupError(f'{not_opened_text(unopened)}; {came}')
    raise SetupError(
        f'the robot of {bag.path} is not known, {came}: --robot NAME, a URDF or a profile says it'
    )


def _check_joints(
    bag: Bag, topics: RecordedTopics, joints: RecordedJoints, settings: ContactSensingOptions
) -> None:
    wanted = load_robot(settings.robot).joint_names
    missing = [name for name in wanted if name not in joints.names]
    is_needed = settings.sources != ('robot',)
    if not is_needed or not missing:
        return
    if not joints.names:
        raise SetupError(
            f'{bag.path} has no joint states, which contact needs: --topic joint_states=TOPIC, '
            'where they have another name'
        )
    raise SetupError(
        f'{topics.found["joint_states"]} has {shortened(tuple(joints.names))}, but not '
        f'{", ".join(missing)} of {settings.robot}: --robot names another one'
    )


def _sources(
    bag: Bag, topics: RecordedTopics, joints: RecordedJoints, settings: ContactSensingOptions
) -> tuple[str, ...]:
    has = {
        'wrench': 'wrench' in topics.found,
        'joint_effort': joints.has_efforts,
        'robot': bool({'robot_wrench', 'robot_flags'} & topics.found.keys()),
    }
    for source in settings.sources:
        if not has[source]:
            raise SetupError(f'{bag.path} has no {OF_SOURCE[source].removeprefix("a ")}, {source}')
    found = tuple(source for source in settings.chosen_sources if has[source])
    if not found:
        raise SetupError(_nothing(bag, has, settings))
    return found


def _nothing(bag: Bag, has: dict[str, bool], settings: ContactSensingOptions) -> str:
    """Returns that contact cannot be sensed by default, and what may be done."""
    ways = []
    if has['joint_effort']:
        ways.append(
            'by its joint efforts with --parameter joints.motors_file=FILE, which `frame-ros '
            f'identify joints --robot {settings.robot} --bag {bag.path}` writes, or generic, with '
            'wide thresholds'
        )
    if has['robot']:
        ways.append("by the arm's own estimate with --parameter sources=robot")
    if not ways:
        return (
            f'{bag.path} has neither {OF_SOURCE["wrench"]} nor {OF_SOURCE["joint_effort"]}: there '
            'is nothing by which contact could be sensed; --topic wrench=TOPIC names a wrench'
        )
    return f'{bag.path} has no wrench; contact can be sensed {", or ".join(ways)}'
