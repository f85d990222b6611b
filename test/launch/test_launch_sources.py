# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Launch files by their sources alone, also where launch is not installed."""

import ast
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / 'launch'


@pytest.mark.parametrize('path', sorted(FOLDER.glob('*.launch.py')), ids=lambda path: path.stem)
def test_a_launch_file_defines_what_launch_asks_for(path):
    tree = ast.parse(path.read_text())
    (function,) = (
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name == 'generate_launch_description'
    )
    assert not function.args.args
