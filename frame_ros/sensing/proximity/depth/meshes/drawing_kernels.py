# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The compiled loops that draw triangles into a depth image.

A pixel shows the nearest surface on the ray through its centre; centres lie at whole numbers.
1 / z of a plane is linear in the columns and rows of a pinhole camera, so that the buffer of it is
filled without a division per pixel. See `compiled` for what may stand here.

Arguments that functions share:

- lens: (4,) focal lengths and principal point, fx, fy, cx, cy, in pixels.
- placed: (V, 3) float32, of each vertex column, row and 1 / z; 1 / z is 0 where it is nearer than
  the near plane.
- buffer: (H, W) float32 of 1 / z, 1/m; 0 where nothing was drawn.
"""
# mypy: disable-error-code="no-untyped-def,assignment"

from __future__ import annotations

import numpy as np

from frame_ros.sensing.proximity.depth.compiled import compiled, inlined

EDGE = 1e-4  # pixels by which an edge counts as inside: neighbours leave no crack between them
SMALL = 12  # pixels about a triangle up to which each is looked at


@compiled
def project(vertices, first, last, rotation, translation, lens, near, placed):
    """Fills placed[first:last] of vertices (V, 3) m whose frame has the pose (3, 3), (3,) m in the
    optical frame. A vertex nearer than `near`, m, gets 1 / z = 0. Returns how many do.
    """
    count = 0
    a, b, c = rotation[0, 0], rotation[0, 1], rotation[0, 2]
    d, e, f = rotation[1, 0], rotation[1, 1], rotation[1, 2]
    g, h, i = rotation[2, 0], rotation[2, 1], rotation[2, 2]
    s, t, u = translation[0], translation[1], translation[2]
    for row in range(first, last):
        x, y, z = vertices[row, 0], vertices[row, 1], vertices[row, 2]
        depth = g * x + h * y + i * z + u
        is_near = depth < near
        inverse = 1.0 / (near if is_near else depth)
        placed[row, 0] = lens[0] * (a * x + b * y + c * z + s) * inverse + lens[2]
        placed[row, 1] = lens[1] * (d * x + e * y + f * z + t) * inverse + lens[3]
        placed[row, 2] = 0.0 if is_near else inverse
        count += is_near
    return count


@inlined
def _fill(placed, one, two, three, area, left, right, top, bottom, buffer):
    """Draws one triangle: rows of its corners in `placed`, its doubled area in pixels, not 0, and
    the pixels about it. Row by row: the three edges give the span of columns, so that slivers, of
    which CAD models are full, cost no more than their height.
    """
    u0, v0, w0 = np.float64(placed[one, 0]), np.float64(placed[one, 1]), placed[one, 2]
    u1, v1, w1 = np.float64(placed[two, 0]), np.float64(placed[two, 1]), placed[two, 2]
    u2, v2, w2 = np.float64(placed[three, 0]), np.float64(placed[three, 1]), placed[three, 2]
    scale = 1.0 / area
    # Of each corner's weight, its change by a column and by a row.
    a0, b0 = (v1 - v2) * scale, (u2 - u1) * scale
    a1, b1 = (v2 - v0) * scale, (u0 - u2) * scale
    a2, b2 = -a0 - a1, -b0 - b1
    slack = EDGE * max(abs(a0) + abs(b0), abs(a1) + abs(b1), abs(a2) + abs(b2))
    inverse_0, inverse_1, inverse_2 = 1.0 / a0, 1.0 / a1, 1.0 / a2
    slope = a0 * w0 + a1 * w1 + a2 * w2
    for row in range(top, bottom + 1):
        first, second = b0 * (row - v2), b1 * (row - v2)
        third = 1.0 - first - second
        low, high = left - u2, right - u2
        low, high = _cut(low, high, a0, inverse_0, first + slack)
        low, high = _cut(low, high, a1, inverse_1, second + slack)
        low, high = _cut(low, high, a2, inverse_2, third + slack)
        if low > high:
            continue
        start, end = int(np.ceil(low + u2 - EDGE)), int(np.floor(high + u2 + EDGE))
        level = first * w0 + second * w1 + third * w2 - slope * u2
        for column in range(max(start, left), min(end, right) + 1):
            inverse = np.float32(level + slope * column)
            if inverse > buffer[row, column]:
                buffer[row, column] = inverse


@inlined
def _cut(low, high, slope, inverse, at_zero):
    """Returns the part of low to high where at_zero + slope * t >= 0; inverse: 1 / slope."""
    crossing = -at_zero * inverse
    if slope > 0.0:
        low = max(low, crossing)
    elif slope < 0.0:
        high = min(high, crossing)
    elif at_zero < 0.0:
        high = low - 1.0
    return low, high


@inlined
def _fill_small(placed, one, two, three, area, left, right, top, bottom, buffer):
    """Draws one triangle as `_fill`, pixel by pixel; most hit none, and divide nothing."""
    u0, v0, w0 = np.float64(placed[one, 0]), np.float64(placed[one, 1]), placed[one, 2]
    u1, v1, w1 = np.float64(placed[two, 0]), np.float64(placed[two, 1]), placed[two, 2]
    u2, v2, w2 = np.float64(placed[three, 0]), np.float64(placed[three, 1]), placed[three, 2]
    sign = 1.0 if area > 0.0 else -1.0
    a0, b0 = (v1 - v2) * sign, (u2 - u1) * sign
    a1, b1 = (v2 - v0) * sign, (u0 - u2) * sign
    a2, b2 = -a0 - a1, -b0 - b1
    total = area * sign
    slack = -EDGE * max(abs(a0) + abs(b0), abs(a1) + abs(b1), abs(a2) + abs(b2))
    for row in range(top, bottom + 1):
        for column in range(left, right + 1):
            first = a0 * (column - u2) + b0 * (row - v2)
            second = a1 * (column - u2) + b1 * (row - v2)
            third = total - first - second
            if (first >= slack) & (second >= slack) & (third >= slack):
                inverse = np.float32((first * w0 + second * w1 + third * w2) / total)
                if inverse > buffer[row, column]:
                    buffer[row, column] = inverse


@inlined
def _draw_one(placed, one, two, three, is_closed, buffer):
    """Draws one triangle: rows of its corners in `placed`, none nearer than the near plane."""
    height, width = buffer.shape
    u0, u1, u2 = placed[one, 0], placed[two, 0], placed[three, 0]
    left = max(int(np.ceil(min(u0, u1, u2) - EDGE)), 0)
    right = min(int(np.floor(max(u0, u1, u2) + EDGE)), width - 1)
    v0, v1, v2 = placed[one, 1], placed[two, 1], placed[three, 1]
    top = max(int(np.ceil(min(v0, v1, v2) - EDGE)), 0)
    bottom = min(int(np.floor(max(v0, v1, v2) + EDGE)), height - 1)
    if left <= right and top <= bottom:
        # Rows run downwards: a face that is seen runs clockwise.
        area = np.float64(u1 - u0) * np.float64(v2 - v0) - np.float64(u2 - u0) * np.float64(v1 - v0)
        if area < 0.0 or (area > 0.0 and not is_closed):
            if (right - left + 1) * (bottom - top + 1) <= SMALL:
                _fill_small(placed, one, two, three, area, left, right, top, bottom, buffer)
            else:
                _fill(placed, one, two, three, area, left, right, top, bottom, buffer)


@compiled
def draw(triangles, first, last, is_closed, placed, buffer):
    """Draws triangles[first:last] (T, 3) into the buffer, but for those that reach nearer than the
    near plane. Of closed surfaces, whose corners run counterclockwise seen from outside, those that
    face away are left out.
    """
    for row in range(first, last):
        one, two, three = triangles[row, 0], triangles[row, 1], triangles[row, 2]
        if min(placed[one, 2], placed[two, 2], placed[three, 2]) > 0:
            _draw_one(placed, one, two, three, is_closed, buffer)


@compiled
def draw_cut(
    triangles, first, last, is_closed, placed, buffer, vertices, rotation, translation, lens, near
):
    """Draws, of the triangles that `draw` leaves out, what lies beyond the near plane. vertices,
    rotation, translation, lens, near: as for `project`.
    """
    corners, cut = np.empty((3, 3)), np.empty((4, 3), np.float32)
    for row in range(first, last):
        found = 0
        for place in range(3):
            vertex = triangles[row, place]
            found += placed[vertex, 2] > 0
            for axis in range(3):
                corners[place, axis] = translation[axis]
                for other in range(3):
                    corners[place, axis] += rotation[axis, other] * vertices[vertex, other]
        if found == 0 or found == 3:
            continue
        count = 0
        for place in range(3):
            here, there = corners[place], corners[(place + 1) % 3]
            if here[2] >= near:
                _put(cut, count, here[0], here[1], here[2], lens)
                count += 1
            if (here[2] >= near) != (there[2] >= near):
                share = (near - here[2]) / (there[2] - here[2])
                x = here[0] + share * (there[0] - here[0])
                y = here[1] + share * (there[1] - here[1])
                _put(cut, count, x, y, near, lens)
                count += 1
        for last_corner in range(2, count):
            _draw_one(cut, 0, last_corner - 1, last_corner, is_closed, buffer)


@inlined
def _put(placed, row, x, y, z, lens):
    """Projects one point into a row of `placed`."""
    placed[row, 0] = lens[0] * x / z + lens[2]
    placed[row, 1] = lens[1] * y / z + lens[3]
    placed[row, 2] = 1.0 / z
