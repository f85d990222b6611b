# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Distances between the links of a robot and nearby objects, from any sensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class DistanceReading:
    """Least distances at one instant, in the robot's base frame.

    Attributes:
        links: (L) names.
        distances: (L,) m, NaN where not measured.
        points_on_robot, points_on_obstacle: (L, 3) m, NaN likewise.
        obstacles: (L) the object near each link, '' if unknown.
        valid_fraction, occluded_fraction: share of the sensor's pixels that gave a distance, and
            that show the robot; NaN without pixels.
        unavailable: why nothing was measured; then all distances are NaN.
        sources: the cameras or models used.
    """

    links: tuple[str, ...]
    distances: Array
    points_on_robot: Array
    points_on_obstacle: Array
    obstacles: tuple[str, ...]
    valid_fraction: float = nan
    occluded_fraction: float = nan
    unavailable: str = ''
    sources: tuple[str, ...] = ()

    @classmethod
    def missing(
        cls, links: Sequence[str], why: str, sources: Sequence[str] = ()
    ) -> DistanceReading:
        """Returns a reading without measurements, with the reason."""
        count = len(links)
        points = np.full((count, 3), nan)
        return cls(
            tuple(links), np.full(count, nan), points, points.copy(), ('',) * count,
            unavailable=why, sources=tuple(sources),
        )  # fmt: skip

    @property
    def nearest(self) -> int | None:
        """Row of the least distance; None if none was measured."""
        if not np.isfinite(self.distances).any():
            return None
        return int(np.nanargmin(self.distances))

    @property
    def distance(self) -> float:
        """m, the least of all; NaN if none was measured."""
        row = self.nearest
        return nan if row is None else float(self.distances[row])


def fuse(readings: Sequence[DistanceReading]) -> DistanceReading:
    """Returns the minimum over several readings of the same links, link by link.

    Missing values of one count as not seen by it. The fractions are means over the readings that
    have them. If none is available, all their reasons are given.

    Raises:
        ShapeError: there is no reading, or they are not of the same links.
    """
    if not readings or any(reading.links != readings[0].links for reading in readings):
        raise ShapeError('distances are fused from at least one reading, all of the same links')
    available = [reading for reading in readings if not reading.unavailable]
    if not available:
        why = '; '.join(dict.fromkeys(reading.unavailable for reading in readings))
        sources = [source for reading in readings for source in reading.sources]
        return DistanceReading.missing(readings[0].links, why, sources)
    stacked = np.array([reading.distances for reading in available])
    chosen = np.argmin(np.where(np.isfinite(stacked), stacked, np.inf), axis=0)
    rows = np.arange(len(chosen))
    return DistanceReading(
        available[0].links,
        stacked[chosen, rows],
        np.array([reading.points_on_robot for reading in available])[chosen, rows],
        np.array([reading.points_on_obstacle for reading in available])[chosen, rows],
        tuple(available[which].obstacles[row] for row, which in enumerate(chosen)),
        _mean([reading.valid_fraction for reading in available]),
        _mean([reading.occluded_fraction for reading in available]),
        sources=tuple(source for reading in available for source in reading.sources),
    )


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if isfinite(value)]
    return float(np.mean(known)) if known else nan
