# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One belief per link and source: whether something touches that link, as far as it is felt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import exp, isfinite, log, nan
from typing import Protocol

from frame_ros.sensing.contact.coverage import Coverage
from frame_ros.sensing.contact.detection import Detection
from frame_ros.sensing.contact.noise_level import NoiseLevel
from frame_ros.sensing.contact.source import ContactSource

PRIOR = log(0.02 / 0.98)  # logarithm of the odds of contact before anything is felt
# Of the logarithm of one source's likelihood ratio: no source alone excludes a contact by more than
# 20 to 1, nor proves one, as its model of noise may be wrong.
LEAST, MOST = -3.0, 12.0
FELT = log(99.0)  # odds of a contact that a source reports: at least these
NOT_FELT = -log(99.0)  # at most, of a link other than the one that a source names
NO_SOURCE = 'no source covers it'


class BeliefState(IntEnum):
    """BELIEF_* of ContactState."""

    NO_CONTACT = 0
    CONTACT = 1
    NOT_COVERED = 2
    UNAVAILABLE = 3


class ContactSensor(Protocol):
    """A sensor's account of itself, besides its detections."""

    @property
    def source(self) -> ContactSource: ...

    @property
    def coverage(self) -> Coverage:
        """Link -> why it is not felt now; '': it is."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons for which its detections are less sure, in words."""


@dataclass(frozen=True)
class LinkBelief:
    """The belief of one source (or of all: FUSED) about one link.

    Attributes:
        probability: that something touches it; NaN where the source cannot say.
        reason: why it is not covered or unavailable; '' otherwise.
    """

    link: str
    source: int
    state: BeliefState
    probability: float = nan
    reason: str = ''


class ContactBeliefs:
    """Beliefs by the newest detections of several sensors.

    Each source's share of its threshold becomes the weight of evidence log(p(share | contact) /
    p(share | free)), where the distribution in free space is learnt (NoiseLevel). A source that
    reports contact counts for it on the links that it names, on all that it covers where it names
    none. Sources of independent noise add up: of a link that several cover, the odds of FUSED are
    the prior's times all their ratios; sources that do not cover it say nothing about it. Where one
    reports contact, those that feel none do not count against it: they may be less sensitive.
    """

    def __init__(self, groups: Mapping[str, Sequence[str]] | None = None) -> None:
        """groups: link that a source names -> links that it then means; None: itself alone."""
        self._groups = groups or {}
        self._levels: dict[int, NoiseLevel] = {}

    def take(self, detection: Detection) -> None:
        """Learns the noise of a detection's source, where it is free of contact."""
        if detection.is_contact is False:
            self._level(detection.source).learn(detection.stamp, detection.share)

    def rows(
        self, sensors: Iterable[ContactSensor], newest: Mapping[int, Detection]
    ) -> list[LinkBelief]:
        """Returns the beliefs of each sensor, then, of several sensors, those of all together."""
        rows: list[LinkBelief] = []
        weights: dict[str, list[tuple[LinkBelief, float]]] = {}
        count = 0
        for sensor in sensors:
            count += 1
            detection = newest.get(sensor.source)
            for link, why in sensor.coverage.items():
                belief, weight = self._belief(link, why, int(sensor.source), detection)
                rows.append(belief)
                weights.setdefault(link, []).append((belief, weight))
        if count > 1:
            rows += [_fused(link, found) for link, found in weights.items()]
        return rows

    def _level(self, source: int) -> NoiseLevel:
        return self._levels.setdefault(source, NoiseLevel())

    def _belief(
        self, link: str, why: str, source: int, detection: Detection | None
    ) -> tuple[LinkBelief, float]:
        """Returns the belief, and its weight of evidence, 0 where there is none."""
        if why:
            return LinkBelief(link, source, BeliefState.NOT_COVERED, nan, why), 0.0
        if detection is None or detection.is_contact is None:
            reason = detection.unavailable if detection else 'nothing has come yet'
            return LinkBelief(link, source, BeliefState.UNAVAILABLE, nan, reason), 0.0
        weight = self._evidence(link, detection)
        is_touched = detection.is_contact and self._is_named(link, detection)
        state = BeliefState.CONTACT if is_touched else BeliefState.NO_CONTACT
        return LinkBelief(link, source, state, _probability(PRIOR + weight)), weight

    def _is_named(self, link: str, detection: Detection) -> bool:
        named = detection.link
        return not named or link == named or link in self._groups.get(named, ())

    def _evidence(self, link: str, detection: Detection) -> float:
        share = detection.share
        weight = self._level(detection.source).evidence(share) if isfinite(share) else 0.0
        weight = min(max(weight, LEAST), MOST)
        if not detection.is_contact:
            return weight
        if self._is_named(link, detection):
            return max(weight, FELT - PRIOR)
        return min(0.0, NOT_FELT - PRIOR)


def _fused(link: str, found: Sequence[tuple[LinkBelief, float]]) -> LinkBelief:
    """The belief of several sources about one link."""
    source = int(ContactSource.FUSED)
    blind = (BeliefState.NOT_COVERED, BeliefState.UNAVAILABLE)
    known = [weight for belief, weight in found if belief.state not in blind]
    if any(belief.state is BeliefState.CONTACT for belief, _ in found):
        known = [weight for weight in known if weight > 0.0]
    if known:
        probability = _probability(PRIOR + sum(known))
        state = BeliefState.CONTACT if probability >= 0.5 else BeliefState.NO_CONTACT
        return LinkBelief(link, source, state, probability)
    missing = [belief.reason for belief, _ in found if belief.state is BeliefState.UNAVAILABLE]
    if missing:
        reason = '; '.join(dict.fromkeys(missing))
        return LinkBelief(link, source, BeliefState.UNAVAILABLE, nan, reason)
    return LinkBelief(link, source, BeliefState.NOT_COVERED, nan, NO_SOURCE)


def _probability(odds: float) -> float:
    """Of the logarithm of odds."""
    return 1.0 / (1.0 + exp(-odds))
