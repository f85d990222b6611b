# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Latency and loss of camera images between two processes, with our Fast DDS profile and without.

    python benchmarks/images.py [--seconds 20] [--rate 30] [--width 640] [--height 480] [--json]

One process publishes rgb8 images as the simulator does (reliable, keep last 5), another receives
them. Latency: from the stamp, taken just before publishing, to the subscription's callback, on one
clock. "Fast DDS sizes" is the same profile (loopback only, shared memory) with Fast DDS's own sizes
of segment and message. Nothing leaves this machine.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from parts.bars import Bars, parse

PROFILE = Path(__file__).resolve().parent.parent / 'config' / 'fastdds_loopback.xml'
SIZES = re.compile(r'<(segment_size|maxMessageSize)>\d+</\1>')


def publish(count: int, rate: float, width: int, height: int) -> None:
    """Publishes `count` images at `rate` once somebody listens."""
    import rclpy
    from rclpy.qos import QoSProfile
    from sensor_msgs.msg import Image

    rclpy.init()
    node = rclpy.create_node('image_source')
    publisher = node.create_publisher(Image, 'benchmark/image_raw', QoSProfile(depth=5))
    pixels = np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8)
    image = Image(height=height, width=width, encoding='rgb8', step=3 * width)
    image.data = pixels.tobytes()
    deadline = time.monotonic() + 10
    while publisher.get_subscription_count() == 0 and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    start = time.monotonic()
    for index in range(count):
        time.sleep(max(0.0, start + index / rate - time.monotonic()))
        image.header.frame_id = str(index)
        now = time.time_ns()
        image.header.stamp.sec, image.header.stamp.nanosec = divmod(now, 10**9)
        publisher.publish(image)
    time.sleep(1.0)
    rclpy.shutdown()


def receive(count: int, rate: float) -> None:
    """Receives until the last image or the deadline; prints the latencies in ms as JSON."""
    import rclpy
    from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
    from rclpy.qos import QoSProfile
    from sensor_msgs.msg import Image

    rclpy.init()
    node = rclpy.create_node('image_sink')
    latencies: dict[int, float] = {}

    def on_image(message: Image) -> None:
        stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
        latencies[int(message.header.frame_id)] = (time.time_ns() - stamp) / 1e6

    node.create_subscription(Image, 'benchmark/image_raw', on_image, QoSProfile(depth=5))
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    deadline = time.monotonic() + count / rate + 15
    try:
        while count - 1 not in latencies and time.monotonic() < deadline:
            executor.spin_once(timeout_sec=0.5)
    except ExternalShutdownException:
        pass
    print(json.dumps([latencies[i] for i in sorted(latencies)]))
    rclpy.try_shutdown()


def loopback_bytes() -> int:
    """Bytes that the loopback interface has carried so far."""
    lines = Path('/proc/net/dev').read_text().splitlines()
    return int(next(line for line in lines if line.split(':')[0].strip() == 'lo').split()[1])


def measure(profile: Path, arguments: argparse.Namespace) -> dict[str, float]:
    """One run of both processes under a Fast DDS profile."""
    count = int(arguments.seconds * arguments.rate)
    environment = os.environ | {
        'FASTRTPS_DEFAULT_PROFILES_FILE': str(profile),
        'FASTDDS_DEFAULT_PROFILES_FILE': str(profile),
        'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
    }
    shared = [f'--seconds={arguments.seconds}', f'--rate={arguments.rate}']
    size = [f'--width={arguments.width}', f'--height={arguments.height}']
    command = [sys.executable, __file__, *shared, *size]
    before = loopback_bytes()
    sink = subprocess.Popen([*command, '--role=receive'], env=environment, stdout=subprocess.PIPE)
    source = subprocess.Popen([*command, '--role=publish'], env=environment)
    output, _ = sink.communicate(timeout=arguments.seconds + 60)
    source.wait(timeout=30)
    latencies = np.array(json.loads(output))
    return {
        'sent': count,
        'lost': count - len(latencies),
        'median_ms': float(np.median(latencies)) if len(latencies) else float('nan'),
        'p95_ms': float(np.percentile(latencies, 95)) if len(latencies) else float('nan'),
        'max_ms': float(latencies.max()) if len(latencies) else float('nan'),
        'loopback_mb': (loopback_bytes() - before) / 1e6,
    }


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seconds', type=float, default=20.0)
    parser.add_argument('--rate', type=float, default=30.0, help='Hz')
    parser.add_argument('--width', type=int, default=640)
    parser.add_argument('--height', type=int, default=480)
    parser.add_argument('--json', action='store_true', help='print JSON instead of a table')
    parser.add_argument(
        '--role', choices=('both', 'publish', 'receive'), default='both', help=argparse.SUPPRESS
    )
    return parse(parser, seconds=2.0)


def main() -> int:
    arguments = options()
    count = int(arguments.seconds * arguments.rate)
    if arguments.role == 'publish':
        publish(count, arguments.rate, arguments.width, arguments.height)
    elif arguments.role == 'receive':
        receive(count, arguments.rate)
    else:
        return compare(arguments)
    return 0


def compare(arguments: argparse.Namespace) -> int:
    """Runs with the shipped profile, then with Fast DDS's own sizes, and prints both."""
    results = {'shipped profile': measure(PROFILE, arguments)}
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / 'fast_dds_sizes.xml'
        plain.write_text(SIZES.sub('', PROFILE.read_text()))
        results['Fast DDS sizes'] = measure(plain, arguments)
    if arguments.json:
        print(json.dumps(results, indent=2))
    else:
        print_table(arguments, results)
    bars, ours = Bars(arguments), results['shipped profile']
    bars.at_most('shipped profile, images lost', ours['lost'], 0)
    ratio = ours['median_ms'] / results['Fast DDS sizes']['median_ms']
    bars.at_most("shipped profile / Fast DDS's sizes, median latency", ratio, 1.0)
    return bars.exit_status()


def print_table(arguments: argparse.Namespace, results: dict[str, dict[str, float]]) -> None:
    print(
        f'{arguments.width}x{arguments.height} rgb8 at {arguments.rate:g} Hz between two processes'
    )
    print(f'{"":17}{"median ms":>10}{"p95 ms":>9}{"max ms":>9}{"lost":>12}{"over UDP, MB":>14}')
    for name, r in results.items():
        lost = f'{r["lost"]} of {r["sent"]}'
        print(
            f'{name:17}{r["median_ms"]:10.2f}{r["p95_ms"]:9.2f}{r["max_ms"]:9.1f}{lost:>12}{r["loopback_mb"]:14.1f}'
        )


if __name__ == '__main__':
    sys.exit(main())
