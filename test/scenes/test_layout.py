# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Scenes drawn from seeds."""

import math

import pytest

from frame_ros.core.errors import ValueRangeError
from frame_ros.scenes import draw_layout
from frame_ros.scenes.simulation.scene_robot import SO101, scene_robot

FR3_TABLE = scene_robot('fr3').table
SEEDS = range(300)


def test_the_same_seed_gives_the_same_scene():
    assert [draw_layout(seed) for seed in SEEDS] == [draw_layout(seed) for seed in SEEDS]


def test_seeds_differ():
    assert len({draw_layout(seed).target.position for seed in SEEDS}) == len(SEEDS)
    assert len({draw_layout(seed).target.colour for seed in SEEDS}) > 3


@pytest.mark.parametrize('layout', [draw_layout(seed) for seed in SEEDS[::20]])
def test_nothing_overlaps_and_all_stand_on_the_table(layout):
    things = [layout.target, layout.bin, *layout.distractors]
    for index, thing in enumerate(things):
        offset = [abs(thing.position[i] - SO101.table.centre[i]) for i in (0, 1)]
        assert offset[0] < SO101.table.size[0] / 2 - 0.05
        assert offset[1] < SO101.table.size[1] / 2 - 0.05
        for other in things[:index]:
            assert math.dist(thing.position[:2], other.position[:2]) > 0.09
    assert layout.target.position[2] == SO101.table.cube_size / 2
    colours = [thing.colour for thing in (layout.target, *layout.distractors)]
    assert len(set(colours)) == len(colours)


@pytest.mark.parametrize('layout', [draw_layout(seed, FR3_TABLE) for seed in SEEDS[::20]])
def test_the_hand_of_the_fr3_fits_between_what_it_can_reach(layout):
    things = [layout.target, layout.bin, *layout.distractors]
    for index, thing in enumerate(things):
        assert 0.35 < math.dist(thing.position[:2], (0.0, 0.0)) < 0.72
        for other in things[:index]:
            assert math.dist(thing.position[:2], other.position[:2]) > 0.165
    # Half of the hand's width, and half of the can's.
    high = [thing for thing in layout.distractors if thing.name == 'can']
    assert math.dist(high[0].position[:2], layout.target.position[:2]) > 0.102 + 0.033
    assert layout.target.position[2] == FR3_TABLE.cube_size / 2
    assert FR3_TABLE.cube_size < 0.08  # what the hand opens


def test_a_negative_seed_is_refused():
    with pytest.raises(ValueRangeError, match='-1'):
        draw_layout(-1)
