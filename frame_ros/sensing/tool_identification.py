# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Mass and centre of mass of a tool, and the bias of its force-torque sensor, from still poses."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.errors import ShapeError, ValueRangeError
from frame_ros.sensing.tool_model import GRAVITY, Tool, Vector
from frame_ros.sensing.tool_motion import check_rotation

Array = NDArray[np.float64]
FEWEST = 4
_LEAST_SPREAD = 0.02  # of 1: mean square of the directions of gravity along an axis
_LEAST_MASS = 0.01  # kg; below, the centre of mass cannot be told
_HUBER = 1.345  # residuals beyond so many standard deviations count less (Huber 1964)
_ROUNDS = 30


@dataclass(frozen=True)
class ToolFit:
    """A tool as K still poses show it; all in the sensor's axes, from its origin.

    mass: kg. centre_of_mass: (3,) m. bias: (6,) N and N m, force on the tool. Each is NaN, and so
    is its standard error, where `undetermined` says that the poses do not tell it. residuals:
    (K, 6) N and N m that the fit leaves of each pose and axis. weights: (K,) 1 for a pose that
    counts in full, less where a robust fit found it an outlier.

    mass_error (kg), centre_error (3,) (m), bias_error (6,): standard errors, from the residuals.
    condition: condition number of the scaled equations; 1 is best, above about 10 poses are badly
    spread. undetermined: which quantities the poses do not determine, in words; empty: none.
    """

    mass: float
    centre_of_mass: Array
    bias: Array
    residuals: Array
    weights: Array
    mass_error: float
    centre_error: Array
    bias_error: Array
    condition: float
    undetermined: tuple[str, ...] = ()

    @property
    def force_rms(self) -> float:
        """N, root mean square of the residual forces."""
        return float(np.sqrt(np.mean(self.residuals[:, :3] ** 2)))

    @property
    def torque_rms(self) -> float:
        """N m, root mean square of the residual torques."""
        return float(np.sqrt(np.mean(self.residuals[:, 3:] ** 2)))

    def tool(self, gravity: Vector = (0.0, 0.0, -GRAVITY)) -> Tool:
        """The tool, of unknown moments of inertia.

        Raises:
            ValueRangeError: the poses do not determine it.
        """
        if self.undetermined:
            raise ValueRangeError(
                f'the poses do not determine {"; ".join(self.undetermined)}: add poses in which '
                f'the sensor is turned about other horizontal axes, by 90 degrees and more'
            )
        x, y, z = self.centre_of_mass.tolist()
        return Tool(max(self.mass, 0.0), (x, y, z), gravity=gravity)


def fit_tool(
    rotations: ArrayLike,
    wrenches: ArrayLike,
    *,
    is_force_on_tool: bool = True,
    gravity: Vector = (0.0, 0.0, -GRAVITY),
    is_robust: bool = False,
) -> ToolFit:
    """Fits mass, centre of mass and bias by least squares.

    At rest the sensor reads f = m g + b_f and t = m c x g + b_t, which is linear in m, m c and the
    biases (the static part of Kubus, Kroeger, Wahl, "On-line estimation of inertial parameters
    using a recursive total least-squares approach", IROS 2008).

    Args:
        rotations: (K, 3, 3) of the sensor in the base frame, K >= 4; the poses should turn gravity
            to well-spread directions (down along +-x, +-y, +-z of the sensor is best). wrenches:
            (K, 6) N and N m, the mean readings at rest, free of contact. is_force_on_tool: see
            WrenchSettings. gravity: (3,) m/s^2 in the base frame. is_robust: poses with large
            residuals count less (iteratively reweighted, Huber).

    Raises:
        ShapeError: fewer than 4 poses, or shapes that do not fit.
        ValueRangeError: a value that is not finite, no rotation matrix, no gravity, or a mass that
            comes out negative.
    """
    turned, readings = _checked(rotations, wrenches, gravity)
    readings = readings if is_force_on_tool else -readings
    strength = float(np.linalg.norm(gravity))
    down = np.array(gravity) @ turned / strength
    forces, torques = _Equations.of_force(down), _Equations.of_torque(down)
    weights: Array = np.ones(len(down))
    for _ in range(_ROUNDS if is_robust else 1):
        found_force = forces.solve(readings[:, :3], weights)
        found_torque = torques.solve(readings[:, 3:], weights)
        residuals = np.concatenate([found_force.residuals, found_torque.residuals], axis=1)
        before, weights = weights, _weights(residuals) if is_robust else weights
        if np.abs(weights - before).max() < 1e-6:
            break
    mass = float(found_force.values[0]) / strength
    moment = found_torque.values[:3] / strength
    mass_error = float(found_force.errors[0]) / strength
    has_mass, has_moment = _determined(down)
    if has_mass and mass < -3.0 * max(mass_error, _LEAST_MASS):
        raise ValueRangeError(
            f'the tool comes out at {mass:.3f} kg: the sensor seems to report the force the other '
            f'way round; set is_force_on_tool to {str(not is_force_on_tool).lower()}'
        )
    centre, centre_error = _centre(moment, found_torque.errors[:3] / strength, mass, mass_error)
    bias = np.concatenate([found_force.values[1:], found_torque.values[3:]])
    bias_error = np.concatenate([found_force.errors[1:], found_torque.errors[3:]])
    if undetermined := _undetermined(down, mass):
        centre[:] = centre_error[:] = np.nan
    if not has_moment:
        bias[3:] = bias_error[3:] = np.nan
    if not has_mass:
        mass = mass_error = bias[:3] = bias_error[:3] = np.nan
    condition = max(forces.condition, torques.condition)
    return ToolFit(
        mass, centre, bias, residuals, before, mass_error, centre_error, bias_error, condition,
        undetermined,
    )  # fmt: skip


