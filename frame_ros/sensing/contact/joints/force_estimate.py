# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""From external joint torques to the force that causes them, as far as the joints feel it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

from frame_ros.robots.description import Primitive
from frame_ros.robots.dynamics import RobotDynamics
from frame_ros.robots.shapes.solid_shapes import solid_shapes

Array = NDArray[np.float64]
# Usual values of contacts; they decide only what the joints leave open.
USUAL_FORCE, USUAL_TORQUE = 10.0, 0.5  # N, N m
LEAST_FELT = 0.25  # of a joint's deviation, that a usual force must make to be estimated at all


@dataclass(frozen=True)
class ForceEstimate:
    """A contact force. NaN where no joint feels the link."""

    force: Array  # (3,) N, base axes, as if it acted at `position` (3,) m
    position: Array
    wrench: Array  # (6,) the same about the tip, N and N m


class ForceEstimator:
    """The most likely force for (N,) residuals of given deviations: damped least squares of

        residuals = J^T w,   w = S J' (J'^T S^2 J' ...)  with usual sizes S of forces and torques,

    that is minimum-variance estimation with a zero-mean prior of USUAL_FORCE and USUAL_TORQUE per
    axis. In a direction that the joints do not feel, near a singularity or with fewer than six
    joints, the estimate is 0, and in between it is too small: the norm is a lower bound.

    A contact at the last body is a wrench about the tip. One at an inner body is a force at the
    middle of that body's shapes, from the joints up to it alone.
    """

    def __init__(self, dynamics: RobotDynamics) -> None:
        self._dynamics = dynamics
        self._places = middles_of(dynamics)
        self._usual = np.array((USUAL_FORCE,) * 3 + (USUAL_TORQUE,) * 3)

    def estimate(self, q: Array, residuals: Array, deviations: Array, body: int) -> ForceEstimate:
        """Returns the estimate for a touched body, 0 to N - 1.

        Args:
            q: (N,) rad.
            residuals, deviations: (N,) N m.
        """
        tip = self._dynamics.robot.tip_link
        if body == len(residuals) - 1:
            jacobian = self._dynamics.link_jacobian(tip, q)
            wrench = _solved(jacobian, self._usual, residuals, deviations)
            _, position = self._dynamics.link_pose(tip, q)
            return ForceEstimate(wrench[:3], position, wrench)
        link, middle = self._places[body]
        count = body + 1
        jacobian = self._dynamics.link_jacobian(link, q, middle)[:3, :count]
        force = _solved(jacobian, self._usual[:3], residuals[:count], deviations[:count])
        rotation, translation = self._dynamics.link_pose(link, q)
        position = translation + rotation @ middle
        _, tip_position = self._dynamics.link_pose(tip, q)
        (x, y, z), (fx, fy, fz) = position - tip_position, force
        moment = np.array((y * fz - z * fy, z * fx - x * fz, x * fy - y * fx))
        return ForceEstimate(force, position, np.concatenate((force, moment)))


def _solved(jacobian: Array, usual: Array, residuals: Array, deviations: Array) -> Array:
    """Returns (K,) for the K rows of the Jacobian."""
    felt = jacobian.T * usual / deviations[:, None]
    gram = felt @ felt.T
    if not gram.trace() > LEAST_FELT**2:
        return np.full(len(usual), nan)
    gram.flat[:: len(gram) + 1] += 1.0
    result: Array = usual * (felt.T @ np.linalg.solve(gram, residuals / deviations))
    return result


def middles_of(dynamics: RobotDynamics) -> list[tuple[str, Array]]:
    """Returns of each body a link that has shapes, and their middle (3,) m in its frame; of one
    without, its origin.
    """
    shapes = solid_shapes(dynamics.robot)
    return [_middle_of(dynamics, body, shapes) for body in dynamics.bodies]


def _middle_of(
    dynamics: RobotDynamics, body: str, geometry: Mapping[str, Sequence[Primitive]]
) -> tuple[str, Array]:
    for link in dynamics.links_of_bodies[body]:
        if shapes := geometry.get(link):
            ends = np.array([end for s in shapes for end in (s.capsule().start, s.capsule().end)])
            return link, 0.5 * (ends.min(axis=0) + ends.max(axis=0))
    return body, np.zeros(3)
