# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros scenes` search, coverage, mutate."""

import json

import pytest

from frame_ros.cli import main
from frame_ros.evaluation.scene_trials.folder import read_campaign
from frame_ros.scenes.description.files import read_scenes

OPERATORS = ('--operators', 'target_position,mass')


@pytest.fixture(scope='module')
def drawn(tmp_path_factory):
    path = tmp_path_factory.mktemp('scenes') / 'scenes.json'
    arguments = ['--count', '3', *OPERATORS, '--output', str(path)]
    assert main(['scenes', 'generate', *arguments]) == 0
    return path


def test_a_search_writes_a_campaign_and_goes_on(tmp_path, capsys):
    folder = tmp_path / 'search'
    arguments = ['search', '--task', 'pick_up', '--mode', 'random', '--batch', '1', *OPERATORS]
    arguments += ['--policy', 'planted_weaknesses', '--processes', '0', '--timeout', '0.1', '-q']
    assert main(['scenes', *arguments, '--budget', '1', '--output', str(folder)]) == 0
    out = capsys.readouterr().out
    assert '1 scene tried: 1 failure in 1 cell, 0 do not count\n' in out
    assert '\nfailed of random scenes: 100% (95 % interval: 21% to 100%)\n' in out
    assert '\n1 draw\n' in out
    assert 'failed: pick_up_0' in out
    assert main(['scenes', *arguments, '--budget', '2', '--output', str(folder)]) == 0
    found = read_campaign(folder)
    assert [each.scene for each in found.results] == ['pick_up_0', 'pick_up_1']
    assert [each.name for each in found.scenes] == ['pick_up_0', 'pick_up_1']
    assert found.settings['search']['mode'] == 'random'
    assert found.settings['policy'] == 'planted_weaknesses'
    assert main(['scenes', *arguments, '--seed', '1', '--output', str(folder)]) == 2
    assert 'another search: seed is 1, and was 0' in capsys.readouterr().err
    assert main(['scenes', *arguments]) == 2
    assert 'search needs --output' in capsys.readouterr().err


def test_the_coverage_of_a_file_is_shown(drawn, tmp_path, capsys):
    assert main(['scenes', 'coverage', str(drawn)]) == 0
    out = capsys.readouterr().out
    assert '3 scenes: pick_up, so101\ntargets: 0.0' in out
    assert 'target_position.target.radius' in out and 'cells of the whole grid: ' in out
    content = json.loads(drawn.read_text())
    for each in content['scenes']:
        each['origin'] = None
    plain = tmp_path / 'plain.json'
    plain.write_text(json.dumps(content))
    assert main(['scenes', 'coverage', str(plain)]) == 0
    assert 'these scenes say no values' in capsys.readouterr().out


def test_scenes_get_other_words(drawn, tmp_path, capsys):
    output = tmp_path / 'mutated.json'
    arguments = ['scenes', 'mutate', str(drawn), '--output', str(output)]
    assert main([*arguments, '--mutations', '2']) == 0
    assert '6 scenes with other instructions, of 3' in capsys.readouterr().out
    scenes = read_scenes(output)
    assert len({each.instruction for each in scenes}) > 1
    assert all(each.name.startswith('pick_up_') for each in scenes)
    confirmed = tmp_path / 'rephrasings.yaml'
    confirmed.write_text(
        'pick up red cube:\n  reviewed_by: Ada\n  reviewed_on: 2026-05-04\n  rephrasings:\n'
        '    - lift the red cube\n'
    )
    assert main([*arguments, '--instructions', str(confirmed)]) == 0
    assert [each.instruction for each in read_scenes(output)] == ['lift the red cube'] * 3
    assert main(['scenes', 'mutate', str(drawn), '--output', str(drawn)]) == 2
    assert 'a file that is read' in capsys.readouterr().err
