# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Logits to token statistics, against scipy's softmax and entropy over all classes."""

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import entropy

from frame_ros import metrics
from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics.token_statistics import token_statistics

TEMPERATURES = (0.5, 1.0, 3.0)
# Tokens and classes: one block of many tokens, a part of a block left over, several blocks of one
# token, a last block that is short.
SHAPES = [(7, 2), (350, 256), (40, 1025), (3, 70_001), (2, 257_152), (0, 10)]


def expected(logits, chosen, temperatures=TEMPERATURES):
    p = softmax(np.asarray(logits, float), axis=1)
    ordered = np.sort(p, axis=1)
    hot = [softmax(np.asarray(logits, float) / t, axis=1).max(axis=1) for t in temperatures]
    return {
        'max_probability': ordered[:, -1],
        'second_probability': ordered[:, -2],
        'sum_of_squares': (p * p).sum(axis=1),
        'entropy': entropy(p, axis=1),
        'chosen_probability': p[np.arange(len(p)), chosen],
        'max_at_temperature': np.array(hot).T,
    }


@pytest.mark.parametrize('shape', SHAPES)
@pytest.mark.parametrize(('kind', 'relative'), [('f8', 1e-11), ('f4', 2e-5), ('f2', 2e-5)])
def test_they_are_those_of_the_whole_softmax(shape, kind, relative):
    rng = np.random.default_rng(shape)
    logits = rng.normal(0, 4, shape).astype(kind)
    chosen = rng.integers(0, shape[1], shape[0])
    found = token_statistics(logits, chosen, TEMPERATURES)
    assert found.vocabulary_size == shape[1]
    assert found.temperatures.tolist() == list(TEMPERATURES)
    if not shape[0]:
        assert found.entropy.shape == (0,) and found.max_at_temperature.shape == (0, 3)
        return
    for name, values in expected(logits, chosen).items():
        np.testing.assert_allclose(getattr(found, name), values, rtol=relative, err_msg=name)


def test_the_metrics_of_the_statistics_are_those_of_the_probabilities():
    logits = np.random.default_rng(1).normal(0, 3, (20, 3000))
    found, p = token_statistics(logits), softmax(logits, axis=1)
    got = metrics.token_metrics(
        found.max_probability, found.second_probability, found.sum_of_squares, found.entropy
    )
    assert got['tb_tp'] == pytest.approx(metrics.token_probability_uncertainty(p), rel=1e-12)
    assert got['tb_pcs'] == pytest.approx(metrics.prediction_confidence_uncertainty(p), rel=1e-12)
    assert got['tb_d'] == pytest.approx(metrics.deepgini(p), rel=1e-12)
    assert got['tb_e'] == pytest.approx(metrics.token_entropy(p), rel=1e-12)


@pytest.mark.parametrize('classes', [50, 100_000])
def test_probabilities_give_the_same_as_their_logits(classes):
    rng = np.random.default_rng(2)
    logits = rng.normal(0, 3, (4, classes))
    logits[:, 5:9] = -np.inf  # classes that cannot be
    chosen = np.array([5, 0, 1, 2])
    p = softmax(logits, axis=1)
    of_logits = token_statistics(logits, chosen, TEMPERATURES)
    of_probabilities = token_statistics(p, chosen, TEMPERATURES, is_probability=True)
    for name, values in expected(logits, chosen).items():
        np.testing.assert_allclose(getattr(of_logits, name), values, rtol=1e-11, err_msg=name)
        np.testing.assert_allclose(
            getattr(of_probabilities, name), values, rtol=1e-11, err_msg=name
        )
    assert of_logits.chosen_probability[0] == 0.0


def test_large_logits_ties_and_certain_tokens_are_no_trouble():
    logits = np.array([[1e4, 1e4, -1e4], [-1e30, 5.0, -1e30], [900.0, 899.0, -np.inf]])
    found = token_statistics(logits, temperatures=(0.1,))
    odds = np.exp(-1.0)
    np.testing.assert_allclose(found.max_probability, [0.5, 1.0, 1 / (1 + odds)], rtol=1e-15)
    np.testing.assert_allclose(found.second_probability, [0.5, 0.0, odds / (1 + odds)], rtol=1e-15)
    np.testing.assert_allclose(found.entropy[:2], [np.log(2), 0.0], rtol=1e-15)
    np.testing.assert_allclose(found.max_at_temperature[:2, 0], [0.5, 1.0], rtol=1e-15)
    assert np.isnan(found.chosen_probability).all()


