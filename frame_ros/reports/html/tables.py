# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of the page: columns of episodes, and strips of dots for metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from frame_ros.core.events import Outcome
from frame_ros.episodes.episode import Episode
from frame_ros.metrics import REGISTRY
from frame_ros.reports.model.metric_table import MetricRow
from frame_ros.reports.model.numbers import finite, measured
from frame_ros.reports.model.series import collisions

WIDTH, HEIGHT, MARGIN = 120, 16, 6


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


def dot_strip(row: MetricRow, outcomes: Sequence[Outcome]) -> Markup:
    """Returns an SVG with one dot per episode from the lowest to the highest value; '' with fewer
    than two values.
    """
    known = [(v, o) for v, o in zip(row.counting, outcomes) if v is not None]
    if len(known) < 2:
        return Markup('')
    low, high = min(v for v, _ in known), max(v for v, _ in known)
    differ = measured(low) != measured(high)  # what the table shows as equal is drawn as equal
    scale = (WIDTH - 2 * MARGIN) / (high - low) if differ else 0.0
    middle = HEIGHT / 2
    begin = MARGIN if scale else WIDTH / 2
    dots = ''.join(
        f'<circle class="{_dot_class(o)}" cx="{x:.1f}" cy="{middle}" r="4"/>'
        for x, o in ((begin + (v - low) * scale, o) for v, o in known)
    )
    line = f'<line x1="{MARGIN}" x2="{WIDTH - MARGIN}" y1="{middle}" y2="{middle}"/>'
    return Markup(
        f'<svg class="strip" viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true">{line}{dots}</svg>'
    )


def _dot_class(outcome: Outcome) -> str:
    return {Outcome.SUCCESS: 'success', Outcome.FAILURE: 'failure'}.get(outcome, 'other')
