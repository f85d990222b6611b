# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A campaign: a policy in many scenes, several times, in a folder that can be resumed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from frame_ros.core.errors import SetupError, ValueRangeError
from frame_ros.core.options import flatten
from frame_ros.evaluation.scene_trials.folder import MESHES, CampaignFolder
from frame_ros.evaluation.scene_trials.policy_options import TrialPolicyOptions
from frame_ros.evaluation.scene_trials.pool import TrialPool, refuse_child
from frame_ros.evaluation.scene_trials.recording import RecordOptions, TrialRecording
from frame_ros.evaluation.scene_trials.result import TrialResult
from frame_ros.evaluation.scene_trials.trial import PlannedTrial
from frame_ros.evaluation.trials.campaign import json_values
from frame_ros.scenes.description.mesh_digests import mesh_digests
from frame_ros.scenes.description.scene import Scene
from frame_ros.scenes.description.shapes import MESH, mesh_of
from frame_ros.scenes.run_options import SceneRunOptions
from frame_ros.scenes.tasks.instructions import INSTRUCTION, base_of

OnResult = Callable[[TrialResult, int, int], None]


def run_campaign(
    folder: str | Path,
    scenes: Sequence[Scene],
    policy: TrialPolicyOptions,
    run: SceneRunOptions | None = None,
    repeats: int = 1,
    instructions: Mapping[str, Sequence[str]] | None = None,
    processes: int = 2,
    on_result: OnResult | None = None,
    on_message: Callable[[str], None] | None = None,
    most_wall_time: float = 600.0,
    record: RecordOptions | None = None,
) -> list[TrialResult]:
    """Runs every scene `repeats` times, and with further instructions, and returns all results.

    Trials that the folder has are not run again, so an interrupted campaign is continued by the
    same call, and a larger number of repeats adds to it. Those whose process died or that took too
    long are.

    Args:
        folder: made if missing; see `CampaignFolder`.
        repeats: runs of each scene; run r > 0 has another policy seed.
        instructions: name of a scene -> further instructions with which it runs.
        processes: of workers; 0: trials run in this process.
        on_result: gets each new result, the number of finished trials, and that of all.
        on_message: gets messages for the user.
        most_wall_time: s, after which a trial is ended and invalid.
        record: the trials that are written as bags too; None: none. A trial that was done without
            does not run again for it.

    Raises:
        SetupError: the folder is of another campaign or cannot be written, two scenes have the
            same name, or instructions are of a scene that is not there.
            A script called it without `if __name__ == '__main__':`, and processes read it again.
        ValueRangeError: repeats is below 1, or processes negative.
        FrameRosError: the policy could not be made.
    """
    planned = plan(scenes, repeats, instructions)
    return run_trials(
        folder, scenes, planned, policy, run, processes, on_result, on_message, most_wall_time,
        record,
    )  # fmt: skip


def plan(
    scenes: Sequence[Scene],
    repeats: int = 1,
    instructions: Mapping[str, Sequence[str]] | None = None,
) -> list[PlannedTrial]:
    """Returns the trials of a campaign, all scenes once before the first repeat.

    Raises:
        SetupError, ValueRangeError: as of `run_campaign`.
    """
    if repeats < 1:
        raise ValueRangeError(f'repeats is {repeats}; it must be 1 or more')
    further = dict(instructions or {})
    if unknown := sorted(set(further) - {scene.name for scene in scenes}):
        raise SetupError(f'there are instructions of {unknown[0]!r}, which is none of the scenes')
    found = []
    for repeat in range(repeats):
        for scene in scenes:
            base = base_of(scene.name)  # of a scene that `scenes mutate` wrote
            mutation = INSTRUCTION if base else ''
            found.append(PlannedTrial(scene=scene, repeat=repeat, mutation=mutation, base=base))
            for text in dict.fromkeys(further.get(scene.name, ())):
                if text != (scene.instruction or ''):
                    found.append(
                        PlannedTrial(
                            scene=scene, repeat=repeat, instruction=text, mutation=INSTRUCTION,
                            base=scene.name,
                        )
                    )  # fmt: skip
    return found


