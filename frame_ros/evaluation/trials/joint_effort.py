# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Trials of contact detection from the efforts of the joints: motor current or joint torque."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.evaluation.trials.arm_run import BEGIN, ArmRun, Begins, Block
from frame_ros.evaluation.trials.campaign import Trial
from frame_ros.evaluation.trials.friction_ceiling import FrictionCeiling, Gears
from frame_ros.evaluation.trials.policy_run import CONTROL_RATE, Timing, timed_samples
from frame_ros.evaluation.trials.pushes import PushStyle, draw_pushes
from frame_ros.robots import load_robot
from frame_ros.robots.dynamics import RobotDynamics
from frame_ros.scenes.simulation.noise.joint_friction import JointFriction
from frame_ros.scenes.simulation.noise.sensor_noise import JointNoise, JointTorqueNoise
from frame_ros.scenes.simulation.noise.servo_noise import CurrentNoise, options_of
from frame_ros.scenes.simulation.robot_simulation import JointReadings
from frame_ros.scenes.simulation.simulation import PickPlaceSimulation
from frame_ros.sensing.contact.identification_options import IdentificationOptions
from frame_ros.sensing.contact.joints.detector import JointContact, dynamics_for
from frame_ros.sensing.contact.joints.fitting.excitation import plan_excitation
from frame_ros.sensing.contact.joints.fitting.identification import identify_joints
from frame_ros.sensing.contact.joints.fitting.recording import recording_of
from frame_ros.sensing.contact.joints.motor_model import MotorModel

Array = NDArray[np.float64]
QUIET = 1.0  # s without a push at the beginning and the end
STRENGTH, DURATION, REST = (5.0, 12.0), (0.2, 1.0), (0.8, 2.5)  # of pushes, N and s


class JointSample(NamedTuple):
    """The joint_states of the arm: rad, rad/s, A (SO-101) or N m (FR3)."""

    positions: Array
    velocities: Array
    efforts: Array


Rows = tuple[NDArray[np.int64], list[JointSample], Array]  # with commands (T, D) rad (m)


class _ArmGears:
    """The first `arm` of the motors in a CurrentNoise."""

    def __init__(self, current: CurrentNoise, arm: int) -> None:
        self._current, self._arm = current, arm
        self.bristles = current.bristles[:arm]

    def limit(self, velocity: Array, torque: Array) -> Array:
        count, zeros = self._arm, np.zeros(len(self._current.bristles))
        speeds, torques = zeros.copy(), zeros.copy()
        speeds[:count], torques[:count] = velocity, torque
        return self._current.limit(speeds, torques)[:count]


class JointSensors:
    """The noisy encoders and effort sensors of one arm: motors and gears are its own."""

    def __init__(self, simulation: PickPlaceSimulation, seed: int, friction: str = '') -> None:
        """friction: in the readings of torque sensors, of JOINT_FRICTIONS; '': none."""
        robot = simulation.robot
        self._is_sensed, self._arm = robot.has_torque_sensors, len(robot.arm_joints)
        rate, count = robot.command_rate, len(robot.joint_names)
        self._encoders = JointNoise(rate, robot.encoder, count, seed)
        # Friction of the physics is in the torques already.
        gear = None if simulation.gears is None else simulation.gears.gear
        self._current = CurrentNoise(options_of(gear), count, seed)
        self._torque = JointTorqueNoise(rate, joints=self._arm, seed=seed)
        self._friction = JointFriction(friction) if friction else None

    @property
    def gears(self) -> Gears | None:
        """The friction of the arm's joints in the readings of their currents; None: there are
        torque sensors.
        """
        return None if self._is_sensed else _ArmGears(self._current, self._arm)

    def read(self, true: JointReadings) -> JointSample:
        """One sample, of a state without noise."""
        positions, velocities = self._encoders(true.positions, true.velocities)
        if not self._is_sensed:
            efforts = self._current(true.efforts, true.positions, true.velocities)
        else:
            torques, q = true.efforts[: self._arm], true.positions[: self._arm]
            if self._friction is not None:
                torques = torques + self._friction(q, true.velocities[: self._arm])
            efforts = self._torque(torques, q)
        arm = self._arm
        return JointSample(positions[:arm], velocities[:arm], efforts[:arm])


