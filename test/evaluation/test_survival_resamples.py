# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Resamples of episodes against a slow model that builds each of them."""

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.evaluation import (
    human_relative_throughput,
    kaplan_meier,
    ks_distance,
    macro_ks,
    probability_faster,
)
from frame_ros.evaluation.survival.bootstrap import (
    bootstrap_pair,
    bootstrap_scalars,
    bootstrap_throughput,
    cdf_band,
    episode_draws,
    percentiles,
)
from frame_ros.evaluation.survival.cell import Cell
from frame_ros.evaluation.survival.macro_ks import pooled_null, resampled_p, stream
from frame_ros.evaluation.survival.pool import (
    arm_statistics,
    curve_statistics,
    draw_episodes,
    pool_of,
)

INF = math.inf
TAU = 9.0
KINDS = st.sampled_from(['done', 'done', 'censored', 'ghost'])
EPISODES = st.lists(
    st.lists(st.tuples(st.integers(0, 12), KINDS), min_size=1, max_size=5), min_size=1, max_size=6
)


def cell_of(episodes):
    rows = [(number, *row) for number, each in enumerate(episodes) for row in each]
    times = [INF if kind == 'ghost' else float(time) for _, time, kind in rows]
    events = [kind != 'censored' for _, _, kind in rows]
    return Cell(np.array(times), np.array(events), np.array([number for number, *_ in rows]))


def random_cell(random, episodes=12, operations=4, scale=40.0):
    count = episodes * operations
    times = np.where(random.random(count) < 0.1, INF, random.exponential(scale, count))
    events = (random.random(count) < 0.8) | np.isinf(times)
    return Cell(times, events, np.repeat(np.arange(episodes), operations))


def picked(cells, draw):
    """Times and events of drawn episodes, of cells one after the other."""
    episodes = [
        (cell.times[cell.episodes == number], cell.events[cell.episodes == number])
        for cell in cells
        for number in range(cell.episodes[-1] + 1)
    ]
    return tuple(np.concatenate(each) for each in zip(*(episodes[number] for number in draw)))


@settings(max_examples=50, deadline=None)
@given(EPISODES, EPISODES, st.integers(0, 1000))
def test_two_arms_are_those_of_every_resample_built(first, second, seed):
    cells = cell_of(first), cell_of(second)
    pool = pool_of(*cells)
    random = np.random.default_rng(seed)
    draws = [random.integers(pool.count, size=(5, size)) for size in pool.counts]
    found = arm_statistics(pool, *draws, TAU)
    for row, arms in enumerate(zip(*draws)):
        a, b = (picked(cells, arm) for arm in arms)
        assert found.ks[row] == pytest.approx(ks_distance(a, b, TAU), abs=1e-12)
        curves = kaplan_meier(*a), kaplan_meier(*b)
        rmst = curves[0].restricted_mean(TAU) - curves[1].restricted_mean(TAU)
        assert found.rmst_difference[row] == pytest.approx(rmst, abs=1e-11)
        completion = curves[0].cdf(TAU) - curves[1].cdf(TAU)
        assert found.completion_difference[row] == pytest.approx(completion, abs=1e-12)
        assert found.faster[row] == pytest.approx(probability_faster(a, b, TAU), abs=1e-12)


@settings(max_examples=50, deadline=None)
@given(EPISODES, st.integers(0, 1000))
def test_one_arm_is_that_of_every_resample_built(episodes, seed):
    cell = cell_of(episodes)
    pool = pool_of(cell)
    draws = np.random.default_rng(seed).integers(pool.count, size=(5, pool.count + 1))
    grid = np.array([0.0, 2.0, 2.5, TAU, TAU, 100.0])
    found = curve_statistics(pool, draws, TAU, grid)
    for row, draw in zip(found, draws):
        curve = kaplan_meier(*picked([cell], draw))
        assert row[0] == pytest.approx(curve.restricted_mean(TAU), abs=1e-11)
        before = 1.0 - curve.survival_at(TAU, is_before=True)
        assert row[1:3] == pytest.approx([curve.cdf(TAU), before], abs=1e-12)
        assert row[3] == curve.median
        assert row[4:] == pytest.approx(curve.cdf(grid), abs=1e-12)


