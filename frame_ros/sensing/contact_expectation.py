# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a contact is meant: by gripper, task phase, named links and regions, with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf, isfinite, isnan, nan

import numpy as np
from numpy.typing import NDArray

from frame_ros.errors import ValueRangeError
from frame_ros.sensing.detection import Detection, unknown

Array = NDArray[np.float64]
Vector = tuple[float, float, float]
SECOND = 1_000_000_000
_DOWN = 0.9  # cosine from which a force counts as pointing down


@dataclass(frozen=True)
class ContactContext:
    """What is known of the robot and its task at a stamp (ns).

    gripper_position: rad or m; gripper_effort: N m or N; NaN: not known. is_grasped: of
    sensing.grasp; None: not known. tip_position: (3,) m in the base frame. link_positions: link ->
    (3,) m likewise, those that are known. phase: text of the task's phase, '' if none is known.
    """

    stamp: int
    gripper_position: float = nan
    gripper_effort: float = nan
    is_grasped: bool | None = None
    tip_position: Array = field(default_factory=lambda: unknown(3))
    link_positions: Mapping[str, Array] = field(default_factory=dict)
    phase: str = ''


@dataclass(frozen=True)
class AllowedRegion:
    """A box in the base frame, in which contact is meant: a surface to place on.

    lower, upper: (3,) m. max_force: N. links: that may touch there; empty: any, also one that is
    not known. phases: words one of which the task's phase must contain; empty: any phase.

    Raises:
        ValueRangeError: lower is not below upper, or the force is not positive.
    """

    name: str
    lower: Vector
    upper: Vector
    max_force: float = inf
    links: tuple[str, ...] = ()
    phases: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        corners = (*self.lower, *self.upper)
        if len(corners) != 6 or any(map(isnan, corners)):
            raise ValueRangeError(f'region {self.name!r}: two corners of 3 coordinates (m) each')
        if not all(low < high for low, high in zip(self.lower, self.upper)):
            raise ValueRangeError(
                f'region {self.name!r} reaches from {self.lower} to {self.upper}; the first must '
                f'be lower in every coordinate'
            )
        if not self.max_force > 0:
            raise ValueRangeError(
                f'region {self.name!r}: a largest force of {self.max_force} N; it must be positive'
            )

    def holds(self, point: Array) -> bool:
        """Whether a point (3,) is in it; false if it is not known."""
        return all(
            low <= value <= high for low, value, high in zip(self.lower, point.tolist(), self.upper)
        )


@dataclass(frozen=True)
class ContactExpectations:
    """From which contacts are meant.

    max_force: N, beyond which no contact is. finger_links: expected to touch while the gripper
    closes or holds. allowed_links: always. regions: where contact is meant. grasp_phases: words; in
    a phase that contains one, fingers may touch whatever the gripper does. max_grasp_force: N of a
    contact whose link is not known, to be explained by the gripper or by a weight held.
    smaller_is_closed: whether the gripper's position falls when it closes. gripper_motion: change
    of that position (rad or m) that counts as motion. settling: s that a motion of the gripper goes
    on explaining contact, and that a grasp or release does.

    Raises:
        ValueRangeError: a value that cannot be.
    """

    finger_links: tuple[str, ...] = ()
    allowed_links: tuple[str, ...] = ()
    regions: tuple[AllowedRegion, ...] = ()
    grasp_phases: tuple[str, ...] = ()
    max_force: float = 40.0
    max_grasp_force: float = 20.0
    smaller_is_closed: bool = True
    gripper_motion: float = 0.002
    settling: float = 0.5

    def __post_init__(self) -> None:
        if not (self.max_force > 0 and self.max_grasp_force > 0):
            raise ValueRangeError(
                f'max_force is {self.max_force} N and max_grasp_force {self.max_grasp_force} N; '
                f'both must be positive (infinite: no limit)'
            )
        if not (isfinite(self.gripper_motion) and self.gripper_motion > 0):
            raise ValueRangeError(f'gripper_motion is {self.gripper_motion}; it must be positive')
        if not (isfinite(self.settling) and self.settling >= 0):
            raise ValueRangeError(f'settling is {self.settling} s; it must not be negative')
        names = [region.name for region in self.regions]
        if len(set(names)) != len(names):
            raise ValueRangeError(f'regions {", ".join(names)}; each needs a name of its own')


@dataclass(frozen=True)
class Verdict:
    """Whether a contact is meant, why, and up to which force (N) that holds. other: what is touched
    as far as the reason tells, else ''.
    """

    is_expected: bool
    reason: str
    limit: float = inf
    other: str = ''


