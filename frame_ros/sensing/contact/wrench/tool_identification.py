# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Mass and centre of mass of a tool, and the bias of its force-torque sensor, from still poses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import asin, degrees, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.sensing.contact.identification_options import FEWEST_POSES
from frame_ros.sensing.contact.wrench.tool_model import GRAVITY, Tool
from frame_ros.sensing.contact.wrench.tool_motion import check_rotation

Array = NDArray[np.float64]
LEAST_SPREAD = 0.02  # of 1: mean square by which directions of gravity leave a point, or a line
LEAST_MASS = 0.01  # kg; below, the centre of mass is not identifiable
TOO_LIGHT = 'the tool weighs only'
_HUBER = 1.345  # residuals beyond so many standard deviations count less (Huber 1964)
_ROUNDS = 30
_GOOD_POSES = '8 to 12 poses, turned about two horizontal axes by 90 degrees and more,'


@dataclass(frozen=True)
class ToolFit:
    """A tool as K still poses show it; all in the sensor's axes, from its origin.

    Values are NaN, with their standard errors, where the poses do not determine them.

    Attributes:
        mass: kg.
        centre_of_mass: (3,) m.
        bias: (6,) N and N m, force on the tool.
        residuals: (K, 6) N and N m of each pose and axis.
        weights: (K,) 1 for a pose that counts in full, less where a robust fit found it an outlier.
        mass_error: kg, standard error from the residuals.
        centre_error: (3,) m, likewise.
        bias_error: (6,) likewise.
        condition: condition number of the scaled equations; 1 is best, above about 10 poses are
            badly spread.
        undetermined: quantities that the poses do not determine, in words; empty: none.
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

    def tool(self) -> Tool:
        """Returns the tool, of unknown moments of inertia.

        Raises:
            ValueRangeError: the poses do not determine it.
        """
        if len(self.undetermined) == 1 and TOO_LIGHT in self.undetermined[0]:
            raise ValueRangeError(
                f'the {len(self.residuals)} poses show no weight that turns with gravity '
                f'({self.mass:.3f} kg): nothing hangs on the sensor, or its driver has taken the '
                'weight off already; then the contact node needs no tool'
            )
        if self.undetermined:
            raise ValueRangeError(
                f'the {len(self.residuals)} poses do not determine {"; ".join(self.undetermined)}: '
                f'add poses in which the sensor is turned about other horizontal axes, by 90 '
                f'degrees and more; {_GOOD_POSES} are good'
            )
        x, y, z = self.centre_of_mass.tolist()
        return Tool(max(self.mass, 0.0), (x, y, z))


def fit_tool(
    rotations: ArrayLike,
    wrenches: ArrayLike,
    *,
    is_force_on_tool: bool = True,
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
            WrenchOptions. is_robust: poses with large
            residuals count less (iteratively reweighted, Huber).

    Raises:
        ShapeError: fewer than 4 poses, or shapes that do not fit.
        ValueRangeError: a value that is not finite, no rotation matrix, or a mass that
            comes out negative.
    """
    turned, readings = checked_poses(rotations, wrenches)
    readings = readings if is_force_on_tool else -readings
    down = -turned[:, 2]
    solved = _solve(down, readings, is_robust)
    fit = _as_tool(solved)
    has_mass, has_moment = _determined(down)
    if has_mass and fit.mass < -3.0 * max(fit.mass_error, LEAST_MASS):
        raise ValueRangeError(
            f'the tool comes out at {fit.mass:.3f} kg: the sensor seems to report the force the '
            f'other way round; set is_force_on_tool to {str(not is_force_on_tool).lower()}'
        )
    undetermined = _undetermined(down, fit.mass)
    if undetermined:
        fit.centre_of_mass[:] = fit.centre_error[:] = np.nan
    if not has_moment:
        fit.bias[3:] = fit.bias_error[3:] = np.nan
    if not has_mass:
        fit.bias[:3] = fit.bias_error[:3] = np.nan
        return replace(fit, mass=np.nan, mass_error=np.nan, undetermined=undetermined)
    return replace(fit, undetermined=undetermined)


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
        """Returns the equations of weight and force bias."""
        identity = np.broadcast_to(np.eye(3), (len(down), 3, 3))
        return cls(np.concatenate([down[:, :, None], identity], axis=2))

    @classmethod
    def of_torque(cls, down: Array) -> _Equations:
        """Returns the equations of weight times centre of mass, and torque bias."""
        identity = np.eye(3)
        turning = np.array([[np.cross(axis, row) for axis in identity] for row in down])
        biases = np.broadcast_to(identity, (len(down), 3, 3))
        return cls(np.concatenate([np.swapaxes(turning, 1, 2), biases], axis=2))

    def solve(self, readings: Array, weights: Array) -> _Solution:
        """Returns the weighted least squares solution; the least values of undetermined ones."""
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


@dataclass(frozen=True)
class _Solved:
    """Both systems of equations, solved with the same weights. condition: the worse one's."""

    force: _Solution
    torque: _Solution
    weights: Array
    condition: float

    @property
    def residuals(self) -> Array:
        """(K, 6) N and N m."""
        return np.concatenate([self.force.residuals, self.torque.residuals], axis=1)


def _solve(down: Array, readings: Array, is_robust: bool) -> _Solved:
    """Solves for directions of gravity (K, 3), in the sensor's axes, and readings (K, 6)."""
    forces, torques = _Equations.of_force(down), _Equations.of_torque(down)
    condition = max(forces.condition, torques.condition)
    weights: Array = np.ones(len(down))
    for _ in range(_ROUNDS if is_robust else 1):
        force = forces.solve(readings[:, :3], weights)
        torque = torques.solve(readings[:, 3:], weights)
        solved = _Solved(force, torque, weights, condition)
        weights = huber_weights(solved.residuals) if is_robust else weights
        if np.abs(weights - solved.weights).max() < 1e-6:
            break
    return solved


