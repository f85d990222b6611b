# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A bag's camera images as an MP4 that every browser plays, at the times of their stamps."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.images.cameras import in_order, topic_stamps
from frame_ros.bags.images.decoding import (
    find_image_topics,
    find_topic,
    image_reader,
    is_recorded,
)
from frame_ros.bags.reader import Bag
from frame_ros.core.errors import BagError, FrameRosError, MissingExtraError, install_hint
from frame_ros.core.output_files import replacing
from frame_ros.core.time import SECOND

# Ticks per second of the video's clock; stamps are rounded to it.
TICKS = 90_000
DEPTH_RANGE = 2000
# Reasons for which an image is not shown.
DAMAGED, OTHER_SIZE = 'that cannot be decoded', 'of another size than the first'


def write_video(
    source: str | Path | Bag,
    output: str | Path | None = None,
    topic: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    remark: Callable[[str], None] | None = None,
) -> Path:
    """Writes an H.264 MP4 (yuv420p, index in front) from an image topic, raw or
    compressed.

    Args:
        source: a bag, or its path. output: the file to make; None: `<bag>.mp4` next to the bag.
        topic: with or without namespace; None: the first that has 'front' in its name, else the
        first.
        progress: called with images done and images in all.
        remark: called with what was left out, and why.

    Images come in the order of their stamps; if none has one, by the times at which they were
    received. Depth (16UC1, mm) is shown from 0 to 2 m.

    Returns:
        The video's path.

    Raises:
        MissingExtraError: PyAV is not installed.
        BagError: the bag has no such topic or no image on it, or none that can be read.
    """
    av = _import_av()
    bag = source if isinstance(source, Bag) else Bag(source)
    name = find_topic(bag, topic) if topic else _default_topic(bag)
    if len(bag.topics[name]) == 0:
        raise BagError(f'{bag.path} has no image on {name}')
    order, times, remarks = _order(bag, name)
    path = Path(output) if output else bag.path.with_name(f'{bag.name}.mp4')
    options = {'movflags': '+faststart'}
    with (
        replacing(path, path.with_name(f'.{path.name}.partial')) as part,
        av.open(str(part), 'w', format='mp4', options=options) as file,
    ):
        read = image_reader(bag, bag.topics[name])
        unused = _encode(
            av, file, zip(times.tolist(), (partial(read, place) for place in order.tolist())),
            lambda done: progress and progress(done, len(order)),
        )  # fmt: skip
    remarks += (f'{name}: {count} {why} were left out' for why, count in unused.items())
    for text in remarks:
        if remark is not None:
            remark(text)
    return path


def _order(bag: Bag, topic: str) -> tuple[NDArray[np.intp], NDArray[np.int64], list[str]]:
    """Returns places of the images to show (N,), their times (N,), ns, and remarks."""
    stamps = topic_stamps(bag, bag.topics[topic])
    order, left_out = in_order(stamps)
    if not len(order):
        stamps = bag.received(topic)
        order, left_out = in_order(stamps)
        text = f'{topic}: no image has a stamp; they are shown at the times of their receipt'
        return order, stamps[order], [text]
    remarks = [f'{topic}: {count} {why} were left out' for why, count in left_out.items()]
    return order, stamps[order], remarks


def _encode(
    av: Any,
    file: Any,
    images: Iterable[tuple[int, Callable[[], tuple[int, NDArray]]]],
    report: Callable[[int], Any],
) -> Counter[str]:
    """Writes images at their times (ns); returns reason -> images that were left out.

    Raises:
        BagError: none can be read.
    """
    stream: Any = None
    first, last, problem = -1, -1, None
    unused: Counter[str] = Counter()
    for number, (stamp, read) in enumerate(images, start=1):
        report(number)
        try:
            pixels = _to_rgb(read()[1])
        except BagError as error:
            problem = problem or error
            unused[DAMAGED] += 1
            continue
        if stream is None:
            stream, first = _add_stream(av, file, pixels), stamp
        tick = (stamp - first) * TICKS // SECOND
        if pixels.shape[:2] != (stream.height, stream.width):
            unused[OTHER_SIZE] += 1
        elif tick > last:
            frame = av.VideoFrame.from_ndarray(pixels, format='rgb24')
            frame.pts, frame.time_base = tick, Fraction(1, TICKS)
            file.mux(stream.encode(frame))
            last = tick
    if stream is None and problem is not None:
        raise problem
    file.mux(stream.encode(None))
    return unused


def _add_stream(av: Any, file: Any, pixels: NDArray[np.uint8]) -> Any:
    stream = file.add_stream('libx264', rate=30, options={'preset': 'veryfast', 'crf': '23'})
    stream.height, stream.width = pixels.shape[:2]
    stream.pix_fmt = 'yuv420p'
    stream.time_base = stream.codec_context.time_base = Fraction(1, TICKS)
    return stream


def _to_rgb(image: NDArray) -> NDArray[np.uint8]:
    """Any image as (H, W, 3) uint8 with even height and width, as yuv420p needs."""
    image = image[: image.shape[0] // 2 * 2, : image.shape[1] // 2 * 2]
    if image.dtype == np.float32:
        image = (np.nan_to_num(image, nan=0.0, posinf=0.0, neginf=0.0) * 1000).clip(0, 65535)
    if image.dtype != np.uint8:
        image = (image.astype(np.float32) * (255 / DEPTH_RANGE)).clip(0, 255).astype(np.uint8)
    if image.ndim == 2:
        image = np.repeat(image[:, :, None], 3, axis=2)
    return np.ascontiguousarray(image)


def _default_topic(bag: Bag) -> str:
    topics = find_image_topics(bag)
    if not topics:
        raise BagError(f'{bag.path} has no image topic')
    return next((topic for topic in topics if 'front' in topic), topics[0])


def _import_av() -> Any:
    try:
        import av
    except ImportError as error:
        raise MissingExtraError(f'writing a video needs PyAV: {install_hint("sim")}') from error
    return av


def _to_stderr(text: str) -> None:
    print(text, file=sys.stderr)


def main(arguments: Sequence[str] | None = None) -> int:
    """`python -m frame_ros.episodes.export.video BAG`; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('bag')
    parser.add_argument('--output', help='the file to make; default: <bag>.mp4 next to the bag')
    parser.add_argument('--topic', help='the image topic; default: the front camera')
    parser.add_argument('--if-recorded', action='store_true', help='without the topic, do nothing')
    parser.add_argument('--nice', type=int, default=0, help='lower the priority by this much')
    options = parser.parse_args(arguments)
    if options.nice:
        os.nice(options.nice)
    try:
        bag = Bag(options.bag)
        if options.if_recorded and not is_recorded(bag, options.topic):
            return 0
        print(write_video(bag, options.output, options.topic, remark=_to_stderr))
    except FrameRosError as error:
        print(f'frame_ros.episodes.export.video: {error}', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
