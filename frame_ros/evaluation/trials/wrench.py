# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Trials of contact detection by a wrist force-torque sensor."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.evaluation.trials.arm_run import ArmRun, Begins, Block
from frame_ros.evaluation.trials.campaign import Trial
from frame_ros.evaluation.trials.pushes import Push, PushStyle, draw_pushes
from frame_ros.robots import load_robot
from frame_ros.scenes.generation.free_motion import MotionStyle
from frame_ros.scenes.simulation.noise.sensor_noise import JointNoise, WrenchNoise
from frame_ros.scenes.simulation.scene_robot import scene_robot
from frame_ros.sensing.contact.wrench.batch import process
from frame_ros.sensing.contact.wrench.detector import WrenchContact
from frame_ros.sensing.contact.wrench.options import WrenchOptions
from frame_ros.sensing.contact.wrench.tool_identification import fit_tool
from frame_ros.sensing.contact.wrench.tool_model import Tool
from frame_ros.sensing.contact.wrench.tool_motion import ToolMotionEstimator, ToolMotions

Array = NDArray[np.float64]
# Identification of the tool: poses; blocks of samples at rest in each; rad/s below which the arm
# stands; s after which no more poses are waited for.
POSES, READINGS, STILL, MOST_POSING = 12, 200, 0.005, 120.0
POSING = MotionStyle(reach=0.8, speed=(0.4, 0.6), pause=(1.5, 1.5), sway=0.0)
BLOCKS_AT_ONCE = 200
# s at the beginning in which the arm stands and the sensor is tared, and at the end without a push.
QUIET = 1.5
STRENGTH, DURATION, REST = (2.0, 12.0), (0.02, 0.3), (0.5, 2.0)  # of pushes, N and s


class WrenchSensing:
    """The noisy sensors and the detector of one trial, as a robot would have them."""

    def __init__(self, trial: Trial, tool: Tool | None = None) -> None:
        """tool: None: it is identified."""
        self.robot = scene_robot(trial.robot)
        rate = 1.0 / (self.robot.sample_steps * self.robot.timestep)
        self._wrench = WrenchNoise(rate, seed=trial.seed)
        self.tool = identified_tool(trial, self._wrench) if tool is None else tool
        model = load_robot(trial.robot)
        self._joints = JointNoise(rate, self.robot.encoder, len(self.robot.joint_names), trial.seed)
        self._motion = ToolMotionEstimator(model, self.robot.wrench_link)
        names = self.robot.joint_names
        self._columns = [names.index(name) for name in self._motion.joint_names]
        self._waiting: list[Block] = []
        # The simulator's sensor reads the tool's force on the wrist.
        self.detector = WrenchContact(WrenchOptions(is_force_on_tool=False), self.tool)

    def take(self, block: Block, begins: Begins) -> None:
        """Takes a block of samples; joint states and wrench have the same stamps. They are worked
        on many at a time, which is faster and gives the same.
        """
        self._waiting.append(block)
        if len(self._waiting) >= BLOCKS_AT_ONCE:
            self.finish(begins)

    def finish(self, begins: Begins) -> None:
        """Works on what waits."""
        if not self._waiting:
            return
        stamps = np.concatenate([block.stamps for block in self._waiting])
        rows = [block.samples for block in self._waiting]
        positions, velocities = self._joints(
            np.vstack([row.positions for row in rows]), np.vstack([row.velocities for row in rows])
        )
        wrenches = self._wrench(np.vstack([row.wrenches for row in rows]))
        self._waiting.clear()
        q, dq = positions[:, self._columns], velocities[:, self._columns]
        each = zip(stamps.tolist(), q, dq, strict=True)
        motions = ToolMotions.of([self._motion.update(*sample) for sample in each])
        found = process(self.detector, stamps, wrenches, motions)
        for stamp, state in zip(stamps.tolist(), found.is_contact.tolist(), strict=True):
            begins.add(stamp, None if state < 0 else bool(state))


def run(trial: Trial) -> dict[str, Any]:
    """settings: seconds; has_pushes.

    The tool is identified first, from noisy readings at static poses. Result: truth: [begin s, end
    s, N, link] of each push; begins: s of detections; seconds; unavailable: s; touches: s of
    contact without a push; in_contact: s of detections; delay: s of the filter; period: s between
    samples; tool_mass: kg.
    """
    sensing = WrenchSensing(trial)
    seconds = float(trial.settings['seconds'])
    pushes = []
    if trial.settings['has_pushes']:
        pushes = hand_pushes(trial, seconds)
    arm = ArmRun(trial.robot, trial.seed, pushes, rest=QUIET)
    begins = Begins(arm.period)
    for block in arm.blocks(seconds):
        sensing.take(block, begins)
    sensing.finish(begins)
    return wrench_result(arm, begins, seconds, sensing.detector.delay, sensing.tool)


def wrench_result(
    arm: ArmRun, begins: Begins, seconds: float, delay: float | None, tool: Tool
) -> dict[str, Any]:
    """The result of a trial: what was true and what was found. delay: of the filter, s."""
    return {
        'truth': arm.truth,
        'begins': begins.begins,
        'seconds': seconds,
        'unavailable': begins.unavailable,
        'touches': arm.touches,
        'in_contact': begins.in_contact,
        'delay': delay,
        'period': arm.period,
        'tool_mass': tool.mass,
    }


def hand_pushes(trial: Trial, seconds: float) -> list[Push]:
    """Returns the pushes on the hand of a trial of so many seconds."""
    scene = scene_robot(trial.robot)
    links = tuple(dict.fromkeys((scene.wrench_link, *scene.finger_links)))
    style = PushStyle(STRENGTH, DURATION, REST, links)
    rng = np.random.default_rng((trial.seed, 0x18))
    return draw_pushes(rng, load_robot(trial.robot), style, QUIET, seconds - 2.0 * QUIET)


def identified_tool(trial: Trial, noise: WrenchNoise) -> Tool:
    """The tool as `fit_tool` finds it from noisy readings in postures where the arm stands still.

    Raises:
        ValueRangeError: the poses do not determine it.
    """
    arm = ArmRun(trial.robot, trial.seed + 1, (), POSING)
    link = arm.simulation.robot.wrench_link
    rotations: list[Array] = []
    wrenches: list[Array] = []
    readings: list[Array] = []
    for block in arm.blocks(MOST_POSING):
        wrench = noise(block.samples.wrenches)
        if np.abs(block.samples.velocities).max() > STILL:
            readings.clear()
            continue
        readings.append(wrench)
        if len(readings) == READINGS:
            # The first half: the arm may still swing.
            wrenches.append(np.concatenate(readings[READINGS // 2 :]).mean(axis=0))
            rotations.append(arm.simulation.data.body(link).xmat.reshape(3, 3).copy())
        if len(wrenches) == POSES:
            break
    return fit_tool(np.array(rotations), np.array(wrenches), is_force_on_tool=False).tool()
