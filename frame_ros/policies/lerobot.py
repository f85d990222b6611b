# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""LeRobot policies from a local folder, by LeRobot's own configuration, weights and processors."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import logging
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.errors import CheckpointError, PolicyError
from frame_ros.lerobot_import import import_lerobot, offline
from frame_ros.policies.checkpoint import CheckpointFolder, open_checkpoint
from frame_ros.policies.environment_state import (
    COORDINATES,
    ENVIRONMENT_STATE,
    POSES,
    environment_state,
)
from frame_ros.policies.protocol import Inference, Observation
from frame_ros.robots.joint_units import JointUnits, joint_units

SUPPORTED_TYPES = ('act',)
STATE = 'observation.state'
ACTION = 'action'

logger = logging.getLogger(__name__)


class LeRobotPolicy:
    """A LeRobot policy behind the protocol; made by `load_lerobot_policy`.

    notes: what a person should know about how it was loaded. n_action_steps: how many steps of a
    chunk it was meant to execute before the next. horizon: steps of a chunk.
    """

    def __init__(
        self,
        folder: CheckpointFolder,
        model: Any,
        processors: tuple[Any, Any],
        joint_names: tuple[str, ...],
        camera_names: Mapping[str, str],
        units: JointUnits,
        action_rate: float,
        notes: list[str],
        poses: tuple[str, ...] = (),
    ) -> None:
        self.poses = poses
        self.name = folder.policy_type
        self.checkpoint = str(folder.path)
        self.cameras = tuple(camera_names.values())
        self.notes = notes
        self.model = model
        self.preprocessor, self.postprocessor = processors
        self.n_action_steps = int(getattr(model.config, 'n_action_steps', 0))
        self._joint_names = joint_names
        self._image_shapes = {
            camera_names[feature]: (feature, tuple(spec.shape))
            for feature, spec in model.config.image_features.items()
        }
        self._has_state = model.config.robot_state_feature is not None
        self._units = units
        self._dt = 1.0 / action_rate

    def reset(self, seed: int | None = None) -> None:
        """Forgets the last episode; `seed` seeds torch, for policies that sample."""
        import torch

        if seed is not None:
            torch.manual_seed(seed)
        self.model.reset()
        self.preprocessor.reset()
        self.postprocessor.reset()

    def warm_up(self) -> None:
        """Runs one inference on a black image and zero joints.

        The first call of a network is many times slower.
        """
        images = {
            camera: np.zeros((*shape[1:], shape[0]), np.uint8)
            for camera, (_, shape) in self._image_shapes.items()
        }
        poses = dict.fromkeys(self.poses, np.array((0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)))
        joints = np.zeros(len(self._joint_names))
        self.infer(Observation(0, 0, self._joint_names, joints, images, poses))
        self.reset()

    def infer(self, observation: Observation) -> Inference:
        """Returns the chunk that LeRobot's own path gives: prepare, preprocess,
        predict_action_chunk, postprocess.

        Raises:
            PolicyError: an input is missing or of the wrong size, or the chunk has the wrong width.
        """
        import torch

        begun = time.perf_counter()
        with torch.inference_mode():
            batch = self.preprocessor(self._prepare(observation))
            self._synchronise()
            preprocessed = time.perf_counter()
            raw = self.model.predict_action_chunk(batch)
            self._synchronise()
            forwarded = time.perf_counter()
            actions = self._to_actions(self.postprocessor(raw))
        ended = time.perf_counter()
        return Inference(
            actions=actions,
            dt=self._dt,
            action_names=self._joint_names,
            action_units=('rad',) * len(self._joint_names),
            preprocess=preprocessed - begun,
            forward=forwarded - preprocessed,
            postprocess=ended - forwarded,
            memory_device=self._device_memory(),
        )

    @property
    def _device(self) -> Any:
        import torch

        return torch.device(self.model.config.device)

    def _prepare(self, observation: Observation) -> dict[str, Any]:
        from lerobot.policies.utils import prepare_observation_for_inference

        inputs: dict[str, NDArray] = {
            feature: self._image(observation, camera, shape)
            for camera, (feature, shape) in self._image_shapes.items()
        }
        if self._has_state:
            inputs[STATE] = self._units.to_policy(self._positions(observation)).astype(np.float32)
        if self.poses:
            inputs[ENVIRONMENT_STATE] = environment_state(observation, self.poses)
        return prepare_observation_for_inference(inputs, self._device, task=observation.instruction)

    def _positions(self, observation: Observation) -> NDArray[np.float64]:
        index = {name: i for i, name in enumerate(observation.joint_names)}
        missing = [name for name in self._joint_names if name not in index]
        if missing:
            raise PolicyError(
                f'the observation lacks joints {missing}; it has {list(observation.joint_names)}'
            )
        return observation.joint_positions[[index[name] for name in self._joint_names]]

    def _image(
        self, observation: Observation, camera: str, shape: tuple[int, ...]
    ) -> NDArray[np.uint8]:
        image = observation.images.get(camera)
        if image is None:
            raise PolicyError(
                f'the observation lacks camera {camera!r}; it has {sorted(observation.images)}'
            )
        if image.shape != (*shape[1:], shape[0]):
            raise PolicyError(
                f'camera {camera!r} gives an image of '
                f'{image.shape[1]}x{image.shape[0]}x{image.shape[2]}; '
                f'the checkpoint was trained on {shape[2]}x{shape[1]}x{shape[0]}'
            )
        return np.require(image, requirements=['C', 'W'])

    def _to_actions(self, chunk: Any) -> NDArray[np.float64]:
        actions = chunk.detach().to('cpu').numpy().astype(np.float64)
        if actions.ndim != 3 or actions.shape[0] != 1 or actions.shape[2] != len(self._joint_names):
            raise PolicyError(
                f'the policy gave a chunk of shape {actions.shape}; it must be (1, steps, '
                f'{len(self._joint_names)})'
            )
        return self._units.to_radians(actions[0])

    def _synchronise(self) -> None:
        import torch

        if self._device.type == 'cuda':
            torch.cuda.synchronize(self._device)

    def _device_memory(self) -> float:
        import torch

        return (
            float(torch.cuda.memory_allocated(self._device)) if self._device.type == 'cuda' else 0.0
        )


