# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robot's true contacts in the simulation: one per link and touched object, over time."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.engine import load_mujoco
from frame_ros.scenes.simulation.applied_forces import APPLIED, AppliedForces
from frame_ros.scenes.simulation.scene_robot import SO101

if TYPE_CHECKING:
    import mujoco

FINGER_LINKS = SO101.finger_links
ELLIPTIC = 1  # mjCONE_ELLIPTIC
_LEAST_FORCE = 1e-6  # N; below, the geoms are close without pressing
Row = tuple[list[float], list[float], list[float]]
# (link, other) -> of each contact position m, normal from other to link, force N on the link
Groups = dict[tuple[str, str], list[Row]]
Touching = list[tuple[list[int], float]]  # what `pressing` returns
# A finger's contact with the object to pick is expected while the gripper's drive closes, by
# CLOSING of its range, or did within SETTLING, s; and up to a net force of all fingers of
# LARGEST_PUSH, N: fingers that hold an object press against each other, and only the rest moves the
# arm.
CLOSING, SETTLING, LARGEST_PUSH = 0.01, 0.5, 20.0


@dataclass(frozen=True)
class Contact:
    """A link of the robot touches an object or another link, or is pushed ('applied force').

    Attributes:
        force: N, sum of normal forces.
        position: (3,) m, force-weighted.
        normal: (3,) unit vector from the other object to the link.
        net_force, net_torque: (3,) N and N m about the base's origin, on the robot; zero between
            two links.
        duration: s since this pair began to touch.
        impulse: N s, integral of the normal force since then.
        peak_force: N, the largest since then.
    """

    link: str
    other: str
    is_expected: bool
    reason: str
    force: float
    position: NDArray[np.float64]
    normal: NDArray[np.float64]
    net_force: NDArray[np.float64]
    net_torque: NDArray[np.float64]
    duration: float = 0.0
    impulse: float = 0.0
    peak_force: float = 0.0


