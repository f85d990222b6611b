# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The markers of known obstacles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker

from frame_ros.nodes.markers.plain_markers import new_marker, point, set_pose, set_scale
from frame_ros.nodes.markers.proximity import shape_markers
from frame_ros.robots.shapes.link_shapes import Shape

if TYPE_CHECKING:
    from frame_ros.sensing.proximity.obstacles.shapes import Obstacle

SHADE = ColorRGBA(r=0.55, g=0.45, b=0.75, a=0.35)
PLANE = (2.0, 2.0, 0.002)  # m, what is drawn of the surface of a half space


def obstacle_markers(
    header: Header, obstacles: tuple[Obstacle, ...], lifetime: float
) -> list[Marker]:
    """The shapes of all obstacles, in the frame of `header`."""
    markers = [
        marker
        for obstacle in obstacles
        for marker in (
            _mesh(header, obstacle, lifetime)
            if obstacle.mesh is not None
            else shape_markers(header, 'obstacles', _shape(obstacle), lifetime)
        )
    ]
    for number, marker in enumerate(markers):
        marker.id, marker.color = number, SHADE
    return markers


def _shape(obstacle: Obstacle) -> Shape:
    size, place, kind = obstacle.size, obstacle.translation, obstacle.kind
    radius: float = 0.0
    half: NDArray[np.float64] = np.zeros(3)
    if kind == 'half_space':
        kind, half = 'box', np.array(PLANE) / 2
        place = place - obstacle.rotation[:, 2] * half[2]
    elif kind == 'box':
        half = np.array(size) / 2
    else:
        radius = size[0]
        half[2] = size[1] / 2 if len(size) == 2 else 0.0
    return Shape(kind, half, radius, place, obstacle.rotation)


def _mesh(header: Header, obstacle: Obstacle, lifetime: float) -> list[Marker]:
    assert obstacle.mesh is not None
    marker = new_marker(header, 'obstacles', 0, Marker.TRIANGLE_LIST, lifetime)
    corners = obstacle.mesh.vertices[obstacle.mesh.triangles.reshape(-1)]
    marker.points = [point(corner) for corner in corners.tolist()]
    set_pose(marker, obstacle.translation, Rotation.from_matrix(obstacle.rotation).as_quat())
    set_scale(marker, (1.0, 1.0, 1.0))
    return [marker]
