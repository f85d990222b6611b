# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The node that draws the metrics for RViz: distances, contacts, residuals, path, headline, and
what is not known."""

from __future__ import annotations

import math
import sys
import threading
import time
from typing import Any

from rclpy.node import Node
from std_msgs.msg import Header
from visualization_msgs.msg import Marker, MarkerArray

from frame_ros.core.errors import RobotError
from frame_ros.core.topics import Topic
from frame_ros.msg import (
    CameraAlignment,
    ContactEvent,
)
from frame_ros.nodes.markers import topics
from frame_ros.nodes.markers.contact import ContactMarkers
from frame_ros.nodes.markers.metrics import MetricMarkers
from frame_ros.nodes.markers.obstacles import obstacle_markers
from frame_ros.nodes.markers.options import MarkersOptions
from frame_ros.nodes.markers.plain_markers import attached
from frame_ros.nodes.markers.proximity import ProximityMarkers, cloud_marker
from frame_ros.nodes.markers.warnings import camera_marker, warning_marker, warnings
from frame_ros.nodes.runtime.endpoints import published
from frame_ros.nodes.runtime.fitting_subscription import FittingSubscription
from frame_ros.nodes.runtime.node_readiness import Readiness
from frame_ros.nodes.runtime.options import BEST_EFFORT
from frame_ros.nodes.runtime.parameters import declare_options
from frame_ros.nodes.runtime.spinning import SERVICE_PERIOD, poll_with_services, run_node
from frame_ros.robots import Robot, load_robot
from frame_ros.robots.profiles import public_name
from frame_ros.robots.shapes.filter_shapes import filter_shapes
from frame_ros.robots.shapes.link_shapes import LinkShapes


class MarkersNode(Node):
    """Subscribes ee_pose, proximity, contact, contact_events, camera_alignment and the metrics;
    publishes metric_markers at most `rate` times a second.

    It looks at its inputs `rate` times a second, so that their own rates do not matter.
    """

    def __init__(self) -> None:
        """Raises FrameRosError for a robot, file or parameter that cannot be used."""
        super().__init__('markers')
        self._look = declare_options(self, MarkersOptions, self._change)
        self._shown = -math.inf  # s, when the last picture was drawn
        self._last: dict[str, Any] = {}
        self._fresh: set[str] = set()
        self._ages: dict[str, int] = {}  # draws since the message came
        self._cameras: dict[str, CameraAlignment] = {}
        self._events: list[ContactEvent] = []
        self._metrics = MetricMarkers(self._look, self._last)
        self._contacts = ContactMarkers(self._look)
        robot = load_robot(self._look.robot)
        self._proximity = ProximityMarkers(self._look, robot.links, self._link_shapes(robot))
        self._obstacles = self._known_obstacles(robot)
        self._base = Header(frame_id=self._look.frames.of(robot.base_link))
        self._subscribe_all()
        self._publisher = self.create_publisher(*published(topics.MARKERS))
        self._readiness = Readiness(self, public_name(self._look.robot))

    def _change(self, options: MarkersOptions) -> None:
        self._look = options
        for part in (self._metrics, self._contacts, self._proximity):
            part.look = options

    def _subscribe_all(self) -> None:
        self._poses = self._subscribe(topics.EE_POSE, 50)
        self._quality = self._subscribe(topics.METRICS['quality'], 50)
        self._contact_events = self._subscribe(topics.CONTACT_EVENTS, 50)
        self._alignments = self._subscribe(topics.ALIGNMENT, 10)
        self._newest_of = {name: self._subscribe(topic, 1) for name, topic in topics.NEWEST.items()}
        if self._look.cloud.topic:
            self._newest_of['cloud'] = self._subscribe(topics.POINTS.at(self._look.cloud.topic), 1)

    def _link_shapes(self, robot: Robot) -> LinkShapes | None:
        try:
            return filter_shapes(robot, self._look.shapes)
        except RobotError as error:
            if self._look.shapes:
                raise
            self.get_logger().warning(f'links are not drawn: {error}')
            return None

    def _known_obstacles(self, robot: Robot) -> list[Marker]:
        if not self._look.obstacles_file:
            return []
        from frame_ros.sensing.proximity.obstacles.files import load_obstacles

        known = load_obstacles(self._look.obstacles_file)
        frame = known.frame or self._look.frames.of(robot.base_link)
        return obstacle_markers(Header(frame_id=frame), known.obstacles, self._look.lifetime)

    def _subscribe(self, topic: Topic, depth: int) -> FittingSubscription:
        # Best effort: a picture may miss a sample, and nobody is kept waiting for it.
        return FittingSubscription(self, topic, depth=depth, reliability=BEST_EFFORT)

    def spin(self, stop: threading.Event) -> None:
        """Draws `rate` times a second until `stop`, and serves the node's parameters."""
        poll_with_services(
            self, stop, self._show_when_due,
            lambda: stop.wait(min(max(self._time_left(), 0.0), SERVICE_PERIOD)),
        )  # fmt: skip

    def _time_left(self) -> float:
        """Returns the time until the next picture, s."""
        return self._shown + 1.0 / self._look.rate - time.monotonic()

    def _show_when_due(self) -> None:
        if self._time_left() <= 0.0:
            self._shown = time.monotonic()
            self.show()

    def show(self) -> None:
        """Takes what has arrived and publishes the markers of it."""
        self.take()
        markers = self.draw()
        if markers:
            self._publisher.publish(MarkerArray(markers=markers))

    def take(self) -> None:
        """Takes what has arrived."""
        self._fresh.clear()
        self._ages = {name: age + 1 for name, age in self._ages.items()}
        for message, _ in self._quality.take(100):
            last = self._last.get('quality')
            if last is not None and last.episode_id != message.episode_id and message.episode_id:
                self._metrics.trail.clear()
            self._remember('quality', message)
            self._metrics.trail.add_jerk(message.tcp_jerk)
        for message, _ in self._poses.take(100):
            self._remember('pose', message)
            self._metrics.trail.add_point(message.pose.position)
        for message, _ in self._alignments.take(20):
            self._cameras[message.camera] = message
            self._remember(f'camera {message.camera}', message)
        self._events = [message for message, _ in self._contact_events.take(50)]
        if self._events:
            self._fresh.add('event')
        for name, subscription in self._newest_of.items():
            for message, _ in subscription.take(2):
                self._remember(name, message)

    def _remember(self, name: str, message: Any) -> None:
        self._last[name] = message
        self._fresh.add(name)
        self._ages[name] = 0

    def _recent(self, name: str, seconds: float) -> Any:
        """The newest message of a name, if it came within so many seconds."""
        age = self._ages.get(name)
        return self._last[name] if age is not None and age < seconds * self._look.rate else None

    def draw(self) -> list[Marker]:
        """The markers of what is new; the rest fades: a picture never shows what is outdated."""
        markers = []
        if 'proximity' in self._fresh:
            markers += self._proximity.draw(self._last['proximity'])
        pose = self._last.get('pose')
        if 'contact' in self._fresh:
            markers += self._contacts.draw(self._last['contact'], pose)
        for event in self._events:
            markers += self._contacts.events(event, pose)
        if pose is not None and 'pose' in self._fresh:
            markers += self._metrics.draw(pose.header)
        if 'cloud' in self._fresh:
            points = cloud_marker(self._last['cloud'], self._look.cloud.points, self._look.lifetime)
            markers += [points] if points is not None else []
        return markers + self._cameras_and_warnings() + self._renewed_obstacles()

    def _cameras_and_warnings(self) -> list[Marker]:
        markers = [
            camera_marker(number, message, self._look)
            for number, (name, message) in enumerate(self._cameras.items())
            if f'camera {name}' in self._fresh
        ]
        seconds = self._look.alignment_lifetime
        recent = [self._recent(f'camera {name}', seconds) for name in self._cameras]
        lines = warnings(
            self._recent('contact', self._look.lifetime),
            self._recent('proximity', self._look.lifetime),
            [camera for camera in recent if camera is not None],
        )
        if not lines:
            return markers
        pose = self._last.get('pose')
        header = self._base if pose is None else attached(pose.header, '')
        return [*markers, warning_marker(header, lines, self._look)]

    def _renewed_obstacles(self) -> list[Marker]:
        """The known obstacles, in time before they vanish."""
        if not self._obstacles:
            return []
        every = max(1, math.floor(self._look.lifetime * self._look.rate / 2))
        age = self._ages.get('obstacles', every)
        if age < every:
            return []
        self._ages['obstacles'] = 0
        return self._obstacles


def main() -> None:
    """Runs the node until it is stopped."""
    sys.exit(run_node(MarkersNode, spin=lambda node, stop: node.spin(stop)))
