# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The smallest breaking perturbations of the scenes of a file, in the folder of a campaign."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from frame_ros.core.errors import SetupError, ValueRangeError
from frame_ros.core.options import flatten, option, options
from frame_ros.evaluation.scene_trials.result import TrialResult
from frame_ros.evaluation.scene_trials.search.breaking import STEPS, Breaking, smallest_breaking
from frame_ros.evaluation.scene_trials.search.objective import TriedScene
from frame_ros.evaluation.scene_trials.search.search_folder import SearchFolder
from frame_ros.evaluation.scene_trials.search.unfinished import Evaluate, once_more
from frame_ros.evaluation.trials.campaign import json_values
from frame_ros.scenes.description.scene import Scene
from frame_ros.scenes.generation.constraints import check_scene
from frame_ros.scenes.generation.operators import chosen_operators
from frame_ros.scenes.generation.setting import Setting
from frame_ros.scenes.search.perturbations import undrawn_fields


@options
class BreakingOptions:
    """Smallest changes that break a policy."""

    operators: tuple[str, ...] = option(
        (), 'names of what is changed, each alone; empty: those that drew the scene'
    )
    steps: int = option(
        STEPS, 'halvings of each change: its scale is known to 1/2^steps', at_least=0, at_most=20
    )
    towards: str = option(
        '', 'a scene of the files that failed, to whose values the changes go; empty: to both ends '
        'of each range and to each other choice'
    )  # fmt: skip
    repeats: int = option(1, 'runs of each scene, each with another policy seed', at_least=1)
    success_rule: str = option('paper', 'rule of success', choices=('paper', 'code'))


@attrs.frozen
class SceneBreaking:
    """A scene and the changes that break the policy in it.

    Attributes:
        scene: as it was given.
        problem: why it was not changed; '': it was.
        found: changes, those that break the policy first.
    """

    scene: Scene
    problem: str
    found: tuple[Breaking, ...] = ()


def break_scenes(
    scenes: Sequence[Scene],
    chosen: BreakingOptions,
    evaluate: Evaluate,
    folder: str | Path,
    settings: Mapping[str, Any],
    setting_of: Callable[[Scene], Setting],
    start: Scene | None = None,
    on_scene: Callable[[SceneBreaking], None] = lambda found: None,
) -> list[SceneBreaking]:
    """Looks for the smallest breaking changes of every scene that passes.

    The scenes run first as they are, and those that fail, or do not count, are not changed. One
    that breaks a constraint, or that its values do not make, as its instruction or light was
    changed after it was drawn, does not run: its changes would be of another scene. What was run is
    in the folder, where the same call goes on after an interruption, also with more `steps` or
    scenes.

    Args:
        scenes: drawn by operators, of different names; that named by `towards` is not changed.
        evaluate: runs scenes, each `chosen.repeats` times.
        folder: of a campaign.
        settings: of the policy and its runs, as `settings_of` gives them.
        setting_of: the setting of a scene.
        start: the scene that operators change; None: the nominal one.
        on_scene: gets each scene that is done.

    Raises:
        SetupError: the folder cannot be used, is of other settings, or one writes to it now; two
            scenes have a name.
        ValueRangeError: there is no scene `towards` or no operator of a name, or a scene says no
            values of one.
    """
    names = [scene.name for scene in scenes]
    if twice := next((name for name in names if names.count(name) > 1), ''):
        raise SetupError(f'two scenes are called {twice!r}; names must differ')
    if chosen.towards and chosen.towards not in names:
        raise ValueRangeError(
            f'towards is {chosen.towards!r}; the files have {", ".join(names[:10]) or "no scene"}'
        )
    failed = next((scene for scene in scenes if scene.name == chosen.towards), None)
    kept = {name: value for name, value in flatten(chosen).items() if name != 'steps'}
    done = []
    with SearchFolder(folder, {**settings, 'breaking': json_values(kept)}) as place:
        store = _Store(place, once_more(evaluate), chosen.repeats)
        first = [scene for scene in scenes if scene is not failed]
        unfit = {scene.name: _unfit(scene, setting_of(scene), start) for scene in first}
        results = store.run([scene for scene in first if not unfit[scene.name]])
        for scene in first:
            own = [each for each in results if each.scene == scene.name]
            tried = TriedScene(scene, (), tuple(own))
            found: list[Breaking] = []
            if not (problem := unfit[scene.name] or _problem(tried, chosen.success_rule)):
                found = smallest_breaking(
                    scene, _operators(scene, chosen.operators), setting_of(scene), store.run,
                    failed, chosen.steps, chosen.success_rule, start,
                )  # fmt: skip
            done.append(SceneBreaking(scene, problem, tuple(found)))
            on_scene(done[-1])
    return done


def _unfit(scene: Scene, setting: Setting, start: Scene | None) -> str:
    """Returns why a scene cannot be compared with its changes; '': it can."""
    if broken := check_scene(scene, setting):
        return f'it breaks {broken.constraint}: {broken.problem}'
    if changed := undrawn_fields(scene, setting, start):
        return f'its values make another scene: {", ".join(changed)} would differ'
    return ''


def _problem(tried: TriedScene, rule: str) -> str:
    if not tried.valid:
        return tried.results[0].problem if tried.results else 'it has no result'
    return 'the policy fails in it as it is' if tried.is_failure(rule) else ''


def _operators(scene: Scene, names: Sequence[str]) -> list[str]:
    own = tuple(scene.origin.values) if scene.origin else ()
    if not (names or own):
        raise ValueRangeError(f'the scene {scene.name} says no values of operators')
    return [each.name for each in chosen_operators(names or own)]


class _Store:
    """Runs scenes, or takes their results from a folder."""

    def __init__(self, folder: SearchFolder, evaluate: Evaluate, repeats: int) -> None:
        self._folder, self._evaluate, self._repeats = folder, evaluate, repeats
        self._known = {scene.name: scene for scene in folder.scenes}

    def run(self, scenes: Sequence[Scene]) -> list[TrialResult]:
        """Returns the results of scenes.

        Raises:
            SetupError: the folder has another scene of a name.
        """
        for scene in scenes:
            if self._known.get(scene.name, scene) != scene:
                raise SetupError(
                    f'the scene {scene.name} of the folder differs from this one; name another '
                    'folder'
                )
        if new := [scene for scene in scenes if scene.name not in self._known]:
            self._folder.add_scenes(new)
            self._known.update((scene.name, scene) for scene in new)
        lacking = [scene for scene in scenes if len(self._final(scene)) < self._repeats]
        known = {each.key for scene in lacking for each in self._final(scene)}
        for result in self._evaluate(lacking) if lacking else ():
            if result.key not in known:
                self._folder.add_result(result)
        return [each for s in scenes for each in self._folder.of_scene.get(s.name, ())]

    def _final(self, scene: Scene) -> list[TrialResult]:
        return [each for each in self._folder.of_scene.get(scene.name, ()) if each.is_final]
