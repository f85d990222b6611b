# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A metric's values over the episodes as a strip of dots."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from frame_ros.core.events import Outcome
from frame_ros.reports.model.metric_table import MetricRow

WIDTH, HEIGHT, MARGIN = 120, 16, 6


def dot_strip(row: MetricRow, outcomes: Sequence[Outcome]) -> Markup:
    """Returns an SVG with one dot per episode from the lowest to the highest value; '' with fewer
    than two values.
    """
    known = [(v, o) for v, o in zip(row.counting, outcomes) if v is not None]
    if len(known) < 2:
        return Markup('')
    low, high = min(v for v, _ in known), max(v for v, _ in known)
    scale = (WIDTH - 2 * MARGIN) / (high - low) if high > low else 0.0
    middle = HEIGHT / 2
    begin = MARGIN if scale else WIDTH / 2
    dots = ''.join(
        f'<circle class="{_kind(o)}" cx="{begin + (v - low) * scale:.1f}" cy="{middle}" r="4"/>'
        for v, o in known
    )
    line = f'<line x1="{MARGIN}" x2="{WIDTH - MARGIN}" y1="{middle}" y2="{middle}"/>'
    return Markup(
        f'<svg class="strip" viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true">{line}{dots}</svg>'
    )


def _kind(outcome: Outcome) -> str:
    return {Outcome.SUCCESS: 'success', Outcome.FAILURE: 'failure'}.get(outcome, 'other')
