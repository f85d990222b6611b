# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Recorded actions replayed: the same values at their time, from wherever the robot is."""

import numpy as np
import pytest

from frame_ros.core.errors import PolicyError, ShapeError, ValueRangeError
from frame_ros.core.time import SECOND
from frame_ros.policies.base import Policy
from frame_ros.policies.protocol import Observation
from frame_ros.policies.replay import ReplayOptions, ReplayPolicy, action_times, actions_at

NAMES = ('a', 'b')
PERIOD = 0.05


def recording(count=40, jitter=0.0, seed=0):
    """Stamps at 20 Hz and positions (count, 2)."""
    random = np.random.default_rng(seed)
    times = np.arange(count) * PERIOD + random.uniform(-jitter, jitter, count)
    stamps = 7 * SECOND + np.round(times * SECOND).astype(np.int64)
    return stamps, np.stack([np.sin(np.arange(count) / 9), np.linspace(0.5, 1, count)], axis=1)


def seen(executed=0.0, at=(0.0, 0.5), names=NAMES, stamp=1):
    return Observation(stamp, stamp, names, np.array(at), executed=executed)


def test_the_recorded_actions_come_back_at_their_time():
    stamps, positions = recording()
    policy = ReplayPolicy(stamps, positions, NAMES, ReplayOptions(horizon=10))
    assert isinstance(policy, Policy) and policy.duration == pytest.approx(39 * PERIOD)
    for step in (0, 3, 20):
        chunk = policy.infer(seen(step * PERIOD))
        np.testing.assert_array_equal(chunk.actions, positions[step : step + 10])
    assert chunk.dt == pytest.approx(PERIOD) and chunk.action_names == NAMES
    assert set(chunk.unavailable) == {'tokens', 'samples', 'rephrasings', 'features'}


def test_behind_the_end_the_last_is_held():
    stamps, positions = recording()
    policy = ReplayPolicy(stamps, positions, NAMES, ReplayOptions(horizon=6))
    policy.infer(seen())
    chunk = policy.infer(seen(37 * PERIOD)).actions
    np.testing.assert_array_equal(chunk[:3], positions[37:])
    np.testing.assert_array_equal(chunk[3:], np.repeat(positions[-1:], 3, axis=0))


def test_the_jitter_of_stamps_does_not_change_the_actions():
    stamps, positions = recording(jitter=0.012)
    policy = ReplayPolicy(stamps, positions, NAMES, ReplayOptions(dt=PERIOD, horizon=40))
    np.testing.assert_array_equal(policy.infer(seen()).actions, positions)


def test_a_clock_that_runs_faster_does_not_change_the_actions():
    stamps, positions = recording(2000)
    stamps = stamps[0] + np.round((stamps - stamps[0]) * 1.0007).astype(np.int64)
    policy = ReplayPolicy(stamps, positions, NAMES, ReplayOptions(dt=PERIOD, horizon=2000))
    np.testing.assert_array_equal(policy.infer(seen()).actions, positions)


def test_another_control_rate_interpolates():
    stamps, positions = recording()
    policy = ReplayPolicy(stamps, positions, NAMES, ReplayOptions(dt=PERIOD / 2, horizon=5))
    chunk = policy.infer(seen(4 * PERIOD)).actions
    np.testing.assert_array_equal(chunk[[0, 2, 4]], positions[[4, 5, 6]])
    np.testing.assert_allclose(chunk[1], positions[4:6].mean(axis=0), rtol=1e-12)


def test_an_unsteady_sender_keeps_its_times():
    stamps = np.array([0, 0.1, 0.4, 0.45, 0.5, 0.9], float) * SECOND
    times, _ = action_times(stamps.astype(np.int64))
    np.testing.assert_allclose(times, stamps / SECOND)
    found = actions_at(times, np.arange(6.0)[:, None], np.array([0.25, 0.7, 2.0]))
    np.testing.assert_allclose(found[:, 0], [1.5, 4.5, 5.0])


def test_a_robot_that_is_elsewhere_is_brought_to_the_start_smoothly():
    stamps, positions = recording()
    policy = ReplayPolicy(stamps, positions, NAMES, ReplayOptions(horizon=60, blend_time=1.0))
    start = positions[0] + [0.8, -0.4]
    actions = policy.infer(seen(at=start)).actions
    np.testing.assert_allclose(actions[0], start)
    np.testing.assert_allclose(actions[10], (start + positions[0]) / 2)
    np.testing.assert_array_equal(actions[20:], positions)
    speed = np.abs(np.diff(actions[:21], axis=0)).max(axis=0) / PERIOD
    assert (speed <= 1.875 * np.abs(start - positions[0]) / 1.0 + 1e-9).all()
    later = policy.infer(seen(0.5, at=(9, 9))).actions
    np.testing.assert_allclose(later[:50], actions[10:], rtol=1e-9)
    policy.reset()
    np.testing.assert_array_equal(policy.infer(seen(at=positions[0])).actions[:40], positions)


def test_too_far_from_the_start_is_refused():
    stamps, positions = recording()
    refusing = ReplayPolicy(stamps, positions, NAMES, ReplayOptions(start='refuse'))
    with pytest.raises(PolicyError, match='b is at 0.800 rad, the recording begins at 0.500 rad'):
        refusing.infer(seen(at=(0, 0.8)))
    near = refusing.infer(seen(at=(0.1, 0.5))).actions
    np.testing.assert_array_equal(near, positions[:30])
    with pytest.raises(PolicyError, match='max_distance'):
        ReplayPolicy(stamps, positions, NAMES, ReplayOptions(max_distance=0.1)).infer(
            seen(at=(0.2, 0.5))
        )
    at_once = ReplayPolicy(stamps, positions, NAMES, ReplayOptions(start='at_once'))
    np.testing.assert_array_equal(at_once.infer(seen(at=(3, 3))).actions, positions[:30])


