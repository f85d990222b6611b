# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The joints' efforts as a contact sensor of the contact node."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import SetupError
from frame_ros.core.stamps import RateLimit
from frame_ros.core.time import SECOND
from frame_ros.core.turns import continuous_among, nearest_turn
from frame_ros.robots import Robot
from frame_ros.sensing.contact.coverage import Coverage, behind_joints
from frame_ros.sensing.contact.detection import Detection
from frame_ros.sensing.contact.joint_arrays import JointArrays
from frame_ros.sensing.contact.joints.detector import JointContact, dynamics_for
from frame_ros.sensing.contact.joints.effort_check import EffortCheck
from frame_ros.sensing.contact.joints.least_force import USUAL
from frame_ros.sensing.contact.joints.motor_choices import GENERIC, SIMULATED
from frame_ros.sensing.contact.joints.motor_model import (
    MotorModel,
    generic_motors,
    own_motors,
    simulated_motors,
)
from frame_ros.sensing.contact.joints.unknown_weight import UnknownWeight
from frame_ros.sensing.contact.options import SensingOptions
from frame_ros.sensing.contact.sensitivity import Sensitivity
from frame_ros.sensing.contact.source import ContactSource

Array = NDArray[np.float64]


class EffortSensor:
    """JointContact on joint_states, with the newest of joint_commands for stalls."""

    source = ContactSource.JOINT_EFFORT
    name = 'joint_effort'

    def __init__(
        self, settings: SensingOptions, robot: Robot, joints: JointArrays, commands: JointArrays
    ) -> None:
        """Raises FrameRosError for a motor model, or settings, that cannot be used."""
        motors = _motors(settings)
        dynamics = dynamics_for(robot, motors, tool=settings.joint_tool())
        self.detector = JointContact(dynamics, settings.joint_contact(), motors)
        self.motors = motors
        self._robot = robot
        self._is_continuous = continuous_among(self.detector.joint_names, robot.continuous)
        # As of the newest sample, counted on over the turns of joints that turn without end.
        self._turned: Array | float = np.nan
        self._standing_warnings = motor_warnings(motors, settings.joints.arm)
        self._coverages: dict[frozenset[str], Coverage] = {}
        self._joints, self._rows = joints, joints.rows(self.detector.joint_names)
        self._commands = commands
        self._command_rows = commands.rows(self.detector.joint_names)
        self._max_age = round(settings.max_joint_age * SECOND)
        self._max_command_age = round(settings.max_command_age * SECOND)
        self._limit = RateLimit(settings.joints.rate)
        self._check = EffortCheck(dynamics, motors)
        # Gears hide the weights that torque sensors show.
        shows_weight = motors.has_torque_sensors or not motors.has_friction
        self._weight = UnknownWeight(dynamics) if shows_weight else None
        self.problem = 'no joint state yet'

    def change(self, settings: SensingOptions) -> None:
        """Takes other values of the options that are live, from the next sample on."""
        self.detector.change(settings.joint_contact())

    def reset(self) -> None:
        """The clock was set back or forward."""
        self.detector.reset()
        self._turned = np.nan
        self._limit.reset()
        self._check.reset()
        if self._weight is not None:
            self._weight.reset()

    def bodies_of(self, links: Iterable[str]) -> tuple[str, ...]:
        """The links whose joints feel what these links touch, and which stand for them."""
        wanted = set(links)
        found = self.detector.dynamics.links_of_bodies.items()
        return tuple(body for body, carried in found if wanted.intersection(carried))

    @property
    def sensitivity(self) -> Sensitivity:
        """Of the newest sample."""
        return self.detector.sensitivity

    @property
    def coverage(self) -> Coverage:
        """Link -> why it is not felt now, '' if it is: by the joints that are judged now."""
        names, thresholds = self.detector.joint_names, self.detector.threshold
        left_out = frozenset(n for n, t in zip(names, thresholds) if t == np.inf)
        found = self._coverages.get(left_out)
        if found is None:
            found = behind_joints(self._robot, set(names) - left_out)
            if left_out:
                why = f'; {", ".join(sorted(left_out))} at a limit, not judged'
                found = {link: text and text + why for link, text in found.items()}
            self._coverages[left_out] = found
        return self._without_held(found)

    def _without_held(self, found: Coverage) -> Coverage:
        """The coverage without links on which only an unusual force breaks a joint away."""
        held: dict[str, str] = {}
        groups = self.groups
        for body, force in self.detector.least_forces().items():
            if force > USUAL:
                why = f'joints that stand hold any force on it up to {USUAL:g} N by their friction'
                held.update((link, why) for link in groups[body])
        if not held:
            return found
        return {link: text or held.get(link, '') for link, text in found.items()}

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons for which its detections are less sure, in words."""
        found = self._standing_warnings
        if self._weight is not None and self._weight.warning:
            found = (*found, f'joint_effort: {self._weight.warning}')
        near = self.detector.near_limits
        if not near:
            return found
        margin = self.detector.settings.limit_margin
        return (
            *found,
            f'joint_effort: {", ".join(near)} within {margin:g} rad (m) of a limit, or beyond it, '
            'whose stop may hold it: what pushes there alone is not felt',
        )

    @property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """Link that a detection names -> links that it cannot be distinguished from."""
        return self.detector.dynamics.links_of_bodies

    def facts(self) -> dict[str, str]:
        """For diagnostics."""
        detector = self.detector
        names, motors = detector.joint_names, self.motors
        found = {'motors': f'{motors.robot}, identified {motors.date or "at an unknown date"}'}
        for name, residual, threshold in zip(names, detector.residual, detector.threshold):
            found[f'{name} [N m]'] = f'{residual:.3f} of {threshold:.3f}'
        if detector.losses.is_used:
            later = 1e3 * detector.losses.seconds
            found['samples behind the goals, later than identified [ms]'] = f'{later:.1f}'
        return found

    def on_joints(
        self, stamp: int, joints: frozenset[str], is_holding: bool | None
    ) -> Detection | None:
        """Takes a joint state; None if it had none of the joints, or comes beyond joints.rate."""
        if self._rows.joints.isdisjoint(joints) or not self._limit.is_due(stamp):
            return None
        sample = self._joints.sample(self._rows)
        if sample is None:
            missing = ', '.join(self._joints.missing_of(self._rows))
            return Detection(stamp, self.source, None, unavailable=f'no position yet of {missing}')
        if (age := stamp - self._joints.oldest(self._rows)) > self._max_age:
            why = f'some joint states are {age / SECOND:.3f} s older than others'
            return Detection(stamp, self.source, None, unavailable=why)
        self._turned = q = nearest_turn(sample.positions, self._turned, self._is_continuous)
        if why := self._check.problem(stamp, q, sample.velocities, sample.efforts):
            return Detection(stamp, self.source, None, unavailable=why)
        found = self.detector.update(
            stamp, q, sample.velocities, sample.efforts, self._command(stamp, q), bool(is_holding)
        )
        if self._weight is not None and found.is_contact is not None:
            residual = self.detector.residual
            self._weight.update(stamp, q, residual, bool(is_holding))
        return found

    def _command(self, stamp: int, q: Array) -> Array | None:
        """(N,) of the newest commands, by their turns nearest the positions, NaN where there is
        none or it is old; None if all are.
        """
        rows, age = self._command_rows, self._max_command_age
        command = self._commands.positions_of_last(rows, stamp, age)
        if np.isnan(command).all():
            return None
        return nearest_turn(command, q, self._is_continuous)


def motor_warnings(motors: MotorModel, arm: str) -> tuple[str, ...]:
    """Returns in words why a motor file may not be this arm's. arm: its name, '' if unknown."""
    if motors.is_generic:
        return (
            f'joint_effort: the motors of this {motors.robot} are not identified: generic ones of '
            'a simulated arm, with wide thresholds; run frame-ros identify joints',
        )
    if arm and motors.arm and motors.arm != arm:
        return (f'joint_effort: a motor file of another arm: of {motors.arm!r}, this is {arm!r}',)
    return ()


def _motors(settings: SensingOptions) -> MotorModel:
    if settings.joints.motors_file == SIMULATED:
        return simulated_motors(settings.robot)
    if settings.joints.motors_file == GENERIC:
        return generic_motors(settings.robot)
    if settings.joints.motors_file:
        return own_motors(settings.joints.motors_file)
    raise SetupError(
        f"joints.motors_file is empty, and this {settings.robot}'s motors are not known: "
        'give the file that `frame-ros identify joints` wrote, leave joint_effort out of sources, '
        f"or set joints.motors_file to '{GENERIC}' (wide thresholds) or, for the simulated arm "
        f"only, to '{SIMULATED}'"
    )
