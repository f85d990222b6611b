# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Agreement with robometric-frame 0.3.0, the published library of FRAME, where it is installed.

Each of its classes beside our function and our TorchMetrics class; where it defines a metric in
another way than METRICS.md, what the difference is, in numbers. It computes in single precision.
"""

import numpy as np
import pytest

from frame_ros import metrics

torch = pytest.importorskip('torch')
# Ours first: it imports torchvision in a way that works beside every torch.
classes = pytest.importorskip('frame_ros.metrics.torch')
library = pytest.importorskip('robometric_frame')

RNG = np.random.default_rng(0)
EPISODES, SAMPLES = 3, 40
PATHS = RNG.normal(size=(EPISODES, SAMPLES, 3)).cumsum(axis=1)
REFERENCES = PATHS + RNG.normal(size=(EPISODES, SAMPLES, 3))
HEADINGS = RNG.uniform(-3.0, 3.0, size=(EPISODES, SAMPLES))
ACTIONS = RNG.normal(size=(EPISODES, SAMPLES, 4))
PREDICTED = ACTIONS + RNG.normal(size=(EPISODES, SAMPLES, 4))
OBSTACLE = np.array([30.0, 0.0, 0.0])


def value_of(metric, arrays, one_by_one=True):
    """Returns the value of a metric over episodes, in one batch or one by one."""
    tensors = [torch.from_numpy(array) for array in arrays]
    for episode in zip(*tensors) if one_by_one else [tensors]:
        metric.update(*episode)
    return metric.compute()


def all_agree(theirs, function, ours, *arrays, one_by_one=True):
    """Asserts that their class, our function and our class give the same mean over the episodes."""
    wanted = np.mean([function(*episode) for episode in zip(*arrays)])
    assert float(value_of(theirs, arrays, one_by_one)) == pytest.approx(wanted, rel=1e-5)
    assert float(value_of(ours, arrays)) == pytest.approx(wanted, rel=1e-12)


def distance_to_obstacle(path, environment=None):
    return torch.linalg.vector_norm(path - torch.from_numpy(OBSTACLE), dim=-1)


DISTANCES = distance_to_obstacle(torch.from_numpy(PATHS)).numpy()


def test_success_rate():
    successes = np.array([True, False, True, True])
    theirs, ours = library.SuccessRate(), classes.SuccessRate()
    for metric in (theirs, ours):
        metric.update(torch.from_numpy(successes))
        metric.update(torch.tensor([False]))
        assert float(metric.compute()) == pytest.approx(3 / 5)
    assert metrics.success_rate([*successes, False]) == pytest.approx(3 / 5)


def test_task_completion_rate():
    chains = torch.tensor([1, 0, 1, 1, 0])
    theirs, ours = library.TaskCompletionRate(), classes.TaskCompletionRate()
    theirs.update(chains)
    ours.update(chains, torch.ones(5))  # theirs takes one number for each chain
    wanted = metrics.task_completion_rate(int(chains.sum()), len(chains))
    assert float(theirs.compute()) == pytest.approx(wanted)
    assert float(ours.compute()) == pytest.approx(wanted)


def test_action_accuracy_is_our_amse_and_namse():
    theirs = value_of(library.ActionAccuracy(normalize=True), (PREDICTED, ACTIONS))
    pairs = list(zip(ACTIONS, PREDICTED))
    for name, function in (('amse', metrics.amse), ('namse', metrics.namse)):
        ours = value_of(classes.torch_metric(name), (ACTIONS, PREDICTED))
        assert float(theirs[name]) == pytest.approx(function(pairs), rel=1e-5)
        assert float(ours) == pytest.approx(function(pairs), rel=1e-12)


def test_action_accuracy_calls_the_mean_over_trajectories_mse_too():
    theirs, ours = library.ActionAccuracy(), classes.MSE()
    for metric, order in ((theirs, -1), (ours, 1)):
        metric.update(*(torch.tensor([[1.0], [1.0], [1.0]]), torch.zeros(3, 1))[::order])
        metric.update(*(torch.tensor([[3.0]]), torch.zeros(1, 1))[::order])
    assert float(theirs.compute()['mse']) == 5.0  # (1 + 9) / 2 trajectories
    assert float(ours.compute()) == 3.0  # (1 + 1 + 1 + 9) / 4 steps
    one = library.ActionAccuracy()
    one.update(torch.from_numpy(PREDICTED[0]), torch.from_numpy(ACTIONS[0]))
    wanted = metrics.mse(ACTIONS[0], PREDICTED[0])
    assert float(one.compute()['mse']) == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize('one_by_one', [True, False])
def test_path_length(one_by_one):
    all_agree(
        library.PathLength(),
        metrics.path_length,
        classes.PathLength(),
        PATHS,
        one_by_one=one_by_one,
    )


def test_path_smoothness_is_our_mean_second_difference():
    all_agree(
        library.PathSmoothness(),
        lambda p: metrics.path_smoothness(p, 'mean_second_difference'),
        classes.PathSmoothness('mean_second_difference'),
        PATHS,
    )


def test_path_smoothness_of_the_paper_is_divided_by_the_path_length():
    corner = np.array([[[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [2.0, 4.0]]])
    theirs = float(value_of(library.PathSmoothness(), (corner,)))
    assert theirs == pytest.approx(np.sqrt(8.0) / 2)  # one turn over L - 2 = 2 of them, m
    assert metrics.path_smoothness(corner[0]) == pytest.approx(np.sqrt(8.0) / 6)  # over 6 m
    # Their value grows with the size of the path; the paper's has no unit.
    assert float(value_of(library.PathSmoothness(), (10 * corner,))) == pytest.approx(10 * theirs)
    assert metrics.path_smoothness(10 * corner[0]) == pytest.approx(np.sqrt(8.0) / 6)


def test_curvature_change_without_wrapping():
    all_agree(
        library.CurvatureChange(),
        lambda p, h: metrics.curvature_change(p, h, wrap=False),
        classes.CurvatureChange(wrap=False),
        PATHS,
        HEADINGS,
    )


def test_curvature_change_across_the_seam_of_the_headings():
    line = np.array([[[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]])
    headings = np.array([[np.pi - 0.1, -np.pi + 0.1, -np.pi + 0.3]])  # turns of 0.2 and 0.2 rad
    theirs = value_of(library.CurvatureChange(), (line, headings))
    assert float(theirs) == pytest.approx(2 * np.pi, rel=1e-5)
    assert metrics.curvature_change(line[0], headings[0]) == pytest.approx(0.0, abs=1e-12)


def test_curvature_change_at_a_pause_is_huge_in_the_library():
    line = np.array([[[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]])
    headings = np.array([[0.0, 0.1, 0.2, 0.3, 0.4]])
    assert float(value_of(library.CurvatureChange(), (line, headings))) > 1e5  # 0.1 / 1.2e-7 m
    assert metrics.curvature_change(line[0], headings[0]) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize('one_by_one', [True, False])
def test_trajectory_errors(one_by_one):
    all_agree(
        library.AbsoluteTrajectoryError(),
        metrics.absolute_trajectory_error,
        classes.AbsoluteTrajectoryError(),
        PATHS,
        REFERENCES,
        one_by_one=one_by_one,
    )
    for delta in (1, 5):
        all_agree(
            library.RelativeTrajectoryError(delta),
            lambda a, b, n=delta: metrics.relative_trajectory_error(a, b, n),
            classes.RelativeTrajectoryError(delta),
            PATHS,
            REFERENCES,
            one_by_one=one_by_one,
        )


def test_dynamic_time_warping():
    pytest.importorskip('dtaidistance')
    from frame_ros.metrics.families.reference_errors import dtw_distance

    all_agree(library.DTWDistance(), dtw_distance, classes.DTWDistance(), PATHS, REFERENCES)


def test_collision_rate_of_the_library_counts_steps_in_contact_ours_contacts():
    near = np.array([[0.0, 0.0], [9.8, 0.0], [9.9, 0.0], [9.9, 0.1], [2.0, 0.0], [9.7, 0.0]])

    def wall(path, environment=None):
        return (10.0 - path[..., 0]).abs()

    theirs = library.CollisionRate(wall, collision_threshold=0.5)
    theirs.update(torch.from_numpy(near))
    assert float(theirs.compute()['collision_rate']) == pytest.approx(4 / 6)
    in_contact = np.abs(10.0 - near[:, 0]) <= 0.5
    ours = classes.CollisionRate()
    ours.update(torch.from_numpy(in_contact))
    assert metrics.count_collisions(in_contact) == 2
    assert float(ours.compute()) == pytest.approx(2 / 6)
    assert metrics.collision_rate(2, 6) == pytest.approx(2 / 6)
    # Where every contact lasts one step, both count the same.
    brief = near[[0, 1, 4, 5, 0, 0]]
    theirs.reset()
    theirs.update(torch.from_numpy(brief))
    ours.reset()
    ours.update(torch.from_numpy(np.abs(10.0 - brief[:, 0]) <= 0.5))
    assert float(theirs.compute()['collision_rate']) == pytest.approx(float(ours.compute()))


def test_obstacle_proximity():
    theirs = value_of(library.ObstacleProximity(distance_to_obstacle), (PATHS,))
    ours = value_of(classes.ObstacleProximity(), (DISTANCES,))
    wanted = np.mean(metrics.obstacle_proximity(DISTANCES))
    assert float(theirs['mean_min_distance']) == pytest.approx(wanted, rel=1e-5)
    assert float(ours) == pytest.approx(wanted, rel=1e-12)


def test_risk_factor_is_our_variant_of_the_authors():
    theirs = value_of(library.RiskFactor(distance_to_obstacle), (PATHS,))
    ours = value_of(classes.RiskFactor(variant='authors'), (DISTANCES,))
    wanted = np.mean(metrics.risk_factor(DISTANCES, variant='authors'))
    assert float(theirs['risk_factor']) == pytest.approx(wanted, rel=1e-5)
    assert float(ours) == pytest.approx(wanted, rel=1e-12)


def test_risk_factor_of_the_library_has_no_floor_and_weighs_steps():
    def first_coordinate(path, environment=None):
        return path[..., 0]

    theirs = library.RiskFactor(first_coordinate)
    theirs.update(torch.zeros(1, 2))
    assert float(theirs.compute()['risk_factor']) == pytest.approx(1e6)
    assert metrics.risk_factor(np.zeros(1)) == pytest.approx(1e3)
    # Episodes of 3 and of 1 step, at 1 m and at 0.1 m.
    theirs.reset()
    ours = classes.RiskFactor()
    for distances in (torch.ones(3), torch.full((1,), 0.1)):
        theirs.update(torch.stack([distances, distances], dim=-1))
        ours.update(distances)
    assert float(theirs.compute()['risk_factor']) == pytest.approx((3 * 1 + 10) / 4, rel=1e-4)
    assert float(ours.compute()) == pytest.approx((1 + 10) / 2)


def test_inference_latency():
    latencies = RNG.gamma(2.0, 0.05, size=200)
    theirs = library.InferenceLatency(percentiles=[0.5, 0.95, 0.99])
    ours, mean = classes.LatencyStatistics(), classes.InferenceLatency()
    for metric in (theirs, ours, mean):
        metric.update(torch.from_numpy(latencies))
    found, wanted = theirs.compute(), metrics.latency_statistics(latencies)
    assert float(mean.compute()) == pytest.approx(wanted.mean)
    for their_name, our_name, attribute in (
        ('mean', 'il', 'mean'),
        ('p50', 'il_p50', 'p50'),
        ('p95', 'il_p95', 'p95'),
        ('p99', 'il_p99', 'p99'),
    ):
        expected = getattr(wanted, attribute)
        assert float(found[their_name]) == pytest.approx(expected, rel=1e-5)
        assert float(ours.compute()[our_name]) == pytest.approx(expected, rel=1e-12)
    assert float(found['max']) == pytest.approx(wanted.worst, rel=1e-5)


def test_memory_usage_peaks_in_bytes_not_in_mebibytes():
    theirs, ours = library.MemoryUsage(), classes.MemoryUsage()
    for mebibytes in (700.0, 900.0, 850.0):
        theirs.update(torch.tensor(mebibytes))
        ours.update(mebibytes * 2**20)
    assert float(theirs.compute()['peak_mb']) * 2**20 == pytest.approx(float(ours.compute()))
