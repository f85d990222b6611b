# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Operators, constraints, and scenes drawn by them."""

import math
import os
import subprocess
import sys
from itertools import pairwise

import attrs
import numpy as np
import pytest

from frame_ros.core.errors import RobotError, ValueRangeError
from frame_ros.core.structuring import unstructured
from frame_ros.scenes.description.files import scenes_text
from frame_ros.scenes.description.scene import SensorFault
from frame_ros.scenes.description.shapes import Shape, extents, standing_radius
from frame_ros.scenes.generation.constraints import CONSTRAINTS, check_scene, distance_left
from frame_ros.scenes.generation.generator import generate, scene_from
from frame_ros.scenes.generation.limits import SceneLimits
from frame_ros.scenes.generation.object_types import allowed_pairs, pairing_problem
from frame_ros.scenes.generation.operators import (
    OPERATORS,
    PAPER_OPERATORS,
    REGISTRY,
    Dimension,
    chosen_operators,
)
from frame_ros.scenes.generation.plausibility import matter_problem
from frame_ros.scenes.generation.setting import (
    nominal_scene,
    polar,
    setting,
    settled,
    standing,
)
from frame_ros.scenes.simulation.scene_robot import scene_robot
from frame_ros.scenes.tasks.kinds import TASKS
from frame_ros.scenes.tasks.rules import CODE_MOVE, NEAR, RULES, judge
from frame_ros.scenes.tasks.states import EpisodeStates, ObjectTrack

SETTINGS = {
    (robot, task): setting(scene_robot(robot), task) for robot in ('so101', 'fr3') for task in TASKS
}
PICK, PUT_IN, PUT_ON = (SETTINGS['so101', t] for t in ('pick_up', 'put_in', 'put_on'))


@pytest.mark.parametrize('place', SETTINGS.values(), ids=lambda s: f'{s.robot.name}-{s.kind.name}')
def test_the_nominal_scene_keeps_all_constraints(place):
    assert check_scene(nominal_scene(place), place) is None


@pytest.mark.parametrize('place', SETTINGS.values(), ids=lambda s: f'{s.robot.name}-{s.kind.name}')
def test_so_do_confounders_where_no_operator_places_them(place):
    for count in range(1, 5):
        scene = scene_from(place, {'confounder_count': {'count': count}})
        assert len(scene.confounders) == count and check_scene(scene, place) is None


def test_nothing_is_drawn_again_where_nothing_could_change():
    robot = scene_robot('so101')
    away = attrs.evolve(robot.cameras['front'], target=(2.0, 2.0, 2.0))
    found = generate('put_in', attrs.evolve(robot, cameras={'front': away}), 2, 0, ('mass',))
    assert found.draws == 2 and set(found.rejected) == {'visibility'}


def test_vlatests_ten_operators_are_there():
    assert PAPER_OPERATORS == (
        'target_type', 'confounder_count', 'confounder_type', 'target_position',
        'target_orientation', 'confounder_position', 'confounder_orientation', 'light_intensity',
        'camera_position', 'camera_orientation',
    )  # fmt: skip
    assert len(OPERATORS) == len(REGISTRY) == 19
    known = {each.name for each in CONSTRAINTS}
    assert all(set(each.may_break) <= known for each in REGISTRY)


# What each operator may change of a scene with four confounders.
CHANGED = {
    'target_type': {'objects', 'instruction'},
    'unseen_objects': {'objects', 'instruction'},
    'light_intensity': {'light_factor'},
    'light_count': {'lights'},
    'table_texture': {'table'},
    **dict.fromkeys(('sensor_latency', 'sensor_dropouts'), {'sensors'}),
    **dict.fromkeys((n for n in OPERATORS if n.startswith('camera_')), {'cameras'}),
}


@pytest.mark.parametrize('operator', REGISTRY, ids=lambda o: o.name)
@pytest.mark.parametrize('place', [PUT_IN, SETTINGS['fr3', 'move_near']], ids=['so101', 'fr3'])
def test_an_operator_changes_what_it_says_and_nothing_else(operator, place):
    count = {} if operator.name == 'confounder_count' else {'confounder_count': {'count': 4}}
    before = scene_from(place, count)
    plain, seen = unstructured(before), set()
    for seed in range(12):
        values = operator.draw(np.random.default_rng(seed), place)
        after = unstructured(scene_from(place, {operator.name: values}, before))
        changed = {name for name in plain if plain[name] != after[name]}
        assert changed <= CHANGED.get(operator.name, {'objects'})
        seen |= changed
        if operator.name.startswith('confounder_') and count:
            assert plain['objects'][:2] == after['objects'][:2]
        if operator.name.startswith('target_'):
            assert plain['objects'][2:] == after['objects'][2:]
        if 'cameras' in changed and operator.name != 'camera_resolution':
            assert plain['cameras'][1] == after['cameras'][1]  # at the wrist
    assert seen  # it changes something


