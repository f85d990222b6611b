# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Wrenches of one recorded motion with several faults, each through the stream health check and the
sensor of the contact node, many samples at once.
"""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.options import evolved
from frame_ros.core.time import SECOND
from frame_ros.evaluation.trials.arm_run import Begins, Block, seconds_of
from frame_ros.evaluation.trials.campaign import Trial
from frame_ros.evaluation.trials.worlds import wrench_faults as worlds
from frame_ros.evaluation.trials.wrench import identified_tool
from frame_ros.robots import load_robot
from frame_ros.robots.joint_state_merge import FullJointState
from frame_ros.scenes.simulation.noise.sensor_noise import JointNoise, WrenchNoise
from frame_ros.scenes.simulation.sampled_steps import SensorSamples
from frame_ros.scenes.simulation.scene_robot import SceneRobot, scene_robot
from frame_ros.sensing.contact.joint_arrays import JointArrays
from frame_ros.sensing.contact.options import SensingOptions
from frame_ros.sensing.contact.trusted_inputs import TrustedInputs
from frame_ros.sensing.contact.wrench.motion_history import MotionHistory
from frame_ros.sensing.contact.wrench.tool_model import Tool
from frame_ros.sensing.contact.wrench_sensor import WrenchSensor
from frame_ros.sensing.stream_health.streams import WRENCH

Array = NDArray[np.float64]
Stamps = NDArray[np.int64]
BLOCKS_AT_ONCE = 40  # of the arm's run: 0.2 s at 200 commands per second
NOTHING: Array = np.zeros(0)


class Sent(NamedTuple):
    """A wrench as it was sent. row: of the newest joint state that came before it. measured: ns,
    when it truly was.
    """

    row: int
    stamp: int
    values: list[float]
    measured: int


class _Judged(NamedTuple):
    """A wrench that the health check has seen. stamp: ns, as the sensor takes it. error: s by which
    it may be wrong. newest: ns, of the newest joint state then. is_known: whether it can be used.
    measured: ns, when it truly was.
    """

    stamp: int
    values: list[float]
    error: float
    newest: int
    is_known: bool
    measured: int


class FaultStream:
    """The wrenches of one fault, and what the sensor of the contact node makes of them.

    Attributes:
        begins: of its detections, by their stamps. true_begins: by when their samples were
            measured. warnings: text -> s since when. thresholds: N, the least force felt, after
            each `flush`.
    """

    def __init__(self, trial: Trial, fault: str, tool: Tool, arrays: JointArrays) -> None:
        self.fault, self.name = fault, f'{WRENCH} with {fault}'
        robot, model = scene_robot(trial.robot), load_robot(trial.robot)
        self.sensor = WrenchSensor(settings_of(trial.robot, tool), model, arrays)
        period = robot.sample_steps * robot.timestep
        self.begins, self.true_begins = Begins(period), Begins(period)
        self.warnings: dict[str, float] = {}
        self.thresholds: list[float] = []
        seed = _seed_of(trial, fault)
        self._noise = WrenchNoise(1.0 / period, worlds.noise_of(fault), seed)
        self._transport = worlds.Transport(fault, seed)
        on = worlds.OnArm(
            model, robot.wrench_link, robot.joint_names,
            slice(0, len(robot.joint_names) - len(robot.finger_links)), period,
            _samples_per_block(robot), seed,
        )  # fmt: skip
        self._disturbances = [made(on) for made in worlds.fault_of(fault).disturbances]
        self._waiting: deque[Sent] = deque()
        self._judged: list[_Judged] = []
        self._next_look = 0

    def send(self, stamps: Stamps, samples: SensorSamples) -> None:
        """Measures and sends true samples; rows count from the first of them."""
        wrenches = samples.wrenches
        for disturbance in self._disturbances:
            # As the sensor reads it: with the sign of the simulator, of the tool on the wrist.
            wrenches = wrenches - disturbance(samples.positions, samples.velocities)
        wrenches = self._noise(wrenches)
        sent_stamps, comes = self._transport.of(stamps)
        # Not before it was measured, nor before the joint states of its time.
        rows = np.searchsorted(stamps, sent_stamps, side='left')
        rows = np.maximum(rows, np.arange(len(stamps)))
        # Those of before come with the joint states that they still wait for.
        before = [(int(np.searchsorted(stamps, each.stamp)), *each[1:]) for each in self._waiting]
        columns = rows[comes], sent_stamps[comes], wrenches[comes], stamps[comes]
        sent = zip(*(column.tolist() for column in columns), strict=True)
        self._waiting = deque(Sent(*each) for each in chain(before, sent))

    def come(self, row: int) -> list[Sent]:
        """Returns what comes after the joint state of a row, in order."""
        waiting, found = self._waiting, []
        while waiting and waiting[0].row <= row:
            found.append(waiting.popleft())
        return found

    def judge(self, sent: Sent, trusted: TrustedInputs, newest: int) -> None:
        """Takes a wrench through the health check. newest: ns, of the newest joint state."""
        _, stamp, values, measured = sent
        trust = trusted.wrench(stamp, values, self.name)
        if not trust.is_used:
            return
        known, error = not trust.unavailable, 0.0
        if known:
            stamp, error = trust.stamp, trusted.stamp_error(self.name)
        self._judged.append(_Judged(stamp, values, error, newest, known, measured))

    def flush(self, history: MotionHistory) -> None:
        """Takes the wrenches that were judged through the sensor."""
        judged, self._judged = self._judged, []
        usable = [each for each in judged if each.is_known]
        states: Iterator[int] = iter(())
        if usable:
            stamps, values, errors, newest, *_ = map(np.array, zip(*usable, strict=True))
            motions = history.at(stamps, newest, errors)
            found = self.sensor.on_wrenches(stamps, values, motions)
            states = iter(found.is_contact.tolist())
        for each in judged:
            state = next(states) if each.is_known else -1
            is_contact = None if state < 0 else bool(state)
            self.begins.add(each.stamp, is_contact)
            self.true_begins.add(each.measured, is_contact)
        if judged and judged[-1].stamp >= self._next_look:
            self._next_look = judged[-1].stamp + SECOND // 10
            for text in self.sensor.warnings:
                self.warnings.setdefault(text, seconds_of(judged[-1].stamp))
        self.thresholds.append(self.sensor.sensitivity.force)


class HardSensing:
    """Noisy streams of one arm with several faults, and what the contact node makes of each.

    Attributes:
        streams: of the faults, in the order given. tool: as it was identified.
    """

    def __init__(self, trial: Trial, faults: Sequence[str]) -> None:
        self.robot = robot = scene_robot(trial.robot)
        model, rate = load_robot(trial.robot), 1.0 / (robot.sample_steps * robot.timestep)
        self.tool = identified_tool(trial, WrenchNoise(rate, seed=trial.seed))
        self._encoders = JointNoise(rate, robot.encoder, len(robot.joint_names), trial.seed)
        self._arrays = JointArrays(tuple(model.joint_limits))
        self.streams = [FaultStream(trial, each, self.tool, self._arrays) for each in faults]
        self.trusted = TrustedInputs(model, settings_of(trial.robot, self.tool).streams)
        # The motion is the same for all: the first one's.
        first = self.streams[0].sensor
        for each in self.streams:
            each.sensor.place(robot.wrench_link)
        self.trusted.place(first.mount, first.centre_of_mass)
        self.history = MotionHistory(first.motion_estimator)
        self._first = first
        self._blocks: list[Block] = []

    def take(self, block: Block) -> None:
        """Takes a block of samples; several are worked on together."""
        self._blocks.append(block)
        if len(self._blocks) >= BLOCKS_AT_ONCE:
            self.finish()

    def finish(self) -> None:
        """Works on what waits."""
        blocks, self._blocks = self._blocks, []
        if not blocks:
            return
        stamps = np.concatenate([block.stamps for block in blocks])
        columns = zip(*(block.samples for block in blocks), strict=True)
        samples = SensorSamples(*(np.vstack(column) for column in columns))
        positions, velocities = self._encoders(samples.positions, samples.velocities)
        for stream in self.streams:
            stream.send(stamps, samples)
        for row, stamp in enumerate(stamps.tolist()):
            self._joints(stamp, positions[row], velocities[row])
            newest = self.history.newest
            for stream in self.streams:
                for sent in stream.come(row):
                    stream.judge(sent, self.trusted, newest)
        for stream in self.streams:
            stream.flush(self.history)
        self.history.forget()

    def _joints(self, stamp: int, q: Array, dq: Array) -> None:
        state = FullJointState(stamp, self.robot.joint_names, q, dq, NOTHING)
        joints = self._arrays.take(state)
        trust = self.trusted.joints(state)
        if trust.is_used and not trust.unavailable:
            self._first.on_joints(stamp, joints)
            self.history.take()


def settings_of(robot: str, tool: Tool) -> SensingOptions:
    """Returns the default settings with this tool; the simulator's sensor reads the tool's force on
    the wrist.
    """
    settings = SensingOptions(robot=robot, sources=('wrench',))
    wrench = evolved(settings.wrench, is_force_on_tool=False)
    given = evolved(settings.tool, mass=tool.mass, centre_of_mass=tool.centre_of_mass)
    return evolved(settings, wrench=wrench, tool=given)


def _samples_per_block(robot: SceneRobot) -> int:
    return round(1.0 / (robot.command_rate * robot.timestep)) // robot.sample_steps


def _seed_of(trial: Trial, fault: str) -> int:
    """Faults of one motion have noise of their own."""
    sequence = np.random.SeedSequence((trial.seed, zlib.crc32(fault.encode())))
    return int(sequence.generate_state(1)[0])
