# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Overhead of our LeRobot policy over LeRobot's own calls, and the cost of samples.

    OMP_NUM_THREADS=1 python benchmarks/policy_overhead.py [--runs 40] [--samples 8]

ACT with two 640x480 cameras, in turns by LeRobot's own calls and by ours, our images read-only as
they come from ROS messages; first with the network left out of both, whose noise hides the rest.
`overhead` is the median difference of neighbours, with the interval of 95 % of the medians of
resampled pairs; `own time`, which the bar is for, is what our code takes between LeRobot's calls;
it holds `features`, what it takes to read them off the encoder within these calls and to reduce
them. Then one family after the other, small, with one chunk and with N samples.
"""

from __future__ import annotations

import argparse
import functools
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from parts.bars import Bars, parse

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'test' / 'policies'))
os.environ.setdefault('OMP_NUM_THREADS', '1')

from checkpoints import (
    make_act_checkpoint,
    make_diffusion_checkpoint,
    make_smolvla_checkpoint,
    make_vlm_folder,
    make_vqbet_checkpoint,
)
from direct_lerobot import DirectLeRobot

from frame_ros.policies.features import with_reduced_features
from frame_ros.policies.lerobot import load_lerobot_policy
from frame_ros.policies.protocol import Observation

JOINTS = ('shoulder_pan', 'shoulder_lift', 'elbow_flex', 'wrist_flex', 'wrist_roll', 'gripper')
SIZE = (480, 640)
BAR_MS = 2.0
# LeRobot's default ACT.
LEROBOT_SIZE = {
    'dim_model': 512,
    'n_heads': 8,
    'dim_feedforward': 3200,
    'n_encoder_layers': 4,
    'n_vae_encoder_layers': 4,
    'latent_dim': 32,
}


def observation(cameras: tuple[str, ...], size: tuple[int, int] = SIZE) -> Observation:
    """Random images, read-only, and joints."""
    random = np.random.default_rng(0)
    images = {}
    for camera in cameras:
        pixels = random.integers(0, 256, (*size, 3), dtype=np.uint8).tobytes()
        images[camera] = np.frombuffer(pixels, np.uint8).reshape(*size, 3)
    joints = random.normal(0, 0.3, len(JOINTS))
    return Observation(1, 1, JOINTS, joints, images, instruction='pick up the cube')


class Stopwatch:
    """Sums the time within the functions that it wraps."""

    def __init__(self) -> None:
        self.total = 0.0

    def wrap(self, function: Any) -> Any:
        """The same function, timed."""

        @functools.wraps(function)
        def timed(*arguments: Any, **options: Any) -> Any:
            begun = time.perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                self.total += time.perf_counter() - begun

        return timed


class Timed:
    """A processor of LeRobot with its calls timed."""

    def __init__(self, processor: Any, watch: Stopwatch) -> None:
        self.reset = processor.reset
        self._call = watch.wrap(processor)

    def __call__(self, value: Any) -> Any:
        return self._call(value)


def milliseconds(call: Any) -> float:
    """The duration of one call."""
    begun = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - begun)


def own_times(policy: Any, seen: Observation, runs: int) -> tuple[list[float], list[float]]:
    """ms of each inference that are spent outside LeRobot's calls, and those of features in it."""
    from lerobot.policies import utils

    watch, hooked, reduced = Stopwatch(), Stopwatch(), Stopwatch()
    reduce = reduced.wrap(with_reduced_features)
    for module in policy.family.model.modules():
        for key, hook in module._forward_hooks.items():
            module._forward_hooks[key] = hooked.wrap(hook)
    policy.preprocessor = Timed(policy.preprocessor, watch)
    policy.postprocessor = Timed(policy.postprocessor, watch)
    model = policy.family.model
    model.predict_action_chunk = watch.wrap(model.predict_action_chunk)
    prepare = utils.prepare_observation_for_inference
    utils.prepare_observation_for_inference = watch.wrap(prepare)
    times, of_features = [], []
    for _ in range(runs):
        watch.total = hooked.total = reduced.total = 0.0
        begun = time.perf_counter()
        reduce(policy.infer(seen))
        taken = time.perf_counter() - begun
        of_features.append(1e3 * (hooked.total + reduced.total))
        # Hooks lie within LeRobot's calls, the reduction outside.
        times.append(1e3 * (taken - watch.total) + 1e3 * hooked.total)
    utils.prepare_observation_for_inference = prepare
    return times, of_features


