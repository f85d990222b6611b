# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contacts over time, from the detections of several sensors sample by sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from math import inf, isfinite, isnan, nan

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.sensing.contact.detection import Detection, unknown
from frame_ros.sensing.contact.expectation import (
    ContactContext,
    ContactExpectations,
    ContactJudge,
    Verdict,
)
from frame_ros.sensing.contact.source import ContactSource

Array = NDArray[np.float64]
# From the most to the least accurate source of force.
_EXACTNESS = (
    ContactSource.SIMULATOR,
    ContactSource.WRENCH,
    ContactSource.ROBOT,
    ContactSource.JOINT_EFFORT,
    ContactSource.FUSED,
    ContactSource.UNKNOWN,
)
_RANK = {int(source): rank for rank, source in enumerate(_EXACTNESS)}


class ContactEventType(IntEnum):
    """BEGIN and END of msg/ContactEvent."""

    BEGIN = 0
    END = 1


@dataclass(frozen=True)
class TrackedContact:
    """A lasting contact at `stamp` (ns) of its newest sample; as in msg/ContactEvent."""

    id: int
    source: int
    sources: tuple[int, ...]  # that report it now
    link: str
    other: str
    is_expected: bool
    reason: str
    begin: int  # ns
    stamp: int
    position: Array
    normal: Array
    force: float
    peak_force: float
    impulse: float

    @property
    def duration(self) -> float:
        """s."""
        return (self.stamp - self.begin) / SECOND


@dataclass(frozen=True)
class ContactEventRecord:
    """A contact began, or has ended; the fields are those of msg/ContactEvent. stamp: ns."""

    type: ContactEventType
    stamp: int
    source: int
    id: int
    link: str
    other: str
    is_expected: bool
    reason: str
    position: Array
    normal: Array
    force: float
    peak_force: float
    impulse: float
    duration: float


class ContactTracker:
    """Turns detections into contacts with a begin and an end, and judges each.

    With several sources: detections of different sources are one contact if they overlap in time
    and name the same link, or one of them names none. Such a contact is of SOURCE_FUSED as long as
    more than one source reports it, goes on until none does, and its force is that of the most
    accurate source (simulator, wrench, robot, joint effort). A source reports one contact at a
    time; where its link changes from one known link to another, the contact ends and another
    begins, which sources that name no link then report too.

    A contact is judged when it begins, and that stands but for two changes: if it was expected and
    its force passes the limit of its reason, or if it was explained by the gripper or a held object
    and no longer is, for `doubt` of the expectations, it is a collision from then on. `collisions`
    counts all, contacts that begin unexpected and those that become so. A link that is named only
    later is reported but changes no verdict: with joint efforts it may be one before the touched
    link. So while an expected contact with an unknown link lasts, another one is part of it.

    A source that becomes unavailable, or gives no detection for `patience`, reports no contact from
    then on; the contact ends as known at its last sample, and the reason says so. Peak and impulse
    (trapezoids between stamps) are NaN if no force is measured, and leave out the time in which it
    is not.
    """

    def __init__(self, expectations: ContactExpectations, patience: float = 0.5) -> None:
        """`patience`: s."""
        self._judge = ContactJudge(expectations)
        self._patience = int(patience * SECOND)
        self.expect(expectations)
        self._next = 1
        self.reset()

    def expect(self, expectations: ContactExpectations) -> None:
        """Judges what comes from now on by these rules."""
        self._judge.expectations = expectations
        self._doubt = int(expectations.doubt * SECOND)

    def reset(self) -> None:
        """Forgets all contacts, without events; ids go on, so that none is used twice."""
        self._judge.gripper.reset()
        self._open: list[_Contact] = []
        self._stamps: dict[int, int] = {}
        self.collisions = 0

    @property
    def contacts(self) -> list[TrackedContact]:
        """Lasting contacts, oldest first."""
        return [contact.tracked() for contact in self._open]

    @property
    def in_collision(self) -> bool:
        """True if any lasting contact is not expected."""
        return any(not contact.verdict.is_expected for contact in self._open)

    def update(
        self, detections: Sequence[Detection], context: ContactContext
    ) -> tuple[list[TrackedContact], list[ContactEventRecord]]:
        """Takes the newest detections, at most one per source, in any order. One not later than the
        last of its source is ignored. Returns the lasting contacts and the events.
        """
        self._judge.gripper.update(context)
        events: list[ContactEventRecord] = []
        for detection in detections:
            source = detection.source
            if detection.stamp <= self._stamps.get(source, -1):
                continue
            self._stamps[source] = detection.stamp
            if detection.is_contact:
                self._touch(detection, context, events)
            elif self._open:
                self._leave(detection, events)
        if self._open:
            self._drop_silent(context.stamp, events)
        return ([c.tracked() for c in self._open] if self._open else []), events

    def close(self, stamp: int, why: str) -> list[ContactEventRecord]:
        """Ends all contacts, as known at their last samples: the sensors are gone."""
        events: list[ContactEventRecord] = []
        for contact in list(self._open):
            self._end(contact, stamp, why, events)
        return events

    def _touch(
        self, detection: Detection, context: ContactContext, events: list[ContactEventRecord]
    ) -> None:
        source = detection.source
        contact = next((c for c in self._open if source in c.newest), None)
        if contact and contact.link and detection.link and contact.link != detection.link:
            if contact.leave(source) or not contact.is_named:
                self._end(contact, detection.stamp, '', events)
            contact = None
        if contact is None:
            contact = next((c for c in self._open if c.may_be(detection.link)), None)
        if contact is None:
            verdict = self._judge.judge(detection, context)
            contact = _Contact(self._next, detection, verdict)
            self._next += 1
            self.collisions += not verdict.is_expected
            self._open.append(contact)
            events.append(contact.event(ContactEventType.BEGIN, detection.stamp))
            return
        is_leading = contact.add(detection)
        if not contact.verdict.is_expected:
            return
        if contact.force > contact.verdict.limit:
            contact.pass_limit()
            self.collisions += 1
        elif is_leading and not contact.verdict.is_lasting:
            self._judge_again(contact, detection, context)

    def _judge_again(
        self, contact: _Contact, detection: Detection, context: ContactContext
    ) -> None:
        """Makes a contact unexpected that has not been explained for `doubt`. It is judged as of an
        unknown link: a link that is named only later changes no verdict.
        """
        verdict = self._judge.judge(replace(detection, link=''), context)
        is_known = isfinite(detection.force) and bool(np.isfinite(detection.wrench[:3]).all())
        if verdict.is_expected:
            contact.doubted = None
        elif is_known and contact.is_past_doubt(detection.stamp, self._doubt):
            contact.verdict = verdict
            self.collisions += 1

    def _leave(self, detection: Detection, events: list[ContactEventRecord]) -> None:
        for contact in list(self._open):
            if contact.leave(detection.source):
                self._end(contact, detection.stamp, detection.unavailable, events)

    def _drop_silent(self, stamp: int, events: list[ContactEventRecord]) -> None:
        for contact in list(self._open):
            for source, newest in list(contact.newest.items()):
                age = stamp - newest.stamp
                if age > self._patience and contact.leave(source):
                    why = f'no sample for {age / SECOND:.2f} s'
                    self._end(contact, stamp, why, events)

    def _end(
        self, contact: _Contact, stamp: int, why: str, events: list[ContactEventRecord]
    ) -> None:
        """Ends a contact. why: it is only known to have lasted so far; empty: it ended."""
        self._open.remove(contact)
        if why:
            reason = f'{contact.verdict.reason}; not seen to end: {why}'
            contact.verdict = replace(contact.verdict, reason=reason)
        events.append(contact.event(ContactEventType.END, max(stamp, contact.stamp)))


