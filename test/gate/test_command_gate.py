# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The command gate: what goes to the arm, whatever comes in, and what is said of it."""

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gate_and_arm import HOME, LIMITS, NAMES, PERIOD, Bench, rules
from hypothesis import given, settings
from hypothesis import strategies as st

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.time import MILLISECOND, SECOND
from frame_ros.gate.causes import Cause
from frame_ros.gate.command_gate import POLICY, TELEOPERATOR
from frame_ros.gate.episode import END, START
from frame_ros.gate.records import Act, GateStatus, Moment, Reason
from frame_ros.gate.watchdogs import Heartbeat


def test_a_good_policy_passes_bit_by_bit_and_nothing_is_said():
    bench = Bench()
    assert bench.status == GateStatus.IDLE
    place = HOME.copy()
    for k in range(40):
        place[0] += 0.02 * min(1.0, k / 4)
        output = bench.command(place)
        assert (output.positions == place).all() and not output.is_hold
        assert output.names == NAMES and output.stamp == bench.moment.clock
        bench.wait(PERIOD / SECOND)
    assert bench.status == GateStatus.PASSING
    assert bench.interventions == []
    assert bench.gate.counts.passed == bench.gate.counts.received == 40


def test_commands_to_some_joints_pass_in_their_order():
    bench = Bench()
    output = bench.command([0.3, 0.001], names=('gripper', 'shoulder_pan'))
    assert output.names == ('gripper', 'shoulder_pan')
    assert output.positions.tolist() == [0.3, 0.001]


@pytest.mark.parametrize(
    ('command', 'cause', 'text'),
    [
        ({'positions': [math.nan, *HOME[1:]]}, 'not_finite', 'shoulder_pan is nan'),
        ({'positions': [*HOME[:5], math.inf]}, 'not_finite', 'gripper is inf'),
        ({'positions': HOME[:5]}, 'malformed', '5 positions for 6 joints'),
        ({'positions': [], 'names': []}, 'malformed', 'names no joint'),
        ({'positions': [0.0], 'names': ['joint7']}, 'malformed', "unknown joint 'joint7'"),
        ({'positions': [0.0, 0.0], 'names': ['gripper'] * 2}, 'malformed', 'named twice'),
        ({'positions': HOME, 'age': 6000.0}, 'malformed', 'no stamp'),
        ({'positions': HOME, 'age': 1.0}, 'stale_command', 'stamped 1 s ago'),
        ({'positions': HOME, 'age': -1.0}, 'out_of_order', 'stamped 1 s ahead'),
        ({'positions': HOME, 'age': 0.01}, 'out_of_order', 'before the last'),
    ],
)
def test_a_bad_command_is_refused_with_its_cause(command, cause, text):
    bench = Bench()
    bench.drive(2)
    bench.command(bench.joints)
    before = len(bench.interventions)
    output = bench.command(**command)
    assert output is None or output.is_hold
    assert bench.gate.counts.refused == 1
    message = bench.interventions[before]
    assert (message.act, message.reason.cause) == (Act.REFUSED, cause)
    assert text in message.reason.text


def test_a_stamp_far_ahead_does_not_shut_out_those_after_it():
    bench = Bench()
    bench.drive(3)
    bench.command(bench.joints, age=-100.0)
    assert not bench.command(bench.joints).is_hold


def test_a_stamp_a_little_ahead_does_not_shut_out_those_after_it():
    bench = Bench()
    place = bench.drive(3)
    bench.command(place, age=-0.45)
    bench.wait(PERIOD / SECOND)
    bench.drive(15)
    assert bench.gate.counts.refused == 0


def test_the_robots_clock_may_be_set_back():
    bench = Bench()
    bench.drive(3)
    bench.moment = Moment(bench.moment.monotonic, 100 * SECOND)
    bench.wait(0.0)
    assert not bench.command(bench.joints).is_hold


