# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The node that draws the metrics for RViz: distance line, contact arrows, path, and the
headline."""

from __future__ import annotations

import itertools
import math
import sys
import threading
from collections import deque
from collections.abc import Sequence
from types import SimpleNamespace

from geometry_msgs.msg import Point, PoseStamped, Vector3
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import QoSProfile, QoSReliabilityPolicy
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from frame_ros.errors import SetupError
from frame_ros.msg import (
    ConfidenceMetrics,
    ContactState,
    EfficiencyMetrics,
    GateState,
    Proximity,
    QualityMetrics,
    SafetyMetrics,
)
from frame_ros.nodes.parameters import declare
from frame_ros.nodes.polled import PolledSubscription
from frame_ros.nodes.spinning import poll_with_services, run_node

DEFAULTS = {
    'rate': 10.0,
    'path_points': 300,
    'path_spacing': 0.003,
    'path_width': 0.004,
    'jerk_low': 1.0,
    'jerk_high': 100.0,
    'distance_near': 0.02,
    'distance_far': 0.15,
    'newtons_per_metre': 100.0,
    'text_height': 0.02,
    'text_position': [0.0, 0.0, 0.45],
    'lifetime': 1.0,
    'workspace': [-10.0, -10.0, -10.0, 10.0, 10.0, 10.0],
    'floor': -10.0,
}
STOPS = ((0.15, 0.70, 0.30), (0.95, 0.80, 0.15), (0.85, 0.15, 0.15))  # green, yellow, red
EXPECTED = ColorRGBA(r=0.2, g=0.5, b=0.9, a=1.0)
UNEXPECTED = ColorRGBA(r=0.9, g=0.1, b=0.1, a=1.0)
UNKNOWN = ColorRGBA(r=0.6, g=0.6, b=0.6, a=1.0)
# What a gate does, by its state's number, and the colour of its workspace.
GATE_STATES = ('idle', 'passing', 'holding', 'stopped', 'a person drives')
GATE_COLOURS = (0.0, 0.0, 0.5, 1.0, 0.25)  # of STOPS
UNBOUNDED, DRAWN = 10.0, 1.0  # m: a bound so far away is none, and is drawn here
WHITE = ColorRGBA(r=1.0, g=1.0, b=1.0, a=1.0)


def colour(fraction: float) -> ColorRGBA:
    """Green at 0, yellow at 0.5, red at 1 and beyond; grey where the value is NaN."""
    if not math.isfinite(fraction):
        return UNKNOWN
    place = min(max(fraction, 0.0), 1.0) * (len(STOPS) - 1)
    index = min(int(place), len(STOPS) - 2)
    part = place - index
    r, g, b = (low + part * (high - low) for low, high in zip(STOPS[index], STOPS[index + 1]))
    return ColorRGBA(r=r, g=g, b=b, a=1.0)


def log_fraction(value: float, low: float, high: float) -> float:
    """Where `value` lies between `low` (0) and `high` (1) on a logarithmic scale; NaN stays NaN."""
    if not math.isfinite(value):
        return math.nan
    return math.log(max(value, low) / low) / math.log(high / low)


def text(value: float, unit: str, scale: float = 1.0, digits: int = 1) -> str:
    """A value as a person reads it; a dash where it is not available."""
    return f'{value * scale:.{digits}f} {unit}' if math.isfinite(value) else f'- {unit}'


def is_finite(point: Point | Vector3) -> bool:
    """Whether all three coordinates are numbers."""
    return math.isfinite(point.x) and math.isfinite(point.y) and math.isfinite(point.z)


class Trail:
    """The newest part of the path, thinned to `spacing` (m), with the jerk (m/s^3) at each
    point."""

    def __init__(self, points: int, spacing: float) -> None:
        self.points: deque[Point] = deque(maxlen=points)
        self.jerks: deque[float] = deque(maxlen=points)
        self._spacing = spacing
        self._peak = math.nan

    def clear(self) -> None:
        """Forgets everything: a new episode."""
        self.points.clear()
        self.jerks.clear()
        self._peak = math.nan

    def add_jerk(self, jerk: float) -> None:
        """A step's jerk, m/s^3: the largest since the last point is the next point's."""
        if not self._peak >= jerk:
            self._peak = jerk

    def add_point(self, point: Point) -> None:
        """A position, m; dropped when not finite or nearer to the last one than the spacing."""
        if not is_finite(point):
            return
        if self.points and math.dist(xyz(self.points[-1]), xyz(point)) < self._spacing:
            return
        self.points.append(point)
        self.jerks.append(self._peak)
        self._peak = math.nan


def xyz(point: Point | Vector3) -> tuple[float, float, float]:
    """The three coordinates."""
    return point.x, point.y, point.z


class Markers(Node):
    """Subscribes ee_pose, proximity, contact and the metrics; publishes metric_markers at most
    `rate` times a second.

    It looks at its inputs `rate` times a second, so that their own rates do not matter.
    """

    def __init__(self) -> None:
        super().__init__('markers')
        self._look = SimpleNamespace(
            **{name: declare(self, name, default) for name, default in DEFAULTS.items()}
        )
        if not 0.0 < self._look.rate <= 10.0:
            raise SetupError(
                f'markers: rate must be above 0 and at most 10 Hz, not {self._look.rate}'
            )
        if len(self._look.workspace) != 6:
            raise SetupError(
                f'markers: workspace is x, y, z from, then to, in m, not {self._look.workspace}'
            )
        if len(self._look.text_position) != 3:
            raise SetupError(
                f'markers: text_position is x, y, z in m, not {self._look.text_position}'
            )
        self._trail = Trail(self._look.path_points, self._look.path_spacing)
        self._poses = self._subscribe(PoseStamped, 'ee_pose', 50)
        self._quality = self._subscribe(QualityMetrics, 'quality_metrics', 50)
        self._newest_of = {
            'safety': self._subscribe(SafetyMetrics, 'safety_metrics', 1),
            'efficiency': self._subscribe(EfficiencyMetrics, 'efficiency_metrics', 1),
            'confidence': self._subscribe(ConfidenceMetrics, 'confidence_metrics', 1),
            'proximity': self._subscribe(Proximity, 'proximity', 1),
            'contact': self._subscribe(ContactState, 'contact', 1),
            'gate': self._subscribe(GateState, 'gate_state', 1),
        }
        self._last: dict[str, object] = {}
        self._fresh: set[str] = set()
        self._publisher = self.create_publisher(MarkerArray, 'metric_markers', 5)

    def _subscribe(self, kind: type, topic: str, depth: int) -> PolledSubscription:
        # Best effort: a picture may miss a sample, and it matches every publisher.
        qos = QoSProfile(depth=depth, reliability=QoSReliabilityPolicy.BEST_EFFORT)
        return PolledSubscription(self, kind, topic, qos)

    def spin(self, stop: threading.Event) -> None:
        """Draws `rate` times a second until `stop`, and serves the node's parameters."""
        period = 1.0 / self._look.rate
        poll_with_services(self, stop, self.show, lambda: stop.wait(period))

    def show(self) -> None:
        """Takes what has arrived and publishes the markers of it."""
        self.take()
        markers = self.draw()
        if markers:
            self._publisher.publish(MarkerArray(markers=markers))

    def take(self) -> None:
        """Takes what has arrived."""
        self._fresh.clear()
        for message, _ in self._quality.take(100):
            last = self._last.get('quality')
            if last is not None and last.episode_id != message.episode_id and message.episode_id:
                self._trail.clear()
            self._remember('quality', message)
            self._trail.add_jerk(message.tcp_jerk)
        for message, _ in self._poses.take(100):
            self._remember('pose', message)
            self._trail.add_point(message.pose.position)
        for name, subscription in self._newest_of.items():
            for message, _ in subscription.take(2):
                self._remember(name, message)

    def _remember(self, name: str, message: object) -> None:
        self._last[name] = message
        self._fresh.add(name)

    def draw(self) -> list[Marker]:
        """The markers of what is new; the rest fades: a picture never shows what is outdated."""
        markers = []
        if 'proximity' in self._fresh:
            markers += self._proximity_line(self._last['proximity'])
        if 'contact' in self._fresh:
            markers += self._contact_arrows(self._last['contact'])
        if 'pose' in self._fresh:
            markers += self._path(self._last['pose'].header)
            markers.append(self._headline(self._last['pose'].header))
            markers += self._workspace(self._last['pose'].header)
        return markers

    def _marker(self, header: Header, space: str, number: int, kind: int) -> Marker:
        marker = Marker(header=header, ns=space, id=number, type=kind, action=Marker.ADD)
        marker.pose.orientation.w = 1.0
        marker.lifetime = Duration(seconds=self._look.lifetime).to_msg()
        marker.color = WHITE
        return marker

    def _proximity_line(self, proximity: Proximity) -> list[Marker]:
        ends = [proximity.point_on_robot, proximity.point_on_obstacle]
        if not math.isfinite(proximity.distance) or not all(is_finite(end) for end in ends):
            return []
        span = self._look.distance_far - self._look.distance_near
        shade = colour((self._look.distance_far - proximity.distance) / span)
        line = self._marker(proximity.header, 'proximity', 0, Marker.LINE_LIST)
        line.points, line.color = ends, shade
        line.scale.x = 0.003
        label = self._marker(proximity.header, 'proximity', 1, Marker.TEXT_VIEW_FACING)
        middle = [(a + b) / 2 for a, b in zip(xyz(ends[0]), xyz(ends[1]))]
        label.pose.position = Point(x=middle[0], y=middle[1], z=middle[2] + 0.01)
        label.text = text(proximity.distance, 'mm', 1e3, 0)
        label.scale.z, label.color = 0.75 * self._look.text_height, shade
        return [line, label]

    def _contact_arrows(self, contact: ContactState) -> list[Marker]:
        arrows = []
        for place, normal, force, is_expected in zip(
            contact.positions, contact.normals, contact.forces, contact.is_expected
        ):
            shade = EXPECTED if is_expected else UNEXPECTED
            arrows += self._arrow(contact.header, len(arrows), place, normal, force, shade)
        pose = self._last.get('pose')
        if not arrows and contact.in_contact and pose is not None:
            shade = UNEXPECTED if contact.in_collision else EXPECTED
            force = contact.wrench.force
            place = pose.pose.position
            arrows = self._arrow(pose.header, 0, place, force, contact.force, shade)
        return arrows

    def _arrow(
        self,
        header: Header,
        number: int,
        place: Point,
        direction: Vector3,
        force: float,
        shade: ColorRGBA,
    ) -> list[Marker]:
        """An arrow that ends at `place` (m) and is `force` (N) long; nothing where unknown."""
        norm = math.hypot(*xyz(direction))
        if not (is_finite(place) and math.isfinite(norm) and math.isfinite(force) and norm > 0.0):
            return []
        length = min(max(force / self._look.newtons_per_metre, 0.01), 0.3)
        start = (p - length * d / norm for p, d in zip(xyz(place), xyz(direction)))
        arrow = self._marker(header, 'contact', number, Marker.ARROW)
        arrow.points = [Point(**dict(zip('xyz', start))), place]
        arrow.scale.x, arrow.scale.y, arrow.scale.z = 0.006, 0.014, 0.02
        arrow.color = shade
        return [arrow]

    def _path(self, header: Header) -> list[Marker]:
        if len(self._trail.points) < 2:
            return []
        path = self._marker(header, 'path', 0, Marker.LINE_STRIP)
        path.points = list(self._trail.points)
        path.colors = [
            colour(log_fraction(jerk, self._look.jerk_low, self._look.jerk_high))
            for jerk in self._trail.jerks
        ]
        path.scale.x = self._look.path_width
        return [path]

    def _workspace(self, header: Header) -> list[Marker]:
        """The box and the floor that the gate keeps the arm in, in the colour of what it does."""
        lower, upper = list(self._look.workspace[:3]), list(self._look.workspace[3:])
        if min(map(abs, [*lower, *upper, self._look.floor])) >= UNBOUNDED:
            return []
        lower[2] = max(lower[2], self._look.floor)
        lower, upper = [max(v, -DRAWN) for v in lower], [min(v, DRAWN) for v in upper]
        box = self._marker(header, 'workspace', 0, Marker.LINE_LIST)
        box.points = [Point(**dict(zip('xyz', end))) for end in edges(lower, upper)]
        box.scale.x = 0.002
        gate = self._last.get('gate')
        box.color = WHITE if gate is None else colour(GATE_COLOURS[gate.state])
        return [box]

    def _headline(self, header: Header) -> Marker:
        marker = self._marker(header, 'headline', 0, Marker.TEXT_VIEW_FACING)
        marker.pose.position = Point(**dict(zip('xyz', map(float, self._look.text_position))))
        marker.scale.z = self._look.text_height
        marker.text = '\n'.join(self.headline())
        return marker

    def headline(self) -> Sequence[str]:
        """The headline metrics, a line each; a dash where a value is not available."""
        lines = []
        quality, safety, efficiency = (
            self._last.get(name) for name in ('quality', 'safety', 'efficiency')
        )
        if quality is not None:
            lines.append(f'{quality.episode_id or "no episode"}  {text(quality.time, "s")}')
            lines.append(
                f'speed {text(quality.tcp_speed, "mm/s", 1e3, 0)}'
                f'  RMS jerk {text(quality.ti, "m/s^3")}'
            )
        if safety is not None:
            lines.append(
                f'distance {text(safety.distance, "mm", 1e3, 0)}  collisions {safety.collisions}'
            )
        if efficiency is not None:
            lines.append(
                f'latency {text(efficiency.il_last, "ms", 1e3)}'
                f'  control rate {text(efficiency.control_rate_now, "Hz")}'
            )
        lines += self._uncertainty() + self._gate()
        return lines or ['no metrics']

    def _uncertainty(self) -> list[str]:
        """A line of what the policy tells of its uncertainty; none if it tells nothing."""
        confidence = self._last.get('confidence')
        if confidence is None:
            return []
        parts = []
        if math.isfinite(confidence.tb_e):
            parts.append(f'token entropy {text(confidence.tb_e, "nats", digits=2)}')
        if math.isfinite(confidence.ev):
            parts.append(f'execution variability {confidence.ev:.3f}')
        return ['  '.join(parts)] if parts else []

    def _gate(self) -> list[str]:
        """A line of what the command gate does; none if there is none."""
        gate = self._last.get('gate')
        if gate is None:
            return []
        changed = f'  limited {gate.limited}  refused {gate.refused}'
        return [f'gate: {GATE_STATES[gate.state]}' + (f': {gate.cause}' if gate.cause else changed)]


def edges(lower: Sequence[float], upper: Sequence[float]) -> list[tuple[float, ...]]:
    """Both ends of each of the 12 edges of a box."""
    corners = list(itertools.product(*zip(lower, upper)))
    return [
        end
        for pair in itertools.combinations(corners, 2)
        if sum(a != b for a, b in zip(*pair)) == 1
        for end in pair
    ]


def main() -> None:
    """Runs the node until it is told to stop."""
    sys.exit(run_node(Markers, spin=lambda node, stop: node.spin(stop)))


if __name__ == '__main__':
    main()
