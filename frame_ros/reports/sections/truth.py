# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Sensed contacts and distances compared with the simulator's truth, where the bag holds it. Truth
is shown, never used: no metric is computed from it here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from frame_ros.bags.findings import Finding, Level
from frame_ros.bags.reader import Bag
from frame_ros.core.plain_text import counted
from frame_ros.core.time import SECOND
from frame_ros.episodes.bounds import bounds_of
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.sensed_contacts import RecordedContact
from frame_ros.evaluation.contact_comparison import (
    ContactComparison,
    ContactMatch,
    Verdict,
    compared_contacts,
)
from frame_ros.evaluation.distance_comparison import TOO_FAR, DistanceComparison, compare_distances
from frame_ros.evaluation.missed_contacts import MissedContact, WhyMissed
from frame_ros.reports.model.numbers import finite, readable
from frame_ros.reports.sections.section import EpisodeSection, as_row


def truth_findings(found: ContactComparison | None) -> list[Finding]:
    """Collisions that truth does not know, or knows only as expected contacts, and true ones that
    were not sensed make their number doubtful; worth knowing are true ones that were sensed as
    expected contacts, and those too weak or too short for the sensor, by what it states of itself.
    """
    if found is None:
        return []
    false = sum(not match.sensed.is_expected for match in found.false)
    unsensed = [each for each in found.unsensed if not each.true.is_expected]
    missed = sum(each.could_be_felt for each in unsensed)
    of_truth = "of the simulator's truth that"
    texts = [
        (Level.DOUBTFUL, false, 'sensed collision', "that the simulator's truth does not know"),
        (
            Level.DOUBTFUL, len(found.false_collisions), 'false collision',
            "sensed: the simulator's truth knows only an expected contact at that time",
        ),
        (Level.DOUBTFUL, missed, 'collision', f'{of_truth} nothing sensed'),
        (
            Level.WORTH_KNOWING, len(found.excused), 'collision',
            f'{of_truth} was sensed as an expected contact',
        ),
        (
            Level.WORTH_KNOWING, len(unsensed) - missed, 'collision',
            f'{of_truth} nothing sensed: too weak or too short for the sensor',
        ),
    ]  # fmt: skip
    return [
        Finding(level, f'{counted(count, what)} {text}', 'contact')
        for level, count, what, text in texts
        if count
    ]


class TruthSection(EpisodeSection):
    """Sensed contacts and distances against the simulator's; times in s since START."""

    key = 'truth'
    most_rows = 100

    def __init__(self, episode: Episode, bag: Bag | None) -> None:
        super().__init__(episode, bag)
        self.contacts = compared_contacts(episode, bag)
        self.distances = compare_distances(episode, bag)
        self.is_shown = self.contacts is not None or self.distances is not None

    @cached_property
    def data(self) -> dict[str, Any] | None:
        """contacts, distances: null where they cannot be compared."""
        if not self.is_shown:
            return None
        return {
            'contacts': self.contacts and _contact_rows(self.contacts, bounds_of(self.episode)[0]),
            'distances': self.distances and vars(self.distances),
        }

    @property
    def sentences(self) -> list[str]:
        """The comparisons that can be made, in words: of contacts, of distances."""
        contacts = [contact_text(self.contacts)] if self.contacts else []
        return contacts + ([distance_text(self.distances)] if self.distances else [])


def contact_text(found: ContactComparison) -> str:
    """'3 contacts sensed: 1 false, 0 longer ...; 2 true contacts not sensed, 0 unexpected: ...'"""
    unsensed = found.unsensed
    unexpected = sum(not each.true.is_expected for each in unsensed)
    elsewhere = len(found.of(Verdict.OTHER_SIDE))
    side = f'{elsewhere} on the other side, arm or hand, than in truth, ' if elsewhere else ''
    count = counted(len(found.excused), 'true collision')
    excused = f'; {count} sensed as expected contact' if found.excused else ''
    text = (
        f'{counted(len(found.matches), "contact")} sensed: {len(found.false)} false (nothing '
        f'true explains them), {counted(len(found.false_collisions), "false collision")} (truth '
        f'knows only an expected contact), {side}{len(found.overlong)} longer than the true one by '
        f'more than 0.1 s{excused}; {counted(len(unsensed), "true contact")} not sensed, '
        f'{unexpected} unexpected'
    )
    return f'{text}: {reasons_text(unsensed)}.' if unsensed else f'{text}.'


