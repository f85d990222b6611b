# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy node's parameters, checked, and what they describe beside the policy."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, fields
from typing import Any

from rclpy.node import Node

from frame_ros.core.errors import SetupError
from frame_ros.nodes.policy.inference import Task
from frame_ros.nodes.runtime.parameters import declare
from frame_ros.policies.base import Policy
from frame_ros.policies.execution.action_queue import (
    ALIGNMENTS,
    ASYNCHRONOUS,
    ENSEMBLING,
    EXECUTION_MODES,
    ActionQueue,
)
from frame_ros.policies.execution.chunk_blending import ENSEMBLE_COEFFICIENT
from frame_ros.policies.rephrasing.rephrasings import load_rephrasings
from frame_ros.policies.rephrasing.schedule import RephraseSchedule

SETTABLE = ('quality',)
RUN_ON = ('episode', 'always')
# Hz. A control thread that never sleeps, with a real-time priority, would take a core for itself.
HIGHEST_RATE = 1000.0


@dataclass(frozen=True)
class PolicyOptions:
    """The parameters of the node; config/policy.yaml says what each means."""

    policy: str = 'scripted'
    checkpoint: str = ''
    robot: str = 'so101'
    instruction: str = ''
    quality: float = 1.0
    policy_options: tuple[str, ...] = ('',)
    samples: int = 0
    temperatures: tuple[float, ...] = (0.5, 1.0, 1.5, 2.0, 3.0)
    seed: int = 0
    control_rate: float = 30.0
    realtime_priority: int = 40
    run_on: str = 'episode'
    execution: str = ASYNCHRONOUS
    alignment: str = 'now'
    blend: int = 0
    ensemble_coefficient: float = ENSEMBLE_COEFFICIENT
    interpolate: bool = True
    n_action_steps: int = 0
    prefetch: int = -1
    max_observation_age: float = 0.5
    cameras: tuple[str, ...] = ('front', 'wrist')
    pose_topics: tuple[str, ...] = (
        'object=ground_truth/object_pose',
        'goal=ground_truth/goal_pose',
    )
    device: str = 'cpu'
    units: str = 'degrees'
    action_rate: float = 0.0
    camera_names: str = ''
    delta_reference: str = 'previous'
    ee_frame: str = 'base'
    gripper_convention: str = ''
    action_options: tuple[str, ...] = ('',)
    rephrasings: tuple[str, ...] = ('',)
    rephrasings_file: str = ''
    rephrase_every: int = 1

    @classmethod
    def declare(cls, node: Node) -> None:
        """Declares the parameters on `node`. Of them `quality` alone can be set while it runs.

        Raises:
            SetupError: a value is of the wrong type.
        """
        for setting in fields(cls):
            default: Any = setting.default
            value = list(default) if isinstance(default, tuple) else default
            declare(node, setting.name, value, read_only=setting.name not in SETTABLE)

    @classmethod
    def read(cls, node: Node) -> PolicyOptions:
        """Reads the parameters.

        Raises:
            SetupError: a value is out of its range.
        """
        values: dict[str, Any] = {}
        for setting in fields(cls):
            value = node.get_parameter(setting.name).value
            values[setting.name] = tuple(value) if isinstance(value, (list, array)) else value
        settings = cls(**values)
        settings.check()
        return settings

    def check(self) -> None:
        """Raises SetupError if a value is out of its range."""
        for name, text in check_ranges(self).items():
            raise SetupError(f'parameter {name} is {getattr(self, name)!r}; it must be {text}')

    @property
    def period(self) -> float:
        """s between two control ticks."""
        return 1.0 / self.control_rate

    @property
    def texts(self) -> tuple[str, ...]:
        """The rephrasings given one by one."""
        return tuple(filter(None, map(str.strip, self.rephrasings)))

    def make_queue(self, policy: Policy) -> ActionQueue:
        """The action queue.

        n_action_steps 0 is the policy's own number, if it has one; ensembling is made for a new
        chunk at every step, whatever that number.

        Raises:
            ValueRangeError: two parameters contradict each other.
        """
        own = 0 if self.execution == ENSEMBLING else policy.n_action_steps
        return ActionQueue(
            self.period,
            self.alignment,
            self.n_action_steps or own,
            None if self.prefetch < 0 else self.prefetch,
            self.execution,
            self.blend,
            self.ensemble_coefficient,
            self.interpolate,
        )

    def make_task(self) -> Task:
        """What the policy is asked for.

        Raises:
            FrameRosError: the file of rephrasings cannot be read.
        """
        by_instruction = load_rephrasings(self.rephrasings_file) if self.rephrasings_file else None
        schedule = RephraseSchedule(self.texts, by_instruction, self.rephrase_every)
        return Task(self.instruction, self.seed, self.samples, schedule)


def check_ranges(settings: PolicyOptions) -> dict[str, str]:
    """Returns, for each parameter out of its range, what it must be."""
    rules = {
        'control_rate': (
            0 < settings.control_rate <= HIGHEST_RATE,
            f'a positive rate in Hz, at most {HIGHEST_RATE:g}',
        ),
        'action_rate': (
            math.isfinite(settings.action_rate) and settings.action_rate >= 0,
            'a rate in Hz, or 0',
        ),
        'realtime_priority': (0 <= settings.realtime_priority <= 99, '0 (none), or 1 to 99'),
        'max_observation_age': (settings.max_observation_age > 0, 'a positive time in s'),
        'quality': (0.0 <= settings.quality <= 1.0, 'between 0 and 1'),
        'samples': (settings.samples == 0 or settings.samples >= 2, '0, or 2 or more'),
        'temperatures': (
            all(math.isfinite(value) and value > 0 for value in settings.temperatures),
            'numbers above 0',
        ),
        'n_action_steps': (settings.n_action_steps >= 0, '0 or more'),
        'prefetch': (settings.prefetch >= -1, '-1 (automatic), or a number of actions'),
        'execution': (
            settings.execution in EXECUTION_MODES,
            f'one of {", ".join(EXECUTION_MODES)}',
        ),
        'blend': (settings.blend >= 0, 'a number of control ticks, 0 or more'),
        'ensemble_coefficient': (math.isfinite(settings.ensemble_coefficient), 'finite'),
        'rephrase_every': (settings.rephrase_every >= 1, '1 or more'),
        'run_on': (settings.run_on in RUN_ON, f'one of {", ".join(RUN_ON)}'),
        'alignment': (settings.alignment in ALIGNMENTS, f'one of {", ".join(ALIGNMENTS)}'),
    }
    return {name: text for name, (is_met, text) in rules.items() if not is_met}
