# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Capsules around points, meshes and primitives."""

import builtins

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from surfaces import on_surface

from frame_ros.core.errors import MissingExtraError, RobotError, ShapeError, ValueRangeError
from frame_ros.robots import Capsule, load_robot
from frame_ros.robots.shapes.capsule_files import format_capsules
from frame_ros.robots.shapes.capsule_fit import fit_capsule, fit_capsules, volume
from frame_ros.robots.shapes.link_shapes import capsule_shape, placed
from frame_ros.robots.shapes.mesh_capsules import (
    CapsuleOptions,
    divided,
    link_meshes,
    mesh_capsules,
)
from frame_ros.robots.shapes.shape_files import read_shapes

trimesh = pytest.importorskip('trimesh')


def outside(capsules, points):
    """By how much the points (N, 3) stick out, m."""
    shapes = placed('c', [capsule_shape(each) for each in capsules])
    return shapes.shape_distances(points).min(axis=1).max()


def surface(generator, capsule, count=400):
    points = generator.normal(size=(count, 3))
    return on_surface(capsule_shape(capsule), points)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 30))
def test_a_capsule_holds_its_balls(seed, count):
    generator = np.random.default_rng(seed)
    points = generator.normal(size=(count, 3)) * generator.uniform(0.001, 0.3, 3)
    radii = generator.uniform(0, 0.05, count)
    shape = capsule_shape(fit_capsule(points, radii))
    assert (placed('c', [shape]).shape_distances(points)[:, 0] + radii).max() < 1e-6


@pytest.mark.parametrize('length', [0.0, 0.05, 0.4])
def test_a_capsule_is_found_again(length):
    generator = np.random.default_rng(3)
    axis = generator.normal(size=3)
    axis *= length / np.linalg.norm(axis)
    true = Capsule(np.array([0.1, 0.2, 0.3]), np.array([0.1, 0.2, 0.3]) + axis, 0.04)
    assert volume(fit_capsule(surface(generator, true))) < 1.05 * volume(true)


def test_what_is_not_points_is_refused():
    for points in (np.zeros((0, 3)), np.zeros((3, 2)), [[np.nan, 0, 0]]):
        with pytest.raises(ShapeError):
            fit_capsule(points)
    with pytest.raises(ShapeError, match='triangles'):
        fit_capsules(np.zeros((2, 3)), 1)
    with pytest.raises(ShapeError, match='0 capsules'):
        fit_capsules(np.zeros((2, 3, 3)), 0)
    assert fit_capsule([[1.0, 2.0, 3.0]]).radius < 1e-9


def test_triangles_are_divided_without_loss():
    triangles = np.array(trimesh.creation.box((0.4, 0.1, 0.02)).triangles)
    fine = divided(triangles, 0.05)
    edges = np.linalg.norm(np.roll(fine, -1, axis=1) - fine, axis=2)
    area = np.linalg.norm(np.cross(fine[:, 1] - fine[:, 0], fine[:, 2] - fine[:, 0]), axis=1)
    assert edges.max() <= 0.05
    assert area.sum() / 2 == pytest.approx(2 * (0.04 + 0.008 + 0.002))


URDF = """
<robot name="bent"><link name="base"><collision><origin xyz="0 0 0.1" rpy="0.3 0 0"/>
<geometry><mesh filename="{mesh}" scale="0.001 0.001 0.002"/></geometry></collision></link>
<link name="tip"><collision><geometry><box size="0.1 0.02 0.03"/></geometry></collision>
<collision><origin xyz="0 0 0.1"/><geometry><sphere radius="0.04"/></geometry></collision></link>
<joint name="j" type="continuous"><parent link="base"/><child link="tip"/><axis xyz="0 0 1"/>
</joint></robot>"""


def bent_mesh():
    """An L, in mm."""
    long = trimesh.creation.cylinder(30.0, 400.0, sections=24)
    across = trimesh.creation.box((300.0, 50.0, 40.0))
    across.apply_translation((150.0, 0.0, 200.0))
    return trimesh.util.concatenate([long, across])


