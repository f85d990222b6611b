# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rotations and poses as policies write them, and poses reached by chains of small changes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import ValueRangeError

Array = NDArray[np.float64]

POSITION_COLUMNS = ('x', 'y', 'z')
# roll, pitch, yaw: rad, about the fixed axes x, then y, then z, so R = Rz(yaw) Ry(pitch) Rx(roll),
# as in URDF and REP-103. rx, ry, rz: rotation vector, rad. qx, qy, qz, qw: quaternion, any length.
ROTATION_COLUMNS = (('roll', 'pitch', 'yaw'), ('rx', 'ry', 'rz'), ('qx', 'qy', 'qz', 'qw'))
# base: the change is in the axes of the robot's base. tool: in those of the tip before the change.
# mixed: the translation in the base's axes, the rotation in the tip's.
CHANGE_FRAMES = ('base', 'tool', 'mixed')


def rotations_of(columns: Sequence[str], values: Array) -> Rotation:
    """Returns the rotations (T,) written as (T, 3) or (T, 4) values in one of ROTATION_COLUMNS.

    Raises:
        ValueRangeError: the columns are unknown, or a quaternion has no direction.
    """
    columns = tuple(columns)
    if columns == ROTATION_COLUMNS[0]:
        return Rotation.from_euler('xyz', values)
    if columns == ROTATION_COLUMNS[1]:
        return Rotation.from_rotvec(values)
    if columns != ROTATION_COLUMNS[2]:
        raise ValueRangeError(f'rotation columns are {columns}; known: {ROTATION_COLUMNS}')
    norms = np.linalg.norm(values, axis=-1)
    if not (norms > 1e-6).all():
        row = int(np.argmin(norms))
        raise ValueRangeError(f'the quaternion of step {row} is {values[row]}: it has no direction')
    return Rotation.from_quat(values)


def moved(
    position: Array, rotation: Rotation, shift: Array, turn: Rotation, frame: str
) -> tuple[Array, Rotation]:
    """Returns a pose after one change: position (3,) m and rotation in the base frame. With p, R
    the pose and d, D the change: 'base': p + d, D R; 'tool': p + R d, R D; 'mixed': p + d, R D. The
    rotation turns about the tip, never about the base's origin.
    """
    placed = position + (rotation.apply(shift) if frame == 'tool' else shift)
    return placed, (turn * rotation if frame == 'base' else rotation * turn)


def chained_poses(
    position: Array,
    rotation: Rotation,
    shifts: Array,
    turns: Rotation,
    frame: str,
    is_cumulative: bool,
) -> Array:
    """Returns poses (T, 7), position (m) and quaternion xyzw, that T changes lead to.

    Args:
        position, rotation: (3,) and the rotation of the pose before.
        shifts: (T, 3) m.
        turns: T rotations.
        is_cumulative: each change starts where the previous one ended; otherwise all start at the
            pose before.

    Raises:
        ValueRangeError: the frame is not one of CHANGE_FRAMES.
    """
    if frame not in CHANGE_FRAMES:
        raise ValueRangeError(f'frame is {frame!r}; known: {", ".join(CHANGE_FRAMES)}')
    poses = np.empty((len(shifts), 7))
    present = position, rotation
    for row, shift in enumerate(shifts):
        reached = moved(*present, shift, turns[row], frame)
        poses[row, :3], poses[row, 3:] = reached[0], reached[1].as_quat()
        if is_cumulative:
            present = reached
    return poses