def reasons_text(unsensed: Sequence[MissedContact]) -> str:
    """Lists why true contacts were not sensed, with their forces."""
    parts = []
    for why in WhyMissed:
        own = [each for each in unsensed if each.why is why]
        if not own:
            continue
        largest = f'net force up to {readable(max(each.net_force for each in own), 2)} N'
        felt = [each.threshold for each in own if np.isfinite(each.threshold)]
        bound = f'felt from {_range(felt)} N on' if felt else 'what was felt is not recorded'
        times = [each.response_time for each in own if np.isfinite(each.response_time)]
        lasting = f', if it lasts {readable(max(times), 2)} s' if times else ''
        parts.append(f'{len(own)} {why} ({largest}; {bound}{lasting})')
    return ', '.join(parts)


def _range(values: Sequence[float]) -> str:
    low, high = readable(min(values), 2), readable(max(values), 2)
    return low if low == high else f'{low} to {high}'


def _contact_rows(found: ContactComparison, begin: int) -> dict[str, Any]:
    return {
        'false': len(found.false),
        'false_collisions': len(found.false_collisions),
        'excused': len(found.excused),
        'overlong': len(found.overlong),
        'sensed': [_sensed_contact(match, begin) for match in found.matches],
        'missed': [
            _missed_contact(each, begin)
            for each in sorted(found.unsensed, key=lambda m: (m.true.is_expected, m.true.begin))
        ],
    }


def _sensed_contact(match: ContactMatch, begin: int) -> dict[str, Any]:
    own = as_row(match.sensed, begin, 'begin', 'duration', 'link', 'is_expected', 'peak_force')
    return {**_true_contact(match.true, begin), 'sensed': own, 'verdict': str(match.verdict)}


def _missed_contact(missed: MissedContact, begin: int) -> dict[str, Any]:
    """net_force, lasting_force, threshold: N; response_time: s; null where not known."""
    return {
        **_true_contact((missed.true,), begin),
        'sensed': None,
        'verdict': str(missed.why),
        **as_row(missed, begin, 'could_be_felt', 'net_force', 'lasting_force', 'threshold'),
        'response_time': missed.response_time,
    }


def _true_contact(contacts: tuple[RecordedContact, ...], begin: int) -> dict[str, Any]:
    if not contacts:
        return {'true': None}
    first, last = min(c.begin for c in contacts), max(c.end for c in contacts)
    forces = [force for c in contacts if (force := finite(c.peak_force)) is not None]
    return {
        'true': {
            'begin': (first - begin) / SECOND,
            'duration': (last - first) / SECOND,
            'link': ', '.join(dict.fromkeys(c.link for c in contacts)),
            'other': ', '.join(dict.fromkeys(c.other for c in contacts)),
            'is_expected': all(c.is_expected for c in contacts),
            'peak_force': max(forces, default=None),
        }
    }


def distance_text(found: DistanceComparison) -> str:
    """The comparison in a sentence."""
    median, p95, too_far, sensed, true = map(
        _millimetres,
        (found.median_error, found.p95_error, TOO_FAR, found.least_sensed, found.least_true),
    )
    return (
        f'Distance to the nearest obstacle, {counted(found.samples, "sample")}: sensed minus true '
        f'{median} (median), within {p95} in 95 %, more than {too_far} too far in '
        f'{100 * found.too_far:.0f} %; least sensed {sensed}, least true {true}.'
    )


def _millimetres(distance: float) -> str:
    return f'{readable(distance, 3, 1e3)} mm'
