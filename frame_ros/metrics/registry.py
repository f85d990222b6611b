# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What is to be known of every metric: id, unit, direction, samples, source, when it is NaN."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType

from frame_ros.core.errors import ValueRangeError

FRAME = 'FRAME'
VLA_UQ = 'VLA-UQ'
CALIBRATION = 'VLA calibration'
OURS = 'frame_ros'


@dataclass(frozen=True)
class Metric:
    """One metric.

    id: the papers' abbreviation in lower case, also its name on topics, in tables and in JSON.
    unit: SI; '1' is dimensionless, 'action' the unit of the action. higher_is_better: None if
        neither.
    minimum_samples: of its stream, before which it is NaN. source: paper and equation.
    category: task, trajectory, safety, efficiency, uncertainty or confidence.
    unavailable: what makes it NaN. messages: kinds of metric message that carry it (quality,
        safety, efficiency, confidence). fields: its field names there.
    function, streaming: names in `frame_ros.metrics` of what computes it from arrays, and sample by
        sample; torch: class in `frame_ros.metrics.torch`. Empty: there is none.
    """

    id: str
    name: str
    unit: str
    higher_is_better: bool | None
    minimum_samples: int
    source: str
    category: str
    unavailable: str
    messages: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    function: str = ''
    streaming: str = ''
    torch: str = ''

    @property
    def has_three_forms(self) -> bool:
        """Whether its message carries a window's mean, `_step` and `_mean` of it."""
        return f'{self.id}_mean' in self.fields

    @property
    def message(self) -> str:
        """The kind of metric message that carries it; empty: none does."""
        return self.messages[0] if self.messages else ''


_NO_POSE = 'no TCP pose'
_NO_CONTACT = 'no contact sensor'
_NO_DISTANCE = 'no distance was measured'
_NO_TOKENS = 'the policy yields no token probabilities'
_NO_INFERENCE = 'no inference yet'
_NO_REFERENCE = 'no reference trajectory'
_NO_TRUTH = 'no ground-truth actions'
_TOO_FEW = 'or too few samples since the beginning or a gap'

# One row a metric: id, name, unit, higher_is_better, minimum_samples, source, unavailable.
_Row = tuple[str, str, str, bool | None, int, str, str]


def _metrics(category: str, message: str, rows: tuple[_Row, ...]) -> list[Metric]:
    """Metrics whose one field bears their id; no message: no field."""
    return [
        Metric(
            *row[:6],
            category=category,
            unavailable=row[6],
            messages=(message,) if message else (),
            fields=(row[0],) if message else (),
        )
        for row in rows
    ]


_TASK = _metrics(
    'task',
    '',
    (
        ('sr', 'success rate', '1', True, 1, f'{FRAME} eq. 1', 'no episode with a known outcome'),
        ('tcr', 'task completion rate', '1', True, 1, f'{FRAME} eq. 2', 'no task chain'),
        ('mse', 'mean squared action error', 'action^2', False, 1, f'{FRAME} eq. 3', _NO_TRUTH),
        ('amse', 'average mean squared action error', 'action^2', False, 1, f'{FRAME} eq. 4',
         _NO_TRUTH),
        ('namse', 'normalised average mean squared action error', '1', False, 2, f'{FRAME} eq. 5',
         f'{_NO_TRUTH}, or they do not vary'),
    ),
)  # fmt: skip

_TRAJECTORY = _metrics(
    'trajectory',
    'quality',
    (
        ('pl', 'path length', 'm', False, 2, f'{FRAME} eq. 6', f'{_NO_POSE}, {_TOO_FEW}'),
        ('ps', 'path smoothness', '1', False, 3, f'{FRAME} eq. 7',
         f'{_NO_POSE}, {_TOO_FEW}, or a path length of 0'),
        ('cc', 'curvature change', '1/m', False, 3, f'{FRAME} eq. 8',
         f'{_NO_POSE}, {_TOO_FEW}, or fewer than 2 segments of at least 1e-6 m'),
        ('ti', 'trajectory instability (RMS jerk)', 'm/s^3', False, 4, f'{VLA_UQ} eq. 25',
         f'{_NO_POSE}, {_TOO_FEW}'),
        ('tcp_speed', 'TCP speed', 'm/s', None, 2, OURS, f'{_NO_POSE}, {_TOO_FEW}'),
        ('tcp_acceleration', 'TCP acceleration', 'm/s^2', False, 3, OURS,
         f'{_NO_POSE}, {_TOO_FEW}'),
        ('tcp_jerk', 'TCP jerk', 'm/s^3', False, 4, f'{VLA_UQ} eq. 24',
         f'{_NO_POSE}, {_TOO_FEW}'),
        ('ate', 'absolute trajectory error', 'm', False, 1, f'{FRAME} eq. 9',
         f'{_NO_POSE}, or {_NO_REFERENCE}'),
        ('rte', 'relative trajectory error', 'm', False, 2, f'{FRAME} eq. 10',
         f'{_NO_POSE}, {_NO_REFERENCE}, {_TOO_FEW}'),
        ('pose_age', 'age of the pose taken for a step', 's', False, 1, OURS, _NO_POSE),
    ),
)  # fmt: skip

