# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Trials of contact from the joint torques of real Pandas, as they were recorded."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from frame_ros.core.input_files import read_text
from frame_ros.evaluation.recorded_motion.panda_torques import JOINTS, ROBOT, read_torques
from frame_ros.evaluation.trials.campaign import Trial
from frame_ros.evaluation.trials.watched_efforts import WatchedEfforts
from frame_ros.robots import Robot, find_urdf, load_robot
from frame_ros.robots.profiles import find_profile

HAND = ('hand', 'leftfinger', 'rightfinger')  # links
LIGHT = 1e-6  # kg: no joint may move nothing


def run(trial: Trial) -> dict[str, Any]:
    """settings: file, of `panda_torques`; digest, of its contents; motors_file, as of the contact
    node.

    Each joint state goes through the stream check and the joint-effort sensor of the contact node,
    with its default settings. Result: seconds; touched, begin and end of each touch, s; and of
    `WatchedEfforts.result`.
    """
    recording = read_torques(Path(trial.settings['file']))
    robot = load_robot(ROBOT) if recording.has_hand else without_hand()
    watched = WatchedEfforts(robot, str(trial.settings['motors_file']), JOINTS)
    for row, stamp in enumerate(recording.stamps.tolist()):
        watched.take(
            stamp, recording.positions[row], recording.velocities[row], recording.torques[row]
        )
    return {
        'seconds': recording.seconds, 'touched': recording.touches.tolist(),
        **watched.result(recording.seconds),
    }  # fmt: skip


def without_hand() -> Robot:
    """Returns a Panda whose hand weighs nothing."""
    text = read_text(find_urdf(ROBOT))
    for link in HAND:
        start = text.index(f'<link name="{ROBOT}_{link}"')
        end = text.index('</inertial>', start)
        text = text[:start] + _light(text[start:end]) + text[end:]
    return Robot(text, None, find_profile(ROBOT))


def _light(text: str) -> str:
    text = re.sub('<mass [^>]*/>', f'<mass value="{LIGHT}"/>', text)
    inertia = 'ixx="{0}" ixy="0" ixz="0" iyy="{0}" iyz="0" izz="{0}"'.format(LIGHT * 1e-4)
    return re.sub('<inertia [^>]*/>', f'<inertia {inertia}/>', text)
