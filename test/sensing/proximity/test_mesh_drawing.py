# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Depth images drawn from meshes: by hand, and against rays that are intersected one by one."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from frame_ros.robots.shapes.mesh_merging import merged_mesh
from frame_ros.robots.shapes.surface_meshes import RobotSurfaces, joined_surface
from frame_ros.sensing.proximity.depth.camera import DepthCamera
from frame_ros.sensing.proximity.depth.meshes.drawing import SurfaceDrawing

CAMERA = DepthCamera(80, 60, 70.0, 68.0, 38.5, 30.25)
NEAR = 0.05
HERE = np.eye(3)[None], np.zeros((1, 3))


def drawn(corners, pose=HERE, camera=CAMERA, near=NEAR):
    """(H, W) m, infinite where nothing is, of one link in the optical frame."""
    surface = joined_surface([merged_mesh(np.asarray(corners, float))])
    surfaces = RobotSurfaces(('a',), np.zeros(1, np.intp), (surface,))
    drawing = SurfaceDrawing(camera, surfaces, near)
    inverse = drawing.inverse_depths(*pose, np.eye(3), np.zeros(3)).copy()
    return np.divide(1.0, inverse, out=np.full(inverse.shape, np.inf), where=inverse > 0)


def rays_hit(corners, camera=CAMERA, near=NEAR):
    """The same by Moller and Trumbore's intersection of each ray with each triangle."""
    x, y = (
        (np.arange(camera.width) - camera.cx) / camera.fx,
        (np.arange(camera.height) - camera.cy) / camera.fy,
    )
    rays = np.stack(np.broadcast_arrays(x[None], y[:, None], 1.0), axis=-1).reshape(-1, 3)
    depth = np.full(len(rays), np.inf)
    for a, b, c in corners:
        normal = np.cross(rays, c - a)
        with np.errstate(divide='ignore', invalid='ignore'):
            factor = 1.0 / (normal @ (b - a))
            u = normal @ -a * factor
            q = np.cross(-a, b - a)
            v, z = rays @ q * factor, (c - a) @ q * factor
            is_hit = (u >= 0) & (v >= 0) & (u + v <= 1) & (z >= near)
        depth[is_hit] = np.minimum(depth[is_hit], z[is_hit])
    return depth.reshape(camera.height, camera.width)


def solid(seed, count=60, size=0.3):
    """Triangles (T, 3, 3) of a convex body about the origin, seen from outside."""
    points = np.random.default_rng(seed).normal(size=(count, 3)) * size
    hull = ConvexHull(points)
    corners = points[hull.simplices]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    is_inward = (normals * hull.equations[:, :3]).sum(axis=1) < 0
    corners[is_inward] = corners[is_inward][:, ::-1]
    return corners


def assert_same(found, expected):
    """Up to pixels whose centre an edge touches."""
    is_both = np.isfinite(found) & np.isfinite(expected)
    assert is_both.any()
    assert np.count_nonzero(np.isfinite(found) != np.isfinite(expected)) <= 1
    differences = np.abs(found[is_both] - expected[is_both])
    assert np.sort(differences)[-3:][0] < 1e-5


def test_a_triangle_by_hand():
    # At z = 2 the corners lie at columns 2, 6, 2 and rows 1, 1, 5 of a camera of focal length 4.
    camera = DepthCamera(9, 7, 4.0, 4.0, 0.0, 0.0)
    found = drawn([[[1.0, 0.5, 2.0], [3.0, 0.5, 2.0], [1.0, 2.5, 2.0]]], camera=camera)
    expected = np.full((7, 9), np.inf)
    for row in range(1, 6):
        expected[row, 2 : 8 - row] = 2.0
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_depth_is_that_of_a_slanted_plane():
    # The plane z = 1 + x: along the ray of slope u, z = 1 / (1 - u).
    found = drawn([[[-0.4, -0.5, 0.6], [0.4, -0.5, 1.4], [0.0, 0.5, 1.0]]])
    slopes = (np.arange(80) - CAMERA.cx) / CAMERA.fx
    rows, columns = np.nonzero(np.isfinite(found))
    assert len(rows) > 300
    np.testing.assert_allclose(found[rows, columns], 1 / (1 - slopes[columns]), atol=1e-6)


@pytest.mark.parametrize('seed', range(4))
def test_it_draws_what_rays_hit(seed):
    corners = np.concatenate(
        (solid(seed, size=0.12) + (0.05, 0.0, 0.6), solid(seed + 9) + (0, 0, 2.5))
    )
    assert_same(drawn(corners), rays_hit(corners))


@pytest.mark.parametrize('seed', range(3))
def test_an_open_surface_is_seen_from_both_sides(seed):
    corners = (solid(seed, size=0.15) + (0.0, 0.0, 0.8))[5:]
    for each in (corners, corners[:, ::-1]):
        assert_same(drawn(each), rays_hit(each))


def test_slivers_are_drawn():
    angles = np.linspace(0.0, 6.0, 40)
    ends = np.stack((np.cos(angles) * 0.3, np.sin(angles) * 0.3, 1.0 + 0.1 * angles), axis=1)
    middle = np.tile((0.01, 0.02, 0.9), (39, 1))
    corners = np.stack((middle, ends[:-1], ends[1:]), axis=1)
    assert_same(drawn(corners), rays_hit(corners))


@pytest.mark.parametrize('seed', range(3))
def test_it_is_cut_at_the_near_plane(seed):
    corners = solid(seed, 20, 0.4) + (0.1, 0.0, 0.3)
    assert (corners[:, :, 2].min(axis=1) < NEAR).any()
    found, expected = drawn(corners), rays_hit(corners)
    # A closed surface is not seen from within: only what faces the camera counts.
    from_outside = drawn(corners[3:])  # open: both sides are drawn
    assert (found >= expected - 1e-5).all()
    assert_same(from_outside, rays_hit(corners[3:]))


def test_a_mesh_behind_the_camera_is_not_drawn():
    assert np.isinf(drawn(solid(1) - (0.0, 0.0, 3.0))).all()
    assert np.isinf(drawn(solid(1) + (9.0, 0.0, 2.0))).all()


def test_a_link_is_drawn_where_its_pose_is():
    turn, place = Rotation.from_rotvec((0.3, -0.8, 0.5)).as_matrix(), np.array((0.1, -0.05, 1.1))
    corners = solid(5, size=0.1)
    assert_same(drawn(corners, (turn[None], place[None])), rays_hit(corners @ turn.T + place))
