# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The operators that apply to the other world, found by trying them on its own scene."""

from __future__ import annotations

import attrs

from frame_ros.scenes.description.scene import Scene
from frame_ros.scenes.generation.generator import scene_from
from frame_ros.scenes.generation.operators import REGISTRY, Operator
from frame_ros.scenes.generation.setting import MOST_CONFOUNDERS, Setting
from frame_ros.scenes.other_worlds.nominal import own_world, world_setting
from frame_ros.scenes.other_worlds.writing import problems_of

SHARES = (0.0, 0.5, 1.0)  # of every dimension's range
NOT_DRAWN = {'camera_intrinsics': 'a centre that is off is not drawn, as in our own simulator'}


@attrs.frozen
class Applicability:
    """An operator in the world.

    Attributes:
        operator: its name.
        problem: why it does not apply; '': it does.
        note: what of it is not to be seen.
    """

    operator: str
    problem: str
    note: str = ''


def applicable_operators() -> tuple[Applicability, ...]:
    """Returns every operator, tried at both ends and the middle of its dimensions.

    Raises:
        MissingExtraError: the package is not installed.
    """
    place, own = world_setting(), own_world().scene
    crowded = scene_from(place, {'confounder_count': {'count': MOST_CONFOUNDERS}}, own)
    return tuple(
        Applicability(each.name, _problem(each, place, crowded), NOT_DRAWN.get(each.name, ''))
        for each in REGISTRY
    )


def _problem(operator: Operator, place: Setting, scene: Scene) -> str:
    is_changed = False
    for share in SHARES:
        values = {d.name: d.at(share) for d in operator.dimensions(place)}
        changed = scene_from(place, {operator.name: values}, scene)
        is_changed |= changed != scene
        if problems := list(problems_of(changed)):
            return '; '.join(problems)
    return '' if is_changed else 'it changes nothing there'
