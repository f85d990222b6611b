# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robot at one instant, as distances are measured from it: its shapes, and what it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.robots.link_frames import LinkFrames
from frame_ros.robots.shapes.link_shapes import LinkShapes, PlacedShapes, box, placed
from frame_ros.sensing.contact.grasp import GraspDetector, GraspOptions
from frame_ros.sensing.proximity.mount import Mount

Array = NDArray[np.float64]
HELD = 'held'


@dataclass(frozen=True)
class RobotAt:
    """rotations (L, 3, 3), translations (L, 3) in m: of all links of the robot, in the base frame.
    shapes: of its links. held: where what it holds may be; None: it holds nothing.
    """

    frames: LinkFrames
    rotations: Array
    translations: Array
    shapes: PlacedShapes
    held: PlacedShapes | None

    def pose(self, mount: Mount) -> tuple[Array, Array]:
        """Rotation (3, 3) and translation (3,) m, in the base frame, of what is mounted on a
        link.
        """
        row = self.frames.index(mount.link)
        turn = self.rotations[row]
        return turn @ mount.rotation, self.translations[row] + turn @ mount.translation


class HeldObject:
    """Whether the gripper holds something, and the box in which it then is.

    The box lies about the origin of a link and along its axes; `offset` from there, m.
    """

    def __init__(
        self,
        settings: GraspOptions,
        joint: str,
        row: int,
        size: Sequence[float],
        offset: Sequence[float],
    ) -> None:
        """joint: the gripper's. row: of the link among the robot's. size: edges, m."""
        self._detector = GraspDetector(settings)
        self._joint, self._row = joint, row
        self._size, self._offset = np.array(size), np.array(offset)

    @property
    def is_grasped(self) -> bool:
        """Whether something is held; not before the first sample."""
        return bool(self._detector.is_grasped)

    def update(self, stamp: int, names: Sequence[str], positions: Array, efforts: Array) -> None:
        """Takes a joint state: stamp in ns, positions in rad or m, efforts in N m or N or empty."""
        if self._joint not in names:
            return
        index = names.index(self._joint)
        if index < len(positions):
            effort = float(efforts[index]) if index < len(efforts) else float('nan')
            self._detector.update(stamp, float(positions[index]), effort)

    def place(self, rotations: Array, translations: Array) -> PlacedShapes | None:
        """The box in the base frame, with the robot's links there; None while nothing is held."""
        if not self.is_grasped:
            return None
        turn = rotations[self._row]
        middle = translations[self._row] + turn @ self._offset
        return placed(HELD, [box(self._size, middle, turn)])


class WatchedRobot:
    """Makes a RobotAt of joint positions."""

    def __init__(self, frames: LinkFrames, shapes: LinkShapes, held: HeldObject | None) -> None:
        self.frames, self.shapes, self.held = frames, shapes, held

    @property
    def links(self) -> tuple[str, ...]:
        """The links whose distances are wanted."""
        return self.shapes.links

    def at(self, positions: Array) -> RobotAt:
        """positions: (M,) of `frames.joint_names`, rad or m."""
        rotations, translations = self.frames.compute(positions)
        held = self.held.place(rotations, translations) if self.held is not None else None
        shapes = self.shapes.place(rotations, translations)
        return RobotAt(self.frames, rotations, translations, shapes, held)
