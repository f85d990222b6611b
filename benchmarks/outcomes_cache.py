#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Outcomes of 1,000 bags: the first extraction, and listing them from the cache.

    python benchmarks/outcomes_cache.py [--bags 1000] [--seconds 20] [--folder FOLDER] [--short]

Makes bags of one episode each (start, end, four operations, and 150 further messages a second), and
a few with a camera's images, in a temporary folder. The first extraction reads their events alone;
it is compared with reading every byte of the files once, both with the files in memory, and judged
on the bags with images: there, it must take no longer than reading. Then the outcomes are read
from the cache in a new process, as a later command does, and their cells are made.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from bars import Bars, parse
from rosbags.typesys import Stores, get_typestore

from frame_ros.bags.definitions import find_definition, parse_fields
from frame_ros.bags.reader import Bag
from frame_ros.bags.writer import BagWriter
from frame_ros.core.events import EventType, Outcome
from frame_ros.core.time import SECOND
from frame_ros.episodes.reading import read_bag
from frame_ros.evaluation.outcomes.options import OutcomeOptions
from frame_ros.evaluation.outcomes.reading import read_outcomes

EVENT, JOINTS, IMAGE = (
    'frame_ros/msg/EpisodeEvent',
    'sensor_msgs/msg/JointState',
    'sensor_msgs/msg/Image',
)
T0 = 1_700_000_000 * SECOND
RATE, IMAGE_RATE = 50, 10  # Hz
TOPICS = ('/joint_states', '/joint_commands', '/motor_states')
POLICIES, OBJECTS, OPERATIONS = 4, 4, 4
# A later process: imports, listing, loading, cells.
LATER = """
import json, sys, time
begin = time.perf_counter()
from frame_ros.evaluation.outcomes.options import OutcomeOptions
from frame_ros.evaluation.outcomes.reading import read_outcomes
from frame_ros.evaluation.survival.cell import cells_of
imported = time.perf_counter()
found = read_outcomes([sys.argv[1]], OutcomeOptions(cache_folder=sys.argv[2]))
cells = cells_of(found.outcomes)
counts = [len(cell.times) for row in cells.values() for cell in row.values()]
end = time.perf_counter()
print(json.dumps([imported - begin, end - imported, len(found.outcomes), sum(counts)]))
"""


