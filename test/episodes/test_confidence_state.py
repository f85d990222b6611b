# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Tokens and samples of inferences to uncertainties: values, windows, and what is unusable."""

import math

import numpy as np
import pytest
from bag_making import T0, event, message, stamp, write_bag
from pipeline_runs import INFERENCE
from scipy.special import softmax

from frame_ros import metrics
from frame_ros.episodes import conversion, inference_stream
from frame_ros.episodes.bag_reader import Bag
from frame_ros.episodes.confidence_state import METRICS, ConfidenceState
from frame_ros.episodes.data import Event, EventType
from frame_ros.episodes.inference_uncertainty import (
    TOKEN_FIELDS,
    TOKEN_METRICS,
    sample_variability,
    token_uncertainty,
)
from frame_ros.episodes.pipeline import MetricPipeline
from frame_ros.episodes.reading import read_episodes
from frame_ros.episodes.stamps import SECOND
from frame_ros.episodes.streams import read_stream
from frame_ros.errors import BagError
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


def inference(at, sequence=0, vocabulary_size=40, **parts):
    """A PolicyInference message with tokens and samples of the given seeds."""
    values = {}
    if 'tokens' in parts:
        fields, _ = tokens(parts.get('count', 5), vocabulary_size, parts['tokens'])
        values = {**fields, 'vocabulary_size': vocabulary_size}
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
    none = sample_variability([], 0, 20, 6)
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
    result = sample_variability(samples.ravel(), 8, 50, 7)
    assert result == {'ev': pytest.approx(expected, rel=1e-12), 'samples_problem': ''}
    assert result['ev'] == pytest.approx(
        metrics.execution_variability(samples.swapaxes(0, 1)).mean(), rel=1e-12
    )
    same = np.repeat(samples[:1], 4, axis=0)
    assert sample_variability(same.ravel(), 4, 50, 7)['ev'] == 0.0


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
    result = sample_variability(values, *shape)
    assert math.isnan(result['ev'])
    assert problem in result['samples_problem']


class Run:
    """A ConfidenceState with what it counted, fed with `token` and `sample` values."""

    def __init__(self):
        self.counts = []
        self.state = ConfidenceState(self.counts.append)

    def __call__(self, tokens=math.nan, ev=math.nan, size=10, **problems):
        values = dict.fromkeys(TOKEN_METRICS, tokens) | {'ev': ev, 'vocabulary_size': size}
        row = self.state.update(INFERENCE | values | problems)
        assert len(row) == 3 * len(METRICS)
        forms = np.reshape(row, (3, len(METRICS)))
        return forms[:, METRICS.index('tb_e')].tolist(), forms[:, METRICS.index('ev')].tolist()


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
    assert run.state.reasons['tb_d'] == 'what is wrong'
    assert run(2.0, samples_problem='no')[0] == [1.5, 2.0, 1.5]
    assert run.counts[1:] == ['inference.samples_invalid']
    assert 'no token probabilities' in run.state.reasons['tb_d']


def test_values_of_different_vocabularies_are_never_mixed():
    run = Run()
    run(1.0, 1.0)
    of_tokens, of_samples = run(3.0, 3.0, size=20)
    assert of_tokens == [3.0, 3.0, 3.0]
    assert of_samples == [2.0, 3.0, 2.0]
    run(size=0)  # an inference without tokens has no vocabulary
    assert run(5.0, size=20)[0] == [4.0, 5.0, 4.0]
    assert run.counts == ['inference.vocabulary_changed']


def test_the_summary_says_why_a_value_is_missing():
    def unavailable(*inferences):
        pipeline = MetricPipeline()
        pipeline.feed('event', T0, Event(T0, EventType.START, 'e'))
        for index, content in enumerate(inferences):
            at = T0 + (1 + index) * SECOND // 5
            pipeline.feed('inference', at, conversion.inference_values(content))
        end = T0 + 5 * SECOND
        pipeline.feed('event', end, Event(end, EventType.END, 'e'))
        summary = next(s for s in pipeline.finish() if s.kind == 'summary').values
        return dict(line.split(': ', 1) for line in summary['unavailable']), summary

    reasons, _ = unavailable()
    assert reasons['tb_tp'] == reasons['ev_mean'] == 'no inference in this episode'
    reasons, _ = unavailable(inference(T0))
    assert 'no token probabilities' in reasons['tb_tp_step']
    assert reasons['ev'] == 'one chunk per inference, no samples'
    reasons, summary = unavailable(inference(T0, tokens=1, samples=1))
    assert not {'tb_tp', 'tb_e_mean', 'ev', 'ev_step'} & set(reasons)
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
        {'tokens': sequence, 'count': 3 + sequence % 5},
        {'samples': sequence},
        {'tokens': sequence, 'samples': sequence, 'vocabulary_size': 500},
    )
    at = T0 + (1 + sequence) * SECOND // 20
    content = inference(at, sequence, **kinds[sequence % 4])
    if sequence % 7 == 0:
        object.__setattr__(content, 'sample_count', 3)
    return '/policy_inference', at, content


def test_a_bag_gives_what_its_messages_gave_live_and_keeps_no_large_arrays(tmp_path):
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
        live.feed('event', at, conversion.event(content))
    for _, at, content in sent:
        live.feed('inference', at, conversion.inference_values(content))
    rows = [sample for sample in live.finish() if sample.kind == 'confidence']
    (episode,) = read_episodes(path)
    for name in rows[0].fields:
        expected = [sample.values[name] for sample in rows]
        assert np.array_equal(episode.metrics['confidence'][name], expected, equal_nan=True), name
    assert np.isfinite(episode.metrics['confidence']['tb_e']).sum() > 60
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
