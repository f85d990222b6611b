# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The rigid-body dynamics of a robot from its URDF: masses, gravity, momentum, Jacobians."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.errors import RobotError
from frame_ros.robots.description import Joint
from frame_ros.robots.kinematic_tree import import_pinocchio, tree_model
from frame_ros.robots.link_inertia import link_inertias, possible_inertia, scaled
from frame_ros.robots.robot import Robot

Array = NDArray[np.float64]
GRAVITY = (0.0, 0.0, -9.81)  # m/s^2


@dataclass(frozen=True)
class Payload:
    """A load on a link that the URDF does not know: a tool, or a held object.

    Raises:
        RobotError: the mass is negative, or a value is not finite.
    """

    link: str
    mass: float  # kg
    centre_of_mass: tuple[float, float, float] = (0.0, 0.0, 0.0)  # m, in the link's frame
    inertia: Array | None = None  # (3, 3), kg m^2 about the centre of mass; None: a point mass

    def __post_init__(self) -> None:
        if not 0.0 <= self.mass < math.inf or not np.isfinite(self.centre_of_mass).all():
            raise RobotError(
                f'a payload of {self.mass} kg at {self.centre_of_mass} m; a mass of 0 or more and '
                'a finite centre of mass are expected'
            )


class MomentumTerms(NamedTuple):
    """momentum: M(q) dq, (N,). drift: C(q, dq)^T dq - g(q), (N,) N m. Armature is in both terms."""

    momentum: Array
    drift: Array


