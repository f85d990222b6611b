# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Records of the metrics against messages, options and the fused engine."""

import importlib
import math
import pkgutil
import re
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_strategies import breaks, paths, quaternions, stamps

from frame_ros import metrics
from frame_ros.episodes.metric_pipeline.options import PipelineOptions
from frame_ros.metrics import REGISTRY, ActionStep, TrajectoryStep, families
from frame_ros.metrics.message_fields import FACTS, FIELDS, LISTS
from frame_ros.metrics.record import Lack, Metric, PoseSample

MSG = Path(__file__).resolve().parents[2] / 'msg'
# What the states of the metric pipeline compute together, in the order of their rows.
OF_STATES = {
    'quality': 'ate rte ot pose_age',
    'safety': 'cr cr_per_second cr_per_metre op rf distance near_zone_time closing_speed '
    'time_to_collision moving_distance peak_force rms_force force_limit_ratio '
    'pressure_limit_ratio',
    'efficiency': 'il il_last il_p50 il_p95 il_p99 il_jitter control_rate control_rate_now '
    'control_rate_worst observation_age queue_depth chunk_overlap',
    'confidence': 'stagnation chunk_overlap chunk_consistency tb_tp tb_pcs tb_d tb_e ev '
    'chunk_entropy stac chunk_consistency_z feature_mahalanobis feature_knn combined_risk '
    'confidence confidence_token_mean confidence_geometric confidence_min confidence_max '
    'confidence_calibrated confidence_episode ensemble_mean ensemble_spread',
}


@pytest.mark.parametrize('kind', FACTS)
def test_a_messages_fields_are_its_facts_and_those_of_its_metrics(kind):
    text = (MSG / f'{kind.capitalize()}Metrics.msg').read_text()
    names = re.findall(r'^(?:float64|u?int\d+|bool) (\w+)(?!\w*=)', text, flags=re.MULTILINE)
    names = [name for name in names if not name.isupper()]
    lists = re.findall(r'^\w+\[\] (\w+)', text, flags=re.MULTILINE)
    assert tuple(lists) == LISTS.get(kind, ())
    assert len(set(FIELDS[kind])) == len(FIELDS[kind])
    assert set(names) == set(FIELDS[kind])


@pytest.mark.parametrize('kind', FACTS)
def test_every_metric_of_a_message_is_fused_or_fed_or_of_a_state(kind):
    live = (TrajectoryStep, ActionStep)
    known = OF_STATES[kind].split()
    others = [m.id for m in REGISTRY.values() if kind in m.messages and m.fused not in live]
    of_states = [id for id in others if not REGISTRY[id].is_fed]
    assert of_states == known, 'a record with a message field needs `live`, which feeds it'


def test_what_records_name_exists():
    for entry in REGISTRY.values():
        for name in entry.options:
            attrgetter(name)(PipelineOptions())
        assert entry.fused is None or all(hasattr(entry.fused, f) for f in entry.fields), entry.id
        assert entry.reasons and entry.reason(()) in [reason.text for reason in entry.reasons]


def test_the_first_reason_that_applies_is_given():
    smoothness = REGISTRY['ps']
    assert smoothness.reason(()) == 'the path has no length'
    assert smoothness.reason({Lack.SAMPLES, Lack.POSE}) == 'no end-effector pose at the last step'
    assert 'no control step' in smoothness.reason({Lack.STEP, Lack.POSE})
    assert 'too few steps' in REGISTRY['pl'].reason(())
    overlap = REGISTRY['chunk_overlap']
    assert overlap.reason({Lack.STEP}, 'confidence') == 'no two chunks predict a common step'
    assert 'no control step' in overlap.reason({Lack.STEP}, 'efficiency')


@pytest.mark.parametrize(
    ('id', 'inputs'),
    [
        ('a_pi', 'no control step'), ('a_vi', 'no control step'), ('a_ai', 'no control step'),
        ('rte', 'no reference|no end-effector pose|too few poses'),
        ('confidence_calibrated', 'no inference|no tokens|chosen tokens|no recalibrator'),
        ('ot', 'no task|no end-effector pose|object, goal or grasp'),
        ('cr_per_metre', 'no contact|no end-effector pose|no length'),
        ('moving_distance', 'no distance|no end-effector pose|while the TCP moved'),
        ('time_to_collision', 'no distance|never closed in|fewer than two distances'),
    ],
)  # fmt: skip
def test_every_input_that_can_be_missing_is_named(id, inputs):
    said = REGISTRY[id].unavailable
    assert all(text in said for text in inputs.split('|')), said
    assert len(said.split(', or ')) == len(set(said.split(', or ')))


