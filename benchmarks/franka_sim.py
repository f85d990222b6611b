# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The driver of a Franka arm against franka-sim, which enforces the limits at which a real arm
stops itself.

    python benchmarks/franka_sim.py [--only circle] [--runs 3] [--duration 20]

franka-sim is not ours, and asks for a MuJoCo and a NumPy of its own: it runs in .venv-franka-sim,
which this makes where it is missing (not with --short, which is left out then). Its model of the
arm is the FR3 of franky-sim, or the one that FR3_MJCF names. It binds a loopback address.

Each run is a new arm and a new driver node, with its defaults but for control and dynamics; goals
come over ROS. Where the arm stops itself the run ends. How far it is off, and lost cycles, are
measured at the arm (parts/franka_sim/server.py). A cycle counts as lost by the driver where that
had its millisecond, and the kernel of the arm had no answer at its end; and of these as the
machine's where libfranka's thread was ready to run meanwhile and had no core for half of it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import yaml
from parts.bars import Bars, parse, started
from parts.franka_sim.arm import PYTHON, ROOT, FrankaSimArm
from parts.franka_sim.rows import ROWS, Figures, Row, figures, judge, summary

from frame_ros.bringup.arm_options import ArmOptions
from frame_ros.bringup.demo_worlds import free_host
from frame_ros.bringup.process_table import arm_processes
from frame_ros.bringup.supervisor import ros_environment
from frame_ros.core.thread_priority import raise_priority
from frame_ros.robots import load_robot

PATIENCE = 60.0  # s for the driver's first state
PRIORITY = 30  # of the thread that sends goals, below the driver's
VERSION = 'import importlib.metadata as m; print(m.version("franka-sim"))'


class Sender:
    """Sends goals to the driver as a policy's gate does."""

    def __init__(self) -> None:
        import rclpy
        from geometry_msgs.msg import PoseStamped
        from sensor_msgs.msg import JointState

        self._kinds = JointState, PoseStamped
        rclpy.init()
        self._node = node = rclpy.create_node('franka_sim_goals')
        self._joints = node.create_publisher(JointState, 'joint_commands', 10)
        self._poses = node.create_publisher(PoseStamped, 'pose_commands', 10)
        self._names = list(load_robot('fr3').joint_names)

    def is_heard(self, is_pose: bool) -> bool:
        """True once the driver listens."""
        publisher = self._poses if is_pose else self._joints
        return publisher.get_subscription_count() > 0

    def send(self, goal: Any, is_pose: bool) -> None:
        """Sends one goal."""
        joint_state, pose_stamped = self._kinds
        message: Any = pose_stamped() if is_pose else joint_state()
        message.header.stamp = self._node.get_clock().now().to_msg()
        if not is_pose:
            message.name, message.position = self._names, goal.tolist()
            self._joints.publish(message)
            return
        message.header.frame_id = 'base'
        at, turned = message.pose.position, message.pose.orientation
        at.x, at.y, at.z, turned.x, turned.y, turned.z, turned.w = map(float, goal)
        self._poses.publish(message)

    def close(self) -> None:
        """Ends ROS."""
        import rclpy

        self._node.destroy_node()
        rclpy.shutdown()


def driver(
    row: Row, host: str, given: dict[str, Any], log: Any
) -> AbstractContextManager[subprocess.Popen]:
    """The driver node for a row, and parameters that were given; at the end it is stopped."""
    options = ArmOptions(robot='fr3', host=host, record=False)
    process = next(p for p in arm_processes(options) if p.executable == 'robot_driver')
    own: dict[str, Any] = {
        'fci.realtime': 'ignore', 'fci.gripper': False,
        'fci.control': row.control, 'fci.dynamics': row.dynamics,
    }  # fmt: skip
    process = replace(process, parameters={**process.parameters, **own, **given})
    return started(process.command(), env=ros_environment(os.environ), stdout=log, stderr=log)


