# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contact from a force-torque sensor: compensation, thresholds, tare, drift, payload, batch."""

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.core.time import MILLISECOND
from frame_ros.sensing.contact.source import ContactSource
from frame_ros.sensing.contact.wrench.batch import process
from frame_ros.sensing.contact.wrench.detector import WrenchContact
from frame_ros.sensing.contact.wrench.options import WrenchOptions
from frame_ros.sensing.contact.wrench.tool_model import GRAVITY, Tool, ToolLoad
from frame_ros.sensing.contact.wrench.tool_motion import ToolMotion, ToolMotions

TOOL = Tool(0.73, (0.01, -0.005, 0.05), (0.001, 0.0, 0.0, 0.002, 0.0, 0.001))
BIAS = np.array([3.0, -2.0, 5.0, 0.1, 0.2, -0.3])
NOISE = np.array([0.1, 0.1, 0.1, 0.004, 0.004, 0.004])
STILL = ToolMotion.at_rest(np.eye(3))


class Sensor:
    """A force-torque sensor at 1 kHz that reads weight, bias, noise and what presses on the tool at
    its origin, (6,) in base axes.
    """

    def __init__(self, contact, tool=TOOL, seed=0, noise=1.0):
        self.contact, self.load = contact, ToolLoad(tool)
        self.random = np.random.default_rng(seed)
        self.noise, self.tick = noise * NOISE, 0
        self.bias = BIAS.copy()

    def read(self, motion=STILL, external=(0.0,) * 6, count=1):
        row = motion.rotation.ravel().tolist()
        clean = np.array(self.load.weight(self.load.gravity(row)))
        clean += self.load.inertial(row, motion) or np.zeros(6)
        parts = np.split(np.broadcast_to(external, (count, 6)), 2, axis=1)
        clean = clean + np.concatenate([part @ motion.rotation for part in parts], axis=1)
        return clean + self.bias + self.random.normal(size=(count, 6)) * self.noise

    def run(self, ticks, motion=STILL, external=(0.0,) * 6, is_holding=None):
        """Many samples; external: (6,) or one row per tick."""
        stamps = (self.tick + 1 + np.arange(ticks)) * MILLISECOND
        self.tick += ticks
        wrenches = self.read(motion, external, ticks)
        motions = ToolMotions.of([motion] * ticks)
        return process(self.contact, stamps, wrenches, motions, [is_holding] * ticks)

    def one(self, motion=STILL, external=(0.0,) * 6, is_holding=None):
        """One sample."""
        self.tick += 1
        reading = self.read(motion, external)[0]
        return self.contact.update(self.tick * MILLISECOND, reading, motion, is_holding)


def tared(seed=0, noise=1.0, **values):
    sensor = Sensor(WrenchContact(WrenchOptions(**values), TOOL), seed=seed, noise=noise)
    sensor.run(560)
    assert sensor.contact.bias is not None
    return sensor


def turned(*angles):
    return ToolMotion.at_rest(Rotation.from_euler('xyz', angles).as_matrix())


def test_the_tare_is_exact_and_contact_unknown_before():
    sensor = Sensor(WrenchContact(WrenchOptions(), TOOL), noise=0.0)
    first = sensor.one()
    assert first.is_contact is None and 'not tared yet' in first.unavailable
    assert np.isnan(first.force)
    assert (sensor.run(400).is_contact == -1).all()
    assert sensor.run(160, turned(1.0, 0.0, 0.0)).is_contact[-1] == -1  # it moved
    sensor.run(600, turned(1.0, 0.0, 0.0))
    np.testing.assert_allclose(sensor.contact.bias, BIAS, atol=1e-12)
    last = sensor.one(turned(1.0, 0.0, 0.0))
    assert last.is_contact is False and last.force < 1e-9 and last.source == ContactSource.WRENCH
    assert sensor.contact.tare_result.is_accepted


