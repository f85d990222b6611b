# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The newest message of each source among those waiting on one topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any

Taken = tuple[Any, dict[str, Any]]


def newest_of_each(
    taken: list[Taken], most: int, source: Callable[[Taken], Hashable]
) -> list[Taken]:
    """Returns the newest `most` messages of each source, in their order; all of those without
    one.

    Args:
        taken: oldest first.
        source: whose a message is; None: not known.
    """
    if len(taken) <= most:
        return taken
    found: list[Taken] = []
    seen: Counter[Hashable] = Counter()
    for each in reversed(taken):
        key = source(each)
        seen[key] += 1
        if key is None or seen[key] <= most:
            found.append(each)
    return found[::-1]
