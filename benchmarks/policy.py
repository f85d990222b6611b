# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Parts of an inference in the policy node, and the node's overhead over calling the policy.

    python benchmarks/policy.py [--seconds 20] [--rate 30] [--policies still,work,act]

A second process feeds the node with two 640x480 cameras at 30 Hz and joint states at 100 Hz. What
the node adds is all that its inference thread does apart from the call of the policy: putting the
observation together, the checks, the queue, and publishing PolicyInference; also the difference to
calling the same policy directly, in this process, when the node is gone. Policies: `still` does
nothing, so that all of its latency is the node's; `work` computes for 20 ms; `act` is a LeRobot ACT
checkpoint with random weights.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from parts.bars import Bars, parse

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'test' / 'policies'))

from checkpoints import make_act_checkpoint
from control_loop import SIZE, BusyPolicy, run

from frame_ros.core.lerobot_import import import_lerobot
from frame_ros.policies.making import make_policy_of
from frame_ros.policies.options import PolicyRunOptions
from frame_ros.policies.protocol import Inference, Observation
from frame_ros.robots import load_robot

BAR_MS = 5.0  # median of what the node adds to an inference


class Timed:
    """Another policy, with the times between which each call ran, s."""

    def __init__(self, policy: Any) -> None:
        self._policy = policy
        self.begun: list[float] = []
        self.ended: list[float] = []
        self.observation: Observation | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._policy, name)

    def infer(self, observation: Observation) -> Inference:
        """The other's inference."""
        self.observation = observation
        self.begun.append(time.perf_counter())
        inference = self._policy.infer(observation)
        self.ended.append(time.perf_counter())
        return inference

    @property
    def durations(self) -> np.ndarray:
        """s, of all calls."""
        return np.array(self.ended) - np.array(self.begun)


class TimedPublisher:
    """The node's publisher of inferences, with how long publishing took, s."""

    def __init__(self, publisher: Any) -> None:
        self._publisher = publisher
        self.durations: list[float] = []

    def publish(self, message: Any) -> None:
        """Publishes."""
        begun = time.perf_counter()
        self._publisher.publish(message)
        self.durations.append(time.perf_counter() - begun)


def measure(policy: Any, options: argparse.Namespace) -> dict[str, np.ndarray]:
    """ms of each part of each inference in the node, and of calling the policy directly."""
    # On a busy computer a large network may take longer than a short run.
    for seconds in (options.seconds, 5 * options.seconds, 25 * options.seconds):
        timed, publishers = Timed(policy), []

        def watch(node: Any, publishers: list[TimedPublisher] = publishers) -> None:
            publishers.append(TimedPublisher(node._inference._publisher))
            node._inference._publisher = publishers[0]

        received, _ = run(seconds, timed, watch, control_rate=options.rate, execution='ensembling')
        if len(received['parts']['latency']):
            break
    assert timed.observation is not None and len(received['parts']['latency'])
    direct = []
    for _ in range(options.calls):
        begun = time.perf_counter()
        policy.infer(timed.observation)
        direct.append(time.perf_counter() - begun)
    parts = received['parts']
    own = timed.durations[-len(parts['latency']) :]
    published = np.array(publishers[0].durations)[-len(own) :]
    count = min(len(own), len(published), len(parts['latency']))
    parts = {name: values[-count:] for name, values in parts.items()}
    times = {**parts, 'call': own[-count:], 'publish': published[-count:]}
    times['added'] = times['latency'] - times['call'] + times['publish']
    times['direct'] = np.array(direct)
    return {name: 1000 * values for name, values in times.items()}


def report(label: str, times: dict[str, np.ndarray], bars: Bars) -> None:
    """Prints one block: median and 99th percentile of each part, ms."""
    print(f'\n{label}, two cameras {SIZE[1]}x{SIZE[0]}, {len(times["latency"])} inferences, ms')
    names = ('latency', 'preprocess', 'forward', 'postprocess', 'cpu_time', 'call', 'direct')
    for name in (*names, 'publish', 'added'):
        values = times[name]
        if np.isfinite(values).all():
            print(f'  {name:12} {np.median(values):8.2f} {np.percentile(values, 99):8.2f}')
    difference = np.median(times['latency'] + times['publish']) - np.median(times['direct'])
    print(f'  over direct  {difference:8.2f}', flush=True)
    bars.at_most(f'{label}, median added by the node, ms', float(np.median(times['added'])), BAR_MS)


def main() -> int:
    """Runs all cases."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seconds', type=float, default=20.0)
    parser.add_argument('--rate', type=float, default=30.0, help='Hz of the control loop')
    parser.add_argument('--calls', type=int, default=60, help='of the policy directly')
    parser.add_argument('--policies', default='still,work,act', help='which, with commas')
    options = parse(parser, seconds=3.0, calls=3, policies='work,act')
    wanted, bars = options.policies.split(','), Bars(options)
    for label, duration in (('still', 0.0), ('work', 0.02)):
        if label not in wanted:
            continue
        policy = BusyPolicy('numpy', duration, options.rate)
        report(label, measure(policy, options), bars)
    if 'act' not in wanted:
        return bars.exit_status()
    import_lerobot()
    with tempfile.TemporaryDirectory() as folder:
        make_act_checkpoint(folder, image_size=SIZE, chunk_size=100)
        settings = PolicyRunOptions(policy='lerobot', checkpoint=folder, units='rad')
        policy = make_policy_of(settings, load_robot('so101'))
        report('act', measure(policy, options), bars)
    return bars.exit_status()


if __name__ == '__main__':
    sys.exit(main())