def test_every_record_of_a_family_is_in_the_registry_and_none_is_exported():
    found = pkgutil.iter_modules(families.__path__, f'{families.__name__}.')
    modules = [importlib.import_module(module.name) for module in found]
    records = [r for m in modules for r in vars(m).values() if isinstance(r, Metric)]
    assert {r.id for r in records} == set(REGISTRY) and len(records) == len(REGISTRY)
    exported = {}
    exec('from frame_ros.metrics import *', exported)
    for namespace in (exported, vars(metrics)):
        assert not [name for name, value in namespace.items() if isinstance(value, Metric)]
    assert set(metrics.__all__) == set(exported) - {'__builtins__'}


def test_public_names_stay_importable():
    names = """success_rate task_completion_rate wilson_interval mse amse namse path_length
    path_smoothness curvature_change absolute_trajectory_error relative_trajectory_error
    collision_rate obstacle_proximity risk_factor action_instability tcp_instability rms_jerk
    token_probability_uncertainty prediction_confidence_uncertainty deepgini token_entropy
    execution_variability optimal_trajectory_difference"""
    streaming = """SuccessRate TaskCompletionRate MSE AMSE NAMSE PathLength PathSmoothness
    CurvatureChange AbsoluteTrajectoryError RelativeTrajectoryError CollisionRate ObstacleProximity
    RiskFactor ActionInstability TCPInstability RMSJerk TokenProbabilityUncertainty
    PredictionConfidenceUncertainty DeepGini TokenEntropy ExecutionVariability
    OptimalTrajectoryDifference InferenceLatency ComputationTime MemoryUsage"""
    for name in names.split():
        assert name in metrics.__all__ and callable(getattr(metrics, name))
    for name in streaming.split():
        made = getattr(metrics, name)
        assert name in metrics.__all__ and callable(made.update) and callable(made.reset)
        assert hasattr(made(*[1] * (name in ('ActionInstability', 'TCPInstability'))), 'value')
    torch_metrics = pytest.importorskip('frame_ros.metrics.torch')
    assert all(callable(getattr(torch_metrics, name)) for name in streaming.split())


def fused_entries(engine):
    """The metrics that a class of the engine computes, each with its own streaming object."""
    found = [
        (m, (m.live.make or (lambda options, made=m.streaming: made()))(PipelineOptions()))
        for m in REGISTRY.values()
        if m.fused is engine and m.live
    ]
    assert len(found) >= 3
    return found


def check_equal(engine, entries):
    for entry, metric in entries:
        forms = ('value', 'step', 'mean')[: len(entry.fields)]
        wanted = [getattr(metric, form) for form in forms]
        found = [getattr(engine, field) for field in entry.fields]
        # Angles over segments of micrometres: their rounding is multiplied by up to 1e6.
        bounds = {'rtol': 1e-6, 'atol': 1e-1} if entry.id == 'cc' else {'rtol': 1e-9, 'atol': 1e-9}
        np.testing.assert_allclose(found, wanted, err_msg=entry.id, **bounds)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_the_fused_trajectory_equals_the_streaming_classes(data):
    path = data.draw(paths())
    turns, times = data.draw(quaternions(len(path))), data.draw(stamps(len(path)))
    gaps = data.draw(breaks(len(path)))
    engine, entries = TrajectoryStep(), fused_entries(TrajectoryStep)
    for i, (position, turn) in enumerate(zip(path.tolist(), turns.tolist())):
        if i in gaps:
            for each in (engine, *(metric for _, metric in entries)):
                each.reset_differences()
        engine.update(int(times[i]), *position, *turn)
        dt = (times[i] - times[i - 1]) * 1e-9 if i else math.nan
        sample = PoseSample(int(times[i]), dt, tuple(position), tuple(turn))
        for entry, metric in entries:
            entry.live.feed(metric, sample)
        check_equal(engine, entries)


@settings(max_examples=30, deadline=None)
@given(st.data(), st.integers(1, 7))
def test_the_fused_actions_equal_the_streaming_classes(data, dimension):
    actions = data.draw(paths(dimension=dimension))
    gaps = data.draw(breaks(len(actions)))
    engine, entries = ActionStep(dimension), fused_entries(ActionStep)
    for i, action in enumerate(actions.tolist()):
        if i in gaps:
            for each in (engine, *(metric for _, metric in entries)):
                each.reset_differences()
        engine.update(action)
        for entry, metric in entries:
            entry.live.feed(metric, action)
        check_equal(engine, entries)
