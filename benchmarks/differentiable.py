#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Cost of the metrics as losses: forward and backward pass of each differentiable form.

float32 on one thread, for a batch of 16 episodes of 1,000 samples and for one of 100,000. Processor
time, medians of repetitions that take all forms in turn, so that a busy machine slows all alike.
The ratio is the median of the repetitions' ratios. Bar: backward at most 3 times forward.

    python benchmarks/differentiable.py [--repetitions 30] [--json]
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import torch
from parts.bars import Bars, parse

from frame_ros import metrics

BAR = 3.0
SIZES = {'16 x 1,000': (16, 1_000), '1 x 100,000': (1, 100_000)}
DT = 1 / 30


def forms(episodes: int, samples: int) -> dict[str, tuple[Callable[[Any], Any], Any]]:
    """Name -> (formula of one tensor, the tensor with its gradient asked for)."""
    generator = torch.Generator().manual_seed(0)
    draw = partial(torch.randn, generator=generator)
    positions = 0.01 * draw(episodes, samples, 3).cumsum(dim=1)
    reference = positions + 0.01 * draw(episodes, samples, 3)
    orientations = torch.nn.functional.normalize(
        torch.tensor([0.0, 0.0, 0.0, 1.0]) + 0.1 * draw(episodes, samples, 4), dim=-1
    )
    actions, predicted = draw(episodes, samples, 7), draw(episodes, samples, 7)
    distances = 0.05 + torch.rand(episodes, samples, generator=generator)
    p = draw(episodes, samples // 10, 64).softmax(dim=-1)
    goal = reference.flip(1)
    grasped = torch.arange(samples).expand(episodes, samples) > samples // 2

    def steps(values: Any) -> Any:
        return values[..., 3:].mean(dim=-1)

    chosen: dict[str, tuple[Callable[[Any], Any], Any]] = {
        'path_length': (metrics.path_length, positions),
        'path_smoothness': (metrics.path_smoothness, positions),
        'curvature_change, path': (metrics.curvature_change, positions),
        'curvature_change, orientation': (
            lambda x: metrics.curvature_change(x, orientations=orientations),
            positions,
        ),
        'rms_jerk': (lambda x: metrics.rms_jerk(x, DT), positions),
        'absolute_trajectory_error': (
            lambda x: metrics.absolute_trajectory_error(x, reference),
            positions,
        ),
        'relative_trajectory_error': (
            lambda x: metrics.relative_trajectory_error(x, reference),
            positions,
        ),
        'optimal_trajectory_difference': (
            lambda x: metrics.optimal_trajectory_difference(x, reference, goal, grasped)[
                ..., 1:
            ].mean(dim=-1),
            positions,
        ),
        'mse': (lambda x: metrics.mse(actions, x), predicted),
        'obstacle_proximity': (metrics.obstacle_proximity, distances),
        'risk_factor': (metrics.risk_factor, distances),
        'deepgini': (metrics.deepgini, p),
        'token_entropy': (metrics.token_entropy, p),
        'token_probability_uncertainty': (metrics.token_probability_uncertainty, p),
        'prediction_confidence_uncertainty': (metrics.prediction_confidence_uncertainty, p),
        'execution_variability': (metrics.execution_variability, actions),
    }
    for order in (1, 2, 3):
        chosen[f'action_instability, order {order}'] = (
            lambda x, n=order: steps(metrics.action_instability(x, n, (-1.0, 1.0))),
            predicted,
        )
        chosen[f'tcp_instability, order {order}'] = (
            lambda x, n=order: steps(metrics.tcp_instability(x, n)),
            positions,
        )
    return {name: (f, x.detach().clone().requires_grad_()) for name, (f, x) in chosen.items()}


def once(formula: Callable[[Any], Any], values: Any) -> tuple[float, float]:
    """Processor seconds of one forward and of its backward pass."""
    start = time.process_time()
    loss = formula(values).sum()
    middle = time.process_time()
    torch.autograd.grad(loss, values)
    return middle - start, time.process_time() - middle


def measure(episodes: int, samples: int, repetitions: int) -> dict[str, dict[str, float]]:
    """Per form: medians in ms and of the ratio backward / forward."""
    chosen = forms(episodes, samples)
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in chosen}
    for _ in range(repetitions + 2):
        for name, (formula, values) in chosen.items():
            times[name].append(once(formula, values))
    return {
        name: {
            'forward_ms': median(f for f, _ in pairs[2:]) * 1e3,
            'backward_ms': median(b for _, b in pairs[2:]) * 1e3,
            'ratio': median(b / f for f, b in pairs[2:]),
        }
        for name, pairs in times.items()
    }


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--repetitions', type=int, default=30)
    parser.add_argument('--json', action='store_true', help='print JSON instead of a table')
    chosen = parse(parser, repetitions=1)
    torch.set_num_threads(1)
    results = {size: measure(*shape, chosen.repetitions) for size, shape in SIZES.items()}
    if chosen.json:
        print(json.dumps({'bar': BAR, **results}, indent=2))
    for size, rows in [] if chosen.json else results.items():
        print(f'{size + " samples":36} {"forward":>10} {"backward":>10} {"ratio":>7}')
        for name, row in rows.items():
            miss = '' if row['ratio'] <= BAR else f'   above the bar of {BAR:g}'
            print(
                f'{name:36} {row["forward_ms"]:7.2f} ms {row["backward_ms"]:7.2f} ms '
                f'{row["ratio"]:7.2f}{miss}'
            )
        print()
    bars = Bars(chosen)
    for size, rows in results.items():
        worst = max(rows, key=lambda name: rows[name]['ratio'])
        bars.at_most(f'{size} samples, backward / forward of {worst}', rows[worst]['ratio'], BAR)
    return bars.exit_status()


if __name__ == '__main__':
    sys.exit(main())
