# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The recordings in folders: the files of each bag, and files that are not bags."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from frame_ros.bags.metadata import bag_information, listed_names
from frame_ros.bags.run_folders import run_at
from frame_ros.bags.storage.mcap_reader import MCAP_SUFFIXES, is_mcap, read_mcap
from frame_ros.bags.storage.other_storage import (
    SUFFIXES,
    is_other_storage,
    is_storage_companion,
    time_span,
)
from frame_ros.bags.writer import METADATA_NAME, SIDECAR_NAME
from frame_ros.core.errors import BagError
from frame_ros.core.input_files import ENTRIES
from frame_ros.core.time import SECOND

OWN_FILES = (METADATA_NAME, SIDECAR_NAME)
# Levels of folders below the given one that are searched for recordings.
DEEPEST = 6
# Two files that are this far apart in time are two recordings, s.
LONGEST_PAUSE = 1.0
# rosbag2 numbers the parts of one bag so.
PART_NAME = re.compile(r'(?P<stem>.*)_(?P<number>\d+)')
# Folder of a run for bags that show moments of its episodes again (recording/snapshots.py).
SNAPSHOTS = 'halt_snapshots'
NO_RECORDING = 'no recording'
OF_HALTS = 'snapshots of halts, which are in the episodes too; name the folder to read them'
EMPTY_FOLDER = 'no recording in it'
LINK = 'a link to a folder with no recording right in it'
TOO_DEEP = f'more than {DEEPEST} folders deep'
NAMED_AT_ONCE = 6


@dataclass
class Survey:
    """Contents of a path.

    Attributes:
        bags: paths that `Bag` takes, in natural order: folders, and files in folders that hold
            several recordings; of a recording in several files the first.
        unread: (path, reason) of what may hold data that is not read.
        others: (path, reason) of what holds none.
    """

    bags: list[Path] = field(default_factory=list)
    unread: list[tuple[Path, str]] = field(default_factory=list)
    others: list[tuple[Path, str]] = field(default_factory=list)


def find_bags(path: str | os.PathLike[str]) -> list[Path]:
    """Returns the bags at a path: itself, or all those in the folder and its subfolders, by name.

    Raises:
        BagError: there is none.
    """
    return survey(path).bags


def survey(path: str | os.PathLike[str]) -> Survey:
    """Looks for bags at a path, including the subfolders of a folder.

    Raises:
        BagError: there is none.
    """
    path = Path(path)
    if not path.is_dir():
        storage_files(path)
        return Survey([path])
    try:
        list(path.iterdir())
    except OSError as error:
        raise BagError(f'{path} cannot be listed: {error.strerror}') from error
    found = Survey()
    _search(path, found, DEEPEST, set())
    if not found.bags:
        if (path / METADATA_NAME).exists():
            return Survey([path])  # whoever reads it says what is missing
        storage_files(path)
    return found


def unread_lines(found: Survey, with_others: bool = True) -> list[str]:
    """Returns one line per reason for unread paths: 'not read (a reason): a, b'."""
    by_reason: dict[str, list[str]] = {}
    for path, reason in [*found.unread, *(found.others if with_others else ())]:
        by_reason.setdefault(reason, []).append(path.name + '/' * path.is_dir())
    return [f'not read ({reason}): {_listed(names)}' for reason, names in by_reason.items()]


def _listed(names: list[str]) -> str:
    names = list(dict.fromkeys(names))
    more = len(names) - NAMED_AT_ONCE
    return ', '.join(names[:NAMED_AT_ONCE]) + (f' and {more} more' if more > 0 else '')


def each_once(paths: Iterable[Path]) -> list[Path]:
    """Returns the paths without repetitions, and without the later files of a split recording.

    `*.mcap` names all parts of a split bag.

    Raises:
        BagError: a path is not a bag.
    """
    kept = list({path.resolve(): path for path in paths}.values())
    parts = {part.resolve() for path in kept if path.is_file() for part in storage_files(path)[1:]}
    return [path for path in kept if path.resolve() not in parts]


