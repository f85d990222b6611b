# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Files that `frame-ros report` writes, checked before the bags are read."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from frame_ros.core.errors import BagError, SetupError
from frame_ros.core.output_files import check_file, check_folder, refuse_inputs

if TYPE_CHECKING:
    from frame_ros.episodes.episode import Episode

DEFAULT_OUTPUT = Path('report.html')
STANDARD_OUTPUT = '-'


def check_outputs(args: argparse.Namespace, bags: Sequence[Path]) -> None:
    """Raises SetupError if an output cannot be written, or would replace a file of the bags, before
    minutes of reading.
    """
    from frame_ros.bags.find_bags import files_of_bag

    outputs: list[tuple[Path, str]] = []
    if args.json not in (None, STANDARD_OUTPUT):
        outputs.append((check_file(args.json, '--json'), '--json'))
    if args.per_run:
        if args.output:
            check_folder(args.output, '--output')
        for page in page_paths(bags, args.output).values():
            is_there = page.parent.is_dir()
            checked = check_file(page, '--per-run') if is_there else page
            outputs.append((checked, '--per-run'))
    elif args.json is None or args.output or args.open:
        outputs.append((check_file(args.output or DEFAULT_OUTPUT, '--output'), '--output'))
    read = [file for bag in (*bags, *bags_at(args.reference)) for file in files_of_bag(bag)]
    for path, name in outputs:
        refuse_inputs(path, read, name)
    files = [path.resolve() for path, _ in outputs if path.is_file() or not path.exists()]
    if len(set(files)) < len(files):
        raise SetupError(f'--json and --output are one file, {outputs[0][0]}; name two')


def bags_at(paths: Sequence[str]) -> Iterator[Path]:
    """Yields the bags of references; paths without bags are reported by their reader."""
    from frame_ros.bags.find_bags import find_bags

    for path in paths:
        with suppress(BagError):
            yield from find_bags(path)


def pages(
    episodes: Sequence[Episode], output: Path | None, is_per_run: bool
) -> list[tuple[Path, list[Episode]]]:
    """Returns each page to write and its episodes: one page of all; or one per folder that holds
    bags, in that folder, or in the folder `output` under the folder's name.
    """
    if not is_per_run:
        return [(output or DEFAULT_OUTPUT, list(episodes))]
    by_folder: dict[Path, list[Episode]] = {}
    for episode in episodes:
        by_folder.setdefault(_folder_of(episode.path), []).append(episode)
    paths = page_paths([episode.path for episode in episodes], output)
    return [(paths[folder], group) for folder, group in by_folder.items()]


def page_paths(bags: Sequence[Path], output: Path | None) -> dict[Path, Path]:
    """Returns the page of each folder that holds bags."""
    found: dict[Path, Path] = {}
    used: set[str] = set()
    for folder in dict.fromkeys(map(_folder_of, bags)):
        name, number = folder.name, 1
        while name in used:
            number += 1
            name = f'{folder.name}_{number}'
        used.add(name)
        found[folder] = output / f'{name}.html' if output else folder / DEFAULT_OUTPUT
    return found


def _folder_of(bag: Path) -> Path:
    return bag.resolve().parent
