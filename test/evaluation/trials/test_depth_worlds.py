# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Depth worlds of others' meshes: kinematics agree with our profiles, true distances with the
distances of single points, pictures with what stands there, and noise with its publication.
"""

import math

import numpy as np
import pytest

pytest.importorskip('mujoco')

from frame_ros.core.errors import MissingExtraError, ValueRangeError
from frame_ros.evaluation.trials.campaign import Trial, run_trial
from frame_ros.evaluation.trials.depth_worlds import PICK_AND_PLACE, motion_of_others
from frame_ros.evaluation.trials.kinds import DISTANCES, FUNCTIONS
from frame_ros.evaluation.trials.worlds.cell import SensedCell
from frame_ros.evaluation.trials.worlds.depth_world import AROUND, depth_world
from frame_ros.evaluation.trials.worlds.measured_noise import (
    MeasuredNoise,
    axial_deviation,
    blobs,
)
from frame_ros.evaluation.trials.worlds.obstacles import BOX, CAPSULE, SPHERE, Obstacle
from frame_ros.evaluation.trials.worlds.robots import package_folder, world_robot
from frame_ros.evaluation.trials.worlds.scenes import draw_scene
from frame_ros.robots import load_robot
from frame_ros.robots.link_frames import LinkFrames
from frame_ros.scenes.simulation.state import SceneState


@pytest.fixture(scope='module')
def world():
    return depth_world('so101')


@pytest.mark.parametrize('name', ['fr3', 'so101'])
def test_links_stand_where_our_profile_has_them(name):
    world = depth_world(name)
    rng = np.random.default_rng(1)
    frames = LinkFrames(load_robot(name), world.joint_names)
    rows = [frames.index(link) for link in world.links]
    for positions in rng.uniform(*world.limits.T, (5, len(world.joint_names))):
        world.pose(positions)
        rotations, translations = frames.compute(positions)
        of_others = world.link_poses()
        assert np.allclose(of_others[0], rotations[rows], atol=5e-5)
        assert np.allclose(of_others[1], translations[rows], atol=2e-5)


def test_a_world_that_is_not_there_is_named():
    with pytest.raises(ValueRangeError, match='fr3, so101'):
        world_robot('ur99')
    with pytest.raises(MissingExtraError, match=r'requirements/worlds\.txt'):
        package_folder('no_such_package_of_worlds')


def test_true_distances_are_those_of_the_nearest_point(world):
    world.pose(world.ready)
    rotations, translations = world.link_poses()
    centre = np.array([0.25, 0.1, 0.3])
    found = world.distances([Obstacle(SPHERE, (0.02,) * 3, centre)])
    for row, link in enumerate(world.links):
        vertices, triangles = world.surface(link)
        corners = vertices @ rotations[row].T + translations[row]
        # A triangle is no nearer than its nearest corner less its longest side.
        apart = np.linalg.norm(corners - centre, axis=1)
        sides = corners[triangles] - np.roll(corners[triangles], 1, axis=1)
        longest = np.linalg.norm(sides, axis=2).max()
        distance = found.distances[row] + 0.02
        assert apart.min() - longest <= distance <= apart.min() + 1e-9
        on_robot = found.points_on_robot[row]
        assert np.linalg.norm(on_robot - centre) == pytest.approx(distance, abs=1e-6)


def test_pictures_show_an_obstacle_where_it_stands(world):
    eye, target = np.array([0.8, 0.0, 0.3]), np.array([0.2, 0.0, 0.3])
    world.set_front_camera(eye, target)
    world.set_obstacles([Obstacle(BOX, (0.05, 0.05, 0.05), np.array([0.5, 0.0, 0.3]))])
    clean = world.depth('front')
    assert clean[240, 320] == pytest.approx(0.25, abs=1e-3)
    behind = world.depth_without('front', world.obstacles)
    assert behind[240, 320] > 0.3
    assert np.array_equal(world.depth('front'), clean)
    # Without lights and colours the depth is the same.
    data = world._data
    state = SceneState(0.5, data.qpos.copy(), data.mocap_pos.copy(), data.mocap_quat.copy())
    lit = world._renderer.render(state, 'front', with_depth=True)
    assert np.array_equal(lit.depth, clean) and np.ptp(lit.rgb) > 0
    rotation, position = world.camera_pose('front')
    assert position == pytest.approx(eye)
    assert rotation[:, 2] == pytest.approx([-1.0, 0.0, 0.0], abs=1e-9)
    world.set_obstacles(())


def test_three_cameras_around_and_walls_behind_the_cell(world):
    eye, target = np.array([0.8, 0.0, 0.5]), np.array([0.2, 0.0, 0.3])
    world.set_front_camera(eye, target)
    about = math.radians(120.0)
    turned = target + [0.6 * math.cos(about), 0.6 * math.sin(about), 0.2]
    assert world.camera_pose('left')[1] == pytest.approx(turned)
    assert world.camera_pose('right')[1] == pytest.approx(turned * [1.0, -1.0, 1.0])
    for name in AROUND[:3]:
        rotation, position = world.camera_pose(name)
        ahead = target - position
        assert rotation[:, 2] == pytest.approx(ahead / np.linalg.norm(ahead), abs=1e-9)
    world.set_front_camera([0.8, 0.0, 0.3], target)
    try:
        past_the_arm = world.depth('front')[20, 320]
        world.set_room(True)
        # Up the picture the ray rises by (240 - 20) / 385 per m: it meets the wall at x = -2.45 m.
        assert past_the_arm > 6.0 and world.depth('front')[20, 320] == pytest.approx(3.25, abs=0.01)
    finally:
        world.set_room(False)
    assert world.depth('front')[20, 320] == past_the_arm


def test_more_obstacles_than_places_are_refused(world):
    with pytest.raises(ValueRangeError, match='at most'):
        world.set_obstacles([Obstacle(SPHERE, (0.01,) * 3, np.zeros(3))] * 9)


def test_noise_is_as_published(world):
    lens = world.intrinsics('front')
    noise = MeasuredNoise(lens, 'front', 3)
    flat = np.full((lens.height, lens.width), 1.2, np.float32)
    picture = noise(flat).astype(float) / 1000.0
    inner = picture[50:-50, 100:-50]
    known = inner[inner > 0]
    assert len(known) > 0.95 * inner.size
    # By hand: 0.0012 + 0.0019 * 0.64 m.
    assert known.std() == pytest.approx(0.002416, rel=0.05)
    assert known.mean() == pytest.approx(1.2, abs=1e-3)
    steep = axial_deviation(np.float32([1.0]), np.float32([1.3]))[0]
    by_hand = 0.0012 + 0.0019 * 0.36 + 1e-4 * 1.3**2 / (math.pi / 2 - 1.3) ** 2
    assert steep == pytest.approx(by_hand, rel=1e-5)


def test_holes_have_their_share():
    assert blobs((480, 640), 0.6, 6, 1).mean() == pytest.approx(0.6, abs=0.01)


@pytest.mark.parametrize(('kind', 'low', 'high'), [('near', 0.003, 0.01), ('touching', 0, 0.0005)])
def test_scenes_keep_their_distances(world, kind, low, high):
    scene = draw_scene(world, kind, 2, 5)
    world.pose(scene.positions[1])
    watched = world.distances(scene.obstacles)
    assert low <= watched.distance <= high
    # Links that cannot be the nearest are left out where only that one is asked for.
    alone = world.nearest(scene.obstacles)
    assert alone.distance == watched.distance and alone.nearest == watched.nearest
    assert np.isnan(alone.distances).any()


def test_a_cable_is_thin_and_the_same_seed_gives_the_same_scene(world):
    first, second = (draw_scene(world, 'cable', 3, 7) for _ in range(2))
    assert first.obstacles[0].kind == CAPSULE and first.obstacles[0].size[0] == 0.0015
    assert np.array_equal(first.positions, second.positions)
    assert np.array_equal(first.obstacles[0].position, second.obstacles[0].position)


def test_the_filter_by_meshes_leaves_nothing_of_the_robot():
    trial = Trial('depth_world', 'so101', 5000, {'scene': 'empty', 'frames': 1})
    by_shapes = run_trial(trial, FUNCTIONS['depth_world']).result
    meshes = Trial('depth_world', 'so101', 5000, {**trial.settings, 'filter': 'meshes'})
    by_meshes = run_trial(meshes, FUNCTIONS['depth_world']).result
    (near,), (far,) = by_shapes['measured'], by_meshes['measured']
    assert far is None or far > 0.1
    assert near is None or far is None or near < far
    wrong = Trial('depth_world', 'so101', 5000, {**trial.settings, 'filter': 'hull'})
    assert "no self-filter 'hull'" in run_trial(wrong, FUNCTIONS['depth_world']).problem


def test_a_trial_has_a_row_per_frame_and_an_empty_scene_no_truth():
    trial = Trial('depth_world', 'so101', 2, {'scene': 'empty', 'frames': 2})
    result = run_trial(trial, FUNCTIONS['depth_world']).result
    assert result['truth'] == [None, None]
    assert len(result['measured']) == 2 and len(result['link_measured'][0]) == len(result['links'])
    trial = Trial('depth_world', 'so101', 2, {'scene': 'clutter', 'frames': 2})
    result = run_trial(trial, FUNCTIONS['depth_world']).result
    assert all(0 < value < 0.5 for value in result['truth'])
    assert min(result['link_truth'][0]) == result['truth'][0]


def test_of_two_transparent_things_neither_is_seen(world):
    world.pose(world.ready)
    one, two = (
        Obstacle(SPHERE, (0.04,) * 3, np.array([0.25, side, 0.25]), is_transparent=True)
        for side in (-0.15, 0.15)
    )
    world.set_obstacles([one, two])
    bare = world.depth_without('front', [two, one])
    with_one = world.depth_without('front', [two])
    assert (with_one < bare - 0.01).any()
    assert not np.array_equal(with_one, world.depth_without('front', [one]))
    cell = SensedCell(world, 0, cameras=('front',))
    cell._noise['front'] = lambda clean, lost: (clean, lost)
    clean, lost = cell.picture('front')
    assert np.array_equal(clean, bare)
    assert lost[with_one < bare - 0.01].any() and not lost[world.depth('front') == bare].any()


def test_the_version_of_distances_covers_the_shapes_they_are_measured_from():
    assert 'config/shapes' in DISTANCES


def test_a_motion_of_others_stays_within_the_limits_and_is_as_fast_as_it_was_made(world):
    path = motion_of_others(PICK_AND_PLACE, world, 8, 5001)
    assert path.shape == (8, len(world.joint_names))
    assert (path > world.limits[:, 0] - 0.02).all() and (path < world.limits[:, 1] + 0.02).all()
    assert 0.05 < np.ptp(path, axis=0).max() < 2.5
    assert np.array_equal(path, motion_of_others(PICK_AND_PLACE, world, 8, 5001))
    with pytest.raises(ValueRangeError, match='no motion'):
        motion_of_others('dance', world, 8, 0)
    with pytest.raises(ValueRangeError, match='frames of a motion'):
        motion_of_others(PICK_AND_PLACE, world, 1000, 5001)
    trial = Trial('depth_motion', 'so101', 5001, {'scene': 'empty', 'frames': 1, 'motion': 'dance'})
    assert 'dance' in run_trial(trial, FUNCTIONS['depth_motion']).problem
