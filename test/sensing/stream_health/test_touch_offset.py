# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The offset of a wrench's stamps, from pushes on joints whose motion is integrated."""

import math

import numpy as np
import pytest

from frame_ros.core.time import MILLISECOND, SECOND
from frame_ros.sensing.stream_health.judged_stream import Judged
from frame_ros.sensing.stream_health.offset_fusion import TimeOffset
from frame_ros.sensing.stream_health.stream_check import StreamCheck
from frame_ros.sensing.stream_health.streams import StreamHealth
from frame_ros.sensing.stream_health.time_offset import TimeOffsetEstimator
from frame_ros.sensing.stream_health.touch_offset import Recent, TouchOffset

JOINTS, SECONDS = 7, 6.0
PUSHES = ((2.0, 2.2, 6.0), (3.0, 3.05, 8.0), (4.2, 4.5, -5.0))  # s, s, N


def motion(pushes=PUSHES, rise=0.0, seed=0, noise=0.001, is_felt=True):
    """Forces (T, 3), N, and joint velocities (T, 7), rad/s, each millisecond: masses on springs
    that are pushed, in small steps of time.
    """
    rng = np.random.default_rng(seed)
    count = round(1e3 * SECONDS)
    direction = np.array([0.6, -0.64, 0.48])
    shares = rng.normal(size=JOINTS)
    forces, velocities = np.zeros((count, 3)), np.zeros((count, JOINTS))
    place, speed = np.zeros(JOINTS), np.zeros(JOINTS)
    for i in range(count):
        for part in range(4):
            t = 1e-3 * (i + 0.25 * part)
            push = sum(
                size * float(np.clip((t - begin) / max(rise, 1e-9), 0.0, 1.0))
                for begin, end, size in pushes
                if begin <= t < end
            )
            pull = 0.4 * shares * push * is_felt
            speed = speed + 0.25e-3 * (pull - 30.0 * speed - 900.0 * place)
            place = place + 0.25e-3 * speed
        t = 1e-3 * i
        forces[i] = push * direction + np.array([math.sin(2.0 * t), math.cos(3.0 * t), 7.0])
        velocities[i] = speed + 0.4 * math.sin(2.5 * t)
    return (
        forces + rng.normal(0.0, 0.05, forces.shape),
        velocities + rng.normal(0.0, noise, velocities.shape),
    )


def found_in(forces, velocities, offset, step=1):
    """Offsets that pushes show, ms; step: ms from joint state to joint state."""
    recent = Recent()
    touch, found, late = TouchOffset(recent), [], round(offset * SECOND)
    for i in range(len(forces)):
        stamp = SECOND + i * MILLISECOND
        if i % step == 0:
            recent.add(stamp, velocities[i])
        touch.add(stamp + late, forces[i].tolist())
        if i % 5 == 4:
            force = forces[i - 4 : i + 1].mean(axis=0).tolist()
            estimate = touch.end_block(stamp + late, force, 0.0)
            if estimate is not None:
                found.append(1e3 * estimate.seconds)
    return found


@pytest.mark.parametrize('offset', [-0.05, -0.02, 0.0, 0.02, 0.05, 0.1])
@pytest.mark.parametrize('seed', [0, 1])
def test_pushes_show_the_offset(offset, seed):
    found = found_in(*motion(seed=seed), offset)
    assert len(PUSHES) <= len(found) <= 2 * len(PUSHES)  # by their begin, some also by their end
    np.testing.assert_allclose(found, 1e3 * offset, atol=2.0)


def test_pushes_that_rise_slowly_do_not_mislead():
    found = found_in(*motion(((2.0, 2.3, 12.0), (4.0, 4.3, 12.0)), rise=0.02), 0.02)
    np.testing.assert_allclose(found, 20.0, atol=4.0)


def test_motion_without_a_push_shows_nothing():
    assert not found_in(*motion(()), 0.02)


def test_forces_that_the_joints_do_not_show_are_no_offset():
    assert not found_in(*motion(is_felt=False), 0.02)
    assert not found_in(*motion(noise=0.05), 0.02)


def test_joint_states_that_come_seldom_show_no_moment():
    assert not found_in(*motion(), 0.02, step=10)


def test_begin_and_end_of_a_push_are_not_taken_for_each_other():
    forces, velocities = motion(((3.0, 3.1, 8.0),))
    _, still = motion(())
    # The joints show the begin alone: it fits both as well.
    velocities[3060:] = still[3060:] + (velocities[3059] - still[3059])
    assert not found_in(forces, velocities, 0.0)


def test_a_push_counts_where_nothing_is_known_better():
    estimator = TimeOffsetEstimator(0.003, 0.95, False)
    assert estimator.take_touch(TimeOffset(-0.018, 0.002, 1.0, SECOND, ''))
    assert estimator.newest.seconds == -0.018
    assert not estimator.take_touch(TimeOffset(-0.017, 0.002, 1.0, 2 * SECOND, ''))
    assert estimator.take(TimeOffset(-0.020, 0.001, 1.0, 3 * SECOND, '', span=SECOND))
    assert estimator.newest.seconds == pytest.approx(-0.0196, abs=1e-4)
    # The offset has become another: two show it.
    assert not estimator.take_touch(TimeOffset(0.001, 0.002, 1.0, 4 * SECOND, ''))
    assert estimator.take_touch(TimeOffset(0.001, 0.002, 1.0, 5 * SECOND, ''))
    assert estimator.newest.seconds == pytest.approx(0.001)


def test_wrenches_of_a_pushed_arm_are_found_apart():
    forces, velocities = motion()
    health, names = StreamHealth(), tuple('abcdefg')
    positions = np.cumsum(velocities, axis=0) * 1e-3
    for i in range(len(forces)):
        stamp = SECOND + i * MILLISECOND
        health.on_joints(stamp, names, positions[i], velocities[i], np.zeros(0))
        verdict = health.on_wrench(stamp - 20 * MILLISECOND, [*forces[i].tolist(), 0.0, 0.0, 0.0])
    stream = health.streams['wrench']
    assert isinstance(stream, Judged) and isinstance(stream.check, StreamCheck)
    assert stream.estimate.seconds == pytest.approx(-0.02, abs=0.002)
    assert 'ms earlier than those of the joints' in verdict.unavailable