@pytest.mark.parametrize('place', SETTINGS.values(), ids=lambda s: f'{s.robot.name}-{s.kind.name}')
def test_every_dimension_has_a_range_from_which_values_come(place):
    for operator in REGISTRY:
        for dimension in operator.dimensions(place):
            values = [dimension.at(share) for share in (0.0, 0.3, 1.0)]
            if dimension.choices:
                assert set(values) <= set(dimension.choices)
                assert {dimension.at(s) for s in np.linspace(0, 1, 200)} == set(dimension.choices)
            else:
                assert dimension.low < dimension.high and values == sorted(values)
                assert values[0] == dimension.low
                assert values[-1] == pytest.approx(dimension.high)
            assert dimension.text


def test_a_logarithmic_dimension_has_equal_ratios():
    dimension = Dimension('factor', 0.25, 4.0, is_log=True)
    assert [dimension.at(s) for s in (0.25, 0.5, 0.75)] == pytest.approx([0.5, 1.0, 2.0])
    with pytest.raises(ValueRangeError, match='it must be 0 to 1'):
        dimension.at(1.01)


@pytest.mark.parametrize(('robot', 'task'), [('so101', 'put_in'), ('fr3', 'move_near')])
def test_drawn_scenes_keep_every_constraint(robot, task):
    place = SETTINGS[robot, task]
    found = generate(task, robot, 8, 9, ('all',))
    assert len(found.scenes) + len(found.left_out) == found.asked == 8
    assert len(found.scenes) > 6
    assert found.draws == len(found.scenes) + sum(found.rejected.values())
    for scene in found.scenes:
        assert check_scene(scene, place) is None
        things = scene.objects
        radii = [standing_radius(each.shape, each.rotation) for each in things]
        for i, each in enumerate(things):
            assert each.height == pytest.approx(extents(each.shape, each.rotation)[2])
            for j in range(i):
                apart = math.dist(each.position, things[j].position)
                assert apart - radii[i] - radii[j] >= place.gap
    assert len({scene.origin.index for scene in found.scenes}) == len(found.scenes)
    assert len({scene.policy_seed for scene in found.scenes}) == len(found.scenes)


def test_the_same_seed_gives_the_same_scenes_in_another_process():
    here = scenes_text(generate('put_on', 'so101', 4, 9, ('all',)).scenes)
    script = (
        'from frame_ros.scenes.generation.generator import generate\n'
        'from frame_ros.scenes.description.files import scenes_text\n'
        "print(scenes_text(generate('put_on', 'so101', 4, 9, ('all',)).scenes), end='')"
    )
    done = subprocess.run(
        [sys.executable, '-c', script], capture_output=True, text=True, check=True,
        env=os.environ | {'PYTHONHASHSEED': '7'},
    )  # fmt: skip
    assert done.stdout == here
    assert scenes_text(generate('put_on', 'so101', 4, 8, ('all',)).scenes) != here


def test_scene_number_i_does_not_depend_on_how_many_there_are():
    few, many = (generate('pick_up', 'so101', count, 1).scenes for count in (3, 6))
    assert few == many[:3]


def test_a_scene_is_made_again_of_its_values():
    for scene in generate('put_on', 'so101', 3, 9, ('all',)).scenes:
        again = scene_from(PUT_ON, scene.origin.values)
        again = attrs.evolve(
            again, name=scene.name, policy_seed=scene.policy_seed, origin=scene.origin
        )
        assert again == scene


def test_rejection_leaves_alone_what_cannot_break_a_constraint():
    """Among many scenes the number of confounders and the light are as they were first drawn."""
    names = ('confounder_count', 'confounder_position', 'light_intensity')
    found = generate('pick_up', 'so101', 20, 4, names)
    assert sum(found.rejected.values()) > 20 and not found.left_out
    for scene in found.scenes:
        rng = np.random.default_rng((4, scene.origin.index))
        rng.integers(2**31)
        assert len(scene.confounders) == OPERATORS['confounder_count'].draw(rng, PICK)['count']
        OPERATORS['confounder_position'].draw(rng, PICK)
        assert scene.light_factor == OPERATORS['light_intensity'].draw(rng, PICK)['factor']


