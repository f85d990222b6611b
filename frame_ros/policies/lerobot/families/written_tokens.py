# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A language model's probabilities of each token that it wrote, read while it writes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from frame_ros.metrics.token_statistics import ReducedTokens, token_statistics
from frame_ros.policies.protocol import TokenStatistics


class WrittenTokens:
    """Reads the logits off a head, and the token taken off the embedding that it is fed back to.
    Each step is reduced as soon as its token is known: of the logits (B, V) one step is held.

    first_hidden: (E,) tensor, what the head got for the first token of the first sequence.
    """

    def __init__(self, head: Any, embedding: Any, temperatures: Sequence[float]) -> None:
        """head, embedding: torch modules. temperatures: see `token_statistics`."""
        self._temperatures = tuple(temperatures)
        self._is_reading = False
        self._pending: Any = None
        self.first_hidden: Any = None
        self._steps: list[ReducedTokens] = []
        head.register_forward_hook(self._on_logits)
        embedding.register_forward_pre_hook(self._on_token)

    @contextlib.contextmanager
    def reading(self) -> Iterator[WrittenTokens]:
        """Inside the `with` block what is written is read; `finish` gives it."""
        self._pending, self._steps, self._is_reading = None, [], True
        self.first_hidden = None
        try:
            yield self
        finally:
            self._is_reading, self._pending = False, None

    def finish(self, tokens: Any) -> list[TokenStatistics]:
        """The statistics of each of the B sequences, one entry per step.

        tokens: (B, T) what was written; the last one was not fed back.
        """
        if self._pending is not None:
            self._reduce(tokens[:, len(self._steps)])
        return [self._sequence(row) for row in range(len(tokens))]

    def _on_logits(self, head: Any, arguments: Any, logits: Any) -> None:
        if not self._is_reading:
            return
        if self.first_hidden is None:
            self.first_hidden = arguments[0][0, -1].detach().float()
        self._pending = logits[:, -1].detach()

    def _on_token(self, embedding: Any, arguments: tuple[Any, ...]) -> None:
        tokens = arguments[0]
        if self._pending is not None and tokens.shape[-1] == 1:
            self._reduce(tokens[:, 0])

    def _reduce(self, taken: Any) -> None:
        logits = self._pending.float().cpu().numpy()
        self._steps.append(token_statistics(logits, taken.cpu().numpy(), self._temperatures))
        self._pending = None

    def _sequence(self, row: int) -> TokenStatistics:
        steps = self._steps
        none = np.full(len(steps), -1, np.int32)
        reduced = {
            field.name: np.array([getattr(step, field.name)[row] for step in steps])
            for field in fields(ReducedTokens)
            if field.name not in ('vocabulary_size', 'temperatures')
        }
        return TokenStatistics(
            vocabulary_size=steps[0].vocabulary_size,
            temperatures=steps[0].temperatures,
            step=none,
            dimension=none,
            **reduced,
        )


def tokens_between(tokens: TokenStatistics, first: int, last: int) -> TokenStatistics:
    """The statistics of the tokens `first` to `last` - 1."""
    whole = ('vocabulary_size', 'temperatures')
    values = {
        field.name: getattr(tokens, field.name)
        if field.name in whole
        else getattr(tokens, field.name)[first:last]
        for field in fields(TokenStatistics)
    }
    return TokenStatistics(**values)
