#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Reads thousands of damaged files of every kind that is read from outside, as the commands do.

    python benchmarks/damaged_files.py [--count 5000] [--kind mcap ...] [--seed 0] [--keep FOLDER]

Valid files of each kind are damaged (parts/file_mutations.py) and read in worker processes
(parts/file_readers.py). A crash is an exception that is not one of ours, also one that was caught
as unclear, or the end of the worker; a hang is a file that takes more than 10 s of the processor,
or a minute in all. `--keep` keeps the files that did either. Interrupted, it
shows the figures so far.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import random
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from parts.bars import Bars, parse
from parts.file_mutations import (
    GENERIC,
    bomb,
    database,
    json_tree,
    mcap_records,
    urdf_bomb,
    urdf_tree,
    yaml_tree,
)
from parts.file_seeds import make_seeds

from frame_ros.core.errors import FrameRosError

LONGEST = 10.0  # s
WAITED = 60.0  # s, also on a busy machine
MOST_BYTES = 1e9
STARTING = 120.0  # s, for a worker to import what it needs


@dataclass(frozen=True)
class Kind:
    """One kind of file."""

    reader: str  # of file_readers
    suffix: str
    structural: Sequence[Callable[..., bytes]] = ()  # changes in the format's own words
    place: str = ''  # in a bag's folder
    bag: str = 'bag'  # which: a folder of the seeds


KINDS = {
    'mcap': Kind('bag', '.mcap', (mcap_records,)),
    'db3': Kind('bag', '.db3', (database,)),
    'wal': Kind('bag', '.db3-wal', place='a.db3-wal', bag='bag_of_wal'),
    'sidecar': Kind('bag', '.json', (json_tree, bomb), 'episode.json'),
    'metadata': Kind('bag', '.yaml', (yaml_tree, bomb), 'metadata.yaml'),
    'urdf': Kind('robot', '.urdf', (urdf_tree, urdf_tree, urdf_bomb)),
    'mesh': Kind('robot', '.mesh'),
    'params': Kind('params', '.yaml', (yaml_tree, bomb)),
    'motors': Kind('motors', '.yaml', (yaml_tree, bomb)),
    'tool': Kind('tool', '.yaml', (yaml_tree, bomb)),
    'obstacles': Kind('obstacles', '.yaml', (yaml_tree, bomb)),
    'capsules': Kind('capsules', '.yaml', (yaml_tree, bomb)),
    'rephrasings': Kind('rephrasings', '.yaml', (yaml_tree, bomb)),
    'options': Kind('options', '.yaml', (yaml_tree, bomb)),
    'calibration': Kind('calibration', '.json', (json_tree, bomb)),
    'token_map': Kind('token_map', '.json', (json_tree, bomb)),
    'outcomes': Kind('outcomes', '.csv'),
    'evaluation': Kind('outcomes', '.json', (json_tree, bomb)),
}


@dataclass
class Tally:
    """Outcomes of the files of one kind."""

    files: int = 0
    refused: int = 0
    hangs: int = 0
    longest: float = 0.0
    most: int = 0
    crashes: Counter[str] = field(default_factory=Counter)
    traces: dict[str, str] = field(default_factory=dict)


