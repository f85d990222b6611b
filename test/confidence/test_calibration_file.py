# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The calibration file: what is written is read, and nothing else is."""

import json

import attrs
import numpy as np
import pytest

from frame_ros.confidence import (
    ActionWisePlattScaling,
    ActionWiseTemperatureScaling,
    AlarmThreshold,
    FalseAlarmRate,
    Guarantee,
    HistogramBinning,
    IsotonicScaling,
    PlattBinning,
    PlattScaling,
    TemperatureScaling,
)
from frame_ros.confidence.calibration_file import CalibrationFile
from frame_ros.confidence.calibration_parts import (
    CalibrationEpisode,
    FeatureReference,
    HorizonThresholds,
    Provenance,
    ScoreStatistics,
)
from frame_ros.confidence.combination import ScoreCombination
from frame_ros.confidence.fingerprint import Fingerprint
from frame_ros.confidence.recalibration.recalibrator import kinds
from frame_ros.confidence.score_channels import ScoreChannels
from frame_ros.core.errors import CalibrationError, SetupError

# Place of a threshold in a file.
THRESHOLD = ('guarantees', 0, 'thresholds', 'score_0')
SCORES = [f'score_{number}' for number in range(20)]
TEMPERATURES = (0.5, 1.0, 2.0)


def _fitted():
    """Every kind of recalibrator, fitted, with what it predicts of."""
    rng = np.random.default_rng(5)
    single, rows = rng.random(200), rng.random((200, 3))
    outcomes = rng.random(200) < single
    grid = np.sort(rng.random((200, 2, 3)), axis=-1)[..., ::-1]
    for made in (PlattScaling(), HistogramBinning(), PlattBinning(), IsotonicScaling()):
        yield made.fit(single, outcomes), (single,)
    yield ActionWisePlattScaling().fit(rows, outcomes), (rows,)
    for made in (TemperatureScaling(), ActionWiseTemperatureScaling()):
        yield made.fit(grid, outcomes, TEMPERATURES), (grid, TEMPERATURES)


def _guarantee(score, rng, points):
    threshold = AlarmThreshold(tuple(rng.random(points).tolist()), 9.5, 1.0, 12, 25)
    form = 'band' if points > 1 else 'constant'
    return Guarantee(FalseAlarmRate(0.1), form, 'bonferroni', {score: threshold}, {'ev': 'none'})


def _combination():
    """A combination of two inputs, with a channel that no success had."""
    median = np.arange(8.0)
    median[3] = np.nan
    channels = ScoreChannels(
        ('ev_step', 'elapsed'), np.zeros((3, 2, 2)), np.ones((3, 2, 2)), median, np.ones(8)
    )
    return ScoreCombination.weigh('mean', channels, [], ())


def _full(episodes=30, features=6, scores=SCORES):
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(episodes, features))
    return CalibrationFile(
        recalibrator=next(_fitted())[0],
        statistics={s: ScoreStatistics(mean=0.1, standard_deviation=0.2) for s in scores},
        horizon_thresholds={
            s: HorizonThresholds(quantile=0.1, thresholds=rng.random(100), episodes=episodes)
            for s in scores
        },
        guarantees=[_guarantee(s, rng, points) for s in scores for points in (1, 100)],
        expected_duration=8.0,
        longest_duration=12.5,
        features=FeatureReference(
            source='encoder', rows=rows, mean=rows.mean(axis=0),
            inverse_covariance=np.linalg.inv(np.cov(rows.T)), neighbours=5,
        ),
        stac_bandwidth=0.25,
        combination=_combination().to_dict(),
        drift={s: rng.random(1000) for s in scores},
        provenance=Provenance(
            episodes=tuple(
                CalibrationEpisode(name=f'episode_{n:04d}', sha256=f'{n:064x}')
                for n in range(episodes)
            ),
            policy='act', package_version='0.1.0', newest='2026-03-01T10:00:00Z',
            successes=episodes - 4, failures=4,
        ),
        fingerprint=Fingerprint(
            weights='ab' * 32, control_rate=30.0, cameras={'front': (640, 480)}, robot='so101',
            joints=('a', 'b'), instructions=('Pick the cube.',),
        ),
    )  # fmt: skip


def test_all_that_is_saved_is_loaded_to_the_bit(tmp_path):
    made = _full()
    made.save(tmp_path / 'calibration.json')
    found = CalibrationFile.load(tmp_path / 'calibration.json')
    assert found == made
    assert found.to_json() == made.to_json()
    assert np.array_equal(found.features.rows, made.features.rows)
    assert found != attrs.evolve(made, stac_bandwidth=0.26)
    assert found != attrs.evolve(made, drift={**made.drift, SCORES[0]: [0.5]})
    assert CalibrationFile.from_dict(made.to_dict()) == made
    empty = CalibrationFile()
    assert CalibrationFile.from_json(empty.to_json()) == empty


