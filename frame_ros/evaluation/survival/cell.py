# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The operations of one policy on one object, as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome


class Cell(NamedTuple):
    """n operations in whole episodes.

    Attributes:
        times: (n,) s; infinite for a hard failure.
        events: (n,) whether done (also a hard failure); False: censored.
        episodes: (n,) number of the episode of each, from 0, without gaps, not decreasing.
    """

    times: NDArray[np.float64]
    events: NDArray[np.bool_]
    episodes: NDArray[np.intp]


def cell_of(outcomes: Iterable[EpisodeOutcome]) -> Cell:
    """Returns the operations of episodes; those without operations are left out."""
    rows = [each.operations for each in outcomes if each.operations]
    operations = [operation for row in rows for operation in row]
    return Cell(
        np.array([operation.time for operation in operations], np.float64),
        np.array([operation.event for operation in operations], np.bool_),
        np.repeat(np.arange(len(rows)), [len(row) for row in rows]),
    )


def cells_of(outcomes: Iterable[EpisodeOutcome]) -> dict[str, dict[str, Cell]]:
    """Returns policy -> object -> its cell, in the order of their first episodes. The human
    reference is one of the policies.
    """
    groups: dict[str, dict[str, list[EpisodeOutcome]]] = {}
    for each in outcomes:
        if each.operations:
            groups.setdefault(each.policy, {}).setdefault(each.object, []).append(each)
    return {
        policy: {name: cell_of(rows) for name, rows in objects.items()}
        for policy, objects in groups.items()
    }
