# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The overlay's messages and services as the middleware takes them: all it needs was built."""

from importlib import import_module
from pathlib import Path

import pytest

rclpy = pytest.importorskip('rclpy')

ROOT = Path(__file__).resolve().parent.parent.parent.parent
MESSAGES = sorted(path.stem for path in ROOT.glob('msg/*.msg'))
SERVICES = sorted(path.stem for path in ROOT.glob('srv/*.srv'))


@pytest.fixture(scope='module')
def node():
    context = rclpy.Context()
    rclpy.init(context=context)
    made = rclpy.create_node('interfaces', context=context)
    yield made
    made.destroy_node()
    context.try_shutdown()


@pytest.mark.parametrize('name', MESSAGES)
def test_each_message_can_be_published_and_read(node, name):
    kind = getattr(import_module('frame_ros.msg'), name)
    assert node.create_publisher(kind, f'of_{name}', 1)
    assert node.create_subscription(kind, f'of_{name}', print, 1)


@pytest.mark.parametrize('name', SERVICES)
def test_each_service_can_be_served_and_called(node, name):
    kind = getattr(import_module('frame_ros.srv'), name)
    assert node.create_service(kind, f'of_{name}', print)
    assert node.create_client(kind, f'of_{name}')
