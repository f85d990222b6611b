# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The driver of a Franka arm against franky-sim: its cost at 1 kHz, lost cycles by who caused them,
and how soon the arm rests after a gate or a policy was killed.

    python benchmarks/fci_driver.py [--duration 600] [--kills 10]

franky-sim's FR3, the driver with its defaults, the gate, and a policy that swings a joint are
processes of their own; what is measured at the arm is measured by franky-sim.

A lost cycle is a millisecond in which a motion ran and no command came. The arm caused it where it
sent its state late and so left the client less than a millisecond. The machine caused it where
libfranka's thread, which alone answers the arm, had no core for more than half of that millisecond:
it was ready to run and waited, as the kernel counts it (/proc/PID/task/TID/schedstat), or its core
stood still, as a process of a higher priority notes that wakes there four times a millisecond
(parts/core_stalls.py), and it did not run for as long. Nothing that the driver does has a higher
priority than that thread. The rest is the driver's. How many a client loses that does nothing but
move the arm, in turns with the driver, stands behind it, judged in the same way.

The time to rest runs from SIGKILL to the last motion that the arm measures, in steps of 20 ms.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from parts.bars import Bars, parse, started
from parts.core_stalls import CoreStalls, Stall
from parts.lost_cycles import control_thread, without_core

from frame_ros.bringup.arm_options import ArmOptions
from frame_ros.bringup.demo_worlds import free_host
from frame_ros.bringup.process_table import Process, arm_processes, watching_environment
from frame_ros.bringup.supervisor import ros_environment
from frame_ros.scenes.core_watch import LostAnswers

POLICY = Path(__file__).resolve().parent / 'parts' / 'swinging_policy.py'
JOINT = 'fr3_joint4'
CORE_BAR = 0.4
RATE_BAR = 990.0  # states per second of the arm's clock, of 1000
TIMEOUT, PERIOD = 0.5, 1 / 30  # s: command_timeout of the driver, and between two commands
RESTING = 2.5  # s after a kill until the arm is asked
PATIENCE = 120.0  # s for what must come
TICKS = os.sysconf('SC_CLK_TCK')
# Moves the arm by libfranka's thread alone, until it is killed.
BARE = """
import sys, time
import franky
robot = franky.Robot(sys.argv[1], 0.3, realtime_config=franky.RealtimeConfig.Ignore)
turns = [[0.0] * 3 + [sign * 0.2] + [0.0] * 3 for sign in (1, -1)]
points = [franky.JointVelocityWaypoint(r, hold_target_duration=franky.Duration(700)) for r in turns]
motion = franky.JointVelocityWaypointMotion(points * 10000)
robot.move(motion)
"""


