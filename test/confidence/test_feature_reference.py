# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Distances of features from calibration episodes, against SciPy and scikit-learn."""

import attrs
import numpy as np
import pytest
from scipy.spatial import KDTree
from scipy.spatial.distance import mahalanobis

from frame_ros.confidence.calibration_file import CalibrationFile
from frame_ros.confidence.calibration_parts import FeatureReference
from frame_ros.confidence.feature_reference import (
    FEATURE_SCORES,
    FeatureDistances,
    feature_scale,
    fit_features,
    held_out_distances,
)
from frame_ros.core.errors import CalibrationError, ShapeError, ValueRangeError
from frame_ros.metrics.families.feature_distances import (
    mahalanobis_distance,
    nearest_neighbour_distance,
)

SOURCE = 'an encoder'


def drawn(count=12, steps=9, width=5, seed=0) -> list[np.ndarray]:
    """Features of episodes, in directions of very different extent, in single precision."""
    random = np.random.default_rng(seed)
    mixing = random.normal(size=(width, width)) * random.lognormal(sigma=2.0, size=width)
    episodes = [random.normal(size=(steps, width)) @ mixing + 3.0 for _ in range(count)]
    return [np.float32(each).astype(np.float64) for each in episodes]


def test_neighbours_far_from_the_origin_and_features_out_of_range_are_found():
    random = np.random.default_rng(0)
    reference = fit_features([random.normal(size=(900, 5)) + 1e5], SOURCE)
    distances, features = FeatureDistances(reference), random.normal(size=(50, 5)) + 1e5
    mine = [distances.of(row, SOURCE)[0]['feature_knn'] for row in features]
    expected = nearest_neighbour_distance(
        features, reference.rows, reference.neighbours, feature_scale(reference)
    )
    np.testing.assert_allclose(mine, expected, rtol=1e-9)
    far = distances.of(np.array([1e100, 0.0, 0.0, 0.0, 0.0]), SOURCE)[0]
    assert far['feature_knn'] > 1e90


def test_the_fit_is_that_of_scikit_learn():
    covariance = pytest.importorskip('sklearn.covariance')
    every = np.concatenate(drawn())
    expected = covariance.LedoitWolf().fit(every)
    found = fit_features(drawn(), SOURCE)
    np.testing.assert_allclose(found.mean, expected.location_, rtol=1e-9)
    np.testing.assert_allclose(
        np.linalg.inv(found.inverse_covariance), expected.covariance_, rtol=1e-6
    )
    features = np.random.default_rng(1).normal(size=(20, 5)) * 10.0
    distances = FeatureDistances(found)
    mine = [distances.of(row, SOURCE)[0]['feature_mahalanobis'] for row in features]
    np.testing.assert_allclose(np.square(mine), expected.mahalanobis(features), rtol=1e-6)


@pytest.mark.parametrize('rows', [40, 99, 1000])
def test_neighbours_are_those_of_a_tree_of_scipy(rows):
    reference = fit_features(drawn(count=30, steps=20), SOURCE, neighbours=7, rows=rows)
    scale = feature_scale(reference)
    features = np.random.default_rng(1).normal(size=(50, 5)) * 10.0
    tree = KDTree(reference.rows / scale)
    expected = tree.query(features / scale, k=7)[0].mean(axis=1)
    distances = FeatureDistances(reference)
    mine = [distances.of(row, SOURCE)[0]['feature_knn'] for row in features]
    np.testing.assert_allclose(mine, expected, rtol=1e-9)


@pytest.mark.parametrize('neighbours', [1, 3, 60, 1000])
def test_one_by_one_is_the_batch_form(neighbours):
    reference = fit_features(drawn(), SOURCE, neighbours=neighbours)
    features = np.concatenate([np.concatenate(drawn())[:30], np.eye(5) * 1e4])
    distances = FeatureDistances(reference)
    mine = [distances.of(row.tolist(), SOURCE) for row in features]
    cloud = mahalanobis_distance(features, reference.mean, reference.inverse_covariance)
    nearest = nearest_neighbour_distance(
        features, reference.rows, reference.neighbours, feature_scale(reference)
    )
    for (values, problem), *expected in zip(mine, cloud, nearest, strict=True):
        assert problem == '' and tuple(values) == FEATURE_SCORES
        np.testing.assert_allclose(list(values.values()), expected, rtol=1e-9, atol=1e-12)
    one = mahalanobis(features[0], reference.mean, reference.inverse_covariance)
    assert cloud[0] == pytest.approx(one, rel=1e-9)