def in_link(mesh):
    turn = np.array([[1, 0, 0], [0, np.cos(0.3), -np.sin(0.3)], [0, np.sin(0.3), np.cos(0.3)]])
    points = trimesh.sample.sample_surface(mesh, 2000, seed=1)[0]
    return (points * [0.001, 0.001, 0.002]) @ turn.T + [0, 0, 0.1]


@pytest.mark.parametrize('suffix', ['stl', 'obj'])
def test_meshes_are_held_by_fewer_litres_of_more_capsules(tmp_path, suffix):
    (tmp_path / 'pkg' / 'meshes').mkdir(parents=True)
    (tmp_path / 'pkg' / 'urdf').mkdir()
    bent_mesh().export(tmp_path / 'pkg' / 'meshes' / f'bent.{suffix}')
    by_package = load_robot(URDF.format(mesh=f'package://pkg/meshes/bent.{suffix}'))
    by_path = load_robot(URDF.format(mesh=f'../meshes/bent.{suffix}'))
    one = mesh_capsules(by_package, tmp_path / 'pkg' / 'urdf')
    three = mesh_capsules(by_path, tmp_path / 'pkg' / 'urdf', CapsuleOptions(counts={'base': 3}))
    assert len(one['base']) == 1 and len(three['base']) == 3
    points = in_link(bent_mesh())
    assert outside(one['base'], points) < 1e-6 and outside(three['base'], points) < 1e-6
    assert sum(map(volume, three['base'])) < 0.6 * volume(one['base'][0])
    # The primitives of the other link.
    assert outside(one['tip'], [[0.05, 0.01, 0.015], [0, 0, 0.14], [0.04, 0, 0.1]]) < 1e-6
    # As written and read again.
    path = tmp_path / 'capsules.yaml'
    path.write_text(format_capsules('bent', three))
    again = read_shapes(path)['base']
    assert placed('a', again).link_distances(points).max() < 1e-9
    assert again[0].radius == pytest.approx(three['base'][0].radius, abs=3e-6)


def test_a_package_is_found_where_it_is_told(tmp_path, monkeypatch):
    (tmp_path / 'far' / 'pkg').mkdir(parents=True)
    bent_mesh().export(tmp_path / 'far' / 'pkg' / 'b.stl')
    robot = load_robot(URDF.format(mesh='package://pkg/b.stl'))
    with pytest.raises(RobotError, match='--package-folder'):
        mesh_capsules(robot, tmp_path)
    for folder in (tmp_path / 'far', tmp_path / 'far' / 'pkg'):
        assert set(link_meshes(robot, tmp_path, [folder])) == {'base'}
    monkeypatch.setenv('ROS_PACKAGE_PATH', str(tmp_path / 'far'))
    assert set(link_meshes(robot, tmp_path)) == {'base'}


def test_what_cannot_be_fitted_is_refused(tmp_path):
    (tmp_path / 'a.stl').write_text('solid nothing\nendsolid nothing\n')
    robot = load_robot(URDF.format(mesh='a.stl'))
    with pytest.raises(RobotError, match='a.stl'):
        mesh_capsules(robot, tmp_path)
    with pytest.raises(RobotError, match='nonsense'):
        mesh_capsules(robot, tmp_path, CapsuleOptions(counts={'nonsense': 2}))
    with pytest.raises(ValueRangeError, match='count is 0; it must be at least 1'):
        CapsuleOptions(count=0)
    with pytest.raises(ValueRangeError, match='1 or more for each link'):
        CapsuleOptions(counts={'base': 0})


def test_without_trimesh_the_extra_is_named(tmp_path, monkeypatch):
    bent_mesh().export(tmp_path / 'a.stl')
    imported = builtins.__import__

    def without(name, *rest, **more):
        if name == 'trimesh':
            raise ImportError('no trimesh')
        return imported(name, *rest, **more)

    monkeypatch.setattr(builtins, '__import__', without)
    with pytest.raises(MissingExtraError, match=r'pip install .trimesh>='):
        mesh_capsules(load_robot(URDF.format(mesh='a.stl')), tmp_path)
