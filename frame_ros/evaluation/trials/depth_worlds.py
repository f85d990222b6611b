# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Trials of distances from depth cameras in worlds that others made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.evaluation.trials.campaign import Trial
from frame_ros.evaluation.trials.worlds.cell import SHAPES, SensedCell
from frame_ros.evaluation.trials.worlds.depth_world import (
    AROUND,
    CAMERAS,
    FRONT,
    HEIGHT,
    WIDTH,
    DepthWorld,
    depth_world,
)
from frame_ros.evaluation.trials.worlds.drawn_world import drawn_world
from frame_ros.evaluation.trials.worlds.others_motion import pick_and_place
from frame_ros.evaluation.trials.worlds.scenes import (
    LOWEST,
    clear_posture,
    draw_scene,
    empty_motion,
)
from frame_ros.scenes.simulation.visibility import VisibilityRule, visible_points
from frame_ros.sensing.proximity.cameras.alignment import AlignmentOptions
from frame_ros.sensing.proximity.link_distances import DistanceReading
from frame_ros.sensing.proximity.unseen import NO_PLACE

# A place is seen if clean geometry shows something there: whose it is does not matter.
RULE = VisibilityRule(tolerance=0.002)
PICK_AND_PLACE, TOUCHING = 'pick_and_place', 'is_touching'
CAMERA_COLUMNS = ('padding', 'is_corrected')  # of the front camera
FRAME_COLUMNS = (
    'truth', 'measured', 'is_visible', 'is_partial', 'unobserved', 'unavailable', 'nearest',
    'unseen_nearer', 'places_nearer',
    'link_truth', 'link_measured', 'link_partial', 'link_visible',
)  # fmt: skip


def run(trial: Trial) -> dict[str, Any]:
    """settings: scene: of `scenes.SCENES`; frames; shift_mm, turn_degrees: of the cameras from
    where they are said to be; padding_mm: of the self-filter (default: the node's); filter:
    `shapes` (default), `meshes` or `collision_meshes`, see `SensedCell`; is_room: whether there are
    walls behind the cell; is_around: whether two cameras more stand around it; postures: so many of
    the arm were seen, with a check of each camera, before the first frame; is_corrected: whether
    offsets are (default: the node's); zeros_degrees: see `SensedCell`; motion: of others
    (PICK_AND_PLACE), or positions: (F, J) of the world's joints, rad or m, in pictures 0.1 s apart,
    in place of one between drawn postures.

    Result, a row per frame: truth: m, from the nearest link's surface to the nearest obstacle
    (None: there is none); measured: m (None: unavailable, for the reason `unavailable`);
    is_visible: whether clean geometry shows a camera the nearest point of that obstacle;
    is_partial, unobserved (m): what the reading says of what was not seen; unseen_nearer,
    places_nearer: see `nearer_places`; nearest: row in `links` of the nearest link. Per link
    likewise: link_truth, link_measured, link_partial, link_visible. Of the front camera padding, m,
    and is_corrected: whether an offset is taken out of its pose. Of given positions also
    is_touching: whether the arm is nearer to the table than LOWEST or touches itself, by its
    meshes, as a recording knows another table.

    Raises:
        ShapeError: the positions are not of the world's joints.
        ValueRangeError: there is no such motion.
    """
    settings = trial.settings
    world = depth_world(trial.robot)
    path = _path(settings, world, trial.seed)
    frames = int(settings['frames']) if path is None else len(path)
    scene = draw_scene(world, settings['scene'], frames, trial.seed, path)
    world.set_obstacles(scene.obstacles)
    world.set_room(bool(settings.get('is_room', False)))
    cell = SensedCell(
        world,
        trial.seed,
        AROUND if settings.get('is_around', False) else CAMERAS,
        shift=1e-3 * float(settings.get('shift_mm', 0.0)),
        turn=math.radians(float(settings.get('turn_degrees', 0.0))),
        padding=1e-3 * settings['padding_mm'] if 'padding_mm' in settings else None,
        own=settings.get('filter', SHAPES),
        alignment=_alignment(settings),
        zeros=math.radians(float(settings.get('zeros_degrees', 0.0))),
    )
    look_around(cell, settings, trial.seed)
    is_given = 'positions' in settings
    columns = *FRAME_COLUMNS, *CAMERA_COLUMNS
    names = (*columns, TOUCHING) if is_given else columns
    rows: dict[str, list] = {name: [] for name in names}
    for positions in scene.positions:
        measured = cell.measure(positions)
        take_frame(rows, world, measured, cell.cameras)
        _take_camera(rows, cell)
        if is_given:
            rows[TOUCHING].append(not world.is_possible(LOWEST))
    return {'links': cell.shapes.links, **rows}


def _alignment(settings: Mapping[str, Any]) -> AlignmentOptions | None:
    if 'is_corrected' not in settings:
        return None
    return AlignmentOptions(is_corrected=bool(settings['is_corrected']))


