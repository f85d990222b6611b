# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Seeded trials of the sensing room on simulated robots, whose true contacts and distances are
known. Each is a function of a Trial, for a Campaign; FUNCTIONS has their names.
"""

from frame_ros.core.version import source_version

FUNCTIONS = {
    'wrench': 'frame_ros.evaluation.trials.wrench:run',
    'wrench_hard': 'frame_ros.evaluation.trials.wrench_hard:run',
    'joint_effort': 'frame_ros.evaluation.trials.joint_effort:run',
    'repeated_states': 'frame_ros.evaluation.trials.repeated_states:run',
    'policy_effort': 'frame_ros.evaluation.trials.policy_effort:run',
    'friction_effort': 'frame_ros.evaluation.trials.friction_effort:run',
    'goal_phase': 'frame_ros.evaluation.trials.friction_effort:run',
    'friction_policy': 'frame_ros.evaluation.trials.friction_effort:run_policy',
    'robot': 'frame_ros.evaluation.trials.robot_flags:run',
    'depth': 'frame_ros.evaluation.trials.depth:run',
    'streams': 'frame_ros.evaluation.trials.lying_streams:run',
    'depth_world': 'frame_ros.evaluation.trials.depth_worlds:run',
    'depth_postures': 'frame_ros.evaluation.trials.depth_worlds:run',
    'depth_meshes': 'frame_ros.evaluation.trials.depth_worlds:run',
    'depth_room': 'frame_ros.evaluation.trials.depth_worlds:run',
    'depth_motion': 'frame_ros.evaluation.trials.depth_worlds:run',
    'depth_robots': 'frame_ros.evaluation.trials.depth_worlds:run_drawn',
    'depth_camera': 'frame_ros.evaluation.trials.camera_offsets:run',
    'depth_camera_faults': 'frame_ros.evaluation.trials.camera_offsets:run',
}

COMMON = ('frame_ros/core', 'frame_ros/robots', 'frame_ros/evaluation/trials', 'urdf')
DISTANCES = (
    *COMMON, 'frame_ros/sensing/proximity', 'frame_ros/scenes', 'config/shapes', 'examples/robots',
)  # fmt: skip
CONTACTS = (
    *COMMON, 'frame_ros/sensing/contact', 'frame_ros/sensing/stream_health', 'frame_ros/scenes',
    'config/motors',
)  # fmt: skip


def sensing_versions() -> dict[str, str]:
    """Returns kind -> version of the package and digest of the code and numbers that it judges."""
    distances, contacts = source_version(DISTANCES), source_version(CONTACTS)
    return {kind: distances if kind.startswith('depth') else contacts for kind in FUNCTIONS}
