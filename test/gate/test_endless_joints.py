# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A gate before an arm with a joint that turns without end, by drivers that count its turns, and by
those that publish it within one.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from gate_and_arm import HOME, LIMITS, NAMES, PERIOD, Bench
from turning_arm import kinova

from frame_ros.core.time import SECOND
from frame_ros.gate.causes import Cause
from frame_ros.gate.command_gate import CommandGate
from frame_ros.gate.limits.command_limiter import CommandLimiter
from frame_ros.gate.limits.command_limits import limits_of
from frame_ros.gate.measured_turns import MeasuredTurns
from frame_ros.gate.options import GateRules
from frame_ros.gate.records import GateStatus, InterventionLog, Moment, Reason
from frame_ros.robots import load_robot

TURN, ROLL = 2.0 * math.pi, 4
BOUNDS = np.array([LIMITS.lower, LIMITS.upper])
BOUNDS[:, ROLL] = -math.inf, math.inf
ENDS = LIMITS.ends.copy()
ENDS[:, ROLL] = -math.inf, math.inf
ENDLESS = replace(LIMITS, lower=BOUNDS[0], upper=BOUNDS[1], ends=ENDS)


def within(position, least):
    """The position at the turn from `least` on."""
    return (position - least) % TURN + least


class TurningBench(Bench):
    """An arm whose wrist roll turns without end.

    publishes, asks: functions of its position, counted on, for driver and policy.
    """

    def __init__(self, publishes, asks, begin=0.0, **options):
        self.publishes, self.asks = publishes, asks
        super().__init__(limits=ENDLESS, started=ENDLESS, home=self.at(begin), **options)
        self.wait(1.0)

    def episode(self, kind, then=0.02):
        """An episode starts or ends; time passes."""
        self.gate.on_boundary(kind, 'e', self.moment.clock)
        self.wait(then)

    def at(self, roll):
        """(6,) at home but for the wrist roll."""
        return np.where(np.arange(6) == ROLL, roll, HOME)

    def measure(self, joints, publisher='driver', names=NAMES):
        shown = np.array(joints, float)
        shown[ROLL] = self.publishes(shown[ROLL])
        return super().measure(shown, publisher, names)

    def turn(self, by, speed=1.0):
        """The policy turns the roll on; returns what was sent, counted on."""
        begin, sent = self.joints[ROLL], []
        count = round(abs(by) / (speed * PERIOD / SECOND))
        for k in range(count + 1):
            place = begin + by * (k / count if count > 3 else 1.0)
            output = self.command(self.at(self.asks(place)))
            assert self.status == GateStatus.PASSING, self.gate.reason
            sent.append(output.positions[ROLL])
            self.wait(PERIOD / SECOND)
        return np.array(sent)


def counted(position):
    return position


def from_minus_pi(position):
    return within(position, -math.pi)


def from_zero(position):
    return within(position, 0.0)


@pytest.mark.parametrize('asks', [counted, from_minus_pi, from_zero])
@pytest.mark.parametrize('publishes', [counted, from_minus_pi, from_zero])
@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_the_joint_turns_on_whoever_counts(publishes, asks, sign):
    """Three turns, without a jump in what is sent, and with none that the policy did not ask."""
    bench = TurningBench(publishes, asks, begin=3.0 * sign)
    sent = bench.turn(3.3 * TURN * sign)
    assert np.abs(np.diff(sent)).max() < 0.06
    assert abs(sent[-1] - sent[0]) == pytest.approx(3.3 * TURN, abs=0.02)
    assert bench.gate.counts.stops == 0 and bench.gate.counts.refused == 0
    assert bench.gate.measured[ROLL] == pytest.approx(sent[-1], abs=0.05)


@pytest.mark.parametrize(('publishes', 'turns'), [(from_minus_pi, 0), (counted, 2)])
def test_the_first_command_goes_the_short_way(publishes, turns):
    bench = TurningBench(publishes, from_minus_pi, begin=3.1 + turns * TURN)
    for _ in range(20):
        bench.command(bench.at(-3.1))
        assert bench.status == GateStatus.PASSING
        bench.wait(PERIOD / SECOND)
    sent = np.array([output.positions[ROLL] for _, output in bench.sent]) - turns * TURN
    assert sent.min() >= 3.1 - 1e-9 and sent[-1] == pytest.approx(TURN - 3.1) == sent.max()


