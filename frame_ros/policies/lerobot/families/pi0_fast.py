# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""pi0-FAST (Pertsch et al. 2025): PaliGemma writes a chunk as tokens of the FAST compression."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import CheckpointError
from frame_ros.metrics.families.confidence import token_confidence
from frame_ros.policies.lerobot.families.family import (
    Family,
    FamilyOptions,
    NoActionError,
    Outcome,
    tokenizer_override,
)
from frame_ros.policies.lerobot.families.pi import paligemma_weight_names
from frame_ros.policies.lerobot.families.written_tokens import WrittenTokens, tokens_between
from frame_ros.policies.protocol import TokenStatistics

PROMPT = ('observation.language.tokens', 'observation.language.attention_mask')
END = '|'


class Pi0Fast(Family):
    """Writes the chunk token by token; only the tokens of actions count.

    The words around them ('Action: ' before, '|' after) and the text after the end do not count.
    FAST compresses the chunk as a whole: no token belongs to a step or a dimension. With `samples`,
    N - 1 further chunks are drawn at `sample_temperature` in one batch with the executed one, which
    is greedy unless the checkpoint says otherwise; drawn tokens that do not decode to actions are
    left out. Rephrased instructions are written in one batch too.

    LeRobot fails on the whole batch if one sequence in it does not begin with 'Action:'
    (`validate_action_token_prefix`); here only that one is no action.
    """

    needs_instruction: ClassVar[bool] = True
    may_lack_cameras: ClassVar[bool] = True
    feature_source = "pi0-FAST: the language model's output at the first token"

    def __init__(self, model: Any, options: FamilyOptions) -> None:
        super().__init__(model, options)
        network = model.model.paligemma_with_expert.paligemma
        embedding = network.model.language_model.get_input_embeddings()
        self._written = WrittenTokens(network.lm_head, embedding, options.temperatures)
        self._tokens: Any = None
        self._is_decodable: list[bool] = []
        self._must_announce = bool(self.config.validate_action_token_prefix)
        self.config.validate_action_token_prefix = False
        self._detokenize, self._decode = model.detokenize_actions, model.decode_actions_with_fast
        model.detokenize_actions, model.decode_actions_with_fast = self._keep, self._try

    @classmethod
    def configure(cls, config: Any, options: FamilyOptions) -> None:
        """Names the folders of both tokenizers; LeRobot runs the Python code of the second."""
        if options.tokenizer_folder:
            config.text_tokenizer_name = str(Path(options.tokenizer_folder).expanduser())
        if options.action_tokenizer_folder:
            config.action_tokenizer_name = str(Path(options.action_tokenizer_folder).expanduser())
        if not options.trust_remote_code:
            raise CheckpointError(
                f'LeRobot runs the Python code that comes with the action tokenizer of pi0-FAST '
                f'({config.action_tokenizer_name}): read it, then allow it with '
                'trust_remote_code=true'
            )

    @classmethod
    def preprocessor_overrides(cls, options: FamilyOptions) -> dict[str, dict[str, Any]]:
        """Both tokenizers."""
        overrides = tokenizer_override(options)
        names = {
            'action_tokenizer_name': options.action_tokenizer_folder,
            'paligemma_tokenizer_name': options.tokenizer_folder,
        }
        folders = {name: str(Path(f).expanduser()) for name, f in names.items() if f}
        return {**overrides, 'action_tokenizer_processor': folders} if folders else overrides

    @classmethod
    def weight_names(cls, names: frozenset[str]) -> frozenset[str]:
        """As LeRobot does."""
        return paligemma_weight_names(names)

    @classmethod
    def resizes_images(cls, config: Any) -> bool:
        """With padding, to the size of its vision encoder."""
        return True

    @property
    def unavailable(self) -> Mapping[str, str]:
        """Nothing."""
        return {}

    def infer(self, batch: dict[str, Any]) -> Outcome:
        """The chunk and its tokens; further chunks drawn in a batch of their own."""
        with self._written.reading() as written, self.executed.installed():
            chunk = self.model.predict_action_chunk(batch)
            tokens = self._statistics(written.finish(self._tokens)[0], self._tokens[0])
            features = written.first_hidden
        if not self._is_decodable[0]:
            raise NoActionError(
                'pi0-FAST wrote tokens that are no compressed actions; LeRobot would execute the '
                'mean action of the data set in their place'
            )
        samples = self._sample(batch, chunk)
        if samples is not None and len(samples) < 2:
            why = f'none of the {self.options.samples - 1} drawn sequences was an action'
            return Outcome(chunk, None, tokens, {'samples': why}, features)
        return Outcome(chunk, samples, tokens, features=features)

    def rephrased_confidences(self, batches: Sequence[dict[str, Any]]) -> NDArray[np.float64]:
        """The mean probability of the tokens taken under each of the prompts, (r,); NaN where what
        was written is no action.
        """
        import torch

        batch = dict(batches[0])
        for name in PROMPT:
            batch[name] = torch.cat([each[name] for each in batches])
        with self._written.reading() as written, self.others.installed():
            self.model.predict_action_chunk(_repeated(batch, len(batches)))
            rows = written.finish(self._tokens)
        written_rows = zip(rows, self._tokens, self._is_decodable, strict=True)
        return np.array([self._confidence(*each) for each in written_rows])

    def _confidence(self, row: TokenStatistics, tokens: Any, is_decodable: bool) -> float:
        if is_decodable:
            with contextlib.suppress(NoActionError):
                return float(token_confidence(self._statistics(row, tokens).chosen_probability))
        return float('nan')

    def _sample(self, batch: dict[str, Any], chunk: Any) -> Any:
        """(N, H, D): the executed chunk, then N - 1 drawn ones."""
        import torch

        count = self.options.samples - 1
        if count < 1:
            return None
        temperature = self.config.temperature
        self.config.temperature = temperature or self.options.sample_temperature
        try:
            with self.others.installed():
                drawn = self.model.predict_action_chunk(_repeated(batch, count))
        finally:
            self.config.temperature = temperature
        return torch.cat([chunk, drawn[torch.tensor(self._is_decodable, device=drawn.device)]])

    def _keep(self, tokens: Any, **arguments: Any) -> Any:
        """Notes the tokens. They hold the chunk of the training, whatever LeRobot asks for: decoded
        over fewer steps (n_action_steps) it would be the same movement at a higher speed.
        """
        self._tokens = tokens
        arguments['action_horizon'] = int(self.config.chunk_size)
        return self._detokenize(tokens, **arguments)

    def _try(self, token_ids: Sequence[Any], *arguments: Any, **options: Any) -> Any:
        """Notes which sequences decode: LeRobot logs the others and gives zeros for them."""
        announced = [self._is_announced(row) for row in self._tokens]
        pairs = zip(announced, token_ids, strict=True)
        self._is_decodable = [is_announced and self._decodes(ids) for is_announced, ids in pairs]
        return self._decode(token_ids, *arguments, **options)

    def _is_announced(self, tokens: Any) -> bool:
        words = self.model._paligemma_tokenizer.convert_ids_to_tokens(tokens[:2].tolist())
        return not self._must_announce or words == ['Action', ':']

    def _decodes(self, tokens: Any) -> bool:
        try:
            return bool(self.model.action_tokenizer.bpe_tokenizer.decode(tokens))
        except Exception:  # a tokenizer raises what it likes
            return False

    def _statistics(self, row: TokenStatistics, tokens: Any) -> TokenStatistics:
        """Of one sequence only the tokens that hold actions."""
        words = self.model._paligemma_tokenizer.convert_ids_to_tokens(tokens.tolist())
        prefix = self.model._paligemma_tokenizer.encode('Action: ', add_special_tokens=False)
        first = len(prefix) if tokens[: len(prefix)].tolist() == list(prefix) else 0
        if not first and words[:2] == ['Action', ':']:
            first = 2
        last = words.index(END) if END in words else len(words)
        last = min(last, len(row.entropy))
        if last <= first:
            raise NoActionError(
                'pi0-FAST wrote no action: it ended the chunk before the first token'
            )
        return tokens_between(row, first, last)


def _repeated(batch: dict[str, Any], count: int) -> dict[str, Any]:
    """The tensors of batch 1, for a batch of `count`."""
    import torch

    return {
        key: value.expand(count, *value.shape[1:])
        if isinstance(value, torch.Tensor) and value.ndim and value.shape[0] == 1
        else value
        for key, value in batch.items()
    }
