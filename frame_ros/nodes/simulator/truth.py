# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The truth that the simulator publishes in addition to its sensors, without noise."""

from __future__ import annotations

from typing import Any

from rclpy.node import Node
from rclpy.publisher import Publisher

from frame_ros.nodes.runtime.endpoints import published
from frame_ros.nodes.simulator.messages import contact_message, pose_message, proximity_message
from frame_ros.nodes.simulator.options import SimulatorOptions
from frame_ros.nodes.simulator.topics import TRUTH
from frame_ros.scenes import PickPlaceSimulation
from frame_ros.scenes.simulation.contact_interval import ContactInterval
from frame_ros.scenes.simulation.timing import Schedule


class TruthPublishers:
    """Contacts, distances, and the poses of object and goal, at `rates.truth`; of contacts all that
    was at the ticks since the message before.
    """

    def __init__(
        self, node: Node, simulation: PickPlaceSimulation, options: SimulatorOptions
    ) -> None:
        self._simulation = simulation
        self._base = options.frames.of(simulation.robot.base_link)
        self._schedule = Schedule(options.rates.truth, tick=options.tick)
        self._contact, self._proximity, self._object, self._goal = (
            node.create_publisher(*published(topic)) for topic in TRUTH
        )
        self._interval = ContactInterval()

    def messages(self, stamp: int) -> list[tuple[Publisher, Any]]:
        """Returns what is due at a stamp (ns), that of a tick."""
        scene, base = self._simulation, self._base
        self._interval.add(scene.contacts())
        if not self._schedule.is_due(stamp):
            return []
        contact = contact_message(stamp, base, self._interval.take(), scene.tip_position())
        return [
            (self._contact, contact),
            (self._proximity, proximity_message(stamp, base, scene.distance())),
            (self._object, pose_message(stamp, base, scene.object_pose())),
            (self._goal, pose_message(stamp, base, scene.goal_pose())),
        ]