@dataclass(frozen=True)
class _Solution:
    """values: (U,) and their standard errors. residuals: (K, 3)."""

    values: Array
    errors: Array
    residuals: Array


class _Equations:
    """matrix: (K, 3, U), what each pose's three readings are of the unknowns."""

    def __init__(self, matrix: Array) -> None:
        self._matrix = matrix
        singular = np.linalg.svd(matrix.reshape(-1, matrix.shape[2]), compute_uv=False)
        self.condition = float(singular[0] / singular[-1]) if singular[-1] > 1e-12 else np.inf

    @classmethod
    def of_force(cls, down: Array) -> _Equations:
        """Unknowns: weight, force bias."""
        identity = np.broadcast_to(np.eye(3), (len(down), 3, 3))
        return cls(np.concatenate([down[:, :, None], identity], axis=2))

    @classmethod
    def of_torque(cls, down: Array) -> _Equations:
        """Unknowns: weight times centre of mass, torque bias."""
        identity = np.eye(3)
        turning = np.array([[np.cross(axis, row) for axis in identity] for row in down])
        biases = np.broadcast_to(identity, (len(down), 3, 3))
        return cls(np.concatenate([np.swapaxes(turning, 1, 2), biases], axis=2))

    def solve(self, readings: Array, weights: Array) -> _Solution:
        """Weighted least squares; of what is not determined, the least values."""
        unknowns = self._matrix.shape[2]
        flat, targets = self._matrix.reshape(-1, unknowns), readings.ravel()
        root = np.sqrt(np.repeat(weights, 3))
        inverse = np.linalg.pinv(flat * root[:, None], rcond=1e-9)
        values = inverse @ (targets * root)
        residuals = (targets - flat @ values).reshape(-1, 3)
        freedom = 3 * len(readings) - unknowns
        variance = float(weights @ (residuals**2).sum(axis=1)) / max(freedom, 1)
        errors = np.sqrt(variance * np.einsum('ij,ij->i', inverse, inverse))
        return _Solution(values, errors, residuals)


def _checked(rotations: ArrayLike, wrenches: ArrayLike, gravity: Vector) -> tuple[Array, Array]:
    turned = np.asarray(rotations, dtype=np.float64)
    readings = np.asarray(wrenches, dtype=np.float64)
    count = len(turned) if turned.ndim else 0
    if turned.shape != (count, 3, 3) or readings.shape != (count, 6):
        raise ShapeError(
            f'rotations of shape {turned.shape} and wrenches of shape {readings.shape}; (K, 3, 3) '
            f'and (K, 6) are expected'
        )
    if count < FEWEST:
        raise ShapeError(f'{count} poses; at least {FEWEST} in different orientations are needed')
    if not np.isfinite(readings).all():
        row = int(np.argmin(np.isfinite(readings).all(axis=1)))
        raise ValueRangeError(f'the wrench of pose {row} is not finite: {readings[row].tolist()}')
    for rotation in turned:
        check_rotation(rotation)
    if not np.linalg.norm(gravity) > 0:
        raise ValueRangeError(f'gravity is {gravity}; without it no pose tells of the mass')
    return turned, readings


def _spread(down: Array) -> tuple[Array, Array]:
    """Mean squares (3,), rising, of gravity's directions (K, 3) along their principal axes, which
    are the columns (3, 3).
    """
    centred = down - down.mean(axis=0)
    spread, axes = np.linalg.eigh(centred.T @ centred / len(down))
    return spread, axes


def _determined(down: Array) -> tuple[bool, bool]:
    """Whether gravity's directions in the sensor determine the mass and the bias of the force, and
    the centre of mass and the bias of the torque.

    A mass needs them to spread at all. The centre of mass along an axis is told by their spread
    across it.
    """
    spread, _ = _spread(down)
    return bool(spread.sum() >= _LEAST_SPREAD), bool(spread[0] + spread[1] >= _LEAST_SPREAD)


def _undetermined(down: Array, mass: float) -> tuple[str, ...]:
    """What the poses do not determine, in words."""
    has_mass, has_moment = _determined(down)
    if not has_mass:
        return ('mass', 'centre of mass', 'bias (all poses have nearly the same orientation)')
    found = []
    if not has_moment:
        axis = ', '.join(f'{value:.2f}' for value in _spread(down)[1][:, 2])
        found.append(f'centre of mass and torque bias along ({axis}) of the sensor')
    if mass < _LEAST_MASS:
        found.append(f'centre of mass (the tool weighs only {mass:.3f} kg)')
    return tuple(found)


def _centre(
    moment: Array, moment_error: Array, mass: float, mass_error: float
) -> tuple[Array, Array]:
    """The centre of mass and its standard error, (3,) and (3,)."""
    if abs(mass) < 1e-9:
        return np.full(3, np.nan), np.full(3, np.nan)
    centre = moment / mass
    return centre, np.sqrt(moment_error**2 + (centre * mass_error) ** 2) / abs(mass)


def _weights(residuals: Array) -> Array:
    """(K,) Huber weights from the poses' residual forces and torques."""
    weights: Array = np.ones(len(residuals))
    for rows in (slice(0, 3), slice(3, 6)):
        sizes = np.linalg.norm(residuals[:, rows], axis=1) / sqrt(3.0)
        scale = 1.4826 * float(np.median(sizes))
        if scale > 1e-12:
            weights = np.minimum(weights, _HUBER * scale / np.maximum(sizes, _HUBER * scale))
    return weights