_REFERENCE = _metrics(
    'trajectory',
    '',
    (
        ('dtw', 'DTW distance to the nearest reference', 'm', False, 1, OURS,
         f'{_NO_POSE}, {_NO_REFERENCE}, or dtaidistance is not installed'),
    ),
)  # fmt: skip

_SAFETY = _metrics(
    'safety',
    'safety',
    (
        ('cr', 'collision rate', '1', False, 1, f'{FRAME} eq. 11',
         f'{_NO_CONTACT}, or no step yet'),
        ('cr_per_second', 'collisions per second', '1/s', False, 2, OURS,
         f'{_NO_CONTACT}, or no time has passed'),
        ('cr_per_metre', 'collisions per metre of TCP path', '1/m', False, 2, OURS,
         f'{_NO_CONTACT}, or a path length of 0'),
        ('op', 'obstacle proximity', 'm', True, 1, f'{FRAME} eq. 12', _NO_DISTANCE),
        ('rf', 'risk factor', '1/m', False, 1, f'{FRAME} eq. 13', _NO_DISTANCE),
        ('distance', 'distance to the nearest obstacle', 'm', True, 1, OURS, _NO_DISTANCE),
        ('near_zone_time', 'time in the near zone', 's', False, 2, OURS, _NO_DISTANCE),
        ('closing_speed', 'closing speed', 'm/s', False, 2, OURS, _NO_DISTANCE),
        ('time_to_collision', 'time to collision', 's', True, 2, OURS,
         f'{_NO_DISTANCE}, or not closing in'),
        ('moving_distance', 'least distance while moving', 'm', True, 1, OURS,
         f'{_NO_DISTANCE}, or the TCP never moved'),
        ('peak_force', 'peak contact force', 'N', False, 1, OURS, 'no force was measured'),
        ('rms_force', 'RMS contact force while in contact', 'N', False, 1, OURS,
         'no force was measured, or no contact'),
        ('force_limit_ratio', 'largest contact force over its limit', '1', False, 1, OURS,
         'no limit of the force is set, or no force was measured'),
        ('pressure_limit_ratio', 'largest contact pressure over its limit', '1', False, 1, OURS,
         'no limit of the pressure is set, or no force was measured'),
    ),
)  # fmt: skip

_EFFICIENCY = _metrics(
    'efficiency',
    'efficiency',
    (
        ('il', 'inference latency, mean', 's', False, 1, f'{FRAME} eq. 14', _NO_INFERENCE),
        ('il_last', 'inference latency, newest call', 's', False, 1, OURS, _NO_INFERENCE),
        ('il_p50', 'inference latency, median', 's', False, 1, OURS, _NO_INFERENCE),
        ('il_p95', 'inference latency, 95th percentile', 's', False, 1, OURS, _NO_INFERENCE),
        ('il_p99', 'inference latency, 99th percentile', 's', False, 1, OURS, _NO_INFERENCE),
        ('il_jitter', 'inference latency, standard deviation', 's', False, 1, OURS,
         _NO_INFERENCE),
        ('il_preprocess', 'latency of preprocessing, mean', 's', False, 1, OURS,
         'the policy does not time it'),
        ('il_forward', 'latency of the forward pass, mean', 's', False, 1, OURS,
         'the policy does not time it'),
        ('il_postprocess', 'latency of postprocessing, mean', 's', False, 1, OURS,
         'the policy does not time it'),
        ('il_transport', 'latency of transport, mean', 's', False, 1, OURS,
         'the policy does not time it'),
        ('ct', 'computation time', 's', False, 1, f'{FRAME} table 1',
         'the CPU time of the policy is not known'),
        ('mu', 'memory usage', 'bytes', False, 1, f'{FRAME} eq. 15',
         'the memory of the policy is not known'),
        ('control_rate', 'control rate, mean', 'Hz', None, 2, OURS, 'fewer than 2 actions'),
        ('control_rate_now', 'control rate, last second', 'Hz', None, 2, OURS,
         'fewer than 2 actions'),
        ('control_rate_worst', 'control rate, worst second', 'Hz', True, 2, OURS,
         'no full second yet'),
        ('observation_age', 'observation age at inference', 's', False, 1, OURS, _NO_INFERENCE),
        ('queue_depth', 'actions left when a chunk arrives', '1', None, 1, OURS, _NO_INFERENCE),
    ),
)  # fmt: skip

