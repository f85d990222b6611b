# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The differentiable metrics as losses: gradients as finite differences have them, and at kinks."""

from functools import partial

import pytest

torch = pytest.importorskip('torch')
pytest.importorskip('frame_ros.metrics.torch')

from torch_cases import (  # noqa: E402
    ACTIONS,
    BOUNDS,
    CASES,
    DISTANCES,
    GOAL,
    INTERVALS,
    POSITIONS,
    PREDICTED,
    REFERENCE,
    P,
    update,
)

from frame_ros import metrics  # noqa: E402
from frame_ros.metrics import torch as classes  # noqa: E402

PATH, OTHER = POSITIONS[:2, :7], REFERENCE[:2, :7]
HELD = torch.arange(7).expand(2, 7) > 3

FORMS = {
    'path_length': (metrics.path_length, PATH),
    'path_smoothness': (metrics.path_smoothness, PATH),
    'path_smoothness authors': (partial(metrics.path_smoothness, variant='authors'), PATH),
    'curvature_change': (metrics.curvature_change, PATH),
    'curvature_change 2d': (metrics.curvature_change, PATH[..., :2]),
    'rms_jerk': (lambda p: metrics.rms_jerk(p, INTERVALS[:2, :6]), PATH),
    'rms_jerk authors': (lambda p: metrics.rms_jerk(p, 1.0, 'authors'), PATH),
    'absolute_trajectory_error': (metrics.absolute_trajectory_error, PATH, OTHER),
    'aligned': (partial(metrics.absolute_trajectory_error, align='se3'), PATH, OTHER),
    'relative_trajectory_error': (metrics.relative_trajectory_error, PATH, OTHER),
    'risk_factor': (metrics.risk_factor, DISTANCES[1:3]),
    'obstacle_proximity': (metrics.obstacle_proximity, DISTANCES[1:3]),
    'mse': (metrics.mse, ACTIONS[:2], PREDICTED[:2]),
    'namse': (lambda a, b: metrics.namse([(a, b)]), ACTIONS[0], PREDICTED[0]),
    'execution_variability': (metrics.execution_variability, ACTIONS[:2]),
    'token_entropy': (lambda x: metrics.token_entropy(x.softmax(-1)), P[:1].log()),
    'deepgini': (lambda x: metrics.deepgini(x.softmax(-1)), P[:1].log()),
    'optimal_trajectory_difference': (
        lambda a, b: metrics.optimal_trajectory_difference(a, b, GOAL[:2, :7], HELD)[..., 1:],
        PATH,
        OTHER,
    ),
    'chunk_overlap_disagreement': (
        partial(metrics.chunk_overlap_disagreement, shift=2),
        ACTIONS[0],
        PREDICTED[0],
    ),
    **{
        f'tcp_instability {n}': (
            lambda p, n=n: metrics.tcp_instability(p, n, INTERVALS[:2, :6])[..., n:],
            PATH,
        )
        for n in (1, 2, 3)
    },
    **{
        f'action_instability {n}': (
            lambda a, n=n: metrics.action_instability(a, n, BOUNDS)[..., n:],
            ACTIONS[:2],
        )
        for n in (1, 2, 3)
    },
}


@pytest.mark.parametrize('name', FORMS)
def test_gradients_are_those_of_finite_differences(name):
    function, *arrays = FORMS[name]
    inputs = [array.clone().requires_grad_() for array in arrays]
    assert torch.autograd.gradcheck(function, inputs)


@pytest.mark.parametrize('name', sorted(set(FORMS) - {'aligned'}))
def test_gradients_are_finite_where_samples_coincide(name):
    function, *arrays = FORMS[name]
    inputs = [array.clone() for array in arrays]
    for tensor in inputs:
        if tensor.ndim > 1:
            tensor[..., 2:5, :] = 0.1 if 'token' in name or 'gini' in name else 0.0
    inputs = [tensor.requires_grad_() for tensor in inputs]
    value = function(*inputs).sum()
    for gradient in torch.autograd.grad(value, inputs, allow_unused=True):
        assert gradient is None or torch.isfinite(gradient).all()


@pytest.mark.parametrize('name', CASES)
def test_calling_a_differentiable_class_gives_a_loss_and_its_states_keep_no_graph(name):
    case = CASES[name]
    metric = case.make()
    inputs = [
        a if a is None or not a.is_floating_point() else a.clone().requires_grad_()
        for a in case.arrays
    ]
    options = {'shift': 3} if name == 'chunk_overlap' else {}
    value = metric(*inputs, **options)
    assert value.requires_grad == bool(metric.is_differentiable)
    assert not metric.count.requires_grad and not metric.total.requires_grad
    if metric.is_differentiable:
        value.backward()
        assert (inputs[0].grad != 0).any() and torch.isfinite(inputs[0].grad).all()
    update(name, metric, inputs)
    assert not metric.compute().requires_grad


def test_smoothness_and_jerk_smooth_a_path_by_gradient_descent():
    straight = torch.linspace(0.0, 1.0, 30, dtype=torch.float64)[:, None] * torch.ones(3)
    noise = 0.02 * torch.randn(30, 3, generator=torch.Generator().manual_seed(0))
    path = (straight + noise).requires_grad_()
    optimiser = torch.optim.Adam([path], lr=1e-3)
    before = metrics.path_smoothness(path).item(), metrics.rms_jerk(path, 0.1).item()
    for _ in range(150):
        optimiser.zero_grad()
        kept = metrics.absolute_trajectory_error(path, straight)
        (metrics.path_smoothness(path) + 1e-3 * metrics.rms_jerk(path, 0.1) + kept).backward()
        optimiser.step()
    after = metrics.path_smoothness(path).item(), metrics.rms_jerk(path, 0.1).item()
    assert after[0] < 0.5 * before[0] and after[1] < 0.5 * before[1]


def test_nothing_but_the_loss_is_needed_for_a_static_episode():
    path = torch.zeros(5, 3, requires_grad=True)
    (metrics.path_length(path) + metrics.rms_jerk(path, 0.1)).backward()
    assert torch.isfinite(path.grad).all()
    metric = classes.RMSJerk(dt=0.1)
    assert torch.isnan(metric(torch.zeros(5, 3)))
    assert metric.static == 1
