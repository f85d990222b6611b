# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Disturbances of the wrist sensor in trials: a cable, gears, transport."""

import numpy as np
import pytest

pytest.importorskip('mujoco')

from frame_ros.core.time import MILLISECOND, SECOND
from frame_ros.evaluation.trials.worlds.wrench_faults import (
    ALL_AT_ONCE,
    FAULTS,
    HARD,
    WEIGHTS,
    Cable,
    CableOptions,
    GearVibration,
    OnArm,
    Transport,
    noise_of,
)
from frame_ros.robots import load_robot

STAMPS = SECOND + np.arange(1, 2001) * MILLISECOND


def test_a_cable_pulls_by_a_newton_and_rubs():
    options = CableOptions()
    cable = Cable(load_robot('fr3'), 'fr3_hand', options)
    there = np.linspace(0.0, 1.0, 400)[:, None] * [0.3, -0.4, 0.2, 0.5, 0.1, 0.4, 0.2]
    way = np.array([0.0, 0.0, 0.0, -1.5, 0.0, 1.5, 0.7]) + np.concatenate((there, there[::-1]))
    found = np.array([cable.wrenches(q[None])[-1] for q in way])
    sizes = np.linalg.norm(found[:, :3], axis=1)
    most = options.weight + options.tension + options.friction
    assert 0.2 < sizes.max() <= most
    np.testing.assert_allclose(found[:, 3:], np.cross(options.clamp, found[:, :3]), atol=1e-12)
    # On the way back it pulls otherwise in the same postures: twice the friction at most.
    apart = np.linalg.norm(found[:400, :3] - found[:399:-1, :3], axis=1)
    assert 0.1 < apart[100:300].max() <= 2.0 * options.friction + 1e-9


def test_gears_shake_in_motion_alone_and_at_twice_their_rate():
    gears = GearVibration(1, 0.001, 0)
    assert not gears.wrenches(np.zeros((100, 1))).any()
    found = gears.wrenches(np.full((1000, 1), 0.5))
    power = np.abs(np.fft.rfft(found[:, 0])) ** 2
    # 100 turns of the wave generator per turn, two waves each.
    assert np.argmax(power) == round(2.0 * 100.0 * 0.5 / (2.0 * np.pi))


def test_transport_moves_delays_and_loses():
    for fault, late in (('none', 0), ('stamps 20 ms late', 20), ('stamps 20 ms early', -20)):
        stamps, comes = Transport(fault, 0).of(STAMPS)
        np.testing.assert_array_equal(stamps - STAMPS, late * MILLISECOND)
        assert comes.all()
    stamps, comes = Transport('jitter 5 ms', 0).of(STAMPS)
    assert (np.diff(stamps) > 0).all() and (stamps >= STAMPS).all() and comes.all()
    assert 3.0 < np.std((stamps - STAMPS) / MILLISECOND) < 10.0
    _, comes = Transport('loss 20 %', 0).of(STAMPS)
    assert comes.mean() == pytest.approx(0.8, abs=0.03)


def test_the_drift_is_ten_times_the_usual_and_the_hard_set_is_of_the_faults():
    usual, ten = noise_of('none'), noise_of('drift times ten')
    assert ten.drift == tuple(10.0 * each for each in usual.drift) and ten.noise == usual.noise
    assert set(HARD) < set(FAULTS)
    assert set(WEIGHTS) == {'100 g unannounced', '100 g later'}


def test_disturbances_of_an_arm_are_those_of_cable_and_gears_block_by_block():
    robot = load_robot('fr3')
    names = (*robot.joint_names, 'finger')
    on = OnArm(robot, 'fr3_hand', names, slice(0, 7), 0.001, 50, 3)
    rng = np.random.default_rng(0)
    velocities = rng.normal(0.0, 0.3, (120, 8))
    positions = np.array([0, 0, 0, -1.5, 0, 1.5, 0.7, 0]) + np.cumsum(velocities, axis=0) * 0.001
    cable, gears = Cable(robot, 'fr3_hand'), GearVibration(7, 0.001, 3)
    blocks = [cable.wrenches(positions[first : first + 50, :7]) for first in (0, 50, 100)]
    (cable_of,) = FAULTS['cable 1 N'].disturbances
    pull = cable_of(on)(positions, velocities)
    np.testing.assert_array_equal(pull, np.concatenate(blocks))
    (gears_of,) = FAULTS['vibration'].disturbances
    ripple = gears_of(on)(positions, velocities)
    np.testing.assert_array_equal(ripple, gears.wrenches(velocities[:, :7]))
    assert not any(fault.disturbances for fault in FAULTS.values() if fault.hung_after == 0.0)


def test_all_at_once_is_each_fault_that_leaves_the_motion_as_it_is():
    once = FAULTS[ALL_AT_ONCE]
    assert once.disturbances == tuple(
        each for name in ('cable 1 N', 'vibration') for each in FAULTS[name].disturbances
    )
    assert once.drift == FAULTS['drift times ten'].drift and once.loss == FAULTS['loss 20 %'].loss
    assert once.offset == FAULTS['stamps 20 ms late'].offset
    assert once.jitter == FAULTS['jitter 5 ms'].jitter
    assert once.hung_after is None and ALL_AT_ONCE not in HARD
