# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Branch and bound over blocks gives what a scan of all pixels in float64 gives."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from frame_ros.robots import Capsule, load_robot
from frame_ros.robots.link_frames import LinkFrames
from frame_ros.robots.shapes.link_shapes import (
    box,
    capsule_shape,
    cylinder,
    link_shapes,
    placed,
    sphere,
)
from frame_ros.sensing.proximity.depth import image_kernels as depth_image_kernels
from frame_ros.sensing.proximity.depth import kernels as depth_kernels
from frame_ros.sensing.proximity.depth.camera import DepthCamera
from frame_ros.sensing.proximity.depth.detector import DepthProximity, compile_loops
from frame_ros.sensing.proximity.depth.options import DepthOptions
from frame_ros.sensing.proximity.depth.scan import DepthScan
from frame_ros.sensing.proximity.depth.shapes import CameraShapes
from frame_ros.sensing.proximity.depth.valid_range import DepthRange

sys.path.insert(0, str(Path(__file__).parent))
from depth_scenes import CAMERA, ROTATION, TRANSLATION, full_scan, in_millimetres, seen

PADDING = 0.01


def robot_shapes(name, seed, **chosen):
    robot = load_robot(name)
    frames = LinkFrames(robot)
    q = np.random.default_rng(seed).uniform(-0.8, 0.8, len(frames.joint_names))
    q[3] = min(q[3], -0.5) if name == 'fr3' else q[3]
    return link_shapes(robot, **chosen).place(*frames.compute(q))


def check(camera, depth, shapes, held=None):
    """The fast scan of an image equals the plain one; returns the distances."""
    scan, limits = DepthScan(camera, PADDING), DepthRange(0.1, 3.0)
    image = np.empty_like(depth)
    valid = limits.apply(depth, image)
    assert valid == np.count_nonzero(image)
    scale = 1e-3 if depth.dtype == np.uint16 else 1.0
    result = scan.run(image, scale, CameraShapes(shapes, ROTATION, TRANSLATION, held))
    expected, own = full_scan(camera, depth, shapes, PADDING, held=held)
    assert result.own == own
    np.testing.assert_allclose(result.nearest.distances, expected, rtol=0, atol=1e-6)
    found = np.isfinite(expected)
    gaps = np.linalg.norm(result.nearest.points - result.nearest.surface, axis=1)[found]
    np.testing.assert_allclose(gaps, expected[found], atol=1e-6)
    seen_points = camera.points(depth).reshape(-1, 3)
    for point in result.nearest.points[found]:
        assert np.nanmin(np.abs(seen_points - point).sum(axis=1)) < 1e-6
    on = result.nearest.surface[found] @ ROTATION.T + TRANSLATION
    if len(on):
        assert np.abs(np.diag(shapes.link_distances(on)[:, found])).max() < 1e-6
    return expected


@pytest.mark.parametrize('name', ['so101', 'fr3'])
@pytest.mark.parametrize('kind', [np.uint16, np.float32])
def test_robots_before_a_wall_with_things_beside_them(name, kind):
    generator = np.random.default_rng(0)
    for seed in range(2):
        shapes = robot_shapes(name, seed, exclude=[load_robot(name).base_link])
        things = placed('things', [sphere(0.04, generator.uniform(-0.4, 0.4, 3)) for _ in range(4)])
        depth = seen(CAMERA, shapes.joined(things))
        depth += generator.normal(0, 0.003, depth.shape)
        depth[generator.random(depth.shape) < 0.05] = 0
        image = in_millimetres(depth) if kind == np.uint16 else depth.astype(np.float32)
        assert np.isfinite(check(CAMERA, image, shapes)).all()


def test_one_capsule_per_link():
    robot = load_robot('fr3')
    frames = LinkFrames(robot)
    found = link_shapes(robot, ['fr3_link4', 'fr3_link6', 'fr3_hand'])
    rotations, translations = frames.compute([0, 0.3, 0, -1.5, 0, 1.8, 0.4, 0.02])
    shapes = []
    for link, capsule in zip(found.links, found.capsules):
        row = frames.index(link)
        ends = [rotations[row] @ end + translations[row] for end in (capsule.start, capsule.end)]
        shapes.append(capsule_shape(Capsule(*ends, capsule.radius)))
    depth = seen(CAMERA, placed('a', [*shapes, box([0.1, 0.1, 0.6], [0.5, 0.1, 0.3])]))
    check(CAMERA, in_millimetres(depth), placed('a', shapes))


