#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Cost of kinematics: one forward kinematics, and the node at 1 kHz against a subscriber that does
nothing.

Run in a shell made by env.bash. All processes run at the same time; processor time is the kernel's
(/proc).

    python benchmarks/kinematics.py [--robot fr3] [--rate 1000] [--seconds 10] [--json]
"""

import argparse
import contextlib
import json
import os
import struct
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from parts.bars import Bars, parse

BARS = {'forward_us': 6.0, 'node_percent': 35.0, 'ratio': 0.7}
ROLES = ('publisher', 'subscriber', 'counter')
CONNECTED_WITHIN = 60.0  # s until the processes know each other


def forward_microseconds(robot: str, repeats: int = 300, calls: int = 200) -> dict[str, float]:
    """Returns the median time per call of `Robot.forward`."""
    import numpy as np

    from frame_ros.robots import load_robot

    arm = load_robot(robot)
    q = np.random.default_rng(0).uniform(
        np.maximum(arm.lower, -3), np.minimum(arm.upper, 3), (calls, len(arm.lower))
    )
    one, forward, single = list(q), arm.forward, []
    for _ in range(repeats):
        start = time.perf_counter()
        for row in one:
            forward(row)
        single.append((time.perf_counter() - start) / calls)
    return {'forward_us': median(single) * 1e6}


def publish(robot: str, rate: float, seconds: float) -> None:
    """Publishes moving joint states at a rate, of the arm and of the gripper that the node watches
    for a grasp; only stamp and values are rewritten.
    """
    import numpy as np
    import rclpy
    from rclpy.serialization import serialize_message
    from sensor_msgs.msg import JointState

    from frame_ros.robots import load_robot

    rclpy.init()
    node = rclpy.create_node('publisher')
    publisher = node.create_publisher(JointState, 'joint_states', 200)
    arm = load_robot(robot)
    names, gripper = list(arm.joint_names), arm.profile.gripper
    middle, swing = (arm.lower + arm.upper) / 2, np.full(len(names), 0.3)
    if gripper is not None and gripper.joint not in names:
        names.append(gripper.joint)
        middle = np.append(middle, (gripper.closed + gripper.opened) / 2)
        swing = np.append(swing, gripper.opened - gripper.closed)
    size = len(names)
    marks = [1e9 + i for i in range(2 * size)]
    message = JointState(
        name=names,
        position=marks[:size],
        velocity=marks[size:],
        effort=marks[:size],
    )
    data = bytearray(serialize_message(message))
    places = [data.index(struct.pack('<d', mark)) for mark in (marks[0], marks[size])]
    period = 1.0 / rate
    deadline = time.monotonic() + CONNECTED_WITHIN
    while publisher.get_subscription_count() < 2:
        if time.monotonic() > deadline:
            sys.exit(1)  # one of the others did not start; the caller says so
        time.sleep(0.1)
    time.sleep(2.0)  # the counter must have found the node's publisher as well
    print('started', flush=True)
    start = due = time.perf_counter()
    sent = 0
    while due - start < seconds:
        time.sleep(max(0.0, due - time.perf_counter()))
        phase = 2.0 * (due - start)
        struct.pack_into('<II', data, 4, *divmod(time.time_ns(), 10**9))
        struct.pack_into(f'<{size}d', data, places[0], *(middle + swing * np.sin(phase)))
        struct.pack_into(f'<{size}d', data, places[1], *np.full(size, 0.6 * np.cos(phase)))
        publisher.publish(bytes(data))
        sent += 1
        due += period
    print(json.dumps({'sent': sent}), flush=True)
    time.sleep(1.0)
    rclpy.shutdown()


def subscribe() -> None:
    """A node that does nothing with each joint state, in the usual executor."""
    import rclpy
    from rclpy.executors import ExternalShutdownException
    from sensor_msgs.msg import JointState

    rclpy.init()
    node = rclpy.create_node('subscriber')
    node.create_subscription(JointState, 'joint_states', lambda _: None, 200)
    with contextlib.suppress(ExternalShutdownException, KeyboardInterrupt):
        rclpy.spin(node)


def count() -> None:
    """Counts the poses that arrive, and their rate."""
    import rclpy
    from geometry_msgs.msg import PoseStamped

    from frame_ros.nodes.runtime.polled import PolledSubscription

    rclpy.init()
    node = rclpy.create_node('counter')
    poses = PolledSubscription(node, PoseStamped, 'ee_pose', 500, raw=True)
    received: list[int] = []
    stamps = set()
    while rclpy.ok():
        for data, info in poses.take(500):
            received.append(info['source_timestamp'])
            stamps.add(bytes(data[4:12]))
        time.sleep(0.01)
    span = (received[-1] - received[0]) / 1e9 if len(received) > 1 else float('nan')
    print(
        json.dumps(
            {
                'received': len(received),
                'distinct': len(stamps),
                'rate_hz': (len(received) - 1) / span,
            }
        )
    )


def processor_seconds(pid: int) -> float:
    """User and system time of a process, all threads."""
    fields = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def start(*arguments: str) -> 'subprocess.Popen[str]':
    """A Python process whose output is kept."""
    return subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )


def measure_node(robot: str, rate: float, seconds: float) -> dict[str, Any]:
    """Returns processor shares of node and do-nothing subscriber, and the poses published."""
    me = str(Path(__file__).resolve())
    node = start('-m', 'frame_ros.nodes.kinematics', '--ros-args', '-p', f'robot:={robot}')
    subscriber, counter = start(me, '--role', 'subscriber'), start(me, '--role', 'counter')
    publisher = start(
        me,
        '--role',
        'publisher',
        '--robot',
        robot,
        '--rate',
        str(rate),
        '--seconds',
        str(seconds + 2),
    )
    assert publisher.stdout is not None
    if not publisher.stdout.readline():
        for process in (node, subscriber, counter):
            process.kill()
        sys.exit(
            f'the kinematics node and the subscriber were not connected within '
            f'{CONNECTED_WITHIN:.0f} s; try: python -m frame_ros.nodes.kinematics'
        )
    time.sleep(1.0)
    watched = {'node': node.pid, 'subscriber': subscriber.pid}
    before = {name: processor_seconds(pid) for name, pid in watched.items()}
    began = time.perf_counter()
    time.sleep(seconds)
    span = time.perf_counter() - began
    shares = {
        f'{n}_percent': (processor_seconds(p) - before[n]) / span * 100 for n, p in watched.items()
    }
    sent = json.loads(publisher.communicate()[0])['sent']
    for process in (node, subscriber, counter):
        process.terminate()
    found = json.loads(counter.communicate(timeout=10)[0])
    if not found['received']:
        sys.exit('no pose came; try: python -m frame_ros.nodes.kinematics')
    for process in (node, subscriber):
        process.communicate(timeout=10)
    ratio = shares['node_percent'] / shares['subscriber_percent']
    return {**shares, 'ratio': ratio, 'sent': sent, **found, 'lost': sent - found['distinct']}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--robot', default='fr3')
    parser.add_argument('--rate', type=float, default=1000.0, help='joint states per second')
    parser.add_argument('--seconds', type=float, default=10.0, help='length of the measurement')
    parser.add_argument('--json', action='store_true', help='print JSON instead of a table')
    parser.add_argument('--role', choices=ROLES, help=argparse.SUPPRESS)
    chosen = parse(parser, seconds=2.0)
    if chosen.role:
        publisher = partial(publish, chosen.robot, chosen.rate, chosen.seconds)
        {'publisher': publisher, 'subscriber': subscribe, 'counter': count}[chosen.role]()
        return 0
    results = {
        'robot': chosen.robot,
        'rate': chosen.rate,
        **forward_microseconds(chosen.robot),
        **measure_node(chosen.robot, chosen.rate, chosen.seconds),
    }
    if chosen.json:
        print(json.dumps(results, indent=2))
    for name, value in [] if chosen.json else results.items():
        print(f'{name:20} {value:10.2f}' if isinstance(value, float) else f'{name:20} {value:>10}')
    bars = Bars(chosen)
    for name, bar in BARS.items():
        bars.at_most(name, results[name], bar)
    return bars.exit_status()


if __name__ == '__main__':
    sys.exit(main())
