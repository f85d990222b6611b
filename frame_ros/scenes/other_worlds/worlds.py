# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated worlds in which scenes can be tried, by their names."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import attrs

from frame_ros.core.errors import ValueRangeError
from frame_ros.scenes.description.scene import Scene
from frame_ros.scenes.other_worlds.environment import CAMERA, PACKAGE, ROBOT, TARGET
from frame_ros.scenes.other_worlds.names import OURS, SO101_LIFT
from frame_ros.scenes.other_worlds.nominal import TASK, light_name, own_world
from frame_ros.scenes.other_worlds.world import LiftSimulation
from frame_ros.scenes.simulation.scene_robot import SceneRobot, scene_robot
from frame_ros.scenes.simulation.scene_simulation import SceneSimulation


@attrs.frozen
class SceneWorld:
    """A simulated world.

    Attributes:
        text: what it is.
        robot: name of a scene's robot -> the robot there, with its table.
        simulation: scene, robot, s of a timestep -> the scene in it.
    """

    text: str
    robot: Callable[[str], SceneRobot]
    simulation: Callable[[Scene, SceneRobot, float], SceneSimulation]


def _lift_robot(source: str) -> SceneRobot:
    if source != ROBOT:
        raise ValueRangeError(f'the robot of the scene is {source}; in {SO101_LIFT} it is {ROBOT}')
    return own_world().robot


@lru_cache(maxsize=8)
def _our_robot(source: str) -> SceneRobot:
    return scene_robot(source)


WORLDS = {
    OURS: SceneWorld("this package's own", _our_robot, SceneSimulation),
    SO101_LIFT: SceneWorld(f'SO101PickCube-v0 of {PACKAGE}', _lift_robot, LiftSimulation),
}


def world_of(scene: Scene) -> str:
    """Returns the world that a scene is of, by its task and the names in it. No world need be
    installed.
    """
    names = [each.name for part in (scene.lights, scene.cameras) for each in part or ()]
    lights, cameras = names[: len(scene.lights or ())], names[len(scene.lights or ()) :]
    is_lift = (
        (scene.robot, scene.task.kind, scene.task.target) == (ROBOT, TASK, TARGET)
        and bool(lights)
        and lights == [light_name(index) for index in range(len(lights))]
        and cameras == [CAMERA]
    )
    return SO101_LIFT if is_lift else OURS


def scene_world(name: str) -> SceneWorld:
    """Returns the world of that name.

    Raises:
        ValueRangeError: there is none.
    """
    if name not in WORLDS:
        raise ValueRangeError(f'the world is {name!r}; it must be one of {", ".join(WORLDS)}')
    return WORLDS[name]
