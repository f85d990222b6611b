# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The self-filter by meshes, on scenes made by hand: a cube of 0.2 m whose face is at 0.6 m."""

import numpy as np
import pytest

from frame_ros.core.errors import SetupError
from frame_ros.robots.shapes.link_shapes import box, placed, sphere
from frame_ros.robots.shapes.mesh_merging import merged_mesh
from frame_ros.robots.shapes.surface_meshes import RobotSurfaces, joined_surface
from frame_ros.sensing.proximity.depth.camera import DepthCamera
from frame_ros.sensing.proximity.depth.cloud import OBSTACLE, SELF
from frame_ros.sensing.proximity.depth.detector import NOTHING_NEAR, DepthProximity
from frame_ros.sensing.proximity.depth.meshes import drawing_kernels
from frame_ros.sensing.proximity.depth.meshes.mesh_filter import MeshFilter, compile_drawing
from frame_ros.sensing.proximity.depth.meshes.options import MeshOptions
from frame_ros.sensing.proximity.depth.meshes.placing import PlacedSurfaces
from frame_ros.sensing.proximity.depth.options import DepthOptions

CAMERA = DepthCamera(120, 90, 120.0, 120.0, 60.0, 45.0)
HERE = np.eye(3), np.zeros(3)
FACE, WALL, SIDE = 0.6, 1.5, 0.1  # m: depths; half the cube's edge
FIRST, LAST = 40, 80  # columns that show the face, whose middle is on the optical axis
SETTINGS = DepthOptions(
    min_support=0, smoothing=1, depth_noise=0.0, min_valid_fraction=0.0, outline=0.0
)


def cube():
    signs = np.array(np.meshgrid(*[(-SIDE, SIDE)] * 3)).reshape(3, -1).T
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [(a, b, c) for a, b, c, _ in quads] + [(a, c, d) for a, _, c, d in quads]
    return signs[np.array(faces)]


def surfaces(shift=0.0, bare=(False,)):
    """The cube, moved sideways by `shift`, m."""
    found = RobotSurfaces(('arm',), np.zeros(1, np.intp), (joined_surface([merged_mesh(cube())]),))
    place = np.array([[shift, 0.0, FACE + SIDE]])
    return PlacedSurfaces(found, np.eye(3)[None], place, np.array(bare))


def picture(*things):
    """(H, W) mm: the cube before a wall, and things (rows, columns, depth in m)."""
    image = np.full((90, 120), WALL)
    image[25:66, FIRST : LAST + 1] = FACE
    for rows, columns, depth in things:
        image[rows, columns] = depth
    return np.round(1000 * image).astype(np.uint16)


def own(image, placed_, noise=0.0, **options):
    settings = MeshOptions(**options)
    return MeshFilter(CAMERA, placed_.surfaces, settings, noise, 0.1).is_own(image, placed_, *HERE)


def test_the_face_is_the_robot_and_the_wall_is_not():
    found = own(picture(), surfaces(), pixels=0.0, padding=0.001)
    expected = np.zeros((90, 120), bool)
    expected[25:66, FIRST : LAST + 1] = True
    # At the wall's depth 1 mm is less than a pixel; at an edge none is beside the cube's.
    assert (found == expected).all()


@pytest.mark.parametrize(
    ('depth', 'noise', 'is_robot'),
    [(0.596, 0.0, True), (0.594, 0.0, False), (0.604, 0.0, True), (0.606, 0.0, False),
     (0.594, 0.01, True), (0.590, 0.01, False)],
)  # fmt: skip
def test_the_padding_counts_along_the_ray(depth, noise, is_robot):
    image = picture((45, 60, depth))
    assert own(image, surfaces(), noise, padding=0.005, pixels=0.0)[45, 60] == is_robot


def test_the_padding_counts_across_the_ray():
    # The robot is 10 mm from where it is drawn, two pixels at its depth.
    image = picture()
    for padding, is_all in ((0.004, False), (0.0105, True)):
        found = own(image, surfaces(0.01), padding=padding, pixels=0.0)
        assert found[25:66, FIRST : LAST + 1].all() == is_all
        assert not found[:, LAST + 6 :].any()
    assert own(image, surfaces(0.01), padding=0.001, pixels=2.0)[45, FIRST]


