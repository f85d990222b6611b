# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""From what each source measured last to what is published."""

from __future__ import annotations

from collections.abc import Sequence

from frame_ros.core.time import SECOND
from frame_ros.msg import Proximity
from frame_ros.sensing.proximity.link_distances import DistanceReading, fuse
from frame_ros.sensing.proximity.obstacles.known import SOURCE

Newest = tuple[int, DistanceReading] | None


def fused(
    links: Sequence[str],
    newest: dict[str, Newest],
    stamp: int,
    age: float,
    needs_all: bool,
    model: DistanceReading | None,
) -> DistanceReading:
    """The minimum over the cameras' newest readings and the known obstacles', link by link.

    newest: camera -> stamp (ns) and reading. stamp: ns, of the newest of them; those older by more
    than `age` (s) do not count. needs_all: whether nothing is measured while a camera measures
    nothing.
    """
    readings = [_at(camera, found, links, stamp, age) for camera, found in newest.items()]
    missing = [reading for reading in readings if reading.unavailable]
    if needs_all and missing:
        return fuse(missing)
    return fuse([*readings, *([model] if model is not None else [])])


def _at(
    camera: str, found: Newest, links: Sequence[str], stamp: int, age: float
) -> DistanceReading:
    if found is None:
        why = f'camera {camera}: no image has come'
        return DistanceReading.missing(links, why, (camera,), is_blind=True)
    if stamp - found[0] > age * SECOND:
        late = (stamp - found[0]) / SECOND
        why = f"camera {camera}: its newest image is {late:.3f} s older than another camera's"
        return DistanceReading.missing(links, why, (camera,), is_blind=True)
    return found[1]


def source_of(reading: DistanceReading) -> int:
    """One of Proximity.SOURCE_*."""
    if len(reading.sources) > 1:
        return int(Proximity.SOURCE_FUSED)
    if not reading.sources:
        return int(Proximity.SOURCE_UNKNOWN)
    is_model = reading.sources == (SOURCE,)
    return int(Proximity.SOURCE_MODEL if is_model else Proximity.SOURCE_DEPTH)
