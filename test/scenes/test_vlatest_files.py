# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""VLATest's scene files, in samples of the same form that were written here."""

import json

import pytest
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import SetupError
from frame_ros.scenes.description.files import read_scenes, write_scenes
from frame_ros.scenes.description.vlatest import read_vlatest, spoken, task_of_name

UPRIGHT = [0.7071067811865476, 0.7071067811865475, 0.0, 0.0]
TURNED = [0.8, 0.0, 0.0, -0.6]
GRASP = {
    '0': {
        'model_id': 'orange',
        'obj_init_options': {'init_xy': [-0.1442, 0.3267], 'orientation': TURNED},
        'distractor_model_ids': ['7up_can', 'opened_coke_can'],
        'distractor_obj_init_options': {
            'opened_coke_can': {'init_xy': [-0.3, 0.2], 'init_rot_quat': TURNED},
            '7up_can': {'init_xy': [-0.2, 0.1], 'init_rot_quat': UPRIGHT},
        },
    },
    '1': {
        'model_id': 'apple',
        'obj_init_options': {'init_xy': [-0.25, 0.125], 'orientation': UPRIGHT},
        'lighting_cfgs': ['DARK', 2, 4.0],
        'camera_cfgs': {'overhead_camera': {'p': [0.01, 0, 0], 'q': [0.5, 0.5, -0.5, 0.5]}},
    },
    'seed': 7,
    'num': 2,
}
MOVE = {
    '0': {
        'model_ids': ['coke_can', 'apple', 'sponge'],
        'obj_init_options': {
            name: {'init_xy': [0.1 * i, 0.2], 'init_rot_quat': TURNED}
            for i, name in enumerate(('coke_can', 'apple', 'sponge'))
        },
        'source_obj_id': 2,
        'target_obj_id': 0,
    },
    'seed': 7,
    'num': 1,
}


CAMERA_TURN = ('1', 'camera_cfgs', 'overhead_camera', 'q')


def written(folder, content, name='t-grasp_n-2_o-m3_s-7.json'):
    path = folder / name
    path.write_text(json.dumps(content))
    return path


def test_a_grasp_scene_is_read_to_the_bit(tmp_path):
    first, second = read_vlatest(written(tmp_path, GRASP))
    assert (first.task.kind, first.robot, first.instruction) == (
        'pick_up', 'google_robot', 'pick up orange',
    )  # fmt: skip
    assert [each.type for each in first.objects] == ['orange', '7up_can', 'opened_coke_can']
    assert [each.name for each in first.confounders] == ['confounder_0', 'confounder_1']
    assert first.target.position == (-0.1442, 0.3267)
    assert first.target.orientation == (0.0, 0.0, -0.6, 0.8)
    assert first.confounders[0].orientation == (UPRIGHT[1], 0.0, 0.0, UPRIGHT[0])
    assert (first.origin.generator, first.origin.seed, second.origin.index) == ('VLATest', 7, 1)
    assert first.light_factor == 1.0 and first.cameras is None
    assert second.light_factor == 1 / 16 and second.confounders == ()


def test_a_camera_looks_along_the_axis_that_sapien_calls_x(tmp_path):
    camera = read_vlatest(written(tmp_path, GRASP))[1].cameras[0]
    sapien = Rotation.from_quat([0.5, -0.5, 0.5, 0.5])
    optical = Rotation.from_quat(camera.orientation)
    for ours, theirs in (((0, 0, 1), (1, 0, 0)), ((1, 0, 0), (0, -1, 0)), ((0, 1, 0), (0, 0, -1))):
        assert optical.apply(ours) == pytest.approx(sapien.apply(theirs))


@pytest.mark.parametrize(
    ('name', 'kind', 'robot', 'words'),
    [
        ('t-move_n-1_o-m3_s-7.json', 'move_near', 'google_robot', 'move sponge near coke can'),
        ('ycb_t-put-on_n-1_o-m3_s-7.json', 'put_on', 'widowx', 'put sponge on coke can'),
        ('t-put-in_n-1_o-1_s-7.json', 'put_in', 'widowx', 'put sponge into coke can'),
    ],
)
def test_the_name_of_the_file_says_which_task_it_is(tmp_path, name, kind, robot, words):
    (found,) = read_vlatest(written(tmp_path, MOVE, name))
    assert (found.task.kind, found.robot, found.instruction) == (kind, robot, words)
    assert (found.target.type, found.receptacle.type) == ('sponge', 'coke_can')
    assert [each.type for each in found.confounders] == ['apple']
    assert found.target.position == (0.2, 0.2)


def test_the_task_is_asked_for_where_the_name_does_not_say_it(tmp_path):
    path = written(tmp_path, MOVE, 'scenes.json')
    assert task_of_name(path) is None
    with pytest.raises(SetupError, match='the task is None; it must be one of pick_up'):
        read_vlatest(path)
    assert read_vlatest(path, 'put_on')[0].task.kind == 'put_on'


