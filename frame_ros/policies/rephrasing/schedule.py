# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Schedule of inferences with a prompt ensemble, and their rephrasings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from frame_ros.core.errors import ValueRangeError

UNLISTED = 'the list of rephrasings has none of the instruction'


class RephraseSchedule:
    """The rephrasings requested with the next inference.

    Args:
        rephrasings: of every instruction.
        by_instruction: of each its own, instead.
        every: the first of so many inferences of an episode has an ensemble, for each costs a
            forward pass.

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
        """True if any inference has an ensemble."""
        return bool(self._fixed) or self._by_instruction is not None

    def restart(self) -> None:
        """Begins an episode: its first inference has an ensemble."""
        self._count = 0

    def next(self, instruction: str) -> tuple[tuple[str, ...], str]:
        """Returns the rephrasings of the next inference, and why there are none, if so."""
        is_turn = self._count % self._every == 0
        self._count += 1
        if not (is_turn and self.is_wanted):
            return (), ''
        if self._by_instruction is None:
            return self._fixed, ''
        found = tuple(self._by_instruction.get(instruction, ()))
        return found, '' if found else f'{UNLISTED} {instruction!r}'
