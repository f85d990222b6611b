# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Distances between the links of a robot and nearby objects, from any sensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite, nan

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError
from frame_ros.metrics.distance_bounds import CAUTIOUS, bounded
from frame_ros.sensing.proximity.unseen import Unseen, seen_by_any

Array = NDArray[np.float64]


@dataclass(frozen=True)
class DistanceReading:
    """Least distances at one instant, in the robot's base frame.

    Attributes:
        links: (L) names.
        distances: (L,) m, NaN where not measured.
        points_on_robot, points_on_obstacle: (L, 3) m, NaN likewise.
        obstacles: (L) the object near each link, '' if unknown.
        valid_fraction, occluded_fraction: share of the sensor's pixels that gave a distance, and
            that show the robot; NaN without pixels.
        unavailable: why nothing was measured; then all distances are NaN.
        sources: the cameras or models used.
        unseen: what was seen of the places around the links; None: that is not known.
        blind: which cameras that were to look gave nothing, and why; '': all looked.
    """

    links: tuple[str, ...]
    distances: Array
    points_on_robot: Array
    points_on_obstacle: Array
    obstacles: tuple[str, ...]
    valid_fraction: float = nan
    occluded_fraction: float = nan
    unavailable: str = ''
    sources: tuple[str, ...] = ()
    unseen: Unseen | None = None
    blind: str = ''

    @classmethod
    def missing(
        cls, links: Sequence[str], why: str, sources: Sequence[str] = (), is_blind: bool = False
    ) -> DistanceReading:
        """Returns a reading without measurements, with the reason. is_blind: a camera that was to
        look did not.
        """
        count = len(links)
        points = np.full((count, 3), nan)
        return cls(
            tuple(links), np.full(count, nan), points, points.copy(), ('',) * count,
            unavailable=why, sources=tuple(sources), blind=why if is_blind else '',
        )  # fmt: skip

    @property
    def nearest(self) -> int | None:
        """Row of the least distance; None if none was measured."""
        if not np.isfinite(self.distances).any():
            return None
        return int(np.nanargmin(self.distances))

    @property
    def distance(self) -> float:
        """m, the least of all; NaN if none was measured."""
        row = self.nearest
        return nan if row is None else float(self.distances[row])

    # What was not seen: something nearer may be where nothing was.

    @property
    def link_observed(self) -> Array:
        """(L,) share of each link's surroundings, up to 0.1 m, that was seen; NaN: not known."""
        return self._unknown() if self.unseen is None else self.unseen.observed

    @property
    def link_unobserved_distances(self) -> Array:
        """(L,) m from each link to the nearest place not seen; infinite: none near, NaN: not
        known.
        """
        if self._lacks_every_view:
            return np.zeros(len(self.links))
        return self._unknown() if self.unseen is None else self.unseen.distances

    @property
    def is_link_partial(self) -> NDArray[np.bool_]:
        """(L,) whether a place not seen is nearer to a link than its distance, or than the reach
        of what is looked at where it has none; or a camera gives nothing and that is beyond reach.
        """
        if self.unseen is None:
            return np.full(len(self.links), self._lacks_every_view)
        return self.unseen.is_nearer(self.distances) | self._is_beyond_reach(self.distances)

    @property
    def link_partial_reasons(self) -> tuple[str, ...]:
        """(L) why a link's distance is partial, in words; '' where it is not."""
        if self.unseen is None:
            return (self.blind if self._lacks_every_view else '',) * len(self.links)
        reasons = self.unseen.reasons(self.distances)
        is_beyond = self._is_beyond_reach(self.distances)
        return tuple(
            why or (self.blind if beyond else '') for why, beyond in zip(reasons, is_beyond)
        )

    @property
    def unobserved_distance(self) -> float:
        """m from the robot to the nearest place not seen; infinite: none near, NaN: not known."""
        return float(np.min(self.link_unobserved_distances, initial=np.inf))

    @property
    def is_partial(self) -> bool:
        """True if a place not seen is nearer to the robot than `distance`, or than the reach of
        what is looked at where nothing was found. What a camera that did not look would have seen
        counts as not seen; if no camera says what it saw, all is in question, and so is what lies
        beyond the places looked at. What is unavailable is not partial for that.
        """
        is_beyond = self._is_beyond_reach(np.array([self.distance]))
        return self._lacks_every_view or bool(self._is_in_question().any() or is_beyond.any())

    @property
    def partial_reason(self) -> str:
        """Reason, in words, and the links it is about; '' if it is not partial."""
        blind = [self.blind] if self._lacks_a_camera else []
        if self.unseen is None:
            return '; '.join(blind)
        least = np.full(len(self.links), self.distance)
        links: dict[str, list[str]] = {}
        for link, why in zip(self.links, self.unseen.reasons(least)):
            if why:
                links.setdefault(why, []).append(link)
        found = [f'{why}: {", ".join(names)}' for why, names in links.items()]
        is_beyond = self._is_beyond_reach(np.array([self.distance])).any()
        return '; '.join(found + blind) if found or is_beyond else ''

    @property
    def cautious_distance(self) -> float:
        """m, the lesser of `distance` and `unobserved_distance`: nothing is nearer, but what no
        camera can see, such as glass. NaN if neither is known.
        """
        return bounded(self.distance, self.unobserved_distance, CAUTIOUS)

    @property
    def _lacks_a_camera(self) -> bool:
        return bool(self.blind) and not self.unavailable

    @property
    def _lacks_every_view(self) -> bool:
        """True if something is measured, and no camera says what it saw: it may be anywhere."""
        return self._lacks_a_camera and self.unseen is None

    def _is_beyond_reach(self, measured: Array) -> NDArray[np.bool_]:
        """Returns whether each distance, m, is none or beyond the places looked at, and a camera
        gives nothing: what it would have seen nearer is not known.
        """
        if self.unseen is None or not self._lacks_a_camera:
            return np.zeros(len(measured), np.bool_)
        return ~(measured <= self.unseen.reach)

    def _is_in_question(self) -> NDArray[np.bool_]:
        if self.unseen is None:
            return np.zeros(len(self.links), np.bool_)
        return self.unseen.is_nearer(np.full(len(self.links), self.distance))

    def _unknown(self) -> Array:
        return np.full(len(self.links), nan)


