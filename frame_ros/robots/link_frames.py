# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Poses of all links of a robot for one joint state, at once, as arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.errors import RobotError
from frame_ros.robots.description import Joint, RobotDescription
from frame_ros.robots.kinematic_tree import import_pinocchio, tree_model
from frame_ros.robots.robot import Robot

Array = NDArray[np.float64]


class LinkFrames:
    """Poses of all links of a robot in the frame of its base link.

    Not thread-safe: it owns one pinocchio data object. Use one per thread.

    Attributes:
        joint_names: the M joints whose positions are given; all others that nothing moves are at 0.
            A joint that mimics another follows it.
        links: names of the L links, in the URDF's order: those of `robot.links`.
    """

    def __init__(self, robot: Robot, joint_names: Sequence[str] | None = None) -> None:
        """joint_names: None takes every joint that can be commanded.

        Raises:
            RobotError: a joint that the robot does not have or that mimics another, or one named
                twice.
        """
        commandable = tuple(robot.joint_limits)
        self.joint_names = commandable if joint_names is None else tuple(joint_names)
        unknown = [name for name in self.joint_names if name not in commandable]
        if unknown or len(set(self.joint_names)) != len(self.joint_names):
            raise RobotError(
                f'link frames of {robot.name} need joints among {", ".join(commandable)}, each '
                f'once, not {", ".join(self.joint_names)}'
            )
        self.links = robot.links
        self._rows = {link: row for row, link in enumerate(self.links)}
        self._shape = (len(self.joint_names),)
        pinocchio = import_pinocchio()
        self._model, joints = _model_with_links(pinocchio, robot.description)
        self._data = self._model.createData()
        self._kinematics = pinocchio.framesForwardKinematics
        self._source, self._factor, self._offset = self._followers(joints)
        first = self._model.getFrameId(self.links[0])
        # Views of pinocchio's own memory, which every computation of the frames overwrites.
        poses = [self._data.oMf[first + row] for row in range(len(self.links))]
        self._rotations = _joined([pose.rotation for pose in poses], self._data)
        self._translations = _joined([pose.translation for pose in poses], self._data)

    def _followers(self, joints: Sequence[Joint]) -> tuple[NDArray[np.intp], Array, Array]:
        """Returns for each joint of the model the index of its value, a factor and an offset."""
        column = {name: i for i, name in enumerate(self.joint_names)}
        source = np.zeros(len(joints), np.intp)
        factor, offset = np.zeros(len(joints)), np.zeros(len(joints))
        for row, joint in enumerate(joints):
            followed, multiplier, constant = joint.mimic or (joint.name, 1.0, 0.0)
            offset[row] = constant
            if followed in column:
                source[row], factor[row] = column[followed], multiplier
        return source, factor, offset

    def index(self, link: str) -> int:
        """Row of a link.

        Raises:
            RobotError: there is no such link.
        """
        if link not in self._rows:
            raise RobotError(f'no link {link!r}; the links are {", ".join(self.links)}')
        return self._rows[link]

    def compute(self, q: ArrayLike) -> tuple[Array, Array]:
        """Rotations (L, 3, 3) and translations (L, 3) in m of the links, in the base frame.

        q: (M,) positions in the order of `joint_names`, rad or m. Fresh arrays at every call.

        Raises:
            RobotError: q has another length or holds values that are not finite.
        """
        q = np.asarray(q, dtype=np.float64)
        if q.shape != self._shape:
            raise RobotError(
                f'joint positions of shape {q.shape}; needed is ({self._shape[0]},), in the order '
                f'{", ".join(self.joint_names)}'
            )
        if not math.isfinite(q.dot(q)) and not np.isfinite(q).all():
            bad = [f'{n} = {v}' for n, v in zip(self.joint_names, q) if not math.isfinite(v)]
            raise RobotError(f'joint positions must be finite: {", ".join(bad)}')
        positions = q[self._source] * self._factor + self._offset if len(q) else self._offset
        self._kinematics(self._model, self._data, positions)
        if isinstance(self._rotations, list):
            return np.array(self._rotations), np.array(self._translations)
        return self._rotations.copy(), np.array(self._translations)


def _model_with_links(pinocchio: Any, description: RobotDescription) -> tuple[Any, list[Joint]]:
    """Returns a pinocchio model of all moving joints with one frame per link in the order of the
    links, and the joints in the model's order.
    """
    model, places = tree_model(description.outwards, description.base_link)
    for link in description.links:
        parent, placement = places[link]
        kind = pinocchio.FrameType.OP_FRAME
        model.addFrame(pinocchio.Frame(link, parent, 0, placement, kind))
    order = {model.names[i]: model.idx_qs[i] for i in range(1, model.njoints)}
    moving = [joint for joint in description.joints if joint.is_moving]
    return model, sorted(moving, key=lambda joint: order[joint.name])


class _Memory:
    """A strided view over memory that `owner` keeps alive."""

    def __init__(self, interface: dict[str, Any], owner: object) -> None:
        self.__array_interface__ = interface
        self.owner = owner


def _joined(views: list[Array], owner: object) -> Any:
    """Returns one array (L, ...) over equally spaced views of one memory; else the list."""
    interfaces = [view.__array_interface__ for view in views]
    addresses = [interface['data'][0] for interface in interfaces]
    steps = {b - a for a, b in zip(addresses, addresses[1:])}
    if len(steps) != 1 or len({view.strides for view in views}) != 1:
        return views
    interface = {
        'version': 3,
        'typestr': interfaces[0]['typestr'],
        'data': (addresses[0], True),
        'shape': (len(views), *views[0].shape),
        'strides': (steps.pop(), *views[0].strides),
    }
    return np.asarray(_Memory(interface, (owner, views)))
