# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulator node: an SO-101 or an FR3 at a table, in real time, with the topics of a real robot
and the truth as well.
"""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Iterator, Mapping
from typing import Any, cast

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState

from frame_ros.core.errors import FrameRosError, SetupError
from frame_ros.core.repeated_warnings import RepeatedWarnings
from frame_ros.core.thread_priority import raise_priority
from frame_ros.core.time import SECOND, stamp_ns
from frame_ros.gate.named_positions import NamedPositions, NamedPositionsReader
from frame_ros.nodes.runtime.endpoints import endpoint, interface, published
from frame_ros.nodes.runtime.fitting_subscription import FittingSubscription
from frame_ros.nodes.runtime.node_readiness import Readiness
from frame_ros.nodes.runtime.parameters import declare_options
from frame_ros.nodes.runtime.qos import EVENTS
from frame_ros.nodes.runtime.spinning import run_node
from frame_ros.nodes.runtime.task_events import TaskEvents
from frame_ros.nodes.simulator.cameras import CameraThread, Picture
from frame_ros.nodes.simulator.franka import FrankaBroadcaster
from frame_ros.nodes.simulator.messages import mount_message
from frame_ros.nodes.simulator.options import SimulatorOptions
from frame_ros.nodes.simulator.sensors import Sensors
from frame_ros.nodes.simulator.topics import JOINT_COMMANDS, RESET_SCENE, SCENE, TF_STATIC
from frame_ros.nodes.simulator.truth import TruthPublishers
from frame_ros.robots.profiles import public_name
from frame_ros.scenes import PickPlaceSimulation
from frame_ros.scenes.cards.choice import find_scene
from frame_ros.scenes.description.files import read_scenes
from frame_ros.scenes.generation.setting import JOINT_STATES
from frame_ros.scenes.late_stream import LateStream, late_streams
from frame_ros.scenes.running_scene import RunningScene
from frame_ros.scenes.simulation.scene_file_simulation import SceneFileSimulation
from frame_ros.scenes.simulation.task import TaskState
from frame_ros.scenes.simulation.timing import (
    FAR_BEHIND,
    Pace,
    PictureParts,
    PictureSchedule,
    Schedule,
)
from frame_ros.scenes.simulation.viewer import wants_viewer
from frame_ros.srv import ResetScene

START_TIMEOUT = 10.0  # s that the first tick waits for the cameras
OF_SCENES = {
    TaskState.SUCCESS: "the task of the scene is done, by the paper's rule",
    TaskState.FAILURE: 'the target fell off the table',
}
VIEWER_RATE = 25.0  # Hz
SLOW, WINDOW = 0.95, 10.0  # real-time factor that is logged below this; s of its measurement
STANDSTILL = SECOND // 2  # ns given up at once that are logged at once
LONGEST_RESET = 2.0  # s that a reset waits for the physics, which a clock may have stopped
# s after which a thread must hand over the interpreter's lock: physics would otherwise wait for it
# as long as a tick lasts while a picture is made.
SWITCH_INTERVAL = 0.0005


class SimulatorNode(Node):
    """Steps the physics in a thread of its own, by the node's clock.

    Commands, events and services come in by the executor. simulation: the simulation; hold `lock`
    to touch it. counts: of ticks, of commands and those refused. pace: how much time was given up.
    """

    def __init__(self) -> None:
        """Raises FrameRosError for a parameter that cannot be used, or where mujoco is missing."""
        super().__init__('simulator')
        self._warnings = RepeatedWarnings(self.get_logger())
        self.options = options = declare_options(self, SimulatorOptions).complete
        self._scenes = self._scenes_of_file()
        # Of either kind, which have in common what the node uses.
        self.simulation = cast(
            Any,
            self._scenes
            or PickPlaceSimulation(options.seed, robot=options.robot, friction=options.friction),
        )
        self._seed = options.seed if self._scenes is None else self._scenes.place
        self.lock = threading.Lock()  # of the simulation and the targets
        self._targets = self.simulation.targets
        self._commands = NamedPositionsReader(self.simulation.joint_names)
        self._reset_stamp = 0
        self._task = TaskEvents(self, 'simulator', OF_SCENES if self._scenes else None)
        self.counts = {'ticks': 0, 'commands': 0, 'rejected': 0, 'stale': 0}
        self.pace = Pace(options.tick)
        self._sensors = Sensors(self, self.simulation, options)
        self._franka = FrankaBroadcaster(self, self.simulation, options)
        self._truth = TruthPublishers(self, self.simulation, options)
        self._create_inputs()
        self._scene_publisher: Any = None
        self._schedule_pictures()
        self._cameras = CameraThread(self, self.simulation, options, self._has_viewer)
        self._publish_mounts()
        self._begin_scene()
        self._stop = threading.Event()
        self.exit_code: int | None = None  # set when a thread fails
        self._failed = self.create_guard_condition(lambda: None)
        self._physics = threading.Thread(target=self._run, name='physics', daemon=True)
        self._cameras.start()
        self._physics.start()
        self.get_logger().info(
            f'{options.robot}, {self._scene_text()}, '
            f'cameras: {", ".join(self._cameras.names) or "none"}'
        )
        self._readiness = Readiness(self, f'simulated {public_name(options.robot)}', self._problem)

    def _scenes_of_file(self) -> SceneFileSimulation | None:
        """The scenes of the file, if there is one."""
        options = self.options
        if not options.scenes_file:
            return None
        scenes = read_scenes(options.scenes_file)
        if not scenes:
            raise SetupError(f'{options.scenes_file} has no scene')
        place = find_scene(scenes, options.scene)
        return SceneFileSimulation(scenes, options.robot, place, options.cameras)

    def _scene_text(self) -> str:
        return f'scene {self._seed}' if self._scenes is None else self._scenes.text

    def _problem(self) -> str:
        """The reason why the scene of a file is no sound one any more; '': it is."""
        return '' if self._scenes is None else str(self._scenes.current.problem)

    def _create_inputs(self) -> None:
        called = {'depth': EVENTS.depth, 'is_called': True}
        FittingSubscription(self, JOINT_COMMANDS, self._on_command, is_live=True, **called)
        self.create_service(*endpoint(RESET_SCENE), self._on_reset)

    def _schedule_pictures(self) -> None:
        options, tick = self.options, self.options.tick
        self._has_viewer = wants_viewer(options.viewer)
        self._parts = {
            name: PictureParts(options.image_rate_of(name), options.depth_rate_of(name), tick)
            for name in options.cameras
        }
        count = max(1, len(self._parts))
        pictures = {
            name: Schedule(parts.rate, index / count, tick)
            for index, (name, parts) in enumerate(self._parts.items())
        }
        pictures[''] = Schedule(VIEWER_RATE if self._has_viewer else 0.0, tick=tick)
        self._picture_schedule = PictureSchedule(pictures)

    def _publish_mounts(self) -> None:
        """tf_static of the cameras, where tf2_msgs is installed."""
        self._mounts: Any
        try:
            self._mounts = self.create_publisher(*published(TF_STATIC))
        except ImportError:  # without tf2_msgs
            self._mounts = None
        self._send_mounts()

    def _begin_scene(self) -> None:
        """Says which scene of a file runs, and takes its late and incomplete streams."""
        scenes = self._scenes
        scene = None if scenes is None else scenes.current.scene
        cameras = (scene.cameras if scene else None) or ()
        self._sizes = {c.name: (c.width, c.height) for c in cameras if c.width and c.height}
        self._streams: Mapping[str, LateStream[Any]] = late_streams(scene, self.options.cameras)
        if scenes is None or scene is None:
            return
        if self._scene_publisher is None:
            self._scene_publisher = self.create_publisher(*published(SCENE))
        running = RunningScene.of(scene, scenes.place, self.simulation.robot.base_link)
        self._scene_publisher.publish(interface(SCENE.type)(data=running.text))

    def _send_mounts(self) -> None:
        if self._mounts is None:
            return
        stamp, names = self._now(), self.options.frames
        mounts = [
            mount_message(stamp, name, self.simulation.camera_mount(name), names)
            for name in self._cameras.names
        ]
        self._mounts.publish(interface(TF_STATIC.type)(transforms=mounts))

    def _now(self) -> int:
        return self.get_clock().now().nanoseconds

    # Inputs, in the executor's thread.

    def _on_command(self, message: JointState) -> None:
        stamp = stamp_ns(message.header.stamp)
        self.counts['commands'] += 1
        with self.lock:
            if 0 < stamp < self._reset_stamp:
                self.counts['stale'] += 1
                return
            command = self._commands.read(message.name, message.position)
            if isinstance(command, NamedPositions):
                # As a controller does, before it interpolates: within what the joints can reach.
                at, simulation = command.indices, self.simulation
                self._targets[at] = np.clip(
                    command.positions, simulation.lower[at], simulation.upper[at]
                )
                return
        self.counts['rejected'] += 1
        rejected = f'joint command rejected ({self.counts["rejected"]} so far): {command.text}'
        self._warnings.warn('command', rejected)

    def _on_reset(
        self, request: ResetScene.Request, response: ResetScene.Response
    ) -> ResetScene.Response:
        seed = request.seed if request.seed >= 0 else self._seed + 1
        with self.lock:
            try:
                self.simulation.reset(seed)
            except FrameRosError as error:  # of a scene of a file; the one before stays
                response.success, response.message = False, str(error)
                response.seed = self._seed
                return response
            if self._scenes is not None:
                seed = self._scenes.place
            self._targets = self.simulation.targets
            self._sensors.reset()
            self._franka.reset()
            self._seed, self._reset_stamp = seed, self._now()
            self._task.forget()
            if self._scenes is not None:
                self._begin_scene()
            ticks = self.counts['ticks']
        if self._scenes is not None:
            self._send_mounts()
        self._wait_until_sent(ticks)
        response.success, response.message, response.seed = True, self._scene_text(), seed
        return response

    def _wait_until_sent(self, ticks: int) -> None:
        """Waits until what was measured after a reset is sent: an episode that begins before that,
        as on a busy machine, begins with an arm that jumps while it is commanded.

        ticks: count at the reset, of which one more may be on its way, as of before.
        """
        end = time.monotonic() + LONGEST_RESET
        while self.counts['ticks'] < ticks + 2 and time.monotonic() < end:
            if self._stop.wait(0.5 * self.options.tick / SECOND):
                return

    # The physics thread.

    def _run(self) -> None:
        """Until the node ends; an error here ends it: without physics it is no simulator."""
        try:
            self._step_until_stopped()
        except Exception:
            self.get_logger().fatal(f'the physics stopped:\n{traceback.format_exc()}')
            self.exit_code = 1
            self._failed.trigger()

    def _step_until_stopped(self) -> None:
        self._cameras.ready.wait(START_TIMEOUT)
        raise_priority(self.options.realtime_priority)
        stamp = self._now()
        window_start, window_ticks = time.monotonic(), self.counts['ticks']
        while not self._stop.is_set():
            stamp = self._wait_for_next(stamp)
            self._tick(stamp)
            self.counts['ticks'] += 1
            elapsed = time.monotonic() - window_start
            if elapsed > WINDOW:
                self._warn_if_slow(self._simulated(self.counts['ticks'] - window_ticks) / elapsed)
                window_start, window_ticks = time.monotonic(), self.counts['ticks']

    def _simulated(self, ticks: int) -> float:
        """s of so many ticks."""
        return ticks * self.options.tick / SECOND

    def _wait_for_next(self, stamp: int) -> int:
        """Waits for the tick after `stamp` and returns its stamp."""
        now = self._now()
        following = self.pace.next(stamp, now)
        if following - stamp > STANDSTILL or following < stamp:
            self._warnings.warn(
                'clock',
                f'from one tick to the next the clock went {(following - stamp) / SECOND:+.2f} s; '
                'the simulation goes on from there',
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
            sensed, joints = self._sensors.step(stamp, self._targets), self._streams[JOINT_STATES]
            for sent in self._sensors.joint_messages(sensed):
                joints.send(stamp, sent)
            messages: list[tuple[Any, Any]] = [
                *joints.arrived(stamp), *self._sensors.other_messages(sensed),
                *self._franka.messages(stamp),
            ]  # fmt: skip
            if self._now() - stamp <= FAR_BEHIND:
                messages += self._truth.messages(stamp)
            pictures = self._pictures(stamp)
            event = self._task.outcome(stamp, self.simulation.task_state)
        for publisher, message in messages:
            publisher.publish(message)
        if event is not None:
            self._task.publish(event)
        for picture in self._come(pictures, stamp):
            self._cameras.take(picture)

    def _apply_events(self, stamp: int) -> None:
        if self._task.has_begun(stamp):
            self.simulation.restart_task()
            self._franka.clear_collision()

    def _pictures(self, stamp: int) -> list[Picture]:
        cameras = self._picture_schedule.due(stamp, self._now())
        if not cameras:
            return []
        state = self.simulation.state()
        parts = {name: self._parts[name].due(stamp) if name else (False, False) for name in cameras}
        model = self.simulation.model
        sizes = self._sizes
        return [
            Picture(stamp, state, name, *parts[name], model, sizes.get(name)) for name in cameras
        ]

    def _come(self, pictures: list[Picture], stamp: int) -> Iterator[Picture]:
        """Yields the pictures that come by a stamp, ns: those of the scene's cameras late or not at
        all, and as of when they were taken.
        """
        for picture in pictures:
            if picture.camera:
                self._streams[picture.camera].send(stamp, picture)
            else:
                yield picture
        for name in self.options.cameras:
            yield from self._streams[name].arrived(stamp)

    def destroy_node(self) -> None:
        """Stops the threads and logs the counts."""
        self._stop.set()
        self._physics.join()
        self._cameras.stop()
        counts = self.counts
        left_out = self._cameras.skipped + self._picture_schedule.left_out
        images = ', '.join(f'{n} {name}' for name, n in self._cameras.published.items()) or 'none'
        self.get_logger().info(
            f'simulated {self._simulated(counts["ticks"]):.1f} s, '
            f'gave up {self.pace.given_up / SECOND:.1f} s in {self.pace.delays} times; '
            f'commands: {counts["commands"]}, rejected {counts["rejected"]}, '
            f'from before a reset {counts["stale"]}; '
            f'images: {images}, left out {left_out}'
        )
        super().destroy_node()


def main() -> None:
    """Runs the node."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    sys.exit(run_node(SimulatorNode))
