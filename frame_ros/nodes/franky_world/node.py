# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The world node: franky-sim's FR3 by its protocol, the task's cube and bin before it, and the
truth about them.
"""

from __future__ import annotations

import sys
import threading
import traceback

from rclpy.node import Node

from frame_ros.core.errors import FrameRosError
from frame_ros.core.thread_priority import raise_priority
from frame_ros.hardware.requests import Requests
from frame_ros.nodes.franky_world.options import FrankyWorldOptions
from frame_ros.nodes.franky_world.topics import RESET_SCENE, TRUE_GOAL, TRUE_OBJECT
from frame_ros.nodes.runtime.endpoints import endpoint, published
from frame_ros.nodes.runtime.node_readiness import Readiness
from frame_ros.nodes.runtime.parameters import declare_options
from frame_ros.nodes.runtime.spinning import run_node
from frame_ros.nodes.runtime.task_events import TaskEvents
from frame_ros.nodes.runtime.ticks import SWITCH_INTERVAL
from frame_ros.nodes.simulator.messages import pose_message
from frame_ros.robots import load_robot
from frame_ros.scenes.franky_world import ROBOT, TICK, FrankyWorld
from frame_ros.srv import ResetScene

RESET_TIMEOUT = 5.0  # s
LOOK_PERIOD = 10  # ticks between two looks at the episode


class FrankyWorldNode(Node):
    """Steps a FrankyWorld in a thread of its own; services and events come in by the executor.

    world: for the thread of the physics alone, and for `request`.
    """

    def __init__(self) -> None:
        """Raises FrameRosError: franky-sim is missing, or the address is taken."""
        super().__init__('franky_world')
        self.options = options = declare_options(self, FrankyWorldOptions)
        self.world = FrankyWorld(options.host, seed=options.seed, patience=options.patience)
        self._seed = options.seed
        self._base = options.frames.of(load_robot(ROBOT).base_link)
        self._requests = Requests()
        self._task = TaskEvents(self, 'franky_world')
        self._object, self._goal = (
            self.create_publisher(*published(topic)) for topic in (TRUE_OBJECT, TRUE_GOAL)
        )
        self._truth_period = round(1.0 / (options.truth_rate * TICK))
        self.create_service(*endpoint(RESET_SCENE), self._on_reset)
        self._stop = threading.Event()
        self.exit_code: int | None = None  # set when the thread fails
        self._failed = self.create_guard_condition(lambda: None)
        self._physics = threading.Thread(target=self._run, name='physics', daemon=True)
        self._physics.start()
        self.get_logger().info(f'an {ROBOT} of franky-sim is at {options.host}, scene {self._seed}')
        self._readiness = Readiness(self, f'franky-sim at {options.host}')

    def _on_reset(
        self, request: ResetScene.Request, response: ResetScene.Response
    ) -> ResetScene.Response:
        seed = request.seed if request.seed >= 0 else self._seed + 1

        def reset() -> None:
            self.world.reset(seed)
            self._task.forget()

        try:
            self._requests.ask(reset, RESET_TIMEOUT)
        except FrameRosError as error:
            response.success, response.message = False, str(error)
            return response
        self._seed = seed
        response.success, response.message, response.seed = True, f'scene {seed}', seed
        return response

    # The physics thread.

    def _run(self) -> None:
        """Until the node ends; an error here ends it: without physics there is no arm."""
        raise_priority(self.options.realtime_priority)
        try:
            while not self._stop.is_set():
                self._requests.serve()
                self.world.step()
                self._publish(self.world.counts.ticks)
        except Exception:
            self.get_logger().fatal(f'the physics stopped:\n{traceback.format_exc()}')
            self.exit_code = 1
            self._failed.trigger()

    def _publish(self, tick: int) -> None:
        """Publishes the truth and the outcome, where they are due."""
        if tick % LOOK_PERIOD and tick % self._truth_period:
            return
        stamp = self.get_clock().now().nanoseconds
        if not tick % self._truth_period:
            self._object.publish(pose_message(stamp, self._base, self.world.object_pose()))
            self._goal.publish(pose_message(stamp, self._base, self.world.goal_pose()))
        if self._task.has_begun(stamp):
            self.world.restart_task()
        if (event := self._task.outcome(stamp, self.world.task_state)) is not None:
            self._task.publish(event)

    def destroy_node(self) -> None:
        """Stops the thread, closes the ports and logs the counts."""
        self._stop.set()
        self._physics.join()
        self.world.close()
        counts = self.world.counts
        self.get_logger().info(
            f'simulated {counts.ticks * TICK:.1f} s, gave up {counts.given_up:.1f} s; of '
            f'{counts.in_motion} ms in motion {counts.missing} without a command, '
            f'{counts.missing_in_time} of them where the driver had had its whole millisecond'
        )
        super().destroy_node()


def main() -> None:
    """Runs the node."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    sys.exit(run_node(FrankyWorldNode))
