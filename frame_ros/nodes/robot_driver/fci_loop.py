# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The thread that owns a Franka arm: it reads the states, publishes, and follows the newest
command.

The arm comes to rest when no command has come for `command_timeout`. An arm that has stopped itself
follows nothing until its error is recovered from, by the service.
"""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from rclpy.clock import Clock

from frame_ros.core.errors import FrameRosError
from frame_ros.core.repeated_warnings import Log, RepeatedWarnings
from frame_ros.core.thread_priority import raise_priority
from frame_ros.gate.command_check import limited_step
from frame_ros.hardware.device_error import DeviceError
from frame_ros.hardware.driver_state import Activity
from frame_ros.hardware.franky.approach import AHEAD, BRAKING
from frame_ros.hardware.franky.arm import FrankyArm
from frame_ros.hardware.franky.guard import VelocityGuard
from frame_ros.hardware.franky.library import MotionAborted
from frame_ros.hardware.franky.options import IGNORE, POSE, POSITION, SERVO_PERIOD
from frame_ros.hardware.franky.pose_goals import PoseGoals
from frame_ros.hardware.franky.reading import FrankaReading
from frame_ros.hardware.franky.servo import GoalServo, RestServo
from frame_ros.hardware.franky.state import FciCounts, FciState
from frame_ros.hardware.requests import Requests
from frame_ros.nodes.robot_driver.fci_commands import FciCommand, FciCommands
from frame_ros.nodes.robot_driver.options import RobotDriverOptions
from frame_ros.nodes.runtime.ticks import SWITCH_INTERVAL
from frame_ros.robots import Robot

Array = NDArray[np.float64]
PRIORITY = 40  # below the gate's, and that of libfranka's thread
AT_REST = 0.03  # rad/s, at most: a servo that keeps a place goes at up to 0.02
SERVO_HOLD = 0.05  # s after which a velocity that is not renewed ends in a stop
LOST_POLL = 0.02  # s between two looks for commands, to refuse them, while the arm is lost
RECOVERED = 'recovered; the arm follows commands again'
HEALTHY = 'the arm has no error to recover from'


class FciLoop:
    """Owns the connected arm until `stop`.

    poll: hands over the commands that have come, in the loop's thread; it raises nothing. An
    executor that wakes for each takes ten times as long. publish: gets each reading, likewise.
    set_width: gets the opening in m that the hand is to have. log: an rclpy logger. poses: finds
    the goals for poses, where these are followed.

    Attributes:
        commands: for those who give them.
        counts: since the start.
    """

    def __init__(
        self,
        arm: FrankyArm,
        robot: Robot,
        settings: RobotDriverOptions,
        clock: Clock,
        poll: Callable[[], None],
        publish: Callable[[FrankaReading], None],
        set_width: Callable[[float], None],
        log: Log,
        poses: PoseGoals | None = None,
    ) -> None:
        self._arm, self._settings = arm, settings
        self._poll, self._publish, self._log = poll, publish, log
        self._warnings, self._is_own = RepeatedWarnings(log), False
        settling, largest = settings.fci.settling, arm.largest_rates
        self._servo = GoalServo(settling, largest)
        # A goal that stands needs no smoothing.
        self._rest_servo = RestServo(settling / 2.0, largest, BRAKING * arm.accelerations)
        self._guard = VelocityGuard(robot, settings.fci.self_distance)
        self._poses = poses
        self._next_servo, self._is_servoing = 0, False
        self._rates: Array = np.zeros(len(robot.joint_names))  # commanded
        self._sent_rates: Array = self._rates  # as far as they are allowed
        self._cycle = settings.fci.cycle
        self._states_per_turn = max(1, SERVO_PERIOD // self._cycle)
        self._last_command = 0.0
        self._activity = Activity.HOLDING
        self._reading: FrankaReading | None = None
        self._problem = ''
        self._next_attempt = 0.0
        self._forget()  # what was of a loop before
        self._requests = Requests()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name='fci', daemon=True)
        self.counts = FciCounts()
        self.commands = FciCommands(robot, settings, clock, self.counts, self._obstacle, set_width)

    def start(self) -> None:
        """Begins to read."""
        if unchecked := self._guard.unchecked:
            self._log_change(
                f'{", ".join(unchecked)} have no collision primitives in the URDF: nothing keeps '
                'them from other links (fci.self_distance)'
            )
        sys.setswitchinterval(SWITCH_INTERVAL)
        self._thread.start()

    def stop(self) -> None:
        """Brings the arm to rest, ends the thread and disconnects."""
        self._ending.set()
        if self._thread.is_alive():
            self._thread.join()
        try:
            if self._arm.is_connected:
                self._arm.begin_stop()
                self._arm.wait_for_rest()
        except FrameRosError as error:
            self._log.error(f'the arm may not be at rest: {error}')
        self._arm.close()

    @property
    def state(self) -> FciState:
        """The loop's state, from any thread."""
        return FciState(self._activity, self.counts, self._problem, self._reading)

    def recover(self, timeout: float) -> str:
        """Recovers the arm from its error, in the loop's thread. timeout: s to wait for it.

        Returns what was done.

        Raises:
            DeviceError: it did not work, or not in time; the text says what is the matter.
        """
        done = [RECOVERED]

        def act() -> None:
            if self._activity is Activity.LOST:
                raise DeviceError(f'the arm is not connected: {self._problem}')
            if self._activity is not Activity.ABORTED:
                done[0] = HEALTHY
                return
            self._arm.recover()
            self._poll()  # what came meanwhile is refused
            self.commands.drop()
            self._activity, self._problem = Activity.HOLDING, ''

        self._requests.ask(act, timeout)
        return done[0]

    def _obstacle(self) -> str:
        """Returns why no command can be taken now."""
        if self._activity is Activity.LOST:
            return 'the arm is not connected'
        if self._activity is Activity.ABORTED:
            return f'the arm has stopped itself: {self._problem}; call ~/recover_errors'
        return ''

    # The loop's thread.

    def _run(self) -> None:
        # FrankyArm raises what is inherited, for which it must be so from the start.
        raise_priority(PRIORITY, is_inherited=self._settings.fci.realtime == IGNORE)
        while not self._ending.is_set():
            try:
                self._requests.serve()
                if self._activity is Activity.LOST:
                    self._reconnect()
                else:
                    self._turn()
            except MotionAborted as error:
                self._abort(str(error))
            except FrameRosError as error:
                self._lose(str(error))
            except Exception as error:  # who stops the arm must not end
                self._warnings.fail('own', traceback.format_exc())
                self._lose(f'the driver failed: {type(error).__name__}: {error}', is_own=True)

    def _turn(self) -> None:
        """Reads and publishes the states of one period of the servo, then looks after the rest: a
        millisecond later others have had the caches, and the same lines cost many times as much.
        """
        for _ in range(self._states_per_turn):
            reading = self._read()
        self._look_after(reading)
        self._poll()
        command = self.commands.take(reading.positions)
        if self._activity is Activity.ABORTED:
            return
        if command is not None:
            self._follow(command, reading)
        if self._activity is Activity.FOLLOWING:
            self._watch(reading)
        if self._activity is Activity.FOLLOWING:
            self._steer(reading)

    def _read(self) -> FrankaReading:
        """Reads the next state and publishes it: all that is done for each."""
        before, reading = self._reading, self._arm.read()
        counts = self.counts
        counts.states += 1
        if before is not None and (late := reading.count - before.count - self._cycle) > 0:
            counts.states_missed += late
        self._reading = reading
        self._publish(reading)
        return reading

    def _look_after(self, reading: FrankaReading) -> None:
        """Notices what the arm did by itself.

        Raises:
            MotionAborted: it ended its motion.
        """
        if self._activity is Activity.ABORTED:
            return
        self._arm.check_motion()
        if not reading.is_ready:
            errors = self._arm.errors()
            raise MotionAborted(reading.mode + (f' ({errors})' if errors else ''))

    def _follow(self, command: FciCommand, reading: FrankaReading) -> None:
        if command.is_rates:
            self._forget_goals()
            largest = self._arm.largest_rates
            self._rates = np.clip(command.values, -largest, largest)
            self._next_servo = reading.count + SERVO_PERIOD
            self._send_rates(self._bounded(self._rates, reading), command.arrival)
        else:
            self._follow_goals(command, reading)
        self.counts.sent += 1
        self._last_command, self._is_servoing = command.arrival, not command.is_rates
        self._activity = Activity.FOLLOWING

    def _follow_goals(self, command: FciCommand, reading: FrankaReading) -> None:
        control, positions = self._settings.fci.control, reading.positions
        goals, is_reached = command.values, True
        if control == POSE:
            assert self._poses is not None
            largest = self._arm.largest_rates
            goals, is_reached = self._poses.find(goals, command.time, positions, largest)
        allowed = self._allowed(goals, positions)
        self.counts.limited += int(not (is_reached and np.array_equal(allowed, goals)))
        if control == POSITION:
            self._rest_servo.take(allowed)
        else:
            self._servo.take(allowed, command.time, time.monotonic(), positions)
        self._next_servo = reading.count

    def _forget(self) -> None:
        """Begins afresh after the motion has ended."""
        self._forget_goals()
        self._near, self._hold_warnings = '', RepeatedWarnings(self._log)

    def _forget_goals(self) -> None:
        self._servo.reset()
        self._rest_servo.reset()
        if self._poses is not None:
            self._poses.reset()

    def _send_rates(self, rates: Array, arrival: float) -> None:
        self._sent_rates = rates
        left = arrival + self._settings.command_timeout - time.monotonic()
        self._arm.follow_velocities(rates, left)

    def _allowed(self, wanted: Array, positions: Array) -> Array:
        is_gripper = np.zeros(len(wanted), bool)
        return limited_step(wanted, positions, is_gripper, self._settings.max_relative_target)

    def _steer(self, reading: FrankaReading) -> None:
        """Velocities towards the goal, which end soon where nobody renews them; commanded ones, as
        far as they are still allowed.
        """
        if reading.count < self._next_servo:
            return
        self._next_servo = reading.count + SERVO_PERIOD
        wanted = self._wanted(reading) if self._is_servoing else self._rates
        rates = self._bounded(wanted, reading)
        if self._is_servoing:
            self._arm.follow_velocities(rates, SERVO_HOLD)
        elif not np.array_equal(rates, self._sent_rates):
            self._send_rates(rates, self._last_command)

    def _wanted(self, reading: FrankaReading) -> Array:
        if self._settings.fci.control == POSITION:
            return self._rest_servo.rates(reading.positions + AHEAD * reading.commanded_velocities)
        return self._servo.rates(time.monotonic(), reading.positions)

    def _bounded(self, rates: Array, reading: FrankaReading) -> Array:
        """Returns what of these velocities is sent."""
        arm, positions = self._arm, reading.positions
        rates, near = self._guard.bounded(
            rates, positions, reading.commanded_velocities, arm.accelerations, arm.ends
        )
        if near and not self._near:
            self._hold_warnings.warn(
                'held', f'the arm is held, as its own links come near one another: {near}'
            )
        self._near = near
        # Joints that change their velocities one after the other may be faster together.
        return self._guard.slowed(arm.bounded(rates, reading), positions)

    def _watch(self, reading: FrankaReading) -> None:
        """Brings the arm to rest where no command came in time."""
        age = time.monotonic() - self._last_command
        if age <= self._settings.command_timeout:
            return
        self._arm.begin_stop()
        self._forget()
        self.commands.drop(keeps_newest=True)
        self._activity = Activity.HOLDING
        self.counts.holds += 1
        is_at_rest = np.abs(reading.commanded_velocities).max() <= AT_REST  # as between episodes
        silence = f'no command for {age:.3f} s: the arm'
        if is_at_rest:
            self._log.info(f'{silence} stays where it is')
        else:
            self._log.warning(f'{silence} stops')

    def _abort(self, problem: str) -> None:
        self._activity, self._problem = Activity.ABORTED, problem
        self.commands.drop()
        self._forget()
        self.counts.aborts += 1
        self._log.error(
            f'the arm has stopped itself: {problem}; it follows no command until ~/recover_errors'
        )

    def _lose(self, problem: str, is_own: bool = False) -> None:
        """Goes on without the arm until it is connected again. is_own: the driver failed, as it may
        again each time.
        """
        self._activity, self._problem, self._is_own = Activity.LOST, problem, is_own
        self.commands.drop()
        self._forget()
        self.counts.losses += 1
        self._arm.disconnect()
        self._next_attempt = time.monotonic() + self._settings.reconnect_period
        text = (
            f'{problem}; no joint_states until it answers again, tried every '
            f'{self._settings.reconnect_period:g} s'
        )
        if is_own:
            self._warnings.fail('loss', text)
        else:
            self._log.error(text)

    def _reconnect(self) -> None:
        self._poll()
        left = self._next_attempt - time.monotonic()
        if self._ending.wait(min(LOST_POLL, max(0.0, left))) or left > LOST_POLL:
            return
        try:
            self._arm.connect()
            self._reading = self._arm.read()
            self._poll()  # what came meanwhile is refused
        except FrameRosError as error:
            self._problem = str(error)
            self._arm.disconnect()
            self._next_attempt = time.monotonic() + self._settings.reconnect_period
            return
        self.commands.drop()
        self.counts.reconnections += 1
        self._activity, self._problem = Activity.HOLDING, ''
        text = 'the arm answers again; it holds where it is'
        if self._is_own:
            self._warnings.warn('found', text)
        else:
            self._log_change(text)

    def _log_change(self, text: str) -> None:
        self._log.warning(text)
