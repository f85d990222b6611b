# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A robot of the simulated scene, from its profile."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from frame_ros.core.errors import RobotError, ValueRangeError
from frame_ros.core.input_files import read_text
from frame_ros.robots.description import parse_urdf
from frame_ros.robots.grippers import closed_and_open
from frame_ros.robots.profile import RobotProfile
from frame_ros.robots.profiles import find_profile, simulated_robots
from frame_ros.robots.simulated import JointServo, Simulation


@attrs.frozen(kw_only=True)
class SceneRobot(Simulation):
    """A robot as the scene needs it: what its profile holds of the simulation, and more of it.

    Attributes:
        source: as `load_robot` takes it.
        name: of the profile.
        joint_names: that can be commanded, the gripper's last; a joint that mimics another follows
            it.
        home: rad (m) of them.
        gripper_ends: its closed and its open position, rad or m.
        base_link: stands on the table.
        tip_link: of the gripper.
        wrench_link: the force-torque sensor sits where this link meets the one before.
        finger_links: links that close on things.
        has_torque_sensors: efforts are those of sensors behind the gears, the weight included, and
            the control compensates gravity; else they are those of the motors.
    """

    source: str
    name: str
    joint_names: tuple[str, ...]
    home: tuple[float, ...]
    gripper_ends: tuple[float, float]
    base_link: str
    tip_link: str
    wrench_link: str
    finger_links: tuple[str, ...]
    has_torque_sensors: bool

    @property
    def arm_joints(self) -> tuple[str, ...]:
        """The joints that move the tip."""
        return self.joint_names[:-1]


def scene_robot(name_or_file: str) -> SceneRobot:
    """The robot of that name, or of that profile.

    Raises:
        RobotError: there is no such robot, or its profile lacks what the scene needs.
        ValueRangeError: its profile has no simulation.
    """
    profile = find_profile(name_or_file)
    if profile.simulation is None:
        raise ValueRangeError(
            f'the scene has no robot {name_or_file!r}: there are {", ".join(simulated_robots())}, '
            'and profiles with a simulation'
        )
    description = parse_urdf(read_text(profile.path(profile.urdf)))
    limits = description.joint_limits
    joints = list(limits)
    _check_joints(profile, joints)
    return SceneRobot(
        **attrs.asdict(profile.simulation, recurse=False),
        source=name_or_file,
        name=profile.name,
        joint_names=tuple(joints),
        home=profile.posture('home', joints),
        gripper_ends=closed_and_open(limits, profile.gripper).get(joints[-1], limits[joints[-1]]),
        base_link=description.base_link,
        tip_link=_tip(profile),
        wrench_link=_sensor_link(profile),
        finger_links=profile.finger_links,
        has_torque_sensors=profile.has_torque_sensors,
    )


def with_gears(robot: SceneRobot, servo: JointServo) -> SceneRobot:
    """The robot with this servo at each joint of its arm, but for the gripper.

    Raises:
        ValueRangeError: its efforts are measured behind the gears.
    """
    if robot.has_torque_sensors:
        raise ValueRangeError(
            f'friction of the gears is of servos; the {robot.name} measures torque behind its own'
        )
    return attrs.evolve(robot, servos=(*(servo,) * len(robot.arm_joints), robot.servos[-1]))


def _check_joints(profile: RobotProfile, joints: Sequence[str]) -> None:
    """Raises RobotError unless each joint has a servo, and the last one is the gripper's."""
    servos = profile.simulation.servos if profile.simulation else ()
    if len(servos) != len(joints):
        raise RobotError(
            f'{profile.label} has {len(servos)} simulation.servos; it must have one '
            f'for each of {", ".join(joints)}'
        )
    if profile.gripper and profile.gripper.joint != joints[-1]:
        raise RobotError(
            f'{profile.label}: gripper.joint is {profile.gripper.joint}; in the scene it must be '
            f'the last joint of the URDF, which is {joints[-1]}'
        )


def _tip(profile: RobotProfile) -> str:
    """The link between the fingers, or else the default tip."""
    tip = profile.tips.get('tcp') or profile.tips.get('default')
    if not tip:
        raise RobotError(
            f"{profile.label} has neither 'tcp' nor 'default' in tips, one of which "
            'the simulation needs'
        )
    return tip


def _sensor_link(profile: RobotProfile) -> str:
    if not profile.sensor_link:
        raise RobotError(
            f'{profile.label} has no sensor_link, where the simulated force-torque sensor sits'
        )
    return profile.sensor_link


SO101 = scene_robot('so101')
