# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy node: control rate while inference is slow, and what an ACT inference is made of.

    python benchmarks/policy.py [--seconds 20] [--inference 0.8]

A second process feeds the node with two 640x480 cameras at 30 Hz and joint states at 100 Hz, and
keeps what the node publishes; the rate is taken from the stamps of joint_commands. The slow policy
'busy' computes all the time in torch, off the interpreter's lock; 'sleep' only waits.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'test' / 'policies'))

import rclpy
from checkpoints import make_act_checkpoint
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import Image, JointState

from frame_ros.lerobot_import import import_lerobot
from frame_ros.msg import PolicyInference
from frame_ros.nodes.policy import PolicyNode
from frame_ros.nodes.policy_settings import PolicySettings
from frame_ros.nodes.spinning import run_node, spin_until_stopped
from frame_ros.policies.protocol import Inference
from frame_ros.robots import load_robot

JOINTS = ('shoulder_pan', 'shoulder_lift', 'elbow_flex', 'wrist_flex', 'wrist_roll', 'gripper')
SIZE = (480, 640)
PARTS = ('latency', 'preprocess', 'forward', 'postprocess', 'cpu_time', 'stalls')


class SlowPolicy:
    """Takes `duration` s per chunk of 4 s, computing or sleeping, on two cameras."""

    checkpoint, cameras, poses = '', ('front', 'wrist'), ()

    def __init__(self, duration: float, rate: float, is_busy: bool) -> None:
        self.name = 'busy' if is_busy else 'sleep'
        self._duration, self._rate, self._is_busy = duration, rate, is_busy

    def reset(self, seed=None) -> None:
        """Nothing to forget."""

    def infer(self, observation) -> Inference:
        """A chunk of zeros."""
        if self._is_busy:
            compute(self._duration)
        else:
            time.sleep(self._duration)
        actions = np.zeros((round(4 * self._rate), len(JOINTS)))
        return Inference(actions, 1 / self._rate, JOINTS, ('rad',) * len(JOINTS))


def compute(seconds: float) -> None:
    """Multiplies matrices in torch for so long."""
    import torch

    matrix, deadline = torch.rand(256, 256), time.perf_counter() + seconds
    while time.perf_counter() < deadline:
        matrix = (matrix @ matrix).clamp(0, 1)


class Feeder(Node):
    """Publishes joint states and images; keeps the commands' stamps and the inferences."""

    def __init__(self) -> None:
        super().__init__('feeder')
        self.stamps: list[int] = []
        self.inferences: list[PolicyInference] = []
        self._joints = self.create_publisher(JointState, 'joint_states', 10)
        self._cameras = [
            self.create_publisher(Image, f'{c}/image_raw', 5) for c in ('front', 'wrist')
        ]
        self.create_subscription(JointState, 'joint_commands', self._on_command, 500)
        self.create_subscription(PolicyInference, 'policy_inference', self.inferences.append, 500)
        pixels = np.random.default_rng(0).integers(0, 256, (*SIZE, 3), dtype=np.uint8).tobytes()
        self._image = Image(
            height=SIZE[0], width=SIZE[1], encoding='rgb8', step=3 * SIZE[1], data=pixels
        )
        self.create_timer(0.01, self._publish_joints)
        self.create_timer(1 / 30, self._publish_images)

    def _on_command(self, message: JointState) -> None:
        self.stamps.append(message.header.stamp.sec * 10**9 + message.header.stamp.nanosec)

    def _publish_joints(self) -> None:
        message = JointState(name=JOINTS, position=[0.0] * 6)
        message.header.stamp = self.get_clock().now().to_msg()
        self._joints.publish(message)

    def _publish_images(self) -> None:
        self._image.header.stamp = self.get_clock().now().to_msg()
        for camera in self._cameras:
            camera.publish(self._image)


