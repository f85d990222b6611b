# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""tf2_msgs where it is not installed: its one message, built for the length of a test run."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = """<?xml version="1.0"?>
<package format="3">
  <name>tf2_msgs</name>
  <version>0.0.1</version>
  <description>The message of tf, for tests.</description>
  <maintainer email="maintainers@frame-ros.example.org">frame_ros maintainers</maintainer>
  <license>Apache-2.0</license>
  <buildtool_depend>ament_cmake</buildtool_depend>
  <buildtool_depend>rosidl_default_generators</buildtool_depend>
  <depend>geometry_msgs</depend>
  <exec_depend>rosidl_default_runtime</exec_depend>
  <member_of_group>rosidl_interface_packages</member_of_group>
  <export><build_type>ament_cmake</build_type></export>
</package>
"""
BUILD = """cmake_minimum_required(VERSION 3.8)
project(tf2_msgs)
find_package(ament_cmake REQUIRED)
find_package(geometry_msgs REQUIRED)
find_package(rosidl_default_generators REQUIRED)
rosidl_generate_interfaces(${PROJECT_NAME} msg/TFMessage.msg DEPENDENCIES geometry_msgs)
ament_package()
"""
FILES = {
    'package.xml': PACKAGE,
    'CMakeLists.txt': BUILD,
    'msg/TFMessage.msg': 'geometry_msgs/TransformStamped[] transforms\n',
}


@pytest.fixture(scope='session')
def tf2_environment(tmp_path_factory) -> dict[str, str] | None:
    """The environment in which tf2_msgs can be imported; None where this one is.

    The package is built with colcon, which takes some 20 s.
    """
    if importlib.util.find_spec('tf2_msgs') is not None:
        return None
    pytest.importorskip('rclpy')
    if shutil.which('colcon') is None:
        pytest.skip('tf2_msgs is not installed, and there is no colcon to build it')
    workspace = tmp_path_factory.mktemp('tf2_msgs')
    for name, text in FILES.items():
        path = workspace / 'src' / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    options = ['-DBUILD_TESTING=OFF', f'-DPython3_EXECUTABLE={sys.executable}']
    run(['colcon', 'build', '--base-paths', 'src', '--cmake-args', *options], workspace)
    script = f'source {workspace}/install/local_setup.bash && env -0'
    entries = run(['bash', '-c', script], workspace).split('\0')
    return dict(entry.split('=', 1) for entry in entries if '=' in entry)


def run(command: list[str], folder: Path) -> str:
    """Runs a command that must succeed, and returns what it printed."""
    done = subprocess.run(command, cwd=folder, env=os.environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout
