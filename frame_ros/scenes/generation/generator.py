# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Scenes drawn by operators, and what was rejected on the way."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from frame_ros.core.errors import ValueRangeError
from frame_ros.scenes.description.scene import Origin, Scene, with_values
from frame_ros.scenes.generation.constraints import DUPLICATES, Broken, check_scene
from frame_ros.scenes.generation.limits import SceneLimits
from frame_ros.scenes.generation.operators import (
    UNSEEN,
    Operator,
    chosen_operators,
    fixed_values,
)
from frame_ros.scenes.generation.setting import Setting, nominal_scene, setting
from frame_ros.scenes.simulation.scene_robot import SceneRobot, scene_robot

GENERATOR = 'frame_ros'
ALL_AGAIN = 20  # draws, after which not only the objects to blame are drawn again
_MOST_SEED = 2**31


@attrs.frozen
class Generated:
    """Scenes, and how they were found.

    Attributes:
        scenes: that keep all constraints.
        asked: number of scenes that were to be drawn.
        draws: number of scenes that were tried.
        rejected: constraint -> number of draws that broke it.
        left_out: number of the scene -> the last reason, where no draw was found in time.
    """

    scenes: tuple[Scene, ...]
    asked: int
    draws: int
    rejected: Mapping[str, int]
    left_out: Mapping[int, str]


def generate(
    task: str,
    robot: str | SceneRobot,
    count: int,
    seed: int = 0,
    operators: Sequence[str] = ('paper',),
    limits: SceneLimits | None = None,
    fixed: Mapping[str, Any] | None = None,
    start: Scene | None = None,
    meshes: str = '',
) -> Generated:
    """Draws scenes of a task for a robot. The same arguments give the same scenes to the bit, and
    scene number i is the same whatever the count is, unless it would be a duplicate.

    A draw that breaks a constraint is rejected, and the operators that may break it are drawn
    again; so what cannot break it, such as the number of confounders or the light, is as it was
    drawn first. After limits.attempts draws the number is left out; earlier if nothing that may
    vary is left to be drawn: all of it is fixed, or every choice was tried.

    Args:
        task: one of `TASKS`.
        robot: as `scene_robot` takes it.
        count: of scenes, 0 or more.
        seed: 0 or more.
        operators: names, or 'paper' or 'all'; what no operator changes is as in `start`.
        fixed: 'operator.dimension' -> its value in every scene, such as 'confounder_count.count'.
        start: of the task; that operators change; None: `nominal_scene`.
        meshes: folder of the objects that the operator unseen_objects takes, which is applied then;
            '': YCB's as simple shapes.

    Raises:
        RobotError: there is no such robot, or its profile does not say where it picks.
        ValueRangeError: a name, the count or the seed is wrong.
        FrameRosError: as of `setting`.
    """
    if count < 0 or seed < 0:
        raise ValueRangeError(
            f'{count} scenes of the seed {seed} are asked for; both must be 0 or more'
        )
    chosen = chosen_operators((*operators, UNSEEN) if meshes else operators)
    found_robot = robot if isinstance(robot, SceneRobot) else scene_robot(robot)
    place = setting(found_robot, task, limits, meshes)
    search = SceneDraws(place, chosen, fixed_values(fixed or {}, chosen, place), start)
    scenes, left_out = [], {}
    for index in range(count):
        found = search.find(seed, index)
        if isinstance(found, Scene):
            scenes.append(found)
        else:
            left_out[index] = found
    return Generated(tuple(scenes), count, search.draws, dict(search.rejected), left_out)


def scene_from(
    setting: Setting, values: Mapping[str, Mapping[str, Any]], scene: Scene | None = None
) -> Scene:
    """The scene that operators make of a nominal one, or of a given one, with these values.

    values: operator -> dimension -> value, as `Origin.values` has them.

    Raises:
        ValueRangeError: there is no operator of a name, a value is of a receptacle and the scene
            has none, or the scene has more confounders than there are values of.
    """
    found = nominal_scene(setting) if scene is None else scene
    for operator in chosen_operators(tuple(values)):
        found = operator.change(found, values[operator.name], setting)
    return found