def load_lerobot_policy(
    folder: str | Path,
    robot_joint_names: Sequence[str],
    device: str = 'cpu',
    camera_names: Mapping[str, str] | None = None,
    units: str = 'degrees',
    gripper_limits: Mapping[str, tuple[float, float]] | None = None,
    action_rate: float = 30.0,
    pose_names: Sequence[str] = POSES,
) -> LeRobotPolicy:
    """Loads a LeRobot checkpoint from a local folder; nothing is downloaded.

    robot_joint_names: the joints of the robot in the order of the checkpoint's state and action.
    camera_names: image feature of the checkpoint -> camera, such as 'observation.images.top' ->
    'front'; by default each feature's own name is the camera's ('observation.images.front' ->
    'front').
    units, gripper_limits: what the checkpoint's state and action are in, see `joint_units`.
    action_rate: Hz, the frame rate of the data set that it was trained on.
    pose_names: the poses that a checkpoint's `observation.environment_state` is made of, see
    `environment_state`.

    Raises:
        CheckpointError: files are missing, of another version, or do not fit the robot or its
        cameras. MissingExtraError: LeRobot is not installed.
    """
    if not (np.isfinite(action_rate) and action_rate > 0):
        raise CheckpointError(f'action_rate is {action_rate} Hz; it must be positive')
    checkpoint = open_checkpoint(folder)
    names = tuple(robot_joint_names)
    converter = joint_units(units, names, gripper_limits)
    import_lerobot()
    with offline():
        config, notes = _load_config(checkpoint, device)
        cameras = _match_cameras(checkpoint, config, camera_names)
        _check_widths(checkpoint, config, names)
        poses = _match_poses(checkpoint, config, pose_names)
        model = _load_model(checkpoint, config, notes)
        processors = _load_processors(checkpoint, config, notes)
    for note in notes:
        logger.warning('%s: %s', checkpoint.path, note)
    return LeRobotPolicy(
        checkpoint, model, processors, names, cameras, converter, action_rate, notes, poses
    )


def _load_config(checkpoint: CheckpointFolder, device: str) -> tuple[Any, list[str]]:
    from lerobot.configs.policies import PreTrainedConfig

    if checkpoint.policy_type not in SUPPORTED_TYPES:
        raise CheckpointError(
            f'{checkpoint.path} is a policy of type {checkpoint.policy_type!r}; supported: '
            f'{", ".join(SUPPORTED_TYPES)}'
        )
    known = {
        field.name
        for field in dataclasses.fields(PreTrainedConfig.get_choice_class(checkpoint.policy_type))
    }
    content = {
        name: value for name, value in checkpoint.config.items() if name in known or name == 'type'
    }
    notes = []
    if dropped := sorted(set(checkpoint.config) - set(content)):
        notes.append(
            'fields of config.json that this version of LeRobot does not know are left out: '
            f'{dropped}'
        )
    _check_device(device)
    # LeRobot announces a device of the training machine that is not here, although it is replaced
    # below.
    content['device'] = device
    with _configuration_folder(content) as path:
        try:
            config = PreTrainedConfig.from_pretrained(path)
        except Exception as error:  # draccus raises many kinds for a value of the wrong type
            raise CheckpointError(
                f'{checkpoint.path / "config.json"} does not fit LeRobot: {error}'
            ) from error
    if hasattr(config, 'pretrained_backbone_weights'):
        config.pretrained_backbone_weights = (
            None  # they are in the checkpoint; otherwise they would be downloaded
        )
    return config, notes