def wait_until_heard(sender: Sender, row: Row, node: subprocess.Popen) -> None:
    """Returns once the driver listens. Raises TimeoutError."""
    end = time.monotonic() + PATIENCE
    while not sender.is_heard(row.is_pose):
        if time.monotonic() > end or node.poll() is not None:
            raise TimeoutError('the driver does not come up')
        time.sleep(0.05)
    time.sleep(1.0)  # until it has read where the arm is


def run(row: Row, sender: Sender, duration: float, given: dict[str, Any]) -> Figures:
    """One run of a row."""
    with (
        FrankaSimArm(free_host()) as arm,
        tempfile.TemporaryFile('w+') as log,
        driver(row, arm.host, given, log) as node,
    ):
        try:
            wait_until_heard(sender, row, node)
        except TimeoutError as error:
            log.seek(0)
            raise TimeoutError(f'{error}:\n{log.read()[-2000:]}') from error
        before = arm.report()
        path = row.path(before.joints[-1])
        began = time.monotonic()
        watcher = threading.Timer(1.0, arm.watch, (node.pid,))  # its thread begins with the motion
        watcher.start()
        follow(row, path, sender, began, duration)
        watcher.join()
        return figures(row, path, arm.report(), before, began)


def follow(row: Row, path: Any, sender: Sender, began: float, duration: float) -> None:
    """Sends the goals of a path."""
    for number in range(int(duration * row.rate)):
        due = began + number / row.rate
        time.sleep(max(0.0, due - time.monotonic()))
        sender.send(path.at(due - began), row.is_pose)


def split(parameter: str) -> tuple[str, str]:
    """Name and value of NAME=VALUE."""
    name, _, text = parameter.partition('=')
    return name, text


def environment() -> str:
    """Makes franka-sim's environment; returns the version there, or '' if it cannot be made."""
    script = ROOT / 'scripts' / 'franka_sim_environment.sh'
    if subprocess.run([script], stdout=sys.stderr, check=False).returncode:
        return ''
    return version()


def version() -> str:
    """franka-sim's version, '' where its environment is not there."""
    if not PYTHON.is_file():
        return ''
    clean = {name: text for name, text in os.environ.items() if name != 'PYTHONPATH'}
    done = subprocess.run([PYTHON, '-c', VERSION], env=clean, capture_output=True, text=True)
    return done.stdout.strip()


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--runs', type=int, default=3, help='of each row')
    parser.add_argument('--duration', type=float, default=20.0, help='s of a run')
    parser.add_argument(
        '--parameter', action='append', default=[], metavar='NAME=VALUE',
        help='of the driver instead of its own, such as fci.self_distance=0.0',
    )  # fmt: skip
    parser.add_argument('--only', default='', help='rows with this in their name or control')
    options = parse(parser, argv, runs=1, duration=3.0, only='circle, 0.1 m/s')
    rows = [row for row in ROWS if options.only in f'{row.name} {row.control} {row.dynamics:g}']
    given = {name: yaml.safe_load(text) for name, text in map(split, options.parameter)}
    if not rows:
        parser.error(f'--only is {options.only!r}, of no row')
    try:
        import franky  # noqa: F401
        import franky_sim  # noqa: F401
    except ImportError as error:
        print(f'left out: {error}; requirements/worlds.txt')
        return 0
    found = version() if options.short else environment()
    if not found:
        print('left out: no environment of franka-sim; make franka-sim-environment')
        return int(not options.short)
    print(
        f'franka-sim {found}; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; '
        f'{options.runs} runs of {options.duration:g} s of each row'
    )
    bars, sender = Bars(options), Sender()
    raise_priority(PRIORITY)
    try:
        for row in rows:
            runs = [run(row, sender, options.duration, given) for _ in range(options.runs)]
            print(summary(row, runs), flush=True)
            judge(bars, row, runs)
    finally:
        sender.close()
    print(f'load average at the end: {os.getloadavg()[0]:.1f}')
    return bars.exit_status()


if __name__ == '__main__':
    sys.exit(main())
