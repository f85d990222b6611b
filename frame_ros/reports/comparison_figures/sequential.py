# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Evidence or wins of a sequential test against the number of pairs, with its boundaries."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from frame_ros.reports.comparison_figures.style import (
    COLOURS,
    DASHES,
    GREY,
    Trace,
    label_of,
    labels_of,
)
from frame_ros.reports.html.figures import scale_of
from frame_ros.reports.html.panels import legend_below
from frame_ros.reports.html.study_page import Figure
from frame_ros.reports.model.numbers import peak_indices, plot_numbers

HEIGHT = 360
POINTS = 600
READING = (
    'The test stops where its line reaches a boundary; a large marker shows where. Between the '
    'boundaries nothing is decided, and more pairs may be run.'
)


class Path(NamedTuple):
    """The course of one test.

    Attributes:
        pairs: (n,) number of pairs that were seen, ascending.
        values: (n,) the statistic after each.
        stop: number of pairs at which it was decided; None: not yet.
        verdict: in words.
    """

    pairs: Sequence[float] | Any
    values: Sequence[float] | Any
    stop: int | None = None
    verdict: str = ''


def sequential_figure(
    paths: Mapping[str, Path],
    boundaries: Mapping[str, tuple[Any, Any]],
    axis: str,
    about: str,
    planned: int | None = None,
    is_logarithmic: bool = False,
    reading: str = READING,
) -> Figure:
    """Returns the course of tests between their stopping boundaries.

    Args:
        paths: name of the test or pair -> its course.
        boundaries: name, such as 'boundary: first is better' -> (k,) numbers of pairs, (k,) values;
            NaN: no boundary there.
        axis: title of the values' axis, such as wins of the first less wins of the second.
        about: a sentence for the caption: the test and its error level.
        planned: largest number of pairs, marked by a vertical line.
        is_logarithmic: for evidence: values of 0 or less are not drawn.
        reading: the rest of the caption: how boundaries are read.
    """
    data = [_boundary(points, label, is_logarithmic, place)
            for place, (points, label) in enumerate(
                zip(boundaries.values(), labels_of(boundaries).values()))]  # fmt: skip
    last = max([planned or 0, *(max(x, default=0) for x, _ in boundaries.values())])
    for place, (path, label) in enumerate(zip(paths.values(), labels_of(paths).values())):
        data += _course(path, label, place, is_logarithmic, last)
    layout: dict[str, Any] = {
        'height': HEIGHT,
        'margin': {'l': 66, 'r': 14, 't': 24, 'b': 82},
        'showlegend': True,
        'legend': legend_below(HEIGHT - 106),
        'xaxis': {'title': {'text': 'pairs', 'standoff': 8}, 'rangemode': 'tozero'},
        'yaxis': {'title': {'text': label_of(axis, 60), 'standoff': 4},
                  **scale_of(is_logarithmic)},
        'annotations': [],
        'shapes': [],
    }  # fmt: skip
    if planned is not None:
        layout['shapes'].append(
            {'type': 'line', 'x0': planned, 'x1': planned, 'xref': 'x', 'y0': 0, 'y1': 1,
             'yref': 'paper', 'layer': 'below', 'line': {'width': 1, 'dash': 'dot'}}
        )  # fmt: skip
        layout['annotations'].append(
            {'name': 'event', 'text': f'planned: {planned}', 'showarrow': False, 'x': planned,
             'xref': 'x', 'y': 1, 'yref': 'paper', 'yanchor': 'bottom', 'xanchor': 'right'}
        )  # fmt: skip
    return Figure(
        data,
        layout,
        f'{about} {reading}'.strip(),
    )


def _shown(values: Any, is_logarithmic: bool) -> np.ndarray:
    known = np.asarray(values, dtype=np.float64)
    return np.where(known > 0, known, np.nan) if is_logarithmic else known


def _boundary(points: tuple[Any, Any], label: str, is_logarithmic: bool, place: int) -> Trace:
    return {
        'type': 'scatter', 'mode': 'lines', 'name': label,
        'x': plot_numbers(points[0]), 'y': plot_numbers(_shown(points[1], is_logarithmic)),
        'line': {'color': GREY, 'width': 1.6, 'dash': ('dash', 'dot')[place % 2]},
        'connectgaps': False, 'hovertemplate': f'%{{x}} pairs: %{{y:.4g}}<extra>{label}</extra>',
    }  # fmt: skip


def _course(path: Path, label: str, place: int, is_logarithmic: bool, last: float) -> list[Trace]:
    """Returns the line of a test and its stop. last: number of pairs at the end of the axis."""
    values, pairs = _shown(path.values, is_logarithmic), np.asarray(path.pairs, dtype=np.float64)
    kept = peak_indices(values, POINTS)
    colour, dash = COLOURS[place % len(COLOURS)], DASHES[place % len(DASHES)]
    data: list[Trace] = [
        {
            'type': 'scatter', 'mode': 'lines', 'name': label, 'legendgroup': label,
            'x': plot_numbers(pairs[kept]), 'y': plot_numbers(values[kept]),
            'line': {'color': colour, 'width': 1.8, 'dash': dash}, 'marker': {'color': colour},
            'hovertemplate': f'%{{x}} pairs: %{{y:.4g}}<extra>{label}</extra>',
        }
    ]  # fmt: skip
    places = np.flatnonzero(pairs == (-1 if path.stop is None else path.stop))
    if len(places) and math.isfinite(values[places[0]]):
        data.append(
            {'type': 'scatter', 'mode': 'markers+text', 'x': [path.stop], 'legendgroup': label,
             'y': plot_numbers(values[places[:1]]), 'showlegend': False,
             'text': [f'{label_of(path.verdict, 40)} after {path.stop}'],
             'textposition': 'middle right' if pairs[places[0]] < last / 2 else 'middle left',
             'marker': {'color': colour, 'size': 11, 'symbol': 'circle'},
             'hovertemplate': f'stopped after {path.stop} pairs<extra>{label}</extra>'}
        )  # fmt: skip
    return data
