# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Made-up episodes whose confidence is known to be wrong, for tests and benchmarks."""

from __future__ import annotations

import numpy as np

from frame_ros.confidence.recalibration.platt import logistic
from frame_ros.confidence.samples import Array
from frame_ros.confidence.score_episode import ScoreEpisode

GRID: Array = np.array([0.5, 1.0, 2.0, 4.0])
# Bias of the seven action dimensions of the generator: the logit of a dimension's confidence is
# slope * prospect + offset. Dimensions with a falling slope are surest where the task fails.
SLOPES: Array = np.array([0.8, 0.8, 0.8, 0.8, -0.7, -0.7, -0.7])
OFFSETS: Array = np.array([1.5, 0.5, 1.0, 2.0, -0.5, 0.5, 0.0])
SPREAD, NOISE = 2.0, 0.3
PERIOD = 0.1  # s


def generated_episodes(count: int, steps: int = 30, seed: int = 0) -> list[ScoreEpisode]:
    """Returns episodes whose action dimensions are biased against each other.

    Each episode has a prospect x, normal with standard deviation SPREAD, and succeeds with
    probability 1 / (1 + exp(-x)). The confidence is the mean over the dimensions.

    Args:
        count: number of episodes.
        steps: inferences of each, at 10 Hz; failures take a fifth longer.
        seed: of the random numbers.
    """
    random = np.random.default_rng(seed)
    prospects = random.normal(0.0, SPREAD, count)
    outcomes = random.random(count) < logistic(prospects)
    return [
        _episode(number, float(prospect), bool(outcome), steps, random)
        for number, (prospect, outcome) in enumerate(zip(prospects, outcomes))
    ]


def _episode(
    number: int, prospect: float, outcome: bool, steps: int, random: np.random.Generator
) -> ScoreEpisode:
    count = steps if outcome else round(1.2 * steps)
    # The confidence shows the prospect best in the middle of the task.
    clear = 0.6 + 0.4 * np.sin(np.pi * np.arange(count) / count)
    noise = random.normal(0.0, NOISE, (count, len(SLOPES)))
    logits = clear[:, None] * (SLOPES * prospect) + OFFSETS + noise
    by_temperature = logistic(logits[:, :, None] / GRID)
    dimensions = by_temperature[:, :, 1]
    risk = logistic(-prospect * clear + random.normal(0.0, 1.0, count))
    return ScoreEpisode(
        name=f'generated_{number:04d}',
        outcome=outcome,
        duration=count * PERIOD,
        times=PERIOD * np.arange(count, dtype=np.float64),
        scores={'confidence': dimensions.mean(axis=1), 'reversals': risk},
        distance=np.clip(0.4 - 0.4 * np.arange(count) / count, 0.02, None),
        contact=np.arange(count) > 0.9 * count,
        dimensions=dimensions,
        temperatures=GRID,
        at_temperature=by_temperature.mean(axis=1),
        dimensions_at_temperature=by_temperature,
        attributes={'policy': 'generated', 'robot': 'so101', 'instruction': 'put the cube in'},
    )
