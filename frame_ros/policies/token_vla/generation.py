# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Greedy generation whose logits are reduced token by token, and are never kept.

The model's unmodified logits are reduced: no temperature, penalty or filter is applied to them
before. A vocabulary of 257,152 and a chunk of 50 tokens would be 51 MB a row otherwise.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import PolicyError
from frame_ros.metrics.token_statistics import ReducedTokens, token_statistics

_OF_ALL = ('vocabulary_size', 'temperatures')
_PER_TOKEN = tuple(f.name for f in fields(ReducedTokens) if f.name not in _OF_ALL)


@dataclass(frozen=True)
class Generated:
    """Rows of generated tokens, without their ends.

    Attributes:
        rows: (N_i,) ids of each.
        probabilities: (N_i,) each, of the chosen tokens; NaN of one outside of the restricted
            vocabulary.
        statistics: of the first row's tokens, None unless requested.
        hidden: (P + N - 1, E) last hidden states of the first row, None unless requested.
    """

    rows: list[NDArray[np.int64]]
    probabilities: list[NDArray[np.float64]]
    statistics: ReducedTokens | None
    hidden: NDArray[np.float32] | None


class LogitsReducer:
    """A logits processor: it changes nothing, and keeps a few numbers of each step.

    steps: of each, the ids that greedy decoding takes, (B,), and their probabilities, (B,).
    """

    def __init__(
        self, temperatures: Sequence[float], vocabulary: NDArray[np.int64] | None, is_detailed: bool
    ) -> None:
        """vocabulary: (K,) ids, ascending, over which probabilities are; None: over all.
        is_detailed: the first row's full statistics are wanted.
        """
        self._temperatures, self._vocabulary = tuple(temperatures), vocabulary
        self._is_detailed = is_detailed
        self.chosen: list[NDArray[np.int64]] = []
        self.probabilities: list[NDArray[np.float64]] = []
        self._reduced: list[ReducedTokens] = []

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Takes the logits (B, V) of one step."""
        import torch

        chosen = scores.argmax(dim=-1)
        ids = chosen.cpu().numpy()
        places = self._places(ids)
        values = np.full(len(ids), np.nan)
        for row in range(len(ids)):
            logits = scores[row]
            if self._vocabulary is not None:
                logits = logits[torch.as_tensor(self._vocabulary, device=logits.device)]
            if row == 0 and self._is_detailed:
                self._reduce(logits, int(places[0]))
            if places[row] >= 0:
                taken = logits[int(places[row])].double()
                values[row] = float((taken - torch.logsumexp(logits, -1).double()).exp())
        self.chosen.append(ids)
        self.probabilities.append(values)
        return scores

    def _places(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns the places of the ids among the classes; -1: not among them."""
        if self._vocabulary is None:
            return ids
        places = np.searchsorted(self._vocabulary, ids)
        found = self._vocabulary[np.minimum(places, len(self._vocabulary) - 1)] == ids
        return np.where(found, places, -1)

    def _reduce(self, logits: Any, place: int) -> None:
        chosen = None if place < 0 else np.array([place])
        row = logits.detach().float().cpu().numpy()[None]
        self._reduced.append(token_statistics(row, chosen, self._temperatures))

    @property
    def statistics(self) -> ReducedTokens | None:
        """Those of the first row, all steps together."""
        return joined(self._reduced) if self._reduced else None


