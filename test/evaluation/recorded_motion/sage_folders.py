# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Folders as SAGE writes them of a real SO-101, made from motors that are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from motor_motion import efforts_of, swing

from frame_ros.evaluation.recorded_motion.sage import CURRENT_STEP, SAGE_JOINTS, TORQUE_STEP
from frame_ros.robots import load_robot
from frame_ros.robots.dynamics import RobotDynamics
from frame_ros.sensing.contact.joints.motor_model import MotorModel

STIFFNESS, RATE = 10.0, 50.0  # N m/rad of the servos; Hz
BACK_EMF = 0.3
NAMES = load_robot('so101').joint_names
TRUE = MotorModel(
    'so101', NAMES, effort_scale=np.full(5, 1.5), coulomb=np.array([0.10, 0.10, 0.08, 0.06, 0.05]),
    armature=np.full(5, 0.02), presliding=0.006, is_supply_current=True, back_emf=BACK_EMF,
)  # fmt: skip


def write_sage(folder: Path, seconds: float, push: tuple[float, float, float] = (0, 0, 0)) -> None:
    """Writes a swing of all joints; push: begin s, end s, N m on the elbow."""
    times = np.arange(round(seconds * RATE)) / RATE
    motion = swing(times, 0.5)
    outside = np.zeros((len(times), 5))
    outside[(times >= push[0]) & (times < push[1]), 2] = push[2]
    dynamics = RobotDynamics(load_robot('so101'), armature=TRUE.armature)
    winding = efforts_of(dynamics, TRUE, motion, outside.__getitem__)
    drive = winding + BACK_EMF * motion[1]
    current = np.maximum(winding * drive, 0.0)
    goals = motion[0] + TRUE.effort_scale * drive / STIFFNESS
    torques = TORQUE_STEP * np.rint(current / CURRENT_STEP)
    folder.mkdir(parents=True)
    (folder / 'joint_list.txt').write_text('\n'.join(SAGE_JOINTS))
    write_rows(folder / 'control.csv', times, goals)
    write_rows(folder / 'state_motor.csv', times, motion[0], motion[1], torques)


def write_rows(file: Path, times: np.ndarray, *columns: np.ndarray) -> None:
    """Writes one of SAGE's files; columns: (T, 5), to which the jaw is added."""
    names = ('positions', 'velocities', 'torques')[: len(columns)]
    rows = [','.join(('type', 'timestamp', *names))]
    for time, *values in zip(times, *columns, strict=True):
        cells = ','.join(f'"{[*map(float, row), 0.5]}"' for row in values)
        rows.append(f'X,{1e6 * time},{cells}')
    file.write_text('\n'.join(rows) + '\n')
