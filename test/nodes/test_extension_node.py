# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The node of docs/extend/node.md, put into a copy of the package and started."""

import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from extended_package import code_of
from markdown_blocks import ROOT

rclpy = pytest.importorskip('rclpy')


@pytest.mark.parametrize('height, is_low', [('0.05', False), ('0.5', True)])
def test_a_node_is_a_folder(tmp_path: Path, ros_context: Any, height: str, is_low: bool):
    for folder in ('frame_ros', 'config', 'urdf'):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=lambda *_: ['__pycache__'])
    folder = tmp_path / 'frame_ros' / 'nodes' / 'low_tip'
    folder.mkdir()
    (folder / '__init__.py').write_text('"""Low tip."""\n')
    names = ('options', 'topics', 'node', '__main__')
    for name, text in zip(names, code_of('node'), strict=True):
        (folder / f'{name}.py').write_text(text, encoding='utf-8')
    (commands,) = code_of('node', 'shell')
    write, run = (line.replace('python', sys.executable, 1) for line in commands.splitlines())
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get('PYTHONPATH')])])
    options = {'cwd': tmp_path, 'env': {**os.environ, 'PYTHONPATH': path}}
    subprocess.run(shlex.split(write), check=True, **options)
    parameters = tmp_path / 'config' / 'low_tip.yaml'
    assert 'height: 0.05' in parameters.read_text()
    process = subprocess.Popen([*shlex.split(run), '-p', f'height:={height}'], **options)
    try:
        assert heard(ros_context, process).data is is_low
    finally:
        process.terminate()
        assert process.wait(60) == 0


def heard(ros_context: Any, process: subprocess.Popen) -> Any:
    """The first message on low_tip, of a tip at 0.2 m."""
    from geometry_msgs.msg import PoseStamped
    from rclpy.executors import SingleThreadedExecutor
    from std_msgs.msg import Bool

    node, messages = ros_context.create_node('peer'), []
    publisher = node.create_publisher(PoseStamped, 'ee_pose', 50)
    node.create_subscription(Bool, 'low_tip', messages.append, 50)
    pose = PoseStamped()
    pose.pose.position.z = 0.2
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    end = time.monotonic() + 60.0
    while not messages and process.poll() is None and time.monotonic() < end:
        publisher.publish(pose)
        executor.spin_once(timeout_sec=0.05)
    assert messages, 'nothing came on low_tip'
    return messages[0]