def test_threads_change_no_bit_and_the_first_resamples_do_not_depend_on_their_number():
    random = np.random.default_rng(0)
    a, b = random_cell(random), random_cell(random)
    alone, together = (pooled_null(a, b, 60.0, 333, 7, workers) for workers in (1, 3))
    for name, values in vars(alone).items():
        assert np.array_equal(values, vars(together)[name])
    more = pooled_null(a, b, 60.0, 500, 7)
    assert np.array_equal(more.ks[:333], alone.ks)
    drawn = [draw_episodes(stream(3, 'x'), 10, 4, count) for count in (1001, 3000)]
    assert np.array_equal(drawn[0], drawn[1][:1001])
    assert set(np.unique(drawn[1])) == set(range(10))


def test_the_same_without_numba():
    script = (
        'import sys\n'
        'if sys.argv[1] == "without":\n'
        '    sys.modules["numba"] = None\n'
        'import numpy as np\n'
        'from frame_ros.evaluation import macro_ks\n'
        'from frame_ros.evaluation.survival.bootstrap import bootstrap_scalars\n'
        'random = np.random.default_rng(0)\n'
        'a, b = ((random.exponential(40, 30), random.random(30) < 0.8) for _ in range(2))\n'
        'found = macro_ks({"x": a}, {"x": b}, 60.0, 20)\n'
        'scalars = bootstrap_scalars(a, 60.0, (10.0, 30.0), 20)\n'
        'print([found.p, *(each.resamples.tolist() for each in scalars.values())])\n'
    )
    results = [
        subprocess.run(
            [sys.executable, '-c', script, how], capture_output=True, text=True, check=True
        ).stdout
        for how in ('with', 'without')
    ]
    assert results[0] == results[1] and 'nan' not in results[0]


def test_macro_ks_by_its_definition():
    random = np.random.default_rng(1)
    a = {name: random_cell(random, 6) for name in 'xyz'}
    b = {name: random_cell(random, 8, scale=90.0) for name in 'yxw'}
    found = macro_ks(a, b, 60.0, 50, seed=4)
    assert (found.only_first, found.only_second) == (('z',), ('w',))
    nulls = []
    for name in 'xy':
        row, cells = found.per_object[name], (a[name], b[name])
        observed = ks_distance(*cells, 60.0)
        assert row.supremum.distance == pytest.approx(observed, abs=1e-12)
        assert row.episodes == (6, 8)
        draws = draw_episodes(stream(4, name), 14, 14, 50)
        slow = [ks_distance(picked(cells, d[:6]), picked(cells, d[6:]), 60.0) for d in draws]
        assert row.p == (1 + sum(value >= observed - 1e-12 for value in slow)) / 51
        nulls.append(slow)
    distance = np.mean([found.per_object[name].supremum.distance for name in 'xy'])
    assert found.distance == pytest.approx(distance)
    count = (np.mean(nulls, axis=0) >= distance - 1e-12).sum()
    assert found.p == (1 + count) / 51


def test_a_test_over_no_shared_object_has_no_value():
    cell = [1.0, 2.0], [1, 1]
    found = macro_ks({'x': cell}, {'y': cell}, 10.0, 10)
    assert math.isnan(found.distance) and math.isnan(found.p) and not found.per_object
    assert (found.only_first, found.only_second) == (('x',), ('y',))


def test_an_object_whose_name_is_no_text_has_a_stream_of_its_own():
    sample = [1.0, 2.0], [1, 1]
    assert macro_ks({'\ud800': sample}, {'\ud800': sample}, resamples=20).p == 1.0


def test_p_values_of_equal_and_of_different_policies():
    random = np.random.default_rng(2)
    a = {'x': random_cell(random)}
    assert macro_ks(a, a, 60.0, 99).p == 1.0
    never = {'x': ([INF] * 40, [1] * 40)}
    assert macro_ks(a, never, 60.0, 99).p == 0.01
    # No success anywhere: every distance is 0.
    assert macro_ks(never, never, 60.0, 99).p == 1.0
    assert math.isnan(macro_ks(a, never, 60.0, 0).p)


def test_p_counts_the_observed_one_and_takes_rounding_as_a_tie():
    null = np.array([0.1, 0.2, 0.3 - 1e-16, 0.4])
    assert resampled_p(0.3, null) == 3 / 5
    assert resampled_p([0.0, 0.5], np.array([null, null])).tolist() == [1.0, 0.2]


