# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A simulated STS3215: its memory, position control, motor and protections.

The motor is a direct-current motor behind a gear, seen at the output shaft; its constants are near
those of the 7.4 V version's data sheet: 1.91 N m and 2.5 A at standstill, 45 turns per minute
without a load. Present_Current is the current of the supply, as on a recorded arm (see
docs/evaluation-motor-current, of a real arm that was recorded).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from frame_ros.hardware.feetech.emulator import registers
from frame_ros.hardware.feetech.emulator.packets import Status
from frame_ros.hardware.feetech.emulator.registers import RESOLUTION, get, put

STEP = 2.0 * math.pi / RESOLUTION  # rad
SUPPLY = 7.4  # V
STALL_TORQUE, STALL_CURRENT, FREE_SPEED = 1.91, 2.5, 4.71  # N m, A, rad/s
RESISTANCE = SUPPLY / STALL_CURRENT  # ohm
TORQUE_CONSTANT = STALL_TORQUE / STALL_CURRENT  # N m/A
BACK_VOLTAGE = SUPPLY / FREE_SPEED  # V s/rad
FRICTION, UNPOWERED_FRICTION = 0.06, 0.5  # N m; the second of the gear driven backwards
UNPOWERED_DAMPING = 0.25  # N m s/rad
# Share of the supply per unit of the gain and step of error, or step/s of its slope.
P_UNIT, D_UNIT = 0.0005, 1.0e-5
DEAD_SPEED = 15.0  # steps/s below which it counts as standing
AMBIENT, HEATING, COOLING_TIME = 25.0, 6.0, 300.0  # degrees Celsius, per W, s
MOST_SPEED = 2**15 - 1  # steps/s that Present_Velocity can hold
VELOCITY_UNIT = 50.0  # steps/s of Maximum_Velocity_Limit
POSITION_MODE = 0


@dataclass
class Mechanics:
    """The load on the shaft, in rad of the shaft, where 0 is the middle of the turn.

    Attributes:
        inertia: kg m2.
        load: N m that the arm exerts on the shaft at an angle (gravity).
        lower, upper: its stops: the ends of the joint's range, or an obstacle.
    """

    inertia: float = 0.02
    load: Callable[[float], float] = field(default=lambda angle: 0.0)
    lower: float = -math.inf
    upper: float = math.inf


