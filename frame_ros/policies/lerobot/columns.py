# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The columns of a checkpoint's state and action, and their units.

LeRobot's vectors carry no names; a data set's `meta/info.json` does. Names are taken as they stand
there ('elbow_flex.pos', 'ee.wx', 'ee.gripper_pos') or as the protocol has them ('elbow_flex', 'rx',
'gripper').
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import CheckpointError, PolicyError
from frame_ros.policies.protocol import ACTION_SPACES, Observation
from frame_ros.robots.grippers import gripper_joints
from frame_ros.robots.joint_units import JointUnits, joint_units
from frame_ros.robots.rotations import POSITION_COLUMNS, ROTATION_COLUMNS

GRIPPER = 'gripper'
QUATERNION = ROTATION_COLUMNS[2]
POSE_COLUMNS = (*POSITION_COLUMNS, *(name for kind in ROTATION_COLUMNS for name in kind))
# How lerobot/robots/so_follower/robot_kinematic_processor.py (0.6.1) names the pose: wx, wy, wz are
# a rotation vector.
END_EFFECTOR = 'ee.'
_OF_LEROBOT = {'wx': 'rx', 'wy': 'ry', 'wz': 'rz', 'gripper_pos': GRIPPER}
# Unit of a column as the checkpoint has it -> the protocol's, and how many of these it is.
UNITS = {
    'm': ('m', 1.0),
    'mm': ('m', 1e-3),
    'rad': ('rad', 1.0),
    'degrees': ('rad', math.pi / 180.0),
    '1': ('1', 1.0),
}


@dataclass(frozen=True)
class JointScales:
    """A checkpoint's scales of joint positions, see `joint_units`. joints: of the robot;
    gripper_limits: None: those of them that are called like a gripper's have no limits.
    """

    units: str
    joints: tuple[str, ...]
    gripper_limits: Mapping[str, tuple[float, float]] | None = None
    ranges: Mapping[str, tuple[float, float]] | None = None

    @property
    def grippers(self) -> tuple[str, ...]:
        """Those of the joints that are a gripper's."""
        if self.gripper_limits is None:
            return gripper_joints(self.joints)
        return tuple(name for name in self.joints if name in self.gripper_limits)

    def of(self, names: Sequence[str]) -> JointUnits:
        """The map between rad and the checkpoint's values, of some of the joints.

        Raises:
            ValueRangeError: limits or ranges are missing.
        """
        limits = self.gripper_limits
        if limits is not None and not set(limits) - set(self.joints):
            limits = {name: pair for name, pair in limits.items() if name in names}
        return joint_units(self.units, names, limits, self.ranges)


@dataclass(frozen=True)
class ActionColumns:
    """The columns of a chunk."""

    space: str  # one of ACTION_SPACES
    names: tuple[str, ...]  # as in an Inference, D each
    units: tuple[str, ...]  # as in an Inference, D each
    scales: JointUnits  # between these units and the checkpoint's

    def from_policy(self, actions: NDArray[np.float64]) -> NDArray[np.float64]:
        """(..., D) actions of the checkpoint in `units`."""
        return self.scales.to_radians(actions)


@dataclass(frozen=True)
class StateColumns:
    """The columns of a checkpoint's state.

    Attributes:
        names: D columns: a joint's position, with - before it the negative of it, or one coordinate
            of the pose `pose`, m and rad in the robot's base frame.
        joints: those of the columns that are one.
        scales: of `joints`.
        pose: empty if no column is of it.
    """

    names: tuple[str, ...]
    joints: tuple[str, ...]
    scales: JointUnits
    pose: str = ''

    def of(self, observation: Observation) -> NDArray[np.float64]:
        """The state (D,) in the checkpoint's units.

        Raises:
            PolicyError: the observation lacks a joint or the pose, or a value is not finite.
        """
        positions = self.scales.to_policy(joint_positions(observation, self.joints))
        if self.names == self.joints:
            return positions
        values = dict(zip(self.joints, positions, strict=True))
        values |= {f'-{name}': -value for name, value in values.items()}
        pose = self._pose(observation) if self.pose else {}
        return np.array([values[n] if n in values else pose[n] for n in self.names])

    def _pose(self, observation: Observation) -> dict[str, float]:
        """Every coordinate of the pose, in all ways to write a rotation."""
        found = observation.poses.get(self.pose)
        if found is None or np.shape(found) != (7,) or not np.isfinite(found).all():
            raise PolicyError(
                "the checkpoint's state has the pose of the end effector, so the observation needs "
                f'the pose {self.pose!r}, 7 finite numbers; it is {found}, and there are '
                f'{sorted(observation.poses)}'
            )
        try:
            rotation = Rotation.from_quat(found[3:])
        except ValueError as error:
            raise PolicyError(f'the pose {self.pose!r} has no direction: {list(found)}') from error
        kinds = (
            rotation.as_euler('xyz'),
            rotation.as_rotvec(),
            rotation.as_quat(canonical=True),
        )
        values = dict(zip(POSITION_COLUMNS, found[:3], strict=True))
        for kind, numbers in zip(ROTATION_COLUMNS, kinds, strict=True):
            values |= dict(zip(kind, numbers, strict=True))
        return {name: float(value) for name, value in values.items()}


@dataclass(frozen=True)
class Columns:
    """The columns of a checkpoint's vectors."""

    actions: ActionColumns
    state: StateColumns
    joints: tuple[str, ...]  # of the robot
    grippers: tuple[str, ...]  # those of them that are a gripper's
    is_declared: bool  # the user named the actions


