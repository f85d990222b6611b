# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Meshes that something is put into: their cavity, their pieces, the rule 'in', the policy."""

import attrs
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from frame_ros.policies.scripted.grasps import LOWEST
from frame_ros.policies.scripted.tasks import ScriptedTasks
from frame_ros.scenes.description.mesh_folders import mesh_object
from frame_ros.scenes.description.shapes import Shape
from frame_ros.scenes.generation.constraints import check_scene
from frame_ros.scenes.generation.generator import generate
from frame_ros.scenes.generation.object_types import pairing_problem
from frame_ros.scenes.generation.setting import setting, settled
from frame_ros.scenes.scene_rollout import known_scene, run_scene
from frame_ros.scenes.simulation.scene_robot import scene_robot
from frame_ros.scenes.simulation.scene_simulation import SceneSimulation
from frame_ros.scenes.tasks.rules import judge
from frame_ros.scenes.tasks.states import EpisodeStates, ObjectTrack

trimesh = pytest.importorskip('trimesh')
FLOOR = 0.004
TRAY = (0.12, 0.09, 0.03, 0.004)


def revolved(*profile):
    """A closed surface of a profile of (radius, height), from the axis to the axis."""
    return trimesh.creation.revolve(np.array(profile), sections=48)


def cup():
    return revolved((0, 0), (0.045, 0), (0.05, 0.06), (0.046, 0.06), (0.041, FLOOR), (0, FLOOR))


def bowl():
    turns = np.linspace(0, np.pi / 2, 14)
    outer = np.column_stack((0.06 * np.sin(turns), 0.06 - 0.06 * np.cos(turns)))
    inner = np.column_stack((0.056 * np.sin(turns), 0.06 - 0.056 * np.cos(turns)))[::-1]
    return revolved(*outer, *inner)


def walled(x, y, z, wall, shift=0.0):
    """A box without a lid as one closed surface; its inside shifted along x."""
    ring = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    corners = [(a * x / 2, b * y / 2, h) for h in (0, z) for a, b in ring]
    corners += [(shift + a * (x / 2 - wall - abs(shift)), b * (y / 2 - wall), h)
                for h in (FLOOR, z) for a, b in ring]  # fmt: skip
    quads = [(3, 2, 1, 0), (8, 9, 10, 11)]
    for i in range(4):
        j = (i + 1) % 4
        quads += [(i, j, 4 + j, 4 + i), (8 + j, 8 + i, 12 + i, 12 + j), (4 + i, 4 + j, 12 + j,
                                                                         12 + i)]  # fmt: skip
    faces = [f for a, b, c, d in quads for f in ((a, b, c), (a, c, d))]
    return trimesh.Trimesh(corners, faces, process=False)


def write(folder, name, mesh, facts=''):
    path = folder / name
    path.mkdir()
    mesh.export(path / 'visual.obj')
    (path / 'object.yaml').write_text(facts or 'density: 700\n')
    return path


@pytest.fixture(scope='module')
def library(tmp_path_factory):
    """A cup, a box without a lid whose inside is off its middle, and a block without a cavity."""
    folder = tmp_path_factory.mktemp('containers')
    write(folder, 'cup', cup())
    write(folder, 'drawer', walled(0.14, 0.1, 0.04, 0.004, 0.015))
    write(folder, 'small_block', trimesh.creation.box((0.03, 0.03, 0.025)))
    return folder


def test_the_cavity_is_that_of_the_mesh(library):
    drawer = mesh_object(str(library / 'drawer'))
    found, half = drawer.cavity, drawer.edges[2] / 2
    assert found.centre == pytest.approx((0.015, 0.0), abs=2e-3)
    assert found.half_edges == pytest.approx((0.051, 0.046, 0.018), abs=3e-3)
    assert (found.floor + half, found.rim + half) == pytest.approx((FLOOR, 0.04), abs=1e-3)
    assert len(drawer.pieces) == 5  # four walls and the base
    solid = sum(piece.volume for piece in drawer.pieces)
    assert solid == pytest.approx(walled(0.14, 0.1, 0.04, 0.004, 0.015).volume, rel=0.2)
    round_ = mesh_object(str(library / 'cup')).cavity
    inscribed = 0.0435 / np.sqrt(2)  # the square in the circle halfway up
    assert round_.half_edges[:2] == pytest.approx((inscribed, inscribed), abs=3e-3)
    assert round_.offsets == pytest.approx(0.046, abs=3e-3)  # round, at the rim
    assert mesh_object(str(library / 'small_block')).cavity is None


