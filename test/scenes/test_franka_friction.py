# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A Panda's published friction, as the simulated torque sensors read it."""

import numpy as np
import pytest

from frame_ros.core.errors import ValueRangeError
from frame_ros.scenes.simulation.noise.joint_friction import PHI1, JointFriction

REST = np.zeros(7)


def test_the_published_friction_is_a_sigmoid_without_friction_at_rest():
    friction = JointFriction('gaz')
    np.testing.assert_allclose(friction(REST, REST), 0.0, atol=1e-12)
    most, least = friction(REST, REST + 20.0), friction(REST, REST - 20.0)
    np.testing.assert_allclose(most - least, PHI1, rtol=1e-9)
    # Worked by hand: 0.54615 (1 / (1 + e^(-5.1181 * 0.539533)) - 1 / (1 + e^(-5.1181 * 0.039533))).
    assert friction(REST, REST + 0.5)[0] == pytest.approx(0.21308, abs=1e-5)
    assert (friction(REST, REST - 0.1) < 0.0).all()


def test_dry_friction_turns_round_over_a_small_way_and_stays_at_rest():
    friction, q = JointFriction('dahl'), np.zeros(7)
    for _ in range(100):
        q = q + 1e-4
        found = friction(q, REST)
    np.testing.assert_allclose(found, PHI1, rtol=1e-6)
    np.testing.assert_array_equal(friction(q, REST), found)
    # From one side to the other, 0.37 of it is left to go after 0.4 mrad.
    left = friction(q - 4e-4, REST)
    np.testing.assert_allclose(left, PHI1 * (2.0 * np.exp(-1.0) - 1.0), rtol=1e-6)


def test_other_friction_is_refused():
    with pytest.raises(ValueRangeError, match='gaz, dahl'):
        JointFriction('none')
