# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros scenes report` writes a page and JSON of campaigns, and says what is not known."""

import json
import re

import attrs
import numpy as np
import pytest
from campaign_folders import drawn_scenes, trial, write_campaign

from frame_ros.cli import main
from frame_ros.evaluation.scene_trials.folder import FORMAT
from frame_ros.scenes.tasks.instructions import mutated_scenes


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """Two policies and two tasks, one with a name that is markup; mutated runs, repeats."""
    rng, scenes, trials = np.random.default_rng(0), [], []
    for task in ('pick_up', 'put_in'):
        own = drawn_scenes(45, task=task)
        scenes += own
        for policy, rate in (('<b>good', 0.9), ('bad', 0.4)):
            for each in own:
                trials.append(trial(each, rate, rng, policy=policy))
                if each.origin.index < 15:
                    trials.append(trial(each, rate, rng, policy=policy, repeat=1, policy_seed=1))
                    changed = {'policy': policy, 'base': each.name, 'instruction': 'go'}
                    trials.append(trial(each, rate, rng, mutation='instruction', **changed))
    scene = attrs.evolve(scenes[0], name='pick_up_0_camera')
    trials.append(
        trial(scene, 0.5, rng, policy='bad', mutation='camera_position', base='pick_up_0')
    )
    trials.append(attrs.evolve(trials[0], repeat=5, problem='it fell off at 0.5 s'))
    return write_campaign(tmp_path_factory.mktemp('page') / 'campaign', [*scenes, scene], trials)


def test_the_command_writes_a_page_and_json(folder, tmp_path, capsys):
    output = tmp_path / 'report.html'
    arguments = ['scenes', 'report', str(folder), '--output', str(output)]
    assert main([*arguments, '--metrics', 'pl', '--title', 'Made <i>up']) == 0
    assert main([*arguments, '--metrics', 'pl', '--title', 'Made <i>up']) == 0  # over its own
    printed = capsys.readouterr().out
    assert 'good succeeds in' in printed and 'it fell off at … s (1)' in printed
    page = output.read_text()
    assert '<b>good' not in page and '&lt;b&gt;good' in page and '<i>up' not in page
    for heading in ('Results', 'Trials that do not count', 'Standard and other instructions'):
        assert f'>{heading}<' in page
    drawn = re.findall(r'<script type="application/json" id="figure\S+>(.*?)</script>', page)
    layouts = [figure['layout'] for figure in map(json.loads, drawn) if figure['kind'] == 'panels']
    assert layouts[0]['yaxis']['title']['text'] == 'success rate'
    axes = [layout[name] for layout in layouts for name in layout if name[1:5] == 'axis']
    scales = [each.get('tickformat') for each in axes if each.get('type') == 'log']
    assert scales and set(scales) == {'~g'}
    found = json.loads(output.with_suffix('.json').read_text())
    assert found['invalid'] == {'it fell off at … s': 1} and len(found['groups']) == 4
    group = found['groups'][0]
    assert group['policy'] == '<b>good' and group['scenes'] == 45 and group['trials'] == 60
    assert group['interval'][0] < group['success'] < group['interval'][1]
    assert {each['outcome'] for each in group['effects']} == {'success', 'pl'}
    assert group['noise_floor']['scenes'] == 15
    kinds = {(each['mutation'], each['policy'], each['task']) for each in found['mutations']}
    assert ('camera_position', 'bad', 'pick_up') in kinds and len(kinds) >= 5


def test_wordings_that_fail_are_named(tmp_path):
    """A policy that does not know the word 'grab', whatever it is to grab."""
    rng, scenes = np.random.default_rng(0), drawn_scenes(20)
    assert len({each.instruction for each in scenes}) > 1
    trials = [trial(each, each.origin.index > 1, rng) for each in scenes]  # two fail anyway
    changed = [each.scene for each in mutated_scenes(scenes, count=0)]
    for scene in changed:
        passes = 'grab' not in scene.instruction
        base = scene.name.split('.')[0]
        trials.append(trial(scene, passes, rng, mutation='instruction', base=base))
    output = tmp_path / 'report.html'
    folder = write_campaign(tmp_path / 'campaign', [*scenes, *changed], trials)
    assert main(['scenes', 'report', str(folder), '--output', str(output)]) == 0
    (row,) = json.loads(output.with_suffix('.json').read_text())['mutations']
    first, second, *_ = row['wordings']
    assert (first['wording'], first['passed'], first['kept']) == (
        'grab <target> and lift it', 18, 0
    )  # fmt: skip
    assert first['interval'][1] == pytest.approx(0.176, abs=0.001)  # Wilson's, 0 of 18
    assert second['kept'] == second['passed'] == 18 and len(row['wordings']) == 10
    assert '>grab &lt;target&gt; and lift it<' in output.read_text()


