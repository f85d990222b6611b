# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The six servos of an SO-101 on a simulated bus, with its weight and LeRobot calibration."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError
from frame_ros.core.output_files import write_whole
from frame_ros.hardware.feetech.emulator.registers import LOCK, RESOLUTION, put
from frame_ros.hardware.feetech.emulator.servo import STEP, Mechanics, SimulatedServo
from frame_ros.robots import load_robot
from frame_ros.robots.dynamics import RobotDynamics
from frame_ros.scenes.simulation.simulation import HOME, JOINT_NAMES, PickPlaceSimulation

# LeRobot's degrees are of 4095 steps per turn.
RADIANS_PER_STEP = 2.0 * math.pi / (RESOLUTION - 1)
# kg m2 at the shafts: gear and rotor, and the arm beyond.
INERTIAS = (0.03, 0.03, 0.02, 0.01, 0.008, 0.008)
# Offsets from mounting the horns, in steps.
HOMING_OFFSETS = (85, -120, 43, 210, -7, 64)
STOP_MARGIN = 0.02  # rad from the limits to the stops


@dataclass(frozen=True)
class ServoCalibration:
    """One motor in LeRobot's calibration file; positions in steps."""

    id: int
    drive_mode: int
    homing_offset: int
    range_min: int
    range_max: int