def test_a_command_that_exceeds_a_limit_is_limited_and_the_run_is_one_pair_of_messages():
    bench = Bench()
    bench.drive(4)
    place = bench.joints.copy()
    for _ in range(3):
        place[0] += 0.19
        output = bench.command(place)
        bench.wait(PERIOD / SECOND)
    assert output.positions[0] < place[0]
    for _ in range(20):
        bench.command(place)
        bench.wait(PERIOD / SECOND)
    assert bench.joints[0] == pytest.approx(place[0])
    causes = {m.reason.cause for m in bench.interventions}
    assert causes <= {'velocity_limit', 'acceleration_limit', 'step_limit'}
    assert len(bench.interventions) == 2 * len(causes)
    assert sum(m.count for m in bench.interventions if m.is_over) == bench.gate.counts.limited
    assert bench.gate.counts.limited >= 3


@pytest.mark.parametrize(('action', 'status'), [('refuse', 'PASSING'), ('stop', 'STOPPED')])
def test_a_limit_may_refuse_or_stop_instead(action, status):
    bench = Bench(on_velocity_limit=action)
    place = bench.drive(6)
    output = bench.command(place + [0.19, 0, 0, 0, 0, 0])
    assert output.is_hold
    assert bench.status.name == status
    assert bench.said[-1][0] == (Act.REFUSED if action == 'refuse' else Act.STOPPED)
    assert bench.interventions[-1].reason.unit == 'rad/s'


def test_the_first_command_must_be_near_the_arm():
    bench = Bench()
    far = HOME + [0.5, 0, 0, 0, 0, 0]
    assert bench.command(far) is None
    reason = bench.interventions[0].reason
    assert (reason.cause, reason.joint, reason.limit) == ('step_limit', 'shoulder_pan', 0.35)
    assert bench.command(HOME + [0.01, 0, 0, 0, 0, 0], age=-0.001) is not None


def test_without_joint_states_nothing_passes():
    bench = Bench()
    bench.measures = False
    bench.wait(1.0)
    assert bench.command(HOME) is None
    assert bench.said == [(Act.REFUSED, 'stale_joint_states', False)]
    assert bench.status == GateStatus.IDLE


# Watchdogs.


def first_hold(bench):
    return next(at for at, output in bench.sent if output.is_hold)


@pytest.mark.parametrize('clock_runs', [True, False])
def test_commands_that_stop_coming_hold_the_arm_and_then_stop_it(clock_runs):
    """By the monotonic clock: a robot's clock that stands still hides nothing."""
    bench = Bench(command_timeout=0.25, stop_timeout=2.0)
    bench.drive(10)
    bench.command(bench.joints)
    last, bench.clock_runs = bench.moment.monotonic, clock_runs
    bench.wait(1.0)
    assert bench.status == GateStatus.HOLDING
    assert bench.gate.reason.cause == ('stale_command' if clock_runs else 'stale_joint_states')
    assert 0.25 < (first_hold(bench) - last) / SECOND <= 0.25 + 0.02
    if clock_runs:
        bench.wait(1.2)
        assert bench.status == GateStatus.STOPPED
        assert bench.announced == [('stop', 'stale_command')]
    bench.command(bench.joints, age=-0.001)
    assert bench.status == (GateStatus.STOPPED if clock_runs else GateStatus.HOLDING)


def test_held_commands_stream_and_stay_where_the_arm_was_sent():
    bench = Bench()
    place = bench.drive(10)
    bench.wait(1.0)
    held = [output for _, output in bench.sent if output.is_hold]
    assert len(held) >= 30
    assert all(output.positions == pytest.approx(place) for output in held)
    stamps = [output.stamp for output in held]
    assert stamps == sorted(set(stamps))


def test_a_hold_may_be_sent_once():
    bench = Bench(stream=False)
    bench.drive(10)
    bench.wait(1.5)
    assert sum(output.is_hold for _, output in bench.sent) == 1


def test_commands_pass_again_after_a_hold():
    bench = Bench()
    place = bench.drive(10)
    bench.wait(0.5)
    output = bench.command(place)
    assert not output.is_hold and bench.status == GateStatus.PASSING
    assert bench.said == [(Act.HELD, 'stale_command', False), (Act.HELD, 'stale_command', True)]


