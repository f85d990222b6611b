# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The command gate after a stall, a stop, or a push of the arm: from where it goes on."""

import copy
import math

import numpy as np
import pytest
from gate_and_arm import HOME, LIMITS, NAMES, PERIOD, ROBOT, Bench
from gate_witness import Witness

from frame_ros.core.time import MILLISECOND, SECOND
from frame_ros.gate.causes import Cause
from frame_ros.gate.command_gate import POLICY, TELEOPERATOR
from frame_ros.gate.episode import END, START
from frame_ros.gate.limits.command_limits import limits_of
from frame_ros.gate.records import GateStatus, Moment, Reason
from frame_ros.gate.watchdogs import Heartbeat

AWAY = np.array([0.0, 0.4, 0.0, 0.0, 0.0, 0.0])


def stalled(bench, seconds):
    """The process stands still: nothing is measured, nothing looked at."""
    passed = round(seconds * SECOND)
    bench.moment = Moment(bench.moment.monotonic + passed, bench.moment.clock + passed)


def stopped(**options):
    bench = Bench(follows=False, **options)
    bench.command(HOME)
    bench.keep(bench.gate.stop(Reason(Cause.OPERATOR), bench.moment))
    bench.wait(0.5)
    return bench


def rates_of(sent):
    """Nothing that was sent breaks a limit of rate."""
    witness = Witness(LIMITS, 0.02)
    for at, output in sent:
        i = [NAMES.index(name) for name in output.names]
        witness.see(i, output.positions, output.times, at, HOME)


# Measurements and stalls.


@pytest.mark.parametrize('jump', [0.2, 0.9, 1.6])
def test_an_episode_had_better_not_begin_before_the_gate_knows_where_the_arm_was_set(jump):
    """As a simulator's reset sets it between episodes: there is an obstacle for as long as a first
    command would be refused.
    """
    bench = Bench()
    bench.gate.on_boundary(START, 'e1', bench.moment.clock)
    bench.wait(0.1)
    bench.drive(10)
    bench.gate.on_boundary(END, 'e1', bench.moment.clock)
    bench.wait(1.0)
    assert bench.status == GateStatus.IDLE and bench.gate.obstacle(bench.moment) == ''
    bench.joints = bench.joints + jump * AWAY / 0.4
    obstacles = []
    for _ in range(40):
        bench.wait(0.05)
        obstacles.append(bench.gate.obstacle(bench.moment))
        probe = copy.deepcopy(bench)
        assert probe.command(probe.joints) is not None or obstacles[-1]
    assert obstacles[0].startswith('shoulder_lift')
    assert all(obstacles[:5]) and not any(obstacles[25:])


