# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The version of the package, whether it runs from pip, a colcon overlay or a checkout."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def source_version(folders: Iterable[str]) -> str:
    """Returns the package's version and a digest of what lies in folders of the checkout, such as
    '1.2.0+3f6a1b9c02de': two that are equal ran the same code on the same numbers. Python, YAML and
    URDF files count. A folder that is not there, as in an installed package, counts as empty.
    """
    digest = sha256()
    for folder in sorted(folders):
        for path in sorted((ROOT / folder).rglob('*')):
            if path.suffix in ('.py', '.yaml', '.urdf') and path.is_file():
                digest.update(path.relative_to(ROOT).as_posix().encode() + b'\0')
                digest.update(path.read_bytes())
    return f'{package_version()}+{digest.hexdigest()[:12]}'


def package_version() -> str:
    """Returns the version of package.xml, or of the metadata; 'unknown' if neither is there."""
    package_xml = ROOT / 'package.xml'
    if package_xml.is_file():
        found = re.search(r'<version>(.*?)</version>', package_xml.read_text(encoding='utf-8'))
        if found:
            return found[1]
    try:
        return version('frame_ros')
    except PackageNotFoundError:
        return 'unknown'