def test_what_was_missing_before_the_first_tare_had_begun_is_no_reason_any_more():
    sensor, missing = Sensor(WrenchContact(WrenchOptions(), TOOL)), 'no joint states yet'
    for _ in range(5):
        assert sensor.one(ToolMotion.missing(missing)).unavailable == missing
    assert sensor.one().unavailable == 'not tared yet' and sensor.contact.tare_result is None
    sensor.run(200)
    assert sensor.one(ToolMotion.missing(missing)).unavailable == missing
    assert missing in sensor.one().unavailable  # this one was cut short
    sensor.contact.tare()
    sensor.one(ToolMotion.missing(missing))
    assert missing in sensor.contact.tare_result.reason  # and this one was asked for
    sensor.run(600)
    assert sensor.contact.bias is not None


@settings(max_examples=12, deadline=None)
@given(st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3), st.integers(0, 100))
def test_weight_is_taken_in_any_orientation(angles, seed):
    found = tared(seed).run(80, turned(*angles))
    assert not found.is_contact.any() and found.force[-1] < 0.25


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 500))
def test_the_force_is_told_in_base_axes_whatever_the_orientation(seed):
    sensor = tared(noise=0.0, tip=(0.0, 0.0, 0.1))
    motion = ToolMotion.at_rest(Rotation.random(random_state=seed).as_matrix())
    push = np.array([3.0, -4.0, 1.0, 0.0, 0.0, 0.0])
    sensor.run(100, motion, push)
    last = sensor.one(motion, push)
    assert last.is_contact is True
    np.testing.assert_allclose(last.wrench[:3], push[:3], atol=1e-3)
    np.testing.assert_allclose(last.normal, push[:3] / last.force, atol=1e-3)
    arm = motion.rotation @ [0.0, 0.0, 0.1]
    np.testing.assert_allclose(last.wrench[3:], -np.cross(arm, push[:3]), atol=1e-3)


def test_the_other_sign():
    reverse = WrenchContact(WrenchOptions(is_force_on_tool=False), TOOL)
    sensor, motion = Sensor(reverse, noise=0.0), turned(0.3, 0.2, 0.1)
    motions = ToolMotions.of([motion] * 700)
    pushed = np.zeros((700, 6))
    pushed[600:, 0] = 2.5
    readings = -sensor.read(motion, pushed, 700)
    found = process(reverse, np.arange(700) * MILLISECOND, readings, motions)
    np.testing.assert_allclose(found.wrench[-1, :3], [2.5, 0, 0], atol=1e-6)


def test_begin_and_end_of_a_push():
    sensor = tared()
    delay = sensor.contact.delay
    for strength in (2.2, 5.0, 10.0):
        pushed = sensor.run(20, external=(0, strength, 0, 0, 0, 0)).is_contact
        assert pushed.any() and np.argmax(pushed) * 1e-3 <= delay + 0.004
        assert sensor.run(200).is_contact[-1] == 0


def test_a_short_knock_below_the_debounce_is_none():
    sensor = tared(noise=0.0, on_time=0.05)
    assert not sensor.run(20, external=(5, 0, 0, 0, 0, 0)).is_contact.any()
    assert not sensor.run(100).is_contact.any()


def test_a_torque_alone_is_contact():
    found = tared().run(60, external=(0, 0, 0, 0.0, 0.4, 0))
    assert found.is_contact[-1] == 1 and found.force[-1] < 0.3


def test_single_axes_may_have_thresholds_of_their_own():
    sensor = tared(force_on=5.0, force_axes_on=(1.0, 0.0, 0.0))
    assert not sensor.run(60, external=(0, 2.0, 0, 0, 0, 0)).is_contact.any()
    sensor.run(100)
    assert sensor.run(60, external=(2.0, 0, 0, 0, 0, 0)).is_contact[-1] == 1


