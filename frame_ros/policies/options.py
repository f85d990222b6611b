# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of a policy that is run, and of how its actions are executed."""

from __future__ import annotations

from frame_ros.core.options import option, options
from frame_ros.policies.choices import PolicyChoices
from frame_ros.policies.execution.action_options import DELTA_REFERENCES, GRIPPERS
from frame_ros.policies.execution.action_queue import ALIGNMENTS, ASYNCHRONOUS, EXECUTION_MODES
from frame_ros.policies.execution.chunk_blending import ENSEMBLE_COEFFICIENT
from frame_ros.policies.policy_names import ANY_POLICY
from frame_ros.robots.options import RobotOptions
from frame_ros.robots.rotations import CHANGE_FRAMES

# A control thread that never sleeps, with a real-time priority, would take a core for itself.
HIGHEST_RATE = 1000.0  # Hz


@options
class PolicyRunOptions(PolicyChoices, RobotOptions):
    """One policy on one robot."""

    policy: str = option('scripted', ANY_POLICY)
    policy_options: tuple[str, ...] = option(
        (),
        "further options of the policy: name=value, JSON or else text: 'url=ws://127.0.0.1:8000'",
    )
    instruction: str = option('', 'task of the policy, if the START event brings none')
    quality: float = option(
        1.0,
        'of the scripted policy; from the next episode on',
        at_least=0.0,
        at_most=1.0,
        live=True,
    )
    seed: int = option(
        0,
        'counts on with every episode; an attribute seed of the START event takes precedence',
    )
    control_rate: float = option(
        30.0, 'commands per second', unit='Hz', above=0.0, at_most=HIGHEST_RATE
    )
    execution: str = option(
        ASYNCHRONOUS,
        'synchronous: infers when no action is left, and holds meanwhile; asynchronous: before '
        'that; ensembling: at every tick, and averages',
        choices=EXECUTION_MODES,
    )
    alignment: str = option(
        'now',
        'a new chunk is executed from the step that matches now, or from its first',
        choices=ALIGNMENTS,
    )
    blend: int = option(
        0, 'ticks over which a new chunk replaces the former, linearly; 0: at once', at_least=0
    )
    ensemble_coefficient: float = option(
        ENSEMBLE_COEFFICIENT,
        'of ensembling: weights exp(-coefficient i), i = 0 the oldest chunk; 0: all alike; '
        'below 0: newest most',
    )
    interpolate: bool = option(
        True,
        'steps of a chunk further apart than the ticks go out in a straight line; false: whole, '
        'then repeated',
    )
    n_action_steps: int = option(
        0,
        "steps to execute before planning again; 0: the policy's own number, or all; ensembling: "
        'every step',
        at_least=0,
    )
    prefetch: int = option(
        -1,
        'asynchronous: begin the next inference when so many actions are left; -1: automatic',
        at_least=-1,
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
        'how grippers are commanded, see docs/action-spaces.md; empty: delta in joint_delta, else '
        'position',
        choices=GRIPPERS,
    )
    action_options: tuple[str, ...] = option(
        (),
        'further ones of actions, name=value: tip, position_scale, rotation_scale, '
        'gripper_threshold, unreachable, ...',
    )
    rephrasings: tuple[str, ...] = option((), 'prompt ensemble: the instruction in other words')
    rephrasings_file: str = option('', 'or a reviewed list of them by instruction, YAML')
    rephrase_every: int = option(1, 'of so many inferences one comes with the ensemble', at_least=1)

    @property
    def period(self) -> float:
        """s between two control ticks."""
        return 1.0 / self.control_rate
