# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Objects as URDFs and MuJoCo files in their folders describe them."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import FrameRosError, SetupError
from frame_ros.scenes.description.convex_hull import hull_of
from frame_ros.scenes.description.mesh_folders import mesh_object, mesh_objects
from frame_ros.scenes.description.object_parts import primitive_points

trimesh = pytest.importorskip('trimesh')
URDF = """<?xml version="1.0"?>
<robot name="thing"><link name="thing">
  <contact><lateral_friction value="0.6"/></contact>
  <inertial><mass value="{mass}"/></inertial>
  <visual><origin rpy="0 0 1.5707963267948966"/><geometry>
    <mesh filename="thing.obj" scale="0.1 0.1 0.2"/></geometry>
    <material name="m"><color rgba="0.1 0.2 0.9 1"/></material></visual>
  {collision}
</link>{more}</robot>"""
COLLISION = """<collision><origin xyz="0 0 {z}"/><geometry><box size="0.02 0.04 0.02"/></geometry>
</collision>"""
MJCF = """<mujoco><asset>
  <texture name="t" type="2d" builtin="flat" rgb1="1 0 0" width="8" height="8"/>
  <material name="m" texture="t"/>
  <mesh name="thing" file="thing.obj" scale="0.1 0.1 0.1"/></asset>
<worldbody><body><body name="object" pos="0 0 0.3">{joint}
  <geom type="mesh" mesh="thing" contype="0" conaffinity="0" rgba="0 1 0 1" mass="0"/>
  <geom type="box" size="0.02 0.01 0.005" pos="0 0 -0.005" density="500" friction="0.7 0.1 0.1"/>
  <geom type="{kind}" size="0.01 0.005" pos="0 0 0.005" density="500" friction="0.3 0.1 0.1"/>
</body></body></worldbody></mujoco>"""


def described(folder, file, text, edges=(0.4, 0.2, 0.2)):
    """Writes the folder of an object `thing` with a mesh that is drawn and a description."""
    path = folder / 'thing'
    path.mkdir()
    trimesh.creation.box(edges).export(path / 'thing.obj')
    (path / file).write_text(text)
    return path


def urdf(mass=0.2, more='', collision=None):
    if collision is None:  # two boxes, one on the other
        collision = COLLISION.format(z=-0.01) + COLLISION.format(z=0.01)
    return URDF.format(mass=mass, more=more, collision=collision)


def mjcf(joint='', kind='cylinder'):
    return MJCF.format(joint=joint, kind=kind)


def test_a_urdf_gives_scale_place_parts_mass_and_friction(tmp_path):
    path = described(tmp_path, 'thing.urdf', urdf())
    (found,) = mesh_objects(tmp_path)
    assert (found.name, found.mass, found.friction) == ('thing', 0.2, 0.6)
    assert found.colour == (0.1, 0.2, 0.9) and len(found.pieces) == 2 and found.is_decomposed
    assert found.edges == pytest.approx((0.02, 0.04, 0.04))
    assert np.ptp(found.corners, axis=0) == pytest.approx((0.02, 0.04, 0.04))  # turned, scaled
    mesh_object.cache_clear()
    (path / 'object.yaml').write_text('mass: 0.5\nfriction: 0.4\nscale: 2\nname: other\n')
    twice = mesh_object(str(path))
    assert (twice.name, twice.mass, twice.friction) == ('other', 0.5, 0.4)
    assert twice.edges == pytest.approx((0.04, 0.08, 0.08))
    mesh_object.cache_clear()
    (path / 'object.yaml').write_text('density: 500\n')  # in place of the mass
    assert mesh_object(str(path)).mass == pytest.approx(500 * 0.02 * 0.04 * 0.04)


def test_a_urdf_without_collision_or_mass_is_its_mesh(tmp_path):
    found = mesh_object(str(described(tmp_path, 'thing.urdf', urdf(0, collision=''))))
    assert len(found.pieces) == 1 and not found.is_decomposed
    assert found.mass == pytest.approx(1000 * 0.04 * 0.02 * 0.04)


def test_a_mujoco_file_gives_what_touches_and_what_is_drawn(tmp_path):
    pytest.importorskip('mujoco')
    found = mesh_object(str(described(tmp_path, 'thing.xml', mjcf(), (0.4, 0.2, 0.2))))
    assert len(found.pieces) == 2 and found.friction == 0.7 and found.colour == (0.0, 1.0, 0.0)
    assert found.edges == pytest.approx((0.04, 0.02, 0.02))
    volume = 0.04 * 0.02 * 0.01 + math.pi * 0.01**2 * 0.01
    assert found.mass == pytest.approx(500 * volume)
    assert np.ptp(found.corners, axis=0) == pytest.approx((0.04, 0.02, 0.02), abs=1e-6)
    assert found.corners.mean(axis=0) == pytest.approx(np.zeros(3), abs=1e-6)


