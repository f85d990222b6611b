# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Loading a LeRobot checkpoint: configuration, network, processors; every trap said by name."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from frame_ros.core.errors import MissingExtraError
from frame_ros.core.lerobot_import import import_lerobot, offline
from frame_ros.policies.checkpoint import PROCESSORS, CheckpointFolder, open_checkpoint
from frame_ros.policies.environment_state import POSES
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
from frame_ros.policies.lerobot.options import (
    check_run,
    family_options,
    joint_scales,
    texts,
)
from frame_ros.policies.lerobot.policy import LeRobotPolicy

logger = logging.getLogger(__name__)


def load_lerobot_policy(
    folder: str | Path,
    robot_joint_names: Sequence[str],
    device: str = 'cpu',
    camera_names: Mapping[str, str] | None = None,
    units: str = 'degrees',
    gripper_limits: Mapping[str, tuple[float, float]] | None = None,
    joint_limits: Mapping[str, tuple[float, float]] | None = None,
    calibration: str | Path = '',
    action_rate: float = 30.0,
    action_space: str = 'joint_position',
    action_names: str | Sequence[str] = (),
    action_units: str | Sequence[str] = (),
    state_names: str | Sequence[str] = (),
    state_pose: str = 'tcp',
    pose_names: str | Sequence[str] = POSES,
    samples: int = 0,
    temperatures: Sequence[float] = (),
    seed: int | None = None,
    vlm_folder: str = '',
    base_model_folder: str = '',
    tokenizer_folder: str = '',
    action_tokenizer_folder: str = '',
    trust_remote_code: bool = False,
    sample_temperature: float = 1.0,
) -> LeRobotPolicy:
    """Loads a LeRobot checkpoint from a local folder; nothing is downloaded.

    robot_joint_names: the joints of the robot, in the order of the checkpoint's state and action
    unless `state_names` and `action_names` say otherwise.
    camera_names: image feature of the checkpoint -> camera, such as 'observation.images.top' ->
    'front'; by default each feature's own name is the camera's ('observation.images.front' ->
    'front'). A family that can do with fewer cameras may be given fewer.
    units, gripper_limits: what joints are written in, in state and action, see `joint_units`. For
    'range_m100_100': calibration, LeRobot's file of the arm, or joint_limits (joint -> lower and
    upper limit, rad) in its place.
    action_rate: Hz, the frame rate of the data set that it was trained on.
    action_space, action_names, action_units: what the actions are, see `action_columns`.
    state_names, state_pose: what the state is, see `state_columns`; the observation's pose of that
    name is the end effector's. A list in a text has commas.
    pose_names: the poses that a checkpoint's `observation.environment_state` is made of, see
    `environment_state`.
    samples: 0, or 2 and more, chunks sampled at each inference. seed: of all that is sampled;
    None: another each time. The rest: see `FamilyOptions`.

    Raises:
        CheckpointError: files are missing, of another version, or do not fit the robot or its
        cameras, or an option is out of its range. ValueRangeError: units or ranges do not fit.
        MissingExtraError: LeRobot, or what it needs for this family, is not installed.
    """
    options = family_options(
        samples,
        temperatures,
        sample_temperature,
        trust_remote_code,
        vlm_folder=vlm_folder,
        base_model_folder=base_model_folder,
        tokenizer_folder=tokenizer_folder,
        action_tokenizer_folder=action_tokenizer_folder,
    )
    joints, names = tuple(robot_joint_names), texts('action_names', action_names)
    check_run(action_rate, seed, joints)
    checkpoint = open_checkpoint(folder)
    scales, notes = joint_scales(units, joints, gripper_limits, joint_limits, calibration)
    columns = Columns(
        action_columns(action_space, names, texts('action_units', action_units), scales),
        state_columns(texts('state_names', state_names), scales, state_pose),
        joints,
        is_declared=bool(names),
    )
    poses = texts('pose_names', pose_names)
    policy = _load(checkpoint, device, options, columns, camera_names, poses, action_rate, notes)
    policy.reset(seed)
    for note in policy.notes:
        logger.warning('%s: %s', policy.checkpoint, note)
    return policy


def _load(
    checkpoint: CheckpointFolder,
    device: str,
    options: FamilyOptions,
    columns: Columns,
    camera_names: Mapping[str, str] | None,
    pose_names: tuple[str, ...],
    action_rate: float,
    notes: list[str],
) -> LeRobotPolicy:
    """The policy of a checkpoint, once all that was asked is known to be sound. notes: what a
    person should know so far.
    """
    import_lerobot()
    with offline():
        family_class = family_of(checkpoint.policy_type, version('lerobot'))
        config, dropped = load_config(checkpoint, device)
        inputs = _fit(checkpoint.path, config, family_class, columns, camera_names, pose_names)
        notes += [*dropped, *inputs.notes]
        family, processors = _load_parts(checkpoint, config, family_class, options, notes)
    notes += family.notes()
    return LeRobotPolicy(
        checkpoint.policy_type,
        str(checkpoint.path),
        family,
        processors,
        inputs,
        columns.actions,
        float(action_rate),
        notes,
    )


def _fit(
    path: Path,
    config: Any,
    family: type[Family],
    columns: Columns,
    camera_names: Mapping[str, str] | None,
    pose_names: tuple[str, ...],
) -> PolicyInputs:
    """What of the robot goes where, or CheckpointError."""
    cameras, notes = match_cameras(path, config, camera_names, family.may_lack_cameras)
    check_widths(path, config, columns)
    if not columns.is_declared:
        check_order(path, config, columns.actions)
    return PolicyInputs(
        joint_names=columns.joints,
        state=columns.state if config.robot_state_feature is not None else None,
        cameras=cameras,
        sizes={name: tuple(config.image_features[name].shape[1:]) for name in cameras},
        takes_any_size=family.resizes_images(config),
        things=match_poses(path, config, pose_names),
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
