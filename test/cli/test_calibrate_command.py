# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros calibrate`: the file, the page, tables and JSON, and errors in words."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from score_bags import score_bag

from frame_ros.cli import main
from frame_ros.confidence.calibration_file import CalibrationFile
from frame_ros.core.events import Outcome

COMMAND = Path(__file__).parents[2] / 'scripts' / 'frame-ros'
QUICK = ['--resamples', '20', '--quiet']


@pytest.fixture(scope='module')
def bags(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, random = tmp_path_factory.mktemp('bags'), np.random.default_rng(0)
    for number in range(24):
        is_success = number % 3 > 0
        sure = np.clip(random.normal(0.8 if is_success else 0.6, 0.1, (4, 2)), 0.05, 0.99)
        outcome = Outcome.SUCCESS if is_success else Outcome.FAILURE
        score_bag(folder / f'{number:02d}', sure, outcome, episode_id=f'e{number:02d}')
    return folder


def test_file_page_and_tables(bags: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    output, report = tmp_path / 'my.json', tmp_path / 'report'
    given = ['calibrate', str(bags), '-o', str(output), '--report', str(report), *QUICK]
    assert main(given) == 0
    out = capsys.readouterr().out
    for text in (
        '24 episodes: 16 successes, 8 failures',
        'on held-out episodes',
        'platt',
        'failures against successes',
        'it needs 19',
        'chunk_overlap          constant',
        f'the calibration: {output}',
    ):
        assert text in out  # fmt: skip
    saved = CalibrationFile.load(output)
    assert saved.expected_duration == 8.0 and len(saved.provenance.episodes) == 24
    assert {'confidence', 'tb_tp_step'} <= set(saved.horizon_thresholds)
    page = (report / 'calibration.html').read_text()
    for text in (
        'frame_ros calibration',
        'Calibration over the task',
        'Recalibrators',
        'figure-2-1',
    ):
        assert text in page


@pytest.mark.parametrize('name', ['metadata.yaml', '03_0.mcap'])
def test_files_of_the_bags_are_not_overwritten(
    bags: Path, name: str, capsys: pytest.CaptureFixture[str]
):
    file = bags / '03' / name
    before = file.read_bytes()
    assert main(['calibrate', str(bags), '-o', str(file), *QUICK]) == 2
    assert f'is a file that is read: {file}; name another' in capsys.readouterr().err
    assert file.read_bytes() == before


def test_json_and_a_chosen_recalibrator(
    bags: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    output = tmp_path / 'my.json'
    given = ['calibrate', str(bags), '-o', str(output), '--json', '--recalibrator', 'platt', *QUICK]
    assert main([*given, '--samples', 'first']) == 0
    data = json.loads(capsys.readouterr().out)
    assert data['saved'] == 'platt' and data['successes'] == 16
    assert set(data['comparisons']) == {'first', 'horizon'}
    assert CalibrationFile.load(output).recalibrator.kind == 'platt'


def test_the_program_reads_many_bags_in_several_processes(bags: Path, tmp_path: Path):
    # Processes that it starts load the program's own file, which must not calibrate in each.
    code = 'import os, runpy, sys; os.cpu_count = lambda: 2; sys.argv = sys.argv[1:]'
    code += "; runpy.run_path(sys.argv[0], run_name='__main__')"
    given = [str(COMMAND), 'calibrate', str(bags), '-o', str(tmp_path / 'my.json'), *QUICK]
    done = subprocess.run(
        [sys.executable, '-c', code, *given], capture_output=True, text=True, timeout=300,
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert '24 episodes: 16 successes' in done.stdout
    assert not done.stderr


def test_errors_in_words(bags: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    empty = score_bag(tmp_path / 'bag', [(0.5, 0.5)], Outcome.UNKNOWN)
    output = tmp_path / 'none.json'
    assert main(['calibrate', str(empty), '-o', str(output), *QUICK]) == 2
    error = capsys.readouterr().err
    assert 'its outcome was not recorded' in error and 'better 20 or more of each' in error
    assert not output.exists()
    assert main(['calibrate', str(empty), '--recalibrator', 'plat']) == 2
    assert 'platt' in capsys.readouterr().err
    assert main(['calibrate', str(bags), '-o', str(tmp_path / 'a' / 'b.json'), *QUICK]) == 2
    assert '--output' in capsys.readouterr().err
