# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros metrics`: a table of all metrics, or the explanations of some."""

from __future__ import annotations

import argparse
import json
import textwrap
from typing import TYPE_CHECKING, Any

from frame_ros.cli.arguments import given
from frame_ros.cli.parser import suggestion
from frame_ros.core.errors import ValueRangeError
from frame_ros.core.plain_text import plain

if TYPE_CHECKING:
    from frame_ros.metrics.record import Metric

COLUMNS = ('id', 'name', 'unit', 'direction', 'category', 'source')
WIDTH = 96


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        'ids',
        nargs='*',
        metavar='ID',
        type=given,
        help='explain these metrics: formula, what it shows, when it misleads',
    )
    parser.add_argument(
        '--json', action='store_true', help='print JSON, with all fields of each metric'
    )


def run(args: argparse.Namespace) -> int:
    """Prints the table, or the explanations of the metrics named.

    Raises:
        ValueRangeError: there is no metric of that id.
    """
    from frame_ros.metrics.registry import REGISTRY, metric

    for id in args.ids:
        if id not in REGISTRY and (hint := suggestion(id, REGISTRY)):
            raise ValueRangeError(f'no metric has the id {id!r}; {hint}')
    entries = [metric(id) for id in args.ids] or list(REGISTRY.values())
    if args.json:
        print(json.dumps([_as_data(entry) for entry in entries], indent=2, ensure_ascii=False))
    elif args.ids:
        print('\n\n'.join(explained(entry) for entry in entries))
    else:
        print(format_table([COLUMNS, *(_row(entry) for entry in entries)]))
    return 0


def explained(entry: Metric) -> str:
    """Returns the record of a metric as text for a terminal."""
    facts = (
        ('unit', 'dimensionless' if entry.unit == '1' else entry.unit),
        ('better', direction(entry.higher_is_better)),
        ('needs', f'{entry.minimum_samples} or more samples'),
        ('source', entry.source),
        ('topic', ', '.join(f'{kind}_metrics' for kind in entry.messages) or 'reports only'),
        ('fields', ', '.join(entry.fields)),
        ('Python', ', '.join(python_names(entry))),
        ('shows', entry.shows),
        ('misleads', entry.misleads),
        ('variants', entry.variants),
        ('options', ', '.join(entry.options)),
        ('NaN when', entry.unavailable),
    )
    indent = ' ' * 12
    lines = [f'{entry.id}: {entry.name}', '']
    lines += [f'    {line}' for line in entry.formula.splitlines()] + ['']
    lines += [
        textwrap.fill(text, WIDTH, initial_indent=f'  {name:<10}', subsequent_indent=indent)
        for name, text in facts
        if text
    ]
    return '\n'.join(lines)


def python_names(entry: Metric) -> list[str]:
    """Returns the dotted names of the function and the classes that compute a metric."""
    computing = (entry.function, entry.streaming_name)
    names = [f'frame_ros.metrics.{name}' for name in computing if name]
    return names + ([f'frame_ros.metrics.torch.{entry.torch}'] if entry.torch else [])


def format_table(rows: list[tuple[str, ...]]) -> str:
    """Returns rows as text with aligned columns, the first row underlined; one line for each."""
    rows = [tuple(plain(cell) for cell in row) for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        '  '.join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows
    ]
    lines.insert(1, '  '.join('-' * width for width in widths))
    return '\n'.join(lines)


def direction(higher_is_better: bool | None) -> str:
    """Returns which way is better, in entry."""
    if higher_is_better is None:
        return 'none'
    return 'higher is better' if higher_is_better else 'lower is better'


def _row(entry: Metric) -> tuple[str, ...]:
    return (
        entry.id,
        entry.name,
        entry.unit,
        direction(entry.higher_is_better),
        entry.category,
        entry.source,
    )


def _as_data(entry: Metric) -> dict[str, Any]:
    plain = (
        'id', 'name', 'unit', 'higher_is_better', 'minimum_samples', 'source', 'category',
        'unavailable', 'messages', 'fields', 'function', 'torch', 'aggregate', 'options',
        'formula', 'shows', 'misleads', 'variants',
    )  # fmt: skip
    facts = {name: getattr(entry, name) for name in plain}
    return {**facts, 'streaming': entry.streaming_name}
