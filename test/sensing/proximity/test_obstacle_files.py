# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Files of obstacles: what may stand in them, and what is said of what may not."""

import math
import textwrap

import numpy as np
import pytest

from frame_ros.core.errors import SetupError
from frame_ros.robots.shapes.link_shapes import placed, sphere

pytest.importorskip('coal')

from frame_ros.sensing.proximity.obstacles import files as obstacle_files
from frame_ros.sensing.proximity.obstacles.files import load_obstacles

# A tetrahedron whose right angle is at the origin, 100 mm long along each axis.
OBJ = 'v 0 0 0\nv 100 0 0\nv 0 100 0\nv 0 0 100\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n'


def written(folder, text):
    path = folder / 'obstacles.yaml'
    path.write_text(text)
    return path


def test_the_example_of_the_documentation_can_be_read(tmp_path):
    pytest.importorskip('trimesh')
    lines = obstacle_files.__doc__.split('\n\n')[1]
    (tmp_path / 'fixture.stl').write_text(stl())
    known = load_obstacles(written(tmp_path, textwrap.dedent(lines)))
    assert known.frame == 'base_link'
    kinds = {obstacle.name: obstacle.kind for obstacle in known.obstacles}
    assert kinds == {
        'table': 'box', 'post': 'cylinder', 'lamp': 'sphere', 'rail': 'capsule',
        'wall': 'half_space', 'fixture': 'mesh',
    }  # fmt: skip
    fixture = known.obstacles[-1]
    assert fixture.ignored_links == {'base_link'} and fixture.mesh.is_closed
    assert fixture.half_extents == pytest.approx(0.05)


def stl():
    corners = np.array(((0, 0, 0), (100, 0, 0), (0, 100, 0), (0, 0, 100)))
    lines = ['solid s']
    for face in ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)):
        lines += ['facet normal 0 0 0', 'outer loop']
        lines += ['vertex {} {} {}'.format(*corners[i]) for i in face]
        lines += ['endloop', 'endfacet']
    return '\n'.join([*lines, 'endsolid s'])


def test_poses_are_those_of_a_urdf(tmp_path):
    half = math.sqrt(0.5)
    path = written(
        tmp_path,
        f"""
obstacles:
  - {{name: a, shape: box, size: [0.2, 0.4, 0.6], position: [1, 0, 0], rpy: [0, 1.5707963268, 0]}}
  - {{name: b, shape: box, size: [0.2, 0.4, 0.6], quaternion: [0, {half}, 0, {half}]}}
  - {{name: c, shape: half_space, ignored_links: [hand]}}
""",
    )
    a, b, c = load_obstacles(path).obstacles
    assert a.rotation == pytest.approx(b.rotation, abs=1e-9)
    assert a.rotation @ (0, 0, 1) == pytest.approx((1, 0, 0), abs=1e-9)
    assert a.translation.tolist() == [1, 0, 0] and c.translation.tolist() == [0, 0, 0]
    assert c.ignored_links == {'hand'}


def test_a_mesh_in_millimetres_needs_its_scale(tmp_path):
    pytest.importorskip('trimesh')
    (tmp_path / 'part.obj').write_text(OBJ)
    entry = '{name: part, shape: mesh, file: part.obj'
    with pytest.raises(SetupError, match='100 m long.*scale 0.001'):
        load_obstacles(written(tmp_path, f'obstacles: [{entry}}}]'))
    for convex in ('true', 'false'):
        text = f'obstacles: [{entry}, scale: 0.001, is_convex: {convex}}}]'
        known = load_obstacles(written(tmp_path, text))
        reading = known.distances(placed('link', [sphere(0.05, (-0.15, 0.02, 0.02))]))
        assert reading.distance == pytest.approx(0.1, abs=1e-6)


def entry(text):
    return f'obstacles: [{{{text}}}]'


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('{', 'cannot be read'),
        ('', 'needs the key obstacles'),
        ('obstacles: {a: 1}', 'with a list'),
        ('{obstacles: [], unit: mm}', r"unknown keys \['unit'\]"),
        (entry('shape: box'), 'obstacle 1: .*has no name'),
        (entry('name: a'), 'shape None; known: box, sphere'),
        (entry('name: a, shape: cone'), "'a' has the shape 'cone'"),
        (entry('name: a, shape: box'), "'a' is a box and lacks size"),
        (entry('name: a, shape: cylinder, radius: 1'), 'lacks length'),
        (entry('name: a, shape: sphere, radius: 1, size: 2'), 'unknown keys size'),
        (entry('name: a, shape: box, size: [1, 2]'), '3 numbers is needed'),
        (entry('name: a, shape: box, size: [1, 2, x]'), '3 numbers is needed'),
        (entry('name: a, shape: sphere, radius: big'), 'a number is needed'),
        (entry('name: a, shape: sphere, radius: true'), 'a number is needed'),
        (entry('name: a, shape: sphere, radius: -1'), 'positive'),
        (entry('name: a, shape: box, size: [300, 20, 10]'), '300 m long'),
        (entry('name: a, shape: sphere, radius: 1, rpy: [0, 0, 0], quaternion: [0, 0, 0, 1]'),
         'both rpy and quaternion'),
        (entry('name: a, shape: half_space, quaternion: [0, 0, 0, 2]'), 'length 2, not 1'),
        (entry('name: a, shape: half_space, ignored_links: hand'), 'a list of links'),
        (entry('name: a, shape: mesh'), 'lacks file'),
        (entry('name: a, shape: mesh, file: none.stl'), 'none.stl does not exist'),
        (entry('name: a, shape: mesh, file: text.stl, scale: 0'), 'scale 0'),
        (entry('name: a, shape: mesh, file: text.stl, is_convex: 1'), 'true or false'),
        (entry('name: a, shape: half_space}, {name: a, shape: half_space'), 'two obstacles'),
        (entry('name: a, shape: {x: 1}'), 'has the shape'),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(tmp_path, text, words):
    with pytest.raises(SetupError, match=words):
        load_obstacles(written(tmp_path, text))


@pytest.mark.parametrize('name', ['text.stl', 'text.obj', 'text.nothing'])
def test_a_file_that_is_no_mesh_is_refused(tmp_path, name):
    pytest.importorskip('trimesh')
    (tmp_path / name).write_text('this is no mesh')
    with pytest.raises(SetupError, match=name):
        load_obstacles(written(tmp_path, entry(f'name: a, shape: mesh, file: {name}')))


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(SetupError, match='cannot be read'):
        load_obstacles(tmp_path / 'none.yaml')
