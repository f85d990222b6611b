# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of a policy that is run, and of how its actions are executed."""

from __future__ import annotations

from frame_ros.core.options import option, options
from frame_ros.policies.choices import PolicyChoices
from frame_ros.policies.execution.action_options import DELTA_REFERENCES, GRIPPERS
from frame_ros.policies.execution.options import ExecutionOptions
from frame_ros.policies.policy_names import FURTHER, OURS
from frame_ros.robots.options import RobotOptions
from frame_ros.robots.rotations import CHANGE_FRAMES

# A control thread that never sleeps, with a real-time priority, would take a core for itself.
HIGHEST_RATE = 1000.0  # Hz


@options
class PolicyRunOptions(PolicyChoices, ExecutionOptions, RobotOptions):
    """One policy on one robot."""

    policy: str = option('scripted', f'policy: its name, {FURTHER}', known=OURS)
    policy_options: tuple[str, ...] = option(
        (),
        "further options of the policy: name=value, JSON or else text: 'url=ws://127.0.0.1:8000'",
    )
    instruction: str = option('', 'task of the policy, if the START event brings none')
    quality: float = option(
        1.0,
        'quality of the scripted policy, from the next episode on',
        at_least=0.0,
        at_most=1.0,
        live=True,
    )
    seed: int = option(
        0,
        'seed of the first episode, the next has one more; an attribute seed of the START event '
        'takes precedence',
    )
    control_rate: float = option(
        30.0, 'commands per second', unit='Hz', above=0.0, at_most=HIGHEST_RATE
    )
    delta_reference: str = option(
        'previous',
        'a delta counts from: previous (step), observation, or command (as previous, the first '
        'from the command)',
        choices=DELTA_REFERENCES,
    )
    ee_frame: str = option('base', 'axes of ee_delta', choices=CHANGE_FRAMES)
    gripper_convention: str = option(
        '',
        'form of gripper commands, see docs/action-spaces.md; empty: delta in joint_delta, else '
        'position',
        choices=GRIPPERS,
    )
    action_options: tuple[str, ...] = option(
        (),
        'further options of the actions, name=value: tip, position_scale, rotation_scale, '
        'gripper_threshold, unreachable, ...',
    )
    rephrasings: tuple[str, ...] = option((), 'prompt ensemble: the instruction in other words')
    rephrasings_file: str = option('', 'or a reviewed list of them by instruction, YAML')
    rephrase_every: int = option(1, 'inferences of which the first has the ensemble', at_least=1)

    @property
    def period(self) -> float:
        """s between two control ticks."""
        return 1.0 / self.control_rate
