# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The meaning of a policy's actions, where their names alone are ambiguous."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields

from frame_ros.core.errors import ValueRangeError
from frame_ros.robots.grippers import GRIPPER_CONVENTIONS
from frame_ros.robots.rotations import CHANGE_FRAMES

# previous: each step from the one before, the first from the observation. observation: every step
# from the observation. command: as previous, the first from the command at the time of the
# observation.
DELTA_REFERENCES = ('previous', 'observation', 'command')
# error: a chunk that leaves more than the tolerances is refused. best_effort: it is used, counted.
UNREACHABLE = ('error', 'best_effort')
SAMPLES = ('convert', 'drop')
# A delta of a gripper joint, added to the reference as those of the other joints are.
GRIPPER_DELTA = 'delta'


@dataclass(frozen=True)
class ActionSpaceOptions:
    """The meaning of a policy's actions.

    delta_reference: one of DELTA_REFERENCES. ee_frame: one of CHANGE_FRAMES, the axes of ee_delta.
    tip: the link that is the end effector; None: the robot's TCP. position_scale (m),
    rotation_scale (rad): what a delta of 1 means. gripper: one of GRIPPER_CONVENTIONS, or 'delta';
    empty: 'delta' in joint_delta and else 'position'. gripper_threshold: an opening, 0 to 1, above
    which a gripper is opened fully and below which it is closed; None: it takes the value itself.
    gripper_hysteresis: width of the band around it in which it stays as it was.
    is_closed_at_upper: the gripper's joints are closed at their upper limits.
    unreachable: one of UNREACHABLE. position_tolerance (m), orientation_tolerance (rad): None: the
    robot's preset. velocity_scale: share of the joints' velocity limits that may be used.
    samples: 'convert', or 'drop' to save the time, in a space of the end effector.
    """

    delta_reference: str = 'previous'
    ee_frame: str = 'base'
    tip: str | None = None
    position_scale: float = 1.0
    rotation_scale: float = 1.0
    gripper: str = ''
    gripper_threshold: float | None = None
    gripper_hysteresis: float = 0.1
    is_closed_at_upper: bool = False
    unreachable: str = 'error'
    position_tolerance: float | None = None
    orientation_tolerance: float | None = None
    velocity_scale: float = 1.0
    samples: str = 'convert'

    @classmethod
    def of(cls, settings: Mapping[str, object]) -> ActionSpaceOptions:
        """From settings by name.

        Raises:
            ValueRangeError: a setting is not known, of another type, or out of its range.
        """
        known = [setting.name for setting in fields(cls)]
        if unknown := [name for name in settings if name not in known]:
            raise ValueRangeError(f'action space settings {unknown} are not known; known: {known}')
        return cls(**settings)  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        self._check_types()
        known = {
            'delta_reference': DELTA_REFERENCES,
            'ee_frame': CHANGE_FRAMES,
            'gripper': ('', GRIPPER_DELTA, *GRIPPER_CONVENTIONS),
            'unreachable': UNREACHABLE,
            'samples': SAMPLES,
        }
        for name, choices in known.items():
            if getattr(self, name) not in choices:
                raise ValueRangeError(
                    f'{name} is {getattr(self, name)!r}; it must be one of '
                    f'{", ".join(map(repr, choices))}'
                )
        threshold = self.gripper_threshold
        ranges = {
            'position_scale': 0 < self.position_scale < math.inf,
            'rotation_scale': 0 < self.rotation_scale < math.inf,
            'velocity_scale': 0 < self.velocity_scale <= 1,
            'gripper_hysteresis': 0 <= self.gripper_hysteresis <= 1,
            'gripper_threshold': threshold is None or 0 < threshold < 1,
            'position_tolerance': self.position_tolerance is None or self.position_tolerance > 0,
            'orientation_tolerance': self.orientation_tolerance is None
            or self.orientation_tolerance > 0,
        }
        for name, is_met in ranges.items():
            if not is_met:
                raise ValueRangeError(f'{name} is {getattr(self, name)}, which is out of its range')

    def _check_types(self) -> None:
        """Rejects a text such as 'False', which would count as true and invert a gripper."""
        for setting in fields(self):
            value, default = getattr(self, setting.name), setting.default
            if isinstance(default, bool):
                is_met, what = isinstance(value, bool), 'true or false'
            elif isinstance(default, str) or setting.name == 'tip':
                is_met, what = isinstance(value, str), 'a text'
            else:
                is_number = isinstance(value, int | float) and not isinstance(value, bool)
                is_met, what = is_number, 'a number'
            if not (is_met or (value is None and default is None)):
                raise ValueRangeError(f'{setting.name} is {value!r}; it must be {what}')
