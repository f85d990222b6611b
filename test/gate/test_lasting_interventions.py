# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Log of what a gate refuses or holds for long."""

from dataclasses import replace

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
