# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A token VLA behind the protocol of policies."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import FrameRosError, PolicyError
from frame_ros.metrics.families.confidence import token_confidence, token_groups
from frame_ros.policies.base import Policy
from frame_ros.policies.protocol import Inference, Observation, TokenStatistics
from frame_ros.policies.token_vla.codec import ActionTokens, Codec
from frame_ros.policies.token_vla.first_hidden import FEATURE_SOURCE, FirstHidden
from frame_ros.policies.token_vla.generation import (
    Choice,
    Generated,
    Generator,
    LogitsReducer,
    chosen_of,
)
from frame_ros.policies.token_vla.prompts import PromptBuilder


@dataclass(frozen=True)
class ChunkFormat:
    """The columns of a chunk. to_robot: (..., D) values of the model -> `units`."""

    space: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    dt: float
    to_robot: Callable[[NDArray[np.float64]], NDArray[np.float64]]


@dataclass(frozen=True)
class VlaGeneration:
    """Parameters of calls of a token VLA.

    Attributes:
        temperatures: (K,) at which the largest probability of each token is also computed.
        vocabulary: (K,) ids that probabilities are over, None: all.
        samples: N chunks drawn in addition to the most likely one, at `sampling_temperature`.
        largest_batch: rows of one batch, 0: no limit.
        rephrasing_aggregate: see `VlaOptions`.
    """

    temperatures: tuple[float, ...] = ()
    vocabulary: NDArray[np.int64] | None = None
    samples: int = 0
    sampling_temperature: float = 1.0
    largest_batch: int = 0
    rephrasing_aggregate: str = 'mean'


@dataclass
class _Timer:
    """Seconds between marks."""

    marks: list[float] = field(default_factory=lambda: [time.perf_counter()])

    def mark(self) -> float:
        """Seconds since the last mark."""
        self.marks.append(time.perf_counter())
        return self.marks[-1] - self.marks[-2]


