# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Counts that the operator wrote down at the end of an episode: attributes and their meaning."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from frame_ros.core.events import EventType
from frame_ros.episodes.episode import Episode

# Names of the attributes, of which the first that is there counts; those of PhAIL begin with eval.
SUCCESSES = ('successful_items', 'eval.successful_items', 'operator_count')
LOST = ('lost_items', 'eval.lost_items')
LEFT = ('left_items', 'eval.left_items')
# A word NAME=NUMBER of the notes given at the end.
WORD = re.compile(r'([\w.]+)=(\S+)')


@dataclass(frozen=True)
class OperatorCounts:
    """Items by their place at the end; None where the operator wrote nothing.

    Attributes:
        successes: placed where they belong.
        lost: outside of the workspace.
        left: dropped in the workspace, and still lying there.
    """

    successes: int | None = None
    lost: int | None = None
    left: int | None = None

    @property
    def drops(self) -> int | None:
        """Items lost or left: hard failures (PhAIL, section 3.1); None if neither is known."""
        known = [count for count in (self.lost, self.left) if count is not None]
        return sum(known) if known else None


def operator_counts(episode: Episode) -> tuple[OperatorCounts, list[str]]:
    """Returns the operator's counts of an episode, and notes on those that cannot be read."""
    facts, notes = episode_facts(episode), []
    counts: list[int | None] = []
    for names in (SUCCESSES, LOST, LEFT):
        name = next((name for name in names if facts.get(name, '').strip()), '')
        text = facts.get(name, '').strip()
        is_count = text.isascii() and text.isdigit()
        counts.append(int(text) if is_count else None)
        if text and not is_count:
            notes.append(f'{name} is {text!r}; expected: a whole number from 0; it does not count')
    return OperatorCounts(*counts), notes


def episode_facts(episode: Episode) -> Mapping[str, str]:
    """Returns the facts of an episode: of its bag and START, then the words NAME=VALUE in the notes
    of its end, then the attributes of later events; the last of a name holds.
    """
    facts = dict(episode.attributes)
    facts.update(WORD.findall(facts.get('end_notes', '')))
    for event in episode.events:
        if event.type is EventType.END:
            facts.update(WORD.findall(event.text))
        facts.update(event.attributes)
    return facts
