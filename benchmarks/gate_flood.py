# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The command gate under a flood of commands: how long `~/stop` takes to the stop command.

    python benchmarks/gate_flood.py [--stops 200] [--rate 10000]

A process publishes valid commands on policy_commands at the rate; the gate lets as many of them
pass as it does by itself (command_rate_limit off: with it, a flood alone is a stop). Each trial
resets the gate, waits until commands pass and a random time, and calls `~/stop`; the stop command
is the first on joint_commands that is not the flood's, and its time that of its publication.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import numpy as np
import rclpy
from gate import GATE_RATE, HOME, JOINTS, Cell, Listener, gate
from parts.bars import Bars, parse
from rclpy.executors import SingleThreadedExecutor
from rclpy.serialization import serialize_message
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from frame_ros.core.thread_priority import raise_priority
from frame_ros.msg import GateState

GRID, MARK = 100_000, 77_777  # ns: stamps of the flood lie on this grid, those of the gate do not
STOP_BAR = 25.0  # ms, 99th percentile; the largest: a period more
QUIET = 50.0  # Hz, of a policy alone
STAMP = 4  # bytes before the stamp in a serialised message


def flood(rate: float) -> None:
    """Publishes commands at this rate until it is ended, and prints how many per second it was."""
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node('flood')
    publisher = node.create_publisher(JointState, 'policy_commands', 10)
    data = bytearray(serialize_message(JointState(name=JOINTS, position=HOME)))
    started, sent, last = time.monotonic(), 0, 0
    while True:
        due = int((time.monotonic() - started) * rate)
        for _ in range(due - sent):
            last = max(last + GRID, time.time_ns() // GRID * GRID + MARK)
            struct.pack_into('<iI', data, STAMP, *divmod(last, 10**9))
            publisher.publish(bytes(data))
        sent = due
        time.sleep(0.5 / rate)


@contextlib.contextmanager
def flooded(rate: float) -> Iterator[None]:
    """The same in a process of its own."""
    started = subprocess.Popen([sys.executable, __file__, '--flood', str(rate)])
    try:
        yield
    finally:
        started.kill()
        started.wait()


class Operator:
    """Calls the gate's services."""

    def __init__(self) -> None:
        self.node = rclpy.create_node('operator')
        self._stop, self._reset = (
            self.node.create_client(Trigger, f'gate/{name}') for name in ('stop', 'reset')
        )
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        while not self._ending.is_set():
            self._executor.spin_once(timeout_sec=0.05)

    def wait(self) -> None:
        """Waits for the gate."""
        for client in (self._stop, self._reset):
            if not client.wait_for_service(30.0):
                raise TimeoutError('there is no gate')

    def reset(self) -> None:
        """Resets, again and again until the gate is released."""
        deadline = time.monotonic() + 30.0
        while time.monotonic() < deadline:
            future = self._reset.call_async(Trigger.Request())
            end = time.monotonic() + 10.0
            while not future.done() and time.monotonic() < end:
                time.sleep(0.002)
            answer = future.result() if future.done() else None
            if answer and (answer.success or 'not stopped' in answer.message):
                return
            time.sleep(0.02)
        raise TimeoutError('the gate could not be reset')

    def ask_for_reset(self) -> None:
        """Resets once, whatever comes of it."""
        self._reset.call_async(Trigger.Request())

    def stop(self) -> int:
        """Calls ~/stop; when, ns of the system clock."""
        at = time.time_ns()
        self._stop.call_async(Trigger.Request())
        return at

    def close(self) -> None:
        """Ends."""
        self._ending.set()
        self._thread.join()
        self.node.destroy_node()


def stop_time(cell: Cell, operator: Operator, sent: Listener) -> float:
    """ms from a call of ~/stop to the stop command."""
    operator.reset()
    cell.wait_for(GateState.PASSING)
    time.sleep(random.uniform(0.05, 0.15))
    sent.seen.clear()
    called = operator.stop()
    since = cell.wait_for(GateState.STOPPED).since
    stopped, deadline = since.sec * 10**9 + since.nanosec, time.monotonic() + 5.0
    while time.monotonic() < deadline:
        for stamp, published, _ in list(sent.seen):
            if stamp >= stopped and stamp % GRID != MARK:
                return (published - called) / 1e6
        time.sleep(0.002)
    raise TimeoutError('no stop command within 5 s')


def trial(cell: Cell, operator: Operator, rate: float, stops: int) -> list[float]:
    """The times of that many stops under a flood."""
    with (
        gate(
            command_rate_limit='0.0',
        ),
        flooded(rate),
    ):
        operator.wait()
        sent = Listener(cell.node, 'joint_commands')
        times = [stop_time(cell, operator, sent) for _ in range(stops)]
        sent.close()
    return times


def main() -> int:
    """Runs all of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--stops', type=int, default=200)
    parser.add_argument('--rate', type=float, default=10_000.0, help='commands per second')
    parser.add_argument('--flood', type=float, help=argparse.SUPPRESS)
    options = parse(parser, stops=3)
    if options.flood:
        flood(options.flood)
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    raise_priority(40)  # it is not this process that is measured
    cell, operator, bars = Cell(), Operator(), Bars(options)
    for rate in (QUIET, options.rate):
        times = trial(cell, operator, rate, options.stops)
        figures = (*np.percentile(times, (50, 99)), max(times))
        print(
            f'{rate:.0f} Hz of commands, {len(times)} stops, ms from ~/stop to the stop command: '
            'median {:.2f}, 99 % {:.2f}, largest {:.2f}'.format(*figures),
            flush=True,
        )
        if rate > QUIET:
            bars.at_most('99 %, ms', figures[1], STOP_BAR)
            bars.at_most('largest, ms', figures[2], STOP_BAR + 1e3 / GATE_RATE)
    operator.close()
    cell.close()
    rclpy.shutdown()
    return bars.exit_status()


if __name__ == '__main__':
    sys.exit(main())
