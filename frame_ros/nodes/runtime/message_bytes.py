# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Messages of kilohertz streams as bytes: one message is serialised, and the numbers of the next
are written over its own. Making and serialising a JointState costs as much as ten of these.
"""

from __future__ import annotations

from collections.abc import Sequence

from geometry_msgs.msg import PoseStamped, WrenchStamped
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Header

from frame_ros.bags.fields import FieldWriter


class JointStateBytes(FieldWriter):
    """Serialised sensor_msgs/JointState of the same joints: `data` takes positions, velocities and
    efforts, (D,) each.
    """

    def __init__(self, names: Sequence[str], frame: str = '') -> None:
        """frame: of the header."""
        zeros = [0.0] * len(names)
        message = JointState(
            header=Header(frame_id=frame), name=list(names), position=zeros, velocity=zeros,
            effort=zeros,
        )  # fmt: skip
        groups = (('position',), ('velocity',), ('effort',))
        super().__init__('sensor_msgs/msg/JointState', serialize_message(message), *groups)


class WrenchBytes(FieldWriter):
    """Serialised geometry_msgs/WrenchStamped: `data` takes force in N and torque in N m, (6,)."""

    def __init__(self, frame: str) -> None:
        message = serialize_message(WrenchStamped(header=Header(frame_id=frame)))
        paths = [f'wrench.{part}.{axis}' for part in ('force', 'torque') for axis in 'xyz']
        super().__init__('geometry_msgs/msg/WrenchStamped', message, paths)


class PoseBytes(FieldWriter):
    """Serialised geometry_msgs/PoseStamped: `data` takes position (3,) in m and quaternion xyzw
    (4,).
    """

    def __init__(self, frame: str) -> None:
        message = serialize_message(PoseStamped(header=Header(frame_id=frame)))
        groups = (
            [f'pose.position.{axis}' for axis in 'xyz'],
            [f'pose.orientation.{axis}' for axis in 'xyzw'],
        )
        super().__init__('geometry_msgs/msg/PoseStamped', message, *groups)
