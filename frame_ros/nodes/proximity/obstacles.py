# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The known obstacles of the proximity node: from a file, and from the planning scene's topics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from rclpy.node import Node

from frame_ros.core.errors import MissingExtraError, SetupError
from frame_ros.core.topics import Topic
from frame_ros.nodes.proximity.options import ProximityOptions
from frame_ros.nodes.proximity.topics import OBJECTS, SCENES
from frame_ros.nodes.runtime.fitting_subscription import FittingSubscription
from frame_ros.sensing.proximity.link_distances import DistanceReading
from frame_ros.sensing.proximity.obstacles.files import load_obstacles
from frame_ros.sensing.proximity.obstacles.known import SOURCE, KnownObstacles
from frame_ros.sensing.proximity.obstacles.planning_scene import Pose, SceneObstacles
from frame_ros.sensing.proximity.robot_at import RobotAt


class KnownObstacleSource:
    """Distances to what is known without a camera."""

    def __init__(
        self,
        node: Node,
        settings: ProximityOptions,
        base_frames: Sequence[str],
        place: Callable[[str], Pose | str],
    ) -> None:
        """base_frames: names of the base link, first its own. place: the pose of a frame in the
        base frame, now, or why it is not known.

        Raises:
            SetupError: the file cannot be read, or its obstacles are in another frame.
            MissingExtraError: coal, trimesh or moveit_msgs is wanted and not installed.
        """
        path = settings.obstacles.file
        self._obstacles = load_obstacles(path) if path else KnownObstacles()
        if self._obstacles.frame not in ('', *base_frames):
            raise SetupError(
                f'{path} has its obstacles in the frame {self._obstacles.frame!r}; it must be '
                f'the base link {base_frames[0]!r}'
            )
        ignored = settings.obstacles.ignored
        self._scene = SceneObstacles(self._obstacles, place, ignored)
        self._subscriptions = [
            _subscribe(node, topic.at(name), take)
            for topic, names, take in (
                (SCENES, settings.obstacles.planning_scene_topics, self._scene.take_scene),
                (OBJECTS, settings.obstacles.collision_object_topics, self._scene.take_object),
            )
            for name in names
            if name
        ]

    def poll(self) -> None:
        """Takes what has arrived."""
        for subscription in self._subscriptions:
            subscription.poll()

    def look(self) -> None:
        """Looks now and then at frames that were not known."""
        self._scene.retry()

    def measure(self, robot: RobotAt) -> DistanceReading:
        """The distances; while an object is not understood, none: it may be the nearest."""
        if self._scene.problems:
            why = f'{SOURCE}: {"; ".join(self._scene.problems.values())}'
            return DistanceReading.missing(robot.shapes.links, why, (SOURCE,))
        reading = self._obstacles.distances(robot.shapes)
        if reading.unavailable:
            return replace(reading, unavailable=f'{SOURCE}: {reading.unavailable}')
        names = tuple(self._scene.object_of(name) for name in reading.obstacles)
        return replace(reading, obstacles=names, sources=(SOURCE,))


def _subscribe(node: Node, topic: Topic, take: Callable[[Any], object]) -> FittingSubscription:
    try:
        return FittingSubscription(node, topic, take)
    except ImportError as error:
        raise MissingExtraError(
            f'{topic.type} messages need the ROS package moveit_msgs '
            '(apt install ros-$ROS_DISTRO-moveit-msgs); without it use obstacles.file'
        ) from error
