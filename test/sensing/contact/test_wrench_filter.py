# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The causal low-pass against scipy, and what it promises at any rate."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import butter, cont2discrete, lfilter

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.core.time import MILLISECOND
from frame_ros.sensing.contact.wrench.filter import CausalLowPass


def filtered(values, step=MILLISECOND, cutoff=40.0):
    low_pass = CausalLowPass(cutoff)
    return np.array([low_pass.update(step, row) for row in values])


@pytest.mark.parametrize(
    ('cutoff', 'step'),
    [(40.0, MILLISECOND), (5.0, MILLISECOND // 2), (0.3, MILLISECOND), (200.0, 2 * MILLISECOND)],
)
def test_it_is_scipys_butterworth_with_straight_lines_between_samples(cutoff, step):
    values = np.random.default_rng(1).normal(size=(400, 3))
    values[0] = 0.0
    analog = butter(2, 2 * math.pi * cutoff, analog=True)
    discrete = cont2discrete(analog, step / 1e9, 'foh')
    expected = lfilter(discrete[0].ravel(), discrete[1], values, axis=0)
    np.testing.assert_allclose(filtered(values, step, cutoff), expected, rtol=0, atol=1e-10)


def test_what_is_constant_passes_from_the_first_sample_on():
    values = np.full((5, 2), 3.5)
    np.testing.assert_allclose(filtered(values), values, rtol=1e-12)


@pytest.mark.parametrize('step', [MILLISECOND, 7 * MILLISECOND])
def test_a_ramp_comes_out_late_by_the_delay(step):
    low_pass = CausalLowPass(20.0)
    for time in np.arange(400) * step / 1e9:
        value = low_pass.update(step, np.array([2.0 * time]))[0]
    assert value == pytest.approx(2.0 * (time - low_pass.delay), abs=1e-9)
    assert low_pass.slope[0] == pytest.approx(2.0, abs=1e-9)
    assert low_pass.delay == pytest.approx(math.sqrt(2) / (2 * math.pi * 20.0))


def test_half_the_power_is_left_at_the_cutoff():
    time = np.arange(4000)[:, None] * 1e-3
    passed = filtered(np.sin(2 * math.pi * 40.0 * time))[1000:]
    assert np.sqrt(np.mean(passed**2)) == pytest.approx(0.5, rel=2e-2)


def test_a_shift_is_as_if_it_had_always_been_so():
    values = np.random.default_rng(2).normal(size=(50, 2))
    offset = np.array([1.0, -2.0])
    plain, shifted = CausalLowPass(30.0), CausalLowPass(30.0)
    for row in values[:25]:
        plain.update(MILLISECOND, row)
        shifted.update(MILLISECOND, row)
    shifted.shift(offset)
    for row in values[25:]:
        np.testing.assert_allclose(
            shifted.update(MILLISECOND, row + offset),
            plain.update(MILLISECOND, row) + offset,
            atol=1e-12,
        )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.integers(1, 40))
def test_blocks_are_as_one_by_one_at_any_steps(seed, is_even, size):
    random = np.random.default_rng(seed)
    values = random.normal(size=(80, 3))
    steps = (
        np.full(80, MILLISECOND)
        if is_even
        else random.integers(MILLISECOND // 2, 2 * MILLISECOND, 80)
    )
    one, many = CausalLowPass(40.0), CausalLowPass(40.0)
    single = np.array([one.update(int(step), row) for step, row in zip(steps, values)])
    blocks = [
        many.update_block(steps[row : row + size], values[row : row + size])
        for row in range(0, 80, size)
    ]
    np.testing.assert_allclose(np.concatenate(blocks), single, rtol=0, atol=1e-12)


def test_bad_input():
    for cutoff in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ValueRangeError):
            CausalLowPass(cutoff)
    with pytest.raises(ShapeError):
        _ = CausalLowPass(10.0).slope
    assert CausalLowPass(10.0).update_block(np.zeros(0, int), np.zeros((0, 3))).shape == (0, 3)
