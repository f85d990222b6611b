# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joint states in any order, partial, with extra joints, and wrong ones."""

import array
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frame_ros.core.errors import RobotError
from frame_ros.robots import JointStateAssembler

WANTED = ('a', 'b', 'c', 'd')
EVERY = (*WANTED, 'gripper', 'other')
finite = st.floats(-1e300, 1e300)


@st.composite
def messages(draw):
    """(names, positions, velocities) with any subset of joints in any order."""
    names = draw(st.permutations(EVERY))[: draw(st.integers(0, len(EVERY)))]
    size = st.lists(finite, min_size=len(names), max_size=len(names))
    return names, draw(size), draw(st.one_of(st.just([]), size))


@settings(deadline=None)
@given(st.lists(messages(), max_size=12), st.booleans())
def test_the_newest_value_of_each_joint_is_kept(stream, as_arrays):
    assembler = JointStateAssembler(WANTED)
    position, velocity = {}, {}
    for names, positions, velocities in stream:
        known = [name for name in names if name in WANTED]
        position.update({n: p for n, p in zip(names, positions, strict=True) if n in WANTED})
        velocity.update(dict.fromkeys(known))
        if velocities:
            velocity.update({n: v for n, v in zip(names, velocities, strict=True) if n in WANTED})
        if as_arrays:
            positions, velocities = array.array('d', positions), array.array('d', velocities)
        state = assembler.update(names, positions, velocities)
        if not known or set(position) != set(WANTED):
            assert state is None
            assert set(assembler.missing) == set(WANTED) - set(position)
            continue
        assert state.positions.tolist() == [position[name] for name in WANTED]
        expected = [velocity[name] for name in WANTED]
        assert (state.velocities is None) == (None in expected)
        if state.velocities is not None:
            assert state.velocities.tolist() == expected
    counts = assembler.counts
    assert counts.accepted + counts.rejected == len(stream)
    assert counts.rejected == counts.unknown_only


@given(st.permutations(EVERY), st.lists(finite, min_size=6, max_size=6))
def test_order_does_not_matter(order, values):
    by_name = dict(zip(EVERY, values, strict=True))
    shuffled = JointStateAssembler(WANTED).update(order, [by_name[name] for name in order])
    np.testing.assert_array_equal(shuffled.positions, [by_name[name] for name in WANTED])


def test_results_are_fresh_and_the_last_is_kept():
    assembler = JointStateAssembler(WANTED)
    first = assembler.update(list(WANTED), [1, 2, 3, 4], [5, 6, 7, 8])
    second = assembler.update(['d'], [9])
    assert first.positions.tolist() == [1, 2, 3, 4]
    assert second.positions.tolist() == [1, 2, 3, 9]
    assert first.velocities.tolist() == [5, 6, 7, 8]
    assert second.velocities is None, 'the velocity of d is not known any more'
    assert assembler.last is second


def test_values_that_are_not_finite_are_rejected_and_the_good_kept():
    assembler = JointStateAssembler(WANTED)
    good = assembler.update([*WANTED, 'gripper'], [1, 2, 3, 4, math.nan])
    assert good.positions.tolist() == [1, 2, 3, 4], (
        'NaN in a joint that is not wanted is nobody’s concern'
    )
    for bad in (math.nan, math.inf, -math.inf):
        assert assembler.update(WANTED, [7, bad, 7, 7]) is None
        assert f'b = {bad}' in assembler.problem
    assert assembler.last is good
    assert assembler.counts.non_finite == 3
    assert assembler.update(['a'], [0.5]).positions.tolist() == [0.5, 2, 3, 4]
    assert assembler.problem == ''


def test_velocities_that_are_not_finite_are_absent():
    assembler = JointStateAssembler(WANTED)
    assert assembler.update(WANTED, [1, 2, 3, 4], [1, math.nan, 1, 1]).velocities is None
    assert assembler.counts.non_finite_velocity == 1
    assert assembler.update(WANTED, [1, 2, 3, 4], [1, 2, 1, 1]).velocities.tolist() == [1, 2, 1, 1]


def test_a_sum_that_overflows_is_not_taken_for_a_bad_value():
    state = JointStateAssembler(WANTED).update(WANTED, [1e308, 1e308, 1.0, 1.0])
    assert state.positions.tolist() == [1e308, 1e308, 1.0, 1.0]


@pytest.mark.parametrize(
    ('names', 'positions', 'velocities', 'words'),
    [
        (['a', 'b'], [1.0], [], '2 joint names but positions'),
        (['a', 'b'], [], [1.0, 2.0], '2 joint names but positions'),
        (['a', 'b'], [1.0, 2.0], [1.0], '2 joint names but velocities'),
        (['a', 'b', 'a'], [1.0, 2.0, 3.0], [], 'more than once: a'),
        ([], [1.0], [], '0 joint names'),
    ],
)
def test_lengths_that_do_not_match_are_counted(names, positions, velocities, words):
    assembler = JointStateAssembler(WANTED)
    for times in (1, 2):
        assert assembler.update(names, positions, velocities) is None
        assert words in assembler.problem
        assert assembler.counts.wrong_length == times
    assert assembler.missing == WANTED


def test_messages_of_other_joints_only_are_counted():
    assembler = JointStateAssembler(WANTED)
    assert assembler.update(['wheel'], [1.0]) is None
    assert 'wheel' in assembler.problem
    assert assembler.update([], []) is None
    assert assembler.counts.unknown_only == 2


@pytest.mark.parametrize('names', [[], ['a', 'a']])
def test_wanted_joints_must_be_given_once(names):
    with pytest.raises(RobotError, match='each once'):
        JointStateAssembler(names)
