# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Scenes of files in MuJoCo: things stay where they were put, and are seen as was foretold."""

import attrs
import numpy as np
import pytest

pytest.importorskip('mujoco')

import mujoco

from frame_ros.core.errors import ValueRangeError
from frame_ros.robots import find_urdf
from frame_ros.scenes.generation.constraints import check_scene
from frame_ros.scenes.generation.generator import generate, scene_from
from frame_ros.scenes.generation.setting import nominal_scene, setting
from frame_ros.scenes.generation.sight import visible_share
from frame_ros.scenes.simulation.model import build_model
from frame_ros.scenes.simulation.scene_model import build_scene_model
from frame_ros.scenes.simulation.scene_robot import SO101, scene_robot
from frame_ros.scenes.simulation.scene_simulation import SceneSimulation

PLACE = setting(SO101, 'put_in')


def at_home(model, robot):
    data = mujoco.MjData(model)
    for name, position in zip(robot.joint_names, robot.home, strict=True):
        data.qpos[model.joint(name).qposadr[0]] = position
        data.ctrl[model.actuator(name).id] = position
    mujoco.mj_forward(model, data)
    return data


def settled_moves(scene, robot, seconds=0.5):
    """Object -> m by which it has moved after some time; the robot holds still at home."""
    model = build_scene_model(scene, robot)
    data = at_home(model, robot)
    start = {each.name: data.body(each.name).xpos.copy() for each in scene.objects}
    for _ in range(int(seconds / model.opt.timestep)):
        mujoco.mj_step(model, data)
    assert np.isfinite(data.qpos).all()
    return {n: float(np.linalg.norm(data.body(n).xpos - start[n])) for n in start}


@pytest.mark.parametrize(('name', 'task'), [('so101', 'put_in'), ('fr3', 'put_on')])
def test_objects_of_drawn_scenes_stand_where_they_were_put(name, task):
    robot = scene_robot(name)
    for scene in generate(task, robot, 3, 9, ('all',)).scenes:
        moves = settled_moves(scene, robot)
        for each in scene.objects:
            is_round = each.shape.kind == 'sphere' or (
                each.shape.kind == 'cylinder' and abs(each.rotation[2, 2]) < 0.5
            )
            assert moves[each.name] < (0.02 if is_round else 0.002), (scene.name, each)


@pytest.mark.parametrize('off', [(0.0, 0.0), (16.0, 0.0), (-9.5, 12.0)])
def test_a_camera_off_its_centre_sees_a_thing_where_it_projects_to(off):
    scene = nominal_scene(setting(scene_robot('so101'), 'pick_up'))
    front, *others = scene.cameras
    centre = (front.centre[0] + off[0], front.centre[1] + off[1])
    front = attrs.evolve(front, centre=centre)
    simulation = SceneSimulation(attrs.evolve(scene, cameras=(front, *others)))
    try:
        lens = simulation.intrinsics('front', front.width, front.height)
        assert (lens.cx, lens.cy) == pytest.approx(centre, abs=1e-4)
        double = simulation.intrinsics('front', 2 * front.width, 2 * front.height)
        assert (double.cx + 0.5, double.cy + 0.5) == pytest.approx(
            (2 * centre[0] + 1, 2 * centre[1] + 1), abs=1e-3
        )
        seen = simulation.segment('front', front.width, front.height)
        rows, columns = np.nonzero(seen == simulation.body_names.index('target'))
        position, rotation = simulation.camera_pose('front')
        x, y, z = (simulation.pose_of('target')[:3] - position) @ rotation
        wanted = lens.focal * x / z + centre[0], lens.focal * y / z + centre[1]
        assert (columns.mean(), rows.mean()) == pytest.approx(wanted, abs=0.3)
    finally:
        simulation.close()


def test_an_object_in_the_air_falls_and_one_in_another_is_thrown_out():
    scene = nominal_scene(PLACE)
    high = attrs.evolve(scene.target, height=0.3)
    assert (
        settled_moves(attrs.evolve(scene, objects=(high, scene.receptacle)), SO101)['target'] > 0.2
    )
    scene = scene_from(PLACE, {'confounder_count': {'count': 1}})
    inside = attrs.evolve(scene.confounders[0], position=scene.target.position)
    clash = attrs.evolve(scene, objects=(scene.target, scene.receptacle, inside))
    assert check_scene(clash, PLACE).constraint == 'distance'
    assert max(settled_moves(clash, SO101).values()) > 0.005


def test_masses_frictions_and_places_are_those_of_the_scene():
    for scene in generate('put_in', SO101, 2, 9, ('all',)).scenes:
        model = build_scene_model(scene, SO101)
        data = at_home(model, SO101)
        for each in scene.objects:
            body = model.body(each.name)
            if each.shape.kind != 'tray':
                assert body.mass[0] == pytest.approx(each.mass)
            assert model.geom(each.name).friction[0] == pytest.approx(each.friction)
            assert data.body(each.name).xpos == pytest.approx((*each.position, each.height))
        assert model.nlight == len(scene.lights)
        brightest = sum(float(model.light(light.name).diffuse[0]) for light in scene.lights)
        expected = scene.light_factor * sum(light.intensity for light in scene.lights)
        assert brightest == pytest.approx(expected, rel=1e-5)


