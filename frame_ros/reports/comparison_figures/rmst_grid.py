# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Restricted mean time of every policy on every object (PhAIL, figure 6)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from textwrap import wrap

from frame_ros.reports.comparison_figures.style import (
    GREY,
    LONGEST_LABEL,
    PANELS,
    Estimated,
    Look,
    Trace,
    label_of,
    labels_of,
    looks_of,
    shown_objects,
)
from frame_ros.reports.html.panels import axes_of, grid_layout
from frame_ros.reports.html.study_page import Figure
from frame_ros.reports.model.numbers import plot_numbers, readable

ROW = 34  # px, of a policy
NARROWEST_ROW = 6  # panels up to which there is one row
LONGEST_TITLE = 22
REASON_LINE = 24  # characters


def rmst_grid_figure(
    estimates: Mapping[str, Mapping[str, Estimated]],
    tau: float,
    reasons: Mapping[tuple[str, str], str] | None = None,
    looks: Mapping[str, Look] | None = None,
) -> Figure:
    """Returns a panel per object with a row per policy: the mean and its interval.

    Args:
        estimates: policy -> object -> RMST in s with its interval, NaN where not available.
        tau: s.
        reasons: (policy, object) -> why there is no value; 'no episodes' where it says nothing.
        looks: of the policies, as `looks_of` makes them; by their order if not given.
    """
    looks = looks or looks_of(estimates)
    objects, more = shown_objects(estimates)
    data: list[Trace] = []
    columns = max(len(objects), 1) if len(objects) <= NARROWEST_ROW else 4
    labels = labels_of(objects, LONGEST_TITLE if columns > 4 else LONGEST_LABEL)
    top = _largest(estimates, tau)
    rows = [[labels[name] for name in objects[i : i + columns]]
            for i in range(0, len(objects), columns)] or [['']]  # fmt: skip
    height = (ROW * len(estimates) + 56) * len(rows) + 70
    layout = grid_layout(rows, height, f'RMST({tau:g} s) in s', gap=0.025)
    for panel, name in enumerate(objects, 1):
        for place, policy in enumerate(estimates):
            found = estimates[policy].get(name, (math.nan,) * 3)
            if math.isfinite(found[0]):
                data.append(_dot(found, place, looks[policy], panel))
            else:
                reason = (reasons or {}).get((policy, name), 'no episodes')
                layout['annotations'].append(_reason(reason, place, panel))
    _format(layout, [looks[policy].label for policy in estimates], columns, top)
    return Figure(
        data,
        layout,
        'Restricted mean time per operation, in s: the smaller, the better. Dots with 95 % '
        f'intervals over resampled episodes, a panel per object; {tau:g} s is the worst that can '
        f'be. An empty row says why it has no value.{more}',
        PANELS,
    )


def _largest(estimates: Mapping[str, Mapping[str, Estimated]], tau: float) -> float:
    """Returns the end of the axis: the largest value or end of an interval; tau without any."""
    ends = [end for row in estimates.values() for found in row.values() for end in found]
    return max((end for end in ends if math.isfinite(end)), default=tau)


def _dot(found: Estimated, place: int, look: Look, panel: int) -> Trace:
    value, lower, upper = found
    has_interval = math.isfinite(lower) and math.isfinite(upper)
    between = f'<br>{readable(lower, 3)} to {readable(upper, 3)} s' if has_interval else ''
    return {
        'type': 'scatter', 'mode': 'markers+text', 'x': plot_numbers([value]), 'y': [place],
        'marker': look.marker(8), 'showlegend': False, **axes_of(panel),
        'text': [readable(value, 3)], 'textposition': 'top center', 'textfont': {'size': 10},
        'error_x': {'type': 'data', 'symmetric': False, 'width': 0, 'thickness': 1.8,
                    'color': look.colour, 'visible': has_interval,
                    'array': plot_numbers([upper - value]),
                    'arrayminus': plot_numbers([value - lower])},
        'hovertemplate': f'{readable(value, 4)} s{between}<extra>{look.label}</extra>',
    }  # fmt: skip


def _reason(reason: str, place: int, panel: int) -> dict[str, object]:
    number = '' if panel == 1 else f'{panel}'
    lines = [label_of(line, REASON_LINE) for line in wrap(reason, REASON_LINE)[:2]]
    return {
        'name': 'event', 'text': '<br>'.join(f'<i>{line}</i>' for line in lines),
        'showarrow': False,
        'x': 0.5, 'xref': f'x{number} domain', 'y': place, 'yref': f'y{number}',
        'hovertext': label_of(reason, 200), 'font': {'color': GREY},
    }  # fmt: skip


def _format(layout: dict, labels: list[str], columns: int, top: float) -> None:
    layout['showlegend'] = False
    layout['margin'] = {'l': 20, 'r': 12, 't': 34, 'b': 50}
    for axis in [key for key in layout if key.startswith('xaxis')]:
        layout[axis].update(range=[-0.06 * top, 1.1 * top], nticks=4)
    for axis in [key for key in layout if key.startswith('yaxis')]:
        is_first = (int(axis[5:] or 1) - 1) % columns == 0
        layout[axis].update(
            tickvals=list(range(len(labels))), ticktext=labels, showticklabels=is_first,
            range=[len(labels) - 0.4, -0.7], automargin=True, zeroline=False,
        )  # fmt: skip
