# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The newest of each input of a policy, made an observation only when all are there and fresh."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import PolicyError
from frame_ros.core.time import SECOND
from frame_ros.policies.protocol import Observation

JOINTS = 'joint_states'
# Clocks of two machines differ a little; an input further than this in the future is not believed.
FUTURE_TOLERANCE = int(0.05 * SECOND)


class AwaitedInputError(PolicyError):
    """Inputs have not come for the first time yet; nothing is wrong with the others."""


@dataclass(frozen=True)
class Input:
    """One input: its stamp (ns), and a function for its value, which may be slow and raise
    PolicyError. Its stamp (ns), and how to get its value, which may be slow and may raise
    PolicyError.
    """

    stamp: int
    read: Callable[[], NDArray]


class ObservationBuffer:
    """Holds the newest of each input; written by the receiving thread, read by the inferring one.

    Args:
        joint_names: the order of the joint positions.
        cameras, poses: the inputs that the policy needs.
        max_age: s, by header stamps, that an input may be old when the observation is made.

    Attributes:
        reordered: values that came after a newer one of their input, and were left out.
    """

    def __init__(
        self,
        joint_names: Sequence[str],
        cameras: Sequence[str],
        poses: Sequence[str],
        max_age: float,
    ) -> None:
        self._joint_names = tuple(joint_names)
        self._cameras, self._poses = tuple(cameras), tuple(poses)
        self._max_age = max_age
        self._lock = threading.Lock()
        self._inputs: dict[str, Input] = {}
        self.reordered = 0
        self._complaints: dict[str, str] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The inputs that an observation needs."""
        return (JOINTS, *self._cameras, *self._poses)

    def put(self, name: str, stamp: int, read: Callable[[], NDArray]) -> None:
        """Takes a value of the input `name`, stamped `stamp` ns, unless a newer one is there. One
        that is more than `max_age` older is taken: then the clock was set back.
        """
        with self._lock:
            held = self._inputs.get(name)
            if held is not None and 0 < held.stamp - stamp <= self._max_age * SECOND:
                self.reordered += 1
                return
            self._inputs[name] = Input(stamp, read)
            self._complaints.pop(name, None)

    def complain(self, name: str, problem: str) -> None:
        """Notes why messages of the input `name` since its last value were unusable."""
        with self._lock:
            self._complaints[name] = problem

    def clear(self) -> None:
        """Forgets all inputs."""
        with self._lock:
            self._inputs.clear()
            self._complaints.clear()

    def build(self, now: int, instruction: str = '', executed: float = float('nan')) -> Observation:
        """Returns the observation at `now` (ns); `instruction` and `executed` are passed on.

        Raises:
            AwaitedInputError: inputs are missing. PolicyError: some are old, too (all are listed,
                with times), or a value is unusable.
        """
        with self._lock:
            inputs, complaints = dict(self._inputs), dict(self._complaints)
        problems = [
            f'{problem} ({complaints[name]})' if name in complaints else problem
            for name in self.names
            if (problem := self._problem(name, inputs.get(name), now))
        ]
        if problems:
            is_awaited = len(problems) == sum(name not in inputs for name in self.names)
            kind = AwaitedInputError if is_awaited else PolicyError
            raise kind('no inference: ' + '; '.join(problems))
        return Observation(
            stamp=now,
            oldest_stamp=min(inputs[name].stamp for name in self.names),
            joint_names=self._joint_names,
            joint_positions=self._checked(JOINTS, inputs[JOINTS].read(), (len(self._joint_names),)),
            images={name: inputs[name].read() for name in self._cameras},
            poses={name: self._checked(name, inputs[name].read(), (7,)) for name in self._poses},
            instruction=instruction,
            executed=executed,
        )

    def _problem(self, name: str, newest: Input | None, now: int) -> str:
        if newest is None:
            return f'{name} was never received'
        if newest.stamp == 0:
            return f'{name} has a zero stamp, so its age is not known'
        age, stamp = (now - newest.stamp) / SECOND, f' (stamp {_seconds(newest.stamp)})'
        if age > self._max_age:
            return f'{name} stopped: the newest is {age:.2f} s old{stamp}, limit {self._max_age} s'
        if newest.stamp > now + FUTURE_TOLERANCE:
            return f'{name} is stamped {-age:.2f} s in the future{stamp}: clocks differ'
        return ''

    def _checked(self, name: str, value: NDArray, shape: tuple[int, ...]) -> NDArray[np.float64]:
        if value.shape != shape:
            raise PolicyError(
                f'no inference: {name} has {value.shape} values; it must have {shape}'
            )
        if not np.isfinite(value).all():
            raise PolicyError(
                f'no inference: {name} has a value that is not finite: {value.tolist()}'
            )
        return np.array(value)  # a policy may write over it


def _seconds(stamp: int) -> str:
    return f'{stamp // SECOND}.{stamp % SECOND:09d}'
