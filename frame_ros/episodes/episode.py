# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""An episode without ROS: events, streams, metric samples, and its value of every metric."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.findings import Note
from frame_ros.bags.reader import Bag
from frame_ros.bags.shared_bag import shared_bag
from frame_ros.bags.streams.form import Stream
from frame_ros.core.errors import BagError
from frame_ros.core.events import Event, Outcome
from frame_ros.episodes.reference import Reference
from frame_ros.metrics.record import LARGEST, MEAN, SMALLEST
from frame_ros.metrics.registry import metric
from frame_ros.robots.likely_units import RAD

# How an episode's value follows from samples that each hold for one moment.
AGGREGATES: dict[str, Callable[[NDArray], Any]] = {MEAN: np.mean, SMALLEST: np.min, LARGEST: np.max}


@dataclass
class Episode:
    """One recorded episode.

    Attributes:
        streams: role ('pose', 'action', 'contact', 'proximity', 'inference', 'joint_states',
            'object', 'goal', 'grasp', and 'gripper' where it is no other's topic) -> Stream.
        live: kind ('quality', 'safety', 'efficiency', 'confidence') -> the recorded metric topic,
            one array per field.
        metrics: kind -> the same recomputed: field -> (steps,) array, plus 'stamp' (steps,) int64.
        summary: field of EpisodeSummary -> value, recomputed.
        data_quality: counters by name, e.g. 'pose.gaps'.
        references: those that ATE and RTE were computed against where they were given at reading,
            instead of recorded.
        is_own_reference: whether those given are from its own bag, and so do not count.
        problems: remarks for the reader: truncated bag, missing topic, unreadable type; those
            that make no number doubtful are of type `findings.Note`.
        joint_units: those in which the joints in its bag are; in `streams` they are rad.
        heard_since: role -> stamp (ns) from which on the live metrics node received a stream, where
            the recording begins before.
        is_by_receipt: whether stamps are the times at which the recorder received the messages.
        kept: what is known of its arrays, once they are released: see `released`.
    """

    path: Path
    episode_id: str
    attributes: dict[str, str]
    events: list[Event]
    streams: dict[str, Stream]
    live: dict[str, Stream]
    metrics: dict[str, dict[str, NDArray]] = field(default_factory=dict)
    summary: dict = field(default_factory=dict)
    data_quality: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    is_truncated: bool = False
    references: tuple[Reference, ...] = ()
    joint_units: str = RAD
    is_own_reference: bool = False
    heard_since: dict[str, int] = field(default_factory=dict)
    is_by_receipt: bool = False
    kept: dict[str, Any] = field(default_factory=dict)

    def value(self, metric_id: str) -> float | None:
        """Returns the episode's value of a metric, SI; None where it is unavailable.

        A value that accumulates is that of the last step; a windowed one the mean over all steps or
        inferences (`<id>_mean` of the message); one of moments is reduced over the samples that
        have a value.

        Raises:
            ValueRangeError: no such metric.
        """
        entry = metric(metric_id)
        if metric_id in self.kept:
            known_value: float | None = self.kept[metric_id]
            return known_value
        if metric_id == 'sr':
            is_known = self.outcome is not Outcome.UNKNOWN
            return float(self.outcome is Outcome.SUCCESS) if is_known else None
        for kind in entry.messages:
            if entry.of_moments:
                samples = np.asarray(self.metrics.get(kind, {}).get(metric_id, ()), np.float64)
                known = samples[np.isfinite(samples)]
                return float(AGGREGATES[entry.of_moments](known)) if len(known) else None
            found = self.last(kind, entry.episode_field)
            if found is not None:
                return found if math.isfinite(found) else None
        return None

    def reason(self, metric_id: str) -> str:
        """Returns why the episode has no value of a metric: the reason that its summary gives, else
        the general one of the registry; '' where it has a value.
        """
        if self.value(metric_id) is not None:
            return ''
        entry = metric(metric_id)
        known = dict(self.unavailable)
        for name in (metric_id, entry.episode_field):
            if known.get(name):
                return known[name]
        prefix = '' if entry.messages else 'needs more than one bag holds: '
        return prefix + entry.unavailable

    def last(self, kind: str, name: str) -> Any:
        """Returns the last value of a field of a metric message, as recomputed; None without any.

        kind: 'quality', 'safety', 'efficiency' or 'confidence'.
        """
        return (self.summary.get(kind) or {}).get(name)

    @property
    def unavailable(self) -> list[tuple[str, str]]:
        """(field of a metric message, reason) of what the summary has no value of."""
        pairs = (str(text).partition(':') for text in self.summary.get('unavailable') or ())
        return [(name.strip(), reason.strip()) for name, _, reason in pairs]

    @property
    def outcome(self) -> Outcome:
        """The outcome; UNKNOWN without one, or with one unknown to EpisodeEvent.msg."""
        try:
            return Outcome(int(self.summary.get('outcome', Outcome.UNKNOWN)))
        except ValueError:
            return Outcome.UNKNOWN

    @property
    def is_success(self) -> bool:
        """True if the episode is known to have succeeded."""
        return self.outcome is Outcome.SUCCESS

    @property
    def steps(self) -> int:
        """Number of control steps."""
        return int(self.summary.get('steps') or 0)

    @property
    def is_static(self) -> bool:
        """True if the TCP hardly moved; without poses it counts as moved."""
        return bool(self.summary.get('is_static')) and 'pose' in self.streams

    def add_note(self, text: str) -> None:
        """Adds a remark that makes no number doubtful to the problems, once; '' is none."""
        if text and text not in self.problems:
            self.problems.append(Note(text))

    def open_bag(self) -> Bag | None:
        """Opens the bag behind it, for images and further topics; None if it is gone or unreadable,
        or the episode was made in memory. It may be shared with others: see `shared_bag`.
        """
        try:
            return shared_bag(self.path, self.is_by_receipt)
        except (BagError, OSError):
            return None
