# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Seeded trials of the sensing room on simulated robots, whose true contacts and distances are
known. Each is a function of a Trial, for a Campaign; FUNCTIONS has their names.
"""

FUNCTIONS = {
    'wrench': 'frame_ros.evaluation.trials.wrench:run',
    'joint_effort': 'frame_ros.evaluation.trials.joint_effort:run',
    'policy_effort': 'frame_ros.evaluation.trials.policy_effort:run',
    'robot': 'frame_ros.evaluation.trials.robot_flags:run',
    'depth': 'frame_ros.evaluation.trials.depth:run',
}
