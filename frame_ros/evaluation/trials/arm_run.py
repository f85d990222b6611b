# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A simulated arm in free motion that is pushed now and then, as a stream of sensor samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.engine import load_mujoco
from frame_ros.core.errors import ValueRangeError
from frame_ros.core.time import SECOND
from frame_ros.evaluation.trials.pushes import Push
from frame_ros.scenes.generation.free_motion import FreeMotion, MotionStyle
from frame_ros.scenes.simulation.sampled_steps import SensorSamples, StepSampler
from frame_ros.scenes.simulation.simulation import PickPlaceSimulation

Array = NDArray[np.float64]
BEGIN = SECOND  # stamp of the beginning, ns
LOOK_PERIOD = 0.5  # s
STIFF = 1e6  # N s/m and N m s/rad


class Block(NamedTuple):
    """Samples from one command to the next."""

    stamps: NDArray[np.int64]  # (S,) ns
    samples: SensorSamples  # without noise, S rows
    command: Array  # (D,) rad (m)
    contacts: tuple[str, ...]  # links under external force at the end


class ArmRun:
    """Runs from a seed; the same seed gives the same samples.

    Without pushes nothing touches anything, which is checked twice a second; collisions are then
    not computed, and the objects on the table kept from falling, which makes physics three times as
    fast.

    Attributes:
        truth: (begin s, end s, strength N, link) of every push so far that has ended, as the
            physics had them.
        touches: s during which links touched something without a push.
    """

    def __init__(
        self,
        robot: str,
        seed: int,
        pushes: Sequence[Push],
        style: MotionStyle | None = None,
        rest: float = 0.0,
        friction: str = '',
        goal_delay: float = 0.0,
    ) -> None:
        """Draws the motion, and places the arm at its begin.

        Args:
            rest: s at the beginning in which the arm stands at home.
            friction: of the gears, see `PickPlaceSimulation`.
            goal_delay: s behind a sample at which the servos get the next goal, less than a period
                of the commands; of robots whose samples come with the commands.

        Raises:
            ValueRangeError: goal_delay does not fit.
        """
        self.simulation = simulation = PickPlaceSimulation(seed, robot=robot, friction=friction)
        rate, every = simulation.robot.command_rate, simulation.robot.sample_steps
        self.period = every * simulation.timestep
        self._steps = round(1.0 / (rate * simulation.timestep))
        self.samples_per_block = self._steps // every
        self._late = round(goal_delay / simulation.timestep)
        if not 0 <= self._late < self._steps or (self._late and every == 1):
            raise ValueRangeError(
                f'goals {goal_delay:g} s behind a sample; 0 s for {robot} or, where samples come '
                f'with the commands, less than {1.0 / rate:g} s are expected'
            )
        moves = FreeMotion(simulation, seed, rate, style or MotionStyle()).commands()
        home = np.array(simulation.robot.home)
        self._commands = chain(repeat(home, round(rest * rate)), moves)
        self._held = home
        self._waiting = list(pushes)
        self._running: tuple[Push, float] | None = None
        self.truth: list[tuple[float, float, float, str]] = []
        self.touches = 0.0
        self._is_free = not pushes
        if self._is_free:
            _keep_things_apart(simulation)

    def blocks(self, seconds: float) -> Iterator[Block]:
        """Yields the samples of the next `seconds`."""
        simulation = self.simulation
        sampler = StepSampler(simulation, self._steps)
        end = simulation.time + seconds
        every = simulation.robot.sample_steps
        while simulation.time < end - 1e-9:
            self._push(simulation.time)
            begin = round(simulation.time / simulation.timestep)
            command = next(self._commands)
            if every == 1:
                samples = sampler.step(command)
            else:
                if self._late:
                    simulation.step(self._held, self._late)
                simulation.step(command, self._steps - self._late)
                self._held = command
                samples = _newest(simulation)
            count = len(samples.positions)
            ticks = begin + np.arange(1, self._steps + 1)[every - 1 :: every][:count]
            stamps = BEGIN + np.rint(ticks * simulation.timestep * SECOND).astype(np.int64)
            contacts = self._look(begin)
            yield Block(stamps, samples, command, contacts)
        self._push(simulation.time, is_over=True)

    def _look(self, tick: int) -> tuple[str, ...]:
        """Links that touch something; tick: of the physics."""
        simulation = self.simulation
        if not self._is_free:
            contacts = tuple(contact.link for contact in simulation.contacts())
            if contacts and self._running is None:
                self.touches += self._steps * simulation.timestep
            return contacts
        every = round(LOOK_PERIOD / simulation.timestep)
        if tick % every < self._steps and simulation.distance().distance <= 0.0:
            self.touches += LOOK_PERIOD
        return ()

    def _push(self, now: float, is_over: bool = False) -> None:
        """Begins and ends pushes that are due; their true times are those of the physics."""
        if self._running is not None and (is_over or now >= self._running[0].end):
            push, begin = self._running
            self.simulation.clear_forces()
            self.truth.append((begin, now, push.strength, push.link))
            self._running = None
        if self._running is None and self._waiting and now >= self._waiting[0].begin:
            push = self._waiting.pop(0)
            push.apply(self.simulation)
            self._running = push, now


def _keep_things_apart(simulation: PickPlaceSimulation) -> None:
    """Removes collisions; objects that would fall then hardly move."""
    mj, model = load_mujoco(), simulation.model
    model.opt.disableflags |= int(mj.mjtDisableBit.mjDSBL_CONTACT)
    for joint in range(model.njnt):
        if model.jnt_type[joint] == mj.mjtJoint.mjJNT_FREE:
            first = model.jnt_dofadr[joint]
            model.dof_damping[first : first + 6] = STIFF


def _newest(simulation: PickPlaceSimulation) -> SensorSamples:
    readings = simulation.joint_state()
    wrench = np.concatenate(simulation.wrench())
    return SensorSamples(
        readings.positions[None], readings.velocities[None], readings.efforts[None], wrench[None]
    )


def seconds_of(stamp: int) -> float:
    """s since the beginning of a run."""
    return (stamp - BEGIN) / SECOND


class Begins:
    """Collects begins of detections, and seconds of detections and of unknown state."""

    def __init__(self, period: float) -> None:
        """period: s between two samples."""
        self._period = period
        self._was_contact = False
        self.begins: list[float] = []
        self.unavailable = self.in_contact = 0.0

    def add(self, stamp: int, is_contact: bool | None) -> None:
        """Takes one detection; None: not known."""
        if is_contact is None:
            self.unavailable += self._period
        if is_contact:
            self.in_contact += self._period
            if not self._was_contact:
                self.begins.append(seconds_of(stamp))
        self._was_contact = bool(is_contact)
