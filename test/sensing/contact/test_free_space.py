# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Readings of a force-torque sensor in free space: thresholds, drift, cables, and hung weights."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from frame_ros.core.time import SECOND
from frame_ros.sensing.contact.wrench.block import BLOCK, WrenchBlock
from frame_ros.sensing.contact.wrench.drift import BiasDrift
from frame_ros.sensing.contact.wrench.free_space import FreeSpace, RunningDeviation
from frame_ros.sensing.contact.wrench.hung_weight import HungWeight
from frame_ros.sensing.contact.wrench.options import WrenchOptions
from frame_ros.sensing.contact.wrench.push_end import PushEnd
from frame_ros.sensing.contact.wrench.state_before import StateBefore

GRAVITY = 9.80665
DOWN = np.array([0.0, 0.0, -1.0])
ZERO = np.zeros(6)
UPRIGHT = np.eye(3)


def block(tick, external=ZERO, speed=0.0, bias=ZERO, rotation=UPRIGHT, **given):
    """50 samples of block number `tick`; external: (6,) or (50, 6) beyond the bias."""
    rows = np.broadcast_to(external, (50, 6))
    values = {
        'start': tick * BLOCK, 'end': (tick + 1) * BLOCK, 'readings': rows + bias,
        'down': np.tile(rotation.T @ DOWN, (50, 1)), 'rotation': rotation, 'external': rows,
        'slow': rows, 'speed': speed, 'worst': 0.0, 'is_contact': False,
        'is_moving': speed > 0.0, 'is_holding': None,
    }  # fmt: skip
    return WrenchBlock(**values | given)


def force(*values):
    return np.array([*values, 0.0, 0.0, 0.0])


def shaken(rng, size):
    """(50, 6): 20 Hz along x, one whole wave."""
    found = np.zeros((50, 6))
    found[:, 0] = size * np.sin(2 * np.pi * np.arange(50) / 50)
    return found + 0.01 * rng.standard_normal((50, 6))


def test_a_running_deviation_finds_that_of_its_samples():
    rng, found = np.random.default_rng(0), RunningDeviation(0.02, 1e-6)
    for _ in range(400):
        found.learn(0.1 * rng.standard_normal(12))
    assert found.value == pytest.approx(0.1, rel=0.3)


def test_thresholds_of_rest_are_lower_where_it_is_quiet():
    free, rng = FreeSpace(WrenchOptions()), np.random.default_rng(1)
    assert free.limits(True) == (1.0, 0.2)
    for tick in range(100):
        free.update(block(tick, 0.01 * rng.standard_normal((50, 6)) * [1, 1, 1, 0.1, 0.1, 0.1]))
    assert free.limits(True) == pytest.approx((0.4, 0.08))
    assert free.limits(False) == (1.0, 0.2)
    free.update(block(100, speed=0.1))
    assert free.limits(True) == (1.0, 0.2)  # it has moved


def test_thresholds_of_rest_keep_off_a_drift_as_it_was_measured():
    free, rng = FreeSpace(WrenchOptions()), np.random.default_rng(2)
    walk = np.cumsum(0.1 * np.sqrt(0.05) * rng.standard_normal((800, 6)), axis=0)
    for tick, bias in enumerate(walk):
        free.update(block(tick, bias=bias))
    assert free.intensity[0] == pytest.approx(0.1, rel=0.5)
    assert 0.6 < free.limits(True)[0] <= 1.0


def test_vibration_widens_the_thresholds_and_a_push_does_not():
    rng = np.random.default_rng(3)
    for size, is_wider in ((1.2, True), (0.0, False)):
        free = FreeSpace(WrenchOptions())
        for tick in range(20):
            free.update(block(tick, shaken(rng, size), 0.3))
        assert (free.limits(False)[0] > 1.0 + 1.4) is is_wider
    free = FreeSpace(WrenchOptions())
    for tick in range(20):
        free.update(block(tick, shaken(rng, 0.0), 0.3))
    for tick in range(20, 26):
        free.update(block(tick, force(4.0, 0.0, 0.0), 0.3, is_contact=True))
    assert free.limits(False)[0] < 1.1