def test_a_command_that_is_too_fast_is_clamped_as_for_other_joints():
    """An infinite way to the end of a range had made no number of the speed: it stayed."""
    bench = TurningBench(counted, counted, begin=3.0)
    for k in range(60):
        bench.command(bench.at(3.0 + min(k, 20) * 0.3))
        bench.wait(PERIOD / SECOND)
    sent = np.array([output.positions[ROLL] for _, output in bench.sent])
    assert sent[-1] == pytest.approx(9.0) and bench.gate.counts.limited > 5
    steps = np.diff(sent) / (PERIOD / SECOND)
    assert 0.8 * LIMITS.velocity[ROLL] < steps.max() <= LIMITS.velocity[ROLL] * (1.0 + 1e-6)


def test_a_turn_that_a_counting_driver_loses_stops_the_arm():
    """A jump of a turn is a lie of a driver that was published over more than one."""
    bench = TurningBench(counted, counted, begin=3.0)
    bench.turn(1.2 * TURN)
    bench.publishes = lambda position: position - TURN
    bench.command(bench.at(bench.joints[ROLL]))
    bench.wait(0.1)
    assert bench.status == GateStatus.STOPPED
    assert (
        'it jumps by a turn, and was silent before or published over more' in bench.gate.reason.text
    )


def test_a_driver_that_was_started_again_and_lost_a_turn_stops_the_arm():
    """Within its first turn, too: a command where it had been would turn the arm by a whole one."""
    bench = TurningBench(counted, counted, begin=3.0)
    bench.turn(1.0)
    bench.measures = False
    for _ in range(30):
        bench.command(bench.at(4.0))
        bench.wait(PERIOD / SECOND)
    bench.publishes, bench.measures = (lambda position: position - TURN), True
    bench.wait(0.1)
    assert bench.status == GateStatus.STOPPED
    assert 'it jumps by a turn, and was silent before' in bench.gate.reason.text


@pytest.mark.parametrize('lost', [-2, -1, 1])
def test_after_a_reset_an_arm_whose_driver_lost_turns_goes_on_from_there(lost):
    """In the driver's count, through none of the turns between."""
    bench = TurningBench(counted, counted, begin=3.0)
    bench.turn(2.2 * TURN)
    bench.joints[ROLL] += lost * TURN
    bench.follows = False
    bench.wait(1.0)
    assert bench.status == GateStatus.STOPPED
    assert bench.gate.reset(bench.moment)[0]
    bench.follows, place, before = True, bench.joints[ROLL], len(bench.sent)
    bench.turn(0.5)
    sent = np.array([output.positions[ROLL] for _, output in bench.sent[before:]])
    assert place - 0.01 < sent.min() and sent.max() == pytest.approx(place + 0.5, abs=0.02)


def test_another_jump_still_stops_the_arm():
    bench = TurningBench(from_minus_pi, from_minus_pi, begin=3.0)
    bench.turn(1.0)
    bench.publishes = lambda position: from_minus_pi(position + 2.5)
    bench.command(bench.at(bench.asks(bench.joints[ROLL])))
    bench.wait(0.1)
    assert bench.status == GateStatus.STOPPED
    assert 'wrist_roll went 2.5 rad' in bench.gate.reason.text


@pytest.mark.parametrize('by', [2.0, 3.0, 3.3, 5.0, -3.3, TURN, 20.0])
def test_a_joint_that_was_turned_by_hand_never_turns_back_by_more_than_half_a_turn(by):
    bench = TurningBench(from_minus_pi, from_minus_pi, begin=3.0)
    last = bench.turn(1.0)[-1]
    bench.gate.on_boundary('end', 'e', bench.moment.clock)
    bench.wait(3.0)
    for _ in range(200):
        bench.joints[ROLL] += by / 200
        bench.wait(0.05)
    bench.wait(1.0)
    place, before = bench.joints[ROLL], len(bench.sent)
    if bench.status == GateStatus.STOPPED:
        bench.gate.reset(bench.moment)
    for _ in range(30):
        bench.command(bench.at(from_minus_pi(place)))
        bench.wait(PERIOD / SECOND)
    assert bench.status == GateStatus.PASSING
    sent = [last, *(output.positions[ROLL] for _, output in bench.sent[before:])]
    assert np.ptp(sent) < math.pi + 0.5
    assert from_minus_pi(sent[-1] - place + 1.0) == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize('silence', [0.0, 3.0])
