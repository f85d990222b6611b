# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Results under each value of a condition, such as the side of the camera (PhAIL, appendix G)."""

from __future__ import annotations

import math
from collections.abc import Mapping

from frame_ros.core.plain_text import counted
from frame_ros.reports.comparison_figures.style import (
    COLOURS,
    GREY,
    SYMBOLS,
    Estimated,
    Look,
    Trace,
    cut,
    label_of,
    labels_of,
    looks_of,
)
from frame_ros.reports.html.panels import legend_below
from frame_ros.reports.html.study_page import Figure
from frame_ros.reports.model.numbers import plot_numbers

ROW = 44  # px
SURROUND = 124
MOST_VALUES = 8


def conditions_figure(
    results: Mapping[str, Mapping[str, Estimated]],
    condition: str,
    axis: str,
    counts: Mapping[str, Mapping[str, int]] | None = None,
    looks: Mapping[str, Look] | None = None,
) -> Figure:
    """Returns a row per policy with a dot per value of the condition, joined by a line.

    Args:
        results: policy -> value of the condition -> result with its interval; NaN: none.
        condition: its name, such as camera.
        axis: the result with its unit, such as completion rate (%).
        counts: policy -> value -> number of episodes.
        looks: of the policies, for their labels.
    """
    looks = looks or looks_of(results)
    every = list(dict.fromkeys(value for row in results.values() for value in row))
    labels = labels_of(every[:MOST_VALUES])
    step = min(0.16, 0.5 / max(len(labels) - 1, 1))
    shifts = {value: (n - (len(labels) - 1) / 2) * step for n, value in enumerate(labels)}
    data = [_joined(row, shifts, place) for place, row in enumerate(results.values())]
    for number, (value, label) in enumerate(labels.items()):
        data.append(_dots(results, counts or {}, value, label, number, shifts[value]))
    height = ROW * max(len(results), 1) + SURROUND
    layout = {
        'height': height,
        'margin': {'l': 20, 'r': 20, 't': 10, 'b': 82},
        'showlegend': True,
        'legend': {**legend_below(height - 92), 'title': {'text': f'{label_of(condition)}: '}},
        'xaxis': {'title': {'text': label_of(axis, 60), 'standoff': 8}, 'zeroline': False},
        'yaxis': {'tickvals': list(range(len(results))), 'automargin': True, 'zeroline': False,
                  'range': [len(results) - 0.5, -0.5],
                  'ticktext': [looks[policy].label for policy in results]},
        'annotations': [],
    }  # fmt: skip
    more = len(every) - len(labels)
    return Figure(
        data,
        layout,
        f'{cut(axis[:1].upper() + axis[1:], 60)} of each policy by {cut(condition)}, with '
        '95 % intervals. A long line between dots: the policy depends on it; dots in another '
        'order than in other rows: it can decide which policy looks better.'
        + (f' {more} more values are not drawn.' if more > 0 else ''),
    )


def _joined(row: Mapping[str, Estimated], shifts: Mapping[str, float], place: int) -> Trace:
    known = [each for each in shifts if each in row and math.isfinite(row[each][0])]
    return {
        'type': 'scatter', 'mode': 'lines', 'x': plot_numbers([row[each][0] for each in known]),
        'y': [round(place + shifts[each], 4) for each in known],
        'line': {'color': GREY, 'width': 1.4}, 'showlegend': False, 'hoverinfo': 'skip',
    }  # fmt: skip


def _dots(
    results: Mapping[str, Mapping[str, Estimated]],
    counts: Mapping[str, Mapping[str, int]],
    value: str,
    label: str,
    number: int,
    shift: float,
) -> Trace:
    rows = [
        (place + shift, policy, row[value])
        for place, (policy, row) in enumerate(results.items())
        if value in row and math.isfinite(row[value][0])
    ]
    colour = COLOURS[number % len(COLOURS)]
    sizes = [counts.get(policy, {}).get(value) for _, policy, _ in rows]
    return {
        'type': 'scatter', 'mode': 'markers', 'name': label,
        'x': plot_numbers([found[0] for *_, found in rows]),
        'y': [round(height, 4) for height, *_ in rows],
        'marker': {'color': colour, 'symbol': SYMBOLS[number % len(SYMBOLS)], 'size': 9},
        'error_x': {'type': 'data', 'symmetric': False, 'width': 0, 'thickness': 1.4,
                    'color': colour,
                    'array': plot_numbers([found[2] - found[0] for *_, found in rows]),
                    'arrayminus': plot_numbers([found[0] - found[1] for *_, found in rows])},
        'text': ['' if size is None else f'<br>{counted(size, "episode")}' for size in sizes],
        'hovertemplate': f'%{{x:.4g}}%{{text}}<extra>{label}</extra>',
    }  # fmt: skip
