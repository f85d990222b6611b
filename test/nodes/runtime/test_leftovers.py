# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Tests that fail half-way spoil no other: what they began in rclpy ends with them."""

import pytest

rclpy = pytest.importorskip('rclpy')


@pytest.mark.parametrize('turn', ['first', 'second'])
def test_rclpy_can_be_initialised_after_a_test_that_left_it_so(ros_domain, turn):
    rclpy.init()
    assert rclpy.ok()
