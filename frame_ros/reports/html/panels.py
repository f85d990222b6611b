# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Figures of several panels in rows and columns, as plotly descriptions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

GAP = 0.06  # of the width, between panels
ROW_HEIGHT = 236  # px, of a panel with its heading
TOP = 34  # px, above the rows
MARGIN_BELOW = 54  # px, below them, for the axis and its title
LEGEND = 30  # px, of one line of it
NARROWEST_ROW = 4  # panels up to which there is one row


def transparent(colour: str) -> str:
    """Returns a colour such as #0072B2 for the area of a band."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return f'rgba({red},{green},{blue},0.16)'


def axes_of(panel: int) -> dict[str, str]:
    """Returns the axes of a trace in a panel, counted from 1."""
    number = '' if panel == 1 else f'{panel}'
    return {'xaxis': f'x{number}', 'yaxis': f'y{number}'}


def grid_layout(
    titles: Sequence[Sequence[str]], height: int, below: str, side: str = '', gap: float = GAP
) -> dict[str, Any]:
    """Returns the layout of panels in rows, with a title above each.

    Args:
        titles: of each row.
        height: in pixels.
        below: title of the horizontal axes of the last row.
        side: title of the vertical axes of the first column.
        gap: share of the width between panels.
    """
    layout: dict[str, Any] = {
        'height': height,
        'margin': {'l': 56, 'r': 10, 't': 34, 'b': 50},
        'annotations': [],
    }
    panel, columns = 0, max(map(len, titles))
    width, slot = (1 - gap * (columns - 1)) / columns, 1 / len(titles)
    for number, row in enumerate(titles):
        top = 1 - number * slot
        bottom = top - slot * (0.74 if len(titles) > 1 else 1.0)
        for column, title in enumerate(row):
            panel += 1
            left = column * (width + gap)
            axis = '' if panel == 1 else f'{panel}'
            is_last = number == len(titles) - 1 or column >= len(titles[number + 1])
            layout[f'xaxis{axis}'] = {
                'domain': [left, left + width], 'anchor': f'y{axis}', 'nticks': 5,
                'title': {'text': below if is_last else '', 'standoff': 8},
            }  # fmt: skip
            layout[f'yaxis{axis}'] = {
                'domain': [max(bottom, 0.0), top], 'anchor': f'x{axis}', 'nticks': 5,
                'title': {'text': side if column == 0 else '', 'standoff': 4},
            }  # fmt: skip
            layout['annotations'].append(
                {
                    'name': 'panel', 'text': title,
                    'x': left + width / 2, 'xref': 'paper', 'xanchor': 'center',
                    'y': top, 'yref': 'paper', 'yanchor': 'bottom', 'showarrow': False,
                }
            )  # fmt: skip
    return layout


def small_multiples(
    titles: Sequence[str],
    below: str,
    side: str = '',
    has_legend: bool = True,
    widest: float = 1.0,
) -> dict[str, Any]:
    """Returns the layout of panels of one kind: in one row up to four, in rows of three up to six,
    else in rows of four, with a legend below.

    Args:
        titles: of the panels, at least one, safe for plotly.
        below: title of the horizontal axes.
        side: title of the vertical axes.
        has_legend: False leaves no room for it.
        widest: largest share of the width that a panel takes.
    """
    columns = len(titles) if len(titles) <= NARROWEST_ROW else 3 if len(titles) <= 6 else 4
    rows = [titles[place : place + columns] for place in range(0, len(titles), columns)]
    plotted = ROW_HEIGHT * len(rows) + (20 if len(rows) == 1 else 0)
    layout = grid_layout(rows, 0, below, side)
    bottom = min(layout[key]['domain'][0] for key in layout if key.startswith('yaxis'))
    margin = MARGIN_BELOW + (LEGEND if has_legend else 0) - bottom * plotted
    layout['margin'] = {'l': 58, 'r': 12, 't': TOP, 'b': max(round(margin), 0)}
    layout['height'] = plotted + TOP + layout['margin']['b']
    layout['showlegend'] = has_legend
    if has_legend:
        layout['legend'] = legend_below(plotted, bottom)
    if columns * widest < 1.0:
        _squeeze(layout, columns * widest)
    return layout


def _squeeze(layout: dict[str, Any], share: float) -> None:
    """Makes all panels narrower, to fill the left share of the width."""
    for key in [key for key in layout if key.startswith('xaxis')]:
        layout[key]['domain'] = [share * end for end in layout[key]['domain']]
    for note in layout['annotations']:
        note['x'] *= share


def legend_below(plotted: float, bottom: float = 0.0) -> dict[str, Any]:
    """Returns a legend below the axis title of a plotted area.

    Args:
        plotted: height of the area in pixels.
        bottom: share of the area that lies below its lowest axis.
    """
    return {'orientation': 'h', 'x': 0, 'y': bottom - 46 / plotted, 'yanchor': 'top'}
