# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Expected and unexpected contacts, by gripper, task phase, links and regions, with reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import hypot, inf, isfinite, isnan, nan

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.options import option, options, rule
from frame_ros.core.time import SECOND
from frame_ros.sensing.contact.detection import Detection, unknown
from frame_ros.sensing.contact.threshold import LONGEST

Array = NDArray[np.float64]
Vector = tuple[float, float, float]
# Of the force through a held object, which pushes or pulls along the vertical.
_SLACK = 1.0  # N of its error
_ASIDE = 0.5  # share of a weight that acts sideways: the arm accelerates, the sensor is tilted
_FRICTION = 1.5  # largest coefficient of friction between what is held and what it rests on
_MORE = 0.1  # share by which a weight that was found may be wrong


@dataclass(frozen=True)
class ContactContext:
    """The state of the robot and its task at a stamp (ns).

    Attributes:
        gripper_position: rad or m; NaN: unknown.
        is_grasped: of sensing.grasp; None: unknown.
        tip_position: (3,) m in the base frame.
        link_positions: link -> (3,) m likewise, where known.
        phase: text of the task's phase, '' if unknown.
        held_weight: N of the held object, if it was weighed and is subtracted from the wrench; NaN:
            it was not.
    """

    stamp: int
    gripper_position: float = nan
    is_grasped: bool | None = None
    tip_position: Array = field(default_factory=lambda: unknown(3))
    link_positions: Mapping[str, Array] = field(default_factory=dict)
    phase: str = ''
    held_weight: float = nan


@dataclass(frozen=True)
class AllowedRegion:
    """A box in the base frame in which contact is expected: a surface to place on.

    Attributes:
        lower, upper: (3,) m.
        max_force: N.
        links: that may touch there; empty: any, including an unknown one.
        phases: words one of which the task's phase must contain; empty: any phase.
        held_only: only the held object may touch there, not the gripper itself.

    Raises:
        ValueRangeError: lower is not below upper, or the force is not positive.
    """

    name: str
    lower: Vector
    upper: Vector
    max_force: float = inf
    links: tuple[str, ...] = ()
    phases: tuple[str, ...] = ()
    held_only: bool = False

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

    def holds(self, point: Array, reach: float = 0.0) -> bool:
        """Returns whether a point (3,), or one up to `reach` m below it, is known to be inside."""
        x, y, z = point.tolist()
        return bool(
            self.lower[0] <= x <= self.upper[0]
            and self.lower[1] <= y <= self.upper[1]
            and self.lower[2] <= z
            and z - reach <= self.upper[2]
        )


@options
class ExpectationOptions:
    """Contacts that are expected."""

    max_force: float = option(
        40.0,
        'force beyond which no contact is expected',
        unit='N',
        above=0.0,
        is_finite=False,
        live=True,
    )
    max_grasp_force: float = option(
        20.0,
        'force of a contact of unknown link that the gripper, or what it holds, may explain',
        unit='N',
        above=0.0,
        is_finite=False,
        live=True,
    )
    grasp_phases: tuple[str, ...] = option(
        (),
        'words; in an operation whose text holds one, fingers may touch whatever the gripper does',
    )
    gripper_motion: float = option(
        0.002,
        'motion (rad or m) of the gripper that counts',
        above=0.0,
    )
    settling: float = option(
        0.5,
        'time for which a motion of the gripper, a grasp or a release explains contact',
        unit='s',
        at_least=0.0,
    )
    held_reach: float = option(
        0.05,
        'distance that a held object reaches below the tip, at most: allowed_regions count '
        'down to there',
        unit='m',
        at_least=0.0,
        live=True,
    )
    held_clearance: float = option(
        0.02,
        'distance from the height of the grasp within which a held object may touch the '
        'surface that it lay on',
        unit='m',
        at_least=0.0,
        live=True,
    )
    doubt: float = option(
        0.03,
        'time for which a contact of unknown link that these explained may go on without, '
        'before it is a collision',
        unit='s',
        at_least=0.0,
        at_most=LONGEST,
        live=True,
    )


