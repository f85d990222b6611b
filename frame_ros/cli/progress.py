# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A progress bar on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TypeVar

Item = TypeVar('Item')


def progress_bar(
    items: Iterable[Item], name: str, is_quiet: bool, total: int | None = None
) -> Iterable[Item]:
    """Yields the items with a bar; without one when quiet, when not a terminal, or for a single
    item.

    total: how many items there will be, if known.
    """
    if is_quiet or total == 1 or not sys.stderr.isatty():
        return items
    from tqdm import tqdm

    bar: Iterable[Item] = tqdm(items, desc=name, total=total, file=sys.stderr, leave=False)
    return bar