@pytest.mark.parametrize('offset', [-1000.0, -60.0, -20.0, 20.0, 60.0, 1000.0])
@pytest.mark.parametrize('kind', ['f8', 'f4'])
def test_how_far_from_zero_the_logits_of_a_long_row_are_changes_nothing(offset, kind):
    logits = np.random.default_rng(6).normal(0, 3, (2, 100_000)) + offset
    logits[0, 70_000:] = -np.inf
    logits[1, :66_000] -= 40.0  # a block whose largest is far below
    logits = logits.astype(kind)
    chosen = np.array([0, 99_999])
    found = token_statistics(logits, chosen, TEMPERATURES)
    relative = 1e-10 if kind == 'f8' else 1e-4
    for name, values in expected(logits, chosen).items():
        np.testing.assert_allclose(getattr(found, name), values, rtol=relative, err_msg=name)


def test_what_is_left_of_a_sure_token_of_a_long_row_is_not_lost():
    logits = np.zeros((3, 257_152), np.float32)
    logits[0, 200_000], logits[1, 3], logits[2, 257_151] = 30.0, 36.0, 25.0
    found = token_statistics(logits, np.array([200_000, 3, 0]))
    wanted = expected(logits, np.array([200_000, 3, 0]))
    for name in ('entropy', 'second_probability', 'max_probability', 'chosen_probability'):
        np.testing.assert_allclose(getattr(found, name), wanted[name], rtol=1e-5, err_msg=name)
    assert (found.entropy < 1e-3).all() and (found.entropy > 0).all()


def test_any_memory_layout_gives_the_same():
    logits = np.random.default_rng(3).normal(0, 3, (6, 80_000))
    plain = token_statistics(logits)
    for other in (np.asfortranarray(logits), np.repeat(logits, 2, axis=1)[:, ::2]):
        found = token_statistics(other)
        assert found.entropy == pytest.approx(plain.entropy, rel=1e-12)
        assert found.second_probability == pytest.approx(plain.second_probability, rel=1e-12)


@pytest.mark.parametrize('rest', [-np.inf, -200.0, -3e4])
@pytest.mark.parametrize('classes', [10, 5000, 200_000])
def test_a_token_that_leaves_nothing_to_the_others_has_no_second(classes, rest):
    for place in {0, 1, classes - 1, classes // 2, min(65_536, classes - 1)}:
        logits = np.full((2, classes), rest, np.float32)
        logits[:, place] = 20.0
        logits[1, classes - 1 - place] = 17.0
        found = token_statistics(logits, [place] * 2, TEMPERATURES)
        for name, values in expected(logits, np.array([place] * 2)).items():
            np.testing.assert_allclose(
                getattr(found, name), values, rtol=1e-5, atol=1e-12, err_msg=f'{name} at {place}'
            )


@pytest.mark.parametrize('classes', [10, 200_000])
@pytest.mark.parametrize('bad', [np.nan, np.inf])
def test_logits_that_are_no_numbers_are_refused_and_located(classes, bad):
    logits = np.zeros((3, classes))
    logits[1, classes // 2] = bad
    with pytest.raises(ValueRangeError, match=f'token 1 is {bad}'):
        token_statistics(logits)
    logits[1] = -np.inf
    with pytest.raises(ValueRangeError, match='token 1 is -inf'):
        token_statistics(logits)


def test_other_shapes_and_values_are_refused():
    logits = np.zeros((3, 4))
    for wrong in (np.zeros(4), np.zeros((3, 1)), np.zeros((1, 3, 4))):
        with pytest.raises(ShapeError, match=r'\(TN, V\)'):
            token_statistics(wrong)
    with pytest.raises(ValueRangeError, match='int64'):
        token_statistics(logits.astype(int))
    with pytest.raises(ShapeError, match=r'\(3,\)'):
        token_statistics(logits, chosen=[1, 2])
    for wrong in ([0, 1, 4], [0, -1, 1], [0.0, 1.0, 2.0]):
        with pytest.raises(ValueRangeError, match='0 to 3'):
            token_statistics(logits, chosen=wrong)
    for wrong in ((0.0,), (np.nan,), (-1.0,)):
        with pytest.raises(ValueRangeError, match='temperatures'):
            token_statistics(logits, temperatures=wrong)
    for wrong in (np.full((3, 4), 0.3), np.array([[1.5, -0.5]]), np.array([[np.nan, 1.0]])):
        with pytest.raises(ValueRangeError, match='add up to 1'):
            token_statistics(wrong, is_probability=True)
