# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The node that runs a number of episodes in the simulated scene, one after the other, and then
ends."""

from __future__ import annotations

import queue
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from diagnostic_msgs.msg import KeyValue
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.client import Client
from rclpy.node import Node
from std_msgs.msg import String

from frame_ros.core.errors import SetupError
from frame_ros.core.time import SECOND, stamp_ns
from frame_ros.msg import EpisodeEvent
from frame_ros.nodes.runtime.endpoints import endpoint
from frame_ros.nodes.runtime.fitting_subscription import FittingSubscription
from frame_ros.nodes.runtime.node_readiness import Readiness
from frame_ros.nodes.runtime.parameters import declare_options
from frame_ros.nodes.runtime.readiness_watch import ReadinessWatch
from frame_ros.nodes.runtime.spinning import run_node
from frame_ros.nodes.session.options import SessionOptions
from frame_ros.nodes.session.topics import (
    END,
    EPISODE_EVENTS,
    RESET_SCENE,
    SCENE,
    SET_PARAMETERS,
    START,
)
from frame_ros.robots.profiles import public_name
from frame_ros.scenes.running_scene import RunningScene
from frame_ros.srv import EndEpisode, ResetScene, StartEpisode

OUTCOMES = {
    EpisodeEvent.SUCCESS: (EpisodeEvent.OUTCOME_SUCCESS, 'success'),
    EpisodeEvent.FAILURE: (EpisodeEvent.OUTCOME_FAILURE, 'failure'),
    EpisodeEvent.STOP: (EpisodeEvent.OUTCOME_STOPPED, 'stopped'),
}
# s from a reset, in which the arm jumps, to the start of an episode: whoever measures it has seen
# that by then, and says on node_readiness if it is still at odds with it.
RESET_PAUSE = 1.0
TIMEOUT = (EpisodeEvent.OUTCOME_TIMEOUT, 'timeout')


class StopRequestedError(Exception):
    """The session was stopped while it waited."""


class SessionNode(Node):
    """Runs episodes: reset the scene, set the policy's quality, start, wait for the outcome, end.

    The steps run in a plain thread, because they wait; the executor only delivers answers and
    events. `exit_code` is 0 after the last episode and 1 when something was missing or refused.
    """

    def __init__(self) -> None:
        super().__init__('session')
        self.options = declare_options(self, SessionOptions)
        self.exit_code: int | None = None
        self._events: queue.SimpleQueue[EpisodeEvent] = queue.SimpleQueue()
        self._reset = self.create_client(*endpoint(RESET_SCENE))
        self._start = self.create_client(*endpoint(START))
        self._end = self.create_client(*endpoint(END))
        self._set_parameters = self.create_client(*endpoint(SET_PARAMETERS))
        self._watch = ReadinessWatch(self, self.options.nodes)
        FittingSubscription(self, EPISODE_EVENTS, self._events.put, is_called=True)
        self._scenes: queue.SimpleQueue[String] = queue.SimpleQueue()
        if self.options.scene_topic:
            scene = SCENE.at(self.options.scene_topic)
            FittingSubscription(self, scene, self._scenes.put, is_called=True)
        self._readiness = Readiness(self, public_name(self.options.robot))
        self._result = 1  # until its episodes are done, or it is stopped
        self._finished = self.create_guard_condition(self._finish)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name='session')
        self._thread.start()

    def destroy_node(self) -> None:
        """Stops the thread first: it uses the clients."""
        self._stopping.set()
        self._thread.join()
        super().destroy_node()

    def _finish(self) -> None:
        self.exit_code = self._result

    def _run(self) -> None:
        try:
            self.wait_until_ready()
            for index in range(self.options.episodes):
                self.run_episode(index)
            self.get_logger().info(f'episodes done: {self.options.episodes}')
            self._result = 0
        except StopRequestedError:
            self.get_logger().info('stopped before the last episode')
            self._result = 0
        except SetupError as error:
            self.get_logger().error(str(error))
        finally:
            self._finished.trigger()

    def wait_until_ready(self) -> None:
        """Waits until every service answers and every node is ready.

        Raises:
            SetupError: something is still missing after `ready_timeout`; it is named.
        """
        deadline = time.monotonic() + self.options.ready_timeout
        logged = time.monotonic()
        while missing := self._missing():
            if time.monotonic() > deadline:
                raise SetupError(
                    f'not ready after {self.options.ready_timeout:.0f} s: {"; ".join(missing)}'
                )
            if time.monotonic() > logged + 5.0:
                logged = time.monotonic()
                self.get_logger().info('waiting: ' + '; '.join(missing))
            self._sleep(0.2)
        self.get_logger().info('every node is ready')

    def _missing(self) -> list[str]:
        services = {
            'simulator': self._reset,
            'episode_recorder': self._end,
            'policy': self._set_parameters,
        }
        missing = [
            f'{node} does not offer {client.srv_name}'
            for node, client in services.items()
            if not client.service_is_ready()
        ]
        return missing + self._watch.missing()

    def run_episode(self, index: int) -> None:
        """Runs episode `index`, from 0.

        Raises:
            SetupError: a service did not answer, or refused.
        """
        seed = self.options.seed + index
        quality = self.options.qualities[index % len(self.options.qualities)]
        reset = self._accepted(self._reset, ResetScene.Request(seed=seed))
        self._sleep(RESET_PAUSE)
        scene = self._scene_of(reset.seed) if self.options.scene_topic else None
        if self.options.policy == 'scripted':
            self.set_quality(quality)
        start = self._accepted(self._start, self._start_request(seed, quality, scene))
        outcome, word, elapsed = self._wait_for_outcome(stamp_ns(start.start))
        end = self._accepted(self._end, EndEpisode.Request(outcome=outcome))
        self.get_logger().info(
            f'episode {index + 1}/{self.options.episodes} {start.episode_id}: '
            f'{word} after {elapsed:.1f} s' + (f', bag {end.bag}' if end.bag else '')
        )

    def set_quality(self, quality: float) -> None:
        """Sets the parameter `quality`, 0 to 1, of the node `policy`."""
        value = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=quality)
        request = SetParameters.Request(parameters=[Parameter(name='quality', value=value)])
        result = self._call(self._set_parameters, request).results[0]
        if not result.successful:
            raise SetupError(f'the policy refused quality {quality}: {result.reason}')

    def _scene_of(self, place: int) -> RunningScene:
        """The scene at a place, from 0, of the simulator's file, once it says that it runs.

        Raises:
            SetupError: it does not say so, or what it says cannot be read.
        """
        deadline = time.monotonic() + self.options.call_timeout
        while time.monotonic() < deadline:
            try:
                found = RunningScene.read(self._scenes.get(timeout=0.05).data)
            except queue.Empty:
                self._raise_if_stopping()
                continue
            if found.number == place + 1:
                return found
        raise SetupError(f'nobody says on {self.options.scene_topic} that scene {place + 1} runs')

    def _start_request(
        self, seed: int, quality: float, scene: RunningScene | None = None
    ) -> StartEpisode.Request:
        facts = {'robot': self.options.robot, 'seed': str(seed)}
        instruction = self.options.instruction
        if scene is not None and self.options.scene_instruction:
            instruction = scene.instruction
        if scene is not None:
            facts['scene'] = scene.name
        if self.options.world:
            facts['world'] = self.options.world
        if self.options.policy == 'scripted':
            facts['quality'] = f'{quality:g}'
        return StartEpisode.Request(
            instruction=instruction,
            object=self.options.object if scene is None else scene.target,
            policy=self.options.policy,
            checkpoint=self.options.checkpoint,
            operator_name=self.options.operator_name,
            attributes=[KeyValue(key=key, value=value) for key, value in facts.items()],
        )

    def _wait_for_outcome(self, start: int) -> tuple[int, str, float]:
        """The outcome, its name, and the seconds from `start` (ns, node's clock) to it."""
        deadline = start + int(self.options.timeout * SECOND)
        while self._now() < deadline:
            try:
                event = self._events.get(timeout=0.05)
            except queue.Empty:
                self._raise_if_stopping()
                continue
            stamp = stamp_ns(event.header.stamp)
            if event.type in OUTCOMES and stamp >= start:
                self._sleep(self.options.settle)
                return *OUTCOMES[event.type], (stamp - start) / SECOND
        return *TIMEOUT, self.options.timeout

    def _accepted(self, client: Client, request: Any) -> Any:
        response = self._call(client, request)
        if not response.success:
            raise SetupError(f'{client.srv_name} refused: {response.message}')
        return response

    def _call(self, client: Client, request: Any) -> Any:
        done = threading.Event()
        future = client.call_async(request)
        future.add_done_callback(lambda _: done.set())
        if not self._wait(done.is_set, self.options.call_timeout):
            raise SetupError(
                f'{client.srv_name} did not answer within {self.options.call_timeout:.0f} s'
            )
        return future.result()

    def _wait(self, condition: Callable[[], bool], timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        while not condition() and time.monotonic() < deadline:
            self._raise_if_stopping()
            time.sleep(0.01)
        return condition()

    def _sleep(self, seconds: float) -> None:
        self._stopping.wait(seconds)
        self._raise_if_stopping()

    def _raise_if_stopping(self) -> None:
        if self._stopping.is_set():
            raise StopRequestedError

    def _now(self) -> int:
        return self.get_clock().now().nanoseconds


def main() -> None:
    """Runs the node until the last episode is over or it is stopped."""
    sys.exit(run_node(SessionNode))
