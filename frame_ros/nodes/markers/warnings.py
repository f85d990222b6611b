# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The markers of what is not known, and why; and of cameras that do not stand as assumed."""

from __future__ import annotations

import math
from collections.abc import Iterable

from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker

from frame_ros.msg import CameraAlignment, ContactState, Proximity
from frame_ros.nodes.markers import plain_markers as plain
from frame_ros.nodes.markers.options import MarkersOptions

ALIGNED = ColorRGBA(r=plain.STOPS[0][0], g=plain.STOPS[0][1], b=plain.STOPS[0][2], a=1.0)


def warnings(
    contact: ContactState | None, proximity: Proximity | None, cameras: Iterable[CameraAlignment]
) -> list[str]:
    """A line for everything that is not known or not right."""
    lines = []
    if contact is not None and contact.unavailable:
        lines.append(f'contact unknown: {contact.unavailable}')
    if contact is not None:
        lines += [f'contact: {text}' for text in contact.warnings]
        lines += [f'contact not felt on {line}' for line in not_covered(contact)]
    if proximity is not None and proximity.unavailable:
        lines.append(f'distance unknown: {proximity.unavailable}')
    return lines + [line for camera in cameras if (line := camera_warning(camera))]


def not_covered(contact: ContactState) -> list[str]:
    """Returns the links that no source covers, together in one line; empty: there are none."""
    felt: set[str] = set()
    blind: dict[str, None] = {}
    for link, state in zip(contact.belief_links, contact.belief_states):
        if state == ContactState.BELIEF_NOT_COVERED:
            blind[link] = None
        else:
            felt.add(link)
    left = [link for link in blind if link not in felt]
    return [', '.join(left)] if left else []


def camera_warning(alignment: CameraAlignment) -> str:
    """Returns the problem of a camera; empty: there is none."""
    if alignment.unavailable:
        return f'camera {alignment.camera} not checked: {alignment.unavailable}'
    if alignment.is_aligned:
        return ''
    if not plain.is_finite(alignment.translation) or not plain.is_finite(alignment.rotation):
        return f'camera {alignment.camera} is misaligned: the robot is not where it should be seen'
    shift, turn = (math.hypot(*plain.xyz(v)) for v in (alignment.translation, alignment.rotation))
    return (
        f'camera {alignment.camera} is misaligned by {plain.text(shift, "mm", 1e3, 0)} and '
        f'{plain.text(math.degrees(turn), "degrees")}'
    )


def warning_marker(header: Header, lines: list[str], look: MarkersOptions) -> Marker:
    """The lines, above the headline."""
    marker = plain.new_marker(header, 'warnings', 0, Marker.TEXT_VIEW_FACING, look.lifetime)
    x, y, z = look.text.position
    # RViz centres the text: as many lines as there are grow both ways.
    marker.pose.position = plain.point((x, y, z + look.text.height * (4.0 + len(lines) / 2)))
    marker.text, marker.color, marker.scale.z = '\n'.join(lines), plain.WARNING, look.text.height
    return marker


def camera_marker(number: int, alignment: CameraAlignment, look: MarkersOptions) -> Marker:
    """A small box in the camera's optical frame: green aligned, red not, grey unknown."""
    header = plain.attached(alignment.header, '')
    marker = plain.new_marker(header, 'cameras', number, Marker.CUBE, look.alignment_lifetime)
    plain.set_scale(marker, (0.03, 0.02, 0.015))
    shade = ALIGNED if alignment.is_aligned else plain.UNEXPECTED
    marker.color = plain.UNKNOWN if alignment.unavailable else shade
    return marker
