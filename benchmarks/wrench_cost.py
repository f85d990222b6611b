#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Cost of contact by a wrist force-torque sensor: processor time per joint state and per wrench,
one by one as the contact node takes them, and of a trial of the hard set by part.

    python benchmarks/wrench_cost.py [--seconds 20] [--repeats 3] [--json]

Figures of a machine on which other things run are higher by a third, and compare within one run.
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from parts import wrench_rows
from parts.bars import Bars, parse

from frame_ros.core.time import MILLISECOND, SECOND
from frame_ros.evaluation.trials import fault_streams, wrench_hard
from frame_ros.evaluation.trials.fault_streams import HardSensing, settings_of
from frame_ros.robots import load_robot
from frame_ros.robots.joint_state_merge import FullJointState
from frame_ros.scenes.simulation.noise.sensor_noise import WrenchNoise
from frame_ros.scenes.simulation.scene_robot import scene_robot
from frame_ros.sensing.contact.joint_arrays import JointArrays
from frame_ros.sensing.contact.trusted_inputs import TrustedInputs
from frame_ros.sensing.contact.wrench.detector import WrenchContact
from frame_ros.sensing.contact.wrench.tool_model import Tool
from frame_ros.sensing.contact.wrench_sensor import WrenchSensor
from frame_ros.sensing.stream_health.streams import WRENCH
from frame_ros.sensing.stream_health.time_offset import TimeOffsetEstimator

ROBOT, TOOL = 'fr3', Tool(0.73, (0.0, 0.0, 0.05))
BAR = 30.0  # % of a core that both streams take at 1 kHz
SWING, TURNS = 0.15, 0.3  # rad and Hz of each joint
# Of a trial: part -> class and method.
PARTS: dict[str, tuple[type, str]] = {
    'tool, before the trial': (HardSensing, '__init__'),
    'all of the sensing': (HardSensing, 'finish'),
    'noise, disturbances, transport': (fault_streams.FaultStream, 'send'),
    'joint states': (HardSensing, '_joints'),
    'offset of stamps': (TimeOffsetEstimator, 'estimate'),
    'detector, in blocks': (fault_streams.FaultStream, 'flush'),
    'of it tare, drift, weights': (WrenchContact, 'end_block'),
}


class Message(NamedTuple):
    """A wrench as it comes."""

    stamp: int
    frame: str
    values: list[float]


class Recorded(NamedTuple):
    """Samples at 1 kHz of an arm that swings."""

    states: list[FullJointState]
    wrenches: list[Message]


def recorded(seconds: float) -> Recorded:
    """Returns joint states and noisy wrenches of the tool's weight."""
    scene, robot = scene_robot(ROBOT), load_robot(ROBOT)
    count, size = round(1e3 * seconds), len(scene.joint_names)
    sensor = WrenchSensor(settings_of(ROBOT, TOOL), robot, JointArrays(tuple(robot.joint_limits)))
    sensor.place(scene.wrench_link)
    names = sensor.motion_estimator.joint_names
    columns = [scene.joint_names.index(name) for name in names]
    noise, empty = WrenchNoise(1e3), np.zeros(0)
    home = np.zeros(size)
    home[: len(scene.home)] = scene.home
    phases = 2.0 * np.pi * TURNS * np.arange(count) / 1e3
    # It stands for a second, in which the sensor is tared.
    phases = np.maximum(phases - 2.0 * np.pi * TURNS, 0.0)
    states, wrenches = [], []
    for tick, phase in enumerate(phases.tolist()):
        q = home + SWING * (1.0 - np.cos(phase))
        dq = np.full(size, SWING * 2.0 * np.pi * TURNS * np.sin(phase))
        stamp = SECOND + tick * MILLISECOND
        states.append(FullJointState(stamp, scene.joint_names, q, dq, empty))
        rotation = sensor.motion_estimator.update(stamp, q[columns], dq[columns]).rotation
        force = TOOL.mass * rotation.T @ TOOL.gravity
        wrench = np.concatenate((force, np.cross(TOOL.centre_of_mass, force)))
        wrenches.append(Message(stamp, scene.wrench_link, noise(-wrench).tolist()))
    return Recorded(states, wrenches)