def storage_files(path: Path) -> list[Path]:
    """Returns the storage files of a bag in the order of recording: of a folder those that its
    metadata.yaml lists, else those of its only recording; of a file that begins a recording in
    several, all of them.

    Raises:
        BagError: the path is missing, a ROS 1 bag, a folder without storage files or with several
        recordings, or a file of no known kind.
    """
    if not path.exists():
        raise BagError(f'{path} does not exist')
    if path.is_file():
        if path.suffix == '.bag':
            raise BagError(f'{path} is a ROS 1 bag; {ros1_hint(path)}')
        if not _is_storage(path):
            raise BagError(f'{path} is not a bag: expected a bag folder, an .mcap or a .db3 file')
        return _continued(path)
    if not path.is_dir():
        raise BagError(f'{path} is not a bag: it is neither a folder nor a file')
    recordings = _recordings_in(path)
    if len(recordings) > 1:
        names = ', '.join(files[0].name for files in recordings)
        raise BagError(f'{path} holds {len(recordings)} recordings; name one of {names}')
    if not recordings:
        ros1 = next(path.glob('*.bag'), None)
        if ros1 is not None:
            raise BagError(f'{ros1} is a ROS 1 bag; {ros1_hint(ros1)}')
        raise BagError(f'{path} is not a bag: it holds no .mcap or .db3 file')
    return recordings[0]


def files_of_bag(path: Path) -> list[Path]:
    """Returns the files of a bag: its storage, and its descriptions."""
    try:
        storage = storage_files(path)
    except BagError:
        storage = [path] if path.is_file() else []
    folder = path if path.is_dir() else path.parent
    return [*storage, *(folder / name for name in OWN_FILES)]


def ros1_hint(path: Path) -> str:
    """Returns the command that converts a ROS 1 bag to ROS 2."""
    source, target = (shlex.quote(str(each)) for each in (path, path.with_suffix('')))
    return (
        f'convert it first: rosbags-convert --src {source} --dst {target} --dst-storage mcap '
        '--dst-typestore ros2_jazzy'
    )


def unlisted_files(folder: Path) -> list[Path]:
    """Returns the storage files in a bag's folder that its metadata.yaml, if any, does not list."""
    files = _storage_in(folder)
    listed = _listed_in(folder, files)
    return [file for file in files if listed and file not in listed]


def _search(folder: Path, found: Survey, depth: int, seen: set[Path]) -> None:
    """Adds the contents of a folder and those below it."""
    real = folder.resolve()
    if real in seen:
        return
    seen.add(real)
    try:
        children = sorted(islice(folder.iterdir(), ENTRIES.now), key=natural)
    except OSError:
        found.bags.append(folder)  # whoever reads it says why it cannot be
        return
    if len(children) == ENTRIES.now or len(seen) > ENTRIES.now:
        found.unread.append((folder, f'more than {ENTRIES.now:,} {ENTRIES.unit}'))
        return
    recordings = _recordings_in(folder)
    if len(recordings) == 1:
        found.bags.append(folder)
    own = {files[0] for files in recordings if len(recordings) > 1}
    run = run_at(folder)  # its videos, logs and report hold no recording, and nobody expects one
    known = set(run.files) if run is not None else set()
    for child in children:
        if child in own:
            found.bags.append(child)
        elif child.is_dir():
            if not _holds_only(child, known):
                _search_below(child, found, depth, seen)
        elif child not in known and not child.name.startswith('.'):
            _leave_out(child, found)


def _holds_only(folder: Path, known: set[Path]) -> bool:
    """Returns whether a folder that is not a bag holds such files and nothing else."""
    if (folder / METADATA_NAME).exists() or (folder / SIDECAR_NAME).exists():
        return False
    try:
        children = list(folder.iterdir())
    except OSError:
        return False
    return bool(children) and all(child in known for child in children)


def _search_below(child: Path, found: Survey, depth: int, seen: set[Path]) -> None:
    if child.name.startswith('.'):
        return
    if not depth:
        found.unread.append((child, TOO_DEEP))
        return
    if child.is_symlink() and not _recordings_in(child):
        found.others.append((child, LINK))
        return
    if child.name == SNAPSHOTS:
        found.others.append((child, OF_HALTS))
        return
    below = Survey()
    # A link may lead to a recording, or one folder of them: its target may lie above, or be the
    # disk.
    _search(child, below, 0 if child.is_symlink() else depth - 1, seen)
    if below.bags or below.unread:
        found.bags += below.bags
        found.unread += below.unread
        found.others += below.others
    else:
        found.others.append((child, EMPTY_FOLDER))


