# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Fits servo and gears of a real SO-101 to SAGE's recordings, as the friction set `sage` has them.

    python benchmarks/recorded_servo.py sage/output/real/so101/custom

Of the two recordings in which something evidently holds the arm only the stall current is taken.
With `--short` and no folder a simulated arm of that set is recorded, whose stiffness and friction
are found again; it never stalls, so what is worked out from the stall current is not.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from parts.bars import parse
from parts.recorded_effort_rows import EXCLUDED

from frame_ros.evaluation.recorded_motion.sage import EffortRecording, sage_files
from frame_ros.evaluation.recorded_motion.servo_fit import servo_fit
from frame_ros.evaluation.trials.arm_run import ArmRun
from frame_ros.evaluation.trials.joint_effort import JointSensors
from frame_ros.evaluation.trials.recorded_effort import ROBOT, read_recording
from frame_ros.robots import load_robot
from frame_ros.robots.dynamics import RobotDynamics
from frame_ros.scenes.generation.free_motion import MotionStyle
from frame_ros.scenes.simulation.robot_simulation import JointReadings

SECONDS = 30.0  # of the simulated arm
# Slow, as the fit wants it.
STYLE = MotionStyle(speed=(0.06, 0.15), pause=(1.0, 2.0), sway=0.0)


def main() -> int:
    """Prints the numbers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        'recordings', type=Path, nargs='?', help="folder of SAGE's recordings of an SO-101"
    )
    args = parse(parser)
    if args.recordings is None and not args.short:
        parser.error('a folder of recordings is needed')
    if args.recordings is None:
        print('a simulated arm of the set `sage`; it never stalls, so its bridge is not found:')
        everything = [simulated()]
    else:
        everything = [read_recording(file) for file in sage_files(args.recordings)]
    recordings = [recording for recording in everything if recording.name not in EXCLUDED]
    if not recordings:
        print(f'{args.recordings} holds no recordings of SAGE', file=sys.stderr)
        return 2
    blocked = [recording for recording in everything if recording.name in EXCLUDED]
    dynamics = RobotDynamics(load_robot(ROBOT))
    found = servo_fit(dynamics, recordings, blocked)
    minutes = sum(recording.seconds for recording in recordings) / 60.0
    print(
        f'{len(recordings)} recordings, {minutes:.0f} minutes; {found.samples[0]} samples in slow '
        f'motion, {found.samples[1]} at rest'
    )
    for name, unit, value in (
        ('stiffness', 'N m/rad', found.stiffness),
        ('damping', 'N m s/rad', found.damping),
        ('base', 'N m', found.base),
        ('rest', 'N m', found.rest),
        ('load_external', 'N m per N m', found.load_external),
        ('armature', 'kg m^2', found.armature),
        ('unexplained', 'rad, RMS', found.unexplained),
        ('duty', 'of the supply per rad', found.duty),
        ('stall_current', 'A', found.stall_current),
        ('free_speed', 'rad/s', found.free_speed),
        ('stall_torque', 'N m', found.stall_torque),
        ('viscous', 'N m s/rad', found.viscous),
        ('current_noise', 'sqrt(A)', found.current_noise),
        ('play', 'rad', found.play),
        ('held without current', 'N m', found.held),
    ):
        print(f'{name}: {value:.4g} {unit}')
    scales = zip(dynamics.joint_names, found.joint_scales, strict=True)
    print('dry friction of each joint: ' + ', '.join(f'{n} {s:.2f}' for n, s in scales))
    return 0


def simulated() -> EffortRecording:
    """An arm of the set in free motion, as SAGE would record it."""
    arm = ArmRun(ROBOT, 0, (), STYLE, rest=1.0, friction='sage')
    sensors, count = JointSensors(arm.simulation, 0), len(arm.simulation.robot.arm_joints)
    rows = []
    for block in arm.blocks(SECONDS):
        true = (each[-1] for each in block.samples[:3])
        rows.append((block.stamps[-1], *sensors.read(JointReadings(*true)), block.command[:count]))
    stamps, *columns = zip(*rows, strict=True)
    names = arm.simulation.robot.arm_joints
    return EffortRecording('simulated', names, np.array(stamps), *map(np.array, columns))


if __name__ == '__main__':
    sys.exit(main())