def test_vibration_is_learnt_without_contact_only_up_to_a_cap_and_said():
    rng = np.random.default_rng(4)
    free = FreeSpace(WrenchOptions())
    for tick in range(20):
        free.update(block(tick, shaken(rng, 1.5), 0.3, is_contact=True))
    assert free.limits(False)[0] == 1.0 and not free.warning
    for tick in range(20, 40):
        free.update(block(tick, shaken(rng, 0.5), 0.3))
    assert not free.warning
    for tick in range(40, 60):
        free.update(block(tick, shaken(rng, 9.0), 0.3))
    assert free.limits(False)[0] == pytest.approx(3.0)
    assert 'vibration hides pushes below 3.0 N' in free.warning


def test_vibration_says_what_it_hides_of_pushes_that_last():
    rng, warnings = np.random.default_rng(5), []
    for share in (0.1, 0.7):  # of the vibration, that passes the slow low-pass
        free = FreeSpace(WrenchOptions())
        for tick in range(20):
            values = shaken(rng, 1.2)
            free.update(block(tick, values, 0.3, slow=share * values))
        warnings.append(free.warning)
    assert all('that are shorter than 0.1 s' in each for each in warnings)
    assert 'longer' not in warnings[0] and 'and longer ones below 2.1 N' in warnings[1]
    free.reset()
    assert free.limits(False) == (1.0 + free.vibration[0], 0.2 + free.vibration[1])
    assert free.vibration == (0.0, 0.0) and free.slow_limits is None, 'of no speed yet'


def settled(moving, resting, size):
    """FreeSpace of a hand that comes to rest, with `size` N on it for so many blocks before."""
    free = FreeSpace(WrenchOptions())
    for tick in range(100):  # in which the noise is learnt
        free.update(block(tick))
    for tick in range(100, 140):
        free.update(block(tick, force(size * (tick >= 140 - moving), 0.0, 0.0), 0.3))
    for tick in range(140, 140 + resting):
        free.update(block(tick, force(size, 0.0, 0.0)))
    return free


def test_what_acts_on_a_moving_hand_is_no_contact_because_it_comes_to_rest():
    free = settled(10, 6, 0.5)
    assert free.limits(True) == pytest.approx((0.9, 0.08))
    assert 'came to rest with 0.5 N' in free.warning and 'felt from 0.9 N' in free.warning
    assert settled(10, 6, 0.8).limits(True)[0] == 1.0, 'the threshold of motion at most'
    free.update(block(146, force(0.2, 0.0, 0.0)))
    free.update(block(147, force(0.5, 0.0, 0.0)))
    assert free.limits(True)[0] == pytest.approx(0.6) and not free.warning, 'as long as it is there'
    free.update(block(148, speed=0.1))
    assert free.limits(True)[0] == 1.0


@pytest.mark.parametrize(('moving', 'resting'), [(4, 6), (0, 6)])
def test_a_touch_as_the_arm_stops_is_felt_by_the_thresholds_of_rest(moving, resting):
    free = settled(moving, resting, 0.5)
    assert free.limits(True)[0] == pytest.approx(0.4) and not free.warning


def test_what_acts_on_a_hand_whose_readings_were_missed_counts_as_new():
    free = settled(10, 6, 0.5)
    free.reset()
    for tick in range(200, 206):
        free.update(block(tick, force(0.5, 0.0, 0.0)))
    assert free.limits(True)[0] == pytest.approx(0.4)


@pytest.mark.parametrize(
    ('before', 'pushed', 'left', 'has_ended'),
    [
        ([0.9] * 11, 4.0, 0.9, True),
        ([0.7] * 10 + [1.5], 4.0, 0.8, True),  # the push began in the last block
        ([0.9] * 11, 4.0, 0.5, False),  # below what ends a contact anyway
        ([0.9] * 11, 1.6, 0.9, False),  # too little to be a push
        ([0.9] * 10, 4.0, 0.9, False),  # not there for long enough
        ([0.0] * 5 + [0.9] * 6, 4.0, 0.9, False),
        ([0.0] * 11, 4.0, 0.9, False),
        ([*np.linspace(0.0, 0.95, 11)], 4.0, 0.9, False),  # a push that grew
    ],
)
@pytest.mark.parametrize('offset', [0.0, 3.0])
def test_a_push_has_ended_once_the_reading_is_as_before(before, pushed, left, has_ended, offset):
    state, bias = StateBefore(1.0, 0.2), force(offset, 0.0, 0.0)
    for tick, size in enumerate(before):
        assert not state.update(block(tick, force(size, 0.0, 0.0), bias=bias), bias)
    given = {'bias': bias, 'is_contact': True}
    end = len(before)
    assert not state.update(block(end, force(pushed, 0.0, 0.0), worst=pushed, **given), bias)
    falls = block(end + 1, force(left, 0.0, 0.0), worst=pushed, **given)
    assert not state.update(falls, bias), 'it is over the threshold still'
    rest = block(end + 2, force(left, 0.0, 0.0), worst=left, **given)
    assert state.update(rest, bias) is has_ended


