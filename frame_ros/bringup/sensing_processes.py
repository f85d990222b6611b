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
from frame_ros.sensing.contact.joints.motor_choices import GENERIC


def demo_sensing(options: DemoOptions) -> list[Process]:
    """Returns the processes for contact and distance from what the robot's world has of sensors."""
    if not options.sensing:
        return []
    makers = {'contact': _contact_process, 'proximity': _proximity_process}
    return [makers[node](options, {}) for node in options.world.senses]


def _contact_process(options: RunOptions, of_contact: Mapping[str, Value]) -> Process:
    return Process('contact', 'contact', of_contact, options.remappings(), only_watches=True)


def _proximity_process(options: RunOptions, of_proximity: Mapping[str, Value]) -> Process:
    return Process(
        'proximity',
        'proximity',
        of_proximity,
        options.remappings(),
        only_watches=True,
        takes_images=True,
    )


def arm_sensing(options: ArmOptions) -> list[Process]:
    """The contact node where its sources are known, the proximity node where it has cameras or
    known obstacles.
    """
    processes = []
    if sources := options.sources_of_contact:
        contact: dict[str, Value] = {'sources': list(sources)}
        if options.motors:
            is_generic = options.motors == GENERIC
            contact['joints.motors_file'] = GENERIC if is_generic else absolute(options.motors)
        processes.append(_contact_process(options, contact))
    if options.depth_cameras or options.obstacles_file:
        processes.append(_proximity_process(options, _of_proximity(options)))
    return processes


def _of_proximity(options: ArmOptions) -> dict[str, Value]:
    cameras = list(options.depth_cameras)
    parameters: dict[str, Value] = {'cameras': cameras or ['']}
    if options.topics.gripper:
        parameters['gripper_topic'] = options.topics.gripper
    topics, infos = options.depth_topics, options.depth_info_topics
    for name, given in (
        ('extrinsics', options.extrinsics),
        ('depth_topics', topics),
        ('depth_info_topics', infos),
    ):
        if unknown := [camera for camera in given if camera not in cameras]:
            raise SetupError(
                f'{name} names the camera {unknown[0]!r}, but proximity_cameras has '
                f'{", ".join(cameras) or "none"}'
            )
    lists = {
        'extrinsics': _mounts(options.mounts),
        'image_topics': [f'{camera}={topic}' for camera, topic in topics.items()],
        'info_topics': [f'{camera}={topic}' for camera, topic in infos.items()],
    }
    parameters |= {name: texts for name, texts in lists.items() if texts}
    return parameters


def _mounts(values: Mapping[str, Any]) -> list[str]:
    """Mounts of cameras as the node takes them: 'front=base_link 0 0 1 0 0 0'.

    Raises:
        SetupError: a value is no list, or no mount.
    """
    # Without extrinsics nothing heavy is needed.
    from frame_ros.sensing.proximity.mount import parse_mount

    texts = {}
    for camera, value in values.items():
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise SetupError(
                f'extrinsics of {camera} must be a YAML list, such as '
                f'{{{camera}: [base_link, 0, 0, 1, 0, 0, 0]}}, not {value!r}'
            )
        texts[camera] = text = ' '.join(map(str, value))
        # The node knows the robot's links.
        parse_mount(camera, text, text.split()[:1])
    return [f'{camera}={text}' for camera, text in texts.items()]
