# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A calibration in the metric pipeline: the same numbers live and of a bag, or a reason."""

import json

import attrs
import numpy as np
import pytest
from bag_making import T0, event, message, stamp, write_bag

from frame_ros.bags.reader import Bag
from frame_ros.bags.streams.table import STREAMS, read_stream
from frame_ros.confidence import (
    ActionWisePlattScaling,
    ActionWiseTemperatureScaling,
    IsotonicScaling,
    PlattScaling,
    TemperatureScaling,
)
from frame_ros.confidence.calibration_file import CalibrationFile
from frame_ros.confidence.calibration_parts import ScoreStatistics
from frame_ros.confidence.combination import ScoreCombination
from frame_ros.confidence.fingerprint import SETUP_FIELDS, Fingerprint
from frame_ros.confidence.score_episode import ScoreEpisode
from frame_ros.core.errors import CalibrationError
from frame_ros.core.events import Event, EventType
from frame_ros.core.time import SECOND
from frame_ros.episodes.metric_pipeline.calibrated_scores import OF_CALIBRATION
from frame_ros.episodes.metric_pipeline.options import PipelineOptions
from frame_ros.episodes.metric_pipeline.pipeline import MetricPipeline
from frame_ros.episodes.reading import read_episodes
from frame_ros.evaluation.score_episodes import score_episode
from frame_ros.metrics import statistical_consistency

GRID = np.array([0.5, 1.0, 2.0])
STEPS, DIMENSIONS = 4, 3
TOKENS = STEPS * DIMENSIONS
NAMES = ['a', 'b', 'c']
SETUP = {
    'policy_fingerprint': json.dumps({'weights': 'ab' * 32, 'cameras': {'front': [640, 480]}}),
    'instruction': 'Pick the cube.',
    'action_names': NAMES,
}
HOLDS_FOR = Fingerprint(
    weights='ab' * 32, cameras={'front': (640, 480)}, joints=tuple(NAMES),
    instructions=('Pick the cube.',), confidence_aggregate='mean',
)  # fmt: skip
STATISTICS = {'chunk_consistency': ScoreStatistics(mean=0.1, standard_deviation=0.25)}


def _inference(at, sequence=0, **changes):
    """A PolicyInference with tokens on a grid of temperatures."""
    rng = np.random.default_rng(sequence)
    values = {
        'token_max_probability': rng.uniform(0.5, 0.9, TOKENS),
        'token_second_probability': rng.uniform(0.0, 0.1, TOKENS),
        'token_sum_of_squares': rng.uniform(0.5, 0.9, TOKENS),
        'token_entropy': rng.uniform(0.0, 1.0, TOKENS),
        'token_chosen_probability': rng.uniform(0.05, 1.0, TOKENS),
        'token_step': np.repeat(np.arange(STEPS), DIMENSIONS).astype(np.int32),
        'token_dimension': np.tile(np.arange(DIMENSIONS), STEPS).astype(np.int32),
        'temperatures': GRID,
        'token_max_at_temperature': np.sort(rng.random((TOKENS, 3)), axis=1)[:, ::-1].ravel(),
        'vocabulary_size': 40,
        'chunk_shift': 5.0,
        'chunk_consistency': rng.uniform(0.0, 0.5),
        **SETUP,
    }
    return message(
        'frame_ros/msg/PolicyInference', header__stamp=stamp(at), sequence=sequence,
        **(values | changes),
    )  # fmt: skip


