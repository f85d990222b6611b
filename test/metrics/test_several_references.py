# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Several references: mean trajectory, errors against the nearest, warping, way along a path."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_strategies import paths

from frame_ros import metrics
from frame_ros.metrics import (
    dtw_distance,
    mean_trajectory,
    reference_errors,
    resample_at_arc_length,
    travelled_lengths,
)

# Along x at 1 m/s, and the same way at half the speed with a pause.
FAST = (np.array([0.0, 1.0, 2.0, 3.0]), np.array([[0.0, 0], [1, 0], [2, 0], [3, 0]]))
SLOW = (np.array([0.0, 2.0, 3.0, 7.0]), np.array([[0.0, 1], [1, 1], [1, 1], [3, 1]]))


def test_the_mean_by_time_takes_the_same_share_of_each_duration():
    stamps, mean = mean_trajectory([FAST, SLOW], samples=8)
    np.testing.assert_allclose(stamps, np.linspace(0.0, 5.0, 8))
    # Slow is at 0.5, 1, 1, 1.5, 2, 2.5, 3 m after 1 to 7 s.
    slow = np.array([0.0, 0.5, 1.0, 1.0, 1.5, 2.0, 2.5, 3.0])
    fast = np.linspace(0.0, 3.0, 8)
    np.testing.assert_allclose(mean, np.column_stack([(slow + fast) / 2, np.full(8, 0.5)]))


def test_the_mean_by_arc_length_takes_the_same_share_of_each_way():
    stamps, mean = mean_trajectory([FAST, SLOW], samples=4, by='arc_length')
    np.testing.assert_allclose(mean, [[0, 0.5], [1, 0.5], [2, 0.5], [3, 0.5]])
    # Fast is there after 0, 1, 2, 3 s; slow after 0, 2, halfway from 2 to 7 as the pause counts
    # towards the way after it, and 7 s.
    np.testing.assert_allclose(stamps, [0.0, 1.5, 3.25, 5.0])


def test_the_mean_of_one_is_itself_and_has_the_most_samples():
    stamps, mean = mean_trajectory([FAST])
    np.testing.assert_allclose(stamps, FAST[0])
    np.testing.assert_allclose(mean, FAST[1])
    long = (np.arange(9.0), np.arange(18.0).reshape(9, 2))
    assert mean_trajectory([FAST, long, SLOW])[1].shape == (9, 2)
    nanoseconds = (np.array([0, 1_000_000_000]), FAST[1][:2])
    np.testing.assert_allclose(mean_trajectory([nanoseconds], 3)[0], [0.0, 5e8, 1e9])


@settings(max_examples=40)
@given(paths(minimum=2), st.sampled_from(['time', 'arc_length']), st.integers(2, 30))
def test_the_mean_of_copies_is_the_path_resampled(path, by, samples):
    if metrics.path_length(path) == 0.0:
        return
    times = np.arange(len(path)) * 0.1
    stamps, mean = mean_trajectory([(times, path)] * 3, samples, by)
    if by == 'time':
        wanted = metrics.resample(path, times, np.linspace(0.0, times[-1], samples))
    else:
        lengths = np.linspace(0.0, metrics.path_length(path), samples)
        wanted = resample_at_arc_length(path, lengths)
    np.testing.assert_allclose(mean, wanted, atol=1e-6)
    assert (np.diff(stamps) > 0).all()


def test_points_at_lengths_of_way():
    corner = np.array([[0.0, 0], [0, 0], [1, 0], [1, 3]])
    found = resample_at_arc_length(corner, [-1.0, 0.0, 0.5, 1.0, 2.0, 4.0, 9.0])
    np.testing.assert_allclose(found, [[0, 0], [0, 0], [0.5, 0], [1, 0], [1, 1], [1, 3], [1, 3]])
    np.testing.assert_allclose(travelled_lengths(corner), [0.0, 0.0, 1.0, 4.0])


def test_errors_against_the_nearest_by_time():
    position = np.array([[0.0, 0.2], [1.0, 0.2], [2.0, 0.2]])
    found = reference_errors(position, [0.0, 1.0, 2.0], [SLOW, FAST])
    assert found.ate_reference == 1
    assert (found.ate, found.rte) == (pytest.approx(0.2), pytest.approx(0.0, abs=1e-12))
    # Slow is at 0, 0.5, 1 m then, 0.8 m to the side.
    wanted = np.mean(np.hypot([0.0, 0.5, 1.0], 0.8))
    assert found.ates == (pytest.approx(wanted), found.ate)
    assert found.rtes == (pytest.approx(0.5), found.rte)
    assert np.isnan(found.dtw)


def test_by_arc_length_another_speed_is_no_error():
    stamps = np.array([0.0, 0.1, 4.0])
    position = np.array([[0.0, 1.0], [0.5, 1.0], [3.0, 1.0]])
    by_time = reference_errors(position, stamps, [SLOW])
    by_length = reference_errors(position, stamps, [SLOW], by='arc_length')
    assert by_time.ate > 0.2
    assert by_length.ate == pytest.approx(0.0, abs=1e-12)
    # The way across a gap is no way: after it the reference is where it was.
    broken = reference_errors(position, stamps, [SLOW], 'arc_length', breaks=[False, False, True])
    assert broken.ate == pytest.approx(2.5 / 3.0)


