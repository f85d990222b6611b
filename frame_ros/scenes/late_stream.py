# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A stream of messages that come late, or not at all, in their own time."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Generic, TypeVar

import numpy as np

from frame_ros.core.time import SECOND
from frame_ros.scenes.description.scene import Scene, SensorFault
from frame_ros.scenes.generation.setting import JOINT_STATES

Item = TypeVar('Item')


class LateStream(Generic[Item]):
    """Holds messages until they come; some are left out.

    Args:
        fault: how late and incomplete it is.
        seed: of what is left out.

    Attributes:
        left_out: number of messages that do not come.
    """

    def __init__(self, fault: SensorFault, seed: Sequence[int]) -> None:
        self._late, self._dropouts = round(fault.latency * SECOND), fault.dropouts
        self._rng = np.random.default_rng(seed)
        self._waiting: deque[tuple[int, Item]] = deque()
        self.left_out = 0

    def send(self, stamp: int, item: Item) -> None:
        """Takes a message of a stamp, ns. Those of a later stamp, of a clock that then went back,
        do not come any more.
        """
        while self._waiting and self._waiting[-1][0] > stamp + self._late:
            self._waiting.pop()
            self.left_out += 1
        if self._dropouts and self._rng.random() < self._dropouts:
            self.left_out += 1
        else:
            self._waiting.append((stamp + self._late, item))

    def arrived(self, stamp: int) -> list[Item]:
        """Returns the messages that come by a stamp, ns, and did not before."""
        found = []
        while self._waiting and self._waiting[0][0] <= stamp:
            found.append(self._waiting.popleft()[1])
        return found


def late_streams(scene: Scene | None, cameras: Sequence[str]) -> Mapping[str, LateStream]:
    """Returns the streams of joint states and cameras of a scene; of no scene they are perfect."""
    faults = {} if scene is None else scene.sensors
    seed = 0 if scene is None else scene.policy_seed or 0
    return {
        name: LateStream(faults.get(name, SensorFault()), (seed, index))
        for index, name in enumerate((JOINT_STATES, *cameras))
    }