class Arm:
    """franky-sim in a process of its own, at a loopback address."""

    def __init__(self, host: str) -> None:
        self.host = host
        self._process = subprocess.Popen(
            [sys.executable, '-u', '-m', 'frame_ros.scenes.franky_world', host],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._process.stdout is not None
        self._process.stdout.readline()

    def report(self) -> dict[str, Any]:
        """Counts since its start, and since when it is at rest (s of time.monotonic())."""
        found: dict[str, Any] = json.loads(self._ask('report'))
        return found

    def watch(self, process: int) -> bool:
        """Has it look whether libfranka's thread in a process had a core; False: which one that is
        cannot be said, as this user may give no priorities.
        """
        thread = control_thread(process)
        if thread:
            self._ask(f'watch {process} {thread}')
        return bool(thread)

    def _ask(self, order: str) -> str:
        """Gives an order, and returns the line that answers it."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f'{order}\n')
        self._process.stdin.flush()
        return self._process.stdout.readline()

    def wait_until_moving(self) -> None:
        """Returns once it has moved on and on for a second. Raises TimeoutError."""
        end, moves = time.monotonic() + PATIENCE, 0
        while moves < 10:
            if time.monotonic() > end:
                raise TimeoutError('the arm does not move')
            time.sleep(0.1)
            moves = moves + 1 if self.report()['rest_time'] == float('inf') else moves // 2

    def close(self) -> None:
        """Ends it."""
        self._process.kill()
        self._process.wait()


def processes(host: str) -> dict[str, Process]:
    """Driver, gate and policy, as the launch file would start them."""
    options = ArmOptions(
        robot='fr3', host=host, record=False, policy=f'{POLICY}:Swing',
        policy_options={'joint': JOINT},
    )  # fmt: skip
    own: dict[str, dict[str, Any]] = {
        'robot_driver': {'fci.realtime': 'ignore'}, 'gate': {}, 'policy': {'run_on': 'always'},
    }  # fmt: skip
    return {
        p.executable: replace(p, parameters={**p.parameters, **own[p.executable]})
        for p in arm_processes(options)
        if p.executable in own
    }


def running(
    process: Process, logs: int = subprocess.DEVNULL
) -> AbstractContextManager[subprocess.Popen]:
    """A node; at the end it is asked to stop."""
    environment = ros_environment(os.environ)
    environment |= watching_environment(process, environment)
    return started(process.command(), env=environment, stdout=logs, stderr=logs)


def cpu(pid: int) -> float:
    """CPU time of a process so far, s."""
    words = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    return (int(words[11]) + int(words[12])) / TICKS


def states_of(log: Path) -> tuple[int, int]:
    """States that a driver which has ended read and missed."""
    line = next(text for text in log.read_text().splitlines() if 'stopped after' in text)
    words = line.split('stopped after ')[1].split()
    return int(words[0]), int(words[2])


def counted(arm: Arm, pid: int, seconds: float) -> dict[str, Any]:
    """The arm's counts in so many seconds, what its client lost, and the client's CPU time."""
    names = ('ticks', 'given_up', 'in_motion', 'missing', 'missing_in_time')
    is_watched = arm.watch(pid)
    before, spent, began = arm.report(), cpu(pid), time.monotonic()
    time.sleep(seconds)
    after = arm.report()
    found: dict[str, Any] = {name: after[name] - before[name] for name in names}
    found['lost'] = [LostAnswers(**each) for each in after['lost'][len(before['lost']) :]]
    spent = cpu(pid) - spent
    return found | {'cpu': spent, 'elapsed': time.monotonic() - began, 'watched': is_watched}


def drive(arm: Arm, table: dict[str, Process], seconds: float, log: Path) -> dict[str, Any]:
    """The driver in motion for so long: the arm's counts, and of the driver CPU and states."""
    with ExitStack() as stack:
        stream = stack.enter_context(log.open('w'))
        driver = stack.enter_context(running(table['robot_driver'], stream.fileno()))
        for name in ('gate', 'policy'):
            stack.enter_context(running(table[name]))
        arm.wait_until_moving()
        found = counted(arm, driver.pid, seconds)
    found['states'], found['states_missed'] = states_of(log)
    return found


def drive_bare(arm: Arm, seconds: float) -> dict[str, Any]:
    """A client that only moves the arm, for so long: the arm's counts."""
    client = subprocess.Popen([sys.executable, '-c', BARE, arm.host], stderr=subprocess.DEVNULL)
    try:
        arm.wait_until_moving()
        return counted(arm, client.pid, seconds)
    finally:
        client.kill()
        client.wait()


def time_to_rest(arm: Arm, table: dict[str, Process], victim: str) -> tuple[float, float]:
    """s from the SIGKILL of a node to the arm's last motion; s by which the arm fell behind the
    clock meanwhile, and moved the longer.
    """
    with ExitStack() as stack:
        nodes = {name: stack.enter_context(running(table[name])) for name in table}
        arm.wait_until_moving()
        before, killed = arm.report(), time.monotonic()
        os.kill(nodes[victim].pid, signal.SIGKILL)
        time.sleep(RESTING)
        after = arm.report()
        return after['rest_time'] - killed, after['given_up'] - before['given_up']


def total(parts: Sequence[dict[str, Any]], name: str) -> float:
    """Sum over the turns."""
    return sum(part[name] for part in parts)


def judge(parts: Sequence[dict[str, Any]], stalls: Sequence[Stall]) -> tuple[int, int]:
    """Prints each cycle that a client lost; returns those without a core, as `without_core`."""
    found = [(each, without_core(each, stalls)) for part in parts for each in part['lost']]
    for each, (waited, still) in found:
        print(
            f'  {each.number} lost in {1e3 * (each.ended - each.asked):.1f} ms: the thread waited '
            f'{1e3 * each.waited:.2f} ms and ran {1e3 * each.ran:.2f} ms: {waited} without a core, '
            f'{still} as core {each.core} stood still'
        )
    return sum(waited for _, (waited, _) in found), sum(still for _, (_, still) in found)


def report(
    bars: Bars, ours: list[dict[str, Any]], bare: list[dict[str, Any]], stalls: Sequence[Stall]
) -> None:
    """Prints cost and lost cycles, and judges them."""
    cycles = total(ours, 'in_motion')
    lost, late = (total(ours, name) for name in ('missing', 'missing_in_time'))
    share = total(ours, 'cpu') / total(ours, 'elapsed')
    read, missed = total(ours, 'states'), total(ours, 'states_missed')
    rate = max(1.0, 1000.0 * read / max(1.0, read + missed))
    print(
        f'{total(ours, "elapsed"):.0f} s in {len(ours)} turns, {cycles:.0f} cycles in motion; the '
        f'arm fell {total(ours, "given_up"):.2f} s behind the clock'
    )
    bare_share = total(bare, 'cpu') / total(bare, 'elapsed')
    print(
        f'CPU: {share:.3f} cores, {share / bare_share:.1f} times those of a client that only moves '
        f"the arm; {missed:.0f} of the arm's {read + missed:.0f} states not read"
    )
    each = 1e6 * total(ours, 'cpu') / total(ours, 'ticks')
    bare_each = 1e6 * total(bare, 'cpu') / total(bare, 'ticks')
    print(
        f'CPU per state: {each:.0f} us of each that the arm sent, {each * 1000.0 / rate:.0f} us of '
        f'each that was read and published; the client that only moves the arm: {bare_each:.0f} us'
    )
    print(
        f'lost cycles: {lost:.0f}; by the arm, which sent its state late: {lost - late:.0f}; by '
        f'the client, which had had its whole millisecond: {late:.0f}'
    )
    waited, still = judge(ours, stalls)
    is_known = all(part['watched'] for part in ours)
    print(
        f"of these {late:.0f}, cycles in which the machine gave libfranka's thread no core: "
        + (
            f'{waited} in which it waited, {still} in which its core stood still'
            if is_known
            else 'not known, this user may give no priorities'
        )
    )
    bare_cycles, bare_late = total(bare, 'in_motion'), total(bare, 'missing_in_time')
    bare_waited, bare_still = judge(bare, stalls)
    print(
        f'a client that only moves the arm: {bare_late:.0f} in {bare_cycles:.0f} cycles; in '
        f'{bare_waited} it waited, in {bare_still} its core stood still'
    )
    machine = waited + still if is_known else bare_late * cycles / max(1.0, bare_cycles)
    bars.at_most('the driver at 1 kHz, cores', share, CORE_BAR)
    bars.at_least('states of 1000 that the arm sent', rate, RATE_BAR)
    bars.at_most('lost cycles beyond those of the arm and the machine', late - machine, 0.0)


def can_move(arm: Arm) -> bool:
    """True if a client that only moves the arm can, on this machine at this time."""
    try:
        drive_bare(arm, 1.0)
    except TimeoutError:
        return False
    return True


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--duration', type=float, default=600.0, help='s of motion, in turns')
    parser.add_argument('--turn', type=float, default=60.0, help='s of a turn')
    parser.add_argument('--kills', type=int, default=10, help='of each of gate and policy')
    options = parse(parser, argv, duration=3.0, turn=3.0, kills=1)
    bars = Bars(options)
    try:
        import franky  # noqa: F401
        import franky_sim  # noqa: F401
    except ImportError as error:
        print(f'left out: {error}; requirements/worlds.txt')
        return 0
    arm, log = Arm(free_host()), Path(f'/tmp/fci_driver_{os.getpid()}.log')
    print(f'load average at the start: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores')
    try:
        table = processes(arm.host)
        ours, bare = [], []
        with CoreStalls() as watch:
            for _ in itertools.repeat(None, max(1, round(options.duration / options.turn))):
                ours.append(drive(arm, table, options.turn, log))
                bare.append(drive_bare(arm, options.turn))
        report(bars, ours, bare, watch.found)
        for victim in ('gate', 'policy') if options.kills else ():
            times = [time_to_rest(arm, table, victim) for _ in range(options.kills)]
            told = ', '.join(f'{rest:.3f} ({behind:.2f})' for rest, behind in times)
            print(f'the arm rests after SIGKILL of the {victim} (and fell behind by): {told} s')
            bars.at_most(
                f'largest time to rest after SIGKILL of the {victim}, s',
                max(rest for rest, _ in times),
                TIMEOUT + PERIOD,
            )
    except TimeoutError as error:
        if not options.short or can_move(arm):  # then it is the driver that does not move it
            raise
        print(f'not measured, this machine is too busy for any client of the arm: {error}')
    finally:
        arm.close()
        log.unlink(missing_ok=True)
    print(f'load average at the end: {os.getloadavg()[0]:.1f}')
    return bars.exit_status()


if __name__ == '__main__':
    sys.exit(main())
