# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joint states that come in parts are judged part by part."""

from types import SimpleNamespace

import numpy as np

from frame_ros.core.time import SECOND
from frame_ros.robots import load_robot
from frame_ros.robots.robot import Robot
from frame_ros.sensing.contact.trusted_inputs import TrustedInputs
from frame_ros.sensing.stream_health.options import StreamHealthOptions
from frame_ros.sensing.stream_health.streams import PARTS, StreamHealth

NOTHING = np.zeros(0)
STEP = SECOND // 100
ARM = ('a', 'b')


def reading(rng, i, frozen_from):
    """Positions with noise that an encoder shows."""
    return np.full(2, 1.0) if i >= frozen_from else 1.0 + 1e-3 * rng.standard_normal(2)


def test_messages_of_two_sizes_are_both_judged():
    health, rng, wrong = StreamHealth(), np.random.default_rng(0), []
    for i in range(1200):
        q = reading(rng, i, 900)
        efforts = NOTHING if i % 2 else 2.0 * q
        stamp = SECOND + i * STEP
        found, _ = health.on_joints(stamp, ARM, q, NOTHING, efforts)
        if found.unavailable:
            wrong.append(i)
    assert wrong and 900 < wrong[0] < 1100
    checked = {name for name in health.streams if 'efforts' not in name}
    assert checked == {'joint_states', 'joint_states of a'}


def test_there_are_at_most_so_many_parts():
    health = StreamHealth()
    for i in range(3 * PARTS):
        health.on_joints(SECOND + i * STEP, (f'j{i}',), np.zeros(1), NOTHING, np.zeros(1))
    assert len(health.streams) <= 2 * PARTS


def test_a_frozen_arm_is_not_forgiven_by_the_message_of_its_gripper():
    robot = load_robot('fr3')
    inputs = TrustedInputs(Robot(robot.urdf, 'fr3_hand'), StreamHealthOptions())
    rng, wrong = np.random.default_rng(1), []
    for i in range(1200):
        stamp = SECOND + i * STEP
        for at, names, frozen in ((stamp, ARM, 900), (stamp + STEP // 2, ('g', 'h'), 9999)):
            q = reading(rng, i, frozen)
            inputs.joints(
                SimpleNamespace(
                    stamp=at, names=names, positions=q, velocities=NOTHING, efforts=2.0 * q
                )
            )
        if inputs.efforts and inputs.wrench(stamp + STEP, np.zeros(6) + i).unavailable:
            wrong.append(i)
    assert wrong and 900 < wrong[0] < 1100
    assert wrong == list(range(wrong[0], 1200))
