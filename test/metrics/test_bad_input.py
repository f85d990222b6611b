# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bad input in batch: every public function names what was wrong and what would be right."""

import inspect

import numpy as np
import pytest

from frame_ros import metrics as m
from frame_ros.core.errors import FrameRosError, ShapeError, ValueRangeError

PATH = np.random.default_rng(0).normal(size=(9, 3)).cumsum(axis=0)
TIMES = np.arange(9) * 0.1
HOLED = PATH.copy()
HOLED[4] = np.nan
STILL = np.ones((9, 3))
LATE = TIMES.copy()
LATE[3] = LATE[1]
P = np.full((2, 4), 0.25)
HOLED_P = P.copy()
HOLED_P[1, 2] = np.nan
HOLED_ROW = [0.1, np.nan, 0.2]
NOT_FINITE = r'not finite, the first at index \(4, 0\)'
THREE_WIDE = r'have shape \(9, 4\); .*\(\.\.\., T, 3\)'
WIDE = np.zeros((9, 4))
PAIR = np.stack([PATH, STILL])
REFERENCES = [(TIMES, PATH)]
AT_INDEX = 'do not increase strictly: 0.1 at index 3 is not after'

# Function: calls that must fail, with the error and what it says.
BAD = {
    'path_length': [
        (lambda: m.path_length(PATH[:1]), ShapeError, r'\(1, 3\).*at least 2 samples'),
        (lambda: m.path_length([[0, 0], [1]]), ShapeError, 'unequal lengths'),
        (lambda: m.path_length(None), ValueRangeError, 'type object; real numbers'),
    ],
    'path_smoothness': [
        (lambda: m.path_smoothness(PATH[:2]), ShapeError, r'\(2, 3\).*at least 3 samples'),
        (lambda: m.path_smoothness(HOLED, 'authors'), ValueRangeError, NOT_FINITE),
        (lambda: m.path_smoothness(PATH, 'x'), ValueRangeError, "variant is 'x'; one of paper"),
    ],
    'curvature_change': [
        (lambda: m.curvature_change(PATH[:3]), ShapeError, r'\(3, 3\).*at least 4 samples'),
        (lambda: m.curvature_change(PATH, LATE[:5]), ShapeError, r'\(5,\); \(9,\) is expected'),
        (lambda: m.curvature_change(PATH, HOLED[:, 0]), ValueRangeError, r'headings.*\(4,\)'),
        (lambda: m.curvature_change(PATH, None, np.full((9, 4), np.nan)), ValueRangeError,
         'orientations: 36 of the values are not finite'),
    ],
    'count_short_segments': [
        (lambda: m.count_short_segments(PATH[:1]), ShapeError, 'at least 2 samples'),
    ],
    'action_instability': [
        (lambda: m.action_instability(TIMES, 1), ShapeError, r'\(9,\); \(\.\.\., T, D\)'),
        (lambda: m.action_instability(PATH[:2], 2), ShapeError, 'at least 3 samples'),
        (lambda: m.action_instability(PATH, 1.0), ValueRangeError, 'order is 1.0; 1 .position.'),
        (lambda: m.action_instability(PATH, True), ValueRangeError, 'order is True; 1'),
        (lambda: m.action_instability(HOLED, 1), ValueRangeError, NOT_FINITE),
        (lambda: m.action_instability(PATH, 1, 2.0), ShapeError, 'no pair; two scalars or'),
        (lambda: m.action_instability(PATH, 1, (1.0, 1.0)), ValueRangeError, 'below its upper'),
    ],
    'tcp_instability': [
        (lambda: m.tcp_instability(WIDE, 1), ShapeError, THREE_WIDE),
        (lambda: m.tcp_instability(PATH[:3], 3), ShapeError, 'at least 4 samples'),
        (lambda: m.tcp_instability(HOLED, 1), ValueRangeError, NOT_FINITE),
        (lambda: m.tcp_instability(PATH, 1, LATE[1:] - LATE[:-1]), ValueRangeError,
         'not positive; stamps must increase'),
        (lambda: m.tcp_instability(PATH, 1, TIMES), ShapeError, r'dt has shape \(9,\).*\(8,\)'),
    ],
    'rms_jerk': [
        (lambda: m.rms_jerk(WIDE, 0.1), ShapeError, THREE_WIDE),
        (lambda: m.rms_jerk(PATH[:3], 0.1), ShapeError, 'at least 4 samples'),
        (lambda: m.rms_jerk(HOLED, 0.1), ValueRangeError, NOT_FINITE),
        (lambda: m.rms_jerk(HOLED, 0.1, 'authors'), ValueRangeError, NOT_FINITE),
        (lambda: m.rms_jerk(PATH, LATE[1:] - LATE[:-1]), ValueRangeError, 'stamps must increase'),
        (lambda: m.rms_jerk(PATH, np.inf), ValueRangeError, 'dt: 1 of the values'),
        (lambda: m.rms_jerk(PATH, None), ValueRangeError, 'dt is None; s between samples'),
    ],
    'window_mean': [
        (lambda: m.window_mean(1.0, 1), ShapeError, 'scalar'),
        (lambda: m.window_mean([np.inf], 1), ValueRangeError, r'infinite, the first at index \(0,'),
        (lambda: m.window_mean([1.0], 8), ValueRangeError, 'order is 8; 0 to 7'),
    ],
    'find_breaks': [
        (lambda: m.find_breaks(PATH, 1.0), ShapeError, r'\(9, 3\); \(T,\)'),
        (lambda: m.find_breaks(LATE, 1.0), ValueRangeError, AT_INDEX),
        (lambda: m.find_breaks(HOLED[:, 0], 1.0), ValueRangeError, 'not finite'),
    ],
    'absolute_trajectory_error': [
        (lambda: m.absolute_trajectory_error(PATH, PATH, 'x'), ValueRangeError, "align is 'x'"),
        (lambda: m.absolute_trajectory_error(PATH, PATH[:8]), ShapeError, r'\(9, 3\).*\(8, 3\)'),
        (lambda: m.absolute_trajectory_error(PATH[:0], PATH[:0]), ShapeError, '1 sample T'),
        (lambda: m.absolute_trajectory_error(HOLED, PATH), ValueRangeError, NOT_FINITE),
        (lambda: m.absolute_trajectory_error(PATH, HOLED), ValueRangeError, f'ref.*{NOT_FINITE}'),
        (lambda: m.absolute_trajectory_error(PATH, HOLED, 'se3'), ValueRangeError, NOT_FINITE),
        (lambda: m.absolute_trajectory_error(PATH, PATH, 'x'), ValueRangeError, "'x'; one of none"),
    ],
    'relative_trajectory_error': [
        (lambda: m.relative_trajectory_error(PATH, PATH, 1.5), ValueRangeError, 'delta is 1.5; a'),
        (lambda: m.relative_trajectory_error(PATH, PATH, 'a'), ValueRangeError, "delta is 'a'; a"),
        (lambda: m.relative_trajectory_error(PATH, WIDE), ShapeError, r'\(9, 3\).*\(9, 4\)'),
        (lambda: m.relative_trajectory_error(PATH, PATH, 9), ShapeError, 'at least 10 samples'),
        (lambda: m.relative_trajectory_error(PATH, PATH, 0), ValueRangeError, 'delta is 0'),
        (lambda: m.relative_trajectory_error(PATH, HOLED), ValueRangeError, NOT_FINITE),
    ],
    'align': [
        (lambda: m.align(PATH, PATH[:8]), ShapeError, r'\(9, 3\).*\(8, 3\)'),
        (lambda: m.align(PATH[:1], PATH[:1]), ShapeError, 'at least 2 samples'),
        (lambda: m.align(HOLED, PATH), ValueRangeError, NOT_FINITE),
        (lambda: m.align(STILL, PATH, with_scale=True), ValueRangeError, 'all the same'),
    ],
    'resample': [
        (lambda: m.resample(PATH, TIMES[:8], TIMES), ShapeError, r'\(8,\)'),
        (lambda: m.resample(PATH, LATE, TIMES), ValueRangeError, AT_INDEX),
        (lambda: m.resample(HOLED, TIMES, TIMES), ValueRangeError, NOT_FINITE),
        (lambda: m.resample(PATH, TIMES, HOLED[:, 0]), ValueRangeError, 'new_stamps'),
    ],
    'resample_at_arc_length': [
        (lambda: m.resample_at_arc_length(PATH, PATH), ShapeError, r'lengths .*\(9, 3\); \(S,\)'),
        (lambda: m.resample_at_arc_length(PATH[:1], TIMES), ShapeError, 'at least 2 samples'),
        (lambda: m.resample_at_arc_length(HOLED, TIMES), ValueRangeError, NOT_FINITE),
        (lambda: m.resample_at_arc_length(PATH, [np.nan]), ValueRangeError, 'lengths: 1'),
        (lambda: m.resample_at_arc_length(STILL, TIMES), ValueRangeError, 'reference are all'),
    ],
    'mean_trajectory': [
        (lambda: m.mean_trajectory([]), ShapeError, 'references are empty'),
        (lambda: m.mean_trajectory([PATH]), ShapeError, 'no pair; two arrays'),
        (lambda: m.mean_trajectory([(TIMES[:5], PATH)]), ShapeError, r'\(9, 3\).* \(5,\)'),
        (lambda: m.mean_trajectory([(TIMES[:1], PATH[:1])]), ShapeError, 'at least 2 samples'),
        (lambda: m.mean_trajectory([*REFERENCES, (TIMES, PATH[:, :2])]), ShapeError, '3, 2 comp'),
        (lambda: m.mean_trajectory(REFERENCES, 1), ShapeError, 'samples is 1'),
        (lambda: m.mean_trajectory([(LATE, PATH)]), ValueRangeError, f'reference 0 {AT_INDEX}'),
        (lambda: m.mean_trajectory([(TIMES, HOLED)]), ValueRangeError, NOT_FINITE),
        (lambda: m.mean_trajectory([(TIMES, STILL)], by='arc_length'), ValueRangeError, 'all the'),
        (lambda: m.mean_trajectory(REFERENCES, by='x'), ValueRangeError, 'one of time, arc_length'),
    ],
    'reference_errors': [
        (lambda: m.reference_errors(PATH, TIMES, []), ShapeError, 'references are empty'),
        (lambda: m.reference_errors(PATH, TIMES[:5], REFERENCES), ShapeError, r'\(5,\)'),
        (lambda: m.reference_errors(PATH, TIMES, [(TIMES, WIDE)]), ShapeError, THREE_WIDE),
        (lambda: m.reference_errors(PATH, TIMES, REFERENCES, delta=9), ShapeError, 'at least 10'),
        (lambda: m.reference_errors(PATH, LATE, REFERENCES), ValueRangeError, AT_INDEX),
        (lambda: m.reference_errors(HOLED, TIMES, REFERENCES), ValueRangeError, NOT_FINITE),
    ],
    'dtw_distance': [
        (lambda: m.dtw_distance(PATH, PATH[:, :2]), ShapeError, r'\(9, 3\).*\(9, 2\)'),
        (lambda: m.dtw_distance(PATH[:0], PATH), ShapeError, 'at least 1 sample T'),
        (lambda: m.dtw_distance(PATH[None], PATH), ShapeError, 'one path'),
        (lambda: m.dtw_distance(PATH, HOLED), ValueRangeError, NOT_FINITE),
        (lambda: m.dtw_distance(PATH, PATH, -1), ValueRangeError, 'window is -1'),
    ],
    'optimal_trajectory_difference': [
        (lambda: m.optimal_trajectory_difference(PATH, STILL, second_term='x'), ValueRangeError,
         "second_term is 'x'; one of object_to_goal"),
        (lambda: m.optimal_trajectory_difference(PATH, PATH[:8]), ShapeError, r'\(8, 3\)'),
        (lambda: m.optimal_trajectory_difference(PATH[:1], PATH[:1]), ShapeError, 'at least 2'),
        (lambda: m.optimal_trajectory_difference(HOLED, PATH), ValueRangeError, NOT_FINITE),
        (lambda: m.optimal_trajectory_difference(PATH, PATH, PATH), ShapeError, 'grasped is miss'),
        (lambda: m.optimal_trajectory_difference(PATH, PATH, PATH, [True]), ShapeError, r'\(1,\)'),
    ],
    'remaining_distance': [
        (lambda: m.remaining_distance(PATH, WIDE), ShapeError, r'\(9, 4\)'),
        (lambda: m.remaining_distance(PATH[:0], PATH[:0]), ShapeError, 'at least 1'),
        (lambda: m.remaining_distance(PATH, HOLED), ValueRangeError, f'target.*{NOT_FINITE}'),
    ],
    'success_rate': [
        (lambda: m.success_rate([]), ShapeError, 'at least 1 trial'),
        (lambda: m.success_rate([0.0, np.nan]), ValueRangeError, 'other values than 0 and 1'),
        (lambda: m.success_rate(['yes']), ValueRangeError, 'real numbers are expected'),
    ],
    'task_completion_rate': [
        (lambda: m.task_completion_rate([1, 2], [3, 3, 3]), ShapeError, r'\(2,\), total \(3,\)'),
        (lambda: m.task_completion_rate(np.nan, 3), ValueRangeError, 'completed: 1 of'),
        (lambda: m.task_completion_rate(4, 3), ValueRangeError, '4 completed of 3'),
    ],
    'wilson_interval': [
        (lambda: m.wilson_interval(1, 0), ValueRangeError, '1 success in 0 trials'),
        (lambda: m.wilson_interval(np.nan, 3), ValueRangeError, 'nan successes'),
    ],
    'mse': [
        (lambda: m.mse(PATH, WIDE), ShapeError, r'\(9, 3\), predicted \(9, 4\)'),
        (lambda: m.mse(PATH[:0], PATH[:0]), ShapeError, '1 sample T'),
        (lambda: m.mse(PATH, HOLED), ValueRangeError, f'predicted.*{NOT_FINITE}'),
    ],
    'amse': [
        (lambda: m.amse([]), ShapeError, 'at least one pair'),
        (lambda: m.amse([(PATH, WIDE)]), ShapeError, r'\(9, 4\)'),
        (lambda: m.amse([PATH]), ShapeError, 'no pair'),
        (lambda: m.amse([(PATH, HOLED)]), ValueRangeError, NOT_FINITE),
    ],
    'namse': [
        (lambda: m.namse([]), ShapeError, 'at least one pair'),
        (lambda: m.namse([(PATH, WIDE)]), ShapeError, r'\(9, 4\)'),
        (lambda: m.namse([(HOLED, PATH)]), ValueRangeError, NOT_FINITE),
    ],
    'collision_rate': [
        (lambda: m.collision_rate([1, 2], [3, 3, 3]), ShapeError, r'\(2,\), steps \(3,\)'),
        (lambda: m.collision_rate(1, 0), ValueRangeError, 'collisions are 1, steps 0;'),
        (lambda: m.collision_rate(np.nan, 5), ValueRangeError, 'not finite'),
    ],
    'count_collisions': [
        (lambda: m.count_collisions(True), ShapeError, 'scalar'),
        (lambda: m.count_collisions(HOLED_ROW), ValueRangeError, 'not finite'),
    ],
    'obstacle_proximity': [
        (lambda: m.obstacle_proximity(np.ma.array([0.5, 0.1], mask=[0, 1])), ValueRangeError,
         'distances: 1 of the values are masked'),
        (lambda: m.obstacle_proximity([]), ShapeError, 'at least 1 sample'),
        (lambda: m.obstacle_proximity([0.1, -np.inf]), ValueRangeError, r'infinite.*\(1,\)'),
    ],
    'risk_factor': [
        (lambda: m.risk_factor(1.0), ShapeError, r'shape \(\)'),
        (lambda: m.risk_factor([np.inf, np.nan]), ValueRangeError, 'infinite'),
        (lambda: m.risk_factor([1.0], floor=-1.0), ValueRangeError, 'floor is -1.0'),
    ],
    **{
        function.__name__: [
            (lambda f=function: f([0.5, 0.5]), ShapeError, r'\(2,\); \(\.\.\., TN, V\)'),
            (lambda f=function: f(P[:0]), ShapeError, 'at least 1 token'),
            (lambda f=function: f(HOLED_P), ValueRangeError, r'p: 1 .*\(1, 2\)'),
            (lambda f=function: f(P - 0.5), ValueRangeError, 'off by 2'),
            (lambda f=function: f([[1.5, -0.5]]), ValueRangeError, 'no probabilities'),
        ]
        for function in (
            m.token_probability_uncertainty, m.prediction_confidence_uncertainty, m.deepgini,
            m.token_entropy,
        )
    },
    'token_metrics': [
        (lambda: m.token_metrics(*[[]] * 4), ShapeError, 'at least 1 token'),
        (lambda: m.token_metrics([0.5], [0.1], [0.3], [0.1, 0.2]), ShapeError, r'entropy \(2,\)'),
        (lambda: m.token_metrics([0.5], [np.nan], [0.3], [0.1]), ValueRangeError, 'second_prob'),
        (lambda: m.token_metrics(*[[0.1]] * 4, vocabulary_size=1), ValueRangeError, 'size is 1'),
    ],
    'token_confidence': [
        (lambda: m.token_confidence([]), ShapeError, r'\(0,\); \(\.\.\., TN\).*at least 1 token'),
        (lambda: m.token_confidence([0.5, 1.5]), ValueRangeError, 'between 0.5 and 1.5'),
        (lambda: m.token_confidence([0.5, np.nan]), ValueRangeError, 'not finite'),
        (lambda: m.token_confidence([0.5], 'median'), ValueRangeError, "'median'; one of mean"),
        (lambda: m.token_confidence([0.5], groups=[0, 1]), ShapeError, r'\(2,\); \(1,\), one per'),
        (lambda: m.token_confidence([0.5], 'min', [0]), ValueRangeError, "not go with 'min'"),
    ],
    'token_groups': [
        (lambda: m.token_groups([0, 1], [0]), ShapeError, r'\(2,\), dimensions \(1,\)'),
        (lambda: m.token_groups([[0]], [[0]]), ShapeError, r'\(TN,\) both'),
    ],
    'episode_confidence': [
        (lambda: m.episode_confidence([]), ShapeError, 'at least 1 inference'),
        (lambda: m.episode_confidence([-0.1]), ValueRangeError, 'between -0.1'),
        (lambda: m.episode_confidence([0.5], 'last'), ValueRangeError, "'last'; one of first"),
    ],
    'ensemble_confidence': [
        (lambda: m.ensemble_confidence(0.5), ShapeError, r'shape \(\); \(\.\.\., r\)'),
        (lambda: m.ensemble_confidence([0.5, np.inf]), ValueRangeError, 'not finite'),
    ],
    'execution_variability': [
        (lambda: m.execution_variability([1.0, 2.0]), ShapeError, r'\(2,\)'),
        (lambda: m.execution_variability(PATH[:1]), ShapeError, 'at least 2 samples N'),
        (lambda: m.execution_variability(HOLED), ValueRangeError, NOT_FINITE),
    ],
    'latency_statistics': [
        (lambda: m.latency_statistics([]), ShapeError, r'\(0,\)'),
        (lambda: m.latency_statistics(['fast']), ValueRangeError, 'real numbers'),
        (lambda: m.latency_statistics(HOLED_ROW), ValueRangeError, 'negative or infinite'),
    ],
    'control_rate': [
        (lambda: m.control_rate([[0, 1]]), ShapeError, r'\(1, 2\); \(N,\)'),
        (lambda: m.control_rate([0.5, np.nan]), ValueRangeError, 'float64; integers, in ns'),
        (lambda: m.control_rate([2, 1]), ValueRangeError, 'stamps decrease; sort'),
    ],
    'chunk_overlap_disagreement': [
        (lambda: m.chunk_overlap_disagreement(PATH, WIDE, 1), ShapeError, r'\(9, 3\) and \(9, 4\)'),
        (lambda: m.chunk_overlap_disagreement(HOLED, PATH, 1), ValueRangeError, NOT_FINITE),
        (lambda: m.chunk_overlap_disagreement(PATH, PATH, -1), ValueRangeError, 'shift is -1'),
    ],
    'chunk_consistency': [
        (lambda: m.chunk_consistency(PATH, WIDE, 1), ShapeError, r'\(9, 4\) and \(9, 3\)'),
        (lambda: m.chunk_consistency(PATH, HOLED, 1), ValueRangeError, NOT_FINITE),
        (lambda: m.chunk_consistency(PATH, PATH, -1), ValueRangeError, 'shift is -1'),
        (lambda: m.chunk_consistency(PATH, PATH, 1.5), ValueRangeError, 'shift is 1.5; a whole'),
    ],
    'mahalanobis_distance': [
        (lambda: m.mahalanobis_distance([1.0, 2.0], [0.0], [[1.0]]), ShapeError, r'\(2,\)'),
        (lambda: m.mahalanobis_distance([np.nan], [0.0], [[1.0]]), ValueRangeError, 'not finite'),
    ],
    'nearest_neighbour_distance': [
        (lambda: m.nearest_neighbour_distance([1.0], [[0, 1]], 1, [1.0]), ShapeError, r'\(1,\)'),
        (lambda: m.nearest_neighbour_distance([1.0], [[0.0]], 2, [1.0]), ValueRangeError, '1 to 1'),
        (lambda: m.nearest_neighbour_distance([1.0], [[0.0]], 1, [0.0]), ValueRangeError, 'scale'),
    ],
    'chunk_distances': [
        (lambda: m.chunk_distances(PATH, WIDE, 1), ShapeError, r'\(9, 4\) and \(9, 3\)'),
        (lambda: m.chunk_distances(PATH, HOLED, 1), ValueRangeError, NOT_FINITE),
        (lambda: m.chunk_distances(PATH, PATH, -1), ValueRangeError, 'shift is -1'),
    ],
    'reversal_share': [
        (lambda: m.reversal_share([1.0, 2.0]), ShapeError, r'\(2,\)'),
        (lambda: m.reversal_share(HOLED), ValueRangeError, NOT_FINITE),
        (lambda: m.reversal_share(PATH, 2), ValueRangeError, 'window is 2; a whole number of 3'),
    ],
    'stagnation': [
        (lambda: m.stagnation(PATH, PATH[1:]), ShapeError, 'one position for each action'),
        (lambda: m.stagnation(PATH, HOLED), ValueRangeError, NOT_FINITE),
        (lambda: m.stagnation(PATH, PATH, 0.0), ValueRangeError, 'threshold is 0.0 m'),
        (lambda: m.stagnation(PATH, PATH, window=1), ValueRangeError, 'window is 1'),
    ],
    'sample_spread': [
        (lambda: m.sample_spread(PATH), ShapeError, r'\(9, 3\); \(N, H, D\)'),
        (lambda: m.sample_spread(PATH[None]), ShapeError, 'N >= 2'),
        (lambda: m.sample_spread([HOLED, PATH]), ValueRangeError, 'not finite'),
    ],
    'chunk_entropy': [
        (lambda: m.chunk_entropy(PATH), ShapeError, r'\(9, 3\); \(N, H, D\)'),
        (lambda: m.chunk_entropy([HOLED, PATH]), ValueRangeError, 'not finite'),
    ],
    'statistical_consistency': [
        (lambda: m.statistical_consistency(PAIR, PATH, 1), ShapeError, r'current have shape'),
        (lambda: m.statistical_consistency(PAIR, [WIDE, WIDE], 1), ShapeError, '3 and 4 dimen'),
        (lambda: m.statistical_consistency([HOLED, PATH], PAIR, 1), ValueRangeError, 'not finite'),
        (lambda: m.statistical_consistency(PAIR, PAIR, -1), ValueRangeError, 'shift is -1'),
        (lambda: m.statistical_consistency(PAIR, PAIR, 1, 0.0), ValueRangeError, 'bandwidth is 0'),
    ],
}  # fmt: skip

