# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Motion of the running robot for `frame-ros identify`, with the user's consent."""

from __future__ import annotations

import select
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.motion_bag import MotionBag
from frame_ros.core.errors import MissingExtraError, SetupError
from frame_ros.core.plain_text import counted
from frame_ros.robots import Robot
from frame_ros.robots.dynamics import RobotDynamics
from frame_ros.robots.profile import Topics
from frame_ros.robots.shapes.clearance import ClearanceCheck
from frame_ros.sensing.contact.identification_options import MotionOptions, ToolOptions
from frame_ros.sensing.contact.joints.fitting.excitation import (
    Excitation,
    plan_excitation,
    plan_poses,
)
from frame_ros.sensing.contact.joints.fitting.recording import JointRecording
from frame_ros.sensing.contact.wrench.still_poses import StillPose, StillPoses

if TYPE_CHECKING:
    from frame_ros.nodes.identification.node import IdentificationNode

Array = NDArray[np.float64]
PATIENCE = 10.0  # s for the first joint state
BRIEF = 1.0  # s without joint states, behind the hold, after which nobody is asked: no gate latches
STARTING = 1.0  # s in which an arm that was held comes back to the speed of its motion
POSE_PAUSE = 2.5  # s at each commanded pose
WRENCH_TOPIC = 'wrench'
MOVING = (
    'The arm will move. Keep people and things out of its reach, and the emergency stop in your '
    'hand;\nCtrl-C stops it where it is.'
)


def record_joints(
    motion: MotionOptions, dynamics: RobotDynamics, bag: MotionBag, is_agreed: bool = False
) -> JointRecording | None:
    """Plans, asks, moves and records, also into a bag; None if the user refused or the motion ended
    early.
    """
    open_node, stop_on_signals = _of_nodes()
    everything = tuple(dynamics.robot.joint_limits)
    rows = [everything.index(name) for name in dynamics.joint_names]
    with (
        stop_on_signals() as stop,
        open_node(
            everything, '', motion.namespace, dynamics.robot.continuous, _topics(dynamics.robot)
        ) as node,
    ):
        here = node.wait_for_joints(PATIENCE, stop.event)
        print('planning a motion ...', flush=True)
        excitation = plan_excitation(dynamics, here[rows], motion)
        targets = excitation.positions(motion.rate, motion.speed)
        _print_motion(excitation, targets, motion, node.command_topic)
        _print_unchecked(dynamics)
        if not _is_agreed(is_agreed, stop.event):
            return None
        node.record(bag)
        full = _full(targets, here, rows)
        if why := _play(node, full, motion.rate, stop.event, is_agreed):
            print(f'\nended early: {why}; nothing is identified', file=sys.stderr)
            return None
        return node.recording(dynamics.joint_names)


def _print_motion(
    excitation: Excitation, targets: Array, motion: MotionOptions, topic: str
) -> None:
    seconds = len(targets) / motion.rate
    low, high = targets.min(axis=0), targets.max(axis=0)
    print(f'{seconds:.0f} s of motion on {topic}, at {100 * motion.speed:.0f} % of its full speed; '
          f'condition number {excitation.condition:.1f}')  # fmt: skip
    spans = ', '.join(f'{a:+.2f} to {b:+.2f}' for a, b in zip(low, high, strict=True))
    print(f'joints go over {spans} rad')


def _print_unchecked(dynamics: RobotDynamics) -> None:
    check = ClearanceCheck(dynamics.robot, dynamics.joint_names)
    if check.unchecked:
        print(f'only meshes, and so checked against nothing: {", ".join(check.unchecked)}')


def collect_poses(
    options: ToolOptions, motion: MotionOptions, robot: Robot, bag: MotionBag, is_moved: bool,
    is_agreed: bool,
) -> list[StillPose]:  # fmt: skip
    """Returns still poses of the arm, which the user moves or, if `is_moved`, commands do. All that
    comes is recorded into a bag.
    """
    open_node, stop_on_signals = _of_nodes()
    everything = tuple(robot.joint_limits)
    rows = [everything.index(name) for name in robot.joint_names]
    topic = options.wrench_topic or WRENCH_TOPIC
    still = StillPoses(joint_names=robot.joint_names, continuous=robot.continuous)
    with (
        stop_on_signals() as stop,
        open_node(everything, topic, motion.namespace, robot.continuous, _topics(robot)) as node,
    ):
        here = node.wait_for_joints(PATIENCE, stop.event)
        done = threading.Event()
        watch = threading.Thread(
            target=_watch, args=(node, still, rows, options.poses, done, stop.event), daemon=True
        )
        try:
            if is_moved:
                dynamics = RobotDynamics(robot)
                way = plan_poses(dynamics, here[rows], motion, options.poses)
                targets = way.positions(motion.rate, motion.speed, POSE_PAUSE)
                print(
                    f'{counted(len(way.poses), "pose")} in {len(targets) / motion.rate:.0f} s on '
                    f'{node.command_topic}'
                )
                _print_unchecked(dynamics)
                if _is_agreed(is_agreed, stop.event):
                    node.record(bag)
                    watch.start()
                    full = _full(targets, here, rows)
                    if why := _play(node, full, motion.rate, stop.event, is_agreed):
                        print(f'\nended early: {why}', file=sys.stderr)
            else:
                node.record(bag)
                _wait_for_user(options.poses, watch, done, stop.event)
        finally:
            done.set()
            if watch.ident is not None:
                watch.join()
    return still.poses