def _as_tool(solved: _Solved) -> ToolFit:
    """Returns the fit as if the poses determined everything."""
    force, torque = solved.force, solved.torque
    mass, mass_error = float(force.values[0]) / GRAVITY, float(force.errors[0]) / GRAVITY
    centre, centre_error = _centre(
        torque.values[:3] / GRAVITY, torque.errors[:3] / GRAVITY, mass, mass_error
    )
    return ToolFit(
        mass=mass,
        centre_of_mass=centre,
        bias=np.concatenate([force.values[1:], torque.values[3:]]),
        residuals=solved.residuals,
        weights=solved.weights,
        mass_error=mass_error,
        centre_error=centre_error,
        bias_error=np.concatenate([force.errors[1:], torque.errors[3:]]),
        condition=solved.condition,
    )


def checked_poses(rotations: ArrayLike, wrenches: ArrayLike) -> tuple[Array, Array]:
    """Returns rotations (K, 3, 3) and wrenches (K, 6) of poses that can be fitted.

    Raises:
        ShapeError, ValueRangeError: they cannot; see `fit_tool`.
    """
    turned = np.asarray(rotations, dtype=np.float64)
    readings = np.asarray(wrenches, dtype=np.float64)
    count = len(turned) if turned.ndim else 0
    if turned.shape != (count, 3, 3) or readings.shape != (count, 6):
        raise ShapeError(
            f'rotations of shape {turned.shape} and wrenches of shape {readings.shape}; (K, 3, 3) '
            f'and (K, 6) are expected'
        )
    if count < FEWEST_POSES:
        raise ShapeError(too_few(count))
    if not np.isfinite(readings).all():
        row = int(np.argmin(np.isfinite(readings).all(axis=1)))
        raise ValueRangeError(f'the wrench of pose {row} is not finite: {readings[row].tolist()}')
    for rotation in turned:
        check_rotation(rotation)
    return turned, readings


def too_few(count: int) -> str:
    """Returns why so few poses do not suffice, and what would."""
    return (
        f'{count} still poses; at least {FEWEST_POSES} are needed, in which the direction of '
        f'gravity in the sensor varies by {_degrees(LEAST_SPREAD):.0f} degrees and more (root '
        f'mean square): {_GOOD_POSES} are good'
    )


def _degrees(spread: float) -> float:
    """Returns the angle that a mean square of directions stands for."""
    return degrees(asin(sqrt(min(max(spread, 0.0), 1.0))))


def gravity_spread(down: Array) -> tuple[Array, Array]:
    """Returns mean squares (3,), rising, of gravity's directions, and principal axes (3, 3)."""
    centred = down - down.mean(axis=0)
    spread, axes = np.linalg.eigh(centred.T @ centred / len(down))
    return spread, axes


def _determined(down: Array) -> tuple[bool, bool]:
    """Returns whether the poses determine mass and force bias, and centre of mass and torque bias.
    A mass needs gravity's directions to spread at all; the centre of mass along an axis needs a
    spread across it.
    """
    spread, _ = gravity_spread(down)
    return bool(spread.sum() >= LEAST_SPREAD), bool(spread[0] + spread[1] >= LEAST_SPREAD)


def _undetermined(down: Array, mass: float) -> tuple[str, ...]:
    """Returns the quantities that the poses do not determine, in words."""
    has_mass, has_moment = _determined(down)
    spread, axes = gravity_spread(down)
    least = f'at least {_degrees(LEAST_SPREAD):.0f} are needed'
    if not has_mass:
        turned = _degrees(spread.sum())
        return (
            'mass',
            'centre of mass',
            f'bias (all poses have nearly the same orientation: the direction of gravity in the '
            f'sensor varies by {turned:.1f} degrees, root mean square; {least})',
        )
    found = []
    if not has_moment:
        axis = ', '.join(f'{value:.2f}' for value in axes[:, 2])
        off = _degrees(spread[0] + spread[1])
        found.append(
            f'centre of mass and torque bias along ({axis}) of the sensor (the direction of '
            f'gravity varies by {off:.1f} degrees, root mean square, other than along that '
            f'axis; {least})'
        )
    if mass < LEAST_MASS:
        found.append(f'centre of mass ({TOO_LIGHT} {mass:.3f} kg)')
    return tuple(found)


def _centre(
    moment: Array, moment_error: Array, mass: float, mass_error: float
) -> tuple[Array, Array]:
    """Returns the centre of mass and its standard error, (3,) and (3,)."""
    if abs(mass) < 1e-9:
        return np.full(3, np.nan), np.full(3, np.nan)
    centre = moment / mass
    return centre, np.sqrt(moment_error**2 + (centre * mass_error) ** 2) / abs(mass)


def huber_weights(residuals: Array) -> Array:
    """Returns (K,) Huber weights from residual forces (K, 3), or forces and torques (K, 6)."""
    weights: Array = np.ones(len(residuals))
    for first in range(0, residuals.shape[1], 3):
        sizes = np.linalg.norm(residuals[:, first : first + 3], axis=1) / sqrt(3.0)
        scale = 1.4826 * float(np.median(sizes))
        if scale > 1e-12:
            weights = np.minimum(weights, _HUBER * scale / np.maximum(sizes, _HUBER * scale))
    return weights