class RobotDynamics:
    """M(q) ddq + C(q, dq) dq + g(q) = torque, for the joints named, in the base frame.

    All links of the tree count. Joints that are not named stay at `held`, or else at the position
    nearest to 0 within their limits (mimic joints likewise), with their loads. Friction is not
    included, see `sensing.motor_model`. Not thread-safe: it owns one pinocchio data object.

    Attributes:
        robot: whose dynamics these are.
        joint_names: (N) the order of q, dq and all torques.
        armature: (N,) kg m^2 (or kg), of rotors and gears, seen at the joint.
    """

    def __init__(
        self,
        robot: Robot,
        joint_names: Sequence[str] | None = None,
        armature: ArrayLike = 0.0,
        tool: Payload | None = None,
        held: Mapping[str, float] | None = None,
        gravity: Sequence[float] = GRAVITY,
        mass_scales: Mapping[str, float] | None = None,
    ) -> None:
        """Builds the model.

        Args:
            joint_names: None takes those that move the robot's tip.
            armature: one for all joints, or one per joint.
            tool: carried in addition to the URDF's links.
            held: positions of the joints that are not named.
            gravity: m/s^2 in the base frame.
            mass_scales: link -> factor of its mass and inertia.

        Raises:
            RobotError: an unknown joint or link, a URDF without masses behind a joint, or an
                impossible armature.
            MissingExtraError: pinocchio is not installed.
        """
        self.robot = robot
        self.joint_names = tuple(robot.joint_names if joint_names is None else joint_names)
        known = robot.joint_limits
        if unknown := [name for name in self.joint_names if name not in known]:
            raise RobotError(f'{robot.name} has no joint {unknown[0]!r}; it has {", ".join(known)}')
        if not self.joint_names or len(set(self.joint_names)) != len(self.joint_names):
            raise RobotError(f'joints must be named, each once, not {list(self.joint_names)}')
        self._shape = (len(self.joint_names),)
        self._still = np.zeros(self._shape)
        self.armature = self._checked_armature(armature)
        self._pin = import_pinocchio()
        self._axes = self._pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        self._held = dict(held or {})
        self._inertias = scaled(link_inertias(robot), mass_scales or {}, robot)
        self._build(gravity)
        self._check_masses()
        self.set_payload(tool)

    def _checked_armature(self, armature: ArrayLike) -> Array:
        try:
            values = np.broadcast_to(np.asarray(armature, np.float64), self._shape).copy()
        except ValueError as error:
            raise RobotError(f'armature is {armature!r}; one value per joint is needed') from error
        if not np.isfinite(values).all() or (values < 0.0).any():
            raise RobotError(f'armature is {values.tolist()} kg m^2; none may be negative')
        return values

    def with_armature(self, armature: ArrayLike) -> RobotDynamics:
        """Returns the same with another armature; a payload set on one of them is set on both.

        Raises:
            RobotError: it is negative, or not one per joint.
        """
        found = copy(self)
        found.armature = self._checked_armature(armature)
        found._data = self._model.createData()
        return found

    def _build(self, gravity: Sequence[float]) -> None:
        description = self.robot.description
        # Link -> (index of the pinocchio joint that carries it, its placement there).
        model, self._places = tree_model(
            description.outwards, description.base_link, self.joint_names, self._held_position
        )
        for link, found in self._inertias.items():
            parent, placement = self._places[link]
            inertia = self._pin.Inertia(found.mass, found.centre_of_mass, found.inertia)
            model.appendBodyToJoint(parent, inertia, placement)
        model.gravity.linear = np.asarray(gravity, np.float64)
        self._model = model
        self._bare = [inertia.copy() for inertia in model.inertias]
        order = [int(model.joints[model.getJointId(name)].idx_q) for name in self.joint_names]
        # pinocchio's order of the joints -> ours, and back.
        self._ours = np.array(order)
        self._theirs = np.argsort(self._ours)
        self._is_same = order == list(range(len(order)))

    def _held_position(self, joint: Joint) -> float:
        if joint.mimic is not None and joint.name not in self._held:
            followed, multiplier, offset = joint.mimic
            return multiplier * self._held.get(followed, 0.0) + offset
        return float(self._held.get(joint.name, min(max(0.0, joint.lower), joint.upper)))

    def _check_masses(self) -> None:
        for name in self.joint_names:
            index = self._model.getJointId(name)
            carried = sum(self._model.inertias[j].mass for j in self._model.subtrees[index])
            if not carried > 0.0:
                raise RobotError(
                    f'the robot description of {self.robot.name} gives no mass to what '
                    f'{name} moves: its dynamics need the <inertial> of every link'
                )

    def set_payload(self, payload: Payload | None) -> None:
        """Replaces a link's payload; None: it carries nothing.

        Raises:
            RobotError: there is no such link.
        """
        for index, inertia in enumerate(self._bare):
            self._model.inertias[index] = inertia
        if payload is not None and payload.mass > 0.0:
            given = np.zeros((3, 3)) if payload.inertia is None else payload.inertia
            inertia = possible_inertia(given, f'the payload at {payload.link}')
            body = self._pin.Inertia(payload.mass, np.array(payload.centre_of_mass), inertia)
            joint, placement = self._link_placement(payload.link)
            self._model.appendBodyToJoint(joint, body, placement)
        self.payload = payload
        self._data = self._model.createData()

    def _link_placement(self, link: str) -> tuple[int, Any]:
        if link not in self._places:
            raise RobotError(
                f'{self.robot.name} has no link {link!r}; its links are '
                f'{", ".join(self.robot.links)}'
            )
        return self._places[link]

    def _vector(self, values: ArrayLike, what: str) -> Array:
        vector = np.asarray(values, np.float64)
        if vector.shape != self._shape:
            raise RobotError(
                f'{what} of shape {vector.shape}; {self.robot.name} needs {self._shape}, in the '
                f'order {", ".join(self.joint_names)}'
            )
        # A sum is NaN or infinite if one of its terms is.
        if not math.isfinite(np.add.reduce(vector)):
            raise RobotError(f'{what} must be finite, not {vector.tolist()}')
        return vector if self._is_same else vector[self._theirs]

    def _in_our_order(self, vector: Array) -> Array:
        return vector if self._is_same else vector[self._ours]

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Returns (N, N) symmetric, kg m^2, with the armature on its diagonal. q: (N,) rad or m."""
        matrix = np.array(self._pin.crba(self._model, self._data, self._vector(q, 'q')))
        matrix = np.triu(matrix) + np.triu(matrix, 1).T
        if not self._is_same:
            matrix = matrix[np.ix_(self._ours, self._ours)]
        matrix[np.diag_indices_from(matrix)] += self.armature
        return matrix

    def gravity(self, q: ArrayLike) -> Array:
        """Returns g(q): (N,) N m that hold the robot at rest."""
        torques = self._pin.computeGeneralizedGravity(self._model, self._data, self._vector(q, 'q'))
        return self._in_our_order(np.array(torques))

    def momentum_terms(self, q: Array, dq: Array) -> MomentumTerms:
        """Returns what a momentum observer needs of one sample, at the least cost."""
        pin, model, data = self._pin, self._model, self._data
        position, velocity = self._vector(q, 'q'), self._vector(dq, 'dq')
        drift = velocity @ pin.computeCoriolisMatrix(model, data, position, velocity)
        weight = pin.computeGeneralizedGravity(model, data, position)
        drift -= weight
        # At rest, the accelerations dq take M dq + g.
        momentum = pin.rnea(model, data, position, self._still, velocity) - weight
        if not self._is_same:
            momentum, drift = momentum[self._ours], drift[self._ours]
        return MomentumTerms(momentum + self.armature * dq, drift)

    def inverse_dynamics(self, q: ArrayLike, dq: ArrayLike, ddq: ArrayLike) -> Array:
        """Returns (N,) N m for the accelerations ddq, including armature but not friction."""
        acceleration = self._vector(ddq, 'ddq')
        torques = self._pin.rnea(
            self._model, self._data, self._vector(q, 'q'), self._vector(dq, 'dq'), acceleration
        )
        return self._in_our_order(np.array(torques)) + self.armature * np.asarray(ddq, np.float64)

    def link_jacobian(self, link: str, q: ArrayLike, point: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
        """Returns the Jacobian (6, N) of a point of a link: linear (m/s) above angular (rad/s),
        base axes.

        point: (3,) m, in the link's own frame. Raises RobotError for an unknown link.
        """
        parent, placement = self._link_placement(link)
        position = self._vector(q, 'q')
        if parent == 0:
            return np.zeros((6, *self._shape))
        pin, data = self._pin, self._data
        pin.computeJointJacobians(self._model, data, position)
        jacobian: Array = np.array(pin.getJointJacobian(self._model, data, parent, self._axes))
        x, y, z = data.oMi[parent].rotation @ placement.act(np.asarray(point, np.float64))
        # Linear velocity of the point: plus omega x lever.
        cross = np.array(((0.0, z, -y), (-z, 0.0, x), (y, -x, 0.0)))
        jacobian[:3] += cross @ jacobian[3:]
        return jacobian if self._is_same else jacobian[:, self._ours]

    def link_pose(self, link: str, q: ArrayLike) -> tuple[Array, Array]:
        """Returns the rotation (3, 3) and translation (3,) m of a link in the base frame."""
        parent, placement = self._link_placement(link)
        self._pin.forwardKinematics(self._model, self._data, self._vector(q, 'q'))
        pose = self._data.oMi[parent] * placement
        return np.array(pose.rotation), np.array(pose.translation)

    @cached_property
    def bodies(self) -> tuple[str, ...]:
        """Returns the link that each joint of `joint_names` moves first."""
        of_joint = {joint: link for link, joint in self.robot.joint_of_link.items()}
        return tuple(of_joint[name] for name in self.joint_names)

    @cached_property
    def links_of_bodies(self) -> dict[str, tuple[str, ...]]:
        """Returns body -> all links that move as one with it."""
        index = {self._model.getJointId(n): b for n, b in zip(self.joint_names, self.bodies)}
        return {
            body: tuple(link for link, (j, _) in self._places.items() if index.get(j) == body)
            for body in self.bodies
        }