def test_a_joint_that_the_policy_leaves_out_is_no_obstacle():
    bench = Bench()

    def episode(name, publisher, *commanded):
        bench.gate.on_boundary(START, name, bench.moment.clock)
        for indices in commanded:
            bench.wait(0.1)
            names = [NAMES[i] for i in indices]
            bench.command(bench.joints[list(indices)], names=names, publisher=publisher)
        bench.gate.on_boundary(END, name, bench.moment.clock)
        settle()

    def obstacles_while_it_swings(joint, times=30):
        found = []
        for number in range(times):
            bench.joints[joint] += 0.06 * (-1) ** (number // 4)
            bench.wait(0.05)
            found.append(bench.gate.obstacle(bench.moment))
        return found

    def settle():
        bench.wait(1.5)
        assert bench.status == GateStatus.IDLE and bench.gate.obstacle(bench.moment) == ''

    episode('e1', 'first', range(6), (0, 1))  # all, and at last some of them
    assert any(obstacles_while_it_swings(3))
    settle()
    episode('e2', 'second', (0, 1))
    assert not any(obstacles_while_it_swings(3))
    assert any(obstacles_while_it_swings(0))
    settle()
    bench.joints[3] -= 0.9  # which would stop the arm
    bench.wait(0.02)
    assert 'wrist_flex' in bench.gate.obstacle(bench.moment)
    settle()
    for policies in ((b'second',), ()):
        bench.gate.obstacle(bench.moment, frozenset(policies))
    assert any(obstacles_while_it_swings(3))  # the next may command all


def test_a_policy_that_was_started_again_may_command_the_joints_that_it_left_out():
    bench = Bench()
    bench.gate.on_boundary(START, 'e1', bench.moment.clock)
    bench.wait(0.1)
    bench.gate.obstacle(bench.moment, frozenset((b'before',)))
    bench.command(bench.joints[:2], names=NAMES[:2], publisher='policy')
    bench.gate.on_boundary(END, 'e1', bench.moment.clock)
    bench.wait(1.5)

    def obstacles_while_it_swings(*policies):
        found = []
        for number in range(30):
            bench.joints[3] += 0.06 * (-1) ** (number // 4)
            bench.wait(0.05)
            found.append(bench.gate.obstacle(bench.moment, frozenset(policies)))
        return found

    assert not any(obstacles_while_it_swings(b'before'))
    assert any(obstacles_while_it_swings(b'since'))


def test_a_gate_at_work_has_no_obstacle():
    bench = Bench()
    bench.drive(10)
    bench.joints = bench.joints + AWAY
    bench.wait(0.05)
    assert bench.status != GateStatus.IDLE and bench.gate.obstacle(bench.moment) == ''


@pytest.mark.parametrize('state', ['STOPPED', 'HOLDING'])
@pytest.mark.parametrize('seconds', [0.101, 0.12, 0.5, 3.0])
@pytest.mark.parametrize('size', [0.05, 0.4, -0.5, 2.0])
def test_a_held_arm_does_not_follow_a_false_measurement_after_a_stall(state, seconds, size):
    bench = Bench(follows=False, stop_timeout=0.0)
    bench.command(HOME)
    if state == 'STOPPED':
        bench.gate.stop(Reason(Cause.OPERATOR), bench.moment)
    bench.wait(0.5)
    assert bench.status.name == state
    stalled(bench, seconds)
    bench.measure(HOME + size * AWAY / 0.4)
    for _ in range(3):
        bench.keep(bench.gate.tick(bench.moment))
    bench.wait(2.0)
    sent = [dict(zip(o.names, o.positions.tolist(), strict=True)) for _, o in bench.sent]
    home = dict(zip(NAMES, HOME.tolist(), strict=True))
    assert all(each.items() <= home.items() for each in sent)
    assert sent[-1] == home  # and is held after it
    assert bench.moment.monotonic - bench.sent[-1][0] < 30 * MILLISECOND


def test_a_stopped_arm_that_was_moved_during_a_stall_is_left_there():
    bench = stopped()
    stalled(bench, 2.0)
    bench.joints += AWAY
    count = len(bench.sent)
    bench.wait(1.0)
    assert len(bench.sent) == count and bench.status == GateStatus.STOPPED
    assert bench.gate.reset(bench.moment)[0]
    output = bench.command(bench.joints + 0.01)
    assert output.positions == pytest.approx(bench.joints, abs=0.06)


def test_commands_after_a_stall_start_from_the_arm_once_it_is_still():
    bench = Bench()
    bench.drive(10, speed=0.0)
    stalled(bench, 0.15)
    bench.measure(HOME + 0.3 * AWAY / 0.4)  # one measurement moves nothing
    assert bench.command(HOME) is None
    count, bench.follows = len(bench.sent), False
    bench.joints = HOME + 0.3 * AWAY / 0.4
    for _ in range(14):
        bench.wait(PERIOD / SECOND)
        bench.command(bench.joints - 0.05 * AWAY / 0.4)
    assert bench.status == GateStatus.PASSING and len(bench.sent) > count
    places = [output.positions[1] for _, output in bench.sent[count:]]
    assert np.abs(np.array(places) - bench.joints[1]).max() <= 0.06
    rates_of(bench.sent)


def test_after_a_stall_what_is_measured_comes_before_the_watchdogs():
    bench = Bench()
    bench.beats = Heartbeat(is_acting=True)
    bench.drive(10, speed=0.0)
    stalled(bench, 0.7)
    assert bench.command(HOME) is None  # it came meanwhile, and so did the others
    assert bench.gate.tick(bench.moment) is None
    assert bench.status == GateStatus.PASSING
    bench.wait(0.0)
    assert not bench.command(HOME, age=-1e-3).is_hold and bench.gate.counts.stops == 0
    stalled(bench, 0.7)
    bench.beats = None
    bench.wait(0.07)
    assert bench.status == GateStatus.STOPPED and bench.gate.reason.cause == 'heartbeat'


def test_a_process_that_is_always_slow_watches_all_the_same():
    bench = Bench()
    bench.beats = Heartbeat(is_acting=True)
    bench.drive(10, speed=0.0)
    bench.beats = None
    bench.wait(1.0, step=0.12)
    assert bench.status == GateStatus.STOPPED and bench.gate.reason.cause == 'heartbeat'


@pytest.mark.parametrize('offset', [0.3, 0.36, 0.4, 0.5])
def test_a_sensor_that_is_off_does_not_make_the_arm_run_away(offset):
    bench = Bench(follows=False)
    for k in range(150):
        bench.joints[0] = min(offset, 0.02 * k)
        bench.command(HOME)
        bench.wait(PERIOD / SECOND)
    assert bench.status == GateStatus.PASSING
    assert all((output.positions == HOME).all() for _, output in bench.sent)


def test_who_measures_what_cannot_be_keeps_no_other_away():
    bench = Bench()
    bench.wait(0.1)
    bench.measures = False
    bench.wait(0.6)
    for _ in range(60):
        assert bench.measure(HOME + 50.0, 'broken') != ''
        assert bench.measure(HOME) == ''
        bench.wait(0.02)
    assert bench.gate.measured == pytest.approx(HOME)


# Reset.


def test_an_arm_that_was_moved_while_stopped_starts_from_there_after_a_reset():
    bench = stopped()
    for _ in range(40):
        bench.joints[1] += 0.02
        bench.wait(0.02)
        if bench.joints[1] - HOME[1] > 0.6:
            is_released, text = bench.gate.reset(bench.moment)
            assert not is_released and 'implausible_joint_states' in text
    assert bench.status == GateStatus.STOPPED
    bench.wait(1.0)
    assert all((output.positions == HOME).all() for _, output in bench.sent)
    count = len(bench.sent)
    assert bench.gate.reset(bench.moment)[0]
    bench.wait(0.1)
    assert len(bench.sent) == count  # nothing moves until it is commanded
    place = bench.joints.copy()
    for _ in range(30):
        bench.command(place)
        bench.wait(PERIOD / SECOND)
    assert bench.sent[-1][1].positions == pytest.approx(place)
    assert bench.status == GateStatus.PASSING
    rates_of(bench.sent)


def test_a_reset_while_the_arm_brakes_lets_it_be_moved_once_it_is_at_rest():
    bench = Bench()
    bench.drive(14, speed=3.0)
    bench.keep(bench.gate.stop(Reason(Cause.OPERATOR), bench.moment))
    bench.wait(0.005)
    assert bench.gate.reset(bench.moment)[0]
    bench.wait(1.0)
    for _ in range(50):
        bench.joints[1] += 0.02
        assert bench.measure(bench.joints) == ''
        bench.wait(0.02)
    bench.wait(0.4)
    output = bench.command(bench.joints)
    assert output.positions == pytest.approx(bench.joints) and not output.is_hold
    rates_of(bench.sent)


def test_a_reset_is_refused_until_the_arm_is_still_and_believes_no_broken_sensor():
    bench = stopped()
    bench.joints = HOME + 2.0 * AWAY
    bench.wait(0.2)
    assert not bench.gate.reset(bench.moment)[0]
    bench.wait(0.2)
    bench.measure(HOME * math.nan)
    is_released, text = bench.gate.reset(bench.moment)
    assert not is_released and 'implausible_joint_states' in text
    bench.wait(0.5)
    bench.measures = False
    bench.wait(0.7)
    assert not bench.gate.reset(bench.moment)[0]


# The clock.


def test_no_hold_is_repeated_while_a_simulated_clock_stands_still():
    """The metrics would count each as a step: the episode is paused, and nothing moves."""
    bench = Bench(is_simulated=True)
    bench.drive(10)
    bench.clock_runs = False
    before = len(bench.sent)
    bench.wait(5.0)
    assert bench.status == GateStatus.STOPPED
    # The hold, and the stop that it becomes.
    assert 1 <= len(bench.sent) - before <= 2
    bench.clock_runs, before = True, len(bench.sent)
    bench.wait(1.0)
    assert len(bench.sent) - before > 10
    stamps = [output.stamp for _, output in bench.sent[before:]]
    assert min(b - a for a, b in zip(stamps, stamps[1:], strict=False)) > 10**6


def test_holds_are_repeated_where_the_robot_s_clock_is_not_the_gate_s():
    bench = Bench()
    bench.drive(10)
    bench.clock_runs, before = False, len(bench.sent)
    bench.wait(1.0)
    assert len(bench.sent) - before > 10


@pytest.mark.parametrize('is_driven', [True, False])
def test_a_simulated_clock_may_be_set_back(is_driven):
    bench = Bench(is_simulated=True)
    bench.drive(10)
    if not is_driven:
        bench.gate.stop(Reason(Cause.OPERATOR), bench.moment)
        assert bench.gate.reset(bench.moment)[0]
        bench.wait(0.5)
    before = bench.joints.copy()
    bench.moment = Moment(bench.moment.monotonic, 3 * SECOND)
    bench.follows, bench.joints = False, HOME + 3.0 * AWAY  # the scene began again, too
    bench.wait(0.3)
    assert bench.gate.measured == pytest.approx(bench.joints)
    if is_driven:
        assert (bench.status, bench.gate.reason.cause) == (GateStatus.STOPPED, 'clock_set_back')
        assert '5e+03 s' in bench.gate.reason.text
        bench.wait(1.0)
        held = bench.sent[-1][1]
        assert 'shoulder_lift' not in held.names and 'elbow_flex' in held.names
        i = [NAMES.index(name) for name in held.names]
        assert held.positions == pytest.approx(before[i], abs=0.01)
        assert bench.gate.reset(bench.moment)[0]
    bench.wait(0.2)
    bench.command(bench.joints)
    assert bench.status == GateStatus.PASSING
    for _ in range(60):
        bench.wait(PERIOD / SECOND)
        bench.command(bench.joints)
    assert bench.sent[-1][1].positions == pytest.approx(bench.joints)


def test_commands_behind_a_clock_that_was_set_back_by_little_are_in_order():
    """Stamped before the last of the time before, by less than a clock may differ."""
    bench = Bench(is_simulated=True)
    bench.drive(10)
    bench.gate.stop(Reason(Cause.OPERATOR), bench.moment)
    assert bench.gate.reset(bench.moment)[0]
    bench.moment = Moment(bench.moment.monotonic, bench.moment.clock - SECOND * 6 // 10)
    bench.wait(0.4)
    refused = bench.gate.counts.refused
    bench.command(bench.joints)
    assert (bench.status, bench.gate.counts.refused) == (GateStatus.PASSING, refused)
    assert bench.gate.set_backs == 1


def test_a_command_that_is_not_sent_does_not_settle_where_the_arm_starts():
    bench = Bench(longest=3.0)
    bench.drive(5)
    bench.keep(bench.gate.stop(Reason(Cause.OPERATOR), bench.moment))
    bench.wait(0.5)
    assert bench.gate.reset(bench.moment)[0]
    there = bench.joints.copy()

    def move(step):
        for _ in range(30):
            bench.joints[1] += step
            bench.wait(0.02)
        bench.wait(0.4)

    move(0.02)
    assert bench.gate._stream.start(np.arange(6), bench.moment) is None  # then it is refused
    move(-0.02)
    bench.follows = False
    for _ in range(10):
        assert bench.command(there).positions == pytest.approx(there)
        bench.wait(PERIOD / SECOND)


@pytest.mark.parametrize('ahead', [0.0, 0.01, 0.03])
def test_a_command_during_a_hold_ends_the_way_back_to_where_it_held(ahead):
    bench = Bench(stop_behaviour='hold', longest=0.04)
    place = bench.drive(10, speed=4.0)
    held = bench.sent[-1][1].positions[0]
    bench.wait(0.05, step=0.005)  # it cannot come to rest at once: it will come back
    assert bench.sent[-1][1].is_hold and bench.joints[0] > held
    assert np.isfinite(bench.gate._stream.limiter.base[0])
    place[0] = bench.joints[0] + ahead
    count = len(bench.sent)
    for _ in range(30):
        bench.command(place)
        bench.wait(0.01)
    places = [output.positions[0] for _, output in bench.sent[count - 1 :]]
    assert not any(output.is_hold for _, output in bench.sent[count:])
    assert min(places) == places[0]  # nobody asked for less
    assert places[-1] == pytest.approx(place[0])
    rates_of(bench.sent)


@pytest.mark.parametrize('is_streaming', [True, False])
@pytest.mark.parametrize('how', ['released', 'takeover'])
def test_a_refused_command_leaves_the_way_back_to_where_it_held(how, is_streaming, monkeypatch):
    gentle = limits_of(ROBOT, step=0.35, tick=0.2, acceleration_scale=0.1)
    monkeypatch.setattr('gate_and_arm.LIMITS', gentle)
    options = {'on_joint_limit': 'refuse', 'stream': is_streaming}
    bench = Bench(longest=0.04, stop_behaviour='hold', **options)
    bench.drive(12, speed=1.0)
    if how == 'released':
        bench.keep(bench.gate.stop(Reason(Cause.OPERATOR), bench.moment))
        bench.wait(0.18, step=0.005)
        assert bench.gate.reset(bench.moment)[0]
        bench.wait(0.18, step=0.005)
    else:
        bench.keep(bench.gate.set_takeover(True, bench.moment))
        bench.wait(0.36, step=0.005)
    held = bench.gate._stream._rest[0]
    assert bench.joints[0] > held + 0.2  # it turns about here
    beyond = bench.joints.copy()
    beyond[1] -= 0.34
    source = POLICY if how == 'released' else TELEOPERATOR
    assert bench.command(beyond, source) is None
    assert bench.interventions[-1].reason.cause == 'joint_limit'
    bench.wait(2.0, step=0.005)
    assert bench.joints[0] == pytest.approx(held, abs=1e-9)


def test_a_refused_command_leaves_an_arm_that_rests_at_rest():
    bench = stopped(on_joint_limit='refuse')
    assert bench.gate.reset(bench.moment)[0]
    bench.joints += 1.5 * AWAY  # by hand
    bench.wait(0.5)
    beyond = bench.joints.copy()
    beyond[1] = LIMITS.lower[1] - 0.01
    bench.joints[1] = LIMITS.lower[1] + 0.1
    bench.wait(0.5)
    assert bench.command(beyond) is None
    assert bench.interventions[-1].reason.cause == 'joint_limit'
    bench.wait(0.5)
    assert not bench.gate.is_moving(bench.moment)
    assert bench.gate._stream.settled(bench.moment) is not None


@pytest.mark.parametrize('speed', [2.5, 4.0])
def test_who_comes_back_to_where_it_was_held_does_not_overshoot(speed):
    bench = Bench(stop_behaviour='hold')
    bench.drive(10, speed=speed)
    bench.keep(bench.gate.set_takeover(True, bench.moment))
    held, count = bench.gate._stream._rest[0], len(bench.sent)
    bench.wait(2.0)
    places = np.array([output.positions[0] for _, output in bench.sent[count:]])
    assert places.max() > held + 0.005
    assert places.min() >= held - 1e-9 and places[-1] == pytest.approx(held, abs=1e-9)
    rates_of(bench.sent)


@pytest.mark.parametrize('is_pushed', [False, True])
def test_who_pauses_on_the_way_back_goes_on_from_where_it_was_sent(is_pushed, monkeypatch):
    gentle = limits_of(ROBOT, step=0.35, tick=0.2, acceleration_scale=0.1)
    monkeypatch.setattr('gate_and_arm.LIMITS', gentle)
    bench = Bench(stop_behaviour='hold')
    bench.drive(30, speed=2.0)
    held = bench.joints[0]
    bench.keep(bench.gate.stop(Reason(Cause.OPERATOR), bench.moment))
    bench.wait(0.5)
    paused, count = bench.joints.copy(), len(bench.sent)
    assert paused[0] > held + 0.2
    stalled(bench, 0.5)
    if is_pushed:  # and somebody holds the arm elsewhere for a while
        bench.joints = paused + 0.15
        bench.wait(0.5)
        assert len(bench.sent) == count
        bench.joints = paused.copy()
    bench.wait(2.0)
    places = np.array([output.positions[0] for _, output in bench.sent[count:]])
    assert np.abs(np.diff(places, prepend=paused[0])).max() < 0.02
    assert places[-1] == pytest.approx(held, abs=1e-9)


def test_who_comes_back_into_its_range_is_held_where_it_comes_to_rest(monkeypatch):
    gentle = limits_of(ROBOT, step=0.35, tick=0.2, acceleration_scale=0.1)
    monkeypatch.setattr('gate_and_arm.LIMITS', gentle)
    bench = Bench(stop_behaviour='hold')
    bench.joints[0] = LIMITS.lower[0] - 0.15
    place = bench.joints.copy()
    bench.wait(0.5)
    for _ in range(10):
        place[0] += 0.01
        bench.command(place)
        bench.wait(PERIOD / SECOND)
    assert bench.sent[-1][1].positions[0] < LIMITS.lower[0]
    bench.keep(bench.gate.stop(Reason(Cause.OPERATOR), bench.moment))
    bench.wait(2.0)
    places = [output.positions[0] for _, output in bench.sent]
    assert places == sorted(places)
    assert not bench.gate.is_moving(bench.moment)


# Doubts before the first command.


def test_no_first_command_passes_while_commands_flood_or_somebody_else_sends():
    bench = Bench()
    for cause in (Cause.COMMAND_FLOOD, Cause.SECOND_PUBLISHER):
        bench.gate.doubt(Reason(cause, 'seen'), bench.moment)
        bench.wait(0.02)
        assert bench.command(HOME) is None
        assert bench.status == GateStatus.IDLE
        assert bench.interventions[-1].reason.cause == cause
        bench.wait(1.0)
    assert bench.command(HOME) is not None and bench.status == GateStatus.PASSING
