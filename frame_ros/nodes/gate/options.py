# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The gate node's parameters, checked, and what the gate is made of by them."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, fields

from rclpy.node import Node

from frame_ros.core.errors import SetupError
from frame_ros.gate.limits.command_limiter import CommandLimiter
from frame_ros.gate.limits.command_limits import limits_of
from frame_ros.gate.limits.workspace import UNBOUNDED, Workspace
from frame_ros.gate.options import GateRules
from frame_ros.gate.watchdogs import WatchdogRules
from frame_ros.nodes.runtime.parameters import declare
from frame_ros.robots import Robot, load_robot

MOST_RATE = 200.0  # Hz
LEAST_RATE_LIMIT = 50.0  # Hz


@dataclass(frozen=True)
class GateOptions:
    """The parameters of the node; config/gate.yaml says what each means."""

    robot: str = 'so101'
    tip: str = ''
    rate: float = 50.0
    state_rate: float = 5.0
    realtime_priority: int = 45
    position_margin: float = 0.0
    velocity_limits: tuple[float, ...] = (0.0,)
    velocity_scale: float = 1.0
    acceleration_limits: tuple[float, ...] = (0.0,)
    acceleration_scale: float = 1.0
    step_limit: float = 0.35
    tick_limit: float = 0.2
    workspace: tuple[float, ...] = (-UNBOUNDED,) * 3 + (UNBOUNDED,) * 3
    workspace_links: str = 'tip'
    floor: float = -UNBOUNDED
    cartesian_speed: float = 0.0
    jitter: float = 0.02
    longest_period: float = 0.1
    on_joint_limit: str = 'clamp'
    on_velocity_limit: str = 'clamp'
    on_acceleration_limit: str = 'clamp'
    on_step_limit: str = 'clamp'
    on_workspace: str = 'clamp'
    on_bad_command: str = 'refuse'
    command_rate_limit: float = 500.0
    command_timeout: float = 0.25
    on_stale_command: str = 'hold'
    stop_timeout: float = 2.0
    start_timeout: float = 30.0
    heartbeat_timeout: float = 0.5
    heartbeat_required: bool = False
    on_heartbeat: str = 'stop'
    joint_states_timeout: float = 0.5
    on_stale_joint_states: str = 'hold'
    observation_timeout: float = 5.0
    on_stale_observation: str = 'hold'
    problem_timeout: float = 0.5
    on_policy_problem: str = 'hold'
    stop_behaviour: str = 'damped'
    stream: bool = True
    output: str = 'none'
    output_options: tuple[str, ...] = ('',)

    @classmethod
    def declare(cls, node: Node) -> GateOptions:
        """Declares the parameters on `node` and reads them.

        Raises:
            SetupError: a value is of the wrong type or out of its range.
        """
        values = {}
        for setting in fields(cls):
            default = setting.default
            given = declare(node, setting.name, list(default) if _is_list(default) else default)
            values[setting.name] = tuple(given) if isinstance(given, (list, array)) else given
        settings = cls(**values)
        settings.check()
        return settings

    def check(self) -> None:
        """Raises SetupError if a value is out of its range."""
        ranges = {
            'rate': (1.0 <= self.rate <= MOST_RATE, f'1 to {MOST_RATE:g} Hz'),
            'state_rate': (0.0 < self.state_rate <= 50.0, 'above 0 and at most 50 Hz'),
            'jitter': (0.0 <= self.jitter <= 0.1, '0 to 0.1 s'),
            'longest_period': (0.01 <= self.longest_period <= 1.0, '0.01 to 1 s'),
            'position_margin': (0.0 <= self.position_margin < math.pi, '0 or more, in rad'),
            'workspace_links': (self.workspace_links in ('tip', 'all'), 'tip or all'),
            'command_rate_limit': (
                self.command_rate_limit == 0.0 or self.command_rate_limit >= LEAST_RATE_LIMIT,
                f'0, for none, or at least {LEAST_RATE_LIMIT:g} Hz',
            ),
            'realtime_priority': (0 <= self.realtime_priority <= 99, '0 to 99'),
        }
        for name, (is_met, text) in ranges.items():
            if not is_met:
                raise SetupError(f'{name} is {getattr(self, name)!r}; it must be {text}')

    @property
    def period(self) -> float:
        """s between two looks at the watchdogs, and two commands that hold the arm."""
        return 1.0 / self.rate

    def load_robot(self) -> Robot:
        """The robot.

        Raises:
            RobotError: there is no such robot, or no such link.
        """
        return load_robot(self.robot, self.tip or None)

    def make_limiter(self, robot: Robot) -> CommandLimiter:
        """The limits of the robot's joints and of its workspace.

        Raises:
            FrameRosError: a limit is out of its range, or nothing is known of a joint.
        """
        limits = limits_of(
            robot,
            velocity=self.velocity_limits,
            acceleration=self.acceleration_limits,
            velocity_scale=self.velocity_scale,
            acceleration_scale=self.acceleration_scale,
            position_margin=self.position_margin,
            step=self.step_limit or math.inf,
            tick=self.tick_limit or math.inf,
        )
        return CommandLimiter(limits, self.make_workspace(robot), self.jitter, self.longest_period)

    def make_workspace(self, robot: Robot) -> Workspace:
        """Where the robot may be.

        Raises:
            ValueRangeError: the box is empty, or the speed is negative.
        """
        return Workspace(
            robot,
            self.workspace,
            self.floor,
            self.workspace_links == 'all',
            self.cartesian_speed,
        )

    def make_config(self, is_simulated: bool) -> GateRules:
        """What the gate does about what.

        Raises:
            ValueRangeError: a timeout is not above 0, or an action is not known.
        """
        watch = {
            name: getattr(self, name)
            for name in WatchdogRules.__dataclass_fields__
            if name != 'is_heartbeat_required'
        }
        own = ('watch', 'is_streaming', 'period', 'is_simulated')
        return GateRules(
            watch=WatchdogRules(**watch, is_heartbeat_required=self.heartbeat_required),
            is_streaming=self.stream,
            period=self.period,
            is_simulated=is_simulated,
            **{n: getattr(self, n) for n in GateRules.__dataclass_fields__ if n not in own},
        )


def _is_list(default: object) -> bool:
    return isinstance(default, tuple)
