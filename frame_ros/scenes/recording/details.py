# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Details of an episode that its bag has in addition to its streams, collected as it runs."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.policies.protocol import Inference, Observation
from frame_ros.scenes.recording.pictures import IMAGES, Pictures
from frame_ros.scenes.scene_sensors import Seen
from frame_ros.scenes.simulation.contacts import Contact
from frame_ros.scenes.simulation.distances import LeastDistance
from frame_ros.scenes.simulation.scene_simulation import SceneSimulation

Array = NDArray[np.float64]


@dataclass(frozen=True)
class StepDetails:
    """One control step.

    Attributes:
        velocities: (D,) rad/s (m/s).
        contacts: of the robot.
        tip: (3,) m, of the tip link.
        distance: the least, and those of the links.
        object, goal: (7,) poses.
    """

    velocities: Array
    contacts: list[Contact]
    tip: Array
    distance: LeastDistance
    object: Array
    goal: Array


class EpisodeDetails:
    """Collects the details of one episode.

    Args:
        images: one of IMAGES, the form in which the pictures that the policy gets are kept.

    Attributes:
        base: name of the robot's base frame.
        steps: one for each control step.
        inferences: as the policy gave them.
        pictures: that the policy got.
    """

    def __init__(self, images: str = IMAGES[0]) -> None:
        """Begins without anything."""
        self.base = ''
        self.steps: list[StepDetails] = []
        self.observed: list[int] = []
        self.inferences: list[Inference] = []
        self.pictures = Pictures(images)

    def add_step(self, observation: Observation, simulation: SceneSimulation, seen: Seen) -> None:
        """Takes a control step, before the simulation advances."""
        self.base = simulation.robot.base_link
        self.steps.append(
            StepDetails(
                simulation.joint_state().velocities, simulation.contacts(),
                simulation.tip_position(), simulation.distance(), simulation.object_pose(),
                simulation.goal_pose(),
            )
        )  # fmt: skip
        for camera, rgb in seen.images.items():
            self.pictures.add(simulation, camera, observation.stamp, seen.taken[camera], rgb)

    def add_inference(self, observation: Observation, inference: Inference) -> None:
        """Takes a call of the policy, of which the actions could be used."""
        self.observed.append(observation.oldest_stamp)
        # The policy may write the next values over these.
        self.inferences.append(deepcopy(inference))
