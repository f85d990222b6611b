# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Does the recorder lose messages? Three 640x480 rgb8 cameras at 30 Hz and joint states at 1 kHz.

Prints, per topic, how many messages were sent within the episode, recorded and lost, and what the
recorder cost. Needs a shell in which ROS 2 and the messages are found (`source env.bash`).
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from parts.bars import Bars, parse

from frame_ros.bringup.node_process import Process, watching_environment

CAMERAS = ('front/image_raw', 'wrist/image_raw', 'side/image_raw')
HEIGHT, WIDTH = 480, 640
# How many different ones, more than a chunk holds; and their noise: standard deviation, of 255.
PICTURES, NOISE = 30, 4
CAMERA_RATE, JOINT_RATE = 30.0, 1000.0
JOINTS = [f'joint_{number}' for number in range(7)]
PATIENCE = 20.0  # s
TICKS_PER_SECOND = os.sysconf('SC_CLK_TCK')


def send_images(topic: str, stop: Any) -> None:
    """Publishes images with their number in `frame_id` until stopped."""
    import rclpy
    from sensor_msgs.msg import Image

    rclpy.init()
    node = rclpy.create_node('camera_' + topic.split('/')[0])
    data = pictures(topic)  # takes a second or more: a publisher that is seen sends
    publisher = node.create_publisher(Image, topic, 5)
    message = Image(height=HEIGHT, width=WIDTH, encoding='rgb8', step=3 * WIDTH)
    _send(node, publisher, message, CAMERA_RATE, stop, data)


def pictures(topic: str) -> list[bytes]:
    """rgb8 images of a smooth scene with the noise of a small camera, each with another one."""
    rng = np.random.default_rng(list(topic.encode()))
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
    scene = np.stack([rows / 2, columns / 3, 80 + 60 * np.sin(rows / 40 + columns / 70)], axis=2)
    noisy = [scene + rng.normal(0, NOISE, scene.shape) for _ in range(PICTURES)]
    return [picture.clip(0, 255).astype(np.uint8).tobytes() for picture in noisy]


def send_joints(stop: Any) -> None:
    """Publishes joint states likewise."""
    import rclpy
    from sensor_msgs.msg import JointState

    rclpy.init()
    node = rclpy.create_node('joints')
    publisher = node.create_publisher(JointState, 'joint_states', 50)
    zeros = [0.0] * len(JOINTS)
    message = JointState(name=JOINTS, position=zeros, velocity=zeros, effort=zeros)
    _send(node, publisher, message, JOINT_RATE, stop)


def _send(
    node: Any, publisher: Any, message: Any, rate: float, stop: Any, data: Sequence[bytes] = ()
) -> None:
    period, due, number = 1.0 / rate, time.monotonic(), 0
    while not stop.is_set():
        message.header.stamp = node.get_clock().now().to_msg()
        message.header.frame_id = str(number)
        if data:
            message.data = data[number % len(data)]
        publisher.publish(message)
        number += 1
        due += period
        time.sleep(max(0.0, due - time.monotonic()))


def cpu_seconds(pid: int) -> float:
    """CPU time, user and system, that a process has used."""
    fields = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


def call(node: Any, client: Any, request: Any) -> Any:
    """Calls a service and waits for its answer."""
    import rclpy

    if not client.wait_for_service(PATIENCE):
        raise SystemExit(f'{client.srv_name} is not there')
    future = client.call_async(request)
    rclpy.spin_until_future_complete(node, future, timeout_sec=30.0)
    if future.result() is None or not future.result().success:
        raise SystemExit(f'{client.srv_name}: {future.result()}')
    return future.result()


def wait_for_topics(node: Any) -> None:
    """Waits until every sender publishes and the recorder has subscribed to it."""
    until = time.monotonic() + PATIENCE
    for topic in (*CAMERAS, 'joint_states'):
        while not (node.count_publishers(topic) and node.count_subscribers(topic)):
            if time.monotonic() > until:
                raise SystemExit(f'{topic} is not sent, or the recorder does not record it')
            time.sleep(0.05)


