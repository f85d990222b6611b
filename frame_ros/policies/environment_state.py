# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Poses as LeRobot's `observation.environment_state`, for a policy without cameras."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import PolicyError
from frame_ros.policies.protocol import Observation

ENVIRONMENT_STATE = 'observation.environment_state'
# The poses in the vector, in this order, by default.
POSES = ('object', 'goal')
COORDINATES = ('x', 'y', 'z', 'qx', 'qy', 'qz', 'qw')


def environment_state(observation: Observation, poses: Sequence[str] = POSES) -> NDArray:
    """Returns (7 n,) float32: position (m) and quaternion xyzw of n poses, in the base frame.

    Raises:
        PolicyError: the observation lacks a pose, or one is not 7 finite numbers.
    """
    values = []
    for name in poses:
        pose = observation.poses.get(name)
        if pose is None:
            raise PolicyError(
                f'the observation lacks the pose {name!r}; it has {sorted(observation.poses)}'
            )
        if np.shape(pose) != (len(COORDINATES),) or not np.isfinite(pose).all():
            raise PolicyError(
                f'the pose {name!r} must be 7 finite numbers, not {np.asarray(pose).tolist()}'
            )
        values.append(pose)
    return np.concatenate(values).astype(np.float32)


def environment_state_names(poses: Sequence[str] = POSES) -> list[str]:
    """Returns the name of each value: 'object.x', ..."""
    return [f'{pose}.{coordinate}' for pose in poses for coordinate in COORDINATES]
