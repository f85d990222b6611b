# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The commands of a policy while those who only watch are killed: the largest gap of them.

    python benchmarks/gate_watchers.py [--rounds 100] [--busy 2] [--tries 60] [--watching FILE.xml]

A policy at 50 Hz, joint states at 1 kHz, the gate, and an arm's driver (the sink) run on, with
two busy loops. In each round four watchers, processes with reliable subscriptions to all
topics of the arm, hear all of them for a random time, and are then killed at once with SIGKILL. A
gap is the time between two commands: as the policy published them, as the gate did, and as the sink
received them. The longest publication is of the policy's own calls.

The first of them is killed while it holds the lock of a shared-memory port, if it is found in such
a moment within so many tries. --watching: the Fast DDS profile of the watchers, by default what
ours get; --watching '' gives them that of the others.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import rclpy
from gate import HOME, JOINTS, gate
from parts.bars import Bars, busy_loops, parse
from rclpy.qos import QoSDurabilityPolicy, QoSProfile
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState

from frame_ros.bringup.node_process import PROFILES, Process, watching_environment
from frame_ros.core.thread_priority import raise_priority
from frame_ros.msg import EpisodeEvent, GateIntervention, GateState, PolicyHeartbeat
from frame_ros.nodes.runtime.polled import PolledSubscription

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
POLICY_RATE, JOINT_RATE = 50.0, 1000.0
GAP_BAR = 0.1  # s: five periods
AFTER = 1.2  # s after a kill
GIVE_UP = 20.0  # s without a command
OURS = 'as our nodes that only watch'
LATCHED = QoSProfile(depth=1, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)


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
            os.write(1, f'{os.getpid()}\n'.encode())
        time.sleep(0.005)


def fork_watchers() -> None:
    """Makes a watcher per line that it reads: from a process that has imported all there is."""
    for _ in sys.stdin:
        if os.fork() == 0:
            watch()
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


class Policy:
    """Publishes commands, and the arm's joint states, each in a thread of its own."""

    def __init__(self, node: rclpy.node.Node) -> None:
        self.longest = 0.0  # s that a publication took
        self.published: list[float] = []
        self._node = node
        self._commands = node.create_publisher(JointState, 'policy_commands', 10)
        self._joints = node.create_publisher(JointState, 'joint_states', 10)
        for rate, publish in ((POLICY_RATE, self._command), (JOINT_RATE, self._measure)):
            threading.Thread(target=self._repeat, args=(rate, publish), daemon=True).start()

    def _repeat(self, rate: float, publish) -> None:
        raise_priority(40)
        due = time.monotonic()
        while True:
            publish()
            due = max(due + 1.0 / rate, time.monotonic() - 0.1)
            time.sleep(max(0.0, due - time.monotonic()))

    def _publish(self, publisher, message: JointState) -> None:
        message.header.stamp = self._node.get_clock().now().to_msg()
        began = time.monotonic()
        publisher.publish(message)
        self.longest = max(self.longest, time.monotonic() - began)

    def _command(self) -> None:
        self._publish(self._commands, JointState(name=JOINTS, position=HOME))
        self.published.append(time.time())

    def _measure(self) -> None:
        self._publish(self._joints, JointState(name=JOINTS, position=HOME))


class Sink:
    """The arm's driver: when each command was published and received, s."""

    def __init__(self, node: rclpy.node.Node) -> None:
        self.sent: list[float] = []
        self.received: list[float] = []
        self._subscription = PolledSubscription(node, JointState, 'joint_commands', 100)
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        raise_priority(40)
        while True:
            self._subscription.wait(0.1)
            for _, info in self._subscription.take(100):
                self.sent.append(info['source_timestamp'] / 1e9)
                self.received.append(info['received_timestamp'] / 1e9)


def holds_lock(process: int) -> bool:
    """Returns whether a stopped process holds the lock of a shared-memory port of Fast DDS. It is a
    pthread_mutex_t: lock, count, owner (the id of the thread), as int32.
    """
    threads = [int(name) for name in os.listdir(f'/proc/{process}/task')]
    maps = Path(f'/proc/{process}/maps').read_text().splitlines()
    for port in {line.split()[5] for line in maps if '/dev/shm/fast' in line and '_port' in line}:
        with contextlib.suppress(FileNotFoundError):
            words = np.fromfile(port, np.int32)
            owned = np.flatnonzero(np.isin(words[2:], threads))
            if (np.isin(words[owned], (1, 2)) & (words[owned + 1] == 0)).any():
                return True
    return False