class Messages:
    """Serialised messages of the bags."""

    def __init__(self) -> None:
        self._store, types = get_typestore(Stores.EMPTY), {}
        for name in (EVENT, JOINTS, IMAGE):
            types.update(parse_fields(name, find_definition(name).text))
        self._store.register(types)
        self._rng = np.random.default_rng(0)

    def _header(self, stamp: int) -> Any:
        time_type = self._store.types['builtin_interfaces/msg/Time']
        stamped = time_type(sec=stamp // SECOND, nanosec=stamp % SECOND)
        return self._store.types['std_msgs/msg/Header'](stamp=stamped, frame_id='')

    def event(self, stamp: int, kind: EventType, name: str, **values: Any) -> bytes:
        """An event; START names policy and object, and has attributes."""
        pair = self._store.types['diagnostic_msgs/msg/KeyValue']
        facts = [pair(key=key, value=value) for key, value in values.pop('facts', {}).items()]
        texts = dict.fromkeys(
            ('instruction', 'object', 'policy', 'checkpoint', 'operator_name', 'text'), ''
        )
        numbers = {'outcome': 0, 'operation': 0}
        content = self._store.types[EVENT](
            header=self._header(stamp), type=int(kind), episode_id=name, source='recorder',
            attributes=facts, **{**texts, **numbers, **values},
        )  # fmt: skip
        return bytes(self._store.serialize_cdr(content, EVENT))

    def joints(self, stamp: int) -> bytes:
        """A JointState of six joints."""
        content = self._store.types[JOINTS](
            header=self._header(stamp), name=[f'joint_{i}' for i in range(6)],
            position=self._rng.normal(size=6), velocity=self._rng.normal(size=6),
            effort=self._rng.normal(size=6),
        )  # fmt: skip
        return bytes(self._store.serialize_cdr(content, JOINTS))

    def image(self, stamp: int) -> bytes:
        """A picture of 640 x 480 pixels with some noise, as of a camera."""
        rows = np.linspace(0, 200, 480 * 640 * 3).astype(np.uint8)
        data = rows + self._rng.integers(0, 8, len(rows), np.uint8)
        content = self._store.types[IMAGE](
            header=self._header(stamp), height=480, width=640, encoding='rgb8', is_bigendian=0,
            step=1920, data=data,
        )  # fmt: skip
        return bytes(self._store.serialize_cdr(content, IMAGE))


def make_bag(folder: Path, number: int, seconds: int, made: Messages, has_images: bool) -> None:
    """Writes the bag of one episode."""
    name = f'episode_{number:04d}'
    start = T0 + number * 100 * SECOND
    writer = BagWriter(folder / name, {'episode_id': name, 'robot': 'so101'})
    events = writer.add_topic('/episode_events', EVENT)
    joints = [writer.add_topic(topic, JOINTS) for topic in TOPICS]
    facts = {'seed': str(number // POLICIES), 'robot': 'so101', 'camera': 'wide'}
    first = made.event(
        start, EventType.START, name, policy=f'policy {number % POLICIES}',
        object=f'object {number // POLICIES % OBJECTS}', instruction='put it in', facts=facts,
    )  # fmt: skip
    writer.write(events, start, first)
    images = writer.add_topic('/front/image_raw', IMAGE) if has_images else 0
    state = made.joints(start)
    for step in range(seconds * RATE):
        stamp = start + step * SECOND // RATE
        for channel in joints:
            writer.write(channel, stamp, state)
        if has_images and step % (RATE // IMAGE_RATE) == 0:
            writer.write(images, stamp, made.image(stamp))
        if step % (RATE // 4) == 0:
            writer.flush()
    for operation in range(OPERATIONS):
        stamp = start + (operation + 1) * seconds * SECOND // (OPERATIONS + 1)
        done = made.event(stamp, EventType.OPERATION_SUCCESS, name, operation=operation)
        writer.write(events, stamp, done)
    end = start + seconds * SECOND
    writer.write(events, end, made.event(end, EventType.END, name, outcome=int(Outcome.TIMEOUT)))
    writer.finish()


def reading_time(folder: Path) -> tuple[float, int]:
    """Returns the seconds in which all storage files are read once, and their bytes."""
    begin, size = time.perf_counter(), 0
    for file in folder.rglob('*.mcap'):
        with file.open('rb') as opened:
            while block := opened.read(1 << 20):
                size += len(block)
    return time.perf_counter() - begin, size


def extraction_time(folder: Path, cache: Path | None) -> tuple[float, int]:
    """Returns the seconds in which the outcomes are read, and their number."""
    options = OutcomeOptions(cache=cache is not None, cache_folder=str(cache or ''))
    begin = time.perf_counter()
    found = read_outcomes([folder], options)
    return time.perf_counter() - begin, len(found.outcomes)


def main() -> int:
    """Prints the figures and the bars."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('--bags', type=int, default=1000)
    parser.add_argument('--with-images', type=int, default=5, help='bags with images')
    parser.add_argument('--seconds', type=int, default=20, help='length of an episode')
    parser.add_argument('--folder', help='for the bags, kept; default: a temporary one')
    options = parse(parser, bags=20, with_images=1, seconds=5)
    with tempfile.TemporaryDirectory(prefix='frame_ros_outcomes_') as temporary:
        return run(options, Path(options.folder or temporary))


def run(options: argparse.Namespace, root: Path) -> int:
    """Measures, and judges."""
    bars, made = Bars(options), Messages()
    small, large, cache = root / 'small', root / 'large', root / 'cache'
    for number in range(options.bags):
        make_bag(small, number, options.seconds, made, has_images=False)
    for number in range(options.with_images):
        make_bag(large, number, options.seconds, made, has_images=True)
    extraction_time(large, None)  # imports, and the files in memory
    large_read, large_size = min(reading_time(large) for _ in range(5))
    large_extraction, _ = min(extraction_time(large, None) for _ in range(5))
    small_read, small_size = reading_time(small)
    small_extraction, count = extraction_time(small, cache)
    begin = time.perf_counter()
    one = min(options.bags, 20)
    for bag in sorted(small.iterdir())[:one]:
        read_bag(Bag(bag))
    whole = (time.perf_counter() - begin) / one
    print(
        f'{options.bags} bags of {small_size / options.bags / 1e6:.2f} MB: first extraction '
        f'{small_extraction:.2f} s, {small_extraction / options.bags * 1e3:.1f} ms each; reading '
        f'their bytes {small_read:.2f} s; all their streams {whole * 1e3:.1f} ms each'
    )
    print(
        f'{options.with_images} bags of {large_size / options.with_images / 1e6:.0f} MB with '
        f'images: first extraction {large_extraction * 1e3:.1f} ms, reading {large_read * 1e3:.1f} '
        f'ms ({large_size / large_read / 1e9:.1f} GB/s)'
    )
    command = [sys.executable, '-c', LATER, str(small), str(cache)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    imports, listed, later, operations = json.loads(text)
    print(
        f'from the cache, in a new process: imports {imports:.2f} s, {later} bags listed and '
        f'loaded in {listed:.2f} s, {operations} operations'
    )
    if not count == later == options.bags or operations != options.bags * (OPERATIONS + 1):
        print('the cache and the bags differ', file=sys.stderr)
        return 1
    bars.at_most('listed and loaded from the cache with imports, s', imports + listed, 5.0)
    bars.at_most(
        'first extraction by reading, bags with images', large_extraction / large_read, 1.0
    )
    bars.at_most('first extraction of a small bag, ms', small_extraction / count * 1e3, 20.0)
    return bars.exit_status()


if __name__ == '__main__':
    sys.exit(main())
