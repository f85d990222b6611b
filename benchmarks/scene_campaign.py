#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Speed of campaigns of scenes without ROS: simulated time per time of a core, with and without
pictures, 500 scenes on two cores, and whether results are the same to the bit.

Whole trials count: the check of the scene, its model, the policy, the physics, truth of contacts
and distances at every control step, all metrics. The time of a core is the processor time of the
process and all its threads, so another load on the computer counts as little as can be; the time on
the wall stands next to it.

    python benchmarks/scene_campaign.py [--robot so101] [--scenes 500] [--processes 2] [--short]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from statistics import median

import attrs
from parts.bars import Bars, parse

from frame_ros.evaluation.scene_trials.campaign import run_campaign
from frame_ros.evaluation.scene_trials.policy_options import TrialPolicyOptions
from frame_ros.evaluation.scene_trials.pool import TrialPool
from frame_ros.evaluation.scene_trials.result import TrialResult
from frame_ros.evaluation.scene_trials.trial import WALL_CLOCK_METRICS, PlannedTrial, trial
from frame_ros.policies.base import Policy
from frame_ros.policies.scripted.tasks import ScriptedTasks, ScriptedTasksOptions
from frame_ros.scenes.description.scene import Scene
from frame_ros.scenes.generation.generator import generate
from frame_ros.scenes.run_options import SceneRunOptions
from frame_ros.scenes.tasks.kinds import TASKS

SPEED, SPEED_WITH_IMAGES, MINUTES = 20.0, 1.0, 10.0


class Watching(ScriptedTasks):
    """The scripted policy, which wants both cameras at 10 Hz."""

    cameras = ('front', 'wrist')
    n_action_steps = 3


def speeds(scenes: Sequence[Scene], policy: Policy, run: SceneRunOptions) -> list[list[float]]:
    """Returns for each scene its simulated time per processor time, and per time on the wall."""
    found = []
    for scene in scenes:
        begun, processor = time.perf_counter(), time.process_time()
        result = trial(scene, policy, run)
        wall, used = time.perf_counter() - begun, time.process_time() - processor
        if result.is_valid:
            found.append([result.duration / used, result.duration / wall])
    return found


def show_speeds(name: str, found: list[list[float]]) -> float:
    """Prints speeds and returns the median per processor time."""
    core, wall = (median(column) for column in zip(*found, strict=True))
    low, high = min(each[0] for each in found), max(each[0] for each in found)
    print(
        f'{name}: {core:.1f} x real time per core (median of {len(found)} trials, {low:.1f} to '
        f'{high:.1f}), {wall:.1f} x on the wall',
        flush=True,
    )
    return core


def without_clock(result: TrialResult) -> str:
    """The result as a line, without what differs between two runs."""
    metrics = {k: v for k, v in result.metrics.items() if k not in WALL_CLOCK_METRICS}
    return attrs.evolve(result, wall_time=0.0, metrics=metrics).line()


def differing_bits(scenes: Sequence[Scene], policy: TrialPolicyOptions) -> int:
    """Returns how many trials differ between this process and another."""
    planned = [PlannedTrial(scene=scene) for scene in scenes]
    lines = []
    for processes in (0, 1):
        with TrialPool(policy, processes=processes) as pool:
            found = {each.scene.name: result for each, result in pool.run(planned)}
        lines.append([without_clock(found[scene.name]) for scene in scenes])
    return sum(here != there for here, there in zip(*lines, strict=True))


def measure(options: argparse.Namespace, bars: Bars) -> None:
    """Measures everything and judges it."""
    policy = ScriptedTasks(ScriptedTasksOptions(robot=options.robot))
    run = SceneRunOptions(timeout=options.timeout)
    all_speeds = []
    for task in options.tasks.split(','):
        scenes = generate(task, options.robot, options.trials + 1, options.seed).scenes
        trial(scenes[0], policy, run)  # what is loaded and compiled once
        found = speeds(scenes[1:], policy, run)
        all_speeds += found
        show_speeds(task, found)
    core = show_speeds('all tasks', all_speeds)
    bars.at_least('simulated time per time of a core without pictures', core, SPEED)

    watching = Watching(ScriptedTasksOptions(robot=options.robot))
    seeing = SceneRunOptions(timeout=options.timeout, with_depth=True)
    scenes = generate('pick_up', options.robot, options.trials, options.seed).scenes
    trial(scenes[0], watching, SceneRunOptions(timeout=0.2, with_depth=True))
    core = show_speeds('two cameras with depth at 10 Hz', speeds(scenes, watching, seeing))
    bars.at_least('the same with two 320x240 cameras with depth at 10 Hz', core, SPEED_WITH_IMAGES)

    chosen = TrialPolicyOptions(policy='scripted_tasks')
    differ = differing_bits(scenes[: options.trials], chosen)
    bars.at_most('trials that are not the same to the bit in another process', differ, 0)

    begun = time.monotonic()
    drawn = generate('pick_up', options.robot, options.scenes, options.seed + 1)
    print(f'{len(drawn.scenes)} scenes drawn in {time.monotonic() - begun:.0f} s', flush=True)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        results = run_campaign(
            folder, drawn.scenes, chosen, SceneRunOptions(), processes=options.processes
        )
    minutes = (time.monotonic() - begun) / 60
    valid = sum(result.is_valid for result in results)
    reached = sum(result.is_success() for result in results)
    print(f'{reached} successes of {valid} valid trials of {len(results)}', flush=True)
    bars.at_most(
        f'min for {len(results)} scenes of pick_up in {options.processes} processes', minutes,
        MINUTES,
    )  # fmt: skip


def main() -> int:
    """Measures; returns 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--robot', default='so101')
    parser.add_argument('--tasks', default=','.join(TASKS))
    parser.add_argument('--trials', type=int, default=10, help='of each task')
    parser.add_argument('--scenes', type=int, default=500)
    parser.add_argument('--processes', type=int, default=2)
    parser.add_argument('--timeout', type=float, default=20.0, help='s')
    parser.add_argument('--seed', type=int, default=0)
    options = parse(parser, None, trials=2, scenes=10, tasks='pick_up')
    bars = Bars(options)
    measure(options, bars)
    return bars.exit_status()


if __name__ == '__main__':
    sys.exit(main())
