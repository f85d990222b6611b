# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Regions are found where they are and not in noise; Sobol indices are SciPy's."""

from dataclasses import replace

import attrs
import numpy as np
import pytest
from campaign_folders import drawn_scenes

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.evaluation.scene_trials.robustness.factors import factor_effects, kruskal_p
from frame_ros.evaluation.scene_trials.robustness.regions import failure_regions
from frame_ros.evaluation.scene_trials.robustness.scene_factors import Factor
from frame_ros.evaluation.scene_trials.robustness.scene_table import SceneTable
from frame_ros.evaluation.scene_trials.robustness.sobol import first_order_shares, sobol_indices
from frame_ros.evaluation.scene_trials.robustness.sobol_design import (
    design_indices,
    placement_groups,
    sobol_design,
)
from frame_ros.scenes.generation.constraints import check_scene
from frame_ros.scenes.generation.setting import setting
from frame_ros.scenes.simulation.scene_robot import scene_robot


def table_of(rng, scenes, chance, count=6):
    """A table of scenes with factors from 0 to 1 and one choice; chance: of success."""
    x = rng.random((count, scenes))
    factors = {f'f{i}': Factor(f'f{i}', '', '', column) for i, column in enumerate(x)}
    places = rng.integers(0, 3, scenes).astype(float)
    factors['kind'] = Factor('kind', '', '', places, ('a', 'b', 'c'))
    success = (rng.random(scenes) < chance(x)).astype(float)
    return SceneTable('p', 't', 'r', 'paper', (), (), factors, success, {})


def test_noise_has_no_regions_but_as_often_as_the_level_says():
    rng = np.random.default_rng(1)
    tables = [table_of(rng, 100, lambda x: np.full(100, 0.7), 4) for _ in range(100)]
    found = sum(bool(failure_regions(each, 0.1, 99, i).found) for i, each in enumerate(tables))
    assert found <= 20  # of Bin(100, 0.1) above that with probability 0.0008
    effects = sum(any(e.is_significant for e in factor_effects(each)) for each in tables)
    assert effects <= 13  # of Bin(100, 0.05) 0.0005


def test_a_region_of_two_factors_is_found_as_one():
    rng = np.random.default_rng(2)
    table = table_of(rng, 400, lambda x: np.where((x[0] > 0.5) & (x[3] < 0.5), 0.25, 0.9))
    found = failure_regions(table)
    assert found.found[0].factors == ('f0', 'f3') and len(found.found) == 1
    assert found.found[0].lower < 0.75 / (0.25 * 0.75 + 0.75 * 0.1) < found.found[0].upper
    few = failure_regions(table_of(rng, 30, lambda x: x[0]))
    assert not few.found and 'too few' in few.reason


def test_regions_that_stand_out_as_much_are_all_named_and_counted():
    """Of 52 scenes 3 fail, in the lowest quarter of one factor and of another."""
    x, y = np.arange(52.0), np.roll(np.arange(52.0), 6)
    success = np.ones(52)
    success[[7, 9, 11]] = 0.0  # y of these is 1, 3 and 5
    factors = {name: Factor(name, '', '', column) for name, column in (('x', x), ('y', y))}
    table = SceneTable('p', 't', 'r', 'paper', (), (), factors, success, {})
    (region, *_) = failure_regions(table, level=0.2, permutations=4000).found
    assert {region.name, *region.rivals} == {'x < 12.8', 'y < 12.8'} and not region.also
    # Dealt at random, the failures all lie in one of the two outer quarters of either as often as
    # this; no other condition stands out as much.
    rng = np.random.default_rng(0)
    dealt = np.array([rng.permutation(52)[:3] for _ in range(20000)])
    quarters = [mask for each in (x, y) for mask in (each < 13, each > 38)]
    expected = np.any([mask[dealt].all(axis=1) for mask in quarters], axis=0).mean()
    assert region.p == pytest.approx(expected, abs=0.01)


def test_kruskal_is_scipys():
    from scipy.stats import kruskal

    rng = np.random.default_rng(0)
    groups = rng.integers(0, 4, 90)
    values = rng.integers(0, 5, 90) + 0.3 * groups
    expected = kruskal(*(values[groups == each] for each in range(4))).pvalue
    assert kruskal_p(values, groups) == pytest.approx(expected, rel=1e-9)


def ishigami(x):
    return np.sin(x[0]) + 7 * np.sin(x[1]) ** 2 + 0.1 * x[2] ** 4 * np.sin(x[0])


def samples(rows):
    from scipy.stats.qmc import Sobol

    points = (2 * Sobol(6, seed=1).random(rows) - 1) * np.pi
    a, b = points[:, :3].T, points[:, 3:].T
    return a, b, [np.where(np.arange(3)[:, None] == i, b, a) for i in range(3)]


