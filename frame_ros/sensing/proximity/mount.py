# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The mount of a camera on the robot."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import SetupError

Array = NDArray[np.float64]
FARTHEST = 10.0  # m from its link, beyond which a place was meant in another unit


class Mount(NamedTuple):
    """The pose of a frame (a camera's optical frame) in a link of the robot."""

    link: str
    rotation: Array  # (3, 3)
    translation: Array  # (3,) in m
    is_fixed: bool = True  # whether it is static

    def is_as(self, other: Mount | None) -> bool:
        """Returns whether another mount is equal; tf_static may repeat it."""
        return other is not None and self.link == other.link and (
            np.array_equal(self.rotation, other.rotation)
            and np.array_equal(self.translation, other.translation)
        )  # fmt: skip


def parse_mount(camera: str, text: str, links: Collection[str]) -> Mount:
    """Parses 'link x y z roll pitch yaw' or 'link x y z qx qy qz qw', m and rad.

    Roll, pitch and yaw turn about the fixed axes x, then y, then z, as in a URDF.

    Raises:
        SetupError: it is neither, the robot has no such link, or it is farther than FARTHEST.
    """
    link, *rest = text.replace(',', ' ').split() or ['']
    try:
        values = np.array([float(word) for word in rest])
    except ValueError:
        values = np.empty(0)
    if len(values) not in (6, 7) or not np.isfinite(values).all():
        raise SetupError(
            f'extrinsics of {camera} are {text!r}; they are a link, x y z (m), and roll pitch yaw '
            '(rad) or a quaternion x y z w'
        )
    if link not in links:
        raise SetupError(
            f'extrinsics of {camera} name the link {link!r}; the robot has {", ".join(links)}'
        )
    distance = float(np.linalg.norm(values[:3]))
    if distance > FARTHEST:
        raise SetupError(
            f'extrinsics of {camera} place it {distance:.4g} m from {link}; at most {FARTHEST:g} m '
            'are expected: x y z are in m, not in mm'
        )
    return Mount(link, _rotation(camera, values[3:]), values[:3])


def _rotation(camera: str, values: Array) -> Array:
    if len(values) == 3:
        return Rotation.from_euler('xyz', values).as_matrix()
    norm = float(np.linalg.norm(values))
    if abs(norm - 1.0) > 0.01:
        raise SetupError(
            f'the quaternion of {camera} is {values.tolist()}, of length {norm:.3f}; it must be 1'
        )
    return Rotation.from_quat(values).as_matrix()
