# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Distances, alignment and points as messages."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import Point
from numpy.typing import NDArray
from sensor_msgs.msg import PointCloud2, PointField

from frame_ros.msg import CameraAlignment, Proximity
from frame_ros.nodes.runtime.message_parts import fill_fields, header_message
from frame_ros.sensing.proximity.cameras.alignment import Alignment
from frame_ros.sensing.proximity.depth.cloud import SELF, MarkedCloud
from frame_ros.sensing.proximity.link_distances import DistanceReading

Array = NDArray[np.float64]
# sensor_msgs/PointCloud2 as RViz shows it: `rgb` is a colour packed into the bits of a float32.
POINT = np.dtype([('xyz', '<f4', 3), ('rgb', '<u4'), ('self', '<f4')])
FIELDS = [
    PointField(name=name, offset=offset, datatype=PointField.FLOAT32, count=1)
    for offset, name in zip(range(0, POINT.itemsize, 4), ('x', 'y', 'z', 'rgb', 'self'))
]
# By their marks: obstacles, the robot and what it holds, what is outside the space looked at.
COLOURS = np.array([0xFF9640, 0x5078A0, 0x606060], np.uint32)


def proximity_message(stamp: int, frame: str, source: int, reading: DistanceReading) -> Proximity:
    """A reading; stamp in ns."""
    message = Proximity(header=header_message(stamp, frame), source=source)
    fill_fields(message, reading)  # unavailable, sources, distance, what was not seen, fractions
    message.link_names = list(reading.links)
    message.link_distances = reading.distances.tolist()
    message.link_observed = reading.link_observed.tolist()
    message.link_unobserved_distances = reading.link_unobserved_distances.tolist()
    message.link_points_on_robot = _points(reading.points_on_robot)
    message.link_points_on_obstacle = _points(reading.points_on_obstacle)
    row = reading.nearest
    if row is None:
        message.point_on_robot, message.point_on_obstacle = _points(np.full((2, 3), np.nan))
        return message
    message.link, message.obstacle = reading.links[row], reading.obstacles[row]
    message.point_on_robot = message.link_points_on_robot[row]
    message.point_on_obstacle = message.link_points_on_obstacle[row]
    return message


def _points(rows: Array) -> list[Point]:
    return [Point(x=x, y=y, z=z) for x, y, z in np.asarray(rows, np.float64).tolist()]


def alignment_message(camera: str, frame: str, alignment: Alignment) -> CameraAlignment:
    """A check of a camera; frame: its optical frame."""
    message = CameraAlignment(header=header_message(alignment.stamp, frame), camera=camera)
    return fill_fields(message, alignment)


def cloud_message(stamp: int, frame: str, cloud: MarkedCloud) -> PointCloud2:
    """The points of an image; those of the robot and of what it holds are marked."""
    rows = np.empty(len(cloud.points), POINT)
    rows['xyz'], rows['rgb'] = cloud.points, COLOURS[cloud.marks]
    rows['self'] = cloud.marks == SELF
    message = PointCloud2(header=header_message(stamp, frame), height=1, width=len(rows))
    message.fields, message.is_dense = FIELDS, True
    message.point_step, message.row_step = POINT.itemsize, POINT.itemsize * len(rows)
    message.data = rows.tobytes()
    return message