@pytest.mark.parametrize('change', ['gap', 'holding', 'reset'])
def test_the_reading_before_a_contact_is_that_of_the_same_hand(change):
    state, late = StateBefore(1.0, 0.2), 10 if change == 'gap' else 0
    for tick in range(12):
        held = {'is_holding': change == 'holding' and tick == 6}
        state.update(block(tick, force(0.9, 0.0, 0.0), **held), ZERO)
    if change == 'reset':
        state.reset()
    for tick, size in ((12, 4.0), (13, 0.9)):
        each = block(tick + late, force(size, 0.0, 0.0), worst=size, is_contact=True)
        assert not state.update(each, ZERO)


def test_a_cable_is_followed_in_motion_as_far_as_it_may_pull():
    drift, bias = BiasDrift(WrenchOptions()), ZERO
    for tick in range(100):  # 0.2 m/s for 5 s: 1 m, over which 0.9 N come
        pull = force(0.009 * (tick + 1), 0.0, 0.0)
        bias = drift.update(block(tick, bias=pull, speed=0.2), bias)
        assert abs(bias[0] - pull[0]) < 0.15
    for tick in range(100, 900):  # no cable pulls that strongly
        bias = drift.update(block(tick, bias=force(8.0, 0.0, 0.0), speed=0.2), bias)
    assert bias[0] < 3.2


def test_at_rest_a_slow_push_is_not_absorbed_and_said():
    drift, bias = BiasDrift(WrenchOptions()), ZERO
    for tick in range(400):  # 0.9 N over 20 s
        reading = force(0.9 * tick / 400, 0.0, 0.0)
        bias = drift.update(block(tick, bias=reading), bias, (1e-4, 1e-5))
    assert bias[0] < 0.05
    assert 'drift or a slow push' in drift.warning and '0.8' in drift.warning
    drift.update(block(400, speed=0.2, bias=reading), bias)
    assert not drift.warning


def test_what_cables_may_have_changed_during_a_contact_counts_once_its_force_has_gone():
    drift = BiasDrift(WrenchOptions())
    for tick in range(4):  # 0.2 s at 0.5 m/s: 0.1 m, 5 N/m
        drift.update(block(tick, force(3.0, 0.0, 0.0), 0.5, is_contact=True), ZERO)
    assert drift.unknown[0] == pytest.approx(0.5)
    for tick in (4, 5):
        drift.update(block(tick, speed=0.5), ZERO)
    assert drift.unknown == (0.0, 0.0)


@pytest.mark.parametrize(
    ('pushed', 'left', 'is_contact', 'is_taken'),
    [
        ([3.0] * 4, 0.2, False, True),
        ([3.0] * 4, 0.55, False, True),  # the push ended at once: 0.5 N may be a cable's
        ([3.0] * 4, 0.7, True, True),  # although it is above what ends a contact
        ([3.0] * 4, 1.2, True, False),  # more than a cable does on this way
        ([3.0] * 4, 1.8, True, False),
        ([*np.linspace(1.5, 0.55, 20)], 0.55, False, False),  # weakened slowly
    ],
)
def test_what_is_left_of_a_push_in_motion_is_taken_as_a_cable_may_pull(
    pushed, left, is_contact, is_taken
):
    drift, bias = BiasDrift(WrenchOptions(drift_guard=0.0)), ZERO
    for tick, size in enumerate(pushed):
        speed = 0.5 * 4 / len(pushed)  # over 0.1 m
        drift.update(block(tick, force(size, 0.0, 0.0), speed, is_contact=True), bias)
    given = {'is_contact': is_contact, 'is_moving': True}
    for tick in range(len(pushed), len(pushed) + 2):
        rest = force(left, 0.0, 0.0) - bias
        bias = drift.update(block(tick, rest, bias=bias, **given), bias)
    assert bool(bias[0] > 0.5 * left) is is_taken
    assert bool('counts as bias' in drift.warning) is (is_taken and left > 0.3)


