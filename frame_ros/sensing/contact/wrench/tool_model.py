# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A force-torque sensor's reading of its tool: weight and inertia."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.errors import ValueRangeError
from frame_ros.sensing.contact.wrench.tool_motion import ToolMotion, ToolMotions

Array = NDArray[np.float64]
Vector = tuple[float, float, float]
# kg, of what is given. No arm of a profile carries a tenth of it (a Franka arm: 3 kg); a mass in
# grams of more than 50 g is beyond it.
HEAVIEST = 50.0
GRAVITY = 9.80665  # m/s^2, standard acceleration of free fall (ISO 80000-3)


@dataclass(frozen=True)
class Tool:
    """Everything beyond a force-torque sensor, as one rigid body, in the sensor's axes.

    Attributes:
        mass: kg.
        centre_of_mass: (3,) m from the sensor's origin.
        inertia: ixx, ixy, ixz, iyy, iyz, izz in kg m^2 about the centre of mass; all 0: unknown,
            treated as a point mass.
        gravity: (3,) m/s^2 in the base frame.

    Raises:
        ValueRangeError: a negative mass, a value that is not finite, or a wrong count.
    """

    mass: float = 0.0
    centre_of_mass: Vector = (0.0, 0.0, 0.0)
    inertia: tuple[float, ...] = (0.0,) * 6
    gravity: Vector = (0.0, 0.0, -GRAVITY)

    def __post_init__(self) -> None:
        sizes = (len(self.centre_of_mass), len(self.inertia), len(self.gravity))
        values = (self.mass, *self.centre_of_mass, *self.inertia, *self.gravity)
        if sizes != (3, 6, 3) or not all(map(isfinite, values)) or self.mass < 0:
            raise ValueRangeError(
                f'{self}: a tool has a mass of at least 0 kg, 3 coordinates of its centre of mass, '
                f'6 moments of inertia and 3 components of gravity, all finite'
            )
        if min(np.linalg.eigvalsh(self.inertia_matrix())) < -1e-9:
            raise ValueRangeError(
                f'moments of inertia {self.inertia} (ixx, ixy, ixz, iyy, iyz, izz) of no rigid '
                f'body: the matrix has a negative eigenvalue'
            )

    def inertia_matrix(self) -> Array:
        """Returns (3, 3) kg m^2 about the centre of mass."""
        xx, xy, xz, yy, yz, zz = self.inertia
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    def with_payload(self, mass: float, position: Sequence[float]) -> Tool:
        """Returns this tool with a point mass (kg) at a position (3,) m in the sensor's axes."""
        total = self.mass + mass
        if not mass > 0:
            return self
        own, other = np.array(self.centre_of_mass), np.array(position, dtype=np.float64)
        centre = (self.mass * own + mass * other) / total
        inertia = self.inertia_matrix() + _spread(self.mass, own - centre)
        inertia += _spread(mass, other - centre)
        rows, columns = np.triu_indices(3)
        x, y, z = centre.tolist()
        return Tool(total, (x, y, z), tuple(inertia[rows, columns].tolist()), self.gravity)


