# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The protocol between a policy and whoever runs it.

One observation in, one chunk of actions out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Observation:
    """What the robot saw and felt, all newest at `stamp`.

    stamp: ns, when the observation was put together. oldest_stamp: ns, stamp of the oldest input in
    it. joint_names: D names. joint_positions: (D,) rad or m, in that order. images: camera name ->
    (H, W, 3) uint8 RGB. poses: name -> (7,) position (m) and quaternion xyzw, in the robot's base
    frame.
    instruction: what the policy is told. executed: s of actions that the robot has executed in this
    episode; it stands still while the robot waits for actions, unlike `stamp`. NaN if not known.
    """

    stamp: int
    oldest_stamp: int
    joint_names: tuple[str, ...]
    joint_positions: NDArray[np.float64]
    images: dict[str, NDArray[np.uint8]] = field(default_factory=dict)
    poses: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    instruction: str = ''
    executed: float = float('nan')


@dataclass(frozen=True)
class TokenStatistics:
    """Per-token statistics of one inference, reduced over the vocabulary.

    See PolicyInference.msg. TN tokens.
    """

    vocabulary_size: int
    max_probability: NDArray[np.float64]
    second_probability: NDArray[np.float64]
    sum_of_squares: NDArray[np.float64]
    entropy: NDArray[np.float64]
    chosen_probability: NDArray[np.float64]
    step: NDArray[np.int32]
    dimension: NDArray[np.int32]
    temperatures: NDArray[np.float64]
    max_at_temperature: NDArray[np.float64]


@dataclass(frozen=True)
class Inference:
    """What one call of a policy yielded.

    actions: (H, D) in `action_units`. dt: s between two steps. action_names: D names. action_space:
    joint_position, ... preprocess, forward, postprocess, transport: s; NaN if not taken apart.
    samples: (N, H, D) or None.
    """

    actions: NDArray[np.float64]
    dt: float
    action_names: tuple[str, ...]
    action_units: tuple[str, ...]
    action_space: str = 'joint_position'
    preprocess: float = float('nan')
    forward: float = float('nan')
    postprocess: float = float('nan')
    transport: float = 0.0
    memory_device: float = 0.0
    tokens: TokenStatistics | None = None
    samples: NDArray[np.float64] | None = None


@runtime_checkable
class Policy(Protocol):
    """Anything that produces actions.

    `cameras` and `poses` name the inputs it needs beside the joint positions; `infer` is called
    from one thread.
    """

    name: str
    checkpoint: str
    cameras: tuple[str, ...]
    poses: tuple[str, ...]

    def reset(self, seed: int | None = None) -> None:
        """Forgets the last episode."""

    def infer(self, observation: Observation) -> Inference:
        """Returns the next chunk.

        Raises:
            PolicyError: the observation lacks something, or the policy gave something unusable.
        """
