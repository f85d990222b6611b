# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Depth images of an arm from a bag, each with the joint positions of its stamp."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.images.decoding import find_topic, iter_images
from frame_ros.bags.reader import Bag
from frame_ros.core.errors import BagError
from frame_ros.core.time import SECOND
from frame_ros.sensing.proximity.depth.rectified import CameraModel

Array = NDArray[np.float64]
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
        """Reads all but the images.

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
        self._bag, self._topic, self._gap = bag, find_topic(bag, topics[0]), gap
        info = find_topic(bag, topics[1])
        first = next((message for _, message in bag.messages(info)), None)
        if first is None:
            raise BagError(f'{bag.path}: {info} has no readable message')
        self.model = CameraModel(first, is_rectified)

    def positions(self) -> list[tuple[int, Array]]:
        """Returns the stamps, ns, of the images whose joint positions are known, with these."""
        found = []
        for stamp, _ in iter_images(self._bag, self._topic):
            after = int(np.searchsorted(self._stamps, stamp))
            near = self._stamps[max(after - 1, 0) : after + 1]
            if len(near) == 2 and near[1] - near[0] <= self._gap:
                share = (stamp - near[0]) / (near[1] - near[0])
                rows = self._positions[after - 1 : after + 1]
                found.append((stamp, (1.0 - share) * rows[0] + share * rows[1]))
        return found

    def images(self, stamps: Sequence[int]) -> dict[int, NDArray[np.generic]]:
        """Returns the images (H, W) of stamps, in m or uint16 mm, of the pinhole camera.

        Raises:
            BagError: they are no depth images, or not of the camera's size.
        """
        wanted, found = set(stamps), {}
        for stamp, image in iter_images(self._bag, self._topic):
            if stamp not in wanted:
                continue
            camera = self.model.camera
            kind = ENDINGS.get(image.dtype.kind)
            if image.ndim != 2 or kind is None or image.dtype.itemsize < 2:
                raise BagError(
                    f'{self._topic} has no depth images, but {image.dtype} {image.shape}'
                )
            if image.shape != (camera.height, camera.width):
                size = camera.height, camera.width
                raise BagError(f'{self._topic} has images {image.shape}, its camera_info {size}')
            known = np.nan_to_num(image, posinf=0.0, neginf=0.0) if kind is np.float32 else image
            found[stamp] = self.model.undistorted(known.astype(kind))
        return found


def _joints(
    bag: Bag, topic: str, names: Sequence[str], assumed: Mapping[str, float]
) -> tuple[NDArray[np.int64], Array]:
    """Returns rising stamps (T,), ns, and positions (T, J)."""
    rows = {}
    for _, message in bag.messages(topic):
        known = {**assumed, **dict(zip(message.name, message.position, strict=False))}
        if all(name in known for name in names):
            stamp = message.header.stamp.sec * SECOND + message.header.stamp.nanosec
            rows[stamp] = [float(known[name]) for name in names]
    if len(rows) < 2:
        raise BagError(f'{bag.path}: {topic} has no two messages with all of {", ".join(names)}')
    stamps = sorted(rows)
    return np.array(stamps, np.int64), np.array([rows[stamp] for stamp in stamps], np.float64)
