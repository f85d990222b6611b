# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One case for each TorchMetrics class: how to make it, episodes for it, and its value by the
functions of frame_ros.metrics, one episode at a time.
"""

from dataclasses import dataclass
from functools import partial

import torch

from frame_ros import metrics
from frame_ros.metrics import torch as classes

EPISODES, SAMPLES = 4, 12
DT = 0.05
BOUNDS = (-4.0, 4.0)


def draw(*shape, seed=0):
    """Normal numbers of double precision."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


POSITIONS = draw(EPISODES, SAMPLES, 3).cumsum(dim=1)
REFERENCE = POSITIONS + 0.1 * draw(EPISODES, SAMPLES, 3, seed=1)
GOAL = draw(EPISODES, SAMPLES, 3, seed=2)
ACTIONS = draw(EPISODES, SAMPLES, 5, seed=3)
PREDICTED = ACTIONS + draw(EPISODES, SAMPLES, 5, seed=4)
QUATERNIONS = draw(EPISODES, SAMPLES, 4, seed=5)
HEADINGS = draw(EPISODES, SAMPLES, seed=6)
INTERVALS = 0.01 + draw(EPISODES, SAMPLES - 1, seed=7).abs()
DISTANCES = draw(EPISODES, SAMPLES, seed=8).abs()
DISTANCES[0, 3:6] = torch.nan
FLAGS = draw(EPISODES, SAMPLES, seed=9) > 0.3
P = draw(EPISODES, SAMPLES, 7, seed=10).softmax(dim=-1)
STAMPS = (10**9 * draw(EPISODES, SAMPLES, seed=11).abs().cumsum(dim=-1)).to(torch.int64)


@dataclass(frozen=True)
class Case:
    """make: the metric. arrays: arguments of update, episodes first. wanted: one episode's value
    from its arrays. mask: the name of the argument that tells padding, empty if there is none.
    """

    make: object
    arrays: tuple
    wanted: object
    mask: str = 'mask'


def steps(function, *arrays, first, **options):
    """Mean over the steps from `first` on."""
    return function(*arrays, **options)[first:].mean()


def _instability(order):
    return {
        f'a_{("pi", "vi", "ai")[order - 1]}': Case(
            partial(classes.ActionInstability, order, bounds=BOUNDS),
            (ACTIONS,),
            lambda a: steps(metrics.action_instability, a, order, BOUNDS, first=order),
        ),
        f'tcp_{("pi", "vi", "ai")[order - 1]}': Case(
            partial(classes.TCPInstability, order),
            (POSITIONS,),
            lambda p: steps(metrics.tcp_instability, p, order, first=order),
        ),
    }


CASES = {
    'amse': Case(classes.AMSE, (ACTIONS, PREDICTED), metrics.mse),
    'pl': Case(classes.PathLength, (POSITIONS,), metrics.path_length),
    'ps': Case(classes.PathSmoothness, (POSITIONS,), metrics.path_smoothness),
    'ps authors': Case(
        partial(classes.PathSmoothness, 'authors'),
        (POSITIONS,),
        partial(metrics.path_smoothness, variant='authors'),
    ),
    'cc path': Case(classes.CurvatureChange, (POSITIONS,), metrics.curvature_change),
    'cc headings': Case(
        partial(classes.CurvatureChange, wrap=False),
        (POSITIONS, HEADINGS),
        partial(metrics.curvature_change, wrap=False),
    ),
    'cc orientations': Case(
        classes.CurvatureChange, (POSITIONS, None, QUATERNIONS), metrics.curvature_change
    ),
    'ate': Case(
        classes.AbsoluteTrajectoryError,
        (POSITIONS, REFERENCE),
        metrics.absolute_trajectory_error,
    ),
    'ate sim3': Case(
        partial(classes.AbsoluteTrajectoryError, 'sim3'),
        (POSITIONS, REFERENCE),
        partial(metrics.absolute_trajectory_error, align='sim3'),
    ),
    'rte': Case(
        partial(classes.RelativeTrajectoryError, 2),
        (POSITIONS, REFERENCE),
        partial(metrics.relative_trajectory_error, delta=2),
    ),
    **_instability(1),
    **_instability(2),
    **_instability(3),
    'a_vi authors': Case(
        partial(classes.ActionInstability, 2, variant='authors'),
        (ACTIONS,),
        lambda a: metrics.action_instability(a, 2, variant='authors').mean(),
    ),
    'tcp_vi rates': Case(
        partial(classes.TCPInstability, 2, rates=True),
        (POSITIONS, INTERVALS),
        lambda p, dt: steps(metrics.tcp_instability, p, 2, dt, first=2),
    ),
    'ti': Case(classes.RMSJerk, (POSITIONS, INTERVALS), metrics.rms_jerk),
    'ti authors': Case(
        partial(classes.RMSJerk, variant='authors'),
        (POSITIONS,),
        lambda p: metrics.rms_jerk(p, 1.0, variant='authors'),
    ),
    'ot pick': Case(
        classes.OptimalTrajectoryDifference,
        (POSITIONS, REFERENCE),
        lambda *a: steps(metrics.optimal_trajectory_difference, *a, first=1),
    ),
    'ot move': Case(
        partial(classes.OptimalTrajectoryDifference, 'tcp_to_goal'),
        (POSITIONS, REFERENCE, GOAL, FLAGS),
        lambda *a: steps(metrics.optimal_trajectory_difference, *a, 'tcp_to_goal', first=1),
    ),
    'op': Case(classes.ObstacleProximity, (DISTANCES,), metrics.obstacle_proximity),
    'rf': Case(
        partial(classes.RiskFactor, 0.2), (DISTANCES,), lambda d: metrics.risk_factor(d, 0.2)
    ),
    'rf authors': Case(
        partial(classes.RiskFactor, variant='authors'),
        (DISTANCES,),
        partial(metrics.risk_factor, variant='authors'),
    ),
    'control_rate': Case(
        classes.ControlRate,
        (STAMPS,),
        lambda s: torch.tensor(metrics.control_rate(s.numpy()).mean, dtype=torch.float64),
    ),
    'tb_tp': Case(
        classes.TokenProbabilityUncertainty,
        (P,),
        metrics.token_probability_uncertainty,
        'token_mask',
    ),
    'tb_pcs': Case(
        classes.PredictionConfidenceUncertainty,
        (P,),
        metrics.prediction_confidence_uncertainty,
        'token_mask',
    ),
    'tb_d': Case(
        partial(classes.DeepGini, normalised=True),
        (P,),
        partial(metrics.deepgini, normalised=True),
        'token_mask',
    ),
    'tb_e': Case(
        partial(classes.TokenEntropy, variant='authors'),
        (P,),
        partial(metrics.token_entropy, variant='authors'),
        'token_mask',
    ),
    'ev': Case(
        classes.ExecutionVariability, (ACTIONS,), metrics.execution_variability, 'sample_mask'
    ),
    'chunk_overlap': Case(
        lambda: classes.ChunkOverlapDisagreement(),
        (ACTIONS, PREDICTED),
        lambda a, b: metrics.chunk_overlap_disagreement(a, b, 3),
        '',
    ),
}


def update(name, metric, arrays, **options):
    """Updates the metric of a case."""
    if name == 'chunk_overlap':
        options['shift'] = 3
    metric.update(*arrays, **options)


def rows(arrays, episode):
    """One episode of the arrays."""
    return [None if array is None else array[episode] for array in arrays]


def mean_of_episodes(case, chosen=range(EPISODES)):
    """The mean of the episodes' values, by the functions."""
    return torch.stack([case.wanted(*rows(case.arrays, i)) for i in chosen]).mean()
