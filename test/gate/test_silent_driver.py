# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Holds of an arm whose driver was silent, and may have been started again with it elsewhere."""

import math
from dataclasses import replace

import numpy as np
import pytest
from gate_and_arm import HOME, LIMITS, NAMES, PERIOD, Bench

from frame_ros.core.errors import RobotError
from frame_ros.core.time import SECOND
from frame_ros.gate.causes import Cause
from frame_ros.gate.full_command import FullCommand
from frame_ros.gate.records import GateStatus, Reason
from frame_ros.gate.stream import NEAR

LIFT, ARM = 1, NAMES[:5]
LIFTING = NAMES[LIFT]
SLOW = replace(LIMITS, acceleration=np.full(6, 1.0))


def silence(bench, seconds, fell=0.0):
    """The driver is gone, and comes back with the arm elsewhere; it does nothing by itself."""
    bench.measures = False
    bench.wait(seconds)
    bench.joints[LIFT] += fell
    bench.follows, bench.measures = False, True


def sent_since(bench, count, name=LIFTING):
    """(...,) rad where a joint was sent."""
    outputs = (output for _, output in bench.sent[count:])
    return [o.positions[o.names.index(name)] for o in outputs if name in o.names]


@pytest.mark.parametrize('options', [{}, {'stream': False}, {'stop_behaviour': 'hold'}])
@pytest.mark.parametrize('stopped', [False, True])
@pytest.mark.parametrize('fell', [0.15, 0.3, 0.8, -0.2])
@pytest.mark.parametrize('seconds', [0.55, 1.0, 5.0])
def test_a_joint_that_fell_while_its_driver_was_silent_is_not_drawn_back(
    seconds, fell, stopped, options
):
    bench = Bench(**options)
    bench.drive(20)
    if stopped:
        bench.gate.stop(Reason(Cause.OPERATOR, 'by hand'), bench.moment)
    silence(bench, seconds, fell)
    before = len(bench.sent)
    bench.wait(3.0)
    assert not [p for p in sent_since(bench, before) if abs(p - bench.joints[LIFT]) > NEAR]
    assert set(sent_since(bench, before, 'gripper')) <= {HOME[5]}  # it keeps its grip
    if bench.status != GateStatus.STOPPED:
        bench.gate.stop(Reason(Cause.OPERATOR, 'by hand'), bench.moment)
        bench.wait(1.0)
    assert bench.gate.reset(bench.moment)[0]
    bench.follows, place, before = True, bench.joints[LIFT], len(bench.sent)
    bench.drive(10)
    assert bench.status == GateStatus.PASSING
    sent = sent_since(bench, before)
    assert sent and sent == pytest.approx([place] * len(sent), abs=1e-6)


def test_a_joint_that_fell_a_little_goes_on_from_where_it_is_once_it_is_still():
    """Without a stop: a command leads it, also right after the hold."""
    bench = Bench(stop_timeout=0.0)
    bench.drive(20)
    silence(bench, 0.55, 0.3)
    place, before = bench.joints.copy(), len(bench.sent)
    bench.wait(0.05)
    bench.command(place)
    assert not sent_since(bench, before) and bench.status == GateStatus.HOLDING
    bench.wait(0.5)
    bench.command(place)
    assert bench.status == GateStatus.PASSING
    assert sent_since(bench, before)[-1] == pytest.approx(place[LIFT], abs=0.05)


def test_a_joint_that_is_moved_past_where_it_was_sent_is_not_caught_there():
    bench = Bench()
    bench.drive(20)
    last = bench.joints[LIFT]
    silence(bench, 1.0, -0.4)
    before = len(bench.sent)
    while bench.joints[LIFT] < last + 0.4:
        bench.wait(0.02)
        bench.joints[LIFT] += 0.02
    assert not sent_since(bench, before)


