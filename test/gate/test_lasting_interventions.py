# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Log of what a gate refuses or holds for long."""

from dataclasses import replace

import pytest

from frame_ros.gate.lasting_interventions import LASTING, LastingInterventions
from frame_ros.gate.records import Act, Intervention, Reason

FAR = Reason('step_limit', 'the first command is 1.6 rad from the measured shoulder_lift')


def test_what_is_over_soon_is_not_named_and_what_lasts_is():
    lasting = LastingInterventions()
    first = Intervention(Act.REFUSED, FAR, 0, 'e1', 0)
    lasting.take(first, 10.0)
    assert list(lasting.texts(10.0 + 0.9 * LASTING)) == []
    assert list(lasting.texts(10.0 + LASTING)) == [f'refuses the commands: step_limit: {FAR.text}']
    lasting.take(replace(first, count=40, is_over=True), 12.0)
    assert list(lasting.texts(20.0)) == []


def test_limited_commands_and_stops_are_not_named():
    lasting = LastingInterventions()
    for act in (Act.LIMITED, Act.STOPPED, Act.RESET, Act.TAKEOVER):
        lasting.take(Intervention(act, FAR, 0, 'e1', 0), 10.0)
    lasting.take(Intervention(Act.HELD, replace(FAR, cause='stale_command'), 0, 'e1', 0), 10.0)
    (text,) = lasting.texts(20.0)
    assert text.startswith('holds the arm: stale_command: ')


def slow_refusals(lasting: LastingInterventions, period: float, count: int, passed=lambda n: 0):
    """Commands of a slow policy, each refused, and each a run of its own; returns when and what was
    named, looked at ten times a second.
    """
    first, named = Intervention(Act.REFUSED, FAR, 0, 'e1', 0), []
    for number in range(count):
        begin = 10.0 + number * period
        lasting.take(first, begin)
        lasting.note_passed(passed(number))
        for look in range(1, round(period / 0.1)):
            now = begin + 0.1 * look
            if look == 4:
                lasting.take(replace(first, is_over=True), now)
            named += [(now - 10.0, text) for text in lasting.texts(now)]
    return named


@pytest.mark.parametrize(('period', 'within'), [(0.5, 1.5), (1.0, 1.5), (5.0, 5.5)])
def test_a_slow_policy_whose_every_command_is_refused_is_named(period, within):
    named = slow_refusals(LastingInterventions(), period, 4)
    assert named and named[0][0] < within
    assert named[0][1] == f'refuses the commands: step_limit: {FAR.text}'


def test_refusals_between_which_commands_pass_are_not_named():
    assert slow_refusals(LastingInterventions(), 0.5, 20, passed=lambda n: n) == []
    # One now and then is none that lasts, and neither is one in each of two episodes.
    assert slow_refusals(LastingInterventions(), 12.0, 3) == []
    lasting = LastingInterventions()
    for episode in ('e1', 'e2'):
        first = Intervention(Act.REFUSED, FAR, 0, episode, 0)
        now = 10.0 if episode == 'e1' else 15.0
        lasting.take(first, now)
        lasting.take(replace(first, is_over=True), now + 0.3)
        assert list(lasting.texts(now + 0.4)) == []