@pytest.mark.parametrize('publishes', [counted, from_minus_pi])
def test_a_joint_that_was_moved_by_others_goes_on_where_its_driver_has_it(publishes, silence):
    """Of a driver that counts, a command a whole turn from there would turn the arm by it at once;
    also where the joint was moved within its first turn, and by more than half of one.
    """
    bench = TurningBench(publishes, publishes)
    bench.episode('start')
    bench.turn(0.3)
    bench.episode('end', 3.0)
    bench.measures = not silence
    bench.wait(silence)
    for _ in range(100):
        bench.joints[ROLL] += 0.05 if not silence else 0.04
        bench.wait(0.05 if not silence else 0.0)
    bench.measures = True
    bench.wait(1.0)
    bench.episode('start')
    place = bench.joints[ROLL]
    output = bench.command(bench.at(publishes(place)))
    assert output.positions[ROLL] == pytest.approx(
        place if publishes is counted else publishes(place), abs=1e-9
    )


def test_a_measurement_that_is_not_taken_does_not_count_as_published():
    """After one, the driver counted as one that counts: a jump stopped the arm, and a reset sent it
    back by the turns that it had made.
    """
    bench = TurningBench(from_minus_pi, from_minus_pi, begin=3.0)
    bench.turn(2.6 * TURN)
    for false in (40.0, math.inf):
        bench.turn(0.1)
        last = bench.joints.copy()
        Bench.measure(bench, np.where(np.arange(6) == ROLL, false, last))
        bench.wait(0.5)
        assert bench.status == GateStatus.STOPPED
        bench.wait(1.5)
        assert bench.gate.reset(bench.moment)[0]
    count = len(bench.sent)
    bench.turn(0.5)
    sent = [output.positions[ROLL] for _, output in bench.sent[count:]]
    assert min(sent) > last[ROLL] - 1e-9 and max(sent) == pytest.approx(last[ROLL] + 0.5)
    Bench.measure(bench, np.full(6, 40.0), publisher='another')
    bench.wait(1.0)
    assert bench.status == GateStatus.STOPPED and bench.gate.reset(bench.moment)[0]
    bench.turn(TURN)


def test_an_arm_that_lags_behind_turns_at_most_one_turn_to_catch_up():
    """The requests of a policy that jumps about add up to 90 turns."""
    bench = TurningBench(from_minus_pi, from_minus_pi)
    bench.turn(0.3)
    for k in range(300):
        bench.command(bench.at(from_minus_pi(2.2 * (k % 3))))
        bench.wait(PERIOD / SECOND)
    count = len(bench.sent)
    for _ in range(600):
        bench.command(bench.at(0.3))
        bench.wait(PERIOD / SECOND)
    sent = np.array([output.positions[ROLL] for _, output in bench.sent[count:]])
    assert np.ptp(sent) < TURN + 1.0
    assert from_minus_pi(sent[-1]) == pytest.approx(0.3)


@pytest.mark.parametrize('value', [1e17, 1e300, -1.7e308, 1.79e308])
def test_a_number_that_means_nothing_costs_no_turn(value):
    bench = TurningBench(from_minus_pi, from_minus_pi)
    bench.turn(0.3)
    count = len(bench.sent)
    for k in range(60):
        bench.command(bench.at(0.3 if k else value))
        bench.wait(PERIOD / SECOND)
    sent = [output.positions[ROLL] for _, output in bench.sent[count:]]
    assert sent[-1] == pytest.approx(0.3) and np.ptp(sent) < math.pi


def test_a_request_that_was_not_reached_does_not_outlast_the_episode():
    """It counted as the turn of the next episode's first command, which was refused."""
    bench = TurningBench(from_minus_pi, from_minus_pi)
    bench.episode('start')
    bench.turn(0.3)
    for ahead in (3.0, 5.0):
        bench.command(bench.at(from_minus_pi(0.3 + ahead)))
        bench.wait(PERIOD / SECOND if ahead < 4.0 else 0.0)
    bench.episode('end', 2.0)
    bench.episode('start')
    place = bench.joints[ROLL]
    output = bench.command(bench.at(from_minus_pi(place)))
    assert bench.status == GateStatus.PASSING
    assert output.positions[ROLL] == pytest.approx(place)


