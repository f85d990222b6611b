# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The processes that sense contact and distance, and their parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from frame_ros.bringup.arm_options import ArmOptions
from frame_ros.bringup.demo_robots import Value
from frame_ros.bringup.node_process import Process, absolute
from frame_ros.bringup.run_options import DemoOptions, RunOptions
from frame_ros.core.errors import SetupError


def demo_sensing(settings: DemoOptions) -> list[Process]:
    """Returns the processes for contact and distance from the simulated sensors."""
    if not settings.sensing:
        return []
    return [_contact_process(settings, {}), _proximity_process(settings, {})]


def _contact_process(settings: RunOptions, of_contact: Mapping[str, Value]) -> Process:
    return Process('contact', 'contact', of_contact, settings.remappings(), only_watches=True)


def _proximity_process(settings: RunOptions, of_proximity: Mapping[str, Value]) -> Process:
    return Process(
        'proximity',
        'proximity',
        of_proximity,
        settings.remappings(),
        only_watches=True,
        takes_images=True,
    )


def arm_sensing(settings: ArmOptions) -> list[Process]:
    """The contact node where its sources are known, the proximity node where it has cameras or
    known obstacles.
    """
    processes = []
    if sources := settings.sources_of_contact:
        contact: dict[str, Value] = {'sources': list(sources)}
        if settings.motors:
            contact['joints.motors_file'] = absolute(settings.motors)
        processes.append(_contact_process(settings, contact))
    if settings.depth_cameras or settings.obstacles_file:
        processes.append(_proximity_process(settings, _of_proximity(settings)))
    return processes


def _of_proximity(settings: ArmOptions) -> dict[str, Value]:
    cameras = list(settings.depth_cameras)
    parameters: dict[str, Value] = {'cameras': cameras or ['']}
    if settings.topics.gripper:
        parameters['gripper_topic'] = settings.topics.gripper
    topics, infos = settings.depth_topics, settings.depth_info_topics
    for name, given in (
        ('extrinsics', settings.extrinsics),
        ('depth_topics', topics),
        ('depth_info_topics', infos),
    ):
        if unknown := [camera for camera in given if camera not in cameras]:
            raise SetupError(
                f'{name} names the camera {unknown[0]!r}, but proximity_cameras has '
                f'{", ".join(cameras) or "none"}'
            )
    lists = {
        'extrinsics': _mounts(settings.mounts),
        'image_topics': [f'{camera}={topic}' for camera, topic in topics.items()],
        'info_topics': [f'{camera}={topic}' for camera, topic in infos.items()],
    }
    parameters |= {name: texts for name, texts in lists.items() if texts}
    return parameters


def _mounts(values: Mapping[str, Any]) -> list[str]:
    """Mounts of cameras as the node takes them: 'front=base_link 0 0 1 0 0 0'.

    Raises:
        SetupError: a value is no list.
    """
    for camera, value in values.items():
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise SetupError(
                f'extrinsics of {camera} must be a YAML list, such as '
                f'{{{camera}: [base_link, 0, 0, 1, 0, 0, 0]}}, not {value!r}'
            )
    return [f'{camera}={" ".join(map(str, value))}' for camera, value in values.items()]
