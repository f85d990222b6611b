# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The meaning of a policy's actions, where their names alone are ambiguous."""

from __future__ import annotations

from frame_ros.core.options import option, options
from frame_ros.robots.grippers import GRIPPER_CONVENTIONS
from frame_ros.robots.rotations import CHANGE_FRAMES

# previous: each step from the one before, the first from the observation. observation: every step
# from the observation. command: as previous, the first from the command at the time of the
# observation.
DELTA_REFERENCES = ('previous', 'observation', 'command')
# error: a chunk that leaves more than the tolerances is refused. best_effort: it is used, counted.
UNREACHABLE = ('error', 'best_effort')
SAMPLES = ('convert', 'drop')
# A delta of a gripper joint, added to the reference as those of the other joints are.
GRIPPER_DELTA = 'delta'


GRIPPERS = ('', GRIPPER_DELTA, *GRIPPER_CONVENTIONS)


@options
class ActionSpaceOptions:
    """The meaning of a policy's actions."""

    delta_reference: str = option('previous', 'see DELTA_REFERENCES', choices=DELTA_REFERENCES)
    ee_frame: str = option('base', 'axes of ee_delta', choices=CHANGE_FRAMES)
    tip: str | None = option(None, "link that is the end effector; none: the robot's TCP")
    position_scale: float = option(1.0, 'a delta of 1', unit='m', above=0.0)
    rotation_scale: float = option(1.0, 'a delta of 1', unit='rad', above=0.0)
    gripper: str = option(
        '', 'of grippers; empty: delta in joint_delta and else position', choices=GRIPPERS
    )
    gripper_threshold: float | None = option(
        None,
        'opening above which a gripper is opened fully and below which it is closed; none: it '
        'takes the value itself',
        above=0.0,
        below=1.0,
    )
    gripper_hysteresis: float = option(
        0.1, 'width of the band around it in which it stays as it was', at_least=0.0, at_most=1.0
    )
    unreachable: str = option('error', 'see UNREACHABLE', choices=UNREACHABLE)
    position_tolerance: float | None = option(None, "none: the robot's preset", unit='m', above=0.0)
    orientation_tolerance: float | None = option(
        None, "none: the robot's preset", unit='rad', above=0.0
    )
    velocity_scale: float = option(
        1.0, "share of the joints' velocity limits that may be used", above=0.0, at_most=1.0
    )
    samples: str = option(
        'convert', 'drop saves the time, in a space of the end effector', choices=SAMPLES
    )
