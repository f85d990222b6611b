# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Tokens, samples and rephrasings of inferences to uncertainties and confidences: values, windows,
and what is unusable.
"""

import math

import numpy as np
import pytest
from bag_making import T0, event, message, stamp, write_bag
from pipeline_runs import INFERENCE
from scipy.special import softmax

from frame_ros import metrics
from frame_ros.bags.reader import Bag
from frame_ros.bags.streams import inference as inference_stream
from frame_ros.bags.streams.events import event_of
from frame_ros.bags.streams.table import STREAMS, read_stream
from frame_ros.confidence.inference_uncertainty import (
    CHOSEN_FIELDS,
    CONFIDENCE_AGGREGATES,
    CONFIDENCES,
    ENSEMBLE_METRICS,
    EPISODE_AGGREGATES,
    TOKEN_FIELDS,
    TOKEN_METRICS,
    chosen_confidence,
    ensemble_values,
    sample_values,
    token_uncertainty,
)
from frame_ros.core.errors import BagError, ValueRangeError
from frame_ros.core.events import Event, EventType
from frame_ros.core.time import SECOND
from frame_ros.episodes.metric_pipeline.confidence_state import ConfidenceState
from frame_ros.episodes.metric_pipeline.options import PipelineOptions
from frame_ros.episodes.metric_pipeline.pipeline import MetricPipeline
from frame_ros.episodes.reading import read_episodes
from frame_ros.metrics.message_fields import LISTS
from frame_ros.metrics.token_statistics import token_statistics

BATCH = (
    metrics.token_probability_uncertainty,
    metrics.prediction_confidence_uncertainty,
    metrics.deepgini,
    metrics.token_entropy,
)
NAMES = ('max_probability', 'second_probability', 'sum_of_squares', 'entropy')


def tokens(tokens=5, classes=40, seed=0):
    """TOKEN_FIELDS of random logits, and the metrics of their probabilities."""
    logits = np.random.default_rng(seed).normal(0, 3, (tokens, classes))
    found = token_statistics(logits)
    fields = {f: getattr(found, n).copy() for f, n in zip(TOKEN_FIELDS, NAMES)}
    return fields, [float(formula(softmax(logits, axis=1))) for formula in BATCH]


def chunks(count=4, horizon=6, dimension=3, seed=0):
    """Sampled chunks, and their EV by numpy."""
    samples = np.random.default_rng(seed).normal(size=(count, horizon, dimension))
    return samples, float(samples.std(axis=0).mean())


def chosen(seed=0, count=5):
    """CHOSEN_FIELDS of tokens of several steps and dimensions, some of none."""
    rng = np.random.default_rng(seed)
    step, dimension = np.arange(count) // 3, np.arange(count) % 3
    dimension[count - 1] = -1
    places = (step.astype(np.int32), dimension.astype(np.int32))
    return dict(zip(CHOSEN_FIELDS, (rng.uniform(0.05, 1, count), *places)))


def rephrased(seed=0, count=4):
    """Confidences under some rephrasings."""
    return np.random.default_rng(seed + 100).uniform(size=count)


def inference(at, sequence=0, vocabulary_size=40, **parts):
    """A PolicyInference message with tokens and samples of the given seeds."""
    values = {}
    if 'tokens' in parts:
        fields, _ = tokens(parts.get('count', 5), vocabulary_size, parts['tokens'])
        values = {**fields, 'vocabulary_size': vocabulary_size}
        if parts.get('chosen', True):
            values |= chosen(parts['tokens'], len(fields[TOKEN_FIELDS[0]]))
    if 'ensemble' in parts:
        values['rephrasing_confidences'] = rephrased(parts['ensemble'])
    if 'samples' in parts:
        samples, _ = chunks(seed=parts['samples'])
        shape = dict(zip(('sample_count', 'horizon', 'action_dimension'), samples.shape))
        values |= {'samples': samples.ravel(), **shape}
    return message(
        'frame_ros/msg/PolicyInference', header__stamp=stamp(at), sequence=sequence, **values
    )


def problem_of(vocabulary_size=40, **changes):
    fields, _ = tokens()
    for name, change in changes.items():
        change(fields[name]) if callable(change) else fields.update({name: change})
    result = token_uncertainty(fields, vocabulary_size)
    assert all(math.isnan(result[name]) for name in TOKEN_METRICS)
    return result['tokens_problem']


def put(value):
    def change(array):
        array[2] = value

    return change


def test_token_values_are_those_of_the_full_probabilities():
    fields, expected = tokens(350, 256)
    result = token_uncertainty(fields, 256)
    assert [result[name] for name in TOKEN_METRICS] == pytest.approx(expected, rel=1e-12)
    assert result['tokens_problem'] == ''


def test_no_tokens_and_no_samples_are_no_problem_and_no_value():
    none = token_uncertainty(dict.fromkeys(TOKEN_FIELDS, []), 0)
    assert none['tokens_problem'] == '' and math.isnan(none['tb_e'])
    none = sample_values([], 0, 20, 6)
    assert none['samples_problem'] == '' and math.isnan(none['ev'])


def test_tokens_that_cannot_be_are_named():
    probability, second, squares, entropy = TOKEN_FIELDS
    assert 'token_entropy 4' in problem_of(**{entropy: np.ones(4)})
    assert 'token_sum_of_squares 0' in problem_of(**{squares: []})
    assert f'{probability} 1.1 ' in problem_of(**{probability: put(1.1)})
    assert f'{probability} nan ' in problem_of(**{probability: put(math.nan)})
    assert f'{second} -0.1 ' in problem_of(**{second: put(-0.1)})
    assert f'{squares} inf ' in problem_of(**{squares: put(math.inf)})
    assert 'is above' in problem_of(**{second: put(1.0)})
    assert f'{entropy} 4 does not lie between 0 and ln 40' in problem_of(**{entropy: put(4.0)})
    assert f'{entropy} nan ' in problem_of(**{entropy: put(math.nan)})
    assert 'is 0, not 2 or more' in problem_of(vocabulary_size=0)


def test_rounding_of_single_precision_is_no_problem():
    fields = dict(zip(TOKEN_FIELDS, ([1.0 + 5e-7], [5e-7], [1.0], [-5e-7])))
    result = token_uncertainty(fields, 2)
    assert result['tokens_problem'] == ''
    assert result['tb_tp'] == pytest.approx(0.0, abs=1e-6)


def test_variability_is_the_mean_over_the_steps_of_the_population_deviation():
    samples, expected = chunks(8, 50, 7)
    result = sample_values(samples.ravel(), 8, 50, 7)
    assert result['ev'] == pytest.approx(expected, rel=1e-12) and result['samples_problem'] == ''
    assert result['sample_spread'] == pytest.approx(samples.std(axis=0).mean(axis=1), rel=1e-12)
    assert np.array_equal(result['samples'], samples)
    assert result['ev'] == pytest.approx(
        metrics.execution_variability(samples.swapaxes(0, 1)).mean(), rel=1e-12
    )
    same = np.repeat(samples[:1], 4, axis=0)
    assert sample_values(same.ravel(), 4, 50, 7)['ev'] == 0.0


@pytest.mark.parametrize(
    ('values', 'shape', 'problem'),
    [
        (np.zeros(11), (2, 3, 2), 'hold 11 values; 2 chunks of 3 steps and 2 dimensions have 12'),
        (np.zeros(6), (0, 3, 2), 'hold 6 values'),
        ([], (2, 0, 0), 'hold 0 values'),
        (np.zeros(6), (1, 3, 2), '2 or more are needed'),
        ([0.0, math.nan, 0.0, 0.0], (2, 1, 2), 'not finite'),
        ([1e300, -1e300], (2, 1, 1), 'too large'),
    ],
)
def test_samples_that_cannot_be_are_named(values, shape, problem):
    result = sample_values(values, *shape)
    assert math.isnan(result['ev'])
    assert problem in result['samples_problem']


def test_confidence_is_over_the_chosen_tokens():
    fields = chosen(3, 7)
    p, found = fields['token_chosen_probability'], chosen_confidence(fields, 7)
    assert found['confidence_mean'] == pytest.approx(p.mean())
    assert found['confidence_geometric'] == pytest.approx(np.exp(np.log(p).mean()))
    assert (found['confidence_min'], found['confidence_max']) == (p.min(), p.max())
    assert found['confidence_dimension_mean'] == pytest.approx(p.mean())  # one token each
    fields['token_dimension'][:3] = 0
    groups = [p[:3].mean(), *p[3:]]
    found = chosen_confidence(fields, 7)['confidence_dimension_mean']
    assert found == pytest.approx(np.mean(groups))
    fields['token_dimension'][:] = -1
    assert math.isnan(chosen_confidence(fields, 7)['confidence_dimension_mean'])


def test_tokens_that_are_not_known_to_be_chosen_have_no_confidence_and_no_problem():
    for fields, count in (
        (dict.fromkeys(CHOSEN_FIELDS, []), 5),
        (dict.fromkeys(CHOSEN_FIELDS, []), 0),
        (chosen() | {'token_chosen_probability': [0.5, math.nan, 0.5, 0.5, 0.5]}, 5),
    ):
        found = chosen_confidence(fields, count)
        assert found['confidence_problem'] == ''
        assert all(math.isnan(found[name]) for name in CONFIDENCES)


@pytest.mark.parametrize(
    ('changes', 'problem'),
    [
        ({'token_chosen_probability': [0.5]}, 'token_chosen_probability has 1 values for 5'),
        ({'token_step': [0]}, 'token_step has 1 and token_dimension 5'),
        ({'token_chosen_probability': [0.5, 0.5, 1.1, 0.5, 0.5]}, '1.1 does not lie between'),
    ],
)
def test_chosen_tokens_that_cannot_be_are_named(changes, problem):
    found = chosen_confidence(chosen() | changes, 5)
    assert problem in found['confidence_problem']
    assert all(math.isnan(found[name]) for name in CONFIDENCES)


def test_the_settings_know_every_aggregate():
    assert EPISODE_AGGREGATES == metrics.EPISODE_AGGREGATES
    assert set(CONFIDENCE_AGGREGATES) == {*metrics.TOKEN_AGGREGATES, 'dimension_mean'}


def test_an_ensemble_has_mean_and_spread():
    c = rephrased(0, 20)
    found = ensemble_values(c)
    assert found['ensemble_mean'] == pytest.approx(c.mean())
    assert found['ensemble_spread'] == pytest.approx(c.std())
    none, one = ensemble_values([]), ensemble_values([0.5])
    assert math.isnan(none['ensemble_mean']) and none['ensemble_problem'] == ''
    assert one['ensemble_mean'] == 0.5 and math.isnan(one['ensemble_spread'])
    for bad in ([0.5, math.nan], [0.5, 1.5], [-1.0]):
        found = ensemble_values(bad)
        assert 'does not lie between 0 and 1' in found['ensemble_problem']
        assert all(math.isnan(found[name]) for name in ENSEMBLE_METRICS)


class Run:
    """A ConfidenceState with what it counted, fed with `token` and `sample` values."""

    def __init__(self):
        self.counts = []
        self.state = ConfidenceState(self.counts.append)

    def __call__(self, tokens=math.nan, ev=math.nan, size=10, **problems):
        values = dict.fromkeys(TOKEN_METRICS, tokens) | {'ev': ev, 'vocabulary_size': size}
        row = self.state.update(INFERENCE | values | problems)
        return [[row[f'{id}{form}'] for form in ('', '_step', '_mean')] for id in ('tb_e', 'ev')]


def test_windows_hold_eight_inferences_and_means_all():
    run = Run()
    values = np.random.default_rng(1).uniform(size=30)
    for index, value in enumerate(values):
        of_tokens, of_samples = run(value, 2 * value)
        window, mean = values[max(0, index - 7) : index + 1].mean(), values[: index + 1].mean()
        assert of_tokens == pytest.approx([window, value, mean], rel=1e-12)
        assert of_samples == pytest.approx([2 * window, 2 * value, 2 * mean], rel=1e-12)
    run.state.reset()
    assert run(0.5)[0] == [0.5, 0.5, 0.5]
    assert run.counts == []


def test_unusable_values_leave_the_others_untouched_and_are_counted():
    run = Run()
    run(1.0, 1.0)
    of_tokens, of_samples = run(math.nan, 3.0, tokens_problem='what is wrong')
    assert of_tokens == pytest.approx([math.nan, math.nan, 1.0], nan_ok=True)
    assert of_samples == [2.0, 3.0, 2.0]
    assert run.counts == ['inference.tokens_invalid']
    assert run.state.problem == 'what is wrong'
    assert run.state.problems['tb_d'] == 'what is wrong'
    assert run(2.0, samples_problem='no')[0] == [1.5, 2.0, 1.5]
    assert run.counts[1:] == ['inference.samples_invalid']
    assert 'tb_d' not in run.state.problems


def test_values_of_different_vocabularies_are_never_mixed():
    run = Run()
    run(1.0, 1.0)
    of_tokens, of_samples = run(3.0, 3.0, size=20)
    assert of_tokens == [3.0, 3.0, 3.0]
    assert of_samples == [2.0, 3.0, 2.0]
    run(size=0)  # an inference without tokens has no vocabulary
    assert run(5.0, size=20)[0] == [4.0, 5.0, 4.0]
    assert run.counts == ['inference.vocabulary_changed']


def confidences_of(config, seeds, **parts):
    """Rows of ConfidenceMetrics of an episode, name -> (T,), and what was counted."""
    pipeline = MetricPipeline(config)
    pipeline.feed('event', T0, Event(T0, EventType.START, 'e'))
    for index, seed in enumerate(seeds):
        at = T0 + (1 + index) * SECOND // 5
        given = {} if seed is None else {'tokens': seed, 'ensemble': seed} | parts
        pipeline.feed('inference', at, STREAMS['inference'].from_message(inference(at, **given)))
    rows = [sample.values for sample in pipeline.finish() if sample.kind == 'confidence']
    return {name: [row[name] for row in rows] for name in rows[0]}, pipeline.counts


def test_confidences_are_live_and_the_episodes_is_that_of_the_first_step():
    found, counts = confidences_of(None, [None, 1, 2, 3])
    c = [chosen(seed)['token_chosen_probability'].mean() for seed in (1, 2, 3)]
    assert found['confidence'] == pytest.approx([math.nan, *c], nan_ok=True)
    assert found['confidence_episode'] == pytest.approx([math.nan, *c[:1] * 3], nan_ok=True)
    of_ensembles = [rephrased(seed) for seed in (1, 2, 3)]
    for name, formula in (('ensemble_mean', np.mean), ('ensemble_spread', np.std)):
        expected = [math.nan, *map(formula, of_ensembles)]
        assert found[name] == pytest.approx(expected, nan_ok=True)
    assert np.isnan(found['confidence_calibrated']).all() and counts == {}


@pytest.mark.parametrize('aggregate', CONFIDENCE_AGGREGATES)
@pytest.mark.parametrize('of_episode', metrics.EPISODE_AGGREGATES)
def test_how_confidences_are_aggregated_is_a_setting(aggregate, of_episode):
    config = PipelineOptions(confidence_aggregate=aggregate, confidence_episode=of_episode)
    seeds = range(7)
    found, _ = confidences_of(config, seeds)
    c = [chosen_confidence(chosen(seed), 5)[f'confidence_{aggregate}'] for seed in seeds]
    assert found['confidence'] == pytest.approx(c, rel=1e-12)
    expected = float(metrics.episode_confidence(c, of_episode))
    assert found['confidence_episode'][-1] == pytest.approx(expected, rel=1e-12)
    assert PipelineOptions.from_json(config.to_json()) == config
    with pytest.raises(ValueRangeError, match='must be first, mean'):
        PipelineOptions(confidence_episode='last')


def test_confidences_that_cannot_be_are_counted_and_the_episode_goes_on():
    bad = inference(T0, tokens=1, ensemble=1)
    object.__setattr__(bad, 'token_chosen_probability', np.full(5, 2.0))
    object.__setattr__(bad, 'rephrasing_confidences', np.array([0.5, -1.0]))
    run = Run()
    first = run.state.update(STREAMS['inference'].from_message(inference(T0, tokens=2)))
    found = run.state.update(STREAMS['inference'].from_message(bad))
    assert math.isnan(found['confidence']) and math.isnan(found['ensemble_mean'])
    assert found['confidence_episode'] == first['confidence']
    assert run.counts == ['inference.confidence_invalid', 'inference.rephrasings_invalid']
    assert 'token_chosen_probability 2' in run.state.problems['confidence']
    assert 'rephrasing_confidences -1' in run.state.problems['ensemble_spread']
    after = run.state.update(STREAMS['inference'].from_message(inference(T0)))
    assert after['confidence_episode'] == first['confidence'] and run.state.problems == {}
    run.state.reset()
    assert math.isnan(run.state.update(INFERENCE)['confidence_episode'])


def test_the_summary_says_why_a_value_is_missing():
    def unavailable(*inferences):
        pipeline = MetricPipeline()
        pipeline.feed('event', T0, Event(T0, EventType.START, 'e'))
        for index, content in enumerate(inferences):
            at = T0 + (1 + index) * SECOND // 5
            pipeline.feed('inference', at, STREAMS['inference'].from_message(content))
        end = T0 + 5 * SECOND
        pipeline.feed('event', end, Event(end, EventType.END, 'e'))
        summary = next(s for s in pipeline.finish() if s.kind == 'summary').values
        return dict(line.split(': ', 1) for line in summary['unavailable']), summary

    reasons, _ = unavailable()
    assert reasons['tb_tp'] == reasons['ev_mean'] == 'no inference in this episode'
    reasons, _ = unavailable(inference(T0))
    assert 'no token probabilities' in reasons['tb_tp_step']
    assert reasons['ev'] == 'one chunk per inference, no samples'
    assert 'no token probabilities' in reasons['confidence']
    assert 'no token probabilities' in reasons['confidence_calibrated']
    assert 'time' not in reasons
    reasons, summary = unavailable(inference(T0, tokens=1, samples=1))
    assert not {'tb_tp', 'tb_e_mean', 'ev', 'ev_step'} & set(reasons)
    assert reasons['confidence_calibrated'] == 'no recalibrator is loaded'
    reasons, _ = unavailable(inference(T0, tokens=1, chosen=False))
    assert 'chosen tokens are not known' in reasons['confidence_episode']
    assert reasons['confidence_calibrated'] == reasons['confidence_episode']
    assert reasons['ensemble_mean'] == 'no rephrasings of the instruction'
    bad = inference(T0, tokens=1, samples=1)
    object.__setattr__(bad, 'sample_count', 5)
    reasons, summary = unavailable(inference(T0, tokens=1, samples=1), bad)
    assert 'samples hold 72 values; 5 chunks' in reasons['ev']
    assert 'ev_mean' not in reasons and 'tb_tp' not in reasons
    assert summary['data_quality']['inference.samples_invalid'] == 1
    assert summary['confidence']['vocabulary_size'] == 40


def mixed(sequence):
    """Inferences of every kind, their token counts differing as a language model's do."""
    kinds = (
        {},
        {'tokens': sequence, 'count': 3 + sequence % 5, 'ensemble': sequence},
        {'samples': sequence},
        {'tokens': sequence, 'samples': sequence, 'vocabulary_size': 500, 'chosen': False},
    )
    at = T0 + (1 + sequence) * SECOND // 20
    content = inference(at, sequence, **kinds[sequence % 4])
    if sequence % 7 == 0:
        object.__setattr__(content, 'sample_count', 3)
    return '/policy_inference', at, content


