# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Any LeRobot robot behind one small interface: our joint names, rad, A.

An arm never drops as a side effect: wherever LeRobot would switch the torque off, the caller
decides.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from frame_ros.hardware.device_error import DeviceError
from frame_ros.hardware.feetech.motors import (
    adapt_bus,
    check_units,
    drain,
    feetech_bus,
    open_bus,
    rates_per_step,
    set_goals_here,
    settle_port,
    switch_on_or_undo,
    switch_torque,
)
from frame_ros.hardware.feetech.power import PowerState, PowerWatch
from frame_ros.hardware.feetech.telemetry import FeetechTelemetry, MotorReadings
from frame_ros.hardware.feetech.trouble import clear_faults, explained, explanation
from frame_ros.hardware.lerobot.devices import (
    ROBOTS,
    check_calibration,
    device_errors,
    disconnect,
    make_device,
    parts_of,
    set_goals_of_parts,
    switch_part,
    with_defaults,
)
from frame_ros.hardware.lerobot.joint_mapping import POSITION, VELOCITY, JointMapping
from frame_ros.hardware.lerobot.plausibility import (
    check_answers,
    check_finite,
    check_turns,
    range_notes,
)

Array = NDArray[np.float64]
DEFAULTS = {'use_degrees': True, 'disable_torque_on_disconnect': False}
CONNECT_RETRIES = 2  # LeRobot gives up at the first packet that is lost in some hundreds


@dataclass(frozen=True)
class RobotReading:
    """Measurements of the robot at one time."""

    began: int  # time.monotonic_ns() around the reading of the positions
    ended: int  # time.monotonic_ns() around the reading of the positions
    positions: Array  # (D,) rad
    velocities: Array | None = None  # (D,) rad/s; None if not reported
    currents: Array | None = None  # (D,) A; None if not reported
    motors: MotorReadings | None = None  # temperatures and the like, if reported


@dataclass(frozen=True)
class DeviceOptions:
    """A LeRobot device, and how it maps to our robot."""

    kind: str  # its registered name
    limits: Mapping[str, tuple[float, float]]  # our robot's joints -> (lower, upper) rad
    grippers: Mapping[str, tuple[float, float]]  # its gripper joints -> (closed, open) rad
    port: str = ''
    identity: str = ''  # its id, which names the calibration file
    calibration_dir: str = ''  # its folder; empty: LeRobot's own
    options: Mapping[str, Any] | None = None  # more fields of its configuration
    units: str = 'degrees'  # 'degrees' (a gripper 0 to 100) or 'rad'
    names: Mapping[str, str] | None = None  # as in JointMapping
    signs: Mapping[str, float] | None = None  # as in JointMapping
    offsets: Mapping[str, float] | None = None  # as in JointMapping
    answer_timeout: float = 0.05  # s that Feetech motors have to answer

    def make(self, group: str) -> Any:
        """Makes LeRobot's object of 'robots' or 'teleoperators'; raises as `make_device`.

        Raises:
            MissingExtraError, SetupError: as make_device.
        """
        fields: dict[str, Any] = {'id': self.identity or None, **(self.options or {})}
        if self.port:
            fields['port'] = self.port
        if self.calibration_dir:
            fields['calibration_dir'] = self.calibration_dir
        device = make_device(group, self.kind, with_defaults(group, self.kind, fields, DEFAULTS))
        for part in parts_of(device):
            if (bus := feetech_bus(part)) is not None:
                adapt_bus(bus, self.answer_timeout)
        return device

    def mapping(self, features: Mapping[str, Any]) -> JointMapping:
        """Returns the mapping between the device's joints and ours; raises as `JointMapping`.

        Raises:
            SetupError: as JointMapping.
        """
        return JointMapping(
            features, self.limits, self.grippers, self.units, self.names, self.signs, self.offsets
        )


