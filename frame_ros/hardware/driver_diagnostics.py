# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Diagnostics of the robot driver: one status of the bus, one per camera."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from frame_ros.core.health import Level, Status
from frame_ros.hardware.driver_state import Activity, BusState, CameraState
from frame_ros.hardware.feetech.telemetry import MotorReadings

HOT = 60.0  # degrees Celsius from which it is a warning; the motors switch off at 70


def driver_statuses(
    joints: Sequence[str], bus: BusState, cameras: Mapping[str, CameraState]
) -> list[Status]:
    """Returns one status of the bus, whose motors are `joints`, and one per camera."""
    return [_bus_status(joints, bus), *(_camera_status(n, c) for n, c in cameras.items())]


def _camera_status(name: str, camera: CameraState) -> Status:
    level = Level.ERROR if camera.problem else Level.OK
    text = camera.problem or 'images come'
    return Status(f'camera {name}', level, text, {'images': str(camera.frames)}, name)


def _bus_status(joints: Sequence[str], bus: BusState) -> Status:
    motors = bus.reading.motors if bus.reading is not None else None
    counts = {**asdict(bus.counts), 'missed_cycles': bus.missed}
    values = {key: str(value) for key, value in counts.items()}
    if bus.activity is Activity.LOST:
        return Status('robot', Level.ERROR, f'{bus.activity.value}: {bus.problem}', values)
    if motors is None:
        return Status('robot', Level.OK, bus.activity.value, values)
    level, text = _condition(joints, motors, bus)
    return Status('robot', level, text or bus.activity.value, values | _readings(joints, motors))


def fault_text(joints: Sequence[str], motors: MotorReadings) -> str:
    """Returns the faults that the motors of `joints` report, in words; '' if there are none."""
    faulty = [
        f'{joint}: {", ".join(f)}' for joint, f in zip(joints, motors.faults, strict=True) if f
    ]
    return f'motor fault: {"; ".join(faulty)}' if faulty else ''


def limp_text(limp: Sequence[str]) -> str:
    """Returns what to do about joints without torque, in words; '' if there are none."""
    if not limp:
        return ''
    return (
        f'no torque: {", ".join(limp)}, taken away by the motor or by another program; when the '
        'cause is gone, ~/torque true switches it on'
    )


def fallen_text(fallen: Sequence[str]) -> str:
    """Returns what to do about joints that restarted and went elsewhere, in words; '' if there are
    none.
    """
    if not fallen:
        return ''
    return (
        f'restarted, and not where it was sent: {", ".join(fallen)}; the arm holds and takes no '
        'commands; when its way back is clear, ~/torque true lets them through'
    )


def _readings(joints: Sequence[str], motors: MotorReadings) -> dict[str, str]:
    return {
        f'{joint} {key}': value
        for i, joint in enumerate(joints)
        for key, value in {
            'temperature [C]': f'{motors.temperatures[i]:.0f}',
            'voltage [V]': f'{motors.voltages[i]:.1f}',
            'current [A]': f'{motors.currents[i]:.2f}',
            'load [-]': f'{motors.loads[i]:.2f}',
            'faults': ', '.join(motors.faults[i]) or 'none',
        }.items()
    }


def _condition(joints: Sequence[str], motors: MotorReadings, bus: BusState) -> tuple[Level, str]:
    texts = fault_text(joints, motors), limp_text(bus.limp), fallen_text(bus.fallen)
    problems = [text for text in texts if text]
    if problems:
        return Level.ERROR, '; '.join(problems)
    hot = [joint for joint, t in zip(joints, motors.temperatures, strict=True) if t >= HOT]
    return (Level.WARN, f'hot: {", ".join(hot)}') if hot else (Level.OK, '')