@pytest.mark.parametrize(
    ('file', 'text', 'said'),
    [
        ('thing.urdf', urdf(more='<link name="b"><visual><geometry><sphere radius="1"/></geometry>'
         '</visual></link>'), 'has the links thing, b with shapes; an object is one body'),
        ('thing.urdf', urdf(collision='<collision><geometry><box size="1 2"/></geometry>'
         '</collision>'), "size of <box> is '1 2'; it must be 3 finite numbers"),
        ('thing.urdf', urdf(collision='<collision><geometry><cone/></geometry></collision>'),
         'a shape is a cone'),
        ('thing.urdf', urdf().replace('thing.obj', 'gone.obj'), 'the mesh gone.obj is not there'),
        ('thing.urdf', urdf().replace('thing.obj', '/etc/hosts.obj'), 'is not there|lies outside'),
        ('thing.urdf', '<robot><link', 'not well-formed'),
        ('thing.urdf', urdf(mass=-1), 'the mass is -1 kg; it must be above 0, or say mass: in'),
        ('thing.urdf', urdf().replace('0.6', '-0.6'), r'friction is -0.6; it must be at least 0'),
        ('thing.urdf', urdf().replace('0.1 0.2 0.9', '9 0 0'), r'colour is \[9.0, 0.0, 0.0\]; it'),
        ('thing.urdf', urdf(collision='<collision><geometry><sphere radius="-1"/></geometry>'
         '</collision>'), r'a sphere has the lengths \[-1.0\]; they must be above 0'),
        ('thing.urdf', urdf().replace('<robot', '<!DOCTYPE a [<!ENTITY b "c">]><robot', 1)
         .replace('<?xml version="1.0"?>\n', ''), 'declares entities|no mesh|has the meshes'),
        ('thing.xml', mjcf(joint='<joint type="hinge"/>'), 'has 1 joints; an object is one body'),
        ('thing.xml', mjcf(kind='box'), 'MuJoCo cannot load .*thing.xml'),
    ],
)  # fmt: skip
def test_descriptions_that_cannot_be_are_refused_in_words(tmp_path, file, text, said):
    pytest.importorskip('mujoco')
    with pytest.raises(FrameRosError, match=said):
        mesh_object(str(described(tmp_path, file, text)))


def test_a_urdf_of_another_encoding_is_refused_in_words(tmp_path):
    path = described(tmp_path, 'thing.urdf', '')
    (path / 'thing.urdf').write_bytes(urdf(more='<!-- \xe9 -->').encode('latin-1'))
    with pytest.raises(SetupError, match='thing.urdf must be UTF-8 text'):
        mesh_object(str(path))


def test_a_comment_before_its_root_hides_no_description(tmp_path):
    text = urdf().replace('<robot', '<!-- made by <a tool>\n<link> -->\n<robot')
    assert mesh_object(str(described(tmp_path, 'thing.urdf', text))).mass == 0.2


def test_a_friction_of_0_and_a_colour_of_the_whole_file_are_taken(tmp_path):
    text = urdf().replace('0.6', '0').replace('<color rgba="0.1 0.2 0.9 1"/>', '')
    shared = '<material name="m"><color rgba="0.3 0.4 0.5 1"/></material>'
    found = mesh_object(
        str(described(tmp_path, 'thing.urdf', text.replace('<link', shared + '<link')))
    )
    assert found.friction == 0.0 and found.colour == (0.3, 0.4, 0.5)


def test_a_mirrored_mesh_is_not_inside_out(tmp_path):
    text = urdf(collision='').replace('0.1 0.1 0.2', '0.1 -0.1 0.2')
    found = mesh_object(str(described(tmp_path, 'thing.urdf', text)))
    a, b, c = (found.corners[found.faces[:, i]] for i in range(3))
    volume = np.einsum('ij,ij->i', a, np.cross(b, c)).sum() / 6
    assert volume == pytest.approx(0.04 * 0.02 * 0.04) and found.has_flat_top


