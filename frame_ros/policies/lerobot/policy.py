# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A loaded LeRobot policy behind our protocol: one observation in, one chunk of actions out."""

from __future__ import annotations

import contextlib
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import PolicyError
from frame_ros.policies.base import Policy
from frame_ros.policies.execution.observation_history import ObservationHistory
from frame_ros.policies.lerobot.columns import ActionColumns
from frame_ros.policies.lerobot.families.family import Family, NoActionError, Outcome
from frame_ros.policies.lerobot.inputs import PolicyInputs
from frame_ros.policies.protocol import Inference, Observation

NOT_ASKED = 'none were asked for (samples is 0)'


class LeRobotPolicy(Policy):
    """A loaded LeRobot checkpoint; `LeRobotCheckpoint` makes it."""

    def __init__(
        self,
        name: str,
        checkpoint: str,
        family: Family,
        processors: tuple[Any, Any],
        inputs: PolicyInputs,
        columns: ActionColumns,
        action_rate: float,
        notes: list[str],
    ) -> None:
        self.name, self.checkpoint, self.notes = name, checkpoint, notes
        self.cameras, self.poses = tuple(inputs.cameras.values()), inputs.poses
        self.family, self.inputs, self.columns = family, inputs, columns
        self.preprocessor, self.postprocessor = processors
        self.n_action_steps = family.n_action_steps
        self.needs_instruction = inputs.needs_instruction
        self.history_steps = family.history_steps
        self.needs_history = self.history_steps > 1
        self.history_period = 1.0 / action_rate
        self._history = ObservationHistory(family.history_steps, self.history_period)

    def reset(self, seed: int | None = None) -> None:
        """Forgets the last episode. seed: of all that is sampled from now on; None: drawn on."""
        self._history.clear()
        self.family.reset(seed)
        self.preprocessor.reset()
        self.postprocessor.reset()

    def observe(self, observation: Observation) -> None:
        """Takes note of an observation between two inferences, for a policy that needs a history.
        It keeps a reference and nothing more, checks nothing, and may be called from another thread
        than `infer`. A policy without history ignores it.
        """
        if self.needs_history:
            self._history.add(observation)

    def warm_up(self) -> None:
        """Runs one inference on a black image and zero joints, and forgets it. The first call of a
        network is many times slower. What is sampled afterwards is as if it had not been.
        """
        streams = (self.family.executed, self.family.others)
        states = [stream.generator.get_state() for stream in streams]
        with contextlib.suppress(NoActionError):  # a black image need not be answered sensibly
            self.infer(self.inputs.blank())
        self.reset()
        for stream, state in zip(streams, states, strict=True):
            stream.generator.set_state(state)

    def infer(self, observation: Observation) -> Inference:
        """Returns the chunk that LeRobot's own path gives (prepare, preprocess, network,
        postprocess), and what else the network yielded.

        Raises:
            PolicyError: an input is missing or of the wrong size, or the chunk has the wrong width.
        """
        import torch

        begun = time.perf_counter()
        with torch.inference_mode(), self._autocast():
            batch = self._batch(observation)
            rephrased = self._rephrased(observation)
            self._synchronise()
            preprocessed = time.perf_counter()
            outcome = self.family.infer(batch)
            under = self.family.rephrased_confidences(rephrased) if rephrased else np.empty(0)
            self._synchronise()
            forwarded = time.perf_counter()
            actions, samples = self._postprocess(outcome)
        ended = time.perf_counter()
        rephrasings, problem = whole_ensemble(observation.rephrasings, under)
        features = outcome.features
        return Inference(
            actions=actions,
            dt=self.history_period,
            action_names=self.columns.names,
            action_units=self.columns.units,
            action_space=self.columns.space,
            preprocess=preprocessed - begun,
            forward=forwarded - preprocessed,
            postprocess=ended - forwarded,
            memory_device=self._device_memory(),
            tokens=outcome.tokens,
            samples=samples,
            rephrasings=rephrasings,
            rephrasing_confidences=under if rephrasings else None,
            features=None if features is None else features.detach().cpu().double().numpy(),
            feature_source=self.family.feature_source,
            unavailable=self._unavailable(outcome, problem),
        )

    def _batch(self, observation: Observation) -> dict[str, Any]:
        """The preprocessed observation; with a history, the last ones stacked along axis 1."""
        import torch

        if not self.needs_history:
            return self._preprocess(observation)
        observations = self._history.before(observation)
        self._history.add(observation)
        distinct = {id(entry): entry for entry in observations}
        made = {key: self._preprocess(entry) for key, entry in distinct.items()}
        batches = [made[id(entry)] for entry in observations]
        return {
            key: torch.stack([batch[key] for batch in batches], dim=1)
            for key, value in batches[-1].items()
            if isinstance(value, torch.Tensor)
        }

    def _rephrased(self, observation: Observation) -> list[dict[str, Any]]:
        """The observation, preprocessed with each of its rephrasings as the instruction."""
        if not observation.rephrasings or 'rephrasings' in self.family.unavailable:
            return []
        prepared = self.inputs.prepare(observation, self._device)
        return [self.preprocessor({**prepared, 'task': text}) for text in observation.rephrasings]

    def _preprocess(self, observation: Observation) -> dict[str, Any]:
        batch: dict[str, Any] = self.preprocessor(self.inputs.prepare(observation, self._device))
        return batch

    def _postprocess(
        self, outcome: Outcome
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """The chunk (H, D) and the samples (N, H, D)."""
        import torch

        if outcome.samples is None:
            return self._to_actions(outcome.chunk)[0], None
        actions = self._to_actions(torch.cat([outcome.chunk, outcome.samples]))
        return actions[0], actions[1:]

    def _to_actions(self, chunks: Any) -> NDArray[np.float64]:
        import torch

        parts = chunks.split(1) if self.family.postprocesses_singly else [chunks]
        processed = torch.cat([self.postprocessor(part) for part in parts])
        actions = processed.detach().to('cpu', torch.float64).numpy()
        width = len(self.columns.names)
        if actions.ndim != 3 or len(actions) != len(chunks) or actions.shape[2] != width:
            raise PolicyError(
                f'the policy gave a chunk of shape {actions.shape}; it must be '
                f'({len(chunks)}, steps, {width})'
            )
        return self.columns.from_policy(actions)

    def _unavailable(self, outcome: Outcome, ensemble_problem: str) -> dict[str, str]:
        reasons = {**self.family.unavailable, **outcome.unavailable}
        if outcome.samples is None:
            reasons.setdefault('samples', NOT_ASKED)
        if outcome.features is None:
            reasons.setdefault('features', 'this version of LeRobot encodes observations otherwise')
        if ensemble_problem:
            reasons['rephrasings'] = ensemble_problem
        return reasons

    @property
    def _device(self) -> Any:
        import torch

        return torch.device(self.family.config.device)

    def _autocast(self) -> Any:
        """Mixed precision where the checkpoint was trained with it, as LeRobot does."""
        import torch

        if self.family.config.use_amp and self._device.type == 'cuda':
            return torch.autocast(device_type='cuda')
        return contextlib.nullcontext()

    def _synchronise(self) -> None:
        import torch

        if self._device.type == 'cuda':
            torch.cuda.synchronize(self._device)

    def _device_memory(self) -> float:
        import torch

        return (
            float(torch.cuda.memory_allocated(self._device)) if self._device.type == 'cuda' else 0.0
        )


def whole_ensemble(
    rephrasings: tuple[str, ...], confidences: NDArray[np.float64]
) -> tuple[tuple[str, ...], str]:
    """Returns the rephrasings, or none and why: a mean without those that failed is too high.

    confidences: (r,), NaN of those under which no action was written; empty: none were asked.
    """
    if not len(confidences):
        return (), ''
    failed = np.flatnonzero(~np.isfinite(confidences))
    if not len(failed):
        return rephrasings, ''
    return (), f'{rephrasings[failed[0]]!r}: the policy wrote no action'