class LeRobotDevice:
    """Base of robots and teleoperators. Used by one thread at a time.

    Attributes:
        device: LeRobot's own object.
        names: its joints, in the order of all arrays.
        limits: (D, 2) rad, of the robot.
    """

    group: ClassVar[str]

    def __init__(self, options: DeviceOptions) -> None:
        """Makes the device without connecting it.

        Raises:
            MissingExtraError: LeRobot, or what the device needs, is not installed.
            SetupError: LeRobot has none of this name, it has no joint positions, or its options or
                joints do not fit.
        """
        self._options = options
        self.device = options.make(self.group)
        self._mapping = options.mapping(self._features())
        self.names, self.limits = self._mapping.names, self._mapping.limits
        self._bus = feetech_bus(self.device)
        if self._bus is not None:
            check_units(self._bus, options.units, self._mapping.device_grippers)
        self._is_out_of_step = False  # an answer that came late or broken may be in the port

    def _features(self) -> Mapping[str, Any]:
        raise NotImplementedError

    def close(self) -> None:
        """Disconnects; no error if the device is gone."""
        raise NotImplementedError

    def _connect_device(self, prepare: Callable[[], None]) -> None:
        """Prepares the motors, then lets LeRobot connect."""
        what = f'{self._options.kind} on {self._options.port or "its port"} cannot be connected'
        try:
            with device_errors(what):
                prepare()
                self.device.connect(calibrate=False)
                if self._bus is None:
                    self._check_calibration()
                else:
                    settle_port(self._bus)
        except Exception:
            self.close()
            raise

    @contextlib.contextmanager
    def _reading(self, what: str) -> Iterator[None]:
        """Empties a port that is out of step before what is read in this context."""
        if self._is_out_of_step and self._bus is not None:
            with device_errors('the port cannot be emptied'):
                drain(self._bus)
        self._is_out_of_step = True  # unless this works
        with device_errors(f'the {what} cannot be read'):
            yield
        self._is_out_of_step = False

    def _check_calibration(self) -> None:
        check_calibration(self.device, self.group, self._options.kind, self._options.port)
        if self._bus is not None:
            values = self._bus.sync_read('Present_Position', num_retry=2)
            found = {f'{motor}{POSITION}': value for motor, value in values.items()}
            check_turns(self.names, self._mapping.positions(found), self.limits)

    def calibration_notes(self) -> list[str]:
        """Returns what to look at in the calibration of a Feetech bus, in words."""
        if self._bus is None:
            return []
        motors = [key.removesuffix(POSITION) for key in self._mapping.keys]
        models = {motor.model for motor in self._bus.motors.values()}
        resolution = min(self._bus.model_resolution_table[model] for model in models)
        joints = dict(zip(motors, self.names, strict=True))
        return range_notes(self._bus.calibration, joints, self.limits, resolution)


