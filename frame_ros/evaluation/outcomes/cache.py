# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The outcomes of each bag in a small JSON file, away from the bag, so that later runs are quick.

An entry holds for a bag as it was: the files in its folder with size and time of change, the first
and last bytes of its storage, the version of frame_ros, and the options that matter. Any other
entry, and one that cannot be read, counts as missing. Entries are written whole, so that several
processes may share a folder; one that cannot be written is left out.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from frame_ros.bags.find_bags import files_of_bag, storage_files
from frame_ros.bags.storage.sqlite_files import JOURNAL, SHARED, WAL
from frame_ros.bags.writer import PARTIAL_SUFFIX
from frame_ros.core.errors import BagError, SetupError
from frame_ros.core.input_files import load_json, open_file, read_text
from frame_ros.core.output_files import write_whole
from frame_ros.core.version import package_version
from frame_ros.evaluation.outcomes.recording import RecordedOutcome

# Raised when the content of an entry, or what is made from a bag, changes within a version.
SCHEMA = 2
# Bytes at each end of a storage file that are compared: an MCAP file ends with its summary.
END_BYTES = 4096
FOLDER_VARIABLE = 'FRAME_ROS_CACHE'


def default_folder() -> Path:
    """Returns the folder of the entries if none is given.

    Raises:
        SetupError: there is no home.
    """
    own, base = os.environ.get(FOLDER_VARIABLE, ''), os.environ.get('XDG_CACHE_HOME', '')
    try:
        if own:
            return Path(own).expanduser() / 'outcomes'
        root = Path(base) if os.path.isabs(base) else Path('~/.cache').expanduser()
    except RuntimeError as error:
        raise SetupError(f'no folder for the cache: {error}; set {FOLDER_VARIABLE}') from error
    return root / 'frame_ros' / 'outcomes'


class OutcomeCache:
    """Entries of bags.

    Args:
        folder: made when the first is written.
        options: those by which the outcomes are made, as text.

    Attributes:
        problem: why the last entry could not be written; '' if it was.
    """

    def __init__(self, folder: Path, options: str = '') -> None:
        self._folder = folder
        self._made_by = {'schema': SCHEMA, 'version': package_version(), 'options': options}
        self.problem = ''

    def state(self, bag: Path) -> dict[str, Any] | None:
        """Returns what an entry of a bag must agree with; None for one that is still recorded, or
        cannot be read.
        """
        if bag.name.endswith(PARTIAL_SUFFIX):
            return None
        try:
            storage = storage_files(bag)
            files = [_file_state(file) for file in _files(bag, storage)]
            ends = [_ends(file) for file in storage]
        except (OSError, BagError):
            return None
        place = {'bag': str(_absolute(bag)), 'name': bag.name}  # a link has a name of its own
        return {**self._made_by, **place, 'files': files, 'ends': ends}

    def load(self, bag: Path, state: dict[str, Any] | None) -> list[RecordedOutcome] | None:
        """Returns the outcomes of a bag in this state; None without an entry that holds."""
        if state is None:
            return None
        try:
            content = load_json(read_text(self._path(bag)))
            if content['state'] != state:
                return None
            return [RecordedOutcome.from_dict(each, bag) for each in content['episodes']]
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None

    def store(
        self, bag: Path, state: dict[str, Any] | None, episodes: Sequence[RecordedOutcome]
    ) -> None:
        """Writes the entry of a bag that had this state before it was read."""
        if state is None:
            return
        content = {'state': state, 'episodes': [episode.to_dict() for episode in episodes]}
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_whole(self._path(bag), json.dumps(content, allow_nan=False), 'the cache')
            self.problem = ''
        except (OSError, SetupError, ValueError) as error:
            self.problem = str(error)

    def _path(self, bag: Path) -> Path:
        name = hashlib.sha256(os.fsencode(_absolute(bag))).hexdigest()[:40]
        return self._folder / f'{name}.json'


def _absolute(path: Path) -> str:
    return os.path.realpath(path)


def _files(bag: Path, storage: Sequence[Path]) -> list[Path]:
    """Returns the files that decide on a bag's content: its own, companions of a database, and what
    else is in its folder, such as the description of its robot.
    """
    companions = [Path(f'{file}{suffix}') for file in storage for suffix in (WAL, JOURNAL)]
    others = sorted(bag.iterdir()) if bag.is_dir() else []
    found = dict.fromkeys([*files_of_bag(bag), *companions, *others])
    return [file for file in found if file.is_file() and not file.name.endswith(SHARED)]


def _file_state(file: Path) -> list[str | int]:
    state = file.stat()
    return [file.name, state.st_size, state.st_mtime_ns]


def _ends(file: Path) -> str:
    with open_file(file) as opened:
        first = opened.read(END_BYTES)
        opened.seek(max(0, os.fstat(opened.fileno()).st_size - END_BYTES))
        return hashlib.sha256(first + opened.read(END_BYTES)).hexdigest()
