# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Converts a chunk's gripper columns into positions of the robot's gripper joints."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import PolicyError, ValueRangeError
from frame_ros.policies.execution.action_options import GRIPPER_DELTA, ActionSpaceOptions
from frame_ros.policies.execution.commanded import References, observed_joints
from frame_ros.policies.protocol import Inference
from frame_ros.robots.grippers import GRIPPER_CONVENTIONS, GripperRange, latched

Array = NDArray[np.float64]
SHARES = ('1', '%')  # units that say that a value is a share of the gripper's range


class GripperActions:
    """The meaning of a policy's gripper columns for one robot.

    columns: the column names it takes: the robot's gripper joints, and `gripper` for all of them;
    none if the robot has no gripper.
    """

    def __init__(
        self, limits: Mapping[str, tuple[float, float]], settings: ActionSpaceOptions
    ) -> None:
        """limits: gripper joint -> its closed and its open position, rad or m.

        Raises:
            ValueRangeError: a gripper joint has no limits.
        """
        self._settings = settings
        self._ranges = {name: _range(name, *ends) for name, ends in limits.items()}
        every = (*self._ranges, 'gripper') if self._ranges else ()
        self.columns = tuple(dict.fromkeys(every))

    def changes(self, inference: Inference) -> bool:
        """Returns whether the gripper's positions differ from the columns themselves."""
        is_commanded = any(name in self.columns for name in inference.action_names)
        is_position = self._convention(inference) == 'position'
        return is_commanded and not (is_position and self._settings.gripper_threshold is None)

    def is_share(self, inference: Inference) -> bool:
        """Returns whether the gripper's command is a share of its range with an ambiguous unit."""
        return self._convention(inference) not in ('position', 'width', GRIPPER_DELTA)

    def positions(
        self, inference: Inference, actions: Array, references: References
    ) -> dict[str, Array]:
        """Returns gripper joint -> positions (H,), rad or m, of those that the chunk commands."""
        found: dict[str, Array] = {}
        for i, name in enumerate(inference.action_names):
            if name in self.columns:
                self._check_unit(name, inference.action_units[i], inference)
                for joint in [name] if name in self._ranges else self._ranges:
                    found[joint] = self._position(joint, actions[:, i], inference, references)
        return found

    def _position(
        self, joint: str, values: Array, inference: Inference, references: References
    ) -> Array:
        convention, threshold = self._convention(inference), self._settings.gripper_threshold
        if convention == GRIPPER_DELTA:
            is_cumulative = self._settings.delta_reference != 'observation'
            values = references([joint])[0] + (np.cumsum(values) if is_cumulative else values)
            convention = 'position'
        if convention == 'position' and threshold is None:
            return values
        span = self._ranges[joint]
        opening = span.opening(values, convention)
        if threshold is not None:
            was_open = self._was_open(joint, references)
            opening = latched(opening, was_open, threshold, self._settings.gripper_hysteresis)
        return span.from_opening(opening)

    def _was_open(self, joint: str, references: References) -> bool:
        """Returns whether the gripper's last command, or else its position, was open. A gripper
        that holds something stands half open after a close command: the command counts.
        """
        position = references.commanded.get(joint)
        if position is None:
            position = observed_joints(references.observation, [joint])[0]
        return bool(self._ranges[joint].opening(position, 'position') > 0.5)

    def _check_unit(self, name: str, unit: str, inference: Inference) -> None:
        """Rejects a share of the range without a known direction."""
        if unit in SHARES and self._convention(inference) == 'position':
            raise PolicyError(
                f'{name} gets a share of its range (unit {unit!r}); the gripper convention '
                f'must say which: {", ".join(c for c in GRIPPER_CONVENTIONS if c != "position")}'
            )

    def _convention(self, inference: Inference) -> str:
        is_delta = inference.action_space == 'joint_delta'
        return self._settings.gripper or (GRIPPER_DELTA if is_delta else 'position')


def _range(name: str, closed: float, opened: float) -> GripperRange:
    try:
        return GripperRange(closed, opened)
    except ValueRangeError as error:
        raise ValueRangeError(f'{error}; the URDF must limit the joint {name}') from error
