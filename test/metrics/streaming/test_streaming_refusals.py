# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A sample that is refused leaves a streaming metric exactly as it was."""

from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.metrics import (
    AMSE,
    MSE,
    NAMSE,
    AbsoluteTrajectoryError,
    ActionInstability,
    ActionStep,
    ChunkOverlapDisagreement,
    CollisionRate,
    ComputationTime,
    ControlRate,
    CurvatureChange,
    DeepGini,
    ExecutionVariability,
    LatencyStatistics,
    MemoryUsage,
    ObstacleProximity,
    OptimalTrajectoryDifference,
    PathLength,
    PathSmoothness,
    PoseLowPass,
    ReferenceTracker,
    RelativeTrajectoryError,
    RiskFactor,
    RMSJerk,
    RunningMean,
    SuccessRate,
    TCPInstability,
    TokenEntropy,
    TrajectoryStep,
    WindowMean,
)

NAN, INFINITY = float('nan'), float('inf')
POSITION = (0.1, 0.2, 0.3)
TURN = (0.0, 0.0, 0.0, 1.0)
TRACKED = ([0.0, 1.0], [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])

# What makes the metric, and the arguments of its updates; None stands for a stamp.
METRICS = {
    'PathLength': (PathLength, (POSITION,)),
    'PathSmoothness': (PathSmoothness, (POSITION,)),
    'CurvatureChange': (CurvatureChange, (POSITION,)),
    'CurvatureChange, heading': (CurvatureChange, (POSITION, 0.3)),
    'CurvatureChange, orientation': (CurvatureChange, (POSITION, None, TURN)),
    'TCPInstability': (lambda: TCPInstability(2), (POSITION,)),
    'TCPInstability, authors': (lambda: TCPInstability(3, variant='authors'), (POSITION,)),
    'ActionInstability': (lambda: ActionInstability(3, ((0.0,) * 3, (1.0,) * 3)), (POSITION,)),
    'RMSJerk': (lambda: RMSJerk(gap=2.0), (POSITION, 0.1)),
    'RMSJerk, authors': (lambda: RMSJerk(variant='authors'), (POSITION, 0.1)),
    'AbsoluteTrajectoryError': (AbsoluteTrajectoryError, (POSITION, POSITION)),
    'RelativeTrajectoryError': (RelativeTrajectoryError, (POSITION, POSITION)),
    'OptimalTrajectoryDifference': (OptimalTrajectoryDifference, (POSITION, (1.0, 2.0, 3.0))),
    'OptimalTrajectoryDifference, held': (
        OptimalTrajectoryDifference, (POSITION, (1.0, 2.0, 3.0), (0.0, 1.0, 0.0), True)
    ),
    'MSE': (MSE, (POSITION, POSITION)),
    'AMSE': (AMSE, (POSITION, POSITION)),
    'NAMSE': (NAMSE, (POSITION, POSITION)),
    'TokenEntropy': (TokenEntropy, (((0.2, 0.8), (0.5, 0.5)),)),
    'DeepGini': (DeepGini, (((0.2, 0.8), (0.5, 0.5)),)),
    'ExecutionVariability': (ExecutionVariability, (((1.0, 2.0), (3.0, 5.0)),)),
    'ChunkOverlapDisagreement': (ChunkOverlapDisagreement, (((1.0, 2.0), (3.0, 5.0)),)),
    'RunningMean': (RunningMean, (0.5,)),
    'WindowMean': (WindowMean, (0.5,)),
    'LatencyStatistics': (LatencyStatistics, (0.5,)),
    'ComputationTime': (ComputationTime, (0.5,)),
    'MemoryUsage': (MemoryUsage, (0.5, 1.0)),
    'SuccessRate': (SuccessRate, (1.0,)),
    'ActionStep': (lambda: ActionStep(3), (POSITION,)),
    'TrajectoryStep': (TrajectoryStep, (None, *POSITION, *TURN)),
    'PoseLowPass': (lambda: PoseLowPass(1.0), (None, *POSITION, *TURN)),
    'ReferenceTracker': (lambda: ReferenceTracker([TRACKED]), (None, NAN, *POSITION)),
    'ReferenceTracker, by length': (
        lambda: ReferenceTracker([TRACKED], match='arc_length'), (None, 0.1, *POSITION)
    ),
}  # fmt: skip

# NaN says: not measured.
NOT_MEASURED = {'ObstacleProximity': ObstacleProximity, 'RiskFactor': RiskFactor}


def state(thing):
    """Everything an object holds, as nested text: NaN is equal to NaN there."""
    if isinstance(thing, (list, tuple, deque)):
        return [state(each) for each in thing]
    if isinstance(thing, np.ndarray):
        return repr(thing.tolist())
    if not type(thing).__module__.startswith('frame_ros'):
        return repr(thing)
    names = [*getattr(thing, '__dict__', ()), *getattr(type(thing), '__slots__', ())]
    return {name: state(getattr(thing, name, None)) for name in names}


def at_step(arguments, step):
    """Arguments of the update number `step`: a stamp for None, and values that move."""
    if arguments[0] is None:
        return (step + 1, *arguments[1:])
    if len(np.shape(arguments[0])) == 1 and step % 2:
        return (tuple(1.1 * value for value in arguments[0]), *arguments[1:])
    return arguments


def places(values, path=()):
    """Paths to all the numbers inside nested tuples."""
    if isinstance(values, tuple):
        return [p for i, each in enumerate(values) for p in places(each, (*path, i))]
    is_number = isinstance(values, float) and values == values
    return [path] if is_number else []


