# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Interventions of a gate that last: the arm does not follow its policy, and the log says why."""

from __future__ import annotations

from collections.abc import Iterator

from frame_ros.gate.records import Act, Intervention

LASTING = 1.0  # s; what a busy machine causes is over before
VERBS = {Act.REFUSED: 'refuses the commands', Act.HELD: 'holds the arm'}


class LastingInterventions:
    """The runs of refused commands and of holds that have not ended."""

    def __init__(self) -> None:
        self._begun: dict[tuple[Act, str], tuple[float, str]] = {}

    def take(self, intervention: Intervention, now: float) -> None:
        """Takes the first or last message of a run. now: s."""
        key = (intervention.act, intervention.reason.cause)
        if intervention.is_over:
            self._begun.pop(key, None)
        elif intervention.act in VERBS:
            text = f'{VERBS[intervention.act]}: {key[1]}: {intervention.reason.text}'
            self._begun[key] = now, text

    def texts(self, now: float) -> Iterator[str]:
        """Yields what has lasted for LASTING, in words."""
        for begun, text in self._begun.values():
            if now >= begun + LASTING:
                yield text