def test_neighbours_closer_than_single_precision_tells_are_found():
    """An arm that stands still has hundreds of such features."""
    random = np.random.default_rng(0)
    still = 5.0 + 1e-5 * random.normal(size=(300, 5))
    reference = fit_features([still, random.normal(size=(300, 5))], SOURCE, neighbours=5)
    distances, scale = FeatureDistances(reference), feature_scale(reference)
    tree = KDTree(reference.rows / scale)
    for features in still[:20] + 1e-6:
        expected = tree.query(features / scale, k=5)[0].mean()
        found = distances.of(features, SOURCE)[0]['feature_knn']
        assert found == pytest.approx(expected, rel=1e-9)


def test_a_reference_that_was_saved_gives_the_same_bits():
    reference = fit_features(drawn(), SOURCE)
    read = CalibrationFile.from_json(CalibrationFile(features=reference).to_json()).features
    features = np.random.default_rng(1).normal(size=(20, 5))
    first, second = FeatureDistances(reference), FeatureDistances(read)
    assert [first.of(row, SOURCE) for row in features] == [
        second.of(row, SOURCE) for row in features
    ]


def test_many_rows_are_thinned_evenly_and_all_count_for_the_covariance():
    episodes = drawn(count=40, steps=50)
    reference = fit_features(episodes, SOURCE, rows=100)
    assert reference.rows.shape == (100, 5)
    every = np.concatenate(episodes)
    places = [int(np.flatnonzero((every == row).all(axis=1))[0]) for row in reference.rows]
    assert places[0] == 0 and places[-1] == len(every) - 1
    assert set(np.diff(places)) <= {19, 20, 21}
    np.testing.assert_allclose(reference.mean, every.mean(axis=0))


def test_what_is_far_from_all_that_was_seen_is_far():
    reference = fit_features(drawn(), SOURCE)
    distances = FeatureDistances(reference)
    inside = [distances.of(row, SOURCE)[0] for row in drawn(seed=0)[0]]
    outside = distances.of(reference.mean + 20.0 * feature_scale(reference), SOURCE)[0]
    for name in FEATURE_SCORES:
        assert outside[name] > 3.0 * max(row[name] for row in inside)


@pytest.mark.parametrize(
    ('features', 'source', 'reason'),
    [
        ([], SOURCE, 'exposes no features'),
        (np.zeros(5), 'another', "features are of 'another', those of the calibration of 'an enc"),
        (np.zeros(4), SOURCE, r'shape (4,), those of the calibration (5,)'),
        ([1.0, np.nan, 0.0, 0.0, 0.0], SOURCE, 'not finite'),
        ([1e200, 0.0, 0.0, 0.0, 0.0], SOURCE, 'too large'),
    ],
)
def test_what_cannot_be_compared_is_said(features, source, reason):
    values, problem = FeatureDistances(fit_features(drawn(), SOURCE)).of(features, source)
    assert reason in problem and np.isnan(list(values.values())).all()


@pytest.mark.parametrize(
    ('episodes', 'message'),
    [
        ([], 'are they of one policy'),
        ([np.zeros((3, 2)), np.zeros((3, 4))], 'are they of one policy'),
        ([np.zeros(3)], 'are they of one policy'),
        ([np.zeros((1, 2))], 'features of 1 inferences have no covariance'),
        ([np.full((5, 2), np.nan)], 'features of 0 inferences'),
        ([np.ones((5, 2))], 'do not vary'),
        ([np.random.default_rng(0).normal(size=(9, 2)) * 1e200], 'too large'),
        ([np.array([[0.0, 0.0], [1.0, 1.0]])], 'do not vary in every direction'),
    ],
)
def test_what_cannot_be_fitted_is_said(episodes, message):
    with pytest.raises(CalibrationError, match=message):
        fit_features(episodes)


