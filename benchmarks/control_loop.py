# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy node's control loop while inference takes all it can get of the same cores.

    python benchmarks/control_loop.py [--seconds 60] [--rate 50] [--inference 0.8] [--cores 2]
                                      [--work torch,numpy,python] [--execution asynchronous]

The node and a second process, which feeds it two 640x480 cameras at 30 Hz and joint states at
100 Hz and keeps what it publishes, run on the same cores. The inference computes without pause:
`torch` in forward passes of a network, `numpy` in products of matrices, both off the interpreter's
lock; `python` in a loop that never lets go of it on its own account. Lateness is that of the tick
against its schedule; if it is more than a period, the ticks within it are missed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import rclpy
from parts.bars import Bars, parse
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import Image, JointState

from frame_ros.msg import PolicyHeartbeat, PolicyInference
from frame_ros.nodes.policy.node import PolicyNode
from frame_ros.nodes.runtime.spinning import run_node, spin_until_stopped
from frame_ros.policies.base import Policy
from frame_ros.policies.protocol import Inference

JOINTS = ('shoulder_pan', 'shoulder_lift', 'elbow_flex', 'wrist_flex', 'wrist_roll', 'gripper')
SIZE = (480, 640)
PATIENCE = 120.0  # s for the first inferences
WORKS = ('torch', 'numpy', 'python')
PARTS = ('latency', 'preprocess', 'forward', 'postprocess', 'cpu_time')


class BusyPolicy(Policy):
    """Computes for `duration` s per chunk of 4 s, on two cameras."""

    cameras = ('front', 'wrist')

    def __init__(self, work: str, duration: float, rate: float) -> None:
        self.name = work
        self._step, self._duration, self.rate = make_step(work), duration, rate

    def infer(self, observation) -> Inference:
        """A chunk of zeros."""
        deadline = time.perf_counter() + self._duration
        while time.perf_counter() < deadline:
            self._step()
        actions = np.zeros((round(4 * self.rate), len(JOINTS)))
        return Inference(actions, 1 / self.rate, JOINTS, ('rad',) * len(JOINTS))


def make_step(work: str) -> Callable[[], object]:
    """A few milliseconds of computing."""
    if work == 'python':
        return lambda: sum(i * i for i in range(20_000))
    if work == 'numpy':
        matrix = np.random.default_rng(0).random((256, 256))
        return lambda: matrix @ matrix
    import torch

    torch.manual_seed(0)
    layers = [torch.nn.Conv2d(3, 32, 5, 2), torch.nn.ReLU(), torch.nn.Conv2d(32, 64, 3, 2)]
    network, image = torch.nn.Sequential(*layers), torch.rand(2, 3, 120, 160)

    def forward() -> object:
        with torch.inference_mode():
            return network(image)

    return forward


class Feeder(Node):
    """Publishes joint states and images; keeps the heartbeats and the inferences."""

    def __init__(self) -> None:
        super().__init__('feeder')
        self.stamps: list[int] = []
        self.arrivals: list[int] = []
        self.is_stalled: list[bool] = []
        self.inferences: list[PolicyInference] = []
        self._joints = self.create_publisher(JointState, 'joint_states', 10)
        self._cameras = [
            self.create_publisher(Image, f'{c}/image_raw', 5) for c in ('front', 'wrist')
        ]
        self.create_subscription(PolicyHeartbeat, 'policy_heartbeat', self._on_heartbeat, 500)
        self.create_subscription(PolicyInference, 'policy_inference', self.inferences.append, 500)
        pixels = np.random.default_rng(0).integers(0, 256, (*SIZE, 3), dtype=np.uint8).tobytes()
        self._image = Image(
            height=SIZE[0], width=SIZE[1], encoding='rgb8', step=3 * SIZE[1], data=pixels
        )
        self.create_timer(0.01, self._publish_joints)
        self.create_timer(1 / 30, self._publish_images)

    def _on_heartbeat(self, message: PolicyHeartbeat) -> None:
        self.arrivals.append(self.get_clock().now().nanoseconds)
        self.stamps.append(message.header.stamp.sec * 10**9 + message.header.stamp.nanosec)
        self.is_stalled.append(message.is_stalled)

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
    feeder = feeders[0]
    arrays = {name: getattr(feeder, name) for name in ('stamps', 'arrivals', 'is_stalled')}
    parts = {name: [getattr(m, name) for m in feeder.inferences] for name in PARTS}
    np.savez(path, **arrays, **parts)
    return code