def wait_for_lock(process: int, tries: int) -> bool:
    """Stops a process at a moment at which it holds a lock; whether there was one."""
    for _ in range(tries):
        os.kill(process, signal.SIGSTOP)
        if holds_lock(process):
            return True
        os.kill(process, signal.SIGCONT)
        time.sleep(random.uniform(0.0, 0.002))
    return False


def kill_watchers(forker: subprocess.Popen, tries: int) -> tuple[float, int]:
    """Starts watchers, and kills them when all of them hear the commands. Returns when, s; how many
    of them held a lock, where that was waited for.
    """
    for _ in range(WATCHERS):
        forker.stdin.write('watcher\n')
    forker.stdin.flush()
    watchers = [int(forker.stdout.readline()) for _ in range(WATCHERS)]
    time.sleep(random.uniform(0.0, 0.1))
    held = int(tries > 0 and wait_for_lock(watchers[0], tries))
    killed = time.time()
    for watcher in watchers:
        os.kill(watcher, signal.SIGKILL)
    return killed, held


def largest_gap(times: list[float], since: float, until: float) -> float:
    """The largest gap within this time, s."""
    i, j = np.searchsorted(times, (since, until))
    return float(np.diff([since, *times[i:j], until]).max())


def run(
    policy: Policy, sink: Sink, forker: subprocess.Popen, count: int, tries: int
) -> tuple[np.ndarray, int]:
    """Per round, the largest gaps (s) after it: published, sent on, received; watchers that were
    killed while they held a lock.
    """
    kills = []
    for _ in range(count):
        kills.append(kill_watchers(forker, tries))
        time.sleep(AFTER)
        if time.time() - sink.received[-1] > GIVE_UP:
            print('no command comes any more', flush=True)
            break
    end = time.time()
    while sink.sent[-1] < end and time.time() < end + GIVE_UP:  # what is late has come, too
        time.sleep(0.1)
    gaps = []
    for i, (killed, holding) in enumerate(kills):
        series = (policy.published, sink.sent, sink.received)
        gaps.append([largest_gap(list(s), killed - 0.05, killed + AFTER) for s in series])
        if max(gaps[-1]) > GAP_BAR:
            held = ', with a lock held' * holding
            print(f'round {i}{held}: ' + ', '.join(f'{gap:.3f}' for gap in gaps[-1]), flush=True)
    return np.array(gaps), sum(holding for _, holding in kills)


def main() -> int:
    """Runs all of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--rounds', type=int, default=100)
    parser.add_argument('--busy', type=int, default=2, help='loops that keep a core busy')
    parser.add_argument('--watching', default=OURS, help='Fast DDS profile of the watchers')
    parser.add_argument(
        '--tries', type=int, default=60, help='to stop the first watcher while it holds a lock'
    )
    parser.add_argument('--watch', action='store_true', help=argparse.SUPPRESS)
    options = parse(parser, rounds=1, busy=0, tries=5)
    if options.watch:
        fork_watchers()
        return 0
    environment = dict(os.environ)
    if options.watching == OURS:
        environment |= watching_environment(Process('', '', only_watches=True), environment)
    elif options.watching:
        environment |= dict.fromkeys(PROFILES, os.path.abspath(options.watching))
    command = [sys.executable, __file__, '--watch']
    with contextlib.ExitStack() as stack:
        stack.enter_context(busy_loops(options.busy))
        forker = subprocess.Popen(
            command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        stack.callback(forker.kill)
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
        node, bars = rclpy.create_node('cell'), Bars(options)
        stack.enter_context(gate())
        sink, policy = Sink(node), Policy(node)
        while len(sink.received) < 2 * POLICY_RATE:
            time.sleep(0.1)
        gaps, held = run(policy, sink, forker, options.rounds, options.tries)
    median, largest = np.median(gaps, axis=0), np.max(gaps, axis=0)
    print(
        f'{len(gaps)} times {WATCHERS} watchers killed, {options.busy} busy loops; largest gap of '
        'commands after each, s, as the policy published, the gate sent, the arm received: median '
        + ', '.join(f'{gap:.3f}' for gap in median)
        + '; largest '
        + ', '.join(f'{gap:.3f}' for gap in largest)
        + f'; longest publication of the policy {policy.longest:.3f}'
        + (f'; {held} held a lock' if options.tries else '')
    )
    bars.at_most('largest gap of what the arm received, s', largest[2], GAP_BAR)
    sys.stdout.flush()
    os._exit(bars.exit_status())  # the threads publish to the end


if __name__ == '__main__':
    sys.exit(main())
