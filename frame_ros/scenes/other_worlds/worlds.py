# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated worlds in which scenes can be tried, by their names."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import attrs

from frame_ros.core.errors import ValueRangeError
from frame_ros.scenes.description.scene import Scene
from frame_ros.scenes.other_worlds.environment import PACKAGE, ROBOT
from frame_ros.scenes.other_worlds.nominal import own_world
from frame_ros.scenes.other_worlds.world import LiftSimulation
from frame_ros.scenes.simulation.scene_robot import SceneRobot, scene_robot
from frame_ros.scenes.simulation.scene_simulation import SceneSimulation
from frame_ros.scenes.world_names import OURS, SO101_LIFT


@attrs.frozen
class SceneWorld:
    """A simulated world.

    Attributes:
        text: what it is.
        robot: name of a scene's robot -> the robot there, with its table.
        simulation: scene, robot, s of a timestep, whether it is drawn -> the scene in it.
    """

    text: str
    robot: Callable[[str], SceneRobot]
    simulation: Callable[[Scene, SceneRobot, float, bool], SceneSimulation]


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


def scene_world(name: str) -> SceneWorld:
    """Returns the world of that name.

    Raises:
        ValueRangeError: there is none.
    """
    if name not in WORLDS:
        raise ValueRangeError(f'the world is {name!r}; it must be one of {", ".join(WORLDS)}')
    return WORLDS[name]
