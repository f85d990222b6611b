# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The health of an episode's streams, judged from its bag by the code that judges them live."""

from __future__ import annotations

import heapq
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.fields import FieldReader
from frame_ros.bags.reader import Bag
from frame_ros.core.errors import BagError, FrameRosError
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.recorded.robot import known_robot
from frame_ros.episodes.sensed_contacts import namespace_of
from frame_ros.robots import Robot
from frame_ros.robots.likely_units import RAD
from frame_ros.sensing.contact.sensor_mount import SensorFrames
from frame_ros.sensing.stream_health.image_samples import compressed_sample, image_sample
from frame_ros.sensing.stream_health.judged_stream import Judged
from frame_ros.sensing.stream_health.stream_check import Fault
from frame_ros.sensing.stream_health.streams import JOINT_STATES, WRENCH, StreamHealth

JOINT_STATE, WRENCH_STAMPED = 'sensor_msgs/msg/JointState', 'geometry_msgs/msg/WrenchStamped'
IMAGE, COMPRESSED = 'sensor_msgs/msg/Image', 'sensor_msgs/msg/CompressedImage'
FIELDS = {
    JOINT_STATE: ('header.stamp', 'name', 'position', 'velocity', 'effort'),
    WRENCH_STAMPED: (
        'header.stamp', 'header.frame_id',
        *(f'wrench.{part}.{axis}' for part in ('force', 'torque') for axis in 'xyz'),
    ),
    IMAGE: ('header.stamp', 'data', 'height', 'width', 'step', 'encoding', 'is_bigendian'),
    COMPRESSED: ('header.stamp', 'data'),
}  # fmt: skip
UNREADABLE = (BagError, ValueError, struct.error, IndexError)


@dataclass(frozen=True)
class StreamRow:
    """One stream of an episode.

    Attributes:
        topic: or the topic and its part.
        kind: 'joint states', 'efforts', 'wrench' or 'image'.
        count: samples.
        rate: Hz, without pauses; jitter: s, standard deviation of the time between two stamps;
            longest_gap: s. NaN if unknown.
        repeats: samples that were the one before them again.
        offset: s by which its stamps are later than those of the joints, and its standard
            deviation; NaN where it is not known.
        offset_text: the same, or why it is not known; '' where it is not estimated.
        judged: when a freeze would be found.
        faults: stretches in which it was wrong.
    """

    topic: str
    kind: str
    count: int
    rate: float
    jitter: float
    longest_gap: float
    repeats: int
    offset: float
    offset_deviation: float
    offset_text: str
    judged: str
    faults: tuple[Fault, ...]


def judged_streams(episode: Episode, bag: Bag | None) -> list[StreamRow]:
    """Returns the streams of an episode's robot: joint states, efforts, the raw wrench, images.

    bag: the episode's; None: nothing is known. Messages that cannot be read are left out.
    """
    if bag is None:
        return []
    namespace = namespace_of(episode)
    topics = [
        topic.name
        for topic in bag.topics.values()
        if _is_judged(topic.name, topic.message_type, namespace)
    ]
    robot = known_robot(episode)
    # The bag has them as they were recorded.
    health = StreamHealth(robot=robot if episode.joint_units == RAD else None)
    # Of equal stamps the joints first, which witness the others; of these the topic with the most
    # messages, with whose arrivals those of the others are compared.
    topics.sort(
        key=lambda name: (
            bag.topics[name].message_type != JOINT_STATE, -len(bag.topics[name]), name
        )
    )  # fmt: skip
    merged = heapq.merge(
        *(_samples(bag, topic, place) for place, topic in enumerate(topics)),
        key=lambda row: row[:2],
    )
    is_mounted = False
    kinds = [bag.topics[topic].message_type for topic in topics]
    # The wrench with the most messages, whose sensor is mounted, has the name of its kind.
    first_wrench = kinds.index(WRENCH_STAMPED) if WRENCH_STAMPED in kinds else -1
    for _, place, (stamp, received), values in merged:
        name, kind = topics[place].removeprefix(namespace).lstrip('/'), kinds[place]
        if kind == WRENCH_STAMPED:
            name = WRENCH if place == first_wrench else f'{WRENCH} {name}'
        if received > 0 and (place == 0 or kind != JOINT_STATE):
            health.on_arrival(JOINT_STATES if kind == JOINT_STATE else name, stamp, received)
        if values is None:
            continue
        if place == first_wrench and not is_mounted:
            is_mounted = True
            _mount(health, robot, values[1])
        _take(health, name, kind, values)
    return [_row(stream) for stream in health.streams.values()]