def action_columns(
    space: str, names: Sequence[str], units: Sequence[str], scales: JointScales
) -> ActionColumns:
    """names: of the columns; empty: the robot's joints. units: of UNITS, one per column; empty:
    joints as `scales` says, poses in m and rad, a gripper of an end effector '1'.

    Raises:
        CheckpointError: the space is not known, or names or units do not fit it.
    """
    if space not in ACTION_SPACES:
        raise CheckpointError(f'action_space is {space!r}; known: {", ".join(ACTION_SPACES)}')
    is_of_joints = space.startswith('joint')
    if not names and not is_of_joints:
        raise CheckpointError(
            f'for action_space {space!r} action_names must name the columns in the order of the '
            'checkpoint, such as x, y, z, rx, ry, rz, gripper: roll, pitch, yaw and rx, ry, rz are '
            'different rotations, and nothing in a checkpoint says which it has'
        )
    found = column_names(names, scales.grippers) or scales.joints
    _refuse_repeated('action_names', found)
    known = scales.joints if is_of_joints else (*POSE_COLUMNS, *scales.grippers)
    if unknown := [name for name in found if name not in (*known, GRIPPER)]:
        raise CheckpointError(
            f'action_names has {unknown}; {space} of this robot knows {", ".join(known)}, {GRIPPER}'
        )
    if not is_of_joints:
        _check_pose(space, found)
    if units:
        return _declared(space, found, units)
    if not is_of_joints:
        return _declared(space, found, [_usual_unit(name) for name in found])
    of_joints = scales.of(found)
    of_joints = of_joints.of_changes if space == 'joint_delta' else of_joints
    return ActionColumns(space, found, ('rad',) * len(found), of_joints)


def state_columns(names: Sequence[str], scales: JointScales, pose: str) -> StateColumns:
    """names: of the columns; empty: the robot's joints. pose: of the end effector.

    Raises:
        CheckpointError: a name is not known, or appears twice.
    """
    found = column_names(names, scales.grippers) or scales.joints
    _refuse_repeated('state_names', found)
    if unknown := [n for n in found if n.removeprefix('-') not in scales.joints + POSE_COLUMNS]:
        raise CheckpointError(
            f'state_names has {unknown}; a state may have the joints '
            f'{", ".join(scales.joints)} (with - before one: its negative), and of the end '
            f'effector {", ".join(POSE_COLUMNS)}'
        )
    of_pose = [name for name in found if name.removeprefix('-') not in scales.joints]
    if negative := [name for name in of_pose if name.startswith('-')]:
        raise CheckpointError(f'state_names has {negative}; only joints can have a - before them')
    joints = tuple(dict.fromkeys(n.removeprefix('-') for n in found if n not in of_pose))
    return StateColumns(found, joints, scales.of(joints), pose if of_pose else '')


def column_names(names: Sequence[str], grippers: Sequence[str]) -> tuple[str, ...]:
    """The protocol's names for those of a LeRobot data set; `gripper` is the robot's gripper joint
    where it has one only.
    """

    def ours(name: str) -> str:
        """One name."""
        if name.startswith(END_EFFECTOR):
            name = name.removeprefix(END_EFFECTOR)
            name = _OF_LEROBOT.get(name, name)
        elif name.endswith('.pos'):
            name = name.removesuffix('.pos')
        return grippers[0] if name == GRIPPER and len(grippers) == 1 else name

    return tuple(ours(name) for name in names)


def joint_positions(observation: Observation, wanted: Sequence[str]) -> NDArray[np.float64]:
    """The positions (D,) of joints, rad or m.

    Raises:
        PolicyError: one is missing or not finite, or names and positions do not match.
    """
    names, positions = observation.joint_names, observation.joint_positions
    if np.shape(positions) != (len(names),):
        raise PolicyError(
            f'the observation has {len(names)} joint names and positions of shape '
            f'{np.shape(positions)}; ({len(names)},) is right'
        )
    index = {name: i for i, name in enumerate(names)}
    if missing := [name for name in wanted if name not in index]:
        raise PolicyError(f'the observation lacks joints {missing}; it has {list(names)}')
    chosen = np.asarray(positions, np.float64)[[index[name] for name in wanted]]
    if not np.isfinite(chosen).all():
        raise PolicyError(f'a joint position is not finite: {chosen.tolist()}')
    return chosen


def _declared(space: str, names: tuple[str, ...], units: Sequence[str]) -> ActionColumns:
    if len(units) != len(names) or any(unit not in UNITS for unit in units):
        raise CheckpointError(
            f'action_units is {list(units)}; it must have one of {", ".join(UNITS)} for each of '
            f'{", ".join(names)}'
        )
    factors = np.array([UNITS[unit][1] for unit in units])
    scales = JointUnits(1.0 / factors, np.zeros(len(units)), bool((factors == 1.0).all()))
    return ActionColumns(space, names, tuple(UNITS[unit][0] for unit in units), scales)


def _usual_unit(name: str) -> str:
    if name in POSITION_COLUMNS:
        return 'm'
    return 'rad' if name in POSE_COLUMNS and name not in QUATERNION else '1'


def _check_pose(space: str, names: tuple[str, ...]) -> None:
    """A position, and one whole rotation; a change of pose may have none."""
    written = [kind for kind in ROTATION_COLUMNS if set(kind) & set(names)]
    is_whole = len(written) < 2 and all(set(kind) <= set(names) for kind in written)
    is_enough = bool(written) or space == 'ee_delta'
    if not (set(POSITION_COLUMNS) <= set(names) and is_whole and is_enough):
        kinds = ' or '.join('/'.join(kind) for kind in ROTATION_COLUMNS)
        raise CheckpointError(
            f'action_names are {", ".join(names)}; {space} needs x, y, z and one rotation as '
            f'{kinds}'
        )


def _refuse_repeated(option: str, names: Sequence[str]) -> None:
    if len(set(names)) != len(names):
        raise CheckpointError(f'{option} names a column twice: {", ".join(names)}')
