# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Padded batches give what their episodes give one by one, whatever the padding holds."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip('torch')
pytest.importorskip('frame_ros.metrics.torch')

from torch_cases import ACTIONS, CASES, EPISODES, INTERVALS, POSITIONS, SAMPLES  # noqa: E402

from frame_ros import metrics  # noqa: E402
from frame_ros.core.errors import ShapeError, ValueRangeError  # noqa: E402
from frame_ros.metrics import torch as classes  # noqa: E402

PADDED = [name for name, case in CASES.items() if case.mask]
LENGTHS = (12, 8, 8, 5)


def cut(array, episode, start, length):
    """The samples of an episode, or the intervals between them."""
    if array is None:
        return None
    return array[episode, start : start + length - (SAMPLES - array.shape[1])]


def spoiled(array, starts, lengths):
    """The arrays with NaN (or the largest number) wherever there is padding."""
    if array is None or array.dtype == torch.bool:
        return array
    other = array.clone()
    gap = SAMPLES - array.shape[1]
    worst = torch.nan if array.is_floating_point() else torch.iinfo(array.dtype).min
    for i, (start, length) in enumerate(zip(starts, lengths)):
        other[i, :start] = worst
        other[i, start + length - gap :] = worst
    return other


def check(name, starts, lengths, mask):
    case = CASES[name]
    metric = case.make()
    metric.update(*(spoiled(a, starts, lengths) for a in case.arrays), **{case.mask: mask})
    values = [
        case.wanted(*(cut(a, i, starts[i], lengths[i]) for a in case.arrays))
        for i in range(EPISODES)
    ]
    torch.testing.assert_close(metric.compute(), torch.stack(values).mean(), rtol=1e-11, atol=1e-13)
    assert metric.count == EPISODES


@pytest.mark.parametrize('name', PADDED)
def test_lengths(name):
    check(name, (0,) * EPISODES, LENGTHS, torch.tensor(LENGTHS))


@pytest.mark.parametrize('name', PADDED)
def test_masks_with_padding_on_either_side(name):
    starts = (0, 4, 0, 6)
    mask = torch.zeros(EPISODES, SAMPLES, dtype=torch.bool)
    for i, (start, length) in enumerate(zip(starts, LENGTHS)):
        mask[i, start : start + length] = True
    check(name, starts, LENGTHS, mask)


@settings(max_examples=30)
@given(st.lists(st.integers(0, SAMPLES), min_size=EPISODES, max_size=EPISODES))
def test_any_lengths_too_short_ones_are_unavailable(lengths):
    metric = classes.RMSJerk()
    metric.update(POSITIONS, INTERVALS, mask=torch.tensor(lengths))
    values = [
        metrics.rms_jerk(POSITIONS[i, :n], INTERVALS[i, : n - 1])
        for i, n in enumerate(lengths)
        if n >= 4
    ]
    assert metric.unavailable == EPISODES - len(values)
    if values:
        torch.testing.assert_close(metric.compute(), torch.stack(values).mean())
    else:
        assert torch.isnan(metric.compute())


def test_one_episode_more_axes_and_intervals_for_all():
    metric = classes.PathLength()
    metric.update(POSITIONS[0], mask=torch.tensor(7))
    torch.testing.assert_close(metric.compute(), metrics.path_length(POSITIONS[0, :7]))
    folded = classes.RMSJerk()
    folded.update(
        POSITIONS.reshape(2, 2, SAMPLES, 3), INTERVALS[0], torch.tensor([[12, 9], [9, 4]])
    )
    wanted = [
        metrics.rms_jerk(POSITIONS[i, :n], INTERVALS[0, : n - 1])
        for i, n in enumerate((12, 9, 9, 4))
    ]
    torch.testing.assert_close(folded.compute(), torch.stack(wanted).mean())


def test_gradients_reach_the_samples_and_no_padding():
    positions = POSITIONS.clone().requires_grad_()
    classes.PathSmoothness()(positions, mask=torch.tensor(LENGTHS)).backward()
    kept = torch.arange(SAMPLES) < torch.tensor(LENGTHS)[:, None]
    assert (positions.grad[kept] != 0).any(dim=-1).all()
    assert (positions.grad[~kept] == 0).all()


def test_namse_looks_at_no_padding():
    metric = classes.NAMSE()
    actions = spoiled(ACTIONS, (0,) * EPISODES, LENGTHS)
    metric.update(actions, actions + 1.0, mask=torch.tensor(LENGTHS))
    pairs = [(ACTIONS[i, :n], ACTIONS[i, :n] + 1.0) for i, n in enumerate(LENGTHS)]
    torch.testing.assert_close(metric.compute(), metrics.namse(pairs))


def test_masks_that_do_not_fit():
    metric = classes.PathLength()
    hole = torch.ones(EPISODES, SAMPLES, dtype=torch.bool)
    hole[2, 5] = False
    with pytest.raises(ValueRangeError, match='episode 2 has a hole'):
        metric.update(POSITIONS, mask=hole)
    with pytest.raises(ValueRangeError, match='0 to 12 samples'):
        metric.update(POSITIONS, mask=torch.tensor([12, 13, 1, 1]))
    with pytest.raises(ValueRangeError, match='booleans, or integer lengths'):
        metric.update(POSITIONS, mask=torch.ones(EPISODES, SAMPLES))
    with pytest.raises(ShapeError, match='mask has shape'):
        metric.update(POSITIONS, mask=hole[:2])
    with pytest.raises(ShapeError, match='an array has shape'):
        classes.MSE().update(ACTIONS, ACTIONS[:, :4], mask=torch.tensor(LENGTHS))
