# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Streaming metrics of inferences and of trials against their batch forms, on every prefix."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from frame_ros import metrics
from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics import (
    AMSE,
    MSE,
    NAMSE,
    ChunkOverlapDisagreement,
    ComputationTime,
    DeepGini,
    ExecutionVariability,
    MemoryUsage,
    PredictionConfidenceUncertainty,
    SuccessRate,
    TaskCompletionRate,
    TokenEntropy,
    TokenProbabilityUncertainty,
    token_metrics,
)

CLASSES = {
    'tb_tp': (TokenProbabilityUncertainty, metrics.token_probability_uncertainty),
    'tb_pcs': (PredictionConfidenceUncertainty, metrics.prediction_confidence_uncertainty),
    'tb_d': (DeepGini, metrics.deepgini),
    'tb_e': (TokenEntropy, metrics.token_entropy),
}
TOLERANCE = {'rtol': 1e-12, 'atol': 1e-12}


def distributions(seed, inferences, tokens, classes):
    """(inferences, tokens, classes) probabilities, some of them 0 and some certain."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(classes, 0.3), size=(inferences, tokens))
    p[rng.random((inferences, tokens)) < 0.2] = np.eye(classes)[0]
    return p


def statistics(p):
    """The four statistics of PolicyInference, each (TN,)."""
    ordered = np.sort(p, axis=-1)
    entropy = -np.sum(p * np.log(np.where(p > 0, p, 1.0)), axis=-1)
    return ordered[:, -1], ordered[:, -2], (p * p).sum(axis=-1), entropy


def three_forms(steps):
    return [steps[-1], np.mean(steps[-8:]), np.mean(steps)]


@settings(max_examples=15)
@given(st.integers(0, 99), st.integers(1, 12), st.integers(1, 5), st.integers(2, 6), st.booleans())
def test_token_metrics_equal_the_batch_forms(seed, inferences, tokens, classes, normalised):
    metrics = {name: each(normalised=normalised) for name, (each, _) in CLASSES.items()}
    steps: dict = {name: [] for name in CLASSES}
    for p in distributions(seed, inferences, tokens, classes):
        of_statistics = token_metrics(*statistics(p), classes if normalised else None)
        for name, (_, batch) in CLASSES.items():
            metrics[name].update(p)
            steps[name].append(float(batch(p, normalised=normalised)))
            np.testing.assert_allclose(of_statistics[name], steps[name][-1], **TOLERANCE)
            found = [metrics[name].step, metrics[name].value, metrics[name].mean]
            np.testing.assert_allclose(found, three_forms(steps[name]), **TOLERANCE)


def test_authors_tokens_are_normalised():
    p = distributions(0, 1, 4, 5)[0]
    for each, batch in CLASSES.values():
        metric = each(variant='authors')
        metric.update(p)
        assert metric.value == pytest.approx(float(batch(p, variant='authors')), rel=1e-12)


@settings(max_examples=25)
@given(
    st.integers(2, 5).flatmap(
        lambda n: st.lists(
            arrays(np.float64, (n, 3, 2), elements=st.floats(-1, 1) | st.floats(999, 1001)),
            min_size=1,
            max_size=10,
        )
    ),
    st.booleans(),
)
def test_execution_variability(inferences, with_horizon):
    metric, steps = ExecutionVariability(), []
    for samples in inferences:
        samples = samples if with_horizon else samples[:, 0]
        metric.update(samples)
        chunks = samples.swapaxes(0, 1) if with_horizon else samples
        steps.append(np.mean(metrics.execution_variability(chunks)))
        found = [metric.step, metric.value, metric.mean]
        np.testing.assert_allclose(found, three_forms(steps), rtol=1e-9, atol=1e-11)


@settings(max_examples=25)
@given(st.integers(0, 99), st.lists(st.tuples(st.integers(1, 6), st.integers(0, 7)), min_size=1))
def test_chunk_overlap(seed, shapes):
    rng = np.random.default_rng(seed)
    metric, last, known = ChunkOverlapDisagreement(), None, []
    for horizon, shift in shapes:
        chunk = rng.normal(size=(horizon, 2)) + 1e3
        metric.update(chunk, shift)
        wanted = np.nan
        if last is not None:
            wanted = float(metrics.chunk_overlap_disagreement(chunk, last, shift))
        known += [wanted] if wanted == wanted else []
        found = [metric.value, metric.mean]
        np.testing.assert_allclose(found, [wanted, np.mean(known) if known else np.nan], rtol=1e-9)
        last = chunk


@settings(max_examples=25)
@given(st.lists(st.booleans(), min_size=1), st.sampled_from([0.9, 0.95]))
def test_success_rate_with_its_interval(outcomes, confidence):
    metric = SuccessRate(confidence)
    assert np.isnan([metric.value, *metric.interval]).all()
    for count, outcome in enumerate(outcomes, start=1):
        metric.update(outcome)
        assert metric.value == pytest.approx(float(metrics.success_rate(outcomes[:count])))
        wanted = metrics.wilson_interval(sum(outcomes[:count]), count, confidence)
        assert metric.interval == wanted


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=8))
def test_task_completion_rate(chains):
    metric = TaskCompletionRate()
    done = total = 0
    for completed, missed in chains:
        of = max(completed + missed, 1)
        metric.update(completed, of)
        done, total = done + completed, total + of
        assert metric.value == pytest.approx(float(metrics.task_completion_rate(done, total)))
        assert metric.interval == metrics.wilson_interval(done, total)


@settings(max_examples=25)
@given(st.integers(0, 99), st.lists(st.integers(1, 6), min_size=1, max_size=5), st.booleans())
def test_action_errors(seed, lengths, is_far):
    rng = np.random.default_rng(seed)
    pairs = [rng.normal(size=(2, n, 3)) + (1e3 if is_far else 0.0) for n in lengths]
    average, normalised = AMSE(), NAMSE()
    for k, (truth, guess) in enumerate(pairs):
        single = MSE()
        for metric in (average, normalised):
            metric.end_trajectory()
            metric.end_trajectory()  # without a step between: no effect
        for i in range(len(truth)):
            for metric in (single, average, normalised):
                metric.update(truth[i], guess[i])
            few = [(a, b) for a, b in pairs[:k]] + [(truth[: i + 1], guess[: i + 1])]
            wanted = [metrics.mse(*few[-1]), metrics.amse(few), metrics.namse(few)]
            found = [single.value, average.value, normalised.value]
            np.testing.assert_allclose(found, wanted, rtol=1e-9)
    assert average.trajectories == len(pairs) - 1


def test_namse_is_nan_while_the_truth_does_not_vary():
    metric = NAMSE()
    assert np.isnan(metric.value)
    metric.update([0.1, 0.1], [1.0, 1.0])
    assert np.isnan(metric.value)
    metric.update([0.3, 0.3], [1.0, 1.0])
    assert metric.value == pytest.approx((1.62 + 0.98) / 2 / 0.01)


def test_computation_time_and_memory():
    cpu, memory = ComputationTime(), MemoryUsage()
    assert np.isnan([cpu.value, cpu.last, memory.value, memory.last]).all()
    for seconds, resident, device in ((0.1, 5e8, 1e8), (0.3, 4e8, 4e8), (0.2, 3e8, 0.0)):
        cpu.update(seconds)
        memory.update(resident, device)
    assert cpu.value == pytest.approx(0.2) and cpu.last == 0.2
    assert (memory.value, memory.last) == (8e8, 3e8)
    for metric, bad in ((cpu, -0.1), (cpu, np.nan), (memory, np.inf), (memory, -1.0)):
        with pytest.raises(ValueRangeError):
            metric.update(bad)
    assert cpu.value == pytest.approx(0.2) and memory.value == 8e8
    cpu.reset()
    memory.reset()
    assert np.isnan([cpu.value, cpu.last, memory.value, memory.last]).all()


def test_bad_inferences_are_named_and_change_nothing():
    tokens, chunks = DeepGini(), ChunkOverlapDisagreement()
    variability = ExecutionVariability()
    chunks.update(np.zeros((3, 2)))
    refused = [
        (lambda: tokens.update(np.ones((2, 2))), ValueRangeError, 'softmax'),
        (lambda: tokens.update(np.full((3, 2, 2), 0.5)), ShapeError, '3'),
        (lambda: DeepGini(variant='x'), ValueRangeError, "'x'"),
        (lambda: variability.update(np.zeros((1, 3))), ShapeError, r'\(1, 3\)'),
        (lambda: variability.update([[0.0], [np.inf]]), ValueRangeError, 'not finite'),
        (lambda: chunks.update(np.zeros((3, 4))), ShapeError, r'\(3, 4\)'),
        (lambda: chunks.update(np.zeros((3, 2)), -1), ValueRangeError, 'shift is -1'),
        (lambda: chunks.update(np.full((3, 2), np.nan)), ValueRangeError, 'not finite'),
    ]
    for call, error, message in refused:
        with pytest.raises(error, match=message):
            call()
    assert np.isnan([tokens.value, variability.value, chunks.mean]).all()
    chunks.update(np.ones((3, 2)), 1)
    assert chunks.value == 1.0


def test_bad_outcomes_and_actions_are_named_and_change_nothing():
    rate, chains, error = SuccessRate(), TaskCompletionRate(), NAMSE()
    error.update([0.0, 1.0], [0.0, 0.0])
    refused = [
        (lambda: rate.update(0.5), ValueRangeError, 'success is 0.5'),
        (lambda: rate.update(float('nan')), ValueRangeError, 'nan'),
        (lambda: SuccessRate(1.0), ValueRangeError, 'confidence is 1.0'),
        (lambda: chains.update(3, 2), ValueRangeError, '3 completed of 2'),
        (lambda: chains.update(0, 0), ValueRangeError, 'total >= 1'),
        (lambda: error.update([0.0], [0.0]), ShapeError, '1 values; 2'),
        (lambda: error.update([0.0, 0.0], [0.0]), ShapeError, 'predicted has 1'),
        (lambda: error.update([0.0, 0.0], [0.0, np.inf]), ValueRangeError, 'not finite'),
        (lambda: MSE().update([], []), ShapeError, '0 values'),
    ]
    for call, kind, message in refused:
        with pytest.raises(kind, match=message):
            call()
    assert np.isnan([rate.value, chains.value]).all()
    assert error.value == pytest.approx(1.0 / 0.25)
