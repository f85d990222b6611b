# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The mount of a sensor by parameters, frame and tool file: one place, or an error."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import FrameRosError
from frame_ros.core.options import from_values
from frame_ros.robots import load_robot
from frame_ros.sensing.contact.joint_arrays import JointArrays
from frame_ros.sensing.contact.options import SensingOptions
from frame_ros.sensing.contact.sensor_mount import SensorMount, difference, links_with_axes
from frame_ros.sensing.contact.wrench.tool_file import ToolMount, write_tool
from frame_ros.sensing.contact.wrench.tool_model import Tool
from frame_ros.sensing.contact.wrench_sensor import WrenchSensor

ROBOT = load_robot('fr3', 'tcp')
QUARTER = 0.785398


def sensor(tmp_path, mount=None, **given):
    """The sensor with a tool's file, identified with a mount, and parameters."""
    path = tmp_path / 'tool.yaml'
    write_tool(path, Tool(1.0, (0.0, 0.0, 0.05)), mount=mount)
    values = {'robot': 'fr3', 'tool.file': str(path)}
    values |= {f'wrench.{name}': value for name, value in given.items()}
    settings = from_values(SensingOptions, values)
    return WrenchSensor(settings, ROBOT, JointArrays(tuple(ROBOT.joint_limits)))


def placed(tmp_path, frame, mount=None, **given):
    found = sensor(tmp_path, mount, **given)
    found.place(frame)
    return found


def test_the_mount_of_the_file_holds_for_a_frame_that_is_no_link(tmp_path):
    mount = ToolMount('fr3_hand', (0.1, 0.2, QUARTER), (0.0, 0.0, 0.03))
    found = placed(tmp_path, 'ft_sensor', mount)
    assert found.problem == '' and found.mount.link == 'fr3_hand'
    rotation = Rotation.from_euler('xyz', [0.1, 0.2, QUARTER]).as_matrix()
    np.testing.assert_allclose(found.mount.rotation, rotation, atol=1e-12)
    np.testing.assert_allclose(found.mount.translation, [0.0, 0.0, 0.03])


def test_of_axes_alone_the_frame_says_where_the_sensor_is(tmp_path):
    mount = ToolMount('fr3_link8')
    assert 'unknown frame' in placed(tmp_path, 'ft_sensor', mount).problem
    assert placed(tmp_path, 'fr3_link8', mount).problem == ''
    assert placed(tmp_path, 'fr3_link7', mount).problem == ''
    problem = placed(tmp_path, 'fr3_hand', mount).problem
    assert '45.0 degrees apart' in problem and "its frame 'fr3_hand'" in problem


def test_an_older_file_is_not_compared(tmp_path):
    assert placed(tmp_path, 'fr3_hand').problem == ''


def test_parameters_that_say_the_same_as_the_file_are_taken(tmp_path):
    found = placed(
        tmp_path, 'x', ToolMount('fr3_link8'), mount_link='fr3_hand', mount_rpy=[0, 0, QUARTER]
    )
    assert found.problem == '' and found.mount.link == 'fr3_hand'


@pytest.mark.parametrize(
    ('mount', 'given', 'text'),
    [
        (ToolMount('fr3_link8'), {'mount_link': 'fr3_hand'}, '45.0 degrees apart'),
        (ToolMount('fr3_hand'), {'mount_link': 'fr3_hand', 'mount_rpy': [0, 0, 0.1]}, '5.7 deg'),
        (ToolMount('fr3_link6'), {'mount_link': 'fr3_link8'}, 'fr3_joint7 between'),
        (ToolMount('fr3_link8'), {'frame': 'fr3_hand'}, "wrench.frame 'fr3_hand'"),
        (ToolMount('tail'), {'mount_link': 'fr3_link8'}, 'tail'),
        (None, {'frame': 'fr3_hand', 'mount_link': 'fr3_link8'}, '45.0 degrees and 0.000 m apart'),
        (None, {'frame': 'fr3_link6', 'mount_link': 'fr3_hand'}, 'fr3_joint7 lies between'),
        (
            None,
            {'frame': 'fr3_hand', 'mount_link': 'fr3_hand', 'mount_xyz': [0, 0, 0.1]},
            '0.0 degrees and 0.100 m apart',
        ),
        (None, {'mount_rpy': [0.0, 0.0, 0.5]}, 'wrench.mount_link, which is not set'),
        (None, {'mount_link': 'fr3_hand', 'mount_rpy': [0, 0, 45.0]}, '45 degrees are 0.7854'),
        (None, {'mount_link': 'fr3_hand', 'mount_xyz': [0, 0, 103.4]}, 'mount_xyz'),
    ],
)
def test_contradictions_are_errors_at_the_start(tmp_path, mount, given, text):
    with pytest.raises(FrameRosError, match=text):
        sensor(tmp_path, mount, **given)


def test_a_frame_that_is_no_link_contradicts_nothing(tmp_path):
    found = sensor(tmp_path, None, frame='ft_sensor', mount_link='fr3_link8')
    assert found.frames.is_given
    found = sensor(
        tmp_path, None, frame='fr3_hand', mount_link='fr3_link8', mount_rpy=[0, 0, -QUARTER]
    )
    assert found.frames.is_given


@pytest.mark.parametrize(
    ('values', 'text'),
    [
        ({'tool.mass': 1100.0}, 'tool.mass'),
        ({'tool.mass': 1.1, 'tool.file': 'tool.yaml'}, 'tool.mass is 1.1; .* with a tool.file'),
        ({'tool.centre_of_mass': [0.0, 0.0, 0.1], 'tool.file': 'tool.yaml'}, 'with a tool.file'),
    ],
)
def test_a_tool_that_cannot_be(values, text):
    with pytest.raises(FrameRosError, match=text):
        from_values(SensingOptions, values)


def test_differences_are_those_of_the_kinematics():
    """Against forward kinematics at a random posture."""
    one = SensorMount('fr3_link7', Rotation.from_rotvec([0.3, 0, 0]).as_matrix(), np.ones(3) * 0.1)
    other = SensorMount('fr3_hand', np.eye(3), np.array([0.0, 0.05, 0.0]))
    q = np.linspace(-0.5, 0.4, 7)
    poses = []
    for mount in (one, other):
        robot = load_robot('fr3', mount.link)
        place, turn = robot.forward(q)
        turn = Rotation.from_quat(turn)
        poses.append(
            (place + turn.apply(mount.translation), turn * Rotation.from_matrix(mount.rotation))
        )
    found = difference(ROBOT, one, other)
    assert found.turned == pytest.approx((poses[0][1].inv() * poses[1][1]).magnitude(), abs=1e-6)
    assert found.moved == pytest.approx(np.linalg.norm(poses[0][0] - poses[1][0]), abs=1e-9)
    assert links_with_axes(ROBOT, other, 0.01)[0] == 'fr3_hand'
    assert 'fr3_link6' not in links_with_axes(ROBOT, other, 3.2)
