# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Motions whose efforts are computed: what motors with known friction bring, and a known push."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from frame_ros.robots.dynamics import RobotDynamics
from frame_ros.sensing.contact.joints.friction_direction import FrictionDirection
from frame_ros.sensing.contact.joints.motor_model import MotorModel

HOME = np.array([0.0, -1.0, 1.0, 0.6, 0.3])


def swing(times: np.ndarray, size: float = 0.5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, velocities, accelerations (T, 5) of an SO-101 whose joints all swing."""
    rates = np.array([0.9, 1.1, 1.3, 1.7, 2.1])
    phase = np.outer(times, rates)
    return (
        HOME + size * np.sin(phase),
        size * rates * np.cos(phase),
        -size * rates**2 * np.sin(phase),
    )


def efforts_of(
    dynamics: RobotDynamics,
    motors: MotorModel,
    motion: tuple[np.ndarray, np.ndarray, np.ndarray],
    external: Callable[[int], np.ndarray] = lambda row: np.zeros(5),
) -> np.ndarray:
    """(T, N) efforts of the motion. dynamics: with the armature. external: (N,) N m at a row."""
    friction = FrictionDirection(len(dynamics.joint_names), motors.presliding)
    rows = []
    for row, (q, dq, ddq) in enumerate(zip(*motion, strict=True)):
        direction = friction.update(q)
        links = dynamics.inverse_dynamics(q, dq, ddq) - external(row)
        dry = motors.coulomb + motors.stribeck * np.exp(-((dq / motors.stribeck_velocity) ** 2))
        dry = dry + motors.weight_friction * np.abs(dynamics.gravity(q))
        torque = links + motors.offset + motors.viscous * dq + direction * dry
        # Gears lose a share of the motor's torque, which is what is looked for.
        motor = torque
        for _ in range(30 if motors.load_friction.any() else 0):
            motor = torque + direction * motors.load_friction * np.abs(motor)
        rows.append(motor / motors.effort_scale)
    return np.array(rows)