class GripperWatch:
    """What the gripper has just done: closed, opened, grasped, released."""

    def __init__(self, expectations: ContactExpectations) -> None:
        self._sign = 1.0 if expectations.smaller_is_closed else -1.0
        self._motion = expectations.gripper_motion
        self._settling = int(expectations.settling * SECOND)
        self.reset()

    def reset(self) -> None:
        """Forgets all."""
        self._reference = nan
        self._is_grasped: bool | None = None
        self._times: dict[str, int] = {}

    def update(self, context: ContactContext) -> None:
        """Takes the newest context; one of a stamp before the last is taken all the same."""
        position = self._sign * context.gripper_position
        if isnan(self._reference):
            self._reference = position
        elif position <= self._reference - self._motion:
            self._reference, self._times['closing'] = position, context.stamp
        elif position >= self._reference + self._motion:
            self._reference, self._times['opening'] = position, context.stamp
        grasped = context.is_grasped
        if grasped is not None:
            if self._is_grasped is not None and grasped != self._is_grasped:
                self._times['grasped' if grasped else 'released'] = context.stamp
            self._is_grasped = grasped

    def has_just(self, what: str, stamp: int) -> bool:
        """Whether 'closing', 'opening', 'grasped' or 'released' was so within `settling`."""
        since = self._times.get(what)
        return since is not None and stamp - since <= self._settling


class ContactJudge:
    """Applies ContactExpectations to one contact at a time.

    In this order: a force beyond max_force is never expected; then allowed links, fingers (by
    gripper, grasp or phase), regions. A region is asked at the contact's position; else, for
    fingers and where the link is not known, at the tip; else at the origin of its link. A contact
    whose link is not known counts as unexpected unless one of these explains it: the gripper closes
    or has just grasped or released; it holds something and the force points down (its weight); a
    grasp phase; a region that the tip is in.
    """

    def __init__(self, expectations: ContactExpectations) -> None:
        self.expectations = expectations
        self.gripper = GripperWatch(expectations)

    def judge(self, detection: Detection, context: ContactContext) -> Verdict:
        """The verdict on the contact of a detection."""
        settings, force, link = self.expectations, detection.force, detection.link
        if force > settings.max_force:
            return Verdict(
                False, f'{force:.1f} N, and beyond {settings.max_force:g} N no contact is expected'
            )
        most = settings.max_force
        if link and link in settings.allowed_links:
            return Verdict(True, f'{link} may always touch', most)
        beside: list[Verdict] = []
        for verdict in (self._by_gripper(detection, context), self._by_region(detection, context)):
            if verdict is None:
                continue
            if verdict.is_expected and not force > verdict.limit:
                return Verdict(True, verdict.reason, min(verdict.limit, most), verdict.other)
            beside.append(verdict)
        if beside:
            verdict = beside[0]
            if verdict.is_expected:
                return Verdict(
                    False, f'{force:.1f} N, more than the {verdict.limit:g} N allowed: '
                    f'{verdict.reason}', inf, verdict.other,
                )  # fmt: skip
            return verdict
        return Verdict(False, self._why_not(link))

    def _why_not(self, link: str) -> str:
        if not link:
            return 'the link is not known, and neither gripper nor region explains a contact'
        if link in self.expectations.finger_links:
            return f'{link} touches, but the gripper neither closes nor holds anything'
        return f'{link} is not expected to touch anything here'

    def _by_gripper(self, detection: Detection, context: ContactContext) -> Verdict | None:
        settings, link = self.expectations, detection.link
        if link and link not in settings.finger_links:
            return None
        if not link and not settings.finger_links:
            return None
        limit = settings.max_force if link else settings.max_grasp_force
        what = link or 'link not known'
        if self.gripper.has_just('closing', context.stamp):
            return Verdict(True, f'{what}: the gripper closes', limit)
        for event in ('grasped', 'released'):
            if self.gripper.has_just(event, context.stamp):
                return Verdict(True, f'{what}: something was just {event}', limit)
        if context.is_grasped and link:
            return Verdict(True, f'{link}: the gripper holds something', limit, 'held object')
        if context.is_grasped and _points_down(detection.wrench):
            reason = 'link not known: the gripper holds something, and the force is a weight'
            return Verdict(True, reason, limit, 'held object')
        word = next((word for word in settings.grasp_phases if word in context.phase), '')
        if word:
            return Verdict(True, f'{what}: fingers may touch in phase {context.phase!r}', limit)
        return None

    def _by_region(self, detection: Detection, context: ContactContext) -> Verdict | None:
        point = self._place(detection, context)
        if point is None:
            return None
        refused: Verdict | None = None
        for region in self.expectations.regions:
            if region.links and detection.link and detection.link not in region.links:
                continue
            if not region.holds(point):
                continue
            if region.phases and not any(word in context.phase for word in region.phases):
                refused = Verdict(
                    False, f'in region {region.name!r}, but not in phase {context.phase!r}',
                    inf, region.name,
                )  # fmt: skip
                continue
            verdict = Verdict(
                True, f'in region {region.name!r}', region.max_force, region.name
            )  # fmt: skip
            if not detection.force > region.max_force:
                return verdict
            refused = verdict
        return refused

    def _place(self, detection: Detection, context: ContactContext) -> Array | None:
        """(3,) where the contact is, as far as it is known."""
        if isfinite(detection.position[0]):
            return detection.position
        link = detection.link
        is_at_tip = not link or link in self.expectations.finger_links
        if is_at_tip and isfinite(context.tip_position[0]):
            return context.tip_position
        return context.link_positions.get(link)


def _points_down(wrench: Array) -> bool:
    x, y, z = wrench[:3].tolist()
    length = float(np.sqrt(x * x + y * y + z * z))
    return bool(-z >= _DOWN * length > 0)
