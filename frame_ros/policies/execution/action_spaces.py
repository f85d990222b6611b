# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Converts chunks in any action space into positions of the robot's joints.

The exact meaning of each space is in docs/action-spaces.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import PolicyError, ValueRangeError
from frame_ros.core.options import from_values
from frame_ros.policies.execution.action_options import ActionSpaceOptions
from frame_ros.policies.execution.commanded import CommandedChunk, References, observed_joints
from frame_ros.policies.execution.gripper_actions import GripperActions
from frame_ros.policies.execution.inference_check import check_own_chunk
from frame_ros.policies.protocol import ACTION_SPACES, Inference, Observation
from frame_ros.robots.differential_ik import (
    DifferentialInverseKinematics,
    Tracked,
    tracking_preset,
)
from frame_ros.robots.robot import Robot
from frame_ros.robots.rotations import (
    POSITION_COLUMNS,
    ROTATION_COLUMNS,
    chained_poses,
    rotations_of,
)

Array = NDArray[np.float64]
Columns = dict[str, Array]  # joint -> (H,)

# 1: of a policy whose values mean a share, see position_scale and rotation_scale; of quaternions.
_POSE_UNITS = ('m', 'rad', '1', '')
_ROTATIONS = ' or '.join('/'.join(kind) for kind in ROTATION_COLUMNS)


