# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contacts against limits of force and pressure: hand-worked, and against a loop over contacts."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frame_ros.core.errors import ValueRangeError
from frame_ros.metrics import ContactLimitRatio, ContactLimits


def fed(limits, samples):
    ratio = ContactLimitRatio(limits)
    for sample in samples:
        ratio.update(*sample)
    return ratio


def test_twice_the_limit_is_allowed_for_half_a_second_and_no_longer():
    limits = ContactLimits(force=65.0)
    short = fed(limits, [(0.0, True, 120.0), (0.4, True, 30.0), (0.5, False, 0.0)])
    assert short.force_ratio == pytest.approx(120.0 / 130.0)
    assert short.exceedances == 0
    long = fed(limits, [(0.0, True, 60.0), (0.5, True, 60.0), (0.51, True, 70.0)])
    assert long.force_ratio == pytest.approx(70.0 / 65.0)
    assert long.exceedances == 1


def test_a_contact_counts_once_and_a_new_one_again():
    push = [(0.0, True, 50.0), (0.1, True, 60.0), (0.2, False, 0.0)]
    again = [(t + 1.0, touches, force) for t, touches, force in push]
    assert fed(ContactLimits(force=20.0), push).exceedances == 1
    assert fed(ContactLimits(force=20.0), push + again).exceedances == 2


def test_pressure_is_force_over_the_area_given():
    # 10 N over 1 cm^2 are 100 kPa.
    ratio = fed(ContactLimits(pressure=200e3, area=1e-4), [(0.0, True, 10.0), (0.6, True, 10.0)])
    assert ratio.pressure_ratio == pytest.approx(0.5)
    assert math.isnan(ratio.force_ratio)


def test_the_peak_counts_while_the_contact_is_short():
    limits = ContactLimits(force=10.0)
    assert fed(limits, [(0.0, True, 5.0, 15.0)]).force_ratio == pytest.approx(0.75)
    late = [(0.0, True, 5.0, 5.0), (1.0, True, 6.0, 15.0)]
    assert fed(limits, late).force_ratio == pytest.approx(0.6)


def test_without_a_limit_or_a_force_nothing_is_known():
    assert math.isnan(fed(ContactLimits(), [(0.0, True, 500.0)]).force_ratio)
    unmeasured = fed(ContactLimits(force=10.0), [(0.0, True, math.nan), (0.1, False, math.nan)])
    assert math.isnan(unmeasured.force_ratio)
    assert fed(ContactLimits(force=10.0), [(0.0, False, 0.1)]).force_ratio == 0.0


@given(st.integers(0, 2**32 - 1))
def test_it_equals_a_loop_over_whole_contacts(seed):
    rng = np.random.default_rng(seed)
    count = 60
    times = np.cumsum(rng.uniform(0.05, 0.2, count))
    touches = np.repeat(rng.random(count // 10) < 0.6, 10)
    forces = rng.uniform(0.0, 40.0, count)
    limits = ContactLimits(force=15.0, transient_factor=2.0, transient_time=0.5)
    found = fed(limits, zip(times.tolist(), touches.tolist(), forces.tolist(), strict=True))
    edges = np.flatnonzero(np.diff(np.concatenate(([0], touches.astype(int), [0]))))
    worst, exceeding = [0.0] if not touches.all() else [], 0
    for begin, end in edges.reshape(-1, 2):
        elapsed = times[begin:end] - times[begin]
        ratios = forces[begin:end] / np.where(elapsed <= 0.5, 30.0, 15.0)
        worst.append(ratios.max())
        exceeding += bool(ratios.max() > 1.0)
    assert found.force_ratio == pytest.approx(max(worst))
    assert found.exceedances == exceeding


@pytest.mark.parametrize(
    ('settings', 'words'),
    [
        ({'force': -1.0}, 'not negative'),
        ({'force': math.nan}, 'finite'),
        ({'pressure': 1e5}, 'contact area'),
        ({'transient_factor': 0.5}, '1 or more'),
    ],
)
def test_limits_that_cannot_be_are_refused(settings, words):
    with pytest.raises(ValueRangeError, match=words):
        ContactLimits(**settings)
