# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Demonstrations as a LeRobotDataset, written by LeRobot's own class into a local folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.errors import FrameRosError, ValueRangeError
from frame_ros.lerobot_import import import_lerobot, offline
from frame_ros.policies.environment_state import (
    ENVIRONMENT_STATE,
    POSES,
    environment_state,
    environment_state_names,
)
from frame_ros.policies.protocol import Observation
from frame_ros.robots.joint_units import joint_units

STATE, ACTION, IMAGES = 'observation.state', 'action', 'observation.images'


class DemonstrationDataset:
    """Writes steps of a policy, episode by episode; `add` is a step listener of `Rollouts`.

    joint_limits: the robot's joints in the order of state and action -> lower and upper limit, rad.
    The data set is in LeRobot's units: degrees, and 0 to 100 for a gripper. rate: Hz of steps.
    poses: what `observation.environment_state` is made of; none: no such feature. cameras: name ->
    (width, height) of the images, stored as images rather than videos, so nothing is lost.
    """

    def __init__(
        self,
        folder: str | Path,
        joint_limits: Mapping[str, tuple[float, float]],
        rate: int = 30,
        poses: Sequence[str] = POSES,
        cameras: Mapping[str, tuple[int, int]] | None = None,
        robot_type: str = 'so101',
    ) -> None:
        """Makes the folder.

        Raises:
            ValueRangeError: the folder is there already.
            MissingExtraError: LeRobot is not installed.
        """
        self.folder = Path(folder)
        if self.folder.exists():
            raise ValueRangeError(f'{self.folder} is there already; name a new folder')
        self._joints = tuple(joint_limits)
        grippers = {name: pair for name, pair in joint_limits.items() if 'gripper' in name}
        self._units = joint_units('degrees', self._joints, grippers)
        self._poses, self._cameras = tuple(poses), dict(cameras or {})
        self.steps = 0
        import_lerobot()
        with offline():
            from lerobot.datasets.lerobot_dataset import LeRobotDataset

            self._dataset = LeRobotDataset.create(
                repo_id=f'local/{self.folder.name}',
                fps=rate,
                features=self._features(),
                root=self.folder,
                robot_type=robot_type,
                use_videos=False,
            )

    def _features(self) -> dict[str, dict[str, Any]]:
        joints = {
            'dtype': 'float32',
            'shape': (len(self._joints),),
            'names': [f'{name}.pos' for name in self._joints],
        }
        features: dict[str, dict[str, Any]] = {STATE: joints, ACTION: dict(joints)}
        if self._poses:
            names = environment_state_names(self._poses)
            features[ENVIRONMENT_STATE] = {
                'dtype': 'float32',
                'shape': (len(names),),
                'names': names,
            }
        for camera, (width, height) in self._cameras.items():
            features[f'{IMAGES}.{camera}'] = {
                'dtype': 'image',
                'shape': (height, width, 3),
                'names': ['height', 'width', 'channels'],
            }
        return features

    def add(self, observation: Observation, action: NDArray[np.float64]) -> None:
        """One step of the running episode. action: (D,) rad, ordered as the observation's joints.

        Raises:
            FrameRosError: the observation lacks a joint, a pose or a camera.
        """
        index = {name: i for i, name in enumerate(observation.joint_names)}
        if missing := [name for name in self._joints if name not in index]:
            raise FrameRosError(f'the observation lacks joints {missing}; it has {list(index)}')
        order = [index[name] for name in self._joints]
        frame: dict[str, Any] = {
            STATE: self._units.to_policy(observation.joint_positions[order]).astype(np.float32),
            ACTION: self._units.to_policy(np.asarray(action)[order]).astype(np.float32),
            'task': observation.instruction,
        }
        if self._poses:
            frame[ENVIRONMENT_STATE] = environment_state(observation, self._poses)
        for camera in self._cameras:
            if camera not in observation.images:
                raise FrameRosError(
                    f'the observation lacks camera {camera!r}; it has {sorted(observation.images)}'
                )
            frame[f'{IMAGES}.{camera}'] = observation.images[camera]
        self._dataset.add_frame(frame)
        self.steps += 1

    def save_episode(self) -> None:
        """Ends the running episode and keeps it."""
        self._dataset.save_episode()
        self.steps = 0

    def drop_episode(self) -> None:
        """Ends the running episode and forgets it."""
        self._dataset.clear_episode_buffer()
        self.steps = 0

    def close(self) -> None:
        """Writes what is still in memory; without it the data set is not readable."""
        self._dataset.finalize()
