# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Ghosts of objects in camera pictures, against pictures that MuJoCo and OpenCV draw."""

import base64

import attrs
import cv2
import numpy as np
import pytest
from outline_accuracy import outline_error

from frame_ros.core.errors import ValueRangeError
from frame_ros.reports.set_up_cards.page import Photo, overlay
from frame_ros.scenes.cards.camera import Lens, PlacedCamera, lens_of, placed_camera
from frame_ros.scenes.cards.facts import object_facts
from frame_ros.scenes.cards.ghosts import Ghost, draw_ghosts, enlarged, ghosts_of, plain_text
from frame_ros.scenes.cards.mat import mats_of
from frame_ros.scenes.cards.outlines import footprint
from frame_ros.scenes.generation.generator import generate
from frame_ros.scenes.generation.setting import nominal_scene, setting
from frame_ros.scenes.simulation.scene_robot import scene_robot

BAR = 10.0  # mm
LENS = Lens(width=640, height=480, matrix=np.array(((500.0, 0, 320), (0, 510, 240), (0, 0, 1))))
WIDE = attrs.evolve(LENS, distortion=np.array((-0.28, 0.07, 0.001, -0.002, 0.01)))


def above(lens=LENS, height=0.6):
    """A camera that looks straight down at x 0.25."""
    return PlacedCamera(
        lens=lens, position=np.array((0.25, 0.0, height)), rotation=np.diag((1.0, -1.0, -1.0))
    )


def true_errors(scene):
    """The errors of all objects of a scene that nothing hides, from MuJoCo's own picture."""
    mujoco = pytest.importorskip('mujoco')
    from frame_ros.scenes.simulation.rendering import SceneRenderer
    from frame_ros.scenes.simulation.scene_model import build_scene_model
    from frame_ros.scenes.simulation.state import SceneState

    model, robot = build_scene_model(scene), scene_robot(scene.robot)
    data = mujoco.MjData(model)
    for name, position in zip(robot.joint_names, robot.home, strict=True):
        data.qpos[model.joint(name).qposadr[0]] = position
    state = SceneState(0.0, data.qpos.copy(), data.mocap_pos.copy(), data.mocap_quat.copy())
    front = next(each for each in scene.cameras if each.name == 'front')
    renderer = SceneRenderer(model, front.width, front.height)
    bodies = renderer.segment(state, 'front')
    renderer.close()
    camera = placed_camera(front)
    ghosts = {each.name: each for each in ghosts_of(scene, camera)}
    others = [model.body(name).id for name in free_of(model, scene)]
    for each in scene.objects:
        seen = bodies == model.body(each.name).id
        edge = cv2.dilate(seen.astype(np.uint8), np.ones((5, 5), np.uint8)).astype(bool) & ~seen
        is_free = not np.isin(bodies[edge], others).any()
        is_whole = not (seen[[0, -1]].any() or seen[:, [0, -1]].any())
        if is_free and is_whole and seen.any():
            found = outline_error(ghosts[each.name].silhouette, seen, camera, each.height)
            if found is not None:
                yield found


def free_of(model, scene):
    """Names of all bodies but the world and the table, which hide nothing on the table."""
    return {model.body(index).name for index in range(1, model.nbody)} - {'table'}


@pytest.mark.parametrize(('robot', 'task'), [('so101', 'put_in'), ('fr3', 'put_on')])
def test_ghosts_lie_within_a_centimetre_on_a_picture_drawn_by_mujoco(robot, task):
    operators = ('paper', 'unseen_objects')
    fixed = {'confounder_count.count': 2}
    scenes = generate(task, scene_robot(robot), 4, 5, operators, None, fixed).scenes
    errors = [found for scene in scenes for found in true_errors(scene)]
    assert len(errors) >= 6
    worst = max(each.worst for each in errors)
    print(
        f'{robot}: {len(errors)} objects of {len(scenes)} scenes: middle '
        f'{np.mean([e.centre for e in errors]):.2f} mm on average, at most '
        f'{max(e.centre for e in errors):.2f} mm; outline '
        f'{np.mean([e.outline for e in errors]):.2f} mm RMS, at most {worst:.2f} mm; '
        f'overlap {np.mean([e.overlap for e in errors]):.3f}'
    )
    assert worst < BAR
    assert np.mean([each.centre for each in errors]) < BAR / 4