def _inferences(count=12):
    return [_inference(T0 + (1 + n) * SECOND // 5, n) for n in range(count)]


def _recalibrator(kind):
    """A fitted recalibrator of a kind."""
    rng = np.random.default_rng(3)
    single, rows = rng.random(200), rng.random((200, DIMENSIONS))
    grid = np.sort(rng.random((200, DIMENSIONS, 3)), axis=-1)[..., ::-1]
    outcomes = rng.random(200) < single
    if kind is ActionWisePlattScaling:
        return kind().fit(rows, outcomes)
    if kind in (TemperatureScaling, ActionWiseTemperatureScaling):
        return kind().fit(grid, outcomes, GRID)
    return kind().fit(single, outcomes)


def _calibration(kind=PlattScaling, **changes):
    parts = {'statistics': STATISTICS, 'fingerprint': HOLDS_FOR}
    return CalibrationFile(recalibrator=_recalibrator(kind), **(parts | changes))


def _live(messages, config):
    """Rows of ConfidenceMetrics by field, and the pipeline."""
    pipeline = MetricPipeline(config)
    pipeline.feed('event', T0, Event(T0, EventType.START, 'e'))
    form = STREAMS['inference']
    for number, each in enumerate(messages):
        pipeline.feed('inference', T0 + (1 + number) * SECOND // 5, form.from_message(each))
    rows = [sample.values for sample in pipeline.finish() if sample.kind == 'confidence']
    return {name: [row[name] for row in rows] for name in rows[0]}, pipeline


def _bag(folder, messages, config):
    """A bag as a metrics node with these options leaves it."""
    config_message = message('std_msgs/msg/String', data=config.to_json())
    end = T0 + 10 * SECOND
    return write_bag(
        folder,
        [
            ('/metrics_config', T0 - 1, config_message),
            ('/episode_events', T0, event(T0, EventType.START, 'e')),
            *(
                ('/policy_inference', T0 + (1 + n) * SECOND // 5 + 1000, each)
                for n, each in enumerate(messages)
            ),
            ('/episode_events', end, event(end, EventType.END, 'e', outcome=1)),
        ],
    )


KINDS = (
    PlattScaling, IsotonicScaling, ActionWisePlattScaling, TemperatureScaling,
    ActionWiseTemperatureScaling,
)  # fmt: skip


@pytest.mark.parametrize('kind', KINDS)
def test_a_bag_gives_the_numbers_of_the_live_run_to_the_bit(tmp_path, kind):
    config, messages = PipelineOptions(calibration=_calibration(kind)), _inferences()
    live, pipeline = _live(messages, config)
    assert pipeline.counts == {} and np.isfinite(live['confidence_calibrated']).all()
    assert len(set(live['confidence_calibrated'])) > 1
    (episode,) = read_episodes(_bag(tmp_path / 'bag', messages, config))
    of_bag = episode.metrics['confidence']
    for field in ('confidence', *OF_CALIBRATION):
        assert np.array_equal(of_bag[field], live[field], equal_nan=True), field
    assert list(of_bag['unavailable']) == live['unavailable']


def test_the_values_are_those_of_the_recalibrator_and_the_statistics():
    calibration, messages = _calibration(), _inferences()
    live, _ = _live(messages, PipelineOptions(calibration=calibration))
    raw = np.array([each.token_chosen_probability.mean() for each in messages])
    expected = calibration.recalibrator.predict(raw)
    np.testing.assert_allclose(live['confidence_calibrated'], expected, rtol=1e-12)
    distances = np.array([each.chunk_consistency for each in messages])
    np.testing.assert_allclose(live['chunk_consistency_z'], (distances - 0.1) / 0.25, rtol=1e-12)


def test_the_options_of_a_bag_hold_the_calibration_to_the_bit():
    config = PipelineOptions(calibration=_calibration(ActionWisePlattScaling))
    assert PipelineOptions.from_json(config.to_json()) == config
    plain = PipelineOptions()
    assert 'calibration' not in json.loads(plain.to_json())
    damaged = json.loads(config.to_json()) | {'calibration': {'format': 'x'}}
    with pytest.raises(CalibrationError, match="format is 'x'"):
        PipelineOptions.from_json(json.dumps(damaged))


def _reasons(row):
    return dict(text.split(': ', 1) for text in row)


MISFITS = {
    'weights': {'policy_fingerprint': json.dumps({'weights': 'cd' * 32})},
    'cameras': {'policy_fingerprint': json.dumps({'cameras': {'front': [320, 240]}})},
    'instruction': {'instruction': 'Push the cube.'},
    'joints': {'action_names': ['a', 'c', 'b']},
}


@pytest.mark.parametrize('part', MISFITS)
def test_an_inference_of_another_setup_gets_the_part_as_the_reason(tmp_path, part):
    messages = _inferences(4)
    messages[2] = _inference(T0 + 3 * SECOND // 5, 2, **MISFITS[part])
    config = PipelineOptions(calibration=_calibration())
    live, pipeline = _live(messages, config)
    is_missing = np.isnan(live['confidence_calibrated'])
    assert is_missing.tolist() == [False, False, True, False]
    assert np.isfinite(live['confidence']).all()
    for field in OF_CALIBRATION:
        reason = _reasons(live['unavailable'][2])[field]
        assert reason.startswith(f'the calibration file does not fit: {part}: '), field
    assert pipeline.counts == {'inference.calibration_refused': 1}
    assert part in pipeline.problems[0]
    (episode,) = read_episodes(_bag(tmp_path / 'bag', messages, config))
    assert episode.data_quality['inference.calibration_refused'] == 1
    assert list(episode.metrics['confidence']['unavailable']) == live['unavailable']


def test_another_aggregate_than_that_of_the_calibration_is_refused():
    config = PipelineOptions(calibration=_calibration(), confidence_aggregate='min')
    live, _ = _live(_inferences(2), config)
    reason = _reasons(live['unavailable'][0])['confidence_calibrated']
    assert "holds for 'mean', here it is 'min'" in reason


def test_what_shows_no_setup_is_applied_and_said():
    silent = [
        _inference(T0 + (1 + n) * SECOND // 5, n, policy_fingerprint='', instruction='')
        for n in range(2)
    ]
    live, pipeline = _live(silent, PipelineOptions(calibration=_calibration()))
    assert np.isfinite(live['confidence_calibrated']).all()
    assert [text.partition(':')[0] for text in pipeline.calibration.unverified] == [
        'weights', 'cameras', 'instruction',
    ]  # fmt: skip


def test_the_reasons_without_a_value():
    def reasons(calibration, **changes):
        config = PipelineOptions(calibration=calibration)
        found, _ = _live([_inference(T0 + SECOND // 5, 0, **changes)], config)
        return _reasons(found['unavailable'][0])

    none = np.zeros(0)
    assert reasons(None)['confidence_calibrated'] == 'no recalibrator is loaded'
    assert reasons(None)['combined_risk'] == 'no calibration file is loaded'
    bare = reasons(CalibrationFile())
    assert bare['confidence_calibrated'] == 'the calibration file holds no recalibrator'
    assert bare['chunk_consistency_z'] == 'the calibration file holds no mean of chunk_consistency'
    found = reasons(_calibration(), token_chosen_probability=none)
    assert 'chosen tokens are not known' in found['confidence_calibrated']
    found = reasons(_calibration(), token_chosen_probability=np.full(TOKENS, 2.0))
    assert 'token_chosen_probability 2' in found['confidence_calibrated']
    found = reasons(_calibration(TemperatureScaling), temperatures=none)
    assert 'no grid of temperatures' in found['confidence_calibrated']
    assert 'no chunk before it' in reasons(_calibration(), chunk_shift=0.0)['chunk_consistency_z']


def _sampled(bandwidth):
    rng = np.random.default_rng(0)
    messages = [
        _inference(
            T0 + (1 + n) * SECOND // 5, n, sample_count=3, horizon=8, action_dimension=3,
            samples=rng.normal(size=3 * 8 * 3),
        )
        for n in range(3)
    ]  # fmt: skip
    calibration = _calibration(stac_bandwidth=bandwidth)
    found, _ = _live(messages, PipelineOptions(calibration=calibration))
    return found['stac'], messages, calibration


def test_stac_has_the_bandwidth_of_the_calibration_where_it_holds():
    own, messages, _ = _sampled(None)
    found, _, calibration = _sampled(2.0)
    first, second = (each.samples.reshape(3, 8, 3) for each in messages[:2])
    expected = float(statistical_consistency(first, second, 5, 2.0))
    assert found[1] == pytest.approx(expected, rel=1e-12) and found[1] != own[1]
    other = attrs.evolve(calibration, fingerprint=Fingerprint(weights='cd' * 32))
    refused, _ = _live(messages, PipelineOptions(calibration=other))
    assert refused['stac'][1] == own[1]


def test_older_messages_show_no_setup(tmp_path):
    (content,) = _inferences(1)
    bag = _bag(tmp_path / 'bag', [content], PipelineOptions())
    stream = read_stream(Bag(bag), 'inference', '/policy_inference')
    assert stream.values['instruction'].tolist() == ['Pick the cube.']
    assert stream.values['action_names'][0].tolist() == NAMES
    values = STREAMS['inference'].from_message(content)
    for name in SETUP_FIELDS:
        object.__delattr__(content, name)
    older = STREAMS['inference'].from_message(content)
    assert {*values} == {*older}
    assert (
        Fingerprint.of_inference(
            older['policy_fingerprint'], older['instruction'], older['action_names']
        )
        == Fingerprint()
    )


def _combination():
    """A combination of scores with distance, contact and time, fitted on drawn episodes."""
    rng = np.random.default_rng(8)
    names = ('tb_e_step', 'confidence', 'chunk_consistency', 'feature_knn')
    episodes = [
        ScoreEpisode(
            name=f'{number}', outcome=True, duration=6.0, times=np.linspace(0.1, 5.9, 20),
            scores={name: rng.random(20) for name in names}, distance=rng.uniform(0.05, 0.5, 20),
            contact=rng.random(20) < 0.2,
        )
        for number in range(30)
    ]  # fmt: skip
    inputs = (*names, 'elapsed', 'distance', 'contact')
    return ScoreCombination.fit(episodes, inputs, 'mean')


def _with_surroundings(messages):
    """Inferences, distances and contacts: topic, receive time, message."""
    rng, sent = np.random.default_rng(9), []
    for tick in range(120):
        at = T0 + SECOND // 50 + tick * SECOND // 30
        distance = message(
            'frame_ros/msg/Proximity',
            header__stamp=stamp(at),
            distance=rng.uniform(0.01, 0.5),
            is_measured=True,
        )
        touch = message(
            'frame_ros/msg/ContactState', header__stamp=stamp(at), in_contact=tick % 40 > 30
        )
        sent += [('/proximity', at, distance), ('/contact', at, touch)]
    for number, each in enumerate(messages):
        sent.append(('/policy_inference', T0 + (1 + number) * SECOND // 5 + 1000, each))
    return sorted(sent, key=lambda entry: entry[1])


def test_the_combined_risk_is_that_of_the_episode_as_calibration_takes_it(tmp_path):
    combination = _combination()
    config = PipelineOptions(calibration=_calibration(combination=combination.to_dict()))
    end = T0 + 10 * SECOND
    sent = _with_surroundings(_inferences())
    bag = write_bag(
        tmp_path / 'bag',
        [
            ('/metrics_config', T0 - 1, message('std_msgs/msg/String', data=config.to_json())),
            ('/episode_events', T0, event(T0, EventType.START, 'e')),
            *sent,
            ('/episode_events', end, event(end, EventType.END, 'e', outcome=1)),
        ],
    )
    (episode,) = read_episodes(bag)
    found = score_episode(episode)
    assert found.contact.any() and np.isfinite(found.distance).all()
    risks = found.scores['combined_risk']
    assert np.isfinite(risks).all() and np.ptp(risks) > 0
    assert np.array_equal(risks, combination.risks(found))
    # And live, as the messages come.
    pipeline = MetricPipeline(config)
    pipeline.feed('event', T0, Event(T0, EventType.START, 'e'))
    live = []
    for topic, at, content in sent:
        role = {'/policy_inference': 'inference'}.get(topic, topic[1:])
        own = content.header.stamp
        pipeline.feed(role, own.sec * SECOND + own.nanosec, STREAMS[role].from_message(content), at)
        live += pipeline.advance(at)
    live += pipeline.finish()
    told = [each.values['combined_risk'] for each in live if each.kind == 'confidence']
    assert np.array_equal(told, risks)


def test_a_combination_begins_again_with_every_episode_and_needs_one():
    config = PipelineOptions(calibration=_calibration(combination=_combination().to_dict()))
    pipeline, form = MetricPipeline(config), STREAMS['inference']
    content = _inferences(1)[0]
    for start in (T0, T0 + 20 * SECOND):
        pipeline.feed('event', start, Event(start, EventType.START, f'{start}'))
        for number in range(1, 4):
            value = form.from_message(content) | {'sequence': number}
            pipeline.feed('inference', start + number * SECOND, value)
        end = start + 10 * SECOND
        pipeline.feed('event', end, Event(end, EventType.END, f'{start}'))
        pipeline.feed('inference', end + SECOND, form.from_message(content))
    rows = [sample.values for sample in pipeline.finish() if sample.kind == 'confidence']
    risks = [row['combined_risk'] for row in rows]
    assert np.isfinite(risks[:3]).all() and risks[:3] == risks[4:7]
    assert np.isnan([risks[3], risks[7]]).all()
    reason = _reasons(rows[3]['unavailable'])['combined_risk']
    assert reason == 'it counts from the start of an episode, and none runs'


@pytest.mark.parametrize('part', ['recalibrator', 'features', 'combination'])
def test_a_calibration_that_is_damaged_in_a_bag_is_a_problem_of_it(tmp_path, part):
    config = PipelineOptions(calibration=_calibration(combination=_combination().to_dict()))
    content = json.loads(config.to_json())
    content['calibration'][part] = {'kind': 'magic', 'rows': [[1.0]]}
    damaged = json.dumps(content)

    class Options:
        to_json = staticmethod(lambda: damaged)

    (episode,) = read_episodes(_bag(tmp_path / 'bag', _inferences(3), Options))
    assert any('recorded settings of the metrics are not usable' in p for p in episode.problems)
    found = episode.metrics['confidence']
    assert np.isfinite(found['confidence']).all()
    assert np.isnan(found['confidence_calibrated']).all()
