# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""An episode as the rules of tasks judge it: where things were, frame by frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.scenes.description.scene import Scene
from frame_ros.scenes.description.shapes import Shape, extents

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


@attrs.frozen(eq=False, kw_only=True)
class ObjectTrack:
    """The poses of one object, in a frame whose z points up.

    Attributes:
        positions: (N, 3) m, of its middle.
        orientations: (N, 4) quaternions x, y, z, w.
    """

    positions: Array
    orientations: Array


@attrs.frozen(eq=False, kw_only=True)
class EpisodeStates:
    """The states of one episode after its objects have come to rest; one frame is one control step.

    Attributes:
        times: (N,) s.
        tracks: object -> where it was.
        is_grasped: (N,) whether the gripper holds the target.
        touches_robot: (N,) whether the robot touches the target.
        touched: object, or 'table' -> (N,) whether it touches the target.
    """

    times: Array
    tracks: Mapping[str, ObjectTrack]
    is_grasped: Flags
    touches_robot: Flags
    touched: Mapping[str, Flags]

    def __attrs_post_init__(self) -> None:
        """Raises ShapeError where lengths differ, ValueRangeError unless times increase."""
        count = len(self.times)
        arrays: dict[str, tuple[NDArray[Any], tuple[int, ...]]] = {
            'times': (self.times, (count,)),
            'is_grasped': (self.is_grasped, (count,)),
            'touches_robot': (self.touches_robot, (count,)),
            **{f'touched.{name}': (each, (count,)) for name, each in self.touched.items()},
        }
        for name, track in self.tracks.items():
            arrays[f'tracks.{name}.positions'] = track.positions, (count, 3)
            arrays[f'tracks.{name}.orientations'] = track.orientations, (count, 4)
        for name, (array, shape) in arrays.items():
            if np.shape(array) != shape or not count:
                raise ShapeError(
                    f'{name} has the shape {np.shape(array)}; expected is {shape}, of at least one '
                    'frame'
                )
        if not (np.diff(self.times) > 0).all():
            raise ValueRangeError('the times of an episode must increase from frame to frame')

    @property
    def problem(self) -> str:
        """The reason why the episode cannot be judged; '': it can.

        A simulation that diverged is no failure of the policy.
        """
        for name, track in self.tracks.items():
            is_bad = ~np.isfinite(track.positions).all(axis=1)
            is_bad |= ~(np.abs(np.linalg.norm(track.orientations, axis=1) - 1.0) < 1e-3)
            if is_bad.any():
                return f'the pose of {name} is not known at {self.times[is_bad.argmax()]:g} s'
        return '' if np.isfinite(self.times).all() else 'a time is not known'

    def check_names(self, scene: Scene) -> None:
        """Raises ValueRangeError unless the tracks are of the scene's objects, of known shapes."""
        names = {each.name for each in scene.objects}
        if set(self.tracks) != names:
            raise ValueRangeError(
                f'there are tracks of {", ".join(sorted(self.tracks))}; the objects of the scene '
                f'are {", ".join(sorted(names))}'
            )
        for each in (scene.target, scene.receptacle):
            if each is not None and each.shape is None:
                raise ValueRangeError(f'the shape of {each.name} is not known')


def start_extents(shape: Shape, track: ObjectTrack) -> Array:
    """Returns (3,) m, half the upright box about an object in the first frame."""
    return extents(shape, Rotation.from_quat(track.orientations[0]).as_matrix())


def in_frame_of(track: ObjectTrack, points: Array) -> Array:
    """Returns points (N, 3) m in the axes of an object, frame by frame."""
    turns = Rotation.from_quat(track.orientations)
    return np.asarray(turns.inv().apply(points - track.positions))
