# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulator node: an SO-101 at a table, in real time, with the topics of a real robot and the
truth beside them.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from collections import deque
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped, WrenchStamped
from numpy.typing import NDArray
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState

from frame_ros.errors import SetupError
from frame_ros.msg import ContactState, EpisodeEvent, Proximity
from frame_ros.nodes.parameters import declare
from frame_ros.nodes.simulator_cameras import DEPTH_CAMERA, CameraThread, Picture
from frame_ros.nodes.simulator_messages import (
    contact_message,
    joint_state_message,
    mount_message,
    pose_message,
    proximity_message,
    time_message,
    wrench_message,
)
from frame_ros.nodes.simulator_timing import SECOND, TICK, Pace, PictureSchedule, Schedule
from frame_ros.nodes.simulator_viewer import wants_viewer
from frame_ros.nodes.spinning import run_node
from frame_ros.scenes import PickPlaceSimulation, TaskState
from frame_ros.scenes.model import CAMERAS
from frame_ros.srv import ResetScene

DEFAULTS: dict[str, Any] = {
    'seed': 0,
    'rate': 50.0,
    'truth_rate': 50.0,
    'cameras': list(CAMERAS),
    'image_rate': 20.0,
    'depth_rate': 10.0,
    'image_width': 320,
    'image_height': 240,
    'viewer': 'auto',
}
START_TIMEOUT = 10.0  # s that the first tick waits for the cameras
VIEWER_RATE = 25.0  # Hz
SLOW, WINDOW = 0.95, 10.0  # real-time factor below which it is said so; s over which it is measured
STANDSTILL = SECOND // 2  # ns given up at once that are said at once
WARNING_PERIOD = 5.0  # s between two warnings of one kind
SMALL_DEPTH = 50