def fuse(readings: Sequence[DistanceReading]) -> DistanceReading:
    """Returns the minimum over several readings of the same links, link by link.

    Missing values of one count as not seen by it, and a place that one saw is seen. The fractions
    are means over the readings that have them. If none is available, all their reasons are given.
    What cameras that did not look would have seen alone counts as not seen.

    Raises:
        ShapeError: there is no reading, or they are not of the same links.
    """
    if not readings or any(reading.links != readings[0].links for reading in readings):
        raise ShapeError('distances are fused from at least one reading, all of the same links')
    unseen = seen_by_any([reading.unseen for reading in readings if reading.unseen is not None])
    blind = '; '.join(dict.fromkeys(reading.blind for reading in readings if reading.blind))
    available = [reading for reading in readings if not reading.unavailable]
    if not available:
        why = '; '.join(dict.fromkeys(reading.unavailable for reading in readings))
        sources = [source for reading in readings for source in reading.sources]
        missing = DistanceReading.missing(readings[0].links, why, sources)
        return replace(missing, unseen=unseen, blind=blind)
    stacked = np.array([reading.distances for reading in available])
    chosen = np.argmin(np.where(np.isfinite(stacked), stacked, np.inf), axis=0)
    rows = np.arange(len(chosen))
    return DistanceReading(
        available[0].links,
        stacked[chosen, rows],
        np.array([reading.points_on_robot for reading in available])[chosen, rows],
        np.array([reading.points_on_obstacle for reading in available])[chosen, rows],
        tuple(available[which].obstacles[row] for row, which in enumerate(chosen)),
        _mean([reading.valid_fraction for reading in available]),
        _mean([reading.occluded_fraction for reading in available]),
        sources=tuple(source for reading in available for source in reading.sources),
        unseen=unseen,
        blind=blind,
    )


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if isfinite(value)]
    return float(np.mean(known)) if known else nan
