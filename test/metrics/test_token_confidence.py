# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Confidence of an inference, an episode and a prompt ensemble, against numpy and scipy."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import gmean

from frame_ros import metrics
from frame_ros.core.errors import ValueRangeError
from frame_ros.metrics import EpisodeConfidence, ensemble_confidence, token_confidence

FORMULAS = {'mean': np.mean, 'geometric': gmean, 'min': np.min, 'max': np.max}
PROBABILITIES = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=30)


@pytest.mark.parametrize('aggregate', metrics.TOKEN_AGGREGATES)
def test_tokens_are_aggregated_as_the_paper_says(aggregate):
    p = np.random.default_rng(0).uniform(0.01, 1, (4, 3, 50))
    found = token_confidence(p, aggregate)
    assert found.shape == (4, 3)
    np.testing.assert_allclose(found, FORMULAS[aggregate](p, axis=-1), rtol=1e-12)


def test_the_papers_default_is_the_arithmetic_mean():
    assert token_confidence([0.9, 0.5, 0.1]) == pytest.approx(0.5)


def test_a_token_that_cannot_be_makes_the_geometric_mean_zero():
    found = token_confidence(np.array([[0.5, 0.0], [0.5, 0.5]]), 'geometric')
    assert found.tolist() == [0.0, pytest.approx(0.5)]


@given(PROBABILITIES)
def test_means_lie_between_the_extremes_in_their_known_order(p):
    least, geometric, mean, most = (
        float(token_confidence(p, a)) for a in ('min', 'geometric', 'mean', 'max')
    )
    assert least - 1e-12 <= geometric <= mean + 1e-12 and mean <= most + 1e-12
    assert least >= 0.0 and most <= 1.0


def test_several_tokens_of_a_dimension_count_as_one():
    """Appendix B.1: MolmoAct's dimensions have different numbers of tokens."""
    p = np.array([0.9, 0.3, 0.3, 0.6, 0.2, 0.4])
    step = np.array([0, 0, 0, 0, -1, -1])
    dimension = np.array([0, 1, 1, 2, -1, -1])
    groups = metrics.token_groups(step, dimension)
    # Dimensions 0, 1, 2, and two tokens of none, each for itself.
    expected = np.mean([0.9, 0.3, 0.6, 0.2, 0.4])
    assert token_confidence(p, groups=groups) == pytest.approx(expected)
    one_each = metrics.token_groups(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    assert len(set(one_each.tolist())) == 4
    assert token_confidence(p[:4], groups=one_each) == pytest.approx(p[:4].mean())


def test_rounding_of_single_precision_is_cut():
    assert token_confidence(np.array([1.0 + 5e-7, -5e-7], np.float32)) == pytest.approx(0.5)
    assert token_confidence(np.ones(3), groups=np.array([0, 1, 1])) <= 1.0


@pytest.mark.parametrize('aggregate', metrics.EPISODE_AGGREGATES)
def test_streaming_is_the_batch_form_of_all_so_far(aggregate):
    c = np.random.default_rng(1).uniform(size=12)
    by_hand = {
        'first': c[0], 'mean': c.mean(), 'min': c.min(), 'max': c.max(), 'window': c[-5:].mean(),
    }  # fmt: skip
    stream = EpisodeConfidence(aggregate)
    for count, value in enumerate(c, start=1):
        stream.update(value)
        batch = metrics.episode_confidence(c[:count], aggregate)
        assert stream.value == pytest.approx(float(batch), rel=1e-12)
    assert stream.value == pytest.approx(by_hand[aggregate], rel=1e-12)
    stream.reset()
    assert math.isnan(stream.value)
    with pytest.raises(ValueRangeError, match='confidence is 1.5'):
        stream.update(1.5)
    stream.update(0.25)
    assert stream.value == 0.25


def test_an_ensemble_has_a_mean_and_a_population_deviation():
    c = np.random.default_rng(2).uniform(size=(3, 20))
    found = ensemble_confidence(c)
    np.testing.assert_allclose(found.mean, c.mean(axis=1), rtol=1e-12)
    np.testing.assert_allclose(found.spread, np.sqrt(((c.T - c.mean(axis=1)) ** 2).mean(axis=0)))
    one = ensemble_confidence([0.7])
    assert one.mean == pytest.approx(0.7) and math.isnan(one.spread)


def test_tensors_stay_tensors_and_keep_their_gradient():
    torch = pytest.importorskip('torch')
    p = torch.tensor([[0.9, 0.5], [0.2, 0.4]], requires_grad=True)
    found = token_confidence(p, groups=np.array([3, 3]))
    assert isinstance(found, torch.Tensor)
    assert found.tolist() == pytest.approx([0.7, 0.3])
    token_confidence(p, 'geometric').sum().backward()
    assert torch.isfinite(p.grad).all()
    found = ensemble_confidence(p.detach())
    assert found.spread.tolist() == pytest.approx([0.2, 0.1])
    assert metrics.episode_confidence(p.detach(), 'max').tolist() == pytest.approx([0.9, 0.4])
