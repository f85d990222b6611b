# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Trials of contact by a wrist force-torque sensor on which something weighs, pulls or shakes, or
whose stream is late: through the stream health check and the sensor of the contact node, in default
settings.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.options import evolved
from frame_ros.core.time import SECOND
from frame_ros.evaluation.trials.arm_run import BEGIN, ArmRun, Begins, Block, seconds_of
from frame_ros.evaluation.trials.campaign import Trial
from frame_ros.evaluation.trials.pushes import Push
from frame_ros.evaluation.trials.worlds import wrench_faults as worlds
from frame_ros.evaluation.trials.wrench import QUIET, hand_pushes, identified_tool, wrench_result
from frame_ros.robots import load_robot
from frame_ros.robots.joint_state_merge import FullJointState
from frame_ros.scenes.simulation.noise.sensor_noise import JointNoise, WrenchNoise
from frame_ros.scenes.simulation.scene_robot import scene_robot
from frame_ros.sensing.contact.joint_arrays import JointArrays
from frame_ros.sensing.contact.options import SensingOptions
from frame_ros.sensing.contact.trusted_inputs import TrustedInputs
from frame_ros.sensing.contact.wrench.tool_model import Tool
from frame_ros.sensing.contact.wrench_sensor import WrenchSensor
from frame_ros.sensing.stream_health.streams import WRENCH

Array = NDArray[np.float64]
# A push for a minute while the arm stands: N, and s at which it begins, rises and ends.
SLOW, SLOW_BEGIN, SLOW_SECONDS = 0.9, 20.0, 60.0


class HardSensing:
    """Noisy streams of one arm with a fault, and what the contact node makes of them."""

    def __init__(self, trial: Trial, fault: str) -> None:
        self.robot = robot = scene_robot(trial.robot)
        model = load_robot(trial.robot)
        period = robot.sample_steps * robot.timestep
        self._noise = WrenchNoise(1.0 / period, worlds.noise_of(fault), trial.seed)
        self.tool = identified_tool(trial, WrenchNoise(1.0 / period, seed=trial.seed))
        count = len(robot.joint_names)
        self._encoders = JointNoise(1.0 / period, robot.encoder, count, trial.seed)
        self._transport = worlds.Transport(fault, trial.seed)
        self._cable = worlds.Cable(model, robot.wrench_link) if fault == 'cable 1 N' else None
        arm = len(robot.joint_names) - len(robot.finger_links)
        self._arm = slice(0, arm)
        shakes = fault == 'vibration'
        self._gears = worlds.GearVibration(arm, period, trial.seed) if shakes else None
        self._arrays = JointArrays(tuple(model.joint_limits))
        settings = _settings(trial.robot, self.tool)
        self.sensor = WrenchSensor(settings, model, self._arrays)
        self.trusted = TrustedInputs(model, settings.streams)
        self.begins = Begins(period)
        self.warnings: dict[str, float] = {}  # text -> s since when
        self._frame = robot.wrench_link
        self._waiting: list[tuple[int, Array]] = []

    def take(self, block: Block) -> None:
        """Takes a block of samples, in the order of their stamps as they are sent."""
        samples, names = block.samples, self.robot.joint_names
        positions, velocities = self._encoders(samples.positions, samples.velocities)
        wrenches = self._noise(samples.wrenches + self._disturbance(samples))
        stamps, comes = self._transport.of(block.stamps)
        sent = zip(stamps.tolist(), wrenches, comes.tolist(), strict=True)
        self._waiting += [(stamp, wrench) for stamp, wrench, is_sent in sent if is_sent]
        nothing = np.zeros(0)
        for stamp, q, dq in zip(block.stamps.tolist(), positions, velocities, strict=True):
            state = FullJointState(stamp, names, q, dq, nothing)
            joints = self._arrays.take(state)
            trust = self.trusted.joints(state)
            if trust.is_used and not trust.unavailable:
                self.sensor.on_joints(stamp, joints)
            while self._waiting and self._waiting[0][0] <= stamp:
                self._on_wrench(*self._waiting.pop(0))

    def _disturbance(self, samples: Any) -> Array:
        """As the sensor reads it: with the sign of the simulator, of the tool on the wrist."""
        found = np.zeros_like(samples.wrenches)
        if self._cable is not None:
            columns = [self.robot.joint_names.index(name) for name in self._cable.joint_names]
            found -= self._cable.wrenches(samples.positions[:, columns])
        if self._gears is not None:
            found -= self._gears.wrenches(samples.velocities[:, self._arm])
        return found

    def _on_wrench(self, stamp: int, values: Array) -> None:
        wrench = SimpleNamespace(stamp=stamp, frame=self._frame, values=values.tolist())
        for found in self.trusted.detections(self.sensor, WRENCH, wrench, None):
            self.begins.add(found.stamp, found.is_contact)
        if stamp // (SECOND // 10) != (stamp - SECOND // 1000) // (SECOND // 10):
            for text in self.sensor.warnings:
                self.warnings.setdefault(text, seconds_of(stamp))


