# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A Franka arm behind one small interface: states, motions that replace one another, a smooth stop,
and recovery from errors.

franky's own thread answers the arm every millisecond; nothing here has a deadline. A motion that
nobody replaces comes to rest by itself, at its goal or when its time is over.
"""

from __future__ import annotations

import contextlib
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.thread_priority import inherited_priority
from frame_ros.core.time import SECOND
from frame_ros.hardware.device_error import DeviceError
from frame_ros.hardware.franky.approach import Approach
from frame_ros.hardware.franky.arrivals import CYCLE, Arrivals
from frame_ros.hardware.franky.connecting import Connecting
from frame_ros.hardware.franky.library import MotionAborted, franky_errors, import_franky
from frame_ros.hardware.franky.options import IGNORE, FciOptions
from frame_ros.hardware.franky.reading import REFLEX, FrankaReading, mode_names

Array = NDArray[np.float64]
POLL = 0.00015  # s between two looks for the next state while the arm moves
# Of libfranka's thread, which it leaves without one on a system that is not realtime: above all of
# ours, as it works for a tenth of each millisecond and an arm waits for nobody.
CONTROL_PRIORITY = 47
# Of the arm's limits, at which it stops itself: what is sent are rounded differences.
LARGEST_SHARE = 0.98
# rad/s^3, with which accelerations change at most, of the 5000 of an FR3 (kMaxJointJerk of
# libfranka's rate_limiting.h, in some joints less than a Panda's, which franky takes): after a lost
# cycle an arm sees half as much again, and more after several.
LARGEST_JERK = 5000.0
JERK = 0.4 * LARGEST_JERK
STOP_TIMEOUT = 2.0  # s for a motion to come to rest


class FrankyArm:
    """A Franka arm. Used by one thread at a time.

    host: name or address. options: its thresholds, dynamics and realtime. velocities (rad/s) and
    accelerations (rad/s^2): (7,) limits of the robot.

    Attributes:
        share: of the arm's limits, that a motion may use.
        largest_rates, accelerations: (7,) rad/s and rad/s^2, that a motion may have.
    """

    def __init__(
        self, host: str, options: FciOptions, velocities: Array, accelerations: Array
    ) -> None:
        """Raises MissingExtraError if franky-control is not installed."""
        self._franky = import_franky()
        self._host, self._options = host, options
        self._velocities, self._accelerations = velocities, accelerations
        self.share = min(options.dynamics, LARGEST_SHARE)
        self.largest_rates = self.share * velocities
        self.accelerations = self.share * accelerations
        self._connecting = Connecting(
            self._connection, f'the arm at {host}', options.connect_timeout, options.realtime
        )
        self._modes = mode_names(self._franky)
        self._rest = self._franky.JointVelocityWaypoint(np.zeros(len(velocities)))
        self._cycle = options.cycle
        self._approach = Approach('', accelerations)
        self._robot: Any = None
        self._is_ours = False  # the motion that runs
        self._forget_counts()

    @property
    def is_connected(self) -> bool:
        """True from `connect` to `close`."""
        return self._robot is not None

    @property
    def is_moving(self) -> bool:
        """True while a motion runs, if it only holds its goal."""
        return self._robot is not None and self._robot.is_in_control

    def connect(self) -> None:
        """Connects, and sets thresholds and dynamics.

        Raises:
            DeviceError: nobody answers, or it refuses. SetupError: the wheel is of another version,
                or the system is not realtime.
        """
        self.disconnect()
        options = self._options
        with franky_errors(f'no connection to the arm at {self._host}'):
            robot = self._connecting.wait()
            robot.set_collision_behavior(
                list(options.contact_torques), list(options.collision_torques),
                list(options.contact_wrench), list(options.collision_wrench),
            )  # fmt: skip
            self._set_limits(robot)
        self._robot, self._is_ours = robot, False
        self._forget_counts()

    def _forget_counts(self) -> None:
        # The next state is one that is not of these counts, so also one whose count begins again.
        self._last_count = self._due_count = -1
        self._arrivals = Arrivals()

    def _connection(self) -> Any:
        franky, options = self._franky, self._options
        realtime = franky.RealtimeConfig
        chosen = realtime.Ignore if options.realtime == IGNORE else realtime.Enforce
        return franky.Robot(self._host, relative_dynamics_factor=self.share, realtime_config=chosen)

    def _set_limits(self, robot: Any) -> None:
        """Limits the motions to what the robot can and franky allows: its own limits are those of a
        Panda, also for an FR3, which is faster in some joints and accelerates less in others.
        """
        # A connection that was waited for may be of an attempt with others.
        robot.relative_dynamics_factor = self.share
        velocity, acceleration = robot.joint_velocity_limit, robot.joint_acceleration_limit
        velocities = np.minimum(velocity.max, self._velocities)
        velocity.set(velocities)
        accelerations = np.minimum(acceleration.max, self._accelerations)
        acceleration.set(accelerations)
        jerk = robot.joint_jerk_limit
        # franky takes the share of it; a slow arm may have more, and rests the sooner.
        jerk.set(np.minimum(jerk.max, min(LARGEST_JERK, JERK / self.share)))
        self.largest_rates = self.share * velocities
        self.accelerations = self.share * accelerations
        self._approach = Approach(robot.model_urdf, self.accelerations)

    def read(self) -> FrankaReading:
        """Waits for the next state that is due, `cycle` ms after the last.

        Raises:
            DeviceError: none came within `answer_timeout`.
        """
        try:
            return self._next_state()
        except Exception:
            with franky_errors(f'no state from the arm at {self._host}'):
                raise

    def _next_state(self) -> FrankaReading:
        robot, arrivals, due_count = self._robot, self._arrivals, self._due_count
        # Without a motion the library waits for the arm's next state itself.
        is_waited_for = not robot.is_in_control
        if due_count >= 0 and not (is_waited_for and self._cycle == 1):
            left = arrivals.due(due_count) - time.monotonic()
            if left > 0.0:
                time.sleep(min(left, self._cycle * CYCLE))
        state = robot.state
        count = state.time.to_msec()
        is_first_look = not self._last_count <= count < due_count
        if not is_first_look:
            state, count = self._look_on()
        read_at = time.monotonic_ns()
        if is_waited_for:
            arrivals.restart(count, read_at / SECOND)
        else:
            arrivals.note(count, read_at / SECOND, is_first_look)
        self._last_count, self._due_count = count, count + self._cycle
        return FrankaReading(state, read_at, count, self._modes)

    def _look_on(self) -> tuple[Any, int]:
        """Returns the next state that is due and its count, as soon as it is here."""
        deadline = time.monotonic() + self._options.answer_timeout
        while True:
            if time.monotonic() > deadline:
                raise DeviceError(
                    f'no state from the arm at {self._host} for {self._options.answer_timeout:g} s'
                )
            time.sleep(POLL)
            state = self._robot.state
            count = state.time.to_msec()
            if not self._last_count <= count < self._due_count:
                return state, count

    def errors(self) -> str:
        """The errors that the arm reports now, or of a reflex those that ended its motion; '':
        none. Those of an earlier motion say nothing of an arm that is stopped or guided.

        Raises:
            DeviceError: it does not answer.
        """
        with franky_errors('the errors cannot be read'):
            state = self._robot.state
            found = str(state.current_errors).strip('[]')
            if not found and self._modes.get(state.robot_mode) == REFLEX:
                found = str(state.last_motion_errors).strip('[]')
        return found.replace('"', '')

    def check_motion(self) -> None:
        """Looks after the last motion once it has ended.

        Raises:
            MotionAborted: the arm ended it.
        """
        if not self._is_ours or self._robot.is_in_control:
            return
        self._is_ours = False
        with franky_errors('the motion failed', MotionAborted):
            self._robot.join_motion(0.0)

    @property
    def ends(self) -> Array:
        """(2, 7) rad, lower and upper ends of the joints' ranges, where `bounded` holds them."""
        return self._approach.ends

    def follow_velocities(self, rates: Array, duration: float) -> None:
        """Moves on with joint velocities (7,) rad/s for `duration` s, then stops.

        Raises:
            DeviceError: it cannot.
        """
        franky = self._franky
        point = franky.JointVelocityWaypoint(rates, hold_target_duration=self._duration(duration))
        self._move(franky.JointVelocityWaypointMotion([point, self._rest]))

    def bounded(self, rates: Array, reading: FrankaReading) -> Array:
        """Returns joint velocities (7,) rad/s, less where a joint nears the end of its range, and
        near those that the arm goes by now.
        """
        least, largest = self._approach.bounds(
            reading.positions, reading.velocities, reading.commanded_velocities
        )
        bounded: Array = np.minimum(np.maximum(rates, least), largest)
        return bounded

    def begin_stop(self) -> None:
        """Begins to come to rest within the limits of `dynamics`; then no motion runs.

        Raises:
            DeviceError: it cannot.
        """
        if not self.is_moving:
            return
        with franky_errors('the arm cannot be stopped'):
            if self._is_ours:
                self._robot.move(self._franky.JointVelocityStopMotion(), asynchronous=True)
            else:  # a motion that is not ours to replace
                self._robot.stop()

    def wait_for_rest(self) -> None:
        """Waits until the stop has ended; an arm that takes too long is stopped by force.

        Raises:
            DeviceError: it does not answer.
        """
        end = time.monotonic() + STOP_TIMEOUT
        while self.is_moving and time.monotonic() < end:
            time.sleep(CYCLE)
        with franky_errors('the arm cannot be stopped'):
            if self.is_moving:
                self._robot.stop()
        self._is_ours = False

    def recover(self) -> None:
        """Recovers from an error, as far as the arm does that by itself.

        Raises:
            DeviceError: it does not; the text says what is the matter.
        """
        with franky_errors('the arm does not recover'):
            has_recovered = self._robot.recover_from_errors()
        if not has_recovered:
            raise DeviceError(f'the arm does not recover: {self.errors() or "it does not say why"}')
        self._is_ours = False

    def close(self) -> None:
        """Disconnects, after a stop; no error if the arm is gone."""
        self._connecting.give_up()
        self.disconnect()

    def disconnect(self) -> None:
        """Disconnects, after a stop; an attempt to connect that has not ended goes on."""
        robot, self._robot = self._robot, None
        if robot is None:
            return
        with contextlib.suppress(Exception):
            if robot.is_in_control:
                robot.stop()
                robot.join_motion(STOP_TIMEOUT)
        self._is_ours = False

    def _move(self, motion: Any) -> None:
        """Starts a motion, or replaces one of the same kind.

        Raises:
            DeviceError: it cannot, or one of another kind is running.
        """
        self.check_motion()
        begins = self._options.realtime == IGNORE and not self._robot.is_in_control
        try:
            with inherited_priority(CONTROL_PRIORITY) if begins else contextlib.nullcontext():
                self._robot.move(motion, asynchronous=True)
        except Exception:
            with franky_errors('the arm does not move'):
                raise
        self._is_ours = True

    def _duration(self, seconds: float) -> Any:
        return self._franky.Duration(max(1, round(seconds * 1000)))
