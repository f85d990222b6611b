# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Modules that the contact node loads: it runs all the time, next to a policy."""

import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE

pytest.importorskip('rclpy')

ROOT = Path(__file__).resolve().parents[3]
# One whole node with all sources, of a fresh process.
SCRIPT = """
import sys
import rclpy
from frame_ros.nodes.contact.node import ContactNode
parameters = ('robot:=fr3', 'sources:=[wrench,joint_effort,robot]', 'joints.motors_file:=simulated')
rclpy.init(args=['--ros-args', *(word for each in parameters for word in ('-p', each))])
node = ContactNode()
node.poll()
node.destroy_node()
rclpy.shutdown()
print(sorted({name.split('.')[0] for name in sys.modules} & {'scipy', 'numba', 'pandas'}))
"""


def test_the_contact_node_runs_without_scipy():
    done = subprocess.run(
        [sys.executable, '-c', SCRIPT], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == '[]'
