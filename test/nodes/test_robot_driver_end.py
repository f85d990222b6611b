# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The end of a robot driver that is to let its arm go, where the arm is lost."""

import pytest

pytest.importorskip('rclpy')
pytest.importorskip('lerobot')

from robot_driver_bench import call, running_bench


@pytest.fixture
def bench(ros_domain, tmp_path, monkeypatch):
    yield from running_bench(tmp_path, monkeypatch)


def lost_bench(bench):
    """A bench whose arm is to be let go at the end, and was lost."""
    bench.start(torque_on_exit='release', reconnect_period=1000.0)
    bench.newest()
    bench.bus.unplug()
    bench.until(lambda: bench.counts.losses == 1)
    return bench


def test_an_arm_that_is_gone_at_the_end_is_said_to_hold_still(bench, capfd):
    lost_bench(bench).stop_driver()
    assert all(servo.has_torque for servo in bench.arm.servos)
    (line,) = [line for line in capfd.readouterr().err.splitlines() if 'release' in line]
    assert line.startswith('[ERROR]') and 'may still hold' in line and 'power' in line


def test_an_arm_that_was_lost_and_is_there_at_the_end_is_let_go(bench, capfd):
    lost_bench(bench).bus.plug()
    bench.stop_driver()
    assert not any(servo.has_torque for servo in bench.arm.servos)
    text = capfd.readouterr().err
    assert 'was let go' in text and 'may still hold' not in text


def test_a_limp_arm_that_is_gone_at_the_end_is_no_error(bench, capfd):
    bench.start(torque_on_exit='release', reconnect_period=1000.0)
    bench.newest()
    assert call(bench, False).success
    bench.bus.unplug()
    bench.until(lambda: bench.counts.losses == 1)
    bench.stop_driver()
    assert 'may still hold' not in capfd.readouterr().err
