# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The interactive figures as plotly.js descriptions: plain data, drawn and themed by the page's
script.
"""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from frame_ros.core.time import SECOND
from frame_ros.episodes.bounds import bounds_of
from frame_ros.episodes.episode import Episode
from frame_ros.reports.model.numbers import SERIES_POINTS, peak_indices, plot_numbers, shortened
from frame_ros.reports.model.series import (
    COLLISION,
    CONTACT,
    OPERATOR,
    UNKNOWN,
    Mark,
    Panel,
    Series,
    Span,
    contact_spans,
    marks,
    operator_spans,
)

# Okabe and Ito: distinct for all common kinds of colour vision.
BLUE, ORANGE, GREEN, VERMILLION, PURPLE = '#0072B2', '#E69F00', '#009E73', '#D55E00', '#CC79A7'
LINES = (BLUE, ORANGE, GREEN, PURPLE)
PANEL_HEIGHT = 118
SURROUND = 96  # above and below the panels
PANEL_GAP = 0.30  # share of a panel's slot that is left for its heading
SHADES = {UNKNOWN: '#888888', COLLISION: VERMILLION, CONTACT: ORANGE, OPERATOR: BLUE}
MOST_SHAPES = 200
SEPARATOR = '  '  # of the parts of a heading, which the page's script may put in lines of their own
LONGEST_LABEL = 40


def series_figure(episode: Episode, drawn: list[Panel]) -> dict[str, Any] | None:
    """The panels that have values, over one time axis; None if there are none."""
    shown = [panel for panel in drawn if not panel.is_empty]
    if not shown:
        return None
    start, end = bounds_of(episode)
    duration = (end - start) / SECOND
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = {
        'height': PANEL_HEIGHT * len(shown) + SURROUND,
        'margin': {'l': 62, 'r': 14, 't': 66, 'b': 40},
        'showlegend': False,
        'hovermode': 'x unified',
        'hoversubplots': 'axis',
        'annotations': [],
        'xaxis': {
            'title': {'text': 'time since the episode began (s)'},
            'range': [0, duration],
            'anchor': f'y{len(shown)}' if len(shown) > 1 else 'y',
            'showspikes': True,
            'spikemode': 'across',
            'spikethickness': 1,
            'hoverformat': '.3f',
        },
    }
    for i, panel in enumerate(shown):
        _add_panel(data, layout, panel, i, len(shown))
    _add_context(layout, [*operator_spans(episode), *contact_spans(episode)], marks(episode))
    return {'kind': 'series', 'data': data, 'layout': layout}


def is_thinned(drawn: list[Panel]) -> bool:
    """Returns whether any series is longer than what is drawn of it."""
    return any(len(s.time) > SERIES_POINTS for panel in drawn for s in panel.series)


def _add_panel(data: list, layout: dict, panel: Panel, index: int, count: int) -> None:
    """Adds one panel, the first on top, its heading (with unit and legend) as an annotation above
    it.
    """
    slot = 1 / count
    top = 1 - index * slot
    axis = 'y' if index == 0 else f'y{index + 1}'
    layout['yaxis' + axis[1:]] = {
        'domain': [max(top - slot * (1 - PANEL_GAP) - slot * 0.04, 0), top - slot * 0.04],
        'anchor': 'x',
        **scale_of(panel.is_logarithmic),
        'rangemode': 'tozero' if panel.is_from_zero and not panel.is_logarithmic else 'normal',
        **_ticks(panel),
    }
    drawn = [s for s in panel.series if not s.is_empty]
    for i, series in enumerate(drawn):
        data.append(_line_trace(series, LINES[i % len(LINES)], axis, panel))
    unit = '' if panel.unit == '1' else f'{SEPARATOR}({panel.unit})'
    legend = ''.join(
        f'{SEPARATOR}<span style="color:{LINES[i]}">▬</span> {s.label}'
        for i, s in enumerate(drawn)
        if len(drawn) > 1
    )
    layout['annotations'].append(
        {
            'name': 'heading',
            'text': f'<b>{panel.title}</b>{unit}{legend}{_zeros_text(panel)}',
            'x': 0,
            'xref': 'paper',
            'xanchor': 'left',
            'y': top - slot * 0.04,
            'yref': 'paper',
            'yanchor': 'bottom',
            'showarrow': False,
        }
    )


def _zeros_text(panel: Panel) -> str:
    """'log axis, without 12 zeros': what a logarithmic axis cannot show."""
    if not panel.is_logarithmic:
        return ''
    zeros = sum(int(np.count_nonzero(series.values == 0)) for series in panel.series)
    left_out = f', without {zeros:,} {"zero" if zeros == 1 else "zeros"}' if zeros else ''
    return f'{SEPARATOR}<i>log axis{left_out}</i>'


def scale_of(is_logarithmic: bool) -> dict[str, Any]:
    """Returns the scale of an axis. Plotly's own labels of a logarithmic one are of three sizes."""
    if is_logarithmic:
        return {'type': 'log', 'tickformat': '~g', 'nticks': 5}
    return {'type': 'linear', 'exponentformat': 'power'}