def test_a_bag_gives_what_its_messages_gave_live(tmp_path):
    sent = [mixed(sequence) for sequence in range(150)]
    end = T0 + 10 * SECOND
    events = [
        ('/episode_events', T0, event(T0, EventType.START)),
        ('/episode_events', end, event(end, EventType.END)),
    ]
    path = write_bag(tmp_path / 'bag', [events[0], *sent, events[1]])
    stream = read_stream(Bag(path), 'inference', '/policy_inference')
    assert len(stream) == len(sent) > 2 * inference_stream.BLOCK
    assert all(values.ndim == 1 for values in stream.values.values())
    live = MetricPipeline()
    for _, at, content in events:
        live.feed('event', at, event_of(content))
    for _, at, content in sent:
        live.feed('inference', at, STREAMS['inference'].from_message(content))
    rows = [sample for sample in live.finish() if sample.kind == 'confidence']
    (episode,) = read_episodes(path)
    for name in rows[0].fields:
        expected = [sample.values[name] for sample in rows]
        found = episode.metrics['confidence'][name]
        if name in LISTS['confidence']:
            assert found.tolist() == expected, name
        else:
            assert np.array_equal(found, expected, equal_nan=True), name
    assert np.isfinite(episode.metrics['confidence']['tb_e']).sum() > 60
    for name in ('confidence', 'ensemble_mean', 'ensemble_spread'):
        assert np.isfinite(episode.metrics['confidence'][name]).sum() > 30, name
    assert len(set(episode.metrics['confidence']['confidence_episode'].tolist())) > 1
    assert episode.data_quality['inference.samples_invalid'] == len(range(0, 150, 7))
    assert any('samples hold' in problem for problem in episode.problems)


def test_a_recording_without_these_fields_is_refused_in_words(tmp_path):
    path = write_bag(tmp_path / 'bag', [mixed(0)])
    bag = Bag(path)
    constants, fields = bag.topics['/policy_inference'].types['frame_ros/msg/PolicyInference']
    kept = [field for field in fields if field[0] != 'token_entropy']
    bag.topics['/policy_inference'].types['frame_ros/msg/PolicyInference'] = (constants, kept)
    with pytest.raises(BagError, match='lacks token_entropy'):
        read_stream(bag, 'inference', '/policy_inference')
