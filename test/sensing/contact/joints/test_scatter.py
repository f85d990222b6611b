# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The residual's deviation by what jumps between samples."""

import numpy as np
import pytest

from frame_ros.sensing.contact.joints.momentum_observer import first_order
from frame_ros.sensing.contact.joints.scatter import ResidualScatter

INTERVAL, GAIN = 0.02, 15.0


def deviations(torques, intervals=None):
    """Of one joint, after each sample; and the residual, which begins at 0."""
    intervals = np.full(len(torques), INTERVAL) if intervals is None else np.asarray(intervals)
    scatter = ResidualScatter(1)
    decays = np.exp(-GAIN * intervals)
    found = [
        scatter.update(np.array([torque]), np.array([decay]), bool(interval > INTERVAL))[0]
        for torque, decay, interval in zip(torques, decays, intervals)
    ]
    return np.array(found), first_order(np.asarray(torques)[:, None], intervals, GAIN)[:, 0]


def test_independent_noise_has_the_deviation_that_the_residual_has():
    noise = np.random.default_rng(3).standard_normal(20_000)
    found, residual = deviations(noise)
    # The smaller of two neighbouring changes is a little smaller than the noise's deviation.
    assert 0.5 < np.sqrt((found[100:] ** 2).mean()) / residual[100:].std() < 1.5


def test_a_force_from_outside_widens_nothing():
    push = np.concatenate((np.zeros(20), np.full(20, 2.0), np.zeros(20)))
    found, residual = deviations(push)
    assert (found == 0.0).all()
    assert residual.max() > 1.9


def test_what_jumps_to_and_fro_does():
    found, _ = deviations(np.tile([1.0, -1.0], 40))
    assert found[-1] == pytest.approx(
        2.0 * (1 - np.exp(-0.3)) / np.sqrt(1 - np.exp(-0.6)), rel=0.01
    )


def test_a_change_across_missing_samples_counts_at_once():
    torques = np.concatenate((np.zeros(20), [1.5], np.zeros(5)))
    intervals = np.full(len(torques), INTERVAL)
    intervals[20] = 4 * INTERVAL
    found, residual = deviations(torques, intervals)
    assert found[20] == pytest.approx(residual[20])
    assert (np.diff(found[21:]) < 0.0).all()


def test_it_forgets():
    scatter = ResidualScatter(2)
    for torque in (1.0, -1.0, 1.0):
        scatter.update(np.full(2, torque), np.full(2, 0.7), False)
    assert (scatter.deviation > 0.0).all()
    scatter.reset()
    assert (scatter.deviation == 0.0).all()
    assert (scatter.update(np.ones(2), np.full(2, 0.7), False) == 0.0).all()
