# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros capsules`."""

import pytest
import yaml

from frame_ros.cli import main
from frame_ros.robots import load_robot
from frame_ros.robots.shapes.filter_shapes import load_shapes
from frame_ros.robots.shapes.link_shapes import link_shapes

SMALL = """
<robot name="small"><link name="a"><collision><geometry><box size="0.1 0.1 0.4"/></geometry>
</collision></link><link name="b"/><joint name="j" type="continuous"><parent link="a"/>
<child link="b"/><axis xyz="0 0 1"/></joint></robot>"""


def test_capsules_of_a_urdf_are_written_and_load_again(tmp_path, capsys):
    urdf, out = tmp_path / 'small.urdf', tmp_path / 'small.yaml'
    urdf.write_text(SMALL)
    assert main(['capsules', str(urdf), '--out', str(out)]) == 0
    printed = capsys.readouterr().out
    assert 'a ' in printed and 'volume' in printed
    robot = load_robot(urdf)
    (shape,) = load_shapes(out, robot).shapes
    assert shape.radius > link_shapes(robot).shapes[0].half_sizes[0]


def test_capsules_are_printed_as_yaml(capsys, tmp_path):
    urdf = tmp_path / 'small.urdf'
    urdf.write_text(SMALL)
    assert main(['capsules', str(urdf), '--link', 'a=2']) == 0
    assert capsys.readouterr().out.startswith('robot: small\nlinks:\n  a:\n  - {start: [')


def test_wrong_arguments_are_told(capsys, tmp_path):
    urdf = tmp_path / 'small.urdf'
    urdf.write_text(SMALL)
    for arguments, word in (
        (['nonsense'], 'nonsense'),
        ([str(urdf), '--link', 'a'], 'NAME=VALUE'),
        ([str(urdf), '--link', 'c=2'], "'c'"),
        ([str(urdf), '--count', '0'], '--count is 0; it must be at least 1'),
        ([str(urdf), '--out', str(tmp_path / 'no' / 'file')], 'cannot be written'),
    ):
        assert main(['capsules', *arguments]) == 2
        assert word in capsys.readouterr().err


def test_shapes_of_visual_meshes_are_written_with_their_fit(tmp_path, capsys):
    trimesh = pytest.importorskip('trimesh')
    trimesh.creation.box((0.05, 0.04, 0.03)).export(tmp_path / 'a.stl')
    urdf, out = tmp_path / 'small.urdf', tmp_path / 'shapes.yaml'
    urdf.write_text(
        SMALL.replace(
            '</collision></link>',
            '</collision><visual><geometry><mesh filename="a.stl"/></geometry></visual></link>',
        )
    )
    arguments = ['--visual', '--most', '1', '--source', 'some 1.0', '--out', str(out)]
    assert main(['capsules', str(urdf), *arguments]) == 0
    assert 'outside, mm' in capsys.readouterr().out
    content = yaml.safe_load(out.read_text())
    assert content['source'] == 'some 1.0' and content['fit']['a']['outside'] <= 0.0026
    assert len(load_shapes(out, load_robot(urdf)).shapes) == 1
    assert main(['capsules', str(urdf), '--visual', '--only', 'b']) == 2
    assert 'no visual meshes of b' in capsys.readouterr().err


@pytest.mark.parametrize(
    'given', ['--residual=0.001', '--near=0.01', '--most=2', '--closed', '--place=a=b 0 0 0 0 0 0',
              '--only=a', '--source=mine'],
)  # fmt: skip
def test_what_is_of_fitted_shapes_is_refused_without_visual(given, tmp_path, capsys):
    urdf = tmp_path / 'small.urdf'
    urdf.write_text(SMALL)
    assert main(['capsules', str(urdf), given]) == 2
    assert f'{given.split("=")[0]} is of the shapes that are fitted' in capsys.readouterr().err
