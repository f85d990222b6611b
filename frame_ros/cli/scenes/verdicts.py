# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Verdicts on scenes of files: good, wrong or not checked, and the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frame_ros.cli.scenes import worlds
from frame_ros.core.errors import FrameRosError
from frame_ros.scenes.world_names import OURS

if TYPE_CHECKING:
    from frame_ros.scenes.description.scene import Scene
    from frame_ros.scenes.generation.limits import SceneLimits
    from frame_ros.scenes.generation.setting import Setting

GOOD, WRONG, NOT_CHECKED = 'good', 'wrong', 'not checked'


class SceneChecks:
    """Checks of scenes by the constraints, each robot and task with one setting."""

    def __init__(self, limits: SceneLimits, world: str = OURS) -> None:
        self.limits = limits
        self.world = world
        self._settings: dict[tuple[str, str], Setting | str] = {}

    def verdict(self, scene: Scene) -> tuple[str, str]:
        """Returns GOOD, WRONG or NOT_CHECKED, and the reason in words; '' of a good scene."""
        from frame_ros.scenes.generation.constraints import check_scene

        if problem := worlds.unknown_world(scene):
            return WRONG, problem
        place = self._place(scene)
        if problem := worlds.of_another(scene, self.world):
            return NOT_CHECKED, f'not checked: {problem}'
        if isinstance(place, str):
            return NOT_CHECKED, place
        broken = check_scene(scene, place)
        if broken is not None and broken.constraint == 'known':
            return NOT_CHECKED, f'not checked: {broken.problem}'
        if broken is not None:
            return WRONG, f'breaks {broken.constraint}: {broken.problem}'
        problem = worlds.problem_in(self.world, scene)
        return (WRONG, problem) if problem else (GOOD, '')

    def _place(self, scene: Scene) -> Setting | str:
        """The setting of a scene, or the reason for which it has none."""
        from frame_ros.scenes.generation.setting import setting

        key = scene.robot, scene.task.kind
        if key not in self._settings:
            try:
                robot = worlds.robot_of(self.world, scene.robot)
                self._settings[key] = setting(robot, scene.task.kind, self.limits)
            except FrameRosError as error:
                self._settings[key] = f'not checked: {error}'
        return self._settings[key]