def run(trial: Trial) -> dict[str, Any]:
    """settings: seconds; has_pushes; fault, one of worlds.FAULTS, or 'slow push', in which the arm
    stands and is pushed by 0.9 N for a minute.

    Result: as of `wrench.run`, and: warnings: [s, text] of each since it was first said; shares:
    of the threshold, the largest of each second; threshold: N, mean of the least force felt.
    """
    fault, seconds = str(trial.settings['fault']), float(trial.settings['seconds'])
    sensing = HardSensing(trial, fault)
    if fault == 'slow push':
        pushes, rest = [_slow_push(sensing.robot.wrench_link)], seconds
    else:
        pushes, rest = [], QUIET
    if trial.settings['has_pushes']:
        pushes = hand_pushes(trial, seconds)
    arm = ArmRun(trial.robot, trial.seed, pushes, rest=rest)
    if fault == '100 g unannounced':
        worlds.hang_weight(arm.simulation)
    thresholds: list[float] = []
    is_hung = fault != '100 g later'
    for block in arm.blocks(seconds):
        if not is_hung and block.stamps[-1] >= BEGIN + worlds.LATER * SECOND:
            worlds.hang_weight(arm.simulation)
            is_hung = True
        sensing.take(block)
        thresholds.append(sensing.sensor.sensitivity.force)
    return _result(sensing, arm, seconds, thresholds)


def _result(
    sensing: HardSensing, arm: ArmRun, seconds: float, thresholds: list[float]
) -> dict[str, Any]:
    begins, detector = sensing.begins, sensing.sensor.detector
    known = np.array(thresholds)[np.isfinite(thresholds)]
    delay = detector.delay if detector is not None else None
    return {
        **wrench_result(arm, begins, seconds, delay, sensing.tool),
        'warnings': [[since, text] for text, since in sensing.warnings.items()],
        'threshold': float(known.mean()) if len(known) else None,
        'threshold_95': float(np.quantile(known, 0.95)) if len(known) else None,
    }


def _settings(robot: str, tool: Tool) -> SensingOptions:
    """The default settings with this tool; the simulator's sensor reads the tool's force on the
    wrist.
    """
    settings = SensingOptions(robot=robot, sources=('wrench',))
    wrench = evolved(settings.wrench, is_force_on_tool=False)
    given = evolved(settings.tool, mass=tool.mass, centre_of_mass=tool.centre_of_mass)
    return evolved(settings, wrench=wrench, tool=given)


def _slow_push(link: str) -> Push:
    end = SLOW_BEGIN + SLOW_SECONDS
    return Push(SLOW_BEGIN, end, link, np.array([0.0, 0.0, 0.05]), np.array([SLOW, 0.0, 0.0]))
