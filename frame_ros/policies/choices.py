# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Choices that a user has for any policy, and what every policy is offered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from frame_ros.core.name_values import parse_pairs
from frame_ros.core.options import flatten, option, options
from frame_ros.robots.grippers import closed_and_open
from frame_ros.robots.joint_units import UNITS
from frame_ros.robots.profile import Gripper
from frame_ros.robots.robot import Robot

FOLDER = {'checkpoint': 'folder'}  # choice -> option of policies, where the names differ


@options
class PolicyChoices:
    """Choices for any policy; one that is not the default must be an option of the policy."""

    checkpoint: str = option('', 'folder of the model; of replay: a bag, or a folder of bags')
    samples: int = option(
        0,
        'chunks to draw in addition to the executed one, for ev, where the policy can',
        at_least=2,
        besides=(0,),
    )
    temperatures: tuple[float, ...] = option(
        (0.5, 1.0, 1.5, 2.0, 3.0),
        'temperatures at which token probabilities are kept, to calibrate by; each costs time per '
        'class',
        above=0.0,
    )
    device: str = option('cpu', 'device of the model: cpu, cuda, cuda:1')
    units: str = option(
        'degrees', 'unit of state and action; degrees: the gripper from 0 to 100', choices=UNITS
    )
    action_rate: float = option(
        0.0, 'frame rate of the training data; 0: the control rate', unit='Hz', at_least=0.0
    )
    camera_names: str = option(
        '',
        'image feature=camera, comma-separated; empty: observation.images.front is camera front',
    )


@options
class OfflineChoices(PolicyChoices):
    """A policy outside the policy node, at the rate of its data."""

    temperatures: tuple[float, ...] = option((), 'grid for token statistics', above=0.0)
    action_rate: float = option(30.0, 'frame rate of the training data', unit='Hz', above=0.0)
    camera_names: Mapping[str, str] = option(  # type: ignore[assignment]
        {}, 'feature=camera: an image feature of the policy and the camera that it gets'
    )
    seed: int = option(0, 'of what is sampled', at_least=0)
    policy_options: Mapping[str, Any] = option({}, 'an option of the policy, JSON or text')
    quality = 1.0

    @property
    def control_rate(self) -> float:
        """Hz."""
        return self.action_rate


def offered_joints(
    limits: Mapping[str, tuple[float, float]], gripper: Gripper | None
) -> dict[str, Any]:
    """Options about the robot's joints that every policy is offered.

    limits: joint -> lower and upper limit, rad or m. gripper: of the robot's profile.
    """
    return {
        'robot_joint_names': tuple(limits),
        'joint_limits': dict(limits),
        'gripper_limits': closed_and_open(limits, gripper),
    }


def offered_of(chosen: Any, robot: Robot) -> dict[str, Any]:
    """Options that every policy is offered, see `make_policy`.

    chosen: has PolicyChoices, robot, seed, control_rate (Hz) and quality as attributes.
    """
    return offered_with(chosen, offered_joints(robot.joint_limits, robot.profile.gripper))


def offered_with(chosen: Any, joints: Mapping[str, Any]) -> dict[str, Any]:
    """Options that every policy is offered.

    chosen: as of `offered_of`. joints: from `offered_joints`.
    """
    cameras = chosen.camera_names
    if isinstance(cameras, str):
        cameras = parse_pairs('camera_names', cameras.split(','))
    offered = {
        'robot': chosen.robot,
        **joints,
        'device': chosen.device,
        'units': chosen.units,
        'action_rate': chosen.action_rate or chosen.control_rate,
        'camera_names': cameras or None,
        'samples': chosen.samples,
        'temperatures': tuple(chosen.temperatures),
        'seed': chosen.seed,
        'dt': 1.0 / chosen.control_rate,
        'quality': chosen.quality,
    }
    if chosen.checkpoint:
        offered['folder'] = chosen.checkpoint
    return offered


def required_of(chosen: PolicyChoices) -> dict[str, str]:
    """Returns options that the policy must take, because a choice is not the default: option ->
    what the user calls it.
    """
    default = PolicyChoices()
    names = flatten(default)
    changed = [name for name in names if getattr(chosen, name) != getattr(default, name)]
    return {FOLDER.get(name, name): f'the parameter {name}' for name in changed}
