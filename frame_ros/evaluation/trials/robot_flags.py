# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Trials of contact detection by a Franka arm's own estimates: external wrench and flags."""

from __future__ import annotations

from typing import Any

import numpy as np

from frame_ros.evaluation.trials.arm_run import ArmRun, Begins, Block
from frame_ros.evaluation.trials.campaign import Trial
from frame_ros.evaluation.trials.pushes import PushStyle, draw_pushes
from frame_ros.robots import load_robot
from frame_ros.scenes.simulation.noise.franka_estimates import EstimateOptions, FrankaEstimator
from frame_ros.sensing.contact.robot_flags import RobotContact, RobotContactOptions, RobotFlags

# The estimates are slow (a low-pass of 10 Hz) and off by some newtons in free space.
STRENGTH, DURATION, REST = (5.0, 25.0), (0.2, 0.6), (0.8, 2.5)  # of pushes, N and s
LEARNING = 60.0  # s without a push at the beginning, in which the offset is learnt


def run(trial: Trial) -> dict[str, Any]:
    """settings: seconds; has_pushes. Pushes begin after LEARNING. Result as of `wrench.run`, of
    what is behind LEARNING; a detection that lasts since before begins there. in_contact: s of
    detected contact.
    """
    robot = load_robot(trial.robot)
    seconds = LEARNING + float(trial.settings['seconds'])
    pushes = []
    if trial.settings['has_pushes']:
        rng = np.random.default_rng((trial.seed, 0x1A))
        hand = (robot.profile.sensor_link, *robot.profile.finger_links)
        style = PushStyle(STRENGTH, DURATION, REST, hand)
        pushes = draw_pushes(rng, robot, style, LEARNING, seconds - LEARNING - 1.0)
    arm = ArmRun(trial.robot, trial.seed, pushes)
    sensing = RobotSensing(arm, trial.seed)
    period = arm.period * arm.samples_per_block
    learning, begins = Begins(period), Begins(period)
    for block in arm.blocks(LEARNING):
        sensing.take(block, learning)
    arm.touches = 0.0
    for block in arm.blocks(seconds - LEARNING):
        sensing.take(block, begins)
    return {
        'truth': arm.truth,
        'begins': begins.begins,
        'seconds': seconds - LEARNING,
        'unavailable': begins.unavailable,
        'in_contact': begins.in_contact,
        'touches': arm.touches,
        'delay': 1.0 / (2.0 * np.pi * EstimateOptions().cutoff),
        'period': period,
    }


class RobotSensing:
    """Estimates and detector, at the rate of the commands: the estimates' low-pass is slower."""

    def __init__(self, arm: ArmRun, seed: int) -> None:
        self._simulation = arm.simulation
        period = arm.period * arm.samples_per_block
        self._estimator = FrankaEstimator(EstimateOptions(), period, seed)
        self._detector = RobotContact(RobotContactOptions())

    def take(self, block: Block, begins: Begins) -> None:
        """Takes the last sample of a block."""
        simulation = self._simulation
        q, dq = block.samples.positions[-1][:7], block.samples.velocities[-1][:7]
        true = simulation.external()
        tip = simulation.data.body(simulation.robot.tip_link).xmat.reshape(3, 3)
        estimates = self._estimator.update(q, true.torques, true.wrench, tip)
        flags = RobotFlags(
            estimates.joint_contact, estimates.joint_collision,
            estimates.cartesian_contact, estimates.cartesian_collision,
        )  # fmt: skip
        found = self._detector.update(
            int(block.stamps[-1]), q, estimates.wrench, flags, speed=float(np.abs(dq).max())
        )
        begins.add(int(block.stamps[-1]), found.is_contact)