def test_a_heartbeat_that_fails_stops_the_arm_though_commands_come():
    bench = Bench(heartbeat_timeout=0.3)
    bench.beats = Heartbeat(is_acting=True)
    bench.drive(5)
    bench.beats = None
    last = bench.moment.monotonic
    bench.drive(12)
    assert bench.status == GateStatus.STOPPED and bench.gate.reason.cause == 'heartbeat'
    assert 0.26 < (first_hold(bench) - last) / SECOND <= 0.3 + 0.02


def test_a_heartbeat_may_be_required_from_the_start():
    bench = Bench(heartbeat_required=True)
    assert bench.command(HOME) is None
    assert bench.said == [(Act.REFUSED, 'heartbeat', False)]
    bench.beats = Heartbeat(is_acting=True)
    bench.wait(0.01)
    assert not bench.command(HOME).is_hold


def test_a_policy_that_was_away_and_begins_is_no_reason_to_stop():
    """Its command arrives a little before the heartbeat of the same tick."""
    bench = Bench(heartbeat_timeout=0.3)
    bench.beats = Heartbeat(is_acting=False)
    bench.wait(0.1)
    bench.beats = None
    bench.wait(2.0)
    assert bench.command(HOME) is None and bench.status == GateStatus.IDLE
    bench.beats = Heartbeat(is_acting=True)
    bench.wait(0.03)
    assert not bench.command(HOME).is_hold


def test_a_policy_that_is_gone_when_an_episode_begins_is_waited_for():
    bench = Bench(heartbeat_timeout=0.3)
    bench.beats = Heartbeat(is_acting=False)
    bench.wait(0.1)
    bench.beats = None
    bench.gate.on_boundary(START, 'e1', bench.moment.clock)
    bench.wait(1.0)
    assert (bench.status, bench.gate.reason.cause) == (GateStatus.HOLDING, 'heartbeat')


@pytest.mark.parametrize('clock_runs', [True, False])
def test_an_old_observation_holds_the_arm(clock_runs):
    bench = Bench(observation_timeout=0.6, joint_states_timeout=60.0)
    bench.beats = Heartbeat(is_acting=True, observation_stamp=bench.moment.clock)
    bench.clock_runs = clock_runs
    for k in range(30):
        bench.command(HOME, age=0.0 if clock_runs else -1e-3 * k)
        bench.wait(PERIOD / SECOND)
    assert (bench.status, bench.gate.reason.cause) == (GateStatus.HOLDING, 'stale_observation')
    bench.beats = Heartbeat(is_acting=True, observation_stamp=bench.moment.clock + 1)
    bench.wait(0.0)
    assert not bench.command(HOME, age=-0.1).is_hold


@pytest.mark.parametrize('stop_timeout', [2.0, 0.0])
def test_a_hold_without_commands_becomes_a_stop_whatever_it_is_for(stop_timeout):
    """Not only once its cause is gone, which would stop a policy that has just recovered."""
    bench = Bench(stop_timeout=stop_timeout)
    bench.beats = Heartbeat(is_acting=True)
    bench.drive(5)
    bench.beats = Heartbeat(is_acting=False, problem='camera front: no image')
    bench.wait(1.9)
    assert (bench.status, bench.gate.reason.cause) == (GateStatus.HOLDING, 'policy_problem')
    bench.wait(0.2)
    stops = bool(stop_timeout)
    assert bench.status == (GateStatus.STOPPED if stops else GateStatus.HOLDING)
    assert bench.announced == [('stop', 'policy_problem')] * stops
    assert 'camera front: no image' in bench.gate.reason.text


