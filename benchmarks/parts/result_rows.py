# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of result tables in a page: those that were measured take the place of those before."""

from __future__ import annotations

from collections.abc import Sequence

KEYS = 2  # cells at the beginning of a row that name it


def renewed(before: Sequence[str], measured: Sequence[str]) -> list[str]:
    """Markdown lines of tables, each row of `measured` in the place of the one with the same first
    cells under the same heading, or behind the others; tables that are not there yet follow. Rows
    that were not measured stay. Lines that are of no table are those of `measured`.
    """
    tables = _tables(before)
    for heading, rows in _tables(measured).items():
        tables.setdefault(heading, {}).update(rows)
    lines: list[str] = []
    for heading, rows in tables.items():
        lines += [*([''] if lines else []), heading, _rule(heading), *rows.values()]
    remarks = [line for line in measured if line and not line.startswith('|')]
    return [*lines, '', *remarks] if remarks else lines


def _tables(lines: Sequence[str]) -> dict[str, dict[tuple[str, ...], str]]:
    """Heading -> names -> row."""
    found: dict[str, dict[tuple[str, ...], str]] = {}
    rows: dict[tuple[str, ...], str] | None = None
    for line in lines:
        if not line.startswith('|'):
            rows = None
        elif rows is None:
            rows = found.setdefault(line, {})
        elif not set(line) <= set('| -:'):
            cells = [cell.strip() for cell in line.strip('|').split('|')]
            rows[tuple(cells[:KEYS])] = line
    return found


def _rule(heading: str) -> str:
    return '| ' + ' | '.join(['---'] * (heading.count('|') - 1)) + ' |'