def test_more_padding_can_be_asked_for():
    found, image = surfaces(), picture((45, 60, 0.59)).astype(np.float32)
    meshes = MeshFilter(CAMERA, found.surfaces, MeshOptions(padding=0.005), 0.0, 0.1)
    meshes.take_out(image, 1e-3, found, *HERE)
    assert image[45, 60] > 0
    meshes.take_out(image, 1e-3, found, *HERE, extra=0.006)
    assert image[45, 60] == 0


def test_mixed_depths_at_an_edge_do_not_count_and_others_do():
    image = picture((45, LAST + 1, 0.9), (45, LAST + 2, 1.1), (45, LAST + 3, 0.9), (45, 60, 0.9))
    found = own(image, surfaces(), padding=0.0, pixels=2.0)
    assert found[45, LAST + 1] and found[45, LAST + 2]
    assert not found[45, LAST + 3]
    assert not found[45, 60]  # far from every edge: something is wrong, and it is not hidden
    in_front = picture((45, LAST + 1, 0.4), (45, LAST, 0.4))
    assert not own(in_front, surfaces(), padding=0.0, pixels=2.0)[45, LAST : LAST + 2].any()


def test_what_is_nearer_than_half_the_least_depth_is_not_drawn():
    # The housing that the camera looks out of.
    around = surfaces()
    around = PlacedSurfaces(around.surfaces, around.rotations, np.zeros((1, 3)), around.bare)
    assert not own(picture(), around).any()
    drawn = MeshFilter(CAMERA, around.surfaces, MeshOptions(), 0.0, 0.3)
    assert drawn.depths(around, *HERE).max() == 0.0


SHAPE = placed('arm', [box([0.16, 0.16, 0.16], [0, 0, FACE + SIDE])])  # 20 mm within the cube
WIDE = placed('arm', [box([0.24, 0.24, 0.24], [0, 0, FACE + SIDE])])  # 20 mm beyond it


def measured(image, shapes, placed_=None, held=None, **options):
    filter_ = None
    if placed_ is not None:
        filter_ = MeshFilter(CAMERA, placed_.surfaces, MeshOptions(**options), 0.0, 0.1)
    proximity = DepthProximity(CAMERA, SETTINGS, filter_)
    return proximity.measure(image, shapes, *HERE, held, surfaces=placed_)


def test_a_surface_beyond_its_shape_is_no_obstacle():
    image = picture()
    by_shapes, by_meshes = measured(image, SHAPE), measured(image, SHAPE, surfaces())
    assert by_shapes.distance == pytest.approx(0.02, abs=1e-6)
    assert by_meshes.distance > 0.5  # the wall
    assert by_meshes.occluded_fraction == pytest.approx(45 * 45 / (90 * 120))  # and 2 pixels about


def test_an_obstacle_within_the_padding_of_shapes_is_measured():
    ball = (slice(40, 50), slice(55, 65), FACE - 0.008)
    image = picture(ball)
    exact = placed('arm', [box([0.2, 0.2, 0.2], [0, 0, FACE + SIDE])])
    assert measured(image, exact).distance > 0.5
    assert measured(image, exact, surfaces()).distance == pytest.approx(0.008, abs=1e-6)


def test_an_obstacle_within_a_shape_is_at_0():
    image = picture((slice(40, 50), slice(55, 65), FACE - 0.012))
    reading = measured(image, WIDE, surfaces())
    assert reading.distance == 0.0
    assert np.isfinite(reading.points_on_robot[0]).all()
    assert reading.points_on_obstacle[0, 2] == pytest.approx(FACE - 0.012, abs=1e-6)


