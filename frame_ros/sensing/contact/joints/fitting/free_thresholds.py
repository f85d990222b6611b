# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Thresholds of the joints from what free motion leaves unexplained."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from frame_ros.core.errors import ShapeError
from frame_ros.core.time import SECOND
from frame_ros.robots.dynamics import RobotDynamics
from frame_ros.sensing.contact.identification_options import IdentificationOptions
from frame_ros.sensing.contact.joints.external_torque import ExternalTorque
from frame_ros.sensing.contact.joints.fitting.recording import JointRecording
from frame_ros.sensing.contact.joints.momentum_observer import ObserverOptions
from frame_ros.sensing.contact.joints.motor_model import MotorModel

Array = NDArray[np.float64]
SETTLING = 5.0  # time constants of the observer
DOUBTED = 0.1  # of a joint's friction, from which a residual is not used: it is not known
THRESHOLD_QUANTILE = 0.9995
# Effects on friction and inertia that a recording of minutes does not show: temperature, wear,
# other loads and rates. Shares of coulomb, viscous and armature that thresholds allow for, at
# least.
DOUBT = {'reversal': 0.5, 'velocity': 0.25, 'acceleration': 0.25}


def free_residuals(
    motors: MotorModel, dynamics: RobotDynamics, recording: JointRecording, max_gap: float
) -> tuple[Array, Array]:
    """Returns the residuals (K, N) N m, and the activity (K, 3, N), that the detector has of a
    recording, where its observer has settled; NaN where friction is not known. But no drift is
    followed, and a gear is not taken to hold what its motor brings as it turns round: what that
    leaves unexplained says how far the model is off where a recording of minutes does not show it.

    Args:
        dynamics: without armature.
    """
    driven = dynamics.with_armature(np.maximum(motors.armature, 0.0))
    options = ObserverOptions(motors.gain, max_gap)
    external = ExternalTorque(driven, motors, options, holds_driven=False)
    settling = round(SETTLING / motors.gain * SECOND)
    left, activities = [], []
    for row, stamp in enumerate(recording.stamps.tolist()):
        dq = None if recording.velocities is None else recording.velocities[row]
        is_known = external.update(stamp, recording.positions[row], dq, recording.efforts[row])
        if is_known and stamp - (external.observer.since or 0) >= settling:
            is_doubted = external.doubt > DOUBTED * motors.coulomb
            left.append(np.where(is_doubted, np.nan, external.observer.residual))
            activities.append(external.activity.copy())
    return np.array(left), np.array(activities)


def free_thresholds(
    motors: MotorModel,
    dynamics: RobotDynamics,
    recording: JointRecording,
    settings: IdentificationOptions,
) -> dict[str, Any]:
    """Returns the columns threshold_* of a motor model: per joint a sum of the residuals'
    explanations, scaled to exceed nearly all.

    Args:
        dynamics: without armature.

    Raises:
        ShapeError: a joint hardly moves.
    """
    found, activity = free_residuals(motors, dynamics, recording, settings.max_gap)
    left = np.abs(found)
    columns = np.zeros((4, len(motors.joint_names)))
    for joint in range(columns.shape[1]):
        is_sure = np.isfinite(left[:, joint])
        if not is_sure.any():
            raise ShapeError(
                f'{motors.joint_names[joint]} never moved as far as its friction takes to turn '
                f'round, {motors.presliding:g} rad: a recording that moves all joints is expected'
            )
        lately = activity[is_sure, :, joint]
        matrix = np.column_stack((np.ones(len(lately)), lately))
        target = left[is_sure, joint]
        # A floor keeps a threshold for a joint that hardly moved.
        shape = nnls(matrix, target)[0]
        shape[0] = max(shape[0], 0.5 * float(np.sqrt((target**2).mean())))
        factor = float(np.quantile(target / (matrix @ shape), THRESHOLD_QUANTILE))
        columns[:, joint] = settings.margin * factor * shape
    for row, (share, size) in enumerate(
        zip(DOUBT.values(), (motors.coulomb, motors.viscous, motors.armature), strict=True), 1
    ):
        columns[row] = np.maximum(columns[row], share * np.abs(size))
    return {f'threshold_{n}': c for n, c in zip(('base', *DOUBT), columns, strict=True)}