def _leave_out(file: Path, found: Survey) -> None:
    if file.suffix == '.bag':
        found.unread.append((file, f'a ROS 1 bag; {ros1_hint(file)}'))
    elif file.name not in OWN_FILES and not _is_storage(file) and not is_storage_companion(file):
        found.others.append((file, NO_RECORDING))


def _recordings_in(folder: Path) -> list[list[Path]]:
    """Returns the files of each recording that lies in a folder itself."""
    files = _storage_in(folder)
    if len(files) < 2:  # metadata.yaml could not say more
        return [files] if files else []
    listed = _listed_in(folder, files)
    if listed:
        return [listed]
    recordings: list[list[Path]] = []
    for file in files:
        if recordings and _follows(recordings[-1][-1], file):
            recordings[-1].append(file)
        else:
            recordings.append([file])
    return recordings


def _continued(file: Path) -> list[Path]:
    """Returns a file and its continuations, if it is the first of a split recording."""
    if not _is_storage(file) or _listed_in(file.parent, _storage_in(file.parent)):
        return [file]
    own = (files for files in _recordings_in(file.parent) if files[0] == file)
    return next(own, [file])


def _storage_in(folder: Path) -> list[Path]:
    return sorted((f for f in folder.iterdir() if _is_storage(f) and f.is_file()), key=natural)


def _is_storage(file: Path) -> bool:
    return is_mcap(file) or is_other_storage(file)


def _listed_in(folder: Path, files: Iterable[Path]) -> list[Path]:
    """Returns those of the files that metadata.yaml lists, in its order."""
    try:
        order = listed_names(bag_information(folder) or {})
    except (OSError, ValueError):
        return []
    by_name = {file.name: file for file in files}
    # A compressed file may be listed without the suffix of its compression, or have been unpacked
    # since.
    candidates = ((name, f'{name}.zstd', name.removesuffix('.zstd')) for name in order)
    chosen = (next((by_name[n] for n in c if n in by_name), None) for c in candidates)
    return [file for file in chosen if file is not None]


def _follows(before: Path, after: Path) -> bool:
    """Returns whether a file continues the recording of the one before, without a pause."""
    names = [_plain_name(file) for file in (before, after)]
    parts = [PART_NAME.fullmatch(stem) for stem, _ in names]
    if names[0][1] != names[1][1] or parts[0] is None or parts[1] is None:
        return False
    is_next = int(parts[1]['number']) == int(parts[0]['number']) + 1
    if parts[0]['stem'] != parts[1]['stem'] or not is_next:
        return False
    try:
        first, second = _contents(before), _contents(after)
    except BagError:
        return False
    if first is None or second is None:
        return first is not None  # a part that was begun when the recorder was stopped
    pause = (second[1] - first[2]) / SECOND
    # A writer may declare in each part only the topics that it has messages of.
    is_alike = first[0] <= second[0] or second[0] <= first[0]
    return is_alike and abs(pause) <= LONGEST_PAUSE


def _plain_name(file: Path) -> tuple[str, str]:
    """Returns name without suffix, and suffix."""
    suffix = next((s for s in (*MCAP_SUFFIXES, *SUFFIXES) if file.name.endswith(s)), '')
    return file.name.removesuffix(suffix), suffix


def _contents(file: Path) -> tuple[set[tuple[str, str]], int, int] | None:
    """Returns (topic, type) of all topics, first and last receive time, ns; None without messages.

    Raises:
        BagError: it cannot be read.
    """
    try:
        state = file.stat()
    except OSError as error:
        raise BagError(f'{file} cannot be read: {error.strerror}') from error
    return _contents_of(file, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=1024)
def _contents_of(
    file: Path, size: int, changed: int
) -> tuple[set[tuple[str, str]], int, int] | None:
    """Returns those of a file of that size (bytes) and time of change (ns): each is read once."""
    if is_other_storage(file):
        return time_span(file)
    mcap = read_mcap(file)
    received = mcap.rows['received']
    if not len(received):
        return None
    topics = {(c.topic, c.message_type) for c in mcap.channels.values()}
    return topics, int(np.min(received)), int(np.max(received))


def natural(path: Path) -> list[Any]:
    """Returns a sort key by which numbers in names are ordered by value."""
    return [int(part) if part.isdigit() else part for part in re.split(r'(\d+)', path.name)]
