# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A network that predicts a chunk of joint positions, and the policy that it makes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from frame_ros.policies.base import Policy
from frame_ros.policies.environment_state import environment_state
from frame_ros.policies.protocol import Inference, Observation
from frame_ros.scenes import JOINT_NAMES


@dataclass(frozen=True)
class Chunks:
    """Training data of a chunk policy."""

    inputs: torch.Tensor  # (N, I);
    actions: torch.Tensor  # (N, H, D) rad

    def __len__(self) -> int:
        return len(self.inputs)


def policy_input(observation: Observation) -> np.ndarray:
    """(20,): six joints (rad), then position and quaternion of the object and the goal."""
    return np.concatenate((observation.joint_positions, environment_state(observation)))


class Steps:
    """A step listener of `Rollouts` that keeps what a chunk policy learns from."""

    def __init__(self) -> None:
        self.inputs: list[np.ndarray] = []
        self.actions: list[np.ndarray] = []

    def add(self, observation: Observation, action: np.ndarray) -> None:
        """One step."""
        self.inputs.append(policy_input(observation))
        self.actions.append(action)


def cut_chunks(episodes: Sequence[tuple[np.ndarray, np.ndarray]], horizon: int) -> Chunks:
    """One chunk from every step of episodes of inputs (T, I) and actions (T, D); behind an
    episode's end its last action stays.
    """
    inputs = np.concatenate([inputs for inputs, _ in episodes])
    chunks = []
    for _, actions in episodes:
        at = np.arange(len(actions))[:, None] + np.arange(horizon)
        chunks.append(actions[np.minimum(at, len(actions) - 1)])
    return Chunks(
        torch.tensor(inputs, dtype=torch.float32),
        torch.tensor(np.concatenate(chunks), dtype=torch.float32),
    )


class ChunkNetwork(torch.nn.Module):
    """Inputs (B, I) -> joint positions (B, H, D) rad, in the statistics of the chunks it is for."""

    def __init__(self, chunks: Chunks, width: int = 384) -> None:
        super().__init__()
        self.shape = tuple(chunks.actions.shape[1:])
        for name, values in (('input', chunks.inputs), ('action', chunks.actions.flatten(0, 1))):
            self.register_buffer(f'{name}_mean', values.mean(dim=0))
            self.register_buffer(f'{name}_scale', values.std(dim=0).clamp(min=1e-3))
        inputs, outputs = chunks.inputs.shape[1], self.shape[0] * self.shape[1]
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(inputs, width),
            torch.nn.GELU(),
            torch.nn.Linear(width, width),
            torch.nn.GELU(),
            torch.nn.Linear(width, outputs),
        )

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """The chunks."""
        values = self.layers((inputs - self.input_mean) / self.input_scale)
        return values.unflatten(-1, self.shape) * self.action_scale + self.action_mean


class ChunkPolicy(Policy):
    """The network behind the protocol of policies."""

    poses = ('object', 'goal')

    def __init__(self, network: ChunkNetwork, n_action_steps: int, dt: float, name: str) -> None:
        self.name, self.n_action_steps = name, n_action_steps
        self._network, self._dt = network, dt

    def infer(self, observation: Observation) -> Inference:
        """The next chunk."""
        begun = time.perf_counter()
        with torch.inference_mode():
            inputs = torch.tensor(policy_input(observation), dtype=torch.float32)
            actions = self._network(inputs[None])[0].double().numpy()
        units = ('rad',) * len(JOINT_NAMES)
        forward = time.perf_counter() - begun
        return Inference(actions, self._dt, JOINT_NAMES, units, forward=forward)
