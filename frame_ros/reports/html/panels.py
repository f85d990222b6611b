# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Figures of several panels in rows and columns, as plotly descriptions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

GAP = 0.06  # of the width, between panels
ROW_HEIGHT = 236  # px, of a panel with its heading
SURROUND = 92  # px, above and below the rows, with one line of legend
MARGIN_BELOW = 58  # px, without the legend
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
                    'text': title, 'x': left + width / 2, 'xref': 'paper', 'xanchor': 'center',
                    'y': top, 'yref': 'paper', 'yanchor': 'bottom', 'showarrow': False,
                }
            )  # fmt: skip
    return layout


def small_multiples(
    titles: Sequence[str], below: str, side: str = '', has_legend: bool = True
) -> dict[str, Any]:
    """Returns the layout of panels of one kind: in one row up to four, in rows of three up to six,
    else in rows of four, with a legend below.

    Args:
        titles: of the panels, at least one, safe for plotly.
        below: title of the horizontal axes.
        side: title of the vertical axes.
        has_legend: False leaves no room for it.
    """
    columns = len(titles) if len(titles) <= NARROWEST_ROW else 3 if len(titles) <= 6 else 4
    rows = [titles[place : place + columns] for place in range(0, len(titles), columns)]
    height = ROW_HEIGHT * len(rows) + SURROUND + (40 if len(rows) == 1 else 0)
    layout = grid_layout(rows, height, below, side)
    layout['margin'] = {'l': 58, 'r': 12, 't': 34, 'b': MARGIN_BELOW + (24 if has_legend else 0)}
    layout['showlegend'] = has_legend
    if has_legend:
        layout['legend'] = legend_below(height - 34 - MARGIN_BELOW - 24)
    return layout


def legend_below(plotted: float) -> dict[str, Any]:
    """Returns a legend below a plotted area of this height in pixels, and below its axis title."""
    return {'orientation': 'h', 'x': 0, 'y': -46 / plotted, 'yanchor': 'top'}
