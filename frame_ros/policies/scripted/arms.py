# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the scripted pick-and-place policy knows of an arm: its joints, its gripper, and how its
hand is held over things.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ValueRangeError
from frame_ros.policies.scripted.reaching import rotation_of

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ScriptedArm:
    """An arm with a gripper of two fingers; the gripper is the last of the joints.

    robot, tip: as `load_robot` takes them. units: of the joints. home: rad, and the gripper's unit.
    opened, released, closed: of the gripper: to reach for the object, to let it go, and as a target
    beyond the object, so that it is pressed.

    above, grasp, lifted, over_bin, in_bin: m, heights of the tip over the table. placed: m, in x
    and y, between the goal and an object that lies in the bin. before_grasp,
    held: (3,) m, the object's centre in the tip's frame before the fingers close, and after.

    closing_time, opening_time: s, of the gripper.

    closing: yaw of the direction in which the fingers close, in the tip's own axes when it points
    down: rad. unrolled: rad, the yaw of that direction from the direction towards the object, with
    the wrist at rest. first_axis: m, x of the first joint's vertical axis in the base frame;
    first_sign: -1 where that axis points down. reach: m from the base frame's origin within which
    things are picked.

    pace: by which the durations of the arm's motions are multiplied. tremor: rad, at quality 0.
    miss: (3,) m, likewise.
    """

    robot: str
    tip: str
    joint_names: tuple[str, ...]
    units: tuple[str, ...]
    home: tuple[float, ...]
    opened: float
    released: float
    closed: float
    above: float
    grasp: float
    lifted: float
    over_bin: float
    in_bin: float
    placed: float
    before_grasp: tuple[float, float, float]
    held: tuple[float, float, float]
    closing_time: float
    opening_time: float
    closing: float
    unrolled: float
    first_axis: float
    first_sign: float
    reach: tuple[float, float]
    pace: float
    tremor: float
    miss: tuple[float, float, float]

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
        yaw = math.atan2(face[1], face[0])
        quarter_turns = round((self.azimuth(pose) + self.unrolled - yaw) / (math.pi / 2))
        return self._pointing_down(yaw + quarter_turns * math.pi / 2)

    def _pointing_down(self, yaw: float) -> Array:
        """The tip's z axis points down, and its fingers close along `yaw`."""
        # Seen from above, an axis of a tip that points down turns against the tip's own sense.
        turn = yaw + self.closing
        x = np.array((math.cos(turn), math.sin(turn), 0.0))
        z = np.array((0.0, 0.0, -1.0))
        return np.column_stack((x, np.cross(z, x), z))

    def is_reachable(self, target: Array) -> bool:
        """Whether an object whose centre is at `target` (3,) can be picked."""
        distance = math.hypot(target[0], target[1])
        return bool(target[2] > 0.0 and self.reach[0] < distance < self.reach[1])

    def turned_home(self, position: Array) -> Array:
        """The home posture turned towards a place."""
        row = np.array(self.home)
        row[0] = self.first_sign * self.azimuth(position)
        return row


# The tip's x axis points from the moving to the fixed finger's face and beyond, and its origin lies
# on that face. Unrolled, the fixed finger is towards the base.
SO101 = ScriptedArm(
    robot='so101', tip='default',
    joint_names=(
        'shoulder_pan', 'shoulder_lift', 'elbow_flex', 'wrist_flex', 'wrist_roll', 'gripper',
    ),
    units=('rad',) * 6,
    home=(0.0, -1.35, 1.25, 0.85, 0.0, 0.3),
    opened=0.62, released=0.5, closed=0.02, closing_time=0.6, opening_time=0.45,
    above=0.085, grasp=0.015, lifted=0.12, over_bin=0.125, in_bin=0.062, placed=0.05,
    before_grasp=(-0.0205, 0.0, 0.0), held=(-0.015, 0.0, 0.0),
    closing=0.0, unrolled=math.pi, first_axis=0.0388353, first_sign=-1.0, reach=(0.12, 0.36),
    pace=1.0, tremor=0.014, miss=(0.02, 0.02, 0.012),
)  # fmt: skip

# The fingers move along the y axis of fr3_hand_tcp, symmetrically about its origin.
FR3 = ScriptedArm(
    robot='fr3', tip='tcp',
    joint_names=(*(f'fr3_joint{i}' for i in range(1, 8)), 'fr3_finger_joint1'),
    units=('rad',) * 7 + ('m',),
    home=(0.0, -math.pi / 4, 0.0, -3 * math.pi / 4, 0.0, math.pi / 2, math.pi / 4, 0.04),
    # The hand moves its fingers at 0.1 m/s at most.
    opened=0.04, released=0.034, closed=0.0, closing_time=0.9, opening_time=0.8,
    above=0.17, grasp=0.0225, lifted=0.2, over_bin=0.18, in_bin=0.055, placed=0.08,
    before_grasp=(0.0, 0.0, 0.0), held=(0.0, 0.0, 0.0),
    closing=math.pi / 2, unrolled=-math.pi / 2, first_axis=0.0, first_sign=1.0, reach=(0.3, 0.7),
    pace=1.0, tremor=0.007, miss=(0.03, 0.03, 0.015),
)  # fmt: skip

ARMS = (SO101, FR3)


def find_arm(joint_names: Sequence[str]) -> ScriptedArm:
    """The arm that has all these joints, and perhaps more.

    Raises:
        ValueRangeError: there is none.
    """
    for arm in ARMS:
        if joint_names and set(joint_names) <= set(arm.joint_names):
            return arm
    known = ' or '.join(str(arm.joint_names) for arm in ARMS)
    raise ValueRangeError(f'the scripted policy is made for {known}, not for {tuple(joint_names)}')
