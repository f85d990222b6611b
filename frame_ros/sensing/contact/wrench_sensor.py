# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The force-torque sensor of the contact node: where it sits, how it moves, what it feels."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import FrameRosError, SetupError
from frame_ros.core.time import SECOND
from frame_ros.robots import Robot
from frame_ros.sensing.contact.coverage import Coverage, beyond_sensor, solid_links
from frame_ros.sensing.contact.detection import Detection
from frame_ros.sensing.contact.joint_arrays import JointArrays, JointRows
from frame_ros.sensing.contact.options import SensingOptions
from frame_ros.sensing.contact.sensitivity import UNKNOWN, Sensitivity
from frame_ros.sensing.contact.sensor_axes import check_axes, chosen_mount
from frame_ros.sensing.contact.sensor_mount import (
    SensorFrames,
    SensorMount,
    ancestors,
    joints_between,
    pose_at_zero,
)
from frame_ros.sensing.contact.source import ContactSource
from frame_ros.sensing.contact.wrench.batch import WrenchSamples, process
from frame_ros.sensing.contact.wrench.detector import WrenchContact
from frame_ros.sensing.contact.wrench.tool_model import norm
from frame_ros.sensing.contact.wrench.tool_motion import (
    MotionOptions,
    ToolMotion,
    ToolMotionEstimator,
    ToolMotions,
)

Array = NDArray[np.float64]
NO_JOINTS = JointRows(np.zeros(0, dtype=np.intp), frozenset())


class _Placed(NamedTuple):
    """Detector and motion of a place of the sensor. rows: of the joints that move it. coverage: of
    the links. mount: the place.
    """

    detector: WrenchContact
    motion: ToolMotionEstimator
    rows: JointRows
    coverage: Coverage
    mount: SensorMount


