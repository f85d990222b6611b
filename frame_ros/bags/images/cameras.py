# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The cameras of a bag: topics with pictures, and pictures by index."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.header_stamps import header_stamps
from frame_ros.bags.images.decoding import (
    COMPRESSED_SUFFIX,
    COMPRESSED_TYPE,
    IMAGE_TYPE,
    decode_compressed,
    decode_image,
)
from frame_ros.bags.reader import Bag, Topic
from frame_ros.core.errors import BagError

SUFFIXES = (COMPRESSED_SUFFIX, '/image_raw')
# So many pictures at the beginning of a recording may be damaged.
MOST_DAMAGED = 30
# Reasons for which a picture is not used.
NO_STAMP, REPEATED = 'without a stamp', 'with the stamp of another'


def picture_of(message: Any) -> NDArray[np.uint8] | None:
    """Returns an Image or CompressedImage message as (H, W, 3) RGB; None for depth.

    Raises:
        BagError: the encoding is unknown, or the data does not fit the size or is not a picture.
    """
    data = np.frombuffer(bytes(message.data), np.uint8)
    if hasattr(message, 'format'):
        pixels = decode_compressed(data, message.format)
    else:
        size = int(message.height), int(message.width)
        pixels = decode_image(
            data, *size, message.encoding, int(message.step), bool(message.is_bigendian)
        )
    if pixels.dtype != np.uint8:
        return None
    return pixels if pixels.ndim == 3 else np.repeat(pixels[:, :, None], 3, axis=2)


def bytes_at(topic: Topic, index: int) -> NDArray[np.uint8]:
    """Returns the serialised bytes of a topic's message, counted over all its tables.

    Raises:
        BagError: there is no such message.
    """
    for table in topic.tables:
        if index < len(table):
            return table.data(index)
        index -= len(table)
    raise BagError(f'{topic.name} has no message {index}')


def topic_stamps(bag: Bag, topic: Topic) -> NDArray[np.int64]:
    """Returns header stamps in ns, or receive times if a message's header cannot be read."""
    stamps = header_stamps(bag, topic.name)
    return stamps if stamps is not None and len(stamps) == len(topic) else bag.received(topic.name)


def in_order(stamps: NDArray[np.int64]) -> tuple[NDArray[np.intp], dict[str, int]]:
    """Returns the places of pictures with these stamps (N,), ns, in the order of the stamps, and
    reason -> pictures left out: those without a stamp, and repetitions of a stamp.
    """
    order = np.argsort(stamps, kind='stable')
    order = order[stamps[order] > 0]
    is_first = np.diff(stamps[order], prepend=0) > 0
    counts = {NO_STAMP: len(stamps) - len(order), REPEATED: int((~is_first).sum())}
    return order[is_first], {why: count for why, count in counts.items() if count}


def camera_topics(bag: Bag, namespace: str = '') -> dict[str, str]:
    """Returns camera -> topic of a robot's cameras, in the order of their names, without depth
    images.

    A camera is named like its topic without namespace and `/image_raw`. Raw images take precedence
    over compressed ones of the same camera. namespace: the robot's, such as '/left'; '' for the
    root.
    """
    found: dict[str, str] = {}
    prefix = namespace.rstrip('/') + '/'
    for kind in (IMAGE_TYPE, COMPRESSED_TYPE):
        for name in sorted(bag.topics):
            topic = bag.topics[name]
            if topic.message_type != kind or not len(topic) or not name.startswith(prefix):
                continue
            camera = name[len(prefix) :]
            for suffix in SUFFIXES:
                camera = camera.removesuffix(suffix)
            if camera not in found and not _is_depth(bag, topic):
                found[camera] = name
    return dict(sorted(found.items()))


def feature_name(camera: str) -> str:
    """Returns a camera's name in data sets and checkpoints, which have no '/'."""
    return camera.replace('/', '_')


class Camera:
    """The pictures of one topic, by the order of their stamps, decoded on request; the last is
    cached.

    Attributes:
        stamps: (N,) ns, increasing.
        left_out: reason -> pictures that are not used.
        damaged: places in `stamps` of pictures that were asked for and cannot be decoded.
        size: width and height of the first picture.

    Raises:
        BagError: the topic's pictures cannot be read, or none has a stamp.
    """

    def __init__(self, bag: Bag, name: str, topic: str) -> None:
        self.name = name
        self._bag, self._topic = bag, bag.topics[topic]
        stamps = topic_stamps(bag, self._topic)
        self._order, self.left_out = in_order(stamps)
        if not len(self._order):
            raise BagError(
                f'{topic}: none of its {len(stamps)} pictures has a stamp, so none belongs to a '
                'time; the driver must set header.stamp'
            )
        self.stamps = stamps[self._order]
        self._last: tuple[int, NDArray[np.uint8]] = (-1, np.zeros((0, 0, 3), np.uint8))
        self.damaged: set[int] = set()
        height, width, _ = self._first().shape
        self.size = (width, height)

    def picture(self, index: int) -> NDArray[np.uint8]:
        """Returns the picture (H, W, 3), RGB, at a place of `stamps`.

        Raises:
            BagError: it cannot be decoded, or is of another size than the first.
        """
        if self._last[0] != index:
            self._keep(index, self._decoded(index))
        return self._last[1]

    def _keep(self, index: int, image: NDArray[np.uint8]) -> None:
        if image.shape[1::-1] != self.size:
            raise BagError(
                f'{self._topic.name}: picture {index} has {image.shape[1]}x{image.shape[0]} '
                f'pixels, the first {self.size[0]}x{self.size[1]}; all must be of one size'
            )
        self._last = (index, image)

    def newest_whole(self, index: int, oldest: int) -> int:
        """Returns the place of the newest picture at or before a place that can be decoded, as of a
        camera that sends a damaged one now and then.

        Args:
            oldest: ns, the least stamp that it may have.

        Raises:
            BagError: there is none, or it is of another size than the first.
        """
        begin = index
        while index >= 0 and self.stamps[index] >= oldest:
            if index not in self.damaged and self._is_whole(index):
                return index
            index -= 1
        raise BagError(
            f'{self._topic.name}: pictures {index + 1} to {begin} cannot be decoded, and those '
            'before are too old'
        )

    def _is_whole(self, index: int) -> bool:
        if self._last[0] == index:
            return True
        try:
            image = self._decoded(index)
        except BagError:
            self.damaged.add(index)
            return False
        self._keep(index, image)
        return True

    def _first(self) -> NDArray[np.uint8]:
        """The first picture that can be decoded, of the first few."""
        problem = None
        for index in range(min(len(self.stamps), MOST_DAMAGED)):
            try:
                return self._decoded(index)
            except BagError as error:
                problem = problem or error
        assert problem is not None
        raise problem

    def _decoded(self, index: int) -> NDArray[np.uint8]:
        data = bytes_at(self._topic, int(self._order[index]))
        image = picture_of(self._bag.deserialize(self._topic, data))
        if image is None:
            raise BagError(f'{self._topic.name} holds depth, not pictures')
        return image


def _is_depth(bag: Bag, topic: Topic) -> bool:
    """Returns whether the first image is readable and not a colour picture."""
    try:
        return picture_of(bag.deserialize(topic, bytes_at(topic, 0))) is None
    except BagError:
        return False
