# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that a checkpoint fits the robot: its cameras, joints and poses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from frame_ros.core.errors import CheckpointError
from frame_ros.policies.environment_state import COORDINATES, ENVIRONMENT_STATE
from frame_ros.policies.lerobot.columns import (
    END_EFFECTOR,
    Columns,
    column_names,
)
from frame_ros.policies.lerobot.inputs import CHANNELS, STATE

ACTION = 'action'
# LeRobot's name of image features that stand for cameras that the robot does not have.
EMPTY_CAMERA = 'observation.images.empty_camera_'


def match_cameras(
    path: Path, config: Any, camera_names: Mapping[str, str] | None, may_lack: bool
) -> tuple[dict[str, str], list[str]]:
    """Image feature -> camera, in the checkpoint's order, and notes.

    Args:
        camera_names: as `load_lerobot_policy` takes it.
        may_lack: features may stay without a camera if camera_names leaves them out.

    Raises:
        CheckpointError: camera_names and the image features do not fit each other.
    """
    features = [name for name in config.image_features if not name.startswith(EMPTY_CAMERA)]
    for name in features:
        shape = tuple(config.image_features[name].shape)
        if len(shape) != 3 or shape[0] != CHANNELS:
            raise CheckpointError(
                f'{path} takes {name} of shape {shape}; only colour images (3, H, W) can be given'
            )
    if camera_names is not None and not isinstance(camera_names, Mapping):
        raise CheckpointError(
            f'camera_names is {camera_names!r}; it must map each of {features} to a camera'
        )
    names = dict(camera_names or {feature: feature.split('.')[-1] for feature in features})
    unknown, unnamed = sorted(set(names) - set(features)), sorted(set(features) - set(names))
    if unknown or (unnamed and not may_lack) or (features and not names):
        raise CheckpointError(
            f'camera_names maps {sorted(names)}, but the image features of {path} are {features}'
        )
    if len(set(names.values())) != len(names):
        raise CheckpointError(f'camera_names uses one camera for two image features: {names}')
    notes = [f'{", ".join(unnamed)} get no camera; the policy acts without'] if unnamed else []
    return {feature: names[feature] for feature in features if feature in names}, notes


def check_widths(path: Path, config: Any, columns: Columns) -> None:
    """Checks that state and action have one value per column, and that nothing else is required.

    Raises:
        CheckpointError: they do not; the checkpoint is for another robot.
    """
    if config.action_feature is None:
        raise CheckpointError(
            f'{path} has no output {ACTION!r}; its outputs are {config.output_features}'
        )
    expected = [(ACTION, 'action_names', config.action_feature, columns.actions.names)]
    if config.robot_state_feature is not None:
        expected.append((STATE, 'state_names', config.robot_state_feature, columns.state.names))
    for feature, option, found, names in expected:
        width = found.shape[0]
        if width == len(names):
            continue
        has = f'{option} has {len(names)}'
        if names == columns.joints:
            has = f'the robot has {len(names)} joints, and {option} is not given'
        raise CheckpointError(
            f'{path} is for another robot: {feature} has {width} values, {has}: {", ".join(names)}'
        )
    unfit = [
        name
        for name in config.input_features
        if name not in (STATE, ENVIRONMENT_STATE) and name not in config.image_features
    ]
    if unfit:
        raise CheckpointError(f'{path} needs inputs that a robot does not give: {unfit}')


def check_order(path: Path, config: Any, columns: Columns) -> None:
    """Checks that the actions are those of the robot's joints in their order, if known.

    The configuration has them from LeRobot 0.6 on, for some families.

    Raises:
        CheckpointError: they are others.
    """
    recorded = tuple(getattr(config, 'action_feature_names', None) or ())
    found, names = column_names(recorded, columns.grippers), columns.actions.names
    is_other = set(found) == set(names) or any(n.startswith(END_EFFECTOR) for n in recorded)
    if found != names and is_other:
        raise CheckpointError(
            f'the actions of {path} are {", ".join(recorded)}, and not {columns.actions.space} of '
            f'{", ".join(names)}: give action_names, state_names and action_space'
        )


def match_poses(path: Path, config: Any, pose_names: Sequence[str]) -> tuple[str, ...]:
    """The poses that the checkpoint's environment state is made of; empty: it takes none.

    Raises:
        CheckpointError: it has another width than the poses give.
    """
    feature = config.input_features.get(ENVIRONMENT_STATE)
    if feature is None:
        return ()
    width = len(COORDINATES) * len(pose_names)
    if tuple(feature.shape) != (width,):
        raise CheckpointError(
            f'{path} takes {ENVIRONMENT_STATE} of shape {tuple(feature.shape)}; '
            f'the poses {", ".join(pose_names)} give ({width},)'
        )
    return tuple(pose_names)
