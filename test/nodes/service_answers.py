# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of services that answer with success."""

import time

from patience import PATIENCE


def call(rclpy, node, kind, name, request):
    """The answer of a service, once it succeeds."""
    client = node.create_client(kind, name)
    deadline = time.monotonic() + PATIENCE
    while not client.service_is_ready():
        assert time.monotonic() < deadline, name
        time.sleep(0.05)
    while time.monotonic() < deadline:
        answer = client.call_async(request)
        rclpy.spin_until_future_complete(node, answer, timeout_sec=PATIENCE)
        if answer.result().success:
            return answer.result()
        time.sleep(0.5)
    raise AssertionError(answer.result().message)
