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
    'path_smoothness_authors': (lambda p: metrics.path_smoothness(p, 'authors'), PATH),
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
    'rte_3_se3': (
        lambda a, b: metrics.relative_trajectory_error(a, b, 3, 'se3'),
        PATH,
        PATH[::-1].copy(),
    ),
    'travelled_lengths': (metrics.travelled_lengths, PATH),
    'resample_at_arc_length': (
        metrics.resample_at_arc_length,
        WITH_PAUSE[1],
        np.linspace(-1.0, 30.0, 9),
    ),
    'mean_trajectory': (
        lambda t, a, b: metrics.mean_trajectory([(t, a), (t * 2.0, b)], 5, 'arc_length')[1],
        np.arange(12.0),
        PATH[0],
        WITH_PAUSE[1],
    ),
    'find_breaks': (lambda t: metrics.find_breaks(t, 1.5), np.array([0.0, 1.0, 3.0])),
    'resample': (metrics.resample, PATH[0], np.arange(12.0), np.linspace(-1, 12, 9)),
    'collision_rate': (metrics.collision_rate, np.array([1, 2]), np.array([3, 4])),
    'count_collisions': (metrics.count_collisions, FLAGS),
    'obstacle_proximity': (metrics.obstacle_proximity, DISTANCES),
    'risk_factor': (metrics.risk_factor, DISTANCES),
    'risk_authors': (lambda d: metrics.risk_factor(d, variant='authors'), DISTANCES),
    'risk_without_nan': (metrics.risk_factor, DT),
    'proximity_without_nan': (metrics.obstacle_proximity, DT),
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
    'tcp_authors': (lambda p: metrics.tcp_instability(p, 2, variant='authors'), PATH),
    'tcp_rates_at_one_dt': (lambda p: metrics.tcp_instability(p, 2, 0.1), PATH),
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
    'chunk_consistency': (
        lambda a, b: metrics.chunk_consistency(a, b, 3),
        ACTIONS[0],
        ACTIONS[1],
    ),
    'reversals': (metrics.reversal_share, ACTIONS),
    'stagnation': (lambda a, p: metrics.stagnation(a, p, 4.0), ACTIONS, PATH),
    'sample_spread': (metrics.sample_spread, ACTIONS),
    'chunk_entropy': (metrics.chunk_entropy, ACTIONS),
    'stac': (
        lambda a, b: metrics.statistical_consistency(a, b, 4),
        ACTIONS,
        ACTIONS[::-1, ::-1].copy(),
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


@pytest.mark.parametrize('name', CALLS)
def test_the_input_is_only_read(name):
    function, *arrays = CALLS[name]
    copies = [array.copy() for array in arrays]
    for array in copies:
        array.flags.writeable = False
    function(*copies)
    for copy, array in zip(copies, arrays, strict=True):
        np.testing.assert_array_equal(copy, array)


@pytest.mark.parametrize('name', CALLS)
def test_arrays_that_are_not_contiguous_give_the_same(name):
    function, *arrays = CALLS[name]
    spread = [np.repeat(array, 2, axis=-1)[..., ::2] for array in arrays]
    assert all(array.size < 2 or not array.flags.c_contiguous for array in spread)
    np.testing.assert_allclose(function(*spread), function(*arrays), rtol=1e-12, atol=1e-15)


SINGLE = [
    'path_length', 'cc_orientation', 'tb_e', 'ev', 'rms_jerk', 'ate', 'rte_3_se3', 'resample',
    'action_instability', 'window_mean', 'mean_trajectory', 'risk_factor', 'travelled_lengths',
    'reversals', 'stagnation', 'chunk_entropy', 'stac', 'chunk_consistency',
]  # fmt: skip


@pytest.mark.parametrize('name', SINGLE)
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
