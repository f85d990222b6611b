# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of a run in words: episodes, size, folder, and the command for a report."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from pathlib import Path

from frame_ros.bags.run_folders import run_at, size_of
from frame_ros.bags.writer import PARTIAL_SUFFIX
from frame_ros.core.plain_text import counted


def new_episodes(directory: Path, earlier: Collection[Path] = ()) -> list[Path]:
    """Returns the episodes that were recorded into a folder, without `earlier` ones."""
    run = run_at(directory)
    return [path for path in run.episodes if path not in earlier] if run else []


def size_text(episodes: list[Path]) -> str:
    """Returns '5 episodes (1 cut), 31.4 MB' of bags and videos."""
    cut = sum(path.name.endswith(PARTIAL_SUFFIX) for path in episodes)
    note = f' ({cut} cut)' if cut else ''
    return f'{counted(len(episodes), "episode")}{note}, {size_of(episodes) / 1e6:,.1f} MB'


def report_command(directory: Path, earlier: Collection[Path] = ()) -> str:
    """Returns the command for a report of a folder's recordings, in that folder.

    earlier: bags from before the run.
    """
    what = new_episodes(directory, earlier) if earlier else [directory]
    paths = ' '.join(shlex.quote(str(path)) for path in what)
    return f'frame-ros report {paths} -o {shlex.quote(str(directory / "report.html"))}'


def stopped_lines(directory: Path, earlier: Collection[Path] = ()) -> list[str]:
    """Returns lines on the recordings of a run that was stopped, or in which a node died."""
    episodes = new_episodes(directory, earlier)
    logs = f'the logs are in {directory / "logs"}'
    if not episodes:
        return [f'no episode was recorded; {logs}']
    return [
        f'recorded: {size_text(episodes)}, in {directory}; {logs}',
        f'report on it: {report_command(directory, earlier)}',
    ]
