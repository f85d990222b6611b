# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The `frame-ros` command: what it prints, what it returns, and what it does not import."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from frame_ros.cli import COMMANDS, main
from frame_ros.metrics import EXPLANATIONS, REGISTRY

HEAVY = ('numpy', 'torch', 'rclpy', 'scipy', 'cv2', 'jinja2', 'plotly', 'tqdm', 'rosbags')


def in_new_process(*arguments: str) -> tuple[subprocess.CompletedProcess[str], set[str]]:
    """Runs the command in a process of its own; returns it and the modules that it imported."""
    code = (
        'import sys, atexit\n'
        'atexit.register(lambda: print("\\nMODULES", *sys.modules, file=sys.stderr))\n'
        'from frame_ros.cli import main\n'
        f'sys.exit(main({list(arguments)!r}))'
    )
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=False)
    return done, set(done.stderr.rpartition('MODULES')[2].split())


def test_help_lists_all_commands_and_imports_nothing_heavy():
    done, modules = in_new_process('--help')
    assert done.returncode == 0
    assert all(name in done.stdout for name in COMMANDS)
    assert 'frame_ros.cli' in modules
    assert modules.isdisjoint(HEAVY)


def test_help_of_the_report_imports_nothing_heavy():
    done, modules = in_new_process('report', '--help')
    assert done.returncode == 0
    assert '--json' in done.stdout
    assert modules.isdisjoint(HEAVY)


def test_version(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as stop:
        main(['--version'])
    assert stop.value.code == 0
    name, version = capsys.readouterr().out.split()
    assert name == 'frame-ros'
    assert version[0].isdigit()


@pytest.mark.parametrize('arguments', [[], ['nonsense'], ['report', '--nonsense']])
def test_wrong_usage_is_told_with_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert 'usage: frame-ros' in capsys.readouterr().err


def test_metrics_lists_the_registry(capsys: pytest.CaptureFixture[str]):
    assert main(['metrics']) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[2:]] == list(REGISTRY)
    assert 'lower is better' in next(line for line in lines if line.startswith('ti '))


def test_metrics_as_json(capsys: pytest.CaptureFixture[str]):
    assert main(['metrics', '--json']) == 0
    entries = json.loads(capsys.readouterr().out)
    assert {entry['id']: entry['unit'] for entry in entries} == {
        m.id: m.unit for m in REGISTRY.values()
    }


def test_metrics_explains_the_ones_named(capsys: pytest.CaptureFixture[str]):
    assert main(['metrics', 'ti', 'dtw']) == 0
    text = capsys.readouterr().out
    assert text.startswith('ti: trajectory instability (RMS jerk)') and '\ndtw: ' in text
    for name in ('tells', 'misleads', 'variants', 'NaN when'):
        assert f'\n  {name} ' in text
    assert EXPLANATIONS['ti'].formula.splitlines()[0] in text
    assert 'frame_ros.metrics.rms_jerk, frame_ros.metrics.RMSJerk' in text
    assert max(map(len, text.splitlines())) <= 100
    assert main(['metrics', 'rf', '--json']) == 0
    (entry,) = json.loads(capsys.readouterr().out)
    assert entry['formula'] == EXPLANATIONS['rf'].formula and entry['function'] == 'risk_factor'


def test_metrics_that_there_are_not_are_refused(capsys: pytest.CaptureFixture[str]):
    assert main(['metrics', 'plx']) == 2
    assert "'plx'" in capsys.readouterr().err


def test_a_reader_that_has_enough_is_no_error(tmp_path: Path):
    command = f'{sys.executable} -c "import sys; from frame_ros.cli import main; sys.exit(main())"'
    done = subprocess.run(
        f'set -o pipefail; {command} metrics | head -1', shell=True, executable='/bin/bash',
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stderr == ''
