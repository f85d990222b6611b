# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Depth images of shapes, by casting rays, and the plain scan of all their pixels."""

import numpy as np

from frame_ros.sensing.proximity.depth.camera import DepthCamera, depth_in_metres
from frame_ros.sensing.proximity.depth.shapes import CameraShapes

# Base frame: x right, y away from the camera, z up; the camera looks along y from -1.2 m.
ROTATION = np.array([[1.0, 0, 0], [0, 0, 1.0], [0, -1.0, 0]])
TRANSLATION = np.array([0.0, -1.2, 0.3])
CAMERA = DepthCamera(160, 120, 150.0, 155.0, 79.0, 60.5)


def seen(camera, shapes, background=2.0, rotation=ROTATION, translation=TRANSLATION):
    """(H, W) m: depth of PlacedShapes before a wall, by marching along the rays."""
    x, y = camera.rays()
    grid = np.stack(np.broadcast_arrays(x, y[:, None], np.ones((len(y), 1))), axis=0)
    rays = grid.reshape(3, -1).astype(np.float32)
    length = np.linalg.norm(rays, axis=0)
    shapes = CameraShapes(shapes, rotation, translation)
    depth = np.zeros(rays.shape[1], np.float32)
    moving = np.arange(len(depth))
    while len(moving):
        gap = shapes.distances((rays[:, moving] * depth[moving]).T)
        depth[moving] += np.maximum(gap, 0) / length[moving]
        moving = moving[(gap > 2e-4) & (depth[moving] < background)]
    return np.minimum(depth, background).reshape(len(y), len(x)).astype(float)


def in_millimetres(depth):
    return np.round(depth * 1000).astype(np.uint16)


def full_scan(camera, depth, shapes, padding, limits=(0.1, 3.0), pose=(ROTATION, TRANSLATION),
              keep=None, held=None):  # fmt: skip
    """(L,) m and how many pixels show the robot: every pixel against every shape in float64."""
    metres = depth_in_metres(depth)
    chosen = (metres >= limits[0] - 1e-9) & (metres <= limits[1] + 1e-9)
    points = camera.points(depth)[chosen] @ pose[0].T + pose[1]
    distances = shapes.shape_distances(points)
    near = distances if held is None else np.hstack((distances, held.shape_distances(points)))
    is_self = near.min(axis=1, initial=np.inf) <= padding
    left = ~is_self if keep is None else ~is_self & keep(points)
    result = np.full(len(shapes.links), np.nan)
    for row in range(len(shapes.links)):
        mine = distances[left][:, shapes.owners == row]
        if mine.size:
            result[row] = mine.min()
    return result, int(is_self.sum())
