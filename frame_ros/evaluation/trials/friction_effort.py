# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Trials of contact from motor currents whose gears stick and slip, by measured friction."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from frame_ros.evaluation.trials.arm_run import ArmRun, Begins
from frame_ros.evaluation.trials.campaign import Trial
from frame_ros.evaluation.trials.friction_ceiling import FrictionCeiling
from frame_ros.evaluation.trials.joint_effort import (
    DURATION,
    QUIET,
    REST,
    STRENGTH,
    JointSensors,
    identified_motors,
    note,
    take,
)
from frame_ros.evaluation.trials.policy_effort import SENSORS_SEED, watched
from frame_ros.evaluation.trials.policy_run import TIMINGS
from frame_ros.evaluation.trials.pushes import PushStyle, draw_pushes
from frame_ros.robots import load_robot
from frame_ros.scenes.generation.free_motion import MotionStyle
from frame_ros.scenes.simulation.noise.servo_noise import options_of
from frame_ros.scenes.simulation.simulation import PickPlaceSimulation
from frame_ros.sensing.contact.joints.detector import JointContact, dynamics_for
from frame_ros.sensing.contact.joints.motor_model import MotorModel, generic_motors

STANDING = MotionStyle(pause=(4.0, 10.0))
OWN, GENERIC = 'own', 'generic'  # whose motor file


def run(trial: Trial) -> dict[str, Any]:
    """settings: seconds; has_pushes; friction, one of FRICTION_SETS; stands, whether the arm mostly
    does; motors, 'own', identified first by the motion of `frame-ros identify joints`, or
    'generic', the shipped ones with wide thresholds; perhaps goal_delay, s behind each joint state
    at which the servos get the next goal, at once in the identification; and follows, whether the
    detector follows that time.

    Result: truth, begins, seconds, unavailable, in_contact, touches as of `joint_effort.run`;
    judged, of each push whether it can be felt and whether the arm stood, see `FrictionCeiling`.
    """
    settings = trial.settings
    friction, seconds = str(settings['friction']), float(settings['seconds'])
    simulation = PickPlaceSimulation(trial.seed, robot=trial.robot, friction=friction)
    sensors = JointSensors(simulation, trial.seed)
    if settings['motors'] == OWN:
        motors = identified_motors(simulation, sensors)
    else:
        motors = generic_motors(trial.robot)
    robot = load_robot(trial.robot)
    detector = JointContact(dynamics_for(robot, motors), motors=motors)
    detector.losses.is_used &= bool(settings.get('follows', True))
    pushes = []
    if settings['has_pushes']:
        rng = np.random.default_rng((trial.seed, 0x1B))
        style = PushStyle(STRENGTH, DURATION, REST, simulation.robot.watched_links)
        pushes = draw_pushes(rng, robot, style, QUIET, seconds - 2.0 * QUIET)
    motion = STANDING if settings['stands'] else MotionStyle()
    late = float(settings.get('goal_delay', 0.0))
    arm = ArmRun(trial.robot, trial.seed, pushes, motion, friction=friction, goal_delay=late)
    readings = None if simulation.gears is None else options_of(simulation.gears.gear)
    begins, ceiling = Begins(1.0 / simulation.robot.command_rate), FrictionCeiling(readings)
    for block in arm.blocks(seconds):
        take(block, sensors, detector, begins, len(motors.joint_names))
        if pushes:
            assert arm.simulation.gears is not None
            note(ceiling, arm, block, arm.simulation.gears)
    return {
        'truth': arm.truth,
        'judged': ceiling.judged(arm.truth),
        'begins': begins.begins,
        'seconds': seconds,
        'unavailable': begins.unavailable,
        'in_contact': begins.in_contact,
        'touches': arm.touches,
    }


def run_policy(trial: Trial) -> dict[str, Any]:
    """settings: as of `policy_effort.run`, and friction. The motors are those of the arm,
    identified with the timing of a busy machine.
    """
    friction = str(trial.settings['friction'])
    simulation = PickPlaceSimulation(SENSORS_SEED, robot=trial.robot, friction=friction)
    simulation.reset(trial.seed)
    return watched(simulation, _motors_of(trial.robot, friction), trial)


@cache
def _motors_of(robot: str, friction: str) -> MotorModel:
    simulation = PickPlaceSimulation(SENSORS_SEED, robot=robot, friction=friction)
    return identified_motors(simulation, JointSensors(simulation, SENSORS_SEED), TIMINGS['busy'])