@pytest.mark.parametrize('fell', [0.0, 0.09, -0.05])
@pytest.mark.parametrize('seconds', [0.55, 1.0, 5.0])
def test_an_arm_that_stayed_is_left_alone_in_the_silence_and_held_again_after_it(seconds, fell):
    bench = Bench()
    bench.drive(20)
    place = bench.joints.copy()
    bench.measures = False
    bench.wait(0.7)
    before = len(bench.sent)
    silence(bench, seconds)
    assert not sent_since(bench, before)
    assert seconds < 1.0 or sent_since(bench, before, 'gripper')
    bench.joints[LIFT] += fell
    bench.wait(1.0)
    assert bench.sent[-1][1].names == NAMES
    assert bench.sent[-1][1].positions == pytest.approx(place)
    bench.joints[LIFT] += 0.4  # and against who pushes it now, as before
    before = len(bench.sent)
    bench.wait(1.0)
    sent = sent_since(bench, before)
    assert len(sent) > 40 and sent == pytest.approx([place[LIFT]] * len(sent))


@pytest.mark.parametrize('push', [0.3, 0.8])
@pytest.mark.parametrize('seconds', [0.0, 0.3])
def test_a_push_without_a_silence_is_resisted(seconds, push):
    bench = Bench()
    bench.drive(20)
    bench.wait(0.5)
    place = bench.joints[LIFT]
    silence(bench, seconds, push)
    before = len(bench.sent)
    bench.wait(2.0)
    sent = sent_since(bench, before)
    assert len(sent) > 90 and sent == pytest.approx([place] * len(sent))


@pytest.mark.parametrize('options', [{}, {'stop_behaviour': 'hold'}])
def test_an_arm_whose_driver_falls_silent_brakes_before_it_is_left_alone(options):
    bench = Bench(limits=SLOW, started=SLOW, **options)
    place = bench.joints.copy()
    for k in range(40):
        place[0] += 1.0 * PERIOD / SECOND * min(1.0, (k + 1) / 40)
        bench.command(place)
        bench.wait(PERIOD / SECOND)
    bench.measures, before = False, len(bench.sent)
    while bench.status == GateStatus.PASSING:  # it is fast as the silence is noticed
        place[0] += PERIOD / SECOND
        bench.command(place)
        bench.wait(PERIOD / SECOND)
    assert bench.gate.reason.cause == Cause.STALE_JOINT_STATES
    bench.wait(3.0)
    own = [output for _, output in bench.sent[before:] if output.is_hold]
    speeds = [output.velocities[0] for output in own if ARM[0] in output.names]
    assert speeds[0] > 0.7 and abs(speeds[-1]) < 0.05
    assert np.diff(speeds).min() > -0.04 and np.diff(speeds).max() < 1e-9
    assert own[-1].names == ('gripper',)


def test_states_with_the_stamp_of_before_are_a_silence():
    """As of a driver that repeats what it read last, its robot without power."""
    bench = Bench(joint_states_timeout=1.0)
    bench.drive(20)
    stamp, place = bench.moment.clock, bench.joints.copy()
    bench.measures = bench.follows = False
    for _ in range(300):
        bench.wait(0.01)
        bench.gate.on_joint_states(NAMES, place, stamp, bench.moment, 'driver')
    before = len(bench.sent)
    bench.joints[LIFT] += 0.8
    bench.measures = True
    bench.wait(1.0)
    assert not sent_since(bench, before)


def test_a_joint_that_no_command_names_is_not_drawn_back_by_its_controller():
    bench, full, places = Bench(), FullCommand(NAMES, ARM, 0.1), []
    others = [k for k in range(6) if k != LIFT]
    names = [NAMES[k] for k in others]

    def drive(count):
        """Commands to the others; what the controller gets for the joint, NaN: nothing."""
        for _ in range(count):
            begin = len(bench.sent)
            bench.command(bench.joints[others], names=names)
            bench.wait(PERIOD / SECOND)
            places.extend(completed(at, output) for at, output in bench.sent[begin:])

    def completed(at, output):
        measured, known, time = bench.gate.measured, output.known, at / SECOND
        try:
            return full.complete(output.names, output.positions, measured, time, known)[LIFTING]
        except RobotError as error:
            assert 'may be elsewhere than it was sent' in str(error)
            return math.nan

    drive(10)
    assert set(places) == {HOME[LIFT]}
    bench.measures = False
    drive(30)
    assert math.isnan(places[-1])
    bench.joints[LIFT] += 0.3
    bench.measures, before = True, len(places)
    drive(40)
    assert bench.status == GateStatus.PASSING
    sent = [place for place in places[before:] if not math.isnan(place)]
    assert sent and sent == pytest.approx([bench.joints[LIFT]] * len(sent))
