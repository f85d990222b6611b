# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros scenes`: generate, check, show, convert, operators."""

import json

import pytest
import yaml
from lift_scene import write_lift_scene

from frame_ros.cli import main
from frame_ros.scenes.description.files import read_scenes
from frame_ros.scenes.generation.operators import OPERATORS

GRASP = {
    '0': {
        'model_id': 'orange',
        'obj_init_options': {'init_xy': [-0.25, 0.125], 'orientation': [1.0, 0.0, 0.0, 0.0]},
    },
    'seed': 7,
    'num': 1,
}


@pytest.fixture()
def drawn(tmp_path, capsys):
    path = tmp_path / 'scenes.yaml'
    arguments = ['--task', 'put_in', '--count', '2', '--seed', '3', '--operators', 'all']
    assert main(['scenes', 'generate', *arguments, '--output', str(path)]) == 0
    assert '2 of 2 scenes' in capsys.readouterr().out
    return path


def test_what_was_drawn_is_written_checked_and_shown(drawn, capsys):
    scenes = read_scenes(drawn)
    assert [each.task.kind for each in scenes] == ['put_in', 'put_in']
    assert set(scenes[0].origin.values) == set(OPERATORS)
    assert main(['scenes', 'check', str(drawn)]) == 0
    assert capsys.readouterr().out == '2 good, 0 wrong, 0 not checked\n'
    assert main(['scenes', 'show', str(drawn)]) == 0
    shown = capsys.readouterr().out
    assert all(each.instruction in shown and each.name in shown for each in scenes)


def test_without_a_file_the_scenes_go_to_the_standard_output(capsys):
    arguments = ['--count', '1', '--operators', 'target_position,mass']
    assert main(['scenes', 'generate', *arguments]) == 0
    said = capsys.readouterr()
    content = json.loads(said.out)
    values = content['scenes'][0]['origin']['values']
    assert set(values) == {'target_position', 'mass'}
    assert '1 of 1 scenes, in' in said.err


def test_a_scene_that_breaks_a_constraint_is_found(drawn, capsys):
    content = yaml.safe_load(drawn.read_text())
    target, receptacle = content['scenes'][1]['objects'][:2]
    target['position'] = receptacle['position']
    drawn.write_text(yaml.safe_dump(content))
    assert main(['scenes', 'check', str(drawn)]) == 1
    out = capsys.readouterr().out
    assert 'put_in_1: breaks distance: target and receptacle are' in out
    assert '1 good, 1 wrong' in out


def test_a_camera_at_a_link_that_is_not_there_is_found(drawn, capsys):
    content = yaml.safe_load(drawn.read_text())
    content['scenes'][0]['cameras'][1]['link'] = 'elbow_of_none'
    drawn.write_text(yaml.safe_dump(content))
    assert main(['scenes', 'check', str(drawn)]) == 1
    out = capsys.readouterr().out
    assert 'breaks names: the camera ' in out and 'at the link elbow_of_none' in out


def test_a_file_with_a_mistake_does_not_keep_others_from_being_checked(drawn, tmp_path, capsys):
    other = tmp_path / 'wrong.json'
    other.write_text('{"format": "frame_ros scenes", "version": 2}')
    assert main(['scenes', 'check', str(other), str(drawn)]) == 1
    out = capsys.readouterr().out
    assert f'{other}: version is 2' in out and '2 good' in out
    assert main(['scenes', 'show', str(other)]) == 2


def test_names_that_occur_twice_no_scenes_and_worlds_that_are_not_there_are_found(
    drawn, tmp_path, capsys
):
    first, second = yaml.safe_load(drawn.read_text())['scenes'][:2]

    def checked(*scenes):
        file = tmp_path / 'these.json'
        content = {'format': 'frame_ros scenes', 'version': 1, 'scenes': scenes}
        file.write_text(json.dumps(content))
        return main(['scenes', 'check', str(file)]), capsys.readouterr().out

    status, out = checked(first, {**second, 'name': first['name']})
    assert status == 1 and '1 good, 1 wrong' in out and 'that of another scene' in out
    status, out = checked()
    assert status == 1 and 'these.json: there is no scene in it' in out
    status, out = checked({**first, 'world': 'nosuch'})
    assert status == 1 and "world is 'nosuch'; it must be one of frame_ros, so101-lift" in out


def test_what_is_left_out_is_said_and_is_the_status(tmp_path, capsys):
    path = tmp_path / 'few.json'
    arguments = ['--count', '8', '--attempts', '1', '--output', str(path)]
    assert main(['scenes', 'generate', *arguments]) == 1
    out = capsys.readouterr().out
    assert 'is left out: ' in out and 'rejected by distance' in out
    assert len(read_scenes(path)) < 8


def test_vlatests_files_are_converted_shown_and_not_checked(tmp_path, capsys):
    theirs, ours = tmp_path / 't-grasp_n-1_o-0_s-7.json', tmp_path / 'ours.yaml'
    theirs.write_text(json.dumps(GRASP))
    assert main(['scenes', 'convert', str(theirs), '--output', str(ours)]) == 0
    out = capsys.readouterr().out
    assert '1 scene of 1 file' in out and 'not known: objects.*.mass: ' in out
    assert read_scenes(ours)[0].target.position == (-0.25, 0.125)
    for file in (theirs, ours):
        assert main(['scenes', 'show', str(file)]) == 0
        assert 'pick up orange' in capsys.readouterr().out
        assert main(['scenes', 'check', str(file)]) == 0
        assert 'not checked: ' in capsys.readouterr().out
    assert main(['scenes', 'convert', str(ours), '--output', str(tmp_path / 'x.json')]) == 2


