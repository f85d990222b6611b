# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The interactive figures as plotly.js descriptions: plain data, drawn and themed by the page's
script.
"""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from frame_ros.episodes.data import Episode
from frame_ros.reports.downsample import PATH_POINTS, SERIES_POINTS, peak_indices
from frame_ros.reports.numbers import plot_numbers
from frame_ros.reports.projections import COLOURS, jerk_limit
from frame_ros.reports.series import (
    Mark,
    Panel,
    Path,
    Series,
    Span,
    contact_spans,
    episode_end,
    episode_start,
    marks,
    panels,
    person_spans,
)

# Okabe and Ito: told apart by all common kinds of colour vision.
BLUE, ORANGE, GREEN, VERMILLION, PURPLE = '#0072B2', '#E69F00', '#009E73', '#D55E00', '#CC79A7'
LINES = (BLUE, ORANGE, GREEN, PURPLE)
PANEL_HEIGHT = 118
SURROUND = 82  # above and below the panels
PANEL_GAP = 0.30  # share of a panel's slot that is left for its heading
GREY = '#888888'
MOST_SHAPES = 200
LONGEST_LABEL = 40
POSITION = 'x %{x:.4f} m<br>y %{y:.4f} m<br>z %{z:.4f} m'


def path_figure(path: Path) -> dict[str, Any]:
    """The end-effector's path in 3D, coloured by jerk, with start, end, contacts and collisions."""
    kept = peak_indices(np.nan_to_num(path.jerk), PATH_POINTS)
    data = [
        _path_trace(path, kept),
        _points_trace('start', path.positions[:1], GREEN, 'circle', 6),
        _points_trace('end', path.positions[-1:], PURPLE, 'square', 6),
        _points_trace('contact begins', path.contacts, ORANGE, 'circle', 5),
        _points_trace('collision', path.collisions, VERMILLION, 'diamond', 7),
    ]
    axes = {f'{axis}axis': {'title': {'text': f'{axis} (m)'}} for axis in 'xyz'}
    return {
        'kind': 'path',
        'data': [trace for trace in data if trace['x']],
        'layout': {
            'scene': {
                **axes,
                'aspectmode': 'data',
                'camera': {'eye': {'x': 1.55, 'y': -1.75, 'z': 0.9}},
            },
            'height': 600,
            'margin': {'l': 0, 'r': 0, 't': 0, 'b': 0},
            'legend': {'orientation': 'h', 'x': 0, 'y': 1.0, 'yanchor': 'bottom'},
        },
    }


def series_figure(episode: Episode) -> dict[str, Any] | None:
    """All time series with values, one panel each over one time axis; None if there are none."""
    shown = [panel for panel in panels(episode) if not panel.is_empty]
    if not shown:
        return None
    duration = (episode_end(episode) - episode_start(episode)) / 1e9
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = {
        'height': PANEL_HEIGHT * len(shown) + SURROUND,
        'margin': {'l': 62, 'r': 14, 't': 52, 'b': 40},
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
    _add_context(layout, [*person_spans(episode), *contact_spans(episode)], marks(episode))
    return {'kind': 'series', 'data': data, 'layout': layout}


def is_thinned(episode: Episode) -> bool:
    """Whether any series is longer than what is drawn of it."""
    return any(len(s.time) > SERIES_POINTS for panel in panels(episode) for s in panel.series)


def _path_trace(path: Path, kept: Any) -> dict[str, Any]:
    x, y, z = (plot_numbers(path.positions[kept, i]) for i in range(3))
    jerk = plot_numbers(np.nan_to_num(path.jerk[kept]), 4)
    hover = f't %{{customdata:.2f}} s<br>{POSITION}<br>jerk %{{line.color:.4g}} m/s³'
    return {
        'type': 'scatter3d',
        'mode': 'lines',
        'name': 'path',
        'showlegend': False,
        'x': x,
        'y': y,
        'z': z,
        'customdata': plot_numbers(path.time[kept]),
        'hovertemplate': hover + '<extra></extra>',
        'line': {
            'width': 5,
            'color': jerk,
            'colorscale': [[i / (len(COLOURS) - 1), colour] for i, colour in enumerate(COLOURS)],
            'cmin': 0,
            'cmax': float(f'{jerk_limit(path):.3g}'),
            'showscale': True,
            'colorbar': {
                'title': {'text': 'jerk (m/s³)', 'side': 'right'},
                'thickness': 12,
                'len': 0.75,
            },
        },
    }


def _points_trace(name: str, points: Any, colour: str, symbol: str, size: int) -> dict[str, Any]:
    x, y, z = (plot_numbers(points[:MOST_SHAPES, i]) for i in range(3))
    return {
        'type': 'scatter3d',
        'mode': 'markers',
        'name': name,
        'x': x,
        'y': y,
        'z': z,
        'marker': {'size': size, 'color': colour, 'symbol': symbol},
        'hovertemplate': f'{name}<br>{POSITION}<extra></extra>',
    }


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
        'type': 'log' if panel.is_logarithmic else 'linear',
        'rangemode': 'tozero' if panel.is_from_zero and not panel.is_logarithmic else 'normal',
        'exponentformat': 'power',
        **_ticks(panel),
    }
    drawn = [s for s in panel.series if not s.is_empty]
    for i, series in enumerate(drawn):
        data.append(_line_trace(series, LINES[i % len(LINES)], axis, panel))
    unit = '' if panel.unit == '1' else f' ({panel.unit})'
    legend = ''.join(
        f'  <span style="color:{LINES[i]}">▬</span> {s.label}'
        for i, s in enumerate(drawn)
        if len(drawn) > 1
    )
    layout['annotations'].append(
        {
            'text': f'<b>{panel.title}</b>{unit}{legend}',
            'x': 0,
            'xref': 'paper',
            'xanchor': 'left',
            'y': top - slot * 0.04,
            'yref': 'paper',
            'yanchor': 'bottom',
            'showarrow': False,
        }
    )


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
                'text': escape(_short(mark.label), quote=False),
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
    colour = GREY if span.is_unknown else VERMILLION if span.is_collision else ORANGE
    colour = BLUE if span.is_person else colour
    return {
        'type': 'rect',
        'xref': 'x',
        'yref': 'paper',
        'x0': round(span.begin, 4),
        'x1': round(span.end, 4),
        'y0': 0,
        'y1': 1,
        'line': {'width': 0.8 if span.is_collision else 0, 'color': VERMILLION},
        'fillcolor': colour,
        'opacity': 0.30 if span.is_collision or span.is_unknown else 0.14,
        'layer': 'below',
    }


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + '…'
