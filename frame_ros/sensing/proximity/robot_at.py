# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robot at one instant, as distances are measured from it: its shapes and held object."""

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
    """The robot at one instant."""

    frames: LinkFrames
    rotations: Array  # (L, 3, 3) of all links of the robot, in the base frame
    translations: Array  # (L, 3) m
    shapes: PlacedShapes  # of its links
    held: PlacedShapes | None  # where a held object may be; None: it holds nothing

    def pose(self, mount: Mount) -> tuple[Array, Array]:
        """Returns rotation (3, 3) and translation (3,) m, in the base frame, of a mount."""
        row = self.frames.index(mount.link)
        turn = self.rotations[row]
        return turn @ mount.rotation, self.translations[row] + turn @ mount.translation


class HeldObject:
    """The box of a held object, if the gripper holds one. The box lies about the origin of a link
    and along its axes; `offset` from there, m.
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
        """True if something is held; not before the first sample."""
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
        """Returns the box in the base frame for these links; None while nothing is held."""
        if not self.is_grasped:
            return None
        turn = rotations[self._row]
        middle = translations[self._row] + turn @ self._offset
        return placed(HELD, [box(self._size, middle, turn)])


class WatchedRobot:
    """Makes a RobotAt from joint positions."""

    def __init__(self, frames: LinkFrames, shapes: LinkShapes, held: HeldObject | None) -> None:
        self.frames, self.shapes, self.held = frames, shapes, held

    @property
    def links(self) -> tuple[str, ...]:
        """The links whose distances are wanted."""
        return self.shapes.links

    def at(self, positions: Array) -> RobotAt:
        """Returns the robot at positions (M,) of `frames.joint_names`, rad or m."""
        rotations, translations = self.frames.compute(positions)
        held = self.held.place(rotations, translations) if self.held is not None else None
        shapes = self.shapes.place(rotations, translations)
        return RobotAt(self.frames, rotations, translations, shapes, held)
