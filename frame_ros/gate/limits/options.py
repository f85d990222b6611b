# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of the limits that commands must keep to."""

from __future__ import annotations

import math

from frame_ros.core.options import DOWNWARDS, OptionError, option, options, rule
from frame_ros.gate.limits.command_excess import ROUNDING
from frame_ros.gate.limits.command_limits import JointLimits, limits_of
from frame_ros.gate.limits.workspace import UNBOUNDED, Workspace
from frame_ros.robots.robot import Robot

BOX = (-UNBOUNDED,) * 3 + (UNBOUNDED,) * 3
KNOWN = 'one for all joints or one per joint, the gripper last; 0: as known of the robot'


@options
class LimitOptions:
    """Limits of the joints and of the stream of commands."""

    position_margin: float = option(
        0.0,
        'distance (m for a finger) by which the position limits are narrowed on either side',
        unit='rad',
        at_least=0.0,
        below=math.pi,
    )
    velocity: tuple[float, ...] = option(
        (0.0,),
        f'velocity limits (m/s for a finger), {KNOWN}',
        unit='rad/s',
        above=0.0,
        besides=(0.0,),
        live=DOWNWARDS,
    )
    velocity_scale: float = option(
        1.0,
        'share of the velocity limits that is allowed',
        above=0.0,
        at_most=1.0,
        live=DOWNWARDS,
    )
    acceleration: tuple[float, ...] = option(
        (0.0,),
        f'acceleration limits (m/s^2 for a finger), {KNOWN}',
        unit='rad/s^2',
        above=0.0,
        besides=(0.0,),
        live=DOWNWARDS,
    )
    acceleration_scale: float = option(
        1.0,
        'share of the acceleration limits that is allowed',
        above=0.0,
        at_most=1.0,
        live=DOWNWARDS,
    )
    step: float = option(
        0.35,
        'largest distance of a command from the measured position, of the joints of the arm; '
        '0: any',
        unit='rad',
        above=0.0,
        besides=(0.0,),
        live=DOWNWARDS,
    )
    tick: float = option(
        0.2,
        'largest distance from one command to the next, of the joints of the arm; 0: any',
        unit='rad',
        above=0.0,
        besides=(0.0,),
        live=DOWNWARDS,
    )
    jitter: float = option(
        0.02,
        'lateness of a command that does not make the next one too fast; at most as much of it '
        'is made up',
        unit='s',
        at_least=0.0,
        at_most=0.1,
    )
    longest_period: float = option(
        0.1,
        'time without a command after which a moving arm is braked; after a longer pause it '
        'starts from where it is',
        unit='s',
        at_least=0.01,
        at_most=1.0,
    )

    def of(self, robot: Robot) -> JointLimits:
        """The limits of the joints of a robot.

        Raises:
            FrameRosError: a list has another length, or nothing is known of a joint.
        """
        return limits_of(
            robot,
            velocity=self.velocity,
            acceleration=self.acceleration,
            velocity_scale=self.velocity_scale,
            acceleration_scale=self.acceleration_scale,
            position_margin=self.position_margin,
            step=self.step or math.inf,
            tick=self.tick or math.inf,
        )

    def check_at_most(self, started: LimitOptions, robot: Robot) -> None:
        """Raises FrameRosError as `of`, and OptionError for a rate of a joint above the one at
        start, which may be the robot's own.
        """
        limits, most = self.of(robot), started.of(robot)
        for name in ('velocity', 'acceleration'):
            allowed = getattr(most, name)
            is_above = getattr(limits, name) > allowed * (1.0 + ROUNDING)
            if is_above.any():
                joint = int(is_above.argmax())
                raise OptionError(
                    f'limits.{name}',
                    f'is too high; while the node runs it must be at most {allowed[joint]:.3g} '
                    f'for {limits.names[joint]}, as it was started',
                )


@options
class BoxOptions:
    """Space in which the command gate keeps the arm, in the base frame; 10 m: no bound."""

    box: tuple[float, ...] = option(
        BOX, 'x, y, z from, then x, y, z to; 10: no bound', unit='m', lengths=(6,)
    )
    floor: float = option(
        -UNBOUNDED, 'height below which the origin of no link may be; -10: no floor', unit='m'
    )

    @rule('box', 'x, y, z from, then x, y, z to, each from below its to')
    def _has_room(self) -> bool:
        return all(low < high for low, high in zip(self.box[:3], self.box[3:], strict=True))


@options
class WorkspaceOptions(BoxOptions):
    """Space in which the arm may be, in the base frame; 10 m: no bound."""

    links: str = option(
        'tip',
        'points that must be in the box: the tip, or the origins of all moving links',
        choices=('tip', 'all'),
    )
    speed: float = option(
        0.0,
        'largest speed of the tip; 0: any',
        unit='m/s',
        above=0.0,
        besides=(0.0,),
        live=DOWNWARDS,
    )

    def of(self, robot: Robot) -> Workspace:
        """The workspace of a robot.

        Raises:
            ValueRangeError: the box is empty.
        """
        return Workspace(robot, self.box, self.floor, self.links == 'all', self.speed)