class ActionConverter:
    """Converts chunks in any action space into joint positions for one robot. Not thread-safe.

    Attributes:
        settings: the meaning of the actions.
        unreachable_steps: steps converted by best effort that left more than the tolerances.
    """

    def __init__(
        self, robot: Robot, joint_names: Sequence[str] | None = None, **settings: object
    ) -> None:
        """joint_names: the joints that may be commanded, in the order of the result; None: all that
        the robot has. settings: those of ActionSpaceOptions.

        Raises:
            ValueRangeError: the robot has no such joint or tip, or a setting is unknown, of another
                type, or out of range.
        """
        self.settings = from_values(ActionSpaceOptions, settings)
        self.unreachable_steps = 0
        limits = robot.joint_limits
        self._names = tuple(limits) if joint_names is None else tuple(joint_names)
        if unknown := [name for name in self._names if name not in limits]:
            raise ValueRangeError(f'{robot.name} has no joint {unknown}; it has {list(limits)}')
        if (tip := self.settings.tip) is not None and tip not in robot.links:
            raise ValueRangeError(f'{robot.name} has no link {tip!r}; it has {list(robot.links)}')
        self._robot, preset = robot, tracking_preset(robot)
        self._limits = {name: limits[name] for name in self._names}
        kinds = {joint.name: joint.kind for joint in robot.description.joints}
        self._units = {n: 'm' if kinds[n] == 'prismatic' else 'rad' for n in self._names}
        self._gripper = GripperActions(
            {n: ends for n, ends in robot.grippers.items() if n in self._names}, self.settings
        )
        self._tolerances = (
            self.settings.position_tolerance or preset.position_tolerance,
            self.settings.orientation_tolerance or preset.orientation_tolerance,
        )
        self._solver: DifferentialInverseKinematics | None = None
        self._former: CommandedChunk | None = None
        self._commanded: Mapping[str, float] | None = None

    def reset(self) -> None:
        """Forgets the episode: its commands, and the posture that it began with."""
        self._former = None
        if self._solver is not None:
            self._solver.posture = None

    def to_joint_positions(
        self,
        inference: Inference,
        observation: Observation,
        commanded: Mapping[str, float] | None = None,
    ) -> Inference:
        """Returns the inference with joint positions as its actions and samples.

        It is `inference` itself if that holds joint positions already.

        Args:
            commanded: joint -> position (rad or m) last commanded at the observation; empty: none
                yet; None: that of the previous chunk, if it is executed from the step that matches
                the time, in full.

        Raises:
            PolicyError: the chunk has an unknown space, shape, columns or units, a value that is
                not finite, needs joints that were not observed, or cannot be reached.
            MissingExtraError: the space is one of the end effector, and pink is not installed.
        """
        actions, self._commanded = _checked(inference), commanded
        names, changed = self._convert(inference, actions, observation)
        result = inference
        if changed is not actions:
            samples, unavailable = self._samples(inference, observation)
            result = replace(
                inference,
                actions=changed,
                action_names=names,
                action_units=tuple(self._units[name] for name in names),
                action_space='joint_position',
                samples=samples,
                unavailable={**inference.unavailable, **unavailable},
            )
        lower, upper = np.array([self._limits[name] for name in names]).T
        within = np.clip(changed, lower, upper)
        self._former = CommandedChunk(
            observation.executed, observation.stamp, inference.dt, names, within
        )
        return result

    def _samples(
        self, inference: Inference, observation: Observation
    ) -> tuple[Array | None, dict[str, str]]:
        """Returns the samples as joint positions, each by best effort; or why there are none."""
        if inference.samples is None:
            return None, {}
        if inference.action_space.startswith('ee_') and self.settings.samples == 'drop':
            return None, {'samples': 'dropped: they were actions of the end effector'}
        samples, width = np.asarray(inference.samples, np.float64), len(inference.action_names)
        if samples.ndim != 3 or samples.shape[2] != width:
            raise PolicyError(f'samples of shape {samples.shape}; they must be (N, steps, {width})')
        each = [replace(inference, actions=sample, samples=None) for sample in samples]
        found = [self._convert(one, _checked(one), observation, is_sample=True)[1] for one in each]
        return np.array(found), {}

    def _convert(
        self,
        inference: Inference,
        actions: Array,
        observation: Observation,
        is_sample: bool = False,
    ) -> tuple[tuple[str, ...], Array]:
        """Returns joints in the robot's order and their positions."""
        if inference.action_space.startswith('ee_'):
            arm = self._end_effector(inference, actions, observation, is_sample)
        elif self._is_converted(inference):
            return inference.action_names, actions
        else:
            arm = self._joints(inference, actions, observation)
        found = arm | self._gripper.positions(
            inference, actions, self._references(inference, observation)
        )
        names = tuple(name for name in self._names if name in found)
        return names, np.column_stack([found[name] for name in names])

    def _is_converted(self, inference: Inference) -> bool:
        _refuse_unknown(inference.action_names, (*self._names, *self._gripper.columns))
        shares = self._gripper.columns if self._gripper.is_share(inference) else ()
        pairs = zip(inference.action_names, inference.action_units, strict=True)
        if wrong := [u for name, u in pairs if u not in ('rad', 'm') and name not in shares]:
            raise PolicyError(
                f'the chunk is {inference.action_space} in {wrong[0]!r}; joints must be in rad or m'
            )
        is_known = all(name in self._names for name in inference.action_names)
        return (
            is_known
            and inference.action_space == 'joint_position'
            and not self._gripper.changes(inference)
        )

    def _joints(self, inference: Inference, actions: Array, observation: Observation) -> Columns:
        names = inference.action_names
        arm = [name for name in names if name not in self._gripper.columns]
        values = {name: actions[:, names.index(name)] for name in arm}
        if inference.action_space == 'joint_position' or not arm:
            return values
        start = self._references(inference, observation)(arm)
        is_cumulative = self.settings.delta_reference != 'observation'
        return {
            name: reference + (np.cumsum(values[name]) if is_cumulative else values[name])
            for name, reference in zip(arm, start, strict=True)
        }

    def _end_effector(
        self, inference: Inference, actions: Array, observation: Observation, is_sample: bool
    ) -> Columns:
        solver = self._inverse_kinematics()
        if solver.posture is None:
            solver.posture = observed_joints(observation, solver.joint_names)
        start = self._references(inference, observation)(solver.joint_names)
        tracked = solver.track(start, self._poses(inference, actions, start), inference.dt)
        if not is_sample:
            self._judge(tracked)
        return dict(zip(solver.joint_names, tracked.joints.T, strict=True))

    def _poses(self, inference: Inference, actions: Array, start: Array) -> Array:
        """Returns the targets (H, 7) in the base frame."""
        names, is_delta = inference.action_names, inference.action_space == 'ee_delta'
        rotation = next((k for k in ROTATION_COLUMNS if any(n in names for n in k)), ())
        needed = (*POSITION_COLUMNS, *rotation)
        _refuse_unknown(names, (*needed, *self._gripper.columns))
        if not (set(needed) <= set(names) and (rotation or is_delta)):
            raise PolicyError(
                f'{inference.action_space} has the columns {", ".join(names)}; it needs x, y, z '
                f'and a rotation as {_ROTATIONS}'
            )
        pairs = zip(names, inference.action_units, strict=True)
        if wrong := [u for name, u in pairs if name in needed and u not in _POSE_UNITS]:
            raise PolicyError(
                f'the chunk is {inference.action_space} in {wrong[0]!r}; it must be in m and rad'
            )
        places = actions[:, [names.index(name) for name in POSITION_COLUMNS]]
        turns = Rotation.identity(len(actions))
        if rotation:
            written = actions[:, [names.index(name) for name in rotation]]
            # A quaternion has no scale.
            scale = self.settings.rotation_scale if is_delta and len(rotation) == 3 else 1.0
            try:
                turns = rotations_of(rotation, written * scale)
            except ValueRangeError as error:
                raise PolicyError(str(error)) from error
        if not is_delta:
            return np.hstack((places, turns.as_quat()))
        position, quaternion = self._inverse_kinematics().forward(start)
        return chained_poses(
            position,
            Rotation.from_quat(quaternion),
            places * self.settings.position_scale,
            turns,
            self.settings.ee_frame,
            is_cumulative=self.settings.delta_reference != 'observation',
        )

    def _judge(self, tracked: Tracked) -> None:
        """Refuses, or counts, the steps that miss the pose by more than the tolerances."""
        beyond = (tracked.residuals > np.array(self._tolerances)).any(axis=1)
        if beyond.any() and self.settings.unreachable == 'error':
            step = int(np.argmax(beyond))
            metres, radians = tracked.residuals[step]
            bound = (
                ', '.join(tracked.limits[step]) or 'no joint limit (beyond the arm, or singular)'
            )
            raise PolicyError(
                f'step {step} is out of reach: {metres * 1e3:.1f} mm and {radians:.3f} rad are '
                f'left, at most {self._tolerances[0] * 1e3:g} mm and {self._tolerances[1]:g} rad '
                f'may be; what bounds it: {bound}'
            )
        self.unreachable_steps += int(beyond.sum())

    def _inverse_kinematics(self) -> DifferentialInverseKinematics:
        if self._solver is None:
            solver = DifferentialInverseKinematics(
                self._robot, self.settings.tip, velocity_scale=self.settings.velocity_scale
            )
            if unknown := [n for n in solver.joint_names if n not in self._names]:
                raise PolicyError(
                    f'actions of the end effector need {unknown}, which may not be commanded; the '
                    f'joints are {list(self._names)}'
                )
            self._solver = solver
        return self._solver

    def _references(self, inference: Inference, observation: Observation) -> References:
        """Returns where joints start, for the first step of a delta."""
        commanded = self._commanded
        if commanded is None:
            commanded = {} if self._former is None else self._former.last_before(observation)
        return References(observation, commanded, self.settings.delta_reference == 'command')


def _checked(inference: Inference) -> Array:
    """Returns the actions (H, D), or raises PolicyError."""
    if inference.action_space not in ACTION_SPACES:
        raise PolicyError(
            f'the action space is {inference.action_space!r}; known: {", ".join(ACTION_SPACES)}'
        )
    return check_own_chunk(inference)


def _refuse_unknown(names: Sequence[str], known: Sequence[str]) -> None:
    if unknown := [name for name in names if name not in known]:
        raise PolicyError(
            f'the chunk has the columns {", ".join(unknown)}; in its action space this robot knows '
            f'{", ".join(dict.fromkeys(known))}'
        )
