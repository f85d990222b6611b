# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The rotation of a force-torque sensor in the link that carries it, from still poses."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import acos, degrees, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from frame_ros.sensing.contact.wrench.tool_identification import (
    LEAST_MASS,
    LEAST_SPREAD,
    checked_poses,
    gravity_spread,
    huber_weights,
)
from frame_ros.sensing.contact.wrench.tool_model import GRAVITY

Array = NDArray[np.float64]
ROUNDS = 30
UNKNOWNS = 7  # of the forces: weight, bias, rotation
CLEARLY = 3.0  # times as little must be left with the other sign


@dataclass(frozen=True)
class SensorRotation:
    """The rotation that fits the forces of K still poses.

    Attributes:
        rotation: (3, 3), turns vectors in the sensor's axes into the link's.
        error: rad, standard error of its least certain axis, from what is left.
        mass: kg.
        force_left: N, root mean square per degree of freedom of what it does not explain.
        is_force_on_tool: the sign of the readings with which it fits.
    """

    rotation: Array
    error: float
    mass: float
    force_left: float
    is_force_on_tool: bool

    @property
    def angle(self) -> float:
        """The angle of the rotation, rad."""
        return acos(min(max(0.5 * (float(np.trace(self.rotation)) - 1.0), -1.0), 1.0))


def fit_sensor_rotation(
    rotations: ArrayLike, wrenches: ArrayLike, *, is_force_on_tool: bool = True
) -> SensorRotation | None:
    """Fits rotation, weight and bias to the forces by least squares, poses with large residuals
    counting less.

    In the link's axes gravity points along u; the sensor turned by M reads f = W M^T u + b. Without
    their means that is Wahba's problem with a scale, which a singular value decomposition solves
    (Kabsch 1976; Umeyama, "Least-squares estimation of transformation parameters between two point
    patterns", 1991, eq. 40 to 43). The torques add nothing: they are the centre of mass times the
    forces as read.

    It needs directions of gravity that spread by 8 degrees, root mean square, along two axes. Where
    they spread along all three, a sensor that reads the reaction is distinguished from one that is
    turned: the other sign is taken if it leaves a third.

    Args:
        rotations: (K, 3, 3) of the link in the base frame. wrenches: (K, 6) N and N m.
        is_force_on_tool: the sign that is likely.

    Returns:
        None: the poses do not determine it, or the tool weighs nothing.

    Raises:
        ShapeError, ValueRangeError: as `fit_tool`.
    """
    turned, readings = checked_poses(rotations, wrenches)
    down = -turned[:, 2]
    spread, _ = gravity_spread(down)
    if spread[1] < LEAST_SPREAD:
        return None
    likely, other = (
        _fit(down, readings[:, :3], sign) for sign in (is_force_on_tool, not is_force_on_tool)
    )
    if likely is None or other is None:
        return likely or other
    return other if CLEARLY * other.force_left < likely.force_left else likely


def _fit(down: Array, readings: Array, is_force_on_tool: bool) -> SensorRotation | None:
    forces = readings if is_force_on_tool else -readings
    weights: Array = np.ones(len(down))
    for _ in range(ROUNDS):
        total = weights.sum()
        directions = down - weights @ down / total
        centred = forces - weights @ forces / total
        left, sizes, right = np.linalg.svd((weights[:, None] * centred).T @ directions)
        signs = np.array([1.0, 1.0, np.sign(np.linalg.det(left @ right))])
        turn = (left * signs) @ right  # the link's axes into the sensor's
        squares = float(weights @ (directions**2).sum(axis=1))
        weight = float(sizes @ signs) / squares
        residuals = centred - weight * directions @ turn.T
        new = huber_weights(residuals)
        is_settled = np.abs(new - weights).max() < 1e-6
        if is_settled:
            break
        weights = new
    if weight < LEAST_MASS * GRAVITY:
        return None
    freedom = max(3.0 * float(weights.sum()) - UNKNOWNS, 1.0)
    variance = float(weights @ (residuals**2).sum(axis=1)) / freedom
    outer = (weights[:, None] * directions).T @ directions
    known = np.linalg.eigvalsh(squares * np.eye(3) - outer)[0]
    error = sqrt(variance / max(float(known), 1e-12)) / weight
    return SensorRotation(turn.T, error, weight / GRAVITY, sqrt(variance), is_force_on_tool)


def turn_in_words(rotation: Array) -> str:
    """Returns a rotation (3, 3) as in '45.0 degrees about z', or about an axis (x, y, z)."""
    vector = Rotation.from_matrix(rotation).as_rotvec()
    angle = float(np.linalg.norm(vector))
    axis = vector / max(angle, 1e-12)
    largest = int(np.abs(axis).argmax())
    if abs(axis[largest]) > 0.998:
        return f'{degrees(angle) * np.sign(axis[largest]):.1f} degrees about {"xyz"[largest]}'
    parts = ', '.join(f'{value + 0.0:.2f}' for value in axis.round(2))
    return f'{degrees(angle):.1f} degrees about ({parts})'


def rpy_of(rotation: Array) -> Array:
    """Returns roll, pitch and yaw (3,) of a rotation (3, 3), rad, as in a URDF."""
    with warnings.catch_warnings():
        # At a pitch of 90 degrees roll and yaw are one angle: any of them is right.
        warnings.simplefilter('ignore', UserWarning)
        found: Array = Rotation.from_matrix(rotation).as_euler('xyz')
    return found
