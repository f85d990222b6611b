# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of a driver's own that come again with each attempt: it goes on, and its log is short."""

import pytest

pytest.importorskip('rclpy')

from robot_driver_bench import running_bench
from test_fci_loop import loop  # noqa: F401 (a fixture)

from frame_ros.core.options import from_values
from frame_ros.hardware.driver_state import Activity
from frame_ros.nodes.robot_driver.options import RobotDriverOptions

ATTEMPTS = 8


@pytest.fixture
def bench(ros_domain, tmp_path, monkeypatch):
    yield from running_bench(tmp_path, monkeypatch)


@pytest.mark.parametrize('place', ['connect', 'read'])
def test_the_loop_of_a_franka_arm_goes_on_and_logs_an_error_once(loop, monkeypatch, place):  # noqa: F811
    monkeypatch.setattr('frame_ros.nodes.robot_driver.fci_loop.raise_priority', lambda *_, **__: 0)
    loop._settings = from_values(RobotDriverOptions, {'reconnect_period': 0.001})
    loop._poll = lambda: None
    arm, losses = loop._arm, []

    def fail():
        losses.append(loop.counts.losses)
        if len(losses) == ATTEMPTS:
            loop._ending.set()
        raise ZeroDivisionError(f'planted {len(losses)}')

    arm.disconnect = lambda: None
    arm.connect, arm.read = (fail, None) if place == 'connect' else (lambda: None, lambda: 0)
    if place == 'read':  # once it is connected again
        loop._turn = fail
    loop._activity = Activity.LOST
    loop._run()
    assert losses == list(range(ATTEMPTS))
    assert len(loop.errors) == 2 and len(loop.warnings) == 2 * (place == 'read')
    assert 'Traceback' in loop.errors[0] and 'the driver failed: ZeroDiv' in loop.errors[1]


def test_the_driver_of_lerobots_arms_does_so_too(bench, capfd):
    bench.start(reconnect_period=0.01)
    bench.newest()

    def fail(*of_reading):
        raise ZeroDivisionError('planted')

    bench.driver._bus._publish = fail
    bench.until(lambda: bench.counts.losses >= ATTEMPTS)
    text = capfd.readouterr().err
    assert text.count('Traceback') < ATTEMPTS // 2
    assert text.count('the driver failed: ') < ATTEMPTS // 2
    assert text.count('answers again') < ATTEMPTS // 2
