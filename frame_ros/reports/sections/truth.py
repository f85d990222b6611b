# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What was sensed beside the simulator's truth, where the bag holds it. Truth is shown, never used:
no metric is computed from it here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.findings import Finding, Level
from frame_ros.bags.reader import Bag
from frame_ros.bags.streams.stream import Stream
from frame_ros.core.time import SECOND
from frame_ros.episodes.bounds import bounds_of, within
from frame_ros.episodes.contact_sensitivity import recorded_sensitivity
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.sensed_contacts import RecordedContact, namespace_of, sensed_contacts
from frame_ros.episodes.true_contacts import TOPIC as CONTACT_TOPIC
from frame_ros.episodes.true_contacts import true_contacts
from frame_ros.episodes.true_distances import true_distances
from frame_ros.evaluation.contact_comparison import (
    ContactComparison,
    ContactMatch,
    Verdict,
    compare_contacts,
)
from frame_ros.evaluation.missed_contacts import MissedContact, WhyMissed
from frame_ros.reports.html.robot_outline import known_robot
from frame_ros.reports.model.numbers import counted, finite, readable
from frame_ros.reports.sections.section import EpisodeSection, as_row
from frame_ros.robots.hand_links import hand_links

# m by which a sensed distance may be larger than the true one.
TOO_FAR = 0.01
# s between a sensed distance and the true one that it is compared with.
NEAR = 0.05
MOST_ROWS = 100


@dataclass(frozen=True)
class DistanceComparison:
    """Sensed least distances beside true ones of the same time, over `samples`; m. error: sensed
    minus true, its median, and the 95th percentile of its magnitude. too_far: share of samples by
    more than TOO_FAR too far. least_sensed, least_true: over the episode.
    """

    samples: int
    median_error: float
    p95_error: float
    too_far: float
    least_sensed: float
    least_true: float

    @property
    def text(self) -> str:
        """The comparison in a sentence."""
        return (
            f'Distance to the nearest obstacle, {counted(self.samples, "sample")}: sensed minus '
            f'true {_mm(self.median_error)} (median), within {_mm(self.p95_error)} in 95 %, more '
            f'than {_mm(TOO_FAR)} too far in {100 * self.too_far:.0f} %; least sensed '
            f'{_mm(self.least_sensed)}, least true {_mm(self.least_true)}.'
        )


def compare_distances(episode: Episode, bag: Bag | None) -> DistanceComparison | None:
    """Compares each sensed distance within the episode with the true one nearest in time; None
    without both.
    """
    true, sensed = true_distances(episode, bag), episode.streams.get('proximity')
    if true is None or sensed is None or not len(true):
        return None
    own, truth = _inside(sensed, episode), _inside(true, episode)
    if not len(own[0]) or not len(truth[0]):
        return None
    after = np.searchsorted(truth[0], own[0]).clip(0, len(truth[0]) - 1)
    before = (after - 1).clip(0)
    is_before = np.abs(own[0] - truth[0][before]) < np.abs(truth[0][after] - own[0])
    at = np.where(is_before, before, after)
    error = own[1] - truth[1][at]
    is_known = np.isfinite(error) & (np.abs(own[0] - truth[0][at]) <= NEAR * SECOND)
    error = error[is_known]
    if not len(error):
        return None
    return DistanceComparison(
        len(error),
        float(np.median(error)),
        float(np.percentile(np.abs(error), 95)),
        float((error > TOO_FAR).mean()),
        float(np.nanmin(own[1])),
        float(np.nanmin(truth[1])),
    )


def compared_contacts(episode: Episode, bag: Bag | None) -> ContactComparison | None:
    """Sensed contacts beside true ones; None where no truth was recorded, contact was not sensed,
    or the truth is what the metrics used.
    """
    truth, sensed = true_contacts(episode, bag), sensed_contacts(episode, bag).contacts
    is_sensed = sensed is not None or 'contact' in episode.streams
    topic = f'{namespace_of(episode)}/{CONTACT_TOPIC}'
    if truth is None or not is_sensed or _is_used(episode, 'contact', topic):
        return None
    robot = known_robot(episode)
    hand = hand_links(robot) if robot is not None else ()
    return compare_contacts(sensed or (), truth, recorded_sensitivity(episode, bag), hand)


def truth_findings(episode: Episode, bag: Bag | None) -> list[Finding]:
    """Collisions that truth does not know, or knows only as expected contacts, and true ones that
    were not sensed make their number doubtful; worth knowing are true ones that were sensed as
    expected contacts, and those too weak or too short for the sensor, by what it states of itself.
    """
    found = compared_contacts(episode, bag)
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
    """Sensed contacts and distances beside the simulator's; times in s since START."""

    key = 'truth'

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
            'contacts': self.contacts and _contacts(self.contacts, bounds_of(self.episode)[0]),
            'distances': self.distances and vars(self.distances),
        }

    @property
    def contact_text(self) -> str:
        """See `contact_text`; '' where contacts cannot be compared."""
        return contact_text(self.contacts) if self.contacts else ''

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The sensed contacts, then those that were not sensed, that the page has room for."""
        return self._all_rows[:MOST_ROWS]

    @property
    def left_out(self) -> int:
        """How many rows are in the JSON only."""
        return max(0, len(self._all_rows) - MOST_ROWS)

    @property
    def _all_rows(self) -> list[dict[str, Any]]:
        found = (self.data or {}).get('contacts')
        return [*found['sensed'], *found['missed']] if found else []


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
        f'{unexpected} of them unexpected'
    )
    return f'{text}: {reasons_text(unsensed)}.' if unsensed else f'{text}.'


def reasons_text(unsensed: Sequence[MissedContact]) -> str:
    """Why true contacts were not sensed, with their forces."""
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


def _contacts(found: ContactComparison, begin: int) -> dict[str, Any]:
    return {
        'false': len(found.false),
        'false_collisions': len(found.false_collisions),
        'excused': len(found.excused),
        'overlong': len(found.overlong),
        'sensed': [_sensed(match, begin) for match in found.matches],
        'missed': [
            _unsensed(each, begin)
            for each in sorted(found.unsensed, key=lambda m: (m.true.is_expected, m.true.begin))
        ],
    }


def _sensed(match: ContactMatch, begin: int) -> dict[str, Any]:
    own = as_row(match.sensed, begin, 'begin', 'duration', 'link', 'is_expected', 'peak_force')
    return {**_true(match.true, begin), 'sensed': own, 'verdict': str(match.verdict)}


def _unsensed(missed: MissedContact, begin: int) -> dict[str, Any]:
    """net_force, lasting_force, threshold: N; response_time: s; null where not known."""
    return {
        **_true((missed.true,), begin),
        'sensed': None,
        'verdict': str(missed.why),
        **as_row(missed, begin, 'could_be_felt', 'net_force', 'lasting_force', 'threshold'),
        'response_time': missed.response_time,
    }


def _true(contacts: tuple[RecordedContact, ...], begin: int) -> dict[str, Any]:
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


def _is_used(episode: Episode, role: str, topic: str) -> bool:
    stream = episode.streams.get(role)
    return stream is not None and stream.topic == topic


def _inside(stream: Stream, episode: Episode) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Stamps and distances within the episode, by stamp, where the distance is known."""
    stream = within(episode, stream)
    distance = np.asarray(stream.values['distance'], dtype=np.float64)
    is_known = np.isfinite(distance)
    return stream.stamps[is_known], distance[is_known]


def _mm(distance: float) -> str:
    return f'{readable(distance, 3, 1e3)} mm'
