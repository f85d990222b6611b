# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The command gate: the latency it adds, and how soon it stops an arm whose policy is gone.

    python benchmarks/gate.py [--seconds 20] [--kills 10]

Gate and policy run in processes of their own. Latencies are by the middleware's times: of the same
command, when it was received on policy_commands and when on joint_commands, both in this process.
The first line is a node that only passes on: what any node in the path adds on this machine.
A stop is the time from the publication of the last command of the policy to that of the first of
the gate.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import rclpy
from parts.bars import Bars, parse, started
from rclpy.qos import QoSDurabilityPolicy, QoSProfile
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState

from frame_ros.msg import GateState
from frame_ros.nodes.runtime.polled import PolledSubscription

JOINTS = ('shoulder_pan', 'shoulder_lift', 'elbow_flex', 'wrist_flex', 'wrist_roll', 'gripper')
HOME = (0.0, -1.35, 1.25, 0.85, 0.0, 0.3)
COMMAND_RATE, JOINT_RATE, GATE_RATE = 50.0, 100.0, 50.0
COMMAND_TIMEOUT, HEARTBEAT_TIMEOUT = 0.25, 0.5
MILLISECONDS = 1e-6  # of ns
LATENCY_BAR = 1.0  # ms, median

RELAY = 'a node that only passes on'
# Limits set besides: what a gate may be asked to check at most.
CASES = {
    'joints': {},
    'joints, box of the tip': {'workspace.box': '[-0.1,-0.4,0.0,0.45,0.4,0.5]'},
    'joints, box and floor of all links, tip speed': {
        'workspace.box': '[-0.1,-0.4,0.0,0.45,0.4,0.5]',
        'workspace.links': 'all',
        'workspace.floor': '-0.1',
        'workspace.speed': '1.0',
    },
}


class Listener:
    """Keeps (stamp of the message, published, received), ns, of what comes on a topic."""

    def __init__(self, node: rclpy.node.Node, topic: str) -> None:
        self.seen: list[tuple[int, int, int]] = []
        self._subscription = PolledSubscription(node, JointState, topic, 100)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._ending.is_set():
            self._subscription.wait(0.05)
            for message, info in self._subscription.take(100):
                stamp = message.header.stamp
                self.seen.append(
                    (
                        stamp.sec * 10**9 + stamp.nanosec,
                        info['source_timestamp'],
                        info['received_timestamp'],
                    )
                )

    def close(self) -> None:
        """Ends to listen."""
        self._ending.set()
        self._thread.join()
        self._subscription.destroy()