class WrenchSensor:
    """WrenchContact of one topic, made when the frame of its first message is known; where the
    frame changes, one for each, with a bias of its own.

    detector: that of the newest frame; None if there is none. problem: why, in words. stamp_error:
    s by which a stamp may differ from those of the joints; the accelerations are as late as that.
    """

    source = ContactSource.WRENCH
    name = 'wrench'

    def __init__(self, settings: SensingOptions, robot: Robot, joints: JointArrays) -> None:
        """Raises FrameRosError for settings, a tool or a mount that cannot be used."""
        self._settings, self._robot, self._joints = settings, robot, joints
        tool = settings.tool.read()
        self._tool, self._axes = tool.tool, tool.mount
        mount = chosen_mount(settings, robot, tool.mount)
        self.frames = SensorFrames(robot, mount, settings.frames)
        self.detector: WrenchContact | None = None
        self.problem = 'no wrench yet'
        self._motion: ToolMotionEstimator | None = None
        self._frame: str | None = None
        self._rows = NO_JOINTS
        # Until the place is known: all would be felt, and none is.
        self._nowhere: Coverage = dict.fromkeys(solid_links(robot), '')
        self.coverage: Coverage = self._nowhere
        self.mount: SensorMount | None = None  # of the newest frame
        self._max_age = round(settings.max_joint_age * SECOND)
        self._made: dict[str, _Placed] = {}
        self._last_tare: object = None
        self.stamp_error = 0.0

    def change(self, settings: SensingOptions) -> None:
        """Takes other values of the options that are live, from the next sample on."""
        self._settings = settings
        for placed in self._made.values():
            before = placed.detector.settings
            placed.detector.change(settings.wrench_at(before.tip, before.weight_point))

    def reset(self) -> None:
        """The clock was set back or forward; what was learnt of the sensor stays."""
        for placed in self._made.values():
            placed.detector.reset()
            placed.motion.reset()

    def look_again(self) -> None:
        """Looks for the mount again at the next wrench: tf_static has something new."""
        if self.detector is None:
            self._frame = None

    def on_joints(self, stamp: int, joints: frozenset[str]) -> None:
        """Takes a joint state; joints: those that it had."""
        if self._motion is None or self._rows.joints.isdisjoint(joints):
            return
        sample = self._joints.sample(self._rows)
        if sample is not None and stamp - self._joints.oldest(self._rows) <= self._max_age:
            self._motion.update(stamp, sample.positions, sample.velocities)

    def on_wrench(
        self, stamp: int, frame: str, values: Sequence[float], is_holding: bool | None
    ) -> Detection:
        """Takes a wrench as it came."""
        frame = self._settings.wrench.frame or frame
        if frame != self._frame:
            self.place(frame)
        if self.detector is None or self._motion is None:
            return Detection(stamp, self.source, None, unavailable=self.problem)
        motion = self._motion.at(stamp)
        if missing := self._joints.missing_of(self._rows):
            motion = ToolMotion.missing(f'no position yet of {", ".join(missing)}')
        if self.stamp_error:
            motion = motion._replace(delay=motion.delay + self.stamp_error)
        return self.detector.update(stamp, values, motion, is_holding)

    def on_wrenches(
        self, stamps: NDArray[np.int64], values: Array, motions: ToolMotions
    ) -> WrenchSamples:
        """Takes wrenches (T, 6) in the newest frame at once: as `on_wrench` one by one, many times
        as fast.

        Args:
            stamps: (T,) ns.
            motions: of the sensor, T of them, with the possible error of the stamps.

        Raises:
            SetupError: the sensor has no place yet.
        """
        if self.detector is None:
            raise SetupError(self.problem)
        return process(self.detector, stamps, values, motions)

    @property
    def motion_estimator(self) -> ToolMotionEstimator:
        """That of the newest frame.

        Raises:
            SetupError: the sensor has no place yet.
        """
        if self._motion is None:
            raise SetupError(self.problem)
        return self._motion

    @staticmethod
    def outcome_of(detector: WrenchContact) -> tuple[bool, str]:
        """Of its last tare: whether it succeeded, and what it did or why not."""
        result = detector.tare_result
        if result is None:
            return False, 'tare refused: none has ended'
        if not result.is_accepted or result.bias is None:
            return False, result.reason
        values = ', '.join(f'{value:.3f}' for value in result.bias.tolist())
        return True, f'tared: beyond the tool the sensor reads {values} (N, N m; as force on it)'

    def has_new_tare(self) -> bool:
        """Returns whether a tare of `detector` has ended since this was last asked."""
        result = self.detector.tare_result if self.detector is not None else None
        is_new = result is not None and result is not self._last_tare
        self._last_tare = result
        return is_new

    @property
    def centre_of_mass(self) -> tuple[float, float, float]:
        """Of the tool, m in the sensor's axes."""
        return self._tool.centre_of_mass

    @property
    def held_weight(self) -> float:
        """N of what is held, as it is taken off the wrench; NaN: it was not weighed."""
        mass = self.detector.payload.mass if self.detector is not None else 0.0
        return mass * norm(*self._tool.gravity) if mass else nan

    @property
    def sensitivity(self) -> Sensitivity:
        """Of the newest sample."""
        return UNKNOWN if self.detector is None else self.detector.sensitivity

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons for which its detections are less sure, in words."""
        return () if self.detector is None else self.detector.warnings

    def confirm_weight(self) -> tuple[bool, str]:
        """Takes what hangs on the hand for part of the tool; whether, and what or why not."""
        mass = 0.0 if self.detector is None else self.detector.hung.confirm()
        if not mass:
            return False, 'nothing that was not announced is known to hang on the hand'
        return True, f'{1e3 * mass:.0f} g more are part of the tool, until they are gone'

    def facts(self) -> dict[str, str]:
        """For diagnostics."""
        detector = self.detector
        if detector is None:
            return {}
        bias = detector.bias
        found = {
            'frame': str(self._frame),
            'filter delay [s]': f'{detector.delay:.4f}',
            'share of threshold [-]': f'{detector.share:.2f}',
            'payload [kg]': f'{detector.payload.mass:.3f}',
            'late': str(detector.late),
            'threshold [N, N m]': ', '.join(f'{value:.3g}' for value in detector.limits),
            'hangs on the hand [kg]': f'{detector.hung.payload.mass:.3f}',
        } | detector.free.facts()
        if bias is not None:
            found['bias [N, N m]'] = ', '.join(f'{value:.3f}' for value in bias.tolist())
        return found

    def place(self, frame: str) -> None:
        """Takes, or makes, the detector for a frame, or says why there is none."""
        self._frame = frame
        self.detector = self._motion = self.mount = None
        self.coverage = self._nowhere
        placed = self._made.get(frame)
        if placed is None:
            mount = self.frames.find(frame)
            if mount is None:
                self.problem = self.frames.problem(frame)
                return
            try:
                check_axes(self._robot, mount, self._axes, f'its frame {frame!r}')
                self._made[frame] = placed = self._make(mount)
            except FrameRosError as error:
                self.problem = str(error)
                return
        self.detector, self._motion, self._rows, self.coverage, self.mount = placed
        self.problem = ''

    def _make(self, mount: SensorMount) -> _Placed:
        given = self._settings
        tip, point = tip_in_sensor(self._robot, mount), weight_point_in_sensor(self._robot, mount)
        settings = given.wrench_at(tuple(tip.tolist()), tuple(point.tolist()))
        place = tuple(float(value) for value in mount.translation)
        motion = MotionOptions(
            rotation=mount.rotation,
            translation=(place[0], place[1], place[2]),
            max_age=given.max_joint_age,
        )
        bias = None if given.tare.at_start else settings.known_bias or (0.0,) * 6
        estimator = ToolMotionEstimator(self._robot, mount.link, motion)
        rows = self._joints.rows(estimator.joint_names)
        coverage = beyond_sensor(self._robot, mount.link)
        return _Placed(WrenchContact(settings, self._tool, bias), estimator, rows, coverage, mount)


def tip_in_sensor(robot: Robot, mount: SensorMount) -> Array:
    """(3,) m of the robot's tip, in the axes of the sensor from its origin.

    Raises:
        SetupError: a joint lies between the two, so that it is no constant.
    """
    if moving := joints_between(robot, robot.tip_link, mount.link):
        raise SetupError(
            f'the sensor on {mount.link} does not carry the tip {robot.tip_link}: '
            f'{", ".join(moving)} lies between; set tip to a link that is fixed to the '
            'sensor'
        )
    return _in_sensor(robot, mount, robot.tip_link)


def weight_point_in_sensor(robot: Robot, mount: SensorMount) -> Array:
    """(3,) m, about where what is held or hangs on the hand weighs, in the axes of the sensor: at
    the tool centre point, where the robot's profile knows one that the sensor carries, whatever
    its tip is; otherwise at the tip.
    """
    profile = robot.profile
    link = profile.tips.get('tcp', profile.tracking.tip if profile.tracking else '')
    is_carried = link in robot.links and not joints_between(robot, link, mount.link)
    return _in_sensor(robot, mount, link if is_carried else robot.tip_link)


def _in_sensor(robot: Robot, mount: SensorMount, link: str) -> Array:
    """(3,) m of a link's origin that is fixed to the sensor."""
    place, _ = pose_at_zero(robot, ancestors(robot, link))
    sensor, turned = pose_at_zero(robot, ancestors(robot, mount.link))
    in_link = turned.T @ (place - sensor)
    found: Array = mount.rotation.T @ (in_link - mount.translation)
    return found
