# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulator's publications as messages; stamps in ns."""

from __future__ import annotations

from typing import Any

import numpy as np
from geometry_msgs.msg import Point, PoseStamped, TransformStamped
from numpy.typing import NDArray
from sensor_msgs.msg import CameraInfo, Image
from std_msgs.msg import Header

from frame_ros.msg import ContactState, Proximity
from frame_ros.nodes.runtime import message_parts as parts
from frame_ros.robots.frame_names import FrameNames
from frame_ros.scenes import Intrinsics, LeastDistance
from frame_ros.scenes.simulation.contact_interval import IntervalContacts


def pose_message(stamp: int, base: str, pose: NDArray[np.float64]) -> PoseStamped:
    """A pose (7,) in the base frame."""
    message = PoseStamped(header=parts.header_message(stamp, base))
    fill_pose(message, pose)
    return message


def contact_message(
    stamp: int, base: str, found: IntervalContacts, tip: NDArray[np.float64]
) -> ContactState:
    """ground_truth/contact. base: the base frame. tip: (3,) m, where the net wrench is taken."""
    contacts = found.contacts
    message = ContactState(
        header=parts.header_message(stamp, base), source=ContactState.SOURCE_SIMULATOR
    )
    message.in_contact = bool(contacts)
    message.in_collision = not all(contact.is_expected for contact in contacts)
    torque = found.torque - np.cross(tip, found.force)
    message.force = float(np.linalg.norm(found.force))
    parts.fill_wrench(message.wrench, np.concatenate((found.force, torque)))
    parts.fill_contacts(message, contacts)
    return message


def proximity_message(stamp: int, base: str, least: LeastDistance) -> Proximity:
    """ground_truth/proximity. base: the base frame."""
    message = Proximity(header=parts.header_message(stamp, base), source=Proximity.SOURCE_SIMULATOR)
    message.distance, message.link, message.obstacle = least.distance, least.link, least.obstacle
    parts.fill_vector(message.point_on_robot, least.point_on_robot)
    parts.fill_vector(message.point_on_obstacle, least.point_on_obstacle)
    message.link_names = list(least.link_distances)
    message.link_distances = list(least.link_distances.values())
    points = least.link_points.values()
    message.link_points_on_robot = [parts.fill_vector(Point(), pair[:3]) for pair in points]
    message.link_points_on_obstacle = [parts.fill_vector(Point(), pair[3:]) for pair in points]
    message.sources = ['simulator']
    message.valid_fraction = message.occluded_fraction = float('nan')
    message.unobserved_distance = float('nan')
    return message


def colour_image_message(header: Header, rgb: NDArray[np.uint8]) -> Image:
    """rgb: (H, W, 3)."""
    return parts.image_message(header, rgb, 'rgb8')


def millimetres(depth: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Depth (H, W) m as 16UC1 has it: mm, 0 where it does not fit (REP-118)."""
    rounded = np.rint(depth * 1000.0)
    rounded[~(rounded <= np.iinfo(np.uint16).max)] = 0
    return rounded.astype('<u2')


def camera_info_message(header: Header, camera: Intrinsics) -> CameraInfo:
    """A pinhole camera without distortion."""
    message = CameraInfo(
        header=header, width=camera.width, height=camera.height, distortion_model='plumb_bob'
    )
    f, cx, cy = camera.focal, camera.cx, camera.cy
    message.d = [0.0] * 5
    message.k = [f, 0.0, cx, 0.0, f, cy, 0.0, 0.0, 1.0]
    message.r = np.eye(3).ravel().tolist()
    message.p = [f, 0.0, cx, 0.0, 0.0, f, cy, 0.0, 0.0, 0.0, 1.0, 0.0]
    return message


def mount_message(
    stamp: int,
    camera: str,
    mount: tuple[str, NDArray[np.float64], NDArray[np.float64]],
    names: FrameNames,
) -> TransformStamped:
    """tf_static of a camera's optical frame; mount: parent link, position (3,), quaternion xyzw."""
    link, position, quaternion = mount
    message = TransformStamped(
        header=parts.header_message(stamp, names.of(link)),
        child_frame_id=names.of(parts.optical_frame(camera)),
    )
    parts.fill_vector(message.transform.translation, position)
    _set_quaternion(message.transform.rotation, quaternion)
    return message


def fill_pose(message: PoseStamped, pose: NDArray[np.float64]) -> None:
    """Writes a pose (7,), position (m) and quaternion xyzw."""
    parts.fill_vector(message.pose.position, pose)
    _set_quaternion(message.pose.orientation, pose[3:])


def _set_quaternion(message: Any, values: NDArray[np.float64]) -> None:
    message.x, message.y, message.z, message.w = (float(v) for v in values)