def test_a_reset_beyond_pi_under_commands_of_a_policy_that_does_not_count():
    bench = TurningBench(from_minus_pi, from_minus_pi, begin=3.0)
    bench.turn(1.0)
    bench.gate.stop(Reason(Cause.OPERATOR, 'by hand'), bench.moment)
    for _ in range(30):
        bench.command(bench.at(from_minus_pi(bench.joints[ROLL])))
        bench.wait(PERIOD / SECOND)
    assert bench.gate.reset(bench.moment)[0]
    bench.turn(1.0)


def test_another_gate_knows_the_turns_of_the_one_before():
    """As of a node that is deactivated and activated: what was sent stays in force."""
    bench = TurningBench(from_minus_pi, from_minus_pi, begin=3.0)
    last = bench.turn(1.0)[-1]
    bench.make_gate()
    bench.wait(0.05)
    assert bench.gate.measured[ROLL] == pytest.approx(last)
    bench.turn(1.0)
    assert np.abs(np.diff([output.positions[ROLL] for _, output in bench.sent])).max() < 0.06


def test_a_joint_just_opposite_of_where_it_was_sent_keeps_its_side():
    turns = MeasuredTurns(np.array([True]))
    i, last, sent = np.array([0]), np.array([0.0]), np.array([0.0])
    found = []
    for value in (3.13, -3.13):  # it has jumped before
        turns.look(i, np.array([value]), np.array([0.1]))
    for value in (1.5, 3.0, 3.13, -3.13, 3.13, -3.12, 3.14, -2.8, -2.6, -2.8):
        last = turns.counted(i, np.array([value]), last, sent)
        found.append(float(last[0]))
    near = [1.5, 3.0, 3.13, TURN - 3.13, 3.13, TURN - 3.12, 3.14, TURN - 2.8, -2.6, -2.8]
    assert found == pytest.approx(near)


def test_joints_with_ends_are_as_measured():
    turns, values = MeasuredTurns(np.zeros(6, bool)), HOME + 7.0
    assert turns.counted(np.arange(6), values, HOME, HOME) is values
    assert not LIMITS.is_endless.any()
    assert np.flatnonzero(ENDLESS.is_endless).tolist() == [ROLL]


def test_a_kinova_turns_on_at_pi():
    """Kinova's own URDF: three of its six joints turn without end, and nothing stops it."""
    robot = load_robot(kinova())
    limits = limits_of(robot, acceleration=(4.0,), velocity_scale=0.9, step=0.35)
    limiter, stopped = CommandLimiter(limits), []
    gate = CommandGate(
        limiter, robot.joint_names, GateRules(), InterventionLog(stopped.append, stopped.append)
    )
    size, moment = len(limits.names), Moment(1000 * SECOND, 5000 * SECOND)
    is_endless = limits.is_endless
    assert is_endless.tolist() == [name in robot.continuous for name in limits.names]
    places = np.where(is_endless, 0.0, np.clip(math.pi, limits.lower, limits.upper - 1.0))
    gate.activate(moment)
    sent = []
    for k in range(2100):
        moment = Moment(moment.monotonic + PERIOD // 3, moment.clock + PERIOD // 3)
        shown = np.where(is_endless, from_minus_pi(places), places)
        assert gate.on_joint_states(limits.names, shown, moment.clock, moment, 'driver') == ''
        gate.tick(moment)
        if k > 90 and k % 3 == 0:
            turned = 0.9 * TURN * (1.0 - math.cos((k - 90) / 2010 * math.pi)) / 2.0
            asked = np.where(is_endless, from_minus_pi(np.full(size, turned)), places)
            output = gate.on_command('policy', moment.clock, limits.names, asked, moment, 'policy')
            sent.append(output.positions)
            places = places + 0.5 * (output.positions - places)
    assert not stopped and gate.counts.passed == len(sent)
    assert np.array(sent)[-1][is_endless] == pytest.approx(0.9 * TURN, abs=1e-3)
