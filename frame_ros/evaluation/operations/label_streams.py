# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The streams of labels of an episode: its events, the detector, and the review, kept apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.events import Outcome
from frame_ros.core.meanings import MeaningEnum
from frame_ros.core.options import evolved
from frame_ros.episodes.episode import Episode
from frame_ros.evaluation.operations.candidates import Verdict
from frame_ros.evaluation.operations.detection import Detection, detect
from frame_ros.evaluation.operations.detector_options import DetectorOptions
from frame_ros.evaluation.operations.episode_operations import EpisodeOperations
from frame_ros.evaluation.operations.event_times import finish_of
from frame_ros.evaluation.operations.from_events import (
    operations_of_events,
    operations_of_labels,
)
from frame_ros.evaluation.operations.operator_counts import episode_facts, operator_counts
from frame_ros.evaluation.operations.options import COUNTED, OperationOptions
from frame_ros.evaluation.operations.review import ReviewedEpisode, key_of
from frame_ros.evaluation.operations.zones import Zone
from frame_ros.evaluation.outcomes import facts
from frame_ros.evaluation.outcomes.episode_outcome import LabelSource
from frame_ros.evaluation.outcomes.operation import Ending

ENDINGS = {Verdict.SUCCESS: Ending.SUCCESS, Verdict.FAILURE: Ending.DROP}


class Labels(MeaningEnum):
    """Choices of the labels of each episode."""

    CHOSEN = 'chosen', 'reviewed, else of events, else detected'
    EVENTS = 'events', 'events, or the outcome, that were recorded'
    DETECTED = 'detected', 'found in the telemetry of the gripper'
    REVIEWED = 'reviewed', 'confirmed or corrected by a reviewer'


@dataclass(frozen=True)
class LabelStreams:
    """The operations of one episode by each source of labels.

    Attributes:
        events: None: the episode has neither events of operations nor an outcome.
        automatic: None: the detector could not run.
        reviewed: None: nobody has reviewed it.
        detection: the candidates behind `automatic`.
        expected: successes that the operator counted, else those that the events mark; None if
            neither is known.
    """

    episode: Episode
    events: EpisodeOperations | None
    automatic: EpisodeOperations | None
    reviewed: EpisodeOperations | None
    detection: Detection
    expected: int | None

    @property
    def has_agreed(self) -> bool | None:
        """True if the detector found as many successes as were expected, and nothing that it could
        not decide; None if it could not run, or nothing is expected.
        """
        if self.automatic is None or self.expected is None:
            return None
        is_decided = not self.detection.count(Verdict.UNKNOWN)
        return is_decided and self.automatic.successes == self.expected

    @property
    def chosen(self) -> EpisodeOperations:
        """The reviewed operations; else those that events mark one by one; else the detector's, if
        it agrees and found any, or the operator counted items; else the outcome of the whole
        episode.
        """
        marked = self.events if self.has_marks else None
        is_counted = self.automatic is not None and self.automatic.operator_count is not None
        detected = self.automatic if self._has_found or is_counted else None
        found = self.reviewed or marked or detected or self.events or self.automatic
        return found or operations_of_events(self.episode)

    @property
    def _has_found(self) -> bool:
        """True if the detector agrees, and says more than that nothing ended."""
        found = self.automatic.operations if self.has_agreed and self.automatic else ()
        return any(operation.event for operation in found)

    @property
    def has_marks(self) -> bool:
        """True if events mark the ends of operations, not the outcome of END alone."""
        return self.events is not None and self.events.label_source is LabelSource.EVENTS

    def of(self, labels: Labels) -> EpisodeOperations | None:
        """The operations by one source of labels; None: it has none."""
        sources = {
            Labels.EVENTS: self.events,
            Labels.DETECTED: self.automatic,
            Labels.REVIEWED: self.reviewed,
        }
        return sources.get(labels, self.chosen)


def label_streams(
    episode: Episode,
    reviewed: Mapping[tuple[str, str], ReviewedEpisode] | None = None,
    zones: Sequence[Zone] = (),
    options: OperationOptions | None = None,
    detector_options: DetectorOptions | None = None,
) -> LabelStreams:
    """Returns the operations of an episode by its events, by the detector, and by the review.

    Of a human at a leader arm all driving counts. reviewed: of `read_review`.
    """
    options = options or OperationOptions()
    if _is_human(episode):
        options = evolved(options, interventions=COUNTED)
    by_events = operations_of_events(episode, options)
    detection = detect(episode, zones, detector_options, options)
    automatic = None
    if not detection.problem:
        found = [(c.time, ENDINGS[c.verdict]) for c in detection.candidates if c.verdict in ENDINGS]
        automatic = operations_of_labels(episode, found, LabelSource.DETECTED, options)
    row = (reviewed or {}).get(key_of(episode))
    checked = None
    if row is not None:
        checked = operations_of_labels(episode, row.endings, LabelSource.REVIEWED, options)
    finish = finish_of(episode)
    has_outcome = finish is not None and finish.outcome is not Outcome.UNKNOWN
    has_events = by_events.label_source is LabelSource.EVENTS or has_outcome
    counts, _ = operator_counts(episode)
    expected = counts.successes
    if expected is None and has_events:
        expected = by_events.successes
    return LabelStreams(
        episode, by_events if has_events else None, automatic, checked, detection, expected
    )


def _is_human(episode: Episode) -> bool:
    try:
        return facts.is_human(episode_facts(episode))
    except ValueRangeError:
        return False
