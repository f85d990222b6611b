# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Holds of an arm whose driver begins to count the turns of a joint elsewhere."""

import numpy as np
import pytest
from gate_and_arm import NAMES, PERIOD
from test_endless_joints import ROLL, TURN, TurningBench, counted, from_minus_pi

from frame_ros.core.time import SECOND
from frame_ros.gate.causes import Cause
from frame_ros.gate.records import GateStatus, Reason

ROLLING = NAMES[ROLL]


def silence(bench, seconds):
    """The driver is gone while the policy goes on; returns what was sent meanwhile."""
    bench.measures, place, before = False, bench.joints.copy(), len(bench.sent)
    for _ in range(round(seconds * SECOND / PERIOD)):
        bench.command(bench.at(bench.asks(place[ROLL])))
        bench.wait(PERIOD / SECOND)
    bench.measures = True
    return [output for _, output in bench.sent[before:]]


def returns(bench, lost):
    """The driver is back, and counts whole turns fewer or more; it does nothing by itself."""
    bench.joints[ROLL] += lost * TURN
    bench.follows = False
    return len(bench.sent)


@pytest.mark.parametrize('stopped', [False, True])
@pytest.mark.parametrize('lost', [-3, -2, -1, 1])
def test_a_hold_sends_no_joint_over_turns_that_its_driver_lost(lost, stopped):
    bench = TurningBench(counted, counted, begin=3.0)
    bench.turn(2.2 * TURN)
    if stopped:
        bench.gate.stop(Reason(Cause.OPERATOR, 'by hand'), bench.moment)
    silence(bench, 1.0)
    before = returns(bench, lost)
    bench.wait(4.0)
    held = [output.names for _, output in bench.sent[before:]]
    assert held and not [names for names in held if ROLLING in names]
    assert bench.status == GateStatus.STOPPED
    if not stopped:
        assert bench.gate.reason.cause == Cause.IMPLAUSIBLE_JOINT_STATES
        assert 'turn' in bench.gate.reason.text
    assert bench.gate.reset(bench.moment)[0]
    bench.follows, place, count = True, bench.joints[ROLL], len(bench.sent)
    bench.turn(0.3)
    sent = [output.positions[ROLL] for _, output in bench.sent[count:]]
    assert min(sent) > place - 0.01 and max(sent) == pytest.approx(place + 0.3, abs=0.02)


def test_a_turn_that_is_lost_without_a_silence_is_sent_neither_by_a_command_nor_by_a_hold():
    bench = TurningBench(counted, counted, begin=3.0)
    bench.turn(1.2 * TURN)
    place = bench.joints.copy()
    before = returns(bench, -1)
    assert bench.measure(bench.joints)
    bench.command(place)
    bench.wait(1.0)
    assert bench.status == GateStatus.STOPPED
    assert not [output for _, output in bench.sent[before:] if ROLLING in output.names]


def test_a_joint_at_rest_is_not_held_while_nobody_knows_how_its_driver_counts():
    """A driver that begins again may get the command before its first state is heard."""
    bench = TurningBench(counted, counted, begin=3.0)
    bench.turn(1.0)
    last = bench.joints[ROLL]
    sent = silence(bench, 1.5)
    assert bench.status == GateStatus.HOLDING
    held = [ROLLING in output.names for output in sent]
    assert any(held) and not any(held[-20:])
    bench.wait(0.5)  # its count is the same
    assert bench.sent[-1][1].positions[ROLL] == pytest.approx(last)
    bench.turn(0.5)


def test_after_a_single_false_measurement_the_joint_is_held_again():
    bench = TurningBench(counted, counted, begin=3.0)
    bench.turn(1.2 * TURN)
    last = bench.joints[ROLL]
    before = len(bench.sent)
    bench.measure(bench.joints + TURN * (np.arange(6) == ROLL))
    bench.keep(bench.gate.tick(bench.moment))
    assert bench.status == GateStatus.STOPPED
    bench.wait(1.0)
    sent = [output for _, output in bench.sent[before:]]
    assert ROLLING not in sent[0].names and ROLLING in sent[-1].names
    places = [output.positions[ROLL] for output in sent if ROLLING in output.names]
    assert places == pytest.approx([last] * len(places), abs=0.2)


def test_a_driver_that_does_not_count_is_held_beyond_its_turn():
    bench = TurningBench(from_minus_pi, from_minus_pi, begin=3.0)
    last = bench.turn(2.0 * TURN)[-1]
    bench.gate.stop(Reason(Cause.OPERATOR, 'by hand'), bench.moment)
    bench.wait(1.0)
    assert bench.sent[-1][1].positions[ROLL] == pytest.approx(last, abs=0.2)
