# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The columns of the table of episodes."""

from __future__ import annotations

from dataclasses import dataclass

from frame_ros.episodes.episode import Episode
from frame_ros.metrics import REGISTRY
from frame_ros.reports.model.contact_sensing import collisions
from frame_ros.reports.model.numbers import finite


@dataclass(frozen=True)
class Column:
    """A column of the episode table. name: of a metric, of a field of the summary, or 'collisions'.
    factor: from SI to `unit`.
    """

    label: str
    unit: str
    name: str
    hint: str
    factor: float = 1.0

    def value(self, episode: Episode) -> float | None:
        """Returns the value of an episode, SI; None where unavailable."""
        if self.name == 'collisions':
            return collisions(episode)
        if self.name in REGISTRY:
            return episode.value(self.name)
        return finite(episode.summary.get(self.name))


COLUMNS = (
    Column('duration', 's', 'duration', 'from START to END'),
    Column('to success', 's', 'time_to_success', 'from START to SUCCESS'),
    Column('steps', '', 'steps', 'executed actions'),
    Column('path length', 'm', 'pl', 'pl'),
    Column('smoothness', '', 'ps', 'ps: lower is smoother'),
    Column('RMS jerk', 'm/s³', 'ti', 'ti: trajectory instability'),
    Column('collisions', '', 'collisions', 'contacts that are not expected'),
    Column('nearest', 'mm', 'op', 'op: least distance to an obstacle', 1e3),
    Column('mean latency', 'ms', 'il', 'il: mean over the calls', 1e3),
    Column('95 % latency', 'ms', 'il_p95', 'il_p95: 95th percentile', 1e3),
    Column('mean rate', 'Hz', 'control_rate', 'control_rate'),
    Column('worst second', 'Hz', 'control_rate_worst', 'control_rate_worst'),
)
