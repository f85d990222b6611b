#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Outcomes of 1,000 bags: the first extraction, and listing and comparing them from the cache.

    python benchmarks/outcomes_cache.py [--bags 1000] [--seconds 20] [--folder FOLDER] [--short]

Makes bags of one episode each (start, end, four operations, and 150 further messages a second), and
a few with a camera's images, in a temporary folder. The first extraction reads their events alone;
it is compared with reading every byte of the files once, both with the files in memory, and judged
on the bags with images: there, it must take no longer than reading. Then the outcomes are read
from the cache in a new process, as a later command does, and the policies are compared.
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
from parts.bars import Bars, parse
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
# A later process: imports, listing, loading, comparing.
LATER = """
import json, sys, time
marks = [time.perf_counter()]
from frame_ros.evaluation.outcomes.options import OutcomeOptions
from frame_ros.evaluation.outcomes.reading import read_outcomes
from frame_ros.evaluation.policy_comparison.comparison import compare_policies
from frame_ros.evaluation.policy_comparison.options import ComparisonOptions
marks.append(time.perf_counter())
found = read_outcomes([sys.argv[1]], OutcomeOptions(cache_folder=sys.argv[2]))
marks.append(time.perf_counter())
study = compare_policies(found, ComparisonOptions(tau=float(sys.argv[3])))
marks.append(time.perf_counter())
operations = sum(len(each.operations) for each in found.outcomes)
print(json.dumps([marks, time.process_time(), len(study.episodes), operations]))
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

    def times(self, count: int, seconds: int) -> list[int]:
        """Returns times since the start, ns, in order."""
        return sorted(self._rng.integers(SECOND, (seconds - 1) * SECOND, count).tolist())

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
    for operation, passed in enumerate(made.times(OPERATIONS, seconds)):
        stamp = start + passed
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


def extraction_time(folder: Path, cache: Path | None) -> tuple[float, float, int]:
    """Returns the seconds, and the processor's, in which outcomes are read, and their number."""
    options = OutcomeOptions(cache=cache is not None, cache_folder=str(cache or ''))
    begin, worked = time.perf_counter(), time.process_time()
    found = read_outcomes([folder], options)
    return time.perf_counter() - begin, time.process_time() - worked, len(found.outcomes)


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
    read, size = min(reading_time(large) for _ in range(5))
    extracted = min(extraction_time(large, None) for _ in range(5))[0]
    print(
        f'{options.with_images} bags of {size / options.with_images / 1e6:.0f} MB with images: '
        f'first extraction {extracted * 1e3:.1f} ms, reading their bytes {read * 1e3:.1f} ms '
        f'({size / read / 1e9:.1f} GB/s)'
    )
    each = first_extraction(small, cache, options.bags)
    has_worked = later_process(small, cache, options, bars)
    bars.at_most('first extraction by reading, bags with images', extracted / read, 1.0)
    bars.at_most('first extraction of a small bag, ms of CPU', each * 1e3, 20.0)
    return bars.exit_status() if has_worked else 1


def first_extraction(small: Path, cache: Path, bags: int) -> float:
    """Fills the cache; returns the seconds of the processor for each bag."""
    read, size = reading_time(small)
    waited, worked, _ = extraction_time(small, cache)
    begin, some = time.process_time(), sorted(small.iterdir())[:20]
    for bag in some:
        read_bag(Bag(bag))
    whole = (time.process_time() - begin) / len(some)
    print(
        f'{bags} bags of {size / bags / 1e6:.2f} MB: first extraction {waited:.2f} s, each '
        f'{worked / bags * 1e3:.1f} ms of CPU (all streams: {whole * 1e3:.1f}); reading their '
        f'bytes {read:.2f} s'
    )
    return worked / bags


def later_process(small: Path, cache: Path, options: argparse.Namespace, bars: Bars) -> bool:
    """Lists and compares in a new process; returns whether that found all episodes."""
    command = [sys.executable, '-c', LATER, str(small), str(cache), str(options.seconds)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    marks, worked, episodes, operations = json.loads(text)
    imports, listed, compared = np.diff(marks)
    print(
        f'from the cache, in a new process: imports {imports:.2f} s, {episodes} bags listed and '
        f'loaded in {listed:.2f} s, {POLICIES} policies with {operations} operations compared in '
        f'{compared:.2f} s, {worked:.2f} s of CPU in all'
    )
    bars.at_most('listed and compared from the cache, with imports, s', marks[-1] - marks[0], 10.0)
    if episodes == options.bags and operations == options.bags * (OPERATIONS + 1):
        return True
    print('the cache and the bags differ', file=sys.stderr)
    return False


if __name__ == '__main__':
    sys.exit(main())
