# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Any LeRobot robot or teleoperator behind one small interface: our joint names, rad, A.

An arm is never let fall by the way: whether the torque goes off is asked for at each place where
LeRobot would switch it off.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.hardware.feetech.motors import (
    adapt_bus,
    check_units,
    clear_faults,
    drain,
    feetech_bus,
    open_bus,
    rates_per_step,
    set_goals_here,
    settle_port,
    switch_torque,
)
from frame_ros.hardware.feetech.telemetry import FeetechTelemetry, MotorReadings
from frame_ros.hardware.lerobot.devices import (
    ROBOTS,
    TELEOPERATORS,
    DeviceError,
    accepts,
    check_calibration,
    device_errors,
    make_device,
)
from frame_ros.hardware.lerobot.joint_mapping import POSITION, VELOCITY, JointMapping

Array = NDArray[np.float64]
CONNECT_RETRIES = 2  # LeRobot gives up at the first packet that is lost in some hundreds


@dataclass(frozen=True)
class RobotReading:
    """What the robot measured at one time. began, ended: time.monotonic_ns() around the reading of
    the positions. positions: (D,) rad. velocities: (D,) rad/s, currents: (D,) A; None where the
    robot does not tell. motors: temperatures and the like, if the motors tell.
    """

    began: int
    ended: int
    positions: Array
    velocities: Array | None = None
    currents: Array | None = None
    motors: MotorReadings | None = None


@dataclass(frozen=True)
class DeviceOptions:
    """Which LeRobot device, and how it maps to our robot.

    kind: the name it is registered by. identity: its id, which names the calibration file.
    calibration_dir: its folder; empty: LeRobot's own. options: more fields of its configuration.
    limits: our robot's joints -> (lower, upper) rad. units: 'degrees' (a gripper 0 to 100) or
    'rad'. names, signs, offsets: as in JointMapping. answer_timeout: s that Feetech motors have to
    answer.
    """

    kind: str
    limits: Mapping[str, tuple[float, float]]
    port: str = ''
    identity: str = ''
    calibration_dir: str = ''
    options: Mapping[str, Any] | None = None
    units: str = 'degrees'
    names: Mapping[str, str] | None = None
    signs: Mapping[str, float] | None = None
    offsets: Mapping[str, float] | None = None
    answer_timeout: float = 0.05

    def make(self, group: str) -> Any:
        """LeRobot's object. group: 'robots' or 'teleoperators'.

        Raises:
            MissingExtraError, SetupError: as make_device.
        """
        fields: dict[str, Any] = {'id': self.identity or None, **(self.options or {})}
        if self.port:
            fields['port'] = self.port
        if self.calibration_dir:
            fields['calibration_dir'] = self.calibration_dir
        for name, value in (('use_degrees', True), ('disable_torque_on_disconnect', False)):
            if accepts(group, self.kind, name):
                fields.setdefault(name, value)
        device = make_device(group, self.kind, fields)
        bus = feetech_bus(device)
        if bus is not None:
            adapt_bus(bus, self.answer_timeout)
        return device

    def mapping(self, features: Mapping[str, Any]) -> JointMapping:
        """Between the device's joints and ours.

        Raises:
            SetupError: as JointMapping.
        """
        return JointMapping(features, self.limits, self.units, self.names, self.signs, self.offsets)