def test_a_file_that_is_read_is_not_written_over(tmp_path, capsys):
    theirs = tmp_path / 't-grasp_n-1_o-0_s-7.json'
    theirs.write_text(json.dumps(GRASP))
    assert main(['scenes', 'convert', str(theirs), '--output', str(theirs)]) == 2
    assert 'is a file that is read' in capsys.readouterr().err
    assert json.loads(theirs.read_text()) == GRASP


def test_files_are_asked_for_where_they_are_needed_only(capsys):
    for arguments, words in ((['check'], 'needs files'), (['generate', 'a.json'], 'needs no file')):
        assert main(['scenes', *arguments]) == 2
        assert words in capsys.readouterr().err


def test_all_operators_are_listed(capsys):
    assert main(['scenes', 'operators']) == 0
    out = capsys.readouterr().out
    assert all(f'\n{name} ' in out for name in OPERATORS)


def test_a_policy_runs_in_scenes_into_a_folder_and_the_table_says_how_often(tmp_path, capsys):
    pytest.importorskip('mujoco')
    file, folder = tmp_path / 'scenes.json', tmp_path / 'campaign'
    fixed = ['--operators', 'light_intensity', '--count', '2', '--output', str(file)]
    assert main(['scenes', 'generate', *fixed]) == 0
    command = ['scenes', 'run', str(file), '--output', str(folder), '--processes', '0']
    capsys.readouterr()
    assert main([*command, '--timeout', '6']) == 0
    said = capsys.readouterr().out
    assert '2 of 2 trials are valid' in said and '0.34 to 1.00' in said
    assert len((folder / 'results.jsonl').read_text().splitlines()) == 2
    assert main([*command, '--timeout', '6']) == 0
    assert '2 of 2 trials are in' in capsys.readouterr().err
    assert main([*command, '--timeout', '7']) == 2
    assert 'timeout is 7.0, and was 6.0' in capsys.readouterr().err
    assert main(command[:3]) == 2
    assert 'run needs --output' in capsys.readouterr().err
    assert main(['scenes', 'operators', '--repeats', '2']) == 2
    assert '--repeats is an option of run, search and breaking, not' in capsys.readouterr().err
    assert main([*command, '--seed', '7']) == 2
    assert '--seed is an option of generate, ' in capsys.readouterr().err


@pytest.mark.parametrize(('action', 'is_resumed'), [('run', True), ('show', False)])
def test_an_interrupted_campaign_says_how_it_goes_on(
    action, is_resumed, tmp_path, capsys, monkeypatch
):
    file, folder = tmp_path / 'scenes.json', tmp_path / 'campaign'
    fixed = ['--operators', 'light_intensity', '--count', '1', '--output', str(file)]
    assert main(['scenes', 'generate', *fixed]) == 0

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr('frame_ros.evaluation.scene_trials.campaign.run_campaign', interrupted)
    monkeypatch.setattr('frame_ros.cli.scenes.command.format_table', interrupted)
    output = ['--output', str(folder)] if is_resumed else []
    assert main(['scenes', action, str(file), *output]) == 130
    said = f'interrupted; the same command continues in {folder}'
    assert (said in capsys.readouterr().err) == is_resumed


@pytest.mark.parametrize(
    'given',
    [
        ('check', '--count', '3'), ('check', '--output', 'x.json'), ('show', '--mat'),
        ('cards', '--quiet'), ('mutate', '--robot', 'fr3'), ('coverage', '--cell', '0.1'),
        ('convert', '--seed', '1'), ('report', '--timeout', '3'), ('search', '--no-check'),
        ('generate', '--models', 'x'), ('run', '--attempts', '3'),
        ('coverage', '--record', 'all'), ('generate', '--rows', '3'), ('search', '--towards', 'x'),
    ],
)  # fmt: skip
def test_options_of_other_actions_are_refused(given, capsys):
    action, *options = given
    files = [] if action in ('generate', 'search') else ['x.json']
    assert main(['scenes', action, *files, *options]) == 2
    said = capsys.readouterr().err
    assert f'{options[0].replace("--no-", "--")} is an option of ' in said
    assert f', not of {action}' in said


def test_scenes_of_another_world_are_not_called_wrong_and_the_world_is_named(tmp_path, capsys):
    """Without that world installed."""
    file, other = tmp_path / 'ours.json', tmp_path / 'theirs.json'
    write_lift_scene(file, other)
    capsys.readouterr()
    assert main(['scenes', 'check', str(file), str(other)]) == 0
    out = capsys.readouterr().out
    assert '1 scene not checked: of the world so101-lift, give --world so101-lift' in out
    assert '1 good, 0 wrong, 1 not checked' in out
    folder = tmp_path / 'trials'
    command = ['scenes', 'run', str(other), '--output', str(folder), '--processes', '0', '-q']
    assert main(command) == 1
    assert (
        '1 x is of the world so101-lift, and does not run in frame_ros' in capsys.readouterr().out
    )
