# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The images of a bag's topic as arrays, one after another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from frame_ros.episodes.bag_reader import Bag, Topic
from frame_ros.episodes.data import Episode
from frame_ros.episodes.layout import Layout, trace
from frame_ros.errors import BagError

IMAGE_TYPE = 'sensor_msgs/msg/Image'
# Encoding -> bytes of a number, channels, and the order that makes the channels RGB.
ENCODINGS: dict[str, tuple[str, int, tuple[int, ...]]] = {
    'rgb8': ('u1', 3, (0, 1, 2)),
    'bgr8': ('u1', 3, (2, 1, 0)),
    'rgba8': ('u1', 4, (0, 1, 2)),
    'bgra8': ('u1', 4, (2, 1, 0)),
    '8UC3': ('u1', 3, (0, 1, 2)),
    'mono8': ('u1', 1, ()),
    '8UC1': ('u1', 1, ()),
    'mono16': ('u2', 1, ()),
    '16UC1': ('u2', 1, ()),
    '32FC1': ('f4', 1, ()),
}


def decode_image(
    data: NDArray[np.uint8],
    height: int,
    width: int,
    encoding: str,
    step: int,
    is_bigendian: bool = False,
) -> NDArray:
    """Returns an image as (H, W, 3) uint8 RGB, or (H, W) uint8, uint16 or float32 for one channel.

    Args:
        data: the bytes of sensor_msgs/Image.data. step: bytes per row.

    Raises:
        BagError: the encoding is not known, or the data is too short.
    """
    if encoding not in ENCODINGS:
        raise BagError(
            f'image encoding {encoding!r} is not known; known are {", ".join(ENCODINGS)}'
        )
    code, channels, order = ENCODINGS[encoding]
    dtype = np.dtype(('>' if is_bigendian else '<') + code)
    row = width * channels * dtype.itemsize
    if step < row or len(data) < step * height or height == 0 or width == 0:
        raise BagError(
            f'an image of {width}x{height} {encoding} needs rows of {row} bytes; '
            f'it has {len(data)} bytes in rows of {step}'
        )
    rows = np.ascontiguousarray(data[: step * height].reshape(height, step)[:, :row])
    image = rows.view(dtype).astype(dtype.newbyteorder('='), copy=False)
    if channels == 1:
        return image
    return np.ascontiguousarray(image.reshape(height, width, channels)[:, :, list(order)])


def find_image_topics(bag: Bag) -> list[str]:
    """Returns the names of the bag's raw image topics, sorted."""
    return sorted(t.name for t in bag.topics.values() if t.message_type == IMAGE_TYPE and len(t))


def find_topic(bag: Bag, name: str) -> str:
    """Returns the absolute name of a topic given as it is, or without its namespace.

    Raises:
        BagError: no topic, or several, have that name.
    """
    if name in bag.topics:
        return name
    found = sorted(topic for topic in bag.topics if topic.endswith('/' + name.lstrip('/')))
    if len(found) == 1:
        return found[0]
    what = (
        f'several: {", ".join(found)}' if found else f'none; it has {", ".join(sorted(bag.topics))}'
    )
    raise BagError(f'{bag.path} should have one topic {name}, and has {what}')


def iter_images(
    source: Episode | Bag | str | Path,
    topic: str,
    max_count: int | None = None,
    every: int = 1,
) -> Iterator[tuple[int, NDArray]]:
    """Yields stamp (ns) and image of a raw image topic, in recorded order, read only when asked
    for.

    Args:
        source: an episode, a bag, or a bag's path.
        topic: its name, with or without its namespace.
        max_count: at most so many, spread evenly over the topic. None: no limit.
        every: only each so-manieth image.

    Raises:
        BagError: there is no such topic, it has no images, or an image is not readable.
    """
    bag = (
        source
        if isinstance(source, Bag)
        else Bag(source.path if isinstance(source, Episode) else source)
    )
    found = bag.topics[find_topic(bag, topic)]
    if found.message_type != IMAGE_TYPE:
        raise BagError(f'{found.name} has type {found.message_type}, not {IMAGE_TYPE}')
    indices = np.arange(0, len(found), max(every, 1))
    if max_count is not None and len(indices) > max_count:
        indices = indices[np.linspace(0, len(indices) - 1, max_count).round().astype(int)]
    for index in indices:
        yield _read_image(found, _message(found, int(index)))


def _message(topic: Topic, index: int) -> NDArray[np.uint8]:
    for table in topic.tables:
        if index < len(table):
            return table.data(index)
        index -= len(table)
    raise IndexError(index)


def _read_image(topic: Topic, data: NDArray[np.uint8]) -> tuple[int, NDArray]:
    layout = trace(topic.types, topic.message_type, data)
    sec, nanosec = (
        _number(layout, data, 'header.stamp.sec'),
        _number(layout, data, 'header.stamp.nanosec'),
    )
    (encoding,) = (
        bytes(data[start:end]).decode('utf-8', 'replace')
        for text in layout.texts
        if text.path == 'encoding'
        for start, end in text.spans
    )
    (pixels,) = (item for item in layout.fields if item.path == 'data')
    image = decode_image(
        data[pixels.offset : pixels.offset + (pixels.count or 0)],
        _number(layout, data, 'height'),
        _number(layout, data, 'width'),
        encoding,
        _number(layout, data, 'step'),
        bool(_number(layout, data, 'is_bigendian')),
    )
    return sec * 1_000_000_000 + nanosec, image


def _number(layout: Layout, data: NDArray[np.uint8], path: str) -> int:
    for item in layout.fields:
        if item.path == path:
            size = np.dtype(item.dtype).itemsize
            return int(data[item.offset : item.offset + size].view(item.dtype)[0])
    raise BagError(f'an image has no field {path}')
