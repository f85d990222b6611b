# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Trials of distances in worlds that others made, of a motion that the trial holds itself.

As the positions are in the trial's settings, a result belongs to that very motion: to the recording
that it was read from, or to the policy that was trained.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from frame_ros.core.errors import ShapeError
from frame_ros.evaluation.trials.campaign import Trial
from frame_ros.evaluation.trials.depth_worlds import FRAME_COLUMNS, take_frame
from frame_ros.evaluation.trials.kinds import DISTANCES
from frame_ros.evaluation.trials.worlds.cell import SensedCell
from frame_ros.evaluation.trials.worlds.depth_world import depth_world
from frame_ros.evaluation.trials.worlds.scenes import LOWEST, draw_scene

FUNCTION = 'frame_ros.evaluation.recorded_motion.trial:run'
# Of what the results are, as folders for `source_version`.
JUDGED = (*DISTANCES, 'frame_ros/evaluation/recorded_motion')


def run(trial: Trial) -> dict[str, Any]:
    """settings: scene: of `scenes.SCENES`; positions: (F, J) of the world's joints, rad or m, in
    pictures 0.1 s apart; source: what they are of.

    Result: as of `depth_worlds.run`, and of each frame `is_touching`, whether the arm is nearer to
    the table than LOWEST or touches itself, by its meshes: a recording knows another table.

    Raises:
        ShapeError: the positions are not of the world's joints.
    """
    world = depth_world(trial.robot)
    path = np.array(trial.settings['positions'], np.float64)
    if path.ndim != 2 or path.shape[1] != len(world.joint_names):
        raise ShapeError(
            f'positions of the shape {path.shape}; (frames, {len(world.joint_names)}) are expected'
        )
    scene = draw_scene(world, trial.settings['scene'], len(path), trial.seed, path)
    world.set_obstacles(scene.obstacles)
    world.set_room(False)
    cell = SensedCell(world, trial.seed)
    rows: dict[str, list] = {name: [] for name in FRAME_COLUMNS}
    touching = []
    for positions in scene.positions:
        measured = cell.measure(positions)
        take_frame(rows, world, measured, cell.cameras)
        touching.append(not world.is_possible(LOWEST))
    return {'links': cell.shapes.links, **rows, 'is_touching': touching}
