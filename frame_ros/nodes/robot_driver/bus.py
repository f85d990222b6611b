# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robot driver's bus thread: once per cycle it reads the robot, publishes, and sends the newest
command.

While the robot does not answer, nothing is published: what was measured before is never repeated.
"""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from rclpy.clock import Clock

from frame_ros.core.errors import FrameRosError
from frame_ros.core.repeated_warnings import RepeatedWarnings
from frame_ros.core.time import SECOND
from frame_ros.gate.command_check import CommandCheck, holding_goals, limited_step
from frame_ros.gate.records import Reason
from frame_ros.hardware.device_error import DeviceError
from frame_ros.hardware.driver_diagnostics import fallen_text, fault_text, limp_text
from frame_ros.hardware.driver_state import Activity, BusCounts, BusState
from frame_ros.hardware.lerobot.robot import LeRobotRobot, RobotReading
from frame_ros.hardware.requests import Requests
from frame_ros.nodes.robot_driver.options import RobotDriverOptions
from frame_ros.nodes.runtime.ticks import SWITCH_INTERVAL, Ticks

Array = NDArray[np.float64]
HOLD_REPEATS = 2  # of the goals of a hold: motors do not acknowledge them
_Found = TypeVar('_Found')
POWER_PERIOD = 0.1  # s between two looks whether the motors still have power and torque
FALLEN = 0.1  # rad by which a joint that restarted may be off its goal


@dataclass(frozen=True)
class _Command:
    goals: Array
    arrival: float  # time.monotonic()


class BusLoop:
    """Owns the connected robot until `stop`.

    publish: gets (stamp in ns, reading), in the bus thread. log: an rclpy logger.
    """

    def __init__(
        self,
        robot: LeRobotRobot,
        settings: RobotDriverOptions,
        clock: Clock,
        publish: Callable[[int, RobotReading], None],
        log: object,
    ) -> None:
        self._robot, self._settings, self._clock = robot, settings, clock
        self._publish, self._log = publish, log
        self._warnings = RepeatedWarnings(log)  # type: ignore[arg-type]
        self._check = CommandCheck(robot.names, robot.limits, settings.limit_tolerance)
        self._grippers = set(np.array(robot.names)[robot.is_gripper].tolist())
        self._lock = threading.Lock()
        self._goals: Array | None = None  # the last ones sent, or where it was found
        self._newest: _Command | None = None
        self._last_command = 0.0
        self._activity = Activity.HOLDING
        self._is_released = False  # also while it is lost
        self._is_own = False  # the error by which it was lost last
        self._reading: RobotReading | None = None
        self._problem = self._fault = ''
        self._limp: tuple[str, ...] = ()
        self._fallen: tuple[str, ...] = ()
        self._restarted = np.zeros(len(robot.names), dtype=bool)  # goals of before, if any
        self._next_attempt = self._next_look = 0.0
        self._repeats = 0  # of a hold that are left
        self._requests = Requests()
        self._stop = threading.Event()
        self._ticks = Ticks(1.0 / settings.rate, clock, False, self._stop)
        self._thread = threading.Thread(target=self._run, name='bus', daemon=True)
        self.counts = BusCounts()

    def start(self) -> None:
        """Begins to read."""
        sys.setswitchinterval(SWITCH_INTERVAL)
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread; the arm holds or is released, by the parameter, and the port is
        closed.
        """
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        if self._settings.torque_on_exit == 'release':
            self._release()
        elif self._activity is Activity.FOLLOWING:
            self._attempt(self._hold)
        is_held = self._settings.torque_on_exit == 'hold'  # goals could bring the torque back
        while is_held and self._activity is Activity.HOLDING and self._repeats > 0:
            self._attempt(self._hold_again)
        self._robot.close()

    @property
    def state(self) -> BusState:
        """The bus's state, from any thread."""
        return BusState(
            self._activity,
            self.counts,
            self._ticks.missed,
            self._problem,
            self._reading,
            self._limp,
            self._fallen,
        )

    def command(self, stamp: int, names: Sequence[str], positions: Array) -> str:
        """Takes a command, to be sent in the next cycle; returns why it is refused, or ''.

        stamp: ns on the node's clock, 0 if there is none. positions: rad.
        """
        self.counts.commands += 1
        age = (self._clock.now().nanoseconds - stamp) / SECOND if stamp else 0.0
        if age > self._settings.command_timeout:
            self.counts.stale += 1
            return f'it is {age:.2f} s old, more than command_timeout'
        with self._lock:
            command = self._check.read(names, positions)
            problem = self._obstacle() or (command.text if isinstance(command, Reason) else '')
            if problem or isinstance(command, Reason):
                self.counts.refused += 1
                return problem
            base = self._newest.goals if self._newest is not None else self._goals
            assert base is not None
            goals = self._check.merge(base, command)
            self._newest = _Command(goals, time.monotonic())
        return ''

    def set_torque(self, is_on: bool, timeout: float) -> None:
        """Switches the torque, in the bus thread. timeout: s to wait for it.

        Raises:
            DeviceError: it did not work, or not in time.
        """

        def switch() -> None:
            if self._activity is Activity.LOST:
                raise DeviceError(f'the robot is not connected: {self._problem}')
            was_limp = self._robot.set_torque(is_on)
            with self._lock:
                self._newest = None
                if not is_on or was_limp.all():
                    self._goals = None
                self._activity = Activity.HOLDING if is_on else Activity.RELEASED
            self._is_released, self._limp, self._fallen = not is_on, (), ()
            if self._goals is not None and self._reading is not None:
                self._stay(self._reading, was_limp)

        self._requests.ask(switch, timeout)

    def _obstacle(self) -> str:
        """Returns why no command can be taken now."""
        if self._activity is Activity.LOST:
            return 'the robot is not connected'
        if self._activity is Activity.RELEASED:
            return 'the torque is off'
        if set(self._limp) - self._grippers:
            return limp_text(self._limp)
        if self._fallen:
            return fallen_text(self._fallen)
        return '' if self._goals is not None else 'the robot has not been read yet'

    # The bus thread.

    def _run(self) -> None:
        while self._ticks.wait():
            self._attempt(self._requests.serve)
            self._attempt(self._reconnect if self._activity is Activity.LOST else self._cycle)

    def _attempt(self, action: Callable[[], None]) -> None:
        """Does something with the robot; failing is losing it."""
        try:
            action()
        except DeviceError as error:
            self._lose(error)
        except Exception as error:  # who holds the arm must not end
            self._warnings.fail('own', traceback.format_exc())
            own = DeviceError(f'the driver failed: {type(error).__name__}: {error}')
            self._lose(own, is_own=True)
            # Unlike noise it may come again at once, and each time the arm is connected again.
            self._next_attempt = time.monotonic() + self._settings.reconnect_period

    def _cycle(self) -> None:
        reading = self._read()
        self.counts.cycles += 1
        self._reading = reading
        middle = (reading.began + reading.ended) // 2
        stamp = self._clock.now().nanoseconds - (time.monotonic_ns() - middle)
        self._publish(stamp, reading)
        self._log_fault(reading)
        with self._lock:
            if self._goals is None:
                self._goals = reading.positions.copy()
        self._look_after_power(reading)
        with self._lock:
            command, self._newest = self._newest, None
        if self._activity is Activity.RELEASED:
            self._goals = reading.positions.copy()
        elif command is not None:
            self._follow(command, reading)
        elif self._activity is Activity.FOLLOWING:
            age = time.monotonic() - self._last_command
            if age > self._settings.command_timeout:
                before = self._goals
                self._hold()
                # Where a hold changes no goal the arm had come to rest, as between episodes.
                is_at_rest = before is not None and np.array_equal(self._goals, before)
                silence = f'no command for {age:.2f} s: the arm'
                if is_at_rest:
                    self._log.info(f'{silence} stays at its goals')  # type: ignore[attr-defined]
                else:
                    self._log_change(f'{silence} holds where it is')
        elif self._repeats > 0:
            self._hold_again()

    def _look_after_power(self, reading: RobotReading) -> None:
        """Holds the arm where it is when motors restarted or lost their torque."""
        if self._activity is Activity.RELEASED or time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + POWER_PERIOD
        state = self._repeated(self._robot.look_after_power)
        names = np.array(self._robot.names)
        restarted, limp = names[state.is_restarted].tolist(), tuple(names[state.is_limp].tolist())
        if restarted:
            self._note_restarts(state.is_restarted)
            self._reading = self._read()  # they fell until they had torque
            self._note_fallen(self._reading.positions)
            self._stay(self._reading, state.is_restarted)
            self._restarted[:] = False
            self._log_error(
                f'{", ".join(restarted)} restarted and had no torque meanwhile: the arm holds '
                'where it is; look at the cables and at the supply, which must not dip'
            )
        if limp != self._limp:
            self._limp = limp
            if set(limp) - self._grippers:
                self._stay(reading, state.is_limp)
            if limp:
                stays = '; the arm holds' if set(limp) - self._grippers else ''
                self._log_error(limp_text(limp) + stays)
            else:
                self._log_change('all motors have torque again')

    def _note_restarts(self, is_restarted: NDArray[np.bool_]) -> None:
        """Counts motors that restarted; their goals are forgotten when a reading has come."""
        self.counts.restarts += int(is_restarted.sum())
        self._restarted |= is_restarted

    def _note_fallen(self, positions: Array) -> None:
        """Notes joints that restarted and are elsewhere: commands would lead them back from there,
        past what they may have fallen on.
        """
        if self._goals is None or self._is_released:
            return
        far = self._restarted & (np.abs(positions - self._goals) > FALLEN) & ~self._robot.is_gripper
        names = np.array(self._robot.names)[far].tolist()
        fallen = tuple(dict.fromkeys((*self._fallen, *names)))
        if fallen != self._fallen:
            self._fallen = fallen
            self._log_error(fallen_text(fallen))

    def _stay(self, reading: RobotReading, is_lost: NDArray[np.bool_]) -> None:
        """Holds the arm, the joints that lost their torque where they are now."""
        assert self._goals is not None
        self._goals = np.where(is_lost, reading.positions, self._goals)
        with self._lock:
            self._newest = None
        self._hold()

    def _read(self) -> RobotReading:
        return self._repeated(self._robot.read)

    def _repeated(self, action: Callable[[], _Found]) -> _Found:
        """Returns what an action of the robot returns, after `retries` more attempts at most.

        Raises:
            DeviceError: none of them worked.
        """
        for _ in range(self._settings.retries):
            try:
                return action()
            except DeviceError as error:
                if error.is_gone:
                    raise
                self.counts.retries += 1
                self._problem = str(error)
        return action()

    def _follow(self, command: _Command, reading: RobotReading) -> None:
        goals = limited_step(
            command.goals,
            reading.positions,
            self._robot.is_gripper,
            self._settings.max_relative_target,
        )
        self.counts.limited += int(not np.array_equal(goals, command.goals))
        self._robot.send(goals)
        self.counts.sent += 1
        self._goals, self._last_command = goals, command.arrival
        self._activity = Activity.FOLLOWING

    def _hold(self) -> None:
        """Goals that keep the arm where it was read last."""
        if self._reading is None or self._goals is None:
            return
        self._goals = holding_goals(
            self._goals,
            self._reading.positions,
            self._robot.is_gripper,
            self._settings.hold_tolerance,
        )
        self._activity = Activity.HOLDING
        self.counts.holds += 1
        self._repeats = HOLD_REPEATS
        self._robot.send(self._goals)

    def _hold_again(self) -> None:
        assert self._goals is not None
        self._repeats -= 1
        self._robot.send(self._goals)

    def _release(self) -> None:
        """Lets the arm go at the end, one that was lost if it answers by now."""
        is_lost = not self._robot.is_connected
        if is_lost and self._is_released:
            return  # by ~/torque: it has had none since
        try:
            if is_lost and self._robot.can_switch_torque:
                self._robot.reconnect(is_released=True)
            self._robot.set_torque(False)
        except FrameRosError as error:
            self._log_error(
                f'torque_on_exit is release, but the arm was not let go: {error}; its motors may '
                'still hold it, and stay warm: support the arm, then switch off their power'
            )
            return
        if is_lost:
            self._log_change('the robot answered again at the end, and was let go')

    def _lose(self, error: DeviceError, is_own: bool = False) -> None:
        problem, self._is_own = str(error), is_own
        with self._lock:
            self._activity, self._newest = Activity.LOST, None
        self._problem = problem
        self.counts.losses += 1
        self._robot.close()
        # A port that is there is tried at once: it may have been noise.
        pause = self._settings.reconnect_period if error.is_gone else 0.0
        self._next_attempt = time.monotonic() + pause
        text = (
            f'{problem}; no joint_states until it answers again, tried every '
            f'{self._settings.reconnect_period:g} s'
        )
        if is_own:
            self._warnings.fail('loss', text)
        else:
            self._log_error(text)

    def _reconnect(self) -> None:
        if time.monotonic() < self._next_attempt:
            return
        try:
            self._note_restarts(self._robot.reconnect(self._is_released))
            self._reading = self._robot.read()
            positions = self._reading.positions.copy()
            kept = positions if self._goals is None or self._is_released else self._goals
            self._note_fallen(positions)
            self._goals = np.where(self._restarted, positions, kept)
            if not (self._is_released or self._restarted.all()):
                self._hold()
        except FrameRosError as error:
            if str(error) != self._problem:
                self._log_error(str(error))
            self._problem = str(error)
            self._activity = Activity.LOST  # it may have begun to hold
            self._robot.close()
            self._next_attempt = time.monotonic() + self._settings.reconnect_period
            return
        with self._lock:
            self._newest = None
            self._activity = Activity.RELEASED if self._is_released else Activity.HOLDING
        self.counts.reconnections += 1
        self._problem = ''
        names = np.array(self._robot.names)[self._restarted].tolist()
        self._restarted[:] = False
        lost = f'; {", ".join(names)} had lost power' if names else ''
        text = f'the robot answers again; {self._activity.value}{lost}'
        if self._is_own:
            self._warnings.warn('found', text)
        else:
            self._log_change(text)

    def _log_fault(self, reading: RobotReading) -> None:
        """Logs the motors' faults as they change; those that come and go, at growing intervals."""
        if reading.motors is None:
            return
        fault = fault_text(self._robot.names, reading.motors)
        if fault and fault != self._fault:
            self._warnings.warn('fault', fault)
        elif self._fault and not fault:
            self._warnings.warn('fault', 'no motor reports a fault any more')
        self._fault = fault

    def _log_error(self, text: str) -> None:
        self._log.error(text)  # type: ignore[attr-defined]

    def _log_change(self, text: str) -> None:
        self._log.warning(text)  # type: ignore[attr-defined]
