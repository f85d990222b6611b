# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of a chunk before any of its actions goes to a robot."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import PolicyError
from frame_ros.policies.protocol import Inference

ACTION_SPACE = 'joint_position'
UNITS = ('rad', 'm')  # m of joints that slide, such as fingers


def check_chunk(
    inference: Inference, limits: Mapping[str, tuple[float, float]]
) -> tuple[NDArray[np.float64], dict[str, int]]:
    """Returns the chunk (H, D) clipped to the joint limits, and the number of clipped values per
    joint.

    Args:
        limits: joint -> lower and upper limit, rad or m.

    Raises:
        PolicyError: the chunk has the wrong shape, space, unit or joint names, or a value that is
            not finite.
    """
    actions, names = np.asarray(inference.actions, dtype=np.float64), inference.action_names
    if actions.ndim != 2 or actions.shape[0] == 0 or actions.shape[1] != len(names):
        raise PolicyError(f'the chunk has shape {actions.shape}; it must be (steps, {len(names)})')
    if inference.action_space != ACTION_SPACE or any(
        unit not in UNITS for unit in inference.action_units
    ):
        raise PolicyError(
            f'the chunk is {inference.action_space} in {set(inference.action_units)}; it must be '
            f'{ACTION_SPACE} in {" or ".join(UNITS)}'
        )
    if unknown := [name for name in names if name not in limits]:
        raise PolicyError(
            f'the chunk moves {unknown}, which the robot does not have; its joints are '
            f'{list(limits)}'
        )
    if not np.isfinite(actions).all():
        step, dimension = np.argwhere(~np.isfinite(actions))[0]
        raise PolicyError(
            f'the chunk was dropped: {names[dimension]} is {actions[step, dimension]} at step '
            f'{step}; '
            'actions must be finite'
        )
    lower, upper = np.array([limits[name] for name in names]).T
    clipped = np.clip(actions, lower, upper)
    counts = (clipped != actions).sum(axis=0)
    return clipped, {name: int(count) for name, count in zip(names, counts, strict=True) if count}
