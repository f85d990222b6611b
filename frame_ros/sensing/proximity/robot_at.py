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
from frame_ros.sensing.proximity.depth.meshes.placing import PlacedSurfaces, PlacingSurfaces
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
    surfaces: PlacedSurfaces | None = None  # by its meshes, if they are known

    def pose(self, mount: Mount) -> tuple[Array, Array]:
        """Returns rotation (3, 3) and translation (3,) m, in the base frame, of a mount."""
        row = self.frames.index(mount.link)
        turn = self.rotations[row]
        return turn @ mount.rotation, self.translations[row] + turn @ mount.translation


class HeldObject:
    """The box of a held object. It lies about the origin of a link and along its axes; `offset`
    from there, m.
    """

    def __init__(self, row: int, size: Sequence[float], offset: Sequence[float]) -> None:
        """row: of the link among the robot's. size: edges, m."""
        self._row = row
        self._size, self._offset = np.array(size), np.array(offset)

    def place(self, rotations: Array, translations: Array) -> PlacedShapes:
        """Returns the box in the base frame for these links."""
        turn = rotations[self._row]
        middle = translations[self._row] + turn @ self._offset
        return placed(HELD, [box(self._size, middle, turn)])


class WatchedRobot:
    """Makes a RobotAt from joint positions."""

    def __init__(
        self,
        frames: LinkFrames,
        shapes: LinkShapes,
        held: HeldObject,
        surfaces: PlacingSurfaces | None = None,
    ) -> None:
        self.frames, self.shapes, self._held = frames, shapes, held
        self.surfaces = surfaces

    @property
    def links(self) -> tuple[str, ...]:
        """The links whose distances are wanted."""
        return self.shapes.links

    def at(self, positions: Array, is_holding: bool | None = None) -> RobotAt:
        """Returns the robot at positions (M,) of `frames.joint_names`, rad or m. is_holding:
        whether it holds something; None: that is not known.
        """
        rotations, translations = self.frames.compute(positions)
        held = self._held.place(rotations, translations) if is_holding else None
        shapes = self.shapes.place(rotations, translations)
        surfaces = None
        if self.surfaces is not None:
            surfaces = self.surfaces.place(rotations, translations)
        return RobotAt(self.frames, rotations, translations, shapes, held, surfaces)