@pytest.mark.parametrize('present', [3.1, 3.1 - 2 * np.pi, 3.1 + 2 * np.pi])
def test_a_joint_that_turns_without_end_is_replayed_from_its_nearest_turn(present):
    """It goes the short way to the start, and between two recorded steps at the seam."""
    stamps, positions = recording()
    turning = 3.0 + 0.02 * np.arange(len(positions))
    sent = np.stack((np.angle(np.exp(1j * turning)), positions[:, 1]), axis=1)
    assert np.diff(sent[:, 0]).min() < -6.0
    options = ReplayOptions(dt=PERIOD / 2, horizon=119, blend_time=1.0)
    policy = ReplayPolicy(stamps, sent, NAMES, options, continuous=('a',))
    actions = policy.infer(seen(at=(present, 0.5))).actions
    way = np.exp(1j * np.append(np.linspace(3.0, turning[-1], 79), turning[-1]))
    np.testing.assert_allclose(np.exp(1j * actions[40:, 0]), way[:79], atol=1e-9)
    np.testing.assert_allclose(actions[0], [present, 0.5])
    blend = actions[:41, 0]
    assert np.abs(np.diff(blend)).sum() == pytest.approx(0.1)  # 3.1 rad to 3.0 rad
    steps = np.abs(np.diff(actions[40:, 0]))
    assert ((steps < 0.011) | (steps > 6.2)).all()  # a jump of a turn as recorded, or none
    refusing = ReplayPolicy(
        stamps, sent, NAMES, ReplayOptions(start='refuse', max_distance=0.15), continuous=('a',)
    )
    refusing.infer(seen(at=(present, 0.5)))
    with pytest.raises(PolicyError, match='a is at 2.800 rad, the recording begins at 3.000 rad'):
        refusing.reset()
        refusing.infer(seen(at=(2.8, 0.5)))


def test_between_two_steps_other_joints_keep_their_numbers_to_the_bit():
    random = np.random.default_rng(3)
    positions = 4.0 * random.normal(size=(30, 3))
    times, wanted = np.arange(30.0), random.uniform(0.0, 29.0, 200)
    plain = actions_at(times, positions, wanted)
    turning = actions_at(times, positions, wanted, np.array([False, True, False]))
    np.testing.assert_array_equal(turning[:, [0, 2]], plain[:, [0, 2]])
    assert not np.array_equal(turning[:, 1], plain[:, 1])


def test_joints_are_found_by_name():
    stamps, positions = recording()
    policy = ReplayPolicy(
        stamps, positions, NAMES, ReplayOptions(start='refuse', robot_joint_names=('b', 'a'))
    )
    names = ('b', 'c', 'a')
    assert len(policy.infer(seen(at=(0.5, 9, 0.0), names=names)).actions) == 30
    with pytest.raises(PolicyError, match=r"\['b'\], which the observation lacks"):
        ReplayPolicy(stamps, positions, NAMES).infer(seen(at=(0.0,), names=('a',)))
    with pytest.raises(PolicyError, match=r"\['b'\], which the robot does not have"):
        ReplayPolicy(stamps, positions, NAMES, ReplayOptions(robot_joint_names=('a', 'c')))


def test_without_executed_time_the_stamps_count():
    stamps, positions = recording()
    policy = ReplayPolicy(stamps, positions, NAMES, ReplayOptions(horizon=2))
    policy.infer(seen(float('nan'), stamp=5 * SECOND))
    late = policy.infer(seen(float('nan'), stamp=5 * SECOND + round(3 * PERIOD * SECOND)))
    np.testing.assert_array_equal(late.actions, positions[3:5])


@pytest.mark.parametrize(
    ('change', 'error', 'text'),
    [
        (lambda s, p: (s[:0], p[:0]), ShapeError, 'holds no action'),
        (lambda s, p: (s, p[:, :1]), ShapeError, 'do not fit'),
        (lambda s, p: (s[::-1], p), ValueRangeError, 'do not increase at action 0'),
        (lambda s, p: (s, np.where(np.arange(40)[:, None] == 4, np.nan, p)), ValueRangeError,
         'a is nan at action 4'),
        (lambda s, p: (s + (np.arange(40) > 9) * SECOND, p), ValueRangeError,
         'no action for 1.05 s behind 0.45 s'),
        (lambda s, p: (s[:1], p[:1]), ValueRangeError, 'dt must be given'),
    ],
)  # fmt: skip
def test_recordings_that_cannot_be_replayed(change, error, text):
    stamps, positions = change(*recording())
    with pytest.raises(error, match=text):
        ReplayPolicy(stamps, positions, NAMES)


@pytest.mark.parametrize(
    ('option', 'text'),
    [
        ({'start': 'jump'}, "start is 'jump'; it must be blend"),
        ({'horizon': 0}, 'horizon is 0'),
        ({'dt': -1.0}, 'dt is -1.0; it must be above 0 s'),
        ({'blend_time': 0.0}, 'blend_time is 0.0'),
        ({'max_distance': float('nan')}, 'max_distance is nan'),
    ],
)
def test_options_out_of_range(option, text):
    with pytest.raises(ValueRangeError, match=text):
        ReplayPolicy(*recording(), NAMES, ReplayOptions(**option))


def test_a_pause_can_be_allowed():
    stamps, positions = recording()
    stamps = stamps + (np.arange(40) > 9) * SECOND
    policy = ReplayPolicy(stamps, positions, NAMES, ReplayOptions(horizon=40, max_gap=2.0))
    np.testing.assert_array_equal(policy.infer(seen()).actions, positions)
