# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robot's true contacts in the simulation: one per link and touched object, over time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from frame_ros.scenes.engine import load_mujoco
from frame_ros.scenes.simulation.applied_forces import APPLIED, AppliedForces
from frame_ros.scenes.simulation.scene_robot import SO101

if TYPE_CHECKING:
    import mujoco

FINGER_LINKS = SO101.finger_links
ELLIPTIC = 1  # mjCONE_ELLIPTIC
_LEAST_FORCE = 1e-6  # N; below, the geoms are close without pressing
# (link, other) -> (N, 3) positions m, normals from other to link, forces N on the link
Groups = dict[tuple[str, str], tuple[NDArray, ...]]
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

    def read(self, data: mujoco.MjData, forces: AppliedForces | None = None) -> list[Contact]:
        """Contacts that press, as of `data`, and applied forces; sorted by link and other."""
        if self._is_closing is None or self._is_closing(data):
            self._closed = data.time
        groups = self._pressing(data)
        for body, position, force in forces.at(data) if forces else ():
            size = float(np.linalg.norm(force))
            if size > _LEAST_FORCE:
                pair = (self._links[body], APPLIED)
                own = groups.get(pair, (np.zeros((0, 3)),) * 3)
                rows = (position, force / size, force)
                groups[pair] = tuple(np.vstack(both) for both in zip(own, rows, strict=True))
        return self._merge(groups, data.time)

    def _pressing(self, data: mujoco.MjData) -> Groups:
        """The contacts that press."""
        rows: dict[tuple[str, str], list[int]] = {}
        indices: list[int] = []
        signs, wrenches = [], []
        for index, bodies in self._candidates(data):
            sides = self._robot_side(*bodies)
            if sides is None:
                continue
            link, other, sign = sides
            self._mj.mj_contactForce(self._model, data, index, self._wrench)
            if self._wrench[0] <= _LEAST_FORCE:
                continue
            rows.setdefault((link, other), []).append(len(indices))
            indices.append(index)
            signs.append(sign)
            wrenches.append(self._wrench[:3].tolist())
        if not indices:
            return {}
        # A frame's first axis points from geom1 to geom2, and the force is that on geom2.
        frames = np.array(signs)[:, None, None] * data.contact.frame[indices].reshape(-1, 3, 3)
        forces = (np.array(wrenches)[:, None] @ frames)[:, 0]
        positions, normals = data.contact.pos[indices], frames[:, 0]
        return {pair: (positions[at], normals[at], forces[at]) for pair, at in rows.items()}

    def _candidates(self, data: mujoco.MjData) -> list[tuple[int, list[int]]]:
        """Returns the indices of the contacts of the robot that may press, with the bodies of both
        geoms.
        """
        if not data.ncon:
            return []
        own = self._links
        return [
            (i, pair)
            for i, (pair, force) in enumerate(pressing(self._model, data))
            if force and (pair[0] in own or pair[1] in own)
        ]

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
            positions, normals, forces = groups[pair]
            weights = (normals * forces).sum(axis=1)
            total = float(weights.sum())
            start, last, impulse, peak = self._began.get(pair, (time, time, 0.0, 0.0))
            impulse += total * (time - last)
            peak = max(peak, total)
            self._began[pair] = (start, time, impulse, peak)
            normal = weights @ normals
            is_external = other not in self._link_names
            is_expected, reason = self._judge(link, other, grasp)
            contacts.append(
                Contact(
                    link,
                    other,
                    is_expected,
                    reason,
                    total,
                    weights @ positions / total,
                    normal / max(math.hypot(*normal.tolist()), 1e-12),
                    forces.sum(axis=0) * is_external,
                    _torque(positions, forces) * is_external,
                    time - start,
                    impulse,
                    peak,
                )  # fmt: skip
            )
        return contacts

    def _grasp(self, groups: Groups, time: float) -> tuple[bool, str]:
        """Returns whether the fingers' contact with the object is expected, and the reason."""
        own = [
            forces.sum(axis=0)
            for (link, other), (_, _, forces) in groups.items()
            if other == self._target and link in self._fingers
        ]
        push = math.hypot(*sum(own).tolist()) if own else 0.0
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


def pressing(model: mujoco.MjModel, data: mujoco.MjData) -> list[tuple[list[int], float]]:
    """Returns for each contact of a state the bodies of both geoms, and its normal force, N; 0: it
    does not press.
    """
    contact = data.contact
    bodies = model.geom_bodyid[contact.geom].tolist()
    if model.opt.cone == ELLIPTIC or not data.ncon:
        rows = contact.efc_address
        forces = (
            np.where(rows >= 0, data.efc_force[rows], 0.0) if data.nefc else np.zeros(len(rows))
        )
        return list(zip(bodies, forces.tolist(), strict=True))
    engine, force, found = load_mujoco(), np.zeros(6), []
    for index, pair in enumerate(bodies):
        engine.mj_contactForce(model, data, index, force)
        found.append((pair, float(force[0])))
    return found


def _torque(positions: NDArray[np.float64], forces: NDArray[np.float64]) -> NDArray[np.float64]:
    """(3,) N m about the origin, of forces (N, 3) N at positions (N, 3) m."""
    moments = positions.T @ forces  # its antisymmetric part is the sum of the cross products
    return np.array(
        (
            moments[1, 2] - moments[2, 1],
            moments[2, 0] - moments[0, 2],
            moments[0, 1] - moments[1, 0],
        )
    )