@contextlib.contextmanager
def _configuration_folder(content: dict) -> Any:
    """A folder with `content` as config.json.

    LeRobot leaves a temporary file beside it, which goes with it.
    """
    with tempfile.TemporaryDirectory(prefix='frame_ros_') as path:
        (Path(path) / 'config.json').write_text(json.dumps(content))
        saved, tempfile.tempdir = tempfile.tempdir, path
        try:
            yield path
        finally:
            tempfile.tempdir = saved


def _check_device(device: str) -> None:
    import torch

    try:
        kind = torch.device(device).type
    except RuntimeError as error:
        raise CheckpointError(
            f'device is {device!r}; it must be one that torch knows, such as cpu or cuda:0'
        ) from error
    if kind == 'cuda' and not torch.cuda.is_available():
        raise CheckpointError(
            f'device is {device!r}, but torch {torch.__version__} sees no CUDA device; use cpu'
        )


def _match_cameras(
    checkpoint: CheckpointFolder, config: Any, camera_names: Mapping[str, str] | None
) -> dict[str, str]:
    features = list(config.image_features)
    names = dict(camera_names or {feature: feature.split('.')[-1] for feature in features})
    unknown, unnamed = sorted(set(names) - set(features)), sorted(set(features) - set(names))
    if unknown or unnamed:
        raise CheckpointError(
            f'camera_names maps {sorted(names)}, but the image features of {checkpoint.path} are '
            f'{features}'
        )
    if len(set(names.values())) != len(names):
        raise CheckpointError(f'camera_names uses one camera for two image features: {names}')
    return {feature: names[feature] for feature in features}


def _check_widths(checkpoint: CheckpointFolder, config: Any, names: tuple[str, ...]) -> None:
    if config.action_feature is None:
        raise CheckpointError(
            f'{checkpoint.path} has no output {ACTION!r}; its outputs are {config.output_features}'
        )
    widths = {ACTION: config.action_feature.shape[0]}
    if config.robot_state_feature is not None:
        widths[STATE] = config.robot_state_feature.shape[0]
    for feature, width in widths.items():
        if width != len(names):
            raise CheckpointError(
                f'{checkpoint.path} is for another robot: {feature} has {width} values, the robot '
                f'has {len(names)} '
                f'joints: {", ".join(names)}'
            )
    unfit = [
        name
        for name in config.input_features
        if name not in (STATE, ENVIRONMENT_STATE) and name not in config.image_features
    ]
    if unfit:
        raise CheckpointError(f'{checkpoint.path} needs inputs that a robot does not give: {unfit}')


def _match_poses(
    checkpoint: CheckpointFolder, config: Any, pose_names: Sequence[str]
) -> tuple[str, ...]:
    feature = config.input_features.get(ENVIRONMENT_STATE)
    if feature is None:
        return ()
    width = len(COORDINATES) * len(pose_names)
    if tuple(feature.shape) != (width,):
        raise CheckpointError(
            f'{checkpoint.path} takes {ENVIRONMENT_STATE} of shape {tuple(feature.shape)}; '
            f'the poses {", ".join(pose_names)} give ({width},)'
        )
    return tuple(pose_names)


def _load_model(checkpoint: CheckpointFolder, config: Any, notes: list[str]) -> Any:
    from lerobot.policies.factory import get_policy_class

    try:
        with contextlib.redirect_stdout(io.StringIO()):
            model = get_policy_class(checkpoint.policy_type).from_pretrained(
                checkpoint.path, config=config
            )
    except (
        Exception
    ) as error:  # torch, safetensors and LeRobot each raise their own for weights that do not fit
        raise CheckpointError(
            f'the weights of {checkpoint.path} do not fit its config.json: {error}'
        ) from error
    expected = set(model.state_dict())
    if missing := sorted(expected - checkpoint.weight_names):
        raise CheckpointError(
            f'{checkpoint.path} lacks {len(missing)} of {len(expected)} weights, which would stay '
            f'random: {_some(missing)}'
        )
    if unexpected := sorted(checkpoint.weight_names - expected):
        notes.append(
            f'{len(unexpected)} weights are not used by this version of LeRobot: '
            f'{_some(unexpected)}'
        )
    return model


def _load_processors(
    checkpoint: CheckpointFolder, config: Any, notes: list[str]
) -> tuple[Any, Any]:
    from lerobot.policies.factory import make_pre_post_processors

    try:
        processors = make_pre_post_processors(
            policy_cfg=config,
            pretrained_path=os.fspath(checkpoint.path),
            preprocessor_overrides={
                'device_processor': {'device': config.device},
                'rename_observations_processor': {'rename_map': {}},
            },
        )
    except Exception as error:  # each step of a processor raises its own
        raise CheckpointError(
            f'the processors of {checkpoint.path} do not load: {error}'
        ) from error
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


def _some(names: Sequence[str], count: int = 5) -> str:
    return ', '.join(names[:count]) + (
        f', ... ({len(names) - count} more)' if len(names) > count else ''
    )