def replaced(values, path, bad):
    if not path:
        return bad
    inner = replaced(values[path[0]], path[1:], bad)
    return (*values[: path[0]], inner, *values[path[0] + 1 :])


@settings(max_examples=12)
@given(st.data(), st.integers(0, 10), st.sampled_from([NAN, INFINITY, -INFINITY]))
@pytest.mark.parametrize('name', METRICS)
def test_a_value_that_is_not_finite(name, data, count, bad):
    make, arguments = METRICS[name]
    metric = make()
    for step in range(count):
        metric.update(*at_step(arguments, step))
    before = state(metric)
    new = at_step(arguments, count)
    at = data.draw(st.sampled_from(places(new)))
    # The first spacing is unused; a length that is not known yet is 0.
    if (name.startswith('RMSJerk') and at == (1,) and not count) or (
        name.endswith('by length') and at == (1,) and bad != bad
    ):
        return
    with pytest.raises(ValueRangeError):
        metric.update(*replaced(new, at, bad))
    assert state(metric) == before
    metric.update(*new)
    assert state(metric) != state(make())


@pytest.mark.parametrize('name', [n for n in METRICS if METRICS[n][1][0] is POSITION])
@pytest.mark.parametrize('count', [0, 1, 5])
def test_another_number_of_values(name, count):
    make, arguments = METRICS[name]
    metric = make()
    for step in range(count):
        metric.update(*at_step(arguments, step))
    before = state(metric)
    bad = [(0.1,) * 4, ()]
    if name.startswith(('MSE', 'AMSE', 'NAMSE')):
        bad = [(0.1,) * 4] if count else []
    for position in bad:
        with pytest.raises(ShapeError):
            metric.update(position, *arguments[1:])
        assert state(metric) == before


@pytest.mark.parametrize('name', [n for n in METRICS if METRICS[n][1][0] is None])
def test_stamps_that_do_not_increase(name):
    make, arguments = METRICS[name]
    metric = make()
    for stamp in (1, 2, 5):
        metric.update(stamp, *arguments[1:])
    before = state(metric)
    for stamp in (5, 4, 0, -1):
        with pytest.raises(ValueRangeError, match='not after the last one'):
            metric.update(stamp, *arguments[1:])
        assert state(metric) == before


def test_stamps_of_actions_may_be_equal_but_not_decrease():
    metric = ControlRate()
    for stamp in (1, 2, 2):
        metric.update(stamp)
    before = state(metric)
    with pytest.raises(ValueRangeError, match='before the last one'):
        metric.update(1)
    assert state(metric) == before


@pytest.mark.parametrize('name', NOT_MEASURED)
def test_what_was_not_measured_is_left_out_and_infinity_refused(name):
    metric = NOT_MEASURED[name]()
    metric.update(0.4)
    before = state(metric)
    metric.update(NAN)
    assert state(metric) == before
    for bad in (INFINITY, -INFINITY):
        if name == 'ObstacleProximity' and bad > 0:
            metric.update(bad)  # nothing within range is no nearer
            continue
        with pytest.raises(ValueRangeError, match='inf'):
            metric.update(bad)
    assert state(metric) == before


def test_negative_steps():
    metric = CollisionRate()
    metric.update(True, 2)
    before = state(metric)
    with pytest.raises(ValueRangeError, match='steps is -1'):
        metric.update(False, -1)
    assert state(metric) == before


@pytest.mark.parametrize('bad', [None, 'abc', ['a', 'b', 'c'], [1j, 2.0, 3.0], [[1.0], [2.0, 3.0]]])
@pytest.mark.parametrize(
    'make', [PathLength, PathSmoothness, CurvatureChange, lambda: RMSJerk(0.1)]
)
def test_what_are_no_real_numbers(make, bad):
    metric = make()
    with pytest.raises(ValueRangeError, match='no sequence of real numbers'):
        metric.update(bad)


@pytest.mark.parametrize('state', [float('nan'), None, 'no', [True]])
def test_a_contact_that_is_not_known_is_no_collision(state):
    metric = CollisionRate()
    with pytest.raises(ValueRangeError, match='in_collision is .*; True or False is expected'):
        metric.update(state)
    assert np.isnan(metric.value) and metric.collisions == 0
    for known in (np.True_, 1, 0, np.False_, True):
        metric.update(known)
    assert (metric.collisions, metric.value) == (2, 0.4)


@pytest.mark.parametrize('stamp', [1.5, float('nan'), None, '3'])
def test_a_stamp_that_is_no_integer_is_refused(stamp):
    metric = ControlRate()
    metric.update(1_000_000_000)
    with pytest.raises(ValueRangeError, match='stamp is .*; an integer, in ns'):
        metric.update(stamp)
    metric.update(np.int64(1_500_000_000))
    assert metric.value == 2.0 and metric.now == 2.0


def test_a_grasp_that_is_not_known_is_refused():
    metric = OptimalTrajectoryDifference()
    metric.update([0.0, 0.0], [1.0, 0.0], [2.0, 0.0], False)
    with pytest.raises(ValueRangeError, match='grasped is nan; True or False'):
        metric.update([0.5, 0.0], [1.0, 0.0], [2.0, 0.0], float('nan'))
    metric.update([0.5, 0.0], [1.0, 0.0], [2.0, 0.0], np.True_)
    assert metric.step == 0.5 * (1.0 + 1.5 / 2.0 - 1.0)
