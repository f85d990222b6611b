# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The compiled loops that look places up in a depth image. See `compiled` for what may stand
here.
"""
# mypy: disable-error-code="no-untyped-def,assignment"

from __future__ import annotations

import numpy as np

from frame_ros.sensing.proximity.depth import kernels
from frame_ros.sensing.proximity.depth.compiled import compiled
from frame_ros.sensing.proximity.depth.support_kernels import SATURATED
from frame_ros.sensing.proximity.unseen import (
    HIDDEN,
    HOLE,
    NO_PLACE,
    OUT_OF_VIEW,
    PADDED,
    SEEN,
    TOO_NEAR,
)

LOOKS = 5  # pixels of a place that are looked at: its middle, and four within its rim
RIM = 0.7  # share of the radius at which these lie
NEEDED = 3  # of them that must see the place


@compiled
def place(rotations, translations, anchors, points, placed):
    """Fills placed (N, 3), m: each of points (N, 3) moved with its shape: anchors (N,) rows of
    rotations (S, 3, 3) and translations (S, 3).
    """
    for point in range(len(points)):
        turn, shift = rotations[anchors[point]], translations[anchors[point]]
        x, y, z = points[point, 0], points[point, 1], points[point, 2]
        for axis in range(3):
            along = turn[axis, 0] * x + turn[axis, 1] * y + turn[axis, 2] * z
            placed[point, axis] = along + shift[axis]


@compiled
def look(depth, scale, lens, low, high, noise, points, radius, states):
    """Fills states (N,): how each place was seen.

    A pixel sees a place if its depth is no less than that of the middle, less the noise; so it sees
    one in front of a surface, and one in the surface.

    Args:
        depth: (H, W), as the camera gave it; scale: m per unit.
        lens: (4,) fx, fy, cx, cy in pixels.
        low, high: m, least and largest depth that count; beyond, places are out of view. noise: m
            at 1 m, growing with the square.
        points: (N, 3) m, middles of the places, in the optical frame; radius: m, of all.
    """
    counts = np.zeros(OUT_OF_VIEW + 1, np.int64)
    for place in range(len(points)):
        x, y, z = points[place, 0], points[place, 1], points[place, 2]
        if z <= 0.0 or z > high:
            states[place] = OUT_OF_VIEW
            continue
        column, row = x / z * lens[0] + lens[2], y / z * lens[1] + lens[3]
        across, down = RIM * radius / z * lens[0], RIM * radius / z * lens[1]
        counts[:] = 0
        limit = z - noise * z * z
        for step in range(LOOKS):
            i = row + down * ((step == 1) - (step == 2))
            j = column + across * ((step == 3) - (step == 4))
            counts[_look_at(depth, scale, i, j, z, limit, low)] += 1
        states[place] = _verdict(counts)


@compiled
def _look_at(depth, scale, row, column, z, limit, low):
    """Returns how one pixel sees a depth z; limit: m, what it must show to see it."""
    # Written so that a NaN of a degenerate pose is out of view.
    is_in = (row >= -0.5) & (row < depth.shape[0] - 0.5)
    is_in = is_in & (column >= -0.5) & (column < depth.shape[1] - 0.5)
    if not is_in:
        return OUT_OF_VIEW
    if z < low:
        return TOO_NEAR
    found = np.float64(depth[int(row + 0.5), int(column + 0.5)]) * scale
    if not found > 0.0 or (scale < 1.0 and found >= SATURATED * scale):
        return TOO_NEAR if found < 0.0 else HOLE
    if found < low:
        return TOO_NEAR
    return SEEN if found >= limit else HIDDEN


@compiled
def _verdict(counts):
    """Returns the state of a place by the number of its pixels in each."""
    if counts[SEEN] >= NEEDED:
        return SEEN
    best = HIDDEN
    for state in (HOLE, TOO_NEAR, OUT_OF_VIEW):
        if counts[state] > counts[best]:
            best = state
    return best


@compiled
def leave_out(points, normals, offsets, shapes, groups, reach, states):
    """Sets the state of places not seen to NO_PLACE where no obstacle can be: within `reach` m of
    the robot, or beyond a half space.

    Args:
        points: (N, 3) m, in the optical frame.
        normals: (P, 3); offsets: (P,) m: an obstacle's middle has normal . p > offset.
        shapes: (S, 23), see `kernels`.
        groups: (G, 6): first and one past the last shape of a group; middle and radius, m, of a
            ball around them.
    """
    for place in range(len(points)):
        if states[place] <= NO_PLACE:
            continue
        x, y, z = points[place, 0], points[place, 1], points[place, 2]
        for plane in range(len(offsets)):
            along = normals[plane, 0] * x + normals[plane, 1] * y + normals[plane, 2] * z
            if along <= offsets[plane]:
                states[place] = NO_PLACE
                break
        if states[place] > NO_PLACE and is_robot(x, y, z, shapes, groups, reach):
            states[place] = NO_PLACE


@compiled
def mark_padded(points, distances, size, padding, noise, states):
    """Sets the state of places seen to PADDED where an obstacle that fills them would be taken for
    the robot, all of it.

    Args:
        points: (N, 3) m, in the optical frame; distances: (N,) m from the link to the place.
        size: m, of the places. padding: m around the robot. noise: m at 1 m.
    """
    for place in range(len(points)):
        if states[place] == SEEN:
            x, y, z = points[place, 0], points[place, 1], points[place, 2]
            reach = padding + noise * z * np.sqrt(x * x + y * y + z * z)
            if distances[place] + size < reach:
                states[place] = PADDED


@compiled
def is_robot(x, y, z, shapes, groups, reach):
    """Returns whether a point lies within reach of any shape."""
    for group in range(len(groups)):
        a, b, c = x - groups[group, 2], y - groups[group, 3], z - groups[group, 4]
        if a * a + b * b + c * c > (groups[group, 5] + reach) ** 2:
            continue
        for row in range(int(groups[group, 0]), int(groups[group, 1])):
            if kernels.distance(shapes, row, x, y, z) < reach:
                return True
    return False
