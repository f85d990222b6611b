# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The grid mat on which an operator sets up scenes, in the robot's base frame."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import FrameRosError, ValueRangeError
from frame_ros.core.options import option, options, rule
from frame_ros.scenes.cards.outlines import footprint
from frame_ros.scenes.description.scene import BASE, Pair, Scene
from frame_ros.scenes.generation.layout import BIN_SWING
from frame_ros.scenes.simulation.scene_robot import SceneRobot, scene_robot

MM = 1e3  # per m
MOST_CELLS = 60  # along an edge
_OBJECT_RADIUS = 0.045  # m, of the circle that an object stands in
_SLACK = 1e-9  # of a cell, for rounding


@options
class MatOptions:
    """Grid mat."""

    cell: float = option(0.05, 'edge of a cell of the mat', unit='m', at_least=0.01, at_most=0.15)
    area: tuple[float, ...] = option(
        (), "x, y of two opposite corners of the mat; none: where the robot's table has objects",
        unit='m', lengths=(0, 4),
    )  # fmt: skip

    @rule('area', 'two corners that differ in x and in y')
    def _is_area(self) -> bool:
        return not self.area or (self.area[0] != self.area[2] and self.area[1] != self.area[3])


class Tile(NamedTuple):
    """A part of a mat that is printed on one sheet.

    name: its row and column, such as '2-1', from the mat's near left corner. low, high: corners,
    m. neighbours: direction (left, right, near, far) -> the name of the next tile there.
    """

    name: str
    low: Pair
    high: Pair
    neighbours: dict[str, str]


@attrs.frozen
class Mat:
    """A mat of square cells, seen with the robot's base at the bottom: x goes up, y to the left.

    Attributes:
        cell: edge of a cell, m.
        low: x, y of the corner with the least of both, m: near and right.
        rows: cells along x; numbered from the near edge, from 1.
        columns: cells along y; lettered from the left edge, from A.
        frame: of x and y.
    """

    cell: float
    low: Pair
    rows: int
    columns: int
    frame: str = BASE

    @property
    def high(self) -> Pair:
        """x, y of the far left corner, m."""
        return self.low[0] + self.rows * self.cell, self.low[1] + self.columns * self.cell

    def holds(self, x: float, y: float) -> bool:
        """Returns whether a place, m, is on the mat."""
        return all(
            low <= value <= high
            for value, low, high in zip((x, y), self.low, self.high, strict=True)
        )

    def label(self, x: float, y: float) -> str:
        """Returns the name of the cell, such as 'B3', of a place, m; '': not on the mat."""
        if not self.holds(x, y):
            return ''
        row = min(int((x - self.low[0]) / self.cell + _SLACK), self.rows - 1)
        column = min(int((self.high[1] - y) / self.cell + _SLACK), self.columns - 1)
        return f'{letters(column)}{row + 1}'

    def cells(self) -> Iterator[tuple[str, Pair]]:
        """Yields the name and the middle, m, of every cell."""
        for row in range(self.rows):
            for column in range(self.columns):
                x = self.low[0] + (row + 0.5) * self.cell
                y = self.high[1] - (column + 0.5) * self.cell
                yield f'{letters(column)}{row + 1}', (x, y)

    def tiles(self, width: float, height: float) -> Iterator[Tile]:
        """Yields the parts of whole cells, at most so wide (along y) and high (along x), m.

        Raises:
            ValueRangeError: a cell is larger than that.
        """
        across, along = (int(edge / self.cell + _SLACK) for edge in (width, height))
        if not (across and along):
            raise ValueRangeError(
                f'a cell is {self.cell} m; on a sheet there is room for {min(width, height)} m'
            )
        down, wide = -(-self.rows // along), -(-self.columns // across)
        for row in range(down):
            for column in range(wide):
                steps = {'near': (-1, 0), 'far': (1, 0), 'left': (0, -1), 'right': (0, 1)}
                neighbours = {
                    side: f'{row + r + 1}-{column + c + 1}'
                    for side, (r, c) in steps.items()
                    if 0 <= row + r < down and 0 <= column + c < wide
                }
                left = self.high[1] - column * across * self.cell
                near = self.low[0] + row * along * self.cell
                yield Tile(
                    f'{row + 1}-{column + 1}',
                    (near, max(left - across * self.cell, self.low[1])),
                    (min(near + along * self.cell, self.high[0]), left),
                    neighbours,
                )


def letters(index: int) -> str:
    """Returns the name of a column: 0 is A, 25 Z, 26 AA."""
    first, last = divmod(index, 26)
    return (letters(first - 1) if first else '') + chr(ord('A') + last)


def mats_of(scenes: Sequence[Scene], chosen: MatOptions | None = None) -> dict[str, Mat]:
    """Returns the mat of each robot of some scenes: of the area that is chosen, of the robot's
    table, or, of a robot that is not known, about the objects of its scenes.

    Raises:
        ValueRangeError: a mat would have more than 60 cells along an edge.
    """
    chosen = chosen or MatOptions()
    return {
        robot: _mat([each for each in scenes if each.robot == robot], chosen)
        for robot in dict.fromkeys(each.robot for each in scenes)
    }


def _mat(scenes: Sequence[Scene], chosen: MatOptions) -> Mat:
    frame = scenes[0].frame
    if chosen.area:
        corners: NDArray[np.float64] = np.array(chosen.area).reshape(2, 2)
    else:
        robot = _robot(scenes[0]) if frame == BASE else None
        corners = _of_objects(scenes) if robot is None else _of_table(robot)
    low = np.floor(corners.min(axis=0) / chosen.cell + _SLACK)
    counts = np.ceil(corners.max(axis=0) / chosen.cell - _SLACK) - low
    if (counts > MOST_CELLS).any():
        rows, columns = counts.astype(int).tolist()
        raise ValueRangeError(
            f'the mat of {scenes[0].robot} would have {rows} x {columns} cells of {chosen.cell} m; '
            f'at most {MOST_CELLS} along an edge: give a larger cell, or an area'
        )
    x, y = (low * chosen.cell).round(9).tolist()
    return Mat(chosen.cell, (x, y), int(counts[0]), int(counts[1]), frame)


def _robot(scene: Scene) -> SceneRobot | None:
    try:
        return scene_robot(scene.robot)
    except FrameRosError:
        return None


def _of_table(robot: SceneRobot) -> NDArray[np.float64]:
    """(N, 2) m, places that the mat of a robot must hold: all where its scenes have objects."""
    table = robot.table
    bin_edge = table.bin_inner / 2 + table.bin_wall
    swing = (table.bin_azimuth - BIN_SWING, table.bin_azimuth + BIN_SWING)
    places = []
    for margin, radii, (first, last) in (
        (_OBJECT_RADIUS, table.object_radii, table.object_azimuths),
        (_OBJECT_RADIUS, table.distractor_radii, table.distractor_azimuths),
        (math.sqrt(2) * bin_edge, (table.bin_radius,), swing),
    ):
        for azimuth in np.linspace(first, last, 25):
            direction = np.array((math.cos(azimuth), math.sin(azimuth)))
            for radius in radii:
                place = np.array(table.axis) + radius * direction
                places += [place - margin, place + margin]
    return np.array(places)


def _of_objects(scenes: Sequence[Scene]) -> NDArray[np.float64]:
    points = [np.array([each.position]) for scene in scenes for each in scene.objects]
    points += [footprint(each) for scene in scenes for each in scene.objects]
    found = np.concatenate(points)
    return np.array((found.min(axis=0) - 0.05, found.max(axis=0) + 0.05))
