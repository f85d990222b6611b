# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Velocities and log of the loop of a Franka arm's driver, on an arm that only notes them."""

import time
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy')

from rclpy.logging import get_logger

from frame_ros.nodes.robot_driver.fci_commands import FciCommand
from frame_ros.nodes.robot_driver.fci_loop import FciLoop
from frame_ros.nodes.robot_driver.options import RobotDriverOptions
from frame_ros.robots import load_robot

FR3 = load_robot('fr3')
HOME = np.array((0.0, 0.0, 0.0, -1.57, 0.0, 1.57, 0.785))
REST = np.zeros(7)


class Arm:
    """Takes its velocities as they are sent."""

    largest_rates, accelerations = np.full(7, 0.6), np.full(7, 3.0)
    ends = np.array([FR3.joint_limits[name] for name in FR3.joint_names]).T

    def __init__(self):
        self.sent = []

    def bounded(self, rates, reading):
        return rates

    def follow_velocities(self, rates, duration):
        self.sent.append(rates)

    def begin_stop(self):
        pass


@pytest.fixture
def loop():
    warnings, infos, errors = [], [], []
    settings = RobotDriverOptions()
    log = SimpleNamespace(warning=warnings.append, info=infos.append, error=errors.append)
    found = FciLoop(Arm(), FR3, settings, None, None, None, None, log)
    found.warnings, found.infos, found.errors = warnings, infos, errors
    return found


def reading(count, velocities):
    return SimpleNamespace(count=count, positions=HOME, commanded_velocities=velocities)


def test_commanded_velocities_are_judged_once_a_turn(loop, monkeypatch):
    """Those of a new command, and those that the arm gets nearer to on its way."""
    judged = []

    def halved(rates, positions, velocities, *limits):
        judged.append(velocities[0])
        return 0.5 * (rates + velocities), ''

    monkeypatch.setattr(loop._guard, 'bounded', halved)
    command = FciCommand(np.full(7, 0.2), 0.0, time.monotonic(), True)
    loop._follow(command, reading(0, REST))
    loop._steer(reading(0, REST))
    assert len(judged) == len(loop._arm.sent) == 1
    loop._steer(reading(4, np.full(7, 0.1)))
    loop._steer(reading(8, np.full(7, 0.1)))
    assert len(judged) == 3 and len(loop._arm.sent) == 2
    assert loop._arm.sent[1] == pytest.approx(np.full(7, 0.15))


def test_silence_is_a_warning_only_where_it_stops_the_arm(loop, capfd):
    """Between two episodes nothing is commanded, and nothing is wrong. A logger of ROS refuses a
    line of code that logs a warning after it had logged information.
    """
    loop._log = get_logger('loop')
    began = time.monotonic() - 2.0
    for moves in (False, True, False):
        loop._last_command = began
        loop._watch(reading(0, np.full(7, 0.1 * moves)))
    assert loop.counts.holds == 3
    lines = capfd.readouterr().err.splitlines()
    assert [line.split()[0] for line in lines] == ['[INFO]', '[WARN]', '[INFO]']
    rests, stops, _ = lines
    assert rests.endswith(': the arm stays where it is') and stops.endswith(': the arm stops')


def test_links_that_nothing_keeps_apart_are_logged_at_the_start(loop):
    loop._thread = SimpleNamespace(start=lambda: None)
    loop.start()
    assert loop.warnings == []
    loop._guard.unchecked = ('fr3_link3', 'fr3_hand')
    loop.start()
    assert len(loop.warnings) == 1 and 'fr3_link3, fr3_hand' in loop.warnings[0]


def test_a_hold_is_logged_once_and_again_after_a_stop(loop, monkeypatch):
    near = ['fr3_link0 and fr3_hand']
    monkeypatch.setattr(loop._guard, 'bounded', lambda rates, *_: (0.0 * rates, near[0]))
    command = FciCommand(np.full(7, 0.2), 0.0, time.monotonic(), True)
    for near[0] in ('fr3_link0 and fr3_hand', '') * 3:
        loop._follow(command, reading(0, REST))
    near[0] = 'fr3_link0 and fr3_hand'
    loop._follow(command, reading(0, REST))
    assert len(loop.warnings) == 1 and near[0] in loop.warnings[0]
    loop._last_command -= 1.0
    loop._watch(reading(0, np.full(7, 0.1)))
    loop._follow(command, reading(0, REST))
    assert [near[0] in text for text in loop.warnings] == [True, False, True]