def run_trials(
    folder: str | Path,
    scenes: Sequence[Scene],
    trials: Iterable[PlannedTrial],
    policy: TrialPolicyOptions,
    run: SceneRunOptions | None = None,
    processes: int = 2,
    on_result: OnResult | None = None,
    on_message: Callable[[str], None] | None = None,
    most_wall_time: float = 600.0,
    record: RecordOptions | None = None,
) -> list[TrialResult]:
    """Runs trials of scenes in a folder; as `run_campaign`, with the trials given."""
    refuse_child()  # before it touches the folder
    run, wanted = run or SceneRunOptions(), list(trials)
    check_scenes(scenes, wanted, policy.called)
    for robot in dict.fromkeys(scene.robot for scene in scenes):
        policy.check(robot)
    place = CampaignFolder(folder, settings_of(policy, run, mesh_digests(scenes)), scenes)
    say = on_message or _ignore
    for message in place.messages:
        say(message)
    found = {result.key: result for result in place.results}
    keys = [each.key(policy.called) for each in wanted]
    ended = {key for key, result in found.items() if result.is_final}
    waiting = [each for each, key in zip(wanted, keys, strict=True) if key not in ended]
    if len(waiting) < len(wanted):
        say(f'{len(wanted) - len(waiting)} of {len(wanted)} trials are in {place.path}')
    recording = TrialRecording.of(place.path, record, policy)
    known = [found[key] for key in keys if key in ended]
    if recording and (lacking := sum(recording.wants(r) and not r.episode for r in known)):
        say(f'{lacking} of the trials that were done have no bag, and do not run again for it')
    if waiting:
        with (
            place.writing() as results,
            recording.marked() if recording else nullcontext(),
            TrialPool(policy, run, min(processes, len(waiting)), most_wall_time, recording) as pool,
        ):
            for _, result in pool.run(waiting):
                results.add(result)
                found[result.key] = result
                ended.add(result.key)
                if on_result is not None:
                    done = sum(key in ended for key in keys)
                    on_result(result, done, len(wanted))
    return [found[key] for key in keys]


def _ignore(message: str) -> None:
    """Takes a message that nobody wants."""


def settings_of(
    policy: TrialPolicyOptions, run: SceneRunOptions, meshes: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Returns what determines the results of a campaign, apart from its scenes: plain values.

    meshes: digests of files, as of `mesh_digests`.
    """
    chosen = {name: value for name, value in flatten(policy).items() if name != 'robot'}
    found = {
        'policy': policy.called,
        'policy_options': json_values(chosen),
        'run': json_values(flatten(run)),
    }
    return {**found, MESHES: dict(meshes)} if meshes else found


def check_scenes(scenes: Sequence[Scene], trials: Sequence[PlannedTrial], policy: str) -> None:
    """Checks that results can be kept apart, and are of the scenes, and that meshes can be read.

    Raises:
        SetupError: two scenes have a name, two trials a key, a trial is of no scene, or a mesh is
            not there or another one.
        FrameRosError: a mesh cannot be read.
    """
    named: dict[str, Scene] = {}
    for scene in scenes:
        if named.setdefault(scene.name, scene) is not scene:
            raise SetupError(f'two scenes are called {scene.name!r}; names must differ')
    shapes = (each.shape for scene in scenes for each in scene.objects if each.shape)
    for shape in dict.fromkeys(shape for shape in shapes if shape.kind == MESH):
        mesh_of(shape)
    keys = set()
    for each in trials:
        if named.get(each.scene.name) != each.scene:
            raise SetupError(f'a trial is of {each.scene.name!r}, which is none of the scenes')
        if (key := each.key(policy)) in keys:
            raise SetupError(f'two trials are alike: {key}')
        keys.add(key)
