# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Robot descriptions of unknown origin: an error in words, and soon."""

import os

import pytest

from frame_ros.core.errors import RobotError
from frame_ros.robots import load_robot
from frame_ros.robots.shapes.mesh_files import find_mesh, load_mesh


def _chain(count: int, extra: str = '', joint: str = 'revolute') -> str:
    links = ''.join(f'<link name="l{i}"/>' for i in range(count + 1))
    joints = ''.join(
        f'<joint name="j{i}" type="{joint}"><parent link="l{i}"/><child link="l{i + 1}"/></joint>'
        for i in range(count)
    )
    return f'<robot name="r">{links}{joints}{extra}</robot>'


def test_links_in_a_ring_are_no_robot():
    ring = ''.join(
        f'<link name="{a}"/><joint name="{a}" type="fixed"><parent link="{a}"/>'
        f'<child link="{b}"/></joint>'
        for a, b in ('xy', 'yx')
    )
    with pytest.raises(RobotError, match='the links x, y are mounted on each other in a ring'):
        load_robot(_chain(2, ring))


def test_a_robot_of_thousands_of_joints_is_refused_before_anything_is_made_of_it():
    with pytest.raises(RobotError, match='3,001 parts, above the limit of 500'):
        load_robot(_chain(3000))
    assert len(load_robot(_chain(100)).joint_names) == 100


def test_entities_and_values_that_are_no_number_are_refused():
    with pytest.raises(RobotError, match='declares entities'):
        load_robot('<!DOCTYPE r [<!ENTITY a "b">]>' + _chain(1))
    with pytest.raises(RobotError, match='not a number'):
        load_robot(_chain(1).replace('</joint>', '<limit lower="nan" upper="1"/></joint>'))


def test_a_mesh_must_lie_with_its_urdf_or_in_a_package(tmp_path, monkeypatch):
    for variable in ('ROS_PACKAGE_PATH', 'AMENT_PREFIX_PATH'):
        monkeypatch.delenv(variable, raising=False)
    urdf = tmp_path / 'arm' / 'urdf'
    for folder in (urdf, tmp_path / 'arm' / 'meshes', tmp_path / 'other' / 'meshes'):
        folder.mkdir(parents=True)
        (folder / 'a.stl').touch()
    for reference in ('a.stl', '../meshes/a.stl', f'file://{tmp_path}/arm/meshes/a.stl'):
        assert find_mesh(reference, urdf).is_file()
    inside = 'package://other/meshes/a.stl'
    elsewhere = (
        '../../other/meshes/a.stl',
        f'file://{tmp_path}/other/meshes/a.stl',
        f'{tmp_path}/other/meshes/a.stl',
        'package://arm/../other/meshes/a.stl',
        inside,
    )
    for reference in elsewhere:
        with pytest.raises(RobotError, match='lies outside of .*--package-folder'):
            find_mesh(reference, urdf)
    with pytest.raises(RobotError, match='is not there'):
        find_mesh('a' * 5000 + '.stl', urdf)
    assert find_mesh(inside, urdf, [tmp_path / 'other']).is_file()
    (tmp_path / 'other' / 'package.xml').touch()
    assert find_mesh(inside, urdf).is_file()
    (tmp_path / 'package.xml').touch()
    assert find_mesh(elsewhere[0], urdf).is_file()


@pytest.mark.parametrize('name', ['a.zip', 'a.xyz', 'a.3mf', 'a'])
def test_meshes_of_unknown_kinds_are_refused(tmp_path, name):
    (tmp_path / name).write_bytes(b'PK\3\4')
    with pytest.raises(RobotError, match='of no known kind'):
        load_mesh(tmp_path / name)


def test_corners_of_two_coordinates_are_no_mesh(tmp_path):
    (tmp_path / 'a.obj').write_text('v 0 0\nv 1 0\nv 0 1\nf 1 2 3\n')
    with pytest.raises(RobotError, match='cannot be read|holds no triangles'):
        load_mesh(tmp_path / 'a.obj')


def test_a_pipe_is_no_mesh(tmp_path):
    os.mkfifo(tmp_path / 'a.stl')
    with pytest.raises(RobotError, match='a named pipe'):
        load_mesh(tmp_path / 'a.stl')
