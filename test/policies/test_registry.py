# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Policies by name, and the one that only holds."""

import numpy as np
import pytest

from frame_ros.core.errors import PolicyError, ValueRangeError
from frame_ros.policies.base import Policy
from frame_ros.policies.policy_names import OURS
from frame_ros.policies.protocol import Observation
from frame_ros.policies.registry import make_policy


def test_an_unknown_policy_names_the_known_ones():
    with pytest.raises(PolicyError, match=f"no policy 'magic'; known: {', '.join(OURS)}, "):
        make_policy('magic')


def test_unknown_options_name_the_known_ones():
    with pytest.raises(PolicyError, match="'wheels'.*it takes: horizon, dt"):
        make_policy('hold', wheels=4)


def test_hold_commands_the_first_positions_of_an_episode():
    policy = make_policy('hold', horizon=3, dt=0.1)
    assert isinstance(policy, Policy)
    first = Observation(1, 1, ('a', 'b'), np.array([0.1, 0.2]))
    later = Observation(2, 2, ('a', 'b'), np.array([0.5, 0.5]))
    np.testing.assert_array_equal(policy.infer(first).actions, [[0.1, 0.2]] * 3)
    np.testing.assert_array_equal(policy.infer(later).actions, [[0.1, 0.2]] * 3)
    policy.reset()
    inference = policy.infer(later)
    np.testing.assert_array_equal(inference.actions, [[0.5, 0.5]] * 3)
    assert (inference.action_names, inference.action_units) == (('a', 'b'), ('rad', 'rad'))
    assert inference.dt == 0.1


@pytest.mark.parametrize('options', [{'horizon': 0}, {'dt': 0.0}, {'dt': np.inf}])
def test_hold_refuses_an_empty_chunk(options):
    with pytest.raises(ValueRangeError):
        make_policy('hold', **options)
