#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Writes requirements/locked/: every package that a step of the set-up installs, with the hashes of
its files, for `pip install --no-deps --require-hashes`.

    python scripts/lock_requirements.py            after a change of a pin
    python scripts/lock_requirements.py --check    do they hold what the pins resolve to?

pip resolves the pins for the Python that runs this; the hashes are those of all files of a version
that its index has for Linux, for every Python. Not locked are torch and torchvision, whose wheels
for the CPU come from an index that the user names; what goes with a sourced ROS 2, which depends
on the system's packages; and the policy server's environment, of which only the roots are pinned.
franka-sim has an environment of its own, whose pins are not those of the others.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from check_constraints import REQUIREMENTS, finder_for, pins_of
from pip._internal.index.collector import parse_links
from pip._internal.models.link import Link
from pip._vendor.packaging.requirements import Requirement
from pip._vendor.packaging.utils import (
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)

LOCKED = REQUIREMENTS / 'locked'
# Step of the set-up, or environment of its own -> its files of requirements. Complete as it is are
# those of LeRobot and franka-sim.
STEPS = {
    'ros': ('ros.txt',),
    'tools': ('test.txt', 'docs.txt'),
    'lerobot': ('lerobot.txt',),
    'franka-sim': ('franka-sim.txt',),
}
COMPLETE = ('lerobot', 'franka-sim')
ALONE = ('franka-sim',)
ELSEWHERE = ('torch', 'torchvision')
HEAD = '# Made by scripts/lock_requirements.py; see there. Hashes are of the files for Linux.\n'


def resolved(step: str) -> list[str]:
    """The pins, name==version with the marker that a pin has, of all that a step installs."""
    # What a step brings along may be pinned in the file of a later one.
    others = [each for each in STEPS if each not in (step, *ALONE)]
    every = [file for each in others for file in STEPS[each]]
    pins: dict[str, str] = {}
    for file in (*every, *STEPS[step]):
        pins |= {name_of(line): line for line in pins_of(REQUIREMENTS / file)}
    if step in COMPLETE:
        own = {name_of(line) for file in STEPS[step] for line in pins_of(REQUIREMENTS / file)}
        names = [name for name in own if name not in ELSEWHERE]
    else:
        command = ['-m', 'pip', 'install', '--disable-pip-version-check', '--dry-run', '--quiet']
        command += ['--ignore-installed', '--report', '-']
        command += [f'-r{REQUIREMENTS / file}' for file in STEPS[step]]
        ran = subprocess.run([sys.executable, *command], check=True, stdout=subprocess.PIPE)
        found = json.loads(ran.stdout[ran.stdout.index(b'{') :])['install']
        names = [canonicalize_name(each['metadata']['name']) for each in found]
    if missing := [name for name in names if name not in pins]:
        raise SystemExit(f'{step}: not pinned: {", ".join(missing)}')
    return sorted(pins[name] for name in names)


def name_of(line: str) -> str:
    """The canonical name of a requirement."""
    return canonicalize_name(Requirement(line).name)


def hashes_of(line: str) -> list[str]:
    """sha256 of the files of a pinned version that fit Linux, sorted."""
    requirement, collector = Requirement(line), finder_for(None)._link_collector
    found = set()
    for url in collector.search_scope.get_index_urls_locations(requirement.name):
        page = collector.fetch_response(Link(url)) if url.startswith('http') else None
        for link in parse_links(page) if page else ():
            if link.hash_name == 'sha256' and fits(link, requirement):
                found.add(link.hash)
    if not found:
        raise SystemExit(f'the index gives no sha256 for {line}')
    return sorted(found)


def fits(link: Link, requirement: Requirement) -> bool:
    """Is a file of the pinned version, and none of another system?"""
    try:
        if not link.is_wheel:
            return requirement.specifier.contains(parse_sdist_filename(link.filename)[1], True)
        _, version, _, tags = parse_wheel_filename(link.filename)
    except ValueError:
        return False
    platforms = [tag.platform for tag in tags]
    is_linux = any(re.match(r'any$|(many)?linux.*_(x86_64|aarch64)$', each) for each in platforms)
    is_new = any(re.match(r'py|cp3(1[1-9]|[2-9]$)|cp3$', tag.interpreter) for tag in tags)
    has_abi = any('abi3' in tag.abi for tag in tags)
    return (is_new or has_abi) and is_linux and requirement.specifier.contains(version, True)


def lock_text(pins: list[str]) -> str:
    """The content of a locked file."""
    with ThreadPoolExecutor(8) as pool:
        every = list(pool.map(hashes_of, pins))
    entries = [
        ' \\\n    '.join([pin, *(f'--hash=sha256:{each}' for each in hashes)])
        for pin, hashes in zip(pins, every)
    ]
    return HEAD + '\n'.join(entries) + '\n'


def locked_pins(step: str) -> list[str]:
    """The pins of a locked file."""
    lines = (LOCKED / f'{step}.txt').read_text(encoding='utf-8').splitlines()
    return [line.removesuffix(' \\') for line in lines if line[:1] not in (' ', '#')]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('steps', nargs='*', choices=[[], *STEPS], help='default: all')
    parser.add_argument('--check', action='store_true', help='write nothing')
    options = parser.parse_args()
    wrong = 0
    for step in options.steps or STEPS:
        pins = resolved(step)
        if options.check:
            differences = set(pins) ^ set(locked_pins(step))
            wrong += len(differences)
            said = f'differ in {", ".join(sorted(differences))}' if differences else 'are the pins'
            print(f'requirements/locked/{step}.txt: {len(pins)} packages {said}')
            continue
        LOCKED.mkdir(exist_ok=True)
        (LOCKED / f'{step}.txt').write_text(lock_text(pins), encoding='utf-8')
        print(f'requirements/locked/{step}.txt: {len(pins)} packages')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