# Functions of names; the filters and the fingerprint have tests of their own.
ELSEWHERE = {'metric', 'metric_of_field'} | {
    name
    for name in m.__all__
    if getattr(getattr(m, name), '__module__', '').endswith(('filtering', 'fingerprint'))
}


def of_positions(function):
    """Calls of a function that needs positions (T, 3) alone."""
    return [
        (lambda: function(WIDE), ShapeError, THREE_WIDE),
        (lambda: function(PATH[:0]), ShapeError, 'at least (1 sample|[2-4] samples) T'),
        (lambda: function(HOLED), ValueRangeError, NOT_FINITE),
    ]


FUNCTIONS = {name: f for name in m.__all__ if inspect.isfunction(f := getattr(m, name))}
for name, function in FUNCTIONS.items():
    needed = [
        parameter.name
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is parameter.empty
    ]
    if needed == ['positions']:
        BAD[name] = [*BAD.get(name, ()), *of_positions(function)]
CASES = [(name, *case) for name, cases in BAD.items() for case in cases]


def test_no_public_function_is_forgotten():
    assert set(FUNCTIONS) - ELSEWHERE == set(BAD)
    assert all(len(cases) >= 2 for cases in BAD.values())


@pytest.mark.filterwarnings('ignore::RuntimeWarning')
@pytest.mark.parametrize(('name', 'call', 'error', 'says'), CASES)
def test_what_was_wrong_and_what_would_be_right_is_named(name, call, error, says):
    if name == 'dtw_distance':
        pytest.importorskip('dtaidistance')
    with pytest.raises(error, match=says) as raised:
        call()
    assert isinstance(raised.value, FrameRosError) and isinstance(raised.value, ValueError)


