# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Detection of a grasp from the gripper's position, effort or contacts."""

from __future__ import annotations

from math import isfinite

from frame_ros.core.options import OptionError, evolved, option, options, rule
from frame_ros.core.time import SECOND
from frame_ros.robots.profiles import find_profile

SOURCES = ('position', 'effort', 'contact')
NONE = 'none'


@options
class GraspOptions:
    """Evidence that the gripper holds something."""

    source: str = option(
        'position',
        'what shows it: position, effort, or contacts of the gripper; none: nothing does',
        choices=(*SOURCES, NONE),
    )
    joint: str = option('', "joint of the gripper in joint_states; '': that of the robot's profile")
    closed: float = option(
        0.2,
        'position (rad or m) from which the gripper counts as closed; with opened both 0: '
        "those of the robot's profile",
    )
    opened: float = option(0.25, 'position (rad or m) from which it counts as open again')
    smaller_is_closed: bool = option(True, 'the position falls when the gripper closes')
    empty: float = option(0.0, 'position (rad or m) of the gripper closed on nothing')
    margin: float = option(
        0.0,
        'smallest distance (rad or m) that an object keeps it from there; 0: that is not asked',
        at_least=0.0,
    )
    effort_on: float = option(
        0.5, 'magnitude of the effort (N m or N) from which a grasp begins', above=0.0
    )
    effort_off: float = option(0.25, 'magnitude below which it ends', at_least=0.0)
    contact_links: int = option(2, 'links that must touch the same thing, as expected', at_least=1)
    debounce: float = option(
        0.1, 'time for which the sign of a change must last', unit='s', at_least=0.0
    )

    @property
    def is_of_profile(self) -> bool:
        """Returns whether the positions are those of the robot's profile."""
        return self.closed == self.opened == 0.0

    @rule('closed', 'below opened if smaller_is_closed, else above')
    def _is_ordered(self) -> bool:
        if self.is_of_profile or self.source in (NONE, 'contact'):
            return True
        return self.closed < self.opened if self.smaller_is_closed else self.closed > self.opened

    @rule('effort_off', 'at most effort_on')
    def _ends_below(self) -> bool:
        return self.effort_off <= self.effort_on

    def of(self, robot: str) -> GraspOptions | None:
        """The same with what the profile of the robot knows; None: there is no evidence, or the
        joint of the gripper is not known.

        Raises:
            OptionError: the positions of the gripper are not known.
        """
        profile = find_profile(robot)
        gripper = profile.gripper if profile else None
        joint = self.joint or (gripper.joint if gripper else '')
        if self.source == NONE or not joint:
            return None
        if not self.is_of_profile:
            return evolved(self, joint=joint)
        if gripper is None:
            raise OptionError(
                'grasp.closed',
                f'and grasp.opened are not set, and the gripper of {robot!r} is not known: give '
                'the positions from which it counts as closed and as open, or set grasp.source to '
                'none',
            )
        return evolved(
            self,
            joint=joint,
            closed=gripper.closed,
            opened=gripper.opened,
            smaller_is_closed=self.smaller_is_closed and gripper.smaller_is_closed,
        )


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
