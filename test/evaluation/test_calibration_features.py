# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Features of calibration episodes: their distances, and the reference in the file."""

from dataclasses import replace

import numpy as np
import pytest

from frame_ros.confidence.feature_reference import (
    FEATURE_SCORES,
    FeatureDistances,
    held_out_distances,
)
from frame_ros.confidence.score_episode import ScoreEpisode
from frame_ros.evaluation.calibration.fitting import fitted_file
from frame_ros.evaluation.calibration.options import CalibrationOptions
from frame_ros.evaluation.calibration.study import study

QUICK = CalibrationOptions(resamples=20)
SOURCE, STEPS, WIDTH = 'an encoder', 12, 6


def made(number: int, **changes) -> ScoreEpisode:
    """An episode; a failed one leaves half way to where no other was."""
    random = np.random.default_rng(number)
    outcome = changes.pop('outcome', number % 3 != 0)
    features = random.normal(size=(STEPS, WIDTH)).astype(np.float32).astype(float)
    if not outcome:
        features[STEPS // 2 :] += 6.0
    scores = dict.fromkeys(FEATURE_SCORES, np.full(STEPS, 99.0))  # of an earlier calibration
    return ScoreEpisode(
        **{
            'name': f'e{number}', 'outcome': outcome, 'duration': float(STEPS),
            'times': np.arange(STEPS, dtype=float), 'distance': np.full(STEPS, np.nan),
            'scores': {'confidence': random.random(STEPS), **scores},
            'contact': np.zeros(STEPS, bool), 'features': features, 'feature_source': SOURCE,
            **changes,
        }
    )  # fmt: skip


@pytest.fixture(scope='module')
def episodes() -> list[ScoreEpisode]:
    return [made(number) for number in range(60)]


def test_each_episode_is_compared_with_the_other_successful_ones(episodes):
    found = study(episodes, QUICK)
    is_success = [bool(each.outcome) for each in episodes]
    expected = held_out_distances([each.features for each in episodes], fitted=is_success)
    for each, values in zip(found.given.episodes, expected, strict=True):
        for name in FEATURE_SCORES:
            np.testing.assert_array_equal(each.scores[name], values[name])
    rows = {row.score: row for row in found.scores}
    for name in FEATURE_SCORES:
        assert max(area.value for area in rows[name].auroc.values()) > 0.95


def test_the_file_holds_the_features_of_the_successful_episodes(episodes):
    found = fitted_file(study(episodes, QUICK))
    successful = np.concatenate([each.features for each in episodes if each.outcome])
    assert found.features.source == SOURCE
    np.testing.assert_array_equal(found.features.rows, successful)
    assert set(FEATURE_SCORES) <= set(found.statistics) & set(found.horizon_thresholds)
    own = FeatureDistances(found.features)
    nearest = [own.of(row, SOURCE)[0]['feature_knn'] for row in successful]
    # Its own features are among the neighbours of each of them.
    assert np.mean(nearest) < 0.95 * found.statistics['feature_knn'].mean


def test_what_an_earlier_calibration_made_of_episodes_counts_for_nothing(episodes):
    plain = [replace(each, features=None, feature_source='') for each in episodes]
    found = study(plain, QUICK)
    assert found.features is None and fitted_file(found).features is None
    for name in FEATURE_SCORES:
        assert np.isnan(np.concatenate([each.scores[name] for each in found.given.episodes])).all()
    other = [
        replace(each, scores={**each.scores, **dict.fromkeys(FEATURE_SCORES, np.zeros(STEPS))})
        for each in episodes
    ]
    assert [each.data_hash for each in other] == [each.data_hash for each in episodes]
    hashes = [each.sha256 for each in fitted_file(study(episodes, QUICK)).provenance.episodes]
    assert hashes == [each.data_hash for each in episodes]


def test_an_episode_without_features_keeps_its_place(episodes):
    holes = [replace(episodes[0], features=None, feature_source=''), *episodes[1:]]
    found = study(holes, QUICK)
    assert found.features is not None
    assert [each.name for each in found.given.episodes] == [each.name for each in episodes]
    assert np.isnan(found.given.episodes[0].scores['feature_knn']).all()
    assert np.isfinite(found.given.episodes[1].scores['feature_knn']).all()


@pytest.mark.parametrize(
    ('change', 'note'),
    [
        (lambda each: {'feature_source': each.name[:2]}, 'they are of different sources'),
        (
            lambda each: {'features': each.features[:, : 2 + (each.name == 'e1')]},
            'are they of one policy',
        ),
        (lambda each: {'outcome': each.name == 'e1'}, 'none of 60 episodes is left'),
        (lambda each: {'features': np.ones((STEPS, 2))}, 'do not vary'),
    ],
)
def test_what_cannot_be_fitted_is_said(episodes, change, note):
    found = study([replace(each, **change(each)) for each in episodes], QUICK)
    assert found.features is None
    assert any('Distances of features are not fitted' in n and note in n for n in found.notes)


def test_features_that_an_episode_lost_are_said(episodes):
    lost = {'features': None, 'feature_source': '', 'feature_note': 'their number changes'}
    some = [replace(each, **lost) if n < 2 else each for n, each in enumerate(episodes)]
    found = study(some, QUICK)
    said = 'Features of 2 of 60 episodes are left out: their number changes (e0).'
    assert said in found.notes and found.features is not None
    found = study([replace(each, **lost) for each in episodes], QUICK)
    assert any('60 of 60' in note for note in found.notes) and found.features is None