def test_a_curved_wall_is_cut_in_bands_and_keeps_its_room(tmp_path):
    found = mesh_object(str(write(tmp_path, 'bowl', bowl())))
    assert 25 <= len(found.pieces) <= 37
    room = 2 / 3 * np.pi * 0.056**3
    outside = 2 / 3 * np.pi * 0.06**3
    assert sum(piece.volume for piece in found.pieces) < outside - 0.75 * room
    assert mesh_object(str(write(tmp_path, 'hull', bowl(), 'is_hull: true\n'))).cavity is None


def test_a_cavity_may_be_of_pieces_with_gaps_and_not_upside_down(tmp_path):
    path = tmp_path / 'pieces'
    (path / 'collision').mkdir(parents=True)
    bowl().export(path / 'visual.obj')
    for index in range(12):  # slim boxes around, 1 mm apart
        box = trimesh.creation.box((0.004, 0.03, 0.05))
        turn = trimesh.transformations.rotation_matrix(index * np.pi / 6, (0, 0, 1))
        box.apply_translation((0.058, 0, 0.03))
        box.apply_transform(turn)
        box.export(path / 'collision' / f'{index}.stl')
    base = trimesh.creation.cylinder(0.06, 0.004)
    base.apply_translation((0, 0, 0.003))
    base.export(path / 'collision' / 'base.stl')
    found = mesh_object(str(path)).cavity
    assert found.half_edges[2] == pytest.approx(0.025, abs=1e-3)
    over = cup()
    over.apply_transform(trimesh.transformations.rotation_matrix(np.pi, (1, 0, 0)))
    assert mesh_object(str(write(tmp_path, 'over', over))).cavity is None


def test_a_ring_is_no_container(tmp_path):
    ring = trimesh.creation.annulus(0.04, 0.05, 0.03)
    assert mesh_object(str(write(tmp_path, 'ring', ring))).cavity is None
    boxes = [
        trimesh.creation.box((0.005, 0.08, 0.03)),
        trimesh.creation.box((0.005, 0.08, 0.03)),
        trimesh.creation.box((0.08, 0.005, 0.03)),
        trimesh.creation.box((0.08, 0.005, 0.03)),
    ]
    for part, place in zip(boxes, ((0.04, 0), (-0.04, 0), (0, 0.04), (0, -0.04)), strict=True):
        part.apply_translation((*place, 0))
    path = write(tmp_path, 'frame', trimesh.util.concatenate(boxes))
    trimesh.util.concatenate(boxes).export(path / 'collision.obj')
    found = mesh_object(str(path))
    assert len(found.pieces) == 4 and found.cavity is None


def test_pairs_are_those_that_fit(library):
    def shape(name):
        return Shape('mesh', mesh=str(library / name))

    cube = Shape('box', (0.03, 0.03, 0.03))
    assert pairing_problem('put_in', cube, shape('cup')) == ''
    assert pairing_problem('put_in', shape('small_block'), shape('drawer')) == ''
    assert 'does not fit' in pairing_problem('put_in', Shape('box', (0.08, 0.08, 0.08)),
                                             shape('cup'))  # fmt: skip
    said = pairing_problem('put_in', cube, shape('small_block'))
    assert said == f'the mesh in {library / "small_block"} has no cavity that is open above'


@pytest.fixture(scope='module')
def scenes(library):
    """A scene of put in for the cup, and one for the drawer."""
    return tuple(
        generate(
            'put_in', 'so101', 1, 3, meshes=str(library),
            fixed={'unseen_objects.who': 'all', 'unseen_objects.receptacle': name,
                   'unseen_objects.target': 'small_block', 'confounder_count.count': 0},
        ).scenes[0]
        for name in ('cup', 'drawer')
    )  # fmt: skip


