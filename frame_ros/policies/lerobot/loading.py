# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Loading a LeRobot checkpoint: configuration, network, processors; every trap said by name."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from frame_ros.core.errors import CheckpointError, MissingExtraError
from frame_ros.core.lerobot_import import import_lerobot, offline
from frame_ros.policies.checkpoint import (
    CONFIG,
    PROCESSORS,
    WEIGHTS,
    CheckpointFolder,
    open_checkpoint,
    processor_files,
)
from frame_ros.policies.fingerprint import FilesDigest, fingerprint_of
from frame_ros.policies.lerobot.columns import (
    Columns,
    action_columns,
    state_columns,
)
from frame_ros.policies.lerobot.configuration import load_config
from frame_ros.policies.lerobot.families import entry_of, family_of
from frame_ros.policies.lerobot.families.family import Family, FamilyOptions
from frame_ros.policies.lerobot.inputs import PolicyInputs
from frame_ros.policies.lerobot.matching import (
    check_order,
    check_widths,
    match_cameras,
    match_poses,
)
from frame_ros.policies.lerobot.network import describe_failure, load_network
from frame_ros.policies.lerobot.options import LeRobotOptions, joint_scales
from frame_ros.policies.lerobot.policy import LeRobotPolicy

logger = logging.getLogger(__name__)


class LeRobotCheckpoint(LeRobotPolicy):
    """A LeRobotPolicy that is loaded from its options; nothing is downloaded."""

    Options = LeRobotOptions
    needs = {'folder': f'the folder of a LeRobot checkpoint, with {CONFIG}'}

    @classmethod
    def make(cls, options: LeRobotOptions) -> LeRobotPolicy:
        """Loads the checkpoint.

        Raises:
            CheckpointError: files are missing, of another version, or do not fit the robot or its
                cameras.
            ValueRangeError: units or ranges do not fit.
            MissingExtraError: LeRobot, or what it needs for this family, is not installed.
        """
        checkpoint = open_checkpoint(options.folder)
        weights = FilesDigest([checkpoint.path / WEIGHTS])
        columns, notes = _columns(options)
        import_lerobot()
        with offline():
            family_class = family_of(checkpoint.policy_type, version('lerobot'))
            config, dropped = load_config(checkpoint, options.device)
            inputs = _fit(checkpoint.path, config, family_class, columns, options)
            notes += [*dropped, *inputs.notes]
            family, processors = _load_parts(checkpoint, config, family_class, options, notes)
        notes += family.notes()
        name, path, rate = checkpoint.policy_type, str(checkpoint.path), options.action_rate
        policy = cls(name, path, family, processors, inputs, columns.actions, rate, notes)
        policy.reset(options.seed)
        normaliser = FilesDigest(processor_files(checkpoint.path))
        policy.fingerprint = fingerprint_of(weights.value(), normaliser.value())
        for note in policy.notes:
            logger.warning('%s: %s', policy.checkpoint, note)
        return policy

    @classmethod
    def check(cls, options: LeRobotOptions) -> None:
        """Checks the files, and that there are as many actions as the robot has joints unless an
        option declares the columns.

        Raises:
            CheckpointError: the checkpoint is incomplete, or of another robot.
        """
        checkpoint = open_checkpoint(options.folder)
        features = checkpoint.config.get('output_features') or {}
        shape = (features.get('action') or {}).get('shape')
        is_joints = options.action_space == 'joint_position'
        is_declared = options.action_names or options.state_names or not is_joints
        joints = options.robot_joint_names
        if is_declared or not joints or not isinstance(shape, list) or len(shape) != 1:
            return
        if shape[0] != len(joints):
            raise CheckpointError(
                f'{checkpoint.path} gives {shape[0]} values per action; the robot has '
                f'{len(joints)} joints ({", ".join(joints)}): it is of another robot, or the '
                'option action_names has to say what its columns are'
            )


