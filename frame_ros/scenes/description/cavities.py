# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The cavity of a container that is open above, measured by how water would stand in it, and the
convex pieces of a container that is one closed mesh.
"""

from __future__ import annotations

import heapq
import math

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.spatial import ConvexHull

from frame_ros.core.errors import ValueRangeError
from frame_ros.scenes.description.convex_hull import Hull, hull_of

Array = NDArray[np.float64]
Faces = NDArray[np.int64]
CELLS = 80  # of the height map, along the longer level edge
GAP = 5  # cells; narrower gaps between pieces hold water
LEAST_DEPTH, LEAST_HALF_EDGE = 0.01, 0.0075  # m, of what counts as a cavity
SECTORS = 12  # of a wall, at most
CURVED = 0.05  # of a cavity's `bulge`, above which a wall is cut in bands
BANDS = 3
STEPS = (0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)  # shares of the depth, of `steps`
HOLE = 10.0  # m, below all, of cells on which there is nothing
START = 5e-4  # m, above the floor, where the wall of a container begins
_SAMPLES = 6  # of a surface, per cell of its area
_MOST_SAMPLES = 3_000_000


@attrs.frozen(eq=False)
class Cavity:
    """The inside of an upright container, in its own axes.

    Attributes:
        centre: (2,) m, of the inside halfway up.
        floor: m, z of its lowest point.
        rim: m, z at which water would flow over.
        half_edges: (3,) m, of an upright box from the floor to the rim about the centre, whose
            level edges are those of the inside halfway up.
        normals: (N, 2) outwards, of the sides of the opening's convex outline.
        offsets: (N,) m; a point is over the inside if normals @ point is below them.
        steps: (K, 3) m, halves of the level edges of an upright box about the centre, and its
            height up to the rim: what fits into one of them fits inside.
        bulge: share by which the inside is wider halfway up than between its floor and rim.
    """

    centre: Array
    floor: float
    rim: float
    half_edges: Array
    normals: Array
    offsets: Array
    steps: Array
    bulge: float = 0.0


def box_cavity(half_edges: Array, floor: float) -> Cavity:
    """Returns the inside of a tray: (3,) m, as of `Cavity`, about its axis."""
    normals = np.array(((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)))
    offsets = np.repeat(half_edges[:2], 2)
    steps = (half_edges * (1.0, 1.0, 2.0))[None]
    rim = floor + 2 * float(half_edges[2])
    return Cavity(np.zeros(2), floor, rim, half_edges, normals, offsets, steps)


def cavity_of(corners: Array, faces: Faces) -> Cavity | None:
    """Returns the largest cavity of a surface (V, 3) m, (T, 3); None: it has none that is
    LEAST_DEPTH deep and twice LEAST_HALF_EDGE wide halfway up.

    Water that is poured on the surface stands where it cannot flow off (priority flood, Barnes et
    al. 2014). The surface may consist of pieces: gaps below GAP cells are closed.
    """
    heights, cell, corner = _height_map(corners, faces)
    water = _flooded(heights) - heights
    if water.max() < LEAST_DEPTH:
        return None
    levels = heights + water
    labels, count = ndimage.label(water > 1e-9, structure=np.ones((3, 3)))
    volumes = ndimage.sum_labels(water, labels, np.arange(1, count + 1))
    wet = labels == 1 + int(np.argmax(volumes))
    deepest = np.unravel_index(int(np.where(wet, water, -1.0).argmax()), water.shape)
    rim, floor = float(levels[deepest]), float(heights[deepest])
    wet &= levels <= rim + 1e-9
    middle = wet & (heights <= (floor + rim) / 2)
    places = corner + (np.argwhere(middle) + 0.5) * cell
    centre = (places.min(axis=0) + places.max(axis=0)) / 2
    half = _box_inside(middle, (centre - corner) / cell, np.ptp(places, axis=0) / cell + 1) * cell
    if rim - floor < LEAST_DEPTH or half.min() < LEAST_HALF_EDGE:
        return None
    opening = corner + (np.argwhere(wet) + 0.5) * cell
    sides = ConvexHull(opening).equations
    # Its cells reach half their width further than their middles.
    reach = cell / 2 * np.abs(sides[:, :2]).sum(axis=1)
    half_edges = np.array((*half, (rim - floor) / 2))
    low = wet & (heights <= floor + (rim - floor) / 10)
    widths = np.sqrt([each.sum() for each in (low, middle, wet)])
    bulge = float(2 * widths[1] / (widths[0] + widths[2]) - 1)
    steps = []
    for level in floor + np.array(STEPS) * (rim - floor):
        box = _box_inside(wet & (heights <= level), (centre - corner) / cell, half / cell) * cell
        steps.append((*box, rim - level))
    return Cavity(
        centre, floor, rim, half_edges, sides[:, :2], reach - sides[:, 2], np.array(steps), bulge
    )


def hollow_pieces(corners: Array, faces: Faces, cavity: Cavity) -> tuple[Hull, ...]:
    """Returns convex pieces of a container of one closed mesh: its base, and sectors of its wall,
    in bands where it is curved. Reaching out of a sector, as a handle does, counts with its hull.

    The corners of the sectors are those of the opening's outline; a round one has SECTORS.
    """
    triangles = corners[faces]
    start = cavity.floor + START
    base = _clipped(triangles, np.array((0.0, 0.0, -1.0)), -start)
    pieces = [hull_of(base.reshape(-1, 3))]
    upper = _clipped(triangles, np.array((0.0, 0.0, 1.0)), start)
    angles = _outline_angles(cavity)
    top = float(corners[:, 2].max())
    count = BANDS if cavity.bulge > CURVED else 1
    ends = np.linspace(start, cavity.rim, count + 1)
    ends[-1] = top
    for first, last in zip(angles, np.roll(angles, -1), strict=True):
        sector = upper
        for angle, side in ((first, 1.0), (last, -1.0)):
            normal = side * np.array((-math.sin(angle), math.cos(angle), 0.0))
            sector = _clipped(sector, normal, float(normal[:2] @ cavity.centre))
        for low, high in zip(ends, ends[1:], strict=False):
            band = _clipped(sector, np.array((0.0, 0.0, 1.0)), float(low))
            band = _clipped(band, np.array((0.0, 0.0, -1.0)), -float(high))
            try:
                pieces.append(hull_of(band.reshape(-1, 3)))
            except ValueRangeError:
                continue  # no wall there, or the end of one
    return tuple(pieces)


def _height_map(corners: Array, faces: Faces) -> tuple[Array, float, Array]:
    """Heights of a surface seen from above, the edge of a cell, and the first corner (2,)."""
    low, high = corners.min(axis=0), corners.max(axis=0)
    cell = float((high - low)[:2].max()) / CELLS
    corner = low[:2] - 2 * cell  # around it all is as low as its foot
    shape = tuple((np.ceil((high - low)[:2] / cell).astype(int) + 4).tolist())
    a, b, c = (corners[faces[:, i]] for i in range(3))
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2
    counts = np.ceil(areas / cell**2 * _SAMPLES).astype(np.int64) + 1
    if counts.sum() > _MOST_SAMPLES:
        counts = np.ceil(counts * (_MOST_SAMPLES / counts.sum())).astype(np.int64)
    chosen = np.repeat(np.arange(len(faces)), counts)
    number = np.arange(len(chosen)) - np.repeat(np.cumsum(counts) - counts, counts)
    # Within a triangle by the additive sequence of the plastic number, as of `spread_points`.
    s, t = np.modf(np.outer((0.7548776662466927, 0.5698402909980532), number))[0]
    is_out = s + t > 1
    s, t = np.where(is_out, 1 - s, s)[:, None], np.where(is_out, 1 - t, t)[:, None]
    samples = a[chosen] + s * (b - a)[chosen] + t * (c - a)[chosen]
    samples = np.concatenate((samples, corners))
    cells = np.minimum(((samples[:, :2] - corner) / cell).astype(int), np.array(shape) - 1)
    heights = np.full(shape, low[2] - HOLE)  # where there is nothing, so that water flows off
    np.maximum.at(heights, (cells[:, 0], cells[:, 1]), samples[:, 2])
    closed = ndimage.grey_closing(heights, GAP)
    # Only gaps in what stands around are closed: the floor of a narrow cavity stays.
    return np.asarray(np.where(_is_gap(heights, closed), closed, heights)), cell, corner


def _is_gap(heights: Array, closed: Array) -> NDArray[np.bool_]:
    """Cells of a gap that is narrower than GAP, but not those of a pit all around."""
    pits = ndimage.label(closed - heights > 1e-9, structure=np.ones((3, 3)))[0]
    found = np.zeros(heights.shape, bool)
    for index, place in enumerate(ndimage.find_objects(pits), 1):
        sides = [piece.stop - piece.start for piece in place]
        found[place] |= (pits[place] == index) & (min(sides) < GAP)
    return found


def _flooded(heights: Array) -> Array:
    """The level to which water stands on each cell, if it flows off at the border and where there
    is nothing, as through a ring.
    """
    levels = np.full(heights.shape, np.inf)
    rows, columns = heights.shape
    queue = []
    for row in range(rows):
        for column in range(columns) if row in (0, rows - 1) else (0, columns - 1):
            levels[row, column] = heights[row, column]
            queue.append((float(heights[row, column]), row, column))
    for row, column in np.argwhere(heights <= heights.min() + HOLE / 2).tolist():
        levels[row, column] = heights[row, column]
        queue.append((float(heights[row, column]), row, column))
    heapq.heapify(queue)
    values = heights.tolist()
    while queue:
        level, row, column = heapq.heappop(queue)
        for r, c in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
            if 0 <= r < rows and 0 <= c < columns and levels[r, c] == np.inf:
                levels[r, c] = max(level, values[r][c])
                heapq.heappush(queue, (levels[r, c], r, c))
    return levels


def _box_inside(mask: NDArray[np.bool_], centre: Array, sides: Array) -> Array:
    """Half the edges, in cells, of the largest box of the proportions of `sides` about a centre
    whose cells are all of the mask.
    """
    rows, columns = np.indices(mask.shape)
    away = np.maximum(
        np.abs(rows + 0.5 - centre[0]) / (sides[0] / 2),
        np.abs(columns + 0.5 - centre[1]) / (sides[1] / 2),
    )
    nearest = float(away[~mask].min())  # of what is no inside
    reach = float(away[mask & (away < nearest)].max(initial=0.0))
    return np.asarray(reach * sides / 2)


def _outline_angles(cavity: Cavity) -> Array:
    """Directions, rad, from the centre to the corners of the outline, of SECTORS at most."""
    points = _outline(cavity) - cavity.centre
    size = float(np.linalg.norm(points, axis=1).max())
    tolerance = 0.02 * size
    kept = list(range(len(points)))
    while len(kept) > 3:  # without the corner that is missed least
        losses = []
        for i, here in enumerate(kept):
            before, after = points[kept[i - 1]], points[kept[(i + 1) % len(kept)]]
            along = after - before
            offset = points[here] - before
            losses.append(abs(float(along[0] * offset[1] - along[1] * offset[0])) / max(
                float(np.linalg.norm(along)), 1e-12))  # fmt: skip
        least = int(np.argmin(losses))
        if losses[least] > tolerance and len(kept) <= SECTORS:
            break
        kept.pop(least)
    angles = np.sort(np.arctan2(points[kept][:, 1], points[kept][:, 0]))
    if np.diff(np.append(angles, angles[0] + 2 * math.pi)).max() > 0.9 * math.pi:
        angles = np.arange(SECTORS) * (2 * math.pi / SECTORS) - math.pi
    return np.asarray(angles, np.float64)


def _outline(cavity: Cavity) -> Array:
    """(N, 2) m, the corners of the opening's outline, in order."""
    order = np.argsort(np.arctan2(cavity.normals[:, 1], cavity.normals[:, 0]))
    normals, offsets = cavity.normals[order], cavity.offsets[order]
    found = []
    for i in range(len(normals)):
        pair = np.array((normals[i - 1], normals[i]))
        if abs(np.linalg.det(pair)) > 1e-6:
            found.append(np.linalg.solve(pair, (offsets[i - 1], offsets[i])))
    return np.asarray(found, np.float64)


