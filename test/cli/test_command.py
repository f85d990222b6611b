# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The `frame-ros` command: what it prints, what it returns, and what it does not import."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from frame_ros.bringup.process_table import demo_processes
from frame_ros.bringup.run_options import DemoOptions
from frame_ros.cli import COMMANDS, build_parser, main
from frame_ros.metrics import REGISTRY

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
    assert modules.isdisjoint(set(HEAVY) - {'numpy'})  # the metrics name the variants


@pytest.mark.parametrize('command', ['compare', 'operations', 'scenes'])
def test_help_of_what_computes_loads_no_statistics_of_scipy(command: str):
    done, modules = in_new_process(command, '--help')
    assert done.returncode == 0
    assert modules.isdisjoint({'scipy.signal', 'scipy.stats', 'scipy.optimize'})


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


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [
        (['rport'], "there is no command 'rport'; did you mean report?"),
        (['xyz'], 'there are demo, report'),
        (['demo', '--epsodes', '3'], '--epsodes: did you mean --episodes?'),
        (['serve', '--policy', 'hold', '--sharde'], '--sharde: did you mean --shared?'),
        (['serve', '--polcy', 'hold'], '--polcy: did you mean --policy'),
        (['metrics', '--jsn=x'], '--jsn: did you mean --json?'),
        (['metrics', '--zzz'], 'unrecognized arguments: --zzz\n'),
    ],
)
def test_what_is_misspelt_is_suggested(arguments, said, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert said in error
    assert f'usage: frame-ros {arguments[0] if arguments[0] in COMMANDS else "[-h]"}' in error


def test_a_misspelt_metric_is_suggested(capsys):
    assert main(['metrics', 'pss']) == 2
    assert "no metric has the id 'pss'; did you mean ps" in capsys.readouterr().err


def options_of(command: str) -> list[argparse.Action]:
    (commands,) = (
        a for a in build_parser(command)._actions if isinstance(a, argparse._SubParsersAction)
    )
    return commands.choices[command]._actions


@pytest.mark.parametrize('command', COMMANDS)
def test_the_help_of_every_option_with_a_value_says_its_default(command, capsys):
    with pytest.raises(SystemExit):
        main([command, '--help'])
    words = ' '.join(capsys.readouterr().out.split())
    for action in options_of(command):
        assert action.help, action.option_strings
        if not action.option_strings or action.nargs == 0 or action.required:
            continue
        if action.default is argparse.SUPPRESS:  # declared: the help is made of the declaration
            assert '; default: ' in action.help or '(default: ' in action.help
            continue
        value = action.default
        shown = f'{value:g}' if isinstance(value, float) else str(value)
        typed = action.help.partition('default: ')[2].split(')')[0]
        is_empty = value in (None, '', [], argparse.SUPPRESS)
        expected = typed or ('none' if is_empty else shown)
        assert f'default: {expected}' in words, action.option_strings
        assert is_empty or not typed or shown in ('0', 'none'), 'typed in, though the parser has it'


def completions(line: str) -> list[str]:
    """Returns the completions of the shell after this line."""
    script = Path(__file__).resolve().parents[2] / 'scripts' / 'frame-ros'
    with tempfile.NamedTemporaryFile() as answer:
        environment = os.environ | {
            '_ARGCOMPLETE': '1', '_ARGCOMPLETE_STDOUT_FILENAME': answer.name,
            '_ARGCOMPLETE_IFS': '\n', 'COMP_LINE': line, 'COMP_POINT': str(len(line)),
        }  # fmt: skip
        subprocess.run([sys.executable, script], env=environment, check=True, capture_output=True)
        return [word.strip() for word in Path(answer.name).read_text().split('\n') if word]


def test_the_tab_key_completes_commands_options_and_choices():
    pytest.importorskip('argcomplete')
    assert set(COMMANDS) <= set(completions('frame-ros '))
    assert completions('frame-ros op') == ['open-loop', 'operations']
    assert completions('frame-ros demo --epi') == ['--episodes']
    assert completions('frame-ros report --match ') == ['time', 'arc_length']
    assert completions('frame-ros serve --preset d') == ['droid']
    assert completions('frame-ros identify --ra') == ['--range', '--rate']


def test_a_dry_run_prints_what_would_start_without_ros(tmp_path: Path):
    code = (
        'import sys\n'
        "sys.modules['rclpy'] = None\n"
        'from frame_ros.cli import main\n'
        f"sys.exit(main(['demo', '--dry-run', '--directory', {str(tmp_path / 'run')!r}, "
        "'--namespace', 'left', '--episodes', '3']))"
    )
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for process in demo_processes(DemoOptions(namespace='left', episodes=3)):
        assert f'\n{process.name}:\n' in done.stdout
        assert f'-m frame_ros.nodes.{process.executable} ' in done.stdout
    assert f'directory: {tmp_path / "run"}' in done.stdout and '/left/joint_states' in done.stdout
    assert '-p episodes:=3' in done.stdout and '__ns:=/left' in done.stdout
    assert not (tmp_path / 'run').exists()


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
    for name in ('shows', 'misleads', 'variants', 'NaN when'):
        assert f'\n  {name} ' in text
    assert REGISTRY['ti'].formula.splitlines()[0] in text
    assert 'frame_ros.metrics.rms_jerk, frame_ros.metrics.RMSJerk' in text
    assert max(map(len, text.splitlines())) <= 100
    assert main(['metrics', 'rf', '--json']) == 0
    (entry,) = json.loads(capsys.readouterr().out)
    assert entry['formula'] == REGISTRY['rf'].formula and entry['function'] == 'risk_factor'


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