def test_the_number_of_draws_is_limited_and_what_is_left_out_is_said():
    found = generate('pick_up', 'so101', 8, 0, ('paper',), SceneLimits(attempts=1))
    assert found.draws == 8 and found.left_out
    assert all('apart' in r or 'two things' in r for r in found.left_out.values())


def test_a_fixed_dimension_is_the_same_in_every_scene():
    fixed = {'confounder_count.count': 2, 'light_intensity.factor': 1}
    fixed['target_position.target.radius'] = 0.2
    for scene in generate('pick_up', 'so101', 4, 0, fixed=fixed).scenes:
        assert len(scene.confounders) == 2 and scene.light_factor == 1.0
        x, y = np.subtract(scene.target.position, PICK.robot.table.axis)
        assert math.hypot(x, y) == pytest.approx(0.2)
    for name, value, message in (
        ('mass.target', 1.0, "'mass' is none of the operators target_type"),
        ('light_intensity.factr', 1.0, 'the dimensions of light_intensity are factor'),
        ('light_intensity.factor', 21.0, 'factor is 21.0; it must be 0.05 to 20'),
        ('light_intensity.factor', '2', "factor is '2'; it must be"),
        ('confounder_count.count', 5, 'count is 5; it must be one of 0, 1, 2, 3, 4'),
        ('confounder_count.count', True, 'count is True; it must be one of'),
    ):
        with pytest.raises(ValueRangeError, match=message):
            generate('pick_up', 'so101', 1, 0, fixed={name: value})


def test_duplicates_are_rejected():
    found = generate('pick_up', 'so101', 6, 0, ('camera_resolution',))
    assert len(found.scenes) == 3 and found.rejected['duplicates'] >= 3
    assert set(found.left_out.values()) == {'there is such a scene already'}
    assert len(generate('pick_up', 'so101', 4, 0, ()).scenes) == 1


def test_nothing_is_drawn_in_vain_where_all_is_fixed_or_every_choice_was_tried():
    fixed = {'confounder_count.count': 0}
    found = generate('pick_up', 'so101', 3, 0, ('confounder_count',), fixed=fixed)
    assert (len(found.scenes), found.draws, list(found.left_out)) == (1, 3, [1, 2])
    # Of 3 sizes the last is found in less than 2000 draws, and no more are made once it was.
    found = generate('pick_up', 'so101', 60, 0, ('camera_resolution',))
    assert len(found.scenes) == 3 and len(found.left_out) == 57 and found.draws < 200


def test_a_draw_that_is_known_is_not_checked_again(monkeypatch):
    checked = []

    def check(scene, place):
        checked.append(scene)
        return check_scene(scene, place)

    monkeypatch.setattr('frame_ros.scenes.generation.generator.check_scene', check)
    names = ('confounder_count', 'confounder_position')
    found = generate(
        'pick_up', 'so101', 2, 0, names, SceneLimits(attempts=50), {'confounder_count.count': 0}
    )
    assert found.draws == 51 and len(checked) == 1


def moved(scene, name, **changes):
    objects = (settled(attrs.evolve(o, **changes)) if o.name == name else o for o in scene.objects)
    return attrs.evolve(scene, objects=tuple(objects))


def renamed(scene, names):
    objects = tuple(attrs.evolve(o, name=names[o.name]) for o in scene.objects)
    task = attrs.evolve(
        scene.task, target=names[scene.task.target], receptacle=names.get(scene.task.receptacle)
    )
    return attrs.evolve(scene, objects=objects, task=task)


@pytest.mark.parametrize('operator', REGISTRY, ids=lambda o: o.name)
def test_operators_change_a_scene_whatever_its_objects_are_called(operator):
    place = SETTINGS['fr3', 'move_near']
    names = {'target': 'my_cube', 'receptacle': 'confounder_9', 'confounder_0': 'mug',
             'confounder_1': 'confounder_0'}  # fmt: skip
    scene = scene_from(place, {'confounder_count': {'count': 2}})
    for seed in range(6):
        values = {operator.name: operator.draw(np.random.default_rng(seed), place)}
        if operator.name == 'confounder_count':
            found = scene_from(place, values, renamed(scene, names))
            assert len(found.confounders) == values[operator.name]['count']
            continue
        expected = renamed(scene_from(place, values, scene), names)
        assert scene_from(place, values, renamed(scene, names)) == expected


