# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The late and incomplete streams of a scene, as its policy gets them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.time import SECOND
from frame_ros.scenes.description.scene import Scene, SensorFault
from frame_ros.scenes.generation.setting import JOINT_STATES
from frame_ros.scenes.simulation.scene_simulation import SceneSimulation


@dataclass(frozen=True)
class Seen:
    """The newest of every stream.

    Attributes:
        oldest: ns, stamp of the oldest in it.
        joints: (D,) rad (m).
        images: camera -> (H, W, 3) uint8.
        taken: camera -> ns, when the picture was taken.
    """

    oldest: int
    joints: NDArray[np.float64]
    images: dict[str, NDArray[np.uint8]]
    taken: dict[str, int]


class _Stream:
    """Messages of one stream on their way. The first always comes, as there is none before."""

    def __init__(self, fault: SensorFault, rng: np.random.Generator) -> None:
        self._late, self._dropouts = round(fault.latency * SECOND), fault.dropouts
        self._rng = rng
        self._sent: deque[tuple[int, Any]] = deque()

    def send(self, stamp: int, message: Any) -> None:
        if not self._sent or self._rng.random() >= self._dropouts:
            self._sent.append((stamp, message))

    def newest(self, stamp: int) -> tuple[int, Any]:
        """The newest message that has come by a stamp, ns."""
        while len(self._sent) > 1 and self._sent[1][0] <= stamp - self._late:
            self._sent.popleft()
        return self._sent[0]


class SceneSensors:
    """Joint states and pictures of a scene's cameras with its latency and dropouts, one message of
    each per control step. A late picture shows what was there when it was taken.
    """

    def __init__(
        self,
        scene: Scene,
        simulation: SceneSimulation,
        seed: int,
        cameras: Sequence[str],
        with_depth: bool = False,
    ) -> None:
        """Begins without a message.

        Args:
            seed: of the dropouts.
            cameras: those that `read` may be asked for.
            with_depth: draws the depth too.
        """
        self._simulation, self._with_depth = simulation, with_depth
        names = (JOINT_STATES, *(camera.name for camera in scene.cameras or ()))
        self._streams = {
            name: _Stream(
                scene.sensors.get(name, SensorFault()), np.random.default_rng((seed, index))
            )
            for index, name in enumerate(names)
            if name in (JOINT_STATES, *cameras)
        }

    def read(self, stamp: int, cameras: Iterable[str]) -> Seen:
        """Takes the present state as of a stamp, ns, and returns what has come by then.

        Args:
            cameras: those whose pictures are drawn.

        Raises:
            ValueRangeError: the scene has no such camera.
        """
        simulation, state = self._simulation, None
        for name, stream in self._streams.items():
            if name == JOINT_STATES:
                stream.send(stamp, simulation.joint_state().positions)
            else:
                state = state or simulation.state()
                stream.send(stamp, state)
        oldest, joints = self._streams[JOINT_STATES].newest(stamp)
        joints = joints.copy()  # the policy's own, which it may write over
        images, times = {}, {}
        for name in cameras:
            taken, state = self._streams[name].newest(stamp) if name in self._streams else (0, None)
            images[name] = simulation.draw(name, self._with_depth, state).rgb
            times[name], oldest = taken, min(oldest, taken)
        return Seen(oldest, joints, images, times)
