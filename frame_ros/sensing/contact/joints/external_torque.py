# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The joint torques that motors, friction and masses leave unexplained."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.robots.dynamics import RobotDynamics
from frame_ros.sensing.contact.joints.activity import JointActivity
from frame_ros.sensing.contact.joints.joint_friction import JointFriction
from frame_ros.sensing.contact.joints.link_load import LinkLoad
from frame_ros.sensing.contact.joints.momentum_observer import MomentumObserver, ObserverOptions
from frame_ros.sensing.contact.joints.motor_model import MotorModel
from frame_ros.sensing.contact.joints.sample_gaps import SampleGaps
from frame_ros.sensing.contact.joints.scatter import ResidualScatter
from frame_ros.sensing.contact.joints.sticking import StickingFriction
from frame_ros.sensing.contact.joints.torque_drift import TorqueDrift

Array = NDArray[np.float64]
ACTIVITY_TIME = 0.15  # s in which what a joint did stops to count
AHEAD = 2.0  # rad/s by which a goal may go faster than its joint; a jump of it counts as that


class ExternalTorque:
    """External torques from efforts: the momentum observer, fed with what friction leaves of the
    motors' torque.

    Attributes:
        observer: of the residual, (N,) N m.
        friction: of the gears of each joint.
        activity: (3, N), see `JointActivity`.
        scatter: (N,) N m, see `ResidualScatter`.
        drift: of torque sensors; None: there are none.
        goal_speed: (N,) rad/s, of the goals; of the joints where these are not known.
        added_viscous: (N,) N m s/rad of these, from the next sample on, beyond what was identified.
    """

    def __init__(
        self,
        dynamics: RobotDynamics,
        motors: MotorModel,
        settings: ObserverOptions,
        settle_time: int = 0,
        holds_driven: bool = True,
    ) -> None:
        """Takes dynamics with the armature of the motors, whose joints are theirs.

        Args:
            settle_time: ns after a beginning in which what is unexplained is not known to be
                external.
            holds_driven: see `StickingFriction`.
        """
        count = len(dynamics.joint_names)
        self._motors = motors
        self._unknown: Array = np.full(count, math.nan)
        self.observer = MomentumObserver(dynamics, settings)
        self.friction = StickingFriction(motors, float(np.max(settings.gain)), holds_driven)
        self._has_friction = motors.has_friction
        self._behind: JointFriction | None = None
        if motors.has_torque_sensors and motors.coulomb.any():
            self._behind = JointFriction(motors, float(np.max(settings.gain)))
        self.drift = TorqueDrift(motors) if motors.has_torque_sensors and holds_driven else None
        self._none = np.zeros(count)
        self._load = LinkLoad(dynamics)
        self._activity = JointActivity(count, motors.stribeck_velocity, ACTIVITY_TIME)
        self._scatter = ResidualScatter(count)
        self._gaps, self._settle = SampleGaps(), settle_time
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self.change_load()
        self.friction.reset()
        if self._behind is not None:
            self._behind.reset()
        self._load.reset()
        self._activity.reset()
        self._scatter.reset()
        self._gaps.reset()
        self.added_viscous: Array = np.zeros(len(self._unknown))
        self.goal_speed: Array = np.zeros(len(self._unknown))
        self._goal: Array = self._unknown
        self.activity = self._activity.values
        self.scatter: Array = np.zeros(self.activity.shape[1])
        self._stamp: int | None = None

    def change_load(self) -> None:
        """The links weigh something else now: what was known of the torques is of before."""
        self.observer.reset()
        if self.drift is not None:
            self.drift.reset()

    def follow_drift(self, threshold: Array) -> None:
        """Follows the drift of torque sensors by the newest sample, in which nothing is held; not
        where it is felt: above the threshold (N,) N m.
        """
        observer = self.observer
        if self.drift is not None and not (np.abs(observer.residual) > threshold).any():
            self.drift.update(observer.residual, observer.velocity, observer.interval)

    def update(
        self, stamp: int, q: Array, dq: Array | None, effort: Array, goal: Array | None = None
    ) -> bool:
        """Takes one sample, at a stamp later than the last; returns whether the residual is of it.

        Args:
            stamp: ns.
            q: (N,) rad.
            dq: (N,) rad/s; None or not finite: differences of q.
            effort: (N,) in the unit of the motor model.
            goal: (N,) rad, of the servos; None: unknown.
        """
        observer = self.observer
        if self._stamp is not None:
            self._gaps.update(stamp - self._stamp)
        velocity = observer.velocity_at(stamp, q, dq)
        torque = effort
        if velocity is not None:
            torque = self._reaching(stamp, q, velocity, effort, goal)
        self._stamp = stamp
        is_measured = observer.advance(stamp, q, velocity, torque)
        if velocity is None:
            self._goal = self._unknown
        if velocity is None or not is_measured:
            self._gaps.reset()  # the samples may come at another rate now
            self._activity.reset()
            self._scatter.reset()
            if self._behind is not None:
                self._behind.reset()
            if velocity is not None:
                self._activity.update(velocity, math.nan)
            return False
        self.activity = self._activity.update(velocity, observer.interval)
        self.scatter = self._scatter.update(observer.unfiltered, observer.decay, self._gaps.is_gap)
        return True

    @property
    def is_stuck(self) -> NDArray[np.bool_]:
        """(N,) whether friction may hold a joint now."""
        if self._behind is not None:
            return self._behind.held > 0.0
        return self.friction.is_stuck if self._has_friction else self._none > 0.0

    @property
    def doubt(self) -> Array:
        """(N,) N m that what is unexplained may be off by, see `JointFriction`."""
        return self._none if self._behind is None else self._behind.doubt

    def needed(self, threshold: Array) -> Array:
        """Returns (N,) N m of external torque with which a residual above a threshold shows: of a
        joint that friction holds, more than that.
        """
        if self._behind is not None:
            return threshold + self._behind.held
        held = np.where(self.is_stuck, self.friction.limit, 0.0)
        found: Array = np.maximum(threshold, held)
        return found

    @property
    def period(self) -> float:
        """Usual interval between samples, s."""
        return self._gaps.usual / SECOND

    def _reaching(
        self, stamp: int, q: Array, velocity: Array, effort: Array, goal: Array | None
    ) -> Array:
        """(N,) N m that reach the links."""
        motors = self._motors
        motor = motors.motor_torque(effort, velocity)
        gap = math.nan if self._stamp is None else 1e-9 * (stamp - self._stamp)
        if self._has_friction:
            observer, friction = self.observer, self.friction
            load = self._load.update(q, velocity, observer.velocity, gap, friction.is_stuck)
            is_known = observer.since is not None and stamp - observer.since >= self._settle
            external = observer.residual if is_known else self._unknown
            motor = motor - friction.update(
                q, velocity, motor, load, external, gap, self._gaps.is_gap, goal
            )
        elif self._behind is not None:
            motor = motor - self._behind.update(q, gap)
        if self.drift is not None:
            motor = motor - self.drift.offset
        self._follow_goal(goal, velocity, gap)
        return motor - motors.viscous * velocity - self.added_viscous * self.goal_speed

    def _follow_goal(self, goal: Array | None, velocity: Array, seconds: float) -> None:
        before, self._goal = self._goal, self._unknown if goal is None else goal
        ahead = (self._goal - before) / seconds - velocity if seconds > 0.0 else self._unknown
        self.goal_speed = velocity + np.nan_to_num(np.clip(ahead, -AHEAD, AHEAD))
