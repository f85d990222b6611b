# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks: each can be run in short and judges its bars; CI runs all that lie in the folder."""

import argparse
import importlib
import importlib.util
import json
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from benchmark_parts import import_parts

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / 'benchmarks'
BENCHMARKS = [
    path
    for path in sorted(FOLDER.glob('*.py'))
    if "\nif __name__ == '__main__':" in path.read_text()
]


@pytest.fixture()
def bars():
    specification = importlib.util.spec_from_file_location('bars', FOLDER / 'parts' / 'bars.py')
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize('path', BENCHMARKS, ids=lambda p: p.stem)
def test_every_benchmark_takes_the_shared_option_and_returns_a_status(path):
    text = path.read_text()
    assert 'from parts.bars import' in text and 'parse(parser' in text
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


def test_a_short_run_of_the_sensing_has_a_trial_of_each_kind_of_depth_world(monkeypatch):
    (rows,) = import_parts(monkeypatch, 'depth_world_rows')
    specification = importlib.util.spec_from_file_location('of_sensing', FOLDER / 'sensing.py')
    sensing = importlib.util.module_from_spec(specification)
    monkeypatch.setitem(sys.modules, 'of_sensing', sensing)  # where its dataclasses look
    specification.loader.exec_module(sensing)
    kinds, tried = sensing.SHORT_KINDS.split(','), {t.kind for t in sensing.short_trials()}
    assert tried.issuperset(kinds)
    assert {*rows.KINDS, rows.ROBOT_KIND} <= set(kinds)
    # Trials of every kind have a table; the mark is judged on those of depth worlds.
    shown = [kind for group in sensing.GROUPS for kind in group.kinds]
    assert sorted(shown) == sorted([*sensing.FUNCTIONS, 'partial_mark'])


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


def test_a_demo_that_has_ended_is_not_run_again(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    counted = [each.name for each in fields(importlib.import_module('demo_contacts').Tally)]
    settings = {'robot': 'so101', 'number': 0, 'busy': 2, 'episodes': 3, 'quality': ''}
    settings['counted'] = counted
    rows = [
        {'settings': settings, 'tally': {'episodes': 3, 'sensed': 4, 'true': 6, 'too_weak': 2}},
        {'settings': settings | {'number': 1}, 'tally': {'episodes': 3, 'true': 6, 'false': 1}},
    ]
    lines = [json.dumps(row) for row in rows]
    (tmp_path / 'results.jsonl').write_text('\n'.join([*lines, lines[0][:40]]))

    def run(demos):
        command = [sys.executable, FOLDER / 'demo_contacts.py', '--demos', str(demos),
                   '--robots', 'so101', '--directory', tmp_path]  # fmt: skip
        return subprocess.run(command, capture_output=True, text=True, check=False)

    one = run(1)
    assert one.returncode == 0, one.stderr
    assert 'so101-00 (kept): 3 episodes, 4 contacts sensed, 6 true' in one.stdout
    assert 'a line is no result' in one.stderr
    assert '1 runs, 3 episodes: 4 contacts sensed, 0 of them on the other side' in one.stdout
    assert 'of 6 true ones 2 too weak' in one.stdout
    two = run(2)
    assert two.returncode == 1
    assert 'contacts that truth does not know: 1, at most 0: MISSED' in two.stdout
