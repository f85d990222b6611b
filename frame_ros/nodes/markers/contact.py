# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The markers of contact: an arrow per contact, what began or ended, and a bar per joint."""

from __future__ import annotations

import math
from collections.abc import Sequence

from geometry_msgs.msg import Point, PoseStamped, Vector3
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker

from frame_ros.msg import ContactEvent, ContactState
from frame_ros.nodes.markers import plain_markers as plain
from frame_ros.nodes.markers.options import MarkersOptions

LONGEST_BAR = 1.5  # of a joint's threshold, at which its bar ends
BAR_WIDTH = 0.4  # of the distance between two bars
SHOWN_EVENTS = 50  # numbers of markers after which they are used again


class ContactMarkers:
    """look: the node's options."""

    def __init__(self, look: MarkersOptions) -> None:
        self.look = look

    def _marker(self, header: Header, space: str, number: int, kind: int) -> Marker:
        return plain.new_marker(header, space, number, kind, self.look.lifetime)

    def draw(self, contact: ContactState, pose: PoseStamped | None) -> list[Marker]:
        """The arrows and bars of a message; nothing of one that is unavailable. pose: of the tip,
        where a contact without a place is drawn.
        """
        if contact.unavailable:
            return []
        return self._arrows(contact, pose) + self._bars(contact)

    def _arrows(self, contact: ContactState, pose: PoseStamped | None) -> list[Marker]:
        arrows: list[Marker] = []
        for place, normal, force, is_expected in zip(
            contact.positions, contact.normals, contact.forces, contact.is_expected
        ):
            shade = plain.EXPECTED if is_expected else plain.UNEXPECTED
            arrows += self._arrow(contact.header, len(arrows), place, normal, force, shade)
        if not arrows and contact.in_contact and pose is not None:
            shade = plain.UNEXPECTED if contact.in_collision else plain.EXPECTED
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
        norm = math.hypot(*plain.xyz(direction))
        if not (
            plain.is_finite(place) and math.isfinite(norm) and math.isfinite(force) and norm > 0.0
        ):
            return []
        length = min(max(force / self.look.contact.newtons_per_metre, 0.01), 0.3)
        start = [p - length * d / norm for p, d in zip(plain.xyz(place), plain.xyz(direction))]
        arrow = self._marker(header, 'contact', number, Marker.ARROW)
        arrow.points = [plain.point(start), place]
        plain.set_scale(arrow, (0.006, 0.014, 0.02))
        arrow.color = shade
        return [arrow]

    def _bars(self, contact: ContactState) -> list[Marker]:
        """A row of bars, one per joint, next to the robot: as long as the torque that the model
        does not explain is, in parts of the joint's threshold, at which there is a line.
        """
        names = list(contact.joint_names)
        if not names or len(contact.joint_residuals) != len(names):
            return []
        header, height = contact.header, self.look.contact.bar_length
        thresholds = list(contact.joint_thresholds) or [math.nan] * len(names)
        stalls = list(contact.is_stalled) or [False] * len(names)
        markers, ends = [], []
        for number, row in enumerate(zip(names, contact.joint_residuals, thresholds, stalls)):
            x, y, z = self.look.contact.bar_position
            place = (x, y + number * self.look.contact.bar_spacing, z)
            markers += self._bar(header, number, place, *row)
            half = 0.5 * self.look.contact.bar_spacing
            ends += [plain.point((x, place[1] + side, z + height)) for side in (-half, half)]
        line = self._marker(header, 'residuals', 2 * len(names), Marker.LINE_LIST)
        line.points = ends
        line.scale.x = 0.002
        return [*markers, line]

    def _bar(
        self,
        header: Header,
        number: int,
        place: Sequence[float],
        name: str,
        residual: float,
        threshold: float,
        is_stalled: bool,
    ) -> list[Marker]:
        share = abs(residual) / threshold if threshold > 0.0 else math.nan
        is_known = math.isfinite(share)
        length = (
            self.look.contact.bar_length * min(max(share, 0.02), LONGEST_BAR) if is_known else 0.001
        )
        width = BAR_WIDTH * self.look.contact.bar_spacing
        bar = self._marker(header, 'residuals', 2 * number, Marker.CUBE)
        x, y, z = place
        plain.set_pose(bar, (x, y, z + length / 2))
        plain.set_scale(bar, (width, width, length))
        bar.color = plain.with_alpha(plain.colour(share), 0.8)
        label = self._marker(header, 'residuals', 2 * number + 1, Marker.TEXT_VIEW_FACING)
        plain.set_pose(label, (x, y, z - self.look.text.height))
        label.text = f'{name}\n{plain.text(residual, "N m", digits=2)}' + ('\nstalled' * is_stalled)
        label.scale.z = 0.5 * self.look.text.height
        label.color = plain.UNEXPECTED if is_stalled else plain.UNKNOWN
        return [bar, label]

    def events(self, event: ContactEvent, pose: PoseStamped | None) -> list[Marker]:
        """A ball and words, for `event_time` s, where a contact began or ended; at the tip where
        the place is not known, and nothing while the tip is not known either.
        """
        header, place = event.header, event.position
        if not plain.is_finite(place):
            if pose is None:
                return []
            header, place = pose.header, pose.pose.position
        number = 2 * (2 * event.id + event.type) % (4 * SHOWN_EVENTS)
        shade = plain.EXPECTED if event.is_expected else plain.UNEXPECTED
        duration = self.look.contact.event_time
        ball = plain.new_marker(header, 'contact_events', number, Marker.SPHERE, duration)
        plain.set_pose(ball, plain.xyz(place))
        plain.set_scale(ball, (0.015 if event.type == ContactEvent.BEGIN else 0.008,) * 3)
        ball.color = plain.with_alpha(shade, 0.7)
        words = plain.new_marker(
            header, 'contact_events', number + 1, Marker.TEXT_VIEW_FACING, duration
        )
        plain.set_pose(words, (place.x, place.y, place.z + 1.5 * self.look.text.height))
        words.text, words.color = event_text(event), shade
        words.scale.z = 0.75 * self.look.text.height
        return [ball, words]


def event_text(event: ContactEvent) -> str:
    """Returns what began or ended, in a line or two; what is not known is left out."""
    what = 'contact' if event.is_expected else 'collision'
    bodies = ' - '.join(name for name in (event.link, event.other) if name)
    if event.type == ContactEvent.BEGIN:
        parts = [plain.text(event.force, 'N')] if math.isfinite(event.force) else []
    else:
        what += ' ended'
        parts = [plain.text(event.duration, 's', digits=2)]
        if math.isfinite(event.peak_force):
            parts.append(f'peak {plain.text(event.peak_force, "N")}')
    first = f'{what}: {bodies}' if bodies else what
    return '\n'.join(line for line in (first, ', '.join(parts)) if line)
