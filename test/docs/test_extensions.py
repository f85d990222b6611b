# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The code of the pages about extending the package, saved and run as a reader does."""

import ast
import importlib
import json
import re
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
for room in ('docs', 'episodes'):
    sys.path.insert(0, str(HERE.parent / room))

from extended_package import code_of  # noqa: E402
from robot_bags import robot_bag  # noqa: E402

from frame_ros.reports.sections.episode_sections import EPISODE_SECTIONS  # noqa: E402


def test_a_report_section_is_in_page_and_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, 'fast_motion', raising=False)
    before = list(EPISODE_SECTIONS)
    robot_bag(tmp_path / 'runs' / 'bag', [])
    module, script = code_of('report-section')
    Path('fast_motion.py').write_text(module, encoding='utf-8')
    try:
        exec(compile(script, 'report-section.md', 'exec'), {})
    finally:
        EPISODE_SECTIONS[:] = before
    (episode,) = json.loads(Path('report.json').read_text(encoding='utf-8'))['episodes']
    assert episode['fast_motion'] == {'steps': 0, 'mean_speed': None}
    page = Path('report.html').read_text(encoding='utf-8')
    assert '<h3>Fast motion</h3>' in page
    assert 'The TCP was faster than 0.25 m/s at 0 steps' in page


def test_a_command_is_a_module_and_a_line(tmp_path, monkeypatch, capsys):
    module, line = code_of('command')
    cli = importlib.import_module('frame_ros.cli')
    (tmp_path / 'durations.py').write_text(module, encoding='utf-8')
    monkeypatch.setattr(cli, '__path__', [*cli.__path__, str(tmp_path)])
    for name, entry in ast.literal_eval('{' + line + '}').items():
        monkeypatch.setitem(cli.COMMANDS, name, entry)
    bag = str(robot_bag(tmp_path / 'bag', [], count=30))
    try:
        assert cli.main(['durations', bag, '--digits', '2']) == 0
        assert re.fullmatch(r'\S+: \d+\.\d\d s\n', capsys.readouterr().out)
        assert cli.main(['durations', bag, '--digits', '7']) == 2
    finally:
        sys.modules.pop('frame_ros.cli.durations', None)
    assert capsys.readouterr().err == 'frame-ros: --digits is 7; it must be 0 to 6\n'


def test_a_robot_outside_of_the_package_is_a_profile_and_a_urdf(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    for language, name in (('xml', 'tiny.urdf'), ('yaml', 'tiny.yaml')):
        (text,) = code_of('robot', language)
        Path(name).write_text(text, encoding='utf-8')
    (script,) = code_of('robot')
    exec(compile(script, 'robot.md', 'exec'), {})
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == 'tiny tool [8. 8. 1.]'
    processes = {line.split()[0]: line for line in lines[1:]}
    assert "'output': 'tiny_trajectory'" in processes['gate']
    assert "'side_rate': 20.0" in processes['kinematics']
    assert "'joint_states': 'tiny/joint_states'" in processes['metrics']
    assert all(str(tmp_path / 'tiny.yaml') in processes[name] for name in ('gate', 'policy'))
