# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The data between a policy and its caller: one observation in, one chunk of actions out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from frame_ros.metrics.token_statistics import ReducedTokens

# joint_position: positions of the joints `action_names`, rad or m.
# joint_delta: their changes.
# ee_pose: pose of the TCP in the base frame. ee_delta: its change. Both name their columns x, y, z,
# then the rotation as roll, pitch, yaw or rx, ry, rz (rotation vector) or qx, qy, qz, qw, and
# gripper joints by their names or as `gripper`.
ACTION_SPACES = ('joint_position', 'joint_delta', 'ee_pose', 'ee_delta')
# What a policy may yield in addition to actions.
EXTRAS = ('tokens', 'samples', 'rephrasings', 'features')


@dataclass(frozen=True)
class Observation:
    """The robot's observation, everything newest at `stamp`.

    Attributes:
        stamp: ns, when the observation was put together.
        oldest_stamp: ns, stamp of the oldest input in it.
        joint_names: D names.
        joint_positions: (D,) rad or m, in that order.
        images: camera name -> (H, W, 3) uint8 RGB, which may be read-only.
        poses: name -> (7,) position (m) and quaternion xyzw, in the robot's base frame.
        instruction: the task in words.
        executed: s of actions that the robot has executed in this episode; it stands still while
            the robot waits for actions, unlike `stamp`. NaN if unknown.
        rephrasings: the same instruction in other words, for a prompt ensemble; empty: none is
            wanted.
        start: name of the episode's START: the same after a takeover, in which a policy is reset,
            too. '': the caller gives none.
    """

    stamp: int
    oldest_stamp: int
    joint_names: tuple[str, ...]
    joint_positions: NDArray[np.float64]
    images: dict[str, NDArray[np.uint8]] = field(default_factory=dict)
    poses: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    instruction: str = ''
    executed: float = float('nan')
    rephrasings: tuple[str, ...] = ()
    start: str = ''


def for_policy(observation: Observation) -> Observation:
    """Returns the observation with joint positions and poses that a policy may write over, such as
    one that changes their unit in place: the caller still needs its own.
    """
    poses = {name: np.array(pose) for name, pose in observation.poses.items()}
    return replace(observation, joint_positions=np.array(observation.joint_positions), poses=poses)


@dataclass(frozen=True)
class TokenStatistics(ReducedTokens):
    """Per-token statistics of one inference, reduced over the vocabulary; see
    PolicyInference.msg.
    """

    step: NDArray[np.int32]  # (TN,), the step of the chunk; -1 for a token without one
    dimension: NDArray[np.int32]  # (TN,), the action dimension; -1 likewise


# Of TokenStatistics, with a value per token: numbers, and the token's place in the chunk.
TOKEN_NUMBERS = (
    'max_probability',
    'second_probability',
    'sum_of_squares',
    'entropy',
    'chosen_probability',
)
TOKEN_PLACES = ('step', 'dimension')


@dataclass(frozen=True)
class Inference:
    """The result of one call of a policy.

    Attributes:
        actions: (H, D) in `action_units`.
        dt: s between two steps.
        action_names: D names.
        action_space: one of ACTION_SPACES.
        preprocess, forward, postprocess, transport: s; NaN if not measured separately.
        samples: (N, H, D) or None.
        rephrasings: r other instructions; empty if not requested, or unavailable.
        rephrasing_confidences: (r,) in [0, 1], the policy's confidence under each, or None.
        features: (E,) embedding of the observation, or None; see `frame_ros.policies.features`.
        feature_source: what they are, in words; distances are between features of one source.
        unavailable: output that this policy cannot give, of EXTRAS -> reason.
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
    rephrasings: tuple[str, ...] = ()
    rephrasing_confidences: NDArray[np.float64] | None = None
    features: NDArray[np.float64] | None = None
    feature_source: str = ''
    unavailable: Mapping[str, str] = field(default_factory=dict)
