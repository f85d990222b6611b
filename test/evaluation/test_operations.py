# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Operations and outcomes of episodes, and their arrays."""

import math

import numpy as np
import pytest

from frame_ros.core.errors import ValueRangeError
from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome
from frame_ros.evaluation.outcomes.operation import Ending, Operation
from frame_ros.evaluation.survival.cell import cells_of


def outcome(name, policy='p', thing='cube', operations=(), **facts):
    return EpisodeOutcome(name, policy, thing, 'pick', 10.0, tuple(operations), None, **facts)


@pytest.mark.parametrize(
    ('ending', 'time', 'event'),
    [
        (Ending.SUCCESS, 3.0, True),
        (Ending.DROP, math.inf, True),
        (Ending.FAILURE, math.inf, True),
        (Ending.SAFETY_STOP, math.inf, True),
        (Ending.TIMEOUT, 3.0, False),
        (Ending.STOPPED, 3.0, False),
    ],
)
def test_only_a_hard_failure_ends_at_infinity(ending, time, event):
    operation = Operation(2.0, 5.0, ending)
    assert (operation.time, operation.event) == (time, event)


@pytest.mark.parametrize(('begin', 'end'), [(2.0, 1.0), (0.0, math.inf), (math.nan, 1.0)])
def test_an_operation_has_two_finite_times_in_order(begin, end):
    with pytest.raises(ValueRangeError, match='two finite times in order'):
        Operation(begin, end, Ending.SUCCESS)


def test_stages_count_only_in_their_order():
    assert outcome('a').furthest_stage is None
    stages = {'grasped': True, 'lifted': False, 'placed': True}
    assert outcome('a', stages=stages).furthest_stage == 1
    assert outcome('a', stages={'grasped': True, 'lifted': True}).furthest_stage == 2


def test_cells_hold_whole_episodes_by_policy_and_object():
    success = Operation(0.0, 2.0, Ending.SUCCESS)
    rest = Operation(2.0, 10.0, Ending.TIMEOUT)
    cells = cells_of(
        [
            outcome('a', operations=[success, rest]),
            outcome('b', thing='ball', operations=[rest]),
            outcome('c', policy='q', operations=[success]),
            outcome('d'),
            outcome('e', operations=[Operation(0.0, 4.0, Ending.DROP)]),
        ]
    )
    assert list(cells) == ['p', 'q']
    assert list(cells['p']) == ['cube', 'ball']
    cube = cells['p']['cube']
    np.testing.assert_array_equal(cube.times, [2.0, 8.0, math.inf])
    np.testing.assert_array_equal(cube.events, [True, False, True])
    np.testing.assert_array_equal(cube.episodes, [0, 0, 1])
