# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The memory of an STS3215 servo: addresses, encodings and factory values.

Source: Feetech's memory table of the STS/SMS series. The names are those of LeRobot's control
table.
"""

from __future__ import annotations

from frame_ros.core.errors import ValueRangeError

MODEL_NUMBER = 777  # of the STS3215
RESOLUTION = 4096  # steps per turn
SIZE = 87  # bytes
EEPROM_END = 40  # below: kept without power, once it is unlocked
TORQUE_ENABLE, LOCK = 40, 55  # addresses

CURRENT_UNIT = 0.0065  # A
VOLTAGE_UNIT = 0.1  # V
ACCELERATION_UNIT = 100.0  # steps/s2

# Name -> (address, bytes).
REGISTERS = {
    'Firmware_Major_Version': (0, 1),
    'Firmware_Minor_Version': (1, 1),
    'Model_Number': (3, 2),
    'ID': (5, 1),
    'Baud_Rate': (6, 1),
    'Return_Delay_Time': (7, 1),
    'Response_Status_Level': (8, 1),
    'Min_Position_Limit': (9, 2),
    'Max_Position_Limit': (11, 2),
    'Max_Temperature_Limit': (13, 1),
    'Max_Voltage_Limit': (14, 1),
    'Min_Voltage_Limit': (15, 1),
    'Max_Torque_Limit': (16, 2),
    'Phase': (18, 1),
    'Unloading_Condition': (19, 1),
    'LED_Alarm_Condition': (20, 1),
    'P_Coefficient': (21, 1),
    'D_Coefficient': (22, 1),
    'I_Coefficient': (23, 1),
    'Minimum_Startup_Force': (24, 2),
    'CW_Dead_Zone': (26, 1),
    'CCW_Dead_Zone': (27, 1),
    'Protection_Current': (28, 2),
    'Angular_Resolution': (30, 1),
    'Homing_Offset': (31, 2),
    'Operating_Mode': (33, 1),
    'Protective_Torque': (34, 1),
    'Protection_Time': (35, 1),
    'Overload_Torque': (36, 1),
    'Over_Current_Protection_Time': (38, 1),
    'Torque_Enable': (40, 1),
    'Acceleration': (41, 1),
    'Goal_Position': (42, 2),
    'Goal_Time': (44, 2),
    'Goal_Velocity': (46, 2),
    'Torque_Limit': (48, 2),
    'Lock': (55, 1),
    'Present_Position': (56, 2),
    'Present_Velocity': (58, 2),
    'Present_Load': (60, 2),
    'Present_Voltage': (62, 1),
    'Present_Temperature': (63, 1),
    'Status': (65, 1),
    'Moving': (66, 1),
    'Present_Current': (69, 2),
    'Maximum_Velocity_Limit': (84, 1),
    'Maximum_Acceleration': (85, 1),
}
# Read-only addresses: version, model and measurements.
READ_ONLY = frozenset({*range(5), *range(56, 80)})

# Name -> the sign bit; the bits below are the magnitude.
SIGN_BITS = {
    'Homing_Offset': 11,
    'Goal_Position': 15,
    'Goal_Velocity': 15,
    'Present_Position': 15,
    'Present_Velocity': 15,
    'Present_Load': 10,
    'Present_Current': 15,
}

_LAYOUT = {name: (*place, SIGN_BITS.get(name)) for name, place in REGISTERS.items()}

# Factory values. Units: percent, 10 ms, 0.1 % of the largest torque, degrees Celsius, 0.1 V.
FACTORY = {
    'Firmware_Major_Version': 3,
    'Firmware_Minor_Version': 10,
    'Model_Number': MODEL_NUMBER,
    'Return_Delay_Time': 250,
    'Response_Status_Level': 1,
    'Max_Position_Limit': RESOLUTION - 1,
    'Max_Temperature_Limit': 70,
    'Max_Voltage_Limit': 80,
    'Min_Voltage_Limit': 40,
    'Max_Torque_Limit': 1000,
    'Phase': 12,
    'Unloading_Condition': 44,
    'LED_Alarm_Condition': 47,
    'P_Coefficient': 32,
    'D_Coefficient': 32,
    'Minimum_Startup_Force': 16,
    'CW_Dead_Zone': 1,
    'CCW_Dead_Zone': 1,
    'Protection_Current': 500,
    'Angular_Resolution': 1,
    'Protective_Torque': 20,
    'Protection_Time': 200,
    'Overload_Torque': 80,
    'Over_Current_Protection_Time': 200,
    'Lock': 1,
    'Maximum_Velocity_Limit': 65,  # of 50 steps/s
    'Maximum_Acceleration': 254,
}
# Value of Baud_Rate -> bit/s.
BAUD_RATES = (1_000_000, 500_000, 250_000, 128_000, 115_200, 57_600, 38_400, 19_200)


def encode(name: str, value: int) -> int:
    """Returns a value as its register holds it, without a sign of its own.

    Raises:
        ValueRangeError: it does not fit.
    """
    size = 8 * REGISTERS[name][1]
    bit = SIGN_BITS.get(name)
    most = (1 << (size if bit is None else bit)) - 1
    if abs(value) > most or (bit is None and value < 0):
        least = 0 if bit is None else -most
        raise ValueRangeError(f'{name} is {value}; it must be from {least} to {most}')
    return -value | 1 << bit if bit is not None and value < 0 else value


def decode(name: str, raw: int) -> int:
    """Returns the value of a register's content."""
    bit = SIGN_BITS.get(name)
    if bit is None:
        return raw
    magnitude = raw & ((1 << bit) - 1)
    return -magnitude if raw >> bit & 1 else magnitude


def initial_memory(identity: int) -> bytearray:
    """Returns the memory of a new servo with the id `identity`."""
    memory = bytearray(SIZE)
    for name, value in {**FACTORY, 'ID': identity}.items():
        put(memory, name, value)
    return memory


def get(memory: bytes | bytearray, name: str) -> int:
    """Returns the value of a register; fast, for some ten thousand calls per second."""
    address, size, bit = _LAYOUT[name]
    raw = memory[address] if size == 1 else memory[address] | memory[address + 1] << 8
    if bit is None or not raw >> bit & 1:
        return raw
    return -(raw & ((1 << bit) - 1))


def put(memory: bytearray, name: str, value: int) -> None:
    """Sets a register.

    Raises:
        ValueRangeError: the value does not fit.
    """
    address, size = REGISTERS[name]
    memory[address : address + size] = encode(name, value).to_bytes(size, 'little')
