# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Demonstrations as a LeRobotDataset, written by LeRobot's own class into a local folder."""

from __future__ import annotations

import contextlib
import inspect
import logging
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.images.cameras import feature_name
from frame_ros.core.errors import FrameRosError, MissingExtraError, ValueRangeError, install_hint
from frame_ros.core.lerobot_import import offline
from frame_ros.core.torchvision_import import import_torchvision
from frame_ros.policies.environment_state import (
    ENVIRONMENT_STATE,
    POSES,
    environment_state,
    environment_state_names,
)
from frame_ros.policies.protocol import Observation
from frame_ros.robots.joint_units import joint_units

STATE, ACTION, IMAGES = 'observation.state', 'action', 'observation.images'
# Further columns of LeRobot, and their types. Policies read none of them: their inputs are the
# columns that begin with `observation`, their outputs those with `action`. reward, done and
# complementary_info are what HIL-SERL's replay buffer reads (lerobot.rl.buffer), success what
# lerobot-eval writes, intervention what lerobot-rollout's DAgger strategy writes (0.6).
FLAGS = {
    'next.reward': 'float32',
    'next.done': 'bool',
    'next.success': 'bool',
    'intervention': 'bool',
    'complementary_info.is_intervention': 'float32',
}


class DemonstrationDataset:
    """Writes steps of a policy, episode by episode; `add` is a step listener of `Rollouts`.

    Args:
        joints: of the robot, in the order of state and action.
        grippers: gripper joint of the robot -> closed and open position, rad or m.
        rate: Hz of steps.
        poses: what `observation.environment_state` is made of; none: no such feature.
        cameras: name -> (width, height) of the images; a '/' in a name becomes '_'.
        units: 'degrees', which are LeRobot's: degrees, and 0 to 100 for a gripper; or 'rad'.
        repo_id: its name; '' is local/ and the folder's.
        codec: of the videos ('libsvtav1', 'h264', 'hevc'); '': the images are stored as they are,
            so nothing is lost.
        flags: further columns, of FLAGS.
    """

    def __init__(
        self,
        folder: str | Path,
        joints: Sequence[str],
        grippers: Mapping[str, tuple[float, float]],
        rate: int = 30,
        poses: Sequence[str] = POSES,
        cameras: Mapping[str, tuple[int, int]] | None = None,
        robot_type: str = 'so101',
        units: str = 'degrees',
        repo_id: str = '',
        codec: str = '',
        flags: Sequence[str] = (),
    ) -> None:
        """Makes the folder.

        Raises:
            ValueRangeError: the folder is there already, a flag is not known, two cameras would
            have one name, or LeRobot refuses the name or the codec.
            MissingExtraError: LeRobot is not installed.
        """
        self.folder = Path(folder)
        if self.folder.exists():
            raise ValueRangeError(f'{self.folder} is there already; name a new folder')
        self._joints = tuple(joints)
        written = {name: ends for name, ends in grippers.items() if name in self._joints}
        self._units = joint_units(units, self._joints, written)
        self._poses, self._cameras = tuple(poses), dict(cameras or {})
        self._flags, self._codec = tuple(flags), codec
        if unknown := [name for name in self._flags if name not in FLAGS]:
            raise ValueRangeError(f'flags {unknown} are not known; known: {", ".join(FLAGS)}')
        self.steps = 0
        create = import_dataset().create
        try:
            with offline(), quiet():
                self._dataset = create(
                    repo_id=repo_id or f'local/{self.folder.name}',
                    fps=rate,
                    features=self._features(),
                    root=self.folder,
                    robot_type=robot_type,
                    use_videos=bool(codec and cameras),
                    **_codec_options(create, codec),
                )
        except ValueError as error:
            raise ValueRangeError(f'LeRobot refuses this data set: {error}') from error

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
            feature = f'{IMAGES}.{feature_name(camera)}'
            if feature in features:
                raise ValueRangeError(
                    f'two of the cameras {", ".join(self._cameras)} would both be {feature}; '
                    'take one of them (--cameras A,B,...)'
                )
            features[feature] = {
                'dtype': 'video' if self._codec else 'image',
                'shape': (height, width, 3),
                'names': ['height', 'width', 'channels'],
            }
        features.update(
            (name, {'dtype': FLAGS[name], 'shape': (1,), 'names': None}) for name in self._flags
        )
        return features

    def add(
        self,
        observation: Observation,
        action: NDArray[np.float64],
        flags: Mapping[str, float] | None = None,
    ) -> None:
        """One step of the running episode.

        Args:
            action: (D,) rad, ordered as the observation's joints.
            flags: a value for each of the data set's flags; 0 where it is not given.

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
            frame[f'{IMAGES}.{feature_name(camera)}'] = observation.images[camera]
        for name in self._flags:
            value = (flags or {}).get(name, 0)
            frame[name] = np.array([value], dtype=FLAGS[name])
        self._dataset.add_frame(frame)
        self.steps += 1

    def save_episode(self) -> None:
        """Ends the running episode and keeps it."""
        with quiet():
            self._dataset.save_episode(parallel_encoding=False)
        self.steps = 0

    def drop_episode(self) -> None:
        """Ends the running episode and forgets it."""
        self._dataset.clear_episode_buffer()
        self.steps = 0

    def close(self) -> None:
        """Writes what is still in memory; without it the data set is not readable."""
        self._dataset.finalize()


def import_dataset() -> Any:
    """Imports LeRobotDataset alone, which is much faster than with the policies.

    Raises:
        MissingExtraError: LeRobot, or a package that it needs, is not installed.
    """
    try:
        with offline(), quiet():
            import_torchvision()
            from lerobot.datasets.lerobot_dataset import LeRobotDataset
    except ImportError as error:
        raise MissingExtraError(
            f'a LeRobotDataset cannot be written: {error}: {install_hint("lerobot")}'
        ) from error
    return LeRobotDataset


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keeps messages of encoder and libraries off the terminal; errors stay."""
    os.environ.setdefault('SVT_LOG', '1')
    datasets = sys.modules.get('datasets')
    if datasets is not None:
        datasets.disable_progress_bars()
    if (libav := sys.modules.get('av.logging')) is not None:
        libav.set_libav_level(libav.ERROR)
    root = logging.getLogger()
    level = root.level
    root.setLevel(max(level, logging.ERROR))
    try:
        with warnings.catch_warnings():
            # Statistics of yes-or-no columns.
            warnings.filterwarnings('ignore', message='Converting input from bool')
            yield
    finally:
        root.setLevel(level)


def _codec_options(create: Any, codec: str) -> dict[str, Any]:
    """Returns the codec's option for the installed LeRobot: `vcodec` up to 0.5."""
    if not codec:
        return {}
    if 'rgb_encoder' in inspect.signature(create).parameters:
        from lerobot.configs.video import RGBEncoderConfig

        return {'rgb_encoder': RGBEncoderConfig(vcodec=codec)}
    return {'vcodec': codec}