def test_masked_values_are_refused_and_other_kinds_of_numpy_arrays_are_plain_ones():
    masked = np.ma.array(PATH, mask=np.zeros(PATH.shape, bool))
    whole = m.path_length(masked)
    assert type(whole) is np.float64 and whole == m.path_length(PATH)
    other = PATH.view(type('OtherArray', (np.ndarray,), {}))
    assert type(m.tcp_instability(other, 1)) is np.ndarray
    masked[3, 1] = np.ma.masked
    for call in (m.path_length, m.action_instability, m.mse):
        rest = {m.action_instability: (1,), m.mse: (STILL,)}.get(call, ())
        with pytest.raises(ValueRangeError, match='1 of the values are masked; leave them out'):
            call(masked, *rest)


def test_where_nothing_moves_what_divides_by_the_length_is_nan_and_the_rest_0():
    nan = [m.path_smoothness(STILL), m.curvature_change(STILL), m.curvature_change(STILL, TIMES)]
    nan += [m.namse([(STILL, PATH)]), *m.optimal_trajectory_difference(STILL, STILL)]
    assert np.isnan(nan).all()
    zero = [m.path_length(STILL), m.rms_jerk(STILL, 0.1), m.rms_jerk(STILL, 0.1, 'authors')]
    zero += [m.path_smoothness(STILL, 'authors'), m.execution_variability(STILL)]
    zero += [m.absolute_trajectory_error(STILL, STILL), m.relative_trajectory_error(STILL, STILL)]
    zero += [m.mse(STILL, STILL), *m.travelled_lengths(STILL), *m.remaining_distance(STILL, STILL)]
    zero += [*m.tcp_instability(STILL, 2)[2:], *m.action_instability(STILL, 1)[1:]]
    assert (np.array(zero) == 0.0).all()
    assert m.is_static(STILL) and m.count_short_segments(STILL) == 8
    # Aligned, all points lie on the centre of the reference.
    np.testing.assert_allclose(m.align(STILL, PATH), np.tile(PATH.mean(axis=0), (9, 1)))
    stamps, mean = m.mean_trajectory([(TIMES, STILL)])
    np.testing.assert_allclose(mean, STILL)
    np.testing.assert_allclose(stamps, TIMES)