def test_scalars_have_intervals_of_whole_episodes():
    random = np.random.default_rng(3)
    # Episodes whose operations are all the same: as many independent values as episodes.
    times = np.repeat(random.exponential(30.0, 20), 6)
    clustered = Cell(times, np.ones(120, bool), np.repeat(np.arange(20), 6))
    whole = bootstrap_scalars(clustered, 100.0, (10.0,), 400, seed=1)
    apart = bootstrap_scalars((times, np.ones(120)), 100.0, (10.0,), 400, seed=1)
    for id, each in whole.items():
        assert each.lower <= each.value <= each.upper and len(each.resamples) == 400
        assert each.value == pytest.approx(apart[id].value, abs=1e-9)
    widths = [each['rmst'].upper - each['rmst'].lower for each in (whole, apart)]
    assert 1.8 < widths[0] / widths[1] < 3.2  # sqrt(6)
    curve = kaplan_meier(*clustered[:2])
    assert whole['rmst'].value == pytest.approx(curve.restricted_mean(100.0))
    assert whole['median'].value == curve.median
    assert whole['units_per_hour'].value == pytest.approx(curve.units_per_hour(100.0))
    completed = curve.units_per_hour(100.0, 'completed')
    assert whole['units_per_hour_completed'].value == pytest.approx(completed)
    assert whole['mtbf_a'].value == pytest.approx(curve.mtbf_a(100.0))
    assert whole['success_at_10'].value == pytest.approx(curve.cdf(10.0))


def test_the_interval_of_a_mean_is_that_of_its_resamples():
    """All done before tau: RMST is the mean time."""
    random = np.random.default_rng(4)
    cell = Cell(random.uniform(1, 50, 30), np.ones(30, bool), np.repeat(np.arange(10), 3))
    found = bootstrap_scalars(cell, 100.0, resamples=200, seed=5, name='n')['rmst']
    draws = episode_draws(cell, 200, 5, 'n')[1:]
    means = cell.times.reshape(10, 3).mean(axis=1)[draws].mean(axis=1)
    assert found.resamples == pytest.approx(means, abs=1e-10)
    assert (found.lower, found.upper) == pytest.approx(np.quantile(means, (0.025, 0.975)))


def test_bands_are_those_of_success_at_the_time():
    cell = random_cell(np.random.default_rng(5))
    band = cdf_band(cell, [0.0, 20.0, 60.0], 100, 3, 'x')
    at = bootstrap_scalars(cell, 60.0, (20.0,), 100, 3, 'x')['success_at_20']
    assert (band.cdf[1], band.lower[1], band.upper[1]) == (at.value, at.lower, at.upper)
    assert (band.lower[0], band.upper[0]) == (0.0, 0.0)
    assert len(cdf_band(cell, []).times) == 0


def test_throughput_and_pairs_have_intervals():
    random = np.random.default_rng(6)
    policy = {name: random_cell(random) for name in 'xyz'}
    human = {name: random_cell(random, scale=8.0) for name in 'yxw'}
    found = bootstrap_throughput(policy, human, 60.0, 200)
    plain = human_relative_throughput(policy, human, 60.0)
    for name, ratio in plain.per_object.items():
        each = found.per_object[name]
        assert each.value == pytest.approx(ratio, abs=1e-12)
        assert each.lower < each.value < each.upper
    assert found.macro.value == pytest.approx(plain.macro, abs=1e-12)
    assert found.macro.lower < found.macro.value < found.macro.upper
    assert (found.only_policy, found.only_human) == (('z',), ('w',))
    pair = bootstrap_pair(policy['x'], human['x'], 60.0, 200)
    assert pair['faster'].value == pytest.approx(
        probability_faster(policy['x'], human['x'], 60.0), abs=1e-12
    )
    assert pair['faster'].upper < 0.5 and pair['rmst_difference'].lower > 0
    assert pair['ks'].value == pytest.approx(ks_distance(policy['x'], human['x'], 60.0), abs=1e-12)
    nothing = bootstrap_throughput({'x': policy['x']}, {'w': human['w']})
    assert math.isnan(nothing.macro.value) and not nothing.per_object


