# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Readings of a Franka arm and the times of its states, without an arm and without franky."""

from types import SimpleNamespace

import numpy as np
import pytest

from frame_ros.hardware.franky import arm as arm_module
from frame_ros.hardware.franky.arrivals import CYCLE, Arrivals
from frame_ros.hardware.franky.options import FciOptions
from frame_ros.hardware.franky.reading import FrankaReading, mode_names

MODES = ('Other', 'Idle', 'Move', 'Guiding', 'Reflex', 'UserStopped', 'AutomaticErrorRecovery')
POLL = 0.00015


class CountingState:
    """A state that counts how often each of its fields is asked for."""

    def __init__(self, **fields):
        self.fields, self.asked = fields, []

    def __getattr__(self, name):
        self.asked.append(name)
        return self.fields[name]


def reading_of(**fields):
    state = CountingState(**fields)
    modes = SimpleNamespace(**{name: name for name in MODES})
    return state, FrankaReading(state, 17, 4, mode_names(SimpleNamespace(RobotMode=modes)))


def test_a_field_is_converted_when_it_is_asked_for_and_once():
    state, reading = reading_of(q=np.arange(7.0), robot_mode='UserStopped')
    assert (reading.read_at, reading.count, state.asked) == (17, 4, [])
    assert reading.positions is reading.positions and state.asked == ['q']
    assert reading.mode == 'user stopped' and not reading.is_ready
    assert state.asked == ['q', 'robot_mode']


def test_a_mode_that_is_not_known_is_another():
    assert reading_of(robot_mode='Dancing')[1].mode == 'other'


def test_a_reading_has_no_other_fields():
    with pytest.raises(AttributeError, match="no 'elbow'"):
        reading_of()[1].elbow  # noqa: B018


def looks_at(arrivals, times):
    """The looks that each state takes, which arrives at a time, s, and the delay of its last."""
    now, looks, delays = 0.0, [], []
    for count, arrival in enumerate(times):
        now = max(now + 0.1 * CYCLE, arrivals.due(count)) if count else arrival
        taken = 1
        while now < arrival:
            now, taken = now + POLL, taken + 1
        arrivals.note(count, now, taken == 1)
        looks.append(taken)
        delays.append(now - arrival)
    return np.array(looks), np.array(delays)


def test_one_look_finds_nine_states_of_ten_soon_after_they_came():
    jitter = np.abs(np.random.default_rng(0).normal(0.0, 3e-5, 20_000))
    times = 5.0 + CYCLE * np.arange(20_000) + jitter
    looks, delays = looks_at(Arrivals(), times)
    late = slice(5_000, None)
    assert 1.05 < looks[late].mean() < 1.2
    assert np.median(delays[late]) < 8e-5


def test_states_that_come_in_a_row_after_a_delay_are_all_found():
    """An arm that made a pause of 5 ms and sends what it owes every 0.4 ms."""
    times = 5.0 + CYCLE * np.arange(4_000)
    owed = times[2_000] + 0.005 + 0.0004 * np.arange(20)
    times[2_000:2_020] = np.maximum(times[2_000:2_020], owed)
    _, delays = looks_at(Arrivals(), times)
    assert delays[2_000:2_020].max() < 0.0004


def test_an_arm_that_stays_late_is_followed():
    times = 5.0 + CYCLE * np.arange(4_000)
    times[2_000:] += 0.02
    looks, delays = looks_at(Arrivals(), times)
    assert looks[2_200:].mean() < 1.3 and delays[2_200:].max() < 3e-4


@pytest.mark.parametrize('shift', [1.0, -1.0])
def test_a_jump_of_the_arm_s_clock_begins_again(shift):
    arrivals = Arrivals()
    looks_at(arrivals, 5.0 + CYCLE * np.arange(100))
    arrivals.note(100, 5.1 + shift, True)
    assert arrivals.due(101) == pytest.approx(5.101 + shift, abs=1e-6)


def test_a_count_that_begins_again_does_so_with_its_arrival():
    arrivals = Arrivals()
    arrivals.restart(700, 9.0)
    assert arrivals.due(701) == pytest.approx(9.001)
    arrivals.note(3, 9.2, True)
    assert arrivals.due(4) == pytest.approx(9.201)


class SimulatedTime:
    """A clock of time that passes only by its calls."""

    now = 100.0

    def monotonic(self):
        return self.now

    def monotonic_ns(self):
        return int(self.now * 1e9)

    def sleep(self, duration):
        self.now += duration + 6e-5


class SentStates:
    """A moving arm that sends a state every ms, with jitter."""

    is_in_control = True

    def __init__(self, clock, count=12_000):
        self.clock = clock
        jitter = np.abs(np.random.default_rng(0).normal(0.0, 3e-5, count))
        self.times = clock.now + CYCLE * np.arange(count) + jitter

    @property
    def state(self):
        self.clock.now += 1e-5
        count = int(np.searchsorted(self.times, self.clock.now, side='right'))
        return SimpleNamespace(time=SimpleNamespace(to_msec=lambda: count))


def test_every_fourth_state_is_read_where_more_are_not_due(monkeypatch):
    clock = SimulatedTime()
    monkeypatch.setattr(arm_module, 'time', clock)
    monkeypatch.setattr(arm_module, 'import_franky', lambda: SimpleNamespace(
        JointVelocityWaypoint=lambda rates: rates, RobotMode=SimpleNamespace(
            **{name: name for name in MODES})))  # fmt: skip
    options = FciOptions(rate=250.0, estimates_rate=250.0)
    assert options.cycle == 4
    arm = arm_module.FrankyArm('nobody', options, np.ones(7), np.ones(7))
    arm._robot = SentStates(clock)
    clock.now += CYCLE
    counts = [arm.read().count for _ in range(2_500)]
    gaps = np.diff(counts)
    assert gaps.min() == 4 and gaps.mean() < 4.05