def _clipped(triangles: Array, normal: Array, offset: float) -> Array:
    """Triangles (T, 3, 3) as far as normal @ point >= offset; their corners span what is left."""
    if not len(triangles):
        return triangles
    gaps = triangles @ normal - offset
    whole = triangles[(gaps >= 0).all(axis=1)]
    cut = (gaps >= 0).any(axis=1) & (gaps < 0).any(axis=1)
    parts, gaps = triangles[cut], gaps[cut]
    if not len(parts):
        return np.asarray(whole)
    points = []
    for i in range(3):
        j = (i + 1) % 3
        a, b, here, there = parts[:, i], parts[:, j], gaps[:, i], gaps[:, j]
        crosses = (here < 0) != (there < 0)
        share = np.where(crosses, here / np.where(crosses, here - there, 1.0), 0.0)
        points.append(np.where((here >= 0)[:, None], a, np.nan))
        points.append(np.where(crosses[:, None], a + share[:, None] * (b - a), np.nan))
    ring = np.stack(points, axis=1)  # (T, 6, 3) in order, with gaps
    found = [whole]
    for each in ring:
        polygon = each[np.isfinite(each[:, 0])]
        found += [polygon[None, (0, i, i + 1)] for i in range(1, len(polygon) - 1)]
    return np.concatenate(found)
