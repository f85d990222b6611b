# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Direction reversals and stagnation: hand-worked values, plain loops, streaming against batch."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics import ReversalShare, Stagnation, reversal_share, stagnation


def column(*values):
    return np.array(values, dtype=np.float64)[:, None]


def test_reversals_by_hand():
    there_and_back = column(0, 1, 0, 1, 0, 1, 0, 1)
    assert reversal_share(there_and_back)[-1] == 1.0
    assert np.isnan(reversal_share(there_and_back)[:-1]).all()
    assert reversal_share(column(*range(8)))[-1] == 0.0
    # Differences 1 2 -1 -1 0 -3 4: turns at 2 -> -1 and -3 -> 4; next to the 0 none.
    assert reversal_share(column(0, 1, 3, 2, 1, 1, -2, 2))[-1] == 2 / 6
    # Of two dimensions one turns always.
    both = np.hstack([there_and_back, column(*range(8))])
    assert reversal_share(both)[-1] == 0.5
    assert reversal_share(column(0, 1, 0, 5), window=3).tolist()[2:] == [1.0, 1.0]


def test_tiny_reversals_are_reversals_too():
    tiny = 1e-200 * column(0, 1, 0, 1, 0, 1, 0, 1)
    assert reversal_share(tiny)[-1] == 1.0


def test_reversals_do_not_depend_on_scale_offset_or_direction_of_time():
    rng = np.random.default_rng(0)
    actions = rng.integers(-3, 4, size=(8, 5)).astype(float)
    wanted = reversal_share(actions)[-1]
    assert 0 < wanted < 1
    for same in (3.0 * actions + 7.0, -actions, actions[::-1]):
        assert reversal_share(same)[-1] == wanted


def plain_reversals(actions, window):
    """A loop over windows, dimensions and differences."""
    found = []
    for end in range(len(actions)):
        part = actions[end - window + 1 : end + 1] if end >= window - 1 else None
        if part is None:
            found.append(math.nan)
            continue
        turns = 0
        for dimension in part.T:
            steps = np.sign(np.diff(dimension))
            turns += sum(a * b == -1 for a, b in zip(steps, steps[1:]))
        found.append(turns / (part.shape[1] * (window - 2)))
    return found


def plain_stagnation(actions, positions, threshold, window):
    found = []
    for end in range(len(actions)):
        if end < window - 1:
            found.append(math.nan)
            continue
        first = end - window + 1
        reach = max(math.dist(positions[end], p) for p in positions[first : end + 1])
        changes = sum(any(actions[i] != actions[i - 1]) for i in range(first + 1, end + 1))
        found.append(changes / (window - 1) if reach < threshold else 0.0)
    return found


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 25), st.integers(1, 7), st.integers(3, 9))
def test_reversals_equal_a_plain_loop_streaming_too(seed, steps, dimension, window):
    actions = np.random.default_rng(seed).integers(-2, 3, size=(steps, dimension)).astype(float)
    wanted, metric, streamed = plain_reversals(actions, window), ReversalShare(window), []
    np.testing.assert_array_equal(reversal_share(actions, window), wanted)
    for action in actions.tolist():
        metric.update(action)
        streamed.append(metric.value)
    np.testing.assert_array_equal(streamed, wanted)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 25), st.integers(2, 9))
def test_stagnation_equals_a_plain_loop_streaming_too(seed, steps, window):
    rng = np.random.default_rng(seed)
    actions = rng.integers(0, 2, size=(steps, 3)).astype(float)
    positions = np.cumsum(rng.uniform(-1e-3, 1e-3, size=(steps, 3)), axis=0)
    wanted = plain_stagnation(actions, positions, 2e-3, window)
    metric, streamed = Stagnation(2e-3, window), []
    np.testing.assert_array_equal(stagnation(actions, positions, 2e-3, window), wanted)
    for action, position in zip(actions.tolist(), positions.tolist()):
        metric.update(action, position)
        streamed.append(metric.value)
    np.testing.assert_array_equal(streamed, wanted)


def test_stagnation_by_hand():
    still, moving = np.zeros((8, 3)), np.arange(8)[:, None] * np.array([[0.01, 0, 0]])
    busy, idle = column(*range(8)), column(*[1.0] * 8)
    assert stagnation(busy, still)[-1] == 1.0
    assert stagnation(idle, still)[-1] == 0.0
    assert stagnation(busy, moving)[-1] == 0.0
    assert stagnation(column(0, 0, 0, 0, 1, 1, 2, 2), still)[-1] == 2 / 7
    # At the threshold it has moved.
    away = still.copy()
    away[0, 0] = 5e-3
    assert stagnation(busy, away)[-1] == 0.0
    assert stagnation(busy, 0.999 * away)[-1] == 1.0


def test_a_step_without_a_pose_leaves_stagnation_unavailable_while_it_is_in_the_window():
    metric = Stagnation(window=3)
    values = []
    for index, position in enumerate([(0, 0, 0), None, *[(0, 0, 0)] * 4]):
        metric.update([float(index)], position)
        values.append(metric.value)
    assert np.isnan(values[:4]).all() and values[4:] == [1.0, 1.0]


@pytest.mark.parametrize('metric', [ReversalShare(3), Stagnation(window=3)])
def test_nothing_spans_a_gap(metric):
    update = metric.update if isinstance(metric, ReversalShare) else (
        lambda action: metric.update(action, (0.0, 0.0, 0.0))
    )  # fmt: skip
    for value in (0.0, 1.0, 0.0):
        update([value])
    assert metric.value == 1.0 and metric.gaps == 0
    metric.reset_differences()
    assert math.isnan(metric.value) and metric.gaps == 1
    for value in (1.0, 0.0):
        update([value])
        assert math.isnan(metric.value)
    update([1.0])
    assert metric.value == 1.0
    metric.reset()
    assert math.isnan(metric.value) and metric.gaps == 0


def test_bad_actions_change_nothing():
    metric = ReversalShare(3)
    for value in (0.0, 1.0, 0.0):
        metric.update([value])
    with pytest.raises(ShapeError, match='2 values; 1'):
        metric.update([0.0, 1.0])
    with pytest.raises(ValueRangeError, match='not finite'):
        metric.update([math.nan])
    assert metric.value == 1.0
    with pytest.raises(ValueRangeError, match='window is 2'):
        ReversalShare(2)
    with pytest.raises(ValueRangeError, match='threshold is nan'):
        Stagnation(math.nan)
