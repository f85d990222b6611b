# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Identifies the simulated SO-101's motors, as config/motors/so101.yaml has them.

    python benchmarks/simulated_motors.py --output config/motors/so101.yaml

Without --output the file is only printed.

The motion is that of `frame-ros identify joints`, commanded at a policy's 30 Hz, and its commands
and joint states come as on a busy machine: motors that are identified with a command per joint
state fit no others.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from parts.bars import parse

from frame_ros.evaluation.trials.joint_effort import JointSensors, identified_motors
from frame_ros.evaluation.trials.policy_effort import SENSORS_SEED
from frame_ros.evaluation.trials.policy_run import CONTROL_RATE, TIMINGS
from frame_ros.scenes.simulation.simulation import PickPlaceSimulation
from frame_ros.sensing.contact.joints.motor_model import save_motors

SHIPPED = Path(__file__).resolve().parent.parent / 'config' / 'motors' / 'so101.yaml'
LICENCE = ''.join(Path(__file__).read_text(encoding='utf-8').splitlines(keepends=True)[:2])
SOURCE = (
    f'benchmarks/simulated_motors.py, on the simulated SO-101 (noise.seed {SENSORS_SEED}), '
    f'commanded at {CONTROL_RATE:g} Hz with the timing of a busy machine. A real arm needs its own.'
)


def main() -> int:
    """Writes or prints the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--output', type=Path, help=f'such as {SHIPPED.name}; default: print')
    args = parse(parser)
    simulation = PickPlaceSimulation(SENSORS_SEED, robot='so101')
    sensors = JointSensors(simulation, SENSORS_SEED)
    motors = identified_motors(simulation, sensors, TIMINGS['busy'])
    motors = replace(motors, source=SOURCE, is_simulated=True, effort_unit='A')
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / SHIPPED.name
        save_motors(motors, path)
        text = LICENCE + path.read_text(encoding='utf-8')
    if args.output is None:
        print(text)
    else:
        args.output.write_text(text, encoding='utf-8')
        print(f'written to {args.output}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