class Simulator(Node):
    """Steps the physics in a thread of its own, by the node's clock.

    Commands, events and services come in by the executor. simulation: the simulation; hold `lock`
    to touch it. counts: of ticks, of commands and those refused. pace: how much time was given up.
    """

    def __init__(self) -> None:
        """Raises FrameRosError for a parameter that cannot be used, or where mujoco is missing."""
        super().__init__('simulator')
        self._options = {
            name: declare(self, name, default, is_word=name == 'viewer')
            for name, default in DEFAULTS.items()
        }
        _check(self._options)
        self.simulation = PickPlaceSimulation(self._options['seed'])
        self._steps = round(TICK / SECOND / self.simulation.timestep)
        self._seed = int(self._options['seed'])
        self.lock = threading.Lock()  # of the simulation, the targets and the events
        self._targets = self.simulation.targets
        self._reset_stamp = 0
        self._events: deque[EpisodeEvent] = deque()
        self._episode: str | None = None
        self._reported = TaskState.RUNNING
        self.counts = {'ticks': 0, 'commands': 0, 'rejected': 0, 'stale': 0}
        self.pace = Pace()
        self._create_publishers()
        self._create_inputs()
        self._create_schedules()
        size = (self._options['image_width'], self._options['image_height'])
        self._cameras = CameraThread(self, self.simulation, self._names, size, self._has_viewer)
        self._publish_mounts()
        self._stop = threading.Event()
        self._physics = threading.Thread(target=self._run, name='physics', daemon=True)
        self._cameras.start()
        self._physics.start()
        self.get_logger().info(f'scene {self._seed}, cameras: {", ".join(self._names) or "none"}')

    def _create_publishers(self) -> None:
        types = {
            'joint_states': JointState,
            'wrench': WrenchStamped,
            'ground_truth/contact': ContactState,
            'ground_truth/proximity': Proximity,
            'ground_truth/object_pose': PoseStamped,
            'ground_truth/goal_pose': PoseStamped,
        }
        self._publishers_by_topic = {
            topic: self.create_publisher(kind, topic, SMALL_DEPTH) for topic, kind in types.items()
        }
        latched = QoSProfile(depth=SMALL_DEPTH, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._event_publisher = self.create_publisher(EpisodeEvent, 'episode_events', latched)

    def _create_inputs(self) -> None:
        latched = QoSProfile(depth=SMALL_DEPTH, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.create_subscription(JointState, 'joint_commands', self._on_command, SMALL_DEPTH)
        self.create_subscription(EpisodeEvent, 'episode_events', self._on_event, latched)
        self.create_service(ResetScene, 'reset_scene', self._on_reset)

    def _create_schedules(self) -> None:
        options = self._options
        self._names = (
            tuple(name for name in options['cameras'] if name) if options['image_rate'] > 0 else ()
        )
        self._has_viewer = wants_viewer(options['viewer'])
        self._joint_schedule = Schedule(options['rate'])
        self._truth_schedule = Schedule(options['truth_rate'])
        count = max(1, len(self._names))
        pictures = {
            name: Schedule(options['image_rate'], index / count)
            for index, name in enumerate(self._names)
        }
        pictures[''] = Schedule(VIEWER_RATE if self._has_viewer else 0.0)
        self._picture_schedule = PictureSchedule(pictures)
        self._depth_schedule = Schedule(options['depth_rate'])

    def _publish_mounts(self) -> None:
        """tf_static of the cameras, where tf2_msgs is installed."""
        try:
            from tf2_msgs.msg import TFMessage
        except ImportError:
            return
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._mounts = self.create_publisher(TFMessage, 'tf_static', latched)
        stamp = self._now()
        mounts = [
            mount_message(stamp, name, self.simulation.camera_mount(name)) for name in self._names
        ]
        self._mounts.publish(TFMessage(transforms=mounts))

    def _now(self) -> int:
        return self.get_clock().now().nanoseconds

    # Inputs, in the executor's thread.

    def _on_command(self, message: JointState) -> None:
        stamp = message.header.stamp.sec * SECOND + message.header.stamp.nanosec
        self.counts['commands'] += 1
        with self.lock:
            if 0 < stamp < self._reset_stamp:
                self.counts['stale'] += 1
                return
            problem = self._take_targets(list(message.name), np.array(message.position))
        if problem:
            self.counts['rejected'] += 1
            self.get_logger().warning(
                f'joint command rejected ({self.counts["rejected"]} so far): {problem}',
                throttle_duration_sec=WARNING_PERIOD,
            )

    def _take_targets(self, names: list[str], positions: NDArray[np.float64]) -> str:
        """Takes the targets of a command, or returns why not."""
        known = self.simulation.joint_names
        unknown = [name for name in names if name not in known]
        if unknown or not names:
            return (
                f'unknown joint {unknown[0]!r}; known: {", ".join(known)}'
                if unknown
                else 'it names no joint'
            )
        if len(set(names)) != len(names):
            return f'a joint is named twice in {names}'
        if len(positions) != len(names):
            return f'{len(positions)} positions for {len(names)} joints'
        if not np.isfinite(positions).all():
            return f'positions must be finite, not {positions.tolist()}'
        self._targets[[known.index(name) for name in names]] = positions
        return ''

    def _on_event(self, message: EpisodeEvent) -> None:
        if message.type in (EpisodeEvent.START, EpisodeEvent.END):
            with self.lock:
                self._events.append(message)

    def _on_reset(
        self, request: ResetScene.Request, response: ResetScene.Response
    ) -> ResetScene.Response:
        seed = request.seed if request.seed >= 0 else self._seed + 1
        with self.lock:
            self.simulation.reset(seed)
            self._targets = self.simulation.targets
            self._seed, self._reset_stamp = seed, self._now()
            self._reported = TaskState.RUNNING
        response.success, response.message, response.seed = True, f'scene {seed}', seed
        return response

    # The physics thread.

    def _run(self) -> None:
        self._cameras.ready.wait(START_TIMEOUT)
        stamp = self._now()
        window_start, window_ticks = time.monotonic(), self.counts['ticks']
        while not self._stop.is_set():
            stamp = self._wait_for_next(stamp)
            self._tick(stamp)
            self.counts['ticks'] += 1
            elapsed = time.monotonic() - window_start
            if elapsed > WINDOW:
                self._warn_if_slow((self.counts['ticks'] - window_ticks) * TICK / SECOND / elapsed)
                window_start, window_ticks = time.monotonic(), self.counts['ticks']

    def _wait_for_next(self, stamp: int) -> int:
        """Waits for the tick after `stamp` and returns its stamp."""
        now = self._now()
        following = self.pace.next(stamp, now)
        if following - stamp > STANDSTILL or following < stamp:
            self.get_logger().warning(
                f'from one tick to the next the clock went {(following - stamp) / SECOND:+.2f} s; '
                'the simulation goes on from there',
                throttle_duration_sec=WARNING_PERIOD,
            )
        self._stop.wait(max(0, following - now) / SECOND)
        return following

    def _warn_if_slow(self, factor: float) -> None:
        if factor < SLOW:
            self.get_logger().warning(
                f'real-time factor {factor:.2f} over the last {WINDOW:.0f} s: the machine is too '
                f'busy ({self.pace.given_up / SECOND:.1f} s given up so far)',
            )

    def _tick(self, stamp: int) -> None:
        with self.lock:
            self._apply_events(stamp)
            self.simulation.step(self._targets, self._steps)
            messages = self._messages(stamp)
            pictures = self._pictures(stamp)
            event = self._outcome_event(stamp)
        for topic, message in messages:
            self._publishers_by_topic[topic].publish(message)
        if event is not None:
            self._event_publisher.publish(event)
        for picture in pictures:
            self._cameras.take(picture)

    def _apply_events(self, stamp: int) -> None:
        """Episodes begin and end at their events' stamps, a little after the events arrive."""
        while self._events and _stamp_of(self._events[0]) <= stamp:
            event = self._events.popleft()
            is_start = event.type == EpisodeEvent.START
            self._episode = event.episode_id if is_start else None
            if is_start:
                self.simulation.restart_task()
                self._reported = TaskState.RUNNING

    def _messages(self, stamp: int) -> list[tuple[str, object]]:
        simulation = self.simulation
        messages: list[tuple[str, object]] = []
        if self._joint_schedule.is_due(stamp):
            joints = joint_state_message(stamp, simulation.joint_names, simulation.joint_state())
            messages.append(('joint_states', joints))
            messages.append(('wrench', wrench_message(stamp, *simulation.wrench())))
        if self._truth_schedule.is_due(stamp):
            contacts, tip = simulation.contacts(), simulation.tip_position()
            messages.append(('ground_truth/contact', contact_message(stamp, contacts, tip)))
            messages.append(
                ('ground_truth/proximity', proximity_message(stamp, simulation.distance()))
            )
            messages.append(
                ('ground_truth/object_pose', pose_message(stamp, simulation.object_pose()))
            )
            messages.append(('ground_truth/goal_pose', pose_message(stamp, simulation.goal_pose())))
        return messages

    def _pictures(self, stamp: int) -> list[Picture]:
        cameras = self._picture_schedule.due(stamp, self._now())
        if not cameras:
            return []
        state = self.simulation.state()
        return [
            Picture(stamp, state, name, name == DEPTH_CAMERA and self._depth_schedule.is_due(stamp))
            for name in cameras
        ]

    def _outcome_event(self, stamp: int) -> EpisodeEvent | None:
        """SUCCESS or FAILURE, once in an episode."""
        state = self.simulation.task_state
        if self._episode is None or state is TaskState.RUNNING or state is self._reported:
            return None
        self._reported = state
        event = EpisodeEvent(episode_id=self._episode, source='simulator')
        event.header.stamp = time_message(stamp)
        is_success = state is TaskState.SUCCESS
        event.type = EpisodeEvent.SUCCESS if is_success else EpisodeEvent.FAILURE
        event.text = (
            'the cube lies released in the bin' if is_success else 'the cube fell off the table'
        )
        return event

    def destroy_node(self) -> None:
        """Stops the threads and says how it went."""
        self._stop.set()
        self._physics.join()
        self._cameras.stop()
        counts = self.counts
        left_out = self._cameras.skipped + self._picture_schedule.left_out
        images = ', '.join(f'{n} {name}' for name, n in self._cameras.published.items()) or 'none'
        self.get_logger().info(
            f'simulated {counts["ticks"] * TICK / SECOND:.1f} s, '
            f'gave up {self.pace.given_up / SECOND:.1f} s in {self.pace.delays} times; '
            f'commands: {counts["commands"]}, rejected {counts["rejected"]}, '
            f'from before a reset {counts["stale"]}; '
            f'images: {images}, left out {left_out}'
        )
        super().destroy_node()


def _stamp_of(event: EpisodeEvent) -> int:
    return event.header.stamp.sec * SECOND + event.header.stamp.nanosec


def _check(options: dict) -> None:
    if options['seed'] < 0:
        raise SetupError(f'seed is {options["seed"]}; it is 0 or more')
    for name in ('rate', 'truth_rate', 'image_rate', 'depth_rate'):
        most = SECOND / TICK
        if not (math.isfinite(options[name]) and 0 <= options[name] <= most):
            raise SetupError(f'{name} is {options[name]} Hz; it lies within 0 (off) and {most:.0f}')
    unknown = sorted(set(filter(None, options['cameras'])) - set(CAMERAS))
    if unknown:
        raise SetupError(f'there is no camera {unknown[0]!r}; there are {", ".join(CAMERAS)}')
    for name, most in (('image_width', 1280), ('image_height', 960)):
        if not 16 <= options[name] <= most:
            raise SetupError(f'{name} is {options[name]}; it lies within 16 and {most} pixels')


def main() -> None:
    """Runs the node."""
    sys.exit(run_node(Simulator))


if __name__ == '__main__':
    main()
