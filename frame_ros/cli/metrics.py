# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros metrics`: the registry as a table."""

from __future__ import annotations

import argparse
import json
from typing import Any

COLUMNS = ('id', 'name', 'unit', 'direction', 'category', 'source')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        '--json', action='store_true', help='as JSON, with what makes each metric unavailable'
    )


def run(args: argparse.Namespace) -> int:
    """Prints the table."""
    from frame_ros.metrics.registry import REGISTRY

    entries = list(REGISTRY.values())
    if args.json:
        print(json.dumps([_as_data(entry) for entry in entries], indent=2, ensure_ascii=False))
    else:
        print(format_table([COLUMNS, *(_row(entry) for entry in entries)]))
    return 0


def format_table(rows: list[tuple[str, ...]]) -> str:
    """Returns rows as text with aligned columns, the first underlined."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        '  '.join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows
    ]
    lines.insert(1, '  '.join('-' * width for width in widths))
    return '\n'.join(lines)


def direction(higher_is_better: bool | None) -> str:
    """Returns which way is better, in words."""
    if higher_is_better is None:
        return 'none'
    return 'higher is better' if higher_is_better else 'lower is better'


def _row(entry: Any) -> tuple[str, ...]:
    return (
        entry.id,
        entry.name,
        entry.unit,
        direction(entry.higher_is_better),
        entry.category,
        entry.source,
    )


def _as_data(entry: Any) -> dict[str, Any]:
    names = ('id', 'name', 'unit', 'higher_is_better', 'category', 'source', 'unavailable')
    return {name: getattr(entry, name) for name in names}
