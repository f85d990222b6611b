# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy node's parameters, checked, and the policy that they describe."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from rclpy.node import Node

from frame_ros.errors import SetupError
from frame_ros.nodes.parameters import declare
from frame_ros.policies.action_queue import ALIGNMENTS, ActionQueue
from frame_ros.policies.protocol import Policy
from frame_ros.policies.registry import make_policy

SETTABLE = ('quality',)
RUN_ON = ('episode', 'always')


@dataclass(frozen=True)
class PolicySettings:
    """The parameters of the node; config/policy.yaml says what each means."""

    policy: str = 'scripted'
    checkpoint: str = ''
    robot: str = 'so101'
    instruction: str = ''
    quality: float = 1.0
    samples: int = 0
    seed: int = 0
    control_rate: float = 30.0
    run_on: str = 'episode'
    alignment: str = 'now'
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

    @classmethod
    def declare(cls, node: Node) -> None:
        """Declares the parameters on `node`. Of them `quality` alone can be set while it runs.

        Raises:
            SetupError: a value is of the wrong type.
        """
        for setting in fields(cls):
            default = setting.default
            value = list(default) if isinstance(default, tuple) else default
            declare(node, setting.name, value, read_only=setting.name not in SETTABLE)

    @classmethod
    def read(cls, node: Node) -> PolicySettings:
        """Reads the parameters.

        Raises:
            SetupError: a value is out of its range.
        """
        values = {setting.name: node.get_parameter(setting.name).value for setting in fields(cls)}
        settings = cls(
            **{name: tuple(v) if isinstance(v, list) else v for name, v in values.items()}
        )
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

    def make_queue(self, policy: Policy) -> ActionQueue:
        """The action queue; n_action_steps 0 is the policy's own number, if it has one."""
        steps = self.n_action_steps or getattr(policy, 'n_action_steps', 0)
        prefetch = None if self.prefetch < 0 else self.prefetch
        return ActionQueue(self.period, self.alignment, steps, prefetch)

    def make_policy(self, limits: Mapping[str, tuple[float, float]]) -> Policy:
        """The policy. limits: every joint of the robot -> lower and upper limit, rad."""
        if self.policy == 'scripted':
            return make_policy(
                'scripted',
                quality=self.quality,
                seed=self.seed,
                dt=self.period,
                samples=self.samples,
            )
        if self.policy == 'hold':
            return make_policy('hold', dt=self.period)
        if self.policy == 'lerobot' and not self.checkpoint:
            raise SetupError(
                "policy is 'lerobot', but the parameter checkpoint is empty; it must be a "
                'checkpoint folder'
            )
        options: dict[str, Any] = {
            'robot_joint_names': tuple(limits),
            'device': self.device,
            'units': self.units,
            'gripper_limits': {name: pair for name, pair in limits.items() if 'gripper' in name},
            'action_rate': self.action_rate or self.control_rate,
            'camera_names': parse_pairs('camera_names', self.camera_names.split(',')) or None,
        }
        if self.policy == 'lerobot':
            return make_policy('lerobot', folder=self.checkpoint, **options)
        return make_policy(self.policy, **options)


def check_ranges(settings: PolicySettings) -> dict[str, str]:
    """Returns, for each parameter out of its range, what it must be."""
    rules = {
        'control_rate': (
            math.isfinite(settings.control_rate) and settings.control_rate > 0,
            'a positive rate in Hz',
        ),
        'action_rate': (
            math.isfinite(settings.action_rate) and settings.action_rate >= 0,
            'a rate in Hz, or 0',
        ),
        'max_observation_age': (settings.max_observation_age > 0, 'a positive time in s'),
        'quality': (0.0 <= settings.quality <= 1.0, 'between 0 and 1'),
        'samples': (
            settings.samples == 0 or (settings.samples >= 2 and settings.policy == 'scripted'),
            'for the scripted policy 0, or 2 or more; for others 0: they are not sampled',
        ),
        'n_action_steps': (settings.n_action_steps >= 0, '0 or more'),
        'prefetch': (settings.prefetch >= -1, '-1 (automatic), or a number of actions'),
        'run_on': (settings.run_on in RUN_ON, f'one of {", ".join(RUN_ON)}'),
        'alignment': (settings.alignment in ALIGNMENTS, f'one of {", ".join(ALIGNMENTS)}'),
    }
    return {name: text for name, (is_met, text) in rules.items() if not is_met}


def parse_pairs(parameter: str, texts: list[str] | tuple[str, ...]) -> dict[str, str]:
    """'a=b' texts -> {a: b}; empty texts are left out.

    Raises:
        SetupError: a text is not of that form, or names one thing twice.
    """
    pairs: dict[str, str] = {}
    for text in filter(None, map(str.strip, texts)):
        name, sign, value = (part.strip() for part in text.partition('='))
        if not (name and sign and value) or name in pairs:
            raise SetupError(
                f'parameter {parameter} holds {text!r}; it must hold name=value, each name once'
            )
        pairs[name] = value
    return pairs
