# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Depth images of an arm from a bag, each with the joint positions of its stamp."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.header_stamps import header_stamps
from frame_ros.bags.images.decoding import (
    COMPRESSED_TYPE,
    IMAGE_TYPE,
    find_topic,
    image_reader,
)
from frame_ros.bags.reader import Bag
from frame_ros.core.errors import BagError
from frame_ros.core.time import SECOND
from frame_ros.evaluation.recorded_motion.outline_width import SeenArm
from frame_ros.sensing.proximity.depth.rectified import CameraModel

Array = NDArray[np.float64]
# Types of the messages that are read.
TYPES = (
    IMAGE_TYPE,
    COMPRESSED_TYPE,
    'sensor_msgs/msg/CameraInfo',
    'sensor_msgs/msg/JointState',
)
ENDINGS = {'u': np.uint16, 'f': np.float32}


class ArmBag:
    """A bag of one depth camera and the joints of an arm.

    Attributes:
        model: the camera.
    """

    def __init__(
        self,
        bag: Bag,
        topics: tuple[str, str, str],
        is_rectified: bool,
        names: Sequence[str],
        assumed: Mapping[str, float],
        gap: int,
    ) -> None:
        """Reads all but the images, which are read one by one when they are asked for.

        Args:
            topics: of the depth images, of camera_info, and of the joints.
            is_rectified: whether the images are those of a pinhole camera.
            names: of the joints.
            assumed: joint -> position of those that the bag lacks.
            gap: ns between joint states beyond which nothing is interpolated.

        Raises:
            BagError: the bag lacks one of them. DepthError: the camera cannot be used.
        """
        self._stamps, self._positions = _joints(bag, find_topic(bag, topics[2]), names, assumed)
        self._topic, self._gap = find_topic(bag, topics[0]), gap
        self._read = image_reader(bag, bag.topics[self._topic], is_depth=True)
        self._image_stamps = _image_stamps(bag, self._topic)
        info = find_topic(bag, topics[1])
        first = next((message for _, message in bag.messages(info)), None)
        if first is None:
            raise BagError(f'{bag.path}: {info} has no readable message')
        self.model = CameraModel(first, is_rectified)

    def positions(self) -> list[tuple[int, Array]]:
        """Returns the places in recorded order of the images whose joint positions are known, with
        these.
        """
        found = []
        for place, stamp in enumerate(self._image_stamps.tolist()):
            after = int(np.searchsorted(self._stamps, stamp))
            near = self._stamps[max(after - 1, 0) : after + 1]
            if len(near) == 2 and near[1] - near[0] <= self._gap:
                share = (stamp - near[0]) / (near[1] - near[0])
                rows = self._positions[after - 1 : after + 1]
                found.append((place, (1.0 - share) * rows[0] + share * rows[1]))
        return found

    def image(self, place: int) -> NDArray[np.generic]:
        """Returns the image (H, W) at a place, in m or uint16 mm, of the pinhole camera.

        Raises:
            BagError: it is damaged, no depth image, or not of the camera's size.
        """
        _, image = self._read(place)
        camera = self.model.camera
        kind = ENDINGS.get(image.dtype.kind)
        if image.ndim != 2 or kind is None or image.dtype.itemsize < 2:
            raise BagError(f'{self._topic} has no depth images, but {image.dtype} {image.shape}')
        if image.shape != (camera.height, camera.width):
            size = camera.height, camera.width
            raise BagError(f'{self._topic} has images {image.shape}, its camera_info {size}')
        known = np.nan_to_num(image, posinf=0.0, neginf=0.0) if kind is np.float32 else image
        return self.model.undistorted(known.astype(kind))


class SeenArms(Sequence[SeenArm]):
    """Images of a bag, each read when it is asked for: all at once may not fit into memory."""

    def __init__(self, bag: ArmBag, places: Sequence[tuple[int, Array]]) -> None:
        """places: of the images, with their joint positions, as of `ArmBag.positions`."""
        self._bag, self._places = bag, places

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, index: Any) -> Any:
        place, positions = self._places[index]
        return SeenArm(self._bag.image(place), positions)


def _image_stamps(bag: Bag, topic: str) -> NDArray[np.int64]:
    stamps = header_stamps(bag, topic)
    if stamps is None or len(stamps) != len(bag.topics[topic]):
        raise BagError(f'{bag.path}: {topic} has messages that are no images')
    return stamps


def _joints(
    bag: Bag, topic: str, names: Sequence[str], assumed: Mapping[str, float]
) -> tuple[NDArray[np.int64], Array]:
    """Returns rising stamps (T,), ns, and positions (T, J)."""
    read, rows = array('q'), array('d')
    for _, message in bag.messages(topic):
        known = {**assumed, **dict(zip(message.name, message.position, strict=False))}
        if all(name in known for name in names):
            read.append(message.header.stamp.sec * SECOND + message.header.stamp.nanosec)
            rows.extend(float(known[name]) for name in names)
    # Of several with one stamp the last.
    stamps, last = np.unique(np.array(read, np.int64)[::-1], return_index=True)
    if len(stamps) < 2:
        raise BagError(f'{bag.path}: {topic} has no two messages with all of {", ".join(names)}')
    return stamps, np.array(rows, np.float64).reshape(-1, len(names))[::-1][last]
