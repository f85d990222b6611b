# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Places around a robot's links where an obstacle may be: balls of one size, fixed to the links.

A place is a ball of the smallest obstacle that is looked for. It lies outside of its link, so its
distance from that is the distance of the obstacle which it stands for. The places of a link are the
same for all cameras, so a place that one camera does not see may be seen by another.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from frame_ros.robots.shapes.link_shapes import PlacedShapes

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

NEAR = 0.1  # m from a link: the surroundings whose observed share is given
NEAR_COUNT, FAR_COUNT = 200, 100  # places of a link up to NEAR, and beyond
_TRIES = 8192  # points of the sequence that are tried per link
_GRID = 1e6  # steps per m, to which shapes of one link are rounded, off the usual round numbers
_OFFSET = 0.3137
# Roberts' sequence in three dimensions: powers of the root of x^4 = x + 1.
# M. Roberts, The Unreasonable Effectiveness of Quasirandom Sequences, 2018.
_STEPS = 1.0 / 1.2207440846057596 ** np.arange(1, 4)


@dataclass(frozen=True)
class Surroundings:
    """N places around L links.

    Attributes:
        anchors: (N,) row of the shape that each place moves with.
        points: (N, 3) m, middles of the balls in the frame of that shape.
        owners: (N,) row of the link.
        distances: (N,) m from the link to the ball, at least 0.
        radius: m, of each ball.
        count: number of links.
    """

    anchors: Indices
    points: Array
    owners: Indices
    distances: Array
    radius: float
    count: int

    def is_same(self, other: Surroundings) -> bool:
        """Returns whether these are the same places."""
        is_equal = self.radius == other.radius and self.distances.shape == other.distances.shape
        return is_equal and bool((self.distances == other.distances).all())


class SurroundingsOf:
    """Gives the Surroundings of shapes; those of the same shapes are made once."""

    def __init__(self, radius: float, reach: float) -> None:
        """radius: m, of the places. reach: m from a link, to which they extend."""
        self._radius, self._reach = radius, reach
        self._sizes: Array | None = None
        self._links: tuple[str, ...] = ()
        self._found: Surroundings | None = None

    def get(self, shapes: PlacedShapes) -> Surroundings:
        """Returns the places around the links of shapes, anywhere."""
        is_known = self._sizes is shapes.half_sizes and self._links == shapes.links
        if self._found is None or not is_known:
            self._sizes, self._links = shapes.half_sizes, shapes.links
            self._found = surroundings(shapes, self._radius, self._reach)
        return self._found


def surroundings(shapes: PlacedShapes, radius: float, reach: float) -> Surroundings:
    """Returns the places around each link, up to `reach` m from it.

    They fill the space evenly up to NEAR, and thinner beyond.

    Args:
        shapes: in any frame: only their places relative to those of the same link count.
        radius: m, of the places.
    """
    parts = []
    for link in range(len(shapes.links)):
        rows = np.flatnonzero(shapes.owners == link)
        if len(rows):
            parts.append((link, int(rows[0]), _around(shapes, rows, radius, reach)))
    empty: tuple[Array, Array] = (np.empty((0, 3)), np.empty(0))
    found = [part for _, _, part in parts]
    sizes = [len(distances) for _, distances in found]
    return Surroundings(
        np.repeat(np.array([anchor for _, anchor, _ in parts], np.intp), sizes),
        np.concatenate([points for points, _ in (*found, empty)]),
        np.repeat(np.array([link for link, _, _ in parts], np.intp), sizes),
        np.concatenate([distances for _, distances in (*found, empty)]),
        radius,
        len(shapes.links),
    )


def _around(
    shapes: PlacedShapes, rows: Indices, radius: float, reach: float
) -> tuple[Array, Array]:
    """Places (K, 3) in the frame of the link's first shape, and their distances (K,), m."""
    first = rows[0]
    own = shapes.select(rows).seen_from(shapes.rotations[first], shapes.translations[first])
    # Cameras that meet the robot in different poses must get the very same places.
    turns, middles = _rounded(own.rotations), _rounded(own.translations)
    arrays = (np.ascontiguousarray(each) for each in (turns, middles, own.half_sizes, own.radii))
    return _places(own.kinds, *(each.tobytes() for each in arrays), radius, reach)


@lru_cache(maxsize=64)
def _places(
    kinds: tuple[str, ...], turns: bytes, middles: bytes, halves: bytes, radii: bytes,
    radius: float, reach: float,
) -> tuple[Array, Array]:  # fmt: skip
    """As `_around`, of shapes in the frame of the first; made once where several cameras ask."""
    count = len(kinds)
    arrays = (np.frombuffer(each, np.float64) for each in (turns, middles, halves, radii))
    rotations, translations, half_sizes, own_radii = arrays
    own = PlacedShapes(
        ('link',), kinds, np.zeros(count, np.intp), rotations.reshape(count, 3, 3),
        translations.reshape(count, 3), half_sizes.reshape(count, 3), own_radii,
    )  # fmt: skip
    starts, ends, all_radii = own.enclosing()
    margin = all_radii[:, None] + reach + radius
    lower = (np.minimum(starts, ends) - margin).min(axis=0)
    upper = (np.maximum(starts, ends) + margin).max(axis=0)
    points = lower + _sequence() * (upper - lower)
    distances = own.link_distances(points)[:, 0] - radius
    near = np.flatnonzero((distances >= 0.0) & (distances <= min(NEAR, reach)))[:NEAR_COUNT]
    far = np.flatnonzero((distances > NEAR) & (distances <= reach))[:FAR_COUNT]
    chosen = np.concatenate((near, far))
    return points[chosen], distances[chosen]


def _rounded(values: Array) -> Array:
    result: Array = (np.round(values * _GRID + _OFFSET) - _OFFSET) / _GRID
    return result


@lru_cache(maxsize=1)
def _sequence() -> Array:
    """Points (N, 3) that fill the unit cube evenly, however many of them are taken."""
    result: Array = (0.5 + np.arange(1, _TRIES + 1)[:, None] * _STEPS) % 1.0
    return result
