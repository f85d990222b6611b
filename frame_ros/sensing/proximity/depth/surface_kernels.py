# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The compiled loop that takes the surface through the nearest pixel for that pixel.

The nearest of many noisy pixels is one whose noise points at the robot: its distance is too near,
the more so the more pixels there are. The plane through its neighbours has a fraction of that
noise. What is thin or pointed would be averaged with what lies behind it, so the point is never
behind the mean of the 3 x 3 pixels about it.

Cameras also shift pixels across the ray: at the outline of a thing the one that was shifted, or
fell, farthest out is the nearest. So all pixels close to it are put onto their planes, and the mean
of the few that are then nearest is the point. On a flat surface it is the nearest point itself; at
a tip it lies up to a pixel behind it. See `compiled` for what may stand here, and `kernels`
for the arguments that functions share.
"""
# mypy: disable-error-code="no-untyped-def,assignment"

from __future__ import annotations

import numpy as np

from frame_ros.sensing.proximity.depth import kernels
from frame_ros.sensing.proximity.depth.compiled import compiled
from frame_ros.sensing.proximity.depth.support_kernels import agree

HALF = 3  # pixels on either side of the nearest one that may belong to its surface
LEAST = 12  # of them that must be at about its depth; with fewer the pixel stands for itself
FITS = 3  # of the plane, the first about the pixel itself
AROUND = 2  # `around` where the robot is not in the image
MEAN = 5  # of them, the nearest ones, whose mean is the point
RIDGE = 1e-3  # share of the pixels, that keeps a fit along a single line from tipping over


@compiled
def pixel_of(found, link, x, y):
    """Returns row and column of the pixel that found[link] has its point from."""
    z = found[link, 3]
    row = int(np.rint((found[link, 2] / z - y[0]) / (y[1] - y[0])))
    column = int(np.rint((found[link, 1] / z - x[0]) / (x[1] - x[0])))
    return row, column


@compiled
def settle(image, scale, x, y, shapes, owners, support, around, chosen, found):
    """Moves the point of each link to the mean of the MEAN nearest points of the surface there.

    Args:
        support: (4,) decides what is at about the same depth.
        around: pixels on either side of the nearest one that may be nearer on their planes; 0: it
            stands alone, as where the robot itself is in the image.
        chosen: (L,) bool, links whose point is a pixel of the image.
        found: (L, 7) as of `kernels.find_nearest`; renewed.
    """
    points = np.empty((MEAN, 4))  # distance, point: of the nearest ones so far, in order
    for link in range(len(found)):
        if not (chosen[link] and found[link, 3] > 0.0):
            continue
        row, column = pixel_of(found, link, x, y)
        depth = _on_plane(image, row, column, support)
        if not depth > 0.0:
            continue
        count = 0
        for down in range(max(row - around, 0), min(row + around + 1, image.shape[0])):
            for across in range(max(column - around, 0), min(column + around + 1, image.shape[1])):
                if not agree(np.float32(depth), image[down, across], support):
                    continue
                z = _on_plane(image, down, across, support) * scale
                if z > 0.0:
                    a, b = x[across] * z, y[down] * z
                    near = _nearest(shapes, owners, link, a, b, z)[0]
                    count = _insert(points, count, near, a, b, z)
        if count > 0:
            for axis in range(1, 4):
                found[link, axis] = points[:count, axis].sum() / count
            _measure(shapes, owners, link, found)


@compiled
def _insert(points, count, distance, x, y, z):
    """Puts a point among the first `count` of points, which are in order of their distance; returns
    their new number. The last one falls out where there is no room.
    """
    place = min(count, MEAN - 1)
    if count == MEAN and points[place, 0] <= distance:
        return count
    while place > 0 and points[place - 1, 0] > distance:
        points[place] = points[place - 1]
        place -= 1
    points[place, 0], points[place, 1], points[place, 2], points[place, 3] = distance, x, y, z
    return min(count + 1, MEAN)


@compiled
def _on_plane(image, row, column, support):
    """Returns the depth at a pixel, in units of the image, of the plane through those around it at
    about its depth, no farther than the mean of those next to it; 0 if they are too few. A plane's
    inverse depth is linear in the picture.

    The pixel itself is an outlier, as it was the nearest of many. So those that are at about the
    depth of the plane are taken in its place, and once more.
    """
    plane = np.array([1.0 / np.float64(image[row, column]), 0.0, 0.0])
    result, sums = 0.0, np.empty((3, 4))
    for _ in range(FITS):
        count, low, mean = _sum_up(image, row, column, support, plane, sums)
        if count < LEAST:
            break
        sums[1, 1] += RIDGE * count
        sums[2, 2] += RIDGE * count
        _solve(sums, plane)
        if not plane[0] > 0.0:
            break
        result = max(1.0 / plane[0], low)
        result = min(result, mean) if mean > 0.0 else result
    return result


@compiled
def _sum_up(image, row, column, support, plane, sums):
    """Fills sums (3, 4), the normal equations of a plane through the pixels at about the depth of
    the last one; returns their number, the least of them, and the mean of those of 3 x 3.

    plane: (3,) inverse depth at the pixel, and its change per row and column.
    """
    sums[:] = 0.0
    count, low, near, nears = 0, np.inf, 0.0, 0
    for down in range(max(row - HALF, 0), min(row + HALF + 1, image.shape[0])):
        for across in range(max(column - HALF, 0), min(column + HALF + 1, image.shape[1])):
            i, j = float(down - row), float(across - column)
            inverse = plane[0] + plane[1] * i + plane[2] * j
            if not inverse > 0.0:
                continue
            if agree(np.float32(1.0 / inverse), image[down, across], support):
                value = np.float64(image[down, across])
                low, count = min(low, value), count + 1
                if abs(i) <= 1.0 and abs(j) <= 1.0:
                    near, nears = near + value, nears + 1
                terms = (1.0, i, j, 1.0 / value)
                for one in range(3):
                    for other in range(4):
                        sums[one, other] += terms[one] * terms[other]
    return count, low, near / max(nears, 1)


@compiled
def _solve(rows, result):
    """Fills result (3,): of three linear equations, rows (3, 4), by Cramer's rule."""
    a, b, c, p = rows[0]
    d, e, f, q = rows[1]
    g, h, i, r = rows[2]
    whole = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    result[0] = (p * (e * i - f * h) - b * (q * i - f * r) + c * (q * h - e * r)) / whole
    result[1] = (a * (q * i - f * r) - p * (d * i - f * g) + c * (d * r - q * g)) / whole
    result[2] = (a * (e * r - q * h) - b * (d * r - q * g) + p * (d * h - e * g)) / whole


@compiled
def _nearest(shapes, owners, link, x, y, z):
    """Returns m from a point to the nearest shape of a link, and the row of that; -1: it has
    none.
    """
    nearest, least = -1, np.inf
    for row in range(len(shapes)):
        if owners[row] == link:
            distance = kernels.distance(shapes, row, x, y, z)
            if distance < least:
                nearest, least = row, distance
    return least, nearest


@compiled
def _measure(shapes, owners, link, found):
    """Fills the distance of found[link] and the point on the link's surface."""
    x, y, z = found[link, 1], found[link, 2], found[link, 3]
    least, nearest = _nearest(shapes, owners, link, x, y, z)
    found[link, 0] = max(least, 0.0)
    if nearest >= 0:
        kernels.put_surface(shapes, nearest, found, link)
