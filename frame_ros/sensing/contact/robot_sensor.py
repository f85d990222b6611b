# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Flags and external wrench of a Franka arm, as a sensor of the contact node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import SetupError
from frame_ros.core.time import SECOND
from frame_ros.robots import Robot
from frame_ros.sensing.contact.coverage import Coverage, behind_joints
from frame_ros.sensing.contact.detection import Detection
from frame_ros.sensing.contact.joint_arrays import JointArrays, JointSample
from frame_ros.sensing.contact.options import SensingOptions
from frame_ros.sensing.contact.robot_flags import RobotContact, RobotFlags
from frame_ros.sensing.contact.robot_indicators import JOINTS, Indicators
from frame_ros.sensing.contact.sensitivity import Sensitivity
from frame_ros.sensing.contact.sensor_mount import ancestors, pose_at_zero
from frame_ros.sensing.contact.source import ContactSource

Array = NDArray[np.float64]
PAUSE = SECOND // 20  # ns without a wrench after which the flags alone are judged
NOWHERE = np.full(JOINTS, np.nan)


class _Pose(NamedTuple):
    translation: Array
    rotation: Array
    is_turned: bool


class RobotSensor:
    """RobotContact on the arm's flags and external wrench; the newer wrench leads, and the newest
    flags go with it. Flags need no joint states; a wrench, whose free-space offset depends on the
    posture, does.
    """

    source = ContactSource.ROBOT
    name = 'robot'

    def __init__(self, settings: SensingOptions, robot: Robot, joints: JointArrays) -> None:
        """Raises FrameRosError for another robot than one with a Franka's seven joints."""
        if len(robot.joint_names) != JOINTS:
            raise SetupError(
                f'the source robot is of Franka arms, with {JOINTS} joints; {robot.name} has '
                f'{len(robot.joint_names)}: leave it out of sources'
            )
        self.detector = RobotContact(settings.robot_contact, JOINTS)
        self.problem = 'nothing from the robot yet'
        self.coverage: Coverage = behind_joints(robot, robot.joint_names)
        self._robot, self._joints = robot, joints
        self._rows = joints.rows(robot.joint_names)
        self._max_age = round(settings.max_joint_age * SECOND)
        self._flags_age = round(settings.max_sensor_age * SECOND)
        self._frame = settings.robot_contact.wrench_frame
        self._names = settings.frames
        self._poses: dict[str, _Pose | None] = {}  # of the wrench's frames in the base
        self._wrench_problem = ''
        self._is_about_base = settings.robot_contact.wrench_point == 'base'
        self.reset()

    def change(self, settings: SensingOptions) -> None:
        """Takes other values of the options that are live, from the next sample on."""
        self.detector.change(settings.robot_contact)

    def reset(self) -> None:
        """The clock was set back or forward; what was learnt stays."""
        self.detector.reset()
        self._joint_stamp: int | None = None
        self._wrench_stamp: int | None = None
        self._flags: Indicators | None = None

    @property
    def sensitivity(self) -> Sensitivity:
        """Of the newest sample."""
        return self.detector.sensitivity

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons for which its detections are less sure, in words."""
        return ()

    def facts(self) -> dict[str, str]:
        """For diagnostics."""
        detector = self.detector
        return {
            'share of threshold [-]': f'{detector.share:.2f}',
            'free-space offset known to [N]': f'{detector.spread:.2f}',
            'collision flags': ', '.join(detector.collisions) or 'none',
            'late': str(detector.late),
            'wrench': self._wrench_problem or 'used',
        }

    def on_joints(self, stamp: int, joints: frozenset[str]) -> None:
        """Takes a joint state; joints: those that it had."""
        if not self._rows.joints.isdisjoint(joints):
            self._joint_stamp = self._joints.oldest(self._rows)

    def on_wrench(
        self, stamp: int, frame: str, values: Sequence[float], is_holding: bool | None
    ) -> Detection:
        """Takes an external wrench in the axes of `frame`, which is fixed to the base."""
        self._wrench_stamp = stamp
        pose = self._pose_of(self._frame or self._names.link(frame))
        if pose is None:
            why = (
                f'external wrench in an unknown frame: {frame!r} is not fixed to '
                f'{self._robot.base_link!r}; set robot_contact.wrench_frame to the link in whose '
                'axes it is'
            )
            return self._by_flags(stamp, is_holding, why)
        wrench = np.array(values)
        if pose.is_turned:
            wrench = (pose.rotation @ wrench.reshape(2, 3).T).T.ravel()
        sample, why = self._sample(stamp)
        if sample is None:
            return self._by_flags(stamp, is_holding, why)
        if self._is_about_base:
            tip, _ = self._robot.forward(sample.positions)
            wrench[3:] -= np.cross(tip - pose.translation, wrench[:3])
        self._wrench_problem = ''
        speed = 0.0 if sample.velocities is None else float(np.abs(sample.velocities).max())
        return self.detector.update(
            stamp, sample.positions, wrench, self._newest_flags(stamp),
            speed=speed, is_holding=is_holding,
        )  # fmt: skip

    def on_flags(self, indicators: Indicators, is_holding: bool | None) -> Detection | None:
        """Takes flags; None while a wrench comes, with which they are judged."""
        self._flags = indicators
        stamp, wrench = indicators.stamp, self._wrench_stamp
        if wrench is not None and abs(stamp - wrench) <= PAUSE:
            return None
        return self._by_flags(stamp, is_holding, 'no external wrench')

    def _by_flags(self, stamp: int, is_holding: bool | None, why: str) -> Detection:
        """The detection by the flags alone. why: the reason for a missing wrench."""
        self._wrench_problem = why
        flags = self._newest_flags(stamp)
        if flags is None:
            return Detection(stamp, self.source, None, unavailable=why)
        return self.detector.update(stamp, NOWHERE, None, flags, is_holding=is_holding)

    def _sample(self, stamp: int) -> tuple[JointSample | None, str]:
        """The joints at a stamp, or why they are not known."""
        sample = self._joints.sample(self._rows)
        if sample is None or self._joint_stamp is None:
            return None, 'no joint states yet'
        age = stamp - self._joint_stamp
        if abs(age) > self._max_age:
            return None, f'the joint states are {age / SECOND:.3f} s older than the wrench'
        return sample, ''

    def _pose_of(self, frame: str) -> _Pose | None:
        """Of a frame that is fixed to the base; '' is the base itself. None: it is none such."""
        if frame not in self._poses:
            if len(self._poses) > 64:  # frames that change at every message are not worth keeping
                self._poses.clear()
            self._poses[frame] = self._find(frame or self._robot.base_link)
        return self._poses[frame]

    def _find(self, frame: str) -> _Pose | None:
        if frame not in self._robot.links:
            return None
        chain = ancestors(self._robot, frame)
        if any(link in self._robot.joint_of_link for link in chain):
            return None
        translation, rotation = pose_at_zero(self._robot, chain)
        return _Pose(translation, rotation, not np.allclose(rotation, np.eye(3), atol=1e-9))

    def _newest_flags(self, stamp: int) -> RobotFlags | None:
        flags = self._flags
        if flags is None or abs(stamp - flags.stamp) > self._flags_age:
            return None
        return flags.flags
