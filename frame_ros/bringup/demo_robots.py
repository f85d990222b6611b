# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the demo's nodes are told of each simulated robot, where it is not their default.

Distances and poses are those of the simulated scene (frame_ros/scenes). It imports no ROS.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Value = bool | int | float | str | list[float] | list[str]
Parameters = Mapping[str, Value]


@dataclass(frozen=True)
class DemoRobot:
    """Parameters of the nodes by which the demo runs. tip: short name of the link whose pose is
    looked at; '': the default. grasp: what tells of a grasp, of all nodes that ask.
    """

    title: str
    tip: str
    grasp: Parameters
    metrics: Parameters
    gate: Parameters
    contact: Parameters
    proximity: Parameters
    simulator: Parameters = field(default_factory=dict)
    markers: Parameters = field(default_factory=dict)

    @property
    def of_tip(self) -> Parameters:
        """Of nodes that have the parameter `tip`."""
        return {'tip': self.tip} if self.tip else {}


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
    'max_joint_age': 0.3, 'max_sensor_age': 0.5, 'tare_timeout': 20.0,
}  # fmt: skip
# Of the proximity node: the same lateness; the table is no obstacle.
SIMULATED_PROXIMITY: Parameters = {
    'camera_age': 0.25, 'joint_wait': 0.1, 'joint_age': 0.1, 'silence': 1.0, 'alignment_rate': 0.2,
    'surface_height': 0.0,
}  # fmt: skip

# Of the markers: a camera's check is shown until the next one but one.
SIMULATED_MARKERS: Parameters = {'alignment_lifetime': 11.0}

SO101 = DemoRobot(
    title='SO-101',
    tip='',
    # A cube of 3 cm keeps the gripper open by 0.15 rad.
    grasp={'gripper_margin': 0.07},
    # Its middle is 14 mm from the TCP.
    metrics={**SIMULATED, 'ot_task': 'put_in', 'grasp_distance': 0.03},
    # The box is what the cameras see of the table.
    gate={**SIMULATED_GATE, 'workspace.box': [-0.1, -0.4, 0.0, 0.45, 0.4, 0.5]},
    contact={**SIMULATED_CONTACT, 'sources': ['joint_effort'], 'motors_file': 'simulated'},
    proximity={
        **SIMULATED_PROXIMITY,
        'cameras': ['front'],
        'extrinsics': ['front=base_link 0.62 -0.4 0.42 0.787653 0.346943 -0.20524 -0.46595'],
        'workspace': [-0.15, -0.45, -0.02, 0.59, 0.45, 0.6],
    },
    markers=SIMULATED_MARKERS,
)

FR3 = DemoRobot(
    title='FR3',
    tip='tcp',
    # A cube of 45 mm keeps each finger open by 22 mm.
    grasp={'gripper_margin': 0.01},
    metrics={**SIMULATED, 'ot_task': 'put_in', 'grasp_distance': 0.03},
    gate={**SIMULATED_GATE, 'workspace.box': [0.15, -0.7, 0.0, 0.85, 0.7, 0.9]},
    contact={
        **SIMULATED_CONTACT,
        'sources': ['wrench', 'robot'],
        'wrench_is_force_on_tool': False,
        # Where physics gives time up, the motion is not what the stamps say it was.
        'wrench_force_on': 2.0,
        'wrench_on_time': 0.03,
        'joint_wait': 0.2,
        # The hand with both fingers, by the masses of its URDF.
        'tool_mass': 0.7126,
        'tool_centre_of_mass': [0.0, 0.0109, 0.0256],
    },
    proximity={
        **SIMULATED_PROXIMITY,
        'cameras': ['front', 'wrist'],
        'extrinsics': [
            'front=fr3_link0 0.95 -0.75 0.75 -0.795703 -0.281207 0.178751 0.505794',
            'wrist=fr3_hand 0.075 0.0 0.015 -0.110934 -0.110934 0.698351 0.698351',
        ],
        'workspace': [-0.3, -0.75, -0.02, 1.0, 0.75, 1.3],
        'min_range': 0.07,
        # A D405 hangs at the wrist: 18 mm of baseline.
        'depth_noises': ['wrist=0.021'],
    },
    markers={
        **SIMULATED_MARKERS,
        'text_position': [0.0, 0.0, 1.15], 'text_height': 0.04, 'bar_spacing': 0.1,
    },
    # Two cores cannot do it all at a kilohertz beside drawing: every node that reads the joint
    # states pays for each of them.
    simulator={
        'rate': 100.0, 'wrench_rate': 250.0, 'franka_rate': 50.0, 'truth_rate': 25.0,
        'image_rate': 10.0, 'wrist_image_rate': 5.0, 'wrist_depth_rate': 5.0,
    },
)  # fmt: skip

DEMO_ROBOTS = {'so101': SO101, 'fr3': FR3}