def test_alignment_delta_and_library_are_passed_on():
    torch = pytest.importorskip('torch')
    rng = np.random.default_rng(0)
    path, times = rng.normal(size=(9, 3)).cumsum(axis=0), np.arange(9) * 0.1
    reference = path + rng.normal(size=(9, 3))
    tensor = torch.from_numpy(path).requires_grad_()
    for by in ('time', 'arc_length'):
        found = reference_errors(path, times, [(times, reference)], by, 'sim3', delta=3)
        twin = reference_errors(tensor, times, [(times, reference)], by, 'sim3', delta=3)
        ours = [float(twin.ate.detach()), float(twin.rte.detach())]
        np.testing.assert_allclose(ours, [found.ate, found.rte])
        assert isinstance(twin.rte, torch.Tensor) and twin.rte.requires_grad
    found = reference_errors(path, times, [(times, reference)], align='se3', delta=2)
    assert found.ate == metrics.absolute_trajectory_error(path, reference, 'se3')
    assert found.rte == metrics.relative_trajectory_error(path, reference, 2, 'se3')
    stamps, mean = mean_trajectory([(times, tensor), (times, reference)])
    assert isinstance(mean, torch.Tensor) and isinstance(stamps, torch.Tensor)
    np.testing.assert_allclose(mean.detach(), (path + reference) / 2.0)


def test_the_live_form_is_the_same():
    rng = np.random.default_rng(1)
    times = np.arange(40) * 0.1
    path = rng.normal(size=(40, 3)).cumsum(axis=0)
    references = [(times * 1.1, path + rng.normal(size=(40, 3))), (times, path[::-1].copy())]
    lengths = travelled_lengths(path)
    for by in ('time', 'arc_length'):
        live = metrics.ReferenceTracker(references, match=by, delta=2)
        for time, length, position in zip(times, lengths, path, strict=True):
            live.update(time, length, *position)
        found = reference_errors(path, times, references, by, delta=2)
        assert live.ate_reference == found.ate_reference
        np.testing.assert_allclose(live.ates, found.ates, rtol=1e-9)
        np.testing.assert_allclose(live.rtes, found.rtes, rtol=1e-9)


def textbook_dtw(first, second, window=None):
    """Least sum of distances, by the recursion of the textbooks."""
    shift = max(len(first), len(second)) if window is None else window
    ahead = shift + max(len(second) - len(first), 0)
    behind = shift + max(len(first) - len(second), 0)
    table = np.full((len(first) + 1, len(second) + 1), np.inf)
    table[0, 0] = 0.0
    for i in range(len(first)):
        for j in range(max(i - behind, 0), min(i + ahead + 1, len(second))):
            before = min(table[i, j], table[i, j + 1], table[i + 1, j])
            table[i + 1, j + 1] = before + np.linalg.norm(first[i] - second[j])
    return table[-1, -1]


@settings(max_examples=40)
@given(st.integers(2, 3).flatmap(lambda d: st.tuples(paths(dimension=d), paths(dimension=d))),
       st.none() | st.integers(0, 5))  # fmt: skip
def test_warping_is_that_of_the_textbooks(both, window):
    pytest.importorskip('dtaidistance')
    wanted = textbook_dtw(*both, window)
    assert dtw_distance(*both, window) == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    longer = max(map(len, both))
    assert dtw_distance(*both, window, normalised=True) == pytest.approx(wanted / longer, abs=1e-9)


def test_warping_forgives_pauses_and_is_never_above_ate_when_normalised():
    pytest.importorskip('dtaidistance')
    path = np.random.default_rng(2).normal(size=(12, 3)).cumsum(axis=0)
    assert dtw_distance(np.repeat(path, 3, axis=0), path) == pytest.approx(0.0, abs=1e-12)
    other = path + np.random.default_rng(3).normal(size=path.shape)
    ate = metrics.absolute_trajectory_error(path, other)
    assert dtw_distance(path, other, normalised=True) <= ate
    assert dtw_distance(path, other, window=0, normalised=True) == pytest.approx(ate)
    # By hand: 0-0, 1-0, 3-4 costs 0 + 1 + 1.
    assert dtw_distance([[0.0, 0], [1, 0], [3, 0]], [[0.0, 0], [4, 0]]) == 2.0
    found = reference_errors(path, np.arange(12.0), [(np.arange(12.0), other)], with_dtw=True)
    assert found.dtw == dtw_distance(path, other)


def test_warping_is_that_of_the_published_library():
    pytest.importorskip('dtaidistance')
    torch = pytest.importorskip('torch')
    from frame_ros.core.errors import FrameRosError

    try:
        from frame_ros.core.torchvision_import import import_torchvision

        import_torchvision()
    except (ImportError, FrameRosError):
        pass
    library = pytest.importorskip('robometric_frame')
    rng = np.random.default_rng(4)
    path, other = rng.normal(size=(20, 3)), rng.normal(size=(13, 3))
    metric = library.DTWDistance()
    metric.update(torch.from_numpy(path), torch.from_numpy(other))
    assert dtw_distance(path, other) == pytest.approx(float(metric.compute()), rel=1e-5)
    assert dtw_distance(torch.from_numpy(path), other) == dtw_distance(path, other)