def test_what_the_files_do_not_state_is_said_in_words(tmp_path):
    found = read_vlatest(written(tmp_path, GRASP))[0]
    assert found.target.mass is None and found.table is None and found.policy_seed is None
    assert 'density' in found.unknown['objects.*.mass']
    assert 'objects.*.shape' in found.unknown
    write_scenes(tmp_path / 'ours.yaml', [found])
    assert read_scenes(tmp_path / 'ours.yaml') == (found,)


def test_a_file_of_models_gives_the_boxes(tmp_path):
    box = {'bbox': {'min': [-0.03, -0.06, 0], 'max': [0.03, 0.06, 0.1]}, 'scales': [0.5]}
    models = written(
        tmp_path, dict.fromkeys(('orange', '7up_can', 'opened_coke_can'), box), 'm.json'
    )
    found = read_vlatest(written(tmp_path, GRASP), models=models)[0]
    assert found.target.shape.size == (0.03, 0.06, 0.05)
    assert 'objects.*.shape' not in found.unknown


@pytest.mark.parametrize(
    ('path', 'value', 'message'),
    [
        (('num',), 3, 'num is 3, and there are 2 scenes'),
        (('seed',), 'x', "seed is 'x'; it must be a whole number"),
        (('0', 'model_id'), 3, '0.model_id is 3; it must be a text'),
        (('0', 'obj_init_options', 'init_xy'), [1], 'init_xy is .*a list of 2 finite numbers'),
        (
            ('0', 'obj_init_options', 'orientation'),
            [2, 0, 0, 0],
            '0.obj_init_options.orientation is .*w, x, y, z of length 1',
        ),
        (('0', 'distractor_obj_init_options', 'pear'), {}, 'pear is not known'),
        (('0', 'wind'), 3, 'wind is not known'),
        (('1', 'lighting_cfgs'), ['DIM', 1, 1], 'lighting_cfgs is .*DEFAULT, or BRIGHT or DARK'),
        (('1', 'lighting_cfgs'), ['DARK', 1, 0], 'lighting_cfgs'),
        *(
            (('1', 'lighting_cfgs'), given, '1.lighting_cfgs is .*whose power is finite and above')
            for given in (
                ['BRIGHT', 2000, 2.0],
                ['DARK', 2000, 2.0],
                ['BRIGHT', 1, 10**400],
                ['BRIGHT', 10**400, 2.0],
            )
        ),
        (
            ('0', 'obj_init_options', 'init_xy'),
            [10**400, 0],
            'obj_init_options.init_xy is .*2 finite',
        ),
        (CAMERA_TURN, [0, 0, 0, 0], '1.camera_cfgs.overhead_camera.q is .*0.0.*length 1'),
        (CAMERA_TURN, [2, 0, 0, 0], '1.camera_cfgs.overhead_camera.q is .2.0, .*length 1'),
        (('num',), 10**12, 'num is 1000000000000, and there are 2 scenes'),
    ],
)
def test_a_wrong_field_of_theirs_is_named_with_its_file(tmp_path, path, value, message):
    content = json.loads(json.dumps(GRASP))
    place = content
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    file = written(tmp_path, content)
    with pytest.raises(SetupError, match=message) as raised:
        read_vlatest(file)
    assert str(file) in str(raised.value)


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'scales': [10**400]}, 'orange.scales is .*a list of finite numbers'),
        ({'bbox': {'min': [0, 0, 0], 'max': [1, 1, 0]}}, 'orange.bbox: size is .*above 0 m'),
    ],
)
def test_a_wrong_model_is_named_with_its_file(tmp_path, change, message):
    box = {'bbox': {'min': [0, 0, 0], 'max': [1, 1, 1]}} | change
    models = written(tmp_path, {'orange': box}, 'm.json')
    with pytest.raises(SetupError, match=message) as raised:
        read_vlatest(written(tmp_path, GRASP), models=models)
    assert str(models) in str(raised.value)


def test_indices_must_be_of_two_models(tmp_path):
    for source, target, message in ((0, 0, 'both 0'), (0, 3, 'from 0 to 2'), (-1, 0, 'from 0 to')):
        scene = MOVE['0'] | {'source_obj_id': source, 'target_obj_id': target}
        file = written(tmp_path, MOVE | {'0': scene}, 't-move_n-1.json')
        with pytest.raises(SetupError, match=message):
            read_vlatest(file)
    with pytest.raises(SetupError, match="no field 'num'"):
        read_vlatest(written(tmp_path, {'scenes': []}))


def test_models_have_the_words_of_vlatests_instructions():
    assert spoken('opened_coke_can') == 'coke can'
    assert spoken('green_cube_3cm') == 'green cube'
    assert spoken('bridge_plate_objaverse_larger') == 'plate larger'
    assert spoken('dummy_sink_target_plane') == 'yellow basket'
