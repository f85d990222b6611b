# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The markers of the metrics: path, headline, and the workspace of the command gate."""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from geometry_msgs.msg import Point
from std_msgs.msg import Header
from visualization_msgs.msg import Marker

from frame_ros.confidence.monitor import Level
from frame_ros.nodes.markers import plain_markers as plain
from frame_ros.nodes.markers.options import MarkersOptions

# What a gate does, by its state's number, and the colour of its workspace.
GATE_STATES = ('idle', 'passing', 'holding', 'stopped', 'the user drives')
GATE_COLOURS = (0.0, 0.0, 0.5, 1.0, 0.25)  # of STOPS
UNBOUNDED, DRAWN = 10.0, 1.0  # m: a bound so far away is none, and is drawn here


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
        if not plain.is_finite(point):
            return
        if self.points and math.dist(plain.xyz(self.points[-1]), plain.xyz(point)) < self._spacing:
            return
        self.points.append(point)
        self.jerks.append(self._peak)
        self._peak = math.nan


class MetricMarkers:
    """Draws from the newest messages by name: quality, safety, efficiency, confidence, gate,
    monitor.
    """

    def __init__(self, look: MarkersOptions, last: Mapping[str, Any]) -> None:
        """look: the node's options. last: filled by the node as messages arrive."""
        self.look, self._last = look, last
        self.trail = Trail(look.path.points, look.path.spacing)

    def draw(self, header: Header) -> list[Marker]:
        """All of them, in the frame and at the stamp of the pose."""
        return [*self._path(header), self._headline(header), *self._workspace(header)]

    def _marker(self, header: Header, space: str, number: int, kind: int) -> Marker:
        return plain.new_marker(header, space, number, kind, self.look.lifetime)

    def _path(self, header: Header) -> list[Marker]:
        if len(self.trail.points) < 2:
            return []
        path = self._marker(header, 'path', 0, Marker.LINE_STRIP)
        path.points = list(self.trail.points)
        path.colors = [
            plain.colour(
                plain.log_fraction(jerk, self.look.path.jerk_low, self.look.path.jerk_high)
            )
            for jerk in self.trail.jerks
        ]
        path.scale.x = self.look.path.width
        return [path]

    def _workspace(self, header: Header) -> list[Marker]:
        """The box and the floor that the gate keeps the arm in, in the colour of what it does."""
        lower, upper = list(self.look.workspace.box[:3]), list(self.look.workspace.box[3:])
        if min(map(abs, [*lower, *upper, self.look.workspace.floor])) >= UNBOUNDED:
            return []
        lower[2] = max(lower[2], self.look.workspace.floor)
        lower, upper = [max(v, -DRAWN) for v in lower], [min(v, DRAWN) for v in upper]
        box = self._marker(header, 'workspace', 0, Marker.LINE_LIST)
        box.points = [Point(**dict(zip('xyz', end))) for end in edges(lower, upper)]
        box.scale.x = 0.002
        gate = self._last.get('gate')
        box.color = plain.WHITE if gate is None else plain.colour(GATE_COLOURS[gate.state])
        return [box]

    def _headline(self, header: Header) -> Marker:
        marker = self._marker(header, 'headline', 0, Marker.TEXT_VIEW_FACING)
        marker.pose.position = Point(**dict(zip('xyz', map(float, self.look.text.position))))
        marker.scale.z = self.look.text.height
        marker.text = '\n'.join(self.headline())
        return marker

    def headline(self) -> Sequence[str]:
        """The headline metrics, a line each; a dash where a value is not available."""
        lines = []
        quality, safety, efficiency = (
            self._last.get(name) for name in ('quality', 'safety', 'efficiency')
        )
        if quality is not None:
            lines.append(f'{quality.episode_id or "no episode"}  {plain.text(quality.time, "s")}')
            lines.append(
                f'speed {plain.text(quality.tcp_speed, "mm/s", 1e3, 0)}'
                f'  RMS jerk {plain.text(quality.ti, "m/s^3")}'
            )
        if safety is not None:
            lines.append(
                f'distance {plain.text(safety.distance, "mm", 1e3, 0)}'
                f'  collisions {safety.collisions}'
            )
        if efficiency is not None:
            lines.append(
                f'newest latency {plain.text(efficiency.il_last, "ms", 1e3)}'
                f'  rate, last second {plain.text(efficiency.control_rate_now, "Hz")}'
            )
        lines += self._uncertainty() + self._gate() + self._monitor()
        return lines or ['no metrics']

    def _uncertainty(self) -> list[str]:
        """A line on the uncertainty of the policy; none if it is not known."""
        confidence = self._last.get('confidence')
        if confidence is None:
            return []
        parts = []
        if math.isfinite(confidence.tb_e):
            parts.append(f'token entropy {plain.text(confidence.tb_e, "nats", digits=2)}')
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

    def _monitor(self) -> list[str]:
        """A line of what the monitor recommends; none if there is none."""
        monitor = self._last.get('monitor')
        if monitor is None:
            return []
        causes = f': {", ".join(monitor.causes)}' if monitor.causes else ''
        return [f'monitor: {Level(monitor.level).title}{causes}']


def edges(lower: Sequence[float], upper: Sequence[float]) -> list[tuple[float, ...]]:
    """Both ends of each of the 12 edges of a box."""
    corners = list(itertools.product(*zip(lower, upper)))
    return [
        end
        for pair in itertools.combinations(corners, 2)
        if sum(a != b for a, b in zip(*pair)) == 1
        for end in pair
    ]