ARM_SHAPE = capsule_shape(Capsule(np.array([-0.2, 0.0, 0.2]), np.array([0.2, 0.0, 0.4]), 0.05))
ARM = placed('arm', [ARM_SHAPE])


@pytest.mark.parametrize('size', [(160, 120), (157, 113), (9, 5)])
def test_a_single_pixel_is_found_wherever_it_is(size):
    camera = DepthCamera(*size, 150.0, 155.0, size[0] / 2, size[1] / 2)
    wall = in_millimetres(seen(camera, ARM))
    for seed in range(4):
        generator = np.random.default_rng(seed)
        image = wall.copy()
        row, column = generator.integers(0, size[1]), generator.integers(0, size[0])
        image[row, column] = 1000
        check(camera, image, ARM)
        image[:] = 0
        image[row, column] = 1500
        assert np.isfinite(check(camera, image, ARM)).all()


def test_an_obstacle_right_behind_the_outline_of_the_arm():
    for gap in (0.012, 0.02, 0.05):
        behind = placed('b', [box([0.6, 0.01, 0.6], [0.0, 0.055 + gap, 0.3])])
        depth = in_millimetres(seen(CAMERA, ARM.joined(behind)))
        (distance,) = check(CAMERA, depth, ARM)
        assert distance > gap - 0.005


@pytest.mark.parametrize('value', [0, 65535, 40, 5000])
def test_images_without_any_valid_pixel(value):
    assert np.isnan(check(CAMERA, np.full((120, 160), value, np.uint16), ARM)).all()


def test_the_arm_fills_the_picture():
    near = placed('arm', [box([2, 0.4, 2], [0, 0, 0.3])])
    depth = in_millimetres(seen(CAMERA, near))
    assert np.isnan(check(CAMERA, depth, near)).all()
    depth[40:50, 30:33] = 900
    assert np.isfinite(check(CAMERA, depth, near)).all()
    depth[:, ::2] = 0
    check(CAMERA, depth, near)


def test_half_of_the_pixels_at_random_are_missing_or_wild():
    generator = np.random.default_rng(5)
    for _ in range(3):
        depth = in_millimetres(seen(CAMERA, ARM))
        wild = generator.random(depth.shape) < 0.5
        depth[wild] = generator.integers(0, 65536, wild.sum())
        check(CAMERA, depth, ARM)


def test_of_many_blocks_at_about_the_same_distance_the_nearest_is_found():
    camera = DepthCamera(320, 240, 300.0, 310.0, 158.0, 121.0)
    generator = np.random.default_rng(4)
    both = replace(placed('a', [ARM_SHAPE, sphere(0.05, [0.5, 0.1, 0.6])]),
                   links=('arm', 'ball'), owners=np.array([0, 1]))  # fmt: skip
    for _ in range(4):
        depth = np.where(generator.random((240, 320)) < 0.01, 1600, 2700).astype(np.uint16)
        depth += generator.integers(0, 300, depth.shape).astype(np.uint16)
        assert np.isfinite(check(camera, depth, both)).all()


