# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Camera stills and the episode's video, as data that a page can carry."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.images.cameras import bytes_at, picture_of, topic_stamps
from frame_ros.bags.images.decoding import COMPRESSED_TYPE, IMAGE_TYPE
from frame_ros.bags.reader import Bag, Topic
from frame_ros.core.errors import BagError
from frame_ros.core.events import EventType
from frame_ros.core.input_files import Limit, is_within, read_bytes
from frame_ros.core.time import SECOND
from frame_ros.episodes.bounds import bounds_of
from frame_ros.episodes.episode import Episode
from frame_ros.reports.model.series import COLLISION, CONTACT, contact_spans

EVENLY_SPACED = 6
MOST_CAMERAS = 2
STILL_WIDTH = 320
JPEG_QUALITY = 80
MOST_VIDEO_BYTES = 60_000_000


@dataclass(frozen=True)
class Still:
    """One picture.

    time: s since the episode's start. why: contact, collision, success, or '' if evenly spaced.
    data: a JPEG as data URI.
    """

    camera: str
    time: float
    why: str
    data: str
    width: int
    height: int


@dataclass(frozen=True)
class Video:
    """A video of the bag. data: its content as a data URI; '' if it was too large to embed."""

    name: str
    size: int
    data: str


class VideoBudget:
    """The bytes of video that may still go into one page."""

    def __init__(self, most: int = MOST_VIDEO_BYTES) -> None:
        self.left = most

    def take(self, path: Path) -> Video:
        """Embeds the file if it fits into what is left."""
        size = path.stat().st_size
        if size > self.left:
            return Video(path.name, size, '')
        try:
            content = read_bytes(path, Limit(self.left, 'bytes'))
        except OSError:
            return Video(path.name, size, '')
        self.left -= len(content)
        data = base64.b64encode(content).decode()
        return Video(path.name, size, f'data:video/mp4;base64,{data}')


def find_videos(bag: Path) -> list[Path]:
    """MP4 files that belong to a bag: in its folder, or next to it with a name that begins with
    the bag's. No link to elsewhere is one: a page must not carry away what lies outside.
    """
    name = bag.name if bag.is_dir() else bag.stem
    inside = sorted(bag.glob('*.mp4')) if bag.is_dir() else []
    beside = sorted(p for p in bag.parent.glob('*.mp4') if _belongs_to_bag(p, name))
    return [p for p in (*inside, *beside) if p.is_file() and is_within(p, bag.parent)]


def still_times(
    start: int, end: int, moments: Mapping[str, Iterable[int]]
) -> list[tuple[int, str]]:
    """Stamps (ns) worth a picture, in order, each with why: six evenly spaced (''), and the first
    of every kind of moment.
    """
    wanted = [(int(t), '') for t in np.linspace(start, end, EVENLY_SPACED)]
    wanted += [(t, why) for why, stamps in moments.items() for t in sorted(stamps)[:1]]
    return sorted(wanted)


def still(camera: str, time: float, why: str, image: NDArray[np.uint8]) -> Still:
    """Makes a JPEG of an (H, W, 3) RGB image, at most 320 pixels wide."""
    import cv2

    height, width = image.shape[:2]
    if width > STILL_WIDTH:
        height = max(round(height * STILL_WIDTH / width), 1)
        width = STILL_WIDTH
        pixels = cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA)
    else:
        pixels = np.ascontiguousarray(image)
    bgr = cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR)
    _, jpeg = cv2.imencode('.jpg', bgr, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    data = base64.b64encode(jpeg.tobytes()).decode()
    return Still(camera, time, why, f'data:image/jpeg;base64,{data}', width, height)


def camera_stills(episode: Episode, bag: Bag) -> list[Still]:
    """Pictures of at most two cameras: six evenly spaced, at the first contact, collision, success.

    What cannot be read is left out and said in `episode.problems`.
    """
    pictures: list[Still] = []
    cameras = 0
    for topic in bag.topics.values():
        if (
            cameras < MOST_CAMERAS
            and topic.message_type in (IMAGE_TYPE, COMPRESSED_TYPE)
            and len(topic)
        ):
            taken = _of_topic(bag, topic, episode)
            cameras += bool(taken)
            pictures += taken
    return pictures


def _of_topic(bag: Bag, topic: Topic, episode: Episode) -> list[Still]:
    start, end = bounds_of(episode)
    try:
        stamps = topic_stamps(bag, topic)
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
    start = bounds_of(episode)[0]
    camera = topic.name.strip('/').removesuffix('/compressed').removesuffix('/image_raw')
    pictures: dict[int, Still] = {}
    first, last = int(stamps[inside].min()), int(stamps[inside].max())
    for wanted, why in still_times(first, last, _moments(episode)):
        index = int(inside[np.abs(stamps[inside] - wanted).argmin()])
        if index in pictures and not why:
            continue
        image = picture_of(bag.deserialize(topic, bytes_at(topic, index)))
        if image is None:
            return []
        pictures[index] = still(camera, (int(stamps[index]) - start) / SECOND, why, image)
    return sorted(pictures.values(), key=lambda picture: picture.time)


def _moments(episode: Episode) -> dict[str, list[int]]:
    """Stamps (ns) of what is worth seeing."""
    start, spans = bounds_of(episode)[0], contact_spans(episode)
    moments = {
        kind: [start + int(s.begin * SECOND) for s in spans if s.kind == kind]
        for kind in (CONTACT, COLLISION)
    }
    successes = [e.stamp for e in episode.events if e.type is EventType.SUCCESS]
    return {**moments, 'success': successes}


def _belongs_to_bag(video: Path, name: str) -> bool:
    return video.stem == name or video.stem.startswith((f'{name}.', f'{name}_', f'{name}-'))
