# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Trials of the streams' health check: an arm whose streams begin to lie at some moment."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.evaluation.trials.arm_run import BEGIN, ArmRun, Block, seconds_of
from frame_ros.evaluation.trials.campaign import Trial
from frame_ros.robots import load_robot
from frame_ros.scenes.simulation.noise.sensor_noise import JointNoise, JointTorqueNoise, WrenchNoise
from frame_ros.scenes.simulation.noise.servo_noise import CurrentNoise
from frame_ros.scenes.simulation.scene_robot import scene_robot
from frame_ros.sensing.stream_health.streams import JOINT_STATES, WRENCH, StreamHealth

Array = NDArray[np.float64]
TOOL = (0.0, 0.0, 0.05)  # m, centre of mass of hand and fingers, about
REST = 3.0  # s at the beginning in which the arm stands
LONGEST_REPEAT = 0.03  # s, of states that are sent again under new stamps
REPEAT_EVERY = 0.4  # s from one to the next, about
FAULTS = (
    'none', 'frozen wrench', 'frozen joint states', 'frozen efforts', 'saturated wrench',
    'wrench 20 ms late', 'wrench 50 ms late', 'wrench 20 ms early',
    'wrench 20 ms longer on its way', 'wrench with gaps of 20 ms', 'repeated joint states',
)  # fmt: skip
NO_LIES = ('none', 'wrench 20 ms longer on its way', 'wrench with gaps of 20 ms')
FAULTS_WITHOUT_WRENCH = tuple(name for name in FAULTS if 'wrench' not in name)
# As of joint states and wrenches in bags of the demo while two other processes took both cores:
# delays of 1.2 ms in the median, below 2.5 to 4 ms in nine of ten, and of 5 to 23 ms 0.5 to 3
# per second.
DELAY, DELAY_SPREAD = 0.0012, 0.6  # s, and standard deviation of its logarithm
STALL, STALL_EVERY = 0.008, 0.4  # s, means: that a node does not run, and that it does
LONGER = 0.02  # s that messages are longer on their way, or that are lost
GAP_EVERY = 0.5  # s from one gap to the next
OFFSETS = {'wrench 20 ms late': 0.02, 'wrench 50 ms late': 0.05, 'wrench 20 ms early': -0.02}


class _Streams:
    """The noisy streams of one arm."""

    def __init__(self, trial: Trial) -> None:
        self.robot = scene_robot(trial.robot)
        rate = 1.0 / (self.robot.sample_steps * self.robot.timestep)
        count = len(self.robot.joint_names)
        self._joints = JointNoise(rate, self.robot.encoder, count, trial.seed)
        self._wrench = WrenchNoise(rate, seed=trial.seed) if self.robot.wrench_link else None
        # Motor current where there is no torque sensor: of a hobby servo.
        self._current = CurrentNoise(joints=count, seed=trial.seed)
        self._arm = count - len(self.robot.finger_links) if self._wrench is not None else count
        self._torque = JointTorqueNoise(rate, joints=self._arm, seed=trial.seed)

    def take(self, block: Block) -> tuple[Array, Array, Array, Array | None]:
        """Returns positions, velocities, efforts (S, D) and wrenches (S, 6) as measured."""
        rows = block.samples
        positions, velocities = self._joints(rows.positions, rows.velocities)
        if self._wrench is None:
            return (
                positions,
                velocities,
                self._current(rows.efforts, rows.positions, rows.velocities),
                None,
            )
        efforts = rows.efforts.copy()
        arm = slice(0, self._arm)
        efforts[:, arm] = self._torque(rows.efforts[:, arm], rows.positions[:, arm])
        return positions, velocities, efforts, self._wrench(rows.wrenches)


class StreamFault:
    """Changes the samples of one stream from a moment on."""

    def __init__(self, name: str, begin: int, seed: int) -> None:
        self.name, self._begin = name, begin
        self._rng = np.random.default_rng((seed, 0x5E))
        self._kept: dict[str, Array] = {}
        self._until = self._next = 0

    def of(self, stream: str, stamp: int, values: Array) -> Array:
        """Returns the values that are sent."""
        if stamp < self._begin:
            self._kept[stream] = values
            return values
        if self.name == f'frozen {stream}':
            return self._kept[stream]
        if self.name == 'saturated wrench' and stream == 'wrench':
            return np.where(np.arange(6) == 2, 145.0, values)
        if self.name == f'repeated {stream}':
            return self._repeated(stream, stamp, values)
        return values

    def _repeated(self, stream: str, stamp: int, values: Array) -> Array:
        if stamp >= self._next:
            self._until = stamp + round(self._rng.uniform(0.002, LONGEST_REPEAT) * SECOND)
            self._next = self._until + round(self._rng.exponential(REPEAT_EVERY) * SECOND)
        if stamp < self._until:
            return self._kept[stream]
        self._kept[stream] = values
        return values


class Transport:
    """Arrival of the messages of an arm at a node of a loaded machine: after a delay each, and
    where that does not get to run for a while, all that came meanwhile at the end of it.
    """

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng((seed, 0x7A))
        self._newest: dict[str, int] = {}
        self._stall = (0, 0)

    def arrival(self, stream: str, sent: int, longer: float = 0.0) -> int:
        """Returns ns, when a message of a stream arrives that was sent then: not before the one
        that was sent before it. longer: s that it takes more.
        """
        begin, end = self._stall
        if sent > end:
            begin = max(sent, end) + round(self._rng.exponential(STALL_EVERY) * SECOND)
            end = begin + round(self._rng.exponential(STALL) * SECOND)
            self._stall = begin, end
        delay = DELAY * self._rng.lognormal(0.0, DELAY_SPREAD) + longer
        found = sent + round(delay * SECOND)
        if begin <= found < end:
            found = end
        found = self._newest[stream] = max(found, self._newest.get(stream, 0))
        return found


