# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The servo of a recorded arm, found again in motion that was made by a known one."""

from dataclasses import replace

import numpy as np
import pytest

from frame_ros.evaluation.recorded_motion.sage import EffortRecording
from frame_ros.evaluation.recorded_motion.servo_fit import REST_SPEED, servo_fit
from frame_ros.robots import load_robot
from frame_ros.robots.dynamics import RobotDynamics

K, DAMPING, ARMATURE = 12.0, 0.9, 0.03  # N m/rad, N m s/rad, kg m^2
BASE, REST, LOAD = 0.06, 0.09, 0.6  # N m, N m, N m per N m
DUTY, STALL, FREE = 2.5, 2.8, 5.0  # 1/rad, A, rad/s


def made(dynamics: RobotDynamics) -> EffortRecording:
    """Ramps of 2 s to and fro, with rests of 2 s, each joint at its own time."""
    times = np.arange(3000) / 50.0
    places, speeds, rises = [], [], []
    for joint in range(5):
        phase = (times + 0.7 * joint) % 8.0
        up, down = np.clip(phase / 2.0, 0, 1), np.clip((phase - 4.0) / 2.0, 0, 1)
        places.append(0.3 * (np.cos(np.pi * down) - np.cos(np.pi * up)) - 0.3)
        rate = np.pi / 2.0 * 0.3
        moves = (up < 1) * np.sin(np.pi * up) - (down > 0) * (down < 1) * np.sin(np.pi * down)
        bends = (up < 1) * np.cos(np.pi * up) - (down > 0) * (down < 1) * np.cos(np.pi * down)
        speeds.append(rate * moves)
        rises.append(rate * np.pi / 2.0 * bends)
    q, dq, ddq = (np.array(each).T for each in (places, speeds, rises))
    weight = np.array([dynamics.gravity(row) for row in q])
    links = np.array([dynamics.mass_matrix(row) @ rise for row, rise in zip(q, ddq, strict=True)])
    phase = (times[:, None] + 0.7 * np.arange(5)) % 8.0
    way = np.where(phase < 4.0, 1.0, -1.0)
    dry = BASE + LOAD * np.abs(weight) + REST * np.exp(-np.abs(dq) / REST_SPEED)
    error = (weight + links + ARMATURE * ddq + DAMPING * dq + way * dry) / K
    error[np.abs(dq) < 1e-9] = 0.08  # a rest, at a goal that does not change
    drive = DUTY * error
    current = np.maximum(STALL * drive * (drive - dq / FREE), 0.0)
    stamps = np.round(times * 1e9).astype(np.int64) + 1
    return EffortRecording('ramps', dynamics.joint_names, stamps, q, dq, current, q + error)


def test_the_servo_that_made_a_recording_is_found():
    dynamics = RobotDynamics(load_robot('so101'))
    recording = made(dynamics)
    held = replace(recording, efforts=np.full_like(recording.efforts, STALL))
    found = servo_fit(dynamics, [recording], [held])
    assert found.stiffness == pytest.approx(K, rel=0.02)
    assert found.load_external == pytest.approx(LOAD, abs=0.03)
    assert found.base == pytest.approx(BASE, abs=0.01)
    assert found.rest == pytest.approx(REST, abs=0.02)
    assert found.damping == pytest.approx(DAMPING, abs=0.03)
    assert found.armature == pytest.approx(ARMATURE, abs=0.01)
    assert found.stall_current == STALL and found.duty == pytest.approx(DUTY, rel=0.01)
    assert found.free_speed == pytest.approx(FREE, rel=0.1)
    assert found.stall_torque == pytest.approx(K / DUTY, rel=0.02)
    np.testing.assert_allclose(found.joint_scales, 1.0, atol=0.05)
    assert min(found.samples) > 100