def feed(path: str) -> int:
    """Runs the feeder until SIGTERM, then writes what it received to an npz file."""
    feeders: list[Feeder] = []

    def make() -> Feeder:
        feeders.append(Feeder())
        return feeders[0]

    code = run_node(make, [])
    parts = {name: [getattr(m, name) for m in feeders[0].inferences] for name in PARTS}
    np.savez(path, stamps=np.array(feeders[0].stamps), **parts)
    return code


def run(seconds: float, policy=None, **parameters) -> tuple[dict[str, np.ndarray], int]:
    """Runs a node for so long beside a feeder; returns what that received, and missed ticks."""
    overrides = [Parameter(name, value=v) for name, v in {'run_on': 'always', **parameters}.items()]
    with tempfile.TemporaryDirectory() as folder:
        path = f'{folder}/received.npz'
        feeder = subprocess.Popen([sys.executable, __file__, '--feed', path])
        rclpy.init()
        node, stop = PolicyNode(policy, parameter_overrides=overrides), threading.Event()
        thread = threading.Thread(target=spin_until_stopped, args=(node, stop))
        thread.start()
        while not node.counters.get('calls'):
            time.sleep(0.01)
        missed = node.counters['missed_ticks']
        time.sleep(seconds)
        missed = node.counters['missed_ticks'] - missed
        feeder.terminate()
        feeder.wait()
        stop.set()
        thread.join()
        node.destroy_node()
        rclpy.shutdown()
        return dict(np.load(path)), missed


def report_rate(label: str, rate: float, received: dict[str, np.ndarray], missed: int) -> None:
    """Prints one line: mean rate, worst full second, worst gap, stalls."""
    stamps = received['stamps'] / 1e9
    ends = np.searchsorted(stamps, stamps + 1.0)
    worst_second = (ends - np.arange(len(stamps)))[stamps + 1.0 <= stamps[-1]].min()
    gaps = 1000 * np.diff(stamps)
    mean = (len(stamps) - 1) / (stamps[-1] - stamps[0])
    print(
        f'{label:8} {rate:6.0f} {1000 * np.median(received["latency"]):12.0f} {mean:10.3f} '
        f'{worst_second:13d} {np.percentile(gaps, 99):9.1f} {gaps.max():10.1f} {missed:7d} '
        f'{received["stalls"][1:].sum():7d}',
        flush=True,
    )


def report_parts(received: dict[str, np.ndarray]) -> None:
    """Prints the median of each part of the ACT inferences, in ms."""
    count = len(received['latency'])
    print(f'\nACT, two cameras {SIZE[1]}x{SIZE[0]}, {count} inferences, median ms')
    received['remainder'] = received['latency'] - sum(received[part] for part in PARTS[1:4])
    for part in (*PARTS[:5], 'remainder'):
        print(f'  {part:12} {1000 * np.median(received[part]):8.2f}')


def main() -> None:
    """Runs all cases."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seconds', type=float, default=20.0)
    parser.add_argument(
        '--inference', type=float, default=0.8, help='s per call of the slow policy'
    )
    parser.add_argument('--feed', help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.feed:
        sys.exit(feed(options.feed))
    import_lerobot()
    print(
        f'{"policy":8} {"Hz":>6} {"latency ms":>12} {"mean Hz":>10} {"worst second":>13} '
        f'{"p99 ms":>9} {"max ms":>10} {"missed":>7} {"stalls":>7}'
    )
    for rate in (30.0, 50.0):
        for is_busy in (False, True):
            policy = SlowPolicy(options.inference, rate, is_busy)
            report_rate(policy.name, rate, *run(options.seconds, policy, control_rate=rate))
    with tempfile.TemporaryDirectory() as folder:
        make_act_checkpoint(folder, image_size=SIZE, chunk_size=100)
        settings = PolicySettings(policy='lerobot', checkpoint=folder, units='rad')
        policy = settings.make_policy(load_robot('so101').joint_limits)
        received, missed = run(options.seconds, policy, control_rate=30.0)
    report_rate('act', 30.0, received, missed)
    report_parts(received)


if __name__ == '__main__':
    main()
