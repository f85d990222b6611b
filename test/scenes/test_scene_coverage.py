# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Coverage of scenes: the grid of target positions, and the operators' cells."""

import attrs
import numpy as np
import pytest

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.scenes.generation.generator import generate, scene_from
from frame_ros.scenes.generation.operators import OPERATORS, chosen_operators
from frame_ros.scenes.generation.setting import setting
from frame_ros.scenes.search.coverage import (
    CoverageCounter,
    grid_coverage,
    operator_coverage,
    target_coverage,
)
from frame_ros.scenes.search.space import SceneSpace, cell_of, has_effect, share_of
from frame_ros.scenes.simulation.scene_robot import scene_robot

PICK = setting(scene_robot('so101'), 'pick_up')
ALL = SceneSpace(PICK, chosen_operators(['all']))
# VLATest, table 3: coverage of so many test cases, the mean of four tasks.
TABLE_3 = {10: 0.095, 100: 0.6375, 1000: 1.0}


@pytest.fixture(scope='module')
def drawn():
    operators = ['target_position', 'mass', 'light_intensity', 'table_texture']
    return generate('pick_up', 'so101', 8, 5, operators).scenes


@pytest.mark.parametrize('count', TABLE_3)
def test_the_grid_gives_the_papers_coverage(count):
    rng = np.random.default_rng(0)
    low, high = (-0.3, 0.1), (-0.1, 0.4)
    found = [grid_coverage(rng.uniform(low, high, (count, 2)), low, high) for _ in range(40)]
    assert np.mean(found) == pytest.approx(TABLE_3[count], abs=0.02)


def test_cells_of_the_grid_by_hand():
    points = [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0), (0.49, 0.49), (1.1, 0.5)]
    assert grid_coverage(points, (0, 0), (1, 1), cells=2) == 0.5
    assert grid_coverage([], (0, 0), (1, 1)) == 0.0
    with pytest.raises(ShapeError):
        grid_coverage([1.0, 2.0], (0, 0), (1, 1))
    with pytest.raises(ValueRangeError):
        grid_coverage(points, (0, 0), (0, 1))


def test_targets_are_counted_where_they_are_drawn(drawn):
    place = PICK.robot.table
    cells = set()
    for each in drawn:
        radius, azimuth = each.origin.values['target_position'].values()
        ends = place.object_radii, place.object_azimuths
        cells.add(tuple(int((v - a) / (b - a) * 10) for v, (a, b) in zip((radius, azimuth), ends)))
    assert target_coverage(drawn, PICK) == len(cells) / 100
    assert target_coverage(drawn) > 0
    ends = [
        {'target_position': {'target.radius': r, 'target.azimuth': a}}
        for r in place.object_radii
        for a in place.object_azimuths
    ]
    corners = [scene_from(PICK, values) for values in ends]
    assert target_coverage(corners, PICK) == 0.04
    with pytest.raises(ValueRangeError, match='no scene'):
        target_coverage([], PICK)


@pytest.mark.parametrize('axis', ALL.axes, ids=lambda a: a.name)
def test_the_share_of_a_value_gives_it_again(axis):
    for share in (0.0, 0.3, 0.77, 1.0):
        value = axis.dimension.at(share)
        again = axis.dimension.at(share_of(axis.dimension, value))
        assert again == value if axis.dimension.choices else again == pytest.approx(value)
        assert axis.bin_of(value) == min(int(share * axis.bins()), axis.bins() - 1)


def test_the_cell_of_a_scene_is_that_of_its_values(drawn):
    scene = drawn[0]
    cell = dict(cell_of(scene))
    assert list(cell) == [
        *('target_position.target.radius', 'target_position.target.azimuth'),
        *('light_intensity.factor', 'mass.target', 'table_texture.texture', 'table_texture.colour'),
    ]
    mass = scene.origin.values['mass']['target']
    assert cell['mass.target'] == int(np.log(mass / 0.5) / np.log(4) * 4)
    assert cell_of(scene, PICK, bins=1) != cell_of(scene, PICK)
    moved = attrs.evolve(scene, policy_seed=1, name='other')
    assert cell_of(moved) == cell_of(scene)
    with pytest.raises(ValueRangeError, match='no values of operators'):
        cell_of(attrs.evolve(scene, origin=None))


def test_what_changes_nothing_is_in_no_cell():
    rng = np.random.default_rng(1)
    for _ in range(6):
        values = ALL.draw(rng)
        for axis in ALL.axes[::3]:
            share = (share_of(axis.dimension, values[axis.operator][axis.dimension.name]) + 0.5) % 1
            changed = {**values[axis.operator], axis.dimension.name: axis.dimension.at(share)}
            other = {**values, axis.operator: changed}
            is_same = scene_from(PICK, other) == scene_from(PICK, values)
            if not has_effect(axis, values):
                assert is_same, axis.name
            elif axis.operator not in ('target_type', 'friction', 'light_count'):
                assert not is_same or 'yaw' in axis.name, axis.name


def test_single_cells_and_pairs_are_counted():
    space = SceneSpace(PICK, chosen_operators(['mass', 'friction']))
    counter = CoverageCounter(space, bins=2)
    low = {'friction': {'target': 0.3}, 'mass': {'target': 0.6}}
    mixed = {'friction': {'target': 0.3}, 'mass': {'target': 1.9}}
    assert counter.gain(low) == 1.0
    counter.add(low)
    assert (counter.gain(low), counter.gain(mixed)) == (0.0, 2 / 3)
    counter.add(mixed)
    counter.add(low)
    found = counter.found
    assert found.cells == {'friction.target': (1, 2), 'mass.target': (2, 2)}
    assert (found.pairs, found.distinct, found.scenes) == ((2, 4), 2, 3)
    assert (found.single_share, found.pair_share) == (0.75, 0.5)


def test_pairs_with_a_confounder_that_is_not_there_do_not_count():
    operators = chosen_operators(['confounder_count', 'confounder_type'])
    space = SceneSpace(PICK, operators)
    counter = CoverageCounter(space)
    types = 3
    with_count = types * (4 + 3 + 2 + 1)  # confounder i is there with 4 - i of the counts
    assert counter.found.pairs == (0, with_count + types * types * 6)
    fixed = SceneSpace(PICK, operators, {'confounder_count': {'count': 2}})
    found = CoverageCounter(fixed).found
    assert found.pairs == (0, types * types)
    assert set(found.cells) == {'confounder_type.0.type', 'confounder_type.1.type'}


def test_the_coverage_of_drawn_scenes(drawn):
    space = SceneSpace(PICK, chosen_operators(tuple(drawn[0].origin.values)))
    found = operator_coverage(drawn, space)
    assert found.scenes == 8 and 1 <= found.distinct <= 8
    assert 0 < found.pair_share < found.single_share <= 1
    with pytest.raises(ValueRangeError, match='no value of friction.target'):
        operator_coverage(drawn, SceneSpace(PICK, (OPERATORS['friction'],)))
