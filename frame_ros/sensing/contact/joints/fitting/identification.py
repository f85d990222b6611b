# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Motor constants, friction and armature of a robot's joints, fitted to a recorded motion.

The equation of motion is linear in them. It is fitted in the form that the momentum observer
integrates, filtered as it filters, by least squares with the effort, which carries the noise, on
the left:

    effort = (rigid + (coulomb + stribeck near) s + viscous dq + offset + armature ddq) / scale
             + (load + load_stribeck near) |effort| s

only while a joint slides: what one that sticks holds is not known. Of gears that lose by what they
hold, not by what the motor brings, the last term is weight |gravity| s / scale: of a motor that
hardly ever brakes |effort| s is its own effort, and would explain anything. A supply's current has
no offset.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import SetupError
from frame_ros.core.options import evolved
from frame_ros.core.time import SECOND
from frame_ros.robots.dynamics import RobotDynamics
from frame_ros.sensing.contact.identification_options import IdentificationOptions
from frame_ros.sensing.contact.joints.fitting.breakaway import friction_at_rest
from frame_ros.sensing.contact.joints.fitting.free_thresholds import free_thresholds
from frame_ros.sensing.contact.joints.fitting.joint_fit import (
    COLUMNS,
    JointFit,
    JointFitting,
    loses_by_motor,
    shows_load,
)
from frame_ros.sensing.contact.joints.fitting.recording import (
    EffortForm,
    FrictionShape,
    JointRecording,
    ObservedMotion,
    ObservedTerms,
)
from frame_ros.sensing.contact.joints.momentum_observer import ObserverOptions
from frame_ros.sensing.contact.joints.motor_model import MotorModel
from frame_ros.sensing.contact.joints.not_following import free_distances

Array = NDArray[np.float64]
# rad and rad/s, of which the best are taken.
PRESLIDINGS, STRIBECK_VELOCITIES = (0.001, 0.003, 0.006, 0.01, 0.02), (0.05, 0.15)
FINER_PRESLIDINGS = (0.0003, 0.0006)  # rad, too, of torque sensors, which have no gear behind them
USUAL_SHAPE = FrictionShape(0.006, 0.15)  # with which the kinds of efforts are compared
BACK_EMFS = (0.1, 0.2, 0.3, 0.4)  # sqrt(A) s/rad, of which the best is taken
BETTER = 0.9  # share of what currents of the motors leave, below which those of the supply are it
# The same of losses by the motor's torque, below which gears lose by the weight: a register's steps
# and noise alone have given 0.8 to 0.9.
CLEARLY_BETTER = 0.7
LEAST_MOVED = 0.1  # rad


@dataclass(frozen=True)
class JointIdentification:
    """The result of an identification."""

    motors: MotorModel  # to be saved
    joints: tuple[JointFit, ...]  # how well each is known
    duration: float  # s that were used
    left_out: float  # share of the samples that were left out as outliers


def identify_joints(
    dynamics: RobotDynamics,
    recording: JointRecording,
    settings: IdentificationOptions | None = None,
    source: str = '',
) -> JointIdentification:
    """Fits the motor model of `dynamics.joint_names` to a recording of free motion.

    Args:
        dynamics: without armature.
        source: the origin noted in the file.

    Raises:
        SetupError: a joint did not move, or the effort scale is unknown and no joint shows it.
        ShapeError: the recording is too short or lacks a joint.
    """
    settings = settings or IdentificationOptions()
    if dynamics.armature.any():
        raise SetupError('the identification needs dynamics without armature: it fits that')
    recording = recording.of(dynamics.joint_names)
    _check_motion(recording)
    observer = ObserverOptions(settings.observer_gain, settings.max_gap)
    motion = ObservedMotion(dynamics, recording, observer)
    fitted = _best_losses(dynamics.joint_names, motion, settings, recording.rate)
    form, fits = fitted.form, fitted.fits
    motors = _motors(dynamics, recording, settings, fits, fitted.shape, source)
    play = 0.0 if settings.has_torque_sensors else settings.play
    motors = replace(motors, is_supply_current=form.is_supply, back_emf=form.back_emf, play=play)
    if motors.has_friction:
        is_shown = [shows_load(fit) for fit in fits]
        rest = friction_at_rest(motors, dynamics, recording, is_shown, settings.max_gap)
        motors = replace(motors, **rest)
    thresholds = free_thresholds(motors, dynamics, recording, settings)
    thresholds |= free_distances(motors, dynamics, recording)
    duration = (
        float(np.diff(recording.stamps).clip(max=int(settings.max_gap * SECOND)).sum()) / SECOND
    )
    return JointIdentification(
        replace(motors, **thresholds), tuple(fits), duration, fitted.left_out
    )


class _Fitted(NamedTuple):
    form: EffortForm
    shape: FrictionShape
    fits: list[JointFit]
    checked: float  # of the effort's unit that they leave in the blocks that check them
    left_out: float