def test_values_of_things_that_a_scene_lacks_are_refused():
    scene = scene_from(PICK, {'confounder_count': {'count': 4}})
    more = attrs.evolve(scene.confounders[0], name='fifth', position=(0.0, 0.5))
    crowd = attrs.evolve(scene, objects=(*scene.objects, more))
    values = OPERATORS['confounder_position'].draw(np.random.default_rng(0), PICK)
    with pytest.raises(ValueRangeError, match='has 5 confounders; there are no values of number 4'):
        scene_from(PICK, {'confounder_position': values}, crowd)
    place = SETTINGS['so101', 'move_near']
    values = OPERATORS['target_position'].draw(np.random.default_rng(0), place)
    with pytest.raises(ValueRangeError, match='has no receptacle, .* its task is pick_up'):
        scene_from(place, {'target_position': values}, scene)


def test_a_type_of_ones_own_is_called_so_in_the_instruction():
    scene = moved(nominal_scene(PUT_IN), 'receptacle', type='basket')
    found = scene_from(PUT_IN, {'target_type': {'target': 'can'}}, scene)
    assert found.instruction.endswith('into basket')


def broken(scene, place):
    found = check_scene(scene, place)
    return None if found is None else (found.constraint, found.problem)


def test_what_a_scene_may_not_break_is_found_and_said():
    table = PUT_IN.robot.table
    scene = scene_from(PUT_IN, {'confounder_count': {'count': 2}})
    assert broken(scene, PUT_IN) is None
    place = scene.target.position
    name, text = broken(moved(scene, 'confounder_0', position=place), PUT_IN)
    assert name == 'distance' and 'target and confounder_0' in text
    edge = (table.centre[0] + table.size[0] / 2, 0.2)
    name, text = broken(moved(scene, 'confounder_0', position=edge), PUT_IN)
    assert (name, 'over the edge' in text) == ('distance', True)
    far = polar(PUT_IN, 0.45, -0.4)
    name, text = broken(moved(scene, 'target', position=far), PUT_IN)
    assert name == 'reach' and 'target is out of reach' in text
    large = Shape('box', (0.15, 0.15, 0.03))
    assert broken(moved(scene, 'target', shape=large), PUT_IN)[0] == 'semantics'
    flat = Shape('box', (0.15, 0.15, 0.15))
    assert broken(moved(scene_from(PICK, {}), 'target', shape=flat), PICK)[0] == 'grasp'
    clone = PUT_IN.types['cube'].shape
    same = moved(scene, 'confounder_0', type='cube', shape=clone, colour=scene.target.colour)
    assert broken(same, PUT_IN) == (
        'semantics', 'two things are a red cube: target and confounder_0',
    )  # fmt: skip
    assert broken(attrs.evolve(scene, frame='elsewhere'), PUT_IN)[0] == 'known'


UNSOLVABLE = {
    'in g': ({'mass': 25.0}, 'matter', 'target has 25 kg, so 9.26e+05 kg/m3; no material has'),
    'of air': ({'mass': 1e-6}, 'matter', 'nothing solid has less than 5'),
    'tiny': ({'shape': Shape('box', (1e-4,) * 3)}, 'matter', 'measures 0.1 x 0.1 x 0.1 mm'),
    'thin': ({'shape': Shape('cylinder', (0.01, 1e-4))}, 'matter', '0.5 mm thick at least'),
    'slippery': ({'friction': 0.0}, 'matter', 'friction of target is 0'),
    'in the air': ({'height': 0.215}, 'standing', 'target is 0.2 m above the table'),
    'sunk': ({'height': 0.0}, 'standing', 'target is 0.015 m in the table'),
}


@pytest.mark.parametrize('what', UNSOLVABLE)
def test_objects_that_no_policy_could_move_break_a_constraint(what):
    changes, constraint, text = UNSOLVABLE[what]
    scene = nominal_scene(PICK)
    scene = attrs.evolve(scene, objects=(attrs.evolve(scene.target, **changes),))
    name, problem = broken(scene, PICK)
    assert name == constraint and text in problem


FAULTS = {
    'no camera': ({'nocam': SensorFault()}, 'there are joint_states, front, wrist'),
    'too late': ({'joint_states': SensorFault(latency=1e9)}, 'it must be below 20 s'),
    'nothing comes': ({'front': SensorFault(dropouts=1.0)}, 'dropouts of front is 1'),
}


@pytest.mark.parametrize('what', FAULTS)
def test_sensors_that_show_nothing_break_a_constraint(what):
    sensors, text = FAULTS[what]
    name, problem = broken(attrs.evolve(nominal_scene(PICK), sensors=sensors), PICK)
    assert name == 'sensors' and text in problem


