# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Known obstacles: distances against formulas and MuJoCo's, and what may be asked for."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import ValueRangeError
from frame_ros.robots import load_robot
from frame_ros.robots.description import Capsule
from frame_ros.robots.link_frames import LinkFrames
from frame_ros.robots.shapes.link_shapes import (
    box,
    capsule_shape,
    cylinder,
    link_shapes,
    placed,
    sphere,
)

pytest.importorskip('coal')

from frame_ros.sensing.proximity.obstacles.known import KnownObstacles

QUARTER = Rotation.from_rotvec((0.0, math.pi / 2, 0.0)).as_matrix()
CUBE = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
FACES = np.array(
    [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
     (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]
)  # fmt: skip


@pytest.fixture()
def known():
    return KnownObstacles()


def least(known, shape, link='link'):
    return known.distances(placed(link, [shape]))


def test_distances_to_every_shape_are_those_of_the_formulas(known):
    ball = sphere(0.1, (1.0, 0.0, 0.0))
    cases = [
        (lambda: known.set_shape('o', 'box', (0.2, 0.4, 0.6)), 0.8),
        (lambda: known.set_shape('o', 'sphere', (0.3,)), 0.6),
        (lambda: known.set_shape('o', 'cylinder', (0.1, 0.8)), 0.8),
        (lambda: known.set_shape('o', 'cylinder', (0.1, 0.8), QUARTER), 0.5),
        (lambda: known.set_shape('o', 'capsule', (0.1, 0.8), QUARTER), 0.4),
        (lambda: known.set_shape('o', 'half_space', (), QUARTER, (0.25, 0.0, 0.0)), 0.65),
        (lambda: known.set_mesh('o', CUBE * 0.2, FACES), 0.7),
        (lambda: known.set_mesh('o', CUBE * 0.2, FACES, is_convex=True), 0.7),
    ]
    for place, expected in cases:
        place()
        reading = least(known, ball)
        assert reading.distance == pytest.approx(expected, abs=1e-6)
        assert reading.points_on_robot[0] == pytest.approx((0.9, 0, 0), abs=1e-3)
        assert reading.points_on_obstacle[0, 0] == pytest.approx(0.9 - expected, abs=1e-5)
        assert (reading.links, reading.obstacles) == (('link',), ('o',))
        assert reading.sources == ('known obstacles',)
    assert len(known) == 1


@pytest.mark.parametrize(
    ('shape', 'expected'),
    [
        (sphere(0.1, (0, 0, 1.0)), 0.8),
        (box((0.2, 0.2, 0.4), (0, 0, 1.0)), 0.7),
        (cylinder(0.1, 0.4, (0, 0, 1.0), QUARTER), 0.8),
        (capsule_shape(Capsule(np.array((0, 0, 0.8)), np.array((0.1, 0, 1.2)), 0.1)), 0.6),
    ],
)
def test_every_shape_of_a_link_is_exact(known, shape, expected):
    known.set_shape('table', 'box', (1.0, 1.0, 0.2))
    assert least(known, shape).distance == pytest.approx(expected, abs=1e-6)


def test_each_link_has_its_own_nearest_obstacle_and_points(known):
    known.set_shape('left', 'sphere', (0.1,), translation=(0.0, 1.0, 0.0))
    known.set_shape('right', 'sphere', (0.1,), translation=(0.0, -1.0, 0.0))
    robot = load_robot('so101')
    shapes = link_shapes(robot, links=('gripper_link', 'upper_arm_link'))
    frames = LinkFrames(robot)
    for pan, name in ((1.2, 'right'), (-1.2, 'left')):
        q = np.zeros(6)
        q[frames.joint_names.index('shoulder_pan')] = pan
        now = shapes.place(*frames.compute(q))
        reading = known.distances(now)
        assert reading.obstacles == (name, name)
        apart = np.linalg.norm(reading.points_on_robot - reading.points_on_obstacle, axis=1)
        assert apart == pytest.approx(reading.distances, abs=1e-6)
        own = now.link_distances(reading.points_on_robot)
        assert np.diagonal(own) == pytest.approx(0.0, abs=1e-5)


def random_scene(rng, known):
    for number in range(8):
        turn = Rotation.from_quat(rng.standard_normal(4)).as_matrix()
        place = rng.uniform(-0.5, 0.5, 3)
        length, radius = rng.uniform(0.03, 0.3), rng.uniform(0.02, 0.1)
        kind = number % 4
        if kind == 0:
            known.set_shape(f'{number}', 'box', rng.uniform(0.02, 0.3, 3), turn, place)
        elif kind == 1:
            known.set_shape(f'{number}', 'sphere', (radius,), translation=place)
        elif kind == 2:
            known.set_shape(f'{number}', 'cylinder', (radius, length), turn, place)
        else:
            known.set_shape(f'{number}', 'capsule', (radius, length), turn, place)


def mujoco_distances(mujoco, shapes, known):
    """(S, O) by MuJoCo."""
    types = {'box': 'BOX', 'sphere': 'SPHERE', 'cylinder': 'CYLINDER', 'capsule': 'CAPSULE'}
    spec = mujoco.MjSpec()
    spec.option.ccd_tolerance = 1e-9

    def add(kind, size, rotation, translation):
        x, y, z, w = Rotation.from_matrix(rotation).as_quat()
        spec.worldbody.add_geom(
            type=getattr(mujoco.mjtGeom, f'mjGEOM_{types[kind]}'), size=size, pos=translation,
            quat=(w, x, y, z),
        )  # fmt: skip

    for row, kind in enumerate(shapes.kinds):
        half, radius = shapes.half_sizes[row], shapes.radii[row]
        size = half if kind == 'box' else (radius, half[2], 0)
        add(kind, size, shapes.rotations[row], shapes.translations[row])
    for each in known.obstacles:
        size = [v / 2 for v in each.size] if each.kind == 'box' else [each.size[0], 0, 0]
        if len(each.size) == 2:
            size[1] = each.size[1] / 2
        add(each.kind, size, each.rotation, each.translation)
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    count, segment = len(shapes), np.zeros(6)
    return np.array(
        [
            [
                mujoco.mj_geomDistance(model, data, row, count + column, 5.0, segment)
                for column in range(len(known))
            ]
            for row in range(count)
        ]
    )


def test_distances_agree_with_mujoco_over_random_scenes():
    mujoco = pytest.importorskip('mujoco')
    rng = np.random.default_rng(3)
    robot = load_robot('so101')
    frames, shapes = LinkFrames(robot), link_shapes(robot)
    compared = overlaps = 0
    for _ in range(12):
        known = KnownObstacles()
        random_scene(rng, known)
        now = shapes.place(*frames.compute(rng.uniform(-1.0, 1.0, 6)))
        reading = known.distances(now)
        truth = mujoco_distances(mujoco, now, known)
        for link in range(len(now.links)):
            expected = truth[now.owners == link]
            overlaps += expected.min() < 0
            assert reading.distances[link] == pytest.approx(max(expected.min(), 0.0), abs=2e-5)
            if expected.min() > 1e-4:
                column = int(np.argmin(expected.min(axis=0)))
                assert reading.obstacles[link] == str(column)
                compared += 1
    assert compared > 40 and overlaps > 3


def test_where_they_overlap_the_distance_is_zero_at_a_point_of_both(known):
    known.set_shape('table', 'box', (1.0, 1.0, 0.2))
    known.set_shape('floor', 'half_space', (), translation=(0.0, 0.0, -1.0))
    for shape in (
        sphere(0.1, (0.2, 0, 0.15)),
        box((0.2, 0.2, 0.2), (0.2, 0, 0.15)),
        cylinder(0.05, 0.4, (0.2, 0, 0.1)),
        sphere(0.2, (2.0, 0, -1.1)),
    ):
        reading = least(known, shape)
        assert reading.distance == 0.0
        point = reading.points_on_robot[0]
        assert point == pytest.approx(reading.points_on_obstacle[0])
        assert placed('link', [shape]).shape_distances(point[None])[0, 0] < 1e-6


def test_a_closed_mesh_is_solid_and_an_open_one_is_a_surface(known):
    small = sphere(0.05)
    known.set_mesh('closed', CUBE * 0.5, FACES)
    assert least(known, small).distance == 0.0
    assert least(known, small).points_on_robot[0] == pytest.approx((0, 0, 0))
    known.remove('closed')
    known.set_mesh('open', CUBE * 0.5, FACES[:-1])
    assert least(known, small).distance == pytest.approx(0.45, abs=1e-6)
    known.set_mesh('open', CUBE * 0.5, FACES, is_convex=True)
    assert least(known, small).distance == 0.0


def test_a_hollow_is_free_in_a_mesh_and_not_in_its_hull(known):
    """A U: two walls on a floor, as one mesh."""
    parts = [((0.02, 0.2, 0.2), (-0.1, 0, 0.1)), ((0.02, 0.2, 0.2), (0.1, 0, 0.1)),
             ((0.22, 0.2, 0.02), (0, 0, 0))]  # fmt: skip
    corners = np.concatenate([CUBE * np.array(size) / 2 + place for size, place in parts])
    faces = np.concatenate([FACES + 8 * number for number in range(3)])
    ball = sphere(0.03, (0.0, 0.0, 0.1))
    known.set_mesh('cup', corners, faces)
    assert least(known, ball).distance == pytest.approx(0.06, abs=1e-6)
    known.set_mesh('cup', corners, faces, is_convex=True)
    assert least(known, ball).distance == 0.0


def test_a_moved_mesh_is_measured_where_it_stands(known):
    known.set_mesh('cube', CUBE * 0.1 + 5.0, FACES, QUARTER, (0.0, 0.0, 0.0))
    middle = QUARTER @ (5.0, 5.0, 5.0)
    assert least(known, sphere(0.1, middle + (0.0, 0.5, 0.0))).distance == pytest.approx(0.3)
    assert least(known, sphere(0.01, middle)).distance == 0.0


def test_obstacles_can_be_replaced_moved_and_removed(known):
    ball = sphere(0.1)
    known.set_shape('a', 'sphere', (0.1,), translation=(1.0, 0, 0))
    known.set_shape('b', 'sphere', (0.1,), translation=(0, 2.0, 0))
    assert least(known, ball).obstacles == ('a',)
    known.move('a', np.eye(3), (0, 0, 3.0))
    assert least(known, ball).obstacles == ('b',)
    known.set_shape('b', 'box', (0.1, 0.1, 0.1), translation=(0, 4.0, 0))
    assert least(known, ball).distance == pytest.approx(2.8)
    known.remove('a')
    assert least(known, ball).distance == pytest.approx(3.85)
    known.clear()
    reading = least(known, ball)
    assert (reading.unavailable, reading.nearest) == ('no obstacles are known', None)


def test_links_that_hold_an_obstacle_can_be_left_out(known):
    known.set_shape('part', 'box', (0.1, 0.1, 0.1), ignored_links=('hand',))
    known.set_shape('table', 'box', (0.1, 0.1, 0.1), translation=(1.0, 0, 0))
    assert least(known, sphere(0.1), 'hand').obstacles == ('table',)
    assert least(known, sphere(0.1), 'arm').obstacles == ('part',)
    known.ignore('table', ('hand',))
    reading = least(known, sphere(0.1), 'hand')
    assert np.isnan(reading.distances[0]) and reading.obstacles == ('',)
    known.ignore('part', ())
    assert least(known, sphere(0.1), 'hand').distance == 0.0


def test_shapes_that_only_belong_to_the_robot_are_not_measured(known):
    known.set_shape('floor', 'half_space', (), translation=(0.0, 0.0, -0.001))
    robot = load_robot('so101')
    now = link_shapes(robot, links=('gripper_link',)).place(*LinkFrames(robot).compute(np.zeros(6)))
    assert (now.owners == -1).any()
    reading = known.distances(now)
    assert reading.links == ('gripper_link',) and reading.distance > 0.1
    watched = link_shapes(robot).place(*LinkFrames(robot).compute(np.zeros(6)))
    assert known.distances(watched).distance == pytest.approx(0.001, abs=1e-3)


@pytest.mark.parametrize(
    ('make', 'words'),
    [
        (lambda k: k.set_shape('o', 'box', (0.1, 0.1)), '3 positive numbers in m: x, y, z'),
        (lambda k: k.set_shape('o', 'box', (0.1, 0.1, 0.0)), 'positive'),
        (lambda k: k.set_shape('o', 'sphere', (math.nan,)), 'positive'),
        (lambda k: k.set_shape('o', 'box', (400, 300, 200)), 'scale 0.001'),
        (lambda k: k.set_shape('o', 'sphere', (1e-5,)), 'Lengths are in m'),
        (lambda k: k.set_shape('o', 'sphere', (0.1,), translation=(0, 0)), 'stands at'),
        (lambda k: k.set_shape('o', 'box', (1, 1, 1), np.eye(3) * 2), 'not a rotation matrix'),
        (lambda k: k.set_shape('o', 'box', (1, 1, 1), np.diag((1, 1, -1))), 'not a rotation'),
        (lambda k: k.set_mesh('o', CUBE, [(0, 1, 8)]), 'there are 8'),
        (lambda k: k.set_mesh('o', CUBE, np.zeros((0, 3))), 'rows are needed'),
        (lambda k: k.set_mesh('o', CUBE, [(0, 0, 1)]), 'three different corners'),
        (lambda k: k.set_mesh('o', CUBE * math.inf, FACES), 'finite'),
        (lambda k: k.set_mesh('o', CUBE * (1, 1, 0), FACES, is_convex=True), 'no volume'),
        (lambda k: k.remove('nothing'), "no obstacle 'nothing'"),
        (lambda k: k.move('nothing', np.eye(3), (0, 0, 0)), 'known: none'),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(known, make, words):
    with pytest.raises(ValueRangeError, match=words):
        make(known)
    assert len(known) == 0
