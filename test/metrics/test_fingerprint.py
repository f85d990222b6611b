# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The fingerprint against FRAME's table 3, worked by hand, and its properties."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics import REGISTRY, area_range, fingerprint, polygon_area, ratio_to_best

AXES = ('sr', 'pl', 'ps', 'cc', 'ate', 'rte', 'il', 'mu')
TABLE_3 = {
    'Diff. (kp)': (72.7, 1653.4, 0.296, 0.426, 175.2, 12.5, 7.0, 1670.6),
    'Diff. (px)': (63.0, 1858.3, 0.276, 0.397, 172.3, 12.7, 65.0, 2067.6),
    'VQ-BeT': (58.0, 1842.0, 0.380, 0.732, 175.4, 12.4, 1.0, 2075.9),
    'ACT': (34.0, 2105.4, 0.353, 0.679, 178.9, 12.6, 1.0, 2113.5),
}
# The quotients of eq. 16 and 17, written out.
BY_HAND = {
    'Diff. (kp)': (1, 1, 0.276 / 0.296, 0.397 / 0.426, 172.3 / 175.2, 12.4 / 12.5, 1 / 7, 1),
    'Diff. (px)': (63 / 72.7, 1653.4 / 1858.3, 1, 1, 1, 12.4 / 12.7, 1 / 65, 1670.6 / 2067.6),
    'VQ-BeT': (58 / 72.7, 1653.4 / 1842, 0.276 / 0.38, 0.397 / 0.732, 172.3 / 175.4, 1, 1,
               1670.6 / 2075.9),
    'ACT': (34 / 72.7, 1653.4 / 2105.4, 0.276 / 0.353, 0.397 / 0.679, 172.3 / 178.9, 12.4 / 12.6,
            1, 1670.6 / 2113.5),
}  # fmt: skip

values_of_policies = st.lists(st.floats(1e-6, 1e6), min_size=2, max_size=6)
radii_of_axes = st.lists(st.floats(0, 1), min_size=3, max_size=7)


def table_3():
    return fingerprint({name: dict(zip(AXES, row)) for name, row in TABLE_3.items()})


def test_the_papers_table_by_hand():
    found = table_3()
    assert found.axes == found.common_axes == AXES
    for policy, shares in BY_HAND.items():
        assert list(found.normalised[policy].values()) == pytest.approx(shares, rel=1e-12)
    assert found.reasons == {policy: {} for policy in TABLE_3} and found.excluded == {}
    assert found.normalised['ACT']['sr'] == pytest.approx(0.4677, abs=5e-5)
    assert found.normalised['Diff. (px)']['il'] == pytest.approx(0.0154, abs=5e-5)


def test_the_profiles_that_the_paper_describes():
    shares = table_3().normalised
    act, vq_bet, keypoints = (shares[name] for name in ('ACT', 'VQ-BeT', 'Diff. (kp)'))
    # ACT: efficient, but of half the best success. VQ-BeT: nothing on the floor. Diffusion (key
    # points): (nearly) the best wherever it is not about speed.
    assert act['il'] == 1 and min(act, key=act.get) == 'sr' and act['sr'] < 0.5
    assert min(vq_bet.values()) > 0.5 and min(act.values()) < min(vq_bet.values())
    assert all(share > 0.93 for axis, share in keypoints.items() if axis != 'il')
    assert np.mean([*vq_bet.values()]) > np.mean([*act.values()])


def test_the_order_of_the_axes_decides_which_polygon_is_larger():
    found = table_3()
    for policy in TABLE_3:
        least, greatest = found.area_range(policy)
        assert least <= found.area(policy) <= greatest
    # In most orders the pixel policy covers more than ACT, in a few ACT covers more.
    orders = np.array([(0, *rest) for rest in itertools.permutations(range(1, len(AXES)))])
    pixels, act = (polygon_area(found.radii(name)[orders]) for name in ('Diff. (px)', 'ACT'))
    assert 0.02 < np.mean(act > pixels) < 0.03
    assert found.area('Diff. (kp)') == pytest.approx(
        sum(a * b for a, b in zip(BY_HAND['Diff. (kp)'], np.roll(BY_HAND['Diff. (kp)'], -1))) / 8
    )


def test_polygon_area_by_hand():
    assert polygon_area([1, 1, 1, 1]) == 1
    assert polygon_area([0.5] * 6) == pytest.approx(0.25)
    # A square with corners 1, 0, 1, 0 is a line; 1, 1, 0, 0 is one of its four triangles.
    assert polygon_area([1, 0, 1, 0]) == 0
    assert polygon_area([1, 1, 0, 0]) == 0.25
    assert area_range([1, 0, 1, 0]) == (0, 0.25)
    np.testing.assert_allclose(polygon_area(np.array([[1, 1, 1], [0.5, 1, 0]])), [1, 1 / 6])


