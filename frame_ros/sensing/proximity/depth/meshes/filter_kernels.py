# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The compiled loops that compare a depth image with a drawn one. See `compiled` for what may stand
here.

Arguments that functions share:

- drawn: (H, W) float32 of 1 / z, 1/m; 0 where nothing was drawn.
- low, high: (R, C) float32, least and largest depth drawn per block of 8 x 8 pixels, m; high is 0
  where there is none.
"""
# mypy: disable-error-code="no-untyped-def,assignment"

from __future__ import annotations

import numpy as np

from frame_ros.sensing.proximity.depth.compiled import compiled

SIDE = 8  # pixels of a block's edge


@compiled
def depths(drawn, low, high):
    """Turns `drawn` into depths in m, in place, and fills low and high."""
    height, width = drawn.shape
    low[:], high[:] = np.float32(np.inf), np.float32(0)
    for row in range(height):
        for column in range(width):
            inverse = drawn[row, column]
            if inverse > 0:
                z = np.float32(1.0) / inverse
                drawn[row, column] = z
                down, across = row // SIDE, column // SIDE
                low[down, across] = min(low[down, across], z)
                high[down, across] = max(high[down, across], z)


@compiled
def _limits_about(low, high, top, bottom, left, right):
    """Returns least and largest depth drawn in the blocks that hold rows top to bottom, columns
    left to right.
    """
    least, most = np.float32(np.inf), np.float32(0)
    for down in range(max(top, 0) // SIDE, min(bottom // SIDE + 1, low.shape[0])):
        for across in range(max(left, 0) // SIDE, min(right // SIDE + 1, low.shape[1])):
            least, most = min(least, low[down, across]), max(most, high[down, across])
    return least, most


@compiled
def _is_surface(drawn, row, column, reach, z, tolerance):
    """Returns whether z is, but for the tolerance, between the least and the largest depth drawn in
    the window of `reach` pixels about a pixel. drawn: depths.
    """
    least, most = np.float32(np.inf), np.float32(0)
    here = drawn[row, column] if row < drawn.shape[0] and column < drawn.shape[1] else 0.0
    if here > 0 and abs(here - z) <= tolerance:
        return True
    for down in range(max(row - reach, 0), min(row + reach + 1, drawn.shape[0])):
        for across in range(max(column - reach, 0), min(column + reach + 1, drawn.shape[1])):
            value = drawn[down, across]
            if value > 0:
                least, most = min(least, value), max(most, value)
        if least - tolerance <= z <= most + tolerance:
            return True
    return False


@compiled
def _is_at_edge(drawn, row, column, reach, z):
    """Returns whether, within `reach` pixels of a pixel, some surface drawn is nearer than z, and
    past some z could be seen. There, depths are mixed ones of both sides.
    """
    is_hiding, is_free = False, False
    for down in range(max(row - reach, 0), min(row + reach + 1, drawn.shape[0])):
        for across in range(max(column - reach, 0), min(column + reach + 1, drawn.shape[1])):
            value = drawn[down, across]
            is_hiding |= (value > 0) & (value < z)
            is_free |= (value <= 0) | (value >= z)
    return is_hiding and is_free


@compiled
def find_own(rows, columns, depths, drawn, focal, padding, noise, pixels, own):
    """Sets own (K,): whether pixels at rows and columns (K,), of depths (K,) m, are among those
    that `take_out` sets to 0; the other arguments are its.
    """
    edge = int(np.ceil(pixels))
    for pixel in range(len(rows)):
        row, column, z = rows[pixel], columns[pixel], depths[pixel]
        reach = int(np.ceil(focal * padding / z + pixels))
        is_own = _is_surface(drawn, row, column, reach, z, padding + noise * z * z)
        own[pixel] = is_own or _is_at_edge(drawn, row, column, edge, z)


@compiled
def take_out(image, scale, drawn, low, high, focal, padding, noise, pixels):
    """Sets to 0 all pixels that show what was drawn, or mix it with what is behind its edges;
    returns their number.

    Args:
        image: (H', W') float32, 0 where there is nothing to measure; scale: m per unit of it. It
            may be larger than `drawn`.
        drawn: depths.
        focal: length, in pixels.
        padding: m, across the ray and along it. noise: m at 1 m, growing with the square of depth,
            added along the ray. pixels: added across it; up to as many from an edge, depths
            behind it are mixed ones.
    """
    count, edge = 0, int(np.ceil(pixels))
    height, width = min(image.shape[0], drawn.shape[0]), min(image.shape[1], drawn.shape[1])
    for top in range(0, height, SIDE):
        for left in range(0, width, SIDE):
            bottom, right = min(top + SIDE, height), min(left + SIDE, width)
            nearest, furthest = np.float32(np.inf), np.float32(0)
            for row in range(top, bottom):
                for column in range(left, right):
                    value = image[row, column]
                    nearest = min(nearest, value) if value > 0 else nearest
                    furthest = max(furthest, value)
            if furthest <= 0:
                continue
            most = int(np.ceil(focal * padding / (nearest * scale) + pixels))
            least_z, most_z = _limits_about(
                low, high, top - most, bottom - 1 + most, left - most, right - 1 + most
            )
            wide = padding + noise * (furthest * scale) ** 2
            if furthest * scale < least_z - wide:
                continue
            for row in range(top, bottom):
                for column in range(left, right):
                    z = image[row, column] * scale
                    tolerance = padding + noise * z * z
                    if z <= 0 or z < least_z - tolerance:
                        continue
                    reach = int(np.ceil(focal * padding / z + pixels))
                    is_own = z <= most_z + tolerance
                    is_own = is_own and _is_surface(drawn, row, column, reach, z, tolerance)
                    is_own = is_own or _is_at_edge(drawn, row, column, edge, z)
                    if is_own:
                        image[row, column] = np.float32(0)
                        count += 1
    return count
