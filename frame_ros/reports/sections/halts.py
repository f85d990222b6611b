# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Halts that the monitor recommended in one episode."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from frame_ros.bags.reader import Bag
from frame_ros.confidence.monitor import Level
from frame_ros.core.time import SECOND
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.monitoring.halts import halts_of
from frame_ros.reports.sections.section import EpisodeSection, as_row

# Class of the bars in the stylesheet.
BARS = {Level.OK: 'policy', Level.CAUTION: 'limited', Level.HALT: 'stop', Level.STALE: 'unknown'}


class HaltSection(EpisodeSection):
    """The verdicts of the monitor in one episode; times in s since START."""

    key = 'monitor'

    def __init__(self, episode: Episode, bag: Bag | None) -> None:
        super().__init__(episode, bag)
        self.found = halts_of(episode, bag)
        self.is_shown = self.found is not None

    @cached_property
    def data(self) -> dict[str, Any] | None:
        """null: no monitor was recorded. verdicts: how many; seconds: by level; halts; first: the
        first halt's begin; failed: when a failure was certain; lead: from the first halt to it,
        all null without; recomputed: the verdicts computed again from the bag.
        """
        found = self.found
        if found is None:
            return None
        halts = [
            as_row(halt, found.begin, 'begin', 'end', 'causes', 'text') for halt in found.halts
        ]
        return {
            'verdicts': found.verdicts,
            'seconds': {level.name.lower(): found.seconds(level) for level in Level},
            'halts': halts,
            'first': halts[0]['begin'] if halts else None,
            'failed': (found.failed - found.begin) / SECOND if found.failed else None,
            'lead': found.lead,
            'recomputed': vars(found.replayed),
        }

    @property
    def duration(self) -> float:
        """Of the episode, s."""
        assert self.found is not None
        return max(self.found.end - self.found.begin, 1) / SECOND

    @property
    def bars(self) -> list[dict[str, Any]]:
        """Stretches that the page has room for, each with its class in the stylesheet."""
        assert self.found is not None
        return [
            as_row(each, self.found.begin, 'begin', 'end')
            | {'kind': BARS[each.level], 'level': each.level.title, 'text': each.text}
            for each in self.found.stretches[: self.most_rows]
        ]
