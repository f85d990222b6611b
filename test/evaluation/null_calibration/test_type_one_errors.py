# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Generated episodes, scenarios without a difference, and the errors that are counted in them."""

import math
from dataclasses import replace

import attrs
import numpy as np
import pytest

from frame_ros.core.errors import ShapeError
from frame_ros.evaluation.null_calibration.calibration import (
    BOSCHLOO,
    LOGRANK,
    MCNEMAR,
    PERMUTED,
    SHARED_SCENES,
    NullOptions,
    generated_calibration,
    null_calibration,
)
from frame_ros.evaluation.null_calibration.generated import (
    GeneratedOptions,
    generated_cells,
    generated_outcomes,
)
from frame_ros.evaluation.null_calibration.scenarios import NullKind, scenarios_of, shuffled
from frame_ros.evaluation.planning.pooled_tests import KS
from frame_ros.evaluation.survival.samples import as_cell

# Discrete tests, and one whose objects, of which both arms have equal shares, are mixed.
CONSERVATIVE = (BOSCHLOO, MCNEMAR, LOGRANK['pooled'])
SMALL = GeneratedOptions(objects=2, episodes=8, operations=3)


def test_generated_episodes_are_the_same_for_one_seed():
    first, second, other = (generated_outcomes(SMALL, seed) for seed in (3, 3, 4))
    assert first == second != other
    assert len(first) == 2 * 2 * 8 and len({each.name for each in first}) == len(first)
    assert {each.pair for each in first} == {f'scene {k}' for k in range(8)}


def test_generated_cells_hold_ghosts_censored_and_correlated_operations():
    options = GeneratedOptions(objects=1, episodes=4000)
    cell = as_cell(generated_cells(options, np.random.default_rng(0))['object 1'])
    assert np.isinf(cell.times).mean() == pytest.approx(options.drop_rate, abs=0.01)
    assert cell.events[np.isinf(cell.times)].all()
    slow = GeneratedOptions(objects=1, episodes=400, median=40.0)
    cell = generated_cells(slow, np.random.default_rng(0))['object 1']
    assert 0.1 < (~cell.events).mean() < 0.6 and cell.times[~cell.events].max() <= 150.0
    # Neighbours of one episode, without the drops.
    plain = attrs.evolve(options, drop_rate=0.0, duration=1e6, objects=2)
    cell = generated_cells(plain, np.random.default_rng(0))['object 1']
    logs = np.log(cell.times.reshape(-1, 8))
    assert np.corrcoef(logs[:, 0], logs[:, 5])[0, 1] == pytest.approx(0.3, abs=0.05)
    assert np.median(cell.times) == pytest.approx(0.7 * 12.0, rel=0.05)


def test_shuffling_keeps_the_groups_in_their_places():
    groups = np.array([1, 0, 1, 2, 0, 1, 2, 1])
    found = shuffled(groups, 200, np.random.default_rng(0))
    assert (np.sort(found, axis=1) == np.arange(8)).all()
    assert (groups[found] == groups).all()
    # Every member comes to every place of its group.
    assert set(found[:, 0]) == {0, 2, 5, 7} and set(found[:, 3]) == {3, 6}


def test_halves_have_no_episode_in_common_and_permutations_keep_their_blocks():
    outcomes = [
        replace(each, conditions={'tote': 'left' if int(each.name.split()[-1]) % 3 else 'right'})
        for each in generated_outcomes(SMALL, 0)
    ]
    outcomes = [each for each in outcomes if each.name not in ('a object 1 0', 'b object 2 3')]
    outcomes = [replace(each, is_human=each.policy == 'b') for each in outcomes]
    outcomes += [replace(e, name=f'c{e.name}', policy='c') for e in outcomes if e.policy == 'a']
    scenarios, remarks = scenarios_of(outcomes, 50, 0, ['tote'])
    kinds = [(each.name, each.kind) for each in scenarios]
    assert kinds == [
        ('a', NullKind.SPLIT),
        ('c', NullKind.SPLIT),
        ('b', NullKind.HUMAN_SPLIT),
        ('a and c', NullKind.PERMUTATION),
    ]
    assert not remarks
    halves = scenarios[0]
    assert halves.first['object 1'].shape == halves.second['object 1'].shape == (50, 3)
    together = np.concatenate([halves.first['object 2'], halves.second['object 2']], axis=1)
    assert (np.sort(together, axis=1) == np.arange(8)).all()
    rows = [each for each in outcomes if each.policy in 'ac' and each.object == 'object 1']
    totes = np.array([each.conditions['tote'] for each in rows])
    first = scenarios[3].first['object 1']
    assert ((totes[first] == 'left').sum(axis=1) == (totes[:7] == 'left').sum()).all()


def test_pairs_are_those_of_both_policies():
    (scenario,) = (
        each
        for each in scenarios_of(generated_outcomes(SMALL, 0), 10, 0)[0]
        if each.kind is NullKind.PERMUTATION
    )
    assert (scenario.pairs['object 1'] == np.stack([np.arange(8), np.arange(8, 16)], axis=1)).all()


def test_episodes_without_times_and_small_objects_are_named():
    outcomes = generated_outcomes(SMALL, 0)
    outcomes[0] = replace(outcomes[0], operations=())
    few = [replace(each, object='rare', name=f'r{each.name}') for each in outcomes[1:3]]
    _, remarks = scenarios_of([*outcomes, *few], 10, 0)
    assert remarks[0] == 'left out: 1 episode without times'
    assert 'a: fewer than 4 episodes of rare: not split' in remarks


def test_errors_are_about_nominal_where_operations_are_independent():
    """Also those of the logrank test, which needs that."""
    options = GeneratedOptions(objects=2, episodes=10, operations=3, correlation=0.0)
    found = generated_calibration(NullOptions(trials=100, resamples=100, seed=5), options)
    for row in found.rows:
        low, high = row.intervals[1]
        assert low <= 0.08 and row.rates[1] <= row.rates[2], row
        assert row.test in CONSERVATIVE or high >= 0.03, row
        assert row.trials == 100 and 0.0 <= row.mean_p <= 1.0
    tests = {row.test for row in found.rows if row.scenario == SHARED_SCENES}
    assert {PERMUTED, KS, MCNEMAR, BOSCHLOO} < tests


def test_recorded_episodes_are_calibrated_on_and_repeat():
    outcomes = generated_outcomes(SMALL, 0)
    done = []
    options = NullOptions(trials=40, resamples=100)
    first = null_calibration(outcomes, options, progress=lambda *at: done.append(at))
    assert first.rows == null_calibration(outcomes, options).rows
    assert done == [(1, 3), (2, 3), (3, 3)]
    assert {row.scenario for row in first.rows} == {'a', 'b', 'a and b'}
    assert [row.test for row in first.rows].count(MCNEMAR) == 1
    assert [row.test for row in first.rows].count(PERMUTED) == 3
    assert all(math.isfinite(row.mean_p) for row in first.rows)


def test_nothing_to_split_is_refused():
    with pytest.raises(ShapeError, match='0 episodes cannot be split'):
        null_calibration([])
