# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of a Franka arm that is driven by its control interface."""

from __future__ import annotations

from frame_ros.core.options import UNCONFIGURED, option, options
from frame_ros.hardware.franka_estimates import (
    COLLISION_TORQUES,
    COLLISION_WRENCH,
    CONTACT_TORQUES,
    CONTACT_WRENCH,
)
from frame_ros.hardware.franky.servo import SHORTEST

POSITION, VELOCITY, POSE = CONTROLS = ('joint_position', 'joint_velocity', 'cartesian_pose')
ENFORCE, IGNORE = REALTIME = ('enforce', 'ignore')


SERVO_PERIOD = 4  # ms between two velocities


@options
class FciOptions:
    """A Franka arm by its control interface (FCI); used where `host` is given."""

    rate: float = option(
        1000.0, 'rate of joint_states', unit='Hz', above=0.0, at_most=1000.0, live=UNCONFIGURED
    )
    estimates_rate: float = option(
        250.0,
        'rate of the topics with the names of franka_robot_state_broadcaster; 0: none',
        unit='Hz',
        at_least=0.0,
        at_most=1000.0,
        live=UNCONFIGURED,
    )
    control: str = option(
        VELOCITY,
        'how commands move the arm: joint_velocity follows a stream of joint_commands smoothly, '
        'cartesian_pose a stream of pose_commands likewise, by the joints that bring the end '
        'effector there; joint_position goes to each goal as fast as it may and rests there. All '
        'by joint velocities',
        choices=CONTROLS,
        live=UNCONFIGURED,
    )
    dynamics: float = option(
        0.3,
        "share of the arm's limits of velocity, acceleration and jerk that a motion may use",
        above=0.0,
        at_most=1.0,
        live=UNCONFIGURED,
    )
    settling: float = option(
        0.1,
        'time in which a distance from the goals shrinks to a third; of joint_position half of '
        f'it, but {SHORTEST:g} s at least',
        unit='s',
        at_least=0.02,
        at_most=2.0,
        live=UNCONFIGURED,
    )
    self_distance: float = option(
        0.07,
        "distance that the arm's links and hand keep from one another, those with less than three "
        'joints between them aside; 0: any',
        unit='m',
        at_least=0.0,
        at_most=0.3,
        live=UNCONFIGURED,
    )
    realtime: str = option(
        ENFORCE,
        'enforce: refuse to move without a realtime kernel; ignore: for simulations',
        choices=REALTIME,
        live=UNCONFIGURED,
    )
    contact_torques: tuple[float, ...] = option(
        CONTACT_TORQUES,
        'external torques from which a contact flag of a joint is raised',
        unit='N m',
        above=0.0,
        lengths=(7,),
        live=UNCONFIGURED,
    )
    collision_torques: tuple[float, ...] = option(
        COLLISION_TORQUES,
        'external torques at which the arm stops with a reflex',
        unit='N m',
        above=0.0,
        lengths=(7,),
        live=UNCONFIGURED,
    )
    contact_wrench: tuple[float, ...] = option(
        CONTACT_WRENCH,
        'external forces (N) and torques (N m) from which a contact flag of an axis is raised',
        above=0.0,
        lengths=(6,),
        live=UNCONFIGURED,
    )
    collision_wrench: tuple[float, ...] = option(
        COLLISION_WRENCH,
        'external forces (N) and torques (N m) at which the arm stops with a reflex',
        above=0.0,
        lengths=(6,),
        live=UNCONFIGURED,
    )
    gripper: bool = option(True, 'a Franka Hand is mounted', live=UNCONFIGURED)
    gripper_speed: float = option(0.1, 'speed of the opening', unit='m/s', above=0.0, at_most=0.2)
    gripper_force: float = option(20.0, 'force of a grasp', unit='N', above=0.0, at_most=70.0)
    connect_timeout: float = option(
        3.0,
        'time to wait for a connection: an arm that another client has never answers, and one '
        'that comes up with the node refuses at first, without an error in the log',
        unit='s',
        above=0.0,
        live=UNCONFIGURED,
    )
    answer_timeout: float = option(
        0.5, 'time without a state after which the arm counts as lost', unit='s', above=0.0
    )

    @property
    def cycle(self) -> int:
        """ms between two states that are read: as many as it takes for what is published, and to
        follow.
        """
        rates = filter(None, (self.rate, self.estimates_rate))
        return max(1, int(min(SERVO_PERIOD, *(1000.0 / rate for rate in rates))))
