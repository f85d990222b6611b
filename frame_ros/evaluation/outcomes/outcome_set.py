# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The outcomes that were read from several places, and what was left out, with the reasons."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome


@dataclass(frozen=True)
class LeftOut:
    """An episode that does not count, or a file that could not be read.

    Attributes:
        name: of the episode; of a file its name.
        source: the bag or file.
        reason: in words.
        outcome: of an episode, as far as it is known.
    """

    name: str
    source: Path | None
    reason: str
    outcome: EpisodeOutcome | None = None


@dataclass(frozen=True)
class OutcomeSet:
    """Outcomes of different names, in natural order of their names.

    Attributes:
        outcomes: those that count.
        excluded: episodes without an outcome, and second copies.
        unread: bags and files that could not be read.
        notes: remarks for the reader, in words.
    """

    outcomes: tuple[EpisodeOutcome, ...]
    excluded: tuple[LeftOut, ...] = ()
    unread: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