def test_rays_far_off_the_axis_are_longer_than_their_depth():
    camera = DepthCamera(160, 120, 30.0, 30.0, 80.0, 60.0)
    noise = 0.3
    rays = np.stack([*np.broadcast_arrays(*np.meshgrid(*camera.rays())), np.ones((120, 160))], -1)
    depth = np.zeros((120, 160), np.uint16)
    depth[::3, ::3] = 800
    for row, column in ((0, 0), (117, 159), (60, 0)):
        middle = rays[row, column] * (0.8 + noise * 0.64)
        shapes = placed('arm', [sphere(0.02, ROTATION @ middle + TRANSLATION)])
        steps = np.array([-1, -0.5, 0, 0.5, 1])[:, None, None, None]
        points = rays * (0.8 + noise * 0.64 * steps)
        moved = shapes.shape_distances(points.reshape(-1, 3) @ ROTATION.T + TRANSLATION)
        is_self = (moved.reshape(5, 120, 160) <= PADDING).any(axis=0) & (depth > 0)
        assert is_self.any()
        scan = DepthScan(camera, PADDING, noise)
        result = scan.run(depth.copy(), 1e-3, CameraShapes(shapes, ROTATION, TRANSLATION))
        assert result.own == is_self.sum()
        left = np.where(is_self, 0, depth)
        expected, _ = full_scan(camera, left, shapes, PADDING)
        np.testing.assert_allclose(result.nearest.distances, expected, rtol=0, atol=1e-6)


def test_what_is_held_is_no_obstacle():
    held = placed('held', [box([0.05, 0.05, 0.05], [0.3, 0.0, 0.5])])
    depth = in_millimetres(seen(CAMERA, ARM.joined(held)))
    with_it, without = check(CAMERA, depth, ARM), check(CAMERA, depth, ARM, held)
    assert with_it[0] < 0.15 < without[0]


numbers = st.floats(-0.5, 0.5)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**31), st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=6)
)
def test_any_shapes_and_any_picture(seed, middles):
    generator = np.random.default_rng(seed)
    camera = DepthCamera(64, 48, 60.0, 60.0, 30.0, 25.0)
    shapes = []
    for middle in middles:
        turn = Rotation.random(random_state=seed % 1000).as_matrix()
        kind, scale = generator.integers(4), generator.uniform(0.01, 0.2)
        end = np.array(middle) + turn[:, 0] * scale
        shapes.append(
            (
                box([scale, 0.05, 0.1], middle, turn),
                sphere(scale, middle),
                cylinder(scale, 0.1, middle, turn),
                capsule_shape(Capsule(np.array(middle), end, 0.05)),
            )[kind]
        )
    here = placed('a', shapes)
    depth = seen(camera, here) if seed % 2 else generator.uniform(0.2, 2.5, (48, 64))
    depth[generator.random(depth.shape) < 0.2] = generator.uniform(0.1, 3)
    check(camera, in_millimetres(depth), here)


def test_shapes_of_no_watched_link_are_the_robot_and_have_no_distance():
    shapes = robot_shapes('so101', 0, links=['wrist_link'])
    assert (shapes.owners < 0).any()
    depth = in_millimetres(seen(CAMERA, shapes))
    assert check(CAMERA, depth, shapes).shape == (1,)
    unwatched = replace(shapes, owners=np.full(len(shapes), -1))
    assert np.isnan(check(CAMERA, depth, unwatched)).all()


def test_without_shapes_nothing_is_the_robot():
    nothing = ARM.select([False])
    assert np.isnan(check(CAMERA, in_millimetres(seen(CAMERA, ARM)), nothing)).all()


def test_the_first_images_of_a_camera_need_no_compilation():
    assert compile_loops() > 0.0
    every = [each for module in (depth_kernels, depth_image_kernels) for each in
             vars(module).values() if hasattr(each, 'signatures')]  # fmt: skip
    before = [list(each.signatures) for each in every]
    assert sum(map(len, before)) >= 8  # what others call is not listed if it was on disk
    for kind in (np.uint16, np.float32):
        check(CAMERA, np.full((120, 160), 1, kind), ARM)
        for settings_ in (DepthOptions(), DepthOptions(surface_height=0.0, smoothing=1)):
            proximity = DepthProximity(CAMERA, settings_)
            image = in_millimetres(seen(CAMERA, ARM)) * kind(1 if kind == np.uint16 else 1e-3)
            proximity.measure(image, ARM, ROTATION, TRANSLATION)
            image.flags.writeable = False  # as an image that is a view of a message's bytes
            proximity.measure(image, ARM, ROTATION, TRANSLATION)
            proximity.points(image, ARM, ROTATION, TRANSLATION)
    assert [list(each.signatures) for each in every] == before