def test_every_recalibrator_predicts_the_same_from_a_file():
    every = list(_fitted())
    assert {type(made) for made, _ in every} == set(kinds())
    for made, arguments in every:
        read = CalibrationFile.from_json(CalibrationFile(recalibrator=made).to_json()).recalibrator
        assert type(read) is type(made)
        assert np.array_equal(read.predict(*arguments), made.predict(*arguments)), made.kind


def test_a_file_of_500_episodes_is_below_2_mb(tmp_path):
    _full(500, 64).save(tmp_path / 'calibration.json')
    assert (tmp_path / 'calibration.json').stat().st_size < 2_000_000


def test_references_of_drift_are_sorted():
    made = CalibrationFile(drift={'ev': [3.0, 1.0, 2.0]})
    assert made.drift['ev'].tolist() == [1.0, 2.0, 3.0]


def test_features_are_in_single_precision_and_written_short():
    made = CalibrationFile(
        features=FeatureReference(
            rows=[[1 / 3], [2e-9 / 3]], mean=[1 / 3], inverse_covariance=[[1.0]], neighbours=1
        )
    )
    assert '"rows":[[0.33333334],[6.6666667e-10]]' in made.to_json()
    assert made.features.rows[0, 0] == np.float32(1 / 3)
    assert made.features.mean[0] == 1 / 3


def test_the_part_that_metrics_depend_on():
    part = _full().of_metrics
    assert {**_full().to_dict(), 'provenance': 0} == {
        **_full().to_dict(), **part.to_dict(), 'provenance': 0,
    }  # fmt: skip
    assert set(_full().to_dict()) - set(part.to_dict()) == {
        'horizon_thresholds', 'guarantees', 'drift',
    }  # fmt: skip
    assert part.provenance.successes == 26 and part.provenance.episodes == ()


def test_the_standardised_value_of_a_score():
    assert ScoreStatistics(mean=1.0, standard_deviation=0.5).standardised(2.0) == 2.0
    assert np.isnan(ScoreStatistics(mean=1.0, standard_deviation=0.0).standardised(2.0))


def _with(content, path, value):
    """A copy of a document with another value at a path; `...` removes it."""
    copy = json.loads(json.dumps(content))
    place = copy
    for key in path[:-1]:
        place = place[key]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return copy


@pytest.mark.parametrize(
    'path, value, match',
    [
        (('format',), ..., 'no format'),
        (('format',), 'frame_ros calibration 9', "'frame_ros calibration 9'; 'frame_ros cal"),
        (('recalibrator',), [1], 'map of names'),
        (('recalibrator', 'kind'), 'magic', "kind 'magic'; expected: "),
        (('recalibrator', 'kind'), [], 'kind'),
        (('recalibrator', 'alpha'), ..., "lacks 'alpha'"),
        (('recalibrator', 'alpha'), 'big', "'alpha'"),
        (('recalibrator', 'notes'), 7, 'notes'),
        (('guarantees', 0, 'rate', 'value'), 1.5, 'alpha is 1.5; a rate'),
        (('guarantees', 0, 'rate', 'per'), 'day', "per episode or hour: 'day'"),
        (('guarantees', 0, 'form'), 'curve', "form is 'curve'"),
        (('guarantees', 0, 'refused'), ['a'], 'refused must be a map'),
        (THRESHOLD, 4, 'score_0 must be a map'),
        ((*THRESHOLD, 'upper'), ..., r'score_0.upper is missing'),
        ((*THRESHOLD, 'upper'), [], "'upper' of a threshold is no list"),
        ((*THRESHOLD, 'upper'), 'x', 'upper must be a list'),
        ((*THRESHOLD, 'episodes'), True, 'episodes must be a int'),
        ((*THRESHOLD, 'span'), 0.0, r'span is 0.0 s'),
        ((*THRESHOLD, 'share'), 2.0, r'share 2.0'),
        (('horizon_thresholds', 'score_1', 'thresholds'), [], 'thresholds must be numbers'),
        (('horizon_thresholds', 'score_1', 'thresholds'), ['x'], 'thresholds must be numbers'),
        (('horizon_thresholds', 'score_1', 'quantile'), 0, 'quantile is 0.0'),
        (('statistics', 'score_1', 'standard_deviation'), -1.0, 'standard_deviation is -1.0'),
        (('features', 'rows'), [[1.0], [1.0, 2.0]], 'rows must be numbers'),
        (('features', 'mean'), [1.0], 'shape of mean'),
        (('features', 'neighbours'), 31, 'neighbours is 31; 1 to 30'),
        (('expected_duration',), -3.0, 'expected_duration is -3.0'),
        (('stac_bandwidth',), 'wide', 'stac_bandwidth must be a float'),
        (('combination',), [], 'combination'),
        (('combination', 'weights'), [0.5], 'the combination is damaged'),
        (('combination', 'channels', 'inputs'), ['magic', 'elapsed'], 'magic'),
        (('features', 'inverse_covariance'), np.full((6, 6), -1.0).tolist(), 'not positive'),
        (('drift',), [1.0], 'drift must be a map'),
        (('drift', 'score_3'), {'a': 1}, 'drift'),
        (('provenance', 'successes'), 'many', 'provenance.successes must be a int'),
        (('fingerprint', 'cameras'), {'front': [640]}, r'cameras.front must be a list of 2'),
        (('fingerprint', 'colour'), 'red', 'colour'),
        (('thresholds',), {}, 'thresholds'),
    ],
)  # fmt: skip
def test_a_damaged_file_is_refused(path, value, match):
    with pytest.raises(CalibrationError, match=match):
        CalibrationFile.from_dict(_with(_full().to_dict(), path, value))