def test_inertia_is_compensated_where_known_and_widens_the_threshold():
    sensor = tared()
    acceleration = np.array([1.5, 0.0, 1.0])
    moving = ToolMotion(np.eye(3), acceleration, np.zeros(3), np.zeros(3), True)
    found = sensor.run(100, moving)
    assert found.force[-1] < 0.2 and not found.is_contact.any()
    lengths = 0.2 * TOOL.mass * np.linalg.norm(acceleration)
    assert sensor.contact.peak[0] == pytest.approx(lengths, rel=1e-6)
    sensor.run(100, moving._replace(delay=0.02))
    assert sensor.contact.peak[0] > 2 * lengths


def test_unknown_accelerations_widen_the_threshold_while_it_moves():
    sensor = tared()
    for is_moving, expected in ((None, 2.0 * TOOL.mass), (True, 2.0 * TOOL.mass), (False, 0.0)):
        motion = ToolMotion(np.eye(3), is_moving=is_moving)
        assert not sensor.run(1000, motion).is_contact.any()
        assert sensor.contact.peak[0] == pytest.approx(expected, abs=1e-3)


def test_a_tare_in_contact_is_refused_and_keeps_the_old_one():
    sensor = tared()
    before = sensor.contact.bias.copy()
    push = (0, 3.0, 0, 0, 0, 0)
    sensor.run(100, external=push)
    sensor.contact.tare()
    assert sensor.contact.tare_result is None
    sensor.run(600, external=push)
    result = sensor.contact.tare_result
    assert not result.is_accepted and 'in contact' in result.reason
    np.testing.assert_allclose(sensor.contact.bias, before, atol=1e-4)
    assert sensor.one(external=push).is_contact


def test_a_tare_under_a_light_touch_is_refused_by_the_change():
    sensor, push = tared(tare_force=0.3, still_share=1.0), (0, 0.6, 0, 0, 0, 0)
    sensor.contact.tare()
    sensor.run(600, external=push)
    reason = sensor.contact.tare_result.reason
    assert 'm more than at the last tare' in reason and 'with the tool that it carries' in reason


def test_the_first_tare_is_compared_with_what_is_expected():
    contact = WrenchContact(WrenchOptions(expected_bias=tuple(BIAS)), TOOL)
    sensor, push = Sensor(contact), (0, 0, 4.0, 0, 0, 0)
    sensor.run(700, external=push)
    assert contact.bias is None and 'bias expected' in contact.tare_result.reason
    assert 'bias expected' in sensor.one(external=push).unavailable
    sensor.run(700)
    assert contact.bias is not None


def test_with_a_bias_given_no_tare_goes_on_by_itself():
    contact = WrenchContact(WrenchOptions(), TOOL)
    sensor, contact.bias = Sensor(contact, noise=0.0), BIAS + [0, 0.4, 0, 0, 0, 0]
    given = contact.bias
    contact.update(0, np.zeros(6), ToolMotion.missing('the first wrench'))
    sensor.run(900, is_holding=True)
    np.testing.assert_array_equal(contact.bias, given)


def test_a_tare_wants_rest():
    sensor = tared()
    swinging, growing = np.zeros((700, 6)), np.zeros((700, 6))
    swinging[:, 0], growing[:, 0] = 0.6 * (-1.0) ** np.arange(700), 0.4e-3 * np.arange(700)
    for motion, external, why in (
        (STILL._replace(is_moving=True), np.zeros(6), 'moved'),
        (STILL, swinging, 'not steady'),
        (STILL, growing, 'changed by'),
    ):
        sensor.contact.tare()
        sensor.run(700, motion, external)
        assert why in sensor.contact.tare_result.reason
        sensor.run(300)
    sensor.contact.tare()
    sensor.run(100, is_holding=True)
    assert 'holds something' in sensor.contact.tare_result.reason


def test_drift_is_followed_in_free_space_only():
    sensor = tared(drift_time=1.0, drift_force_rate=0.05)
    before = sensor.contact.bias.copy()
    sensor.bias = BIAS + [0.1, 0, 0, 0, 0, 0]
    sensor.run(5000)
    assert sensor.contact.bias[0] - before[0] == pytest.approx(0.1, abs=0.03)
    for strength, is_holding in ((2.0, None), (0.7, None), (0.1, True)):
        external = (0, strength, 0, 0, 0, 0)
        sensor.run(300, STILL, external, is_holding)
        since = sensor.contact.bias.copy()
        sensor.run(1000, STILL, external, is_holding)
        np.testing.assert_array_equal(sensor.contact.bias, since)