def run(trial: Trial) -> dict[str, Any]:
    """settings: seconds; has_pushes; friction: in the readings of torque sensors, see
    `JointFriction`, '' or missing: none.

    The motors are identified first, by the motion of `frame-ros identify joints`. Joint states are
    taken at the rate of the commands, 50 Hz (SO-101) or 200 Hz (FR3). Result as of `wrench.run`;
    in_contact: s of detected contact; delay: s, time constant of the observer; rms: N m that the
    model leaves of free motion; thresholds: N m at rest; judged: of each push whether a motor can
    feel it and whether the arm stood, see `FrictionCeiling`, None with torque sensors.
    """
    simulation = PickPlaceSimulation(trial.seed, robot=trial.robot)
    sensors = JointSensors(simulation, trial.seed, str(trial.settings.get('friction', '')))
    robot = load_robot(trial.robot)
    motors = identified_motors(simulation, sensors)
    detector = JointContact(dynamics_for(robot, motors), motors=motors)
    seconds = float(trial.settings['seconds'])
    pushes = []
    if trial.settings['has_pushes']:
        rng = np.random.default_rng((trial.seed, 0x1B))
        style = PushStyle(STRENGTH, DURATION, REST, simulation.robot.watched_links)
        pushes = draw_pushes(rng, robot, style, QUIET, seconds - 2.0 * QUIET)
    arm = ArmRun(trial.robot, trial.seed, pushes)
    begins, ceiling = Begins(1.0 / simulation.robot.command_rate), FrictionCeiling()
    for block in arm.blocks(seconds):
        take(block, sensors, detector, begins, len(motors.joint_names))
        if pushes and sensors.gears is not None:
            note(ceiling, arm, block, sensors.gears)
    return {
        'truth': arm.truth,
        'judged': ceiling.judged(arm.truth) if sensors.gears is not None else None,
        'begins': begins.begins,
        'seconds': seconds,
        'unavailable': begins.unavailable,
        'in_contact': begins.in_contact,
        'touches': arm.touches,
        'delay': 1.0 / motors.gain,
        'period': 1.0 / simulation.robot.command_rate,
        'rms': motors.residual_rms,
        'thresholds': motors.threshold_base + motors.threshold_reversal,
    }


def take(
    block: Block, sensors: JointSensors, detector: JointContact, begins: Begins, arm: int
) -> None:
    """Takes the last sample of a block."""
    samples = block.samples
    true = JointReadings(samples.positions[-1], samples.velocities[-1], samples.efforts[-1])
    stamp, sample = int(block.stamps[-1]), sensors.read(true)
    found = detector.update(stamp, *sample, block.command[:arm])
    begins.add(stamp, found.is_contact)


def note(ceiling: FrictionCeiling, arm: ArmRun, block: Block, gears: Gears) -> None:
    """Adds the truth of the last sample of a block."""
    simulation, samples = arm.simulation, block.samples
    count = len(simulation.robot.arm_joints)
    push = simulation.external().torques if block.contacts else np.zeros(count)
    ceiling.add(
        int(block.stamps[-1]), samples.velocities[-1][:count], samples.efforts[-1][:count], push,
        gears,
    )  # fmt: skip


def identified_motors(
    simulation: PickPlaceSimulation, sensors: JointSensors, timing: Timing | None = None
) -> MotorModel:
    """The motors as `identify_joints` finds them from the motion that excites the joints.

    timing: of commands, at the policy's rate, and joint states; None: a command per joint state,
    each at once.
    """
    name = simulation.robot.source
    rate, count = simulation.robot.command_rate, len(simulation.robot.arm_joints)
    dynamics = RobotDynamics(load_robot(name), simulation.robot.arm_joints)
    start = np.array(simulation.robot.home[:count])
    positions = plan_excitation(dynamics, start).positions(rate if timing is None else CONTROL_RATE)
    gripper = np.tile(simulation.robot.home[count:], (len(positions), 1))
    commands = np.hstack((positions, gripper))
    if timing is None:
        stamps, rows, commands = _in_step(simulation, sensors, commands, rate)
    else:
        stamps, rows, commands = _timed(simulation, sensors, commands, rate, timing)
    q, dq, efforts = (np.array(column) for column in zip(*rows, strict=True))
    recording = recording_of(
        simulation.robot.arm_joints, stamps, q, dq, efforts, commands[:, :count]
    )
    # Simulated gears have no play.
    is_sensed = simulation.robot.has_torque_sensors
    settings = IdentificationOptions(has_torque_sensors=is_sensed, play=0.0)
    return identify_joints(dynamics, recording, settings).motors


def _in_step(
    simulation: PickPlaceSimulation, sensors: JointSensors, commands: Array, rate: float
) -> Rows:
    steps = round(1.0 / (rate * simulation.timestep))
    rows = []
    for command in commands:
        simulation.step(command, steps)
        rows.append(sensors.read(simulation.joint_state()))
    return BEGIN + np.arange(1, len(rows) + 1) * round(SECOND / rate), rows, commands


def _timed(
    simulation: PickPlaceSimulation, sensors: JointSensors, commands: Array, rate: float,
    timing: Timing,
) -> Rows:  # fmt: skip
    def act(step: int) -> Array | None:
        return commands[step] if step < len(commands) else None

    stamps, rows, newest = [], [], []
    for sample in timed_samples(simulation, act, timing, rate, simulation.layout.seed):
        row = sensors.read(sample.readings)
        if not sample.is_lost:
            stamps.append(sample.stamp)
            rows.append(row)
            newest.append(sample.command)
    return np.array(stamps), rows, np.array(newest)
