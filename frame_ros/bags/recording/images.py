# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Forms of camera images in a bag: as sent, or as JPEG under image_transport's name."""

from __future__ import annotations

from frame_ros.bags.images.decoding import COMPRESSED_SUFFIX, IMAGE_TYPE
from frame_ros.bags.images.jpeg import JpegEncoder
from frame_ros.bags.recording.session import ReceivedMessage, RecordedTopic


class JpegImages:
    """Replaces colour images by JPEGs on the topic `<name>/compressed`; other messages pass."""

    def __init__(self) -> None:
        self._encoder = JpegEncoder()
        self._topics: dict[RecordedTopic, RecordedTopic] = {}

    def __call__(self, message: ReceivedMessage) -> ReceivedMessage:
        """Returns the message to be written; called in the writing thread."""
        if message.topic.definition.message_type != IMAGE_TYPE:
            return message
        data = self._encoder.encode(message.data)
        if data is None:
            return message
        return message._replace(topic=self._compressed(message.topic), data=data)

    def _compressed(self, topic: RecordedTopic) -> RecordedTopic:
        if topic not in self._topics:
            name = topic.name + COMPRESSED_SUFFIX
            self._topics[topic] = RecordedTopic(name, self._encoder.definition, topic.qos)
        return self._topics[topic]


def image_conversion(choice: str) -> JpegImages | None:
    """Returns a function that converts messages before they are written; None: no conversion.

    choice: one of CAMERA_IMAGES.

    Raises:
        BagError: the definition of CompressedImage is not found.
    """
    return JpegImages() if choice == 'jpeg' else None
