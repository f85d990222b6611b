# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled loops that take the robot out of a depth image and find the nearest of the rest.

An image is looked at in tiles of 4 x 4 blocks of 8 x 8 pixels. The distance of the middle of a ball
around all points of a tile or block, less or plus the ball's radius, bounds those of the points.
Only blocks for which that decides nothing are looked at pixel by pixel: every result is that of all
pixels. See `compiled` for what may stand here.

Arguments that many functions share:

- image: (8 R, 8 C) float32, 0 where there is nothing to measure; scale: m per unit of it.
- near, far: (R, C) float32, least and largest value of each block that is above 0; far is 0 where
  there is none.
- x, y: (8 C,) x/z of each column and (8 R,) y/z of each row.
- shapes: (S, 23): into a shape's frame (3, 3) and (3,), half sizes of its core (3,), the radius
  around that, 1 for a cylinder or else 0, its least and largest depth z in m, middle (3,) and
  radius of a ball around it. A core is a point, segment, box or cylinder; the first half size of
  a cylinder is its radius.
- support: (4,) see `support_kernels`.
"""
# mypy: disable-error-code="no-untyped-def,assignment"

from __future__ import annotations

import numpy as np

from frame_ros.sensing.proximity.depth.compiled import compiled, inlined
from frame_ros.sensing.proximity.depth.support_kernels import is_kept

SIDE = 8  # pixels of a block's edge
WIDE = 4  # blocks of a tile's edge
PIXELS, BLOCKS = SIDE * SIDE, WIDE * WIDE
# Columns of the table of shapes.
SHIFT, HALF, RADIUS, IS_CYLINDER, LOW, HIGH, MIDDLE, BALL = 9, 12, 15, 16, 17, 18, 19, 22
COLUMNS = 23
ROUNDING = 1e-9  # m, far more than float64 loses


@compiled
def _ball(x, y, top, left, side, low, high):
    """Returns middle and radius, m, of a square of pixels at depths low to high, m."""
    bottom, right = min(top + side, len(y)) - 1, min(left + side, len(x)) - 1
    middle, half = 0.5 * (high + low), 0.5 * (high - low)
    u, v = 0.5 * (x[left] + x[right]), 0.5 * (y[top] + y[bottom])
    across = abs(u) * half + 0.5 * (x[right] - x[left]) * high
    down = abs(v) * half + 0.5 * (y[bottom] - y[top]) * high
    radius = np.sqrt(across * across + down * down + half * half) + ROUNDING
    return u * middle, v * middle, middle, radius


@compiled
def _longest(x, y, top, left, side):
    """Returns the longest ray of a square of pixels, per m of depth."""
    bottom, right = min(top + side, len(y)) - 1, min(left + side, len(x)) - 1
    u, v = max(abs(x[left]), abs(x[right])), max(abs(y[top]), abs(y[bottom]))
    return np.sqrt(1.0 + u * u + v * v)


@compiled
def _into(shapes, row, x, y, z):
    """Returns a point in the frame of shape `row`."""
    a = shapes[row, 0] * x + shapes[row, 1] * y + shapes[row, 2] * z + shapes[row, SHIFT]
    b = shapes[row, 3] * x + shapes[row, 4] * y + shapes[row, 5] * z + shapes[row, SHIFT + 1]
    c = shapes[row, 6] * x + shapes[row, 7] * y + shapes[row, 8] * z + shapes[row, SHIFT + 2]
    return a, b, c


@compiled
def distance(shapes, row, x, y, z):
    """Returns m from a point to shape `row`; within its core, minus the radius."""
    a, b, c = _into(shapes, row, x, y, z)
    if shapes[row, IS_CYLINDER] > 0.0:
        a, b = np.sqrt(a * a + b * b), 0.0
    a = max(abs(a) - shapes[row, HALF], 0.0)
    b = max(abs(b) - shapes[row, HALF + 1], 0.0)
    c = max(abs(c) - shapes[row, HALF + 2], 0.0)
    return np.sqrt(a * a + b * b + c * c) - shapes[row, RADIUS]


@inlined
def _is_beyond(shapes, row, x, y, z, limit):
    """Returns whether the ball around shape `row` is farther than a limit (m) from a point."""
    a, b, c = x - shapes[row, MIDDLE], y - shapes[row, MIDDLE + 1], z - shapes[row, MIDDLE + 2]
    reach = max(limit + shapes[row, BALL], 0.0)
    return a * a + b * b + c * c > reach * reach


@compiled
def _can_reach(shapes, row, x, y, top, left, low, high, reach):
    """Returns whether a pixel of a block, at depths from low to high, m, may be within reach of a
    shape. Only depths that the shape, larger by the reach, has are considered.
    """
    low = max(low, shapes[row, LOW] - reach - ROUNDING)
    high = min(high, shapes[row, HIGH] + reach + ROUNDING)
    if low > high:
        return False
    a, b, c, radius = _ball(x, y, top, left, SIDE, low, high)
    return distance(shapes, row, a, b, c) - radius <= reach


@compiled
def least_distances(shapes, points, result):
    """Fills result (N,): m from points (N, 3) to the nearest shape."""
    for point in range(len(points)):
        least = np.inf
        for row in range(len(shapes)):
            found = distance(shapes, row, points[point, 0], points[point, 1], points[point, 2])
            least = min(least, found)
        result[point] = least


@inlined
def _gather(image, scale, x, y, top, left, u, v, z):
    """Fills u, v and z, (64,): x/z, y/z and depth in m of the pixels of a block."""
    place = 0
    for row in range(top, top + SIDE):
        for column in range(left, left + SIDE):
            u[place], v[place], z[place] = x[column], y[row], image[row, column] * scale
            place += 1


@inlined
def _squares(shapes, row, u, v, z, result):
    """Fills result (64,): squared distances of pixels to the core of shape `row`, m^2."""
    i, j, k = shapes[row, 0], shapes[row, 1], shapes[row, 2]
    o, m, n = shapes[row, 3], shapes[row, 4], shapes[row, 5]
    p, q, r = shapes[row, 6], shapes[row, 7], shapes[row, 8]
    s, t, w = shapes[row, SHIFT], shapes[row, SHIFT + 1], shapes[row, SHIFT + 2]
    half_a, half_b, half_c = shapes[row, HALF], shapes[row, HALF + 1], shapes[row, HALF + 2]
    if shapes[row, IS_CYLINDER] > 0.0:
        for place in range(PIXELS):
            a = (i * u[place] + j * v[place] + k) * z[place] + s
            b = (o * u[place] + m * v[place] + n) * z[place] + t
            c = (p * u[place] + q * v[place] + r) * z[place] + w
            a = max(np.sqrt(a * a + b * b) - half_a, 0.0)
            c = max(abs(c) - half_c, 0.0)
            result[place] = a * a + c * c
    else:
        for place in range(PIXELS):
            a = (i * u[place] + j * v[place] + k) * z[place] + s
            b = (o * u[place] + m * v[place] + n) * z[place] + t
            c = (p * u[place] + q * v[place] + r) * z[place] + w
            a = max(abs(a) - half_a, 0.0)
            b = max(abs(b) - half_b, 0.0)
            c = max(abs(c) - half_c, 0.0)
            result[place] = a * a + b * b + c * c


@compiled
def _tile_limits(near, far, row, column):
    """Least and largest value of the tile at (row, column) of tiles."""
    low, high = np.float32(np.inf), np.float32(0)
    for top in range(row * WIDE, min(row * WIDE + WIDE, near.shape[0])):
        for left in range(column * WIDE, min(column * WIDE + WIDE, near.shape[1])):
            low, high = min(low, near[top, left]), max(high, far[top, left])
    return low, high


@compiled
def take_out_robot(image, scale, x, y, near, far, shapes, padding, noise):
    """Sets to 0 all pixels within the padding (m) of any shape; returns their number. So it does
    those that would be within it if their depth z were changed by half of noise * z^2 m, or all of
    it, either way. Renews near and far of their blocks.
    """
    own, chosen, scratch = 0, np.empty((2, len(shapes)), np.intp), np.empty((6, PIXELS))
    for tile_row in range(-(-near.shape[0] // WIDE)):
        for tile_column in range(-(-near.shape[1] // WIDE)):
            low, high = _tile_limits(near, far, tile_row, tile_column)
            if high == 0:
                continue
            top, left, side = tile_row * WIDE, tile_column * WIDE, WIDE * SIDE
            a, b, c, radius = _ball(x, y, top * SIDE, left * SIDE, side, low * scale, high * scale)
            reach = padding + radius
            if noise > 0.0:
                reach += noise * (high * scale) ** 2 * _longest(x, y, top * SIDE, left * SIDE, side)
            count = 0
            for row in range(len(shapes)):
                if _is_beyond(shapes, row, a, b, c, reach):
                    continue
                if distance(shapes, row, a, b, c) <= reach:
                    chosen[0, count] = row
                    count += 1
            if count == 0:
                continue
            for down in range(top, min(top + WIDE, near.shape[0])):
                for across in range(left, min(left + WIDE, near.shape[1])):
                    if far[down, across] > 0:
                        own += _filter_block(image, scale, x, y, near, far, down, across, shapes,
                                             chosen, count, padding, noise, scratch)  # fmt: skip
    return own


@inlined
def _filter_block(
    image, scale, x, y, near, far, down, across, shapes, chosen, count, padding, noise, scratch,
):  # fmt: skip
    """`take_out_robot` for one block, and those shapes that are near its tile: the first
    `count` of chosen[0]. chosen[1] is used up.
    """
    top, left = down * SIDE, across * SIDE
    low, high = near[down, across] * scale, far[down, across] * scale
    a, b, c, radius = _ball(x, y, top, left, SIDE, low, high)
    along = noise * high * high * _longest(x, y, top, left, SIDE) if noise > 0.0 else 0.0
    u, v, z, moved, squares, marks = scratch
    is_gathered, near_count = False, 0
    for row in chosen[0, :count]:
        if _is_beyond(shapes, row, a, b, c, padding + along + radius):
            continue
        least = distance(shapes, row, a, b, c) - radius
        if least + 2.0 * radius <= padding:
            return _clear_block(image, near, far, down, across)
        if least <= padding + along:
            chosen[1, near_count] = row
            near_count += 1
    for row in chosen[1, :near_count]:
        if not _can_reach(shapes, row, x, y, top, left, low, high, padding + along):
            continue
        if not is_gathered:
            _gather(image, scale, x, y, top, left, u, v, z)
            marks[:], is_gathered = 0.0, True
        _mark(shapes, row, u, v, z, padding, marks, squares)
        if noise > 0.0 and _is_any_near(squares, z, marks, shapes[row, RADIUS] + padding + along):
            for step in (-1.0, -0.5, 0.5, 1.0):
                for place in range(PIXELS):
                    moved[place] = max(z[place] + step * noise * z[place] * z[place], 0.0)
                _mark(shapes, row, u, v, moved, padding, marks, squares)
    if not is_gathered:
        return 0
    return _clear_pixels(image, near, far, down, across, marks)


@inlined
def _clear_block(image, near, far, down, across):
    """Sets all pixels of a block to 0; returns how many were not."""
    own = np.uint32(0)
    for row in range(down * SIDE, down * SIDE + SIDE):
        for column in range(across * SIDE, across * SIDE + SIDE):
            own += np.uint32(image[row, column] > 0)
            image[row, column] = np.float32(0)
    near[down, across], far[down, across] = np.float32(np.inf), np.float32(0)
    return np.int64(own)


@inlined
def _clear_pixels(image, near, far, down, across, marks):
    """Sets the marked pixels of a block to 0; returns how many were not."""
    own, place, infinite = 0, 0, np.float32(np.inf)
    least, most = infinite, np.float32(0)
    for row in range(down * SIDE, down * SIDE + SIDE):
        for column in range(across * SIDE, across * SIDE + SIDE):
            value = image[row, column]
            is_own = (value > 0) & (marks[place] > 0.0)
            own += is_own
            value = np.float32(0) if is_own else value
            image[row, column] = value
            most = value if value > most else most
            value = value if value > 0 else infinite
            least = value if value < least else least
            place += 1
    near[down, across], far[down, across] = least, most
    return own


@inlined
def _mark(shapes, row, u, v, z, padding, marks, squares):
    """Sets marks (64,) of the pixels within the padding of shape `row` to 1."""
    _squares(shapes, row, u, v, z, squares)
    limit = (shapes[row, RADIUS] + padding) ** 2
    for place in range(PIXELS):
        marks[place] = 1.0 if squares[place] <= limit else marks[place]


@inlined
def _is_any_near(squares, z, marks, reach):
    """Returns whether a pixel that is valid and not marked is within reach of the core."""
    result = False
    for place in range(PIXELS):
        result |= (squares[place] <= reach * reach) & (z[place] > 0.0) & (marks[place] == 0.0)
    return result


@compiled
def find_nearest(image, scale, x, y, near, far, shapes, owners, support, verdicts, found):
    """Fills found (L, 7): of each link the least distance in m of the pixels that count, infinite
    if there is none; the point of that pixel, and the nearest on the link's surface, m.

    Args:
        owners: (S,) link of each shape, -1 for none.
        verdicts: as of `support_kernels.is_kept`, all unknown.

    Tiles are tried from the nearest bound on, and their blocks as well, until the next bound is no
    less than what was found.
    """
    columns = -(-near.shape[1] // WIDE)
    bounds = np.full((len(found), columns * -(-near.shape[0] // WIDE)), np.inf)
    _bound_tiles(scale, x, y, near, far, shapes, owners, bounds)
    of_blocks, scratch = np.empty(BLOCKS), np.empty((4, PIXELS))
    for link in range(len(found)):
        found[link] = np.inf
        while bounds.shape[1]:
            tile = np.argmin(bounds[link])
            if bounds[link, tile] >= found[link, 0]:
                break
            bounds[link, tile] = np.inf
            top, left = tile // columns * WIDE, tile % columns * WIDE
            _bound_blocks(scale, x, y, near, far, top, left, shapes, owners, link, of_blocks)
            while True:
                block = np.argmin(of_blocks)
                if of_blocks[block] >= found[link, 0]:
                    break
                of_blocks[block] = np.inf
                down, across = top + block // WIDE, left + block % WIDE
                _search_block(image, scale, x, y, near, far, down, across, shapes, owners, link,
                              support, verdicts, found, scratch)  # fmt: skip


@inlined
def _bound_tiles(scale, x, y, near, far, shapes, owners, bounds):
    """Fills bounds (L, T), m: no pixel of a tile is nearer to a link; infinite if it has none."""
    columns, side = -(-near.shape[1] // WIDE), WIDE * SIDE
    for tile in range(bounds.shape[1]):
        row, column = tile // columns, tile % columns
        low, high = _tile_limits(near, far, row, column)
        if high > 0:
            low, high = low * scale, high * scale
            a, b, c, radius = _ball(x, y, row * side, column * side, side, low, high)
            for shape in range(len(shapes)):
                if owners[shape] >= 0:
                    if _is_beyond(shapes, shape, a, b, c, bounds[owners[shape], tile] + radius):
                        continue
                    least = distance(shapes, shape, a, b, c) - radius
                    bounds[owners[shape], tile] = min(bounds[owners[shape], tile], least)


@inlined
def _bound_blocks(scale, x, y, near, far, top, left, shapes, owners, link, bounds):
    """Fills bounds (16,), m: no pixel of a block of one tile is nearer to a link."""
    for block in range(BLOCKS):
        bounds[block] = np.inf
        down, across = top + block // WIDE, left + block % WIDE
        if down < near.shape[0] and across < near.shape[1] and far[down, across] > 0:
            low, high = near[down, across] * scale, far[down, across] * scale
            a, b, c, radius = _ball(x, y, down * SIDE, across * SIDE, SIDE, low, high)
            for shape in range(len(shapes)):
                if owners[shape] == link:
                    if _is_beyond(shapes, shape, a, b, c, bounds[block] + radius):
                        continue
                    least = distance(shapes, shape, a, b, c) - radius
                    bounds[block] = min(bounds[block], least)


@inlined
def _search_block(
    image, scale, x, y, near, far, down, across, shapes, owners, link, support, verdicts, found,
    scratch,
):  # fmt: skip
    """Lowers found[link] to the nearest pixel of one block that counts."""
    u, v, z, squares = scratch
    top, left = down * SIDE, across * SIDE
    low, high = near[down, across] * scale, far[down, across] * scale
    nearest, is_gathered = -1, False
    for shape in range(len(shapes)):
        if owners[shape] != link:
            continue
        if not _can_reach(shapes, shape, x, y, top, left, low, high, found[link, 0]):
            continue
        if not is_gathered:
            _gather(image, scale, x, y, top, left, u, v, z)
            is_gathered = True
        _squares(shapes, shape, u, v, z, squares)
        limit = (found[link, 0] + shapes[shape, RADIUS]) ** 2
        for place in range(PIXELS):
            if z[place] > 0.0 and squares[place] < limit:
                row, column = top + place // SIDE, left + place % SIDE
                if is_kept(image, row, column, support, verdicts):
                    limit = squares[place]
                    found[link, 0] = np.sqrt(limit) - shapes[shape, RADIUS]
                    found[link, 1] = u[place] * z[place]
                    found[link, 2] = v[place] * z[place]
                    found[link, 3], nearest = z[place], shape
    if nearest >= 0:
        put_surface(shapes, nearest, found, link)


@compiled
def put_surface(shapes, row, found, link):
    """Fills found[link, 4:] with the point on the surface of shape `row` that is nearest to
    found[link, 1:4]; for one in the core, that point itself.
    """
    x, y, z = found[link, 1], found[link, 2], found[link, 3]
    a, b, c = _into(shapes, row, x, y, z)
    if shapes[row, IS_CYLINDER] > 0.0:
        across = np.sqrt(a * a + b * b)
        share = max(across - shapes[row, HALF], 0.0) / across if across > 0.0 else 0.0
        a, b = a * share, b * share
    else:
        a -= min(max(a, -shapes[row, HALF]), shapes[row, HALF])
        b -= min(max(b, -shapes[row, HALF + 1]), shapes[row, HALF + 1])
    c -= min(max(c, -shapes[row, HALF + 2]), shapes[row, HALF + 2])
    # What is left leads from the core to the point: all of it but the radius is to be gone back.
    length = np.sqrt(a * a + b * b + c * c)
    share = 1.0 - shapes[row, RADIUS] / length if length > 0.0 else 0.0
    a, b, c = a * share, b * share, c * share
    found[link, 4] = x - (shapes[row, 0] * a + shapes[row, 3] * b + shapes[row, 6] * c)
    found[link, 5] = y - (shapes[row, 1] * a + shapes[row, 4] * b + shapes[row, 7] * c)
    found[link, 6] = z - (shapes[row, 2] * a + shapes[row, 5] * b + shapes[row, 8] * c)