@pytest.mark.parametrize(
    'content, match',
    [
        (b'', 'not JSON'),
        (b'{"format": "frame_ros calibration 1"', 'not JSON'),
        (b'{"format": "frame_ros calibration 0"}', 'as the `frame-ros calibrate` of this version'),
        (b'[1, 2]', 'no format'),
        (b'null', 'no format'),
        (b'\xff\xfe', 'UTF-8'),
        (b'{"type": "service_account"}', 'no format'),
        (b'[' * 100_000, 'nested'),
        (b'{"format": "frame_ros calibration 1", "stac_bandwidth": NaN}', 'stac_bandwidth holds n'),
        (b'{"format": "frame_ros calibration 1", "drift": {"ev": [1e999]}}', 'drift.ev holds inf'),
        (b' ' * (17 << 20), 'above the limit'),
    ],
    ids=range(11),
)
def test_what_is_no_calibration_is_refused_by_name(tmp_path, content, match):
    path = tmp_path / 'calibration.json'
    path.write_bytes(content)
    with pytest.raises(CalibrationError, match=match) as raised:
        CalibrationFile.load(path)
    assert str(path) in str(raised.value)


def test_a_file_that_is_none_is_refused(tmp_path):
    with pytest.raises(CalibrationError, match='No such file'):
        CalibrationFile.load(tmp_path / 'missing.json')
    with pytest.raises(CalibrationError, match='a folder'):
        CalibrationFile.load(tmp_path)
    with pytest.raises(SetupError, match='cannot be written'):
        CalibrationFile().save(tmp_path / 'missing' / 'calibration.json')


def test_nothing_that_is_not_finite_is_written(tmp_path):
    made = CalibrationFile(combination={'weights': [float('nan')]})
    with pytest.raises(CalibrationError, match='combination.weights holds nan'):
        made.save(tmp_path / 'calibration.json')
    assert not (tmp_path / 'calibration.json').exists()


def _small():
    content = _full(12, 3, SCORES[:1]).to_dict()
    content['drift'][SCORES[0]] = [0.25, 0.5]
    return content


def test_any_damage_of_the_text_is_a_calibration_error():
    content = _small()
    text = json.dumps(content)
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(400):
        at, length = rng.integers(len(text)), rng.integers(1, 40)
        damaged = (
            text[:at] + ''.join(rng.permutation(list(text[at : at + length]))) + text[at + length :]
        )
        try:
            CalibrationFile.from_json(damaged)
        except CalibrationError:
            refused += 1
    assert refused > 100


def test_any_value_of_another_type_is_a_calibration_error():
    content = _small()
    wrong = (None, True, 'text', -1, [], [None], {}, {'a': {}}, [[[]]], 1e300, 10**400)
    for path in _paths(content):
        for value in wrong:
            try:
                CalibrationFile.from_dict(_with(content, path, value))
            except CalibrationError:
                pass


def _paths(content, path=()):
    yield from [path] if path else []
    if isinstance(content, dict):
        for name, part in content.items():
            yield from _paths(part, (*path, name))
    elif isinstance(content, list) and content:
        yield from _paths(content[0], (*path, 0))