def look_around(cell: SensedCell, settings: Mapping[str, Any], seed: int) -> None:
    """Checks the cameras in `postures` of the arm that keep clear of the obstacles."""
    for number in range(int(settings.get('postures', 0))):
        cell.look(clear_posture(cell.world, cell.world.obstacles, 100 * seed + number))


def _take_camera(rows: dict[str, list], cell: SensedCell) -> None:
    trusted = cell.trusted[FRONT]
    rows['padding'].append(trusted.padding)
    rows['is_corrected'].append(trusted.correction.offset is not None)


def _path(settings: Mapping[str, Any], world: DepthWorld, seed: int) -> NDArray[np.float64] | None:
    """(F, J) of a motion that is given or of others; None: it is to be drawn."""
    if 'positions' in settings:
        path = np.array(settings['positions'], np.float64)
        if path.ndim != 2 or path.shape[1] != len(world.joint_names):
            count = len(world.joint_names)
            raise ShapeError(f'positions of the shape {path.shape}; (frames, {count}) are expected')
        return path
    if settings.get('motion'):
        return motion_of_others(settings['motion'], world, int(settings['frames']), seed)
    return None


def motion_of_others(name: str, world: DepthWorld, frames: int, seed: int) -> NDArray[np.float64]:
    """Returns (F, J) rad, positions of a world's joints in a motion that others made.

    Raises:
        ValueRangeError: there is no such motion of the world's robot.
    """
    if name != PICK_AND_PLACE or world.robot.name != 'so101':
        raise ValueRangeError(f'no motion {name!r} of the robot {world.robot.name}')
    return pick_and_place(world.joint_names, frames, seed)


def run_drawn(trial: Trial) -> dict[str, Any]:
    """As `run`, of an empty scene with one camera and a robot of `drawn_world.DRAWN_ROBOTS`."""
    world = drawn_world(trial.robot)
    path = empty_motion(world, int(trial.settings['frames']), trial.seed)
    cell = SensedCell(
        world,
        trial.seed,
        (FRONT,),
        shift=1e-3 * float(trial.settings.get('shift_mm', 0.0)),
        turn=math.radians(float(trial.settings.get('turn_degrees', 0.0))),
        alignment=_alignment(trial.settings),
    )
    look_around(cell, trial.settings, trial.seed)
    rows: dict[str, list] = {name: [] for name in CAMERA_COLUMNS}
    readings = []
    for positions in path:
        readings.append(cell.measure(positions))
        _take_camera(rows, cell)
    return {
        **rows,
        'measured': [reading.distance for reading in readings],
        'is_partial': [reading.is_partial for reading in readings],
        'unavailable': [reading.unavailable for reading in readings],
    }


def take_frame(
    rows: dict[str, list], world: DepthWorld, measured: DistanceReading, cameras: tuple[str, ...]
) -> None:
    """Appends a frame: what was measured, and what is true, of the world's present pose."""
    truth = world.truth()
    order = [truth.links.index(link) for link in measured.links]
    distances = truth.distances[order]
    is_there = bool(np.isfinite(distances).any())
    nearest = int(np.nanargmin(distances)) if is_there else -1
    seen = visible(world, truth, cameras)[order] if is_there else np.zeros(len(order), bool)
    rows['truth'].append(float(distances[nearest]) if is_there else math.nan)
    rows['measured'].append(measured.distance)
    rows['is_visible'].append(bool(is_there and seen[nearest]))
    rows['is_partial'].append(measured.is_partial)
    rows['unobserved'].append(measured.unobserved_distance)
    rows['unavailable'].append(measured.unavailable)
    rows['nearest'].append(nearest)
    unseen, every = nearer_places(measured)
    rows['unseen_nearer'].append(unseen)
    rows['places_nearer'].append(every)
    rows['link_truth'].append(distances)
    rows['link_measured'].append(measured.distances)
    rows['link_partial'].append(measured.is_link_partial)
    rows['link_visible'].append(seen)


def nearer_places(measured: DistanceReading) -> tuple[int, int]:
    """Returns how many places that no camera saw are nearer to their links than the distance is, or
    than the reach where nothing was found, by the margin of the mark; and how many all are.
    """
    unseen = measured.unseen
    if unseen is None:
        return 0, 0
    limit = measured.distance if np.isfinite(measured.distance) else unseen.reach
    is_near = unseen.around.distances < min(limit, unseen.reach) - unseen.margin
    is_place = is_near & (unseen.states != NO_PLACE)
    return int((is_near & (unseen.states > NO_PLACE)).sum()), int(is_place.sum())


def visible(
    world: DepthWorld, truth: DistanceReading, cameras: tuple[str, ...]
) -> NDArray[np.bool_]:
    """Returns (L,) whether any camera sees, by clean geometry, the point of the obstacles that is
    nearest to each link.
    """
    seen = np.zeros(len(truth.links), bool)
    for name in cameras:
        rotation, position = world.camera_pose(name)
        seen |= visible_points(
            truth.points_on_obstacle, np.zeros(len(truth.links), np.int64), world.depth(name),
            np.zeros((HEIGHT, WIDTH), np.int32), world.intrinsics(name), position, rotation, RULE,
        )  # fmt: skip
    return seen