def run(seconds: float, directory: str, settings: dict[str, object]) -> Path:
    """Records one episode; returns the bag. settings: parameters of the recorder."""
    import rclpy

    from frame_ros.srv import EndEpisode, StartEpisode

    rclpy.init()
    node = rclpy.create_node('recorder_benchmark')
    values = {'directory': directory, 'video_topic': '""', 'limits.free': 0, **settings}
    parameters = [word for name, value in values.items() for word in ('-p', f'{name}:={value}')]
    command = [sys.executable, '-m', 'frame_ros.nodes.episode_recorder', '--ros-args', *parameters]
    own = watching_environment(
        Process('recorder', 'recorder', only_watches=True, takes_images=True), os.environ
    )
    recorder = subprocess.Popen(command, env={**os.environ, **own})
    start = node.create_client(StartEpisode, 'start_episode')
    end = node.create_client(EndEpisode, 'end_episode')
    try:
        wait_for_topics(node)
        call(node, start, StartEpisode.Request(instruction='benchmark'))
        time.sleep(seconds * 0.02)
        used, began = cpu_seconds(recorder.pid), time.monotonic()
        time.sleep(seconds)
        used, took = cpu_seconds(recorder.pid) - used, time.monotonic() - began
        bag = Path(call(node, end, EndEpisode.Request(outcome=1)).bag)
    finally:
        recorder.send_signal(signal.SIGTERM)
        recorder.wait(30)
        rclpy.shutdown()
    size = sum(file.stat().st_size for file in bag.iterdir())
    print(f'recorder: {100 * used / took:.0f} % of a core, {size / 1e6 / took:.1f} MB/s')
    return bag


def report(bag_path: Path) -> int:
    """Prints and returns the losses: numbers missing between first and last recorded."""
    from frame_ros.bags.images.decoding import find_topic
    from frame_ros.bags.reader import Bag

    bag, total = Bag(bag_path), 0
    print(f'{"topic":20} {"sent":>8} {"recorded":>9} {"lost":>6}')
    for topic in (*CAMERAS, 'joint_states'):
        numbers = [int(frame_id) for frame_id in _frame_ids(bag, find_topic(bag, topic))]
        sent = max(numbers) - min(numbers) + 1
        lost = sent - len(set(numbers))
        total += lost
        print(f'{topic:20} {sent:8d} {len(numbers):9d} {lost:6d}')
    print(f'sidecar: dropped {bag.sidecar["dropped"]}, lost {bag.sidecar["lost"]}')
    return total


def _frame_ids(bag: Any, topic: str) -> list[str]:
    ids = []
    for _, data in bag.raw(topic):
        # Encapsulation 4 bytes, stamp 8, then the text with its length, NUL included.
        length = int(data[12:16].view('<u4')[0])
        ids.append(bytes(data[16 : 16 + length - 1]).decode())
    return ids


def main() -> int:
    """Runs the benchmark; returns 1 if anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seconds', type=float, default=60.0)
    parser.add_argument('--directory', help='where to write the bag; default: a temporary folder')
    parser.add_argument('--camera-images', default='raw', choices=('raw', 'jpeg'))
    parser.add_argument('--compression-level', type=int, default=3)
    options = parse(parser, seconds=3.0)
    settings = {
        'camera_images': options.camera_images,
        'compression_level': options.compression_level,
    }
    context = multiprocessing.get_context('spawn')
    stop = context.Event()
    senders = [context.Process(target=send_images, args=(topic, stop)) for topic in CAMERAS]
    senders.append(context.Process(target=send_joints, args=(stop,)))
    for sender in senders:
        sender.start()
    with tempfile.TemporaryDirectory(dir=options.directory) as directory:
        try:
            bag = run(options.seconds, directory, settings)
        finally:
            stop.set()
            for sender in senders:
                sender.join(10)
        bars = Bars(options)
        bars.at_most('messages lost', report(bag), 0)
        return bars.exit_status()


if __name__ == '__main__':
    sys.exit(main())
