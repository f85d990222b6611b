# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A policy that is not simulated: it fails where two factors come together."""

from collections.abc import Sequence

from frame_ros.evaluation.scene_trials.result import TrialResult
from frame_ros.scenes.description.scene import Scene

OPERATORS = (
    *('target_position', 'light_intensity', 'camera_position', 'camera_orientation'),
    *('friction', 'mass', 'table_texture'),
)


def weaknesses(scene: Scene) -> dict[str, bool]:
    """Name of a weakness -> whether the scene has it. Each holds in about 4 % of all scenes."""
    values = scene.origin.values
    radius, azimuth = values['target_position'].values()
    return {
        'dark and moved': values['light_intensity']['factor'] < 0.12
        and values['camera_position']['x'] > 0.022,
        'slippery and heavy': values['friction']['target'] < 0.4 and values['mass']['target'] > 1.5,
        'far and aside': radius > 0.252 and azimuth < -0.6,
    }


def evaluate(scenes: Sequence[Scene]) -> list[TrialResult]:
    """One result of each scene. The motion is rougher, the heavier the target."""
    return [result(each) for each in scenes]


def result(scene: Scene, repeat: int = 0, **changed) -> TrialResult:
    """The result of a scene."""
    found = weaknesses(scene)
    is_done = not any(found.values())
    steps = {'grasp': not found['far and aside'], 'lift': is_done, 'success': is_done}
    fields = {
        'scene': scene.name,
        'policy': 'planted',
        'repeat': repeat,
        'steps': {'paper': steps, 'code': steps},
        'metrics': {'ps': scene.origin.values['mass']['target'], 'rf': float('nan')},
    }
    return TrialResult(**{**fields, **changed})