def test_json_is_printed_and_no_page_is_written(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(['scenes', 'report', str(folder), '--json', '--metrics', 'op']) == 0
    assert json.loads(capsys.readouterr().out)['rule'] == 'paper'
    assert not list(tmp_path.iterdir())


def test_a_single_scene_and_its_smallest_breaking_perturbation_have_a_page(tmp_path, capsys):
    (scene,) = drawn_scenes(1)
    one = trial(scene, 1.0, np.random.default_rng(0))
    folder = write_campaign(tmp_path / 'one', [scene], [one])
    values = {**scene.origin.values, 'light_intensity': {'factor': 9.0}}
    origin = attrs.evolve(scene.origin, values=values)
    bright = [
        attrs.evolve(scene, name=f'pick_up_0.change_2_{scale}', origin=origin, light_factor=9.0)
        for scale in ('0.250000', '0.500000')
    ]
    rng = np.random.default_rng(0)
    changed = [trial(each, rate, rng) for each, rate in zip(bright, (1.0, 0.0))]
    write_campaign(folder, [scene, *bright], [one, *changed])
    (folder / 'campaign.json').write_text(
        json.dumps({'format': FORMAT, 'search': {'mode': 'guided'}, 'breaking': {}})
    )
    output = tmp_path / 'one.html'
    assert main(['scenes', 'report', str(folder), '--output', str(output)]) == 0
    page = output.read_text()
    assert 'are needed' in page and 'The scenes differ in no factor' in page
    assert 'A search chose these scenes' in page and 'No scene was run more than once' in page
    content = json.loads(output.with_suffix('.json').read_text())
    assert content['searched'] == content['broken'] == [str(folder)]
    assert content['groups'][0]['chosen'] == 1
    (found,) = content['breaking']
    assert (found['operator'], found['broken'], found['smallest']) == ('light_intensity', 1, 0.5)
    assert 'to 9' in found['example'] and 'Smallest breaking perturbations' in page
    said = capsys.readouterr().out
    assert said.startswith('made succeeds in 100 % [21, 100] of 1 scene of')
    assert f'warning: {folder}: A search chose' in said


@pytest.mark.parametrize(
    ('rows', 'rate', 'said'),
    [(2, 0.5, 'too few rows, 2 of the design'), (16, 1.0, 'nothing varies'),
     (16, 0.0, 'nothing varies')],
)  # fmt: skip
def test_a_design_without_shares_has_a_page_that_says_why(rows, rate, said, tmp_path, capsys):
    (scene,) = drawn_scenes(1)
    names = [f'sobol_{each}_{row}' for row in range(rows) for each in ('A', 'B', 'AB_mass')]
    scenes, rng = [attrs.evolve(scene, name=name) for name in names], np.random.default_rng(0)
    folder = write_campaign(tmp_path / 'design', scenes, [trial(s, rate, rng) for s in scenes])
    output = tmp_path / 'design.html'
    assert main(['scenes', 'report', str(folder), '--output', str(output)]) == 0
    page = output.read_text()
    assert f'Of success there are no shares: {said}' in page
    (found,) = json.loads(output.with_suffix('.json').read_text())['groups'][0]['sobol'][
        'outcomes'
    ]['success']
    assert (found['rows'], found['first'], found['first_interval']) == (rows, None, [None, None])


def test_wrong_folders_and_outputs_are_refused(folder, tmp_path, capsys):
    assert main(['scenes', 'report', str(tmp_path / 'missing')]) != 0
    assert 'is no campaign' in capsys.readouterr().err
    assert main(['scenes', 'report', str(folder), '--output', str(tmp_path / 'a.json')]) != 0
    assert 'must be a page' in capsys.readouterr().err
    other = tmp_path / 's.json'
    other.write_text('{"format": "frame_ros scenes"}')
    assert main(['scenes', 'report', str(folder), '--output', str(tmp_path / 's.html')]) != 0
    assert 'is no report' in capsys.readouterr().err and 'scenes' in other.read_text()
    assert not (tmp_path / 's.html').exists()
    thesis = tmp_path / 't.html'
    thesis.write_text('<html><head><meta name="generator" content="frame_ros 1"></head></html>')
    assert main(['scenes', 'report', str(folder), '--output', str(thesis)]) != 0
    assert 'no page of frame_ros scenes report' in capsys.readouterr().err
    assert 'generator' in thesis.read_text() and not thesis.with_suffix('.json').exists()
    assert main(['scenes', 'report', str(folder), '--metrics', 'speed']) != 0
    assert 'no metric has the id' in capsys.readouterr().err
    assert main(['scenes', 'report', str(folder), '--json', '--success-rule', 'world']) != 0
    assert 'are not judged by it' in capsys.readouterr().err
    assert main(['scenes', 'report']) != 0