CONTACT = ('friction', 'dim', 'solref', 'solimp')


def contacts_of(model, data, body, others):
    """Copies of what matters of a body's contacts with bodies of other names."""
    found = []
    for contact in data.contact:
        names = [model.body(model.geom_bodyid[geom]).name for geom in contact.geom]
        if body in names and set(names) - {body} <= set(others):
            found.append({name: np.array(getattr(contact, name)) for name in CONTACT})
    return found


@pytest.mark.parametrize('friction', [0.26, 0.7, 1.0])
def test_the_friction_of_a_target_is_that_of_its_contacts(friction):
    scene = scene_from(PLACE, {'friction': {'target': friction}})
    model = build_scene_model(scene, SO101)
    data = at_home(model, SO101)
    for _ in range(100):
        mujoco.mj_step(model, data)
    below = contacts_of(model, data, 'target', ('table',))
    held = attrs.evolve(
        scene.target, position=tuple(data.body(SO101.tip_link).xpos[:2].tolist()),
        height=float(data.body(SO101.tip_link).xpos[2]),
    )  # fmt: skip
    model = build_scene_model(attrs.evolve(scene, objects=(held, scene.receptacle)), SO101)
    between = contacts_of(model, at_home(model, SO101), 'target', SO101.finger_links)
    assert below and between
    for contact in (*below, *between):
        assert contact['friction'][:2] == pytest.approx(friction)


def test_a_cube_of_a_scene_lies_on_the_table_as_the_simulators_own():
    found = []
    for model, name in (
        (build_model(find_urdf('so101')), 'cube'),
        (build_scene_model(nominal_scene(PLACE), SO101), 'target'),
    ):
        data = mujoco.MjData(model)
        height = SO101.table.cube_size / 2 - 1e-4
        data.joint(f'{name}_free').qpos[:] = (0.2, 0.0, height, 1.0, 0.0, 0.0, 0.0)
        mujoco.mj_forward(model, data)
        found.append(contacts_of(model, data, name, ('table',))[0])
    for name in CONTACT:
        assert found[1][name] == pytest.approx(found[0][name]), name


@pytest.mark.parametrize('robot', ['so101', 'fr3'])
def test_the_shares_that_are_seen_agree_with_rays_of_mujoco(robot):
    """Rays from the camera to points of an object, against bodies that MuJoCo holds."""
    place = setting(scene_robot(robot), 'move_near')
    names = ('confounder_count', 'confounder_position', 'target_position', 'camera_position')
    differences = []
    for scene in generate('move_near', place.robot, 3, 2, names).scenes:
        model = build_scene_model(scene, place.robot)
        data = at_home(model, place.robot)
        camera = scene.cameras[0]
        eye = np.array(camera.position)
        for each in (scene.target, scene.receptacle):
            share = visible_share(each, scene.objects, place.home, camera)
            hits = seen_by_rays(model, data, each, eye)
            differences.append(abs(share - hits))
    assert max(differences) < 0.15 and np.mean(differences) < 0.05


def seen_by_rays(model, data, each, eye):
    """The share of near points of an object whose ray from the eye first meets that object."""
    from frame_ros.scenes.description.shapes import surface_points

    points, normals = surface_points(each.shape)
    points = points @ each.rotation.T + (*each.position, each.height)
    near = np.einsum('ij,ij->i', normals @ each.rotation.T, eye - points) > 0
    found = []
    for point in points[near]:
        geom = np.zeros(1, np.int32)
        ray = (point - eye) / np.linalg.norm(point - eye)
        mujoco.mj_ray(model, data, eye, ray, None, 1, -1, geom)
        found.append(geom[0] >= 0 and model.geom_bodyid[geom[0]] == model.body(each.name).id)
    return float(np.mean(found))


def test_cameras_stand_where_the_scene_says_and_see_as_wide():
    scene = scene_from(
        PLACE,
        {'camera_position': {'x': 0.03, 'y': -0.02, 'z': 0.01},
         'camera_orientation': {'pitch': 0.05, 'yaw': -0.04},
         'camera_intrinsics': {'focal': 1.2, 'centre_x': 0.0, 'centre_y': 0.0}},
    )  # fmt: skip
    model = build_scene_model(scene, SO101)
    data = at_home(model, SO101)
    camera = scene.cameras[0]
    assert data.cam('front').xpos == pytest.approx(camera.position)
    forward = -data.cam('front').xmat.reshape(3, 3)[:, 2]
    turn = attrs.evolve(scene.target, orientation=camera.orientation).rotation
    assert forward == pytest.approx(turn[:, 2], abs=1e-6)
    tangent = np.tan(np.radians(model.cam('front').fovy[0]) / 2)
    assert camera.focal[1] * tangent == pytest.approx(camera.height / 2, rel=1e-5)