class SimulatedSo101:
    """Six servos, with ids 1 to 6, that carry an SO-101.

    Attributes:
        servos: for a SimulatedBus, with `advance`.
        scene: a simulation whose arm they move in place of their own dynamics; it belongs to the
            bus's thread.
        hand: (6,) rad, where the user holds the joints of servos without torque; None: nowhere.
    """

    def __init__(
        self, positions: Sequence[float] = HOME, scene: PickPlaceSimulation | None = None
    ) -> None:
        """positions: rad, of the joints at the beginning (without a scene).

        Raises:
            ShapeError: there are not six.
        """
        robot = load_robot('so101')
        self.limits = {name: robot.joint_limits[name] for name in JOINT_NAMES}
        self._grippers = robot.grippers
        self.calibration = {
            name: _calibration(i, name, self.limits[name]) for i, name in enumerate(JOINT_NAMES)
        }
        self._scene = scene
        self._gravity = RobotDynamics(robot, JOINT_NAMES).gravity if scene is None else None
        self._weights: NDArray[np.float64] = np.zeros(len(JOINT_NAMES))
        self.hand: Sequence[float] | None = None
        self.servos = tuple(self._make_servo(i) for i in range(len(JOINT_NAMES)))
        self.set_positions(positions if scene is None else scene.joint_state().positions)
        for servo in self.servos:
            servo.is_external = scene is not None
            servo.power_cycle()

    def _make_servo(self, index: int) -> SimulatedServo:
        name = JOINT_NAMES[index]
        lower, upper = (self._angle(index, limit) for limit in self.limits[name])
        mechanics = Mechanics(
            inertia=INERTIAS[index],
            load=lambda angle: float(self._weights[index]),
            lower=lower - STOP_MARGIN,
            upper=upper + STOP_MARGIN,
        )
        servo = SimulatedServo(index + 1, mechanics)
        calibration = self.calibration[name]
        servo.memory[LOCK] = 0
        for register, value in (
            ('Homing_Offset', calibration.homing_offset),
            ('Min_Position_Limit', calibration.range_min),
            ('Max_Position_Limit', calibration.range_max),
        ):
            put(servo.memory, register, value)
        servo.write(LOCK, b'\x00')  # keeps them
        return servo

    @property
    def positions(self) -> NDArray[np.float64]:
        """(6,) rad, of the joints."""
        angles = [servo.angle for servo in self.servos]
        return np.array([self._joint(i, angle) for i, angle in enumerate(angles)])

    def set_positions(self, positions: Sequence[float] | NDArray[np.float64]) -> None:
        """Puts the joints at rest at (6,) rad.

        Raises:
            ShapeError: there are not six.
        """
        if len(positions) != len(JOINT_NAMES):
            raise ShapeError(f'{len(positions)} positions for the joints {", ".join(JOINT_NAMES)}')
        for i, (servo, position) in enumerate(zip(self.servos, positions, strict=True)):
            servo.angle, servo.velocity = self._angle(i, float(position)), 0.0

    def block(self, joint: str, lower: float = -math.inf, upper: float = math.inf) -> None:
        """An obstacle: the joint cannot leave this range, rad."""
        index = JOINT_NAMES.index(joint)
        mechanics = self.servos[index].mechanics
        mechanics.lower = max(mechanics.lower, self._angle(index, lower))
        mechanics.upper = min(mechanics.upper, self._angle(index, upper))

    def write_calibration(self, folder: Path, name: str) -> Path:
        """Writes the file that LeRobot reads: <folder>/<name>.json."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f'{name}.json'
        content: Mapping[str, Any] = {joint: asdict(c) for joint, c in self.calibration.items()}
        write_whole(path, json.dumps(content, indent=4) + '\n', 'the calibration')
        return path

    def advance(self, dt: float) -> None:
        """Lets `dt` seconds pass."""
        if self._scene is not None:
            self._advance_scene(self._scene, dt)
        elif self._gravity is not None:
            self._weights = self._gravity(self.positions)
        for i, servo in enumerate(self.servos):
            is_held = self.hand is not None and not servo.has_torque
            if is_held and self.hand is not None:
                self._hold(i, servo, self.hand[i], dt)
            if self._scene is None:
                servo.is_external = is_held
            servo.advance(dt)

    def _hold(self, index: int, servo: SimulatedServo, position: float, dt: float) -> None:
        """Holds the joint at a position, within its stops."""
        stops = servo.mechanics
        angle = max(stops.lower, min(stops.upper, self._angle(index, position)))
        servo.set_motion(angle, (angle - servo.angle) / dt, 0.0)

    def _advance_scene(self, scene: PickPlaceSimulation, dt: float) -> None:
        """A servo without torque leaves its joint where it is: the scene's are position servos."""
        before = scene.joint_state().positions
        goals = [
            self._joint(i, servo.target_angle) if servo.has_torque else before[i]
            for i, servo in enumerate(self.servos)
        ]
        scene.step(np.clip(goals, scene.lower, scene.upper), max(1, round(dt / scene.timestep)))
        state = scene.joint_state()
        moved = zip(self.servos, state.positions, state.velocities, state.efforts, strict=True)
        for i, (servo, position, velocity, effort) in enumerate(moved):
            servo.set_motion(self._angle(i, float(position)), float(velocity), float(effort))

    def _middle(self, index: int) -> float:
        """Present_Position where the joint is at 0 rad."""
        name = JOINT_NAMES[index]
        calibration = self.calibration[name]
        if name in self._grippers:
            return calibration.range_min - self.limits[name][0] / RADIANS_PER_STEP
        return (calibration.range_min + calibration.range_max) / 2

    def _angle(self, index: int, position: float) -> float:
        """Shaft, rad, of a joint's position, rad."""
        offset = self.calibration[JOINT_NAMES[index]].homing_offset
        steps = self._middle(index) + position / RADIANS_PER_STEP + offset
        return (steps - RESOLUTION / 2) * STEP

    def _joint(self, index: int, angle: float) -> float:
        """A joint's position, rad, of the shaft's, rad."""
        offset = self.calibration[JOINT_NAMES[index]].homing_offset
        steps = angle / STEP + RESOLUTION / 2 - offset
        return (steps - self._middle(index)) * RADIANS_PER_STEP


def _calibration(index: int, name: str, limits: tuple[float, float]) -> ServoCalibration:
    """Returns the calibration that `lerobot-calibrate` would find: 0 in the middle of ranges."""
    if name == 'wrist_roll':  # turns all round: LeRobot does not record its range
        low, high = 0, RESOLUTION - 1
    else:
        half = (limits[1] - limits[0]) / 2 / RADIANS_PER_STEP
        low, high = round(2047.5 - half), round(2047.5 + half)
    return ServoCalibration(index + 1, 0, HOMING_OFFSETS[index], low, high)
