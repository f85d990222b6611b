# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The compiled loops that find thin things in a depth image. See `compiled` for what may stand
here.

Arguments that functions share: depth: (H, W), as the camera gave it; scale: m per unit; limits:
(4,) least and largest depth, and the tolerance: m, and m at 1 m growing with the square.
"""
# mypy: disable-error-code="no-untyped-def,assignment"

from __future__ import annotations

import numpy as np

from frame_ros.sensing.proximity.depth import kernels
from frame_ros.sensing.proximity.depth.compiled import compiled
from frame_ros.sensing.proximity.depth.unseen_kernels import is_robot

ACROSS = 3  # pixels from a thin thing to what must lie behind it, on both sides
REACH = 7  # pixels along it in which others must agree
STEP = 1e-3  # m, at least, along a ray


@compiled
def mark_ridges(depth, factors, ridges, counts):
    """Sets ridges (H, W) bool where what lies ACROSS pixels away on both sides, in any of four
    directions, is farther than noise explains, or not known. What flies at the edge of something
    lies between its two sides, and is no ridge.

    counts: (H,) becomes the number of each row.
    factors: (4,) of the image's units: least and largest depth, and of the tolerance the summand
    and the factor of the square.
    """
    low, high = np.float32(factors[0]), np.float32(factors[1])
    summand, square = np.float32(factors[2]), np.float32(factors[3])
    for row in range(ACROSS, depth.shape[0] - ACROSS):
        above, own, below = depth[row - ACROSS], depth[row], depth[row + ACROSS]
        result, count = ridges[row], np.uint32(0)
        for left in range(depth.shape[1] - 2 * ACROSS):
            middle, right = left + ACROSS, left + 2 * ACROSS
            value = np.float32(own[middle])
            limit = value + summand + square * value * value
            is_no_ridge = _is_near(own[left], limit) | _is_near(own[right], limit)
            is_no_ridge &= _is_near(above[middle], limit) | _is_near(below[middle], limit)
            is_no_ridge &= _is_near(above[left], limit) | _is_near(below[right], limit)
            is_no_ridge &= _is_near(above[right], limit) | _is_near(below[left], limit)
            is_ridge = (not is_no_ridge) & (value >= low) & (value <= high)
            result[middle] = is_ridge
            count += np.uint32(is_ridge)
        counts[row] = count


@compiled
def _is_near(value, limit):
    """Returns whether a value is known, and no farther than a limit."""
    return (np.float32(value) > 0) & (np.float32(value) <= limit)


@compiled
def support_of_ridges(depth, scale, limits, ridges, rows, columns, counts):
    """Fills counts (K,): how many ridges at about its depth are around each of the ridges at rows
    and columns (K,); 0 where they are no line.
    """
    for ridge in range(len(rows)):
        counts[ridge] = _agreeing(depth, scale, limits, ridges, rows[ridge], columns[ridge])


@compiled
def _agreeing(depth, scale, limits, ridges, row, column):
    """Returns how many ridges around one are at about its depth; 0 if they make no line."""
    z = np.float64(depth[row, column]) * scale
    tolerance = limits[2] + limits[3] * z * z
    count, top, bottom, left, right = 0, row, row, column, column
    for down in range(max(row - REACH, 0), min(row + REACH + 1, ridges.shape[0])):
        for across in range(max(column - REACH, 0), min(column + REACH + 1, ridges.shape[1])):
            if ridges[down, across]:
                other = np.float64(depth[down, across]) * scale
                if abs(other - z) <= tolerance:
                    count += 1
                    top, bottom = min(top, down), max(bottom, down)
                    left, right = min(left, across), max(right, across)
    return count if max(bottom - top, right - left) > REACH else 0


@compiled
def keep_free(points, normals, offsets, shapes, groups, padding, noise, keep):
    """Sets keep (K,) of points (K, 3), m, in the optical frame: outside of the robot's padding,
    whatever the noise, and within the half spaces; see `unseen_kernels.leave_out`.
    """
    for point in range(len(points)):
        x, y, z = points[point, 0], points[point, 1], points[point, 2]
        ray = np.sqrt(x * x + y * y + z * z)
        along = noise * z * ray
        keep[point] = True
        for plane in range(len(offsets)):
            slope = (normals[plane, 0] * x + normals[plane, 1] * y + normals[plane, 2] * z) / z
            depth = z + noise * z * z if slope < 0.0 else z
            keep[point] &= slope * depth > offsets[plane]
        if keep[point]:
            keep[point] = not is_robot(x, y, z, shapes, groups, padding + along)


@compiled
def keep_unmixed(depth, scale, limits, x, y, rows, columns, shapes, groups, padding, keep):
    """Clears keep (K,) of pixels at rows and columns (K,) that may mix the robot's outline with
    what lies behind it. Depths in between are those of nothing, and along an outline enough of them
    agree by chance to be a line.

    A pixel may if the robot is next to it, and nearer: a pixel within ACROSS shows it, by more than
    noise explains before this one; or one ACROSS away has no depth, and its ray meets the robot
    before this one, as where the robot is too near to be measured.

    x, y: of the rays. shapes: the robot in the optical frame; groups: of them, see
    `unseen_kernels.is_robot`. padding: m around it.
    """
    for pixel in range(len(rows)):
        row, column = rows[pixel], columns[pixel]
        z = np.float64(depth[row, column]) * scale
        nearer = z - limits[2] - limits[3] * z * z
        for down in range(-ACROSS, ACROSS + 1):
            for across in range(-ACROSS, ACROSS + 1):
                if not keep[pixel]:
                    break
                u, v = x[column + across], y[row + down]
                other = np.float64(depth[row + down, column + across]) * scale
                if limits[0] <= other < nearer:
                    reach = padding + limits[3] * other * other * np.sqrt(u * u + v * v + 1.0)
                    at = u * other, v * other
                    keep[pixel] = not is_robot(at[0], at[1], other, shapes, groups, reach)
                elif not other > 0 and down % ACROSS == 0 and across % ACROSS == 0:
                    keep[pixel] = not _meets(u, v, z, shapes, padding)


@compiled
def _meets(x, y, z, shapes, padding):
    """Returns whether a ray (x, y, 1) comes within the padding of a shape before the depth z, m."""
    length, at = np.sqrt(x * x + y * y + 1.0), 0.0
    while at < z:
        least = np.inf
        for row in range(len(shapes)):
            least = min(least, kernels.distance(shapes, row, x * at, y * at, at))
        if least <= padding:
            return True
        at += max(least - padding, STEP) / length
    return False


@compiled
def take_nearer(points, shapes, owners, found):
    """Lowers found (L, 7), see `kernels.find_nearest`, to the nearest of points (K, 3), m."""
    for row in range(len(shapes)):
        link = owners[row]
        if link < 0:
            continue
        for point in range(len(points)):
            x, y, z = points[point, 0], points[point, 1], points[point, 2]
            least = kernels.distance(shapes, row, x, y, z)
            if not least >= found[link, 0]:
                found[link, 0], found[link, 1], found[link, 2] = least, x, y
                found[link, 3] = z
                kernels.put_surface(shapes, row, found, link)