@pytest.mark.parametrize('texture', ['plain', 'checker', 'gradient', 'speckled'])
def test_every_texture_of_the_table_compiles(texture):
    scene = scene_from(PLACE, {'table_texture': {'texture': texture, 'colour': 'blue'}})
    model = build_scene_model(scene, SO101)
    assert (model.ntex > 0) == (texture != 'plain')


def test_what_is_not_known_or_taken_is_refused():
    scene = nominal_scene(PLACE)
    with pytest.raises(ValueRangeError, match='must be in robot_base'):
        build_scene_model(attrs.evolve(scene, frame='elsewhere'))
    target = attrs.evolve(scene.target, mass=None)
    blank = attrs.evolve(
        scene, objects=(target, scene.receptacle), unknown={'objects.*.mass': 'not weighed'}
    )
    with pytest.raises(ValueRangeError, match=r'objects.target.mass of the scene must be known'):
        build_scene_model(blank)
    task = attrs.evolve(scene.task, target='table')
    taken = attrs.evolve(
        scene, task=task, objects=(attrs.evolve(scene.target, name='table'), scene.receptacle)
    )
    with pytest.raises(ValueRangeError, match='objects.table: the model has a body'):
        build_scene_model(taken)


def called(scene, **names):
    """The scene with its target and receptacle called otherwise."""
    objects = tuple(attrs.evolve(o, name=names.get(o.role, o.name)) for o in scene.objects)
    return attrs.evolve(scene, objects=objects, task=attrs.evolve(scene.task, **names))


def test_an_object_may_not_be_called_as_a_thing_of_the_room_but_as_another_with_a_number():
    scene = nominal_scene(PLACE)
    for name in ('floor', 'table', 'world', SO101.tip_link):
        with pytest.raises(ValueRangeError, match=f'objects.{name}: the model has a '):
            build_scene_model(called(scene, target=name))
        assert check_scene(called(scene, target=name), PLACE).constraint == 'names'
    numbered = called(scene, target='receptacle_1')
    assert check_scene(numbered, PLACE) is None
    assert build_scene_model(numbered).body('receptacle_1').mass[0] == scene.target.mass


def test_the_cameras_of_a_model_are_those_of_the_scene_at_the_scenes_links():
    scene = nominal_scene(PLACE)
    front, wrist = scene.cameras
    assert front.link == '' and wrist.link
    turned = attrs.evolve(front, link=SO101.wrench_link)
    model = build_scene_model(attrs.evolve(scene, cameras=(turned,)))
    assert model.ncam == 1
    assert model.body(model.cam('front').bodyid[0]).name == SO101.wrench_link
    assert model.cam('front').pos == pytest.approx(front.position)
    assert build_scene_model(attrs.evolve(scene, cameras=())).ncam == 0
    assert build_scene_model(scene).ncam == 2


def test_a_camera_at_no_link_is_found_before_it_is_built():
    scene = nominal_scene(PLACE)
    odd = attrs.evolve(scene.cameras[1], link='elbow_of_none')
    scene = attrs.evolve(scene, cameras=(scene.cameras[0], odd))
    found = check_scene(scene, PLACE)
    assert (
        found.constraint == 'names' and 'is at the link elbow_of_none; the robot' in found.problem
    )
    with pytest.raises(ValueRangeError, match="link is 'elbow_of_none', no link"):
        build_scene_model(scene)
    unsaid = attrs.evolve(odd, link=None)
    scene = attrs.evolve(scene, cameras=(unsaid,), unknown={'cameras.*.link': 'not written down'})
    assert check_scene(scene, PLACE).constraint == 'known'


def test_confounders_at_rest_sleep_and_wake_when_they_are_touched_but_the_target_never_sleeps():
    fixed = {'confounder_count.count': 1}
    scene = generate('pick_up', 'so101', 1, 4, ('paper',), fixed=fixed).scenes[0]
    other = next(each.name for each in scene.objects if each.role == 'confounder')
    model = build_scene_model(scene, SO101)
    data = at_home(model, SO101)
    mujoco.mj_step(model, data, nstep=500)

    def is_awake(name):
        return bool(data.body_awake[model.body(name).id])

    assert is_awake(scene.target.name) and not is_awake(other)
    dof = int(model.body(scene.target.name).dofadr[0])
    away = data.body(other).xpos[:2] - data.body(scene.target.name).xpos[:2]
    place = data.body(other).xpos.copy()
    for _ in range(500):
        data.qvel[dof : dof + 2] = 0.5 * away / np.linalg.norm(away)
        mujoco.mj_step(model, data)
        if is_awake(other) and np.linalg.norm(data.body(other).xpos - place) > 0.01:
            return
    raise AssertionError('the target never moved the other')
