# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Serialised colour images as serialised JPEGs, as by image_transport's plugin `compressed`."""

from __future__ import annotations

from typing import Any

import numpy as np

from frame_ros.bags.definitions import find_definition, typestore_of
from frame_ros.bags.images.decoding import COMPRESSED_TYPE
from frame_ros.bags.message_readers import ImageReader, SerialisedImage
from frame_ros.core.errors import BagError
from frame_ros.core.time import SECOND

QUALITY = 90
# Depth, masks and other grey images are not only for people: they stay as they are.
COLOUR = ('rgb8', 'bgr8')


class JpegEncoder:
    """Converts a sensor_msgs/Image to a sensor_msgs/CompressedImage, both as CDR.

    definition: that of CompressedImage.

    Raises:
        BagError: the definitions are not found.
    """

    def __init__(self) -> None:
        import cv2

        self._cv2: Any = cv2  # loaded before the first image comes
        self._reader = ImageReader()
        self.definition = find_definition(COMPRESSED_TYPE)
        self._store = typestore_of(COMPRESSED_TYPE, self.definition.text)

    def encode(self, data: bytes) -> bytes | None:
        """Returns the JPEG message; None if the image is not 8-bit colour or is damaged."""
        try:
            image = self._reader.image(data)
        except (BagError, ValueError):
            return None
        encoding, step = image.encoding, image.step
        height, width = image.height, image.width
        if encoding not in COLOUR or not 0 < 3 * width <= step or len(image.data) != height * step:
            return None
        pixels = image.data.reshape(height, step)[:, : 3 * width].reshape(height, width, 3)
        if encoding == 'rgb8':
            pixels = self._cv2.cvtColor(pixels, self._cv2.COLOR_RGB2BGR)
        options = [self._cv2.IMWRITE_JPEG_QUALITY, QUALITY]
        _, content = self._cv2.imencode('.jpg', pixels, options)
        return self._message(image, f'{encoding}; jpeg compressed bgr8', content)

    def _message(self, image: SerialisedImage, encoded: str, content: np.ndarray) -> bytes:
        types = self._store.types
        stamp = types['builtin_interfaces/msg/Time'](*divmod(image.stamp, SECOND))
        header = types['std_msgs/msg/Header'](stamp, image.frame)
        message = types[COMPRESSED_TYPE](header, encoded, np.ravel(content))
        return bytes(self._store.serialize_cdr(message, COMPRESSED_TYPE))