def test_pictures_that_cannot_be_drawn_and_empty_words_break_a_constraint():
    scene = nominal_scene(PICK)
    large = attrs.evolve(scene.cameras[0], width=100_000, height=100_000)
    name, problem = broken(attrs.evolve(scene, cameras=(large,), sensors={}), PICK)
    assert name == 'sensors' and '16x16 to 1280x960' in problem
    assert broken(attrs.evolve(scene, instruction=' '), PICK) == (
        'semantics', 'the instruction is empty',
    )  # fmt: skip


def test_ends_of_what_operators_draw_are_solvable():
    (factor,), (friction,) = (OPERATORS[n].dimensions(PICK) for n in ('mass', 'friction'))
    for place in (PICK, SETTINGS['fr3', 'pick_up']):
        scene = nominal_scene(place)
        for each in place.types.values():
            for share in (0.0, 1.0):
                target = attrs.evolve(
                    standing(each, 'target', (0.5, 0.5, 0.5), (0.2, 0.0)),
                    mass=each.mass * factor.at(share), friction=friction.at(share),
                )  # fmt: skip
                assert matter_problem(attrs.evolve(scene, objects=(target,)), place) is None


def test_a_wall_before_the_camera_breaks_visibility():
    scene = scene_from(PICK, {'confounder_count': {'count': 1}})
    eye = np.array(scene.cameras[0].position[:2])
    place = np.array(scene.target.position)
    wall = place + 0.35 * (eye - place)
    tall = Shape('box', (0.08, 0.08, 0.3))
    name, text = broken(moved(scene, 'confounder_0', position=tuple(wall), shape=tall), PICK)
    assert (name, 'front sees' in text) == ('visibility', True)


def at_rest(scene, count=4):
    tracks = {
        each.name: ObjectTrack(
            positions=np.tile((*each.position, each.height), (count, 1)),
            orientations=np.tile(each.orientation, (count, 1)),
        )
        for each in scene.objects
    }
    no = np.zeros(count, bool)
    return EpisodeStates(
        times=np.arange(count) / 10, tracks=tracks, is_grasped=no, touches_robot=no, touched={}
    )


def test_no_scene_of_move_near_is_done_at_the_start():
    found = generate('move_near', 'so101', 20, 0)
    assert len(found.scenes) == 20 and found.rejected['undone'] > 0
    for scene in found.scenes:
        assert not any(judge(scene, at_rest(scene), rule).reached['success'] for rule in RULES)


def test_a_target_that_is_almost_near_breaks_undone():
    place = SETTINGS['so101', 'move_near']
    scene = nominal_scene(place)
    x, y = scene.receptacle.position
    cube, can = place.types['cube'].shape, place.types['can'].shape
    circles = math.hypot(*cube.half_edges[:2]) + math.hypot(*can.half_edges[:2])
    for gap, is_done in ((NEAR - 0.001, True), (NEAR + CODE_MOVE - 0.001, False)):
        close = moved(scene, 'target', position=(x, y - circles - gap))
        assert broken(close, place) == (
            'undone', f'target is near receptacle already: {gap:.3f} m, not 0.080 m',
        )  # fmt: skip
        assert judge(close, at_rest(close), 'paper').reached['success'] is is_done
    far = moved(scene, 'target', position=(x, y - circles - NEAR - CODE_MOVE - 0.001))
    assert (broken(far, place) or ('',))[0] != 'undone'


def test_reach_is_that_of_the_arms_own_joints():
    for place in (PICK, SETTINGS['fr3', 'pick_up']):
        table = place.robot.table
        for radius in np.linspace(*table.object_radii, 3):
            for azimuth in np.linspace(*table.object_azimuths, 3):
                at = np.array((*polar(place, radius, azimuth), table.cube_size / 2))
                assert distance_left(place, at) < place.reach_tolerance
        assert distance_left(place, np.array((*polar(place, 2.0, 0.0), 0.02))) == math.inf
        assert distance_left(place, np.array((0.3, 0.0, 1.5))) > 0.1


def test_the_grippers_open_as_far_as_they_do():
    assert SETTINGS['fr3', 'pick_up'].gripper_width == pytest.approx(0.08)  # Franka's data sheet
    assert 0.09 < PICK.gripper_width < 0.14


