# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""States of a simulated episode, frame by frame, as the rules of tasks judge them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError
from frame_ros.scenes.description.scene import Scene
from frame_ros.scenes.simulation.contacts import Touching
from frame_ros.scenes.simulation.contacts import pressing as pressing_bodies
from frame_ros.scenes.simulation.scene_robot import SceneRobot
from frame_ros.scenes.tasks.states import EpisodeStates, ObjectTrack

if TYPE_CHECKING:
    import mujoco

Array = NDArray[np.float64]
TABLE = 'table'


class StateRecorder:
    """Records the objects of a scene in the model that `build_scene_model` made of it.

    The target counts as grasped while two finger links press on it from sides that face each other.
    """

    def __init__(self, model: mujoco.MjModel, scene: Scene, robot: SceneRobot) -> None:
        self._model, self._names = model, [each.name for each in scene.objects]
        self._bodies = np.array([model.body(name).id for name in self._names])
        self._target = int(model.body(scene.task.target).id)
        self._place = self._names.index(scene.task.target)
        others = [name for name in (*self._names, TABLE) if name != scene.task.target]
        self._others = {int(model.body(name).id): name for name in others}
        self._fingers = {int(model.body(name).id) for name in robot.finger_links}
        self._robot = _links(model, int(model.body(robot.base_link).id))
        self._frames: list[tuple[float, Array, bool, bool, set[str]]] = []

    def record(self, data: mujoco.MjData, touching: Touching | None = None) -> None:
        """Adds the present state as a frame; once per control step.

        Args:
            touching: what `pressing` has of this state, if it is known.
        """
        poses, quaternions = np.empty((len(self._bodies), 7)), data.xquat[self._bodies]
        poses[:, :3], poses[:, 3:6] = data.xpos[self._bodies], quaternions[:, 1:]
        poses[:, 6] = quaternions[:, 0]
        touching = pressing_bodies(self._model, data) if touching is None else touching
        pressing: set[int] = set()  # bodies
        pushes: dict[int, list[float]] = {}  # finger -> N, along the normals, on the target
        for index, ((first, second), force) in enumerate(touching):
            if not force or self._target not in (first, second):
                continue
            other = second if first == self._target else first
            pressing.add(other)
            if other in self._fingers:  # the normal points from the first geom to the second
                size = force if other == first else -force
                push = (size * data.contact.frame[index, :3]).tolist()
                before = pushes.get(other, (0.0, 0.0, 0.0))
                pushes[other] = [x + y for x, y in zip(before, push, strict=True)]
        fingers = list(pushes.values())
        is_grasped = any(
            sum(x * y for x, y in zip(a, b, strict=True)) < 0
            for i, a in enumerate(fingers)
            for b in fingers[:i]
        )
        touches_robot = not pressing.isdisjoint(self._robot)
        touched = {self._others[body] for body in pressing if body in self._others}
        self._frames.append((float(data.time), poses, is_grasped, touches_robot, touched))

    @property
    def count(self) -> int:
        """Number of frames so far."""
        return len(self._frames)

    @property
    def touches_robot(self) -> bool:
        """True if the robot touches the target in the last frame."""
        return self._frames[-1][3]

    def has_moved(self, way: float) -> bool:
        """Returns whether the target is further than a way, m, from where it was first."""
        index = self._place
        offset = self._frames[-1][1][index, :3] - self._frames[0][1][index, :3]
        return bool(offset @ offset > way * way)

    def was_still(self, last: int, speed: float) -> bool:
        """Returns whether the target was no faster than a speed, m/s, in one of the last frames."""
        index = self._place
        frames = self._frames[-last - 1 :]
        return any(
            float(np.linalg.norm(now[1][index, :3] - before[1][index, :3]))
            <= speed * (now[0] - before[0])
            for before, now in zip(frames, frames[1:], strict=False)
        )

    def states(self, last: int | None = None) -> EpisodeStates:
        """Returns the frames so far.

        Args:
            last: only the first frame and so many of the last; None: all.

        Raises:
            ShapeError: there are none.
        """
        if not self._frames:
            raise ShapeError('no frame was recorded; at least one is needed')
        frames = self._frames
        if last is not None and len(frames) > last + 1:
            frames = [frames[0], *frames[-last:]]
        times, poses, grasped, robot, touched = zip(*frames, strict=True)
        found = np.array(poses)
        return EpisodeStates(
            times=np.array(times),
            tracks={
                name: ObjectTrack(positions=found[:, i, :3], orientations=found[:, i, 3:])
                for i, name in enumerate(self._names)
            },
            is_grasped=np.array(grasped),
            touches_robot=np.array(robot),
            touched={
                name: np.array([name in each for each in touched]) for name in self._others.values()
            },
        )


def _links(model: mujoco.MjModel, base: int) -> set[int]:
    """Bodies that descend from a body, itself included."""
    found = {base}
    for body in range(model.nbody):  # parents come first
        if int(model.body_parentid[body]) in found:
            found.add(body)
    return found
