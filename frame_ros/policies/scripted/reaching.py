# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics of arms with fewer than six joints: position before orientation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from frame_ros.robots.motion import rotation_of
from frame_ros.robots.robot import Robot

# Added to the squared singular values; keeps steps bounded near singular postures.
_LINEAR_DAMPING, _ANGULAR_DAMPING = 1e-5 * np.eye(3), 1e-3 * np.eye(3)
_TOLERANCE = 2e-4  # m and rad: the step is then too small to matter
# rad per iteration: of any joint, and for the orientation's sake
_LARGEST_STEP, _LARGEST_TURN = 0.25, 0.1
_ITERATIONS = 60


def solve_reach(
    robot: Robot,
    start: NDArray[np.float64],
    position: NDArray[np.float64],
    rotation: NDArray[np.float64],
) -> tuple[NDArray[np.float64], float]:
    """Joint positions that bring the tip to `position`, with its orientation as near to `rotation`
    as they allow.

    Damped least squares with task priority: the orientation is served in the null space of the
    position (Nakamura and Yoshikawa 1987, with the damping of Wampler 1986). Joint limits are kept
    by clipping.

    Args:
        start: (N,) rad, where the search begins.
        position: (3,) m.
        rotation: (3, 3). Returns the joints (N,) and the distance (m) that is left.
    """
    q = np.clip(start, robot.lower, robot.upper)
    for _ in range(_ITERATIONS):
        reached, quaternion = robot.forward(q)
        turn = _rotation_error(rotation, rotation_of(quaternion))
        error = np.concatenate((position - reached, turn))
        step = _bounded_step(robot.jacobian(q), error, robot.lower - q, robot.upper - q)
        step *= min(1.0, _LARGEST_STEP / max(_largest(step), 1e-12))
        q = np.minimum(np.maximum(q + step, robot.lower), robot.upper)
        if _largest(step) < _TOLERANCE:
            break
    return q, float(np.linalg.norm(position - robot.forward(q)[0]))


def _bounded_step(
    jacobian: NDArray[np.float64],
    error: NDArray[np.float64],
    least: NDArray[np.float64],
    most: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Returns the step (N,); the others compensate for joints stopped at their limits."""
    step = _prioritised_step(jacobian, error)
    fixed, is_free = np.zeros(len(step)), np.ones(len(step), bool)
    for _ in range(2):
        passing = is_free & ((step < least) | (step > most))
        if not passing.any():
            return step
        fixed[passing] = np.clip(step, least, most)[passing]
        is_free &= ~passing
        if not is_free.any():
            return fixed
        step = fixed.copy()
        step[is_free] = _prioritised_step(jacobian[:, is_free], error - jacobian @ fixed)
    return np.minimum(np.maximum(step, least), most)


def _prioritised_step(
    jacobian: NDArray[np.float64], error: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Returns the step for the first three rows, and the others as far as these allow."""
    linear, angular = jacobian[:3], jacobian[3:]
    inverse = _damped_inverse(linear, _LINEAR_DAMPING)
    step = inverse @ error[:3]
    free = angular - (angular @ inverse) @ linear
    correction = _damped_inverse(free, _ANGULAR_DAMPING) @ (error[3:] - angular @ step)
    correction *= min(1.0, _LARGEST_TURN / max(_largest(correction), 1e-12))
    return step + correction - inverse @ (linear @ correction)


def _largest(values: NDArray[np.float64]) -> float:
    """The largest magnitude of a few values; NumPy takes three times as long."""
    return max(map(abs, values.tolist()))


def _damped_inverse(
    matrix: NDArray[np.float64], damping: NDArray[np.float64]
) -> NDArray[np.float64]:
    # The damped square is positive definite.
    return np.asarray(dposv(matrix @ matrix.T + damping, matrix)[1].T)


def _rotation_error(
    wanted: NDArray[np.float64], present: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Returns (3,) rad: sin(angle) times the axis of rotation, in the base frame."""
    turn = wanted @ present.T
    turn = turn - turn.T
    return 0.5 * np.array((turn[2, 1], turn[0, 2], turn[1, 0]))