@pytest.mark.parametrize('missing', ['joint states', 'observation'])
def test_commands_that_were_kept_back_are_not_missing_afterwards(missing):
    bench = Bench(observation_timeout=0.6)
    place = bench.drive(5)
    begun = bench.moment.clock
    for _ in range(round(3 * SECOND / PERIOD)):
        if missing == 'observation':
            bench.beats = Heartbeat(is_acting=True, observation_stamp=begun)
        else:
            bench.measures = False
        bench.command(place)
        bench.wait(PERIOD / SECOND)
    assert bench.status == GateStatus.HOLDING
    assert bench.gate.reason.cause == f'stale_{missing.replace(" ", "_")}'
    bench.measures = True
    if missing == 'observation':
        bench.beats = Heartbeat(is_acting=True, observation_stamp=bench.moment.clock)
    bench.wait(0.02)
    assert bench.status == GateStatus.HOLDING
    assert not bench.command(place).is_hold and bench.status == GateStatus.PASSING


def test_joint_states_that_repeat_an_old_stamp_are_stale():
    bench = Bench()
    bench.drive(3)
    stamp, place = bench.moment.clock, bench.joints.copy()
    bench.measures = False
    for _ in range(25):
        bench.gate.on_joint_states(NAMES, bench.joints, stamp, bench.moment, 'driver')
        bench.command(place)
        bench.wait(PERIOD / SECOND)
    assert bench.gate.reason.cause == 'stale_joint_states'


def test_joint_states_without_one_joint_of_the_arm_are_not_new():
    bench = Bench()
    bench.drive(3)
    bench.measures = False
    for _ in range(25):
        bench.measure(bench.joints[1:], names=NAMES[1:])
        bench.wait(PERIOD / SECOND)
    assert bench.gate.watch.joint_states_age(bench.moment) > 0.5


@pytest.mark.parametrize(
    ('names', 'positions', 'problem'),
    [
        (NAMES, HOME[:5], '5 positions for 6 joints'),
        (NAMES, [math.nan, *HOME[1:]], 'shoulder_pan is nan'),
        (NAMES, HOME + [1.5, 0, 0, 0, 0, 0], 'shoulder_pan went 1.5 rad, faster than it can'),
        (NAMES, HOME + [0, 0, 3.0, 0, 0, 0], 'elbow_flex is 2.56 rad out of its range'),
        (['elsewhere'], [1.0], ''),
    ],
)
def test_bad_joint_states_change_nothing(names, positions, problem):
    bench = Bench()
    before = bench.gate.measured.copy()
    said = bench.measure(positions, names=names)
    assert problem in said and (said == '') == (problem == '')
    assert (bench.gate.measured == before).all()


@pytest.mark.parametrize(('joint', 'is_taken'), [(5, True), (0, False)])
def test_a_gripper_that_is_read_seldom_may_have_moved_since(joint, is_taken):
    """A Franka Hand's thread was late by 0.1 s on a busy machine, and the arm was stopped."""
    bench = Bench()
    bench.command(HOME)
    bench.wait(0.15)  # with the same number each time
    place = HOME.copy()
    place[joint] += 0.13 * LIMITS.fastest[joint]
    said = bench.measure(place)
    assert (said == '') == is_taken
    assert is_taken or 'shoulder_pan went 0.613 rad, faster than it can' in said
    if is_taken:  # but no farther than it can have gone
        place[joint] -= 0.13 * LIMITS.fastest[joint]
        assert 'gripper went 0.613 rad, faster than it can' in bench.measure(place)


def test_a_policy_that_says_why_it_cannot_act_is_held():
    bench = Bench()
    bench.gate.on_boundary(START, 'e1', bench.moment.clock)
    bench.beats = Heartbeat(is_acting=False, problem='camera front: no image')
    bench.wait(1.0)
    assert (bench.status, bench.gate.reason.cause) == (GateStatus.HOLDING, 'policy_problem')
    assert 'camera front: no image' in bench.gate.reason.text
    assert [(m.act, m.episode_id) for m in bench.marks] == [(Act.HELD, 'e1')]
    bench.beats = Heartbeat(is_acting=True)
    bench.wait(0.1)
    assert not bench.command(HOME).is_hold
    assert bench.status == GateStatus.PASSING


