# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Trials of contact detection from joint efforts under the demo's policy."""

from __future__ import annotations

from typing import Any

import numpy as np

from frame_ros.evaluation.contact_comparison import FORCE_SHARE
from frame_ros.evaluation.trials.campaign import Trial
from frame_ros.evaluation.trials.joint_effort import JointSensors
from frame_ros.evaluation.trials.policy_run import TIMINGS, PolicyActions, timed_samples
from frame_ros.robots import load_robot
from frame_ros.scenes.simulation.contacts import Contact
from frame_ros.scenes.simulation.simulation import PickPlaceSimulation
from frame_ros.sensing.contact.detection import Detection
from frame_ros.sensing.contact.joints.detector import JointContact, dynamics_for
from frame_ros.sensing.contact.joints.motor_model import MotorModel, load_motors

MARGIN = 100_000_000  # ns about a sensed contact in which truth may explain it
SENSORS_SEED = 0  # the shipped motors are of this arm
FINGERS = 2  # that press on the object: it is held


class FeltContacts:
    """Sensed contacts, and the true forces on the robot at each sample."""

    def __init__(self) -> None:
        self.spans: list[list[float]] = []  # begin ns, end ns, peak force N
        self._stamps: list[int] = []
        self._truth: list[float] = []
        self._is_on = False

    def add(self, found: Detection, contacts: tuple[Contact, ...]) -> None:
        """Takes one detection, and the true contacts of its time."""
        if found.is_contact and not self._is_on:
            self.spans.append([found.stamp, found.stamp, found.force])
        elif found.is_contact:
            self.spans[-1][1:] = [found.stamp, max(self.spans[-1][2], found.force)]
        self._is_on = bool(found.is_contact)
        net = sum((contact.net_force for contact in contacts), np.zeros(3))
        is_explained = any(not contact.is_expected for contact in contacts)
        self._stamps.append(found.stamp)
        self._truth.append(np.inf if is_explained else float(np.linalg.norm(net)))

    def false(self) -> list[list[float]]:
        """Returns those that truth does not explain: see `evaluation.contact_comparison`."""
        stamps, truth = np.array(self._stamps), np.array(self._truth)
        found = []
        for begin, end, peak in self.spans:
            near = (stamps >= begin - MARGIN) & (stamps <= end + MARGIN)
            largest = float(truth[near].max(initial=0.0))
            if largest <= 0.0 or largest < FORCE_SHARE * peak:
                found.append([begin, end, peak])
        return found


def run(trial: Trial) -> dict[str, Any]:
    """settings: quality of the policy; timing: one of TIMINGS; seconds at most. The motors are the
    shipped ones. Result: sensed, how many contacts were; false, those that truth does not explain,
    as begin ns, end ns, peak force N; seconds.
    """
    simulation = PickPlaceSimulation(trial.seed, robot=trial.robot)
    return watched(simulation, load_motors(trial.robot), trial)


def watched(simulation: PickPlaceSimulation, motors: MotorModel, trial: Trial) -> dict[str, Any]:
    """The result of an episode in a scene. motors: of its arm."""
    sensors = JointSensors(simulation, SENSORS_SEED)
    detector = JointContact(dynamics_for(load_robot(trial.robot), motors), motors=motors)
    arm, rate = len(motors.joint_names), simulation.robot.command_rate
    settings = trial.settings
    act = PolicyActions(
        simulation, trial.seed, float(settings['quality']), float(settings['seconds'])
    )
    felt, count = FeltContacts(), 0
    for sample in timed_samples(simulation, act, TIMINGS[settings['timing']], rate, trial.seed):
        row = sensors.read(sample.readings)
        count += 1
        if sample.is_lost:
            continue
        touching = {c.link for c in sample.contacts if c.is_expected}
        found = detector.update(
            sample.stamp, *row, sample.command[:arm], is_holding=len(touching) >= FINGERS
        )
        felt.add(found, sample.contacts)
    return {'sensed': len(felt.spans), 'false': felt.false(), 'seconds': count / rate}