class _Contact:
    """A lasting contact.

    Attributes:
        newest: source -> its newest detection of it.
        doubted: ns since when nothing explains it; None: it is explained.
    """

    def __init__(self, number: int, detection: Detection, verdict: Verdict) -> None:
        self.id, self.verdict = number, verdict
        self.begin = self.stamp = detection.stamp
        self.newest = {detection.source: detection}
        self.doubted: int | None = None
        self.link = detection.link
        self.force = self.peak_force = detection.force
        self.impulse = 0.0 if isfinite(detection.force) else nan
        self.source = detection.source
        self.position, self.normal = unknown(3), unknown(3)
        self._place(detection)

    def may_be(self, link: str) -> bool:
        """Returns whether a detection on this link may be of this contact."""
        return not link or not self.link or link == self.link

    @property
    def is_named(self) -> bool:
        """True if a source that reports it now names its link."""
        return any(detection.link for detection in self.newest.values())

    def add(self, detection: Detection) -> bool:
        """Takes a detection of it; returns whether its force is the one that counts."""
        self.newest[detection.source] = detection
        self.source = detection.source if len(self.newest) == 1 else int(ContactSource.FUSED)
        self.link = self.link or detection.link
        self._place(detection)
        best = min(
            self.newest.values(), key=lambda d: (not isfinite(d.force), _RANK.get(d.source, inf))
        )
        if best is not detection and isfinite(best.force):
            return False
        self._press(detection.stamp, detection.force)
        return True

    def is_past_doubt(self, stamp: int, doubt: int) -> bool:
        """Notes that nothing explains it at `stamp`; returns whether for `doubt` ns now."""
        if self.doubted is None:
            self.doubted = stamp
        return stamp - self.doubted >= doubt

    def leave(self, source: int) -> bool:
        """Removes a source; returns whether none is left."""
        if source not in self.newest:
            return False
        if len(self.newest) > 1:
            del self.newest[source]
            if len(self.newest) == 1:
                self.source = next(iter(self.newest))
            return False
        return True

    def pass_limit(self) -> None:
        """Turns an expected contact that is too strong into an unexpected one."""
        verdict = self.verdict
        reason = f'{self.force:.1f} N, more than the {verdict.limit:g} N allowed: {verdict.reason}'
        self.verdict = Verdict(False, reason, inf, verdict.other)

    def tracked(self) -> TrackedContact:
        """Returns it as it is now."""
        return TrackedContact(
            self.id, self.source, tuple(sorted(self.newest)), self.link, self.verdict.other,
            self.verdict.is_expected, self.verdict.reason, self.begin, self.stamp, self.position,
            self.normal, self.force, self.peak_force, self.impulse,
        )  # fmt: skip

    def event(self, kind: ContactEventType, stamp: int) -> ContactEventRecord:
        """Returns its begin or end."""
        return ContactEventRecord(
            kind, stamp, self.source, self.id, self.link, self.verdict.other,
            self.verdict.is_expected, self.verdict.reason, self.position, self.normal, self.force,
            self.peak_force, self.impulse, (self.stamp - self.begin) / SECOND,
        )  # fmt: skip

    def _press(self, stamp: int, force: float) -> None:
        time = (stamp - self.stamp) / SECOND
        if time > 0:
            if isfinite(force) and isfinite(self.force):
                self.impulse += 0.5 * (self.force + force) * time
            self.stamp = stamp
        if isnan(self.impulse) and isfinite(force):
            self.impulse = 0.0
        self.force = force
        if not self.peak_force >= force:
            self.peak_force = force if isfinite(force) else self.peak_force

    def _place(self, detection: Detection) -> None:
        if isfinite(detection.position[0]):
            self.position = detection.position
        if isfinite(detection.normal[0]):
            self.normal = detection.normal
