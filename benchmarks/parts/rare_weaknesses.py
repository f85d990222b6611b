# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A scripted policy that fails where two factors come together, as learned ones do."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from frame_ros.evaluation.scene_trials.result import TrialResult
from frame_ros.evaluation.scene_trials.trial import trial
from frame_ros.policies.known_scene import KnownObject, KnownScene
from frame_ros.policies.scripted.tasks import ScriptedTasks
from frame_ros.scenes.description.scene import Scene
from frame_ros.scenes.generation.setting import setting
from frame_ros.scenes.scene_rollout import SceneRunOptions
from frame_ros.scenes.simulation.scene_robot import scene_robot

# Target and confounders vary, and so do light, cameras and table, which this policy does not mind.
OPERATORS = (
    *('target_type', 'confounder_count', 'target_position', 'confounder_position'),
    *('light_intensity', 'camera_position', 'mass', 'table_texture'),
)
NAMES = ('heavy and aside', 'light and far', 'a heavy can among four')
MISS = 0.04  # m
RUN = SceneRunOptions(timeout=8.0, is_checked=False)  # the search has checked


class RareWeaknesses(ScriptedTasks):
    """As `ScriptedTasks`, but misses heavy targets on one side and light ones far away, and takes
    another thing than a heavy can among four confounders.
    """

    name = 'rare_weaknesses'

    def know(self, scene: KnownScene) -> None:
        """Takes the objects of the next episode."""
        super().know(scene)
        factor = scene.target.mass / MASSES[scene.target.type]
        self._is_confused = is_can_among_four(scene.target.type, len(scene.objects) - 1, factor)

    def _taken(self) -> KnownObject:
        scene = self._known()
        if self._is_confused:
            return next(each for each in scene.objects if each.role == 'confounder')
        return scene.target

    def _sector_miss(self, target: np.ndarray) -> np.ndarray:
        radius = math.hypot(*(target[:2] - np.array(TABLE.axis)))
        azimuth = math.atan2(target[1] - TABLE.axis[1], target[0] - TABLE.axis[0])
        factor = self._known().target.mass / MASSES[self._known().target.type]
        if is_heavy_and_aside(factor, azimuth) or is_light_and_far(factor, radius):
            return np.array((MISS, MISS, 0.0))
        return np.zeros(3)


_PLACE = setting(scene_robot('so101'), 'pick_up')
TABLE = _PLACE.robot.table
MASSES: Mapping[str, float] = {name: kind.mass for name, kind in _PLACE.types.items()}


def is_can_among_four(kind: str, confounders: int, factor: float) -> bool:
    """Returns whether another thing is taken. Of types and numbers alone it would be too common."""
    return kind == 'can' and confounders == 4 and factor > 1.0


def is_heavy_and_aside(factor: float, azimuth: float) -> bool:
    """Of a factor on the mass, and rad."""
    low, high = TABLE.object_azimuths
    return factor > 1.6 and azimuth < low + 0.2 * (high - low)


def is_light_and_far(factor: float, radius: float) -> bool:
    """Of a factor on the mass, and m."""
    low, high = TABLE.object_radii
    return factor < 0.625 and radius > high - 0.2 * (high - low)


def planted(scene: Scene) -> dict[str, bool]:
    """Name of a weakness -> whether the scene has it."""
    assert scene.origin is not None
    values = scene.origin.values
    radius, azimuth = values['target_position'].values()
    factor = values['mass']['target']
    found = (
        is_heavy_and_aside(factor, azimuth),
        is_light_and_far(factor, radius),
        is_can_among_four(scene.target.type, len(scene.confounders), factor),
    )
    return dict(zip(NAMES, found, strict=True))


_policy: list[RareWeaknesses] = []


def run(scene: Scene) -> TrialResult:
    """The trial of the policy in a scene; the policy of a process is made once."""
    if not _policy:
        _policy.append(RareWeaknesses())
    return trial(scene, _policy[0], RUN)