class ToolLoad:
    """The reading of a tool in motion, without contact, as force and torque about the sensor's
    origin.

    In the sensor's axes: the force m (g - a) of Newton's law at the centre of mass, and Euler's
    equation about the origin. `weight` is the part of gravity, `inertial` that of the
    accelerations.
    """

    __slots__ = ('tool', '_mass', '_moment', '_inertia', '_gravity')

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        centre = np.array(tool.centre_of_mass)
        self._mass = tool.mass
        self._moment = tuple((tool.mass * centre).tolist())
        about_origin = tool.inertia_matrix() + _spread(tool.mass, centre)
        self._inertia = tuple(about_origin.ravel().tolist())
        self._gravity = tuple(float(value) for value in tool.gravity)

    def gravity(self, rotation: Sequence[float]) -> Vector:
        """Returns gravity in the sensor's axes, m/s^2; rotation: 9 values by rows."""
        return _to_sensor(rotation, self._gravity)

    def weight(self, gravity: Vector) -> list[float]:
        """Returns force (N) and torque (N m), 6 values, under a gravity in the sensor's axes."""
        x, y, z = gravity
        hx, hy, hz = self._moment
        mass = self._mass
        return [mass * x, mass * y, mass * z, hy * z - hz * y, hz * x - hx * z, hx * y - hy * x]

    def inertial(self, rotation: Sequence[float], motion: ToolMotion) -> list[float] | None:
        """Returns the accelerations' part as `weight`; None if unknown. rotation: 9 values."""
        acceleration, alpha = motion.linear_acceleration, motion.angular_acceleration
        if acceleration is None or motion.angular_velocity is None or alpha is None:
            return None
        return self._of_motion(
            _to_sensor(rotation, acceleration.tolist()),
            _to_sensor(rotation, motion.angular_velocity.tolist()),
            _to_sensor(rotation, alpha.tolist()),
        )

    def _of_motion(self, a: Vector, w: Vector, t: Vector) -> list[float]:
        """Returns it for an acceleration a of the origin, an angular velocity w and acceleration t,
        in the sensor's axes; h is the first moment of mass, J the inertia about the origin.
        """
        mass = self._mass
        hx, hy, hz = self._moment
        ax, ay, az = a
        wx, wy, wz = w
        tx, ty, tz = t
        sx, sy, sz = wy * hz - wz * hy, wz * hx - wx * hz, wx * hy - wy * hx  # w x h
        xx, xy, xz, _, yy, yz, _, _, zz = self._inertia
        jx, jy, jz = (  # J w
            xx * wx + xy * wy + xz * wz,
            xy * wx + yy * wy + yz * wz,
            xz * wx + yz * wy + zz * wz,
        )
        return [
            -mass * ax - (ty * hz - tz * hy) - (wy * sz - wz * sy),
            -mass * ay - (tz * hx - tx * hz) - (wz * sx - wx * sz),
            -mass * az - (tx * hy - ty * hx) - (wx * sy - wy * sx),
            hz * ay - hy * az - (xx * tx + xy * ty + xz * tz) - (wy * jz - wz * jy),
            hx * az - hz * ax - (xy * tx + yy * ty + yz * tz) - (wz * jx - wx * jz),
            hy * ax - hx * ay - (xz * tx + yz * ty + zz * tz) - (wx * jy - wy * jx),
        ]

    def gravities(self, rotations: Array) -> Array:
        """Returns (T, 3) for rotations (T, 3, 3), as `gravity` of each."""
        found: Array = np.array(self._gravity) @ rotations
        return found

    def weights(self, gravities: Array) -> Array:
        """Returns (T, 6) as `weight` of each of (T, 3)."""
        return self._of_fields(gravities)

    def inertials(self, motions: ToolMotions) -> Array:
        """Returns (T, 6) as `inertial` of each; NaN where an acceleration is."""
        turned = np.swapaxes(motions.rotation, 1, 2)
        accelerations = (turned @ motions.linear_acceleration[:, :, None])[:, :, 0]
        omega = (turned @ motions.angular_velocity[:, :, None])[:, :, 0]
        alpha = (turned @ motions.angular_acceleration[:, :, None])[:, :, 0]
        moment, inertia = np.array(self._moment), np.array(self._inertia).reshape(3, 3)
        wrenches = self._of_fields(-accelerations)
        wrenches[:, :3] -= np.cross(alpha, moment) + np.cross(omega, np.cross(omega, moment))
        wrenches[:, 3:] -= alpha @ inertia.T + np.cross(omega, omega @ inertia.T)
        return wrenches

    def _of_fields(self, fields: Array) -> Array:
        torques = np.cross(np.array(self._moment), fields)
        return np.concatenate([self._mass * fields, torques], axis=1)


def norm(x: float, y: float, z: float) -> float:
    """Returns the length of a vector."""
    return sqrt(x * x + y * y + z * z)


def length(vector: Array) -> float:
    """Returns the length of a vector (N,), as np.linalg.norm does, at a fifth of its price."""
    return sqrt(vector.dot(vector))


def _spread(mass: float, offset: ArrayLike) -> Array:
    """Returns the inertia (3, 3) of a point mass about a point `offset` (3,) away."""
    x = np.asarray(offset, dtype=np.float64)
    spread: Array = mass * (x @ x * np.eye(3) - np.outer(x, x))
    return spread


def _to_sensor(r: Sequence[float], v: Sequence[float]) -> Vector:
    """Returns a vector given in base axes in the axes of a sensor rotated by r."""
    x, y, z = v
    return (
        r[0] * x + r[3] * y + r[6] * z,
        r[1] * x + r[4] * y + r[7] * z,
        r[2] * x + r[5] * y + r[8] * z,
    )