_CONFIDENCE = _metrics(
    'confidence',
    'confidence',
    (
        ('confidence', 'confidence', '1', True, 1, f'{CALIBRATION}, section 3.3', _NO_TOKENS),
        ('confidence_calibrated', 'calibrated confidence', '1', True, 1,
         f'{CALIBRATION}, section 3.6', f'{_NO_TOKENS}, or no recalibrator is loaded'),
        ('confidence_episode', 'confidence of the episode so far', '1', True, 1,
         f'{CALIBRATION}, section 3.4', _NO_TOKENS),
        ('ensemble_mean', 'mean confidence over rephrasings', '1', True, 1,
         f'{CALIBRATION}, section 3.5', 'no rephrasings of the instruction'),
        ('ensemble_spread', 'spread of confidence over rephrasings', '1', False, 2,
         f'{CALIBRATION}, section 3.5', 'fewer than 2 rephrasings of the instruction'),
    ),
)  # fmt: skip

_CHUNK_OVERLAP = Metric(
    'chunk_overlap', 'chunk overlap disagreement', 'action', False, 2, OURS, 'uncertainty',
    'no two chunks that predict the same step', ('confidence', 'efficiency'), ('chunk_overlap',),
)  # fmt: skip


def _three_forms(
    key: str,
    name: str,
    unit: str,
    minimum: int,
    source: str,
    category: str,
    missing: str,
    message: str = 'quality',
) -> Metric:
    """A metric of each step or inference: window mean, `_step` and `_mean` in its message."""
    fields = (key, f'{key}_step', f'{key}_mean')
    return Metric(key, name, unit, False, minimum, source, category, missing, (message,), fields)


def _instabilities() -> list[Metric]:
    metrics: list[Metric] = []
    for order, (short, word) in enumerate(
        (('pi', 'position'), ('vi', 'velocity'), ('ai', 'acceleration')), start=1
    ):
        arguments = (
            (f'tcp_{short}', f'TCP {word} instability', 'm', order + 1,
             f'{VLA_UQ} eq. {15 + 2 * order}', 'trajectory', f'{_NO_POSE}, {_TOO_FEW}'),
            (f'a_{short}', f'action {word} instability', '1', order + 1,
             f'{VLA_UQ} eq. {2 * order}', 'uncertainty',
             f'no executed action, or no bounds, {_TOO_FEW}'),
        )  # fmt: skip
        metrics.extend(_three_forms(*each) for each in arguments)
    return metrics


_OT = _three_forms(
    'ot', 'optimal trajectory difference', '1', 2, f'{VLA_UQ} eq. 29', 'trajectory',
    f'no object pose, no TCP pose, an initial distance of 0, {_TOO_FEW}',
)  # fmt: skip

_NO_SAMPLES = 'the policy yields fewer than 2 samples per inference'
_UNCERTAINTY = [
    _three_forms(key, name, unit, minimum, f'{VLA_UQ} eq. {equation}', 'uncertainty', missing,
                 'confidence')
    for key, name, unit, minimum, equation, missing in (
        ('tb_tp', 'token probability uncertainty', '1', 1, 8, _NO_TOKENS),
        ('tb_pcs', 'prediction confidence score uncertainty', '1', 1, 10, _NO_TOKENS),
        ('tb_d', 'DeepGini', '1', 1, 12, _NO_TOKENS),
        ('tb_e', 'token entropy', 'nats', 1, 14, _NO_TOKENS),
        ('ev', 'execution variability', 'action', 2, 15, _NO_SAMPLES),
    )
]  # fmt: skip

