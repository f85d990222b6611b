# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Path smoothness and jerk as auxiliary losses: the same policy, data and seed, with and without.

    python examples/training/auxiliary_loss.py

A chunk policy imitates demonstrations of low quality. Its loss is the squared error of the joints;
with an auxiliary loss a weight times frame_ros's own metric of the predicted chunk's TCP path is
added. All are rolled out in the same unseen scenes.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np
import torch
from chunk_policy import ChunkNetwork, ChunkPolicy, Chunks, Steps, cut_chunks
from tip_position import TipPosition

from frame_ros.evaluation.rollouts import (
    Estimate,
    RolloutSummary,
    bootstrapped_mean,
    summarise_rollouts,
)
from frame_ros.metrics import path_length, path_smoothness, rms_jerk
from frame_ros.metrics.torch import frame_collection
from frame_ros.policies.scripted.pick_place import ScriptedOptions, ScriptedPickPlace
from frame_ros.robots import load_robot
from frame_ros.scenes import JOINT_NAMES
from frame_ros.scenes.rollout import Rollouts

DT = 1 / 30  # s
# A chunk whose TCP moves less is left out: the smoothness of standing still says nothing. m
STATIC = 0.005
AUXILIARIES = ('none', 'ps', 'jerk')
ROWS = (('ps', 'PS', 1, 3), ('ti', 'RMS jerk (m/s³)', 1, 1), ('pl', 'PL (m)', 1, 2),
        ('a_ai', 'A-AI (1e-3)', 1000, 2), ('time', 'Time to success (s)', 1, 1))  # fmt: skip

HELD_OUT = (('mse', 'Held-out error'), ('ps', 'Held-out PS'), ('jerk', 'Held-out jerk'))


class Smoothness:
    """The metrics of a predicted chunk's TCP path, differentiable; means over chunks that move."""

    def __init__(self) -> None:
        robot = load_robot('so101')
        self._tip = TipPosition(robot)
        self._arm = [JOINT_NAMES.index(name) for name in robot.joint_names]

    def __call__(self, metric: str, chunks: torch.Tensor) -> torch.Tensor:
        """metric: 'ps' (dimensionless) or 'jerk' (m/s³). chunks: (B, H, D) rad."""
        paths = self.paths(chunks)
        if not len(paths):
            return chunks.sum() * 0.0
        if metric == 'ps':
            return path_smoothness(paths).mean()
        return rms_jerk(paths, DT).mean()

    def paths(self, chunks: torch.Tensor) -> torch.Tensor:
        """TCP positions (M, H, 3) m of the M chunks that move."""
        positions = self._tip(chunks[..., self._arm])
        return positions[path_length(positions.detach()) > STATIC]


def record(demonstrations: int, quality: float) -> list[tuple[np.ndarray, np.ndarray]]:
    """Inputs (T, I) and actions (T, D) of demonstrations that succeeded."""
    rollouts, policy = (
        Rollouts(rate=1 / DT),
        ScriptedPickPlace(ScriptedOptions(quality=quality, dt=DT)),
    )
    episodes: list[tuple[np.ndarray, np.ndarray]] = []
    seed = 0
    while len(episodes) < demonstrations:
        steps = Steps()
        episode = rollouts.run(policy, seed, steps.add)
        if episode.is_success:
            episodes.append((np.array(steps.inputs), np.array(steps.actions)))
        seed += 1
    return episodes


