# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A search for scenes that break a policy, at random, over the coverage grid, or guided."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import attrs

from frame_ros.core.errors import SetupError, ValueRangeError
from frame_ros.core.options import flatten
from frame_ros.core.plain_text import counted
from frame_ros.evaluation.scene_trials.result import TrialResult
from frame_ros.evaluation.scene_trials.search.objective import TriedScene
from frame_ros.evaluation.scene_trials.search.proposers import (
    CoverageProposer,
    GuidedProposer,
    Proposer,
    propose_random,
)
from frame_ros.evaluation.scene_trials.search.search_folder import SearchFolder
from frame_ros.evaluation.scene_trials.search.search_options import SearchOptions
from frame_ros.evaluation.scene_trials.search.unfinished import Evaluate, once_more
from frame_ros.evaluation.trials.campaign import json_values
from frame_ros.metrics import wilson_interval
from frame_ros.scenes.description.scene import Scene
from frame_ros.scenes.generation.generator import SceneDraws
from frame_ros.scenes.generation.limits import SceneLimits
from frame_ros.scenes.generation.operators import UNSEEN, chosen_operators, fixed_values
from frame_ros.scenes.generation.setting import setting
from frame_ros.scenes.search.coverage import OperatorCoverage, operator_coverage
from frame_ros.scenes.search.space import Cell, SceneSpace, Values
from frame_ros.scenes.simulation.scene_robot import SceneRobot, scene_robot

NO_RATE = (
    'no failure rate of the policy: these scenes were chosen; random ones (mode random) give one'
)


@attrs.frozen
class SearchFound:
    """Scenes tried by a search.

    Attributes:
        tried: scenes with their results, in order.
        draws: number of scenes that were looked at.
        rejected: constraint -> number of draws that broke it, which cost no trial.
        left_out: number of scenes for which no draw kept all constraints.
        coverage: of the scenes tried.
        rule: of success.
        is_random: whether the scenes are random ones, of which the share of failures is a rate.
    """

    tried: tuple[TriedScene, ...]
    draws: int
    rejected: Mapping[str, int]
    left_out: int
    coverage: OperatorCoverage
    rule: str = 'paper'
    is_random: bool = False

    @property
    def failures(self) -> tuple[TriedScene, ...]:
        """The scenes in which the policy failed, in more than half of the runs that count."""
        return tuple(each for each in self.tried if each.is_failure(self.rule))

    @property
    def failed_cells(self) -> frozenset[Cell]:
        """The different cells of the operators' coverage grid in which a failure lies."""
        return frozenset(each.cell for each in self.failures)

    @property
    def invalid(self) -> int:
        """Number of scenes of which no trial counts."""
        return sum(not each.valid for each in self.tried)

    @property
    def _rate_text(self) -> str:
        count = len(self.tried) - self.invalid
        if not self.is_random or not count:
            return NO_RATE
        lower, upper = wilson_interval(len(self.failures), count)
        return (
            f'failed of random scenes: {len(self.failures) / count:.0%} '
            f'(95 % interval: {lower:.0%} to {upper:.0%})'
        )

    @property
    def text(self) -> str:
        """A report of some lines."""
        pairs = self.coverage.pairs[1]
        lines = [
            f'{counted(len(self.tried), "scene")} tried: '
            f'{counted(len(self.failures), "failure")} in '
            f'{counted(len(self.failed_cells), "cell")}, {self.invalid} '
            f'{"does" if self.invalid == 1 else "do"} not count',
            self._rate_text,
            f'coverage: {self.coverage.single_share:.0%} of the cells of each dimension'
            + (f', {self.coverage.pair_share:.0%} of the pairs of cells' if pairs else ''),
            counted(self.draws, 'draw'),
        ]
        ordered = sorted(self.rejected.items(), key=lambda item: -item[1])
        lines += [f'rejected by {name}: {count}' for name, count in ordered]
        if self.left_out:
            lines.append(f'left out, as no draw kept all constraints: {self.left_out}')
        return '\n'.join(lines)


