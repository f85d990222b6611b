# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Noise of wrench, joint torques, encoders and servo currents: statistics, and that blocks and
single samples give the same.
"""

import math
from dataclasses import replace

import attrs
import numpy as np
import pytest

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.scenes.simulation.gear_friction import ID004, SAGE
from frame_ros.scenes.simulation.noise.sensor_noise import (
    JointNoise,
    JointTorqueNoise,
    JointTorqueNoiseOptions,
    WrenchNoise,
    WrenchNoiseOptions,
)
from frame_ros.scenes.simulation.noise.servo_noise import (
    NO_FRICTION,
    CurrentNoise,
    CurrentNoiseOptions,
    options_of,
)
from frame_ros.scenes.simulation.scene_robot import scene_robot

STS3215_ENCODER, FR3_ENCODER = (scene_robot(name).encoder for name in ('so101', 'fr3'))
STEP = 2 * math.pi / 4096


def streams(make, *columns):
    """Output of one block, and of the same samples one by one, each of a fresh instance."""
    block = make()(*columns)
    single = make()
    return block, np.array([single(*rows) for rows in zip(*columns, strict=True)])


def test_blocks_and_single_samples_give_the_same_bits():
    rng = np.random.default_rng(0)
    six, seven = rng.standard_normal((40, 6)), rng.standard_normal((40, 7))
    for make, columns in (
        (lambda: WrenchNoise(1000.0, seed=3), (six,)),
        (lambda: JointTorqueNoise(1000.0, seed=3), (seven, seven)),
        (lambda: CurrentNoise(seed=3), (six, six, six)),
    ):
        block, single = streams(make, *columns)
        assert np.array_equal(block, single)
    for encoder in (STS3215_ENCODER, FR3_ENCODER):
        block, single = streams(lambda e=encoder: JointNoise(200.0, e, 6, seed=3), six, six)
        assert np.array_equal(np.array(block), single.transpose(1, 0, 2))
    assert not np.array_equal(WrenchNoise(1e3, seed=1)(six), WrenchNoise(1e3, seed=2)(six))


def test_a_wrench_has_white_noise_a_bias_and_a_drift():
    settings = WrenchNoiseOptions(resolution=(1e-6, 1e-6), drift=(0.0, 0.0))
    noise = WrenchNoise(1000.0, settings, seed=0)
    measured = noise(np.tile((1.0, 2.0, 3.0, 0.1, 0.2, 0.3), (20_000, 1)))
    error = measured - (1.0, 2.0, 3.0, 0.1, 0.2, 0.3) - noise.bias
    assert error[:, :3].std() == pytest.approx(0.05, rel=0.03)
    assert error[:, 3:].std() == pytest.approx(0.002, rel=0.03)
    biases = np.array([WrenchNoise(1000.0, seed=seed).bias for seed in range(200)])
    assert biases[:, :3].std() == pytest.approx(2.0, rel=0.1)
    assert biases[:, 3:].std() == pytest.approx(0.05, rel=0.1)


def test_the_drift_of_a_wrench_grows_with_the_root_of_time():
    settings = WrenchNoiseOptions(drift=(0.01, 0.001))
    ends = []
    for seed in range(150):
        noise = WrenchNoise(10.0, settings, seed)
        start = noise.bias
        noise(np.zeros((1000, 6)))  # 100 s
        ends.append(noise.bias - start)
    assert np.std(ends, axis=0)[:3].mean() == pytest.approx(0.1, rel=0.15)
    assert np.std(ends, axis=0)[3:].mean() == pytest.approx(0.01, rel=0.15)


def test_a_wrench_comes_in_steps():
    measured = WrenchNoise(100.0)(np.zeros((50, 6)))
    for columns, size in ((measured[:, :3], 1 / 16), (measured[:, 3:], 1 / 752)):
        assert np.abs(columns / size - np.rint(columns / size)).max() < 1e-9


def test_joint_torques_have_noise_and_an_error_that_depends_on_the_posture():
    settings = JointTorqueNoiseOptions(drift=0.0, resolution=1e-9)
    noise = JointTorqueNoise(1000.0, settings, seed=1)
    posture = np.array((0.1, -0.7, 0.2, -2.0, 0.3, 1.5, 0.7))
    measured = noise(np.zeros((4000, 7)), np.tile(posture, (4000, 1)))
    assert measured.std(axis=0) == pytest.approx(np.full(7, 0.02), rel=0.08)
    assert measured.mean(axis=0) == pytest.approx(noise.error(posture), abs=2e-3)
    postures = np.random.default_rng(0).uniform(-2, 2, (5000, 7))
    assert noise.error(postures).std() == pytest.approx(0.15, rel=0.15)
    # Smooth: what moves little changes little.
    assert np.abs(noise.error(posture + 1e-3) - noise.error(posture)).max() < 2e-3


def test_encoders_round_positions_and_tell_speed_by_differences():
    rate, speed = 200.0, 0.3
    times = np.arange(400) / rate
    positions = (speed * times)[:, None]
    measured, velocities = JointNoise(rate, STS3215_ENCODER, 1)(positions, positions * 0)
    assert np.abs(measured - positions).max() <= STEP / 2 + 1e-12
    assert np.abs(measured / STEP - np.rint(measured / STEP)).max() < 1e-9
    assert velocities[0] == 0.0
    late = velocities[20:]
    assert late.mean() == pytest.approx(speed, rel=0.02)
    # Four samples are 20 ms: the speed comes in whole encoder steps per that time.
    steps = late * 0.02 / STEP
    assert np.abs(steps - np.rint(steps)).max() < 1e-6
    assert 0 < late.std() < STEP / 0.02


def test_encoders_with_a_measured_speed_add_noise_to_it():
    zeros = np.zeros((5000, 7))
    positions, velocities = JointNoise(1000.0, FR3_ENCODER, 7)(zeros, zeros + 0.5)
    assert (positions == 0.0).all()
    assert velocities.mean() == pytest.approx(0.5, abs=1e-4)
    assert velocities.std() == pytest.approx(1e-3, rel=0.03)


def quiet(**changes):
    return CurrentNoiseOptions(noise=0.0, step=1e-9, spread=0.0, friction_spread=0.0, **changes)


def test_current_is_torque_over_the_constant_where_there_is_no_friction():
    settings = quiet(coulomb=0.0, load=0.0, viscous=0.0, effort_per_ampere=1.0)
    still = np.zeros(6)
    torques = np.linspace(-2.0, 2.0, 6)
    measured = CurrentNoise(settings)(torques, still, still)
    assert measured == pytest.approx(torques / 1.09, abs=1e-6)
    scaled = CurrentNoise(quiet(coulomb=0.0, load=0.0, viscous=0.0, effort_per_ampere=1.09))
    assert scaled(torques, still, still) == pytest.approx(torques, abs=1e-6)


def test_friction_turns_round_with_the_motion_and_stays_at_rest():
    noise = CurrentNoise(quiet(stribeck=0.0, viscous=0.0, load=0.1, effort_per_ampere=1.09), 1)
    up = np.linspace(0.0, 0.5, 100)[:, None]
    load = np.full((100, 1), 0.5)
    speed = np.full((100, 1), 0.5)
    rising = noise(load, up, speed)
    assert rising[0] == pytest.approx(0.5)  # it has not moved yet
    assert rising[-1] == pytest.approx(0.5 + 0.1 + 0.1 * 0.5)
    resting = noise(load, np.full((100, 1), 0.5), speed * 0)
    assert resting[-1] == pytest.approx(rising[-1])
    falling = noise(load, up[::-1], -speed)
    assert falling[-1] == pytest.approx(0.5 - 0.1 - 0.1 * 0.5)


def test_friction_is_larger_near_standstill_and_grows_with_speed():
    settings = quiet(load=0.0, effort_per_ampere=1.09)

    def at(speed):
        noise = CurrentNoise(settings, 1)
        noise(np.zeros(1), np.zeros(1), np.zeros(1))
        return float(noise(np.zeros(1), np.ones(1), np.full(1, speed))[0])

    assert at(1e-6) == pytest.approx(0.13, rel=1e-3)
    assert at(0.5) == pytest.approx(0.1 + 0.02 * 0.5, rel=1e-3)
    assert at(4.71) / 1.09 == pytest.approx(0.18, abs=0.005)  # A, without a load: the data sheet's


def test_currents_come_in_steps_with_white_noise_and_motors_differ():
    settings = CurrentNoiseOptions(coulomb=0.0, load=0.0, viscous=0.0, spread=0.0)
    still = np.zeros((4000, 6))
    measured = CurrentNoise(settings)(still + 0.5, still, still)
    steps = measured / 0.0065
    assert np.abs(steps - np.rint(steps)).max() < 1e-9
    assert measured.std() == pytest.approx(math.hypot(0.01, 0.0065 / math.sqrt(12)), rel=0.03)
    motors = np.array([CurrentNoise(seed=seed).torque_constants for seed in range(60)])
    assert motors.std() == pytest.approx(0.05 * 1.09, rel=0.1)
    assert (CurrentNoise(seed=1).friction_scales > 0.4).all()


def test_a_supply_gives_the_current_for_the_share_that_its_bridge_is_on():
    quiet_steps = options_of(attrs.evolve(SAGE, current_noise=0.0))
    settings = replace(quiet_steps, spread=0.0, step=1e-9)
    constant, free = SAGE.torque_constant, SAGE.free_speed
    torques = np.array([[1.0, -2.0, 1.0, 0.5, 0.5, 100.0]])
    speeds = np.array([[0.0, 0.0, 1.0, -0.2 * free, -free, 0.0]])
    found = CurrentNoise(settings)(torques, speeds, speeds)[0]
    own = torques[0] / constant
    assert found[:2] == pytest.approx([own[0] ** 2 / 2.866, -(own[1] ** 2) / 2.866])
    assert found[2] == pytest.approx(own[2] * (own[2] / 2.866 + 1.0 / free))
    assert (found[3:5] == 0.0).all()  # it brakes: no current of the supply
    assert found[5] == pytest.approx(own[5])  # the bridge is on all the time
    noisy = CurrentNoise(replace(settings, noise=0.04))
    still = np.zeros((4000, 6))
    read = noisy(still + 1.0, still, still)
    assert read.std() == pytest.approx(0.04 * np.sqrt(found[0]), rel=0.05)
    assert options_of(None) is None and options_of(ID004) is NO_FRICTION


def test_wrong_input_is_refused():
    with pytest.raises(ShapeError, match='6'):
        WrenchNoise(100.0)(np.zeros(5))
    with pytest.raises(ShapeError, match='velocities'):
        JointNoise(100.0, FR3_ENCODER, 7)(np.zeros(7), np.zeros(6))
    with pytest.raises(ShapeError, match=r'\(6,\)'):
        CurrentNoise()(np.zeros(6), np.zeros(6), np.zeros(5))
    with pytest.raises(ValueRangeError, match='rate'):
        WrenchNoise(0.0)
    with pytest.raises(ValueRangeError, match='seed'):
        CurrentNoise(seed=-1)
