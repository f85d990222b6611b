# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the demo's nodes where they are not their defaults: those that all simulated robots
share, and those of a robot's profile.

It imports no ROS.
"""

from __future__ import annotations

from collections.abc import Mapping

from frame_ros.robots.shapes.choice import URDF
from frame_ros.robots.simulated import Simulation

Value = bool | int | float | str | list[float] | list[str]
Parameters = Mapping[str, Value]


# Metrics of a simulated arm, in s: physics and rendering share two cores with all the rest, and a
# state may come this much after its stamp.
SIMULATED: Parameters = {'hold': 0.2, 'max_pose_age': 0.2, 'efficiency_hold': 0.5}
# The gate of a simulated arm. A command or a state may come late, and where physics gives time up
# the arm stands still and is far from its command. The table is the plane z = 0.
SIMULATED_GATE: Parameters = {
    'watchdogs.command_timeout': 0.5, 'watchdogs.joint_states_timeout': 1.0,
    'watchdogs.heartbeat_timeout': 1.0, 'limits.step': 1.5, 'workspace.floor': 0.0,
}  # fmt: skip
# Of the contact node: the same lateness.
SIMULATED_CONTACT: Parameters = {
    'max_joint_age': 0.3, 'max_sensor_age': 0.5, 'tare.timeout': 20.0,
}  # fmt: skip
# Of the proximity node: the same lateness; the table is no obstacle. The simulator draws the
# primitives of the URDF, so it is those that the robot is taken out of the images by.
SIMULATED_PROXIMITY: Parameters = {
    'camera_age': 0.25, 'joint_wait': 0.1, 'joint_age': 0.1, 'silence': 1.0, 'alignment.rate': 0.2,
    'depth.surface_height': 0.0, 'shapes': URDF,
}  # fmt: skip

# Of the markers: a camera's check is shown until the next one but one.
SIMULATED_MARKERS: Parameters = {'alignment_lifetime': 11.0, 'shapes': URDF}

LATE: Mapping[str, Parameters] = {
    'metrics': SIMULATED,
    'gate': SIMULATED_GATE,
    'contact': SIMULATED_CONTACT,
    'proximity': SIMULATED_PROXIMITY,
    'markers': SIMULATED_MARKERS,
}
TIP = ('kinematics', 'gate', 'contact')  # nodes that watch the tip


def demo_parameters(simulation: Simulation, node: str) -> dict[str, Value]:
    """The parameters of a node in the demo with a simulated robot."""
    tip = {'tip': simulation.tip} if simulation.tip and node in TIP else {}
    return {**tip, **LATE.get(node, {}), **simulation.parameters.get(node, {})}
