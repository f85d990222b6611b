# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Floods of commands: what is one, when it is over, and how fast it was."""

import pytest

from frame_ros.core.time import SECOND
from frame_ros.gate.command_flow import SPAN, CommandFlow


def run(flow, rate, seconds, at=10 * SECOND):
    """Adds commands at a rate, and returns when the last came and whether it ever was a flood."""
    was_flooded = False
    for _ in range(round(rate * seconds)):
        at += round(SECOND / rate)
        flow.add(1, at)
        was_flooded |= flow.is_flooded(at)
    return at, was_flooded


@pytest.mark.parametrize(('rate', 'is_flood'), [(50, False), (499, False), (1000, True)])
def test_more_than_the_limit_is_a_flood(rate, is_flood):
    assert run(CommandFlow(500.0), rate, 5.0)[1] == is_flood


def test_what_waited_while_the_network_stood_still_is_none():
    flow = CommandFlow(500.0)
    at, _ = run(flow, 50, 1.0)
    flow.add(100, at + 2 * SECOND)
    assert not flow.is_flooded(at + 2 * SECOND)


def test_what_came_while_nobody_looked_is_none():
    flow = CommandFlow(500.0)
    at, _ = run(flow, 50, 1.0)
    flow.add(330, at + 6 * SECOND)
    assert not flow.is_flooded(at + 6 * SECOND)
    flow.add(5000, at + 7 * SECOND)
    assert flow.is_flooded(at + 7 * SECOND)


def test_a_flood_is_over_a_while_after_its_last_command():
    flow = CommandFlow(500.0)
    at, _ = run(flow, 10_000, 0.5)
    assert flow.is_flooded(at + SECOND // 10)
    assert flow.rate(at) == pytest.approx(10_000, rel=0.1)
    assert not flow.is_flooded(at + round(SPAN * SECOND / 2) + SECOND // 50)
    assert not run(flow, 50, 1.0, at + SECOND)[1]


def test_without_a_limit_nothing_is_a_flood():
    assert not run(CommandFlow(0.0), 10_000, 0.2)[1]
