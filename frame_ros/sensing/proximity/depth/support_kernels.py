# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The compiled loops that decide which pixels of a depth image count, by their neighbours.

A pixel counts if enough of the 8 next to it are at about its depth. On a surface that is seen
steeply, such as a wall along the line of sight or somebody under a camera at the ceiling, none are:
there it counts if as large a share of the pixels about it lies on one plane. That takes a window
wider than the ramp of mixed depths that a camera may show along an outline. See `compiled` for what
may stand here.

Arguments that functions share:

- image: (H, W) float32, 0 where there is nothing to measure.
- support: (4,) of a pixel's 8 neighbours those that it needs, factor and summand of `agree`, is the
  unit mm.
"""
# mypy: disable-error-code="no-untyped-def,assignment"

from __future__ import annotations

import numpy as np

from frame_ros.sensing.proximity.depth.compiled import compiled

SATURATED = 65535  # mm
UNKNOWN, COUNTS, ALONE = 0, 1, 2  # support of a pixel
HALF = 3  # pixels on either side of one that is seen steeply
PIXELS = (2 * HALF + 1) ** 2
NEIGHBOURS = 8


@compiled
def agree(one, other, support):
    """Returns whether two neighbouring values are of about the same depth; 0, invalid, agrees with
    none. For mm the share counts in whole 256ths, rounded down in two steps.
    """
    low, high = min(one, other), max(one, other)
    if support[3] > 0.0:
        more = ((int(low) >> 4) * int(support[1])) >> 4
        return low > 0 and high <= min(int(low) + more + int(support[2]), SATURATED)
    return low > 0 and high <= low * np.float32(support[1]) + np.float32(support[2])


@compiled
def has_neighbours(image, row, column, support, least):
    """Returns whether so many of a pixel's 8 neighbours are at about its depth."""
    count = 0
    for down in range(max(row - 1, 0), min(row + 2, image.shape[0])):
        for across in range(max(column - 1, 0), min(column + 2, image.shape[1])):
            count += agree(image[row, column], image[down, across], support)
    return count - 1 >= least  # itself


@compiled
def is_kept(image, row, column, support, verdicts):
    """Returns whether a valid pixel, or a neighbour at about its depth, has support, so that
    objects keep their rims, or it lies on a plane. verdicts: of the image's size, uint8: the
    results so far.
    """
    if support[0] <= 0.0:
        return True
    if verdicts[row, column] != UNKNOWN:
        return verdicts[row, column] == COUNTS
    verdicts[row, column] = ALONE
    for down in range(max(row - 1, 0), min(row + 2, image.shape[0])):
        for across in range(max(column - 1, 0), min(column + 2, image.shape[1])):
            if agree(image[row, column], image[down, across], support) and has_neighbours(
                image, down, across, support, support[0]
            ):
                verdicts[row, column] = COUNTS
                return True
    if _is_on_plane(image, row, column, support):
        verdicts[row, column] = COUNTS
        return True
    return False


@compiled
def _is_on_plane(image, row, column, support):
    """Returns whether enough of the pixels about one, and it, are at about the depth of one plane.

    A plane's inverse depth is linear in the picture: its changes are the mean ones of pixels that
    lie opposite each other.
    """
    top, left = row - HALF, column - HALF
    bottom, right = row + HALF, column + HALF
    if top < 0 or left < 0 or bottom >= image.shape[0] or right >= image.shape[1]:
        return False
    needed = 1 + np.ceil(support[0] / NEIGHBOURS * (PIXELS - 1))  # with itself
    count, middle, per_row, per_column, rows, columns = 0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(-HALF, HALF + 1):
        for j in range(-HALF, HALF + 1):
            if image[row + i, column + j] > 0.0 and image[row - i, column - j] > 0.0:
                inverse = 1.0 / np.float64(image[row + i, column + j])
                count, middle = count + 1, middle + inverse
                per_row, rows = per_row + i * inverse, rows + i * i
                per_column, columns = per_column + j * inverse, columns + j * j
    if count < needed:
        return False
    middle, per_row, per_column = middle / count, per_row / rows, per_column / columns
    count = 0
    for i in range(-HALF, HALF + 1):
        for j in range(-HALF, HALF + 1):
            inverse = middle + per_row * i + per_column * j
            if inverse > 0.0:
                count += agree(np.float32(1.0 / inverse), image[row + i, column + j], support)
    return count >= needed and agree(np.float32(1.0 / middle), image[row, column], support)
