# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The cameras of the simulation: geometry of the images, depth against hand-worked distances."""

import numpy as np
import pytest

pytest.importorskip('mujoco')

from frame_ros.core.errors import SetupError, ValueRangeError
from frame_ros.scenes import PickPlaceSimulation
from frame_ros.scenes.simulation.scene_robot import SO101


@pytest.fixture(scope='module')
def simulation():
    simulation = PickPlaceSimulation(seed=3)
    try:
        simulation.render('front')
    except SetupError as error:
        pytest.skip(str(error))
    yield simulation
    simulation.close()


def test_intrinsics_follow_from_the_field_of_view(simulation):
    camera = simulation.intrinsics('front', 320, 240)
    fovy = np.radians(simulation.model.cam('front').fovy[0])
    assert 2 * np.arctan(120 / camera.focal) == pytest.approx(fovy)
    assert (camera.cx, camera.cy) == (159.5, 119.5)


def table_depths(simulation, camera):
    """Depth of the table top at every pixel, from the ray through its centre; NaN off the table."""
    position, rotation = simulation.camera_pose('front')
    v, u = np.mgrid[: camera.height, : camera.width]
    rays = np.stack(
        ((u - camera.cx) / camera.focal, (v - camera.cy) / camera.focal, np.ones(u.shape))
    )
    directions = np.einsum('ij,jvu->ivu', rotation, rays)
    with np.errstate(divide='ignore'):
        depth = -position[2] / directions[2]
    place = position[:2, None, None] + depth * directions[:2]
    half = np.array(SO101.table.size[:2])[:, None, None] / 2 - 0.01
    is_on = (np.abs(place - np.array(SO101.table.centre)[:, None, None]) < half).all(axis=0) & (
        depth > 0
    )
    return np.where(is_on, depth, np.nan)


def test_depth_of_the_table_matches_its_plane(simulation):
    camera = simulation.intrinsics('front', 320, 240)
    expected = table_depths(simulation, camera)
    depth = simulation.render('front', 320, 240, with_depth=True).depth
    is_on_table = np.isfinite(expected)
    assert is_on_table.mean() > 0.3
    error = (depth - expected)[is_on_table]
    assert (error < 1e-3).all()  # what stands on the table is nearer, nothing is farther
    is_seen = error > -1e-3
    assert is_seen.mean() > 0.5
    assert np.abs(np.median(error[is_seen])) < 2e-4  # half a pixel would be more


def test_the_cube_is_where_it_projects_to(simulation):
    camera = simulation.intrinsics('front', 320, 240)
    frame = simulation.render('front', 320, 240)
    position, rotation = simulation.camera_pose('front')
    x, y, z = rotation.T @ (simulation.object_pose()[:3] - position)
    u, v = camera.focal * x / z + camera.cx, camera.focal * y / z + camera.cy
    assert simulation.layout.target.colour == 'blue'
    red, _, blue = np.moveaxis(frame.rgb.astype(float), 2, 0)
    rows, columns = np.nonzero(blue - red > 60)
    assert len(rows) > 50
    assert (columns.mean(), rows.mean()) == pytest.approx((u, v), abs=3.0)


def test_the_arm_the_objects_and_the_bin_are_in_view(simulation):
    camera = simulation.intrinsics('front', 320, 240)
    position, rotation = simulation.camera_pose('front')
    for seed in range(20):
        simulation.reset(seed)
        layout = simulation.layout
        places = [p.position for p in (layout.target, layout.bin, *layout.distractors)]
        links = (
            'base_link',
            'upper_arm_link',
            'lower_arm_link',
            'wrist_link',
            'gripper_frame_link',
        )
        places += [simulation.data.body(link).xpos for link in links]
        for place in places:
            x, y, z = rotation.T @ (np.array(place) - position)
            assert abs(camera.focal * x / z) < camera.width / 2
            assert abs(camera.focal * y / z) < camera.height / 2
    simulation.reset(3)


def test_the_same_state_gives_the_same_image_and_the_wrist_camera_another(simulation):
    first = simulation.render('front').rgb
    wrist = simulation.render('wrist').rgb
    assert np.array_equal(first, simulation.render('front').rgb)
    assert not np.array_equal(first, wrist)
    assert first.shape == (240, 320, 3)
    assert first.dtype == np.uint8


def test_simulations_of_one_thread_draw_in_turn(simulation):
    before = simulation.render('front', with_depth=True)
    other = PickPlaceSimulation(seed=3, robot='fr3')
    try:
        first = other.render('front', with_depth=True)
        again = simulation.render('front', with_depth=True)
        assert np.array_equal(again.depth, before.depth)
        assert np.array_equal(other.render('front', with_depth=True).depth, first.depth)
        assert not np.array_equal(first.depth, before.depth)
    finally:
        other.close()
    assert np.array_equal(simulation.render('front', with_depth=True).depth, before.depth)


def test_the_mount_of_the_wrist_camera_moves_with_its_link(simulation):
    before = simulation.camera_mount('wrist')
    for _ in range(30):
        simulation.step((0.3, -1.0, 1.0, 0.5, 0.4, 0.2))
    after = simulation.camera_mount('wrist')
    simulation.reset(3)
    assert before[0] == after[0] == 'gripper_link'
    assert before[1] == pytest.approx(after[1], abs=1e-9)
    assert before[2] == pytest.approx(after[2], abs=1e-9)
    assert simulation.camera_mount('front')[0] == 'base_link'


def test_unknown_cameras_and_sizes_are_refused(simulation):
    with pytest.raises(ValueRangeError, match='overhead'):
        simulation.render('overhead')
    with pytest.raises(ValueRangeError, match='4000'):
        simulation.render('front', 4000, 3000)