@pytest.mark.parametrize('length', [4, 7, 8, 20])
def test_of_torch_tensors_at_rest_every_gradient_is_finite(length):
    torch = pytest.importorskip('torch')
    for call in (
        lambda p: m.path_length(p),
        lambda p: m.path_smoothness(p),
        lambda p: m.path_smoothness(p, 'authors'),
        lambda p: m.curvature_change(p),
        lambda p: m.curvature_change(p, orientations=torch.ones((length, 4))),
        lambda p: m.rms_jerk(p, 0.1),
        lambda p: m.rms_jerk(p, torch.full((length - 1,), 0.1)),
        lambda p: m.rms_jerk(p, 0.1, 'authors'),
        lambda p: m.absolute_trajectory_error(p, torch.ones_like(p)),
        lambda p: m.relative_trajectory_error(p, torch.ones_like(p)),
        lambda p: m.tcp_instability(p, 3, 0.1)[3:],
        lambda p: m.window_mean(m.action_instability(p, 1), 1)[1:],
        lambda p: m.optimal_trajectory_difference(p, torch.ones_like(p) + 1.0)[1:],
        lambda p: m.mse(p, torch.ones_like(p)),
        lambda p: m.namse([(p, torch.zeros_like(p))]),
        lambda p: m.execution_variability(p),
    ):
        points = torch.ones((length, 3), dtype=torch.float64, requires_grad=True)
        call(points).sum().backward()
        assert points.grad is not None and torch.isfinite(points.grad).all()


def test_a_missing_library_names_the_extra(monkeypatch):
    from frame_ros.core.errors import MissingExtraError

    monkeypatch.setitem(__import__('sys').modules, 'dtaidistance', None)
    with pytest.raises(MissingExtraError, match=r'(make setup.*)?pip install .dtaidistance>='):
        m.dtw_distance(PATH, PATH)
