# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Camera images between two processes, under the Fast DDS profile that we ship."""

import subprocess
import sys
import time

import numpy as np
from patience import PATIENCE

SENT = 20
SOURCE = f"""
import rclpy
import numpy as np
from rclpy.duration import Duration
from rclpy.qos import QoSProfile
from sensor_msgs.msg import Image

rclpy.init()
node = rclpy.create_node('image_source')
publisher = node.create_publisher(Image, 'test/image_raw', QoSProfile(depth=5))
while publisher.get_subscription_count() == 0:
    node.get_clock().sleep_for(Duration(seconds=0.05))
for index in range({SENT}):
    pixels = np.random.default_rng(index).integers(0, 256, (480, 640, 3), dtype=np.uint8)
    image = Image(height=480, width=640, encoding='rgb8', step=1920, data=pixels.tobytes())
    image.header.frame_id = str(index)
    publisher.publish(image)
    assert publisher.wait_for_all_acked(Duration(seconds=10)), 'not acknowledged'
rclpy.shutdown()
"""


def test_every_image_arrives_whole_in_another_process(ros_context):
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.qos import QoSProfile
    from sensor_msgs.msg import Image

    received: dict[int, np.ndarray] = {}

    def on_image(message: Image) -> None:
        pixels = np.frombuffer(message.data, np.uint8).reshape(message.height, message.width, 3)
        received[int(message.header.frame_id)] = pixels.copy()

    node = ros_context.create_node('image_sink')
    node.create_subscription(Image, 'test/image_raw', on_image, QoSProfile(depth=5))
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    source = subprocess.Popen([sys.executable, '-c', SOURCE])
    deadline = time.monotonic() + PATIENCE
    while len(received) < SENT and time.monotonic() < deadline:
        executor.spin_once(timeout_sec=0.2)
    assert source.wait(timeout=PATIENCE) == 0
    node.destroy_node()

    assert sorted(received) == list(range(SENT))
    for index, pixels in received.items():
        expected = np.random.default_rng(index).integers(0, 256, (480, 640, 3), dtype=np.uint8)
        np.testing.assert_array_equal(pixels, expected)