def test_one_episode_has_no_interval():
    one = Cell(np.array([5.0, 7.0]), np.ones(2, bool), np.zeros(2, int))
    found = bootstrap_scalars(one, 60.0)
    assert found['rmst'].value == 6.0
    assert all(math.isnan(each.lower) and math.isnan(each.upper) for each in found.values())
    assert all(math.isnan(each) for each in cdf_band(one, [6.0]).lower)
    assert math.isnan(bootstrap_throughput({'x': one}, {'x': one}).macro.lower)
    assert 0 < macro_ks({'x': one}, {'x': one}, 60.0, 20).p <= 1.0


def test_resamples_that_all_agree_are_no_interval():
    """Ten successes in ten say nothing of the eleventh; the band of the CDF has no width there."""
    cell = Cell(np.arange(1.0, 11.0), np.ones(10, bool), np.arange(10))
    found = bootstrap_scalars(cell, 60.0, (30.0,), 50)
    for each in (found['completion'], found['success_at_30']):
        assert each.value == 1.0 and math.isnan(each.lower) and math.isnan(each.upper)
    assert found['rmst'].lower < 5.5 < found['rmst'].upper
    assert math.isnan(percentiles(np.full(50, 0.1 + 0.2) + np.arange(50) % 2 * 1e-17, 10)[0])
    band = cdf_band(cell, [60.0], 50)
    assert (band.lower[0], band.upper[0]) == (1.0, 1.0)


def test_cells_without_success_have_what_is_defined():
    for events, times in ((0, 60.0), (1, INF)):
        cell = Cell(np.full(6, times), np.full(6, events == 1), np.repeat(np.arange(3), 2))
        found = bootstrap_scalars(cell, 60.0, (30.0,), 50)
        for id, value in (('rmst', 60.0), ('success_at_30', 0.0), ('median', INF)):
            assert found[id].value == value and math.isnan(found[id].lower)
        assert math.isnan(found['units_per_hour_completed'].value)
        assert math.isnan(found['units_per_hour_completed'].lower)


def test_percentiles_where_some_resamples_have_no_value():
    values = np.arange(1.0, 101.0)
    assert percentiles(values, 2) == pytest.approx(np.quantile(values, (0.025, 0.975)))
    few, many = values.copy(), values.copy()
    few[:5], many[:6] = np.nan, np.nan
    assert not math.isnan(percentiles(few, 2)[0]) and math.isnan(percentiles(many, 2)[0])
    values[-4:] = INF
    lower, upper = percentiles(values, 2)
    assert (lower, upper) == (3.0, INF)
    with pytest.raises(ValueRangeError, match='confidence'):
        percentiles(values, 2, 1.0)


def test_arguments_that_cannot_be_meant_are_refused():
    cell = random_cell(np.random.default_rng(7), 3)
    pool = pool_of(cell, cell)
    rows = np.zeros((2, 3), int)
    for call, error in (
        (lambda: arm_statistics(pool, rows, rows[:1], 9.0), ShapeError),
        (lambda: arm_statistics(pool, rows, rows[:, :0], 9.0), ShapeError),
        (lambda: arm_statistics(pool, rows, rows.astype(float), 9.0), ShapeError),
        (lambda: arm_statistics(pool, rows, rows + 6, 9.0), ValueRangeError),
        (lambda: arm_statistics(pool, rows - 1, rows, 9.0), ValueRangeError),
        (lambda: arm_statistics(pool, rows, rows, INF), ValueRangeError),
        (lambda: curve_statistics(pool, rows, 9.0, [2.0, 1.0]), ValueRangeError),
        (lambda: macro_ks({'x': cell}, {'x': cell}, 9.0, -1), ValueRangeError),
        (lambda: macro_ks({'x': cell}, {'x': cell}, 9.0, seed=-1), ValueRangeError),
        (lambda: macro_ks([cell], [cell], 9.0), ShapeError),
        (lambda: bootstrap_scalars(cell, 9.0, (-1.0,)), ValueRangeError),
        (lambda: bootstrap_scalars(cell, 9.0, resamples=1.5), ValueRangeError),
        (lambda: cdf_band(cell, [[1.0]]), ShapeError),
    ):
        with pytest.raises(error):
            call()
