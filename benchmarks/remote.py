# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Cost of a policy server: an inference through it, against the same policy called directly.

    python benchmarks/remote.py [--calls 300] [--work 0.01]

Two 640x480 RGB images and six joints per observation, a chunk of 50 x 6 with 8 samples and token
statistics back. The policy is the same class on both sides; it reads every image and works for a
while, as one would. Direct and remote calls take turns, so that what else the machine does falls on
both; the server is a process of its own. The overhead is the median of the differences.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

import numpy as np
from parts.bars import Bars, parse, started

from frame_ros.metrics.token_statistics import token_statistics
from frame_ros.policies.base import Policy
from frame_ros.policies.protocol import Inference, Observation, TokenStatistics
from frame_ros.policies.remote import (
    InferenceService,
    PolicyServer,
    RemotePolicy,
    connect_remote_policy,
    encode,
)
from frame_ros.policies.remote.serving_options import NetworkOptions

JOINTS = ('shoulder_pan', 'shoulder_lift', 'elbow_flex', 'wrist_flex', 'wrist_roll', 'gripper')
CAMERAS = ('front', 'wrist')
BAR = 5.0  # ms


class WorkingPolicy(Policy):
    """Sums up the images, works for `work` s, and answers with all that an inference can hold."""

    name, cameras = 'working', CAMERAS

    def __init__(self, work: float) -> None:
        self._work = work
        rng = np.random.default_rng(0)
        self._samples = rng.standard_normal((8, 50, 6))
        reduced = token_statistics(rng.standard_normal((300, 256)), temperatures=(0.5, 1.0, 2.0))
        places = np.arange(300, dtype=np.int32)
        self._tokens = TokenStatistics(**vars(reduced), step=places // 6, dimension=places % 6)

    def infer(self, observation: Observation) -> Inference:
        """A chunk that depends on every pixel."""
        begun = time.perf_counter()
        shift = 1e-12 * sum(int(i.sum(dtype=np.int64)) for i in observation.images.values())
        while time.perf_counter() < begun + self._work:
            pass
        return Inference(
            actions=self._samples[0] + shift,
            dt=1 / 30,
            action_names=JOINTS,
            action_units=('rad',) * 6,
            forward=time.perf_counter() - begun,
            samples=self._samples,
            tokens=self._tokens,
        )


def serve(work: float) -> None:
    """Runs the server; prints where."""
    server = PolicyServer(InferenceService(WorkingPolicy(work)), NetworkOptions(port=0))
    import threading

    threading.Thread(
        target=lambda: server.wait_until_ready(30) and print(server.url, flush=True)
    ).start()
    server.run()


def measure(policy: RemotePolicy, direct: WorkingPolicy, calls: int) -> dict[str, np.ndarray]:
    """Times (s) of interleaved direct and remote calls, and what the remote ones call transport."""
    rng = np.random.default_rng(1)
    images = {camera: rng.integers(0, 256, (480, 640, 3), np.uint8) for camera in CAMERAS}
    times: dict[str, list[float]] = {'direct': [], 'remote': [], 'transport': []}
    for number in range(calls + 10):
        observation = Observation(number, number, JOINTS, np.zeros(6), images)
        begun = time.perf_counter()
        expected = direct.infer(observation)
        between = time.perf_counter()
        answer = policy.infer(observation)
        ended = time.perf_counter()
        assert np.array_equal(answer.actions, expected.actions)
        if number >= 10:  # the first calls warm caches up
            times['direct'].append(between - begun)
            times['remote'].append(ended - between)
            times['transport'].append(answer.transport)
    return {name: np.array(values) for name, values in times.items()}


def main() -> int:
    """Measures, and prints the overhead and the bar."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--calls', type=int, default=300)
    parser.add_argument('--work', type=float, default=0.01, help='s that the policy takes')
    parser.add_argument('--serve', action='store_true', help=argparse.SUPPRESS)
    options = parse(parser, calls=20)
    if options.serve:
        serve(options.work)
        return 0
    command = [sys.executable, __file__, '--serve', '--work', str(options.work)]
    with started(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        policy = connect_remote_policy(process.stdout.readline().strip())
        times = measure(policy, WorkingPolicy(options.work), options.calls)
        policy.close()
    overhead = 1000 * (times['remote'] - times['direct'])
    print(f'{options.calls} observations of two 640x480 images, policy {1000 * options.work:g} ms')
    for name, values in times.items():
        print(f'  {name:10} median {1000 * np.median(values):7.2f} ms')
    quartiles = np.percentile(overhead, (25, 50, 75, 95))
    print(
        f'  overhead   median {quartiles[1]:7.2f} ms (quartiles {quartiles[0]:.2f} to '
        f'{quartiles[2]:.2f}, p95 {quartiles[3]:.2f})'
    )
    message = {'images': {c: np.zeros((480, 640, 3), np.uint8) for c in CAMERAS}}
    print(f'  one observation is {len(encode(message)) / 1e6:.2f} MB')
    bars = Bars(options)
    bars.at_most('median overhead, ms', quartiles[1], BAR)
    return bars.exit_status()


if __name__ == '__main__':
    sys.exit(main())