class SceneDraws:
    """Finds one scene after the other that keeps all constraints, no two the same.

    Attributes:
        draws: number of scenes that were tried.
        rejected: constraint -> number of draws that broke it.
    """

    draws: int
    rejected: Counter[str]

    def __init__(
        self, setting: Setting, operators: Sequence[Operator], fixed: Mapping[str, Any],
        start: Scene | None = None,
    ) -> None:  # fmt: skip
        self._setting, self._operators, self._fixed = setting, operators, fixed
        self._known: set[str] = set()
        self._start = nominal_scene(setting) if start is None else start
        self._free = {
            each.name: [
                d for d in each.dimensions(setting) if d.name not in fixed.get(each.name, ())
            ]
            for each in operators
        }
        choices = [len(d.choices) for each in self._free.values() for d in each]
        # How many different draws there are, and those that gave or can give no more scenes.
        self._different = math.prod(choices) if all(choices) else math.inf
        self._spent: set[str] = set()
        self.draws, self.rejected = 0, Counter[str]()

    def find(
        self, seed: int, index: int, first: Mapping[str, Mapping[str, Any]] | None = None
    ) -> Scene | str:
        """Returns a scene, or the reason why the last draw was rejected.

        Args:
            seed, index: of the draws.
            first: operator -> dimension -> value to try first; of them is drawn again what breaks a
                constraint. None: they are drawn.
        """
        rng = np.random.default_rng((seed, index))
        policy_seed = int(rng.integers(_MOST_SEED))
        draws = {each.name: self._draw(each, rng) for each in self._operators}
        if first is not None:
            draws = {name: dict(first[name]) for name in draws}
        problem = ''
        for attempt in range(self._setting.limits.attempts):
            self.draws += 1
            scene = scene_from(self._setting, draws, self._start)
            broken = self._check(scene)
            if self._different < math.inf:
                self._spent.add(repr(draws))
            if broken is None:
                return self._finished(scene, policy_seed, Origin(
                    generator=GENERATOR, seed=seed, index=index, values=draws))  # fmt: skip
            problem = broken.problem
            self.rejected[broken.constraint] += 1
            if len(self._spent) >= self._different:
                break  # every other draw was tried
            if not self._draw_again(rng, draws, broken, attempt):
                break  # every further draw would be the same
        return problem

    def _draw_again(
        self, rng: np.random.Generator, draws: dict[str, Any], broken: Broken, attempt: int
    ) -> bool:
        """Draws what may have broken a constraint: of the objects to blame only, and once in a
        while of all, for where these leave no place. Returns whether there is anything to draw.
        """
        again = [
            each
            for each in self._operators
            if self._free[each.name]
            and (broken.constraint == DUPLICATES or broken.constraint in each.may_break)
        ]
        objects = broken.objects if (attempt + 1) % ALL_AGAIN else ()
        if not any(d.is_of(objects) for each in again for d in self._free[each.name]):
            objects = ()
        for each in again:
            name = each.name
            if objects:
                values = each.draw_again(rng, self._setting, draws[name], objects)
                draws[name] = values | self._fixed.get(name, {})
            else:
                draws[name] = self._draw(each, rng)
        return bool(again)

    def _draw(self, operator: Operator, rng: np.random.Generator) -> dict[str, Any]:
        return operator.draw(rng, self._setting) | self._fixed.get(operator.name, {})

    def _check(self, scene: Scene) -> Broken | None:
        if _content(scene) in self._known:  # first, as it takes far less time
            return Broken(DUPLICATES, 'there is such a scene already')
        return check_scene(scene, self._setting)

    def _finished(self, scene: Scene, policy_seed: int, origin: Origin) -> Scene:
        self._known.add(_content(scene))
        name = f'{scene.task.kind}_{origin.index}'
        return with_values(scene, name=name, policy_seed=policy_seed, origin=origin)


def _content(scene: Scene) -> str:
    """Everything that makes two scenes the same, whatever drew them."""
    return repr(with_values(scene, name='any', policy_seed=0, origin=None))
