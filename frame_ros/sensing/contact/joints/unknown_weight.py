# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A weight at the hand that the dynamics do not have, or have too much, by joint torques."""

from __future__ import annotations

from math import exp, sqrt

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.robots.dynamics import GRAVITY, RobotDynamics

Array = NDArray[np.float64]
STEP = SECOND // 10  # ns between samples that are taken
MEMORY, LASTED = 20.0, 8.0  # s: time constant of the means, and of motion before it is judged
SPREAD = 0.05  # m by which the levers of a weight must differ, root of the sum over joints
INDEPENDENT = 0.5  # s between samples whose errors are not alike
LEAST = 2.0  # N
SURE, EXPLAINED = 5.0, 0.5  # deviations of a weight that is not 0, and share of what is left
OVER = 0.5  # share of what was found below which it is found no more


class UnknownWeight:
    """Finds a weight at the tip, whether it is felt or not.

    What is left of the torques without model is w x(q) + c, with the levers x of a weight w at the
    tip and offsets c of the sensors. w is a regression over the newest seconds, in which the arm
    must have moved: at rest it cannot be distinguished from an offset or a push.

    Attributes:
        weight: N downwards, below 0 where the arm carries less than its description; 0: none found.
    """

    def __init__(self, dynamics: RobotDynamics) -> None:
        self._dynamics = dynamics
        self._tip = dynamics.robot.tip_link
        self._size = float(np.linalg.norm(GRAVITY))
        self.weight = 0.0
        self.reset()

    def reset(self) -> None:
        """Forgets the samples; what was found stays."""
        size = len(self._dynamics.joint_names)
        self._last: int | None = None
        self._lasted = self._count = self._seconds = 0.0
        self._levers: Array = np.zeros(size)
        self._torques: Array = np.zeros(size)
        self._squares = np.zeros(3)  # levers, their product with the torques, torques

    @property
    def warning(self) -> str:
        """Says what is found; '' if nothing is."""
        if not self.weight:
            return ''
        grams, more = 1e3 * abs(self.weight) / self._size, 'less' if self.weight < 0.0 else 'more'
        return (
            f'the joints carry about {grams:.0f} g {more} at {self._tip} than the description of '
            'the robot has: is the hand or tool on it the one that is described? Otherwise give '
            'the URDF of this arm, or its tool by tool.mass and tool.joints_link'
        )

    def update(self, stamp: int, q: Array, residual: Array, is_holding: bool) -> None:
        """Takes what the model leaves.

        Args:
            stamp: ns.
            q: (N,) rad.
            residual: (N,) N m.
            is_holding: whether something is held, whose weight is no fault.
        """
        if self._last is not None and (is_holding or stamp < self._last):
            self.reset()
        if is_holding:
            return
        step = STEP if self._last is None else stamp - self._last
        if step < STEP:
            return
        self._last = stamp
        lever = -self._dynamics.link_jacobian(self._tip, q)[2]
        time = min(step / SECOND, INDEPENDENT)
        kept = exp(-time / MEMORY)
        self._lasted += time
        self._count = kept * self._count + 1.0
        self._seconds = kept * self._seconds + time
        self._levers = kept * self._levers + lever
        self._torques = kept * self._torques + residual
        products = lever @ lever, lever @ residual, residual @ residual
        self._squares = kept * self._squares + products
        if self._lasted >= LASTED:
            self._judge()

    def _judge(self) -> None:
        lever, torque = self._levers / self._count, self._torques / self._count
        products = np.array((lever @ lever, lever @ torque, torque @ torque))
        spread, common, all_ = (self._squares / self._count - products).tolist()
        if spread < SPREAD**2:
            return
        weight = common / spread
        left = max(all_ - weight * common, 0.0)
        deviation = sqrt(left / (max(self._seconds / INDEPENDENT, 1.0) * spread))
        is_sure = abs(weight) > max(LEAST, SURE * deviation)
        if is_sure and weight * common >= EXPLAINED * all_:
            self.weight = weight
        elif abs(weight) < OVER * abs(self.weight):
            self.weight = 0.0
