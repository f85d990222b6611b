# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The episodes that a calibration uses, and those that it leaves out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from frame_ros.confidence.samples import Array
from frame_ros.confidence.score_episode import ScoreEpisode
from frame_ros.core.errors import CalibrationError
from frame_ros.core.plain_text import counted

NO_INFERENCE = 'it has no inference'


@dataclass(frozen=True)
class CalibrationSet:
    """Episodes with inferences and an outcome.

    Attributes:
        episodes: those that are used, in their order.
        left_out: (name, reason) of the others.
    """

    episodes: tuple[ScoreEpisode, ...]
    left_out: tuple[tuple[str, str], ...] = ()

    def __len__(self) -> int:
        return len(self.episodes)

    @cached_property
    def outcomes(self) -> Array:
        """(n,) 1.0 of success, 0.0 of failure."""
        return np.array([float(bool(episode.outcome)) for episode in self.episodes])

    @property
    def successes(self) -> int:
        """Number of successful episodes."""
        return int(self.outcomes.sum())

    @property
    def failures(self) -> int:
        """Number of failed episodes."""
        return len(self) - self.successes

    @property
    def successful(self) -> list[ScoreEpisode]:
        """The successful episodes."""
        return [episode for episode in self.episodes if episode.outcome]

    def with_score(self, name: str) -> CalibrationSet:
        """Returns the episodes in which a score has a value, without those left out."""
        chosen = (each for each in self.episodes if np.isfinite(each.scores.get(name, [])).any())
        return CalibrationSet(tuple(chosen))


def calibration_set(episodes: Sequence[ScoreEpisode]) -> CalibrationSet:
    """Returns those of the episodes that a calibration can use.

    Raises:
        CalibrationError: there is none; the message says why, and what is needed.
    """
    used: dict[str, ScoreEpisode] = {}
    left_out: list[tuple[str, str]] = []
    for episode in episodes:
        reason = _unusable(episode)
        if not reason and episode.data_hash in used:
            reason = f'it holds the same data as {used[episode.data_hash].name}'
        if reason:
            left_out.append((episode.name, reason))
        else:
            used[episode.data_hash] = episode
    if not used:
        reasons = '; '.join(f'{name}: {reason}' for name, reason in left_out[:3])
        more = f' and {len(left_out) - 3} more' if len(left_out) > 3 else ''
        raise CalibrationError(
            f'none of {counted(len(episodes), "episode")} can be used ({reasons}{more}); a '
            'calibration needs episodes with inferences and a recorded success or failure, '
            'better 20 or more of each'
            if episodes
            else 'there are no episodes; a calibration needs some, better 20 or more of successes '
            'and of failures'
        )
    return CalibrationSet(tuple(used.values()), tuple(left_out))


def _unusable(episode: ScoreEpisode) -> str:
    if episode.outcome is None:
        return episode.note or 'its outcome is not known'
    return '' if len(episode) else NO_INFERENCE
