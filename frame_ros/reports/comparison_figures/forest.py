# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Values with intervals in rows: one per policy, or differences of pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from frame_ros.reports.comparison_figures.style import (
    CONFIDENCE,
    GREY,
    Estimated,
    Look,
    Trace,
    label_of,
    labels_of,
)
from frame_ros.reports.html.figures import BLUE, VERMILLION
from frame_ros.reports.html.study_page import Figure
from frame_ros.reports.model.numbers import plot_numbers, readable

ROW = 30  # px
SURROUND = 96
LONGEST_ROW = 44


class ForestRow(NamedTuple):
    """One row.

    Attributes:
        name: of the policy or pair.
        estimate: value and ends of its interval; a NaN value leaves the row empty, an infinite end
            is not drawn but written.
        note: in words, at the right end, such as the verdict, or why it is empty.
        look: of the policy; for a pair None: blue, or vermillion, or grey where the interval holds
            the reference.
    """

    name: str
    estimate: Estimated
    note: str = ''
    look: Look | None = None


def forest_figure(
    rows: Sequence[ForestRow],
    axis: str,
    about: str,
    reference: float | None = None,
    sides: tuple[str, str] = ('', ''),
    confidence: float = CONFIDENCE,
    digits: int = 3,
) -> Figure:
    """Returns a row each with its value and interval.

    Args:
        rows: from above.
        axis: title of the values' axis with its unit.
        about: a sentence for the caption: the values, their intervals' method.
        reference: value of a vertical line, such as 0 for differences.
        sides: words left and right of the reference, such as 'first is faster'.
        confidence: of the intervals.
        digits: significant digits of the values at the right.
    """
    labels = list(labels_of([row.name for row in rows], LONGEST_ROW).values())
    if len(labels) < len(rows):  # names that are the same
        labels = [label_of(row.name, LONGEST_ROW) for row in rows]
    data = [_row(row, place, reference) for place, row in enumerate(rows) if _is_known(row)]
    layout = {
        'height': ROW * max(len(rows), 1) + SURROUND,
        'margin': {'l': 20, 'r': 20, 't': 30 if any(sides) else 10, 'b': 50},
        'showlegend': False,
        'xaxis': {'title': {'text': axis, 'standoff': 8}, 'zeroline': False, 'nticks': 8,
                  'domain': [0, 0.68]},
        'yaxis': {'tickvals': list(range(len(rows))), 'ticktext': labels, 'automargin': True,
                  'range': [len(rows) - 0.4, -0.6], 'zeroline': False},
        'annotations': [_note(row, place, digits) for place, row in enumerate(rows)],
        'shapes': [],
    }  # fmt: skip
    if reference is not None:
        _add_reference(layout, reference, sides)
    return Figure(
        data,
        layout,
        f'{about} Lines are {100 * confidence:g} % intervals.'
        + (
            f' An interval that does not hold {reference:g} is drawn in colour.'
            if reference is not None and any(row.look is None for row in rows)
            else ''
        ),
    )


def _is_known(row: ForestRow) -> bool:
    return math.isfinite(row.estimate[0])


def _row(row: ForestRow, place: int, reference: float | None) -> Trace:
    value, lower, upper = row.estimate
    colour, symbol = _appearance(row, reference)
    has_interval = not (math.isnan(lower) or math.isnan(upper))
    return {
        'type': 'scatter', 'mode': 'markers', 'x': plot_numbers([value]), 'y': [place],
        'marker': {'color': colour, 'symbol': symbol, 'size': 9},
        'error_x': {'type': 'data', 'symmetric': False, 'width': 4, 'thickness': 1.8,
                    'color': colour, 'visible': has_interval,
                    'array': plot_numbers([upper - value]),
                    'arrayminus': plot_numbers([value - lower])},
        'hovertemplate': f'{_words(row.estimate, 4)}<extra>{label_of(row.name)}</extra>',
    }  # fmt: skip


def _appearance(row: ForestRow, reference: float | None) -> tuple[str, str]:
    """Returns colour and marker."""
    if row.look is not None:
        return row.look.colour, row.look.symbol
    _, lower, upper = row.estimate
    if reference is None or not (lower > reference or upper < reference):
        return GREY, 'circle-open'
    return (BLUE, 'circle') if lower > reference else (VERMILLION, 'square')


def _words(estimate: Estimated, digits: int) -> str:
    value, lower, upper = estimate
    if math.isnan(lower) or math.isnan(upper):
        return readable(value, digits)
    return f'{readable(value, digits)} [{readable(lower, digits)}, {readable(upper, digits)}]'


def _note(row: ForestRow, place: int, digits: int) -> dict:
    texts = [_words(row.estimate, digits)] if _is_known(row) else []
    if row.note:
        texts.append(label_of(row.note, LONGEST_ROW))
    return {
        'text': '   '.join(texts), 'showarrow': False, 'x': 0.7, 'xref': 'paper', 'y': place,
        'yref': 'y', 'xanchor': 'left', 'align': 'left',
    }  # fmt: skip


def _add_reference(layout: dict, reference: float, sides: tuple[str, str]) -> None:
    layout['shapes'].append(
        {'type': 'line', 'x0': reference, 'x1': reference, 'xref': 'x', 'y0': 0, 'y1': 1,
         'yref': 'paper', 'line': {'width': 1.2, 'dash': 'dash'}}
    )  # fmt: skip
    for text, anchor, shift in zip(sides, ('right', 'left'), (-8, 8)):
        if text:
            layout['annotations'].append(
                {'name': 'event', 'text': label_of(text), 'showarrow': False, 'x': reference,
                 'xref': 'x', 'y': 1, 'yref': 'paper', 'yanchor': 'bottom', 'xanchor': anchor,
                 'xshift': shift}
            )  # fmt: skip
