# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contact of any link from joint torques or motor currents: no sensor but the motors."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import SetupError
from frame_ros.core.options import option, options
from frame_ros.core.time import SECOND
from frame_ros.robots.dynamics import GRAVITY, Payload, RobotDynamics
from frame_ros.robots.robot import Robot
from frame_ros.sensing.contact.detection import Detection, unknown
from frame_ros.sensing.contact.joints.external_torque import ExternalTorque
from frame_ros.sensing.contact.joints.force_estimate import ForceEstimate, ForceEstimator
from frame_ros.sensing.contact.joints.giving_way import GivingWay
from frame_ros.sensing.contact.joints.least_force import LeastForces
from frame_ros.sensing.contact.joints.link_evidence import LinkEvidence
from frame_ros.sensing.contact.joints.momentum_observer import ObserverOptions
from frame_ros.sensing.contact.joints.motor_model import MotorModel
from frame_ros.sensing.contact.joints.not_following import NotFollowing
from frame_ros.sensing.contact.joints.speed_losses import SpeedLosses
from frame_ros.sensing.contact.joints.stall import StallDetector, StallOptions
from frame_ros.sensing.contact.joints.standing import StandingArm
from frame_ros.sensing.contact.sensitivity import SETTLED, UNKNOWN, Sensitivity
from frame_ros.sensing.contact.source import ContactSource
from frame_ros.sensing.contact.threshold import Threshold, end_share, time_of

Array = NDArray[np.float64]
DOUBTED = 2.0  # deviations by what is not known of the motors' losses
NOISE_SHARE = 0.3  # of a threshold that is taken as its residual's deviation
FORCE_PERIOD = 20_000_000  # ns from one force estimate to the next while there is no contact
QUIET_SHARE = 0.5  # of the least thresholds, below which an arm may count as standing
NO_THRESHOLDS = (
    'the motor model has no thresholds: run frame-ros identify joints, or set least_threshold'
)


@options
class JointContactOptions:
    """Contact by the efforts of the joints.

    Attributes:
        stall: criteria of a stall.
    """

    gain: float = option(
        0.0,
        'gain of the momentum observer; 0: that of the identification',
        unit='1/s',
        at_least=0.0,
    )
    margin: float = option(1.25, 'factor of the identified thresholds', above=0.0, live=True)
    combined_threshold: float = option(
        1.4,
        'thresholds that all joints must reach together, as the root of the sum of the '
        'squares of their shares, where none reaches its own; .inf: they do not count '
        'together',
        at_least=1.0,
        is_finite=False,
        live=True,
    )
    scatter_margin: float = option(
        2.0,
        'deviations of the residual by what jumps from sample to sample (coarse steps of '
        'commands, late and missing samples) that widen the thresholds; 0: they do not',
        at_least=0.0,
        live=True,
    )
    least_threshold: float = option(0.02, 'smallest threshold', unit='N m', at_least=0.0, live=True)
    release: float = end_share(0.7)
    on_time: float = time_of(0.02, 'a contact')
    off_time: float = time_of(0.06, 'its end')
    max_gap: float = option(
        0.15, 'time between joint states from which the observer restarts', unit='s', above=0.0
    )
    settle_time: float = option(
        0.3, 'time after a beginning in which nothing is known', unit='s', at_least=0.0
    )
    held_mass: float = option(
        0.05,
        'mass of the heaviest object; widens the thresholds while the gripper holds one',
        unit='kg',
        at_least=0.0,
        live=True,
    )
    limit_margin: float = option(
        0.02,
        'distance (m for a finger) from a limit of the URDF from which a joint is not '
        'judged: its stop may hold it',
        unit='rad',
        at_least=0.0,
    )
    stall: StallOptions = StallOptions()


