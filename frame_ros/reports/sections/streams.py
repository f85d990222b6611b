# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The health of an episode's streams: rates, repeats, time offsets, and when they were wrong."""

from __future__ import annotations

from functools import cached_property
from math import isfinite
from typing import Any

from frame_ros.bags.reader import Bag
from frame_ros.episodes.bounds import bounds_of
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.stream_checks import judged_streams
from frame_ros.reports.sections.section import EpisodeSection, as_row


class StreamSection(EpisodeSection):
    """The streams of one episode; times in s since START."""

    key = 'streams'

    def __init__(self, episode: Episode, bag: Bag | None) -> None:
        super().__init__(episode, bag)
        self._start, _ = bounds_of(episode)
        self.rows = judged_streams(episode, bag)
        self.is_shown = bool(self.rows)

    @cached_property
    def data(self) -> list[dict[str, Any]]:
        """Per stream: topic, kind, count, rate (Hz), jitter and longest_gap (s), repeats, offset of
        its stamps from those of the joints with its standard deviation (s; null: not known) and
        both in words, judged (when a freeze would be found), faults (kind, reason, begin, end).
        """
        return [
            {
                **{
                    name: value
                    for name, value in vars(row).items()
                    if name not in ('faults', 'offset_deviation')
                },
                'offset_deviation': row.offset_deviation if isfinite(row.offset) else None,
                'faults': [
                    as_row(fault, self._start, 'kind', 'reason', 'begin', 'end')
                    for fault in row.faults
                ],
            }
            for row in self.rows
        ]