def _ticks(panel: Panel) -> dict[str, Any]:
    """Few ticks: on a logarithmic axis at every decade, or at 1, 2 and 5 where there are hardly
    two.
    """
    if not panel.is_logarithmic:
        return {'nticks': 5}
    values = np.concatenate([s.values for s in panel.series])
    values = values[np.isfinite(values) & (values > 0)]
    decades = float(np.log10(values.max() / values.min())) if len(values) else 0.0
    return {'dtick': 1 if decades > 1.3 else 'D2'}


def _line_trace(series: Series, colour: str, axis: str, panel: Panel) -> dict[str, Any]:
    kept = peak_indices(series.values, SERIES_POINTS)
    values = series.values[kept]
    if panel.is_logarithmic:
        values = np.where(values > 0, values, np.nan)
    unit = '' if panel.unit == '1' else f' {panel.unit}'
    name = (
        panel.title.split(' (')[0]
        if len(panel.series) == 1
        else f'{panel.title.split(" (")[0]}, {series.label}'
    )
    return {
        'type': 'scatter',
        'mode': 'lines+markers' if series.has_markers and len(kept) < 300 else 'lines',
        'name': name,
        'x': plot_numbers(series.time[kept], 6),
        'y': plot_numbers(values),
        'xaxis': 'x',
        'yaxis': axis,
        'connectgaps': False,
        'line': {'width': 1.5, 'color': colour},
        'marker': {'size': 4, 'color': colour},
        'hovertemplate': f'%{{y:.4g}}{unit}',
    }


def _add_context(layout: dict, spans: list[Span], events: list[Mark]) -> None:
    """Shades spans over all panels and draws events as vertical lines with their names on top."""
    shapes = [_shade(span) for span in spans[:MOST_SHAPES]]
    for mark in events[:MOST_SHAPES]:
        ends = {'x0': mark.time, 'x1': mark.time, 'y0': 0, 'y1': 1}
        line = {'width': 1.4, 'dash': 'dot'}
        shapes.append({'type': 'line', 'xref': 'x', 'yref': 'paper', **ends, 'line': line})
        layout['annotations'].append(
            {
                'name': 'event',
                'text': escape(shortened(mark.label, LONGEST_LABEL), quote=False),
                'x': mark.time,
                'xref': 'x',
                'y': 1,
                'yref': 'paper',
                'yanchor': 'bottom',
                'showarrow': False,
            }
        )
    layout['shapes'] = shapes


def _shade(span: Span) -> dict[str, Any]:
    is_collision = span.kind == COLLISION
    return {
        'type': 'rect',
        'xref': 'x',
        'yref': 'paper',
        'x0': round(span.begin, 4),
        'x1': round(span.end, 4),
        'y0': 0,
        'y1': 1,
        'line': {'width': 0.8 if is_collision else 0, 'color': VERMILLION},
        'fillcolor': SHADES[span.kind],
        'opacity': 0.30 if span.kind in (COLLISION, UNKNOWN) else 0.14,
        'layer': 'below',
    }
