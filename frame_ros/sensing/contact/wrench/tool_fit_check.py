# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The residuals of an identified tool, against what noise and drift of its sensor explain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import degrees, radians, sqrt

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.sensing.contact.wrench.drift import LEVER
from frame_ros.sensing.contact.wrench.options import WrenchOptions
from frame_ros.sensing.contact.wrench.sensor_rotation import SensorRotation, turn_in_words
from frame_ros.sensing.contact.wrench.still_poses import StillPose
from frame_ros.sensing.contact.wrench.tool_identification import ToolFit
from frame_ros.sensing.contact.wrench.tool_model import GRAVITY

Array = NDArray[np.float64]
# Share of the weight, and of its torque, by which a sensor's linearity and crosstalk, and the arm's
# angles, may be wrong: 0.6 degrees.
SHARE = 0.01
MARGIN = 3.0  # times what is expected from which a residual is none of it
UNKNOWNS = 4.0  # of the forces, or of the torques at least
# A rotation of so many rad is one, if it leaves so many times less.
LEAST_TURN, DECISIVE, SURE = radians(3.0), 3.0, 5.0
OUTLIER = 0.5  # weight of a pose below which it does not fit the others


@dataclass(frozen=True)
class Residual:
    """Residual of a fit, and the most that noise and drift explain: N, or N m, per axis."""

    left: float
    most: float

    @property
    def is_explained(self) -> bool:
        """Returns whether noise and drift explain it."""
        return self.left <= self.most


def force_residual(fit: ToolFit, poses: Sequence[StillPose]) -> Residual:
    """Judges the forces of a fit by the poses' own noise, the drift that the contact node allows
    for over their duration, and 1 % of the weight.
    """
    return _residual(fit, poses, slice(0, 3), WrenchOptions().drift_force_rate, fit.mass * GRAVITY)


def torque_residual(fit: ToolFit, poses: Sequence[StillPose]) -> Residual:
    """Judges the torques likewise, and 1 % of the weight at its lever, of 0.1 m at least."""
    lever = max(float(np.linalg.norm(fit.centre_of_mass)), LEVER)
    rate, torque = WrenchOptions().drift_torque_rate, lever * fit.mass * GRAVITY
    return _residual(fit, poses, slice(3, 6), rate, torque)


def _residual(
    fit: ToolFit, poses: Sequence[StillPose], rows: slice, drift_rate: float, load: float
) -> Residual:
    squares = fit.weights @ (fit.residuals[:, rows] ** 2).sum(axis=1)
    left = sqrt(float(squares) / max(3.0 * float(fit.weights.sum()) - UNKNOWNS, 1.0))
    noise = np.mean([pose.spread[rows] ** 2 for pose in poses])
    stamps = [pose.stamp for pose in poses]
    # A steady drift over a time T deviates by T / sqrt(12) of its rate.
    drift = drift_rate * (max(stamps) - min(stamps)) / SECOND / sqrt(12.0)
    return Residual(left, MARGIN * sqrt(float(noise) + drift**2 + (SHARE * load) ** 2))


def is_turned(fit: ToolFit, poses: Sequence[StillPose], turned: SensorRotation | None) -> bool:
    """Returns whether the readings are those of a sensor turned further than the fit has it:
    by 3 degrees and 5 standard errors and more, where that leaves a third or less.
    """
    if turned is None or turned.angle < max(LEAST_TURN, SURE * turned.error):
        return False
    return DECISIVE * turned.force_left < force_residual(fit, poses).left


def misfit(
    fit: ToolFit,
    poses: Sequence[StillPose],
    turned: SensorRotation | None,
    most_residual: float | None = None,
) -> str:
    """Returns why a fit is none of these readings, in words; '' if it explains them.

    Args:
        turned: as `fit_sensor_rotation` finds the sensor, in the axes with which `fit` was made.
        most_residual: N that are accepted, and N m at 0.1 m; then a rotation is no reason.
    """
    force, torque = force_residual(fit, poses), torque_residual(fit, poses)
    if most_residual is not None:
        force = Residual(force.left, max(most_residual, force.most))
        torque = Residual(torque.left, max(LEVER * most_residual, torque.most))
    has_turned = is_turned(fit, poses, turned)
    is_doubted = has_turned and most_residual is None
    if force.is_explained and torque.is_explained and not is_doubted:
        return ''
    left = (
        f'the tool does not explain the readings: residuals of {force.left:.3f} N and '
        f'{torque.left:.4f} N m, where noise, drift and {100 * SHARE:.0f} % of the weight make at '
        f'most {force.most:.3f} N and {torque.most:.4f} N m'
    )
    if has_turned and turned is not None:
        return (
            f'{left}. The readings fit with the sensor turned by '
            f'{turn_in_words(turned.rotation)} (+- {degrees(turned.error):.1f}): '
            f'{turned.force_left:.3f} N are left then, and the tool has {turned.mass:.3f} kg'
        )
    return f'{left}. {_other_cause(fit, force.is_explained)}'


def _other_cause(fit: ToolFit, are_forces_explained: bool) -> str:
    bad = [str(number) for number, weight in enumerate(fit.weights, 1) if weight < OUTLIER]
    if bad and len(bad) <= len(fit.weights) // 3:
        return (
            f'Pose {", ".join(bad)} does not fit the others: something touched the tool there, or '
            'it was still swinging; take it again'
        )
    if are_forces_explained:
        return (
            'The forces fit, the torques do not: the tool moves (an open gripper, a cable), or the '
            "torques are not about the sensor's origin"
        )
    return (
        'No rotation of the sensor explains them either: was the tool the same in all poses '
        '(gripper, object, cable), and is the wrench raw, not tared or compensated by its driver?'
    )
