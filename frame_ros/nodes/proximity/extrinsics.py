# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The mount of a camera: its link of the robot, and its pose there."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import FrameRosError
from frame_ros.core.time import SECOND, stamp_ns
from frame_ros.nodes.proximity.topics import SCENE_OF_CAMERAS, TF, TF_STATIC
from frame_ros.nodes.runtime.fitting_subscription import FittingSubscription
from frame_ros.robots.frame_names import FrameNames
from frame_ros.robots.transforms import Transform, TransformTree
from frame_ros.scenes.running_scene import RunningScene
from frame_ros.sensing.proximity.mount import Mount

Array = NDArray[np.float64]
TF_DEPTH = 500


class TransformListener:
    """tf and tf_static, where tf2_msgs is installed.

    is_available: whether it is.
    """

    def __init__(
        self, node: Node, links: Collection[str], base: str, names: FrameNames, age: float
    ) -> None:
        """names: of the links in tf. age: s that a moving transform may differ from the stamp that
        is asked for.
        """
        self._tree = TransformTree()
        self._link_of = {names.of(link).lstrip('/'): link for link in links}
        self._names = names
        self._base, self._base_frame = base, names.of(base).lstrip('/')
        self._age = int(age * SECOND)
        self._parents: dict[str, tuple[str, bool]] = {}  # child -> parent, whether it is fixed
        self._fixed_mounts: dict[str, Mount] = {}
        self._subscriptions = self._subscribe(node)
        self.is_available = bool(self._subscriptions)

    @staticmethod
    def _subscribe(node: Node) -> list[tuple[FittingSubscription, bool]]:
        try:
            return [
                (FittingSubscription(node, topic, depth=TF_DEPTH), topic.is_latched)
                for topic in (TF_STATIC, TF)
            ]
        except ImportError:  # without tf2_msgs
            return []

    def poll(self) -> None:
        """Takes the transforms that have arrived."""
        for subscription, is_static in self._subscriptions:
            for message, _ in subscription.take(1000):
                for transform in message.transforms:
                    self.add(transform, is_static)

    def add(self, message: object, is_static: bool) -> None:
        """Takes a geometry_msgs/TransformStamped."""
        header, pose = message.header, message.transform  # type: ignore[attr-defined]
        child = message.child_frame_id.lstrip('/')  # type: ignore[attr-defined]
        place, turn = pose.translation, pose.rotation
        is_used = self._tree.add(
            header.frame_id, child, stamp_ns(header.stamp), (place.x, place.y, place.z),
            (turn.x, turn.y, turn.z, turn.w), is_static,
        )  # fmt: skip
        if is_used:
            parent = (header.frame_id.lstrip('/'), is_static)
            if is_static or self._parents.get(child) != parent:
                self._fixed_mounts.clear()
            self._parents[child] = parent

    def mount(self, frame: str, stamp: int) -> Mount | str:
        """Returns how a frame is mounted at a stamp (ns), or why that is not known.

        The first link of the robot above the frame carries it; if there is none, the base does.
        """
        frame = frame.lstrip('/')
        if frame in self._fixed_mounts:
            return self._fixed_mounts[frame]
        if not frame:
            return 'the image has no header.frame_id to look up in tf'
        link = self._names.link(frame)
        if link in self._link_of.values():
            return Mount(link, np.eye(3), np.zeros(3))
        if not self.is_available:
            return 'set the parameter extrinsics, or install tf2_msgs to take them from tf'
        carrier, is_fixed = self._carrier(frame)
        parent = carrier or self._base_frame
        pose = self._tree.pose_of(frame, parent)
        if pose is None:
            return self._tree.problem(frame, parent) or f'tf has no pose of {frame!r} yet'
        if not is_fixed and abs(stamp - pose.stamp) > self._age:
            late = (stamp - pose.stamp) / SECOND
            return (
                f'the transforms from {parent!r} to {frame!r} are {abs(late):.3f} s '
                f'{"older" if late > 0 else "newer"} than the image'
            )
        found = Mount(self._link_of.get(parent, self._base), *_arrays(pose), is_fixed)
        if is_fixed:
            self._fixed_mounts[frame] = found
        return found

    def _carrier(self, frame: str) -> tuple[str, bool]:
        """The first link above a frame ('': none), and whether nothing moves between the two."""
        is_fixed = True
        for _ in range(len(self._parents) + 1):
            if frame in self._link_of:
                return frame, is_fixed
            if frame not in self._parents:
                break
            frame, is_static = self._parents[frame]
            is_fixed = is_fixed and is_static
        return '', is_fixed and self._is_fixed_above(self._base_frame)

    def _is_fixed_above(self, frame: str) -> bool:
        for _ in range(len(self._parents) + 1):
            if frame not in self._parents:
                return True
            frame, is_static = self._parents[frame]
            if not is_static:
                return False
        return True


def _arrays(pose: Transform) -> tuple[Array, Array]:
    return Rotation.from_quat(pose.rotation).as_matrix(), np.array(pose.translation)


class SceneMounts:
    """Mounts of the cameras of the scene that a simulator runs."""

    def __init__(self, node: Node, topic: str, links: Collection[str]) -> None:
        self._subscription = FittingSubscription(node, SCENE_OF_CAMERAS.at(topic), depth=2)
        self._links, self._scene = links, RunningScene(number=0, name='')
        self._problem = f'no scene has come on {self._subscription.topic_name}'

    def poll(self) -> None:
        """Takes what has arrived."""
        for message, _ in self._subscription.take(10):
            try:
                self._scene, self._problem = RunningScene.read(message.data), ''
            except FrameRosError as error:
                self._problem = str(error)

    def mount(self, camera: str) -> Mount | str | None:
        """Returns how a camera is mounted, or why that is not known; None: the scene has none."""
        try:
            return self._problem or self._scene.mount(camera, self._links)
        except FrameRosError as error:
            return str(error)


class Extrinsics:
    """Of every camera: from the scene where it has the camera, else from the parameter where it
    names the camera, else from tf.
    """

    def __init__(
        self, given: Mapping[str, Mount], tf: TransformListener, scene: SceneMounts | None = None
    ) -> None:
        self._given, self._tf, self._scene = given, tf, scene

    def mount(self, camera: str, frame: str, stamp: int) -> Mount | str:
        """Returns how a camera with this optical frame is mounted at a stamp (ns), or why that is
        not known.
        """
        of_scene = None if self._scene is None else self._scene.mount(camera)
        if of_scene is not None:
            return of_scene
        if camera in self._given:
            return self._given[camera]
        found = self._tf.mount(frame, stamp)
        return f'no extrinsics: {found}' if isinstance(found, str) else found
