# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The ROS-free part of frame_ros as a plain Python distribution; colcon builds the ROS package."""

import re
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent
VERSION = re.search(r'<version>(.*?)</version>', (HERE / 'package.xml').read_text())[1]

EXTRAS = {
    'sim': ['mujoco>=3.3', 'av>=14'],
    'torch': ['torch>=2.4', 'torchmetrics>=1.4'],
    'lerobot': ['lerobot>=0.4.4'],
}

setup(
    name='frame_ros',
    version=VERSION,
    description='Live quality, safety and confidence metrics for learned robot policies',
    long_description=(HERE / 'README.md').read_text(),
    long_description_content_type='text/markdown',
    author='The frame_ros authors',
    maintainer='frame_ros maintainers',
    maintainer_email='maintainers@frame-ros.example.org',
    license='Apache-2.0',
    python_requires='>=3.10',
    packages=find_packages(include=['frame_ros', 'frame_ros.*']),
    package_data={'frame_ros': ['**/*.html', '**/*.css', '**/*.js', 'py.typed']},
    data_files=[
        (f'share/frame_ros/{folder}', [str(p.relative_to(HERE)) for p in (HERE / folder).glob('*') if p.is_file()])
        for folder in ('urdf', 'config', 'msg')
    ],
    install_requires=[
        'numpy>=1.26',
        'scipy>=1.11',
        'pin>=3.0',
        'opencv-python-headless>=4.8',
        'rosbags>=0.11',
        'mcap>=1.2',
        'plotly>=5.20',
        'jinja2>=3.1',
        'pyyaml>=6.0',
        'tqdm>=4.60',
    ],
    extras_require={**EXTRAS, 'all': sorted({p for ps in EXTRAS.values() for p in ps})},
    entry_points={'console_scripts': ['frame-ros = frame_ros.cli:main']},
)