def measure_overhead(label: str, runs: int, has_network: bool = True, **settings: Any) -> float:
    """Prints one line; returns the ms of our own code. Without its network, what is left of ACT is
    preparing, normalising and postprocessing.
    """
    import torch

    with tempfile.TemporaryDirectory() as folder:
        make_act_checkpoint(folder, image_size=SIZE, chunk_size=100, **settings)
        direct, policy = DirectLeRobot(folder), load_lerobot_policy(folder, JOINTS, units='rad')
    if not has_network:
        chunk = torch.zeros(1, 100, len(JOINTS))
        for model in (direct.model, policy.family.model):
            model.predict_action_chunk = lambda batch: chunk
    seen = observation(policy.cameras)

    @torch.inference_mode()
    def by_lerobot() -> None:
        direct.finish(direct.model.predict_action_chunk(direct.batch(seen)))

    calls = {'lerobot': by_lerobot, 'ours': lambda: policy.infer(seen)}
    for call in calls.values():
        call()
    times: dict[str, list[float]] = {name: [] for name in calls}
    for run in range(runs):
        for name in sorted(calls, reverse=bool(run % 2)):
            times[name].append(milliseconds(calls[name]))
    differences = np.subtract(times['ours'], times['lerobot'])
    random = np.random.default_rng(0)
    resampled = np.median(random.choice(differences, (2000, runs)), axis=1)
    low, high = np.percentile(resampled, [2.5, 97.5])
    medians = {name: float(np.median(values)) for name, values in times.items()}
    own, features = map(np.median, own_times(policy, seen, max(5, runs // 2)))
    print(
        f'{label:10} LeRobot {medians["lerobot"]:8.2f} ms   ours {medians["ours"]:8.2f} ms   '
        f'ratio {medians["ours"] / medians["lerobot"]:6.3f}   overhead '
        f'{np.median(differences):6.2f} ms ({low:.2f} to {high:.2f})   own time {own:5.2f} ms, '
        f'of it features {features:5.3f} ms',
        flush=True,
    )
    return float(own)


def measure_samples(runs: int, count: int) -> None:
    """Prints for each family the median time of one inference without and with samples."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        vlm = make_vlm_folder(root / 'vlm')
        makers = {
            'act': functools.partial(make_act_checkpoint, image_size=(96, 128)),
            'diffusion': functools.partial(make_diffusion_checkpoint, image_size=(96, 128)),
            'vqbet': functools.partial(make_vqbet_checkpoint, image_size=(96, 128)),
            'smolvla': functools.partial(make_smolvla_checkpoint, vlm_folder=vlm),
        }
        for kind, make in makers.items():
            folder = make(root / kind)
            policies = [
                load_lerobot_policy(folder, JOINTS, units='rad', samples=n) for n in (0, count)
            ]
            size = (96, 128)
            seen = observation(policies[0].cameras, size)
            times: list[list[float]] = [[], []]
            for run in range(runs + 1):
                for policy, found in zip(policies, times, strict=True):
                    taken = 1e3 * policy.infer(seen).forward
                    if run:
                        found.append(taken)
            one, many = (float(np.median(found)) for found in times)
            print(
                f'{kind:10} 1 chunk {one:8.2f} ms   {count} samples {many:8.2f} ms   ratio '
                f'{many / one:5.2f}',
                flush=True,
            )


def main() -> int:
    """Prints overhead and bar, then what samples cost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--runs', type=int, default=40)
    parser.add_argument('--samples', type=int, default=8)
    options = parse(parser, runs=3, samples=2)
    print(f'ACT, two cameras {SIZE[1]}x{SIZE[0]}, medians of runs in turns')
    own = {
        'no network': measure_overhead('no network', 5 * options.runs, has_network=False),
        'small': measure_overhead('small', options.runs),
    }
    if not options.short:  # one inference of the full size takes seconds
        runs = max(5, options.runs // 4)
        own['full size'] = measure_overhead('full size', runs, **LEROBOT_SIZE)
    print(f'\nsamples, small networks, medians of {options.runs}')
    measure_samples(options.runs, options.samples)
    bars = Bars(options)
    for name, value in own.items():
        bars.at_most(f'{name}, own time, ms', value, BAR_MS)
    return bars.exit_status()


if __name__ == '__main__':
    sys.exit(main())
