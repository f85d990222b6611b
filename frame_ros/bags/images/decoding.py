# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The images of a bag's topic as arrays, raw or compressed, one after another."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.fields import FieldReader
from frame_ros.bags.message_readers import ImageReader
from frame_ros.bags.reader import Bag, Topic
from frame_ros.core.errors import BagError
from frame_ros.core.input_files import PIXELS

IMAGE_TYPE = 'sensor_msgs/msg/Image'
COMPRESSED_TYPE = 'sensor_msgs/msg/CompressedImage'
# Suffix that image_transport and the recorder add to topics of compressed images.
COMPRESSED_SUFFIX = '/compressed'
# image_transport's compressedDepth begins its data with this many bytes of its own settings.
DEPTH_HEADER = 12
PNG = b'\x89PNG\r\n\x1a\n'
_Decode = Callable[[NDArray[np.uint8]], tuple[int, NDArray]]
JPEG = b'\xff\xd8'
# Markers of the segments that hold the size: SOF0 to SOF15 without DHT, JPG and DAC.
JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
# Encoding -> bytes of a number, channels, and the order that makes the channels RGB.
ENCODINGS: dict[str, tuple[str, int, tuple[int, ...]]] = {
    'rgb8': ('u1', 3, (0, 1, 2)),
    'bgr8': ('u1', 3, (2, 1, 0)),
    'rgba8': ('u1', 4, (0, 1, 2)),
    'bgra8': ('u1', 4, (2, 1, 0)),
    '8UC3': ('u1', 3, (2, 1, 0)),  # OpenCV's order: so cv_bridge names it, and RViz shows it
    '8UC4': ('u1', 4, (2, 1, 0)),
    'mono8': ('u1', 1, ()),
    '8UC1': ('u1', 1, ()),
    'mono16': ('u2', 1, ()),
    '16UC1': ('u2', 1, ()),
    '32FC1': ('f4', 1, ()),
}
# By REP 118, 16UC1 is depth in mm and 32FC1 depth in m. This is brightness, and depth (mm) only on
# a topic that the user has named as one of depth, since some drivers call it so.
GREY_16 = 'mono16'
# Encodings of colour that OpenCV converts -> bytes of a pixel, and the name of its conversion.
CONVERTED = {
    'yuv422': (2, 'YUV2RGB_UYVY'),
    'uyvy': (2, 'YUV2RGB_UYVY'),
    'yuv422_yuy2': (2, 'YUV2RGB_YUY2'),
    'yuyv': (2, 'YUV2RGB_YUY2'),
    'bayer_rggb8': (1, 'BayerRGGB2RGB'),
    'bayer_bggr8': (1, 'BayerBGGR2RGB'),
    'bayer_gbrg8': (1, 'BayerGBRG2RGB'),
    'bayer_grbg8': (1, 'BayerGRBG2RGB'),
}


@runtime_checkable
class _Recorded(Protocol):
    """A recorded episode with the path of its bag."""

    path: Path
    episode_id: str


def decode_image(
    data: NDArray[np.uint8],
    height: int,
    width: int,
    encoding: str,
    step: int,
    is_bigendian: bool = False,
    is_depth: bool = False,
) -> NDArray:
    """Returns an image as (H, W, 3) uint8 RGB, (H, W) uint8 grey, or depth (H, W) in uint16 mm or
    float32 m.

    Args:
        data: the bytes of sensor_msgs/Image.data. step: bytes per row.
        is_depth: whether the user has named the topic as one of depth.

    Raises:
        BagError: the encoding is not known, or the data is too short.
    """
    if encoding in CONVERTED:
        channels, name = CONVERTED[encoding]
        rows = _rows(data, height, width, encoding, step, width * channels)
        return _converted(rows.reshape(height, width, channels), encoding, name)
    if encoding not in ENCODINGS:
        known = ', '.join((*ENCODINGS, *CONVERTED))
        raise BagError(f'image encoding {encoding!r} is not known; known are {known}')
    code, channels, order = ENCODINGS[encoding]
    dtype = np.dtype(('>' if is_bigendian else '<') + code)
    rows = _rows(data, height, width, encoding, step, width * channels * dtype.itemsize)
    image = rows.view(dtype).astype(dtype.newbyteorder('='), copy=False)
    if channels == 1:
        return _grey(image) if encoding == GREY_16 and not is_depth else image
    first, *_, last = order
    rgb = slice(0, 3) if first < last else slice(2, None, -1)
    return np.ascontiguousarray(image.reshape(height, width, channels)[:, :, rgb])