class SimulatedServo:
    """A servo on the bus.

    Attributes:
        angle: rad of the shaft, 0 in the middle of the turn, which is encoder step 2048.
        velocity: rad/s.
        current: A, signed, of the motor's winding.
        temperature: degrees Celsius.
        is_external: something else moves the shaft, by `set_motion`.
    """

    def __init__(
        self, identity: int, mechanics: Mechanics | None = None, angle: float = 0.0
    ) -> None:
        self.mechanics = mechanics or Mechanics()
        self._eeprom = bytes(registers.initial_memory(identity))
        self.angle, self.velocity, self.current = angle, 0.0, 0.0
        self.temperature = AMBIENT
        self.is_external = False
        self.forced_status = Status.NONE
        self._pending: tuple[int, bytes] | None = None
        self.power_cycle()

    def power_cycle(self) -> None:
        """Switches off and on again: restores the persistent memory, with the torque off."""
        self.memory = bytearray(self._eeprom)
        self.memory[registers.LOCK] = 1
        put(self.memory, 'Torque_Limit', get(self.memory, 'Max_Torque_Limit'))
        put(self.memory, 'Acceleration', 0)
        self._status = Status.NONE
        self._reference, self._reference_velocity = self.position, 0.0
        self._duty, self._stalled, self._overcurrent = 0.0, 0.0, 0.0
        put(self.memory, 'Goal_Position', self.present_position)
        self.publish()

    @property
    def identity(self) -> int:
        """Its id on the bus."""
        return get(self.memory, 'ID')

    @property
    def baud_rate(self) -> int:
        """bit/s at which it listens."""
        return registers.BAUD_RATES[get(self.memory, 'Baud_Rate') % len(registers.BAUD_RATES)]

    @property
    def has_torque(self) -> bool:
        """True if the motor is powered."""
        return self.memory[registers.TORQUE_ENABLE] == 1

    @property
    def status(self) -> Status:
        """The error bits."""
        return self._status | self.forced_status

    @property
    def supply_current(self) -> float:
        """A of the supply, signed by the drive: that of the winding for the share of the time in
        which the bridge is on. Of a motor that brakes the supply gives none.
        """
        return math.copysign(max(0.0, self._duty * self.current), self._duty)

    @property
    def position(self) -> float:
        """The shaft in encoder steps, not rounded, not wrapped."""
        return self.angle / STEP + RESOLUTION / 2

    @property
    def present_position(self) -> int:
        """Present_Position: less the homing offset; within one turn unless Phase says otherwise."""
        steps = round(self.position) - get(self.memory, 'Homing_Offset')
        return steps if get(self.memory, 'Phase') & 0x10 else steps % RESOLUTION

    @property
    def target_angle(self) -> float:
        """The angle, rad, to which the goal would bring the shaft, within the position limits."""
        return (self._target() - RESOLUTION / 2) * STEP

    def set_motion(self, angle: float, velocity: float, effort: float) -> None:
        """Sets the motion of an external shaft: rad, rad/s, and the motor's torque in N m."""
        self.angle, self.velocity = angle, velocity
        self.current = effort / TORQUE_CONSTANT if self.has_torque else 0.0
        share = self.current / STALL_CURRENT + velocity / FREE_SPEED if self.has_torque else 0.0
        self._duty = max(-1.0, min(1.0, share))

    # Memory.

    def read(self, address: int, size: int) -> bytes | None:
        """Returns bytes of the memory; None outside it."""
        if address + size > registers.SIZE:
            return None
        self.publish()
        return bytes(self.memory[address : address + size])

    def write(self, address: int, data: bytes) -> bool:
        """Writes bytes; read-only ones stay unchanged. Returns False outside the memory."""
        if not data or address + len(data) > registers.SIZE:
            return False
        before = self.has_torque, get(self.memory, 'Goal_Position')
        for place, value in enumerate(data, address):
            if place not in registers.READ_ONLY:
                self.memory[place] = value
        if self.memory[registers.LOCK] == 0:
            end = registers.EEPROM_END
            self._eeprom = bytes(self.memory[:end]) + self._eeprom[end:]
        if self.memory[registers.TORQUE_ENABLE] == 128:  # calibrate: here is the middle
            put(self.memory, 'Homing_Offset', round(self.position) - RESOLUTION // 2)
            self.memory[registers.TORQUE_ENABLE] = int(before[0])
        self._on_written(*before)
        return True

    def register_write(self, address: int, data: bytes) -> bool:
        """Stores a write until `action`."""
        self._pending = (address, data)
        return bool(data) and address + len(data) <= registers.SIZE

    def action(self) -> None:
        """Executes the stored write."""
        pending, self._pending = self._pending, None
        if pending is not None:
            self.write(*pending)

    def _on_written(self, had_torque: bool, old_goal: int) -> None:
        goal = get(self.memory, 'Goal_Position')
        if self.has_torque and not had_torque:
            self._reference, self._reference_velocity = self.position, 0.0
            self._status &= ~(Status.OVERLOAD | Status.CURRENT)
        # A goal on the other side ends the protection.
        if goal != old_goal and (self._target() - self.position) * self._duty < 0.0:
            self._status &= ~Status.OVERLOAD

    def publish(self) -> None:
        """Writes the measurements into the memory; what a register cannot hold is at its end."""
        put(self.memory, 'Present_Position', self.present_position)
        speed = max(-MOST_SPEED, min(MOST_SPEED, self.velocity / STEP))
        put(self.memory, 'Present_Velocity', round(speed))
        put(self.memory, 'Present_Load', round(max(-1.0, min(1.0, self._duty)) * 1000))
        voltage = SUPPLY - 0.05 * abs(self.supply_current)
        put(self.memory, 'Present_Voltage', round(voltage / registers.VOLTAGE_UNIT))
        put(self.memory, 'Present_Temperature', round(self.temperature))
        steps = round(self.supply_current / registers.CURRENT_UNIT)
        put(self.memory, 'Present_Current', steps)
        put(self.memory, 'Status', int(self.status))
        put(self.memory, 'Moving', int(abs(self.velocity) / STEP > DEAD_SPEED))

    # Motion.

    def advance(self, dt: float) -> None:
        """Simulates `dt` seconds; a few ms at most."""
        if not self.is_external:
            self._duty = self._control(dt) if self.has_torque else 0.0
            self._move(dt)
        self._protect(dt)
        heat = self.current**2 * RESISTANCE * HEATING
        self.temperature += (AMBIENT + heat - self.temperature) * dt / COOLING_TIME

    def _target(self) -> float:
        """Returns the goal in encoder steps; goal and position are compared within one turn."""
        lower = get(self.memory, 'Min_Position_Limit')
        upper = get(self.memory, 'Max_Position_Limit')
        goal = get(self.memory, 'Goal_Position')
        offset = get(self.memory, 'Homing_Offset')
        if (lower, upper) == (0, 0):  # it turns without end
            return goal + offset
        turns = math.floor((self.position - offset) / RESOLUTION)
        return max(lower, min(upper, goal)) + offset + turns * RESOLUTION

    def _control(self, dt: float) -> float:
        """Returns the share of the supply that the position control requests, -1 to 1."""
        if get(self.memory, 'Operating_Mode') != POSITION_MODE:
            return 0.0
        self._advance_reference(dt)
        error = self._reference - self.position
        dead = get(self.memory, 'CW_Dead_Zone' if error < 0 else 'CCW_Dead_Zone')
        if abs(error) < dead:
            error = 0.0
        slope = self._reference_velocity - self.velocity / STEP
        duty = error * get(self.memory, 'P_Coefficient') * P_UNIT
        duty += slope * get(self.memory, 'D_Coefficient') * D_UNIT
        most = get(self.memory, 'Torque_Limit') / 1000
        if Status.OVERLOAD in self._status:
            most = min(most, get(self.memory, 'Protective_Torque') / 100)
        return max(-most, min(most, duty))

    def _advance_reference(self, dt: float) -> None:
        """Advances the velocity trapezoid that leads to the goal."""
        fastest = get(self.memory, 'Maximum_Velocity_Limit') * VELOCITY_UNIT
        asked = abs(get(self.memory, 'Goal_Velocity'))
        fastest = min(asked, fastest) if asked else fastest
        chosen = get(self.memory, 'Acceleration') or get(self.memory, 'Maximum_Acceleration')
        steepest = max(1, chosen) * registers.ACCELERATION_UNIT
        distance = self._target() - self._reference
        wanted = math.copysign(min(fastest, math.sqrt(2.0 * steepest * abs(distance))), distance)
        change = max(-steepest * dt, min(steepest * dt, wanted - self._reference_velocity))
        self._reference_velocity += change
        if abs(distance) <= max(1.0, abs(self._reference_velocity) * dt):
            self._reference, self._reference_velocity = self._target(), 0.0
        else:
            self._reference += self._reference_velocity * dt

    def _move(self, dt: float) -> None:
        """Advances the shaft by one step: drive, back voltage, load, friction, stops."""
        body = self.mechanics
        damping = TORQUE_CONSTANT * BACK_VOLTAGE / RESISTANCE
        drive, friction = self._duty * STALL_TORQUE, FRICTION
        if not self.has_torque:
            drive, friction, damping = 0.0, UNPOWERED_FRICTION, UNPOWERED_DAMPING
        torque = drive - body.load(self.angle)
        velocity = self.velocity + dt / body.inertia * torque
        slowing = dt / body.inertia * friction
        velocity = math.copysign(max(0.0, abs(velocity) - slowing), velocity)
        velocity /= 1.0 + dt / body.inertia * damping
        angle = self.angle + velocity * dt
        if not body.lower <= angle <= body.upper:
            angle, velocity = max(body.lower, min(body.upper, angle)), 0.0
        self.angle, self.velocity = angle, velocity
        voltage = self._duty * SUPPLY - BACK_VOLTAGE * velocity
        self.current = voltage / RESISTANCE if self.has_torque else 0.0

    def _protect(self, dt: float) -> None:
        """Protects from overload by less torque, until a goal on the other side, or by none."""
        stands = abs(self.velocity) / STEP < DEAD_SPEED
        is_loaded = abs(self._duty) * 100 >= get(self.memory, 'Overload_Torque')
        self._stalled = self._stalled + dt if stands and is_loaded else 0.0
        if self._stalled > get(self.memory, 'Protection_Time') * 0.01:
            self._status |= Status.OVERLOAD
        most = get(self.memory, 'Protection_Current') * registers.CURRENT_UNIT
        self._overcurrent = self._overcurrent + dt if abs(self.supply_current) > most else 0.0
        if self._overcurrent > get(self.memory, 'Over_Current_Protection_Time') * 0.01:
            self._status |= Status.CURRENT
            self.memory[registers.TORQUE_ENABLE] = 0
        limit = get(self.memory, 'Max_Temperature_Limit')
        self._status &= ~Status.TEMPERATURE
        if self.temperature > limit:
            self._status |= Status.TEMPERATURE
