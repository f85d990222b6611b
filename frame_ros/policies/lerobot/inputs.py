# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""An Observation as the inputs that a checkpoint names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import PolicyError
from frame_ros.policies.environment_state import ENVIRONMENT_STATE, environment_state
from frame_ros.policies.lerobot.columns import StateColumns
from frame_ros.policies.protocol import Observation

STATE = 'observation.state'
CHANNELS = 3


@dataclass(frozen=True)
class PolicyInputs:
    """The inputs of a checkpoint, and their joints, cameras and poses."""

    joint_names: tuple[str, ...]  # of the robot
    state: StateColumns | None  # None if it takes none
    cameras: Mapping[str, str]  # image feature -> camera
    sizes: Mapping[str, tuple[int, int]]  # image feature -> (H, W)
    takes_any_size: bool  # the network resizes images itself
    things: tuple[str, ...]  # the poses in its environment state
    needs_instruction: bool
    notes: list[str] = field(default_factory=list)  # remarks for the user on how they were matched

    @property
    def poses(self) -> tuple[str, ...]:
        """Every pose that an observation must have."""
        of_state = self.state.pose if self.state is not None else ''
        return tuple(dict.fromkeys((*self.things, of_state) if of_state else self.things))

    def prepare(self, observation: Observation, device: Any) -> dict[str, Any]:
        """LeRobot's batch of one observation, by its own function: tensors on `device`, images
        (1, 3, H, W) in [0, 1].

        Raises:
            PolicyError: an input is missing, or of another size or type.
        """
        from lerobot.policies.utils import prepare_observation_for_inference

        if self.needs_instruction and not observation.instruction.strip():
            raise PolicyError(
                'the policy acts on an instruction, and none was given; set the instruction of the '
                'episode or of the policy node'
            )
        inputs: dict[str, NDArray] = {
            feature: self._image(observation, feature) for feature in self.cameras
        }
        if self.state is not None:
            inputs[STATE] = self.state.of(observation).astype(np.float32)
        if self.things:
            inputs[ENVIRONMENT_STATE] = environment_state(observation, self.things)
        return prepare_observation_for_inference(inputs, device, task=observation.instruction)

    def blank(self) -> Observation:
        """Black images, joints at zero, things at the origin."""
        images: dict[str, NDArray[np.uint8]] = {
            camera: np.zeros((*self.sizes[feature], CHANNELS), np.uint8)
            for feature, camera in self.cameras.items()
        }
        poses = dict.fromkeys(self.poses, np.array((0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)))
        joints = np.zeros(len(self.joint_names))
        return Observation(0, 0, self.joint_names, joints, images, poses, instruction='warm up')

    def _image(self, observation: Observation, feature: str) -> NDArray[np.uint8]:
        camera = self.cameras[feature]
        image = observation.images.get(camera)
        if image is None:
            raise PolicyError(
                f'the observation lacks camera {camera!r}; it has {sorted(observation.images)}'
            )
        shape, kind = np.shape(image), getattr(image, 'dtype', type(image).__name__)
        if len(shape) != 3 or shape[2] != CHANNELS or 0 in shape or kind != np.uint8:
            raise PolicyError(
                f'camera {camera!r} gives an image of shape {shape} and type {kind}; '
                f'(H, W, {CHANNELS}) and uint8 (RGB) are right'
            )
        height, width = self.sizes[feature]
        if not self.takes_any_size and image.shape[:2] != (height, width):
            raise PolicyError(
                f'camera {camera!r} gives an image of {image.shape[1]}x{image.shape[0]}; '
                f'the checkpoint was trained on {width}x{height}'
            )
        return np.require(image, requirements=['C', 'W'])