def _grey(image: NDArray) -> NDArray[np.uint8]:
    """Returns brightness of 16 bits in 8."""
    return (image >> 8).astype(np.uint8)


def _rows(
    data: NDArray[np.uint8], height: int, width: int, encoding: str, step: int, row: int
) -> NDArray[np.uint8]:
    """Returns the rows (H, row) of an image, without what pads them."""
    if step < row or len(data) < step * height or height == 0 or width == 0:
        raise BagError(
            f'an image of {width}x{height} {encoding} needs rows of {row} bytes; '
            f'it has {len(data)} bytes in rows of {step}'
        )
    return np.ascontiguousarray(data[: step * height].reshape(height, step)[:, :row])


def _converted(pixels: NDArray[np.uint8], encoding: str, name: str) -> NDArray[np.uint8]:
    """Returns an image (H, W, channels) as RGB by one of OpenCV's conversions."""
    import cv2

    try:
        return np.asarray(cv2.cvtColor(pixels, getattr(cv2, f'COLOR_{name}')))
    except cv2.error as error:
        height, width = pixels.shape[:2]
        raise BagError(
            f'an image of {width}x{height} {encoding} cannot be converted: {error.err}'
        ) from error


def decode_compressed(data: NDArray[np.uint8], encoded: str, is_depth: bool = False) -> NDArray:
    """Returns a compressed image (JPEG, PNG, compressedDepth of 16UC1) as `decode_image` does.

    Args:
        data: the bytes of sensor_msgs/CompressedImage.data. encoded: its `format`.
        is_depth: whether the user has named the topic as one of depth.

    Raises:
        BagError: it cannot be decoded, or is depth in another encoding than 16UC1.
    """
    import cv2

    has_header = 'compressedDepth' in encoded
    if has_header and not encoded.startswith('16UC1'):
        raise BagError(f'compressed depth of format {encoded!r} is not known; known is 16UC1')
    content = data[DEPTH_HEADER:] if has_header else data
    height, width = compressed_size(bytes(content))
    if height * width > PIXELS.now:
        raise BagError(f'a compressed image would have {PIXELS.excess(height * width)}')
    try:
        image = cv2.imdecode(content, cv2.IMREAD_UNCHANGED)
    except cv2.error as error:
        raise BagError(f'a compressed image cannot be decoded: {error.err}') from error
    if image is None:
        raise BagError(f'a compressed image of format {encoded!r} cannot be decoded')
    if image.ndim == 2:
        is_grey = encoded.startswith(GREY_16) and image.dtype == np.uint16 and not is_depth
        return _grey(image) if is_grey else np.asarray(image)
    order = cv2.COLOR_BGRA2RGB if image.shape[2] == 4 else cv2.COLOR_BGR2RGB
    return np.asarray(cv2.cvtColor(image, order))


def _check_chunks(content: bytes) -> None:
    """Refuses a PNG with a part that declares more bytes than follow: the decoder would allocate
    them.

    Raises:
        BagError: it has one.
    """
    position = len(PNG)
    while position + 8 <= len(content):
        length, name = struct.unpack_from('>I4s', content, position)
        position += 12 + length  # its length, name and checksum included
        if position > len(content):
            raise BagError(
                f'a PNG of {len(content)} bytes is cut or damaged: its part {name!r} would have '
                f'{length} bytes'
            )
        if name == b'IEND':
            return


def compressed_size(content: bytes) -> tuple[int, int]:
    """Returns height and width declared by a JPEG or a PNG.

    Raises:
        BagError: it is neither, or incomplete.
    """
    if content.startswith(PNG) and len(content) >= 24:
        _check_chunks(content)
        width, height = struct.unpack_from('>II', content, 16)
        return height, width
    position = 2
    while content.startswith(JPEG) and position + 9 <= len(content):
        # Segments follow each other: marker, length, content. Bytes of 255 may pad in between.
        if content[position] != 0xFF:
            break
        marker = content[position + 1]
        if marker in JPEG_FRAMES:
            height, width = struct.unpack_from('>HH', content, position + 5)
            return height, width
        length = struct.unpack_from('>H', content, position + 2)[0]
        position += 1 if marker == 0xFF else 2 + length
    raise BagError(
        f'a compressed image that begins with {content[:8]!r} is neither JPEG nor PNG; others, '
        'such as TIFF, are not read'
    )


def find_image_topics(bag: Bag) -> list[str]:
    """Returns the names of the bag's image topics, sorted, the raw ones first."""
    names = (IMAGE_TYPE, COMPRESSED_TYPE)
    found = [t for t in bag.topics.values() if t.message_type in names and len(t)]
    return [t.name for t in sorted(found, key=lambda t: (names.index(t.message_type), t.name))]


