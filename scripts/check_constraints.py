#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that every pinned version can be installed on every Python that its file names.

    python scripts/check_constraints.py [--python 3.11.2] [--pin NAME==VERSION ...] [FILE ...]

A file of requirements/ names its Pythons in a line `# Pythons: 3.11 3.12 3.13`; what it includes
(`-r`, `-c`) is checked with it. Each stands for its oldest patch release, 3.11.0, since a package
may ask for a later one. pip's own finder says which files of its index fit that Python; nothing is
downloaded or installed, and markers are evaluated for that Python.
"""

from __future__ import annotations

import argparse
import logging
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

from pip._internal.commands import create_command
from pip._internal.models.target_python import TargetPython
from pip._vendor.packaging.requirements import Requirement

REQUIREMENTS = Path(__file__).resolve().parent.parent / 'requirements'
PYTHONS = re.compile(r'^# Pythons: (.+)$', re.MULTILINE)
WORKERS = 4


def pythons_of(path: Path) -> list[str]:
    """The Python versions that a requirement file names, such as ['3.11', '3.12']; may be none."""
    found = PYTHONS.search(path.read_text())
    return found[1].split() if found else []


def pins_of(path: Path) -> dict[str, str]:
    """Each requirement of a file and of those it includes, and the name of the file it is in."""
    pins = {}
    for line in path.read_text().splitlines():
        if line.startswith(('-r ', '-c ')):
            pins |= pins_of(path.parent / line[3:].strip())
        elif line.strip() and line[0] not in '#-':
            pins[line.strip()] = path.name
    return pins


def applies(requirement: Requirement, python: str) -> bool:
    """Is a requirement's marker true on this Python?"""
    environment = {'python_version': '.'.join(python.split('.')[:2]), 'python_full_version': python}
    return requirement.marker is None or requirement.marker.evaluate(environment)


def wanted(paths: list[Path], pythons: list[str], only: list[str]) -> dict[str, dict[str, str]]:
    """For each pin the Pythons that need it, and the file that it stands in for each."""
    found: dict[str, dict[str, str]] = {}
    for path in paths:
        pins = pins_of(path)
        for python in pythons or [f'{minor}.0' for minor in pythons_of(path)]:
            for line, file in pins.items():
                if (not only or line in only) and applies(Requirement(line), python):
                    found.setdefault(line, {})[python] = file
    return found


@cache
def index_of_pip() -> tuple[Any, Any, Any]:
    """pip's way to its index: a command, the user's settings, and a session that fetches a page
    only once, for all Pythons.
    """
    logging.disable()
    command = create_command('download')
    options, _ = command.parse_args(['--pre', 'unused'])
    session = command._build_session(options)
    fetch, pages = session.get, {}

    def get(url: str, **settings: Any) -> Any:
        if url not in pages:
            pages[url] = fetch(url, **settings)
        return pages[url]

    session.get = get
    return command, options, session


@cache
def finder_for(python: str | None) -> Any:
    """pip's finder for a Python; None: for any, whatever a package asks for."""
    command, options, session = index_of_pip()
    version = tuple(map(int, python.split('.'))) if python else None
    return command._build_package_finder(
        options=options,
        session=session,
        target_python=TargetPython(py_version_info=version),
        ignore_requires_python=python is None,
    )


def files_of(requirement: Requirement, python: str | None) -> list[Any]:
    """The files of the pinned version that the index offers to a Python."""
    return [
        candidate.link
        for candidate in finder_for(python).find_all_candidates(requirement.name)
        if requirement.specifier.contains(candidate.version, prereleases=True)
    ]


def why_not(line: str, pythons: list[str]) -> dict[str, str]:
    """The Pythons that cannot have a pinned version, each with the reason.

    A version without a wheel for any of them is a source distribution, which every Python builds.
    """
    requirement = Requirement(line)
    files = {python: files_of(requirement, python) for python in pythons}
    has_wheels = any(link.is_wheel for links in files.values() for link in links)
    wrong = {}
    for python, links in files.items():
        if not any(link.is_wheel or not has_wheels for link in links):
            asked = {link.requires_python for link in files_of(requirement, None)} - {None}
            wrong[python] = f'needs Python {" or ".join(asked)}' if asked else 'is not in the index'
            if links:
                wrong[python] = 'has no wheel for it'
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('files', nargs='*', type=Path, help='default: all that name their Pythons')
    parser.add_argument('--python', action='append', default=[], help='this version instead')
    parser.add_argument('--pin', action='append', default=[], help='this pin only')
    options = parser.parse_args()
    every = sorted(REQUIREMENTS.glob('*.txt'))
    paths = options.files or [path for path in every if pythons_of(path)]
    pins = wanted(paths, options.python, options.pin)
    wrong = 0
    with ProcessPoolExecutor(WORKERS) as pool:
        answers = pool.map(why_not, pins, [list(each) for each in pins.values()], chunksize=4)
        for line, answer in zip(pins, answers):
            for python, reason in answer.items():
                print(f'{line} ({pins[line][python]}) on Python {python}: {reason}')
                wrong += 1
    pythons = sorted({python for each in pins.values() for python in each})
    print(f'{len(pins)} pinned versions on Python {", ".join(pythons)}: {wrong} do not fit')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
