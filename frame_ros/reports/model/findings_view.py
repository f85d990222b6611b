# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Findings over all episodes: what makes numbers doubtful first, what is only counted last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from frame_ros.bags.findings import Level
from frame_ros.reports.model.episode_check import EpisodeCheck
from frame_ros.reports.model.numbers import counted


@dataclass(frozen=True)
class FindingCounts:
    """How many findings there are of each level, over all episodes."""

    doubtful: int = 0
    worth_knowing: int = 0
    counting: int = 0

    @property
    def text(self) -> str:
        """'Nothing makes a number doubtful; 2 findings are worth knowing.'"""
        if self.doubtful == 1:
            text = '1 finding makes a number doubtful'
        elif self.doubtful:
            text = f'{self.doubtful:,} findings make numbers doubtful'
        else:
            text = 'Nothing makes a number doubtful'
        if self.worth_knowing:
            verb = 'is' if self.worth_knowing == 1 else 'are'
            text += f'; {counted(self.worth_knowing, "finding")} {verb} worth knowing'
        return text + '.'


@dataclass(frozen=True)
class SharedFinding:
    """One text, and the numbers of the episodes, from 1, of which it is said."""

    text: str
    episodes: list[int]


def finding_counts(checks: Sequence[EpisodeCheck]) -> FindingCounts:
    """Counts the findings of all episodes by level."""
    return FindingCounts(*(sum(len(check.texts(level)) for check in checks) for level in Level))


def shared_findings(checks: Sequence[EpisodeCheck], level: Level) -> list[SharedFinding]:
    """Returns the findings of one level, each text once, with the episodes that have it."""
    found: dict[str, list[int]] = {}
    for number, check in enumerate(checks, 1):
        for text in dict.fromkeys(check.texts(level)):
            found.setdefault(text, []).append(number)
    return [SharedFinding(text, numbers) for text, numbers in found.items()]