class JointContact:
    """Detects contacts of any link behind the first joint from the efforts of the joints.

    A contact on a link gives torque only to the joints between it and the base (Haddadin et al.
    2017, section IV), which distinguishes the links, see `LinkEvidence`: `link` is the hand's until
    there is enough evidence for another. A force through a joint's axis, or along it, gives that
    joint no torque. A contact is one joint's residual above its threshold, or all together above
    theirs: the root of the sum of squares of independent errors, a threshold being about three
    standard deviations, passes 1.24 thresholds (of five joints) or 1.34 (of seven) as rarely as one
    of them its own.

    Attributes:
        residual, threshold: (N,) N m of the newest sample.
        blocked: (N,) shares of joints that do not follow their commands, see `NotFollowing`.
        losses: what the motors lose by speed beyond what was identified.
    """

    def __init__(
        self,
        dynamics: RobotDynamics,
        settings: JointContactOptions | None = None,
        motors: MotorModel | None = None,
    ) -> None:
        """Makes a detector.

        Args:
            dynamics: with the armature and mass scales of `motors`, see `dynamics_for`.

        Raises:
            SetupError: the motor model is missing, or lacks one of the joints.
        """
        if motors is None:
            raise SetupError(
                f'there is no motor model of {dynamics.robot.name}: run frame-ros identify joints'
            )
        self.dynamics, self.settings = dynamics, settings or JointContactOptions()
        self.motors = motors.of(dynamics.joint_names)
        self.joint_names = dynamics.joint_names
        self._gain = self.settings.gain or self.motors.gain
        self._settle = round(self.settings.settle_time * SECOND)
        observer = ObserverOptions(self._gain, self.settings.max_gap)
        self._external = ExternalTorque(dynamics, self.motors, observer, self._settle)
        count = len(self.joint_names)
        self._shape = (count,)
        limits = np.array([dynamics.robot.joint_limits[n] for n in self.joint_names])
        # Joints without limits have none to approach.
        limits = np.clip(limits, -1e6, 1e6)
        self._middle = limits.mean(axis=1)
        self._half = 0.5 * (limits[:, 1] - limits[:, 0]) - self.settings.limit_margin
        self._stall = StallDetector(count, self.settings.stall)
        play = self.motors.play
        self._standing, self._giving = StandingArm(play), GivingWay(count, play)
        self._following = NotFollowing(self.motors, self.settings.margin)
        self.losses = SpeedLosses(self.motors.stiffness, self._gain)
        self._at_rest: Array = np.zeros((3, count))
        self._over = Threshold(
            1.0, self.settings.release, self.settings.on_time, self.settings.off_time
        )
        self._estimator = ForceEstimator(dynamics)
        self._least = LeastForces(dynamics)
        self._evidence = LinkEvidence(dynamics, self._gain)
        self.reset()

    def change(self, settings: JointContactOptions) -> None:
        """Takes other values of the options that are live, from the next sample on."""
        self.settings = settings
        self._over.change(1.0, settings.release, settings.on_time, settings.off_time)
        self._stall.change(settings.stall)
        self._following.change(settings.margin)

    @property
    def _has_thresholds(self) -> bool:
        return bool((self.motors.threshold_base > 0).all() or self.settings.least_threshold > 0)

    def reset(self) -> None:
        """Forgets everything but the settings and the payload."""
        self._external.reset()
        self._standing.reset()
        self._giving.reset()
        self._following.reset()
        self.losses.reset()
        self._given, self._was_holding = 0.0, False
        self.blocked: Array = np.zeros(len(self.joint_names))
        self._first = 0
        self._stall.reset()
        self._over.reset()
        self._evidence.reset()
        self.residual = unknown(len(self.joint_names))
        self.threshold = unknown(len(self.joint_names))
        self._stamp: int | None = None
        self._estimate: tuple[int, int, ForceEstimate] | None = None
        self._position: Array | None = None

    @property
    def stands(self) -> bool:
        """Returns whether the arm stands by its commands, see `StandingArm`."""
        return self._standing.stands

    @property
    def near_limits(self) -> tuple[str, ...]:
        """The joints that are not judged now, as they are within `limit_margin` of a limit."""
        is_left_out = np.isinf(self.threshold).tolist()
        return tuple(name for name, left in zip(self.joint_names, is_left_out) if left)

    @property
    def needed(self) -> Array:
        """(N,) N m of external torque that each joint must have to be felt now: beyond its
        threshold and, of one that sticks, beyond what it can hold.
        """
        return self._external.needed(self.threshold)

    def least_forces(self) -> dict[str, float]:
        """Returns body -> N on it that are felt now; empty while nothing is known."""
        if self._position is None:
            return {}
        return self._least.at(self._position, self.needed)

    @property
    def sensitivity(self) -> Sensitivity:
        """The force at the tip that brings one joint, or all together, to threshold now."""
        if self._position is None:
            return UNKNOWN
        lever = self.dynamics.link_jacobian(self.dynamics.robot.tip_link, self._position)[:3]
        alone = np.linalg.norm(lever / self.needed, axis=0).max()
        # Joints that stick hold what they hold, each alone.
        free = lever / np.where(self._external.is_stuck, math.inf, self.threshold)
        together = np.linalg.norm(free, 2) / self.settings.combined_threshold
        felt = float(max(alone, together))
        seconds = SETTLED / self._gain + self.settings.on_time
        return Sensitivity(1.0 / felt if felt > 0.0 else math.inf, seconds)

    def set_payload(self, payload: Payload | None) -> None:
        """Sets a known payload, whose weight is then not part of a contact's force."""
        self.dynamics.set_payload(payload)
        self._external.change_load()

    def update(
        self,
        stamp: int,
        q: Array,
        dq: Array | None,
        effort: Array,
        command: Array | None = None,
        is_holding: bool = False,
    ) -> Detection:
        """Takes one sample of the joints, in the order of `joint_names`.

        `unavailable` of the detection gives the reason for unknown results: missing values, stamps
        not later than before, the first samples after a beginning or a gap.

        Args:
            stamp: ns.
            q: (N,) rad.
            dq: (N,) rad/s; None: differences of q.
            effort: (N,) in the unit of the motor model.
            command: (N,) rad, the commanded positions; None: unknown, then no stall is detected,
                a standing arm feels less, and a reversal may be felt.
            is_holding: whether the gripper holds an object.
        """
        if problem := self._problem(stamp, q, effort):
            return self._unknown(stamp, problem)
        self._stamp = stamp
        is_measured = self._external.update(stamp, q, dq, effort, command)
        observer = self._external.observer
        if not is_measured:
            self._over.reset()
            self._stall.interrupt()
            self._standing.reset()
            self._giving.reset()
            self._following.reset()
            self.losses.pause()
            return self._unknown(stamp, 'the first samples after a beginning or a gap')
        self.residual = observer.residual
        if self.motors.has_friction:
            self._stand(stamp, command)
            self._given = self._way_given(q, is_holding)
        self.threshold = self._threshold(q, is_holding)
        if self.losses.is_used:
            self._learn_losses()
        if not is_holding:
            self._external.follow_drift(self.threshold)
        motor = self.motors.motor_torque(effort, observer.velocity) + self.motors.offset
        stalled = self._stall.update(stamp, motor, q, observer.velocity, command)
        if self._following.is_used:
            self.blocked = self._not_following(stamp, q, command, motor, is_holding)
        if stamp - (observer.since or 0) < self._settle:
            return self._unknown(stamp, 'the observer has just begun')
        self._position = q
        return self._judge(stamp, q, stalled)

    def _learn_losses(self) -> None:
        external, observer = self._external, self._external.observer
        slides = ~external.friction.is_stuck
        self.losses.update(
            external.goal_speed, observer.decay, observer.interval, external.period, self.residual,
            self.threshold, slides,
        )  # fmt: skip
        external.added_viscous = self.losses.viscous

    def _problem(self, stamp: int, q: Array, effort: Array) -> str:
        if q.shape != self._shape or effort.shape != self._shape:
            return f'{len(q)} positions and {len(effort)} efforts for {self._shape[0]} joints'
        # A sum is NaN or infinite if one of its terms is.
        if not math.isfinite(np.add.reduce(effort)):
            missing = [n for n, e in zip(self.joint_names, effort) if not math.isfinite(e)]
            return f'joint_states has no effort of {", ".join(missing)}'
        if not math.isfinite(np.add.reduce(q)):
            return 'a joint position is not finite'
        if self._stamp is not None and stamp <= self._stamp:
            return f'the stamp {stamp} ns is not later than {self._stamp} ns before'
        if not self._has_thresholds:
            return NO_THRESHOLDS
        return ''

    def _threshold(self, q: Array, is_holding: bool) -> Array:
        external = self._external
        activity = self._at_rest if self._standing.stands else external.activity
        threshold = self.settings.margin * self.motors.threshold(activity)
        np.hypot(threshold, self.settings.scatter_margin * external.scatter, out=threshold)
        if self.losses.is_used:
            np.hypot(threshold, DOUBTED * self.losses.doubt, out=threshold)
        np.maximum(threshold, self.settings.least_threshold, out=threshold)
        threshold += external.doubt
        if is_holding and self.settings.held_mass > 0.0:
            threshold += self._held_weight(q)
        is_inside = np.abs(q - self._middle) < self._half
        if not np.logical_and.reduce(is_inside):
            threshold[~is_inside] = math.inf
        return threshold

    def _held_weight(self, q: Array) -> Array:
        """Returns (N,) N m by which the heaviest object may load the joints, and their gears."""
        lever: Array = self.dynamics.link_jacobian(self.dynamics.robot.tip_link, q)[2]
        held = np.abs(lever) * (self.settings.held_mass * -GRAVITY[2])
        return held * (1.0 + np.maximum(self.motors.weight_friction, self.motors.weight_rest))

    def _not_following(
        self, stamp: int, q: Array, command: Array | None, motor: Array, is_holding: bool
    ) -> Array:
        held = self._held_weight(q) if is_holding else 0.0
        load = self.dynamics.gravity(q)
        shares = self._following.update(stamp, q, command, motor, load, held)
        # A stop may hold a joint that is not judged.
        return np.where(np.isinf(self.threshold), 0.0, shares)

    def _stand(self, stamp: int, command: Array | None) -> None:
        least = QUIET_SHARE * self.settings.margin * self.motors.threshold_base
        friction, standing = self._external.friction, self._standing
        # Before anything is judged, as at the start, a push must not pass for what gears hold.
        is_free = not self._over.is_over and bool((np.abs(self.residual) < self.threshold).all())
        is_stuck = is_free and bool(friction.is_stuck.all())
        standing.update(stamp, command, self.residual, least, is_stuck)
        if standing.is_steady and not standing.stands:
            friction.settle()

    def _way_given(self, q: Array, is_holding: bool) -> float:
        """Returns the share of the largest way that a joint of a standing arm has given."""
        if not self._standing.stands or is_holding != self._was_holding:
            self._was_holding = is_holding
            self._giving.reset()
            return 0.0
        return float(self._giving.update(q, self._external.friction.is_stuck).max())

    def _judge(self, stamp: int, q: Array, stalled: tuple[bool, ...]) -> Detection:
        shares = np.abs(self.residual) / self.threshold
        together = math.sqrt(shares @ shares) / self.settings.combined_threshold
        blocked = float(self.blocked.max())
        largest = max(float(np.maximum.reduce(shares)), together, self._given, blocked)
        is_contact = self._over.update(stamp, largest)
        body = len(shares) - 1
        if is_contact:
            # What blocks a joint touches a link behind it.
            if blocked >= 1.0:
                self._first = max(self._first, int(np.flatnonzero(self.blocked >= 1.0)[-1]))
            found = self._evidence.update(stamp, q, self.residual, self.threshold)
            body = max(found, self._first)
        else:
            self._evidence.reset()
            self._first = 0
        estimate = self._estimated(stamp, q, body, is_contact)
        norm = math.sqrt(estimate.force @ estimate.force)
        has_direction = is_contact and norm > 0.0
        return Detection(
            stamp,
            ContactSource.JOINT_EFFORT,
            is_contact,
            norm,
            estimate.wrench,
            self.dynamics.bodies[body] if is_contact else '',
            normal=estimate.force / norm if has_direction else unknown(3),
            joint_names=self.joint_names,
            residuals=self.residual,
            thresholds=self.threshold,
            is_stalled=stalled,
            share=largest,
        )

    def _estimated(self, stamp: int, q: Array, body: int, is_contact: bool) -> ForceEstimate:
        """Estimates the force; in free motion only now and then, as that is costly."""
        last = self._estimate
        if last is not None and not is_contact and stamp - last[0] < FORCE_PERIOD:
            return last[2]
        estimate = self._estimator.estimate(q, self.residual, NOISE_SHARE * self.threshold, body)
        self._estimate = (stamp, body, estimate)
        return estimate

    def _unknown(self, stamp: int, why: str) -> Detection:
        self._position = None
        return Detection(
            stamp,
            ContactSource.JOINT_EFFORT,
            None,
            unavailable=why,
            joint_names=self.joint_names,
            residuals=unknown(len(self.joint_names)),
            thresholds=unknown(len(self.joint_names)),
            is_stalled=self._stall.is_stalled,
        )


def dynamics_for(
    robot: Robot,
    motors: MotorModel,
    joint_names: Sequence[str] | None = None,
    tool: Payload | None = None,
) -> RobotDynamics:
    """Returns the dynamics of a robot with the identified armature and masses.

    Args:
        joint_names: None takes the arm's joints that the motor model has.

    Raises:
        SetupError: the motor model does not have a joint.
        RobotError: as `RobotDynamics`.
    """
    if joint_names is None:
        joint_names = [name for name in robot.joint_names if name in motors.joint_names]
        if not joint_names:
            raise SetupError(
                f'the motor model is of {", ".join(motors.joint_names)}; {robot.name} has '
                f'{", ".join(robot.joint_names)}'
            )
    armature = motors.of(joint_names).armature
    return RobotDynamics(
        robot, joint_names, np.maximum(armature, 0.0), tool, mass_scales=motors.mass_scales
    )