def run(
    seconds: float,
    policy: Any,
    prepare: Callable[[PolicyNode], object] = lambda node: None,
    **parameters: Any,
) -> tuple[dict[str, Any], int]:
    """Runs a node for so long with a feeder; the first two inferences do not count.

    Returns what the feeder received: of the heartbeats `stamps`, `arrivals` (ns) and `is_stalled`,
    of the inferences `parts`, name -> s; and `late`, how late each tick came (ms); and how many
    ticks were missed.
    """
    overrides = [Parameter(name, value=v) for name, v in {'run_on': 'always', **parameters}.items()]
    with tempfile.TemporaryDirectory() as folder:
        path = f'{folder}/received.npz'
        feeder = subprocess.Popen([sys.executable, __file__, '--feed', path])
        rclpy.init()
        node, stop = PolicyNode(policy, parameter_overrides=overrides), threading.Event()
        prepare(node)
        thread = threading.Thread(target=spin_until_stopped, args=(node, stop))
        thread.start()
        try:
            wait_for_calls(node, 2)
            ticks, clock = node._control.ticks, node.get_clock()
            begun, missed, first = clock.now().nanoseconds, ticks.missed, len(ticks.lateness)
            time.sleep(seconds)
            ended, missed = clock.now().nanoseconds, ticks.missed - missed
            late = list(ticks.lateness)
        finally:
            feeder.terminate()
            feeder.wait()
            stop.set()
            thread.join(PATIENCE)
            node.destroy_node()
            rclpy.shutdown()
        loaded = dict(np.load(path))
    inside = (loaded['stamps'] >= begun) & (loaded['stamps'] <= ended)
    received: dict[str, Any] = {
        name: loaded[name][inside] for name in ('stamps', 'arrivals', 'is_stalled')
    }
    received['late'] = np.array(late[first:]) / 1e6
    received['parts'] = {name: loaded[name][2:] for name in PARTS}
    return received, missed


def wait_for_calls(node: PolicyNode, count: int) -> None:
    """Waits until the node has inferred so often.

    Raises:
        TimeoutError: it has not.
    """
    deadline = time.monotonic() + PATIENCE
    while node.counters.get('calls', 0) < count:
        if time.monotonic() > deadline:
            raise TimeoutError(f'the policy was not called {count} times in {PATIENCE:g} s')
        time.sleep(0.05)


def report(work: str, rate: float, received: dict[str, np.ndarray], missed: int) -> float:
    """Prints one line; returns the median lateness in ms."""
    late = received['late']
    transport = (received['arrivals'] - received['stamps']) / 1e6
    stamps = received['stamps']
    print(
        f'{work:8} {1000 * np.median(received["parts"]["latency"]):10.0f} {len(stamps):7d} '
        f'{(len(stamps) - 1) / ((stamps[-1] - stamps[0]) / 1e9):9.3f} {np.median(late):9.2f} '
        f'{np.percentile(late, 99):8.2f} {late.max():8.2f} {int((late > 1000 / rate).sum()):7d} '
        f'{missed:7d} {int(received["is_stalled"].sum()):7d} {np.percentile(transport, 99):11.2f}',
        flush=True,
    )
    return float(np.median(late))


def main() -> int:
    """Runs all cases."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seconds', type=float, default=60.0)
    parser.add_argument('--rate', type=float, default=50.0, help='Hz of the control loop')
    parser.add_argument('--inference', type=float, default=0.8, help='s per call of the policy')
    parser.add_argument('--cores', type=int, default=2, help='all runs on so many')
    parser.add_argument('--work', default=','.join(WORKS), help='what the inference is made of')
    parser.add_argument('--execution', default='asynchronous')
    parser.add_argument('--priority', type=int, default=40, help='real-time, of the control loop')
    parser.add_argument('--feed', help=argparse.SUPPRESS)
    options = parse(parser, seconds=3.0, work='torch,python')
    if options.feed:
        sys.exit(feed(options.feed))
    cores = sorted(os.sched_getaffinity(0))[: options.cores]
    os.sched_setaffinity(0, cores)
    print(f'{options.rate:g} Hz for {options.seconds:g} s on cores {cores}; ms')
    print(
        f'{"work":8} {"inference":>10} {"ticks":>7} {"mean Hz":>9} {"late p50":>9} {"p99":>8} '
        f'{"max":>8} {">period":>7} {"missed":>7} {"stalls":>7} {"arrival p99":>11}'
    )
    late = {}
    for work in options.work.split(','):
        policy = BusyPolicy(work, options.inference, options.rate)
        parameters = {
            'control_rate': options.rate,
            'execution': options.execution,
            'realtime_priority': options.priority,
        }
        late[work] = report(work, options.rate, *run(options.seconds, policy, **parameters))
    bars = Bars(options)
    for work, median in late.items():
        # A loop of Python keeps the interpreter's lock for its switch interval of 5 ms.
        bars.at_most(f'{work}, median lateness, ms', median, 10.0 if work == 'python' else 1.0)
    return bars.exit_status()


if __name__ == '__main__':
    sys.exit(main())
