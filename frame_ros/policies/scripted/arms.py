# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The arms of the scripted pick-and-place policy, and how their hands hold objects."""

from __future__ import annotations

import math
from collections.abc import Mapping

import attrs
import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import RobotError
from frame_ros.robots import Robot, load_robot
from frame_ros.robots.motion import rotation_of
from frame_ros.robots.profiles import simulated_robots
from frame_ros.robots.simulated import PickPlaceMotion

Array = NDArray[np.float64]


@attrs.frozen(kw_only=True)
class ScriptedArm(PickPlaceMotion):
    """An arm with a gripper of two fingers; the gripper is the last of the joints."""

    robot: str  # as `load_robot` takes it
    joint_names: tuple[str, ...]  # that are commanded
    home: tuple[float, ...]  # rad, and the gripper's unit, of them

    @property
    def units(self) -> tuple[str, ...]:
        """The units of the joints."""
        return ('rad',) * (len(self.joint_names) - 1) + (self.gripper_unit,)

    def azimuth(self, position: Array) -> float:
        """rad, of a place as seen from the first joint's axis."""
        return math.atan2(position[1], position[0] - self.first_axis)

    def natural_rotation(self, pose: Array) -> Array:
        """The tip (3, 3) pointing down over a place with the wrist unrolled."""
        return self._pointing_down(self.azimuth(pose) + self.unrolled)

    def grasp_rotation(self, pose: Array) -> Array:
        """The tip (3, 3) pointing down, the fingers flat on two faces of the object: the turn
        nearest to an unrolled wrist.
        """
        face = rotation_of(pose[3:])[:, 0]
        return self.turned_rotation(pose, math.atan2(face[1], face[0]), math.pi / 2)

    def turned_rotation(self, pose: Array, yaw: float, period: float) -> Array:
        """The tip (3, 3) pointing down over a place, the fingers closing along a yaw, rad, or that
        and so many periods, rad: the turn nearest to an unrolled wrist.
        """
        turns = round((self.azimuth(pose) + self.unrolled - yaw) / period)
        return self._pointing_down(yaw + turns * period)

    def _pointing_down(self, yaw: float) -> Array:
        """The tip's z axis points down, and its fingers close along `yaw`."""
        # Seen from above, an axis of a tip that points down turns against the tip's own sense.
        turn = yaw + self.closing
        x = np.array((math.cos(turn), math.sin(turn), 0.0))
        z = np.array((0.0, 0.0, -1.0))
        return np.column_stack((x, np.cross(z, x), z))

    def is_reachable(self, target: Array) -> bool:
        """Returns whether an object whose centre is at `target` (3,) can be picked."""
        distance = math.hypot(target[0], target[1])
        return bool(target[2] > 0.0 and self.reach[0] < distance < self.reach[1])

    def turned_home(self, position: Array) -> Array:
        """The home posture turned towards a place."""
        row = np.array(self.home)
        row[0] = self.first_sign * self.azimuth(position)
        return row


def scripted_arm(name_or_file: str) -> ScriptedArm:
    """The arm of the robot of that name, or of that profile.

    Raises:
        RobotError: there is no such robot, or its profile does not say how the policy moves it.
    """
    robot = load_robot(name_or_file)
    simulation, joints = robot.profile.simulation, tuple(robot.joint_limits)
    if simulation is None or simulation.scripted is None:
        raise RobotError(
            f'the scripted policy needs a robot whose profile has simulation.scripted; '
            f'{name_or_file!r} has none, {", ".join(simulated_robots())} have'
        )
    return ScriptedArm(
        **attrs.asdict(simulation.scripted, recurse=False),
        robot=name_or_file,
        joint_names=joints,
        home=robot.profile.posture('home', joints),
    )


def jaw_length(model: Robot, joint: str, posture: Mapping[str, float]) -> float | None:
    """Returns the distance, m, of a jaw's axis from the tip; None: the gripper's joint slides.

    Args:
        joint: of the gripper.
        posture: of all joints, rad.
    """
    declared = next(each for each in model.description.joints if each.name == joint)
    if declared.kind == 'prismatic':
        return None
    poses = model.link_poses(dict(posture))
    jaw, tip = (_place(model, poses, link) for link in (declared.child, model.tip_link))
    return float(np.linalg.norm(tip - jaw))


def _place(model: Robot, poses: Mapping[str, tuple[Array, Array]], link: str) -> Array:
    """Position of a link in the base frame."""
    position: Array = np.zeros(3)
    while (parent := model.parent_of(link)) is not None:
        translation, quaternion = poses[link]
        position = rotation_of(quaternion) @ position + translation
        link = parent
    return position
