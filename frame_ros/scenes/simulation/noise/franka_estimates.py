# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A Franka arm's estimates of external forces from its joint torque sensors, and the resulting
flags.

The signs are libfranka's (franka::RobotState): forces exerted by the robot are positive.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.options import option, options, rule
from frame_ros.hardware.franka_estimates import (
    COLLISION_TORQUES,
    CONTACT_TORQUES,
    JOINTS,
    FrankaEstimates,
)

Array = NDArray[np.float64]
TORQUE_LEVER = 0.1  # m: offsets and noise of the wrench's torques are so many times the forces'
JOINT_LEVER = 0.3  # m: those of the joint torques


@options
class EstimateOptions:
    """Estimates of a Franka arm from its joint torques (franka_robot_state_broadcaster/*)."""

    cutoff: float = option(
        10.0, 'corner of the low-pass of external wrench and torques', unit='Hz', above=0.0
    )
    noise: float = option(0.1, 'standard deviation of each force behind it', unit='N', at_least=0.0)
    offset: float = option(
        3.0,
        'RMS over all postures of the external force in free space; it depends on the posture',
        unit='N',
        at_least=0.0,
    )
    contact_force: float = option(
        30.0, 'force of an axis from which its contact flag is raised', unit='N', above=0.0
    )
    collision_force: float = option(
        40.0,
        'force of an axis from which its collision flag is raised, until an episode begins or the '
        'scene is reset',
        unit='N',
    )
    contact_turn: float = option(
        25.0, 'likewise of the torque about an axis', unit='N m', above=0.0
    )
    collision_turn: float = option(35.0, 'likewise of the torque about an axis', unit='N m')

    @rule('collision_force', 'at least contact_force, {self.contact_force:g} N')
    def _is_collision_above_contact(self) -> bool:
        return self.contact_force <= self.collision_force

    @rule('collision_turn', 'at least contact_turn, {self.contact_turn:g} N m')
    def _is_turn_above_contact(self) -> bool:
        return self.contact_turn <= self.collision_turn


class FrankaEstimator:
    """Turns true external torques and wrenches into Franka's estimates, sample by sample. A contact
    flag is raised while an estimate is above its threshold; a collision flag stays raised until
    `reset`, as on the arm until its error is recovered.
    """

    def __init__(self, options: EstimateOptions, period: float, seed: int) -> None:
        """Samples come every `period` s; seed: of the noise and the posture's offset."""
        self._rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(7,)))
        self._gain = 1.0 - math.exp(-2.0 * math.pi * options.cutoff * period)
        levers = np.repeat((JOINT_LEVER, 1.0, TORQUE_LEVER), (JOINTS, 3, 3))
        # Each axis is a sum of 7 sines and cosines, and three of them make the force's norm.
        weights = self._rng.standard_normal((JOINTS + 6, 2 * JOINTS)) / math.sqrt(3 * JOINTS)
        self._offsets = options.offset * levers[:, None] * weights
        # So that the noise has its standard deviation behind the low-pass.
        before = options.noise * math.sqrt((2.0 - self._gain) / self._gain)
        self._noise = before * levers
        self._thresholds = _thresholds(options)
        self._filtered: Array | None = None
        self._collisions = np.zeros(JOINTS + 6, bool)

    def reset(self) -> None:
        """Clears the collision flags."""
        self._collisions[:] = False

    def offset(self, positions: Array) -> Array:
        """(13,) what the estimates of torques and wrench are in free space, at positions (7,)."""
        return self._offsets @ np.concatenate((np.sin(positions), np.cos(positions)))

    def update(
        self, positions: Array, torques: Array, wrench: Array, tip_rotation: Array
    ) -> FrankaEstimates:
        """Returns the estimates at the next sample.

        Args:
            positions: (7,) rad.
            torques: (7,) N m, truly external.
            wrench: (6,) about the tip in the base's axes, likewise.
            tip_rotation: (3, 3), of the tip in the base.
        """
        acting = np.concatenate((torques, wrench))
        measured = self.offset(positions) - acting
        measured += self._noise * self._rng.standard_normal(len(measured))
        if self._filtered is None:
            self._filtered = measured
        self._filtered = self._filtered + self._gain * (measured - self._filtered)
        estimate = self._filtered
        lower, upper = self._thresholds
        contacts = np.abs(estimate) > lower
        self._collisions |= np.abs(estimate) > upper
        collisions = self._collisions.copy()
        force, turn = estimate[JOINTS : JOINTS + 3], estimate[JOINTS + 3 :]
        tip_wrench = np.concatenate((tip_rotation.T @ force, tip_rotation.T @ turn))
        return FrankaEstimates(
            estimate[:JOINTS], estimate[JOINTS:], tip_wrench, contacts[JOINTS:],
            collisions[JOINTS:], contacts[:JOINTS], collisions[:JOINTS],
        )  # fmt: skip


def _thresholds(options: EstimateOptions) -> tuple[Array, Array]:
    """(13,) of contact and of collision, ordered as torques, forces, turns."""
    forces, turns = (options.contact_force,) * 3, (options.contact_turn,) * 3
    lower = np.array((*CONTACT_TORQUES, *forces, *turns))
    forces, turns = (options.collision_force,) * 3, (options.collision_turn,) * 3
    return lower, np.array((*COLLISION_TORQUES, *forces, *turns))
