# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Is the robot near something, or in contact? True, False, or None where it is not known."""

from __future__ import annotations

from collections.abc import Iterable

from frame_ros.confidence.monitor.options import (
    ANYWHERE,
    CONTACT,
    NEAR,
    NEAR_OR_CONTACT,
    MonitorOptions,
)
from frame_ros.confidence.monitor.records import (
    NAN,
    Cause,
    MonitorSample,
    Reason,
    is_of_future,
)
from frame_ros.core.time import SECOND


def any_of(states: Iterable[bool | None]) -> bool | None:
    """Returns True if one is, False if all are not, else None: it is not known."""
    found: bool | None = False
    for state in states:
        if state:
            return True
        if state is None:
            found = None
    return found


class Nearness:
    """Takes distances and contact states, each in the order of its stamps.

    Attributes:
        distance: m, newest; NaN: not measured.
        in_contact: newest; None: not known.
    """

    def __init__(self, options: MonitorOptions) -> None:
        self.options = options
        self.reset()

    def reset(self) -> None:
        """Forgets what has come."""
        self.distance = NAN
        self.in_contact: bool | None = None
        self._distance_stamp = self._contact_stamp = 0
        self._is_near: bool | None = None

    def update(self, sample: MonitorSample, now: int) -> None:
        """Takes what the sample has that is newer than what has come, and not of the future."""
        if self._distance_stamp < sample.distance_stamp and not is_of_future(
            sample.distance_stamp, now
        ):
            self._distance_stamp, self.distance = sample.distance_stamp, sample.distance
            self._is_near = self._compared(sample.distance)
        if self._contact_stamp < sample.contact_stamp and not is_of_future(
            sample.contact_stamp, now
        ):
            self._contact_stamp, self.in_contact = sample.contact_stamp, sample.contact

    def state(self, now: int) -> tuple[bool | None, list[Reason], list[Reason]]:
        """Returns whether the context for a halt holds at `now` (ns), why, and what is missing."""
        context = self.options.context
        if context == ANYWHERE:
            return True, [], []
        states: list[bool | None] = []
        reasons: list[Reason] = []
        missing: list[Reason] = []
        if context in (NEAR_OR_CONTACT, NEAR):
            problem = self._distance_problem(now)
            states.append(None if problem else self._is_near)
            if problem:
                missing.append(problem)
            elif self._is_near:
                reasons.append(self._near_reason())
        if context in (NEAR_OR_CONTACT, CONTACT):
            problem = self._contact_problem(now)
            states.append(None if problem else self.in_contact)
            if problem:
                missing.append(problem)
            elif self.in_contact:
                reasons.append(Reason(Cause.IN_CONTACT, 'in contact'))
        return any_of(states), reasons, missing

    def _compared(self, distance: float) -> bool | None:
        if distance != distance:
            return None
        margin = self.options.distance_hysteresis if self._is_near else 0.0
        return distance <= self.options.halt_distance + margin

    def _near_reason(self) -> Reason:
        limit = self.options.halt_distance
        text = f'{self.distance:.3f} m from an obstacle, '
        is_within = self.distance <= limit
        text += f'within {limit:g} m' if is_within else f'not yet beyond {limit:g} m by enough'
        return Reason(Cause.NEAR, text)

    def _distance_problem(self, now: int) -> Reason | None:
        text = _age_problem('distance', self._distance_stamp, now, self.options.distance_timeout)
        if not text and self.distance != self.distance:
            text = 'the distance is not measured'
        return Reason(Cause.NO_DISTANCE, text) if text else None

    def _contact_problem(self, now: int) -> Reason | None:
        text = _age_problem('contact state', self._contact_stamp, now, self.options.contact_timeout)
        if not text and self.in_contact is None:
            text = 'the contact state is not known'
        return Reason(Cause.NO_CONTACT_STATE, text) if text else None


def _age_problem(what: str, stamp: int, now: int, timeout: float) -> str:
    if not stamp:
        return f'no {what} yet'
    age = (now - stamp) / SECOND
    return f'the last {what} is {age:.2f} s old' if age > timeout else ''