def load_lerobot_policy(
    folder: str | Path, robot_joint_names: Sequence[str], **others: Any
) -> LeRobotPolicy:
    """Loads a LeRobot checkpoint from a local folder. others: further `LeRobotOptions`.

    Raises:
        FrameRosError: as of `LeRobotCheckpoint.make`, or an option is out of range.
    """
    names = tuple(robot_joint_names)
    read = LeRobotCheckpoint.read_options
    return LeRobotCheckpoint.make(read(folder=str(folder), robot_joint_names=names, **others))


def _columns(options: LeRobotOptions) -> tuple[Columns, list[str]]:
    """The columns of actions and state, and notes about them."""
    scales, notes = joint_scales(options)
    return (
        Columns(
            action_columns(
                options.action_space, options.action_names, options.action_units, scales
            ),
            state_columns(options.state_names, scales, options.state_pose),
            options.robot_joint_names,
            scales.grippers,
            is_declared=bool(options.action_names),
        ),
        notes,
    )


def _fit(
    path: Path,
    config: Any,
    family: type[Family],
    columns: Columns,
    options: LeRobotOptions,
) -> PolicyInputs:
    """Matches the robot to the inputs; raises CheckpointError if it does not fit."""
    cameras, notes = match_cameras(path, config, options.camera_names, family.may_lack_cameras)
    check_widths(path, config, columns)
    if not columns.is_declared:
        check_order(path, config, columns)
    return PolicyInputs(
        joint_names=columns.joints,
        state=columns.state if config.robot_state_feature is not None else None,
        cameras=cameras,
        sizes={name: tuple(config.image_features[name].shape[1:]) for name in cameras},
        takes_any_size=family.resizes_images(config),
        things=match_poses(path, config, options.pose_names),
        needs_instruction=family.needs_instruction,
        notes=notes,
    )


def _load_parts(
    checkpoint: CheckpointFolder,
    config: Any,
    family_class: type[Family],
    options: FamilyOptions,
    notes: list[str],
) -> tuple[Family, tuple[Any, Any]]:
    """The network and the processors, or what is missing for them."""
    family_class.configure(config, options)
    try:
        model, unused = load_network(checkpoint, config, family_class)
        notes += unused
        processors = _load_processors(checkpoint, config, family_class, options, notes)
    except ImportError as error:
        entry = entry_of(checkpoint.policy_type)
        raise MissingExtraError(
            f'LeRobot cannot load a policy of type {checkpoint.policy_type!r}: {error}: '
            f'pip install {entry.requirement}'
        ) from error
    return family_class(model, options), processors


def _load_processors(
    checkpoint: CheckpointFolder,
    config: Any,
    family: type[Family],
    options: FamilyOptions,
    notes: list[str],
) -> tuple[Any, Any]:
    from lerobot.policies.factory import make_pre_post_processors

    overrides = {
        'device_processor': {'device': config.device},
        'rename_observations_processor': {'rename_map': {}},
        **family.preprocessor_overrides(options),
    }
    steps = checkpoint.processor_steps(PROCESSORS[0])
    try:
        processors = make_pre_post_processors(
            policy_cfg=config,
            pretrained_path=os.fspath(checkpoint.path),
            preprocessor_overrides={
                name: values for name, values in overrides.items() if name in steps
            },
        )
    except Exception as error:  # each step of a processor raises its own
        raise describe_failure(error, checkpoint, config, 'processors') from error
    for processor in processors:
        notes.extend(_missing_statistics(processor))
    return processors


def _missing_statistics(processor: Any) -> list[str]:
    """LeRobot passes a feature without statistics through unnormalised and says nothing."""
    notes = []
    for step in processor.steps:
        modes = getattr(step, 'norm_map', None)
        if modes is None:
            continue
        for feature, spec in step.features.items():
            mode = modes.get(spec.type)
            if mode is not None and mode.name != 'IDENTITY' and not step.stats.get(feature):
                notes.append(
                    f'{processor.name} has no statistics for {feature}: it passes unnormalised'
                )
    return notes