class Worker:
    """A process that reads files; started again after a hang or its end."""

    def __init__(self, seeds: Path) -> None:
        self._seeds = seeds
        self._process: subprocess.Popen[str] | None = None

    def read(self, reader: str, path: Path) -> dict[str, Any]:
        """Returns the result of `judged`; `crash` if the process ended or had to be ended."""
        process = self._process or self._start()
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps([reader, str(path)]) + '\n')
            process.stdin.flush()
            answer = self._line(process, WAITED)
        except BrokenPipeError:
            answer = ''
        if answer:
            return json.loads(answer)
        is_hanging = process.poll() is None
        self.close()
        said = 'hang' if is_hanging else f'the process ended with {process.returncode}'
        seconds = WAITED if is_hanging else 0.0
        return {'crash': said, 'trace': '', 'is_refused': False, 'seconds': seconds, 'bytes': 0}

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _start(self) -> subprocess.Popen[str]:
        self._process = subprocess.Popen(
            [sys.executable, __file__, '--worker', str(self._seeds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if not os.environ.get('FUZZ_DEBUG') else None,
            text=True,
            bufsize=1,
            start_new_session=True,  # an interrupt is for this process alone
            env={**os.environ, 'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1'},
        )
        if not self._line(self._process, STARTING):
            raise RuntimeError('a worker did not start')
        return self._process

    @staticmethod
    def _line(process: subprocess.Popen[str], seconds: float) -> str:
        assert process.stdout is not None
        ready, _, _ = select.select([process.stdout], [], [], seconds)
        return process.stdout.readline() if ready else ''


def damaged(
    kind: Kind, name: str, seeds: Sequence[Path], rng: random.Random, folder: Path
) -> bytes:
    """The content of one damaged file, the same for the same state of `rng`."""
    data, other = (rng.choice(seeds).read_bytes() for _ in range(2))
    changes = [*kind.structural] if kind.structural and rng.random() < 0.6 else [*GENERIC]
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        change = rng.choice(changes)
        try:
            data = change(rng, data, other, *([folder] if change is database else []))
        except Exception:  # what is damaged already cannot be changed by its structure
            data = rng.choice(GENERIC)(rng, data, other)
    return data


def place(kind: Kind, name: str, data: bytes, seeds: Path, folder: Path) -> Path:
    """Puts a damaged file where its reader expects it; returns the path to read."""
    if kind.place:
        bag = folder / 'bag'
        shutil.copytree(seeds / kind.bag, bag)
        (bag / kind.place).write_bytes(data)
        return bag / 'a.db3' if name == 'wal' else bag
    if name == 'mesh':
        return _robot_with_mesh(data, folder)
    path = folder / f'damaged{kind.suffix}'
    path.write_bytes(data)
    for mesh in (seeds / 'mesh').iterdir():
        if kind.reader in ('robot', 'obstacles'):
            shutil.copy(mesh, folder)
    return path


def _robot_with_mesh(data: bytes, folder: Path) -> Path:
    """A robot whose one shape is the damaged mesh, of each format by its first bytes' turn."""
    suffix = ('.stl', '.obj', '.ply', '.dae')[len(data) % 4]
    if data[:3] in (b'ply', b'sol'):
        suffix = {b'ply': '.ply', b'sol': '.stl'}[data[:3]]
    elif data[:5] in (b'<?xml', b'<COLL'):
        suffix = '.dae'
    elif data[:1] in (b'#', b'o', b'v'):
        suffix = '.obj'
    (folder / f'shape{suffix}').write_bytes(data)
    path = folder / 'robot.urdf'
    path.write_text(
        f'<robot name="r"><link name="a"/><link name="b"><collision><geometry>'
        f'<mesh filename="shape{suffix}"/></geometry></collision>'
        '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
        '</inertial></link>'
        '<joint name="j" type="revolute"><parent link="a"/><child link="b"/>'
        '<limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>'
    )
    return path


def run(options: argparse.Namespace, seeds: Path) -> dict[str, Tally]:
    """Reads all files, by several workers; returns what became of them by kind."""
    tasks: queue.Queue[tuple[str, int]] = queue.Queue()
    for number in range(options.count):
        for name in options.kind:
            tasks.put((name, number))
    tallies = {name: Tally() for name in options.kind}
    lock, folders = threading.Lock(), seeds / 'damaged'

    def work() -> None:
        worker = Worker(seeds)
        try:
            for name, number in _taken(tasks):
                if stops:
                    return
                one(worker, name, number)
        finally:
            worker.close()

    def one(worker: Worker, name: str, number: int) -> None:
        kind, rng = KINDS[name], random.Random(f'{options.seed} {name} {number}')
        # The folder of every file of this worker is the same: its other files are
        # read once.
        with _emptied(folders / threading.current_thread().name) as folder:
            valid = sorted((seeds / name).iterdir())
            path = place(kind, name, damaged(kind, name, valid, rng, folder), seeds, folder)
            found = worker.read(kind.reader, path)
            is_bad = found['crash'] or found['seconds'] > LONGEST or found['bytes'] > MOST_BYTES
            if is_bad and options.keep:
                shutil.copytree(folder, options.keep / f'{name}_{number}', dirs_exist_ok=True)
        with lock:
            _count(tallies[name], name, number, found)

    stops: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda received, _: stops.append(received))
    threads = [threading.Thread(target=work) for _ in range(options.workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if not tasks.empty() and not stops:
        raise RuntimeError(f'{tasks.qsize()} files were not read: no worker is left')
    return tallies


@contextmanager
def _emptied(folder: Path) -> Iterator[Path]:
    """Gives an empty folder, and removes it."""
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def _taken(tasks: queue.Queue[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    while True:
        try:
            yield tasks.get_nowait()
        except queue.Empty:
            return


def _count(tally: Tally, name: str, number: int, found: dict[str, Any]) -> None:
    tally.files += 1
    tally.refused += found['is_refused']
    tally.longest = max(tally.longest, found['seconds'])
    tally.most = max(tally.most, found['bytes'])
    tally.hangs += found['seconds'] > LONGEST
    if found['seconds'] > LONGEST or found['bytes'] > MOST_BYTES:
        print(f'{name} {number}: {found["seconds"]:.1f} s, {found["bytes"] / 1e6:.0f} MB')
    if found['crash'] and found['crash'] != 'hang':
        tally.crashes[found['crash'].partition(':')[0] + found['crash'][-80:]] += 1
        key = ':'.join(found['crash'].split(':')[:2])
        if key not in tally.traces:
            tally.traces[key] = found['trace']
            print(f'{name} {number}: {found["crash"]}', flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--count', type=int, default=5000, help='files of each kind')
    parser.add_argument('--kind', nargs='+', choices=KINDS, default=list(KINDS))
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--workers', type=int, default=2)
    parser.add_argument('--keep', type=Path, help='a folder for the files that did harm')
    parser.add_argument('--worker', type=Path, help=argparse.SUPPRESS)
    options = parse(parser, argv, count=6)
    if options.worker:
        from parts.file_readers import READERS, serve

        for name, kind in KINDS.items():
            for valid in sorted((options.worker / name).iterdir()):
                with tempfile.TemporaryDirectory() as folder:
                    path = place(kind, name, valid.read_bytes(), options.worker, Path(folder))
                    with suppress(FrameRosError):
                        READERS[kind.reader](path)
        serve()
        return 0
    with tempfile.TemporaryDirectory(prefix='frame_ros_valid_') as folder:
        started = time.monotonic()
        tallies = run(options, make_seeds(Path(folder), list(KINDS)))
    print(f'{"kind":12} {"files":>6} {"refused":>8} {"crashes":>8} {"hangs":>6} {"s":>6} {"MB":>6}')
    for name, tally in tallies.items():
        print(
            f'{name:12} {tally.files:6} {tally.refused:8} {tally.crashes.total():8} '
            f'{tally.hangs:6} {tally.longest:6.2f} {tally.most / 1e6:6.0f}'
        )
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        traces = [f'{key}\n{text}' for t in tallies.values() for key, text in t.traces.items()]
        (options.keep / 'traces.txt').write_text('\n'.join(traces))
    files = sum(tally.files for tally in tallies.values())
    print(f'{files} files in {time.monotonic() - started:.0f} s')
    bars = Bars(options)
    bars.at_most('crashes', sum(t.crashes.total() for t in tallies.values()), 0)
    bars.at_most('hangs', sum(t.hangs for t in tallies.values()), 0)
    bars.at_most('longest, s', max(t.longest for t in tallies.values()), LONGEST)
    bars.at_most('most memory, MB', max(t.most for t in tallies.values()) / 1e6, MOST_BYTES / 1e6)
    return bars.exit_status()


if __name__ == '__main__':
    sys.exit(main())
