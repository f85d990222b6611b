# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The surfaces of a robot's links from the meshes of a URDF."""

import numpy as np
import pytest

from frame_ros.core.errors import RobotError
from frame_ros.robots import Robot
from frame_ros.robots.shapes.mesh_merging import merged_mesh
from frame_ros.robots.shapes.surface_meshes import load_surfaces

trimesh = pytest.importorskip('trimesh')

JOINT = """<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1"
effort="1"/></joint>"""


def link(name, mesh='', origin='0 0 0', scale='1 1 1'):
    if not mesh:
        return f'<link name="{name}"/>'
    return (
        f'<link name="{name}"><visual><origin xyz="{origin}" rpy="0 0 0"/><geometry>'
        f'<mesh filename="{mesh}" scale="{scale}"/></geometry></visual></link>'
    )


def joint(name, parent, child, kind='revolute', xyz='0 0 0.5', rpy='0 0 0'):
    return JOINT.format(name=name, kind=kind, parent=parent, child=child, xyz=xyz, rpy=rpy)


def urdf(*parts):
    return f'<robot name="arm">{"".join(parts)}</robot>'


ROBOT = Robot(
    urdf(
        link('base'), link('upper'), link('lower'),
        joint('one', 'base', 'upper'), joint('two', 'upper', 'lower', xyz='0.3 0 0'),
    )
)  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    trimesh.creation.box((0.1, 0.2, 0.3)).export(tmp_path / 'box.stl')
    return tmp_path


def written(folder, *parts, name='arm.urdf'):
    path = folder / name
    path.write_text(urdf(*parts))
    return path


def test_meshes_are_placed_in_their_links(folder):
    path = written(
        folder, link('base', 'box.stl', '0 0 1'), link('upper'),
        link('lower', 'box.stl', scale='2 1 1'),
        joint('one', 'base', 'upper'), joint('two', 'upper', 'lower', xyz='0.3 0 0'),
    )  # fmt: skip
    found = load_surfaces(path, ROBOT)
    assert found.links == ('base', 'lower')
    assert found.rows.tolist() == [0, 2]
    base, lower = found.surfaces
    np.testing.assert_allclose(base.vertices.min(axis=0), (-0.05, -0.1, 0.85), atol=1e-6)
    np.testing.assert_allclose(np.ptp(lower.vertices, axis=0), (0.2, 0.2, 0.3), atol=1e-6)
    assert base.closed == len(base.triangles) == 12
    np.testing.assert_allclose(base.middle, (0, 0, 1), atol=1e-6)
    assert base.reach == pytest.approx(np.linalg.norm((0.05, 0.1, 0.15)))
    assert found.triangle_count == 24
    assert found.residual == 0.0


def test_a_mount_moves_with_the_link_that_carries_it(folder):
    path = written(
        folder, link('world', 'box.stl'), link('base'), link('upper'), link('lower'),
        link('camera', 'box.stl', '0 0 0.1'), link('wheel', 'box.stl'),
        joint('stand', 'world', 'base', 'fixed'), joint('one', 'base', 'upper'),
        joint('two', 'upper', 'lower', xyz='0.3 0 0'),
        joint('screw', 'upper', 'camera', 'fixed', '0.2 0 0', '0 1.5707963267948966 0'),
        joint('axle', 'lower', 'wheel'),
    )  # fmt: skip
    found = load_surfaces(path, ROBOT)
    assert found.links == ('upper',)
    assert found.unplaced == ('world', 'wheel')
    np.testing.assert_allclose(found.surfaces[0].middle, (0.3, 0, 0), atol=1e-6)
    np.testing.assert_allclose(
        np.ptp(found.surfaces[0].vertices, axis=0), (0.3, 0.2, 0.1), atol=1e-6
    )


@pytest.mark.parametrize('change', [{'xyz': '0.31 0 0'}, {'xyz': '0.3 0 0', 'rpy': '0 0 0.2'}])
def test_another_robot_is_refused(folder, change):
    path = written(
        folder, link('base', 'box.stl'), link('upper'), link('lower'),
        joint('one', 'base', 'upper'), joint('two', 'upper', 'lower', **change),
    )  # fmt: skip
    with pytest.raises(RobotError, match='of another robot than .*, or has other zeros.*lower'):
        load_surfaces(path, ROBOT)


