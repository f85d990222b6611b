# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The metrics node's options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs

from frame_ros.confidence.calibration_file import CalibrationFile
from frame_ros.confidence.fingerprint import Fingerprint
from frame_ros.core.errors import CalibrationError
from frame_ros.core.options import option, options
from frame_ros.episodes.metric_pipeline.options import MetricParameters, PipelineOptions
from frame_ros.episodes.metric_pipeline.robot_actions import action_settings
from frame_ros.episodes.reference import Reference
from frame_ros.episodes.reference_loading import load_references
from frame_ros.nodes.runtime.topics import GOAL_POSE, OBJECT_POSE
from frame_ros.robots import Robot, load_robot
from frame_ros.robots.options import FrameOptions, RobotOptions


@options
class MetricsOptions(MetricParameters, FrameOptions, RobotOptions):
    """Metrics node: joint states, actions, contacts, distances and inferences -> metrics."""

    frame_id: str = option(
        '', "frame of the metric messages; '': the robot's base link, with the prefix"
    )
    normalise_actions: bool = option(
        True, 'scale actions to [0, 1] by the joint limits; false: raw, in rad and m'
    )
    object_topic: str = option(
        OBJECT_POSE.name, 'geometry_msgs/PoseStamped of the object, in the frame of ee_pose'
    )
    goal_topic: str = option(
        GOAL_POSE.name, 'geometry_msgs/PoseStamped of where it has to go, in the same frame'
    )
    object_frame: str = option(
        '', 'tf frame of the object; its pose is then published on object_topic, not read there'
    )
    goal_frame: str = option('', 'tf frame of the goal, likewise')
    references: tuple[str, ...] = option(
        (), 'bags of demonstrations, or folders of them, that ate and rte compare with'
    )
    reference_mean: bool = option(
        False, 'compare with their mean trajectory instead of the nearest of them'
    )
    reference_only_successful: bool = option(
        True, 'leave out demonstrations that did not end in success'
    )
    calibration_file: str = option(
        '', "calibration of the policy, as written by `frame-ros calibrate`; '': none"
    )

    def pipeline(self) -> PipelineOptions:
        """The options of the pipeline.

        Raises:
            FrameRosError: a robot that is not known, a reference that cannot be read, or a
                calibration that cannot be read or holds for something else.
        """
        robot = load_robot(self.robot)
        names = [field.name for field in attrs.fields(MetricParameters)]  # type: ignore[arg-type]
        values: dict[str, Any] = {name: getattr(self, name) for name in names}
        values['pose_frame'] = self.frame_id or self.frames.of(robot.base_link)
        of_robot = action_settings(robot.joint_limits, robot.continuous)
        if self.normalise_actions:
            values |= of_robot
        else:
            values['continuous'] = of_robot['continuous']
        return PipelineOptions(
            **values,
            references=tuple(self._load_references()),
            calibration=self._load_calibration(robot),
        )

    def _load_references(self) -> list[Reference]:
        if not self.references:
            return []
        folders = [Path(path).expanduser() for path in self.references]
        return load_references(
            folders, self.reference_only_successful, self.reference_mean, robot=self.robot,
            match=self.reference_match,
        )  # fmt: skip

    def _load_calibration(self, robot: Robot) -> CalibrationFile | None:
        """Returns the part of the calibration that the metrics need."""
        if not self.calibration_file:
            return None
        found = CalibrationFile.load(self.calibration_file)
        known = Fingerprint(robot=robot.name, confidence_aggregate=self.confidence_aggregate)
        if mismatches := found.fingerprint.mismatches(known):
            raise CalibrationError(
                f'calibration file {self.calibration_file} does not fit: {"; ".join(mismatches)}'
            )
        return found.of_metrics