def test_indices_are_scipys_and_those_of_ishigami():
    from scipy.stats import sobol_indices as reference

    a, b, mixed = samples(1024)
    results = {f'x{i}': ishigami(each) for i, each in enumerate(mixed)}
    found = sobol_indices(ishigami(a), ishigami(b), results)
    of_scipy = reference(
        func={'f_A': ishigami(a)[None], 'f_B': ishigami(b)[None],
              'f_AB': np.stack([each[None] for each in results.values()])},
        n=1024,
    )  # fmt: skip
    assert [each.first for each in found] == pytest.approx(of_scipy.first_order)
    assert [each.total for each in found] == pytest.approx(of_scipy.total_order)
    for each, first, total in zip(found, (0.3139, 0.4424, 0.0), (0.5576, 0.4424, 0.2437)):
        assert each.first_interval[0] < first < each.first_interval[1]
        assert each.total_interval[0] < total < each.total_interval[1]


def test_rows_without_a_result_are_left_out_and_counted():
    a, b, mixed = samples(512)
    results = {f'x{i}': ishigami(each) for i, each in enumerate(mixed)}
    results['x1'][::4] = np.nan
    found = {each.factor: each for each in sobol_indices(ishigami(a), ishigami(b), results)}
    assert (found['x1'].rows, found['x1'].left_out) == (384, 128) and found['x0'].left_out == 0
    assert found['x1'].total == pytest.approx(0.44, abs=0.1)
    results['x1'][16:] = np.nan
    few = sobol_indices(ishigami(a), ishigami(b), results)[1]
    assert np.isnan(few.first) and few.rows < 16
    with pytest.raises(ShapeError, match='x0 has shape'):
        sobol_indices(np.zeros(3), np.zeros(3), {'x0': np.zeros(4)})


def test_random_scenes_give_first_order_shares():
    rng = np.random.default_rng(4)
    table = table_of(rng, 1000, lambda x: x[0], 5)
    values = ishigami([(2 * f.values - 1) * np.pi for f in list(table.factors.values())[:3]])
    found = {each.factor: each for each in first_order_shares(table, values, bins=20)}
    for name, share in (('f0', 0.3139), ('f1', 0.4424), ('f2', 0.0), ('f4', 0.0), ('kind', 0.0)):
        assert found[name].first == pytest.approx(share, abs=0.06)
        assert np.isnan(found[name].total)


def test_a_design_has_mixtures_that_differ_in_one_factor_and_its_indices_are_found():
    place = setting(scene_robot('so101'), 'pick_up')
    names = ('friction', 'mass', 'light_intensity')
    design = sobol_design(place, names, 3, seed=1)
    assert design.groups == {each: (each,) for each in ('light_intensity', 'friction', 'mass')}
    assert len(design.scenes) == 3 * 5 and not any(design.left_out.values())
    scenes = {each.name: each for each in design.scenes}
    a, b, ab = (scenes[f'sobol_{each}_2'].origin.values for each in ('A', 'B', 'AB_mass'))
    assert ab == {**a, 'mass': b['mass']} and a['mass'] != b['mass']
    assert check_scene(scenes['sobol_AB_mass_2'], place) is None
    assert sobol_design(place, names, 1, seed=1).scenes == design.scenes[:5]


def test_indices_of_a_design_are_found_by_the_names_of_its_scenes():
    a, b, mixed = samples(256)
    results = {'A': ishigami(a), 'B': ishigami(b)}
    results |= {f'AB_factor_{i}': ishigami(each) for i, each in enumerate(mixed)}
    (scene,) = drawn_scenes(1)
    names = [(key, row) for key in results for row in range(256)]
    names.remove(('AB_factor_1', 7))  # its scene broke a constraint
    scenes = tuple(attrs.evolve(scene, name=f'sobol_{key}_{row}') for key, row in names)
    values = np.array([results[key][row] for key, row in names])
    table = SceneTable('p', 'pick_up', 'so101', 'paper', scenes, (), {}, values, {})
    found = {each.factor: each for each in design_indices(table, values)}
    assert found['factor_1'].total == pytest.approx(0.4424, abs=0.1)
    assert (found['factor_1'].left_out, found['factor_0'].left_out) == (1, 0)
    assert not design_indices(replace(table, scenes=(scene,)), values[:1])
    # The rows of a second design do not take the place of those of the first.
    other = tuple(attrs.evolve(each, name=f'other/{each.name}') for each in scenes[::-1])
    both = replace(table, scenes=scenes + other)
    twice = design_indices(both, np.concatenate([values, values[::-1]]))
    assert {each.factor: each.rows for each in twice} == {n: 2 * e.rows for n, e in found.items()}
    assert {each.factor: each.total for each in twice} == pytest.approx(
        {name: each.total for name, each in found.items()}
    )


def test_what_constraints_bind_together_is_one_factor_of_a_design():
    groups = placement_groups(('paper',))
    assert set(groups) == {
        'placement', 'light_intensity', 'camera_position', 'camera_orientation',
    }  # fmt: skip
    assert 'confounder_count' in groups['placement']
    place = setting(scene_robot('so101'), 'pick_up')
    with pytest.raises(ValueRangeError, match='each operator in one group'):
        sobol_design(place, ('mass', 'friction'), 4, groups={'mass': ('mass',)})
