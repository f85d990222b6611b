# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Points on the surface of a shape."""

import numpy as np

from frame_ros.robots.shapes.link_shapes import placed

STEP = 1e-6  # m


def on_surface(shape, points):
    """Points (N, 3) outside of a shape, moved onto it along the gradient of their distance."""
    one = placed('a', [shape])
    for _ in range(10):
        ahead, behind = (
            np.stack([one.shape_distances(points + sign * d)[:, 0] for d in STEP * np.eye(3)], 1)
            for sign in (1, -1)
        )
        points = points - one.shape_distances(points) * (ahead - behind) / (2 * STEP)
    return points