# id -> (function, streaming class, torch class).
_PYTHON = {
    'sr': ('success_rate', 'SuccessRate', 'SuccessRate'),
    'tcr': ('task_completion_rate', 'TaskCompletionRate', 'TaskCompletionRate'),
    'mse': ('mse', 'MSE', 'MSE'),
    'amse': ('amse', 'AMSE', 'AMSE'),
    'namse': ('namse', 'NAMSE', 'NAMSE'),
    'pl': ('path_length', 'PathLength', 'PathLength'),
    'ps': ('path_smoothness', 'PathSmoothness', 'PathSmoothness'),
    'cc': ('curvature_change', 'CurvatureChange', 'CurvatureChange'),
    'ti': ('rms_jerk', 'RMSJerk', 'RMSJerk'),
    'ate': ('absolute_trajectory_error', 'AbsoluteTrajectoryError', 'AbsoluteTrajectoryError'),
    'rte': ('relative_trajectory_error', 'RelativeTrajectoryError', 'RelativeTrajectoryError'),
    'dtw': ('dtw_distance', '', ''),
    **dict.fromkeys(
        ('tcp_pi', 'tcp_vi', 'tcp_ai'), ('tcp_instability', 'TCPInstability', 'TCPInstability')
    ),
    **dict.fromkeys(
        ('tcp_speed', 'tcp_acceleration', 'tcp_jerk'), ('tcp_instability', 'TrajectoryStep', '')
    ),
    **dict.fromkeys(
        ('a_pi', 'a_vi', 'a_ai'), ('action_instability', 'ActionInstability', 'ActionInstability')
    ),
    'ot': ('optimal_trajectory_difference', *('OptimalTrajectoryDifference',) * 2),
    'cr': ('collision_rate', 'CollisionRate', 'CollisionRate'),
    **dict.fromkeys(('cr_per_second', 'cr_per_metre'), ('collision_rate', '', '')),
    'op': ('obstacle_proximity', 'ObstacleProximity', 'ObstacleProximity'),
    'rf': ('risk_factor', 'RiskFactor', 'RiskFactor'),
    'il': ('latency_statistics', 'InferenceLatency', 'InferenceLatency'),
    **dict.fromkeys(
        ('il_p50', 'il_p95', 'il_p99', 'il_jitter'),
        ('latency_statistics', 'LatencyStatistics', 'LatencyStatistics'),
    ),
    'ct': ('', 'ComputationTime', 'ComputationTime'),
    'mu': ('', 'MemoryUsage', 'MemoryUsage'),
    'control_rate': ('control_rate', 'ControlRate', 'ControlRate'),
    'control_rate_now': ('control_rate', 'ControlRate', ''),
    'control_rate_worst': ('control_rate', 'ControlRate', 'WorstControlRate'),
    'tb_tp': ('token_probability_uncertainty', *('TokenProbabilityUncertainty',) * 2),
    'tb_pcs': ('prediction_confidence_uncertainty', *('PredictionConfidenceUncertainty',) * 2),
    'tb_d': ('deepgini', 'DeepGini', 'DeepGini'),
    'tb_e': ('token_entropy', 'TokenEntropy', 'TokenEntropy'),
    'ev': ('execution_variability', 'ExecutionVariability', 'ExecutionVariability'),
    'chunk_overlap': ('chunk_overlap_disagreement', *('ChunkOverlapDisagreement',) * 2),
    'confidence': ('token_confidence', '', ''),
    'confidence_episode': ('episode_confidence', 'EpisodeConfidence', ''),
    **dict.fromkeys(('ensemble_mean', 'ensemble_spread'), ('ensemble_confidence', '', '')),
}


def _with_names(entry: Metric) -> Metric:
    function, streaming, torch = _PYTHON.get(entry.id, ('', '', ''))
    return replace(entry, function=function, streaming=streaming, torch=torch)


_ALL = [
    _with_names(entry)
    for entry in (
        *_TASK, *_TRAJECTORY, *_REFERENCE, *_instabilities(), _OT, *_SAFETY, *_EFFICIENCY,
        *_UNCERTAINTY, _CHUNK_OVERLAP, *_CONFIDENCE,
    )
]  # fmt: skip

# id -> metric, in the order of tables.
REGISTRY: MappingProxyType[str, Metric] = MappingProxyType({m.id: m for m in _ALL})

_BY_FIELD = {(kind, f): m for m in _ALL for kind in m.messages for f in m.fields}


def metric(id: str) -> Metric:
    """The metric of this id.

    Raises:
        ValueRangeError: there is none.
    """
    if id not in REGISTRY:
        raise ValueRangeError(f'no metric has the id {id!r}; there are {", ".join(REGISTRY)}')
    return REGISTRY[id]


def metric_of_field(message: str, field: str) -> Metric | None:
    """The metric behind a field of a metric message; None for one that is no metric.

    Args:
        message: 'quality', 'safety', 'efficiency' or 'confidence'.
        field: the field's name, `tcp_pi_mean` for example.
    """
    return _BY_FIELD.get((message, field))
