# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the robot driver publishes on `diagnostics`: one status of the bus, one per camera."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.time import Time

from frame_ros.nodes.robot_driver_bus import Activity, BusState
from frame_ros.nodes.robot_driver_cameras import CameraState
from frame_ros.robots.feetech_telemetry import MotorReadings

HOT = 60.0  # degrees Celsius from which it is a warning; the motors switch off at 70


def diagnostics_message(
    node: str,
    joints: Sequence[str],
    bus: BusState,
    cameras: Mapping[str, CameraState],
    now: Time,
) -> DiagnosticArray:
    """The message. node: its name. joints: in the order of the bus's motors."""
    message = DiagnosticArray(status=[_bus_status(node, joints, bus)])
    message.header.stamp = now.to_msg()
    for name, camera in cameras.items():
        level = DiagnosticStatus.ERROR if camera.problem else DiagnosticStatus.OK
        message.status.append(
            DiagnosticStatus(
                level=level,
                name=f'{node}: camera {name}',
                message=camera.problem or 'images come',
                hardware_id=name,
                values=[KeyValue(key='images', value=str(camera.frames))],
            )
        )
    return message


def _bus_status(node: str, joints: Sequence[str], bus: BusState) -> DiagnosticStatus:
    motors = bus.reading.motors if bus.reading is not None else None
    status = DiagnosticStatus(name=f'{node}: robot', message=bus.activity.value)
    status.level = DiagnosticStatus.OK
    counts = {**asdict(bus.counts), 'missed_cycles': bus.missed}
    status.values = [KeyValue(key=key, value=str(value)) for key, value in counts.items()]
    if bus.activity is Activity.LOST:
        status.level = DiagnosticStatus.ERROR
        status.message = f'{bus.activity.value}: {bus.problem}'
    elif motors is not None:
        _add_motors(status, joints, motors)
    return status


def _add_motors(status: DiagnosticStatus, joints: Sequence[str], motors: MotorReadings) -> None:
    for i, joint in enumerate(joints):
        values = {
            'temperature [C]': f'{motors.temperatures[i]:.0f}',
            'voltage [V]': f'{motors.voltages[i]:.1f}',
            'current [A]': f'{motors.currents[i]:.2f}',
            'load [-]': f'{motors.loads[i]:.2f}',
            'faults': ', '.join(motors.faults[i]) or 'none',
        }
        status.values += [KeyValue(key=f'{joint} {key}', value=v) for key, v in values.items()]
    faulty = [
        f'{joint}: {", ".join(f)}' for joint, f in zip(joints, motors.faults, strict=True) if f
    ]
    hot = [joint for joint, t in zip(joints, motors.temperatures, strict=True) if t >= HOT]
    if faulty:
        status.level, status.message = DiagnosticStatus.ERROR, f'motor fault: {"; ".join(faulty)}'
    elif hot:
        status.level, status.message = DiagnosticStatus.WARN, f'hot: {", ".join(hot)}'
