# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Names of links in tf, and meshes that others can find."""

import pytest

from frame_ros.robots import load_robot
from frame_ros.robots.frame_names import FrameNames
from frame_ros.robots.shapes.mesh_files import with_absolute_meshes


@pytest.mark.parametrize('prefix', ['', 'left/', '/left/'])
def test_a_link_is_found_again_by_its_frame(prefix):
    names = FrameNames(prefix)
    assert names.link(names.of('hand')) == 'hand'
    assert names.link('/' + names.of('hand').lstrip('/')) == 'hand'
    assert names.link('hand') == 'hand'  # of a driver that knows of no prefix
    assert names.of('') == ''


MESHES = """<robot name="a"><link name="b"><visual><geometry>
<mesh scale="1 1 1" filename="../my meshes/a.stl"/><mesh filename='package://made/b.stl'/>
<mesh filename="package://nowhere/c.stl"/></geometry></visual></link>
<link name="c"/><joint name="j" type="revolute"><parent link="b"/><child link="c"/></joint></robot>
"""


def test_meshes_beside_a_urdf_are_found_by_others(tmp_path):
    for name in ('my meshes/a.stl', 'urdf/x', 'made/b.stl'):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    path = tmp_path / 'urdf' / 'mine.urdf'
    path.write_text(MESHES)
    text = load_robot(path).urdf
    assert text == with_absolute_meshes(MESHES, tmp_path / 'urdf')
    root = tmp_path.resolve().as_uri()
    assert f'<mesh scale="1 1 1" filename="{root}/my%20meshes/a.stl"/>' in text
    assert f"<mesh filename='{root}/made/b.stl'/>" in text
    assert '<mesh filename="package://nowhere/c.stl"/>' in text
