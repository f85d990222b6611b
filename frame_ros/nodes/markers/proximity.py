# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The markers of proximity: the nearest points, the links in the colours of their distances, and
the points of the depth image."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import PointCloud2
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker

from frame_ros.metrics.distance_bounds import bounded
from frame_ros.msg import Proximity
from frame_ros.nodes.markers import plain_markers as plain
from frame_ros.nodes.markers.options import MarkersOptions
from frame_ros.robots.shapes.link_shapes import (
    BOX,
    CAPSULE,
    ROUNDED_BOX,
    ROUNDED_CYLINDER,
    LinkShapes,
    Shape,
)

MOST_GREY = 0.6  # of a link whose surroundings were not seen at all: its distance still shows
SPHERE_SIDES = (-1.0, 1.0)


class ProximityMarkers:
    """look: the node's options. shapes: of the robot's links; None: they are not drawn."""

    def __init__(
        self, look: MarkersOptions, robot_links: Sequence[str], shapes: LinkShapes | None
    ) -> None:
        self.look = look
        self._shapes: dict[str, list[Marker]] = {}
        for shape, frame in zip(shapes.shapes, shapes.frames) if shapes is not None else ():
            link = robot_links[frame]
            header = plain.attached(Header(), look.frames.of(link))
            drawn = self._shapes.setdefault(link, [])
            drawn += shape_markers(header, 'links', shape, look.lifetime)
        numbered = [marker for drawn in self._shapes.values() for marker in drawn]
        for number, marker in enumerate(numbered):
            marker.id, marker.frame_locked = number, True

    def shade(self, distance: float) -> ColorRGBA:
        """The colour of a distance, m; grey: not measured."""
        span = self.look.distance.far - self.look.distance.near
        return plain.colour((self.look.distance.far - distance) / span)

    def draw(self, proximity: Proximity) -> list[Marker]:
        """The line to the nearest obstacle, and the links."""
        return self._line(proximity) + self._links(proximity)

    def _line(self, proximity: Proximity) -> list[Marker]:
        bound = self.look.distance.bound
        used = bounded(proximity.distance, proximity.unobserved_distance, bound)
        ends = [proximity.point_on_robot, proximity.point_on_obstacle]
        if not math.isfinite(proximity.distance) or not all(plain.is_finite(end) for end in ends):
            return []
        shade, lifetime = self.shade(used), self.look.lifetime
        line = plain.new_marker(proximity.header, 'proximity', 0, Marker.LINE_LIST, lifetime)
        line.points, line.color = ends, shade
        line.scale.x = 0.003
        label = plain.new_marker(
            proximity.header, 'proximity', 1, Marker.TEXT_VIEW_FACING, lifetime
        )
        middle = [(a + b) / 2 for a, b in zip(plain.xyz(ends[0]), plain.xyz(ends[1]))]
        plain.set_pose(label, (middle[0], middle[1], middle[2] + 0.01))
        label.text = plain.text(proximity.distance, 'mm', 1e3, 0)
        if proximity.is_partial:
            label.text += ' seen'
        label.scale.z, label.color = 0.75 * self.look.text.height, shade
        return [line, label]

    def _links(self, proximity: Proximity) -> list[Marker]:
        """The shapes of every watched link, in the link's own frame: RViz places them by tf, as it
        does the robot's model, so they stay on it between two messages. The less of a link's
        surroundings was seen, the greyer it is.
        """
        markers = []
        missing = [math.nan] * len(proximity.link_names)  # of whoever knows nothing of the unseen
        rows = zip(
            proximity.link_names, proximity.link_distances,
            [*proximity.link_observed, *missing],
            [*proximity.link_unobserved_distances, *missing],
        )  # fmt: skip
        for link, distance, share, unobserved in rows:
            used = bounded(distance, unobserved, self.look.distance.bound)
            unseen = 1.0 - share if math.isfinite(share) else 0.0
            shade = plain.greyed(self.shade(used), MOST_GREY * unseen)
            shade = plain.with_alpha(shade, self.look.link_alpha)
            for marker in self._shapes.get(link, ()):
                marker.color = shade
                markers.append(marker)
        return markers if self.look.link_alpha > 0.0 else []


def shape_markers(header: Header, space: str, shape: Shape, lifetime: float) -> list[Marker]:
    """The standard markers that a shape is made of: a capsule is a cylinder and two spheres.
    Rounded edges are drawn sharp, around the shape.
    """
    diameter, length = 2.0 * shape.radius, 2.0 * float(shape.half_sizes[2])
    kinds = {BOX: Marker.CUBE, ROUNDED_BOX: Marker.CUBE, 'sphere': Marker.SPHERE}
    size = 2.0 * shape.half_sizes if shape.kind == BOX else np.full(3, diameter)
    if shape.kind in (ROUNDED_BOX, ROUNDED_CYLINDER):
        size = 2.0 * shape.half_sizes + diameter
        length += diameter
    quaternion = Rotation.from_matrix(shape.rotation).as_quat()
    markers = [plain.new_marker(header, space, 0, kinds.get(shape.kind, Marker.CYLINDER), lifetime)]
    if shape.kind not in kinds:
        size[2] = length
    plain.set_pose(markers[0], shape.translation, quaternion)
    plain.set_scale(markers[0], size)
    for side in SPHERE_SIDES if shape.kind == CAPSULE else ():
        end = plain.new_marker(header, space, 0, Marker.SPHERE, lifetime)
        plain.set_pose(end, shape.translation + side * shape.half_sizes[2] * shape.rotation[:, 2])
        plain.set_scale(end, (diameter,) * 3)
        markers.append(end)
    return markers


def cloud_marker(cloud: PointCloud2, most: int, lifetime: float) -> Marker | None:
    """At most `most` points of a cloud with the fields x, y, z and, if it has it, self (1: of the
    robot), which are float32: obstacles orange, the robot blue. None of a cloud without them.
    """
    offsets = {field.name: field.offset for field in cloud.fields if field.datatype == 7}
    if not {'x', 'y', 'z'} <= set(offsets) or cloud.is_bigendian or cloud.point_step < 12:
        return None
    count = len(cloud.data) // cloud.point_step
    names = [name for name in ('x', 'y', 'z', 'self') if name in offsets]
    layout = np.dtype(
        {
            'names': names,
            'formats': ['<f4'] * len(names),
            'offsets': [offsets[name] for name in names],
            'itemsize': cloud.point_step,
        }
    )
    rows = np.frombuffer(cloud.data, layout, count)[:: max(1, -(-count // most))]
    places = np.stack((rows['x'], rows['y'], rows['z']), axis=1).astype(np.float64)
    is_self = rows['self'] > 0.5 if 'self' in names else np.zeros(len(rows), bool)
    is_kept = np.isfinite(places).all(axis=1)
    marker = plain.new_marker(cloud.header, 'points', 0, Marker.POINTS, lifetime)
    marker.points = [plain.point(place) for place in places[is_kept].tolist()]
    marker.colors = [plain.EXPECTED if own else plain.WARNING for own in is_self[is_kept].tolist()]
    marker.scale.x = marker.scale.y = 0.004
    return marker
