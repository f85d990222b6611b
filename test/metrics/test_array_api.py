# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Torch in, torch out, the same values; NumPy alone never imports torch; float32 stays float32."""

import subprocess
import sys

import numpy as np
import pytest

from frame_ros import metrics

RNG = np.random.default_rng(0)
PATH = RNG.normal(size=(3, 12, 3))
ACTIONS = RNG.normal(size=(3, 12, 5))
ORIENTATIONS = RNG.normal(size=(3, 12, 4))
HEADINGS = RNG.uniform(-9.0, 9.0, size=(3, 12))
DISTANCES = np.where(RNG.random((3, 12)) < 0.3, np.nan, RNG.random((3, 12)))
P = RNG.dirichlet(np.ones(7), size=(3, 4))
DT = RNG.uniform(0.01, 0.1, size=(3, 11))
FLAGS = RNG.random(12) < 0.5
LOWER, UPPER = np.full(5, -4.0), np.full(5, 4.0)
WITH_PAUSE = PATH.copy()
WITH_PAUSE[1, 5] = WITH_PAUSE[1, 4]

CALLS = {
    'success_rate': (metrics.success_rate, FLAGS),
    'task_completion_rate': (metrics.task_completion_rate, np.array([1, 2]), np.array([3, 4])),
    'mse': (metrics.mse, ACTIONS, ACTIONS[::-1].copy()),
    'amse': (lambda a, b: metrics.amse([(a[0], b[0]), (a[1], b[1])]), ACTIONS, 2 * ACTIONS),
    'namse': (lambda a, b: metrics.namse([(a[0], b[0]), (a[1], b[1])]), ACTIONS, 2 * ACTIONS),
    'path_length': (metrics.path_length, PATH),
    'path_smoothness': (metrics.path_smoothness, PATH),
    'cc_path': (metrics.curvature_change, PATH),
    'cc_path_2d': (metrics.curvature_change, PATH[..., :2].copy()),
    'cc_pause': (metrics.curvature_change, WITH_PAUSE),
    'cc_headings': (metrics.curvature_change, WITH_PAUSE, HEADINGS),
    'cc_orientation': (
        lambda p, q: metrics.curvature_change(p, orientations=q),
        WITH_PAUSE,
        ORIENTATIONS,
    ),
    'count_short_segments': (metrics.count_short_segments, WITH_PAUSE),
    'is_static': (metrics.is_static, PATH),
    'ate': (metrics.absolute_trajectory_error, PATH, PATH[::-1].copy()),
    'ate_sim3': (
        lambda a, b: metrics.absolute_trajectory_error(a, b, 'sim3'),
        PATH,
        PATH[::-1].copy(),
    ),
    'rte': (metrics.relative_trajectory_error, PATH, PATH[::-1].copy()),
    'resample': (metrics.resample, PATH[0], np.arange(12.0), np.linspace(-1, 12, 9)),
    'resample_by_arc_length': (lambda p: metrics.resample_by_arc_length(p, 7), WITH_PAUSE[1]),
    'collision_rate': (metrics.collision_rate, np.array([1, 2]), np.array([3, 4])),
    'count_collisions': (metrics.count_collisions, FLAGS),
    'obstacle_proximity': (metrics.obstacle_proximity, DISTANCES),
    'risk_factor': (metrics.risk_factor, DISTANCES),
    'action_instability': (
        lambda a, low, high: metrics.action_instability(a, 2, (low, high)),
        ACTIONS,
        LOWER,
        UPPER,
    ),
    'action_authors': (
        lambda a: metrics.action_instability(a, 3, variant='authors'),
        ACTIONS,
    ),
    'tcp_instability': (lambda p, dt: metrics.tcp_instability(p, 3, dt), PATH, DT),
    'window_mean': (lambda p: metrics.window_mean(metrics.tcp_instability(p, 2), 2), PATH),
    'rms_jerk': (metrics.rms_jerk, PATH, DT),
    'rms_jerk_authors': (lambda p: metrics.rms_jerk(p, 1.0, 'authors'), PATH),
    'tb_tp': (metrics.token_probability_uncertainty, P),
    'tb_pcs': (metrics.prediction_confidence_uncertainty, P),
    'tb_d': (metrics.deepgini, P),
    'tb_e': (metrics.token_entropy, P),
    'ev': (metrics.execution_variability, ACTIONS),
    'ot': (metrics.optimal_trajectory_difference, PATH[0], PATH[1], PATH[2], FLAGS),
    'chunk_overlap': (
        lambda a, b: metrics.chunk_overlap_disagreement(a, b, 3),
        ACTIONS[0],
        ACTIONS[1],
    ),
}


@pytest.mark.parametrize('name', CALLS)
def test_torch_in_torch_out_and_the_same_values(name):
    torch = pytest.importorskip('torch')
    function, *arrays = CALLS[name]
    wanted = function(*arrays)
    found = function(*(torch.from_numpy(array) for array in arrays))
    assert isinstance(found, torch.Tensor)
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-10, atol=1e-12)
    assert isinstance(wanted, np.ndarray | np.generic)


@pytest.mark.parametrize('name', ['path_length', 'cc_orientation', 'tb_e', 'ev', 'rms_jerk'])
def test_single_precision_stays_what_it_is(name):
    torch = pytest.importorskip('torch')
    function, *arrays = CALLS[name]
    single = [array.astype(np.float32) for array in arrays]
    assert function(*single).dtype == np.float32
    assert function(*(torch.from_numpy(array) for array in single)).dtype == torch.float32


@pytest.mark.parametrize('name', ['path_length', 'path_smoothness', 'rms_jerk', 'ev', 'ate'])
def test_gradients_are_finite_even_where_nothing_moves(name):
    torch = pytest.importorskip('torch')
    function, *arrays = CALLS[name]
    tensors = [torch.from_numpy(array.copy()) for array in arrays]
    tensors[0][:, 3:6] = tensors[0][:, 3:4]
    if len(tensors) > 1 and name == 'ate':
        tensors[1][:, 3] = tensors[0][:, 3]
    tensors[0].requires_grad_()
    function(*tensors).sum().backward()
    assert torch.isfinite(tensors[0].grad).all()
    assert (tensors[0].grad != 0).any()


def test_numpy_alone_does_not_import_torch_scipy_or_ros():
    code = (
        'import sys, numpy as np, frame_ros.metrics as m;'
        'm.path_length(np.zeros((4, 3))); m.risk_factor([0.1]);'
        "print([n for n in ('torch', 'scipy', 'rclpy') if n in sys.modules])"
    )
    ran = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == '[]'


def test_integers_and_lists_become_floats():
    assert metrics.path_length([[0, 0], [3, 4]]) == 5.0
    assert metrics.path_length(np.array([[0, 0], [3, 4]], dtype=np.int32)).dtype == np.float64


def test_public_names_of_the_specification_are_exported():
    names = (
        'success_rate task_completion_rate wilson_interval mse amse namse path_length '
        'path_smoothness curvature_change absolute_trajectory_error relative_trajectory_error '
        'collision_rate obstacle_proximity risk_factor action_instability tcp_instability rms_jerk '
        'token_probability_uncertainty prediction_confidence_uncertainty deepgini token_entropy '
        'execution_variability optimal_trajectory_difference'
    )
    assert set(names.split()) <= set(metrics.__all__)
