# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What all tests share: a ROS domain of their own, on loopback only."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

from frame_ros.nodes.supervisor import free_domain

# The machines that run this may be busy: how long one example takes says nothing.
settings.register_profile('frame_ros', deadline=None)
settings.load_profile('frame_ros')

ROOT = Path(__file__).resolve().parent.parent

# One domain per test run, set before anything imports rclpy; child processes inherit it.
os.environ['ROS_DOMAIN_ID'] = os.environ.get('FRAME_ROS_TEST_DOMAIN') or str(free_domain())
os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
os.environ['FASTRTPS_DEFAULT_PROFILES_FILE'] = str(ROOT / 'config' / 'fastdds_loopback.xml')
os.environ['FASTDDS_DEFAULT_PROFILES_FILE'] = os.environ['FASTRTPS_DEFAULT_PROFILES_FILE']
os.environ.setdefault('OMP_NUM_THREADS', '1')
os.environ.setdefault('MUJOCO_GL', 'egl')


@pytest.fixture(scope='session')
def ros_domain() -> int:
    """The domain of this test run; asking for it skips the test where rclpy is not installed."""
    pytest.importorskip('rclpy')
    return int(os.environ['ROS_DOMAIN_ID'])


@pytest.fixture()
def ros_context(ros_domain):
    """rclpy initialised in this process for one test."""
    import rclpy

    rclpy.init()
    yield rclpy
    rclpy.try_shutdown()
