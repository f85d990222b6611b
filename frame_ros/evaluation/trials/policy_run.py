# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A simulated arm driven with the timing of an idle or busy machine.

Commands come in coarse steps, late and in bunches, joint states with gaps and late stamps. The
commands are those of the demo's scripted policy, or any others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.policies.execution.action_queue import ActionQueue
from frame_ros.policies.execution.options import ExecutionOptions
from frame_ros.policies.protocol import Observation
from frame_ros.policies.scripted.pick_place import ScriptedOptions, ScriptedPickPlace
from frame_ros.scenes.simulation.contacts import Contact
from frame_ros.scenes.simulation.robot_simulation import JointReadings
from frame_ros.scenes.simulation.simulation import PickPlaceSimulation

Array = NDArray[np.float64]
BEGIN = SECOND  # stamp of the beginning, ns
CONTROL_RATE = 30.0  # Hz of the policy's actions
TICK = 0.01  # s between two looks at the commands, as of the simulator node


@dataclass(frozen=True)
class Timing:
    """Delays of messages.

    Attributes:
        delay: s of a command, at least.
        jitter: s, mean of the exponential delay in addition.
        stalls: per second, in which nothing gets through.
        stall: s of one, from and to.
        lost: share of the joint states of a stall that never come.
        stamp_delay: s by which a joint state's stamp may be later than its measurement (uniform),
            as of a driver that waits for a core.
    """

    delay: float = 0.002
    jitter: float = 0.001
    stalls: float = 0.0
    stall: tuple[float, float] = (0.02, 0.12)
    lost: float = 0.0
    stamp_delay: float = 0.0


TIMINGS = {
    'idle': Timing(),
    'busy': Timing(0.004, 0.006, stalls=1.5, stamp_delay=0.001),
    'overloaded': Timing(0.01, 0.012, stalls=3.0, lost=0.5, stamp_delay=0.004),
}


class TimedSample(NamedTuple):
    """A joint state: stamp ns; true readings; command (D,) rad (m) that is newest; contacts now;
    whether it was measured, but never comes.
    """

    stamp: int
    readings: JointReadings
    command: Array
    contacts: tuple[Contact, ...]
    is_lost: bool


def timed_samples(
    simulation: PickPlaceSimulation,
    act: Callable[[int], Array | None],
    timing: Timing,
    rate: float,
    seed: int,
) -> Iterator[TimedSample]:
    """Yields joint states at a rate, Hz, until `act` gives None.

    Args:
        act: the command (D,) rad (m) of a control step, from 0, CONTROL_RATE of them in a second;
            it is sent at that time, and followed when it has arrived.
        seed: of the timing; the same arguments give the same samples.
    """
    rng = np.random.default_rng((seed, 0x2C))
    steps, every = round(TICK / simulation.timestep), round(1.0 / (rate * TICK))
    waiting: list[tuple[float, Array]] = []
    target, sent, tick, last, stall_end = simulation.targets, 0, 0, 0, 0.0
    while True:
        now = tick * TICK
        if now >= stall_end and rng.random() < timing.stalls * TICK:
            stall_end = now + rng.uniform(*timing.stall)
        while sent / CONTROL_RATE <= now:
            if (action := act(sent)) is None:
                return
            # The exponential law has no upper end, but commands stay in the order of sending.
            delay = timing.delay + rng.exponential(timing.jitter)
            waiting.append((max(now, stall_end) + delay, action))
            sent += 1
        while waiting and waiting[0][0] <= now:
            target = waiting.pop(0)[1]
        simulation.step(target, steps)
        tick += 1
        if tick % every:
            continue
        is_lost = bool(now < stall_end and rng.random() < timing.lost)
        delay = rng.uniform(0.0, timing.stamp_delay)
        stamp = max(BEGIN + round((tick * TICK + delay) * SECOND), last + 1)
        last = last if is_lost else stamp
        contacts = tuple(simulation.contacts())
        yield TimedSample(stamp, simulation.joint_state(), target, contacts, is_lost)


class PolicyActions:
    """The demo's scripted policy as `act` of `timed_samples`, until end or timeout, s."""

    def __init__(
        self, simulation: PickPlaceSimulation, seed: int, quality: float, timeout: float = 20.0
    ) -> None:
        """quality: of the policy, 0 to 1."""
        self._simulation, self._timeout = simulation, timeout
        robot = simulation.robot.source
        self._policy = ScriptedPickPlace(ScriptedOptions(quality=quality, seed=seed, robot=robot))
        self._policy.reset(seed)
        self._queue = ActionQueue(
            1.0 / CONTROL_RATE, ExecutionOptions(alignment='first', prefetch=0)
        )
        self._queue.open()

    def __call__(self, step: int) -> Array | None:
        """The action (D,) of a control step; None: it has ended."""
        time = step / CONTROL_RATE
        if time >= self._timeout:
            return None
        if self._queue.wait_for_demand(0.0):
            self._infer(time)
        action, _ = self._queue.take()
        return action

    def _infer(self, time: float) -> None:
        request, simulation = self._queue.request(), self._simulation
        assert request is not None
        stamp = BEGIN + round(time * SECOND)
        observation = Observation(
            stamp, stamp, simulation.joint_names, simulation.joint_state().positions, {},
            {'object': simulation.object_pose(), 'goal': simulation.goal_pose()}, '', time,
        )  # fmt: skip
        found = self._policy.infer(observation)
        order = [found.action_names.index(name) for name in simulation.joint_names]
        self._queue.push(request, found.actions[:, order], found.dt)
