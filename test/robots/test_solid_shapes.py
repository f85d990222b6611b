# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Solid shapes of robots whose URDF, as most makers', has meshes alone."""

from __future__ import annotations

import numpy as np
import pytest
from turning_arm import kinova

from frame_ros.robots import load_robot
from frame_ros.robots.dynamics import RobotDynamics
from frame_ros.robots.shapes.clearance import ClearanceCheck
from frame_ros.robots.shapes.link_shapes import (
    BOX,
    CAPSULE,
    CYLINDER,
    ROUNDED_BOX,
    ROUNDED_CYLINDER,
    SPHERE,
    Shape,
)
from frame_ros.robots.shapes.solid_shapes import _around, solid_shapes
from frame_ros.sensing.contact.coverage import behind_joints, solid_links
from frame_ros.sensing.contact.joints.force_estimate import middles_of

SHAPES = """
links:
  j2s6s200_link_base:
  - {start: [0.0, 0.0, 0.03], end: [0.0, 0.0, 0.13], radius: 0.05}
  j2s6s200_link_2:
  - {start: [0.0, -0.41, -0.015], end: [0.0, 0.0, -0.015], radius: 0.044}
  j2s6s200_link_3:
  - {start: [0.0, 0.0, -0.015], end: [0.0, 0.176, -0.011], radius: 0.044}
  j2s6s200_link_6:
  - {centre: [0.0, 0.0, -0.06], axis: [0.0, 0.0, 1.0], half_length: 0.03, core: 0.04, radius: 0.01}
"""
HOME = np.array([0.0, 3.6, 1.6, 0.5, 2.2, 3.0])


@pytest.fixture()
def robot(tmp_path):
    (tmp_path / 'shapes.yaml').write_text(SHAPES)
    (tmp_path / 'jaco.yaml').write_text(
        f'urdf: {kinova()}\nshapes: shapes.yaml\ntips: {{default: j2s6s200_end_effector}}\n'
    )
    return load_robot(str(tmp_path / 'jaco.yaml'))


def test_they_are_those_of_the_profile(robot):
    found = solid_shapes(robot)
    assert list(found) == [f'j2s6s200_link_{name}' for name in ('base', '2', '3', '6')]
    assert solid_links(robot) == tuple(found)
    assert set(behind_joints(robot, robot.joint_names)) == set(found)
    own = load_robot('fr3')
    primitives = {link: shapes for link, shapes in own.collision_geometry.items() if shapes}
    assert solid_shapes(own) == primitives  # the URDF's take precedence


def test_clearances_are_checked_by_them(robot):
    check = ClearanceCheck(robot, robot.joint_names)
    assert check.links == ('j2s6s200_link_2', 'j2s6s200_link_3', 'j2s6s200_link_6')
    assert 'j2s6s200_link_1' in check.unchecked and 'j2s6s200_link_2' not in check.unchecked
    clearances = check.at(HOME)
    dynamics = RobotDynamics(robot)
    rotation, translation = dynamics.link_pose('j2s6s200_link_2', HOME)
    ends = [rotation @ [0.0, y, -0.015] + translation for y in (-0.41, 0.0)]
    exact = min(end[2] for end in ends) - 0.044
    # The capsule lies in the cylinder that is checked, which is as wide as it at its ends.
    assert exact - 0.044 <= clearances.floor[0] <= exact
    assert ('j2s6s200_link_2', 'j2s6s200_link_6') in check.pairs
    assert clearances.selves.min() > 0.05


def test_a_force_on_a_link_acts_at_their_middle(robot):
    dynamics = RobotDynamics(robot)
    places = dict(middles_of(dynamics))
    np.testing.assert_allclose(places['j2s6s200_link_2'], [0.0, -0.205, -0.015], atol=1e-9)
    bare = dict(middles_of(RobotDynamics(load_robot(str(kinova())))))
    np.testing.assert_array_equal(bare['j2s6s200_link_2'], np.zeros(3))


@pytest.mark.parametrize(
    ('kind', 'half', 'radius'),
    [
        (SPHERE, (0.0, 0.0, 0.0), 0.1),
        (CAPSULE, (0.0, 0.0, 0.2), 0.05),
        (BOX, (0.1, 0.2, 0.3), 0.0),
        (CYLINDER, (0.0, 0.0, 0.2), 0.07),
        (ROUNDED_BOX, (0.1, 0.2, 0.3), 0.02),
        (ROUNDED_CYLINDER, (0.06, 0.06, 0.2), 0.02),
    ],
)
def test_a_primitive_reaches_as_far_as_its_shape_along_its_axes(kind, half, radius):
    shape = Shape(kind, np.array(half), radius, np.array([0.1, 0.0, 0.0]), np.eye(3))
    made = _around(shape)
    reach = {
        'sphere': lambda size: (size[0],) * 3,
        'box': lambda size: tuple(0.5 * edge for edge in size),
        'cylinder': lambda size: (size[0], size[0], 0.5 * size[1]),
    }[made.kind](made.size)
    wide = radius if kind == CYLINDER else 0.0
    expected = (half[0] + max(radius, wide), half[1] + max(radius, wide))
    assert reach[:2] == pytest.approx(expected)
    assert reach[2] == pytest.approx(half[2] + (0.0 if kind in (CYLINDER,) else radius))
