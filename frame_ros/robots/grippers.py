# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The grippers of the robots known by name: which joint they are, and when they count as closed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Gripper:
    """joint: its name in joint_states. closed, opened: positions (rad or m) from which it counts as
    closed or open; a smaller position is more closed. They suit small objects.
    """

    joint: str
    closed: float
    opened: float


GRIPPERS = {
    'so101': Gripper('gripper', 0.2, 0.25),  # rad, of 1.9
    # m; each of the two fingers moves by 0.04.
    'fr3': Gripper('fr3_finger_joint1', 0.034, 0.037),
    'panda': Gripper('panda_finger_joint1', 0.034, 0.037),
}
