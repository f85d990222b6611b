# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Every node as `ros2 run frame_ros <node>` starts it, without a parameter: it works, or waits and
says for what.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

rclpy = pytest.importorskip('rclpy')

PACKAGE = Path(__file__).resolve().parents[3] / 'frame_ros'
NODES = sorted(path.parent.name for path in PACKAGE.glob('nodes/*/__main__.py'))
WITH_LEROBOT = ('robot_driver', 'teleoperator')
DEADLINE = 120.0  # s, for what must come at all: LeRobot's first import takes long


@pytest.fixture()
def probe(ros_domain):
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node('probe', context=context)
    yield node
    node.destroy_node()
    rclpy.try_shutdown(context=context)


@pytest.mark.parametrize('name', NODES)
def test_a_node_without_parameters_runs_and_ends_cleanly(probe, name, tmp_path):
    if name in WITH_LEROBOT:
        pytest.importorskip('lerobot')
        pytest.importorskip('scservo_sdk')
    log = tmp_path / 'log'
    with log.open('w') as file:
        process = subprocess.Popen(
            [sys.executable, '-m', f'frame_ros.nodes.{name}'],
            cwd=tmp_path,
            stdout=file,
            stderr=subprocess.STDOUT,
            env={**os.environ, 'PYTHONUNBUFFERED': '1'},
        )
        try:
            is_there = wait_for(lambda: name in probe.get_node_names(), process)
            if name in WITH_LEROBOT:  # they wait unconfigured, and say for what
                wait_for(lambda: 'needs its port' in log.read_text(), process)
                wait_for(lambda: 'waits unconfigured' in log.read_text(), process)
            assert is_there, log.read_text()
            process.send_signal(signal.SIGINT)
            assert process.wait(DEADLINE) == 0, log.read_text()
        finally:
            process.kill()
            process.wait()
    assert 'Traceback' not in log.read_text() and 'FATAL' not in log.read_text()


def wait_for(condition, process):
    """Whether it came true while the process ran."""
    end = time.monotonic() + DEADLINE
    while not condition() and process.poll() is None:
        assert time.monotonic() < end, 'it did not happen'
        time.sleep(0.05)
    return process.poll() is None
