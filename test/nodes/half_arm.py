# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One of several publishers of an arm's joint states, as a process of its own:

    python half_arm.py NAMESPACE RATE JOINT [JOINT ...]

Every joint moves on a sine of the system's time, so that what is right is known at any stamp.
"""

import math
import sys
import time

import numpy as np

SPEED = 2.0  # rad/s of the sine


def place(stamp: int, joint: str) -> float:
    """rad where a joint is at a stamp (ns)."""
    return 0.3 * math.sin(SPEED * (stamp % 10**12) / 1e9 + len(joint))


def main() -> None:
    """Publishes until it is stopped."""
    import rclpy
    from sensor_msgs.msg import JointState

    namespace, rate, *joints = sys.argv[1:]
    rclpy.init()
    node = rclpy.create_node(f'half_{len(joints)}', namespace=namespace)
    publisher = node.create_publisher(JointState, 'joint_states', 100)
    random, following = np.random.default_rng(len(joints)), time.monotonic()
    while True:
        stamp = node.get_clock().now()
        message = JointState(name=joints)
        message.position = [place(stamp.nanoseconds, joint) for joint in joints]
        message.header.stamp = stamp.to_msg()
        publisher.publish(message)
        following = max(time.monotonic(), following + random.uniform(0.8, 1.2) / float(rate))
        time.sleep(max(0.0, following - time.monotonic()))


if __name__ == '__main__':
    main()