def test_meshes_that_are_not_drawn_move_the_same_to_the_bit(scenes):
    pytest.importorskip('mujoco')
    from frame_ros.scenes.simulation.scene_simulation import SceneSimulation

    drawn, bare = SceneSimulation(scenes[0]), SceneSimulation(scenes[0], is_drawn=False)
    assert bare.model.nmesh == sum(bare.model.geom_dataid >= 0) == drawn.model.nmesh - 2
    for simulation in (drawn, bare):
        simulation.step(simulation.targets + 0.2, 100)
    assert np.array_equal(drawn.data.qpos, bare.data.qpos)


def test_a_container_without_a_cavity_is_refused(scenes, library):
    scene = scenes[0]
    block = attrs.evolve(scene.receptacle, shape=Shape('mesh', mesh=str(library / 'small_block')))
    target = attrs.evolve(scene.target, shape=Shape('box', (0.03,) * 3), type='cube')
    other = attrs.evolve(scene, objects=(settled(target), settled(block)))
    broken = check_scene(other, setting(scene_robot('so101'), 'put_in', meshes=str(library)))
    assert broken.constraint == 'semantics' and 'has no cavity' in broken.problem


def test_the_rule_is_that_of_the_inside(scenes):
    scene = scenes[1]  # the drawer, whose inside is off its middle
    half = float(scene.receptacle.shape.half_edges[2])
    inside = scene.receptacle.shape.cavity

    def is_in(offset, height):
        turn = scene.receptacle.rotation
        middle = np.array((*scene.receptacle.position, half))
        places = np.tile(middle + turn @ (*offset, height - half), (40, 1))
        upright = np.tile((0.0, 0.0, 0.0, 1.0), (40, 1))
        track = ObjectTrack(positions=places, orientations=upright)
        other = ObjectTrack(
            positions=np.tile(middle, (40, 1)),
            orientations=np.tile(scene.receptacle.orientation, (40, 1)),
        )
        no = np.zeros(40, bool)
        states = EpisodeStates(
            times=np.arange(40) / 30, tracks={'target': track, 'receptacle': other},
            touched={'receptacle': ~no}, touches_robot=no, is_grasped=no,
        )  # fmt: skip
        return judge(scene, states, 'paper').reached['success']

    centre = inside.centre
    assert is_in(centre, FLOOR + 0.0125)
    assert not is_in(centre, 0.04)  # above the rim
    assert not is_in(centre + (0.045, 0.0), FLOOR + 0.0125)  # through the wall
    assert not is_in((-0.06, 0.0), FLOOR + 0.0125)  # where the inside is not


def test_the_fingers_let_go_over_the_rim_where_there_is_no_room_for_them(scenes):
    pytest.importorskip('mujoco')
    policy, drop = ScriptedTasks(), 0.05
    for scene, has_room in zip(scenes, (False, True), strict=True):
        policy.know(known_scene(scene))
        simulation = SceneSimulation(scene, is_drawn=False)
        inside, middle = scene.receptacle.shape.cavity, simulation.pose_of('receptacle')[2]
        pose = simulation.pose_of('receptacle')
        goal = Rotation.from_quat(pose[3:]).inv().apply(simulation.goal_pose()[:3] - pose[:3])
        assert goal == pytest.approx((*inside.centre, inside.floor), abs=5e-4)
        grasp = policy._grasping.of(policy._taken(), simulation.object_pose())
        tip = policy._inside_height(simulation.goal_pose(), grasp, drop)
        if has_room:  # as far above the floor as above that of the bin
            wall = simulation.robot.table.bin_wall
            assert tip - grasp.height == pytest.approx(
                middle + inside.floor + drop - wall, abs=1e-4
            )
        else:
            assert tip == pytest.approx(middle + inside.rim + LOWEST, abs=1e-4)


def test_the_scripted_policy_puts_things_into_meshes(scenes):
    pytest.importorskip('mujoco')
    for scene in scenes:
        found = run_scene(scene, ScriptedTasks())
        assert found.problem == '' and found.outcomes['paper'].reached['success'], scene.name
