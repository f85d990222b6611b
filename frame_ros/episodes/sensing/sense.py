# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A new bag of a recording, with the contacts that the contact node would have published."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from frame_ros.bags.bag_copy import (
    SENSED_FROM,
    Received,
    copy_topics,
    facts_of_sidecar,
    in_received_order,
)
from frame_ros.bags.reader import OF_CUT, Bag
from frame_ros.bags.writer import BagWriter
from frame_ros.core.errors import BagError, SetupError
from frame_ros.core.option_texts import text_of
from frame_ros.core.options import flatten
from frame_ros.core.plain_text import counted
from frame_ros.core.version import package_version
from frame_ros.episodes.sensing.choices import chosen_settings, named_robot
from frame_ros.episodes.sensing.inputs import ROLE_OF, RecordedTopics
from frame_ros.episodes.sensing.outputs import BagOutputs, OutputTopics, Tally
from frame_ros.episodes.sensing.replay import SensedRecording
from frame_ros.sensing.contact.composition.inputs import SensorStream
from frame_ros.sensing.contact.options import ContactSensingOptions

# Counts of a stream's messages that were not used.
UNUSED = ('unreadable', *(f'stamp_{kind}' for kind in ('zero', 'duplicate', 'backward', 'jump')))
Progress = Callable[[Iterable[Received], int], Iterable[Received]]


@dataclass(frozen=True)
class NodeNames:
    """Names of the contact node's topics, relative to its namespace or absolute.

    Attributes:
        inputs: role -> names, the preferred first.
        state, events, wrench: of what it publishes.
        others: further wrenches that are none of a force-torque sensor.
    """

    inputs: Mapping[str, tuple[str, ...]]
    state: str
    events: str
    wrench: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Request:
    """A request to sense a recording.

    Attributes:
        settings: of the contact node. given: names of its options that the user gave.
        poll_period: s between two looks of the node at its inputs.
        names: of its topics.
        namespace: of the robot, '' for none.
        topics: role -> absolute topic, which takes precedence.
        is_by_receipt: whether the receive time of a message takes the place of its stamp.
        is_replacing: whether contacts that the bag has are left out of the new one.
    """

    settings: ContactSensingOptions
    given: Collection[str]
    poll_period: float
    names: NodeNames
    namespace: str = ''
    topics: Mapping[str, str] | None = None
    is_by_receipt: bool = False
    is_replacing: bool = False


@dataclass(frozen=True)
class Sensed:
    """A bag that was written.

    Attributes:
        folder: of it.
        robot: name.
        unnamed_robot: name or file of the robot, where the new bag does not name it.
        sources: of contact.
        topics: role -> topic that was read.
        tally: counts of what was sensed.
        lines: what the contact node would have logged.
        unused: topics with messages that could not be used, how many and why.
        problems: of the recording.
        is_tared: whether the force-torque sensor's bias was found; None: none was looked for.
    """

    folder: Path
    robot: str
    unnamed_robot: str
    sources: tuple[str, ...]
    topics: Mapping[str, str]
    tally: Tally
    lines: tuple[str, ...]
    unused: tuple[str, ...]
    problems: tuple[str, ...]
    is_tared: bool | None


def sense_bag(
    bag: Bag,
    folder: Path,
    request: Request,
    progress: Progress = lambda messages, count: messages,
) -> Sensed:
    """Writes a new bag, whole or not at all: the messages of a recording, and its contacts.

    progress: shows how many of so many messages were worked on.

    Raises:
        FrameRosError: the recording, or an option, cannot be used, or has contacts already.
        BagError: the folder exists or cannot be written.
    """
    if os.path.lexists(folder):
        raise BagError(f'{folder} exists: nothing is overwritten')
    if folder.resolve().is_relative_to(bag.path.resolve()):
        raise SetupError(f'{folder} lies in the recording, which stays as it is: name another')
    names = request.names
    topics = RecordedTopics(
        bag, names.inputs, (names.wrench, *names.others), request.namespace, request.topics
    )
    settings = chosen_settings(bag, topics, request.settings, request.given)
    outputs = _output_topics(bag, topics, request)
    # Parts by size, not by the clock: the same recording gives the same file.
    writer = BagWriter(folder, _metadata(bag, settings, request), flush_period=math.inf)
    try:
        channels = copy_topics(bag, writer, without=outputs.names)
        written = BagOutputs(writer, outputs)
        recording = SensedRecording(
            bag, topics, settings, request.poll_period, written, request.is_by_receipt
        )
        for message in progress(in_received_order(bag), bag.message_count):
            recording.arrive(message)
            if message.topic in channels:
                data = message.data.tobytes()
                writer.write(channels[message.topic], message.received, data, message.published)
        recording.end()
        writer.finish(**facts_of_sidecar(bag))
    except OSError as error:
        writer.discard()
        raise BagError(f'the bag {folder} cannot be written: {error}') from error
    except BaseException:
        writer.discard()
        raise
    return _result(folder, bag, topics, settings, recording, written.tally)


def _metadata(bag: Bag, settings: ContactSensingOptions, request: Request) -> dict[str, str]:
    values = flatten(settings)
    names = sorted({'robot', 'sources', *request.given})
    given = ', '.join(f'{name}={text_of(values[name])}' for name in names)
    cut = {OF_CUT: 'true'} if bag.is_truncated else {}
    by = f'frame_ros {package_version()}'
    of_sensing = {SENSED_FROM: bag.name, 'sensed_by': by, 'sensed_with': given}
    return {**bag.metadata, **of_sensing, **cut}


def _result(
    folder: Path,
    bag: Bag,
    topics: RecordedTopics,
    settings: ContactSensingOptions,
    recording: SensedRecording,
    tally: Tally,
) -> Sensed:
    sensing = recording.sensing
    wrench = sensing.wrench
    is_tared = None
    if wrench is not None and wrench.detector is not None and settings.tare.at_start:
        is_tared = wrench.detector.bias is not None
    roles = [ROLE_OF[name] for name in sensing.stream_names]
    return Sensed(
        folder,
        sensing.robot.name,
        '' if named_robot(bag, folder) == settings.robot else settings.robot,
        settings.sources,
        {role: topics.found[role] for role in roles if role in topics.found},
        tally,
        tuple(filter(None, recording.log.lines)),
        tuple(filter(None, map(_unused, sensing.streams.values()))),
        tuple(bag.problems),
        is_tared,
    )


def _unused(stream: SensorStream) -> str:
    counts = {kind: count for kind, count in stream.counts().items() if kind in UNUSED and count}
    if not counts:
        return ''
    why = ', '.join(f'{kind.replace("_", " ")} {count:,}' for kind, count in counts.items())
    total = f'{sum(counts.values()):,} of {stream.received:,} messages'
    return f'{stream.subscription.topic_name}: {total} not used: {why}'


def _output_topics(bag: Bag, topics: RecordedTopics, request: Request) -> OutputTopics:
    """Returns the topics to write.

    Raises:
        SetupError: the bag has contacts, which are not to be replaced.
    """
    names = request.names
    state, events, wrench = map(topics.absolute, (names.state, names.events, names.wrench))
    if wrench == topics.found.get('wrench'):
        wrench = ''  # it is of a sensor
    found = OutputTopics(state, events, wrench)
    there = [name for name in found.names if len(bag.topics.get(name, ()))]
    if there and not request.is_replacing:
        count = counted(sum(len(bag.topics[name]) for name in there), 'message')
        raise SetupError(
            f'{bag.path} has {", ".join(there)} already, {count}: --replace leaves them out of the '
            'new bag, in favour of what is sensed now'
        )
    return found
