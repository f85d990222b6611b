# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Extents of turned shapes and lines of sight, against dense points and lines."""

import math

import attrs
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import ValueRangeError
from frame_ros.robots.profiles import simulated_robots
from frame_ros.scenes.description.scene import SceneObject
from frame_ros.scenes.description.shapes import (
    Shape,
    extents,
    narrowest_width,
    standing_radius,
    surface_points,
)
from frame_ros.scenes.generation.setting import camera_of
from frame_ros.scenes.generation.sight import crosses, visible_share
from frame_ros.scenes.simulation.scene_robot import scene_robot

SHAPES = (
    Shape('box', (0.1, 0.04, 0.2)),
    Shape('cylinder', (0.03, 0.2)),
    Shape('sphere', (0.05,)),
    Shape('tray', (0.1, 0.08, 0.04, 0.005)),
)
TURNS = [Rotation.random(rng=seed).as_matrix() for seed in range(6)] + [np.eye(3)]
NOTHING = np.zeros((0, 7))


@pytest.mark.parametrize('shape', SHAPES, ids=lambda s: s.kind)
@pytest.mark.parametrize('turn', TURNS)
def test_extents_hold_the_turned_surface_tightly(shape, turn):
    points, normals = surface_points(shape, 40)
    turned = points @ turn.T
    assert np.abs(turned).max(axis=0) == pytest.approx(extents(shape, turn), rel=0.04)
    assert (np.abs(turned).max(axis=0) <= extents(shape, turn) + 1e-12).all()
    radius = np.linalg.norm(turned[:, :2], axis=1).max()
    assert standing_radius(shape, turn) == pytest.approx(radius, rel=0.03)
    assert radius <= standing_radius(shape, turn) + 1e-12
    assert np.linalg.norm(normals, axis=1) == pytest.approx(1.0)
    assert (np.einsum('ij,ij->i', points, normals) > 0).all()  # outwards


def holds(shape, points):
    if shape.kind == 'sphere':
        return np.linalg.norm(points, axis=1) < shape.size[0]
    if shape.kind == 'cylinder':
        is_round = np.linalg.norm(points[:, :2], axis=1) < shape.size[0]
        return is_round & (np.abs(points[:, 2]) < shape.size[1] / 2)
    return (np.abs(points) < np.array(shape.size[:3]) / 2).all(axis=1)


@pytest.mark.parametrize('shape', SHAPES, ids=lambda s: s.kind)
def test_lines_meet_what_their_points_lie_in(shape):
    rng = np.random.default_rng(1)
    turn, middle = TURNS[0], np.array((0.1, -0.2, 0.3))
    eye = middle + (0.4, 0.1, 0.3)
    ends = middle + rng.uniform(-0.3, 0.3, (400, 3))
    steps = np.linspace(0.0, 1.0, 2001)[:, None]
    dense = np.array([holds(shape, (eye + steps * (e - eye) - middle) @ turn).any() for e in ends])
    found = crosses(shape, middle, turn, eye, ends)
    assert (found != dense).mean() < 0.01 and 10 < dense.sum() < 390


def thing(name, position, height=0.05, shape=SHAPES[0]):
    return SceneObject(
        name=name, type='box', role='confounder', shape=shape, mass=1.0, friction=1.0,
        colour=(0.0, 0.0, 0.0), position=position, height=height, orientation=(0.0, 0.0, 0.0, 1.0),
    )  # fmt: skip


def camera(**changes):
    found = camera_of('front', scene_robot('so101').cameras['front'], 320, 240)
    return attrs.evolve(found, **changes)


def test_a_free_object_is_seen_whole_and_one_behind_a_screen_not_at_all():
    target = thing('target', (0.2, 0.0))
    assert visible_share(target, [target], NOTHING, camera()) == 1.0
    near = tuple(0.2 + 0.3 * (e - 0.2) for e in camera().position[:1]) + (-0.12,)
    screen = thing('screen', near, 0.2, Shape('box', (0.02, 0.6, 0.6)))
    assert visible_share(target, [target, screen], NOTHING, camera()) == 0.0
    behind = thing('behind', (-0.2, 0.3))
    assert visible_share(target, [target, behind], NOTHING, camera()) == 1.0


def test_the_robot_hides_what_is_behind_it():
    target = thing('target', (0.2, 0.0))
    eye = np.array(camera().position)
    middle = (eye + (0.2, 0.0, 0.05)) / 2
    arm = np.array([[*(middle - (0, 0, 0.3)), *(middle + (0, 0, 0.3)), 0.15]])
    assert visible_share(target, [target], arm, camera()) == 0.0


def test_what_is_outside_of_the_picture_is_not_seen():
    target = thing('target', (0.2, 0.0))
    narrow = camera(focal=(3000.0, 3000.0))
    assert visible_share(target, [target], NOTHING, narrow) < 0.7
    turned = Rotation.from_quat(camera().orientation) * Rotation.from_euler('y', math.pi)
    back = camera(orientation=tuple(turned.as_quat().tolist()))
    assert visible_share(target, [target], NOTHING, back) == 0.0


@pytest.mark.parametrize('name', simulated_robots())
def test_cameras_look_where_the_profiles_own_extrinsics_say(name):
    robot = scene_robot(name)
    for text in robot.parameters['proximity']['extrinsics']:
        camera_name, _, values = text.partition('=')
        link, *numbers = values.split()
        found = camera_of(camera_name, robot.cameras[camera_name], 320, 240)
        assert found.link in ('', link)
        position, quaternion = np.array(numbers[:3], float), np.array(numbers[3:], float)
        assert found.position == pytest.approx(position)
        turn = Rotation.from_quat(found.orientation).inv() * Rotation.from_quat(quaternion)
        assert turn.magnitude() < 1e-4


def test_fingers_close_on_the_narrowest_level_edge():
    lying = Rotation.from_euler('x', 90, degrees=True).as_matrix()
    assert narrowest_width(SHAPES[0], np.eye(3)) == pytest.approx(0.04)
    assert narrowest_width(SHAPES[0], lying) == pytest.approx(0.1)  # its 0.04 now stands
    assert narrowest_width(SHAPES[1], lying) == pytest.approx(0.06)
    assert narrowest_width(SHAPES[3], np.eye(3)) == math.inf


def test_impossible_shapes_are_refused():
    for kind, size in (('box', (1.0,)), ('sphere', (0.0,)), ('cone', (1.0,)), ('sphere', (np.nan,)),
                       ('tray', (0.1, 0.1, 0.1, 0.06))):  # fmt: skip
        with pytest.raises(ValueRangeError):
            Shape(kind, size)
