# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros scenes --world`: operators and scenes of a simulated world that others made."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from frame_ros.core.errors import ValueRangeError
from frame_ros.scenes.world_names import OURS, WORLD_NAMES

if TYPE_CHECKING:
    from frame_ros.scenes.description.scene import Scene
    from frame_ros.scenes.simulation.scene_robot import SceneRobot


def rows(world: str) -> list[tuple[str, ...]]:
    """Returns the operators and whether they apply in a world, as rows of texts, heading first.

    Raises:
        MissingExtraError: the world is not installed.
    """
    from frame_ros.scenes.other_worlds.operators import applicable_operators

    found: list[tuple[str, ...]] = [('operator', f'in {world}', 'why not, or what is not seen')]
    for each in applicable_operators():
        found.append((each.operator, 'no' if each.problem else 'yes', each.problem or each.note))
    return found


def robot_of(world: str, source: str) -> SceneRobot:
    """Returns the robot of a scene, with the table of its world.

    Raises:
        FrameRosError: there is none, or the world is not installed.
    """
    if world == OURS:
        from frame_ros.scenes.simulation.scene_robot import scene_robot

        return scene_robot(source)
    from frame_ros.scenes.other_worlds.worlds import scene_world

    return scene_world(world).robot(source)


def unknown_world(scene: Scene) -> str:
    """Returns that the world of a scene is none that there is; '': it is one."""
    if scene.world in WORLD_NAMES:
        return ''
    return f'world is {scene.world!r}; it must be one of {", ".join(WORLD_NAMES)}'


def of_another(scene: Scene, world: str) -> str:
    """Returns of which world a scene is, and what to do, where that is neither ours nor the one in
    which it is to run; '': it is.
    """
    if scene.world in (OURS, world):
        return ''
    return f'of the world {scene.world}, give --world {scene.world}'


def problem_in(world: str, scene: Scene) -> str:
    """Returns why a world cannot hold a scene; '': it can, as far as that is known before it runs.

    Raises:
        MissingExtraError: the world is not installed.
    """
    if world == OURS:
        return ''
    from frame_ros.scenes.other_worlds.writing import problems_of

    problems = '; '.join(problems_of(scene))
    return f'{world} cannot hold it: {problems}' if problems else ''


def own_scene(world: str) -> Scene | None:
    """Returns the scene from which operators start in a world; None: that of the setting.

    Raises:
        MissingExtraError: the world is not installed.
    """
    if world == OURS:
        return None
    from frame_ros.scenes.other_worlds.nominal import own_world

    return own_world().scene


def start_of(
    world: str, task: str, operators: Sequence[str]
) -> tuple[Scene, SceneRobot, tuple[str, ...]]:
    """Returns the world's own scene, its robot, and those of the operators that apply; of others
    it says so on the standard error.

    Raises:
        MissingExtraError: the world is not installed.
        ValueRangeError: the world has another task, or none of the operators applies.
    """
    from frame_ros.scenes.generation.operators import chosen_operators
    from frame_ros.scenes.other_worlds.nominal import own_world
    from frame_ros.scenes.other_worlds.operators import applicable_operators

    own = own_world()
    if task != own.scene.task.kind:
        raise ValueRangeError(f'the task is {task}; that of {world} is {own.scene.task.kind}')
    problems = {each.operator: each.problem for each in applicable_operators()}
    chosen = [each.name for each in chosen_operators(operators)]
    for name in chosen:
        if problems[name]:
            print(f'{name} does not apply in {world}: {problems[name]}', file=sys.stderr)
    kept = tuple(name for name in chosen if not problems[name])
    if not kept:
        raise ValueRangeError(f'none of the operators {", ".join(chosen)} applies in {world}')
    return own.scene, own.robot, kept