def test_a_mass_by_density_grows_with_the_scale_and_a_given_one_does_not(tmp_path):
    pytest.importorskip('mujoco')
    path = described(tmp_path, 'thing.xml', mjcf())
    by_density = mesh_object(str(path)).mass
    (path / 'object.yaml').write_text('scale: 2\n')
    mesh_object.cache_clear()
    assert mesh_object(str(path)).mass == pytest.approx(8 * by_density)
    (path / 'thing.xml').write_text(mjcf().replace('density="500"', 'mass="0.1"'))
    mesh_object.cache_clear()
    assert mesh_object(str(path)).mass == pytest.approx(0.2)


def test_of_several_descriptions_one_is_named(tmp_path):
    path = described(tmp_path, 'a.urdf', urdf())
    (path / 'b.urdf').write_text(urdf(mass=0.4))
    (path / 'notes.xml').write_text('<notes/>')  # none of an object
    with pytest.raises(SetupError, match=r'has the descriptions a.urdf, b.urdf: say which'):
        mesh_object(str(path))
    for name, mass in (('b.urdf', 0.4), ('none', 1000 * 0.4 * 0.2 * 0.2)):
        (path / 'object.yaml').write_text(f'description: {name}\n')
        mesh_object.cache_clear()
        assert mesh_object(str(path)).mass == pytest.approx(mass)
    (path / 'object.yaml').unlink()
    (path / 'thing.urdf').write_text(urdf(mass=0.3))  # which is called as the folder
    mesh_object.cache_clear()
    assert mesh_object(str(path)).mass == 0.3
    (path / 'object.yaml').write_text('description: ../thing/c.urdf\n')
    mesh_object.cache_clear()
    with pytest.raises(SetupError, match=r'has no description \.\./thing/c.urdf'):
        mesh_object(str(path))


def test_hulls_of_simple_shapes_are_as_large():
    shapes = {
        'box': ((0.02, 0.04, 0.06), 0.02 * 0.04 * 0.06),
        'sphere': ((0.03,), 4 / 3 * math.pi * 0.03**3),
        'cylinder': ((0.02, 0.07), math.pi * 0.02**2 * 0.07),
        'capsule': ((0.02, 0.07), math.pi * 0.02**2 * (0.07 + 4 / 3 * 0.02)),
    }
    for kind, (size, volume) in shapes.items():
        hull = hull_of(primitive_points(kind, size))
        assert 0.95 * volume < hull.volume <= 1.0000001 * volume
        assert hull.centre == pytest.approx(np.zeros(3), abs=1e-9)
    turned = Rotation.from_rotvec((0.3, 0.2, 0.1)).apply(primitive_points('box', (1.0, 2.0, 3.0)))
    assert hull_of(turned).volume == pytest.approx(6.0)


def test_a_picture_lies_on_the_mesh_as_its_own_material_has_it(tmp_path):
    """An OBJ by its material and the same by a MuJoCo file: triangle by triangle."""
    pytest.importorskip('mujoco')
    import cv2

    path = tmp_path / 'thing'
    path.mkdir()
    corners = ((0, 0, 0), (0.04, 0, 0), (0, 0.04, 0), (0, 0, 0.04))
    places = ((0.1, 0.2), (0.9, 0.3), (0.4, 0.8), (0.6, 0.1))
    lines = ['mtllib a.mtl', *(f'v {x} {y} {z}' for x, y, z in corners)]
    lines += [f'vt {u} {v}' for u, v in places]
    lines += ['f 1/1 3/2 2/3', 'f 1/1 2/3 4/4', 'f 2/2 3/1 4/4', 'f 3/4 1/2 4/3']
    (path / 'thing.obj').write_text('\n'.join(lines) + '\n')
    (path / 'a.mtl').write_text('newmtl a\nmap_Kd a.png\n')
    picture = np.random.default_rng(0).integers(0, 255, (8, 16, 3), np.uint8)
    cv2.imwrite(str(path / 'a.png'), picture)
    own = mesh_object(str(path)).texture
    (path / 'thing.xml').write_text(
        '<mujoco><asset><texture name="t" type="2d" file="a.png"/><material name="m" texture="t"/>'
        '<mesh name="thing" file="thing.obj"/></asset><worldbody><body>'
        '<geom type="mesh" mesh="thing" material="m"/></body></worldbody></mujoco>'
    )
    mesh_object.cache_clear()
    found = mesh_object(str(path)).texture
    assert (found.picture == own.picture).all() and own.picture.shape == (8, 16, 3)
    there, here = (each.places[each.faces] for each in (found, own))
    assert there == pytest.approx(here, abs=1e-6)