def train(
    chunks: Chunks,
    auxiliary: str,
    weight: float,
    steps: int,
    seed: int,
    batch_size: int = 64,
    width: int = 384,
) -> tuple[ChunkNetwork, list[float]]:
    """A network and the imitation loss at every step. auxiliary: 'none', 'ps' or 'jerk'."""
    torch.manual_seed(seed)
    network, smoothness = ChunkNetwork(chunks, width), Smoothness()
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    losses = []
    for _ in range(steps):
        rows = torch.randint(len(chunks), (batch_size,))
        predicted = network(chunks.inputs[rows])
        error = (predicted - chunks.actions[rows]) / network.action_scale
        loss = imitation = error.square().mean()
        if auxiliary != 'none':
            loss = imitation + weight * smoothness(auxiliary, predicted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(imitation.item())
    return network, losses


def held_out(network: ChunkNetwork, chunks: Chunks) -> dict[str, float]:
    """The error and the smoothness of the chunks predicted for inputs that were not trained on."""
    metrics = frame_collection('ps', 'ti', options={'ti': {'dt': DT}})
    with torch.inference_mode():
        predicted = network(chunks.inputs)
        error = ((predicted - chunks.actions) / network.action_scale).square().mean()
        metrics.update(positions=Smoothness().paths(predicted))
    values = metrics.compute()
    return {'mse': float(error), 'ps': float(values['ps']), 'jerk': float(values['ti'])}


def markdown_table(summaries: dict[str, RolloutSummary], losses: dict[str, dict]) -> str:
    """A column for each training; means with their 95 % intervals."""
    names = list(summaries)
    lines = ['| | ' + ' | '.join(names) + ' |', '| --- |' + ' --- |' * len(names)]
    rates = [summaries[name].success_rate for name in names]
    lines.append(_row('SR', [f'{r.value:.0%} [{r.lower:.0%}, {r.upper:.0%}]' for r in rates]))
    for key, heading, factor, digits in ROWS:
        cells = [_cell(summaries[name].metrics[key], factor, digits) for name in names]
        lines.append(_row(heading, cells))
    for key, heading in (
        ('mse', 'Held-out error'),
        ('ps', 'Held-out PS'),
        ('jerk', 'Held-out jerk'),
    ):
        cells = [f'{losses[name][key]:.3f}' if name in losses else '-' for name in names]
        lines.append(_row(heading, cells))
    return '\n'.join(lines)


def _row(heading: str, cells: list[str]) -> str:
    return f'| {heading} | ' + ' | '.join(cells) + ' |'


def _cell(estimate: Estimate, factor: float, digits: int) -> str:
    if not math.isfinite(estimate.value):
        return '-'
    value, lower, upper = (
        f'{factor * v:.{digits}f}' for v in (estimate.value, estimate.lower, estimate.upper)
    )
    return f'{value} [{lower}, {upper}]'


def verdicts(summaries: dict[str, RolloutSummary]) -> list[str]:
    """Returns what each auxiliary loss changed in the same scenes, in words."""
    base = summaries['none']
    lines = []
    for name in [name for name in summaries if name in AUXILIARIES[1:]]:
        parts = []
        for key, heading in (('ps', 'PS'), ('ti', 'RMS jerk')):
            change = summaries[name].per_episode[key] - base.per_episode[key]
            mean = bootstrapped_mean(change)
            share = mean.value / base.metrics[key].value
            parts.append(
                f'{heading} {share:+.0%} ({mean.value:+.3f} [{mean.lower:+.3f}, {mean.upper:+.3f}])'
            )
        rate, bound = summaries[name].success_rate.value, base.success_rate.lower
        word = 'not below' if rate >= bound else 'BELOW'
        parts.append(f'success {rate:.0%}, {word} the interval without ({bound:.0%})')
        lines.append(f'{name}: ' + '; '.join(parts))
    return lines


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """The options; the defaults are those of the table in docs/training.md."""
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument('--demonstrations', type=int, default=200)
    parser.add_argument('--quality', type=float, default=0.8)
    parser.add_argument('--steps', type=int, default=5000)
    parser.add_argument('--horizon', type=int, default=30, help='steps predicted')
    parser.add_argument('--action-steps', type=int, default=15, help='steps executed')
    parser.add_argument('--ps-weight', type=float, default=0.002)
    parser.add_argument('--jerk-weight', type=float, default=0.00001)
    parser.add_argument('--episodes', type=int, default=120)
    parser.add_argument('--first-scene', type=int, default=200_000, help='seed')
    parser.add_argument('--timeout', type=float, default=12.0, help='s, of an episode')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--threads', type=int, default=1, help='of torch')
    parser.add_argument('--output', type=Path, help='a JSON file')
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> dict[str, RolloutSummary]:
    """Runs the comparison and prints its table."""
    options = parse_arguments(arguments)
    torch.set_num_threads(options.threads)
    begun = time.monotonic()

    def say(text: str) -> None:
        print(f'[{time.monotonic() - begun:4.0f} s] {text}', flush=True)

    episodes = record(options.demonstrations, options.quality)
    kept = max(1, len(episodes) // 10)
    held, trained = (cut_chunks(e, options.horizon) for e in (episodes[:kept], episodes[kept:]))
    say(f'{len(episodes)} demonstrations, {len(trained)} chunks to train on')
    weights = {'none': 0.0, 'ps': options.ps_weight, 'jerk': options.jerk_weight}
    seeds = range(options.first_scene, options.first_scene + options.episodes)
    rollouts = Rollouts(rate=1 / DT, timeout=options.timeout)
    summaries: dict[str, RolloutSummary] = {}
    losses: dict[str, dict[str, float]] = {}
    for name in AUXILIARIES:
        network, _ = train(trained, name, weights[name], options.steps, options.seed)
        losses[name] = held_out(network, held)
        policy = ChunkPolicy(network, options.action_steps, DT, name)
        summaries[name] = summarise_rollouts(rollouts.run_many(policy, seeds))
        say(f'{name}: {losses[name]}, success {summaries[name].success_rate.value:.0%}')
    expert = ScriptedPickPlace(ScriptedOptions(quality=options.quality, dt=DT))
    summaries['demonstrator'] = summarise_rollouts(rollouts.run_many(expert, seeds))
    print(markdown_table(summaries, losses))
    print('\n'.join(verdicts(summaries)))
    if options.output:
        scalars = {name: summary.scalars() for name, summary in summaries.items()}
        options.output.write_text(json.dumps({'held_out': losses, 'rollouts': scalars}, indent=1))
    return summaries


if __name__ == '__main__':
    main()
