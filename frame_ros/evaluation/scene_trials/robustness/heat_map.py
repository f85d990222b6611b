# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Failures over the table: a grid over where targets are drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import FrameRosError
from frame_ros.evaluation.scene_trials.robustness.scene_table import SceneTable
from frame_ros.robots.simulated import Worktable
from frame_ros.scenes.simulation.scene_robot import scene_robot

Array = NDArray[np.float64]
CELLS = 10  # along each side: VLATest, table 3


@dataclass(frozen=True)
class HeatMap:
    """Scenes and failures by where the target stands.

    Attributes:
        x, y: (11,) m, edges of the cells.
        scenes: (10, 10) number by y, x.
        failures: (10, 10), scenes with repeats as shares.
        outline: (N, 2) m, the border of where targets are drawn; empty: not known.
        outside: scenes with the target outside of the grid.
    """

    x: Array
    y: Array
    scenes: NDArray[np.int64]
    failures: Array
    outline: Array
    outside: int

    @property
    def rates(self) -> Array:
        """(10, 10) failures / scenes; NaN without scenes."""
        with np.errstate(invalid='ignore', divide='ignore'):
            return np.asarray(np.where(self.scenes > 0, self.failures / self.scenes, np.nan))


def heat_map(table: SceneTable, cells: int = CELLS) -> HeatMap:
    """Counts scenes and failures in cells over the rectangle about where targets are drawn; of a
    robot that is not known here, about the targets.
    """
    places = np.array([scene.target.position for scene in table.scenes]).reshape(-1, 2)
    outline = sampling_outline(table.robot)
    around = outline if len(outline) else places
    low, high = around.min(axis=0), around.max(axis=0)
    high = np.where(high > low, high, low + 1e-3)
    x, y = (np.linspace(low[i], high[i], cells + 1) for i in range(2))
    margin = 1e-9
    inside = ((places >= low - margin) & (places <= high + margin)).all(axis=1)
    held: Array = np.clip(places[inside], low, high)
    edges = [y, x]
    counts = np.histogram2d(held[:, 1], held[:, 0], bins=edges)[0]
    failed = 1.0 - table.success[inside]
    failures = np.histogram2d(held[:, 1], held[:, 0], bins=edges, weights=failed)[0]
    return HeatMap(x, y, counts.astype(np.int64), failures, outline, int((~inside).sum()))


def sampling_outline(robot: str) -> Array:
    """Returns the border (N, 2), m, of where a robot's targets are drawn; empty: not known."""
    try:
        table = scene_robot(robot).table
    except FrameRosError:
        return np.zeros((0, 2))
    return sector(table)


def sector(table: Worktable, points: int = 25) -> Array:
    """Returns the border (N, 2), m, of the part of a ring in which targets are drawn, closed."""
    angles = np.linspace(*table.object_azimuths, points)
    inner, outer = table.object_radii
    ring = np.column_stack((np.cos(angles), np.sin(angles)))
    border = np.concatenate((inner * ring, outer * ring[::-1], inner * ring[:1]))
    return np.asarray(border + np.array(table.axis))