class TokenVlaPolicy(Policy):
    """A vision-language-action model that writes actions as tokens; `VlaCheckpoint` makes it."""

    needs_instruction = True

    def __init__(
        self,
        name: str,
        checkpoint: str,
        cameras: tuple[str, ...],
        model: Any,
        prompts: PromptBuilder,
        codec: Codec,
        chunk: ChunkFormat,
        settings: VlaGeneration,
        notes: list[str],
    ) -> None:
        self.name, self.checkpoint, self.cameras, self.notes = name, checkpoint, cameras, notes
        self._model, self._prompts, self._codec, self._format = model, prompts, codec, chunk
        self._settings = settings
        self._generator = Generator(model, prompts.tokenizer, codec.most_tokens)
        self._wants_hidden = bool(getattr(codec, 'wants_hidden_states', False))
        self._encoding = FirstHidden(model)

    def reset(self, seed: int | None = None) -> None:
        """Forgets the last episode; `seed` seeds torch, for the samples."""
        import torch

        if seed is not None:
            torch.manual_seed(seed)

    def warm_up(self) -> None:
        """Makes a call with black images, whose output is ignored: the first call is many times
        slower.
        """
        import torch

        images = [np.zeros((224, 224, 3), np.uint8)] * len(self.cameras)
        with torch.inference_mode():
            inputs = self._prompts.inputs(['do nothing'], images)
            self._generator.greedy(inputs, LogitsReducer((), None, is_detailed=False))

    def infer(self, observation: Observation) -> Inference:
        """Returns the most likely chunk, its tokens' statistics, and the confidence of each
        rephrasing.

        Raises:
            PolicyError: a camera or the instruction is missing, or the model's tokens are not a
                chunk.
        """
        import torch

        timer = _Timer()
        images = self._images(observation)
        unavailable: dict[str, str] = {}
        asked = self._askable(observation.rephrasings, unavailable)
        instructions = (observation.instruction, *asked)
        with torch.inference_mode():
            batches = self._batches(instructions)
            inputs = self._prompts.inputs(batches[0], images)
            preprocess = timer.mark()
            with self._encoding.reading():
                parts = [self._greedy(inputs, is_first=True)]
            for batch in batches[1:]:
                parts.append(self._greedy(self._prompts.inputs(batch, images), is_first=False))
            drawn = self._draw(observation.instruction, images)
            forward = timer.mark()
        tokens, actions = self._chunk(parts[0])
        rephrasings, confidences = self._ensemble(asked, parts, unavailable)
        if self._encoding.features is None:
            unavailable['features'] = 'the model does not say where its output embedding is'
        return Inference(
            actions=actions,
            dt=self._format.dt,
            action_names=self._format.names,
            action_units=self._format.units,
            action_space=self._format.space,
            tokens=self._statistics(parts[0], tokens),
            samples=self._samples(drawn, actions.shape, unavailable),
            rephrasings=rephrasings,
            rephrasing_confidences=confidences,
            features=self._encoding.features,
            feature_source=FEATURE_SOURCE,
            unavailable=unavailable,
            preprocess=preprocess,
            forward=forward,
            postprocess=timer.mark(),
            memory_device=self._device_memory(),
        )

    def _images(self, observation: Observation) -> list[NDArray[np.uint8]]:
        missing = [name for name in self.cameras if name not in observation.images]
        if missing:
            raise PolicyError(
                f'the observation lacks camera {missing[0]!r}; it has {sorted(observation.images)}'
            )
        return [observation.images[name] for name in self.cameras]

    def _askable(
        self, rephrasings: tuple[str, ...], unavailable: dict[str, str]
    ) -> tuple[str, ...]:
        """Returns the rephrasings, or none if one is not a usable prompt."""
        for text in rephrasings:
            try:
                self._prompts.text(text)
            except PolicyError as error:
                unavailable['rephrasings'] = f'{text!r}: {error}'
                return ()
        return rephrasings

    def _batches(self, instructions: Sequence[str]) -> list[Sequence[str]]:
        most = self._settings.largest_batch or max(1, len(instructions))
        return [instructions[i : i + most] for i in range(0, len(instructions), most)]

    def _greedy(self, inputs: dict[str, Any], is_first: bool) -> Generated:
        settings = self._settings
        reducer = LogitsReducer(settings.temperatures, settings.vocabulary, is_first)
        return self._generator.greedy(inputs, reducer, self._wants_hidden and is_first)

    def _chunk(self, generated: Generated) -> tuple[ActionTokens, NDArray[np.float64]]:
        tokens = self._codec.locate(generated.rows[0])
        values = np.asarray(self._codec.actions(tokens, generated.hidden), dtype=np.float64)
        return tokens, self._to_robot(values)

    def _to_robot(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        width = len(self._format.names)
        if values.ndim != 2 or not len(values) or values.shape[1] != width:
            raise PolicyError(
                f'the model gave a chunk of shape {values.shape}; (steps, {width}) is expected'
            )
        return self._format.to_robot(values)

    def _statistics(self, generated: Generated, tokens: ActionTokens) -> TokenStatistics:
        assert generated.statistics is not None
        found = chosen_of(generated.statistics, tokens.indices)
        return TokenStatistics(**vars(found), step=tokens.step, dimension=tokens.dimension)

    def _ensemble(
        self,
        rephrasings: tuple[str, ...],
        parts: list[Generated],
        unavailable: dict[str, str],
    ) -> tuple[tuple[str, ...], NDArray[np.float64] | None]:
        """Returns the whole ensemble, or nothing: a mean without failed ones is too high."""
        if not rephrasings:
            return (), None
        rows = [row for part in parts for row in zip(part.rows, part.probabilities)][1:]
        confidences = []
        for text, (ids, probabilities) in zip(rephrasings, rows):
            try:
                tokens = self._codec.locate(ids)
                if self._settings.rephrasing_aggregate == 'dimension_mean':
                    _check_dimensions(tokens)
                confidences.append(self._confidence(tokens, probabilities[tokens.indices]))
            except FrameRosError as error:  # no action, or logits that are not finite
                unavailable['rephrasings'] = f'{text!r}: {error}'
                return (), None
        return rephrasings, np.array(confidences)

    def _confidence(self, tokens: ActionTokens, probabilities: NDArray[np.float64]) -> float:
        aggregate = self._settings.rephrasing_aggregate
        if aggregate == 'dimension_mean':
            groups = token_groups(tokens.step, tokens.dimension)
            return float(token_confidence(probabilities, groups=groups))
        return float(token_confidence(probabilities, aggregate))

    def _draw(self, instruction: str, images: list[NDArray[np.uint8]]) -> list[NDArray[np.int64]]:
        vocabulary = self._codec.vocabulary
        choice = None
        if vocabulary is not None:
            choice = Choice(vocabulary, self._generator.end_tokens if self._codec.is_open else ())
        rows: list[NDArray[np.int64]] = []
        for batch in self._batches([instruction] * self._settings.samples):
            inputs = self._prompts.inputs(batch, images)
            temperature = self._settings.sampling_temperature
            rows += self._generator.sampled(inputs, choice, temperature)
        return rows

    def _samples(
        self,
        drawn: list[NDArray[np.int64]],
        shape: tuple[int, ...],
        unavailable: dict[str, str],
    ) -> NDArray[np.float64] | None:
        """All N samples (N, H, D), or nothing."""
        if not drawn:
            return None
        try:
            chunks = [
                self._to_robot(self._codec.actions(self._codec.locate(ids), None)) for ids in drawn
            ]
        except PolicyError as error:
            unavailable['samples'] = f'a sample is not a chunk: {error}'
            return None
        if any(chunk.shape != shape for chunk in chunks):
            unavailable['samples'] = f'a sample has another shape than the chunk, {shape}'
            return None
        return np.stack(chunks)

    def _device_memory(self) -> float:
        import torch

        device = self._model.device
        return float(torch.cuda.memory_allocated(device)) if device.type == 'cuda' else 0.0


def _check_dimensions(tokens: ActionTokens) -> None:
    if not (tokens.dimension >= 0).any():
        raise PolicyError('its tokens belong to no action dimension; dimension_mean needs them')
