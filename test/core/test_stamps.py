# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frame_ros.core.stamps import RateLimit, StampGuard, Verdict, may_reset
from frame_ros.core.time import SECOND


def verdicts(guard, stamps):
    return [guard.check(stamp) for stamp in stamps]


def test_increasing_stamps_are_used():
    guard = StampGuard()
    assert verdicts(guard, [1, 2, 10]) == [Verdict.USE] * 3
    assert not any(guard.counts.values())


def test_zero_duplicate_and_backward_are_dropped_and_counted():
    guard = StampGuard()
    assert verdicts(guard, [0, 10, 10, 5, 11]) == [
        Verdict.DROP, Verdict.USE, Verdict.DROP, Verdict.DROP, Verdict.USE,
    ]  # fmt: skip
    assert (guard.counts['zero'], guard.counts['duplicate'], guard.counts['backward']) == (1, 1, 1)


def test_a_gap_is_used_and_counted():
    guard = StampGuard(gap=0.5)
    assert verdicts(guard, [SECOND, 2 * SECOND]) == [Verdict.USE, Verdict.USE]
    assert guard.counts['gap'] == 1


def test_one_stamp_far_ahead_does_not_stop_the_stream():
    guard = StampGuard()
    stamps = [SECOND, 1000 * SECOND, SECOND + 1, SECOND + 2]
    assert verdicts(guard, stamps) == [Verdict.USE, Verdict.DROP, Verdict.USE, Verdict.USE]
    assert guard.counts['jump'] == 1


def test_a_clock_set_back_is_believed_after_three_stamps():
    guard = StampGuard()
    stamps = [100 * SECOND, SECOND, SECOND + 1, SECOND + 2, SECOND + 3]
    assert verdicts(guard, stamps) == [
        Verdict.USE, Verdict.DROP, Verdict.DROP, Verdict.RESET, Verdict.USE,
    ]  # fmt: skip
    assert guard.counts['reset'] == 1


def test_a_few_repeated_messages_are_no_new_clock():
    guard = StampGuard()
    stamps = [10_000, *range(5_000, 5_010), 10_001]
    assert verdicts(guard, stamps) == [Verdict.USE] + [Verdict.DROP] * 10 + [Verdict.USE]


@given(st.lists(st.integers(min_value=-5, max_value=50), max_size=60))
def test_used_stamps_increase_until_a_reset(stamps):
    guard, last = StampGuard(), None
    for stamp in stamps:
        verdict = guard.check(stamp)
        if verdict is Verdict.USE:
            assert last is None or stamp > last
        if verdict is not Verdict.DROP:
            last = stamp


def test_the_lowest_rate_lets_one_stamp_through():
    limit = RateLimit(5e-324)
    assert [limit.is_due(second * SECOND) for second in range(1, 4)] == [True, False, False]


STEPS = st.sampled_from([-70.0, -2.0, -0.5, -0.01, 0.0, 0.01, 0.02, 0.5, 2.0, 61.0, 90.0])


@given(st.lists(st.tuples(STEPS, st.sampled_from([0.0, 0.01, 1.0, 90.0])), max_size=60))
def test_stamps_without_a_possible_reset_are_used_where_they_are_the_largest_so_far(steps):
    moves = np.array(steps).reshape(-1, 2)
    stamps = np.array((100 + moves[:, 0].cumsum()) * SECOND, np.int64)
    arrivals = np.array((1000 + moves[:, 1].cumsum()) * SECOND, np.int64)
    guard = StampGuard()
    found = [guard.check(*each) for each in zip(stamps.tolist(), arrivals.tolist())]
    if may_reset(stamps, arrivals):
        return
    assert Verdict.RESET not in found
    newest = np.maximum.accumulate(np.append(0, stamps))
    assert [verdict is Verdict.USE for verdict in found] == (stamps > newest[:-1]).tolist()


@pytest.mark.parametrize(
    ('seconds', 'is_possible'),
    [
        ([1, 2, 3, 4, 5, 6], False),
        ([1, 3, 2, 5, 4, 7, 6], False),
        ([1, 2, 0, 3, 3, 4], False),
        ([5, 6, 7, 1, 2, 3], True),
        ([1, 2, 100, 3, 4], True),
        ([], False),
    ],
)
def test_a_reset_is_possible_behind_a_jump_or_three_stamps_back(seconds, is_possible):
    stamps = np.array(seconds, np.int64) * SECOND
    assert may_reset(stamps, np.arange(len(stamps)) * SECOND) is is_possible
