# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Topics that must send in every episode by a run's options; the recorder warns of others."""

from __future__ import annotations

from collections.abc import Iterable

from frame_ros.bringup.arm_options import NONE, ArmOptions
from frame_ros.bringup.declared_nodes import topics_of
from frame_ros.bringup.demo_robots import demo_parameters
from frame_ros.bringup.run_options import DemoOptions, RunOptions

# Of an arm's options: our topics whose name a user gives only where there are such.
NAMED = {
    'front_image_topic': 'front/image_raw',
    'wrist_image_topic': 'wrist/image_raw',
    'wrench_topic': 'wrench',
    'contact_topic': 'contact',
    'proximity_topic': 'proximity',
}


def demo_expected(options: DemoOptions) -> list[str]:
    """Returns the topics of the robot in its world, and of the sensing nodes or the truth."""
    world = options.world
    topics = [t for made in world.processes() for t in _of(made.executable, world.cameras)]
    for node in world.senses:
        cameras = demo_parameters(options.simulation, node).get('cameras')
        depths = map(str, cameras) if options.sensing and isinstance(cameras, list) else ()
        topics += _of(node, depths)
    return _renamed(options, topics)


def arm_expected(options: ArmOptions) -> list[str]:
    """Joint states; what runs here; and what the user has named a topic of."""
    topics = _of('kinematics')
    if sources := options.sources_of_contact:
        topics += [name for name in _of('contact') if name != 'wrench' or name in sources]
    cameras = options.depth_cameras
    if cameras or options.obstacles_file:
        topics += _of('proximity')
    default = ArmOptions()
    chosen = {name: getattr(options, name) for name in NAMED}
    topics += [NAMED[n] for n, t in chosen.items() if t not in (getattr(default, n), NONE)]
    if options.port or options.host:
        topics += _of('robot_driver', options.cameras)
    named = {f'{camera}/depth/image_raw': name for camera, name in options.depth_topics.items()}
    depths = [named.get(name, name) for name in _of('proximity', cameras)[1:]]
    if options.namespace:  # then those of others are not recorded
        depths = [topic for topic in depths if not topic.startswith('/')]
    return [*_renamed(options, topics), *depths]


def _of(node: str, cameras: Iterable[str] = ()) -> list[str]:
    """Names of the topics that a node expects, those of cameras once for each camera."""
    expected = topics_of(node).expects
    of_cameras = [topic for topic in expected if '{camera}' in topic.name]
    return [
        *(topic.name for topic in expected if topic not in of_cameras),
        *(topic.of(camera=camera).name for topic in of_cameras for camera in cameras),
    ]


def _renamed(options: RunOptions, topics: list[str]) -> list[str]:
    """By the names of the run, each once."""
    names = options.remappings()
    return list(dict.fromkeys(names.get(topic, topic) for topic in topics))
