# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy node's control thread: one action per tick, whatever the inference thread is doing."""

from __future__ import annotations

import logging
import sys
import threading
from array import array
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rclpy.clock import Clock
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState

from frame_ros.core.thread_priority import raise_priority
from frame_ros.msg import PolicyHeartbeat
from frame_ros.nodes.runtime.message_parts import fill_time
from frame_ros.nodes.runtime.ticks import SWITCH_INTERVAL, Ticks
from frame_ros.policies.episode_gate import EpisodeGate
from frame_ros.policies.execution.action_queue import ActionQueue

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Health:
    """The inference thread's health for the heartbeat.

    errors: inferences that failed. problem: why the last one failed; empty: it did not.
    """

    errors: int = 0
    problem: str = ''


class ControlLoop:
    """A thread that takes one action per tick from the queue and publishes it, while an episode
    runs, and a heartbeat at every tick.

    Where the queue is empty the last action is held, but not while inference fails: then nothing is
    commanded.

    period: s. on_change: called, in this thread, when the policy begins or ceases to act. health:
    gives that of the inference thread. priority: real-time priority of the thread, where it is
    permitted; 0: none. ticks: the schedule.
    names: of the joints; they must be set before the first chunk is pushed.
    """

    def __init__(
        self,
        period: float,
        queue: ActionQueue,
        gate: EpisodeGate,
        clock: Clock,
        is_simulated: bool,
        commands: Publisher,
        heartbeats: Publisher,
        on_change: Callable[[], None],
        health: Callable[[], Health],
        priority: int = 0,
    ) -> None:
        self.names: tuple[str, ...] = ()
        self._queue, self._gate, self._clock = queue, gate, clock
        self._commands, self._heartbeats = commands, heartbeats
        self._on_change, self._health, self._priority = on_change, health, priority
        self._stop = threading.Event()
        self.ticks = Ticks(period, clock, is_simulated, self._stop)
        self._sequence = 0
        self._thread = threading.Thread(target=self._run, name='control', daemon=True)

    def start(self) -> None:
        """Begins to tick."""
        sys.setswitchinterval(SWITCH_INTERVAL)
        if self._gate.acting is not None:
            self._queue.open(self._gate.acting)
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread and drops the actions."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        self._queue.close()

    def _run(self) -> None:
        is_raised = raise_priority(self._priority)
        logger.debug('real-time priority %d: %s', self._priority, is_raised)
        while self.ticks.wait():
            self._tick(self._clock.now().nanoseconds)

    def _tick(self, now: int) -> None:
        if self._gate.advance(now):
            if self._gate.acting is None:
                self._queue.close()
            else:
                self._queue.open(self._gate.acting)
            self._on_change()
        health = self._health()
        action, is_stalled = self._queue.take()
        # Also with a stamp before the last one: a clock that was set back must not end the motion.
        is_acting = action is not None and not (is_stalled and health.problem)
        if is_acting and action is not None:
            self._commands.publish(self._command(action, now))
        self._heartbeats.publish(self._heartbeat(now, is_acting, is_stalled, health))
        self._sequence += 1

    def _command(self, action: NDArray[np.float64], now: int) -> JointState:
        message = JointState(name=list(self.names), position=array('d', action.tobytes()))
        fill_time(message.header.stamp, now)
        return message

    def _heartbeat(
        self, now: int, is_acting: bool, is_stalled: bool, health: Health
    ) -> PolicyHeartbeat:
        episode, is_open = self._gate.episode, self._gate.acting is not None
        message = PolicyHeartbeat(
            episode_id=episode.episode_id if episode is not None else '',
            sequence=self._sequence,
            is_acting=is_acting,
            is_stalled=is_stalled,
            errors=health.errors,
            problem=health.problem if is_open else '',
        )
        fill_time(message.header.stamp, now)
        source = self._queue.source
        if source is not None:
            fill_time(message.observation_stamp, source.observation_stamp)
            fill_time(message.request_stamp, source.request_stamp)
        return message
