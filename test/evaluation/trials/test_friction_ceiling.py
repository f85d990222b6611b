# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Pushes that a motor can feel, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from frame_ros.evaluation.trials.arm_run import BEGIN
from frame_ros.evaluation.trials.friction_ceiling import (
    FrictionCeiling,
    exceeds,
    reading_resolution,
    reading_resolutions,
)
from frame_ros.scenes.simulation.gear_friction import DRY008, SAGE, StickSlip
from frame_ros.scenes.simulation.noise.servo_noise import (
    CurrentNoise,
    CurrentNoiseOptions,
    options_of,
)


def test_a_reading_resolves_three_deviations():
    # 1.09 N m/A; 10 mA of noise and steps of 6.5 mA, which deviate by 1.876 mA.
    assert reading_resolution() == pytest.approx(3 * 1.09 * np.hypot(0.01, 0.0018764), rel=1e-3)


def test_a_current_of_the_supply_hardly_shows_small_torques():
    settings = options_of(SAGE)
    full, at = 4.645, np.array([0.0, -1.0])
    found = reading_resolutions(at, settings)
    # Three deviations of 1.876 mA in steps at no current; with noise of 0.04 of the root at 133 mA.
    assert found[0] == pytest.approx(full * np.sqrt(3 * 0.0018764 / 2.866), rel=1e-3)
    current = 2.866 / full**2
    noise = np.hypot(0.04 * np.sqrt(current), 0.0018764)
    assert (1.0 + found[1]) ** 2 == pytest.approx(1.0 + 3.0 * noise / current, rel=1e-3)
    assert reading_resolutions(at, CurrentNoiseOptions()) == pytest.approx(reading_resolution())
    pushed = exceeds(*np.array([[0.3], [0.0], [0.1], [0.1]]), np.array([True]), found[:1])
    assert not pushed[0] and found[0] > 0.2


@pytest.mark.parametrize(
    ('push', 'held', 'moves', 'is_over'),
    [
        (0.30, 0.0, False, False),  # below what it can hold
        (0.34, 0.0, False, True),
        (0.20, 0.1, False, False),  # 0.3 with what it held
        (0.24, 0.1, False, True),
        (-0.40, 0.1, False, False),  # the other way it must be turned round first
        (-0.44, 0.1, False, True),
        (0.22, 0.1, True, False),  # sliding: less friction, and what it held does not count
        (0.24, -0.1, True, True),
    ],
)
def test_a_push_must_exceed_friction_by_what_is_resolved(push, held, moves, is_over):
    found = exceeds(
        np.array([push]), np.array([held]), np.array([0.2]), np.array([0.3]), np.array([moves])
    )
    assert found.tolist() == [is_over]


@pytest.mark.parametrize(
    ('push', 'speed', 'expected'),
    [(0.2, 0.0, (False, True)), (0.35, 0.0, (True, True)), (0.35, 0.5, (True, False))],
)
def test_pushes_are_judged_by_the_truth_of_their_samples(push, speed, expected):
    gears, ceiling = StickSlip(DRY008, np.ones(1)), FrictionCeiling()
    for row in range(50):
        at = BEGIN + row * 20_000_000
        torque = push if 0.4 < 0.02 * row <= 0.6 else 0.0
        ceiling.add(at, np.array([speed]), np.zeros(1), np.array([torque]), gears)
    assert ceiling.judged([(0.4, 0.6, 5.0, 'link')]) == [expected]


def test_one_sample_is_not_enough():
    gears, ceiling = StickSlip(DRY008, np.ones(1)), FrictionCeiling()
    for row in range(50):
        torque = 0.9 if row == 25 else 0.0
        ceiling.add(BEGIN + row * 20_000_000, np.zeros(1), np.zeros(1), np.array([torque]), gears)
    assert ceiling.judged([(0.4, 0.6, 5.0, 'link')]) == [(False, True)]


def test_friction_in_the_readings_alone_is_known_as_that_of_gears():
    settings = CurrentNoiseOptions(noise=0.0, step=1e-9, spread=0.0, friction_spread=0.0)
    noise, torque = CurrentNoise(settings, 1), np.array([0.5])
    for position in (0.0, 0.02):  # beyond the presliding: friction is in full against the motion
        current = noise(torque, np.array([position]), np.zeros(1))
    # 0.1 N m and a tenth of the load, 0.3 more at rest.
    assert noise.limit(np.zeros(1), torque) == pytest.approx(1.3 * (0.1 + 0.05))
    assert noise.bristles == pytest.approx(0.195)
    assert current * settings.torque_constant == pytest.approx(0.5 + 0.195, abs=1e-6)
    ceiling = FrictionCeiling()
    for row in range(50):
        push = 0.2 if row in (21, 22, 23) else -0.2 if row in (31, 32, 33) else 0.0
        at = BEGIN + row * 20_000_000
        ceiling.add(at, np.zeros(1), torque, np.array([push]), noise)
    # With what the gear holds 0.395 N m; the other way it must be turned round first.
    found = ceiling.judged([(0.4, 0.48, 5.0, 'link'), (0.6, 0.68, 5.0, 'link')])
    assert [can_be_felt for can_be_felt, _ in found] == [True, False]
