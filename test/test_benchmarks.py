# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks: each can be run in short and judges its bars; CI runs all that lie in the folder."""

import argparse
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / 'benchmarks'
BENCHMARKS = [
    path
    for path in sorted(FOLDER.glob('*.py'))
    if "\nif __name__ == '__main__':" in path.read_text()
]


@pytest.fixture()
def bars():
    specification = importlib.util.spec_from_file_location('bars', FOLDER / 'bars.py')
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize('path', BENCHMARKS, ids=lambda p: p.stem)
def test_every_benchmark_takes_the_shared_option_and_returns_a_status(path):
    text = path.read_text()
    assert 'from bars import' in text and 'parse(parser' in text
    assert 'parser.parse_args(' not in text
    assert 'sys.exit(main())' in text or 'raise SystemExit(main())' in text


def test_ci_runs_every_benchmark():
    assert 'make bench ARGS=--short' in (ROOT / '.ci' / 'run').read_text()
    listed = subprocess.run(
        ['grep', '-l', '^if __name__ == .__main__.:', *FOLDER.glob('*.py')],
        capture_output=True,
        text=True,
    )
    assert {Path(line) for line in listed.stdout.split()} == set(BENCHMARKS)


def test_a_missed_bar_fails_a_full_run_only(bars, capsys):
    for is_short in (False, True):
        found = bars.Bars(argparse.Namespace(short=is_short))
        found.at_most('cost, ms', 2.0, 3.0)
        assert found.exit_status() == 0
        found.at_least('speed', 2.0, 3.0)
        assert found.exit_status() == (0 if is_short else 1)
        found.at_most('not measured', float('nan'), 3.0)
        text = capsys.readouterr().out
        assert 'cost, ms: 2, at most 3' in text
        assert text.count('not judged' if is_short else 'MISSED') == (3 if is_short else 2)


def test_short_changes_defaults_not_what_was_asked_for(bars):
    def parsed(*argv):
        parser = argparse.ArgumentParser()
        parser.add_argument('--runs', type=int, default=15)
        return bars.parse(parser, argv, runs=2).runs

    assert (parsed(), parsed('--short'), parsed('--short', '--runs', '7')) == (15, 2, 7)


def test_the_costs_of_live_metrics_are_measured():
    done = subprocess.run(
        [sys.executable, FOLDER / 'live_metrics.py', '--short', '--steps', '100', '--json'],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)['median']['pipeline'] > 0
    assert 'not judged in a short run' in done.stderr