def test_an_object_that_is_elsewhere_is_that_far_off():
    scene = nominal_scene(setting(scene_robot('so101'), 'pick_up'))
    camera = above()
    moved = attrs.evolve(scene.target, position=tuple(np.add(scene.target.position, (0.015, 0))))
    here, there = (
        ghosts_of(attrs.evolve(scene, objects=(each,)), camera)[0].silhouette
        for each in (scene.target, moved)
    )
    seen = np.zeros((LENS.height, LENS.width), np.uint8)
    cv2.fillPoly(seen, [np.rint(there).astype(np.int32)], 1)
    found = outline_error(here, seen.astype(bool), camera, scene.target.height)
    assert found.centre == pytest.approx(15.0, abs=1.0)
    assert found.overlap < 0.6


@pytest.mark.parametrize('lens', [LENS, WIDE])
def test_pixels_of_points_on_the_table_lead_back_to_them(lens):
    camera = above(lens)
    turned = attrs.evolve(
        camera, rotation=camera.rotation @ cv2.Rodrigues(np.array((0.3, 0, 0)))[0]
    )
    points = np.column_stack((np.linspace(0.15, 0.35, 9), np.linspace(-0.1, 0.1, 9), np.zeros(9)))
    (pixels,) = turned.lines(points)
    np.testing.assert_allclose(turned.on_plane(pixels, 0.0), points[:, :2], atol=2e-4)


def test_a_distorted_picture_is_the_undistorted_one_bent():
    """OpenCV's undistortion of our bent picture, against our picture of the pinhole camera."""
    scene = nominal_scene(setting(scene_robot('so101'), 'put_in'))
    flat, bent = (ghosts_of(scene, above(lens)) for lens in (LENS, WIDE))
    black = np.zeros((480, 640, 3), np.uint8)
    straight = draw_ghosts(black, flat, 1.0, labels=dict.fromkeys(('target', 'receptacle'), ''))
    curved = draw_ghosts(black, bent, 1.0, labels=dict.fromkeys(('target', 'receptacle'), ''))
    undone = cv2.undistort(curved, WIDE.matrix, WIDE.distortion)
    first, second = (each.max(axis=2) > 60 for each in (straight, undone))
    assert (first & second).sum() / (first | second).sum() > 0.93
    unbent = curved.max(axis=2) > 60
    assert (first & unbent).sum() / (first | unbent).sum() < 0.9  # without it, they differ


def test_what_is_behind_the_camera_or_beyond_its_lens_is_not_drawn():
    scene = nominal_scene(setting(scene_robot('so101'), 'put_in'))
    upwards = attrs.evolve(above(), rotation=np.eye(3))
    folding = attrs.evolve(LENS, distortion=np.array((-0.35, 0.02, 0.0, 0.0)))
    far = attrs.evolve(above(folding), position=np.array((5.0, 0.0, 0.6)))
    picture = np.full((480, 640, 3), 90, np.uint8)
    for camera in (upwards, far):
        ghosts = ghosts_of(scene, camera)
        assert [len(each.silhouette) for each in ghosts] == [0, 0]
        np.testing.assert_array_equal(draw_ghosts(picture, ghosts), picture)


def test_a_line_through_the_camera_s_plane_is_cut_there():
    camera = above()
    (part,) = camera.lines(np.array(((0.25, 0.0, 0.0), (0.25, 0.0, 1.0))))
    np.testing.assert_allclose(part, [(320, 240)] * 2)


def test_a_drawn_picture_is_blended_only_where_ghosts_are():
    scene = nominal_scene(setting(scene_robot('so101'), 'pick_up'))
    picture = np.full((480, 640, 3), 100, np.uint8)
    drawn = draw_ghosts(picture, ghosts_of(scene, above()), 0.5, ('put the cube: straße',))
    x, y = np.rint(ghosts_of(scene, above())[0].silhouette.min(axis=0)).astype(int)
    assert (drawn[:15, 200:] == 25).all()  # behind the text
    assert (drawn[45 : y - 8] == 100).all() and (drawn[:, : x - 40][45:] == 100).all()
    assert (picture == 100).all()
    assert plain_text('caf\u00e9 \u4e2d') == 'cafe ?'


