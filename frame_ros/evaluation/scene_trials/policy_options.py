# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy of trials, by its name and options, so that every process can make it."""

from __future__ import annotations

from pathlib import Path

from frame_ros.core.options import evolved, flatten, option, options
from frame_ros.policies.base import Policy
from frame_ros.policies.choices import OfflineChoices, offered_of, required_of
from frame_ros.policies.policy_names import ANY_POLICY
from frame_ros.robots.options import RobotOptions


@options
class TrialPolicyOptions(OfflineChoices, RobotOptions):
    """The policy of trials; the robot is that of each scene."""

    policy: str = option('scripted_tasks', ANY_POLICY)
    label: str = option('', 'name of the policy in results; empty: that of policy or checkpoint')

    @property
    def called(self) -> str:
        """The name of the policy in results."""
        checkpoint = _checkpoint_name(self.checkpoint)
        return self.label or (f'{self.policy}:{checkpoint}' if checkpoint else self.policy)

    def check(self, robot: str) -> None:
        """Checks what can be checked without making the policy.

        Raises:
            FrameRosError: the policy could not be made.
        """
        from frame_ros.policies.registry import check_policy
        from frame_ros.robots import load_robot

        offered = offered_of(self._of(robot), load_robot(robot))
        check_policy(self.policy, offered, self._required(), self.policy_options)

    def make(self, robot: str) -> Policy:
        """Makes the policy for a robot.

        Raises:
            FrameRosError: as of `make_policy`.
        """
        from frame_ros.policies.registry import make_policy
        from frame_ros.robots import load_robot

        offered = offered_of(self._of(robot), load_robot(robot))
        return make_policy(self.policy, offered, self._required(), **self.policy_options)

    def _of(self, robot: str) -> TrialPolicyOptions:
        made: TrialPolicyOptions = evolved(self, robot=robot)
        return made

    def _required(self) -> dict[str, str]:
        default = OfflineChoices()
        same = {n for n in flatten(default) if getattr(self, n) == getattr(default, n)}
        return {name: what for name, what in required_of(self).items() if name not in same}


def _checkpoint_name(checkpoint: str) -> str:
    """Names a checkpoint: run/step of .../run/checkpoints/step/pretrained_model,
    of others the last part of the path.
    """
    *before, last = Path(checkpoint).parts or ('',)
    if last == 'pretrained_model' and before:
        last = before.pop()
    if len(before) > 1 and before[-1] == 'checkpoints':
        return f'{before[-2]}/{last}'
    return last
