# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of a data set made of recordings."""

from __future__ import annotations

from functools import cached_property

from frame_ros.bags.recording_options import ObservationOptions
from frame_ros.core.errors import ValueRangeError
from frame_ros.core.options import option, options
from frame_ros.episodes.recorded.units import sliding_joints
from frame_ros.robots.catalogue import load_robot
from frame_ros.robots.likely_units import RAD
from frame_ros.robots.profiles import DEFAULT_ROBOT, OF_ROBOT, ROBOT_NAMES
from frame_ros.robots.robot import Robot

NO_CAMERAS = 'none'
KEEP = ('all', 'policy', 'operator')


@options
class DatasetOptions(ObservationOptions):
    """A data set made of recordings."""

    robot: str = option(DEFAULT_ROBOT, OF_ROBOT, known=ROBOT_NAMES)
    repo_id: str = option('', 'as in me/pick_cubes; none: local and the name of the folder')
    fps: int = option(0, 'frames per second; 0: what every input reaches', at_least=0)
    is_repeating: bool = option(False, 'frames may repeat what comes more rarely than --fps')
    joints: tuple[str, ...] = option((), "those of state and action; none: the robot's")
    units: str = option(
        'degrees',
        "degrees are LeRobot's: degrees, and 0 to 100 for a gripper",
        choices=('degrees', RAD),
    )
    cameras: tuple[str, ...] = option((), f'those to take, or {NO_CAMERAS}; none: all of the bag')
    poses: tuple[str, ...] = option((), 'for observation.environment_state')
    task: str = option('', 'text of the task; none: the recorded instructions')
    is_success_only: bool = option(False, 'only episodes that ended in success')
    keep: str = option(
        'all', 'frames: without those in which an operator drove, or only these', choices=KEEP
    )
    codec: str = option('libsvtav1', 'of the videos: libsvtav1, h264, hevc')
    has_images: bool = option(False, 'store images instead of videos: large, lossless')
    has_flags: bool = option(True, 'with reward, done, success and intervention')
    is_skipping_bad: bool = option(False, 'leave out bags that do not fit')

    @cached_property
    def known_robot(self) -> Robot:
        """The robot of the data set.

        Raises:
            RobotError: there is none.
        """
        return load_robot(self.robot)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints of the data set, in order.

        Raises:
            ValueRangeError: a joint that the robot does not have, or that has no such units.
        """
        limits = self.known_robot.joint_limits
        if unknown := [name for name in self.joints if name not in limits]:
            raise ValueRangeError(
                f'--joints {", ".join(unknown)}: the robot {self.robot} has {", ".join(limits)}'
            )
        joints = self.joints or tuple(limits)
        slides = sliding_joints(self.known_robot)
        if self.units != RAD and (found := [name for name in joints if name in slides]):
            raise ValueRangeError(
                f'--units is {self.units}, but {", ".join(found)} of {self.known_robot.name} '
                'slides: --units rad writes rad, and m of joints that slide'
            )
        return joints