@pytest.mark.parametrize('task', ['move_near', 'put_on', 'put_in'])
def test_the_table_of_pairs_is_sensible(task):
    pairs = allowed_pairs(task, PUT_IN.types)
    assert all(a != b and a != 'bin' for a, b in pairs)
    receptacles = {b for _, b in pairs}
    if task == 'put_in':
        assert receptacles == {'bin'} and ('cube', 'bin') in pairs
    elif task == 'put_on':
        assert not receptacles & {'bin', 'apple', 'golf_ball'}
        assert ('cube', 'plate') in pairs and ('plum', 'plate') not in pairs
        assert ('foam_brick', 'can') not in pairs
    else:
        assert ('cube', 'apple') in pairs


def test_reasons_against_a_pair_are_in_words():
    box, ball = Shape('box', (0.1, 0.1, 0.1)), Shape('sphere', (0.02,))
    tray = Shape('tray', (0.09, 0.09, 0.04, 0.004))
    assert pairing_problem('put_on', ball, box) == 'a sphere rolls off'
    assert pairing_problem('put_on', box, ball) == 'a sphere has no flat top'
    assert pairing_problem('put_in', box, tray) == 'it does not fit inside'
    assert pairing_problem('put_in', ball, box) == 'a box has no inside'
    assert pairing_problem('move_near', tray, box) == 'a tray is not picked up'
    assert pairing_problem('put_in', Shape('sphere', (0.015,)), tray) == ''


def test_names_that_do_not_exist_are_refused_with_what_does():
    with pytest.raises(ValueRangeError, match='did you mean target_type'):
        chosen_operators(['target_typ'])
    with pytest.raises(ValueRangeError, match='kind is .*; did you mean put_in'):
        generate('put_inn', 'so101', 1)
    with pytest.raises(ValueRangeError, match='both must be 0 or more'):
        generate('pick_up', 'so101', -1)
    with pytest.raises((ValueRangeError, RobotError), match='panda'):
        generate('pick_up', 'panda', 1)
    assert [o.name for o in chosen_operators(['mass', 'paper'])] == [*PAPER_OPERATORS, 'mass']


def test_more_lights_are_as_bright_in_sum():
    sums = []
    for count in (1, 2, 3):
        lights = scene_from(PICK, {'light_count': {'count': count}}).lights
        assert len(lights) == count
        sums.append(sum(light.intensity for light in lights))
    assert all(a == pytest.approx(b) for a, b in pairwise(sums))


def test_a_scene_written_by_hand_gains_what_was_null_or_says_what_it_lacks():
    scene = nominal_scene(PUT_IN)
    bare = attrs.evolve(scene, table=None, unknown={'table': 'not measured'})
    values = {'table_texture': {'texture': 'checker', 'colour': 'own'}}
    assert scene_from(PUT_IN, values, bare).table.texture == 'checker'
    assert scene_from(PUT_IN, values, bare).unknown == {}
    unweighed = [attrs.evolve(each, mass=None) for each in scene.objects]
    heavy = attrs.evolve(
        scene, objects=tuple(unweighed), table=None,
        unknown={'objects.*.mass': 'no scale', 'table': 'not measured'},
    )  # fmt: skip
    assert scene_from(PUT_IN, values, heavy).unknown == {'objects.*.mass': 'no scale'}
    with pytest.raises(ValueRangeError, match='mass of target in the scene nominal is null'):
        scene_from(PUT_IN, {'mass': {'target': 1.5}}, heavy)
    cameras = [attrs.evolve(each, position=None, width=None) for each in scene.cameras]
    blind = attrs.evolve(scene, cameras=tuple(cameras), unknown={'cameras.*': 'not calibrated'})
    for operator, words in (
        ('camera_position', 'the position of the camera front in'),
        ('camera_resolution', 'width of the camera front in'),
    ):
        values = {d.name: d.at(0.5) for d in OPERATORS[operator].dimensions(PUT_IN)}
        with pytest.raises(ValueRangeError, match=words):
            scene_from(PUT_IN, {operator: values}, blind)


def test_sensors_that_a_scene_does_not_name_get_faults_too():
    scene = attrs.evolve(nominal_scene(PICK), sensors={})
    values = {'images': 0.1, 'joints': 0.02}
    late = scene_from(PICK, {'sensor_latency': values}, scene).sensors
    assert {name: fault.latency for name, fault in late.items()} == {
        'front': 0.1, 'wrist': 0.1, 'joint_states': 0.02,
    }  # fmt: skip
    full = scene_from(PICK, {'sensor_latency': values})
    assert list(full.sensors) == list(nominal_scene(PICK).sensors) and dict(full.sensors) == late
