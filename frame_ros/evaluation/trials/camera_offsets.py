# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Trials of the estimate of a camera's offset, in worlds that others made."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.evaluation.trials.campaign import Trial
from frame_ros.evaluation.trials.worlds.camera_faults import (
    KNOCK,
    KNOCKED,
    KNOCKED_AFTER,
    NONE,
    checked_fault,
    read_positions,
    things_on,
)
from frame_ros.evaluation.trials.worlds.cell import SensedCell
from frame_ros.evaluation.trials.worlds.depth_world import CAMERAS, depth_world
from frame_ros.evaluation.trials.worlds.scenes import draw_posture, draw_scene
from frame_ros.robots.shapes.link_shapes import PlacedShapes
from frame_ros.sensing.proximity.cameras.robot_view import view_robot
from frame_ros.sensing.proximity.depth.options import DepthOptions

Array = NDArray[np.float64]
COLUMNS = (
    'camera', 'check', 'true', 'estimated', 'wrong', 'bound', 'uncertainty', 'padding', 'refused',
    'unavailable', 'is_corrected', 'left', 'growth',
)  # fmt: skip
SPACING = 6  # pixels between the places whose displacement is taken


def run(trial: Trial) -> dict[str, Any]:
    """settings: scene: of `scenes.SCENES`; postures: of the arm, a check of each camera in each;
    shift_mm, turn_degrees: largest offset of the cameras, drawn evenly from 0; is_full: whether
    it is that large; fault: of `camera_faults.FAULTS` (default: none).

    Result, a row per check: camera; check: its number; true: m, largest displacement of the
    robot's surface that the camera should see; estimated: m, the same by the estimate; wrong: m,
    largest difference of the two displacements; bound, uncertainty: m, of the estimate; padding: m,
    afterwards; refused: whether the camera is; unavailable: why the check gave nothing;
    is_corrected: whether an offset is taken out of its pose afterwards; left: m, largest
    displacement of the surface that this pose leaves; growth: m, of the padding over the declared
    one. None without an estimate.

    Raises:
        ValueRangeError: there is no such fault.
    """
    settings = trial.settings
    fault = checked_fault(settings.get('fault', NONE))
    world = depth_world(trial.robot)
    rng = np.random.default_rng((trial.seed, 0x0F))
    drawn = rng.uniform(0, 1, 2)
    shift, turn = np.where(settings.get('is_full', False), 1.0, drawn) * (
        settings['shift_mm'], settings['turn_degrees'],
    )  # fmt: skip
    scene = draw_scene(world, settings['scene'], 2, trial.seed)
    postures = [scene.positions[0]]
    while len(postures) < settings['postures']:
        postures.append(draw_posture(world, rng))
    cell = SensedCell(world, trial.seed, shift=1e-3 * shift, turn=math.radians(turn))
    rows: dict[str, list] = {name: [] for name in COLUMNS}
    for number, positions in enumerate(postures):
        if fault == KNOCKED and number == KNOCKED_AFTER:
            cell.knock(*KNOCK, trial.seed)
        world.pose(positions)
        world.set_obstacles([*scene.obstacles, *things_on(world, fault, rng)])
        shapes = cell.place_read(read_positions(positions, fault, rng))
        for camera in CAMERAS:
            _take_check(rows, cell, camera, number, shapes, cell.picture(camera))
    return rows


def _take_check(
    rows: dict[str, list], cell: SensedCell, camera: str, number: int, shapes: PlacedShapes,
    picture: NDArray[np.uint16],
) -> None:  # fmt: skip
    trusted, pose = cell.trusted[camera], cell.assumed_pose(camera)
    found = trusted.check((number + 1) * SECOND, picture, shapes, *pose)
    view = view_robot(trusted.camera, shapes.seen_from(*pose), SPACING)
    true = _displacements(view.points, pose, cell.world.camera_pose(camera))
    estimated = np.full_like(true, np.nan)
    if not found.unavailable and np.isfinite(found.translation).all():
        estimated = _displacements(view.points, pose, trusted.found_pose(*pose))
    values = (
        camera, number, _largest(true), _largest(estimated), _largest(estimated - true),
        found.bound, found.uncertainty, trusted.padding,
        bool(trusted.refusal), found.unavailable, trusted.correction.offset is not None,
        _largest(_displacements(view.points, trusted.pose(*pose), cell.world.camera_pose(camera))),
        trusted.padding - DepthOptions().padding,
    )  # fmt: skip
    for name, value in zip(COLUMNS, values, strict=True):
        rows[name].append(value)


def _displacements(points: Array, assumed: tuple, other: tuple) -> Array:
    """Returns (N, 3) m, by which points (N, 3) of the assumed optical frame are displaced in it if
    the camera has another pose.
    """
    rotation, translation = other
    in_base = points @ assumed[0].T + assumed[1]
    seen: Array = (in_base - translation) @ rotation
    return np.asarray(seen - points)


def _largest(vectors: Array) -> float:
    return float(np.linalg.norm(vectors, axis=1).max()) if len(vectors) else math.nan
