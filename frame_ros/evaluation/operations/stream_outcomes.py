# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Outcomes of episodes by one source of labels, for a comparison of policies with each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from frame_ros.evaluation.operations.label_streams import Labels, LabelStreams
from frame_ros.evaluation.outcomes.assembly import with_names
from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome, LabelSource
from frame_ros.evaluation.outcomes.recorded import episode_outcome
from frame_ros.evaluation.policy_labels import policy_labels


def stream_outcomes(
    streams: Sequence[LabelStreams], labels: Labels = Labels.CHOSEN
) -> list[EpisodeOutcome]:
    """Returns the outcomes of episodes with the operations of one source of labels, without the
    episodes that have none. Detected labels that disagree with what was expected are noted.
    Different episodes of one name have bag and folder in it.
    """
    outcomes = []
    names = policy_labels([each.episode for each in streams])
    for name, each in zip(names, streams):
        found = each.of(labels)
        if found is None:
            continue
        outcome = episode_outcome(each.episode, name)
        notes = [*outcome.notes, *found.notes]
        if found.label_source is LabelSource.DETECTED and each.has_agreed is False:
            notes.append(
                f'its labels, of the detector, disagree with the {each.expected} successes expected'
            )
        outcomes.append(
            replace(
                outcome,
                operations=found.operations,
                duration=found.duration,
                label_source=found.label_source,
                notes=tuple(dict.fromkeys(notes)),
            )
        )
    return with_names(outcomes)[0]