def test_an_episode_without_any_command_is_held_in_the_end():
    bench = Bench(start_timeout=1.0)
    bench.gate.on_boundary(START, 'e1', bench.moment.clock + SECOND // 2)
    bench.wait(1.2)
    assert bench.status == GateStatus.IDLE
    bench.wait(0.5)
    assert (bench.status, bench.gate.reason.cause) == (GateStatus.HOLDING, 'stale_command')
    assert bench.sent == []  # it was never commanded: it is left alone


def test_the_end_of_an_episode_is_no_intervention():
    bench = Bench()
    bench.gate.on_boundary(START, 'e1', bench.moment.clock)
    bench.wait(0.1)
    bench.drive(10)
    assert bench.gate.episode.episode_id == 'e1'
    bench.gate.on_boundary(END, 'e1', bench.moment.clock + 50 * MILLISECOND)
    bench.wait(3.0)
    assert bench.status == GateStatus.IDLE and bench.gate.episode.episode_id == ''
    assert bench.interventions == []
    assert not any(output.is_hold for _, output in bench.sent)


def test_a_policy_that_ends_without_an_episode_is_let_go():
    bench = Bench()
    bench.beats = Heartbeat(is_acting=True)
    bench.drive(10)
    bench.beats = Heartbeat(is_acting=False)
    bench.wait(3.0)
    assert bench.status == GateStatus.IDLE and bench.interventions == []


# Stops.


def test_a_stop_is_latched_until_it_is_reset():
    bench = Bench()
    bench.drive(10)
    output = bench.gate.stop(Reason('operator', 'stop service'), bench.moment)
    assert output.is_hold and bench.status == GateStatus.STOPPED
    assert bench.command(bench.joints, age=-1e-3) is None
    bench.wait(3.0)
    assert bench.status == GateStatus.STOPPED
    is_released, text = bench.gate.reset(bench.moment)
    assert is_released and 'operator' in text
    assert bench.status == GateStatus.IDLE
    assert not bench.command(bench.joints).is_hold
    assert [act for act, _, _ in bench.said] == [Act.STOPPED, Act.RESET]
    assert bench.gate.counts.stops == 1


def test_a_damped_stop_decelerates_and_a_hold_does_not():
    for behaviour in ('damped', 'hold'):
        bench = Bench(stop_behaviour=behaviour)
        place = bench.drive(20, speed=2.0)
        bench.command(place)
        before = bench.joints[0]
        bench.keep(bench.gate.stop(Reason('operator'), bench.moment))
        bench.wait(1.0)
        went = bench.joints[0] - before
        assert went == pytest.approx(0.0, abs=1e-12) if behaviour == 'hold' else went >= 0.0
        path = [output.positions[0] for _, output in bench.sent if output.is_hold]
        assert path[-1] == path[-2]
    bench = Bench()
    place = bench.drive(20, speed=2.0)
    bench.gate.stop(Reason('operator'), bench.moment)
    bench.wait(1.0)
    assert 0.005 < bench.joints[0] - place[0] < 2.0**2 / (2 * LIMITS.acceleration[0])


def test_an_arm_that_is_pushed_away_stops_and_is_not_followed():
    bench = Bench(follows=False)
    bench.command(HOME)
    bench.wait(0.5)
    assert bench.status == GateStatus.HOLDING
    for _ in range(40):
        bench.joints[1] += 0.02
        bench.wait(0.02)
    assert (bench.status, bench.gate.reason.cause) == (
        GateStatus.STOPPED,
        'implausible_joint_states',
    )
    assert bench.gate.reason.joint == 'shoulder_lift'
    assert all(output.positions == pytest.approx(HOME) for _, output in bench.sent)


LIES = {
    'a jump': ({'joints': HOME + [1.5, 0, 0, 0, 0, 0]}, 'implausible_joint_states'),
    'no number': ({'joints': HOME * math.nan}, 'implausible_joint_states'),
    'two publishers': ({'joints': HOME, 'publisher': 'another'}, 'second_publisher'),
}


@pytest.mark.parametrize('lie', LIES)
@pytest.mark.parametrize('state', ['PASSING', 'HOLDING', 'STOPPED', 'TAKEOVER'])
def test_measurements_that_cannot_be_true_stop_the_arm_and_move_nothing(lie, state):
    bench = Bench(stop_timeout=0.0)
    bench.command(HOME)
    if state == 'STOPPED':
        bench.gate.stop(Reason('operator'), bench.moment)
    elif state == 'TAKEOVER':
        bench.gate.set_takeover(True, bench.moment)
    bench.wait(0.5 if state == 'HOLDING' else 0.05)
    assert bench.status.name == state
    what, cause = LIES[lie]
    assert bench.measure(**what) != ''
    bench.keep(bench.gate.tick(bench.moment))
    assert bench.status == GateStatus.STOPPED
    assert bench.gate.reason.cause == ('operator' if state == 'STOPPED' else cause)
    is_released, text = bench.gate.reset(bench.moment)
    assert not is_released and cause in text
    bench.wait(1.0)
    assert all(output.positions == pytest.approx(HOME) for _, output in bench.sent)
    assert bench.gate.reset(bench.moment)[0]


def test_measurements_that_cannot_be_true_stop_no_arm_that_is_not_commanded():
    bench = Bench()
    assert bench.measure(HOME + [1.5, 0, 0, 0, 0, 0]) != ''
    bench.wait(1.0)
    assert bench.status == GateStatus.IDLE and bench.interventions == []
    bench.joints += [1.5, 0, 0, 0, 0, 0]  # moved by hand, or the simulator was reset
    bench.wait(1.0)
    assert bench.gate.measured == pytest.approx(bench.joints)


def test_two_publishers_may_measure_different_joints():
    bench = Bench()
    bench.measures = False
    for _ in range(110):  # until the first publisher is forgotten, and that it was another
        bench.measure(HOME[:5], 'arm', NAMES[:5])
        bench.measure(HOME[5:], 'gripper', NAMES[5:])
        bench.wait(0.01)
    bench.command(HOME)
    assert bench.status == GateStatus.PASSING


def test_another_publisher_may_follow_one_that_is_silent():
    bench = Bench()
    bench.wait(0.1)
    bench.measures = False
    bench.wait(0.6)
    assert bench.measure(HOME, 'another') == ''


def test_commands_of_a_second_publisher_are_refused_and_move_nothing():
    bench = Bench()
    place = bench.drive(10, speed=0.0)
    for _ in range(10):
        bench.command(place)
        assert bench.command(place + 0.1, publisher='another') is None
        bench.wait(PERIOD / SECOND)
    assert bench.joints == pytest.approx(place) and bench.status == GateStatus.PASSING
    assert bench.said == [(Act.REFUSED, 'second_publisher', False)]
    bench.wait(1.0)
    assert not bench.command(place, publisher='another').is_hold


def test_a_reset_is_refused_while_its_cause_persists():
    bench = Bench(heartbeat_timeout=0.3)
    bench.beats = Heartbeat(is_acting=True)
    bench.drive(5)
    bench.beats = None
    bench.wait(1.0)
    assert bench.status == GateStatus.STOPPED
    is_released, text = bench.gate.reset(bench.moment)
    assert not is_released and 'heartbeat' in text
    bench.beats = Heartbeat(is_acting=False)
    bench.wait(0.1)
    bench.command(bench.joints + [1.0, 0, 0, 0, 0, 0])
    is_released, text = bench.gate.reset(bench.moment)
    assert not is_released and 'step_limit' in text
    bench.wait(0.1)
    bench.command(bench.joints)
    assert bench.gate.reset(bench.moment)[0]
    assert bench.gate.reset(bench.moment) == (False, 'the gate is not stopped, it is idle')


def test_a_reset_is_refused_without_joint_states():
    bench = Bench()
    bench.drive(3)
    bench.gate.stop(Reason('operator'), bench.moment)
    bench.measures = False
    bench.wait(1.0)
    assert not bench.gate.reset(bench.moment)[0]


def test_a_stop_of_the_episode_stops_but_not_one_from_before():
    bench = Bench()
    bench.drive(3)
    assert bench.gate.on_episode_stop('e0', True, 'long ago', bench.moment) is None
    assert bench.status == GateStatus.PASSING
    assert bench.gate.on_episode_stop('e0', False, 'now', bench.moment).is_hold
    assert (bench.status, bench.gate.reason.cause) == (GateStatus.STOPPED, 'episode_stop')


def test_a_gate_that_starts_in_a_stopped_episode_is_stopped():
    bench = Bench()
    old = bench.moment.clock - SECOND
    bench.gate.on_boundary(START, 'e1', old)
    bench.gate.on_episode_stop('e1', True, 'hand in the cage', bench.moment)
    assert bench.status == GateStatus.STOPPED


def test_the_first_of_each_kind_marks_the_episode():
    bench = Bench()
    for episode in ('e1', 'e2'):
        bench.gate.on_boundary(START, episode, bench.moment.clock)
        bench.wait(0.0)
        for _ in range(3):
            bench.command([math.nan] * 6)
            bench.wait(0.5)
    assert [(m.act, m.episode_id) for m in bench.marks] == [
        (Act.REFUSED, 'e1'),
        (Act.REFUSED, 'e2'),
    ]
    assert len(bench.interventions) == 12


# A person takes over.


def test_a_takeover_lets_the_person_drive_and_not_the_policy():
    bench = Bench()
    place = bench.drive(10)
    bench.keep(bench.gate.set_takeover(True, bench.moment))
    assert bench.status == GateStatus.TAKEOVER
    assert bench.command(place, source=POLICY) is None
    assert not bench.command(bench.joints, source=TELEOPERATOR, age=-1e-3).is_hold
    bench.drive(10, source=TELEOPERATOR)
    bench.wait(1.0)  # the person pauses: the arm is held, nothing is latched
    assert bench.status == GateStatus.TAKEOVER and bench.sent[-1][1].is_hold
    bench.gate.set_takeover(False, bench.moment)
    assert bench.status == GateStatus.HOLDING
    assert bench.command(bench.joints + [0.5, 0, 0, 0, 0, 0]) is None  # the policy is elsewhere
    bench.wait(0.01)
    assert not bench.command(bench.joints).is_hold
    assert bench.status == GateStatus.PASSING
    assert bench.announced == [('takeover_start', 'operator'), ('takeover_end', 'operator')]
    assert (Act.TAKEOVER, 'operator', True) in bench.said


def test_a_takeover_does_not_lift_a_stop():
    bench = Bench()
    bench.drive(5)
    bench.gate.stop(Reason('operator'), bench.moment)
    bench.gate.set_takeover(True, bench.moment)
    assert bench.command(bench.joints, source=TELEOPERATOR, age=-1e-3) is None
    assert bench.gate.reset(bench.moment)[0]
    assert bench.status == GateStatus.TAKEOVER
    assert not bench.command(bench.joints, source=TELEOPERATOR, age=-2e-3).is_hold


def test_teleoperation_is_limited_too():
    bench = Bench()
    bench.gate.set_takeover(True, bench.moment)
    bench.command(HOME, source=TELEOPERATOR)
    bench.wait(PERIOD / SECOND)
    output = bench.command(HOME + [0.3, 0, 0, 0, 0, 0], source=TELEOPERATOR)
    assert output.positions[0] < 0.1


def test_the_last_command_at_the_end_holds_the_arm():
    bench = Bench()
    assert bench.gate.deactivate(bench.moment) is None
    place = bench.drive(5, speed=0.2)
    output = bench.gate.deactivate(bench.moment)
    assert output.is_hold and output.positions == pytest.approx(place, abs=0.01)


# Whatever comes in.

events = st.one_of(
    st.tuples(st.just('command'), st.lists(st.floats(-4, 4), min_size=6, max_size=6)),
    st.tuples(st.just('near'), st.lists(st.floats(-0.1, 0.1), min_size=6, max_size=6)),
    st.tuples(st.just('nan'), st.just(None)),
    st.tuples(st.just('stop'), st.just(None)),
    st.tuples(st.just('reset'), st.just(None)),
    st.tuples(st.just('takeover'), st.booleans()),
    st.tuples(st.just('wait'), st.floats(0.0, 1.0)),
    st.tuples(st.just('measures'), st.booleans()),
    st.tuples(st.just('pushed'), st.floats(-0.5, 0.5)),
)


@given(st.lists(events, max_size=40), st.sampled_from(['damped', 'hold']))
@settings(max_examples=30, deadline=None)
def test_whatever_happens_what_is_sent_is_finite_and_inside(happenings, behaviour):
    bench, source = Bench(stop_behaviour=behaviour), POLICY
    for kind, value in happenings:
        was_stopped, before = bench.status == GateStatus.STOPPED, len(bench.sent)
        if kind in ('command', 'near'):
            base = HOME if kind == 'command' else bench.joints
            bench.command(np.array(value) + (base if kind == 'near' else 0.0), source)
        elif kind == 'nan':
            bench.command([math.nan] * 6, source)
        elif kind == 'stop':
            bench.keep(bench.gate.stop(Reason('operator'), bench.moment))
        elif kind == 'reset':
            bench.gate.reset(bench.moment)
        elif kind == 'takeover':
            source = TELEOPERATOR if value else POLICY
            bench.keep(bench.gate.set_takeover(value, bench.moment))
        elif kind == 'measures':
            bench.measures = value
        elif kind == 'pushed':
            bench.joints[0] = np.clip(bench.joints[0] + value, LIMITS.lower[0], LIMITS.upper[0])
        bench.wait(value if kind == 'wait' else PERIOD / SECOND, step=0.02)
        if was_stopped and kind != 'reset':
            assert all(output.is_hold for _, output in bench.sent[before:])
    for _, output in bench.sent:
        i = [NAMES.index(name) for name in output.names]
        assert np.isfinite(output.positions).all()
        assert (output.positions >= LIMITS.lower[i]).all()
        assert (output.positions <= LIMITS.upper[i]).all()
    counts = bench.gate.counts
    assert counts.received == counts.passed + counts.limited + counts.refused


@pytest.mark.parametrize(
    'options',
    [
        {'on_velocity_limit': 'ignore'},
        {'on_bad_command': 'clamp'},
        {'stop_behaviour': 'off'},
        {'rate': 0.0},
        {'heartbeat_timeout': 0.0},
        {'on_heartbeat': 'clamp'},
    ],
)
def test_settings_that_make_no_sense_are_refused(options):
    with pytest.raises(ValueRangeError):
        rules(**options)


def test_every_cause_is_in_the_message_and_the_documentation():
    root = Path(__file__).parents[2]
    message = (root / 'msg' / 'GateIntervention.msg').read_text()
    page = (root / 'docs' / 'command-gate.md').read_text()
    for cause in Cause:
        assert re.search(rf'\b{cause}\b', message), cause
        assert f'`{cause}`' in page, cause
        assert cause.meaning and str(cause) == cause.value


def test_who_is_only_refused_shuts_out_nobody():
    bench = Bench()
    far = HOME + np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    for k in range(30):
        if k % 3 == 0:
            assert bench.command(far, publisher='intruder') is None
        assert bench.command(HOME, age=0.005) is not None
        bench.wait(PERIOD / SECOND)
    causes = {i.reason.cause for i in bench.interventions}
    assert causes == {Cause.STEP_LIMIT, Cause.SECOND_PUBLISHER}


def test_an_arm_may_lag_as_far_as_at_the_start_whatever_the_limits_were_lowered_to_before():
    bench = Bench(follows=False, limits=replace(LIMITS, step=LIMITS.step / 10.0))
    bench.limiter.limit_to(LIMITS)
    bench.command(HOME)
    bench.joints[0] += 0.2
    bench.wait(0.5)
    assert bench.measure(bench.joints) == '' and bench.status != GateStatus.STOPPED
