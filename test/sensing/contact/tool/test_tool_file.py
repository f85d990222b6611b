# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Files of tools, with and without the mount of their sensor."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import SetupError
from frame_ros.sensing.contact.joints.motor_model import load_motors
from frame_ros.sensing.contact.wrench.tool_file import (
    ToolMount,
    read_tool,
    read_tool_file,
    write_tool,
)
from frame_ros.sensing.contact.wrench.tool_model import Tool

PLAIN = 'tool: {mass: 1.0, centre_of_mass: [0, 0, 0.1]}\n'
TOOL = Tool(0.7, (0.01, -0.02, 0.05), (0.002, 0.0001, -0.0002, 0.003, 0.0003, 0.001))


def test_a_file_gives_the_tool_again(tmp_path):
    path = tmp_path / 'tool.yaml'
    write_tool(path, TOOL, comment='identified\nfrom 8 poses')
    assert read_tool(path) == TOOL
    assert path.read_text(encoding='utf-8').startswith('# identified\n# from 8 poses\n')


@pytest.mark.parametrize(
    'text',
    [
        'nothing', 'tool: {mass: 1.0}', 'tool: {mass: x, centre_of_mass: [0, 0, 0]}',
        'tool: {mass: 1.0, centre_of_mass: [0, 0]}', 'tool: [', 'tool: {mass: -1, centre_of_mass: '
        '[0, 0, 0]}', 'tool: {mass: 1, centre_of_mass: [0, 0, 0], colour: red}',
        'tool: {mass: 1100.0, centre_of_mass: [0, 0, 0]}',
        f'{PLAIN}mount: fr3_hand', f'{PLAIN}mount: {{rpy: [0, 0, 0]}}',
        f'{PLAIN}mount: {{link: a, rpy: [0, 0]}}', f'{PLAIN}mount: {{link: a, yaw: 1}}',
    ],
)  # fmt: skip
def test_a_file_that_is_no_tool(tmp_path, text):
    path = tmp_path / 'tool.yaml'
    path.write_text(text, encoding='utf-8')
    with pytest.raises(SetupError, match=str(path)):
        read_tool(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(SetupError, match='absent'):
        read_tool(tmp_path / 'absent.yaml')


def test_a_file_without_a_mount_is_read_as_before(tmp_path):
    path = tmp_path / 'tool.yaml'
    path.write_text(PLAIN)
    assert read_tool_file(path).mount is None
    assert read_tool_file(path).tool == Tool(1.0, (0.0, 0.0, 0.1))


@pytest.mark.parametrize(
    'mount',
    [
        ToolMount('fr3_link8'),
        ToolMount('fr3_hand', (0.1, -0.2, 0.785), (0.0, 0.0, 0.03)),
        ToolMount('fr3_hand', (0.0, 0.0, 0.785), (0.0, 0.0, 0.0)),
    ],
)
def test_a_file_gives_the_mount_again(tmp_path, mount):
    path = tmp_path / 'tool.yaml'
    write_tool(path, TOOL, mount=mount)
    assert read_tool_file(path).mount == mount and read_tool(path) == TOOL
    pose = mount.pose()
    np.testing.assert_allclose(
        pose.rotation, Rotation.from_euler('xyz', mount.rpy).as_matrix(), atol=1e-12
    )
    np.testing.assert_allclose(pose.translation, mount.xyz or (0, 0, 0))


def test_a_tool_that_cannot_be_written_leaves_what_was_there(tmp_path):
    path = tmp_path / 'tool.yaml'
    write_tool(path, TOOL)
    before = path.read_bytes()
    with pytest.raises(UnicodeEncodeError):
        write_tool(path, TOOL, comment='x' * 100_000 + chr(0xD800))
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]
    with pytest.raises(SetupError, match='the tool cannot be written to'):
        write_tool(tmp_path / 'no' / 'tool.yaml', TOOL)


def test_keys_of_several_kinds_are_refused_in_words(tmp_path):
    path = tmp_path / 'tool.yaml'
    path.write_text('tool: {mass: 1, centre_of_mass: [0, 0, 0], 5: 1, x: 2, null: 3}')
    with pytest.raises(SetupError, match="no entry 5, None, 'x'"):
        read_tool(path)
    path.write_text('{5: 1, x: 2, joints: {a: {}}}')
    with pytest.raises(SetupError, match='5 is not known'):
        load_motors(path)
