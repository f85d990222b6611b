# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The twist between two poses, and rotation matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import ValueRangeError
from frame_ros.robots.motion import rotation_about, rotation_of, twist_between

vectors = st.tuples(*[st.floats(-1.5, 1.5)] * 3).map(np.array)


@given(
    position=vectors,
    turn=vectors,
    later=vectors,
    step=vectors,
    dt=st.floats(1e-3, 10),
    flip=st.booleans(),
)
def test_is_the_rotation_vector_over_time_whatever_the_quaternions_sign(
    position, turn, later, step, dt, flip
):
    before, after = (
        Rotation.from_rotvec(turn),
        Rotation.from_rotvec(step) * Rotation.from_rotvec(turn),
    )
    quaternion = -after.as_quat() if flip else after.as_quat()
    twist = twist_between(position, before.as_quat(), later, quaternion, dt)
    np.testing.assert_allclose(twist[:3] * dt, later - position, atol=1e-12)
    np.testing.assert_allclose(twist[3:] * dt, step, atol=1e-7)


def test_a_hand_worked_turn():
    # a quarter turn about y in half a second: pi rad/s
    half = np.sqrt(0.5)
    twist = twist_between([0, 0, 1], [0, 0, 0, 1], [0, 1, 1], [0, half, 0, half], 0.5)
    np.testing.assert_allclose(twist, [0, 2, 0, 0, np.pi, 0], atol=1e-12)


@pytest.mark.parametrize('dt', [0.0, -1.0, float('nan')])
def test_time_must_pass(dt):
    with pytest.raises(ValueRangeError, match='above 0'):
        twist_between(np.zeros(3), [0, 0, 0, 1], np.zeros(3), [0, 0, 0, 1], dt)


@given(vector=vectors, scale=st.sampled_from([0.0, 1e-9, 1e-5, 6e-5, 1.5e-4, 1.0, 4.0]))
def test_rotation_matrices_are_scipys_at_every_angle(vector, scale):
    turn = Rotation.from_rotvec(scale * vector)
    np.testing.assert_allclose(rotation_about(scale * vector), turn.as_matrix(), atol=1e-14)
    np.testing.assert_allclose(rotation_of(turn.as_quat()), turn.as_matrix(), atol=1e-14)
