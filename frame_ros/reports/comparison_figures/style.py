# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Looks of the policies, the same in every figure: a colour, a dash and a marker each, so that they
differ also for those who see no colours and on paper; and names that are safe to draw.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from frame_ros.core.plain_text import plain
from frame_ros.reports.html.figures import BLUE, GREEN, ORANGE, PURPLE, VERMILLION
from frame_ros.reports.html.page_frame import DIVIDER

COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE)
GREY = '#888888'  # of the human reference, and of guides
DASHES = ('solid', 'dash', 'dashdot', '12px,3px', 'dot', '12px,3px,2px,3px')
SYMBOLS = ('circle', 'square', 'diamond', 'triangle-up', 'cross', 'star', 'triangle-down')
HUMAN_SYMBOL = 'hexagon'
LONGEST_LABEL = 32
MOST_PANELS = 12  # of objects or pairs in a figure
PANELS = 'panels'  # the kind of a figure whose panels stand below each other in a narrow view
CONFIDENCE = 0.95

Trace = dict[str, Any]
# A value with the ends of its interval; the ends are NaN where there is none.
Estimated = tuple[float, float, float]


class Look(NamedTuple):
    """Appearance of one policy.

    Attributes:
        label: its name, cut and escaped, different from those of the others.
    """

    label: str
    colour: str
    dash: str
    symbol: str

    @property
    def is_human(self) -> bool:
        """True for a human reference."""
        return self.symbol == HUMAN_SYMBOL

    def line(self, width: float = 1.8, shape: str = 'linear') -> dict[str, Any]:
        """Returns plotly's line."""
        return {'color': self.colour, 'dash': self.dash, 'width': width, 'shape': shape}

    def marker(self, size: float = 7, is_open: bool = False) -> dict[str, Any]:
        """Returns plotly's marker."""
        symbol = f'{self.symbol}-open' if is_open else self.symbol
        width = 1.8 if is_open else 0
        return {'color': self.colour, 'symbol': symbol, 'size': size, 'line': {'width': width}}


def looks_of(policies: Iterable[str], human: Collection[str] = ()) -> dict[str, Look]:
    """Returns policy -> its look, by the order of the policies.

    human: those of them that are a human reference, which is grey and solid in every study.
    """
    names = list(policies)
    labels, looks, place = labels_of(names), dict[str, Look](), 0
    for name in names:
        if name in human:
            looks[name] = Look(labels[name], GREY, 'solid', HUMAN_SYMBOL)
            continue
        colour, dash = COLOURS[place % len(COLOURS)], DASHES[place % len(DASHES)]
        looks[name] = Look(labels[name], colour, dash, SYMBOLS[place % len(SYMBOLS)])
        place += 1
    return looks


def label_of(text: str, length: int = LONGEST_LABEL) -> str:
    """Returns a text cut in its middle to a length, that plotly draws as it is: no part of it is
    markup or a placeholder of a hover text.
    """
    return escape(cut(text, length), quote=False).replace('%{', f'%{DIVIDER}{{')


def cut(text: str, length: int = LONGEST_LABEL) -> str:
    """Returns a text in one line, cut in its middle to a length; for captions, which the page
    escapes.
    """
    text = ' '.join(plain(text.strip()).split()) or '(no name)'
    if len(text) <= length:
        return text
    first = (length - 1) * 2 // 3
    return f'{text[:first]}…{text[first + 1 - length :]}'


def labels_of(names: Iterable[str], length: int = LONGEST_LABEL) -> dict[str, str]:
    """Returns name -> label, where labels that would be the same carry a number."""
    labels: dict[str, str] = {}
    for name in names:
        label, number = label_of(name, length), 1
        while label in labels.values():
            number += 1
            label = f'{label_of(name, length)} ({number})'
        labels[name] = label
    return labels


def coloured(text: str, colour: str) -> str:
    """Returns a text of an annotation in a colour, which the page's theme leaves as it is."""
    return f'<span style="color:{colour}">{text}</span>'


def shown_objects(
    cells: Mapping[str, Mapping[str, Any]], policies: Iterable[str] | None = None
) -> tuple[list[str], str]:
    """Returns the objects of any policy that have a panel, in the order of their first appearance,
    and a sentence about those that have none, for the caption.
    """
    rows = cells.values() if policies is None else [cells[each] for each in policies]
    return cut_panels(list(dict.fromkeys(name for row in rows for name in row)), 'object')


def cut_panels(names: Sequence[str], noun: str) -> tuple[list[str], str]:
    """Returns the names that have a panel, and a sentence about those that have none."""
    more = len(names) - MOST_PANELS
    if more <= 0:
        return list(names), ''
    return list(names[:MOST_PANELS]), f' {more} more {noun}{"s" * (more > 1)} are not drawn.'


def empty_note(layout: dict[str, Any], panel: int, text: str) -> None:
    """Writes into a panel, counted from 1, why it is empty."""
    number = '' if panel == 1 else f'{panel}'
    layout['annotations'].append(
        {
            'name': 'event', 'text': text, 'showarrow': False, 'x': 0.5, 'y': 0.5,
            'xref': f'x{number} domain', 'yref': f'y{number} domain',
        }
    )  # fmt: skip


def spread(values: Sequence[float], distance: float, lowest: float, highest: float) -> list[float]:
    """Returns places near the values for labels that do not overlap: at least `distance` apart,
    in the order of the values, between the lowest and the highest while they have room there.
    """
    order = sorted(range(len(values)), key=values.__getitem__)
    places = [0.0] * len(values)
    previous = lowest - distance
    for place in order:
        previous = places[place] = max(values[place], previous + distance)
    above = highest + distance
    for place in reversed(order):
        above = places[place] = min(places[place], above - distance)
    return places