def test_drift_is_limited_so_a_growing_contact_is_seen():
    sensor = tared(drift_time=1.0)
    begin = sensor.contact.bias.copy()
    growing = np.zeros((3000, 6))
    growing[:, 1] = 0.5e-3 * np.arange(3000)
    assert sensor.run(3000, external=growing).is_contact[-1] == 1
    # At most what a drift as it is assumed before it is measured may do: 4 deviations of what a
    # random walk of 0.02 N per square root of a second leaves to a filter of 2 s.
    assert abs(sensor.contact.bias[1] - begin[1]) <= 4.0 * 0.02 / 2.0 * 3.0


def test_a_weight_that_hangs_is_no_contact_until_release():
    sensor = tared(tip=(0.0, 0.0, 0.12))
    mass, arm = 0.3, np.array([0.01, 0.0, 0.12])
    weight = np.concatenate([[0, 0, -mass * GRAVITY], np.cross(arm, [0, 0, -mass * GRAVITY])])
    sensor.run(300, is_holding=True)
    lifted = sensor.run(600, external=weight, is_holding=True)
    assert lifted.is_contact[100] == 1  # blind until it is weighed
    assert lifted.is_contact[-1] == 0 and lifted.force[-1] < 0.2
    payload = sensor.contact.payload
    assert payload.mass == pytest.approx(mass, abs=0.01)
    np.testing.assert_allclose(payload.position[:2], arm[:2], atol=0.005)
    # In another orientation as well.
    motion = turned(1.2, 0.3, 0.0)
    force = np.array([0.0, 0.0, -mass * GRAVITY])
    external = np.concatenate([force, np.cross(motion.rotation @ arm, force)])
    assert sensor.run(200, motion, external, True).force[-1] < 0.3
    # A push on what is held is seen, also straight down.
    sensor.run(1500, external=weight, is_holding=True)
    pushed = sensor.run(2000, external=weight + [0, 0, -3.0, 0, 0, 0], is_holding=True)
    assert pushed.is_contact[-1] == 1
    sensor.run(100, is_holding=False)
    assert sensor.contact.payload.mass == 0
    assert sensor.run(100, is_holding=False).is_contact[-1] == 0


def test_a_push_aside_while_holding_is_no_weight():
    sensor = tared()
    found = sensor.run(800, external=(0, 3.0, 0, 0, 0, 0), is_holding=True)
    assert found.is_contact[-1] == 1 and sensor.contact.payload.mass == 0


def test_what_cannot_be_used_is_unavailable_with_the_reason():
    sensor = tared()
    contact, stamp, wrench = sensor.contact, sensor.tick * MILLISECOND, sensor.read()[0]
    found = contact.update(stamp + MILLISECOND, np.full(6, np.nan), STILL)
    assert found.is_contact is None and 'not finite' in found.unavailable
    found = contact.update(
        stamp + 2 * MILLISECOND, wrench, ToolMotion.missing('joint states are old')
    )
    assert found.is_contact is None and found.unavailable == 'joint states are old'
    assert contact.update(stamp + 3 * MILLISECOND, wrench, STILL).is_contact is False
    found = contact.update(stamp + 500 * MILLISECOND, wrench, STILL)
    assert found.is_contact is None and 'no wrench for 0.497 s' in found.unavailable
    assert contact.update(stamp + 501 * MILLISECOND, wrench, STILL).is_contact is False


def test_late_samples_are_counted_and_a_new_clock_begins_anew():
    sensor = tared()
    contact, stamp = sensor.contact, sensor.tick * MILLISECOND
    last = sensor.one()
    assert (
        contact.update(stamp - 5 * MILLISECOND, np.full(6, 99.0), STILL) is last
        and contact.late == 1
    )
    found = contact.update(3, sensor.read()[0], STILL)
    assert found.stamp == 3 and found.is_contact is False and contact.late == 1