class ContactTruth:
    """Reads the contacts of a MuJoCo state. `robot_bodies` maps body id to link name; all else is
    named by its body. Of the fingers on the object to pick it keeps when the gripper last closed,
    so it is read at every step.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        robot_bodies: dict[int, str],
        target: str,
        ignored: set[frozenset[str]],
        fingers: tuple[str, ...] = FINGER_LINKS,
        is_closing: Callable[[mujoco.MjData], bool] | None = None,
    ):
        """is_closing: whether the gripper's drive closes; None: it always does."""
        self._mj = load_mujoco()
        self._model = model
        self._links = robot_bodies
        self._link_names = frozenset(robot_bodies.values())
        self._wrench = np.zeros(6)
        self._fingers = fingers
        self._names = [model.body(i).name for i in range(model.nbody)]
        self._target = target
        self._ignored = ignored
        self._is_closing = is_closing
        self._closed = -np.inf
        self._began: dict[tuple[str, str], tuple[float, float, float, float]] = {}

    def reset(self) -> None:
        """Forgets the duration of contacts."""
        self._began.clear()
        self._closed = -np.inf

    def read(
        self,
        data: mujoco.MjData,
        forces: AppliedForces | None = None,
        touching: Touching | None = None,
    ) -> list[Contact]:
        """Contacts that press, as of `data`, and applied forces; sorted by link and other.

        Args:
            touching: what `pressing` has of this state, if it is known.
        """
        if self._is_closing is None or self._is_closing(data):
            self._closed = data.time
        groups = self._groups(data, pressing(self._model, data) if touching is None else touching)
        for body, position, force in forces.at(data) if forces else ():
            size = float(np.linalg.norm(force))
            if size > _LEAST_FORCE:
                row = (position.tolist(), (force / size).tolist(), force.tolist())
                groups.setdefault((self._links[body], APPLIED), []).append(row)
        return self._merge(groups, data.time)

    def _groups(self, data: mujoco.MjData, touching: Touching) -> Groups:
        """The contacts of the robot that press."""
        groups: Groups = {}
        frames = positions = None
        for index, (bodies, size) in enumerate(touching):
            sides = self._robot_side(*bodies) if size else None
            if sides is None:
                continue
            link, other, sign = sides
            self._mj.mj_contactForce(self._model, data, index, self._wrench)
            along, *across = self._wrench[:3].tolist()
            if along <= _LEAST_FORCE:
                continue
            if frames is None or positions is None:
                frames, positions = data.contact.frame, data.contact.pos
            # A frame's first axis points from geom1 to geom2, and the force is that on geom2.
            axes = (sign * frames[index]).tolist()
            force = [
                along * x + across[0] * y + across[1] * z
                for x, y, z in zip(axes[:3], axes[3:6], axes[6:], strict=True)
            ]
            row = (positions[index].tolist(), axes[:3], force)
            groups.setdefault((link, other), []).append(row)
        return groups

    def _robot_side(self, first: int, second: int) -> tuple[str, str, float] | None:
        """Returns (link, other, sign), the sign from MuJoCo's order to other-to-link."""
        if second in self._links:
            link, other, sign = self._links[second], self._names[first], 1.0
        elif first in self._links:
            link, other, sign = self._links[first], self._names[second], -1.0
        else:
            return None
        return None if frozenset((link, other)) in self._ignored else (link, other, sign)

    def _merge(self, groups: Groups, time: float) -> list[Contact]:
        self._began = {pair: began for pair, began in self._began.items() if pair in groups}
        if not groups:
            return []
        contacts = []
        grasp = self._grasp(groups, time)
        for pair in sorted(groups):
            link, other = pair
            rows = groups[pair]
            weights = [_dot(normal, force) for _, normal, force in rows]
            total = sum(weights)
            start, last, impulse, peak = self._began.get(pair, (time, time, 0.0, 0.0))
            impulse += total * (time - last)
            peak = max(peak, total)
            self._began[pair] = (start, time, impulse, peak)
            place = _weighted(weights, [position for position, _, _ in rows])
            normal = _weighted(weights, [normal for _, normal, _ in rows])
            length = max(math.hypot(*normal), 1e-12)
            is_external = other not in self._link_names
            is_expected, reason = self._judge(link, other, grasp)
            contacts.append(
                Contact(
                    link,
                    other,
                    is_expected,
                    reason,
                    total,
                    np.array([x / total for x in place]),
                    np.array([x / length for x in normal]),
                    _net_force(rows) if is_external else np.zeros(3),
                    _net_torque(rows) if is_external else np.zeros(3),
                    time - start,
                    impulse,
                    peak,
                )  # fmt: skip
            )
        return contacts

    def _grasp(self, groups: Groups, time: float) -> tuple[bool, str]:
        """Returns whether the fingers' contact with the object is expected, and the reason."""
        own = [
            row[2]
            for (link, other), rows in groups.items()
            if other == self._target and link in self._fingers
            for row in rows
        ]
        push = math.hypot(*map(sum, zip(*own, strict=True))) if own else 0.0
        if push > LARGEST_PUSH:
            return False, f'the fingers push the object to pick by {push:.0f} N'
        if time - self._closed > SETTLING:
            return False, 'finger on the object to pick, but the gripper does not close'
        return True, 'finger on the object to pick'

    def _judge(self, link: str, other: str, grasp: tuple[bool, str]) -> tuple[bool, str]:
        if other == self._target:
            if link in self._fingers:
                return grasp
            return False, 'arm on the object to pick'
        if other == APPLIED:
            return False, 'somebody pushes the robot'
        if other in self._link_names:
            return False, 'two links of the robot'
        return False, f'{other} is not to be touched'


def pressing(model: mujoco.MjModel, data: mujoco.MjData) -> Touching:
    """Returns for each contact of a state the bodies of both geoms, and its normal force, N; 0: it
    does not press.
    """
    if not data.ncon:
        return []
    contact = data.contact
    bodies = model.geom_bodyid[contact.geom].tolist()
    if model.opt.cone == ELLIPTIC:
        rows, forces = contact.efc_address.tolist(), data.efc_force.tolist()
        found = [forces[row] if row >= 0 else 0.0 for row in rows]
    else:
        engine, force, found = load_mujoco(), np.zeros(6), []
        for index in range(len(bodies)):
            engine.mj_contactForce(model, data, index, force)
            found.append(float(force[0]))
    return list(zip(bodies, found, strict=True))


def _dot(one: list[float], other: list[float]) -> float:
    return one[0] * other[0] + one[1] * other[1] + one[2] * other[2]


def _weighted(weights: list[float], rows: list[list[float]]) -> list[float]:
    """Returns (3,), the sum of rows (N, 3) by weights (N,)."""
    return [sum(map(operator.mul, weights, column)) for column in zip(*rows, strict=True)]


def _net_force(rows: list[Row]) -> NDArray[np.float64]:
    """(3,) N."""
    return np.array([sum(column) for column in zip(*(force for _, _, force in rows), strict=True)])


def _net_torque(rows: list[Row]) -> NDArray[np.float64]:
    """(3,) N m about the origin."""
    total = [0.0, 0.0, 0.0]
    for (px, py, pz), _, (fx, fy, fz) in rows:
        total[0] += py * fz - pz * fy
        total[1] += pz * fx - px * fz
        total[2] += px * fy - py * fx
    return np.array(total)
