# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of a LeRobot policy, and what they say of its joints."""

from __future__ import annotations

from collections.abc import Mapping

from frame_ros.core.options import option, options, rule
from frame_ros.policies.environment_state import POSES
from frame_ros.policies.lerobot.columns import JointScales
from frame_ros.policies.lerobot.families.family import FamilyOptions
from frame_ros.policies.protocol import ACTION_SPACES
from frame_ros.robots.joint_units import (
    UNITS,
    approximate_ranges,
    calibrated_ranges,
    read_calibration,
)

RANGE = 'range_m100_100'
APPROXIMATE = (
    'units are range_m100_100, whose angles are only in the calibration of its arm; '
    'the limits of the URDF stand in, with errors of some degrees. Give its calibration file: '
    'calibration=FILE'
)


@options
class LeRobotOptions(FamilyOptions):
    """Options of a LeRobot checkpoint."""

    folder: str = option('', 'the checkpoint')
    robot_joint_names: tuple[str, ...] = option(
        (),
        'joints of the robot, in the order of the state and action unless state_names and '
        'action_names say otherwise',
    )
    device: str = option('cpu', 'device of the model: cpu, cuda, cuda:1, mps')
    camera_names: Mapping[str, str] | None = option(
        None, "image feature -> camera; none: each feature's own name is the camera's"
    )
    units: str = option('degrees', 'of the joints in state and action', choices=UNITS)
    gripper_limits: Mapping[str, tuple[float, float]] | None = option(
        None, 'gripper joint -> closed and open position, rad or m'
    )
    joint_limits: Mapping[str, tuple[float, float]] = option(
        {}, 'joint -> lower and upper limit, in place of calibration, rad'
    )
    calibration: str = option('', "LeRobot's calibration file of the arm, for range_m100_100")
    action_rate: float = option(30.0, 'frame rate of the training data', unit='Hz', above=0.0)
    action_space: str = option('joint_position', 'of the actions', choices=ACTION_SPACES)
    action_names: tuple[str, ...] = option((), 'columns of the actions; empty: the joints')
    action_units: tuple[str, ...] = option((), 'of these columns; empty: those of the joints')
    state_names: tuple[str, ...] = option((), 'columns of the state; empty: the joints')
    state_pose: str = option('tcp', 'pose that is the end effector in the state')
    pose_names: tuple[str, ...] = option(POSES, 'poses that observation.environment_state holds')
    seed: int | None = option(None, 'of what is sampled; none: another each time', at_least=0)

    @rule('robot_joint_names', 'different names: a joint is named twice')
    def _names_each_joint_once(self) -> bool:
        return len(set(self.robot_joint_names)) == len(self.robot_joint_names)


def joint_scales(options: LeRobotOptions) -> tuple[JointScales, list[str]]:
    """Returns the scales of a checkpoint's joints, and notes about them.

    Raises:
        ValueRangeError: the calibration file cannot be read, or lacks a range.
    """
    ranges: dict[str, tuple[float, float]] | None = None
    notes = []
    if options.calibration:
        ranges = calibrated_ranges(read_calibration(options.calibration))
    elif options.units == RANGE and options.joint_limits:
        ranges, notes = approximate_ranges(options.joint_limits), [APPROXIMATE]
    scales = JointScales(options.units, options.robot_joint_names, options.gripper_limits, ranges)
    return scales, notes
