# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Which inferences come with a prompt ensemble, and of which rephrasings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from frame_ros.core.errors import ValueRangeError

UNLISTED = 'the list of rephrasings has none of the instruction'


class RephraseSchedule:
    """The rephrasings that the next inference is asked for.

    rephrasings: of every instruction; or by_instruction: of each its own. every: of so many
    inferences of an episode the first is asked, for each costs a forward pass.

    Raises:
        ValueRangeError: both are given, or `every` is not positive.
    """

    def __init__(
        self,
        rephrasings: Sequence[str] = (),
        by_instruction: Mapping[str, Sequence[str]] | None = None,
        every: int = 1,
    ) -> None:
        if rephrasings and by_instruction is not None:
            raise ValueRangeError('rephrasings are given both as a list and as a file; one is used')
        if every < 1:
            raise ValueRangeError(f'rephrase_every is {every}; it must be 1 or more')
        self._fixed = tuple(rephrasings)
        self._by_instruction = by_instruction
        self._every = every
        self._count = 0

    @property
    def is_wanted(self) -> bool:
        """Whether any inference is asked for an ensemble."""
        return bool(self._fixed) or self._by_instruction is not None

    def restart(self) -> None:
        """Begins an episode: its first inference is asked."""
        self._count = 0

    def next(self, instruction: str) -> tuple[tuple[str, ...], str]:
        """The rephrasings to ask for with the next inference; and why there are none although it is
        this one's turn, or an empty text.
        """
        is_turn = self._count % self._every == 0
        self._count += 1
        if not (is_turn and self.is_wanted):
            return (), ''
        if self._by_instruction is None:
            return self._fixed, ''
        found = tuple(self._by_instruction.get(instruction, ()))
        return found, '' if found else f'{UNLISTED} {instruction!r}'