class Choice:
    """A logits processor for sampling: tokens outside of a vocabulary cannot be drawn."""

    def __init__(self, vocabulary: NDArray[np.int64], end_tokens: Sequence[int]) -> None:
        """vocabulary: (K,) ids; end_tokens: ids that may be drawn too."""
        self._allowed = np.union1d(vocabulary, np.asarray(end_tokens, np.int64)).astype(np.int64)

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Masks the logits (B, V) of one step."""
        import torch

        allowed = torch.as_tensor(self._allowed, device=scores.device)
        masked = torch.full_like(scores, -torch.inf)
        masked[:, allowed] = scores[:, allowed]
        return masked


class Generator:
    """Calls a model's `generate`, without anything that its checkpoint sets for chats."""

    def __init__(self, model: Any, tokenizer: Any, most_tokens: int) -> None:
        from transformers import GenerationConfig

        self._model, self._most_tokens = model, most_tokens
        # Tokenizers give it whether or not the model takes it.
        takes_types = 'token_type_ids' in inspect.signature(model.forward).parameters
        self._left_out = () if takes_types else ('token_type_ids',)
        former = model.generation_config
        ends = former.eos_token_id if former.eos_token_id is not None else tokenizer.eos_token_id
        self.end_tokens = tuple(ends) if isinstance(ends, (list, tuple)) else (ends,)
        self.end_tokens = tuple(int(end) for end in self.end_tokens if end is not None)
        padding = tokenizer.pad_token_id
        model.generation_config = GenerationConfig(
            do_sample=False,
            max_new_tokens=most_tokens,
            eos_token_id=list(self.end_tokens) or None,
            pad_token_id=padding if padding is not None else (self.end_tokens or (0,))[0],
            bos_token_id=former.bos_token_id,
            decoder_start_token_id=former.decoder_start_token_id,
        )

    def greedy(
        self, inputs: dict[str, Any], reducer: LogitsReducer, wants_hidden: bool = False
    ) -> Generated:
        """The most likely tokens of each row of a batch.

        Raises:
            PolicyError: the model did not take the most likely tokens, or its logits are not
                finite.
        """
        output = self._model.generate(
            **self._taken(inputs),
            logits_processor=[reducer],
            return_dict_in_generate=True,
            output_hidden_states=wants_hidden,
        )
        sequences = output.sequences[:, -len(reducer.chosen) :].cpu().numpy()
        rows = [self._ended(row) for row in sequences]
        values = np.array(reducer.probabilities).T
        expected = np.array(reducer.chosen).T
        for row, ids in enumerate(rows):
            if not np.array_equal(ids, expected[row, : len(ids)]):
                raise PolicyError(
                    'the model did not take the most likely tokens by its logits; '
                    'its code changes them'
                )
        return Generated(
            rows,
            [value[: len(ids)] for value, ids in zip(values, rows)],
            reducer.statistics,
            _hidden_states(output, inputs, len(rows[0])) if wants_hidden else None,
        )

    def sampled(
        self, inputs: dict[str, Any], choice: Choice | None, temperature: float
    ) -> list[NDArray[np.int64]]:
        """Tokens drawn from the model's distribution, of each row of a batch."""
        output = self._model.generate(
            **self._taken(inputs),
            logits_processor=[choice] if choice else [],
            do_sample=True,
            temperature=temperature,
            top_k=0,
            top_p=1.0,
            return_dict_in_generate=True,
        )
        begin = 1 if self._model.config.is_encoder_decoder else inputs['input_ids'].shape[1]
        return [self._ended(row) for row in output.sequences[:, begin:].cpu().numpy()]

    def _taken(self, inputs: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in inputs.items() if name not in self._left_out}

    def _ended(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """A row up to what ends it."""
        ends = np.flatnonzero(np.isin(ids, self.end_tokens))
        return ids[: ends[0]] if len(ends) else ids


def _hidden_states(output: Any, inputs: dict[str, Any], count: int) -> NDArray[np.float32]:
    """The first row's last hidden states: of its prompt, then of its tokens but the last."""
    first, *others = (step[-1][0] for step in output.hidden_states)
    mask = inputs.get('attention_mask')
    if mask is not None and len(first) == mask.shape[1]:
        first = first[mask[0].bool()]
    parts = [first, *others[: count - 1]]
    return np.concatenate([part.float().cpu().numpy() for part in parts])


def joined(parts: Sequence[ReducedTokens]) -> ReducedTokens:
    """The statistics of several tokens, one after the other."""
    together = {n: np.concatenate([getattr(part, n) for part in parts]) for n in _PER_TOKEN}
    return replace(parts[0], **together)


def chosen_of(statistics: ReducedTokens, indices: NDArray[np.int64]) -> ReducedTokens:
    """The statistics of some of the tokens."""
    return replace(statistics, **{name: getattr(statistics, name)[indices] for name in _PER_TOKEN})