def run(trial: Trial) -> dict[str, Any]:
    """settings: seconds; fault, one of FAULTS; begin: s.

    Result: found: s from the fault's begin to the first sample that is said to be wrong; None: it
    was not; reason; false: [s, stream, reason] of
    alarms before the fault, or of another stream than its own; repeats: samples left out; sent:
    samples that were repeats; seconds; offset: s, as estimated at the end, or None.
    """
    fault = str(trial.settings['fault'])
    begin = BEGIN + round(float(trial.settings['begin']) * SECOND)
    streams, model = _Streams(trial), load_robot(trial.robot)
    health = StreamHealth()
    link = streams.robot.wrench_link
    if link:
        health.mount_wrench(model, link, np.eye(3), np.array(TOOL))
    names, lie = streams.robot.joint_names, StreamFault(fault, begin, trial.seed)
    judge = _Judge(health, lie, begin, names, trial.seed)
    arm = ArmRun(trial.robot, trial.seed, (), rest=REST)
    for block in arm.blocks(float(trial.settings['seconds'])):
        judge.take(block.stamps, *streams.take(block))
    return judge.result(float(trial.settings['seconds']))


class _Judge:
    """Gives samples to the health check, and notes what it says."""

    def __init__(
        self,
        health: StreamHealth,
        fault: StreamFault,
        begin: int,
        names: tuple[str, ...],
        seed: int,
    ) -> None:
        self._health, self._fault, self._begin, self._names = health, fault, begin, names
        self._found: tuple[float, str] | None = None
        self._false: list[tuple[float, str, str]] = []
        self._sent = 0
        self._transport = Transport(seed)
        self._late = round(OFFSETS.get(fault.name, 0.0) * SECOND)
        self._waiting: list[tuple[int, Array]] = []

    def take(
        self,
        stamps: NDArray[np.int64],
        positions: Array,
        velocities: Array,
        efforts: Array,
        wrenches: Array | None,
    ) -> None:
        """Takes a block of samples."""
        for row, stamp in enumerate(stamps.tolist()):
            self._take_joints(stamp, positions[row], velocities[row], efforts[row])
            if wrenches is not None:
                self._take_wrench(stamp, wrenches[row])
            self._send_wrenches(stamp)

    def _take_joints(self, stamp: int, positions: Array, velocities: Array, efforts: Array) -> None:
        true = np.stack((positions, velocities, self._fault.of('efforts', stamp, efforts)))
        sent = self._fault.of('joint states', stamp, true)
        arrival = self._transport.arrival(JOINT_STATES, stamp)
        self._health.on_arrival(JOINT_STATES, stamp, arrival)
        self._sent += sent is not true
        state, effort = self._health.on_joints(stamp, self._names, *sent)
        self._note('joint states', stamp, state.unavailable)
        self._note('efforts', stamp, effort.unavailable)

    def _take_wrench(self, stamp: int, wrench: Array) -> None:
        values = self._fault.of('wrench', stamp, wrench)
        since, name = (stamp - self._begin) / SECOND, self._fault.name
        if since >= 0.0 and 'gaps' in name and since % GAP_EVERY < LONGER:
            return
        longer = LONGER if since >= 0.0 and 'longer' in name else 0.0
        arrival = self._transport.arrival(WRENCH, stamp, longer)
        self._health.on_arrival(WRENCH, self._stamped(stamp), arrival)
        self._waiting.append((stamp, values))

    def _send_wrenches(self, now: int) -> None:
        """Those whose false stamps are not in the future."""
        while self._waiting and self._stamped(self._waiting[0][0]) <= now:
            stamp, values = self._waiting.pop(0)
            stamp = self._stamped(stamp)
            self._note('wrench', stamp, self._health.on_wrench(stamp, values.tolist()).unavailable)

    def _stamped(self, stamp: int) -> int:
        return stamp + self._late if stamp >= self._begin else stamp

    def _note(self, stream: str, stamp: int, why: str) -> None:
        if not why:
            return
        is_own = stream in self._fault.name and stamp >= self._begin
        is_own &= self._fault.name not in NO_LIES
        # Efforts and states are of one message: at rest a state has nothing else that changes.
        both = {'joint states', 'efforts'}
        is_state = any(f'frozen {each}' == self._fault.name for each in both)
        is_own |= stamp >= self._begin and is_state and stream in both
        if not is_own:
            if not self._false or self._false[-1][1:] != (stream, why):
                self._false.append((seconds_of(stamp), stream, why))
        elif self._found is None:
            self._found = ((stamp - self._begin) / SECOND, why)

    def result(self, seconds: float) -> dict[str, Any]:
        """As of `run`."""
        wrench = self._health.streams.get('wrench')
        offset = wrench.estimate.seconds if wrench is not None else float('nan')
        checks = self._health.streams.values()
        return {
            'found': self._found[0] if self._found else None,
            'reason': self._found[1] if self._found else '',
            'false': self._false,
            'repeats': sum(each.check.repeats for each in checks if each.kind == 'joint states'),
            'sent': self._sent,
            'seconds': seconds,
            'offset': offset if np.isfinite(offset) else None,
        }
