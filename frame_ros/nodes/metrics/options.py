# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of the metrics node, as settings of the pipeline."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

from rclpy.node import Node

from frame_ros.core.errors import SetupError
from frame_ros.episodes.metric_pipeline.options import OT_TASKS, PipelineOptions
from frame_ros.episodes.reference import Reference
from frame_ros.episodes.reference_loading import load_references
from frame_ros.nodes.runtime.parameters import declare
from frame_ros.robots import Robot, load_robot
from frame_ros.robots.frame_names import FrameNames
from frame_ros.robots.profile import Gripper
from frame_ros.robots.profiles import find_profile

# What has no parameter of its own.
DERIVED = frozenset(('pose_frame',))
# Of the gripper: not set, so those of the robot preset.
PRESET = {'gripper_joint': '', 'gripper_closed': 0.0, 'gripper_open': 0.0}
SETTINGS = tuple(
    field.name
    for field in dataclasses.fields(PipelineOptions)
    if field.type in ('float', 'int', 'bool', 'str') and field.name not in DERIVED
)


def declare_settings(node: Node) -> tuple[PipelineOptions, str]:
    """The settings, and the frame of the metric messages.

    Raises:
        FrameRosError: a parameter that cannot be, a robot that is not known, or a reference that
            cannot be read.
    """
    name, prefix = declare(node, 'robot', 'so101'), declare(node, 'frame_prefix', '')
    frame_id = declare(node, 'frame_id', '')
    normalise = declare(node, 'normalise_actions', True)
    defaults = {**dataclasses.asdict(PipelineOptions()), **PRESET}
    settings = {key: declare(node, key, defaults[key]) for key in SETTINGS}
    robot = load_robot(name)
    frame_id = frame_id or FrameNames(prefix).of(robot.base_link)
    settings = _with_gripper(settings, robot.profile.gripper, name)
    if normalise:
        settings |= action_bounds(robot)
    references = tuple(_references(node, name, settings['reference_match']))
    return PipelineOptions(**settings, pose_frame=frame_id, references=references), frame_id


def _with_gripper(settings: dict[str, Any], preset: Gripper | None, robot: str) -> dict[str, Any]:
    """The gripper of the preset, where it is not set."""
    needs_joint = OT_TASKS.get(settings['ot_task']) and settings['grasp_source'] != 'contact'
    found = dict(settings)
    if preset is not None:
        found['gripper_joint'] = found['gripper_joint'] or preset.joint
    elif needs_joint and not found['gripper_joint']:
        raise SetupError(
            f'gripper_joint is empty, and the gripper of {robot!r} is not known: name the joint of '
            'joint_states by which OT tells whether the object is held'
        )
    if found['gripper_closed'] == found['gripper_open'] == 0.0:
        if preset is None and needs_joint:
            raise SetupError(
                f'gripper_closed and gripper_open are not set, and the gripper of {robot!r} is not '
                'known: give the positions from which it counts as closed and as open'
            )
        if default := preset or find_profile('so101').gripper:
            found |= {'gripper_closed': default.closed, 'gripper_open': default.opened}
            found['gripper_smaller_is_closed'] &= default.smaller_is_closed
    return found


def _references(node: Node, robot: str, match: str) -> list[Reference]:
    paths = [path for path in declare(node, 'references', ['']) if path]
    mean = declare(node, 'reference_mean', False)
    only_successful = declare(node, 'reference_only_successful', True)
    if not paths:
        return []
    folders = [Path(path).expanduser() for path in paths]
    found = load_references(folders, only_successful, mean, robot=robot, match=match)
    for index, reference in enumerate(found):
        node.get_logger().info(
            f'reference {index}: {reference.origin}, {len(reference.stamps)} poses, '
            f'{reference.stamps[-1]:.1f} s'
        )
    return found


def action_bounds(robot: Robot) -> dict[str, tuple]:
    """The action's names and bounds for PipelineOptions: every joint that can be commanded, within
    its limits.

    A robot with a joint that has no limits gives the names alone: its actions stay raw.
    """
    limits = robot.joint_limits
    if not all(math.isfinite(low) and math.isfinite(high) for low, high in limits.values()):
        return {'action_names': tuple(limits)}
    return {
        'action_names': tuple(limits),
        'action_lower': tuple(float(low) for low, _ in limits.values()),
        'action_upper': tuple(float(high) for _, high in limits.values()),
    }
