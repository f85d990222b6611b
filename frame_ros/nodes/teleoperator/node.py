# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The teleoperator node: a leader arm as commands, for taking over from a policy and for
reference runs.
"""

from __future__ import annotations

import sys
import threading
import time
from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import SetBool

from frame_ros.core.errors import FrameRosError
from frame_ros.core.repeated_warnings import RepeatedWarnings
from frame_ros.core.turns import continuous_among, nearest_turn
from frame_ros.hardware.device_error import DeviceError
from frame_ros.hardware.lerobot.teleoperator import LeRobotTeleoperator
from frame_ros.nodes.runtime.endpoints import endpoint, published
from frame_ros.nodes.runtime.fitting_subscription import FittingSubscription
from frame_ros.nodes.runtime.managed import ManagedNode, run_managed
from frame_ros.nodes.runtime.message_parts import header_message
from frame_ros.nodes.runtime.options import BEST_EFFORT
from frame_ros.nodes.runtime.parameters import declare_options, unconfigured
from frame_ros.nodes.runtime.ticks import Ticks
from frame_ros.nodes.teleoperator import topics
from frame_ros.nodes.teleoperator.options import TeleoperatorOptions
from frame_ros.robots import JointStateAssembler, load_robot

Array = NDArray[np.float64]

DEPTH = 50
OLDEST_STATE = 1.0  # s, of the joint state that a start is compared with
RECONNECT_PERIOD = 1.0  # s
UNREAD = 'the teleoperator has not been read'
RETRIES = 2  # attempts to read once more before the teleoperator counts as lost


class TeleoperatorNode(ManagedNode):
    """Reads one teleoperator and publishes where the operator has it, while the operator drives.

    Subscribes: joint_states. Publishes: teleop_commands, or in mode record joint_commands; takeover
    (latched). Services: ~/takeover: begin or end to drive.

    Whoever has taken over gives back by the service, and by nothing else: when this node, the
    teleoperator or the robot is gone meanwhile, the arm stays with the operator, and holds.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__('teleoperator', **options)
        self._warnings = RepeatedWarnings(self.get_logger())
        self.options = declare_options(self, TeleoperatorOptions, self._change)
        self.fix_while_configured(unconfigured(TeleoperatorOptions))
        self._teleoperator: LeRobotTeleoperator | None = None
        self._lock = threading.Lock()
        self._is_wanted = self._is_driving = False  # wanted: the operator is to drive
        self._position: Array | None = None  # of the teleoperator, newest
        self._sent: Array | None = None  # the newest command, or the robot as driving begins
        self._state: tuple[float, Array] | None = None  # of the robot, with its arrival
        self._why_lost = ''  # while the teleoperator is
        self.counts = {'commands': 0, 'clipped': 0, 'losses': 0}
        self._stop_event = threading.Event()
        self._thread: threading.Thread | None = None
        self._undo: list[Callable[[], object]] = []
        self.autostart(self.options.autostart)

    def _change(self, options: TeleoperatorOptions) -> None:
        self.options = options

    def _configure(self) -> None:
        self._settings = settings = self.options
        device = (settings.teleoperator_id, settings.port)
        self.readiness.hardware_id = ' '.join(filter(None, device))
        robot = load_robot(settings.robot)
        self._teleoperator = LeRobotTeleoperator(settings.device(robot))
        self._teleoperator.connect()
        for note in self._teleoperator.calibration_notes():
            self.get_logger().warning(note)
        self._names = self._teleoperator.names
        self._turning = continuous_among(self._names, robot.continuous)
        self._assembler = JointStateAssembler(self._names)

    def _start(self) -> None:
        settings = self._settings
        self._is_wanted, self._is_driving = settings.mode != 'takeover', False
        self._position = self._state = None
        self._why_lost = ''
        topic = topics.JOINT_COMMANDS if settings.mode == 'record' else topics.TELEOP_COMMANDS
        self._commands = self.create_publisher(*published(topic))
        self._takeover = self.create_publisher(*published(topics.TAKEOVER))
        states = FittingSubscription(
            self, topics.JOINT_STATES, self._on_state, depth=1, reliability=BEST_EFFORT,
            is_required=True, is_steady=True, is_called=True,
        )  # fmt: skip
        service = self.create_service(*endpoint(topics.TAKE_OVER), self._on_takeover)
        self._undo = [
            states.destroy,
            lambda: self.destroy_service(service),
            lambda: self.destroy_publisher(self._commands),
            lambda: self.destroy_publisher(self._takeover),
        ]
        self._stop_event.clear()
        self._ticks = Ticks(1.0 / settings.rate, self.get_clock(), False, self._stop_event)
        self._thread = threading.Thread(target=self._run, name='teleoperator', daemon=True)
        self._thread.start()
        self.get_logger().info(
            f'{settings.teleoperator_type} {settings.teleoperator_id!r} at '
            f'{settings.rate:g} Hz on {topic.name}, '
            + ('on request' if not self._is_wanted else 'from when it is aligned')
        )

    def _stop(self) -> None:
        """Ends the thread; only the service gives the arm back."""
        if self._thread is not None:
            self._stop_event.set()
            self._thread.join()
            self._thread = None
            text = ', '.join(f'{name} {count}' for name, count in self.counts.items())
            self.get_logger().info(f'stopped; {text}')
        undo, self._undo = self._undo, []
        for end in undo:
            end()

    def _release(self) -> None:
        if self._teleoperator is not None:
            self._teleoperator.close()
        self._teleoperator = None

    # The executor's thread.

    def problem(self) -> str:
        """Returns why nobody could drive now, apart from what the robot reports; else ''."""
        return super().problem() or ('' if self._position is not None else self._unread())

    def _unread(self) -> str:
        return f'{UNREAD}: {self._why_lost}' if self._why_lost else UNREAD

    def _on_state(self, message: JointState) -> None:
        state = self._assembler.update(message.name, message.position)
        if state is not None:
            self._state = (time.monotonic(), np.array(state.positions))

    def _on_takeover(
        self, request: SetBool.Request, response: SetBool.Response
    ) -> SetBool.Response:
        with self._lock:
            obstacle = self._obstacle() if request.data and not self._is_driving else ''
            if not obstacle:
                has_begun = request.data and not self._is_driving
                self._is_wanted = self._is_driving = request.data
                self._announce(request.data)
                if has_begun:
                    self._begin()
        if obstacle:
            response.success, response.message = False, obstacle
            return response
        response.success = True
        response.message = 'the operator drives' if request.data else 'the operator does not drive'
        return response

    def _begin(self) -> None:
        """Joints that turn without end go on from where the robot counts them; under the lock."""
        self._sent = None if self._state is None else self._state[1]

    def _announce(self, is_driving: bool) -> None:
        """The topic takeover, under the lock; in mode record there is nobody to take over from."""
        if self._settings.mode != 'record':
            self._takeover.publish(Bool(data=is_driving))

    def _obstacle(self) -> str:
        """Returns why the operator cannot begin to drive now; else ''."""
        if self._position is None:
            return self._unread()
        if self._settings.max_start_difference == 0.0:
            return ''
        state = self._state
        if state is None or time.monotonic() - state[0] > OLDEST_STATE:
            return (
                f'there is no joint state of the last {OLDEST_STATE:g} s to compare with; '
                'max_start_difference 0 starts without'
            )
        difference = nearest_turn(self._position - state[1], 0.0, self._turning)
        worst = int(np.argmax(np.abs(difference)))
        if abs(difference[worst]) <= self._settings.max_start_difference:
            return ''
        return (
            f'{self._names[worst]} is {difference[worst]:+.2f} rad from the robot: move it to '
            f'{state[1][worst]:.2f} rad (within {self._settings.max_start_difference:g})'
        )

    def _robot_answers(self) -> bool:
        state = self._state
        return state is not None and time.monotonic() - state[0] <= OLDEST_STATE

    # The device's thread.

    @property
    def _device(self) -> LeRobotTeleoperator:
        assert self._teleoperator is not None
        return self._teleoperator

    def _run(self) -> None:
        next_attempt = 0.0
        is_lost = False
        while self._ticks.wait():
            if is_lost and time.monotonic() < next_attempt:
                continue
            try:
                if is_lost:
                    self._device.connect()
                position = self._read()
            except FrameRosError as error:
                if not is_lost:
                    self._note_loss(error)
                elif str(error) != self._why_lost:
                    self.get_logger().error(str(error))
                self._why_lost = str(error)
                is_lost, next_attempt = True, time.monotonic() + RECONNECT_PERIOD
                continue
            if is_lost:
                is_lost, self._why_lost = False, ''
                self.get_logger().warning('the teleoperator answers again')
            self._on_position(position)

    def _read(self) -> Array:
        """A reading, after RETRIES more attempts at most."""
        for _ in range(RETRIES):
            try:
                return self._device.read()
            except DeviceError as error:
                if error.is_gone:
                    raise
        return self._device.read()

    def _note_loss(self, error: FrameRosError) -> None:
        """The robot holds for want of commands; whoever drove must align it again."""
        with self._lock:
            self._position, self._is_driving = None, False
        self.counts['losses'] += 1
        self.get_logger().error(f'{error}; no commands until it answers again and is aligned')

    def _on_position(self, position: Array) -> None:
        limits = self._device.limits
        within = np.clip(position, limits[:, 0], limits[:, 1])
        with self._lock:
            self._position = within
            self._look_after_robot()
            has_begun = False
            if self._is_wanted and not self._is_driving:
                obstacle = self._obstacle()
                has_begun = self._is_driving = not obstacle
                if has_begun:
                    self._announce(True)
                    self._begin()
                if obstacle:
                    self._warnings.warn('obstacle', f'waiting: {obstacle}')
            is_driving = self._is_driving
        if has_begun:
            self.get_logger().info('aligned: the operator drives')
        if is_driving:
            reference = within if self._sent is None else self._sent
            self._sent = nearest_turn(within, reference, self._turning)
            self._publish(self._sent)
            self.counts['clipped'] += int(not np.array_equal(within, position))

    def _look_after_robot(self) -> None:
        """Ends driving while the robot is silent: it must not jump to the operator afterwards."""
        is_compared = self._settings.max_start_difference > 0.0
        if self._is_driving and is_compared and not self._robot_answers():
            self._is_driving = False
            self.get_logger().error(
                f'no joint state for {OLDEST_STATE:g} s: no commands until the robot answers again '
                'and the teleoperator is aligned'
            )

    def _publish(self, position: Array) -> None:
        message = JointState(name=list(self._names), position=array('d', position.tobytes()))
        message.header = header_message(self.get_clock().now().nanoseconds)
        self._commands.publish(message)
        self.counts['commands'] += 1


def main() -> None:
    """Runs the node until it is stopped."""
    sys.exit(run_managed(TeleoperatorNode))