def test_inferences_without_features_are_left_out():
    episodes = drawn()
    holes = [np.vstack([each, np.full((2, 5), np.nan)]) for each in episodes]
    assert fit_features(holes, SOURCE) == fit_features(episodes, SOURCE)


def test_a_constant_feature_that_changes_is_far():
    """An image that was always the same in the calibration episodes has one."""
    episodes = [np.column_stack([each, np.full(len(each), 2.0)]) for each in drawn()]
    distances = FeatureDistances(fit_features(episodes, SOURCE))
    usual, changed = episodes[0][0], episodes[0][0] + np.eye(6)[5] * 100.0
    for name in FEATURE_SCORES:
        assert distances.of(changed, SOURCE)[0][name] > 2 * distances.of(usual, SOURCE)[0][name]


def test_held_out_episodes_are_no_neighbours_of_their_own():
    episodes = drawn()
    held = held_out_distances(episodes, neighbours=1, folds=4)
    inside = FeatureDistances(fit_features(episodes, neighbours=1))
    assert max(inside.of(row, '')[0]['feature_knn'] for row in episodes[0]) < 1e-9
    assert min(each['feature_knn'].min() for each in held) > 1e-3
    group = [each for i, each in enumerate(episodes) if i % 4 != 1]
    expected = FeatureDistances(fit_features(group, neighbours=1)).of(episodes[5][3], '')[0]
    assert {name: held[5][name][3] for name in FEATURE_SCORES} == expected


def test_failed_episodes_are_held_out_of_every_reference():
    episodes = drawn()
    is_success = [i != 2 for i in range(len(episodes))]
    far = [each if success else each + 1e3 for each, success in zip(episodes, is_success)]
    held = held_out_distances(far, fitted=is_success)
    alone = held_out_distances([each for i, each in enumerate(far) if i != 2], folds=11)
    assert held[2]['feature_mahalanobis'].min() > 10 * alone[0]['feature_mahalanobis'].max()
    with pytest.raises(CalibrationError, match='none of 12 episodes is left'):
        held_out_distances(far, fitted=[False] * 12)
    with pytest.raises(CalibrationError, match='one flag for each'):
        held_out_distances(far, fitted=[True])


def test_an_inverse_that_is_none_is_refused():
    reference = FeatureReference(
        rows=np.zeros((2, 2)), mean=np.zeros(2), inverse_covariance=-np.eye(2), neighbours=1
    )
    with pytest.raises(CalibrationError, match='not positive'):
        FeatureDistances(reference)
    endless = attrs.evolve(reference, inverse_covariance=np.eye(2) * 1e-320)
    with pytest.raises(CalibrationError, match='no finite inverse'):
        FeatureDistances(endless)


@pytest.mark.filterwarnings('ignore::RuntimeWarning')
def test_what_is_too_far_to_be_measured_is_never_near():
    episodes = [each * 1e-100 for each in drawn(count=30)]
    distances = FeatureDistances(fit_features(episodes, SOURCE, neighbours=2))
    far = distances.of(np.full(5, 1e149), SOURCE)[0]['feature_knn']
    assert not far < 1e200


@pytest.mark.parametrize(
    ('call', 'error', 'message'),
    [
        (lambda: mahalanobis_distance(np.zeros(3), np.zeros(2), np.eye(2)), ShapeError, 'expected'),
        (lambda: mahalanobis_distance(3.0, np.zeros(2), np.eye(2)), ShapeError, 'expected'),
        (
            lambda: nearest_neighbour_distance(np.zeros(2), np.zeros((4, 3)), 1, np.ones(2)),
            ShapeError, 'expected',
        ),
        (
            lambda: nearest_neighbour_distance(np.zeros(2), np.zeros((4, 2)), 5, np.ones(2)),
            ValueRangeError, '1 to 4',
        ),
        (
            lambda: nearest_neighbour_distance(np.zeros(2), np.zeros((4, 2)), 1, np.zeros(2)),
            ValueRangeError, 'not positive',
        ),
    ],
)  # fmt: skip
def test_arrays_that_do_not_fit_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
