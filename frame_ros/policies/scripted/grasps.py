# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The grasp from above of simple shapes of any size, by a hand of two fingers."""

from __future__ import annotations

import math

import attrs
import numpy as np
from numpy.typing import NDArray

from frame_ros.policies.known_scene import KnownObject
from frame_ros.policies.scripted.arms import ScriptedArm, jaw_length
from frame_ros.robots import Robot
from frame_ros.robots.motion import rotation_of

Array = NDArray[np.float64]
ROOM = 0.03  # m, by which the hand opens wider than the object, and by which to let it go
RELEASE_ROOM = 0.019
DEPTH = 0.035  # m, of the fingers below an object's top at most: their palm is above that
LOWEST = 0.012  # m, of the tip above the table


@attrs.frozen(kw_only=True)
class Grasp:
    """A grasp of one object.

    Attributes:
        rotation: (3, 3) of the tip.
        height: m, of the tip above the table.
        top: m, of the object.
        width: m, of the object between the fingers.
        opened: position of the gripper to reach for it.
        released: position to let it go.
        before: m, its centre in the tip's frame before the fingers close, level.
        held: m, the same after.
    """

    rotation: Array
    height: float
    top: float
    width: float
    opened: float
    released: float
    before: Array
    held: Array


class Grasping:
    """Grasps of an arm.

    Args:
        model: of the arm to its tip.

    Attributes:
        cube: m, edge of the cube for which the arm's motion is declared.
    """

    def __init__(self, arm: ScriptedArm, model: Robot) -> None:
        self._arm = arm
        joint = arm.joint_names[-1]
        self._jaw = jaw_length(model, joint, dict(zip(arm.joint_names, arm.home, strict=True)))
        self._limits = model.joint_limits[joint]
        assert model.profile.simulation is not None
        self.cube = model.profile.simulation.table.cube_size

    def of(self, each: KnownObject, pose: Array) -> Grasp:
        """Returns the grasp of an object at a pose (7,)."""
        arm, rotation = self._arm, rotation_of(pose[3:])
        yaw, width, period = self._direction(each, pose, rotation)
        rise = vertical_extent(each, rotation)
        top = float(pose[2]) + rise
        turned = arm.natural_rotation(pose) if period == 0 else None
        # The fingers of a hand with a fixed one are as far from the middle as the object is wide.
        held = np.array(arm.held) * (width / self.cube)
        return Grasp(
            rotation=arm.turned_rotation(pose, yaw, period) if turned is None else turned,
            height=max(LOWEST, float(pose[2]), top - DEPTH),
            top=top,
            width=width,
            opened=max(arm.opened, self._position(width + ROOM)),
            released=max(arm.released, self._position(width + RELEASE_ROOM)),
            before=held + np.subtract(arm.before_grasp, arm.held),
            held=held,
        )

    def _position(self, gap: float) -> float:
        """Position of the gripper at which its fingers are a gap, m, apart."""
        if self._jaw is None:
            found = gap / 2
        else:
            found = 2 * math.asin(min(1.0, gap / (2 * self._jaw)))
        return min(max(found, self._limits[0]), self._limits[1])

    def _direction(
        self, each: KnownObject, pose: Array, rotation: Array
    ) -> tuple[float, float, float]:
        """Returns the yaw in which the fingers close, the width there, and the period of the yaw;
        0: any yaw will do.
        """
        half = each.half_edges
        if each.shape == 'sphere':
            return 0.0, 2 * half[0], 0.0
        if each.shape == 'cylinder':
            axis = rotation[:, 2]
            if abs(axis[2]) > math.sqrt(0.5):
                return 0.0, 2 * half[0], 0.0
            return math.atan2(axis[0], -axis[1]), 2 * half[0], math.pi
        level = np.argsort(np.abs(rotation[2]))[:2].tolist()
        widths = {index: 2 * half[index] for index in level}
        least, most = sorted(level, key=widths.__getitem__)
        yaw = math.atan2(rotation[1, least], rotation[0, least])
        if self._fits(widths[most]) and widths[most] - widths[least] < 1e-6:
            return yaw, widths[least], math.pi / 2
        return yaw, widths[least], math.pi

    def _fits(self, width: float) -> bool:
        return self._position(width + ROOM) < self._limits[1]


def vertical_extent(each: KnownObject, rotation: Array) -> float:
    """Returns m from an object's middle to its highest point, turned by a (3, 3)."""
    if each.shape == 'sphere':
        return each.half_edges[0]
    if each.shape == 'cylinder':
        along = abs(float(rotation[2, 2]))
        return along * each.half_edges[2] + math.sqrt(max(0.0, 1 - along**2)) * each.half_edges[0]
    return float(np.abs(rotation[2]) @ np.array(each.half_edges))


def level_radius(each: KnownObject, rotation: Array) -> float:
    """Returns the radius, m, of the circle about the upright box about an object."""
    half = np.array(each.half_edges)
    if each.shape == 'sphere':
        return math.sqrt(2) * each.half_edges[0]
    if each.shape == 'cylinder':
        along = np.abs(rotation[:2, 2])
        level = along * half[2] + np.sqrt(np.maximum(0.0, 1 - along**2)) * half[0]
        return float(np.linalg.norm(level))
    return float(np.linalg.norm(np.abs(rotation[:2]) @ half))
