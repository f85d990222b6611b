#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Time to make joint positions of a chunk, and to send them to a controller.

Run in a shell made by env.bash (without rclpy the outputs are left out), one thread.

    OMP_NUM_THREADS=1 python benchmarks/action_spaces.py [--repeats 20] [--json]
"""

import argparse
import importlib.util
import json
import math
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from parts.bars import Bars, parse

from frame_ros.hardware.controller_presets import controller_presets
from frame_ros.policies.execution.action_spaces import ActionConverter
from frame_ros.policies.protocol import Inference, Observation
from frame_ros.robots import load_robot
from frame_ros.robots.robot import Robot

STEPS, DT = 50, 0.05
BAR_STEP_MS = 5.0  # of one step, at most, in any kind of chunk, on busy cores
POSE = ('x', 'y', 'z', 'rx', 'ry', 'rz')
STARTS = {
    'so101': (0.2, -0.4, 0.5, 0.6, 0.1, 0.8),
    'fr3': (0.1, -0.5, 0.0, -2.2, 0.1, 1.8, 0.7, 0.03),
}


def chunks(robot: Robot) -> dict[str, Inference]:
    """Chunks of 50 steps: what is easy, and what is hard for the inverse kinematics."""
    generator = np.random.default_rng(0)
    names = tuple(robot.joint_limits)
    smooth = np.cumsum(generator.normal(0, 1e-3, (STEPS, 6)), axis=0) * (1, 1, 1, 3, 3, 3) / 4
    outward = np.tile((0.03, 0, 0, 0, 0, 0), (STEPS, 1))
    wild = generator.normal(0, 1, (STEPS, 6)) * (0.1, 0.1, 0.1, 0.5, 0.5, 0.5)
    shapes = {
        'joint_position': (generator.normal(0, 0.1, (STEPS, len(names))), names),
        'joint_delta': (generator.normal(0, 0.01, (STEPS, len(names))), names),
        'ee_delta smooth': (smooth, POSE),
        'ee_delta out of reach': (outward, POSE),
        'ee_delta wild': (wild, POSE),
    }
    return {
        label: Inference(actions, DT, columns, ('rad',) * len(columns), label.split()[0])
        for label, (actions, columns) in shapes.items()
    }


def milliseconds(call: Callable[[], Any], repeats: int) -> list[float]:
    """Of each call."""
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        found.append((time.perf_counter() - start) * 1e3)
    return found


def conversions(repeats: int) -> list[dict[str, Any]]:
    """Time per chunk and per step, for every robot and kind of chunk."""
    rows = []
    for name, start in STARTS.items():
        robot = load_robot(name)
        observation = Observation(
            0, 0, tuple(robot.joint_limits), np.array(start), executed=math.nan
        )
        for label, inference in chunks(robot).items():
            converter = ActionConverter(robot, unreachable='best_effort')

            def convert(
                converter: ActionConverter = converter,
                inference: Inference = inference,
                observation: Observation = observation,
            ) -> None:
                converter.to_joint_positions(inference, observation)

            convert()
            times = milliseconds(convert, repeats)
            rows.append(
                {
                    'what': f'{name} {label}',
                    'chunk_ms': median(times),
                    'worst_chunk_ms': max(times),
                    'step_ms': median(times) / STEPS,
                }
            )
    return rows


def outputs(repeats: int) -> list[dict[str, Any]]:
    """Time per command sent, for every preset that can be made here."""
    import rclpy

    from frame_ros.core.errors import SetupError
    from frame_ros.nodes.gate.controller_outputs import ControllerOutput

    rclpy.init()
    node, rows = rclpy.create_node('benchmark'), []
    robot, joints = load_robot('fr3'), np.array(STARTS['fr3'])
    for preset in controller_presets():
        try:
            output = ControllerOutput(node, preset, robot, 0.02)
        except SetupError:
            output = ControllerOutput(node, preset, robot, 0.02, gripper='none')

        def send(output: ControllerOutput = output) -> None:
            output.publish(1, tuple(robot.joint_limits), joints)

        send()
        times = milliseconds(send, repeats * 50)
        rows.append({'what': f'output {preset}', 'send_us': median(times) * 1e3})
        output.close()
    node.destroy_node()
    rclpy.shutdown()
    return rows


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--repeats', type=int, default=20)
    parser.add_argument('--json', action='store_true', help='print JSON instead of a table')
    chosen = parse(parser, repeats=2)
    rows = conversions(chosen.repeats)
    if importlib.util.find_spec('rclpy') is not None:
        rows += outputs(chosen.repeats)
    worst = max(row.get('step_ms', 0.0) for row in rows)
    if chosen.json:
        print(json.dumps({'rows': rows, 'worst_step_ms': worst}, indent=2))
        rows = []
    for row in rows:
        values = '  '.join(f'{k} {v:9.3f}' for k, v in row.items() if k != 'what')
        print(f'{row["what"]:32} {values}')
    bars = Bars(chosen)
    bars.at_most('the slowest kind of chunk, ms per step', worst, BAR_STEP_MS)
    return bars.exit_status()


if __name__ == '__main__':
    sys.exit(main())
