# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros scenes` breaking and design."""

import pytest
from lift_scene import write_lift_scene

from frame_ros.cli import main
from frame_ros.evaluation.scene_trials.folder import read_campaign
from frame_ros.evaluation.scene_trials.robustness.sobol_design import placement_groups
from frame_ros.scenes.description.files import read_scenes


def test_a_design_is_written_whose_factors_are_said(tmp_path, capsys):
    file = tmp_path / 'design.yaml'
    command = ['scenes', 'design', '--rows', '2', '--output', str(file)]
    assert main([*command, '--operators', 'mass,target_position,target_orientation']) == 0
    said = capsys.readouterr().out
    assert 'factor placement: target_position, target_orientation' in said
    assert '8 scenes of 2 rows' in said and 'factor mass: mass' in said
    assert set(placement_groups(['mass', 'target_position'])) == {'mass', 'placement'}
    names = [each.name for each in read_scenes(file)]
    assert names[:3] == ['sobol_A_0', 'sobol_B_0', 'sobol_AB_placement_0'] and len(names) == 8
    both = ['--operators', 'target_position,target_orientation', '--factors', 'operators']
    assert main([*command, *both]) == 0
    assert 'factor target_orientation: target_orientation' in capsys.readouterr().out
    assert main(['scenes', 'check', str(file)]) == 0
    assert main([*command, '--rows', '0']) == 2


def test_breaking_runs_scenes_as_they_are_first_and_keeps_them_in_a_folder(tmp_path, capsys):
    pytest.importorskip('mujoco')
    file, folder = tmp_path / 'scenes.json', tmp_path / 'breaking'
    drawn = ['--operators', 'light_intensity', '--count', '1', '--output', str(file)]
    assert main(['scenes', 'generate', *drawn]) == 0
    capsys.readouterr()
    command = ['scenes', 'breaking', str(file), '--processes', '0', '-q', '--policy', 'hold']
    assert main([*command, '--output', str(folder), '--timeout', '0.1']) == 1
    said = capsys.readouterr().out
    assert 'pick_up_0 was not changed: the policy fails in it as it is' in said
    assert '0 changed scenes were tried' in said
    found = read_campaign(folder)
    assert found.settings['breaking']['success_rule'] == 'paper' and len(found.results) == 1
    assert main(command) == 2
    assert 'breaking needs --output' in capsys.readouterr().err
    assert main([*command[:2], '--output', str(folder)]) == 2
    assert 'breaking needs files of scenes' in capsys.readouterr().err
    assert main(['scenes', 'run', str(file), '--towards', 'x']) == 2
    assert '--towards is an option of breaking, not of run' in capsys.readouterr().err


def test_changes_of_scenes_with_meshes_have_the_types_of_their_folder(tmp_path, capsys):
    pytest.importorskip('mujoco')
    block = pytest.importorskip('trimesh').creation.box((0.03, 0.03, 0.03))
    (tmp_path / 'library' / 'brick').mkdir(parents=True)
    block.export(tmp_path / 'library' / 'brick' / 'visual.stl')
    file, folder = tmp_path / 'scenes.json', tmp_path / 'breaking'
    drawn = ['--operators', 'mass', '--meshes', str(tmp_path / 'library'), '--count', '1']
    fixed = ['--fixed', 'unseen_objects.who=target', '--output', str(file)]
    assert main(['scenes', 'generate', *drawn, *fixed]) == 0
    command = ['scenes', 'breaking', str(file), '--processes', '0', '-q', '--steps', '1']
    assert main([*command, '--policy', 'scripted_tasks', '--output', str(folder)]) == 0
    changed = read_campaign(folder).scenes[1:]
    assert changed and {each.target.type for each in changed} >= {'brick'}


def test_breaking_refuses_scenes_of_another_world(tmp_path, capsys):
    file, folder = tmp_path / 'theirs.json', tmp_path / 'breaking'
    write_lift_scene(file, file)
    assert main(['scenes', 'breaking', str(file), '--output', str(folder), '-q']) == 2
    assert 'pick_up_0 is of the world so101-lift, give --world' in capsys.readouterr().err
    assert not folder.exists()


def test_a_design_may_have_objects_of_a_folder(tmp_path, capsys):
    trimesh = pytest.importorskip('trimesh')
    (tmp_path / 'brick').mkdir()
    trimesh.creation.box((0.05, 0.03, 0.02)).export(tmp_path / 'brick' / 'visual.stl')
    file = tmp_path / 'design.yaml'
    command = ['scenes', 'design', '--rows', '2', '--meshes', str(tmp_path), '--output', str(file)]
    assert main([*command, '--operators', 'target_position', '--factors', 'operators']) == 0
    assert 'factor unseen_objects: unseen_objects' in capsys.readouterr().out
    types = {each.type for scene in read_scenes(file) for each in scene.objects}
    assert 'brick' in types and 'golf_ball' not in types
