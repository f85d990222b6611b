# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of a chunk before any of its actions goes to a robot."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import PolicyError
from frame_ros.policies.execution.inference_check import check_own_chunk
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
        PolicyError: as of `check_own_chunk`, or it has the wrong space, unit or joint names.
    """
    actions, names = check_own_chunk(inference), inference.action_names
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
    lower, upper = np.array([limits[name] for name in names]).T
    clipped = np.clip(actions, lower, upper)
    counts = (clipped != actions).sum(axis=0)
    return clipped, {name: int(count) for name, count in zip(names, counts, strict=True) if count}
