# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The truth that the simulator publishes beside its sensors, without noise."""

from __future__ import annotations

from typing import Any

from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from rclpy.publisher import Publisher

from frame_ros.msg import ContactState, Proximity
from frame_ros.nodes.simulator_messages import contact_message, pose_message, proximity_message
from frame_ros.nodes.simulator_settings import SimulatorSettings
from frame_ros.nodes.simulator_timing import Schedule
from frame_ros.scenes import Contact, PickPlaceSimulation

DEPTH = 50


class TruthPublishers:
    """Contacts, distances, and the poses of object and goal, at `truth_rate`."""

    def __init__(
        self, node: Node, simulation: PickPlaceSimulation, settings: SimulatorSettings
    ) -> None:
        def publisher(kind: Any, name: str) -> Publisher:
            return node.create_publisher(kind, f'ground_truth/{name}', DEPTH)

        self._simulation = simulation
        self._base = settings.frames.of(simulation.robot.base_link)
        self._schedule = Schedule(settings.truth_rate, tick=settings.tick)
        self._contact = publisher(ContactState, 'contact')
        self._proximity = publisher(Proximity, 'proximity')
        self._object = publisher(PoseStamped, 'object_pose')
        self._goal = publisher(PoseStamped, 'goal_pose')
        self._peaks: dict[tuple[str, str], float] = {}

    def messages(self, stamp: int) -> list[tuple[Publisher, Any]]:
        """What is due at a stamp (ns)."""
        if not self._schedule.is_due(stamp):
            return []
        scene, base = self._simulation, self._base
        contacts = scene.contacts()
        contact = contact_message(stamp, base, contacts, scene.tip_position())
        contact.peak_forces = self._peak_forces(contacts)
        return [
            (self._contact, contact),
            (self._proximity, proximity_message(stamp, base, scene.distance())),
            (self._object, pose_message(stamp, base, scene.object_pose())),
            (self._goal, pose_message(stamp, base, scene.goal_pose())),
        ]

    def _peak_forces(self, contacts: list[Contact]) -> list[float]:
        """N, the largest force of each contact at the stamps published since it began."""
        pairs = [(contact.link, contact.other) for contact in contacts]
        self._peaks = {
            pair: max(contact.force, self._peaks.get(pair, 0.0))
            for pair, contact in zip(pairs, contacts, strict=True)
        }
        return [self._peaks[pair] for pair in pairs]
