# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The state of the robot and its task when a contact is judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import nan

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.events import EventType
from frame_ros.robots import Robot
from frame_ros.robots.link_frames import LinkFrames
from frame_ros.sensing.contact.expectation import ContactContext
from frame_ros.sensing.contact.grasp import GraspHistory
from frame_ros.sensing.contact.joint_arrays import JointArrays

Array = NDArray[np.float64]
UNKNOWN = np.full(3, np.nan)
PHASE_BEGINS = (EventType.OPERATION_START, EventType.NOTE)
PHASE_ENDS = (
    EventType.START, EventType.END, EventType.OPERATION_SUCCESS, EventType.OPERATION_FAILURE,
)  # fmt: skip


class LinkPositions(Mapping[str, Array]):
    """Link -> (3,) m in the base frame, worked out when first asked for after `renew`."""

    def __init__(self, robot: Robot, joints: JointArrays) -> None:
        self._frames, self._joints = LinkFrames(robot), joints
        self._rows = joints.rows(self._frames.joint_names)
        self._found: dict[str, Array] | None = None

    def renew(self) -> None:
        """The joints have moved."""
        self._found = None

    def _positions(self) -> dict[str, Array]:
        if self._found is None:
            q = self._joints.positions(self._rows)
            self._found = {}
            if np.isfinite(q).all():
                _, places = self._frames.compute(q)
                self._found = dict(zip(self._frames.links, np.array(places), strict=True))
        return self._found

    def __getitem__(self, link: str) -> Array:
        return self._positions()[link]

    def __iter__(self) -> Iterator[str]:
        return iter(self._positions())

    def __len__(self) -> int:
        return len(self._positions())


class ContextKeeper:
    """Follows gripper, tip and phase."""

    def __init__(
        self, gripper_joint: str, robot: Robot, joints: JointArrays, grasp: GraspHistory
    ) -> None:
        """gripper_joint: '' where there is none. grasp: what the gripper holds."""
        self._robot, self._joints = robot, joints
        self._rows = joints.rows(robot.joint_names)
        self._links = LinkPositions(robot, joints)
        self._gripper_joint, self._grasp = gripper_joint, grasp
        self._tip: Array | None = None
        self._was_holding: bool | None = None
        self.phase = ''  # text of the operation under way; '' between operations

    def on_event(self, kind: int, text: str) -> None:
        """Takes an event of the episode, where phases are among the expectations. kind: as of
        EventType.
        """
        if kind in PHASE_BEGINS:
            self.phase = text
        elif kind in PHASE_ENDS:
            self.phase = ''

    def reset(self) -> None:
        """The clock was reset."""
        self._was_holding = None

    def on_joints(self) -> None:
        """The arrays have taken a joint state."""
        self._links.renew()
        self._tip = None

    def at(self, stamp: int, is_contact: bool, held_weight: float = nan) -> ContactContext:
        """Returns what is known now; the tip only with a contact or where a grasp begins or ends,
        since nothing else asks for it. held_weight: N, see ContactContext.
        """
        holding = self._grasp.at(stamp)
        is_wanted = is_contact or holding != self._was_holding
        self._was_holding = holding
        tip = self._tip_position() if is_wanted else UNKNOWN
        return ContactContext(
            stamp, self._gripper_position(), holding, tip, self._links, self.phase, held_weight
        )

    def _gripper_position(self) -> float:
        return self._joints.position_of(self._gripper_joint) if self._gripper_joint else nan

    def _tip_position(self) -> Array:
        if self._tip is None:
            sample = self._joints.sample(self._rows)
            self._tip = UNKNOWN if sample is None else self._robot.forward(sample.positions)[0]
        return self._tip
