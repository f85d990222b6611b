# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Commands as other packages' controllers expect them; the table is hardware/controllers.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import PoseStamped
from numpy.typing import ArrayLike, NDArray
from rclpy.node import Node
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from frame_ros.core.errors import RobotError, ValueRangeError
from frame_ros.core.time import SECOND
from frame_ros.hardware.controllers import ControllerLayout, controller_layout
from frame_ros.nodes.gate.gripper_command import GripperCommandOutput
from frame_ros.nodes.gate.topics import CONTROLLERS
from frame_ros.nodes.runtime.endpoints import published
from frame_ros.nodes.runtime.message_parts import fill_time, time_message
from frame_ros.robots.grippers import GripperRange
from frame_ros.robots.robot import Robot

# A Franka hand refuses to open wider than it measured when it was homed, which may be a little less
# than its URDF says.
LARGEST_SHARE = 0.98

Array = NDArray[np.float64]


class ControllerOutput:
    """Sends joint commands to one robot's controller.

    Attributes:
        layout: what goes where.
        topics: the topics (and the action) it sends to, as given; empty for the preset 'none'.
    """

    def __init__(
        self, node: Node, preset: str, robot: Robot, period: float, **overrides: Any
    ) -> None:
        """period: s between two commands. overrides: those of `controller_layout`.

        Raises:
            ValueRangeError: a setting is not known or out of range. SetupError: the preset needs a
                message package that is not installed.
        """
        self.layout = layout = controller_layout(preset, robot, period, **overrides)
        self._node = node
        self._publisher: Any = None
        self._gripper_publisher: Any = None
        self._gripper_action: GripperCommandOutput | None = None
        self._arm: Robot | None = None
        self._quaternion = np.array((0.0, 0.0, 0.0, 1.0))
        self._sent: dict[str, float] = {}
        self._fingers = {
            name: GripperRange(*pair)
            for name, pair in layout.fingers.items()
            if name in layout.gripper_joints
        }
        if layout.kind == 'pose':
            self._arm = Robot(robot.urdf, layout.tip, robot.profile)
            if unknown := [n for n in self._arm.joint_names if n not in layout.joints]:
                raise ValueRangeError(
                    f'the pose of {layout.tip} needs the joints {unknown}; given are '
                    f'{list(layout.joints)}'
                )
        if layout.kind != 'none':
            self._make_outputs(layout)

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics that it sends to."""
        if self.layout.kind == 'none':
            return ()
        apart = (self.layout.gripper_topic,) if self.layout.gripper != 'none' else ()
        return (self.layout.topic, *apart)

    def publish(
        self,
        stamp_ns: int,
        names: Sequence[str],
        positions: ArrayLike,
        velocities: ArrayLike | None = None,
    ) -> None:
        """Sends one command.

        stamp_ns: ns, of the command. names, positions: joints, rad or m; others than the
        controller's are left out. velocities: rad/s or m/s; only a JointState carries them: a
        joint trajectory controller refuses a last point that still moves.

        Raises:
            RobotError: a joint that the controller needs is missing. ValueRangeError: a value is
                not finite. Nothing is sent then.
        """
        if self.layout.kind == 'none':
            return
        goals = _by_name(names, positions)
        is_carried = self.layout.kind == 'joint_state'
        moving = _by_name(names, velocities) if is_carried and velocities is not None else None
        main = self._message(stamp_ns, goals, moving)
        self._publisher.publish(main)
        self._send_gripper(goals)
        self._sent |= goals

    def hold(
        self, stamp_ns: int, names: Sequence[str], positions: ArrayLike, is_at_rest: bool = True
    ) -> bool:
        """Sends the controller joint positions on the way to rest, or where it is to stay; whether
        anything was sent.

        Give the positions of the stop, and the same ones if it is repeated: an arm that gives way
        under its load would creep if sent to its present place each time. A gripper keeps what it
        was last sent, so that what it holds is not let go. is_at_rest: whether the arm is to be
        still there.

        Raises:
            RobotError, ValueRangeError: as `publish`.
        """
        if self.layout.kind == 'none':
            return False
        goals = _by_name(names, positions)
        goals |= {name: self._sent[name] for name in self.layout.fingers if name in self._sent}
        # A trajectory comes to rest without a jolt if its point says that it is at rest, and
        # crisp_controllers keep the last velocity of a JointState.
        sends_rest = is_at_rest and self.layout.kind in ('trajectory', 'joint_state')
        still = dict.fromkeys(goals, 0.0) if sends_rest else None
        self._publisher.publish(self._message(stamp_ns, goals, still))
        return True

    def close(self) -> None:
        """Takes the publishers and clients off the node."""
        for publisher in (self._publisher, self._gripper_publisher):
            if publisher is not None:
                self._node.destroy_publisher(publisher)
        if self._gripper_action is not None:
            self._gripper_action.close()
        self._publisher, self._gripper_publisher, self._gripper_action = None, None, None

    def _make_outputs(self, layout: ControllerLayout) -> None:
        if layout.gripper == 'gripper_command':
            self._gripper_action = GripperCommandOutput(
                self._node, layout.gripper_topic, layout.effort
            )
        elif layout.gripper != 'none':
            self._gripper_publisher = self._publish(layout.gripper, layout.gripper_topic)
        self._publisher = self._publish(layout.kind, layout.topic)

    def _publish(self, form: str, name: str) -> Publisher:
        return self._node.create_publisher(*published(CONTROLLERS[form].at(name)))

    def _message(
        self, stamp: int, goals: Mapping[str, float], velocities: Mapping[str, float] | None
    ) -> Any:
        names = self._present(goals)
        values = [goals[name] for name in names]
        moving = [] if velocities is None else [velocities[name] for name in names]
        if self.layout.kind == 'trajectory':
            return self._trajectory(names, values, moving)
        if self.layout.kind == 'positions':
            return Float64MultiArray(data=values)
        if self.layout.kind == 'pose':
            return self._pose(stamp, goals)
        message = JointState(name=list(names), position=values, velocity=moving)
        message.header.stamp = time_message(stamp)
        return message

    def _present(self, goals: Mapping[str, float]) -> tuple[str, ...]:
        """The controller's joints that are commanded, in its order."""
        missing = [name for name in self.layout.joints if name not in goals]
        if missing and (not self.layout.is_partial or len(missing) == len(self.layout.joints)):
            raise RobotError(
                f'the command lacks the joints {missing}; output {self.layout.preset!r} needs '
                f'{list(self.layout.joints)}'
            )
        return tuple(name for name in self.layout.joints if name in goals)

    def _trajectory(
        self, names: Sequence[str], values: list[float], velocities: list[float]
    ) -> JointTrajectory:
        """One point, to be reached a horizon after it arrives: a stamp of 0 means `now`, and one
        that is old when it arrives would be refused.
        """
        point = JointTrajectoryPoint(
            positions=values,
            velocities=velocities,
            time_from_start=fill_time(Duration(), round(self.layout.horizon * SECOND)),
        )
        return JointTrajectory(joint_names=list(names), points=[point])

    def _pose(self, stamp: int, goals: Mapping[str, float]) -> PoseStamped:
        assert self._arm is not None
        position, quaternion = self._arm.forward([goals[name] for name in self._arm.joint_names])
        # Of the two quaternions the one next to the last, for controllers that filter them.
        if quaternion @ self._quaternion < 0:
            quaternion = -quaternion
        self._quaternion = quaternion
        message = PoseStamped()
        message.header.stamp, message.header.frame_id = time_message(stamp), self.layout.frame_id
        at, turned = message.pose.position, message.pose.orientation
        at.x, at.y, at.z = position.tolist()
        turned.x, turned.y, turned.z, turned.w = quaternion.tolist()
        return message

    def _send_gripper(self, goals: Mapping[str, float]) -> None:
        """The gripper joints, where they go out apart and are all commanded."""
        layout = self.layout
        if layout.gripper == 'none' or any(name not in goals for name in layout.gripper_joints):
            return
        values = [goals[name] for name in layout.gripper_joints]
        first = self._fingers[layout.gripper_joints[0]]
        if self._gripper_action is not None:
            self._gripper_action.send(min(values[0], LARGEST_SHARE * first.opened))
        elif layout.gripper == 'trajectory':
            self._gripper_publisher.publish(self._trajectory(layout.gripper_joints, values, []))
        elif layout.gripper == 'positions':
            self._gripper_publisher.publish(Float64MultiArray(data=values))
        else:
            opening = float(first.opening(values[0], 'position'))
            self._gripper_publisher.publish(Float64MultiArray(data=[opening]))


def _by_name(names: Sequence[str], values: ArrayLike) -> dict[str, float]:
    found = np.asarray(values, np.float64)
    if found.shape != (len(names),):
        raise RobotError(f'values of shape {found.shape} for the {len(names)} joints {list(names)}')
    if not np.isfinite(found).all():
        bad = names[int(np.argmin(np.isfinite(found)))]
        raise ValueRangeError(f'the command of {bad} is not finite; it must be a number')
    return dict(zip(names, found.tolist(), strict=True))
