# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Interventions of a gate that last: the arm does not follow its policy, and the log says why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from frame_ros.gate.records import Act, Intervention

LASTING = 1.0  # s; what a busy machine causes is over before
SLOWEST = 10.0  # s between two refused commands of one policy
VERBS = {Act.REFUSED: 'refuses the commands', Act.HELD: 'holds the arm'}


@dataclass
class _Lasting:
    """begun, newest: s, of the first message and the last. passed: commands until then. is_new: not
    looked at since.
    """

    begun: float
    newest: float
    text: str
    episode_id: str
    passed: int
    is_running: bool = True
    is_new: bool = True


class LastingInterventions:
    """The runs of refused commands and of holds that have not ended.

    To the gate a run of refusals is over a quarter of a second after the last. Here the next one
    goes on with it if no command has passed between them: of a slow policy each is a run of its
    own.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[Act, str], _Lasting] = {}
        self._passed = 0

    def take(self, intervention: Intervention, now: float) -> None:
        """Takes the first or last message of a run. now: s."""
        act, reason = intervention.act, intervention.reason
        key = (act, reason.cause)
        if act not in VERBS:
            return
        before = self._found.get(key)
        if intervention.is_over:
            if before is not None:
                before.is_running, before.newest = False, now
            if act is Act.HELD:
                self._found.pop(key, None)
            return
        text = f'{VERBS[act]}: {key[1]}: {reason.text}'
        goes_on = (
            before is not None
            and before.passed == self._passed
            and before.episode_id == intervention.episode_id
            and now <= before.newest + SLOWEST
        )
        begun = before.begun if before is not None and goes_on else now
        self._found[key] = _Lasting(begun, now, text, intervention.episode_id, self._passed)

    def note_passed(self, passed: int) -> None:
        """Notes how many commands have passed so far, as they were or limited."""
        self._passed = passed

    def texts(self, now: float) -> Iterator[str]:
        """Yields what has lasted for LASTING and has not ended, or has come since the last call, in
        words.
        """
        for each in self._found.values():
            if (each.is_running or each.is_new) and now >= each.begun + LASTING:
                yield each.text
            each.is_new = False