def search(
    chosen: SearchOptions,
    evaluate: Evaluate,
    folder: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    limits: SceneLimits | None = None,
    robot: SceneRobot | None = None,
    start: Scene | None = None,
    on_batch: Callable[[Sequence[TriedScene]], None] = lambda tried: None,
) -> SearchFound:
    """Tries scenes of a budget, chosen by the results of those before.

    The same options and results give the same scenes. Scenes that break a constraint are drawn
    again where they break it; they are counted, and cost no trial. With a folder the search goes on
    where one with the same options stopped, or had a smaller budget: it chooses the same scenes
    once more, and those with results there are not run. Trials whose process died run once more
    before the next scenes are chosen, and when the search goes on if they are of the last batch.

    Args:
        chosen: how to search for what.
        evaluate: runs scenes, each `chosen.repeats` times.
        folder: of a campaign; None: nothing is written.
        settings: of the policy and its runs, for the folder, as `settings_of` gives them.
        limits: of scenes.
        robot: instead of `chosen.robot`, already loaded.
        start: the scene that operators change; None: the nominal one.
        on_batch: gets all scenes tried so far, after each batch.

    Raises:
        RobotError: there is no such robot, or its profile does not say where it picks.
        SetupError: the folder cannot be used, is of another search, or one writes to it now.
        MissingExtraError: the guided mode needs optuna.
        ValueRangeError: an operator or a fixed value is wrong, or no scene keeps all constraints.
    """
    space = _space(chosen, robot or scene_robot(chosen.robot), limits)
    propose, draws = _proposer(chosen, space), _Draws(space, chosen.seed, start)
    kept = {name: value for name, value in flatten(chosen).items() if name != 'budget'}
    place_of = None if folder is None else SearchFolder(
        folder, {**(settings or {}), 'search': json_values(kept)})  # fmt: skip
    tried: list[TriedScene] = []
    with place_of or nullcontext():
        store = _Store(once_more(evaluate), chosen.repeats, place_of)
        for number in itertools.count():
            count = min(chosen.batch, chosen.budget - len(tried))
            scenes = draws.scenes(propose(tried, count, (chosen.seed, number))) if count else []
            if not scenes:
                break  # all of the budget is spent, or nothing new is left to try
            for scene, results in zip(scenes, store.run(scenes), strict=True):
                assert scene.origin is not None
                tried.append(TriedScene(scene, space.cell_of(scene.origin.values), tuple(results)))
            on_batch(tried)
    if not tried:
        raise ValueRangeError(f'no scene keeps all constraints: {draws.problem}')
    coverage = operator_coverage([each.scene for each in tried], space)
    return SearchFound(
        tuple(tried), draws.found.draws, dict(draws.found.rejected), draws.left_out, coverage,
        chosen.success_rule, chosen.mode == 'random',
    )  # fmt: skip


def _space(chosen: SearchOptions, robot: SceneRobot, limits: SceneLimits | None) -> SceneSpace:
    meshes = chosen.meshes
    operators = chosen_operators((*chosen.operators, UNSEEN) if meshes else chosen.operators)
    place = setting(robot, chosen.task, limits, meshes)
    return SceneSpace(place, operators, fixed_values(chosen.fixed, operators, place))


class _Draws:
    """Makes scenes of values, each with a number of its own."""

    def __init__(self, space: SceneSpace, seed: int, start: Scene | None) -> None:
        self.found = SceneDraws(space.setting, space.operators, space.fixed, start)
        self._seed, self._index = seed, 0
        self.left_out, self.problem = 0, ''

    def scenes(self, proposed: Sequence[Values | None]) -> list[Scene]:
        """The scenes that could be made."""
        scenes = []
        for values in proposed:
            found = self.found.find(self._seed, self._index, values)
            self._index += 1
            if isinstance(found, Scene):
                scenes.append(found)
            else:
                self.left_out, self.problem = self.left_out + 1, found
        return scenes


def _proposer(chosen: SearchOptions, space: SceneSpace) -> Proposer:
    if chosen.mode == 'random':
        return propose_random
    if chosen.mode == 'coverage':
        return CoverageProposer(space)
    return GuidedProposer(space, chosen.metrics, chosen.success_rule)


class _Store:
    """Runs scenes, or takes their results from a folder."""

    def __init__(self, evaluate: Evaluate, repeats: int, folder: SearchFolder | None) -> None:
        self._evaluate, self._repeats, self._folder = evaluate, repeats, folder
        self._taken = 0

    def run(self, scenes: Sequence[Scene]) -> list[list[TrialResult]]:
        """Returns the results of each scene.

        Raises:
            SetupError: the folder has another scene of that number, or a result is missing.
        """
        found: dict[str, list[TrialResult]] = {}
        if self._folder is not None:
            self._take(scenes, self._folder)
            # Of the last batch nothing was chosen yet: what has not ended runs again.
            is_last = self._taken >= len(self._folder.scenes)
            found = {
                each.name: [
                    result
                    for result in self._folder.of_scene.get(each.name, ())
                    if result.is_final or not is_last
                ]
                for each in scenes
            }
        lacking = [s for s in scenes if len(found.get(s.name, ())) < self._repeats]
        if lacking:
            known = {each.key for results in found.values() for each in results}
            for each in self._evaluate(lacking):
                if each.key in known:
                    continue
                if self._folder is not None:
                    self._folder.add_result(each)
                found.setdefault(each.scene, []).append(each)
        if missing := [each.name for each in scenes if not found.get(each.name)]:
            raise SetupError(f'no result came of the scenes {", ".join(missing)}')
        return [found[each.name] for each in scenes]

    def _take(self, scenes: Sequence[Scene], folder: SearchFolder) -> None:
        """Compares scenes with those of the folder, and adds the new ones."""
        there = folder.scenes[self._taken : self._taken + len(scenes)]
        for new, old in zip(scenes, there):
            if new != old:
                raise SetupError(
                    f'the scene {old.name} of the folder differs from that of this search; it is '
                    'of another release, or its results were changed: name another folder'
                )
        if len(there) < len(scenes):
            folder.add_scenes(scenes[len(there) :])
        self._taken += len(scenes)
