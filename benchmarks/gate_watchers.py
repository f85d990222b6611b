# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The commands of a policy while those who only watch are killed: the largest gap of them.

    python benchmarks/gate_watchers.py [--rounds 60] [--busy 2] [--profile FILE.xml]

A policy at 50 Hz, the gate, and an arm's driver (the sink) run on; beside them two busy loops. In
each round four watchers, each a process of its own with reliable subscriptions to all topics of the
arm, hear all of them for a random time, and are then killed at once with SIGKILL. A gap is the time
between two commands that the sink received.

--profile: the Fast DDS profile of the watchers, if it is not that of the others.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import subprocess
import sys
import threading
import time

import numpy as np
import rclpy
from bars import Bars, parse
from gate import Cell, gate
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState

from frame_ros.msg import EpisodeEvent, GateIntervention, GateState, PolicyHeartbeat
from frame_ros.nodes.polled import PolledSubscription

WATCHERS = 4
TOPICS = {
    'joint_states': JointState,
    'policy_commands': JointState,
    'joint_commands': JointState,
    'policy_heartbeat': PolicyHeartbeat,
    'gate_state': GateState,
    'gate_interventions': GateIntervention,
    'episode_events': EpisodeEvent,
}
GAP_BAR = 0.1  # s: no gap that the arm's driver would notice
PROFILE = 'FASTRTPS_DEFAULT_PROFILES_FILE', 'FASTDDS_DEFAULT_PROFILES_FILE'


def watch() -> None:
    """Listens to everything until it is killed, and says when the first command has come."""
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node(f'watcher_{os.getpid()}')
    inputs = [PolledSubscription(node, k, t, QoSProfile(depth=100)) for t, k in TOPICS.items()]
    is_said = False
    while True:
        taken = [subscription.take(100) for subscription in inputs]
        if taken[2] and not is_said:
            is_said = True
            print('hears', flush=True)
        time.sleep(0.005)


class Sink:
    """The arm's driver: when each command was received, s."""

    def __init__(self, node: rclpy.node.Node) -> None:
        self.times: list[float] = []
        self._subscription = PolledSubscription(node, JointState, 'joint_commands', 100)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while True:
            self._subscription.wait(0.1)
            for _, info in self._subscription.take(100):
                self.times.append(info['received_timestamp'] / 1e9)


def start_watchers(profile: str) -> list[subprocess.Popen]:
    """The watchers, all of which hear the commands."""
    environment = dict(os.environ)
    if profile:
        environment |= dict.fromkeys(PROFILE, os.path.abspath(profile))
    started = [
        subprocess.Popen(
            [sys.executable, __file__, '--watch'], env=environment, stdout=subprocess.PIPE
        )
        for _ in range(WATCHERS)
    ]
    for process in started:
        process.stdout.readline()
    return started


def rounds(sink: Sink, count: int, profile: str) -> tuple[list[float], float]:
    """The largest gap (s) within 3 s of each kill, and the largest at any other time."""
    largest, kills = [], []
    for i in range(count):
        watchers = start_watchers(profile)
        time.sleep(random.uniform(0.1, 0.3))
        killed = time.time()
        for process in watchers:
            process.kill()
        kills.append(killed)
        time.sleep(1.5)
        for process in watchers:
            process.wait()
        largest.append(largest_gap(sink.times, killed - 0.1, time.time()))
        if largest[-1] > 0.08:
            print(f'round {i}: {largest[-1]:.3f} s', flush=True)
    return largest, largest_gap(sink.times, sink.times[0], time.time())


def largest_gap(times: list[float], since: float, until: float) -> float:
    """The largest gap that lies in this time, s."""
    within = np.array([since, *(t for t in times if since < t < until), until])
    return float(np.diff(within).max())


def main() -> int:
    """Runs all of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--rounds', type=int, default=60)
    parser.add_argument('--busy', type=int, default=2, help='loops that keep a core busy')
    parser.add_argument('--profile', default='', help='Fast DDS profile of the watchers')
    parser.add_argument('--watch', action='store_true', help=argparse.SUPPRESS)
    options = parse(parser, rounds=1, busy=0)
    if options.watch:
        watch()
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    cell, bars = Cell(), Bars(options)
    with contextlib.ExitStack() as stack:
        for _ in range(options.busy):
            loop = subprocess.Popen([sys.executable, '-c', 'while True: pass'])
            stack.callback(loop.kill)
        stack.enter_context(gate())
        sink = Sink(cell.node)
        cell.drives = True
        cell.wait_for(GateState.PASSING)
        time.sleep(1.0)
        largest, overall = rounds(sink, options.rounds, options.profile)
    print(
        f'{options.rounds} times {WATCHERS} watchers killed, {options.busy} busy loops; largest '
        f'gap of commands after each, s: median {np.median(largest):.3f}, largest '
        f'{max(largest):.3f}; at any time {overall:.3f}'
    )
    bars.at_most('largest gap after a kill, s', max(largest), GAP_BAR)
    cell.drives = False
    cell.close()
    return bars.exit_status()


if __name__ == '__main__':
    sys.exit(main())
