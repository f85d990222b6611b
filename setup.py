# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The ROS-free part of frame_ros as a plain Python distribution; colcon builds the ROS package.

Dependencies, extras and entry points are in setup.cfg, which the colcon build reads too; the
version is that of package.xml.
"""

import re
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).resolve().parent
VERSION = re.search(r'<version>(.*?)</version>', (HERE / 'package.xml').read_text())[1]


def shared(folder: str) -> tuple[str, list[str]]:
    """The files of one folder, installed where ROS also puts them: share/frame_ros/."""
    files = sorted(p for p in (HERE / folder).glob('*') if p.is_file() and p.name[0] != '.')
    return f'share/frame_ros/{folder}', [str(p.relative_to(HERE)) for p in files]


setup(
    name='frame_ros',
    version=VERSION,
    long_description=(HERE / 'README.md').read_text(encoding='utf-8'),
    long_description_content_type='text/markdown',
    packages=find_packages(include=['frame_ros', 'frame_ros.*']),
    package_data={'frame_ros': ['**/*.html', '**/*.css', '**/*.js', '**/*.json', 'py.typed']},
    data_files=[
        shared(folder) for folder in ('urdf', 'config', 'config/motors', 'config/shapes', 'msg')
    ],
)