def letters_of(picture):
    """Heights of the bright parts of a picture, pixels, those of specks left out."""
    bright = (picture.min(axis=2) > 150).astype(np.uint8)
    rows = cv2.connectedComponentsWithStats(bright)[2][1:]
    return sorted(int(row[cv2.CC_STAT_HEIGHT]) for row in rows if row[cv2.CC_STAT_AREA] > 4)


def test_labels_at_one_place_are_written_apart_and_can_be_read():
    anchor, nothing = np.array((315.0, 100.0)), np.empty((0, 2))
    ghosts = [Ghost(name, (0, 0, 0), nothing, (), (), anchor) for name in 'ab']
    labels = {'a': '1', 'b': '2'}
    grey = np.full((240, 320, 3), 90, np.uint8)
    high = letters_of(draw_ghosts(grey, ghosts, labels=labels, letters=14.0))
    assert len(high) == 2 and 12 <= high[0] <= high[1] <= 18
    low = letters_of(draw_ghosts(grey, ghosts, labels=labels))  # of a live image
    assert len(low) == 2 and low[0] >= 7


def test_a_small_photo_on_a_card_is_enlarged_with_its_ghosts_and_has_the_card_s_numbers():
    scene = nominal_scene(setting(scene_robot('so101'), 'put_in'))
    front = placed_camera(scene.cameras[0])
    black = np.zeros((240, 320, 3), np.uint8)
    ghosts = ghosts_of(scene, front)
    larger, moved = enlarged(black, ghosts, 960)
    assert larger.shape == (720, 960, 3)
    masks = []
    for picture, own, size in ((black, ghosts, (960, 720)), (larger, moved, (960, 720))):
        drawn = draw_ghosts(picture, own, 1.0, labels=dict.fromkeys(('target', 'receptacle'), ''))
        masks.append(cv2.resize(drawn, size, interpolation=cv2.INTER_NEAREST).max(axis=2) > 60)
    assert (masks[0] & masks[1]).sum() / (masks[0] | masks[1]).sum() > 0.85
    assert enlarged(larger, moved, 960)[0] is larger
    facts = object_facts(scene, mats_of([scene])['so101'])
    with_numbers, without = (
        cv2.imdecode(np.frombuffer(base64.b64decode(url.partition(',')[2]), np.uint8), 1)
        for url in (overlay(scene, Photo('front', black, None), own) for own in (facts, ()))
    )
    assert with_numbers.shape == (720, 960, 3)
    assert np.abs(with_numbers.astype(int) - without).max() > 100


@pytest.mark.parametrize(
    ('change', 'said'),
    [
        ({'matrix': np.zeros((3, 3))}, 'focal lengths'),
        ({'distortion': np.ones(7)}, '7 coefficients'),
        ({'width': 0}, '0x480'),
    ],
)
def test_an_impossible_lens_is_refused(change, said):
    with pytest.raises(ValueRangeError, match=said):
        attrs.evolve(LENS, **change)


def test_a_scene_s_own_cameras_can_be_placed_where_nothing_moves_them():
    scene = nominal_scene(setting(scene_robot('so101'), 'pick_up'))
    front, wrist = scene.cameras
    assert lens_of(front).matrix[0, 2] == front.centre[0]
    with pytest.raises(ValueRangeError, match='carried by gripper_link'):
        placed_camera(wrist)
    with pytest.raises(ValueRangeError, match='position and orientation'):
        placed_camera(attrs.evolve(front, position=None))


def test_a_footprint_is_that_of_the_turned_object():
    scene = nominal_scene(setting(scene_robot('so101'), 'pick_up'))
    half = np.pi / 8
    turned = attrs.evolve(scene.target, orientation=(0.0, 0.0, np.sin(half), np.cos(half)))
    outline = footprint(turned) - np.array(turned.position)
    edge = turned.shape.size[0]
    assert np.ptp(outline, axis=0) == pytest.approx([edge * np.sqrt(2)] * 2, rel=1e-6)
