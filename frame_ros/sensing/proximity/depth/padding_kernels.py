# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The compiled loop that follows obstacles into the padding of the robot.

All within the padding is taken for the robot, so an obstacle that begins there is measured where
the padding ends. Its surface goes on inside: pixels that are linked to one outside, each at about
the depth of the one before, are its own, but for those of the robot's surface. An image that shows
nothing outside the padding has nothing that is followed, so it can give no false distance. See
`compiled` for what may stand here, and `kernels` for the arguments that functions share.
"""
# mypy: disable-error-code="no-untyped-def,assignment"

from __future__ import annotations

import numpy as np

from frame_ros.sensing.proximity.depth import kernels
from frame_ros.sensing.proximity.depth.compiled import compiled
from frame_ros.sensing.proximity.depth.support_kernels import agree, has_neighbours
from frame_ros.sensing.proximity.depth.surface_kernels import pixel_of

REACH = 40  # pixels on either side in which a surface is followed, but for the outline's
NEIGHBOURS = 5  # of 8 that a pixel needs at about its depth: those along a straight edge have them


@compiled
def follow(image, whole, scale, x, y, shapes, owners, support, core, noise, pixels, chosen, found):
    """Moves the point of each link to the nearest pixel of the surface that it lies on.

    Args:
        image: without the robot; whole: the same with it.
        support: (4,) decides what is at about the same depth.
        core: m around all shapes; what lies within is the robot, and so is what its depth z, wrong
            by noise * z^2 m, may have put outside.
        pixels: on either side of the first one in which a surface is followed.
        chosen: (L,) bool, links whose point is a pixel of the image; False where it did not move.
        found: (L, 7) as of `kernels.find_nearest`; renewed.
    """
    side = 2 * pixels + 1
    seen = np.empty((side, side), np.bool_)
    places = np.empty((side * side, 2), np.int64)
    for link in range(len(found)):
        if not (chosen[link] and found[link, 3] > 0.0):
            continue
        row, column = pixel_of(found, link, x, y)
        least = found[link, 0]
        _follow(image, whole, scale, x, y, shapes, owners, support, core, noise, link, row, column,
                seen, places, found)  # fmt: skip
        chosen[link] = found[link, 0] < least


@compiled
def _follow(
    image,
    whole,
    scale,
    x,
    y,
    shapes,
    owners,
    support,
    core,
    noise,
    link,
    top,
    left,
    seen,
    places,
    found,
):
    """Lowers found[link] to the nearest pixel linked to the one at (top, left).

    seen: (S, S) bool and places: (S^2, 2) are used up.
    """
    middle = seen.shape[0] // 2
    seen[:] = False
    seen[middle, middle] = True
    places[0, 0], places[0, 1] = top, left
    count, nearest = 1, -1
    least = min(NEIGHBOURS, support[0])
    while count > 0:
        count -= 1
        row, column = places[count, 0], places[count, 1]
        for down in range(max(row - 1, 0), min(row + 2, whole.shape[0])):
            for across in range(max(column - 1, 0), min(column + 2, whole.shape[1])):
                i, j = down - top + middle, across - left + middle
                if i < 0 or j < 0 or i > 2 * middle or j > 2 * middle or seen[i, j]:
                    continue
                if not agree(whole[row, column], whole[down, across], support):
                    continue
                seen[i, j] = True
                z = np.float64(whole[down, across]) * scale
                a, b = x[across] * z, y[down] * z
                if not has_neighbours(whole, down, across, support, least):
                    continue
                reach = core + noise * z * z
                if image[down, across] <= 0 and _is_within(shapes, a, b, z, reach):
                    continue
                places[count, 0], places[count, 1] = down, across
                count += 1
                for shape in range(len(shapes)):
                    if owners[shape] == link:
                        distance = kernels.distance(shapes, shape, a, b, z)
                        if distance < found[link, 0]:
                            nearest, found[link, 0] = shape, max(distance, 0.0)
                            found[link, 1], found[link, 2], found[link, 3] = a, b, z
    if nearest >= 0:
        kernels.put_surface(shapes, nearest, found, link)


@compiled
def _is_within(shapes, x, y, z, reach):
    """Returns whether a point is within reach, m, of any shape."""
    result = False
    for shape in range(len(shapes)):
        result = result or kernels.distance(shapes, shape, x, y, z) < reach
    return result
