# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Detection of a grasp from the gripper's position, effort or contacts."""

from __future__ import annotations

from collections import deque
from math import isfinite, nan
from typing import NamedTuple

from frame_ros.core.options import OptionError, evolved, option, options, rule
from frame_ros.core.stamps import StampGuard, Verdict
from frame_ros.core.time import SECOND
from frame_ros.robots.profile import RobotProfile

CONTACT, NONE = 'contact', 'none'
SOURCES = ('position', 'effort', CONTACT)
MAX_AGE = SECOND // 2  # ns after which neither evidence nor a decision counts
KEPT = 256  # newest decisions that are kept, several seconds


@options
class GraspOptions:
    """Evidence that the gripper holds something."""

    source: str = option(
        'position',
        'evidence of a grasp: position or effort of the gripper, or its contacts; none: nothing is '
        'held',
        choices=(*SOURCES, NONE),
    )
    joint: str = option('', "joint of the gripper in joint_states; '': that of the robot's profile")
    closed: float = option(
        0.0,
        'position (rad or m) from which the gripper counts as closed; with opened both 0: '
        "those of the robot's profile",
    )
    opened: float = option(0.0, 'position (rad or m) from which it counts as open again')
    smaller_is_closed: bool = option(True, 'the position falls when the gripper closes')
    empty: float = option(0.0, 'position (rad or m) of the gripper closed on nothing')
    margin: float = option(
        0.0,
        "smallest distance (rad or m) from empty at which something is held; 0: the profile's, "
        'or any',
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
        if self.is_of_profile or self.source in (NONE, CONTACT):
            return True
        return self.closed < self.opened if self.smaller_is_closed else self.closed > self.opened

    @rule('effort_off', 'at most effort_on')
    def _ends_below(self) -> bool:
        return self.effort_off <= self.effort_on

    @property
    def needs_profile(self) -> bool:
        """Returns whether a robot's profile has to know more."""
        is_given = self.joint and not self.is_of_profile
        return self.source not in (NONE, CONTACT) and not is_given

    def of(self, profile: RobotProfile | None) -> GraspOptions | None:
        """The same with what the profile of the robot knows; None: there is no evidence, or the
        joint of the gripper is not known.

        Raises:
            OptionError: the positions of the gripper are not known.
        """
        if not self.needs_profile:
            return None if self.source == NONE else self
        gripper = profile.gripper if profile else None
        joint = self.joint or (gripper.joint if gripper else '')
        if not joint:
            return None
        if not self.is_of_profile:
            return evolved(self, joint=joint)
        if gripper is None:
            raise OptionError(
                'grasp.closed',
                f'and grasp.opened are not set, and {_of(profile)} is not known: give '
                'the positions from which it counts as closed and as open, or set grasp.source to '
                'none',
            )
        return evolved(
            self,
            joint=joint,
            closed=gripper.closed,
            opened=gripper.opened,
            smaller_is_closed=self.smaller_is_closed and gripper.smaller_is_closed,
            empty=self.empty if self.margin else gripper.empty,
            margin=self.margin or gripper.margin,
        )


def _of(profile: RobotProfile | None) -> str:
    return f'the gripper of {profile.name!r}' if profile else 'the gripper'


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

    def update(self, stamp: int, position: float, effort: float) -> bool:
        """Takes one sample of the gripper: stamp in ns, position (rad or m), effort (N m or N).
        With the source 'contact', `position` is the number of links that touch the same thing as
        expected. Returns whether it could be used: a required value that is not finite changes
        nothing.
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
        return held is not None

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


class GraspDecision(NamedTuple):
    """A decision at one stamp."""

    is_held: bool | None  # None: it is not known
    position: float = nan  # of the gripper's joint, rad or m
    effort: float = nan  # likewise, N m or N
    reason: str = ''  # why it is not known


class GraspDecider:
    """Decides at any time whether the gripper holds something, by the newest evidence."""

    def __init__(self, options: GraspOptions, profile: RobotProfile) -> None:
        """Raises OptionError: the positions of the gripper are not known."""
        found = options.of(profile)
        self.joint = found.joint if found and found.source != CONTACT else ''
        self._detector = GraspDetector(found) if found else None
        evidence = f'the state of {self.joint}' if self.joint else 'contact'
        self._old = f'{evidence} has not been known for {MAX_AGE / SECOND:g} s'
        self._never = (
            'grasp.source is none'
            if options.source == NONE
            else f'{_of(profile)} is not known: set grasp.joint, grasp.closed and grasp.opened'
        )
        self._guard = StampGuard()
        self._stamp, self._evidence = 0, (nan, nan)

    def take(self, stamp: int, position: float, effort: float) -> None:
        """Takes evidence as `GraspDetector.update` does; what is badly stamped is left out."""
        detector, verdict = self._detector, self._guard.check(stamp)
        if detector is None or verdict is Verdict.DROP:
            return
        if verdict is Verdict.RESET:
            detector.reset()
        if detector.update(stamp, position, effort):
            self._stamp = stamp
            self._evidence = (position, effort) if self.joint else (nan, nan)

    def at(self, stamp: int) -> GraspDecision:
        """The decision at a stamp, ns, as far as the evidence is known by now."""
        if self._detector is None:
            return GraspDecision(None, reason=self._never)
        if not self._stamp or abs(stamp - self._stamp) > MAX_AGE:
            return GraspDecision(None, reason=self._old)
        return GraspDecision(self._detector.is_grasped, *self._evidence)


class GraspHistory:
    """The newest decisions, for readers whose samples are of different times."""

    def __init__(self) -> None:
        self._kept: deque[tuple[int, bool | None]] = deque(maxlen=KEPT)

    def add(self, stamp: int, is_held: bool | None) -> None:
        """Takes a decision; stamp in ns. One that is not later than the one before is of another
        clock.
        """
        if self._kept and stamp <= self._kept[-1][0]:
            self._kept.clear()
        self._kept.append((stamp, is_held))

    def at(self, stamp: int) -> bool | None:
        """The newest decision at or before a stamp, ns; None: it is not known."""
        for decided, is_held in reversed(self._kept):
            if decided <= stamp:
                return is_held if stamp - decided <= MAX_AGE else None
        return None