class Cell:
    """Publishes the arm's joint states, and a policy's commands while `drives`."""

    def __init__(self) -> None:
        self.node = rclpy.create_node('cell')
        self.drives = False
        self._joints = self.node.create_publisher(JointState, 'joint_states', 10)
        self._commands = self.node.create_publisher(JointState, 'policy_commands', 10)
        latched = QoSProfile(depth=1, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
        self.states = PolledSubscription(self.node, GateState, 'gate_state', latched)
        self._ending = threading.Event()
        self._threads = [
            threading.Thread(target=self._repeat, args=(rate, publish), daemon=True)
            for rate, publish in ((JOINT_RATE, self._measure), (COMMAND_RATE, self._command))
        ]
        for thread in self._threads:
            thread.start()

    def _repeat(self, rate: float, publish) -> None:
        due = time.monotonic()
        while not self._ending.is_set():
            publish()
            due += 1.0 / rate
            time.sleep(max(0.0, due - time.monotonic()))

    def _message(self, positions) -> JointState:
        message = JointState(name=JOINTS, position=positions)
        message.header.stamp = self.node.get_clock().now().to_msg()
        return message

    def _measure(self) -> None:
        self._joints.publish(self._message(HOME))

    def _command(self) -> None:
        if self.drives:
            swing = 0.1 * math.sin(time.monotonic())
            self._commands.publish(self._message([HOME[0] + swing, *HOME[1:]]))

    def wait_for(self, state: int) -> GateState:
        """Waits until the gate is in this state.

        Raises:
            TimeoutError: it never is.
        """
        deadline = time.monotonic() + 60.0
        while time.monotonic() < deadline:
            for message, _ in self.states.take(10):
                if message.state == state:
                    return message
            time.sleep(0.005)
        raise TimeoutError(f'the gate was never in state {state}')

    def close(self) -> None:
        """Ends to publish."""
        self._ending.set()
        for thread in self._threads:
            thread.join()
        self.states.destroy()
        self.node.destroy_node()


def process(module: str, *arguments: str) -> contextlib.AbstractContextManager[subprocess.Popen]:
    """A node in a process of its own."""
    command = [sys.executable, '-u', '-m', f'frame_ros.nodes.{module}', '--ros-args']
    return started([*command, '--log-level', 'fatal', *arguments])


def gate(**parameters: str) -> contextlib.AbstractContextManager[subprocess.Popen]:
    """The gate with these parameters."""
    given = {
        'rate': str(GATE_RATE),
        'watchdogs.command_timeout': str(COMMAND_TIMEOUT),
        'watchdogs.heartbeat_timeout': str(HEARTBEAT_TIMEOUT),
        **parameters,
    }
    return process('gate', *(part for n, v in given.items() for part in ('-p', f'{n}:={v}')))


def pass_on() -> None:
    """Runs a node that only passes commands on, until SIGTERM."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node('relay')
    publisher = node.create_publisher(JointState, 'joint_commands', 50)
    commands = PolledSubscription(node, JointState, 'policy_commands', 10)
    while True:
        commands.wait(0.02)
        for message, _ in commands.take(1):
            publisher.publish(message)


def relay_latency(cell: Cell, seconds: float) -> tuple[float, ...]:
    """As `latency`, of a node that only passes on."""
    with started([sys.executable, __file__, '--relay']):
        direct, relayed = (Listener(cell.node, t) for t in ('policy_commands', 'joint_commands'))
        cell.drives = True
        while not relayed.seen:
            time.sleep(0.05)
        time.sleep(seconds)
        cell.drives = False
        direct.close(), relayed.close()
    return (*percentiles(direct, relayed), math.nan)


def percentiles(direct: Listener, later: Listener) -> tuple[float, ...]:
    """Median, 95th and 99th percentile of the time between two topics, ms."""
    received = {stamp: at for stamp, _, at in direct.seen}
    added = [(at - received[s]) * MILLISECONDS for s, _, at in later.seen if s in received]
    return tuple(np.percentile(added, (50, 95, 99)))


def latency(cell: Cell, seconds: float, parameters: dict[str, str]) -> tuple[float, ...]:
    """Median, 95th and 99th percentile of the added latency, and the median inside the gate; ms."""
    cell.states.take(100)  # of an earlier gate
    with gate(**parameters):
        direct, gated = (Listener(cell.node, t) for t in ('policy_commands', 'joint_commands'))
        cell.drives = True
        cell.wait_for(GateState.PASSING)
        time.sleep(1.0)
        inside = []
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            inside += [m.latency for m, _ in cell.states.take(10) if math.isfinite(m.latency)]
            time.sleep(0.1)
        cell.drives = False
        direct.close(), gated.close()
    return (*percentiles(direct, gated), 1e3 * float(np.median(inside)))


def stop_time(cell: Cell, **parameters: str) -> float:
    """Seconds from the last command of a policy that is killed to the first of the gate."""
    cell.states.take(100)  # of an earlier gate
    with gate(**parameters):
        sent = Listener(cell.node, 'joint_commands')
        asked = Listener(cell.node, 'policy_commands')
        names = ('-r', 'joint_commands:=policy_commands')
        with process('policy', '-p', 'policy:=hold', '-p', 'run_on:=always', *names) as policy:
            cell.wait_for(GateState.PASSING)
            time.sleep(1.0)
            policy.send_signal(signal.SIGKILL)
            cell.wait_for(GateState.STOPPED)
        time.sleep(0.2)
        sent.close(), asked.close()
    own = {stamp for stamp, _, _ in asked.seen}
    last = max(published for stamp, published, _ in sent.seen if stamp in own)
    return (min(p for s, p, _ in sent.seen if s not in own and p > last) - last) / 1e9


def report_latency(cell: Cell, seconds: float, bars: Bars) -> None:
    """Prints a line per case."""
    head = ('limits', 'median', '95 %', '99 %', 'inside')
    print(
        f'latency added, ms, {COMMAND_RATE:g} Hz: end to end, from one hop over DDS to the other; '
        'inside the gate: median from received to sent'
    )
    print(f'{head[0]:46}' + ''.join(f'{name:>9}' for name in head[1:]))
    print(f'{RELAY:46}' + ''.join(f'{v:9.3f}' for v in relay_latency(cell, seconds)), flush=True)
    for name, parameters in CASES.items():
        figures = latency(cell, seconds, parameters)
        print(f'{name:46}' + ''.join(f'{v:9.3f}' for v in figures), flush=True)
        for what, value in (('end to end', figures[0]), ('received to sent', figures[3])):
            bars.at_most(f'{name}, {what}, median ms', value, LATENCY_BAR)


def report_stops(cell: Cell, kills: int, bars: Bars) -> None:
    """Prints a line per watchdog."""
    period = 1.0 / GATE_RATE
    print(f'\nSIGKILL of the policy, {kills} times: s from its last command to the stop command')
    cases = {
        'stale command': (COMMAND_TIMEOUT, {}),
        'stale command, latched': (COMMAND_TIMEOUT, {'watchdogs.on_stale_command': 'stop'}),
        'heartbeat': (
            0.2,
            {'watchdogs.heartbeat_timeout': '0.2', 'watchdogs.command_timeout': '1.0'},
        ),
    }
    for name, (timeout, parameters) in cases.items():
        times = [stop_time(cell, **parameters) for _ in range(kills)]
        print(
            f'{name:24} timeout {timeout:.3f}  median {np.median(times):.4f}  '
            f'longest {max(times):.4f}',
            flush=True,
        )
        bars.at_most(f'{name}, longest s', max(times), timeout + period)


def main() -> int:
    """Runs all of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seconds', type=float, default=20.0, help='of each latency case')
    parser.add_argument('--kills', type=int, default=10)
    parser.add_argument('--relay', action='store_true', help=argparse.SUPPRESS)
    options = parse(parser, seconds=2.0, kills=1)
    if options.relay:
        pass_on()
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    cell = Cell()
    bars = Bars(options)
    report_latency(cell, options.seconds, bars)
    report_stops(cell, options.kills, bars)
    cell.close()
    rclpy.shutdown()
    return bars.exit_status()


if __name__ == '__main__':
    sys.exit(main())
