# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Actions that are refused or clipped before they reach a robot."""

import numpy as np
import pytest

from frame_ros.core.errors import PolicyError
from frame_ros.policies.execution.action_check import check_chunk
from frame_ros.policies.protocol import Inference

LIMITS = {'a': (-1.0, 1.0), 'b': (0.0, 2.0)}


def inference(actions, names=('a', 'b'), units=('rad', 'rad'), **changes) -> Inference:
    return Inference(np.array(actions), 0.1, names, units, **changes)


def test_actions_inside_the_limits_are_left_alone():
    actions, clipped = check_chunk(inference([[0.5, 0.0], [-1.0, 2.0]]), LIMITS)
    np.testing.assert_array_equal(actions, [[0.5, 0.0], [-1.0, 2.0]])
    assert clipped == {}


def test_actions_outside_are_clipped_and_counted_per_joint():
    actions, clipped = check_chunk(
        inference([[2.5, 0.5], [3.0, 1.0], [0.0, 9.0]], names=('b', 'a')), LIMITS
    )
    np.testing.assert_array_equal(actions, [[2.0, 0.5], [2.0, 1.0], [0.0, 1.0]])
    assert clipped == {'b': 2, 'a': 1}


@pytest.mark.parametrize(
    ('chunk', 'message'),
    [
        (inference([[0.0, np.nan]]), 'b is nan at step 0'),
        (inference([[0.0, 0.0], [-np.inf, 0.0]]), 'a is -inf at step 1'),
        (inference([0.0, 0.0]), 'shape'),
        (inference([[0.0]]), r'shape \(1, 1\); it must be \(steps, 2\)'),
        (inference(np.zeros((0, 2))), 'shape'),
        (inference([[0.0, 0.0]], names=('a', 'tail')), r"moves \['tail'\]"),
        (inference([[0.0, 0.0]], units=('rad', 'degrees')), 'must be joint_position in rad or m'),
        (inference([[0.0, 0.0]], action_space='ee_delta'), 'ee_delta'),
    ],
)
def test_unusable_chunks_are_refused(chunk, message):
    with pytest.raises(PolicyError, match=message):
        check_chunk(chunk, LIMITS)
