# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The base class of every policy, with a default for all that a policy may leave out."""

from __future__ import annotations

from collections.abc import Sequence

from frame_ros.policies.protocol import Inference, Observation


class Policy:
    """A producer of actions: `infer` is called from one thread.

    Attributes:
        name: Of the policy, in reports and messages; every policy has one.
        checkpoint: Folder or address of its weights, as reports show it; '' without one.
        cameras: The cameras it needs.
        poses: The poses it needs.
        needs_instruction: An inference without an instruction is refused.
        n_action_steps: Steps of a chunk to execute before the next chunk; 0: its caller decides.
        samples: Chunks sampled with each inference, which a caller may change between two episodes;
            None: it cannot be changed.
        quality: Share of success to aim at, which a caller may change between two episodes; None:
            it cannot be chosen.
        needs_history: `observe` is called every `history_period` s while an episode runs.
        history_steps: Observations in one inference of a policy that needs a history.
        history_period: Time between two of them, s.
        notes: Warnings about how it was made.
        facts: Further facts about how it was made.
    """

    name: str
    checkpoint: str = ''
    cameras: tuple[str, ...] = ()
    poses: tuple[str, ...] = ()
    needs_instruction: bool = False
    n_action_steps: int = 0
    samples: int | None = None
    quality: float | None = None
    needs_history: bool = False
    history_steps: int = 2
    history_period: float = 0.0
    notes: Sequence[str] = ()
    facts: Sequence[str] = ()

    def reset(self, seed: int | None = None) -> None:
        """Forgets the last episode. seed: of all that is drawn in the next one; None: drawn on."""

    def infer(self, observation: Observation) -> Inference:
        """Returns the next chunk.

        Raises:
            PolicyError: the observation lacks something, or the policy gave something unusable.
        """
        raise NotImplementedError(f'{type(self).__name__} has no infer(observation)')

    def observe(self, observation: Observation) -> None:
        """Takes note of an observation between two inferences.

        It is called from another thread than `infer` and must return at once.
        """

    def warm_up(self) -> None:
        """Makes a first call, outside an episode."""

    def close(self) -> None:
        """Releases connections and processes."""
