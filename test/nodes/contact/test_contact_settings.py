# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The contact node detects by default as its detectors do by themselves, and were measured."""

import dataclasses

import pytest

pytest.importorskip('rclpy')

from frame_ros.nodes.contact.options import ContactOptions
from frame_ros.sensing.contact.joints.detector import JointContactOptions
from frame_ros.sensing.contact.robot_flags import RobotContactOptions
from frame_ros.sensing.contact.wrench.options import WrenchOptions

# A parameter cannot be infinite or nothing: 0 stands for it.
TOLD_OTHERWISE = {'wrench_force_axes_on', 'wrench_torque_axes_on', 'wrench_expected_bias'}


@pytest.mark.parametrize(
    ('prefix', 'kind'),
    [
        ('joint_', JointContactOptions),
        ('wrench_', WrenchOptions),
        ('robot_', RobotContactOptions),
    ],
)
def test_the_node_detects_as_the_detectors_do(prefix, kind):
    node = {field.name: field.default for field in dataclasses.fields(ContactOptions)}
    shared = {prefix + field.name: field.default for field in dataclasses.fields(kind)}
    common = (shared.keys() & node.keys()) - TOLD_OTHERWISE
    assert len(common) >= 5
    assert {name: node[name] for name in common} == {name: shared[name] for name in common}
