# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A policy that another installed package registers by an entry point."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'docs'))

from markdown_blocks import ROOT, blocks

from frame_ros.policies.policy_names import OURS, policies
from frame_ros.policies.registry import find_source

COMMAND = ROOT / 'scripts/frame-ros'


@pytest.fixture(scope='module')
def environment(tmp_path_factory) -> dict[str, str]:
    """The variables of processes that find the package, as pip would have installed it."""
    folder = tmp_path_factory.mktemp('site')
    module, project = (block.text for block in blocks(ROOT / 'docs' / 'extend' / 'policy.md'))
    (folder / 'wave.py').write_text(module)
    place = re.search(r'wave = "(.*)"', project)[1]
    about = folder / 'wave-1.0.dist-info'
    about.mkdir()
    (about / 'METADATA').write_text('Metadata-Version: 2.1\nName: wave\nVersion: 1.0\n')
    lines = ['[frame_ros.policies]', f'wave = {place}', f'hold = {place}', '']
    (about / 'entry_points.txt').write_text('\n'.join(lines))
    path = os.pathsep.join([str(folder), os.environ.get('PYTHONPATH', '')])
    return {**os.environ, 'PYTHONPATH': path}


def run(environment: dict[str, str], *command: str, timeout: float = 60.0) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, *command],
        env=environment, capture_output=True, text=True, timeout=timeout, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_every_policy_of_ours_is_found():
    for name in OURS:
        assert find_source(name).takes
    assert policies().keys() >= OURS.keys()


def test_it_is_made_by_its_name_with_its_own_options(environment):
    code = (
        'from frame_ros.policies.registry import make_policy, find_source\n'
        "policy = make_policy('wave', {'dt': 0.1, 'device': 'cpu'}, joints='wrist_roll, gripper')\n"
        'print(policy.options.joints, policy.options.dt)\n'
        "print(make_policy('hold').name)\n"
    )
    code, text = run(environment, '-c', code)
    assert code == 0, text
    assert "('wrist_roll', 'gripper') 0.1" in text
    assert text.endswith('hold\n')  # a name of ours is ours


@pytest.mark.parametrize(
    ('option', 'expected'),
    [
        ('amplitud=0.2', "policy 'wave' does not take 'amplitud'; did you mean 'amplitude'?"),
        ('amplitude=-1', 'amplitude is -1; it must be above 0 rad'),
        ('amplitude=x', "amplitude is 'x'; it must be a number, above 0 rad"),
    ],
)
def test_its_options_are_checked_by_the_command(environment, tmp_path, option, expected):
    command = [str(COMMAND), 'demo', '--policy', 'wave', '--option', option]
    code, text = run(environment, *command, '--directory', str(tmp_path / 'run'))
    assert code == 2 and expected in text, text
    assert not (tmp_path / 'run').exists()


def test_it_runs_in_the_policy_node(environment):
    pytest.importorskip('rclpy')
    code = (
        'import rclpy\n'
        'from rclpy.parameter import Parameter\n'
        'from frame_ros.nodes.policy.node import PolicyNode\n'
        'rclpy.init()\n'
        "texts = ['amplitude=0.1', 'joints=gripper']\n"
        "given = {'policy': 'wave', 'policy_options': texts, 'autostart': True}\n"
        'node = PolicyNode(parameter_overrides=[Parameter(n, value=v) for n, v in given.items()])\n'
        'node.destroy_node()\n'
    )
    code, text = run(environment, '-c', code)
    assert code == 0 and 'swings gripper by 0.1 rad' in text, text
