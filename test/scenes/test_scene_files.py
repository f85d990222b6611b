# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Scene files: written and read back, and errors that name file, field, value and remedy."""

import copy
import json
from pathlib import Path

import pytest
import yaml

from frame_ros.core.errors import FrameRosError, SetupError, ValueRangeError
from frame_ros.core.strict_yaml import load_yaml
from frame_ros.core.structuring import unstructured
from frame_ros.scenes.description.files import (
    FORMAT,
    VERSION,
    read_scenes,
    scenes_of,
    scenes_text,
    write_scenes,
)
from frame_ros.scenes.description.scene import (
    Scene,
    SceneLight,
    SceneObject,
    SceneTask,
    SensorFault,
    Shape,
)
from frame_ros.scenes.generation.constraints import check_scene
from frame_ros.scenes.generation.generator import generate
from frame_ros.scenes.generation.setting import setting
from frame_ros.scenes.simulation.scene_robot import SO101


def thing(**changes):
    fields = {
        'name': 'target', 'type': 'cube', 'role': 'target', 'shape': Shape('box', (0.1, 0.2, 0.3)),
        'mass': 0.1, 'friction': 1.0, 'colour': (1 / 3, 1e-7, 1.0), 'position': (0.1 + 0.2, -0.0),
        'height': 5e-324, 'orientation': (0.0, 0.0, 0.6, 0.8),
    }  # fmt: skip
    return SceneObject(**fields | changes)


def scene(**changes):
    fields = {
        'name': 'one', 'robot': 'so101', 'task': SceneTask(kind='pick_up', target='target'),
        'instruction': 'pick up: "the" cube', 'objects': (thing(),), 'table': None, 'lights': (),
        'cameras': (), 'sensors': {'front': SensorFault(latency=0.1)}, 'unknown': {'table': 'why'},
    }  # fmt: skip
    return Scene(**fields | changes)


@pytest.mark.parametrize('ending', ['json', 'yaml', 'yml'])
def test_scenes_are_read_back_to_the_bit(tmp_path, ending):
    drawn = generate('put_in', 'so101', 3, 5, ('all',)).scenes
    path = tmp_path / f'scenes.{ending}'
    write_scenes(path, [*drawn, scene()])
    found = read_scenes(path)
    assert found == (*drawn, scene())
    assert repr(found) == repr((*drawn, scene()))  # also the sign of a zero
    write_scenes(tmp_path / f'again.{ending}', found)
    assert (tmp_path / f'again.{ending}').read_bytes() == path.read_bytes()


WRONG = {
    'objects.0.mass': (-1.0, r'scenes\[0\].objects\[0\]: mass is -1.0; it must be above 0'),
    'objects.0.friction': (None, 'objects.target.friction is null; give its value, or say in'),
    'objects.0.colour': ([0.0, 2.0, 0.0], r'colour is \[0.0, 2.0, 0.0\]; it must be 0 to 1'),
    'objects.0.orientation': ([0.0, 0.0, 0.0, 2.0], 'quaternion x, y, z, w of length 1'),
    'objects.0.position': ([0.1], 'position must be a list of 2'),
    'objects.0.role': ('taget', "role is 'taget'; it must be one of .*; did you mean target"),
    'objects.0.shape.size': ([0.1], 'a box has 3 lengths above 0 m: x, y, z'),
    'objects.0.shape.kind': ('ball', "kind is 'ball'; it must be one of box, cylinder"),
    'objects.0.mas': (1.0, "'mas' is no field of .*; did you mean 'mass'"),
    'task.kind': ('put_inn', "kind is 'put_inn'; it must be one of .*; did you mean put_in"),
    'task.target': ('cup', "task.target is 'cup'; it must be one of the objects target"),
    'task.receptacle': ('target', "receptacle is 'target'; of the task pick_up it must be null"),
    'light_factor': (0.0, 'light_factor is 0.0; it must be above 0'),
    'policy_seed': (-1, 'policy_seed is -1; it must be at least 0'),
    'sensors.front.dropouts': (1.5, 'dropouts is 1.5; it must be 0 to 1'),
    'unknown': ({'table': 'why', 'lights': 'why'}, 'unknown.lights is .* table is'),
    'objects': ([], r"task.target is 'target'"),
}


