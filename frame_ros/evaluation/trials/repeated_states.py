# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Trials of contact by joint torque while states are sent again for some tens of milliseconds under
fresh stamps, as a Franka's interface does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from frame_ros.core.time import SECOND
from frame_ros.evaluation.trials.arm_run import BEGIN, ArmRun, Begins
from frame_ros.evaluation.trials.campaign import Trial
from frame_ros.evaluation.trials.joint_effort import JointSensors, identified_motors
from frame_ros.evaluation.trials.lying_streams import StreamFault
from frame_ros.evaluation.trials.pushes import PushStyle, draw_pushes
from frame_ros.robots import load_robot
from frame_ros.robots.joint_state_merge import FullJointState
from frame_ros.scenes.simulation.robot_simulation import JointReadings
from frame_ros.scenes.simulation.simulation import PickPlaceSimulation
from frame_ros.sensing.contact.joints.detector import JointContact, dynamics_for
from frame_ros.sensing.contact.joints.motor_model import simulated_motors
from frame_ros.sensing.contact.trusted_inputs import TrustedInputs
from frame_ros.sensing.stream_health.options import StreamHealthOptions

REST = 3.0  # s at the beginning in which the arm stands
STRENGTH, DURATION, PAUSE = (5.0, 25.0), (0.2, 1.0), (0.8, 2.5)  # of pushes, N and s
FAULT = 'repeated joint states'


def run(trial: Trial) -> dict[str, Any]:
    """settings: seconds; has_pushes, of 5 to 25 N on any link behind the first; is_checked: whether
    the streams are; has_shipped_motors: the motors are those of config/motors, identified on
    another arm. Otherwise this arm's are identified first.

    Result: truth: [begin s, end s, N, link] of each push; begins: s of detections; seconds;
    unavailable: s; in_contact: s; repeats: samples that were left out; sent: samples that were
    repeats; touches.
    """
    simulation = PickPlaceSimulation(trial.seed, robot=trial.robot)
    sensors = JointSensors(simulation, trial.seed)
    robot = load_robot(trial.robot)
    if trial.settings['has_shipped_motors']:
        motors = simulated_motors(trial.robot)
    else:
        motors = identified_motors(simulation, sensors)
    detector = JointContact(dynamics_for(robot, motors), motors=motors)
    is_checked = bool(trial.settings['is_checked'])
    trusted = TrustedInputs(robot, StreamHealthOptions(is_checked=is_checked))
    fault, count = StreamFault(FAULT, BEGIN + SECOND, trial.seed), len(motors.joint_names)
    seconds, pushes = float(trial.settings['seconds']), []
    if trial.settings['has_pushes']:
        rng = np.random.default_rng((trial.seed, 0x1C))
        style = PushStyle(STRENGTH, DURATION, PAUSE, simulation.robot.watched_links)
        pushes = draw_pushes(rng, robot, style, REST + 1.0, seconds - REST - 2.0)
    arm = ArmRun(trial.robot, trial.seed, pushes, rest=REST)
    begins = Begins(1.0 / simulation.robot.command_rate)
    left_out = sent = 0
    for block in arm.blocks(seconds):
        last = (each[-1] for each in block.samples[:3])
        stamp, true = int(block.stamps[-1]), np.stack(sensors.read(JointReadings(*last)))
        values = fault.of('joint states', stamp, true)
        sent += values is not true
        trust = trusted.joints(FullJointState(stamp, motors.joint_names, *values))
        left_out += not trust.is_used
        if not trust.is_used:
            continue
        if trust.unavailable or trusted.efforts:
            begins.add(stamp, None)
            continue
        q, dq, effort = values
        found = detector.update(stamp, q, dq, effort, block.command[:count])
        begins.add(stamp, found.is_contact)
    return {
        'begins': begins.begins,
        'truth': arm.truth,
        'seconds': seconds,
        'unavailable': begins.unavailable,
        'in_contact': begins.in_contact,
        'repeats': left_out,
        'sent': sent,
        'touches': arm.touches,
    }