def seconds_of_node(samples: Recorded, has_wrenches: bool) -> float:
    """Returns s of processor time for all samples, by the path of the contact node."""
    robot, settings = load_robot(ROBOT), settings_of(ROBOT, TOOL)
    arrays = JointArrays(tuple(robot.joint_limits))
    sensor, trusted = WrenchSensor(settings, robot, arrays), TrustedInputs(robot, settings.streams)
    sensor.place(scene_robot(ROBOT).wrench_link)
    trusted.place(sensor.mount, sensor.centre_of_mass)
    start = time.process_time()
    for state, wrench in zip(samples.states, samples.wrenches, strict=True):
        joints, trust = arrays.take(state), trusted.joints(state)
        if trust.is_used and not trust.unavailable:
            sensor.on_joints(state.stamp, joints)
        if has_wrenches:
            trusted.detections(sensor, WRENCH, wrench, None)
    return time.process_time() - start


def node_microseconds(seconds: float, repeats: int) -> dict[str, float]:
    """Returns us of processor time per joint state and per wrench, the least of the repeats."""
    samples = recorded(seconds)
    count = len(samples.states)
    joints = min(seconds_of_node(samples, False) for _ in range(repeats))
    both = min(seconds_of_node(samples, True) for _ in range(repeats))
    return {'joint_state_us': 1e6 * joints / count, 'wrench_us': 1e6 * (both - joints) / count}


@contextmanager
def timed(spent: dict[str, float]) -> Iterator[None]:
    """Adds up the processor time of PARTS."""
    before = {name: getattr(*where) for name, where in PARTS.items()}
    try:
        for name, (owner, method) in PARTS.items():
            setattr(owner, method, _timed(before[name], name, spent))
        yield
    finally:
        for name, (owner, method) in PARTS.items():
            setattr(owner, method, before[name])


def _timed(function: Callable[..., Any], name: str, spent: dict[str, float]) -> Callable[..., Any]:
    @functools.wraps(function)
    def run(*arguments: Any, **named: Any) -> Any:
        start = time.process_time()
        try:
            return function(*arguments, **named)
        finally:
            spent[name] = spent.get(name, 0.0) + time.process_time() - start

    return run


def trial_seconds(seconds: float) -> dict[str, float]:
    """Returns s of processor time of a trial with all faults that share a motion, by part."""
    trial = wrench_rows.free_trial(wrench_rows.STREAMS, wrench_rows.FREE_SEEDS, seconds)
    spent: dict[str, float] = {}
    start = time.process_time()
    with timed(spent):
        wrench_hard.run(trial)
    return {'a trial': time.process_time() - start, **spent}


def main() -> int:
    """Prints the figures; 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seconds', type=float, default=20.0, help='of samples and of a trial')
    parser.add_argument('--repeats', type=int, default=3, help='of the node, of which the least')
    parser.add_argument('--json', action='store_true', help='figures on stdout as JSON')
    args = parse(parser, seconds=3.0, repeats=1)
    bars = Bars(args)
    node, trial = node_microseconds(args.seconds, args.repeats), trial_seconds(args.seconds)
    if args.json:
        print(json.dumps({**node, 'trial_s': trial}))
    else:
        print(f'per joint state {node["joint_state_us"]:.1f} us, wrench {node["wrench_us"]:.1f} us')
        for name, value in trial.items():
            print(f'{value:8.2f} s  {name}')
    bars.at_most('joint states and wrenches at 1 kHz, % of a core', sum(node.values()) / 10.0, BAR)
    return bars.exit_status()


if __name__ == '__main__':
    sys.exit(main())