def find_topic(bag: Bag, name: str) -> str:
    """Returns the absolute name of a topic given as it is, or without its namespace.

    For an image topic that was recorded compressed, it is the compressed one's.

    Raises:
        BagError: no topic, or several, have that name.
    """
    for wanted in (name, name + COMPRESSED_SUFFIX):
        if wanted in bag.topics:
            return wanted
        found = sorted(topic for topic in bag.topics if topic.endswith('/' + wanted.lstrip('/')))
        if len(found) == 1:
            return found[0]
        if found:
            several = ', '.join(found)
            raise BagError(f'{bag.path} should have one topic {name}, and has several: {several}')
    raise BagError(
        f'{bag.path} should have one topic {name}, and has none; it has '
        f'{", ".join(sorted(bag.topics))}'
    )


def is_recorded(bag: Bag, topic: str) -> bool:
    """Returns whether a bag has images, raw or compressed, of a topic's absolute name."""
    return any(len(bag.topics.get(name, ())) for name in (topic, topic + COMPRESSED_SUFFIX))


def iter_images(
    source: _Recorded | Bag | str | Path,
    topic: str,
    max_count: int | None = None,
    every: int = 1,
) -> Iterator[tuple[int, NDArray]]:
    """Yields stamp (ns) and image of an image topic, raw or compressed, in recorded order, on
    request.

    Args:
        source: an episode, a bag, or a bag's path.
        topic: its name, with or without its namespace.
        max_count: at most so many, spread evenly over the topic. None: no limit.
        every: only every n-th image.

    Raises:
        BagError: there is no such topic, it has no images, or an image is not readable.
    """
    bag = (
        source
        if isinstance(source, Bag)
        else Bag(source.path if isinstance(source, _Recorded) else source)
    )
    found = bag.topics[find_topic(bag, topic)]
    read = image_reader(bag, found)
    indices = np.arange(0, len(found), max(every, 1))
    if max_count is not None and len(indices) > max_count:
        indices = indices[np.linspace(0, len(indices) - 1, max_count).round().astype(int)]
    for index in indices.tolist():
        yield read(index)


def image_reader(
    bag: Bag, topic: Topic, is_depth: bool = False
) -> Callable[[int], tuple[int, NDArray]]:
    """Returns a function of a place in recorded order that gives stamp (ns) and image, and raises
    BagError if the image is not readable.

    is_depth: whether the user has named the topic as one of depth.

    Raises:
        BagError: the topic is not one of images, or its type cannot be read.
    """
    if topic.message_type not in (IMAGE_TYPE, COMPRESSED_TYPE):
        raise BagError(
            f'{topic.name} has type {topic.message_type}, not {IMAGE_TYPE} or {COMPRESSED_TYPE}'
        )
    read = _image_of(topic.message_type, bag.types_of(topic), is_depth)
    return lambda index: read(_message(topic, index))


def _message(topic: Topic, index: int) -> NDArray[np.uint8]:
    for table in topic.tables:
        if index < len(table):
            return table.data(index)
        index -= len(table)
    raise IndexError(index)


def _image_of(message_type: str, types: Mapping[str, Any], is_depth: bool) -> _Decode:
    """Returns a function that reads stamp (ns) and image of a serialised message of a type, and
    raises BagError if it is damaged.
    """
    make = _compressed_image if message_type == COMPRESSED_TYPE else _raw_image
    decode = make(types, is_depth)

    def read(data: NDArray[np.uint8]) -> tuple[int, NDArray]:
        try:
            return decode(data)
        except (ValueError, struct.error) as error:
            raise BagError(f'an image is damaged: {error}') from error

    return read


def _compressed_image(types: Mapping[str, Any], is_depth: bool) -> _Decode:
    reader = FieldReader(COMPRESSED_TYPE, ('header.stamp', 'format', 'data'), types)

    def read(data: NDArray[np.uint8]) -> tuple[int, NDArray]:
        stamp, kind, content = reader.read(data.data)
        return stamp, decode_compressed(content, kind, is_depth)

    return read


def _raw_image(types: Mapping[str, Any], is_depth: bool) -> _Decode:
    reader = ImageReader(types)

    def read(data: NDArray[np.uint8]) -> tuple[int, NDArray]:
        image = reader.image(data.data)
        return image.stamp, decode_image(
            image.data, image.height, image.width, image.encoding, image.step,
            bool(image.is_bigendian), is_depth,
        )  # fmt: skip

    return read