class LeRobotRobot:
    """A LeRobot robot. One thread at a time may use it.

    names: its joints, in the order of all arrays. limits: (D, 2) rad. is_gripper: (D,).
    """

    def __init__(self, options: DeviceOptions) -> None:
        """Makes it; nothing is connected.

        Raises:
            MissingExtraError: LeRobot, or what the robot needs, is not installed.
            SetupError: LeRobot has no such robot, or its options or joints do not fit.
        """
        self._options = options
        self.device = options.make(ROBOTS)
        features = self.device.observation_features
        self._mapping = options.mapping({k: v for k, v in features.items() if v is float})
        self._has_velocities = all(self._velocity_key(k) in features for k in self._mapping.keys)
        self.names, self.limits = self._mapping.names, self._mapping.limits
        self.is_gripper = self._mapping.is_gripper
        self._bus = feetech_bus(self.device)
        if self._bus is not None:
            check_units(self._bus, options.units)
        in_order = [f'{name}{POSITION}' for name in getattr(self._bus, 'motors', ())]
        has_telemetry = self._bus is not None and in_order == list(self._mapping.keys)
        self._telemetry = FeetechTelemetry(self._bus) if has_telemetry else None
        self._rates: Array = np.ones(len(self.names))
        self._is_out_of_step = False  # an answer that came late or broken may be in the port

    @property
    def is_connected(self) -> bool:
        """Whether its port is open."""
        return bool(self.device.is_connected)

    @property
    def can_switch_torque(self) -> bool:
        """Whether the torque can be switched while it is connected."""
        return hasattr(getattr(self.device, 'bus', None), 'disable_torque')

    def connect(self, write_calibration: bool = False) -> None:
        """Connects and configures the motors, with the torque on, at the position where they are.

        LeRobot takes the torque away while it configures the motors, for some tenths of a second.
        write_calibration: whether to write the calibration file into the motors first, with the
        torque off.

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
        what = f'{self._options.kind} on {self._options.port or "its port"} cannot be connected'
        try:
            with device_errors(what):
                if self._bus is not None:
                    self._prepare_motors(write_calibration)
                self.device.connect(calibrate=False)
                if self._bus is None:
                    self._check_calibration()
                else:
                    settle_port(self._bus)
        except Exception:
            self.close()
            raise
        if self._telemetry is not None:
            self._rates = rates_per_step(self._bus)

    def reconnect(self, is_released: bool = False) -> bool:
        """Connects again after the port was lost; motors that have kept power and torque are left
        as they are. Returns whether they have: else the goals are now where the arm was found.

        is_released: the torque was off, and stays off.

        Raises:
            DeviceError, SetupError: as connect.
        """
        self.close()
        if self._bus is None:
            self.connect()
            return False
        try:
            with device_errors(f'{self._options.kind} cannot be connected again'):
                open_bus(self._bus)
                enabled = self._bus.sync_read('Torque_Enable', num_retry=2)
        except DeviceError:
            self.close()
            raise
        has_kept = all(value == 1 for value in enabled.values())
        if not has_kept and not is_released:
            self.close()
            self.connect()
        return has_kept

    def read(self) -> RobotReading:
        """What the robot measures now.

        Raises:
            DeviceError: it does not answer.
        """
        if self._is_out_of_step and self._bus is not None:
            with device_errors('the port cannot be emptied'):
                drain(self._bus)
        self._is_out_of_step = True  # unless this works
        with device_errors('the robot cannot be read'):
            began = time.monotonic_ns()
            observation = self.device.get_observation()
            ended = time.monotonic_ns()
            positions = self._mapping.positions(observation)
            motors = self._telemetry.read() if self._telemetry is not None else None
        self._is_out_of_step = False
        velocities = currents = None
        if motors is not None:
            velocities = self._mapping.rates(motors.velocities * self._rates)
            currents = self._mapping.signed(motors.currents)
        elif self._has_velocities:
            rates = [observation[self._velocity_key(key)] for key in self._mapping.keys]
            velocities = self._mapping.rates(np.array(rates, dtype=np.float64))
        return RobotReading(began, ended, positions, velocities, currents, motors)

    def send(self, positions: Array) -> None:
        """Makes positions (D,) rad the goals.

        Raises:
            DeviceError: it does not take them.
        """
        with device_errors('the goals cannot be sent'):
            self.device.send_action(self._mapping.values(positions))

    def set_torque(self, is_on: bool) -> None:
        """Switches the torque; when it comes on, the arm stays where it is.

        Raises:
            DeviceError: the robot cannot do that, or a motor does not answer.
        """
        if not self.can_switch_torque:
            raise DeviceError(f'the torque of {self._options.kind} cannot be switched')
        with device_errors('the torque cannot be switched'):
            if self._bus is None:
                bus = self.device.bus
                (bus.enable_torque if is_on else bus.disable_torque)(num_retry=5)
                return
            if is_on:
                set_goals_here(self._bus)
            switch_torque(self._bus, is_on)

    def close(self) -> None:
        """Disconnects; the arm holds its last goals, if its torque is on.

        A robot that is not there any more is let go without an error.
        """
        with contextlib.suppress(Exception):
            if self._bus is not None:
                self._bus.port_handler.closePort()
            elif self.device.is_connected:
                self.device.disconnect()

    def _prepare_motors(self, write_calibration: bool) -> None:
        """Whether they are the right ones, and their goals to where they are: torque is coming."""
        open_bus(self._bus)
        try:
            clear_faults(self._bus)
            self._bus._handshake()
            if write_calibration and self.device.calibration and not self.device.is_calibrated:
                self._bus.disable_torque(num_retry=2)
                self._bus.write_calibration(self.device.calibration)
            self._check_calibration()
            set_goals_here(self._bus)
        finally:
            self._bus.disconnect(disable_torque=False)

    def _check_calibration(self) -> None:
        check_calibration(self.device, ROBOTS, self._options.kind, self._options.port)

    @staticmethod
    def _velocity_key(key: str) -> str:
        return key.removesuffix(POSITION) + VELOCITY


class LeRobotTeleoperator:
    """A LeRobot teleoperator that gives joint positions, such as a leader arm.

    names: its joints. limits: (D, 2) rad, of the robot.
    """

    def __init__(self, options: DeviceOptions) -> None:
        """Makes it; nothing is connected.

        Raises:
            MissingExtraError: LeRobot, or what the teleoperator needs, is not installed.
            SetupError: LeRobot has none of this name, it gives no joint positions, or its options
                or joints do not fit.
        """
        self._options = options
        self.device = options.make(TELEOPERATORS)
        self._mapping = options.mapping(self.device.action_features)
        self.names, self.limits = self._mapping.names, self._mapping.limits
        self._bus = feetech_bus(self.device)
        self._is_out_of_step = False
        if self._bus is not None:
            check_units(self._bus, options.units)

    def connect(self) -> None:
        """Connects it; a leader arm is without torque from then on.

        Raises:
            DeviceError: it does not answer, or other motors do.
            SetupError: it is not calibrated, or by another file.
        """
        what = f'{self._options.kind} on {self._options.port or "its port"} cannot be connected'
        self.close()
        try:
            with device_errors(what):
                if self._bus is not None:
                    self._check_motors()
                self.device.connect(calibrate=False)
                if self._bus is None:
                    self._check_calibration()
                else:
                    settle_port(self._bus)
        except Exception:
            self.close()
            raise

    def read(self) -> Array:
        """(D,) rad, where the person has it now.

        Raises:
            DeviceError: it does not answer.
        """
        if self._is_out_of_step and self._bus is not None:
            with device_errors('the port cannot be emptied'):
                drain(self._bus)
        self._is_out_of_step = True  # unless this works
        with device_errors('the teleoperator cannot be read'):
            positions = self._mapping.positions(self.device.get_action())
        self._is_out_of_step = False
        return positions

    def close(self) -> None:
        """Disconnects; one that is not there any more is let go without an error."""
        with contextlib.suppress(Exception):
            if self.device.is_connected:
                self.device.disconnect()
        with contextlib.suppress(Exception):
            if self._bus is not None:
                self._bus.port_handler.is_using = False
                self._bus.port_handler.closePort()

    def _check_motors(self) -> None:
        """Before LeRobot takes their torque away: on the wrong port they are those of a robot."""
        open_bus(self._bus)
        try:
            self._bus._handshake()
            self._check_calibration()
        finally:
            self._bus.disconnect(disable_torque=False)

    def _check_calibration(self) -> None:
        check_calibration(self.device, TELEOPERATORS, self._options.kind, self._options.port)
