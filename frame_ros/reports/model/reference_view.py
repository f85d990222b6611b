# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Which references a report measured against, how, and each episode's errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from frame_ros.episodes.episode import Episode
from frame_ros.episodes.processing import settings_of
from frame_ros.reports.model.numbers import finite
from frame_ros.reports.model.options import ReportOptions
from frame_ros.reports.model.reference_errors import EpisodeErrors, episode_errors

OWN = 'one of its references is the episode itself, which is left out here'
MATCH_WORDS = {'time': 'by time since the start', 'arc_length': 'by arc length along the path'}
ALIGN_WORDS = {
    'none': 'without alignment',
    'se3': 'after SE(3) alignment (rotated and moved as a whole)',
    'sim3': 'after Sim(3) alignment (rotated, moved and scaled as a whole)',
}

RTE_WORDS = {
    'paper': 'rte of displacements in the common frame (FRAME, eq. 10)',
    'evo': 'rte of relative poses, each seen from the pose it begins at (as evo_rpe --all_pairs)',
}


def all_reference_errors(
    episodes: Sequence[Episode], options: ReportOptions
) -> list[EpisodeErrors]:
    """`episode_errors` of each episode."""
    return [episode_errors(episode, options) for episode in episodes]


def reference_data(
    episodes: Sequence[Episode], errors: Sequence[EpisodeErrors]
) -> dict[str, Any] | None:
    """References and errors as plain values; None where no episode has references.

    Keys: references (origin, samples, duration), match, align, sentence, episodes (as
    EpisodeErrors, in their order), notes.
    """
    known: dict[str, dict[str, Any]] = {}
    for episode in episodes:
        for reference in settings_of(episode).references:
            duration = reference.stamps[-1] - reference.stamps[0]
            samples = len(reference.stamps)
            known.setdefault(
                reference.origin,
                {'origin': reference.origin, 'samples': samples, 'duration': duration},
            )
    if not known:
        return None
    used = [error for error in errors if error.nearest >= 0]
    how = [
        f'{MATCH_WORDS[e.match]}, {ALIGN_WORDS[e.align]}, {RTE_WORDS[e.rte_variant]}' for e in used
    ]
    return {
        'references': list(known.values()),
        'sentence': '; '.join(dict.fromkeys(how)),
        'episodes': [
            {
                **asdict(e),
                'name': short_origin(e.origin),
                'ate': finite(e.ate),
                'rte': finite(e.rte),
                'dtw': finite(e.dtw),
            }
            for e in errors
        ],
        'notes': _notes(errors),
    }


def short_origin(origin: str) -> str:
    """The episode's id of an origin, without its path."""
    return origin.partition(': ' if origin.startswith('mean of ') else ' (')[0]


def _notes(errors: Sequence[EpisodeErrors]) -> list[str]:
    own = [str(i + 1) for i, error in enumerate(errors) if error.is_own]
    notes = [f'Episode {", ".join(own)}: {OWN}.'] if own else []
    reasons = (
        reason for error in errors for reason in (error.reason, error.rte_reason, error.dtw_reason)
    )
    return notes + [f'{reason}.' for reason in dict.fromkeys(reasons) if reason]
