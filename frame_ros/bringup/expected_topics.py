# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Topics that must send in every episode by a run's settings; the recorder warns of others."""

from __future__ import annotations

from frame_ros.bringup.arm_options import ArmOptions
from frame_ros.bringup.demo_robots import demo_parameters
from frame_ros.bringup.run_options import DemoOptions, RunOptions

IMAGES = ('front/image_raw', 'wrist/image_raw')
# Of an arm's settings: our topics whose name a user gives only where there are such.
NAMED = {
    'front_image_topic': 'front/image_raw',
    'wrist_image_topic': 'wrist/image_raw',
    'wrench_topic': 'wrench',
    'contact_topic': 'contact',
    'proximity_topic': 'proximity',
}


def demo_expected(settings: DemoOptions) -> list[str]:
    """Returns the topics of the simulator and the sensing nodes."""
    topics = ['joint_states', 'wrench', *IMAGES, 'contact', 'proximity']
    cameras = demo_parameters(settings.simulation, 'proximity').get('cameras')
    if settings.sensing and isinstance(cameras, list):
        topics += [f'{camera}/depth/image_raw' for camera in cameras]
    return _renamed(settings, topics)


def arm_expected(settings: ArmOptions) -> list[str]:
    """Joint states; what runs here; and what the user has named a topic of."""
    topics = ['joint_states']
    if sources := settings.sources_of_contact:
        topics += ['contact', *(['wrench'] if 'wrench' in sources else [])]
    cameras = settings.proximity_cameras
    if cameras or settings.obstacles_file:
        topics.append('proximity')
    default = ArmOptions()
    topics += [o for name, o in NAMED.items() if getattr(settings, name) != getattr(default, name)]
    if settings.port:
        topics += [f'{camera}/image_raw' for camera in settings.cameras]
    given = settings.depth_topics
    depths = [given.get(camera, f'{camera}/depth/image_raw') for camera in cameras]
    if settings.namespace:  # then those of others are not recorded
        depths = [topic for topic in depths if not topic.startswith('/')]
    return [*_renamed(settings, topics), *depths]


def _renamed(settings: RunOptions, topics: list[str]) -> list[str]:
    """By the names of the run, each once."""
    names = settings.remappings()
    return list(dict.fromkeys(names.get(topic, topic) for topic in topics))