class LeRobotRobot(LeRobotDevice):
    """A LeRobot robot.

    Attributes:
        is_gripper: (D,).
    """

    group = ROBOTS

    def __init__(self, options: DeviceOptions) -> None:
        """Makes the robot without connecting it; raises as `LeRobotDevice`.

        Raises:
            MissingExtraError, SetupError: as LeRobotDevice.
        """
        super().__init__(options)
        features = self.device.observation_features
        self._has_velocities = all(self._velocity_key(k) in features for k in self._mapping.keys)
        self.is_gripper = self._mapping.is_gripper
        in_order = [f'{name}{POSITION}' for name in getattr(self._bus, 'motors', ())]
        has_telemetry = self._bus is not None and in_order == list(self._mapping.keys)
        self._telemetry = FeetechTelemetry(self._bus) if has_telemetry else None
        self._power = PowerWatch(self._bus) if has_telemetry else None
        self._rates: Array = np.ones(len(self.names))
        self._restarted = np.zeros(len(self.names), dtype=bool)  # of which the caller does not know

    def _features(self) -> Mapping[str, Any]:
        return {k: v for k, v in self.device.observation_features.items() if v is float}

    @property
    def is_connected(self) -> bool:
        """True if its port is open."""
        return bool(self.device.is_connected)

    @property
    def can_switch_torque(self) -> bool:
        """True if the torque can be switched while it is connected."""
        buses = [getattr(part, 'bus', None) for part in parts_of(self.device)]
        return all(hasattr(bus, 'disable_torque') for bus in buses)

    def connect(self, write_calibration: bool = False) -> None:
        """Connects and configures the motors, with the torque on, at their present position.

        LeRobot takes the torque away for some tenths of a second meanwhile.

        Args:
            write_calibration: write the calibration file into the motors first, with the torque
                off.

        Raises:
            DeviceError: it does not answer, or other motors do.
            SetupError: it is not calibrated, or by another file.
        """
        for _ in range(CONNECT_RETRIES):
            try:
                self._connect(write_calibration)
                return
            except DeviceError as error:
                if error.is_gone:
                    raise
        self._connect(write_calibration)

    def _connect(self, write_calibration: bool) -> None:
        if self._bus is None:
            self._connect_device(lambda: set_goals_of_parts(self.device))
        else:
            self._connect_device(lambda: self._prepare_motors(write_calibration))
        if self._telemetry is not None:
            self._rates = rates_per_step(self._bus)
        if self._power is not None:
            try:
                with device_errors('the motors cannot be read'):
                    self._power.note()
            except DeviceError:
                self.close()
                raise

    def reconnect(self, is_released: bool = False) -> NDArray[np.bool_]:
        """Connects again after the port was lost, leaving motors that kept their power as they are.

        Returns (D,) which ones did not: their goals are now where the arm was found. Raises as
        `connect`.

        Args:
            is_released: the torque was off, and stays off.
        """
        self.close()
        everything = np.ones(len(self.names), dtype=bool)
        if self._bus is None:
            self.connect()
            if is_released and self.can_switch_torque:
                self.set_torque(False)
            return everything
        what = f'{self._options.kind} cannot be connected again'
        try:
            with device_errors(what):
                open_bus(self._bus)
                state = self._power_state()
                self._restarted |= state.is_restarted
                # Also what was known before: an attempt that failed half-way left motors limp.
                if self._restarted.all() and not is_released:
                    self.close()
                    self.connect()
                    return self._take_restarted()
                self._restore(state, is_released)
        except DeviceError as error:
            why = '' if error.is_gone else explanation(self._bus)
            self.close()
            if why:
                raise DeviceError(f'{what}: {why}') from error
            raise
        return self._take_restarted()

    def look_after_power(self) -> PowerState:
        """Returns how the motors of an arm that is to have torque changed; those that restarted
        have been set up again, with the torque on where they are.

        Raises:
            DeviceError: a motor does not answer.
        """
        if self._power is None:
            return PowerState(*np.zeros((2, len(self.names)), dtype=bool))
        with self._reading('power of the motors'):
            state = self._power.look()
            self._restarted |= state.is_restarted  # known also if what follows fails half-way
            if state.is_restarted.any():
                self._power.restore(state.is_restarted, has_torque=True)
        return replace(state, is_restarted=self._take_restarted())

    def _take_restarted(self) -> NDArray[np.bool_]:
        """Returns which motors restarted since the last call that worked."""
        found, self._restarted = self._restarted, np.zeros_like(self._restarted)
        return found

    def _power_state(self) -> PowerState:
        """Changes of the motors while they were not connected."""
        if self._power is not None:
            return self._power.look()
        enabled = self._bus.sync_read('Torque_Enable', num_retry=2).values()
        is_restarted = np.full(len(self.names), any(value != 1 for value in enabled))
        return PowerState(is_restarted, np.zeros_like(is_restarted))

    def _restore(self, state: PowerState, is_released: bool) -> None:
        """Sets up motors that restarted, after a look whether it is the same arm.

        Raises:
            DeviceError: a motor does not answer, or has a fault.
            SetupError: it is another arm.
        """
        if self._power is None or state.is_as_before:
            return
        if not is_released:
            clear_faults(self._bus)
        self._check_calibration()
        if state.is_restarted.any():
            self._power.restore(state.is_restarted, has_torque=not is_released)

    def read(self) -> RobotReading:
        """Returns the robot's measurements.

        Raises:
            DeviceError: it does not answer.
        """
        with self._reading('robot'):
            began = time.monotonic_ns()
            observation = self.device.get_observation()
            ended = time.monotonic_ns()
            positions = self._mapping.positions(observation)
            check_finite(self.names, positions)
            if self._bus is not None:
                check_answers(self.names, positions, self.limits)
            motors = self._telemetry.read() if self._telemetry is not None else None
        velocities = currents = None
        if motors is not None:
            velocities = self._mapping.rates(motors.velocities * self._rates)
            currents = self._mapping.signed(motors.currents)
        elif self._has_velocities:
            rates = [observation[self._velocity_key(key)] for key in self._mapping.keys]
            velocities = self._mapping.rates(np.array(rates, dtype=np.float64))
        return RobotReading(began, ended, positions, velocities, currents, motors)

    def send(self, positions: Array) -> None:
        """Sends positions (D,) rad as the goals.

        Raises:
            DeviceError: it does not take them.
        """
        with device_errors('the goals cannot be sent'):
            self.device.send_action(self._mapping.values(positions))

    def set_torque(self, is_on: bool) -> NDArray[np.bool_]:
        """Switches the torque; where it comes on, the joint stays where it is, and one that had it
        keeps its goal.

        Returns (D,) which had none, all of them if that is not known.

        Raises:
            DeviceError: the robot cannot do that, or a motor does not answer. Feetech motors of
                which one does not come on are as they were before.
        """
        if not self.can_switch_torque:
            raise DeviceError(f'the torque of {self._options.kind} cannot be switched')
        with device_errors('the torque cannot be switched'):
            was_limp: NDArray[np.bool_] = np.ones(len(self.names), dtype=bool)
            if self._bus is None:
                for part in parts_of(self.device):
                    switch_part(part, is_on)
                return was_limp
            if is_on:
                enabled = self._bus.sync_read('Torque_Enable', num_retry=2)
                limp = [name for name, value in enabled.items() if value != 1]
                if limp:
                    set_goals_here(self._bus, limp)
                keys = self._mapping.keys
                was_limp = np.array([key.removesuffix(POSITION) in limp for key in keys])
                switch_on_or_undo(self._bus, limp)
            else:
                switch_torque(self._bus, False)
            return was_limp

    def close(self) -> None:
        """Disconnects; an arm with torque on holds its last goals. No error if the robot is gone. A
        robot that is not there any more is let go without an error.
        """
        if self._bus is None:
            disconnect(self.device)
            return
        with contextlib.suppress(Exception):
            self._bus.port_handler.closePort()

    def _prepare_motors(self, write_calibration: bool) -> None:
        """Checks the motors and sets their goals to their positions, before torque comes on."""
        open_bus(self._bus)
        try:
            with explained(self._bus):
                clear_faults(self._bus)
                self._bus._handshake()
                if write_calibration and self.device.calibration and not self.device.is_calibrated:
                    self._bus.disable_torque(num_retry=2)
                    self._bus.write_calibration(self.device.calibration)
                self._check_calibration()
                set_goals_here(self._bus)
        finally:
            self._bus.disconnect(disable_torque=False)

    @staticmethod
    def _velocity_key(key: str) -> str:
        return key.removesuffix(POSITION) + VELOCITY
