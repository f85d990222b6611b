# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of an episode straight from its bag: only the few that are shown are decoded."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.episodes.bag_reader import Bag, Topic
from frame_ros.episodes.data import Episode, EventType
from frame_ros.errors import BagError
from frame_ros.reports.media import Still, still, still_times
from frame_ros.reports.series import SECOND, contact_spans, episode_end, episode_start

IMAGE, COMPRESSED = 'sensor_msgs/msg/Image', 'sensor_msgs/msg/CompressedImage'
STAMP = ('header.stamp.sec', 'header.stamp.nanosec')
MOST_CAMERAS = 2

# Encodings of colour and grey images: channels, and the OpenCV conversion to RGB ('' if it is RGB).
ENCODINGS = {
    'rgb8': (3, ''),
    'bgr8': (3, 'COLOR_BGR2RGB'),
    'rgba8': (4, 'COLOR_RGBA2RGB'),
    'bgra8': (4, 'COLOR_BGRA2RGB'),
    'mono8': (1, 'COLOR_GRAY2RGB'),
    '8UC1': (1, 'COLOR_GRAY2RGB'),
    '8UC3': (3, 'COLOR_BGR2RGB'),
}


def camera_stills(episode: Episode) -> list[Still]:
    """Pictures of at most two cameras: six evenly spaced, at the first contact and at success.

    What cannot be read is left out and said in `episode.problems`.
    """
    try:
        bag = Bag(episode.path)
    except (BagError, OSError):
        return []
    pictures: list[Still] = []
    cameras = 0
    for topic in bag.topics.values():
        if cameras < MOST_CAMERAS and topic.message_type in (IMAGE, COMPRESSED) and len(topic):
            taken = _of_topic(bag, topic, episode)
            cameras += bool(taken)
            pictures += taken
    return pictures


def decode_image(message: Any) -> NDArray[np.uint8] | None:
    """Returns an Image or CompressedImage message as (H, W, 3) RGB; None for depth and other encodings.

    Raises:
        BagError: width, height, step and data do not fit each other, or the data is no picture.
    """
    import cv2

    data = np.frombuffer(bytes(message.data), np.uint8)
    if hasattr(message, 'format'):
        image = cv2.imdecode(data, cv2.IMREAD_COLOR) if len(data) else None
        if image is None:
            raise BagError(f'a compressed image of format {message.format!r} cannot be decoded')
        return np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2RGB), dtype=np.uint8)
    if message.encoding not in ENCODINGS:
        return None
    channels, conversion = ENCODINGS[message.encoding]
    height, width, step = int(message.height), int(message.width), int(message.step)
    if min(height, width) < 1 or step < width * channels or len(data) < step * height:
        raise BagError(f'an image of {width} x {height} with step {step} has {len(data)} bytes')
    pixels = data[: step * height].reshape(height, step)[:, : width * channels]
    image = np.ascontiguousarray(pixels.reshape(height, width, channels))
    return np.asarray(cv2.cvtColor(image, getattr(cv2, conversion)), dtype=np.uint8) if conversion else image


def _of_topic(bag: Bag, topic: Topic, episode: Episode) -> list[Still]:
    start, end = episode_start(episode), episode_end(episode)
    try:
        stamps = _stamps(bag, topic)
        inside = np.flatnonzero((stamps >= start) & (stamps <= end))
        if not len(inside):
            return []
        return _pictures(bag, topic, episode, stamps, inside)
    except BagError as error:
        note = f'{topic.name}: pictures left out ({error})'
        if note not in episode.problems:
            episode.problems.append(note)
        return []


def _pictures(
    bag: Bag, topic: Topic, episode: Episode, stamps: NDArray[np.int64], inside: NDArray[np.intp]
) -> list[Still]:
    start = episode_start(episode)
    contacts = [start + int(s.begin * SECOND) for s in contact_spans(episode)]
    successes = [e.stamp for e in episode.events if e.type is EventType.SUCCESS]
    camera = topic.name.strip('/').removesuffix('/compressed').removesuffix('/image_raw')
    pictures: dict[int, Still] = {}
    first, last = int(stamps[inside].min()), int(stamps[inside].max())
    for wanted, why in still_times(first, last, contacts, successes):
        index = int(inside[np.abs(stamps[inside] - wanted).argmin()])
        if index in pictures and not why:
            continue
        image = decode_image(bag.deserialize(topic, _bytes_at(topic, index)))
        if image is None:
            return []
        pictures[index] = still(camera, (int(stamps[index]) - start) / SECOND, why, image)
    return sorted(pictures.values(), key=lambda picture: picture.time)


def _stamps(bag: Bag, topic: Topic) -> NDArray[np.int64]:
    """Header stamps in ns; receive times where not every message's header can be read."""
    received, columns = bag.columns(topic.name, STAMP)
    if len(received) != len(topic) or not all(name in columns for name in STAMP):
        return bag.received(topic.name)
    seconds, nanoseconds = (columns[name].astype(np.int64) for name in STAMP)
    return seconds * 10**9 + nanoseconds


def _bytes_at(topic: Topic, index: int) -> NDArray[np.uint8]:
    """The serialised bytes of a topic's message, counted over all its tables."""
    for table in topic.tables:
        if index < len(table):
            return table.data(index)
        index -= len(table)
    raise BagError(f'{topic.name} has no message {index}')