def test_a_finger_whose_frame_is_turned_has_its_mesh_where_it_is(folder):
    robot = Robot(
        urdf(link('base'), link('arm'), link('finger'), joint('one', 'base', 'arm'),
             joint('slide', 'arm', 'finger', 'prismatic', '0 0 0.1'))
    )  # fmt: skip
    path = written(
        folder, link('base'), link('arm'), link('finger', 'box.stl', '0.4 0 0'),
        joint('one', 'base', 'arm'),
        joint('slide', 'arm', 'finger', 'prismatic', '0 0 0.1', '0 0 3.141592653589793'),
    )  # fmt: skip
    found = load_surfaces(path, robot)
    np.testing.assert_allclose(found.surfaces[0].middle, (-0.4, 0, 0), atol=1e-6)


@pytest.mark.parametrize(
    ('mesh', 'said'),
    [
        ('gone.stl', 'gone.stl is not there: looked for'),
        ('package://nowhere/box.stl', 'package://nowhere/box.stl is not there.*package'),
        ('broken.stl', 'broken.stl (holds no triangles|cannot be read)'),
        ('box.step', 'of no known kind'),
    ],
)
def test_meshes_that_cannot_be_read_are_named(folder, mesh, said):
    (folder / 'broken.stl').write_bytes(b'no mesh at all')
    (folder / 'box.step').write_bytes(b'')
    path = written(folder, link('base', mesh), link('upper'), joint('one', 'base', 'upper'))
    with pytest.raises(RobotError, match=said):
        load_surfaces(path, ROBOT)


def test_packages_are_found_in_given_folders(folder):
    package = folder / 'packages' / 'arm_description'
    package.mkdir(parents=True)
    (folder / 'box.stl').rename(package / 'box.stl')
    (folder / 'here').mkdir()
    path = written(
        folder, link('base', 'package://arm_description/box.stl'), link('upper'),
        joint('one', 'base', 'upper'), name='here/arm.urdf',
    )  # fmt: skip
    found = load_surfaces(path, ROBOT, package_folders=[folder / 'packages'])
    assert found.triangle_count == 12


def test_files_that_have_no_mesh_of_the_robot_are_refused(folder):
    path = written(folder, link('base'), link('upper'), joint('one', 'base', 'upper'))
    with pytest.raises(RobotError, match='no visual mesh of a link of arm'):
        load_surfaces(path, ROBOT)
    path = written(folder, link('base', 'box.stl'), link('upper'), joint('one', 'base', 'upper'))
    with pytest.raises(RobotError, match='no collision mesh'):
        load_surfaces(path, ROBOT, 'collision')
    path = written(folder, link('a', 'box.stl'), link('b'), joint('one', 'a', 'b'))
    with pytest.raises(RobotError, match='has no link of arm: it has a, b; the robot has base'):
        load_surfaces(path, ROBOT)
    with pytest.raises(RobotError, match='none.urdf'):
        load_surfaces(folder / 'none.urdf', ROBOT)


def soup(mesh):
    return np.asarray(mesh.vertices)[np.asarray(mesh.faces)]


def test_only_whole_surfaces_that_face_outwards_are_closed():
    ball, box = trimesh.creation.icosphere(2), trimesh.creation.box((1, 1, 1))
    box.apply_translation((5, 0, 0))
    found = merged_mesh(np.concatenate((soup(ball), soup(box)[:, ::-1])))
    assert found.is_closed.sum() == len(ball.faces)
    assert len(found.vertices) == len(ball.vertices) + 8
    found = merged_mesh(np.concatenate((soup(ball)[1:], soup(box))))
    assert found.is_closed.sum() == len(box.faces)


@pytest.mark.parametrize('resolution', [0.1, 0.2])
def test_a_coarser_mesh_stays_within_its_residual(resolution):
    ball = trimesh.creation.icosphere(4)
    found = merged_mesh(soup(ball), resolution)
    assert len(found.triangles) < len(ball.faces)
    assert 0 < found.residual <= resolution * np.sqrt(3)
    middles = found.vertices[found.triangles].mean(axis=1)
    assert np.abs(np.linalg.norm(middles, axis=1) - 1.0).max() < found.residual + 0.02
    assert found.is_closed.all()
