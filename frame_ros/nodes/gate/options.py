# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The gate node's options."""

from __future__ import annotations

from frame_ros.core.option_texts import text_of
from frame_ros.core.options import flatten, group, option, options
from frame_ros.gate.limits.command_limiter import CommandLimiter
from frame_ros.gate.limits.options import LimitOptions, WorkspaceOptions
from frame_ros.gate.options import GateRules
from frame_ros.nodes.runtime.options import ManagedOptions
from frame_ros.robots import Robot
from frame_ros.robots.options import TIPS, TipOptions

LEAST_RATE_LIMIT = 50.0  # Hz


@options
class GateOptions(GateRules, TipOptions, ManagedOptions):
    """Command gate (lifecycle node). It monitors and limits; it is no certified safety function."""

    tip: str = option('', f'link that the workspace refers to; {TIPS}')
    state_rate: float = option(
        5.0,
        'rate of gate_state, which is also published at every change',
        unit='Hz',
        above=0.0,
        at_most=50.0,
        live=True,
    )
    realtime_priority: int = option(
        45,
        "priority of the gate's thread, where the system permits it; 0: none",
        at_least=0,
        at_most=99,
    )
    command_rate_limit: float = option(
        500.0,
        'rate of policy_commands or teleop_commands above which, for half a second, the arm is '
        'stopped; 0: any',
        unit='Hz',
        at_least=LEAST_RATE_LIMIT,
        besides=(0.0,),
    )
    output: str = option(
        'none',
        'controller that commands go to, in addition to joint_commands: none, or a name of '
        'docs/action-spaces.md',
    )
    output_options: tuple[str, ...] = option(
        (),
        'differences from the preset of the output, name=value: topic, joints, gripper, '
        'gripper_topic, tip, frame_id, horizon, effort',
    )
    limits: LimitOptions = group(LimitOptions)
    workspace: WorkspaceOptions = group(WorkspaceOptions)

    def make_limiter(self, robot: Robot) -> CommandLimiter:
        """The limits of the robot's joints and of its workspace.

        Raises:
            FrameRosError: a limit is out of its range, or nothing is known of a joint.
        """
        limits = self.limits
        return CommandLimiter(
            limits.of(robot), self.workspace.of(robot), limits.jitter, limits.longest_period
        )


def limit_changes(before: GateOptions, after: GateOptions) -> str:
    """The limits that differ, as in 'limits.step from 0.35 to 0.1'; '': none do."""
    old = flatten(before)
    return ', '.join(
        f'{name} from {text_of(old[name])} to {text_of(value)}'
        for name, value in flatten(after).items()
        if name.startswith(('limits.', 'workspace.')) and value != old[name]
    )
