# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The references that a report measured against, how it did so, and each episode's errors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from frame_ros.episodes.episode_errors import EpisodeErrors
from frame_ros.episodes.processing import settings_of
from frame_ros.reports.sections.section import Basis, ReportSection

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


class ReferenceSection(ReportSection):
    """References and the errors of each episode; shown where any episode has references."""

    key = 'references'

    def __init__(self, basis: Basis) -> None:
        super().__init__(basis)
        self.is_shown = self.data is not None

    @cached_property
    def data(self) -> dict[str, Any] | None:
        """references (origin, samples, duration), sentence, episodes (as EpisodeErrors, in their
        order), notes; None where no episode has references.
        """
        known = {
            reference.origin: {
                'origin': reference.origin,
                'samples': len(reference.stamps),
                'duration': reference.stamps[-1] - reference.stamps[0],
            }
            for episode in self.basis.episodes
            for reference in settings_of(episode).references
        }
        if not known:
            return None
        errors = self.basis.errors
        how = [
            f'{MATCH_WORDS[e.match]}, {ALIGN_WORDS[e.align]}, {RTE_WORDS[e.rte_variant]}'
            for e in errors
            if e.nearest >= 0
        ]
        return {
            'references': list(known.values()),
            'sentence': '; '.join(dict.fromkeys(how)),
            'episodes': [{**vars(e), 'name': short_origin(e.origin)} for e in errors],
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
