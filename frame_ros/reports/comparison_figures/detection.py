# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rates at which tests detect a difference, against the number of episodes (PhAIL, figure 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from frame_ros.reports.comparison_figures.style import (
    COLOURS,
    DASHES,
    GREY,
    PANELS,
    SYMBOLS,
    Trace,
    cut_panels,
    labels_of,
)
from frame_ros.reports.html.panels import axes_of, small_multiples
from frame_ros.reports.html.study_page import Figure
from frame_ros.reports.model.numbers import plot_numbers

# (n,) episodes per cell, (n,) detection rates in [0, 1].
Rates = tuple[Sequence[float] | Any, Sequence[float] | Any]
TARGET = 0.8
LONGEST_PAIR = 34


def detection_figure(
    curves: Mapping[str, Mapping[str, Rates]],
    predicted: Mapping[str, Rates] | None = None,
    target: float = TARGET,
    available: Mapping[str, int] | None = None,
    alpha: float = 0.05,
) -> Figure:
    """Returns a panel per pair with a curve per metric.

    Args:
        curves: pair -> metric -> episodes per cell, detection rates in [0, 1].
        predicted: pair -> the same of the Brownian-bridge model of the KS test.
        target: power that is wanted.
        available: pair -> episodes per cell that there are, marked by a vertical line.
        alpha: level of the tests.
    """
    pairs, more = cut_panels(list(curves), 'pair')
    metrics = labels_of(dict.fromkeys(name for row in curves.values() for name in row))
    titles = list(labels_of(pairs, LONGEST_PAIR).values()) or ['']
    layout = small_multiples(titles, 'episodes per object and policy', 'detection rate')
    layout['shapes'] = []
    data: list[Trace] = []
    named: set[str] = set()
    for panel, pair in enumerate(pairs, 1):
        for place, (metric, label) in enumerate(metrics.items()):
            if metric in curves[pair]:
                data.append(_curve(curves[pair][metric], label, place, panel, label not in named))
                named.add(label)
        if pair in (predicted or {}):
            data.append(_model(predicted[pair], panel, 'model' not in named))  # type: ignore[index]
            named.add('model')
        _add_lines(layout, panel, target, (available or {}).get(pair))
    for axis in [key for key in layout if key.startswith('yaxis')]:
        layout[axis].update(range=[-0.03, 1.03])
    for axis in [key for key in layout if key.startswith('xaxis')]:
        layout[axis].update(rangemode='tozero')
    return Figure(
        data,
        layout,
        'Share of subsamples of the recorded episodes in which a test finds the difference at '
        f'{alpha:g}, against the episodes per object and policy. Where a curve crosses the line at '
        f'{100 * target:g} %, that many episodes are enough for it.'
        + (' Grey: what the Brownian-bridge model predicts for KS.' if predicted else '')
        + more,
        PANELS,
    )


def _curve(rates: Rates, label: str, place: int, panel: int, is_named: bool) -> Trace:
    colour = COLOURS[place % len(COLOURS)]
    return {
        'type': 'scatter', 'mode': 'lines+markers', 'name': label, 'legendgroup': label,
        'showlegend': is_named, 'x': plot_numbers(rates[0]), 'y': plot_numbers(rates[1]),
        'line': {'color': colour, 'width': 1.8, 'dash': DASHES[place % len(DASHES)]},
        'marker': {'color': colour, 'size': 7, 'symbol': SYMBOLS[place % len(SYMBOLS)]},
        **axes_of(panel), 'hovertemplate': f'n = %{{x}}: %{{y:.2f}}<extra>{label}</extra>',
    }  # fmt: skip


def _model(rates: Rates, panel: int, is_named: bool) -> Trace:
    return {
        'type': 'scatter', 'mode': 'lines', 'name': 'KS, predicted', 'legendgroup': 'model',
        'showlegend': is_named, 'x': plot_numbers(rates[0]), 'y': plot_numbers(rates[1], 4),
        'line': {'color': GREY, 'width': 3}, 'opacity': 0.6, **axes_of(panel),
        'hovertemplate': 'n = %{x}: %{y:.2f}<extra>KS, predicted</extra>',
    }  # fmt: skip


def _add_lines(layout: dict[str, Any], panel: int, target: float, available: int | None) -> None:
    """Draws the wanted power, and the number of episodes that there are."""
    axes = axes_of(panel)
    line = {'width': 1, 'dash': 'dot'}
    layout['shapes'].append(
        {'type': 'line', 'xref': f'{axes["xaxis"]} domain', 'yref': axes['yaxis'], 'x0': 0, 'x1': 1,
         'y0': target, 'y1': target, 'line': line, 'layer': 'below'}
    )  # fmt: skip
    if available is not None:
        layout['shapes'].append(
            {'type': 'line', 'xref': axes['xaxis'], 'yref': f'{axes["yaxis"]} domain',
             'x0': available, 'x1': available, 'y0': 0, 'y1': 1, 'line': line, 'layer': 'below'}
        )  # fmt: skip
        layout['annotations'].append(
            {'name': 'event', 'text': f'recorded: {available}', 'showarrow': False, 'x': available,
             'xref': axes['xaxis'], 'y': 0, 'yref': f'{axes["yaxis"]} domain', 'xanchor': 'right',
             'yanchor': 'bottom', 'xshift': -3}
        )  # fmt: skip