def _is_judged(name: str, kind: str, namespace: str) -> bool:
    if not name.startswith(f'{namespace}/') or kind not in FIELDS:
        return False
    last = name.rsplit('/', 1)[-1]
    wanted = {JOINT_STATE: JOINT_STATES, WRENCH_STAMPED: WRENCH}.get(kind)
    return wanted is None or last == wanted


def _samples(
    bag: Bag, topic: str, place: int
) -> Iterator[tuple[int, int, tuple[int, int], list[Any] | None]]:
    """Yields of the readable messages a stamp (ns) by which they are in order, place, their own
    stamp and when they were received, and their fields. Late ones would not be merged in order, and
    are not judged: those have no fields, and the newest stamp before them.
    """
    kind = bag.topics[topic].message_type
    try:
        reader = FieldReader(kind, FIELDS[kind], bag.types_of(bag.topics[topic]))
    except BagError:
        return  # reported where the stream was read
    last = 0
    for received, data in bag.raw(topic):
        try:
            values = reader.read(data.data)
        except UNREADABLE:
            continue
        stamp = received if bag.is_by_receipt else values[0]
        values[0] = stamp
        is_next = stamp > last
        last = max(stamp, last)
        yield last, place, (stamp, received), values if is_next else None


def _take(health: StreamHealth, topic: str, kind: str, values: list[Any]) -> None:
    stamp = values[0]
    if kind == JOINT_STATE:
        names, *arrays = values[1:]
        size = len(names)
        lengths = [len(array) for array in arrays]
        is_sound = lengths[0] == size and all(length in (0, size) for length in lengths)
        if is_sound and np.isfinite(arrays[0]).all():
            health.on_joints(stamp, names, arrays[0], arrays[1], arrays[2], topic)
    elif kind == WRENCH_STAMPED:
        health.on_wrench(stamp, values[2:], topic)
    elif kind == COMPRESSED:
        health.on_image(topic, stamp, compressed_sample(_bytes(values[1])))
    else:
        data, height, width, step, encoding, is_bigendian = values[1:]
        if height * step and len(data) >= height * step:
            sample = image_sample(_bytes(data), height, width, step, encoding, bool(is_bigendian))
            health.on_image(topic, stamp, sample)


def _bytes(data: Any) -> NDArray[np.uint8]:
    return np.frombuffer(data, np.uint8)


def _mount(health: StreamHealth, robot: Robot | None, frame: str) -> None:
    """Sets the sensor by its frame, where that is a link."""
    mount = SensorFrames(robot).find(frame) if robot is not None else None
    if robot is None or mount is None:
        return
    try:
        health.mount_wrench(robot, mount.link, mount.rotation, mount.translation)
    except FrameRosError:
        return  # no joint moves it


def _row(stream: Judged) -> StreamRow:
    rate, found = stream.check.rate, stream.estimate
    return StreamRow(
        stream.name, stream.kind, rate.count, rate.rate, rate.jitter, rate.longest,
        stream.check.repeats, found.seconds, found.deviation,
        stream.offset_in_words if stream.offset is not None else '',
        stream.check.judged, tuple(stream.check.faults),
    )  # fmt: skip