@options
class ContactExpectations(ExpectationOptions):
    """Rules for expected contacts.

    Attributes:
        finger_links: expected to touch while the gripper closes or holds.
        allowed_links: always expected to touch.
        regions: where contact is expected.
        smaller_is_closed: whether the gripper's position falls when it closes.

    Raises:
        ValueRangeError: two regions have one name.
    """

    finger_links: tuple[str, ...] = ()
    allowed_links: tuple[str, ...] = ()
    regions: tuple[AllowedRegion, ...] = ()
    smaller_is_closed: bool = True

    @rule('regions', 'of a name of its own each')
    def _have_names(self) -> bool:
        names = [region.name for region in self.regions]
        return len(set(names)) == len(names)


@dataclass(frozen=True)
class Verdict:
    """The verdict on a contact.

    Attributes:
        reason: in words.
        limit: N up to which the verdict holds.
        other: the touched object as far as the reason names it, else ''.
        is_lasting: whether the verdict holds as long as the contact lasts; False: it depends on the
            force's direction, or on the gripper.
    """

    is_expected: bool
    reason: str
    limit: float = inf
    other: str = ''
    is_lasting: bool = True


class GripperWatch:
    """The gripper's recent actions: closing, opening, grasping, releasing; and the place of the
    grasp.

    grasp_height: m, of the tip in the base frame when the present grasp began; NaN: unknown.
    """

    def __init__(self, expectations: ContactExpectations) -> None:
        self._sign = 1.0 if expectations.smaller_is_closed else -1.0
        self._motion = expectations.gripper_motion
        self._settling = int(expectations.settling * SECOND)
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self._reference = nan
        self._is_grasped: bool | None = None
        self.grasp_height = nan
        self._times: dict[str, int] = {}

    def update(self, context: ContactContext) -> None:
        """Takes the newest context, even if its stamp is before the last."""
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
                self.grasp_height = float(context.tip_position[2]) if grasped else nan
            self._is_grasped = grasped

    def has_just(self, what: str, stamp: int) -> bool:
        """Returns whether 'closing', 'opening', 'grasped' or 'released' was so recently."""
        since = self._times.get(what)
        return since is not None and stamp - since <= self._settling


