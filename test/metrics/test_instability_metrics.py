# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Instabilities and jerk: hand-worked values, numpy.diff, polynomials, the authors' windows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics import (
    REGISTRY,
    action_instability,
    rms_jerk,
    tcp_instability,
    window_mean,
)


def test_action_instability_by_hand():
    actions = np.array([[0.0, 0.0], [1.0, 2.0], [1.0, 0.0], [4.0, 0.0]])
    np.testing.assert_allclose(action_instability(actions, 1), [np.nan, 1.5, 1.0, 1.5])
    np.testing.assert_allclose(action_instability(actions, 2), [np.nan, np.nan, 2.5, 2.5])
    np.testing.assert_allclose(action_instability(actions, 3), [np.nan] * 3 + [5.0])


def test_bounds_normalise_each_dimension_to_its_range():
    actions = np.array([[0.0, 0.0], [1.0, 2.0]])
    normalised = action_instability(actions, 1, bounds=([-1.0, 0.0], [1.0, 8.0]))
    np.testing.assert_allclose(normalised, [np.nan, (0.5 + 0.25) / 2.0])
    np.testing.assert_allclose(action_instability(actions, 1, (0.0, 2.0)), [np.nan, 0.75])


@pytest.mark.parametrize('order', [1, 2, 3])
def test_instabilities_equal_numpy_diff(order):
    rng = np.random.default_rng(order)
    batch = rng.normal(size=(4, 20, 3))
    differences = np.diff(batch, n=order, axis=-2)
    tcp = tcp_instability(batch, order)
    np.testing.assert_allclose(tcp[:, order:], np.linalg.norm(differences, axis=-1))
    actions = action_instability(batch, order)
    np.testing.assert_allclose(actions[:, order:], np.abs(differences).mean(axis=-1))
    assert np.isnan(tcp[:, :order]).all() and np.isnan(actions[:, :order]).all()


@pytest.mark.parametrize('order', [1, 2, 3])
def test_rates_of_a_polynomial_are_exact_however_irregular_the_stamps(order):
    rng = np.random.default_rng(order)
    dt = rng.uniform(0.005, 0.2, size=30)
    t = np.concatenate([[0.0], np.cumsum(dt)])
    coefficient = np.array([1.0, -2.0, 2.0])
    path = t[:, None] ** order * coefficient
    factorial = (1.0, 2.0, 6.0)[order - 1]
    rates = tcp_instability(path, order, dt)
    np.testing.assert_allclose(rates[order:], factorial * 3.0, rtol=1e-6)
    if order == 3:
        assert rms_jerk(path, dt) == pytest.approx(6.0 * 3.0, rel=1e-6)


@pytest.mark.parametrize('order', [1, 2, 3])
def test_rates_at_constant_dt_are_differences_over_its_power(order):
    path = np.random.default_rng(7).normal(size=(12, 3))
    wanted = tcp_instability(path, order)[order:] / 0.02**order
    np.testing.assert_allclose(tcp_instability(path, order, 0.02)[order:], wanted)
    np.testing.assert_allclose(tcp_instability(path, order, np.full(11, 0.02))[order:], wanted)


def test_rms_jerk_by_hand():
    path = np.array([[0.0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1.0], [0, 0, 1.0]])
    # Third differences 1 and -2 of z, dt = 0.5: jerks 8 and -16.
    assert rms_jerk(path, 0.5) == pytest.approx(np.sqrt((64.0 + 256.0) / 2.0))


def test_authors_jerk_is_three_gradients():
    path = np.random.default_rng(3).normal(size=(9, 3))
    wanted = path
    for _ in range(3):
        wanted = np.gradient(wanted, axis=0)
    found = rms_jerk(path, 0.02, variant='authors')
    assert found == pytest.approx(np.linalg.norm(wanted, axis=1).mean())


@pytest.mark.parametrize('order', [1, 2, 3])
def test_authors_windows(order):
    path = np.random.default_rng(order).normal(size=(15, 3))
    scale = 2 ** (order - 1)
    wanted = np.zeros(15)
    for step in range(7, 15):
        newest = np.diff(path[: step + 1], n=order, axis=0)[-5:]
        wanted[step] = np.abs(newest).mean() / scale
    np.testing.assert_allclose(tcp_instability(path, order, variant='authors'), wanted)
    np.testing.assert_allclose(action_instability(path, order, variant='authors'), wanted)
    assert (tcp_instability(path[:7], order, variant='authors') == 0.0).all()


@given(st.integers(1, 3), st.integers(4, 30), st.integers(0, 50))
def test_instabilities_do_not_see_where_the_origin_is(order, count, seed):
    rng = np.random.default_rng(seed)
    path = rng.normal(size=(count, 3))
    shifted = tcp_instability(path + 100.0, order)
    np.testing.assert_allclose(shifted, tcp_instability(path, order), atol=1e-11)
    doubled = tcp_instability(2.0 * path, order)
    np.testing.assert_allclose(doubled, 2.0 * tcp_instability(path, order), rtol=1e-12)


def test_window_mean_takes_only_values_that_lie_inside_the_window():
    values = np.array([np.nan, 1.0, 2.0, 3.0, 4.0, 5.0])
    # Window of 4 samples, order 1: three values.
    found = window_mean(values, 1, window=4)
    np.testing.assert_allclose(found, [np.nan, 1.0, 1.5, 2.0, 3.0, 4.0])
    with pytest.raises(ValueRangeError, match='0 to 3'):
        window_mean(values, 4, window=4)


def test_bad_input_is_named():
    path = np.zeros((5, 3))
    with pytest.raises(ValueRangeError, match='order is 4'):
        tcp_instability(path, 4)
    with pytest.raises(ShapeError, match='at least 4 samples'):
        tcp_instability(path[:3], 3)
    with pytest.raises(ShapeError, match=r'dt has shape \(5,\).*4'):
        rms_jerk(path, np.ones(5))
    with pytest.raises(ValueRangeError, match='stamps must increase'):
        rms_jerk(path, [0.1, 0.1, 0.0, 0.1])
    with pytest.raises(ValueRangeError, match='below its upper'):
        action_instability(path, 1, bounds=([0.0, 0.0, 1.0], [1.0, 1.0, 1.0]))
    with pytest.raises(ShapeError, match=r'bounds have shape \(2,\)'):
        action_instability(path, 1, bounds=([0.0, 0.0], [1.0, 1.0]))
    with pytest.raises(ShapeError, match='bounds .* no pair'):
        action_instability(path, 1, bounds=np.zeros((3, 2)))


def test_the_printed_formulas_of_derivatives_are_those_computed_on_irregular_stamps():
    rng = np.random.default_rng(3)
    t = np.cumsum(rng.uniform(0.01, 0.09, 40))
    p = rng.normal(size=(40, 3))
    v = np.diff(p, axis=0) / (t[1:] - t[:-1])[:, None]
    a = np.diff(v, axis=0) / ((t[2:] - t[:-2]) / 2)[:, None]
    j = np.diff(a, axis=0) / ((t[3:] - t[:-3]) / 3)[:, None]
    wanted = np.sqrt((j**2).sum(axis=1).mean())
    assert rms_jerk(p, np.diff(t)) == pytest.approx(wanted, rel=1e-12)
    rates = tcp_instability(p, 3, np.diff(t))[3:]
    np.testing.assert_allclose(rates, np.linalg.norm(j, axis=1), rtol=1e-12)
    for name, spans in (('ti', '½⅓'), ('tcp_acceleration', '½'), ('tcp_jerk', '⅓')):
        formula = REGISTRY[name].formula
        assert all(f'{span}(tₜ − ' in formula for span in spans)