def _best_losses(
    joint_names: tuple[str, ...], motion: ObservedMotion, settings: IdentificationOptions,
    rate: float,
) -> _Fitted:  # fmt: skip
    """Returns the fits with gears that lose by the motor's torque; where no joint shows that, and
    they leave clearly less unexplained, those with gears that lose by the weight of the links.
    """
    found = _fitted(joint_names, motion, settings, rate, by_weight=False)
    if settings.has_torque_sensors or any(map(loses_by_motor, found.fits)):
        return found
    # What the efforts are does not depend on it. The back EMF may, but says nothing of losses.
    given = evolved(settings, effort_kind='supply' if found.form.is_supply else 'motor')
    try:
        if settings.effort_kind == 'either' and found.form.is_supply:
            found = _fitted(joint_names, motion, given, rate, by_weight=False)
        other = _fitted(joint_names, motion, given, rate, by_weight=True)
        alike = _fitted(joint_names, motion, given, rate, by_weight=False, form=other.form)
    except SetupError:
        return found
    least = min(found.checked, alike.checked)
    return other if other.checked < CLEARLY_BETTER * least else found


def _fitted(
    joint_names: tuple[str, ...], motion: ObservedMotion, settings: IdentificationOptions,
    rate: float, by_weight: bool, form: EffortForm | None = None,
) -> _Fitted:  # fmt: skip
    form = form or _best_form(joint_names, motion, settings, rate, by_weight)
    motion = motion.of_form(form)
    shape, terms = _best_shape(joint_names, motion, settings, rate, form, by_weight)
    fitting = JointFitting(joint_names, terms, settings, rate, by_weight, form.is_supply)
    fits = fitting.fits(motion.effort_limits)
    return _Fitted(form, shape, fits, fitting.checked(fits), fitting.left_out)


def _best_form(
    joint_names: tuple[str, ...],
    motion: ObservedMotion,
    settings: IdentificationOptions,
    rate: float,
    by_weight: bool,
) -> EffortForm:
    """Returns what the efforts are, if it is not given: the currents of the motors, unless those of
    their supply leave clearly less unexplained.

    Raises:
        SetupError: they are given as currents of the supply, and no joint bears weight, which alone
            shows the back EMF.
    """
    if settings.has_torque_sensors or settings.effort_kind == 'motor':
        return EffortForm()

    def left(form: EffortForm) -> float:
        terms = motion.of_form(form).terms(USUAL_SHAPE)
        # To be compared, they have an offset each.
        is_given = settings.effort_kind == 'supply'
        fitting = JointFitting(joint_names, terms, settings, rate, by_weight, is_given)
        return fitting.unexplained()

    best = min((EffortForm(True, back_emf) for back_emf in BACK_EMFS), key=left)
    if settings.effort_kind == 'supply' and not left(best) > 0.0:
        raise SetupError(
            "effort_kind is 'supply': its back EMF shows in joints that bear weight, and none of "
            f'{", ".join(joint_names)} does; identify those that do as well'
        )
    if settings.effort_kind == 'either' and not left(best) < BETTER * left(EffortForm()):
        best = EffortForm()
    return best


def _best_shape(
    joint_names: tuple[str, ...],
    motion: ObservedMotion,
    settings: IdentificationOptions,
    rate: float,
    form: EffortForm,
    by_weight: bool,
) -> tuple[FrictionShape, ObservedTerms]:
    """Returns the shape of dry friction that leaves the least residual: relative to the effort, or,
    of a supply's current, which goes with friction more than with weight, in N m.
    """
    found = []
    finer = FINER_PRESLIDINGS if settings.has_torque_sensors else ()
    for presliding in (*finer, *PRESLIDINGS):
        for velocity in STRIBECK_VELOCITIES:
            shape = FrictionShape(presliding, velocity)
            terms = motion.terms(shape)
            fitting = JointFitting(joint_names, terms, settings, rate, by_weight, form.is_supply)
            cost = fitting.unexplained() if form.is_supply else fitting.cost()
            found.append((cost, shape, terms))
    _, shape, terms = min(found, key=lambda each: each[0])
    return shape, terms


def _check_motion(recording: JointRecording) -> None:
    moved = np.ptp(recording.positions, axis=0)
    if (still := moved < LEAST_MOVED).any():
        names = [n for n, is_still in zip(recording.joint_names, still) if is_still]
        raise SetupError(
            f'{", ".join(names)} moved by less than {LEAST_MOVED} rad: the motion must excite '
            'every joint'
        )
    if not np.ptp(recording.efforts, axis=0).all():
        names = [n for n, e in zip(recording.joint_names, recording.efforts.T) if not np.ptp(e)]
        raise SetupError(f'the effort of {", ".join(names)} never changes: it is not measured')


def _motors(
    dynamics: RobotDynamics, recording: JointRecording, settings: IdentificationOptions,
    fits: list[JointFit], shape: FrictionShape, source: str,
) -> MotorModel:  # fmt: skip
    columns: dict[str, Any] = {
        name: np.array([fit.values[name] for fit in fits])
        for name in ('effort_scale', *COLUMNS[1:])
    }
    return MotorModel(
        dynamics.robot.name,
        dynamics.joint_names,
        **columns,
        residual_rms=np.array([fit.rms_after for fit in fits]),
        presliding=shape.presliding,
        stribeck_velocity=shape.stribeck_velocity,
        gain=settings.observer_gain,
        has_torque_sensors=settings.has_torque_sensors,
        has_velocities=recording.velocities is not None,
        sample_rate=recording.rate,
        date=datetime.date.today().isoformat(),
        source=source,
    )