class ContactJudge:
    """Applies ContactExpectations to one contact at a time.

    In this order: a force above max_force is never expected; then allowed links, fingers (by
    gripper, grasp or phase), regions. A region is tested at the contact's position; else, for
    fingers and unknown links, at the tip and, while something is held, below it down to
    `held_reach`; else at the origin of the link.

    A contact with an unknown link counts as unexpected unless one of these explains it: the gripper
    closes or has just grasped or released; the held object (see `_by_held`); a grasp phase; a
    region.
    """

    def __init__(self, expectations: ContactExpectations) -> None:
        self.expectations = expectations
        self.gripper = GripperWatch(expectations)

    def judge(self, detection: Detection, context: ContactContext) -> Verdict:
        """Returns the verdict on a detection's contact."""
        settings, force, link = self.expectations, detection.force, detection.link
        if force > settings.max_force:
            return Verdict(
                False, f'{force:.1f} N, and above {settings.max_force:g} N no contact is expected'
            )
        most = settings.max_force
        if link and link in settings.allowed_links:
            return Verdict(True, f'{link} may always touch', most)
        lasting: list[Verdict] = []
        for verdict in (self._by_gripper(detection, context), self._by_region(detection, context)):
            if verdict is None:
                continue
            if verdict.is_expected and not force > verdict.limit:
                return replace(verdict, limit=min(verdict.limit, most))
            lasting.append(verdict)
        if lasting:
            verdict = lasting[0]
            if verdict.is_expected:
                return Verdict(
                    False, f'{force:.1f} N, more than the {verdict.limit:g} N allowed: '
                    f'{verdict.reason}', inf, verdict.other,
                )  # fmt: skip
            return verdict
        return Verdict(False, self._why_not(link, context))

    def _why_not(self, link: str, context: ContactContext) -> str:
        if not link:
            return 'the link is not known, and neither gripper nor region explains a contact'
        if link in self.expectations.finger_links:
            at = context.gripper_position
            is_open = context.is_grasped is False and not isnan(at)
            where = f': at {at:.2f} it counts as empty or open (grasp.closed)' if is_open else ''
            return f'{link} touches, but the gripper neither closes nor holds anything{where}'
        return f'{link} is not expected to touch anything here'

    def _by_gripper(self, detection: Detection, context: ContactContext) -> Verdict | None:
        settings, link = self.expectations, detection.link
        if link and link not in settings.finger_links:
            return None
        if not link and not settings.finger_links:
            return None
        limit = settings.max_force if link else settings.max_grasp_force
        what = link or 'link not known'
        # Without information about a grasp, the gripper goes on explaining the contact that it
        # began.
        lasts = bool(link) or context.is_grasped is None
        if self.gripper.has_just('closing', context.stamp):
            return Verdict(True, f'{what}: the gripper closes', limit, '', lasts)
        for event in ('grasped', 'released'):
            if self.gripper.has_just(event, context.stamp):
                return Verdict(True, f'{what}: something was just {event}', limit, '', lasts)
        if context.is_grasped and link:
            return Verdict(True, f'{link}: the gripper holds something', limit, 'held object')
        if context.is_grasped and (reason := self._by_held(detection, context)):
            return Verdict(True, f'link not known: {reason}', limit, 'held object', False)
        word = next((word for word in settings.grasp_phases if word in context.phase), '')
        if word:
            return Verdict(True, f'{what}: fingers may touch in phase {context.phase!r}', limit)
        return None

    def _by_held(self, detection: Detection, context: ContactContext) -> str:
        """Returns how a held object explains a force; '' if it does not.

        It pulls down by its weight, and sideways by a share of it in motion. Once its weight is
        known and subtracted from the wrench, it pushes up by as much when something supports it. At
        the height of the grasp it touches the surface that it lay on, which pushes up, and sideways
        by friction. While the gripper opens, the object is released. Larger sideways forces are not
        explained.
        """
        x, y, up = detection.wrench[:3].tolist()
        across = hypot(x, y)
        if not isfinite(across + up):
            return ''
        if self.gripper.has_just('opening', context.stamp):
            return 'the gripper opens and releases the held object'
        is_upright = across <= _ASIDE * abs(up) + _SLACK
        if up < 0 and is_upright:
            return 'the gripper holds something, and the force is a weight'
        if is_upright and up <= (1.0 + _MORE) * context.held_weight + _SLACK:
            return 'something supports the weight of the held object'
        height = float(context.tip_position[2]) - self.gripper.grasp_height
        is_low = abs(height) <= self.expectations.held_clearance
        if is_low and across <= _FRICTION * (up + _SLACK):
            return 'the held object touches the surface that it lay on'
        return ''

    def _by_region(self, detection: Detection, context: ContactContext) -> Verdict | None:
        point = self._place(detection, context)
        if point is None:
            return None
        is_held = bool(context.is_grasped) and self._is_at_tip(detection)
        reach = self.expectations.held_reach if is_held else 0.0
        refused: Verdict | None = None
        for region in self.expectations.regions:
            if region.links and detection.link and detection.link not in region.links:
                continue
            if region.held_only and not is_held or not region.holds(point, reach):
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
        """Returns the contact's place (3,), as far as it is known."""
        if isfinite(detection.position[0]):
            return detection.position
        if self._is_at_tip(detection) and isfinite(context.tip_position[0]):
            return context.tip_position
        return context.link_positions.get(detection.link)

    def _is_at_tip(self, detection: Detection) -> bool:
        """Returns whether the contact may be at the tip: it is not known to be elsewhere."""
        link = detection.link
        is_placed = isfinite(detection.position[0])
        return not is_placed and (not link or link in self.expectations.finger_links)
