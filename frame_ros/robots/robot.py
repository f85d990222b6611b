# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A robot from its URDF: the pose of its tip, and its motion."""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.errors import RobotError
from frame_ros.robots.description import Capsule, Joint, Primitive, parse_urdf
from frame_ros.robots.grippers import closed_and_open
from frame_ros.robots.kinematic_tree import import_pinocchio, placement_of, tree_model
from frame_ros.robots.profile import RobotProfile
from frame_ros.robots.profiles import profile_of_urdf

Array = NDArray[np.float64]


class Robot:
    """Forward kinematics of one tip link, in the frame of the base link.

    Not thread-safe: it owns one pinocchio data object. Use one Robot per thread.

    Attributes:
        profile: further facts about it.
        name: of the profile, or else the URDF's.
        joint_names: the joints that move the tip, from base to tip; `q` has their positions in this
            order.
        lower, upper, velocity_limits, effort_limits: of `joint_names`, (N,); rad or m, per s, N m
            or N; infinite if the URDF sets none.
        all_joint_names: every moving joint, in the URDF's order.
        mimics: joints that follow another: name -> (joint followed, multiplier, offset).
        links: every link. base_link, tip_link: names.
        collision_geometry: link -> its collision primitives.
        urdf: the text it was made from.
        description: its content.
    """

    def __init__(
        self, urdf: str, tip: str | None = None, profile: RobotProfile | None = None
    ) -> None:
        """From a URDF's text. `tip` is a link; None takes the end of the longest chain of moving
        joints; `profile` None: what the name in the URDF says.

        Raises:
            RobotError: the URDF cannot be used, has no such link, no joint moves the tip, or one of
                the joints that do follows another (mimic).
        """
        description = parse_urdf(urdf)
        self.urdf = urdf
        self.profile = profile or profile_of_urdf(description.name)
        self.name = self.profile.name
        self.links = description.links
        self.base_link = description.base_link
        self.tip_link = tip or _deepest_link(description.links, description.chain)
        chain = description.chain(self.tip_link)
        moving = _moving_joints(chain, self.tip_link)
        self.joint_names = tuple(joint.name for joint in moving)
        self.lower = np.array([joint.lower for joint in moving])
        self.upper = np.array([joint.upper for joint in moving])
        self.velocity_limits = np.array([joint.velocity for joint in moving])
        self.effort_limits = np.array([joint.effort for joint in moving])
        everything = [joint for joint in description.joints if joint.is_moving]
        self.all_joint_names = tuple(joint.name for joint in everything)
        self.mimics = {joint.name: joint.mimic for joint in everything if joint.mimic}
        self.collision_geometry: dict[str, tuple[Primitive, ...]] = description.shapes
        self.description = description
        self._shape = (len(moving),)
        self._prepare(chain)

    @property
    def joint_limits(self) -> dict[str, tuple[float, float]]:
        """Joint -> (lower, upper) in rad or m, of every joint that can be commanded."""
        return self.description.joint_limits

    @property
    def continuous(self) -> tuple[str, ...]:
        """The joints that turn without end, of which positions a turn apart are the same."""
        return self.description.continuous

    @property
    def grippers(self) -> dict[str, tuple[float, float]]:
        """Gripper joint -> closed and open position, rad or m; see `closed_and_open`."""
        return closed_and_open(self.joint_limits, self.profile.gripper)

    def _prepare(self, chain: Sequence[Joint]) -> None:
        pinocchio = import_pinocchio()
        self._pin = pinocchio
        self._model, places = tree_model(chain, self.base_link)
        parent, placement = places[self.tip_link]
        kind = pinocchio.FrameType.OP_FRAME
        self._model.addFrame(pinocchio.Frame('tip', parent, 0, placement, kind))
        self._data = self._model.createData()
        self._frame = self._model.getFrameId('tip')
        # A view of the tip's entry in the data: every computation of the frames writes there. It
        # and the functions are bound once, because looking them up costs as much as the computation
        # itself.
        self._tip = self._data.oMf[self._frame]
        self._kinematics = pinocchio.framesForwardKinematics
        self._as_vector = pinocchio.SE3ToXYZQUAT
        self._jacobian = pinocchio.computeFrameJacobian
        self._axes = pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED

    def forward(self, q: ArrayLike) -> tuple[Array, Array]:
        """Pose of the tip in the base frame.

        Args:
            q: (N,) joint positions in the order of `joint_names`, rad or m.

        Returns:
            Position (3,) in m and quaternion (4,) x, y, z, w. Of the two quaternions of an
            orientation, the one with w >= 0: the sign may flip between neighbouring configurations.
            Fresh arrays at every call.

        Raises:
            RobotError: q has another length or holds values that are not finite.
        """
        q = np.asarray(q, dtype=np.float64)
        if q.shape != self._shape:
            raise self._wrong_shape(q)
        self._kinematics(self._model, self._data, q)
        pose = self._as_vector(self._tip)
        # A joint value that is not finite makes every coordinate so, as 0 times it is NaN too.
        if not math.isfinite(pose[0]):
            raise self._not_finite(q)
        quaternion = pose[3:]
        if quaternion[3] < 0:
            quaternion = -quaternion
        return pose[:3], quaternion

    def jacobian(self, q: ArrayLike) -> Array:
        """Returns the Jacobian (6, N) of the tip: linear (m/s) above angular (rad/s), in base axes.

        Raises:
            RobotError: q has another length or holds values that are not finite.
        """
        q = np.asarray(q, dtype=np.float64)
        if q.shape != self._shape:
            raise self._wrong_shape(q)
        if not math.isfinite(q.sum()):
            raise self._not_finite(q)
        return np.array(self._jacobian(self._model, self._data, q, self._frame, self._axes))

    def link_poses(self, positions: dict[str, float]) -> dict[str, tuple[Array, Array]]:
        """Returns the pose of every link in its parent: link -> (translation (3,) m, quaternion
        xyzw (4,)). positions: joint name -> position. A joint that mimics another may be left out;
        any other counts as 0.
        """
        poses = {}
        for joint in self.description.joints:
            value = positions.get(joint.name, 0.0)
            if joint.mimic is not None and joint.name not in positions:
                followed, multiplier, offset = joint.mimic
                value = multiplier * positions.get(followed, 0.0) + offset
            placed = placement_of(joint, value)
            rotation = self._pin.Quaternion(placed.rotation).coeffs()
            poses[joint.child] = (np.array(placed.translation), rotation)
        return poses

    def parent_of(self, link: str) -> str | None:
        """Returns the link that `link` is mounted on; None for the base.

        Raises:
            RobotError: there is no such link.
        """
        chain = self.description.chain(link)
        return chain[-1].parent if chain else None

    @cached_property
    def joint_of_link(self) -> dict[str, str]:
        """Returns link -> the moving joint right before it; links on fixed joints are left out."""
        return {joint.child: joint.name for joint in self.description.joints if joint.is_moving}

    @cached_property
    def link_capsules(self) -> dict[str, tuple[Capsule, ...]]:
        """Returns per link the capsules, in its frame, that contain its collision primitives."""
        return {
            link: tuple(p.capsule() for p in shapes)
            for link, shapes in self.collision_geometry.items()
        }

    def _wrong_shape(self, q: Array) -> RobotError:
        return RobotError(
            f'joint positions of shape {q.shape}; {self.name} to {self.tip_link} needs '
            f'{self._shape}, in the order {", ".join(self.joint_names)}'
        )

    def _not_finite(self, q: Array) -> RobotError:
        bad = [
            f'{n} = {v}' for n, v in zip(self.joint_names, q, strict=True) if not math.isfinite(v)
        ]
        return RobotError(f'joint positions must be finite: {", ".join(bad)}')


def _moving_joints(chain: Sequence[Joint], tip: str) -> list[Joint]:
    moving = [joint for joint in chain if joint.is_moving]
    if not moving:
        raise RobotError(f'no joint moves the link {tip!r}')
    for joint in moving:
        if joint.mimic is not None:
            raise RobotError(
                f'the link {tip!r} is moved by {joint.name!r}, which follows {joint.mimic[0]!r}: '
                f'choose another tip'
            )
    return moving


def _deepest_link(links: Sequence[str], chain_of: Any) -> str:
    def depth(link: str) -> tuple[int, int]:
        chain = chain_of(link)
        free = [joint for joint in chain if joint.is_moving and joint.mimic is None]
        follows = any(joint.mimic is not None for joint in chain)
        return (0, 0) if follows else (len(free), len(chain))

    return max(links, key=depth)
