# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The compiled loops over whole depth images: valid pixels, and their number per block.

Arguments that functions share: image: (R N, C N) float32, 0 where there is nothing to measure;
scale: m per unit of it; R x C are its blocks of N x N pixels. See `compiled` for what may stand
here.
"""
# mypy: disable-error-code="no-untyped-def,assignment"

from __future__ import annotations

import numpy as np

from frame_ros.sensing.proximity.depth.compiled import compiled


@compiled
def keep_range(depth, low, high, out):
    """Copies values from low to high, both included, and 0 for the rest; returns the number of
    these pixels.

    Args:
        depth, out: (H, W);
        low, high: of their type.
    """
    count = 0
    for row in range(depth.shape[0]):
        of_row = np.uint32(0)
        for column in range(depth.shape[1]):
            value = depth[row, column]
            is_within = (value >= low) & (value <= high)
            out[row, column] = value if is_within else depth.dtype.type(0)
            of_row += np.uint32(is_within)
        count += of_row
    return count


@compiled
def load(values, valid, image, counts):
    """Puts `values` (H, W) where `valid` (H, W) is above 0 into the image; counts: (R, C) becomes
    how many pixels of each block are above 0.
    """
    height, width = values.shape
    side = image.shape[0] // counts.shape[0]
    of_columns = np.empty(image.shape[1], np.int32)
    for top in range(counts.shape[0]):
        of_columns[:] = 0
        for row in range(top * side, min(top * side + side, height)):
            for column in range(width):
                value = np.float32(values[row, column])
                value = value if valid[row, column] > 0 else np.float32(0)
                image[row, column] = value
                of_columns[column] += np.int32(value > 0)
        for left in range(counts.shape[1]):
            counts[top, left] = of_columns[left * side : left * side + side].sum()


@compiled
def crop(image, scale, x, y, normals, offsets, noise):
    """Sets to 0 all outside one of P half spaces, normal . p > offset, in the optical frame:
    normals (P, 3), offsets (P,) m; or outside if its depth z were larger by noise * z^2 m. x, y:
    x/z of each column and y/z of each row.
    """
    for row in range(image.shape[0]):
        for plane in range(len(offsets)):
            rest = normals[plane, 1] * y[row] + normals[plane, 2]
            across, offset = normals[plane, 0], offsets[plane]
            for column in range(image.shape[1]):
                slope = across * x[column] + rest
                z = image[row, column] * scale
                z = z + noise * z * z if slope < 0.0 else z
                is_inside = slope * z > offset
                image[row, column] = image[row, column] if is_inside else np.float32(0)


@compiled
def limits(image, near, far):
    """Fills near and far, (R, C) float32: least and largest value above 0 per block, or 0."""
    side, infinite = image.shape[0] // near.shape[0], np.float32(np.inf)
    least, most = np.empty(image.shape[1], np.float32), np.empty(image.shape[1], np.float32)
    for top in range(near.shape[0]):
        least[:], most[:] = infinite, 0
        for row in range(top * side, top * side + side):
            for column in range(image.shape[1]):
                value = image[row, column]
                most[column] = value if value > most[column] else most[column]
                value = value if value > 0 else infinite
                least[column] = value if value < least[column] else least[column]
        for left in range(near.shape[1]):
            low, high = infinite, np.float32(0)
            for column in range(left * side, left * side + side):
                low, high = min(low, least[column]), max(high, most[column])
            near[top, left], far[top, left] = low, high


@compiled
def count_squares(counts, side, width, height, columns, rows, reaches, owners, result):
    """Fills result (2, L): of the pixels of the blocks that hold squares, the number of valid ones
    and of all. Counted are whole blocks of side^2 pixels, as far as the picture goes.

    Args:
        counts: (R, C) valid pixels of each block of a picture of width x height pixels.
        columns, rows: (K,) middles of the squares, in pixels;
        reaches: (2, K) half their width and height.
        owners: (K,) row of the result.
    """
    result[:] = 0.0
    for square in range(len(owners)):
        first, last = columns[square] - reaches[0, square], columns[square] + reaches[0, square]
        upper, lower = rows[square] - reaches[1, square], rows[square] + reaches[1, square]
        if last < 0.0 or first > width - 1.0 or lower < 0.0 or upper > height - 1.0:
            continue
        left = max(int(np.floor(max(first, 0.0) / side)), 0)
        right = int(np.floor(min(last, width) / side)) + 1
        top = max(int(np.floor(max(upper, 0.0) / side)), 0)
        bottom = int(np.floor(min(lower, height) / side)) + 1
        right, bottom = min(right, counts.shape[1]), min(bottom, counts.shape[0])
        valid = 0
        for row in range(top, bottom):
            for column in range(left, right):
                valid += counts[row, column]
        result[0, owners[square]] += valid
        result[1, owners[square]] += (right - left) * (bottom - top) * side * side
