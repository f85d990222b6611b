# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A copy of the package to which the code of a page is added, and scripts run with it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from markdown_blocks import ROOT, blocks


def code_of(name: str, language: str = 'python') -> list[str]:
    """The blocks of a page of docs/extend that are in this language."""
    page = ROOT / 'docs' / 'extend' / f'{name}.md'
    return [block.text for block in blocks(page) if block.language == language]


def package_copy(folder: Path) -> Path:
    """The sources and the message definitions, copied."""
    for name in ('frame_ros', 'msg'):
        shutil.copytree(ROOT / name, folder / name, ignore=lambda *_: ['__pycache__'])
    return folder


def add_field(copy: Path, message: str, line: str) -> None:
    """Adds a field to a message of the copy, and makes its Python class as the build does."""
    import frame_ros.msg

    definition = copy / 'msg' / f'{message}.msg'
    definition.write_text(definition.read_text() + line)
    messages = copy / 'frame_ros' / 'msg'
    shutil.copytree(Path(frame_ros.msg.__file__).parent, messages)
    # A process of its own: the generator keeps the standard output for itself.
    subprocess.run(
        [sys.executable, __file__, str(copy), message], check=True, stdout=subprocess.DEVNULL
    )
    for made in (copy / 'made' / 'msg').glob('_*.py'):
        if made.stem != '__init__':
            shutil.copy(made, messages)


def generate(copy: Path, message: str) -> None:
    """Makes the Python class of a message in the folder `made`, by rosidl's generator."""
    from ament_index_python import get_package_share_directory
    from rosidl_adapter.msg import convert_msg_to_idl
    from rosidl_generator_py import generate_py

    convert_msg_to_idl(copy, 'frame_ros', Path('msg', f'{message}.msg'), copy / 'msg')
    arguments = copy / 'arguments.json'
    content = {
        'package_name': 'frame_ros',
        'output_dir': str(copy / 'made'),
        'template_dir': str(Path(get_package_share_directory('rosidl_generator_py'), 'resource')),
        'idl_tuples': [f'{copy}:msg/{message}.idl'],
        'ros_interface_dependencies': [],
        'target_dependencies': [],
    }
    arguments.write_text(json.dumps(content))
    generate_py(str(arguments), [])


def output_of(copy: Path, script: str) -> str:
    """The output of a script that is run with the copy, in its folder."""
    prefixes = os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)
    others = [p for p in prefixes if not Path(p, 'share', 'frame_ros').exists()]
    environment = os.environ | {
        'PYTHONPATH': os.pathsep.join([str(copy), os.environ.get('PYTHONPATH', '')]),
        'AMENT_PREFIX_PATH': os.pathsep.join(others),
    }
    done = subprocess.run(
        [sys.executable, '-c', script], cwd=copy, env=environment, capture_output=True, text=True,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


if __name__ == '__main__':
    generate(Path(sys.argv[1]), sys.argv[2])
