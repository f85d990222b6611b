# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The load of a tool on its sensor, against momentum worked out from the tool's particles."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import ValueRangeError
from frame_ros.sensing.contact.wrench.tool_model import (
    GRAVITY,
    Tool,
    ToolLoad,
)
from frame_ros.sensing.contact.wrench.tool_motion import ToolMotion, ToolMotions

TOOL = Tool(0.7, (0.01, -0.02, 0.05), (0.002, 0.0001, -0.0002, 0.003, 0.0003, 0.001))


def particles(seed=3, count=6):
    """A rigid body of point masses: masses (N,), places (N, 3), and the Tool that it is."""
    random = np.random.default_rng(seed)
    masses, places = random.uniform(0.05, 0.2, count), random.normal(0.0, 0.1, (count, 3))
    centre = masses @ places / masses.sum()
    inertia = np.zeros((3, 3))
    for mass, place in zip(masses, places - centre):
        inertia += mass * (place @ place * np.eye(3) - np.outer(place, place))
    moments = tuple(inertia[np.triu_indices(3)].tolist())
    return masses, places, Tool(float(masses.sum()), tuple(centre.tolist()), moments)


def test_inertial_wrench_is_the_sum_over_the_particles():
    masses, places, tool = particles()
    random = np.random.default_rng(4)
    rotation = Rotation.random(random_state=5).as_matrix()
    acceleration, omega, alpha = random.normal(size=(3, 3))
    force, torque = np.zeros(3), np.zeros(3)
    for mass, place in zip(masses, places):
        arm = rotation @ place
        total = acceleration + np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm))
        force -= mass * total
        torque -= np.cross(arm, mass * total)
    motion = ToolMotion(rotation, acceleration, omega, alpha)
    found = ToolLoad(tool).inertial(rotation.ravel().tolist(), motion)
    np.testing.assert_allclose(found[:3], rotation.T @ force, atol=1e-12)
    np.testing.assert_allclose(found[3:], rotation.T @ torque, atol=1e-12)


def test_weight_points_down_whatever_the_orientation():
    load = ToolLoad(TOOL)
    for rotation in Rotation.random(5, random_state=6).as_matrix():
        weight = np.array(load.weight(load.gravity(rotation.ravel().tolist())))
        np.testing.assert_allclose(rotation @ weight[:3], [0, 0, -0.7 * GRAVITY], atol=1e-12)
        arm = np.array(TOOL.centre_of_mass)
        np.testing.assert_allclose(weight[3:], np.cross(arm, weight[:3]), atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_many_are_as_one_by_one(seed):
    random = np.random.default_rng(seed)
    rotations = Rotation.random(4, random_state=seed % 1000).as_matrix()
    motions = [ToolMotion(rotation, *random.normal(size=(3, 3))) for rotation in rotations]
    motions.append(ToolMotion(rotations[0]))
    load, many = ToolLoad(TOOL), ToolMotions.of(motions)
    single = [load.inertial(m.rotation.ravel().tolist(), m) or [np.nan] * 6 for m in motions]
    np.testing.assert_allclose(load.inertials(many), single, atol=1e-12)
    gravities = load.gravities(many.rotation)
    single = [load.weight(load.gravity(m.rotation.ravel().tolist())) for m in motions]
    np.testing.assert_allclose(load.weights(gravities), single, atol=1e-12)


def test_a_payload_adds_its_wrench():
    position = (0.0, 0.03, 0.12)
    both = ToolLoad(TOOL.with_payload(0.4, position))
    alone = ToolLoad(Tool(0.4, position))
    rotation = Rotation.random(random_state=7).as_matrix()
    motion = ToolMotion(rotation, *np.random.default_rng(8).normal(size=(3, 3)))
    row = rotation.ravel().tolist()
    parts = [load.inertial(row, motion) for load in (ToolLoad(TOOL), alone)]
    np.testing.assert_allclose(both.inertial(row, motion), np.sum(parts, axis=0), atol=1e-12)
    assert TOOL.with_payload(0.0, position) is TOOL


def test_bad_tools():
    for values in [
        {'mass': -1.0}, {'mass': np.nan}, {'centre_of_mass': (0.0, 0.0)},
        {'inertia': (1.0,)}, {'inertia': (-1.0, 0, 0, 1.0, 0, 1.0)},
    ]:  # fmt: skip
        with pytest.raises(ValueRangeError):
            Tool(**values)