def test_the_end_of_a_push_is_seen_though_the_hand_turns_meanwhile():
    push = PushEnd(1.0, 0.2, 5.0)
    for tick in range(40):  # a quarter turn a second
        angle = 0.5 * np.pi * tick / 20
        size = 7.0 if tick < 10 else 6.0
        held = block(tick, force(size * np.cos(angle), size * np.sin(angle), 0.0), 0.5)
        assert not push.update(held)
    assert not push.update(block(40, force(0.0, -1.0, 0.0), 0.5))  # it may fall still
    assert push.update(block(41, force(0.0, -1.0, 0.0), 0.5))


def turning(tick, rate=0.5):
    return Rotation.from_rotvec([rate * tick * 0.05, 0.0, 0.0]).as_matrix()


def test_a_weight_that_turns_with_the_hand_is_found_and_gone():
    options, rng = WrenchOptions(tip=(0.0, 0.0, 0.2)), np.random.default_rng(4)
    hung = HungWeight(options, GRAVITY * DOWN)
    offset = force(1.0, -2.0, 0.5)
    bias = offset + force(*(0.1 * GRAVITY * DOWN))
    hung.tare(bias)  # it hung there already
    changes, place = [], None
    for tick in range(400):
        rotation = turning(tick)
        down = rotation.T @ DOWN
        mass = 0.1 if tick < 200 else 0.0
        taken = hung.payload.mass
        place = hung.payload.position if tick < 200 else place
        reading = offset + force(*((mass - taken) * GRAVITY * down))
        reading[3:] -= np.cross(hung.payload.position, taken * GRAVITY * down)
        reading = reading + 0.05 * rng.standard_normal((50, 6))
        lifts = 200 <= tick < 230
        each = block(tick, bias=reading, speed=0.1, rotation=rotation, is_contact=lifts)
        if hung.update(each, bias):
            changes.append(tick)
            bias = bias + hung.bias_change
            assert np.abs(bias - offset)[:3].max() < 0.1 and np.abs(bias[3:]).max() < 0.1
            if len(changes) == 1:
                assert hung.payload.mass == pytest.approx(0.1, abs=0.015)
                assert 'nobody announced' in hung.warning
                assert hung.confirm() == hung.payload.mass and not hung.warning
    assert changes[0] < 200 < changes[-1]
    np.testing.assert_allclose(place, np.zeros(3), atol=0.02)  # by its torque: not at the tip
    assert hung.payload.mass == 0.0 and 'is gone, or something bears it' in hung.warning
    assert not hung.confirm() and not hung.warning


@pytest.mark.parametrize('is_turning', [True, False])
def test_no_weight_is_found_in_a_constant_offset_or_in_a_steady_push_at_rest(is_turning):
    hung = HungWeight(WrenchOptions(), GRAVITY * DOWN)
    for tick in range(300):
        rotation = turning(tick) if is_turning else UPRIGHT
        push = ZERO if is_turning or tick < 100 else force(0.0, 0.0, -1.0)
        each = block(tick, bias=force(3.0, 1.0, -1.0) + push, speed=0.1, rotation=rotation)
        hung.update(each, force(3.0, 1.0, -1.0))
    assert hung.payload.mass == 0.0 and not hung.warning


def test_options_switch_it_off():
    options = WrenchOptions(hung_payload=0.0, cable_rate=0.0, still_share=1.0)
    hung, drift = HungWeight(options, GRAVITY * DOWN), BiasDrift(options)
    free = FreeSpace(options)
    for tick in range(100):
        rotation = turning(tick)
        weight = force(*(0.2 * GRAVITY * rotation.T @ DOWN))
        each = block(tick, bias=weight, speed=0.1, rotation=rotation)
        assert not hung.update(each, ZERO)
        assert np.abs(drift.update(each, ZERO)).max() <= 0.002 * 0.05 + 1e-12
        free.update(block(tick))
    assert free.limits(True) == (1.0, 0.2)
    assert SECOND == 20 * BLOCK
