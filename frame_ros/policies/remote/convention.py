# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A preset applied to one robot: observations to and from the wire, and actions likewise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import PolicyError
from frame_ros.policies.protocol import Observation
from frame_ros.policies.remote.images import as_rgb, resize_with_border
from frame_ros.policies.remote.presets import IMAGES, INSTRUCTION, TCP, Preset
from frame_ros.robots.grippers import GRIPPER_CONVENTIONS, GripperRange
from frame_ros.robots.joint_units import JointUnits

Array = NDArray[np.float64]

FULL_JOINT_STEP = 0.2  # rad per step at a DROID velocity of 1
FULL_TCP_STEP = (0.05, 0.05, 0.05, 0.5, 0.5, 0.5)  # m and rad per step at an OSC_POSE action of 1
FINGER_TRAVEL = 0.04  # m, that each finger of LIBERO's Panda opens
TCP_COLUMNS = ('x', 'y', 'z', 'rx', 'ry', 'rz')
TCP_UNITS = ('m', 'm', 'm', 'rad', 'rad', 'rad')


class Convention:
    """Converts between the protocol's observations and actions and what a preset's servers and
    clients exchange.

    Args:
        joint_names: D joints of the robot, in the order of state and action on the wire.
        gripper_limits: gripper joint -> its closed and its open position, rad or m.

    Attributes:
        action_names, action_units, action_space: of the actions after `actions_from_wire`.

    Raises:
        PolicyError: the preset needs gripper limits. ValueRangeError: limits are no two positions.
    """

    def __init__(
        self,
        preset: Preset,
        joint_names: Sequence[str],
        gripper_limits: Mapping[str, tuple[float, float]] | None = None,
    ) -> None:
        self.preset, self.joint_names = preset, tuple(joint_names)
        limits = {k: v for k, v in (gripper_limits or {}).items() if k in self.joint_names}
        self._is_gripper = np.array([name in limits for name in self.joint_names], dtype=bool)
        self._check_grippers(limits)
        self._units = _wire_units(preset, self.joint_names, limits)
        self._limits = [limits[name] for name in self.joint_names if name in limits]
        self.action_space, self.action_units = 'joint_position', ('rad',) * len(self.joint_names)
        self.action_names = self.joint_names
        if preset.actions == 'ee_delta':
            gripper = tuple(n for n in self.joint_names if n in limits)[:1]
            self.action_space = 'ee_delta'
            self.action_names = TCP_COLUMNS + (gripper or ('gripper',))
            self.action_units = (*TCP_UNITS, 'rad' if gripper else '1')

    def to_wire(self, observation: Observation) -> dict[str, Any]:
        """Returns the observation under the preset's keys.

        Raises:
            PolicyError: it lacks a joint, a camera or the pose of the TCP.
        """
        message: dict[str, Any] = {}
        joints = self._units.to_policy(self.ordered_positions(observation))
        for key, source in self.preset.keys.items():
            *path, last = key.split('>')
            place = message
            for name in path:
                place = place.setdefault(name, {})
            place[last] = self._value(source, observation, joints)
        return message

    def from_wire(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the arguments joint_names, joint_positions, images and instruction of an
        Observation from a message under the preset's keys, which may be nested at / and >.

        Raises:
            PolicyError: a key is missing, or holds something else.
        """
        positions, images = np.full(len(self.joint_names), np.nan), {}
        instruction = ''
        for key, source in self.preset.keys.items():
            value = find(message, key)
            if source == INSTRUCTION:
                instruction = _text(key, value)
            elif source.startswith(IMAGES):
                images[source[len(IMAGES) :]] = as_rgb(key, value)
            else:
                self._take(key, source, value, positions)
        if np.isnan(positions).any():
            raise PolicyError(
                f'the observation leaves positions of {list(self.joint_names)} open or not finite: '
                f'{positions}'
            )
        return {
            'joint_names': self.joint_names,
            'joint_positions': self._units.to_radians(positions),
            'images': images,
            'instruction': instruction,
        }

    def actions_from_wire(self, actions: Array, observation: Observation) -> Array:
        """Returns a chunk (H, D) from the wire in `action_units`; velocities are integrated from
        the observed positions on.

        Raises:
            PolicyError: it has another width.
        """
        if actions.shape[1] != len(self.action_names):
            raise PolicyError(
                f'the server gave {actions.shape[1]} values per action; {len(self.action_names)} '
                f'are expected: {", ".join(self.action_names)}'
            )
        if self.preset.actions == 'ee_delta':
            steps = np.clip(actions[:, :6], -1.0, 1.0) * FULL_TCP_STEP
            return np.hstack((steps, self._gripper_position(actions[:, 6:])))
        if self.preset.has_binary_gripper:
            actions = np.where(self._is_gripper, (actions > 0.5).astype(float), actions)
        positions = self._units.to_radians(actions)
        if self.preset.actions == 'joint_velocity':
            steps = FULL_JOINT_STEP * np.clip(actions, -1.0, 1.0)
            reached = self.ordered_positions(observation) + np.cumsum(steps, axis=0)
            positions = np.where(self._is_gripper, positions, reached)
        return positions

    def actions_to_wire(self, actions: Array, observation: Observation) -> Array:
        """Returns joint positions (H, D) in rad as a client of this preset expects them."""
        wire = self._units.to_policy(actions)
        if self.preset.actions == 'joint_velocity':
            before = np.vstack((self.ordered_positions(observation), actions[:-1]))
            wire = np.where(self._is_gripper, wire, (actions - before) / FULL_JOINT_STEP)
        return wire

    def ordered_positions(self, observation: Observation) -> Array:
        """The observation's joint positions (D,) in the order of `joint_names`, rad or m."""
        if observation.joint_names == self.joint_names:
            return observation.joint_positions
        index = {name: i for i, name in enumerate(observation.joint_names)}
        if missing := [name for name in self.joint_names if name not in index]:
            raise PolicyError(
                f'the observation lacks joints {missing}; it has {list(observation.joint_names)}'
            )
        return observation.joint_positions[[index[name] for name in self.joint_names]]

    def _value(self, source: str, observation: Observation, joints: Array) -> Any:
        if source == INSTRUCTION:
            return observation.instruction
        if source.startswith(IMAGES):
            return self._image(observation, source[len(IMAGES) :])
        return np.concatenate([self._part(part, observation, joints) for part in source.split('+')])

    def _part(self, part: str, observation: Observation, joints: Array) -> Array:
        if part == 'fingers':
            gripper = GripperRange(*self._limits[0])
            opening = gripper.opening(joints[self._is_gripper][:1], self.preset.gripper)
            position = FINGER_TRAVEL * opening
            return np.concatenate((position, -position))
        if part in ('joints', 'arm_joints', 'gripper'):
            return joints[self._columns(part)]
        pose = observation.poses.get(TCP)
        if pose is None:
            raise PolicyError(
                f'the observation lacks the pose {TCP!r}; it has {sorted(observation.poses)}'
            )
        if part == 'tcp_position':
            return pose[:3]
        vector = rotation_vector(pose[3:])
        # LIBERO's own vectors go beyond pi: between a little and a lot about x, never below zero.
        is_flipped = part == 'tcp_rotation_vector_down' and vector[0] < 0
        return vector * (1.0 - 2.0 * np.pi / np.linalg.norm(vector)) if is_flipped else vector

    def _columns(self, part: str) -> NDArray[np.bool_]:
        if part == 'joints':
            return np.ones(len(self.joint_names), dtype=bool)
        return self._is_gripper if part == 'gripper' else ~self._is_gripper

    def _take(self, key: str, source: str, value: Any, positions: Array) -> None:
        parts = [part for part in source.split('+') if part != INSTRUCTION]
        if any(part not in ('joints', 'arm_joints', 'gripper') for part in parts):
            raise PolicyError(f'key {key!r} holds {source}, from which no joint positions come')
        chosen = [np.flatnonzero(self._columns(part)) for part in parts]
        columns = np.concatenate(chosen)
        values = np.asarray(value) if isinstance(value, np.ndarray | list | float | int) else None
        if values is None or values.dtype.kind not in 'iuf' or values.size != len(columns):
            raise PolicyError(
                f'key {key!r} must hold {len(columns)} numbers: '
                f'{", ".join(self.joint_names[i] for i in columns)}'
            )
        positions[columns] = values.reshape(-1)

    def _image(self, observation: Observation, camera: str) -> NDArray[np.uint8]:
        image = observation.images.get(camera)
        if image is None:
            raise PolicyError(
                f'the observation lacks camera {camera!r}; it has {sorted(observation.images)}'
            )
        if self.preset.image_size is not None:
            image = resize_with_border(image, self.preset.image_size)
        return np.moveaxis(image, 2, 0) if self.preset.is_channel_first else image

    def _gripper_position(self, values: Array) -> Array:
        """From -1, open, to 1, closed, as positions; as they are without limits."""
        if not self._limits:
            return values
        gripper = GripperRange(*self._limits[0])
        return gripper.from_opening(gripper.opening(values, 'signed_closed'))

    def _check_grippers(self, limits: Mapping[str, tuple[float, float]]) -> None:
        if self.preset.gripper not in GRIPPER_CONVENTIONS:
            raise PolicyError(
                f'gripper is {self.preset.gripper!r}; known: {", ".join(GRIPPER_CONVENTIONS)}'
            )
        sources = '+'.join(self.preset.keys.values()).split('+')
        is_needed = (
            self.preset.gripper != 'position' or 'gripper' in sources or 'fingers' in sources
        )
        if is_needed and not limits:
            raise PolicyError(
                f'the preset {self.preset.name!r} needs gripper_limits: gripper joint -> closed '
                f'and open position; the joints are {list(self.joint_names)}'
            )
        self._check_order(sorted(limits))

    def _check_order(self, grippers: list[str]) -> None:
        count = len(self.joint_names)
        columns = self.preset.gripper_columns if self.preset.actions != 'ee_delta' else ()
        expected = [column % count if column < 0 else column for column in columns]
        if columns and expected != np.flatnonzero(self._is_gripper).tolist():
            raise PolicyError(
                f'actions of the preset {self.preset.name!r} have the gripper at {expected} '
                f'(counted from 0); the joints are {list(self.joint_names)}, of which '
                f'gripper_limits names {grippers}: give robot_joint_names in the order of its '
                'actions'
            )


def find(message: Mapping[str, Any], key: str) -> Any:
    """Returns the value of a key that is there as it is, or nested at / and >.

    Raises:
        PolicyError: it is not there.
    """
    if key in message:
        return message[key]
    value: Any = message
    for name in key.replace('>', '/').split('/'):
        if not isinstance(value, Mapping) or name not in value:
            raise PolicyError(f'the observation lacks {key!r}; it has {sorted(map(str, message))}')
        value = value[name]
    return value


def rotation_vector(quaternion: Array) -> Array:
    """Returns the rotation vector (3,), rad, at most pi long, of a quaternion x, y, z, w."""
    x, y, z, w = quaternion / np.linalg.norm(quaternion)
    axis = np.array((x, y, z)) * (-1.0 if w < 0 else 1.0)
    sine = np.linalg.norm(axis)
    if sine < 1e-12:
        return 2.0 * axis
    return axis / sine * 2.0 * np.arctan2(sine, abs(w))


def _wire_units(
    preset: Preset, names: tuple[str, ...], limits: Mapping[str, tuple[float, float]]
) -> JointUnits:
    scale = np.full(len(names), 180.0 / np.pi if preset.is_in_degrees else 1.0)
    offset = np.zeros(len(names))
    for i, name in enumerate(names):
        if name in limits:
            closed, opened = limits[name]
            # What is written for a closed and for an open gripper.
            ends = GripperRange(closed, opened).from_opening((0.0, 1.0), preset.gripper)
            scale[i] = (ends[1] - ends[0]) / (opened - closed)
            offset[i] = ends[0] - closed * scale[i]
    return JointUnits(scale, offset, is_identity=bool((scale == 1).all() and (offset == 0).all()))


def _text(key: str, value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode('utf-8', 'replace')
    if isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind == 'U':
        return str(value)
    if not isinstance(value, str):
        raise PolicyError(f'{key!r} is {type(value).__name__}; a text is expected')
    return value
