# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One known obstacle: its shape, size and pose."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frame_ros.core.errors import MissingExtraError, ValueRangeError
from frame_ros.sensing.proximity.obstacles.meshes import ObstacleMesh

Array = NDArray[np.float64]

# The numbers of `size`, m. Cylinder and capsule lie along their z axis; the length of a capsule is
# that of its straight part. A half space is solid below z = 0 of its pose. A mesh has no size of
# its own.
SIZES: dict[str, tuple[str, ...]] = {
    'box': ('x', 'y', 'z'),
    'sphere': ('radius',),
    'cylinder': ('radius', 'length'),
    'capsule': ('radius', 'length'),
    'half_space': (),
    'mesh': (),
}
LARGEST, SMALLEST = 50.0, 5e-4  # m of an obstacle's longest extent


def load_coal() -> Any:
    """Returns the module coal; if that is not installed, hppfcl, its name before version 3.

    The two names that have changed since are added.

    Raises:
        MissingExtraError: neither is installed.
    """
    try:
        import coal
    except ImportError:
        return _older_coal()
    return coal


def _older_coal() -> Any:
    try:
        hppfcl = importlib.import_module('hppfcl')
    except ImportError as error:
        raise MissingExtraError(
            'distances to known obstacles need coal: sudo apt install ros-$ROS_DISTRO-coal (or '
            'ros-$ROS_DISTRO-hpp-fcl) with a sourced ROS 2, or pip install coal'
        ) from error
    names = {'Transform3s': 'Transform3f', 'StdVec_Vec3s': 'StdVec_Vec3f'}
    return SimpleNamespace(
        **{**vars(hppfcl), **{new: getattr(hppfcl, old) for new, old in names.items()}}
    )


@dataclass(frozen=True)
class Obstacle:
    """An object of known shape and place, in the robot's base frame.

    Attributes:
        kind: one of SIZES.
        size: m, as there.
        rotation: (3, 3).
        translation: (3,) pose of the shape's frame.
        mesh: of the kind 'mesh'.
        ignored_links: links whose distance to it is not of interest, as they stand on it or hold
            it.

    Raises:
        ValueRangeError: an unknown kind, sizes that are too few, not positive, or far from any that
            a robot meets (a wrong unit), or an invalid pose.
    """

    name: str
    kind: str
    size: tuple[float, ...]
    rotation: Array
    translation: Array
    mesh: ObstacleMesh | None = None
    ignored_links: frozenset[str] = frozenset()
    # Of the box around it in its own frame, m; infinite for a half space.
    middle: Array = field(init=False)
    half_extents: Array = field(init=False)

    def __post_init__(self) -> None:
        if self.kind not in SIZES:
            raise ValueRangeError(
                f'obstacle {self.name!r} is a {self.kind!r}; known shapes: {", ".join(SIZES)}'
            )
        wanted, size = SIZES[self.kind], np.asarray(self.size, dtype=np.float64)
        if size.shape != (len(wanted),) or not (np.isfinite(size) & (size > 0)).all():
            raise ValueRangeError(
                f'obstacle {self.name!r} has the size {tuple(self.size)}; a {self.kind} has '
                f'{len(wanted)} positive numbers in m{": " if wanted else ""}{", ".join(wanted)}'
            )
        rotation, translation = checked_pose(self.name, self.rotation, self.translation)
        middle, half_extents = self._box()
        for attribute, value in (
            ('size', tuple(size.tolist())),
            ('rotation', rotation),
            ('translation', translation),
            ('middle', middle),
            ('half_extents', half_extents),
        ):
            object.__setattr__(self, attribute, value)
        self._check_extent()

    def _box(self) -> tuple[Array, Array]:
        middle, size = np.zeros(3), self.size
        if self.kind == 'box':
            return middle, np.array(size) / 2
        if self.kind == 'sphere':
            return middle, np.full(3, size[0])
        if self.kind in ('cylinder', 'capsule'):
            ends = size[0] if self.kind == 'capsule' else 0.0
            return middle, np.array([size[0], size[0], size[1] / 2 + ends])
        if self.kind == 'half_space':
            return middle, np.full(3, np.inf)
        if self.mesh is None:
            raise ValueRangeError(f'obstacle {self.name!r} is a mesh without vertices')
        lower, upper = self.mesh.vertices.min(axis=0), self.mesh.vertices.max(axis=0)
        return (lower + upper) / 2, (upper - lower) / 2

    def _check_extent(self) -> None:
        longest = 2 * float(self.half_extents.max())
        if self.kind != 'half_space' and not SMALLEST <= longest <= LARGEST:
            raise ValueRangeError(
                f'obstacle {self.name!r} is {longest:.4g} m long; {SMALLEST} to {LARGEST} m can '
                'be. Lengths are in m: of a file in millimetres, set the scale 0.001'
            )

    def encloses(self, point: Array) -> bool:
        """Returns whether a point (3,), m in the base frame, lies in a closed mesh."""
        local = self.rotation.T @ (point - self.translation)
        if self.mesh is None or (np.abs(local - self.middle) > self.half_extents).any():
            return False
        return self.mesh.encloses(local)

    def geometry(self, coal: Any) -> Any:
        """Returns the shape for coal."""
        if self.mesh is not None:
            return self.mesh.geometry(coal)
        return coal_geometry(coal, self.kind, self.size)


def coal_geometry(coal: Any, kind: str, size: Sequence[float]) -> Any:
    """Returns a primitive for coal; kind and size as in SIZES."""
    if kind == 'half_space':
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    makers = {
        'box': coal.Box, 'sphere': coal.Sphere, 'cylinder': coal.Cylinder, 'capsule': coal.Capsule,
    }  # fmt: skip
    return makers[kind](*map(float, size))


def checked_pose(name: str, rotation: ArrayLike, translation: ArrayLike) -> tuple[Array, Array]:
    """Returns the pose as arrays (3, 3) and (3,).

    Raises:
        ValueRangeError: the rotation is invalid, or the translation not three finite numbers.
    """
    turn, shift = np.array(rotation, np.float64), np.array(translation, np.float64)
    if shift.shape != (3,) or not np.isfinite(shift).all():
        raise ValueRangeError(f'obstacle {name!r} stands at {shift}; x, y, z in m are needed')
    is_rotation = (
        turn.shape == (3, 3)
        and np.isfinite(turn).all()
        and np.abs(turn @ turn.T - np.eye(3)).max() < 1e-6
        and np.linalg.det(turn) > 0
    )
    if not is_rotation:
        raise ValueRangeError(
            f'obstacle {name!r} is turned by {turn.tolist()}: not a rotation matrix'
        )
    return turn, shift
