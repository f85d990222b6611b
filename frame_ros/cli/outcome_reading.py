# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Outcomes that a command was given, with remarks on those that do not count."""

from __future__ import annotations

from frame_ros.core.errors import ValueRangeError
from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome
from frame_ros.evaluation.outcomes.giving import how_to_give
from frame_ros.evaluation.outcomes.reading import read_outcomes


def outcomes_and_notes(paths: list[str]) -> tuple[list[EpisodeOutcome], list[str]]:
    """Returns the outcomes at the paths, and in words what was left out.

    Raises:
        BagError, SetupError, ValueRangeError: as `read_outcomes`; or none holds an outcome.
    """
    found = read_outcomes(paths)
    left_out = [f'{each.name} is left out: {each.reason}' for each in found.excluded + found.unread]
    if not found.outcomes:
        raise ValueRangeError(
            f'no outcome in {", ".join(paths)}: {"; ".join(left_out[:3])}' + how_to_give(found)
        )
    return list(found.outcomes), [*found.notes, *left_out]