def test_reset_keeps_the_tare():
    sensor = tared()
    sensor.run(50, external=(5, 0, 0, 0, 0, 0))
    before = sensor.contact.bias
    sensor.contact.reset()
    sensor.tick = 0
    assert sensor.one().is_contact is False
    assert sensor.contact.bias is before


@pytest.mark.parametrize('is_told', [True, False])
def test_a_clock_that_falls_stops_neither_tare_nor_drift_nor_weighing(is_told):
    sensor = Sensor(WrenchContact(WrenchOptions(drift_time=1.0, drift_force_rate=0.05), TOOL))
    contact = sensor.contact

    def fall():
        if is_told:
            contact.reset()
        sensor.tick = 0

    sensor.tick = 10**9
    sensor.run(300)
    fall()
    sensor.run(600)
    assert contact.bias is not None  # the first tare, begun before
    sensor.tick = 10**9
    sensor.run(300)
    contact.tare()
    sensor.run(300)
    fall()
    sensor.run(600)
    assert contact.tare_result.is_accepted
    sensor.tick = 10**9
    sensor.run(100, external=(5.0, 0, 0, 0, 0, 0))
    fall()
    before, sensor.bias = contact.bias.copy(), BIAS + [0.1, 0, 0, 0, 0, 0]
    sensor.run(5000)
    assert contact.bias[0] - before[0] == pytest.approx(0.1, abs=0.03)
    sensor.tick = 10**9
    sensor.run(300, is_holding=True)
    fall()
    weight = (0, 0, -3.0, 0, 0, 0)
    sensor.run(600, external=weight, is_holding=True)
    assert contact.payload.mass == pytest.approx(3.0 / GRAVITY, abs=0.02)


def test_what_is_weighed_was_seen_all_the_time():
    sensor, weight = tared(), (0, 0, -3.0, 0, 0, 0)
    for _ in range(3):  # samples of 60 ms, with gaps of 300 ms
        sensor.run(60, external=weight, is_holding=True)
        sensor.tick += 300
    assert sensor.contact.payload.mass == 0
    sensor.run(500, external=weight, is_holding=True)
    assert sensor.contact.payload.mass == pytest.approx(3.0 / GRAVITY, abs=0.02)


def recording(seed, count=900):
    """Stamps, wrenches, motions and is_holding with a bit of everything that happens."""
    random = np.random.default_rng(seed)
    steps = np.full(count, MILLISECOND)
    if seed % 2:
        steps += random.integers(-200_000, 200_000, count)
    steps[random.integers(600, count, 2)] = [300 * MILLISECOND, -3 * MILLISECOND]
    stamps = 10 * MILLISECOND + np.cumsum(steps)
    angles = (
        np.cumsum(random.normal(0, 1e-3, (count, 3)), axis=0) * (np.arange(count) > 580)[:, None]
    )
    rotations = Rotation.from_euler('xyz', angles).as_matrix()
    motions = [
        ToolMotion(r, *random.normal(0, 0.3, (3, 3)), True, 0.004) for r in rotations
    ]  # fmt: skip
    motions[:600] = [m._replace(is_moving=False) for m in motions[:600]]
    for rows, changes in (
        (slice(610, 650), {'delay': 0.05}),
        (slice(660, 690), {'noise': 1.5}),
        (slice(740, 760), {'noise': 9.0}),
        (slice(750, 780), {'delay': 0.03, 'noise': 9.0, 'is_moving': False}),
    ):
        motions[rows] = [m._replace(**changes) for m in motions[rows]]
    motions[650:660] = [ToolMotion(m.rotation) for m in motions[650:660]]
    motions[700] = ToolMotion.missing('gone')
    load = ToolLoad(TOOL)
    many = ToolMotions.of(motions)
    wrenches = (
        load.weights(load.gravities(rotations)) + random.normal(size=(count, 6)) * NOISE + BIAS
    )
    wrenches[620:640, 1] += 5.0
    wrenches[710, 2] = np.nan
    wrenches[720:, 2] -= 2.0
    holding = [None] * 715 + [True] * (count - 715 - 20) + [False] * 20
    return stamps, wrenches, motions, many, holding


