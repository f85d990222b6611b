# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""An episode as its bag holds it, before it has a label among others."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from frame_ros.core.events import EventType
from frame_ros.episodes.bounds import bounds_of
from frame_ros.episodes.episode import Episode
from frame_ros.evaluation.operations.operator_counts import episode_facts
from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome, LabelSource
from frame_ros.evaluation.outcomes.label_choice import LabelChoice
from frame_ros.evaluation.outcomes.operation import Ending, Operation
from frame_ros.evaluation.outcomes.options import EpisodeOutcomeOptions
from frame_ros.evaluation.outcomes.recorded import episode_outcome
from frame_ros.evaluation.policy_labels import FACTS

ENDINGS = {str(each): each for each in Ending}
SOURCES = {str(each): each for each in LabelSource}
UNKNOWN = 'no outcome: it has neither an END with an outcome nor a SUCCESS or FAILURE'


@dataclass(frozen=True)
class RecordedOutcome:
    """The outcome of one recorded episode.

    Attributes:
        outcome: its `policy` is the label that the episode has by itself.
        facts: those that distinguish policies; None if the outcome has its label.
        start: ns; 0 if not known.
        content: digest of events and facts; equal in a copy; '' if it is not from a bag.
        is_complete: whether it has an END.
        events: their number.
        reason: why it does not count; '' if it does.
    """

    outcome: EpisodeOutcome
    facts: Mapping[str, str] | None = None
    start: int = 0
    content: str = ''
    is_complete: bool = True
    events: int = 0
    reason: str = ''

    @classmethod
    def of_file(cls, outcome: EpisodeOutcome) -> RecordedOutcome:
        """Returns an outcome of another file than a bag."""
        known = outcome.is_success is not None or outcome.operations
        return cls(outcome, reason='' if known else 'no outcome: its success is not given')

    @property
    def identity(self) -> tuple[str, int] | None:
        """Its name and start, which no other episode has; None if it is not from a bag."""
        return (self.outcome.name, self.start) if self.content else None

    def to_dict(self) -> dict[str, Any]:
        """Returns it as JSON takes it, without its source."""
        content = asdict(replace(self, outcome=replace(self.outcome, source=None)))
        own = content['outcome']
        own['duration'] = own['duration'] if math.isfinite(own['duration']) else None
        own['operations'] = [[o.begin, o.end, o.ending.value] for o in self.outcome.operations]
        return content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], source: Path) -> RecordedOutcome:
        """Returns what `to_dict` made.

        Raises:
            ValueError, TypeError, KeyError, AttributeError: it made something else.
        """
        own = dict(content['outcome'])
        own['duration'] = math.nan if own['duration'] is None else float(own['duration'])
        own['operations'] = tuple(
            Operation(b, e, ENDINGS[word]) for b, e, word in own['operations']
        )
        own['label_source'] = SOURCES[own['label_source']]
        own['notes'] = tuple(own['notes'])
        outcome = EpisodeOutcome(**{**own, 'source': source})
        return cls(**{**content, 'outcome': outcome})


def recorded_outcome_of(
    episode: Episode,
    options: EpisodeOutcomeOptions | None = None,
    labels: LabelChoice | None = None,
) -> RecordedOutcome:
    """Returns the outcome of an episode with what distinguishes it from others."""
    attributes = episode_facts(episode)
    outcome = episode_outcome(episode, options=options, labels=labels)
    return RecordedOutcome(
        outcome=outcome,
        facts={name: attributes[name] for name in FACTS if attributes.get(name)},
        start=bounds_of(episode)[0],
        content=_digest(episode),
        is_complete=any(event.type is EventType.END for event in episode.events),
        events=len(episode.events),
        reason=_reason(episode, outcome),
    )


def _reason(episode: Episode, outcome: EpisodeOutcome) -> str:
    if outcome.is_success is not None or outcome.operations:
        return ''
    return '; '.join([UNKNOWN, *outcome.notes])


def _digest(episode: Episode) -> str:
    rows = [
        [e.stamp, int(e.type), e.episode_id, int(e.outcome), e.operation, e.source, e.text]
        + [[*pair] for pair in sorted(e.attributes.items())]
        for e in episode.events
    ]
    text = json.dumps([episode.episode_id, rows])
    return hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()
