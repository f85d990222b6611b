# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The version of the package, whether it runs from pip, a colcon overlay or a checkout."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def package_version() -> str:
    """Returns the version of package.xml, or of the metadata; 'unknown' if neither is there."""
    package_xml = Path(__file__).resolve().parents[2] / 'package.xml'
    if package_xml.is_file():
        found = re.search(r'<version>(.*?)</version>', package_xml.read_text(encoding='utf-8'))
        if found:
            return found[1]
    try:
        return version('frame_ros')
    except PackageNotFoundError:
        return 'unknown'
