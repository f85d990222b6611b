# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Runs on the disk: folders with recorded episodes, their size, and their removal.

Only files written by the recorder and the demo are counted and removed: the bags, their videos, and
of a demo its logs and its report. Links are never followed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from frame_ros.bags.recording_lock import NAME as LOCK_NAME
from frame_ros.bags.recording_lock import is_being_recorded
from frame_ros.bags.writer import PARTIAL_SUFFIX, SIDECAR_NAME, TEMPORARY_SUFFIX
from frame_ros.core.errors import BagError
from frame_ros.core.input_files import load_json, read_text

STATES = ('recording', 'finished', 'failed')
MARK = 'frame_ros_version'  # what the recorder writes into the facts of every episode
REPORT_NAME = 'report.html'
GENERATOR = '<meta name="generator" content="frame_ros '  # then the version
HEAD = 16384  # bytes of a page that hold it
LOG_FOLDER = 'logs'
SESSION_LOG = 'session.log'  # every demo writes it
# Levels of folders below the given one that are searched for runs.
DEEPEST = 3
# A bag written to so recently, s, may still be in recording.
FRESH = 60.0


@dataclass(frozen=True)
class Run:
    """A folder with episodes."""

    path: Path
    episodes: tuple[Path, ...]  # their folders
    files: tuple[Path, ...] = field(repr=False, default=())  # all of ours in it, without folders
    size: int = 0  # of these, bytes
    changed: float = 0.0  # when the newest of them was written, s since 1970

    @property
    def is_recording(self) -> bool:
        """True if a recorder writes into it now, even between two episodes."""
        return is_being_recorded(self.path) or any(map(_may_be_recorded, self.episodes))


def run_at(folder: Path) -> Run | None:
    """Returns the run in a folder itself; None if it holds no episode of ours."""
    episodes = tuple(sorted(filter(is_episode, _folders(folder))))
    if not episodes:
        return None
    files = tuple(_files_of_run(folder, episodes))
    facts = [file.stat() for file in files]
    size, changed = sum(f.st_size for f in facts), max(f.st_mtime for f in facts)
    return Run(folder, episodes, files, size, changed)


def find_runs(folder: str | Path) -> list[Run]:
    """Returns the runs in a folder and in the folders in it, the newest first.

    Raises:
        BagError: it is no folder, or cannot be listed.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise BagError(f'{folder} is not a folder; it must be one that holds runs')
    try:
        list(folder.iterdir())
    except OSError as error:
        raise BagError(f'{folder} cannot be listed: {error.strerror}') from error
    return sorted(_search(folder, DEEPEST), key=lambda run: run.changed, reverse=True)


def is_episode(folder: Path) -> bool:
    """Returns whether a folder is a bag of our recorder, by its sidecar, and not renamed."""
    try:
        content = load_json(read_text(folder / SIDECAR_NAME))
        is_ours = content['state'] in STATES and MARK in content['metadata']
        return is_ours and _is_file(_storage_file(folder))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def episode_files(episode: Path) -> list[Path]:
    """Returns the files of an episode written by the recorder: in its folder, and its video."""
    name = episode.name.removesuffix(PARTIAL_SUFFIX)
    sidecars = (SIDECAR_NAME, SIDECAR_NAME + TEMPORARY_SUFFIX)
    own = {'metadata.yaml', 'metadata.yaml' + TEMPORARY_SUFFIX, *sidecars}
    inside = [_storage_file(episode), *(episode / file for file in sorted(own))]
    videos = [episode.parent / f'{name}.mp4', episode.parent / f'.{name}.mp4.partial']
    return [file for file in (*inside, *videos) if _is_file(file)]


def size_of(episodes: list[Path]) -> int:
    """Returns the bytes of episodes with their videos."""
    return sum(file.stat().st_size for episode in episodes for file in episode_files(episode))


def remove_run(run: Run) -> list[Path]:
    """Removes our files of a run, and its folders if nothing else is in them.

    Returns:
        Other files in the run's folder, which stay.

    Raises:
        BagError: it is being recorded into, or a file cannot be removed.
    """
    if run.is_recording:
        raise BagError(f'{run.path}: it is being recorded into; nothing was removed')
    try:
        for file in run.files:
            file.unlink(missing_ok=True)
        for folder in (*run.episodes, run.path / LOG_FOLDER, run.path):
            if folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
                folder.rmdir()
    except OSError as error:
        raise BagError(f'{run.path} cannot be removed: {error}') from error
    return sorted(run.path.iterdir()) if run.path.is_dir() else []


def _search(folder: Path, depth: int) -> Iterator[Run]:
    run = run_at(folder)
    if run is not None:
        yield run
    if depth:
        for child in _folders(folder):
            if not is_episode(child):
                yield from _search(child, depth - 1)


def _folders(folder: Path) -> list[Path]:
    try:
        children = sorted(folder.iterdir())
    except OSError:
        return []
    return [c for c in children if c.is_dir() and not c.is_symlink() and not c.name.startswith('.')]


def _files_of_run(folder: Path, episodes: tuple[Path, ...]) -> Iterator[Path]:
    for episode in episodes:
        yield from episode_files(episode)
    logs = folder / LOG_FOLDER
    # Of a demo. A log alone does not show its owner: its neighbours do.
    of_demo = sorted(logs.glob('*.log')) if _is_file(logs / SESSION_LOG) else []
    for file in [*of_demo, folder / LOCK_NAME]:
        if _is_file(file) and not file.parent.is_symlink():
            yield file
    if is_own_page(folder / REPORT_NAME):
        yield folder / REPORT_NAME


def is_own_page(file: Path) -> bool:
    """Returns whether a file is a page written by frame_ros, by its generator."""
    if not _is_file(file):
        return False
    try:
        with file.open('rb') as page:
            return GENERATOR.encode() in page.read(HEAD)
    except OSError:
        return False


def _storage_file(episode: Path) -> Path:
    return episode / f'{episode.name.removesuffix(PARTIAL_SUFFIX)}_0.mcap'


def _is_file(file: Path) -> bool:
    return file.is_file() and not file.is_symlink()


def _may_be_recorded(episode: Path) -> bool:
    if not episode.name.endswith(PARTIAL_SUFFIX):
        return False
    times = [file.stat().st_mtime for file in episode_files(episode)]
    return time.time() - max(times, default=0.0) < FRESH
