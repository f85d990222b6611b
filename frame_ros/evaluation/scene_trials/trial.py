# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One trial: a policy once in a scene, with the steps it reached and every metric."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

from frame_ros.core.errors import FrameRosError
from frame_ros.evaluation.scene_trials.recording import TrialRecording
from frame_ros.evaluation.scene_trials.result import TrialResult
from frame_ros.metrics.registry import REGISTRY
from frame_ros.policies.base import Policy
from frame_ros.scenes.description.scene import Scene
from frame_ros.scenes.run_options import SceneRunOptions
from frame_ros.scenes.scene_rollout import SceneEpisode, run_scene

# Metrics of the computer rather than of the motion: two runs of a trial differ in them.
WALL_CLOCK_METRICS = tuple(each.id for each in REGISTRY.values() if each.category == 'efficiency')


@attrs.frozen(kw_only=True)
class PlannedTrial:
    """A trial to run.

    Attributes:
        scene: to run the policy in.
        repeat: 0 or more; each has another policy seed.
        instruction: None: the scene's.
        mutation: as of TrialResult.
        base: as of TrialResult.
    """

    scene: Scene
    repeat: int = 0
    instruction: str | None = None
    mutation: str = ''
    base: str = ''

    @property
    def text(self) -> str:
        """The instruction that the policy gets."""
        given = self.scene.instruction if self.instruction is None else self.instruction
        return given or ''

    def key(self, policy: str) -> tuple[str, str, int, str]:
        """The key of its result, with the name of the policy."""
        return self.scene.name, policy, self.repeat, self.text

    def without_result(self, policy: str, problem: str, wall_time: float = math.nan) -> TrialResult:
        """Returns its result if it does not count."""
        return TrialResult(
            scene=self.scene.name, policy=policy, repeat=self.repeat,
            policy_seed=policy_seed(self.scene, self.repeat), instruction=self.text,
            mutation=self.mutation, base=self.base, problem=problem, wall_time=wall_time,
        )  # fmt: skip


def policy_seed(scene: Scene, repeat: int) -> int:
    """Returns the policy's seed of a run: of run 0 the scene's, of others drawn from that."""
    seed = scene.policy_seed or 0
    if repeat == 0:
        return seed
    return int(np.random.SeedSequence((seed, repeat)).generate_state(1)[0] >> 1)


def trial(
    planned: PlannedTrial | Scene,
    policy: Policy,
    run: SceneRunOptions | None = None,
    called: str | None = None,
    recording: TrialRecording | None = None,
) -> TrialResult:
    """Runs a trial. The same one gives the same result but for wall_time and WALL_CLOCK_METRICS.

    A scene that cannot be run, a simulation that diverges and an error of the policy are results
    with a problem. Unusable actions after the first ones, and an exception of the policy's own code
    there, are a failure of the policy, with a note.

    Args:
        called: name of the policy in the result; None: its own.
        recording: writes its bag; None: there is none.
    """
    return trial_with_episode(planned, policy, run, called, recording)[0]


def trial_with_episode(
    planned: PlannedTrial | Scene,
    policy: Policy,
    run: SceneRunOptions | None = None,
    called: str | None = None,
    recording: TrialRecording | None = None,
) -> tuple[TrialResult, SceneEpisode | None]:
    """Runs a trial as `trial` does; returns its episode too, None if an error ended it."""
    if isinstance(planned, Scene):
        planned = PlannedTrial(scene=planned)
    begun = time.perf_counter()
    name = policy.name if called is None else called
    result = planned.without_result(name, '')
    details = None if recording is None else recording.details()
    try:
        found = run_scene(
            planned.scene, policy, run, result.policy_seed, planned.text, details=details
        )
    except FrameRosError as error:
        wall = time.perf_counter() - begun
        return planned.without_result(name, f'the policy failed: {error}', wall), None
    except (Exception, SystemExit) as error:  # of a policy of others
        wall, text = time.perf_counter() - begun, f'{type(error).__name__}: {error}'
        return planned.without_result(name, f'the policy failed: {text}', wall), None
    filled = attrs.evolve(
        result,
        problem=found.problem,
        note=found.note,
        steps={rule: dict(each.reached) for rule, each in found.outcomes.items()},
        times={rule: dict(each.times) for rule, each in found.outcomes.items()},
        metrics=_metrics(found),
        duration=found.duration,
        wall_time=time.perf_counter() - begun,
    )
    if recording is not None and details is not None:
        filled = recording.write(filled, planned.scene, found, details)
    return filled, found


def _metrics(found: SceneEpisode) -> Mapping[str, float]:
    if found.episode is None:
        return {}
    values: dict[str, Any] = {name: found.episode.value(name) for name in REGISTRY}
    return {name: math.nan if value is None else float(value) for name, value in values.items()}