def test_area_is_that_of_the_drawn_polygon():
    radii = np.random.default_rng(3).random(9)
    angles = 2 * math.pi * np.arange(9) / 9
    x, y = radii * np.cos(angles), radii * np.sin(angles)
    drawn = 0.5 * abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))
    full = 0.5 * 9 * math.sin(2 * math.pi / 9)
    assert polygon_area(radii) == pytest.approx(drawn / full)


@given(radii_of_axes)
def test_area_range_is_that_of_all_orders(radii):
    orders = np.array([(0, *rest) for rest in itertools.permutations(range(1, len(radii)))])
    areas = polygon_area(np.array(radii)[orders])
    assert area_range(radii) == pytest.approx((areas.min(), areas.max()), abs=1e-12)


@given(values_of_policies, st.booleans(), st.floats(1e-3, 1e3))
def test_a_unit_changes_nothing_and_the_best_is_1(values, higher_is_better, scale):
    shares = ratio_to_best(values, higher_is_better)
    assert shares.max() == 1 and (shares > 0).all()
    best = np.argmax(values) if higher_is_better else np.argmin(values)
    assert shares[best] == 1
    np.testing.assert_allclose(ratio_to_best(np.array(values) * scale, higher_is_better), shares)


def test_zeros():
    np.testing.assert_array_equal(ratio_to_best([0, 4, 2], True), [0, 1, 0.5])
    np.testing.assert_array_equal(ratio_to_best([0, 4, 0], False), [1, 0, 1])
    np.testing.assert_array_equal(ratio_to_best([0, 0], False), [1, 1])
    np.testing.assert_array_equal(ratio_to_best([0, 0], True), [np.nan, np.nan])
    found = fingerprint({'a': {'sr': 0, 'cr': 0}, 'b': {'sr': 0, 'cr': 0.1}})
    assert 'every policy has 0' in found.excluded['sr'] and found.common_axes == ('cr',)
    assert found.normalised['b']['cr'] == 0 and math.isnan(found.normalised['a']['sr'])


def test_what_is_missing_is_unavailable_and_not_0():
    found = fingerprint(
        {'a': {'sr': 1, 'pl': None, 'op': 0.1}, 'b': {'sr': 0.5, 'pl': 2, 'op': math.inf}, 'c': {}}
    )
    assert math.isnan(found.normalised['a']['pl'])
    assert found.reasons['a'] == {'pl': 'no value'}
    assert found.reasons['b'] == {'op': 'the value is infinite'}
    assert set(found.reasons['c']) == {'sr', 'pl', 'op'}
    assert found.normalised['b']['pl'] == 1
    assert found.common_axes == () and math.isnan(found.area('a')) and math.isnan(found.mean('a'))


def test_negative_values_exclude_the_axis():
    found = fingerprint({'a': {'op': -0.01, 'pl': 1}, 'b': {'op': 0.1, 'pl': 2}})
    assert 'negative' in found.excluded['op'] and found.common_axes == ('pl',)
    assert found.mean('b') == 0.5
    with pytest.raises(ValueRangeError, match='negative'):
        ratio_to_best([0.1, -0.1], True)


def test_a_single_policy_is_no_comparison():
    found = fingerprint({'a': {'sr': 0.2, 'pl': 7, 'ti': 9}})
    assert not found.is_comparison and set(found.normalised['a'].values()) == {1.0}
    assert table_3().is_comparison


def test_metrics_without_a_direction_are_refused():
    assert REGISTRY['control_rate'].higher_is_better is None
    with pytest.raises(ValueRangeError, match='control_rate has no better direction'):
        fingerprint({'a': {'control_rate': 30}, 'b': {'control_rate': 20}})
    with pytest.raises(ValueRangeError, match="'reward'"):
        fingerprint({'a': {'reward': 1}, 'b': {'reward': 2}})
    found = fingerprint({'a': {'reward': 1}, 'b': {'reward': 2}}, {'reward': True})
    assert found.normalised['a']['reward'] == 0.5
    with pytest.raises(ValueRangeError, match='no policy'):
        fingerprint({})


def test_shapes_are_checked():
    with pytest.raises(ShapeError, match='at least 3 axes'):
        polygon_area([1, 1])
    with pytest.raises(ShapeError, match=r'\(n,\)'):
        area_range(np.ones((2, 4)))
    with pytest.raises(ValueRangeError, match='outside'):
        polygon_area([1, 2, 0.5])
    with pytest.raises(ShapeError, match=r'\(\.\.\., P\)'):
        ratio_to_best(np.empty((2, 0)), True)
    batch = ratio_to_best([[1, 2], [3, np.nan]], False)
    np.testing.assert_array_equal(batch, [[1, 0.5], [1, np.nan]])
