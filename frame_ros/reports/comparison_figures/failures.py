# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Shares of the ends of operations or episodes (PhAIL, appendix F)."""

from __future__ import annotations

from collections.abc import Mapping

from frame_ros.reports.comparison_figures.style import (
    GREY,
    LONGEST_LABEL,
    Look,
    Trace,
    cut,
    label_of,
    labels_of,
    looks_of,
)
from frame_ros.reports.html.figures import BLUE, GREEN, ORANGE, PURPLE, VERMILLION
from frame_ros.reports.html.panels import legend_below
from frame_ros.reports.html.study_page import Figure
from frame_ros.reports.model.numbers import plot_numbers

ROW = 34  # px
SURROUND = 124
# Fills and patterns of the ends by place.
FILLS = (GREEN, VERMILLION, PURPLE, ORANGE, BLUE, GREY)
PATTERNS = ('', '/', 'x', '\\', '.', '-')


def failure_figure(
    counts: Mapping[str, Mapping[str, int]],
    noun: str = 'operations',
    looks: Mapping[str, Look] | None = None,
) -> Figure:
    """Returns a stacked bar per policy.

    Args:
        counts: policy -> end in words -> how many ended so; the ends in the order of the bars, such
            as success, drop, safety stop, timeout; one that never happened has no bar.
        noun: what is counted, in the plural.
        looks: of the policies, for their labels.
    """
    looks = looks or looks_of(counts)
    ends = labels_of(dict.fromkeys(end for row in counts.values() for end in row), LONGEST_LABEL)
    totals = {policy: sum(row.values()) for policy, row in counts.items()}
    data: list[Trace] = [
        _bars(counts, totals, end, label, place)
        for place, (end, label) in enumerate(ends.items())
        if any(row.get(end) for row in counts.values())
    ]
    height = ROW * max(len(counts), 1) + SURROUND
    layout = {
        'height': height,
        'margin': {'l': 20, 'r': 20, 't': 10, 'b': 82},
        'barmode': 'stack',
        'bargap': 0.3,
        'showlegend': True,
        'legend': {**legend_below(height - 92), 'traceorder': 'normal'},
        'xaxis': {'title': {'text': f'share of {label_of(noun)} (%)', 'standoff': 8},
                  'range': [0, 100]},
        'yaxis': {'tickvals': list(range(len(counts))), 'automargin': True,
                  'range': [len(counts) - 0.5, -0.5],
                  'ticktext': [f'{looks[each].label} ({totals[each]:,})' for each in counts]},
        'annotations': [],
    }  # fmt: skip
    return Figure(
        data,
        layout,
        f'Ends of the {cut(noun)} of each policy, in percent; their number in brackets. The '
        'same share of hard failures can come from very different mixes.',
    )


def _bars(
    counts: Mapping[str, Mapping[str, int]],
    totals: Mapping[str, int],
    end: str,
    label: str,
    place: int,
) -> Trace:
    numbers = [row.get(end, 0) for row in counts.values()]
    shares = [100 * n / max(totals[each], 1) for n, each in zip(numbers, counts)]
    return {
        'type': 'bar', 'orientation': 'h', 'name': label, 'x': plot_numbers(shares),
        'y': list(range(len(counts))), 'customdata': numbers,
        'text': [f'{share:.0f} %' if share >= 4 else '' for share in shares],
        'textposition': 'inside', 'insidetextanchor': 'middle', 'textangle': 0,
        'marker': {'color': FILLS[place % len(FILLS)],
                   'pattern': {'shape': PATTERNS[place % len(PATTERNS)], 'size': 6,
                               'solidity': 0.18, 'fillmode': 'overlay'}},
        'hovertemplate': f'{label}: %{{x:.3g}} % (%{{customdata:,}})<extra></extra>',
    }  # fmt: skip