@pytest.mark.parametrize('field', WRONG)
def test_a_wrong_field_is_named_with_its_file_and_value(tmp_path, field):
    value, message = WRONG[field]
    plain = json.loads(scenes_text([scene()]))
    place = plain['scenes'][0]
    *parts, last = [int(p) if p.isdigit() else p for p in field.split('.')]
    for part in parts:
        place = place[part]
    place[last] = value
    path = tmp_path / 'wrong.json'
    path.write_text(json.dumps(plain))
    with pytest.raises(SetupError, match=message) as raised:
        read_scenes(path)
    assert str(raised.value).startswith(f'{path}: ') and 'scenes[0]' in str(raised.value)


@pytest.mark.parametrize('value', ['NaN', 'Infinity', '"0.1"', 'true', '1e999'])
def test_no_number_is_not_taken_for_one(tmp_path, value):
    text = scenes_text([scene()]).replace('"mass": 0.1', f'"mass": {value}')
    (tmp_path / 'odd.json').write_text(text)
    with pytest.raises(SetupError, match='mass'):
        read_scenes(tmp_path / 'odd.json')


@pytest.mark.parametrize(
    ('changes', 'message'),
    [
        ({'format': 'other'}, f"format is 'other'; it must be {FORMAT!r}"),
        ({'version': VERSION + 1}, f'version is {VERSION + 1}; this release reads {VERSION}'),
        ({'version': True}, 'version is True'),
        ({'scenes': {}}, 'the last a list'),
        ({'more': 1}, 'expected are format, version, scenes'),
    ],
)
def test_other_formats_and_versions_are_refused(changes, message):
    content = json.loads(scenes_text([scene()])) | changes
    with pytest.raises(SetupError, match=message):
        scenes_of(content, 'some.json')


def test_a_written_file_that_was_cut_is_refused_wherever_it_was():
    drawn = generate('put_in', 'so101', 2, 5).scenes
    text = scenes_text(drawn, is_json=False)
    assert len(scenes_of(load_yaml(text), 'whole.yaml')) == 2
    lines = text.splitlines(keepends=True)
    for end in range(1, len(lines)):  # also before the first policy_seed
        try:
            content = load_yaml(''.join(lines[:end]))
        except yaml.YAMLError:
            continue
        with pytest.raises(SetupError):
            scenes_of(content, 'cut.yaml')
    by_hand = text.replace('count: 2\n', '', 1).partition('  policy_seed')[0]
    assert len(scenes_of(load_yaml(by_hand), 'by_hand.yaml')) == 1


@pytest.mark.parametrize(
    ('count', 'message'),
    [(2, 'count is 2, and the file holds 1 scene: the file was cut'), (True, 'count is True')],
)
def test_a_wrong_count_is_refused(count, message):
    with pytest.raises(SetupError, match=message):
        scenes_of(json.loads(scenes_text([scene()])) | {'count': count}, 'some.json')


def test_files_that_are_no_scene_files_are_refused(tmp_path):
    (tmp_path / 'text.yaml').write_text('a: [1')
    (tmp_path / 'text.json').write_text('{')
    for name, message in (
        ('text.yaml', 'is no YAML'), ('text.json', 'is no JSON'), ('none.json', 'cannot be read'),
        ('scene.txt', 'ends in'),
    ):  # fmt: skip
        with pytest.raises(SetupError, match=message):
            read_scenes(tmp_path / name)
    with pytest.raises(SetupError, match='ends in'):
        write_scenes(tmp_path / 'scene.txt', [])


def test_parts_that_contradict_each_other_are_refused():
    light = SceneLight(name='a', position=(0, 0, 1), direction=(0, 0, -1), intensity=1.0)
    for changes, message in (
        ({'objects': (thing(), thing())}, "objects has the name 'target' twice"),
        ({'lights': (light, light)}, "lights has the name 'a' twice"),
        ({'objects': (thing(), thing(name='b'))}, "role of the object 'b' is target"),
        ({'unknown': {}}, 'table is null'),
    ):
        with pytest.raises(ValueRangeError, match=message):
            scene(**changes)
    assert issubclass(ValueRangeError, FrameRosError)


def test_the_scene_of_the_page_is_one():
    page = Path(__file__).resolve().parents[2] / 'docs' / 'scenes.md'
    text = page.read_text().partition('```yaml\n')[2].partition('```')[0]
    (found,) = scenes_of(load_yaml(text), page.name)
    assert check_scene(found, setting(SO101, found.task.kind)) is None


def test_unknown_fields_may_be_named_by_a_pattern():
    objects = (thing(mass=None), thing(name='b', role='confounder', mass=None))
    found = scene(objects=objects, unknown={'table': 'why', 'objects.*.mass': 'not weighed'})
    assert found.confounders[0].mass is None
    plain = copy.deepcopy(unstructured(found))
    assert plain['objects'][1]['mass'] is None
