# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A progress bar on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, Self, TypeVar

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


class Progress:
    """A bar for functions that are called with the number of things done, and of all."""

    def __init__(self, name: str, is_quiet: bool) -> None:
        """name: of the things."""
        self._name = name
        self._is_shown = not is_quiet and sys.stderr.isatty()
        self._bar: Any = None

    def __enter__(self) -> Self:
        """Returns itself."""
        return self

    def __call__(self, done: int, total: int) -> None:
        """Moves the bar, which is drawn at the first call."""
        if self._is_shown and self._bar is None:
            from tqdm import tqdm

            self._bar = tqdm(desc=self._name, total=total, file=sys.stderr, leave=False)
        if self._bar is not None:
            self._bar.update(done - self._bar.n)

    def __exit__(self, *_: object) -> None:
        """Removes the bar."""
        if self._bar is not None:
            self._bar.close()