def _wait_for_user(
    count: int, watch: threading.Thread, done: threading.Event, stop: threading.Event
) -> None:
    print(f'move the arm to {counted(count, "pose")} that turn the sensor as differently '
          'as possible,\n'
          'and let it stand still for 2 s in each; Ctrl-C: that was all', flush=True)  # fmt: skip
    watch.start()
    while not (stop.is_set() or done.is_set()):
        time.sleep(0.1)


def _watch(
    node: IdentificationNode,
    still: StillPoses,
    rows: list[int],
    wanted: int,
    done: threading.Event,
    stop: threading.Event,
) -> None:
    """Feeds what comes to `still` until it has as many poses as wanted."""
    while not (done.is_set() or stop.is_set()):
        joints, wrenches = node.take()
        merged = sorted(
            [(stamp, 0, values) for stamp, values in joints]
            + [(stamp, 1, values) for stamp, values in wrenches],
            key=lambda row: row[:2],
        )
        for stamp, kind, values in merged:
            if kind == 0:
                still.add_joints(stamp, values[rows])
            elif still.add_wrench(stamp, values) is not None:
                print(f'pose {len(still.poses)} of {wanted}', flush=True)
        if len(still.poses) >= wanted:
            done.set()
        done.wait(0.05)


def _full(targets: Array, here: Array, rows: list[int]) -> Array:
    """Commands for every joint: those that are not moved stay."""
    full = np.repeat(here[None], len(targets), axis=0)
    full[:, rows] = targets
    return full


def _play(
    node: IdentificationNode, targets: Array, rate: float, stop: threading.Event, is_agreed: bool
) -> str:
    """Plays a motion, and goes on with it where joint states were missing for a while. Returns why
    it ended early, or ''.
    """
    from frame_ros.nodes.identification.node import play

    rows: Array = np.arange(len(targets), dtype=np.float64)  # of what is left
    left = len(targets)

    def report(share: float) -> None:
        if sys.stdout.isatty():
            done = 1.0 - (1.0 - share) * left / len(targets)
            print(f'\r{100 * done:3.0f} %', end='', flush=True)

    while True:
        played = play(node, _between(targets, rows), rate, stop, report)
        if played.sent:
            rows = started(rows[played.sent - 1], len(targets), rate)
            left = len(targets) - int(rows[0])
        if sys.stdout.isatty():
            print()
        if not played.is_silent or not _goes_on(node, played.why, stop, is_agreed):
            return played.why


def started(row: float, count: int, rate: float) -> Array:
    """Returns the rows, of `count` at `rate` Hz, between which a motion that stopped at `row` goes
    on: with a speed that grows evenly to its own in STARTING seconds, and to its last row.
    """
    steps = np.arange(1, max(1, round(STARTING * rate)) + 1)
    ramp = row + steps**2 / (2.0 * len(steps))
    rows = np.concatenate((ramp, np.arange(ramp[-1] + 1.0, count)))
    return np.append(rows[rows < count - 1], count - 1.0)


def _between(targets: Array, rows: Array) -> Array:
    """Returns the targets (T, N) at rows (R,), which may be between two: (R, N)."""
    before = np.minimum(rows.astype(np.int64), len(targets) - 1)
    after = np.minimum(before + 1, len(targets) - 1)
    share = (rows - before)[:, None]
    between: Array = (1.0 - share) * targets[before] + share * targets[after]
    return between


def _goes_on(node: IdentificationNode, why: str, stop: threading.Event, is_agreed: bool) -> bool:
    """Waits for joint states; returns whether the motion goes on. After more than a moment somebody
    may have come near: the user is asked again.
    """
    print(f'\npaused: {why}; waiting for them for {PATIENCE:g} s', file=sys.stderr, flush=True)
    since = time.monotonic()
    try:
        node.wait_for_joints(PATIENCE, stop)
    except SetupError as error:
        print(error, file=sys.stderr)
        return False
    silence = time.monotonic() - since
    print('joint_states are back; the motion goes on where it was', flush=True)
    if silence <= BRIEF:
        return True
    print(
        'A gate that latched a stop meanwhile is released by `ros2 service call /gate/reset '
        'std_srvs/srv/Trigger`.'
    )
    return _is_agreed(is_agreed, stop)


def _is_agreed(is_sure: bool, stop: threading.Event) -> bool:
    """Returns True if the arm may move; False if `stop` is set, or the input ends, before that."""
    print(MOVING, flush=True)
    if is_sure:
        return True
    if not sys.stdin.isatty():
        raise SetupError('the input is no terminal: --yes says that the arm may move')
    print('Move? [y/N] ', end='', flush=True)
    # The signals are taken over: reading alone would not end at Ctrl-C.
    while not stop.is_set():
        if select.select([sys.stdin], [], [], 0.1)[0]:
            return sys.stdin.readline().strip().lower() in ('y', 'yes')
    print()
    return False


def _topics(robot: Robot) -> Topics:
    """Returns the names that the arm's driver has; of the wrench, that of a sensor."""
    topics = robot.profile.topics
    is_estimate = robot.profile.wrench_is_estimate
    return attrs.evolve(topics, wrench=WRENCH_TOPIC) if is_estimate else topics


def _of_nodes() -> tuple[Any, Any]:
    """Returns the node, and the context that ends on signals, which need ROS.

    Raises:
        MissingExtraError: ROS is missing.
    """
    try:
        from frame_ros.nodes.identification.node import identification_node
        from frame_ros.nodes.runtime.spinning import stop_on_signals
    except ImportError as error:
        raise MissingExtraError(
            f'moving a robot needs ROS 2 ({error}): source its setup.bash, or give --bag'
        ) from error
    return identification_node, stop_on_signals