def test_a_thin_part_of_the_mesh_beyond_its_shape_is_no_obstacle():
    rod = 0.5 * np.array([0.004, 0.12, 0.004])
    vertices = cube() / SIDE * rod + [0.05, 0.0, -SIDE]  # at the depth of the face
    found = joined_surface([merged_mesh(vertices)])
    place = PlacedSurfaces(
        RobotSurfaces(('arm',), np.zeros(1, np.intp), (found,)),
        np.eye(3)[None], np.array([[0.0, 0.0, FACE + SIDE]]), np.array([False]),
    )  # fmt: skip
    image = np.full((90, 120), round(1000 * WALL), np.uint16)
    column = round(60 + 120 * 0.05 / FACE)
    image[33:58, column] = round(1000 * FACE)
    shape = placed('arm', [box([0.06, 0.06, 0.06], [0, 0, FACE])])
    assert measured(image, shape).distance < 0.03
    assert measured(image, shape, place).distance > 0.5
    image[33:58, column + 8] = round(1000 * FACE)  # as thin, and not the robot's
    assert measured(image, shape, place).distance == pytest.approx(0.06, abs=0.002)


def test_the_warm_up_cuts_a_triangle_at_the_near_plane(monkeypatch):
    cut, calls = drawing_kernels.draw_cut, []
    monkeypatch.setattr(drawing_kernels, 'draw_cut', lambda *given: calls.append(cut(*given)))
    compile_drawing()
    assert calls


def test_links_without_a_mesh_and_held_things_keep_their_shapes():
    image = picture((slice(40, 50), slice(100, 110), 0.8))
    place = np.array([(105 - 60) / 120 * 0.8, 0.0, 0.85])
    thing = [sphere(0.09, place)]
    far = measured(image, SHAPE, surfaces())
    held = measured(image, SHAPE, surfaces(), placed('held', thing))
    assert far.distance < held.distance
    both = SHAPE.joined(placed('other', thing))
    bare = measured(image, both, surfaces(bare=(False, True)))
    meshed = measured(image, both, surfaces(bare=(False, False)))
    assert bare.distance == pytest.approx(held.distance)
    assert meshed.distance == pytest.approx(far.distance)


def test_only_the_robot_leaves_nothing_near():
    image = picture()
    image[image > 1000] = 0
    assert measured(image, SHAPE, surfaces()).unavailable == NOTHING_NEAR


def test_points_are_marked_as_the_filter_sees_them():
    image = picture((slice(40, 50), slice(55, 65), FACE - 0.012))
    meshes = MeshFilter(CAMERA, surfaces().surfaces, MeshOptions(), 0.0, 0.1)
    proximity = DepthProximity(CAMERA, SETTINGS, meshes)
    cloud = proximity.points(image, WIDE, *HERE, step=1, surfaces=surfaces())
    is_thing = np.isclose(cloud.points[:, 2], FACE - 0.012)
    assert (cloud.marks[is_thing] == OBSTACLE).all() and is_thing.any()
    is_face = np.isclose(cloud.points[:, 2], FACE)
    assert (cloud.marks[is_face] == SELF).all() and is_face.any()
    more = SETTINGS.padding + 0.01  # of this image, as its alignment asks for
    cloud = proximity.points(image, WIDE, *HERE, step=1, padding=more, surfaces=surfaces())
    assert (cloud.marks[is_thing] == SELF).all()


def test_more_padding_of_the_meshes_puts_more_obstacles_at_the_padding():
    image = picture((slice(40, 50), slice(55, 65), FACE - 0.032))
    exact = placed('arm', [box([0.2, 0.2, 0.2], [0, 0, FACE + SIDE])])
    for padding, is_at_it in ((0.02, False), (0.03, True)):
        reading = measured(image, exact, surfaces(), padding=padding)
        assert reading.distance == pytest.approx(0.032, abs=1e-3)
        assert reading.unseen.is_at_padding.tolist() == [is_at_it]


def test_options_without_a_file_load_nothing():
    assert MeshOptions().load(None) is None
    with pytest.raises(SetupError):
        MeshOptions(geometry='convex')


def test_surfaces_without_a_filter_change_nothing():
    settings = DepthOptions(depth_noise=0.0, outline=0.0)
    arm = placed('arm', [box([2 * SIDE] * 3, [0.0025, 0.0, FACE + SIDE])])
    # Its pixels are 2.5, 7.5, 12.5 mm away and more; the padding is 10 mm.
    image = picture((slice(25, 66), slice(LAST + 1, 100), FACE))
    found = [
        DepthProximity(CAMERA, settings).measure(image, arm, *HERE, surfaces=each).distance
        for each in (None, surfaces())
    ]
    assert found[0] < settings.padding
    assert found[1] == found[0]
