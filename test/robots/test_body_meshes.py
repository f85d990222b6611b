# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The meshes of a MuJoCo description, in the frames of its bodies and of the links of a robot."""

import math

import numpy as np
import pytest
import yaml

from frame_ros.cli import main
from frame_ros.core.errors import MissingExtraError, RobotError, ValueRangeError
from frame_ros.evaluation.trials.worlds.drawn_world import DRAWN_ROBOTS
from frame_ros.robots import load_robot
from frame_ros.robots.link_frames import LinkFrames
from frame_ros.robots.shapes.body_meshes import (
    PlaceOptions,
    body_meshes,
    is_mjcf,
    placed_bodies,
)

trimesh = pytest.importorskip('trimesh')
mj = pytest.importorskip('mujoco')
TWO = """<mujoco model="two"><compiler meshdir="parts" angle="degree"/>
<asset><mesh file="long.stl" scale="0.001 0.001 0.001"/></asset><worldbody>
<geom type="mesh" mesh="long" contype="0" conaffinity="0"/>
<body name="a" pos="0 0 1" euler="0 90 0">
  <geom type="mesh" mesh="long" pos="0.1 0 0" euler="0 0 90" contype="0" conaffinity="0"/>
  <geom type="mesh" mesh="long" pos="5 5 5"/><geom type="box" size="1 1 1"/>
  <body name="b"><joint/><geom type="mesh" mesh="long"/></body>
  <body name="c"><geom type="sphere" size="0.1"/></body>
</body></worldbody></mujoco>"""


@pytest.fixture()
def two(tmp_path):
    (tmp_path / 'parts').mkdir()
    box = trimesh.creation.box((60.0, 40.0, 20.0))  # mm
    box.apply_translation((100.0, 0.0, 0.0)).export(tmp_path / 'parts' / 'long.stl')
    path = tmp_path / 'two.xml'
    path.write_text(TWO)
    return path


def bounds(triangles):
    return np.array([triangles.min(axis=(0, 1)), triangles.max(axis=(0, 1))])


def test_meshes_of_bodies_are_in_their_frames_and_places_move_them(two):
    name, meshes = body_meshes(two)
    assert name == 'two' and list(meshes) == ['a', 'b']
    # Drawn: turned about z by a quarter and moved by 0.1 m in x; b has what touches alone.
    np.testing.assert_allclose(bounds(meshes['a']), [[0.08, 0.07, -0.01], [0.12, 0.13, 0.01]],
                               atol=1e-7)  # fmt: skip
    np.testing.assert_allclose(bounds(meshes['b']), [[0.07, -0.02, -0.01], [0.13, 0.02, 0.01]],
                               atol=1e-7)  # fmt: skip
    places = PlaceOptions({'tip': f'b 0 0 0.5 0 {-math.pi / 2} 0'}).of_links()
    placed = placed_bodies(name, meshes, places)
    assert list(placed) == ['a', 'tip'] and placed['a'] is meshes['a']
    np.testing.assert_allclose(bounds(placed['tip']), [[-0.01, -0.02, 0.57], [0.01, 0.02, 0.63]],
                               atol=1e-7)  # fmt: skip
    for wrong, word in ((['tip', 'nosuch'], 'nosuch'), (['a', 'b'], 'two bodies for one')):
        with pytest.raises(RobotError, match=word):
            text = f'{wrong[1]} 0 0 0 0 0 0'
            placed_bodies(name, meshes, PlaceOptions({wrong[0]: text}).of_links())
    with pytest.raises(ValueRangeError, match='within 10 m'):
        PlaceOptions({'tip': 'b 100 0 0 0 0 0'})


def test_a_mujoco_description_is_fitted_by_the_command(two, tmp_path, capsys):
    out = tmp_path / 'shapes.yaml'
    arguments = ['--visual', '--most', '1', '--out', str(out), '--place', 'tip=b 0 0 0.5 0 0 0']
    assert main(['capsules', str(two), *arguments]) == 0
    content = yaml.safe_load(out.read_text())
    assert content['robot'] == 'two' and set(content['links']) == {'a', 'tip'}
    (shape,) = content['links']['tip']
    assert np.linalg.norm(np.subtract(shape['centre'], [0.1, 0.0, 0.5])) < 0.003
    assert main(['capsules', str(two)]) == 2
    assert '--visual' in capsys.readouterr().err


def test_descriptions_that_mujoco_cannot_load_are_refused(two):
    two.write_text(TWO.replace('name="b"', ''))
    with pytest.raises(RobotError, match='without a name'):
        body_meshes(two)
    two.write_text(TWO.replace('file="long.stl"', 'name="long" file="nosuch.stl"'))
    assert is_mjcf(str(two))
    with pytest.raises(RobotError, match='nosuch'):
        body_meshes(two)
    two.write_text('<robot name="a URDF"/>')
    assert not is_mjcf(str(two))


def test_the_links_of_the_ur5e_are_where_menagerie_has_its_bodies():
    """At zero, with the lengths that Menagerie rounds to mm."""
    drawn = DRAWN_ROBOTS['ur5e']
    try:
        model = mj.MjModel.from_xml_path(str(drawn.path()))
    except MissingExtraError as error:
        pytest.skip(str(error))
    data = mj.MjData(model)
    mj.mj_kinematics(model, data)
    robot = load_robot(drawn.profile)
    frames = LinkFrames(robot)
    rotations, translations = frames.compute(np.zeros(6))
    for link, place in PlaceOptions(drawn.places).of_links().items():
        row = frames.index(link)
        turn = rotations[row] @ place.rotation
        at = rotations[row] @ place.translation + translations[row]
        # Its world is UR's base, which is turned by half a turn from the base link.
        half = np.diag([-1.0, -1.0, 1.0])
        body = data.body(place.body)
        np.testing.assert_allclose(half @ body.xmat.reshape(3, 3), turn, atol=1e-5)
        assert np.linalg.norm(half @ body.xpos - at) < 0.002
