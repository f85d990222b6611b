# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The smallest perturbation of a passed scene with which a policy fails, for each operator."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from typing import Any, TypeVar

import attrs

from frame_ros.core.errors import ValueRangeError
from frame_ros.evaluation.scene_trials.result import TrialResult
from frame_ros.evaluation.scene_trials.search.objective import TriedScene
from frame_ros.evaluation.scene_trials.search.unfinished import Evaluate
from frame_ros.scenes.description.scene import Scene
from frame_ros.scenes.generation.constraints import check_scene
from frame_ros.scenes.generation.setting import Setting
from frame_ros.scenes.search.perturbations import Perturbation, perturbed, to_ends, to_scene

T = TypeVar('T')
STEPS = 6  # halvings: the scale is known to 1/64


@attrs.frozen
class Breaking:
    """The end of one perturbation.

    Attributes:
        change: the whole perturbation.
        scale: the smallest at which the policy fails, 0 to 1; NaN: it does not fail at 1.
        passed: the largest below it at which it passes.
        scene: at that scale; None: it does not fail.
        problem: why it is not known: a scene breaks a constraint, or no trial counts; '': known.
        trials: scenes that were run.
    """

    change: Perturbation
    scale: float
    passed: float
    scene: Scene | None
    problem: str
    trials: int

    @property
    def has_failed(self) -> bool:
        """True if a perturbation that breaks the policy was found."""
        return math.isfinite(self.scale)


def smallest_breaking(
    scene: Scene,
    operators: Sequence[str],
    setting: Setting,
    evaluate: Evaluate,
    failed: Scene | None = None,
    steps: int = STEPS,
    rule: str = 'paper',
    start: Scene | None = None,
) -> list[Breaking]:
    """Looks for the smallest perturbation of each operator that breaks a policy, by bisection.

    As if the policy failed at all scales above: where it fails, passes and fails again, the scale
    is one of those at which it begins to fail.

    Args:
        scene: that passed, drawn by operators.
        operators: names; each is perturbed alone, all else stays.
        evaluate: runs scenes, one for each perturbation that is not done, at a time; with several
            results of a scene their majority counts.
        failed: a scene that failed, to whose values the way goes; None: to both ends of each
            dimension's range, and each other choice.
        steps: halvings.
        rule: of success.
        start: the scene that operators change; None: the nominal one.

    Returns:
        Those that break the policy first, the smallest scale before others.

    Raises:
        ValueRangeError: steps is below 0, or a scene says no values of an operator.
    """
    if steps < 0:
        raise ValueRangeError(f'steps is {steps}; it must be 0 or more')
    changes: list[Perturbation] = []
    for name in operators:
        if failed is None:
            changes += to_ends(scene, name, setting)
        else:
            changes.append(to_scene(scene, failed, name, setting))
    ways = [
        _Way(scene, each, number, setting, rule, start)
        for number, each in enumerate(changes)
        if not each.is_none
    ]
    found = _side_by_side([_bisect(way, steps) for way in ways if way.has_effect], evaluate)
    return sorted(
        found, key=lambda each: (not each.has_failed, each.scale if each.has_failed else 0)
    )


# Gives scenes to run, takes the results of each, and returns the end.
_Bisection = Generator[Scene, Sequence[TrialResult], T]


def _side_by_side(waiting: Sequence[_Bisection[Breaking]], evaluate: Evaluate) -> list[Breaking]:
    """Returns the ends of bisections, of which each runs one scene at a time."""
    ends: dict[int, Breaking] = {}
    results: dict[int, Sequence[TrialResult] | None] = dict.fromkeys(range(len(waiting)))
    while results:
        asked: dict[int, Scene] = {}
        for number, own in results.items():
            try:
                asked[number] = next(waiting[number]) if own is None else waiting[number].send(own)
            except StopIteration as stop:
                ends[number] = stop.value
        of_scene: dict[str, list[TrialResult]] = {}
        for each in evaluate(list(asked.values())) if asked else ():
            of_scene.setdefault(each.scene, []).append(each)
        results = {number: of_scene.get(scene.name, ()) for number, scene in asked.items()}
    return [ends[number] for number in range(len(waiting))]


class _Way:
    """Scenes along a perturbation."""

    def __init__(
        self, scene: Scene, change: Perturbation, number: int, setting: Setting, rule: str,
        start: Scene | None,
    ) -> None:  # fmt: skip
        self.change, self._number = change, number
        self._scene, self._setting, self._rule, self._start = scene, setting, rule, start
        self.trials, self.problem = 0, ''

    @property
    def has_effect(self) -> bool:
        """False if the end is the same scene, as of a confounder that is not there."""
        same: Any = {'name': 'same', 'origin': None}
        return attrs.evolve(self.at(1.0), **same) != attrs.evolve(self.at(0.0), **same)

    def at(self, scale: float) -> Scene:
        """The scene at a scale, with a name of its own."""
        made = perturbed(self._scene, self.change, scale, self._setting, self._start)
        return attrs.evolve(made, name=f'{self._scene.name}.change_{self._number}_{scale:.6f}')

    def fails(self, scale: float) -> _Bisection[bool | None]:
        """Returns whether the policy fails at a scale; None: not known, and `problem` says why."""
        scene = self.at(scale)
        if broken := check_scene(scene, self._setting):
            self.problem = f'breaks {broken.constraint}: {broken.problem}'
            return None
        self.trials += 1
        tried = TriedScene(scene, (), tuple((yield scene)))
        if not tried.valid:
            self.problem = tried.results[0].problem if tried.results else 'it has no result'
            return None
        return tried.is_failure(self._rule)


def _bisect(way: _Way, steps: int) -> _Bisection[Breaking]:
    """Halves the way; the part beyond a scene that cannot be tried is not looked at."""
    passed, high, failed = 0.0, 1.0, math.nan
    verdict = yield from way.fails(high)
    if verdict is False:
        return Breaking(way.change, math.nan, 1.0, None, '', way.trials)
    if verdict:
        failed = high
    for _ in range(0 if way.change.is_of_choices else steps):
        middle = (passed + high) / 2
        verdict = yield from way.fails(middle)
        if verdict is False:
            passed = middle
        else:
            high = middle
            failed = middle if verdict else failed
            if verdict is None:
                failed = math.nan  # a failure beyond what cannot be tried is not the smallest
    scene = way.at(failed) if math.isfinite(failed) else None
    problem = '' if scene is not None else way.problem
    return Breaking(way.change, failed, passed, scene, problem, way.trials)