@pytest.mark.parametrize('seed', [0, 1, 2, 3])
def test_a_batch_is_as_one_by_one(seed):
    stamps, wrenches, motions, many, holding = recording(seed)
    values = WrenchOptions(
        payload_window=0.05, drift_time=1.0, peak_time=0.1 * (seed != 2),
        force_axes_on=(2.0, 1.5, 0.0), tip=(0.0, 0.01, 0.1), weight_point=(0.1, 0.0, 0.3),
    )  # fmt: skip
    one, batch = WrenchContact(values, TOOL), WrenchContact(values, TOOL)
    single, shares = [], []
    for row in range(len(stamps)):
        single.append(one.update(int(stamps[row]), wrenches[row], motions[row], holding[row]))
        shares.append(one.share)
    parts = [slice(0, 333), slice(333, 334), slice(334, 900)]
    found = [process(batch, stamps[p], wrenches[p], many[p], holding[p]) for p in parts]

    def joined(name):
        return np.concatenate([getattr(part, name) for part in found])

    states = [-1 if d.is_contact is None else int(d.is_contact) for d in single]
    np.testing.assert_array_equal(joined('is_contact'), states)
    np.testing.assert_allclose(joined('force'), [d.force for d in single], rtol=0, atol=1e-9)
    np.testing.assert_allclose(joined('wrench'), [d.wrench for d in single], rtol=0, atol=1e-9)
    np.testing.assert_allclose(joined('share'), shares, rtol=0, atol=1e-9)
    assert [why for part in found for why in part.unavailable] == [d.unavailable for d in single]
    np.testing.assert_allclose(one.bias, batch.bias, rtol=0, atol=1e-9)
    assert one.payload.mass == pytest.approx(batch.payload.mass, abs=1e-9)
    assert one.late == batch.late > 0
    assert {-1, 0, 1} == set(states)


def test_bad_input():
    contact = WrenchContact(WrenchOptions(), TOOL)
    with pytest.raises(ShapeError):
        contact.update(0, np.zeros(5), STILL)
    with pytest.raises(ShapeError, match='one length'):
        process(contact, np.zeros(2, int), np.zeros((3, 6)), ToolMotions.of([STILL] * 2))
    for values in [
        {'cutoff': 0.0}, {'force_on': -1.0}, {'hysteresis': 1.5}, {'tip': (0.0, 0.0)},
        {'force_axes_on': (1.0, -1.0, 1.0)}, {'expected_bias': (0.0, 1.0)}, {'peak_time': 1e-6},
        {'drift_time': np.inf},
    ]:  # fmt: skip
        with pytest.raises(ValueRangeError):
            evolve(WrenchOptions(), **values)


@pytest.mark.parametrize(('share', 'is_felt'), [(0.8, False), (1.2, True)])
@pytest.mark.parametrize('tip', [(0.0, 0.0, 0.0), (0.0, 0.0, 0.4)])
def test_the_sensitivity_is_the_least_force_at_the_tip_that_counts(tip, share, is_felt):
    """Far from the sensor it is the torque about it that tells of a force across."""
    contact = WrenchContact(WrenchOptions(tip=tip, still_share=1.0), TOOL)
    sensor = Sensor(contact, noise=0.1)
    assert np.isnan(contact.sensitivity.force)
    sensor.run(2000)
    bound = contact.sensitivity
    assert bound.force == pytest.approx(0.5 if tip[2] else 1.0)
    assert bound.response_time == pytest.approx(3 * contact.delay + 0.002)
    force = np.array([share * bound.force, 0.0, 0.0])
    external = np.concatenate((force, np.cross(tip, force)))
    ticks = round(1000 * bound.response_time) + 2
    assert bool(sensor.run(ticks, external=external).is_contact.any()) is is_felt
