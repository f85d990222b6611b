# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Detection of a grasp from the gripper's position, effort or contacts."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.time import SECOND

SOURCES = ('position', 'effort', 'contact')


@dataclass(frozen=True)
class GraspOptions:
    """Criteria of a grasp.

    source: 'position', 'effort' or 'contact'. closed, opened: positions (rad or m) between which
    nothing changes: from `closed` on the gripper counts as closed, from `opened` on as open.
    smaller_is_closed: whether the position falls when the gripper closes. empty: position of the
    gripper closed on nothing; margin: by how much, at least, an object keeps it from there, in the
    position's unit (0: that is not asked). effort_on, effort_off: magnitudes (N m or N) from which
    a grasp begins and below which it ends. contact_links: links that must touch the same thing, as
    expected. debounce: s for which the sign of a change must last.

    Raises:
        ValueRangeError: a value that cannot be.
    """

    source: str = 'position'
    closed: float = 0.2
    opened: float = 0.25
    smaller_is_closed: bool = True
    empty: float = 0.0
    margin: float = 0.0
    effort_on: float = 0.5
    effort_off: float = 0.25
    contact_links: int = 2
    debounce: float = 0.1

    def __post_init__(self) -> None:
        if self.source not in SOURCES:
            raise ValueRangeError(
                f'the grasp source is {self.source!r}; it is one of {", ".join(SOURCES)}'
            )
        numbers = (self.closed, self.opened, self.empty)
        least = (self.margin, self.effort_off, self.debounce)
        if not all(map(isfinite, (*numbers, *least, self.effort_on))) or min(least) < 0:
            raise ValueRangeError(
                f'{self}: positions are finite; margin, efforts and debounce not negative'
            )
        is_ordered = self.closed < self.opened if self.smaller_is_closed else (
            self.closed > self.opened
        )  # fmt: skip
        if self.source != 'contact' and not is_ordered:
            side = 'below' if self.smaller_is_closed else 'above'
            raise ValueRangeError(
                f'the gripper counts as closed at {self.closed} and as open at {self.opened}; '
                f'closed must be {side} open'
            )
        if self.effort_off > self.effort_on or not self.effort_on > 0:
            raise ValueRangeError(
                f'a grasp begins at an effort of {self.effort_on} and ends below '
                f'{self.effort_off}; the first must be more than 0, and not the smaller'
            )
        if self.contact_links < 1:
            raise ValueRangeError(f'{self.contact_links} links in contact; at least 1 is expected')


class GraspDetector:
    """Detects whether the gripper holds something: `is_grasped`, None before the first usable
    sample.

    Each source has hysteresis, and a change counts once its sign has lasted for the debounce time,
    by the samples' stamps. The first sample counts at once. It is a guess from the gripper alone,
    whatever the object.

    position: closed at least to `closed`, but not to within `margin` of `empty`, where it holds
    nothing. effort: a magnitude of `effort_on` while the gripper is not opening. contact: the
    required number of links touch the same thing.
    """

    __slots__ = (
        'settings', 'is_grasped', '_sign', '_closed', '_opened', '_least', '_debounce',
        '_candidate', '_since', '_extreme', '_is_opening',
    )  # fmt: skip

    def __init__(self, settings: GraspOptions) -> None:
        self.settings = s = settings
        # Positions are negated where needed so that a smaller one is more closed.
        self._sign = 1.0 if s.smaller_is_closed else -1.0
        self._closed, self._opened = self._sign * s.closed, self._sign * s.opened
        self._least = self._sign * s.empty + s.margin if s.margin > 0 else float('-inf')
        self._debounce = int(s.debounce * SECOND)
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self.is_grasped: bool | None = None
        self._candidate: bool | None = None
        self._since = 0
        self._extreme = float('nan')
        self._is_opening = False

    def update(self, stamp: int, position: float, effort: float) -> None:
        """Takes one sample of the gripper: stamp in ns, position (rad or m), effort (N m or N).
        With the source 'contact', `position` is the number of links that touch the same thing as
        expected. A required value that is not finite changes nothing.
        """
        source = self.settings.source
        if source == 'position':
            held = self._by_position(self._sign * position)
        elif source == 'effort':
            held = self._by_effort(self._sign * position, abs(effort))
        else:
            held = position >= self.settings.contact_links if position == position else None
        if held is not None:
            self._settle(stamp, held)

    def _by_position(self, position: float) -> bool | None:
        if not isfinite(position):
            return None
        if position < self._least:
            return False
        return position <= self._closed or (bool(self.is_grasped) and position < self._opened)

    def _by_effort(self, position: float, effort: float) -> bool | None:
        if not isfinite(effort):
            return None
        if isfinite(position):
            self._follow(position)
            if self._is_opening or position >= self._opened:
                return False
        settings = self.settings
        return effort >= (settings.effort_off if self.is_grasped else settings.effort_on)

    def _follow(self, position: float) -> None:
        """Notices whether the gripper's last motion of half the band was an opening."""
        band = 0.5 * (self._opened - self._closed)
        moved = position - self._extreme
        if moved != moved:  # the first position
            self._extreme = position
        elif self._is_opening:
            self._is_opening = moved > -band
            if moved > 0 or not self._is_opening:
                self._extreme = position
        else:
            self._is_opening = moved > band
            if moved < 0 or self._is_opening:
                self._extreme = position

    def _settle(self, stamp: int, held: bool) -> None:
        if self.is_grasped is None:
            self.is_grasped = held
        if held == self.is_grasped:
            self._candidate = None
            return
        if self._candidate is None:
            self._candidate, self._since = held, stamp
        if stamp - self._since >= self._debounce:
            self.is_grasped, self._candidate = held, None
